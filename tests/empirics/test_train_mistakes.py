"""Mistakes in ``fedbounds train`` and ``constants``: one clear line and status 2; what was measured is kept."""

import csv
from dataclasses import replace

import numpy as np
import pytest
import torch

from empirics.algorithms.algorithm import fedavg
from empirics.data.catalogue import dataset
from empirics.data.dataset import Dataset
from empirics.errors import EmpiricsError
from empirics.federation.partitions import partition
from empirics.problems.tasks import TASKS
from empirics.streams import stream
from empirics.training.rounds import rounds
from empirics.training.setting import Setting
from empirics.verbs import train
from fedbounds import main

DIGITS = ["--problem", "softmax(digits)", "--clients", "5", "--rounds", "2"]
FILE = """
import signal
from dataclasses import dataclass
import numpy as np
from empirics.algorithms.algorithm import fedavg, renamed
from empirics.federation.partitions import Split

@dataclass(frozen=True)
class Wrong:
    what: str
    def __call__(self, work, w, gradient, gradient_at):
        if self.what == "stop" and work.state.round == 2:
            signal.raise_signal(signal.SIGINT)
        if self.what == "raise":
            raise ZeroDivisionError("oops")
        return gradient[:, :2] if self.what == "narrow" else gradient

@dataclass(frozen=True)
class Parts(Split):
    what: str
    def deal(self, data, clients, seed):
        n = len(data)
        mine = [np.arange(k, n, clients) for k in range(clients)]
        return {
            "empty": [np.arange(n), *[np.zeros(0, dtype=int)] * (clients - 1)],
            "few": mine[1:],
            "beyond": [m + 1 for m in mine],
            "before": [m - 1 for m in mine],
            "mask": [np.arange(n) % clients == k for k in range(clients)],
            "none": None,
            "deep": [m[:, None].T[:, :359] for m in mine],
            "words": [["some", "text"]] * clients,
            "ragged": [[[1], [2, 3]]] * clients,
            "write": data.inputs.fill(0) if self.what == "write" else None,
        }[self.what]

stop, narrow, raises = (renamed(fedavg, f"{w}()", direction=Wrong(w)) for w in ("stop", "narrow", "raise"))
empty, few, beyond, before, mask, none = map(Parts, ("empty", "few", "beyond", "before", "mask", "none"))
deep, words, ragged, write = map(Parts, ("deep", "words", "ragged", "write"))
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(FILE)
    return path


def line_of(capsys, words):
    """The one line that a command says which must be refused before it prints anything."""
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err.removeprefix("fedbounds: ").rstrip()


MISTAKES = {
    "--cohort 9": "cohort must be <= clients; got 9 > 5",
    "--seeds 0": "seeds must be a whole number >= 1; got 0",
    "--every 0": "every must be a whole number >= 1; got 0",
    "--clients 0": "clients must be a whole number >= 1; got 0",
    "--local-steps 99999999999999999999": "local_steps must be a whole number >= 1 and at most 900719925474",
    "--rounds 1_0": "argument --rounds: must be a whole number; got '1_0'",
    "--rounds \u0663": "argument --rounds: must be a whole number; got '\u0663'",
    "--step-size 1_0": "argument --step-size: must be a number; got '1_0'",
    "--step-size 0,1": "argument --step-size: must be a number; got '0,1'",
    "--step-size inf": "step_size must be > 0; got inf",
    "--partition dirichlet(1.0, least=900)": "clients times least must be at most 1797 in digits; got 4500",
    "--local-epochs 2 --local-steps 3": "a round has local_steps or local_epochs; got both",
    "--compare scaffold fedavg": "fedavg() is given twice",
    "--measure train_loss train_loss": "train_loss is given twice",
    "--measure runtime(upload_rate='x')": "runtime: upload_rate must be a number; got 'x'",
    "--measure runtime(alike=3)": "runtime: alike must be True or False; got 3",
    "--measure runtime(spread=1e999)": "measurement: numbers must be of a size that a floating-point number can have",
    "--problem softmax(held_out(iris, share='a'))": "held_out: share must be a number; got 'a'",
    "--problem softmax(fewer(iris, train=2.5))": "fewer: train must be a whole number >= 1; got 2.5",
    "--problem softmax(tiny_shakespeare(stride=True))": "tiny_shakespeare: stride must be a whole number; got True",
    "--problem softmax(softmax(iris))": "softmax must be given a data set first, such as softmax(digits); got Task(",
    "--problem femnist_dnn(digits, hidden=9)": "unknown option of femnist_dnn 'hidden'; known: ",
    "--measure train_los": "unknown measurement 'train_los'; did you mean 'train_loss'",
    "--measure": "argument --measure: expected at least one argument",
    "--partition dirichlet('a')": "alpha of dirichlet must be a number; got 'a'",
    "--partition classes_per_client(2.5)": "classes of classes_per_client must be a whole number; got 2.5",
    "--partition log_normal_sizes(True)": "sigma of log_normal_sizes must be a number; got True",
    "--partition by_group(least=None)": "least of by_group must be a whole number; got None",
    "--partition pachinko": "digits has no coarse classes",
    "--problem softmax(diabetes)": "softmax needs one class per sample; diabetes has targets for regression: try ridge",
    "--problem femnist_dnn(diabetes)": "femnist_dnn needs classes; diabetes has targets for regression: try ridge",
    "-o /not/there/x.csv": "-o /not/there/x.csv: No such file or directory",
    "-o /": "-o /: Is a directory",
}


@pytest.mark.parametrize("words", MISTAKES)
def test_a_mistake_is_one_clear_line(words, capsys):
    quoted = words.startswith("--problem")
    option, *value = words.split(" ", 1) if quoted or "(" in words else words.split()
    others = [w for pair in zip(DIGITS[::2], DIGITS[1::2], strict=True) if pair[0] != option for w in pair]
    assert line_of(capsys, ["train", *others, option, *value]).startswith(MISTAKES[words])


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("empty", "parts(what='empty'): every client must be dealt a sample or more; got 'client 1: none'"),
        ("few", "parts(what='few') must deal a list of 5 arrays of sample numbers, one per client; got 4 of them"),
        ("beyond", "parts(what='beyond'): sample numbers must be from 0 to 1796; got 1797"),
        ("before", "parts(what='before'): sample numbers must be from 0 to 1796; got -1"),
        ("deep", "parts(what='deep'): sample numbers of client 0 must be a flat array; got shape (1, 359)"),
        ("words", "parts(what='words'): sample numbers of client 0 must be whole numbers; got a list of <U4"),
        (
            "ragged",
            "parts(what='ragged'): sample numbers of client 0 must be whole numbers; got list: setting an array",
        ),
        ("mask", "parts(what='mask'): sample numbers of client 0 must be whole numbers; got 'bool'"),
        ("none", "parts(what='none') must deal a list of 5 arrays of sample numbers, one per client; got NoneType"),
    ],
)
def test_what_a_partition_of_ones_own_deals_is_looked_at(what, says, file, capsys):
    assert line_of(capsys, ["train", *DIGITS, "--partition", f"{file}:{what}"]).startswith(says)


def test_a_partition_of_ones_own_cannot_change_the_data_that_others_train_on(file, capsys):
    assert "ValueError: assignment destination is read-only" in line_of(
        capsys, ["train", *DIGITS, "--partition", f"{file}:write"]
    )
    assert dataset("digits").inputs.any()
    assert dataset("digits").inputs.flags.writeable


def test_an_error_inside_of_a_users_file_names_its_place(file, capsys):
    where = FILE.splitlines().index('            raise ZeroDivisionError("oops")') + 1
    said = line_of(capsys, ["train", *DIGITS, "--algorithm", f"{file}:raises"])
    assert said == f"{file}, line {where}: ZeroDivisionError: oops"
    said = line_of(capsys, ["train", *DIGITS, "--algorithm", f"{file}:narrow"])
    assert said == "narrow(): the direction of a step must be a tensor of shape (5, 650) like the models; got (5, 2)"


@pytest.mark.parametrize("mean", ["seed", "folder"])
def test_constants_refuses_too(mean, capsys):
    words = {"seed": ["--seed", "-1"], "folder": ["-o", "/not/there/c.json"]}[mean]
    said = {
        "seed": "seed must be a whole number >= 0; got -1",
        "folder": "-o /not/there/c.json: No such file",
    }
    assert line_of(capsys, ["constants", *DIGITS[:4], *words]).startswith(said[mean])


@pytest.mark.parametrize("seeds", [1, 2])
def test_an_interrupted_run_keeps_what_was_measured(seeds, file, tmp_path, capsys):
    """Stopped in the third round of the second method's first seed; an earlier table is not touched."""
    table, partial = tmp_path / "runs.csv", tmp_path / "runs.partial.csv"
    table.write_text("of another run")
    own = ["--compare", f"{file}:stop", "--measure", "train_loss", "--every", "1", "--rounds", "5", "-o", str(table)]
    assert main(["train", *DIGITS[:4], *own, "--seeds", str(seeds)]) == 130
    assert table.read_text() == "of another run"
    rows = list(csv.DictReader(partial.read_text().splitlines()))
    found = {name: [int(r["round"]) for r in rows if r["algorithm"] == name] for name in ("fedavg()", "stop()")}
    assert found == {"fedavg()": [0, 1, 2, 3, 4, 5], "stop()": [0, 1, 2]}
    assert capsys.readouterr().err.strip().endswith("interrupted")


TABLE = np.array([[2.0, 5.0], [3.0, 7.0], [11.0, 4.0], [6.0, 9.0], [8.0, 2.0], [5.0, 3.0]])


def made(**changes):
    parts = {"name": "own", "inputs": TABLE, "targets": np.array([0, 1, 2, 0, 1, 2]), "classes": 3}
    return Dataset(**{**parts, **changes})


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"inputs": np.array([1, 2, np.nan, 3, 4, 5.0])}, "own: inputs must be finite numbers; sample 2 holds nan"),
        ({"inputs": np.full((6, 2), -np.inf)}, "own: inputs must be finite numbers; sample 0 holds nan or infinity"),
        ({"targets": np.array([0, 1, 2, 0, 1, 3])}, "own: targets must be whole numbers from 0 to 2; got 3"),
        ({"targets": np.array([0, 1, -1, 0, 1, 2])}, "own: targets must be whole numbers from 0 to 2; got -1"),
        ({"targets": np.arange(6) / 3}, "own: targets must be whole numbers from 0 to 2; got an array of float64"),
        (
            {"targets": np.array([0.1, np.nan] * 3), "kind": "regression"},
            "own: targets must be finite numbers; sample 1",
        ),
        ({"inputs": TABLE[:, 0]}, "own: inputs must be of shape (samples, features): a single feature is inputs[:, No"),
        ({"inputs": TABLE.astype(str)}, "own: inputs must be an array of numbers; got an array of <U32"),
        ({"inputs": TABLE.astype(object)}, "own: inputs must be an array of numbers; got an array of object"),
        ({"inputs": TABLE + 2j}, "own: inputs must be an array of numbers; got an array of complex128"),
        ({"inputs": TABLE.astype("datetime64[s]")}, "own: inputs must be an array of numbers; got an array of datetim"),
        ({"inputs": [[1, 2], [3]] * 3}, "own: inputs must be an array of numbers; got list: setting an array element"),
        ({"inputs": np.ma.masked_greater(TABLE, 7)}, "own: inputs must be an array of numbers; some are masked: fill"),
        ({"inputs": TABLE[:0], "targets": []}, "own: inputs must hold a sample or more; got shape (0, 2)"),
        ({"targets": np.ma.masked_equal([0, 1, 2, 0, 1, 2], 2)}, "own: targets must be an array of numbers; some are"),
        ({"targets": np.array([[0, 1, 2, 0, 1, 2]]).T}, "own: targets must be one number per sample; a column is"),
        ({"targets": np.ones((6, 2, 2)), "kind": "regression"}, "own: targets must be of shape (samples,) or (sample"),
        ({"targets": [0, 1, 1, 0, 1, 0], "kind": "binary"}, "own: targets of a binary set must be -1 or 1; got 0"),
        ({"classes": 3.0}, "own: classes must be a whole number; got 3.0"),
        ({"name": None}, "name of a data set must be a line of text; got None"),
        ({"name": "my\nown"}, "name of a data set must be a line of text; got 'my\\nown'"),
        ({"prepare": 7}, "own: prepare must be callable or None; got 7"),
        ({"test": (TABLE, [0, 1, 2, 0, 1, 2])}, "own: test must be a Dataset or None; got tuple"),
        ({"groups": ["a", "b"] * 3}, "own: groups must be one whole number from 0 per sample (empirics.data.dataset.n"),
        ({"groups": [1.0, 2.0] * 3}, "own: groups must be one whole number from 0 per sample (empirics.data.dataset.n"),
        ({"groups": [-1, 2] * 3}, "own: groups must be one whole number from 0 per sample (empirics.data.dataset.nu"),
        ({"groups": np.arange(6)[:, None]}, "own: groups must be one whole number from 0 per sample (empirics.data.d"),
        ({"groups": [0, 2] * 3, "group_names": ("a", "b")}, "own: group_names must be 3 different names or more, one"),
        ({"groups": [0, 1] * 3, "group_names": ("a", "a")}, "own: group_names must be 2 different names or more, one"),
    ],
)
def test_data_that_no_model_can_learn_are_refused(changes, says):
    assert len(made()) == 6
    with pytest.raises(EmpiricsError) as raised:
        made(**changes)
    assert str(raised.value).startswith(says)


@pytest.mark.parametrize(
    ("hooks", "says"),
    [
        ({"direction": torch.sign}, "own: direction must be a function of Python's; got <built-in method sign"),
        ({"combine": torch.mean}, "own: combine must be a function of Python's; got <built-in method mean"),
        ({"objective": torch.nn.MSELoss()}, "own: objective must be callable as (net, w, batch, work); MSELoss: too"),
    ],
)
def test_functions_that_cannot_be_called_as_hooks_are_refused_before_training(hooks, says):
    with pytest.raises(EmpiricsError) as raised:
        replace(fedavg, name="own", **hooks)
    assert str(raised.value).startswith(says)


WRONG_HOOKS = {
    "direction must draw from empirics.streams.stream(work.seed": lambda work, w, g, at: g + torch.randn_like(g),
    "direction must draw from empirics.streams.stream(work.seed, ...)": lambda work, w, g, at: g * np.random.rand(),  # noqa: NPY002
    "direction must not change the models": lambda work, w, g, at: (w.add_(1), g)[1],
    "the direction of a step must be a tensor of shape": lambda work, w, g, at: g.to("meta"),
    "the direction of a step must be a tensor": lambda work, w, g, at: g.long(),
}


@pytest.mark.parametrize("says", WRONG_HOOKS)
def test_hooks_that_no_seed_reaches_or_that_work_elsewhere_are_refused(says):
    problem = TASKS["softmax"](made(), regularisation=0.3).deal("iid", 2, 0)
    setting = Setting(rounds=2, cohort=2, batch=3, step_size=0.07, local_steps=2)
    own = replace(fedavg, name="own", direction=WRONG_HOOKS[says])
    with pytest.raises(EmpiricsError) as raised:
        list(rounds(problem.model, problem.federation, own, setting, seed=5))
    assert says.removeprefix("direction ") in str(raised.value)
    assert str(raised.value).startswith("own")


def test_a_test_set_has_samples_of_the_same_shape():
    with pytest.raises(EmpiricsError, match=r"must be of shape \(2,\) like the others; got \(1,\)"):
        made(test=made(inputs=TABLE[:, :1]))


def trained(data, word="softmax"):
    problem = TASKS[word](data, regularisation=0.3).deal("iid", 2, 0)
    setting = Setting(rounds=2, cohort=2, batch=3, step_size=0.07, local_steps=2)
    return list(rounds(problem.model, problem.federation, fedavg, setting, seed=5))[-1].model


KINDS = {"int64": TABLE.astype(int), "int8": TABLE.astype("int8"), "uint8": TABLE.astype("uint8")}
KINDS |= {
    "float16": TABLE.astype("float16"),
    "big endian": TABLE.astype(">f8"),
    "longdouble": TABLE.astype("longdouble"),
}
KINDS |= {"list": TABLE.tolist(), "tensor": torch.tensor(TABLE), "unmasked": np.ma.masked_array(TABLE)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_trains_as_its_numbers_whatever_array_holds_them(kind):
    test = made(inputs=KINDS[kind])
    assert torch.equal(trained(made(inputs=KINDS[kind], test=test)), trained(made()))


def test_flags_and_several_whole_numbers_to_fit_are_real_numbers():
    flags, fitted = TABLE > 4, TABLE.astype(int)
    assert torch.equal(trained(made(inputs=flags)), trained(made(inputs=flags.astype(float))))
    both = (made(targets=targets, kind="regression") for targets in (fitted, TABLE))
    found = [trained(data, "ridge") for data in both]
    assert torch.equal(*found)
    assert found[0].shape == (6,)


def test_counts_go_into_a_network():
    counts = np.arange(48).reshape(6, 8) % 7
    models = [TASKS["femnist_dnn"](made(inputs=inputs)) for inputs in (counts, counts.astype(float))]
    inputs = [model.deal("iid", 2, 0).federation.inputs for model in models]
    assert torch.equal(*inputs)
    assert inputs[0].dtype == torch.float32


def test_features_whose_variance_overflows_are_refused():
    with pytest.raises(EmpiricsError, match=r"^own: feature 1 must be small enough .* its largest number is 9e\+200$"):
        trained(made(inputs=TABLE * [1, 1e200]))


def test_groups_may_be_flags_lists_or_large_numbers():
    for groups in ([0, 1, 1, 0, 1, 0], [4 * 10**14, 7 * 10**14, 7 * 10**14, 4 * 10**14, 7 * 10**14, 4 * 10**14]):
        data = made(groups=groups)
        assert [part.tolist() for part in partition("by_group()")(data, 2, 0)] == [[0, 3, 5], [1, 2, 4]]
    flags = made(groups=np.array([False, True, True, False, True, False]))
    assert [part.tolist() for part in partition("by_group()")(flags, 2, 0)] == [[0, 3, 5], [1, 2, 4]]


def test_numbers_of_numpy_are_numbers():
    assert str(type(partition("dirichlet(0.5)"))(np.float64(0.5), np.int64(10))) == "dirichlet(alpha=0.5, least=10)"
    with pytest.raises(EmpiricsError, match=r"^seed must be a whole number >= 0; got -3$"):
        stream(-3, "anything")


@pytest.mark.parametrize("text", ["fedavg()", "scaffold()"])
@pytest.mark.parametrize(("size", "said"), [(1e9, True), (0.05, False)])
def test_a_run_that_diverges_says_so_while_its_numbers_are_finite(text, size, said):
    found = train("softmax(iris)", algorithm=text, clients=3, rounds=3, local_steps=2, step_size=size)
    (end,) = found.ends[text]
    assert np.isfinite(end["train_loss"])
    assert ("diverges" in found.said[0]) == said
    begins = [row["value"] for row in found.records() if (row["quantity"], row["round"]) == ("train_loss", 0)]
    assert [row["value"] for row in found.records() if row["quantity"] == "diverges"] == begins * said
