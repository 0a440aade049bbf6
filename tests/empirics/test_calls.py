"""How algorithms are written and read: canonical names, round trips, pickles, and one clear line for every mistake."""

import pickle

import numpy as np
import pytest
from empirics_toys import needs_an_algorithm
from hypothesis import given, strategies as st

from bounds.errors import BoundsError, UnknownNameError
from empirics.algorithms import algorithm, ALGORITHMS
from empirics.algorithms.algorithm import fedavg
from empirics.algorithms.layerwise import layerwise
from empirics.algorithms.local import fedprox
from empirics.calls import parse, written
from empirics.data.catalogue import dataset
from empirics.errors import EmpiricsError
from empirics.federation.partitions import partition
from empirics.measuring import measurement
from empirics.models.networks import network
from empirics.problems.tasks import task

TEXTS = [
    *(f"{name}(scaffold())" if needs_an_algorithm(name) else name for name in ALGORITHMS),
    "relaxed(scaffold(), beta=0.05, reading='code')",
    "layerwise(scheduled(fedprox(mu=0.25), 'k_error', window=7), alpha=3, head='fc', reading='printed_v1')",
    "scheduled(relaxed(fedprox(mu=1e-05), beta=-0.125), schedule='k_step', plateau_round=12)",
    "ditto(scaffold(), weight=2, local_steps=4)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_an_algorithm_pickles_hashes_and_reads_back_from_its_name(text):
    built = algorithm(text)
    again = algorithm(built.name)
    assert str(built) == built.name == again.name
    assert again == built
    assert hash(again) == hash(built)
    unpickled = pickle.loads(pickle.dumps(built))
    assert unpickled == built
    assert hash(unpickled) == hash(built)
    assert len({built, again, unpickled, fedavg}) == (1 if built == fedavg else 2)


@pytest.mark.parametrize("text", TEXTS)
def test_hooks_print_what_they_do(text):
    """No hook is a closure or shows an address."""
    assert " at 0x" not in repr(algorithm(text))


def test_spaces_order_and_defaults_do_not_change_the_name():
    named = "relaxed(scaffold(), beta=0.05, reading='intended')"
    for text in ("relaxed( scaffold(),0.05 )", " relaxed(scaffold, reading='intended', beta=5e-2)", named):
        assert algorithm(text).name == named


def test_whole_floats_are_written_like_whole_numbers():
    assert fedprox(1.0).name == fedprox(1).name == "fedprox(mu=1)"
    assert fedprox(np.float64(0.5)).name == "fedprox(mu=0.5)"
    assert layerwise(fedavg, np.int64(3)).name == "layerwise(fedavg(), alpha=3, head='head', reading='intended')"
    assert fedprox(-0.0).name == "fedprox(mu=0)"


@given(st.floats(min_value=0, max_value=1e300))
def test_numbers_lose_no_digit(mu):
    built = fedprox(mu)
    assert algorithm(built.name) == built
    assert algorithm(built.name).direction.mu == mu


def test_texts_are_read_not_evaluated(tmp_path):
    target = tmp_path / "made"
    for text in (f"open('{target}', 'w')", f"fedprox(mu=open('{target}', 'w'))", f"__import__('os').mkdir('{target}')"):
        with pytest.raises((EmpiricsError, UnknownNameError)):
            algorithm(text)
    assert not target.exists()


MISTAKES = {
    "fedavgg": "unknown algorithm 'fedavgg'; did you mean 'fedavg' or 'fedavgm'",
    "relaxed(scafold())": "unknown algorithm 'scafold'; did you mean 'scaffold'?",
    "fedprox(nu=0.1)": "unknown option of fedprox 'nu'; did you mean 'mu'?",
    "fedsam(0,1)": "algorithm: 0,1 in 'fedsam(0,1)' is written 0.1, or 0, 1 if it is two",
    "fedprox(0.1, 0.2)": "algorithm fedprox takes at most 1 without a name; got 2",
    "fedprox(0.1, mu=0.2)": "algorithm fedprox: mu is given twice",
    "fedprox(mu=0.1, mu=0.2)": "algorithm fedprox: mu is given twice in 'fedprox(mu=0.1, mu=0.2)'",
    "relaxed(fedprox(mu=1, mu=1))": "algorithm fedprox: mu is given twice in 'relaxed(fedprox(mu=1, mu=1))'",
    f"fedprox(mu=1{'0' * 400})": "algorithm: write large numbers like 1e20; got a number of about 400 digits in 'fed",
    f"fedprox(mu=-1{'0' * 30})": "algorithm: write large numbers like 1e20; got a number of about 30 digits in 'fed",
    f"fedprox(mu=1{'0' * 6000})": "algorithm must be a name or a call such as name(option=0.1); got 'fedprox(mu=100",
    f"{'relaxed(' * 500}fedavg{')' * 500}": "algorithm must be a name or a call such as name(option=0.1); got 'relaxe",
    "fedals(alpha=1e17)": "layerwise: alpha must be a whole number >= 1; got 1e+17",
    "fedals(alpha=99999999999999999)": "layerwise: alpha must be a whole number >= 1 and at most 90071992",
    "relaxed(beta=0.1)": "algorithm relaxed: algorithm must be given",
    "fedprox(mu=": "algorithm must be a name or a call such as name(option=0.1); got 'fedprox(mu='",
    "fedprox(**options)": "algorithm must be a name or a call such as name(option=0.1); got 'fedprox(**options)'",
    "fedavg() + fedavg()": "algorithm must be a name or a call such as name(option=0.1); got 'fedavg() + fedavg()'",
    "": "algorithm must be a name or a call such as name(option=0.1); got ''",
    "fedprox(mu=1/3)": "algorithm: arguments must be numbers, strings or calls; got 'fedprox(mu=1/3)'",
    "fedprox(mu=-0.1)": "fedprox: mu must be >= 0; got -0.1",
    "fedprox(mu=1e999)": "algorithm: numbers must be of a size that a floating-point number can have; got '1e999' in "
    "'fedprox(mu=1e999)'",
    "fedprox(mu='high')": "fedprox: mu must be a number; got 'high'",
    "fedprox(mu=True)": "fedprox: mu must be a number; got True",
    "fedprox(mu=[0.1])": "fedprox: mu must be a number; got [0.1]",
    "fedsam(rho=-1)": "fedsam: rho must be >= 0; got -1",
    "fedsam(epsilon=0)": "fedsam: epsilon must be > 0; got 0",
    "fedcm(alpha=0)": "fedcm: alpha must be > 0 and <= 1; got 0",
    "feddyn(alpha=0)": "feddyn: alpha must be > 0; got 0",
    "fedavgm(momentum=1)": "fedavgm: momentum must be >= 0 and < 1; got 1",
    "fedavgm(reading='cod')": "unknown reading of fedavgm 'cod'; did you mean 'code'?",
    "fedavgm(reading=3)": "reading of fedavgm must be one of intended, code; got 3",
    "fedadam(server_step_size=0)": "fedadam: server_step_size must be > 0; got 0",
    "fedadam(beta2=1.5)": "fedadam: beta2 must be >= 0 and < 1; got 1.5",
    "fedexp(epsilon=-1)": "fedexp: epsilon must be > 0; got -1",
    "fedinit(beta=1)": "relaxed: beta must be > -1 and < 1; got 1",
    "relaxed(fedavg(), beta=-1.5)": "relaxed: beta must be > -1 and < 1; got -1.5",
    "relaxed(0.3)": "relaxed must be given an algorithm first, such as relaxed(fedavg()); got 0.3",
    "fedals(alpha=0)": "layerwise: alpha must be a whole number >= 1; got 0",
    "fedals(alpha=2.5)": "layerwise: alpha must be a whole number >= 1; got 2.5",
    "fedals(head='')": "layerwise: head must be the beginning of a layer's name; got ''",
    "fedals(reading='printed_v3')": "unknown reading of layerwise 'printed_v3'; did you mean",
    "scheduled(fedavg(), 'k_round')": "unknown schedule 'k_round'; did you mean 'k_rounds'",
    "scheduled(fedavg(), window=0)": "scheduled: window must be a whole number >= 1; got 0",
    "scheduled(fedavg(), 'k_step', plateau_round=0)": "scheduled: plateau_round must be a whole number >= 1; got 0",
    "fedrep(head_steps=0)": "fedrep: head_steps must be a whole number >= 1; got 0",
    "ditto(weight=-2)": "ditto: weight must be >= 0; got -2",
    "ditto(local_steps=0.5)": "ditto: local_steps must be a whole number >= 1; got 0.5",
    "fedcog(samples=0)": "with_consensus_data: samples must be a whole number >= 1; got 0",
    "fedcog(steps=2.5)": "with_consensus_data: steps must be a whole number >= 0; got 2.5",
    "fedcog(distillation=-1)": "with_consensus_data: distillation must be >= 0; got -1",
    "fedcog(shared=1)": "with_consensus_data: shared must be True or False; got 1",
    "fedcog(reading='coed')": "unknown with_consensus_data: reading 'coed'; did you mean 'code'?",
    "fedcog(targets='unform')": "unknown with_consensus_data: targets 'unform'; did you mean 'uniform'?",
    "with_consensus_data(0.1)": "with_consensus_data must be given an algorithm first, such as with_conse",
    "moon(mu=-1)": "moon: mu must be >= 0; got -1",
    "moon(temperature=0)": "moon: temperature must be > 0; got 0",
    "feddecorr(reading='cod')": "unknown feddecorr: reading 'cod'; did you mean 'code'?",
    "fedgen(noise=0)": "fedgen: noise must be a whole number >= 1; got 0",
    "fedgen(weight=-2)": "fedgen: weight must be >= 0; got -2",
    "fedgen(generator_step_size=0)": "fedgen: generator_step_size must be > 0; got 0",
    "fedreg(gamma=0)": "fedreg: gamma must be > 0 and <= 1; got 0",
    "fedreg(iterations=-1)": "fedreg: iterations must be a whole number >= 0; got -1",
    "fedreg(made_step_size=0)": "fedreg: made_step_size must be > 0; got 0",
    "vhl(alpha=-0.5)": "vhl: alpha must be >= 0; got -0.5",
    "vhl(batch=0)": "vhl: batch must be a whole number >= 1; got 0",
    "vhl(epochs=1.5)": "vhl: epochs must be a whole number >= 0; got 1.5",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_a_mistake_is_one_clear_line(text):
    with pytest.raises((EmpiricsError, BoundsError)) as raised:
        algorithm(text)
    assert str(raised.value).startswith(MISTAKES[text])
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (partition, "dirichlet(alpha=0.3, alpha=0.4)"),
        (network, "resnet20(classes=3, classes=4)"),
        (dataset, "fewer(digits, train=30, train=40)"),
        (task, "softmax(iris, regularisation=0.1, regularisation=0.2)"),
        (task, "fedcog_cnn(digits, channels=1, channels=1)"),
        (measurement, "runtime(upload_rate=2, upload_rate=3)"),
    ],
)
def test_what_is_given_twice_is_refused_by_every_reader(read, text):
    with pytest.raises(EmpiricsError, match="is given twice"):
        read(text)


def test_other_registries_read_with_the_same_grammar():
    made = parse("pair(4, label='x')", {"pair": lambda number, label="y": (number, label)}, "pairing")
    assert made == (4, "x")
    assert written("pair", 4, label="x") == "pair(4, label='x')"
    with pytest.raises(UnknownNameError, match="unknown pairing 'pear'"):
        parse("pear", {"pair": tuple}, "pairing")


def test_an_error_inside_a_maker_is_not_taken_for_a_wrong_argument():
    def broken(value=1):
        raise TypeError("a bug")

    with pytest.raises(TypeError, match="a bug"):
        parse("broken", {"broken": broken}, "thing")
