"""Mistakes in ``fedbounds train`` and ``constants``: one clear line and status 2; what was measured is kept."""

import csv

import numpy as np
import pytest

from empirics.data.dataset import Dataset
from empirics.errors import EmpiricsError
from empirics.federation.partitions import partition
from empirics.streams import stream
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
        }[self.what]

stop, narrow, raises = (renamed(fedavg, f"{w}()", direction=Wrong(w)) for w in ("stop", "narrow", "raise"))
empty, few, beyond, before, mask, none = map(Parts, ("empty", "few", "beyond", "before", "mask", "none"))
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
    "--batch 400": "batch must be <= the size of every client; got 400 > 360 of client 0",
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
        ("mask", "parts(what='mask'): sample numbers of client 0 must be whole numbers; got 'bool'"),
        ("none", "parts(what='none') must deal a list of 5 arrays of sample numbers, one per client; got NoneType"),
    ],
)
def test_what_a_partition_of_ones_own_deals_is_looked_at(what, says, file, capsys):
    assert line_of(capsys, ["train", *DIGITS, "--partition", f"{file}:{what}"]) == says


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
    """Stopped in the third round of the second method's first seed."""
    table = tmp_path / "runs.csv"
    own = ["--compare", f"{file}:stop", "--measure", "train_loss", "--every", "1", "--rounds", "5", "-o", str(table)]
    assert main(["train", *DIGITS[:4], *own, "--seeds", str(seeds)]) == 130
    rows = list(csv.DictReader(table.read_text().splitlines()))
    found = {name: [int(r["round"]) for r in rows if r["algorithm"] == name] for name in ("fedavg()", "stop()")}
    assert found == {"fedavg()": [0, 1, 2, 3, 4, 5], "stop()": [0, 1, 2]}
    assert capsys.readouterr().err.strip().endswith("interrupted")


def made(**changes):
    parts = {"inputs": np.arange(12.0).reshape(6, 2), "targets": np.array([0, 1, 2, 0, 1, 2]), "classes": 3}
    return Dataset("own", **{**parts, **changes})


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
    ],
)
def test_data_that_no_model_can_learn_are_refused(changes, says):
    assert len(made()) == 6
    with pytest.raises(EmpiricsError) as raised:
        made(**changes)
    assert str(raised.value).startswith(says)


def test_numbers_of_numpy_are_numbers():
    assert str(type(partition("dirichlet(0.5)"))(np.float64(0.5), np.int64(10))) == "dirichlet(alpha=0.5, least=10)"
    with pytest.raises(EmpiricsError, match=r"^seed must be a whole number >= 0; got -3$"):
        stream(-3, "anything")
