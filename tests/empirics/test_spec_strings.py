"""How algorithms are written and read: canonical names, round trips, pickles, and one clear line for every mistake."""

import pickle

import numpy as np
import pytest
from empirics_toys import needs_an_algorithm
from refusals import all_refused, refusal

from bounds.errors import BoundsError
from empirics.algorithms import algorithm, ALGORITHMS
from empirics.algorithms.algorithm import fedavg
from empirics.algorithms.layerwise import layerwise
from empirics.algorithms.local import fedprox

TEXTS = [
    *(f"{name}(scaffold())" if needs_an_algorithm(name) else name for name in ALGORITHMS),
    "relaxed(scaffold(), beta=0.05, reading='code')",
    "layerwise(scheduled(fedprox(mu=0.25), 'k_error', window=7), alpha=3, head='fc', reading='printed_v1')",
    "scheduled(relaxed(fedprox(mu=1e-05), beta=-0.125), schedule='k_step', plateau_round=12)",
    "ditto(scaffold(), weight=2, local_steps=4)",
]


def test_an_algorithm_pickles_hashes_and_reads_back_from_its_name():
    for text in TEXTS:
        built = algorithm(text)
        again, unpickled = algorithm(built.name), pickle.loads(pickle.dumps(built))
        assert str(built) == built.name == again.name
        assert built == again == unpickled, text
        assert len({built, again, unpickled, fedavg}) == (1 if built == fedavg else 2), text
        assert " at 0x" not in repr(built)  # no hook is a closure or shows an address


def test_spaces_order_defaults_and_kinds_of_numbers_do_not_change_the_name():
    named = "relaxed(scaffold(), beta=0.05, reading='intended')"
    for text in ("relaxed( scaffold(),0.05 )", " relaxed(scaffold, reading='intended', beta=5e-2)", named):
        assert algorithm(text).name == named
    assert fedprox(1.0).name == fedprox(1).name == "fedprox(mu=1)"
    assert fedprox(np.float64(0.5)).name == "fedprox(mu=0.5)"
    assert layerwise(fedavg, np.int64(3)).name == "layerwise(fedavg(), alpha=3, head='head', reading='intended')"
    assert fedprox(-0.0).name == "fedprox(mu=0)"


def test_texts_are_read_not_evaluated(tmp_path):
    target = tmp_path / "made"
    for text in (f"open('{target}', 'w')", f"fedprox(mu=open('{target}', 'w'))", f"__import__('os').mkdir('{target}')"):
        with pytest.raises(BoundsError):
            algorithm(text)
    assert not target.exists()


MISTAKES = {
    "relaxed(scafold())": "'scafold' 'scaffold'",
    "fedprox(nu=0.1)": "fedprox 'nu' 'mu'",
    "fedsam(0,1)": "0,1 0.1",
    "fedprox(0.1, 0.2)": "fedprox 1 2",
    "relaxed(fedprox(mu=1, mu=1))": "fedprox mu twice",
    f"fedprox(mu=1{'0' * 400})": "1e20 400",
    f"{'relaxed(' * 500}fedavg{')' * 500}": "name(option=0.1)",
    "fedals(alpha=1e17)": "fedals alpha 1 1e+17",
    "relaxed(beta=0.1)": "relaxed algorithm given",
    "fedavg() + fedavg()": "name(option=0.1)",
    "": "name(option=0.1) ''",
    "fedprox(mu=1e999)": "'1e999'",
    "fedprox(mu=True)": "fedprox mu True",
    "fedavgm(reading='cod')": "fedavgm 'cod' 'code'",
    "relaxed(0.3)": "relaxed(fedavg()) 0.3",
    "fedcog(targets='unform')": "'unform' 'uniform'",
}


def test_a_mistake_is_one_clear_line():
    all_refused(MISTAKES, lambda text: refusal(algorithm, text))
