"""Mistakes in ``fedbounds train`` and ``constants``: one clear line and status 2; what was measured is kept."""

import csv

import numpy as np
import pytest
import torch
from refusals import all_refused

from empirics.algorithms.algorithm import fedavg
from empirics.data.dataset import Dataset
from empirics.problems.tasks import TASKS
from empirics.streams import stream
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

DIGITS = ["--problem", "softmax(digits)", "--clients", "5", "--rounds", "2"]
FILE = """
import signal
from empirics.algorithms.algorithm import fedavg, renamed

class Stops:
    def __call__(self, work, w, gradient, gradient_at):
        if work.state.round == 2:
            signal.raise_signal(signal.SIGINT)
        return gradient

stop = renamed(fedavg, "stop()", direction=Stops())
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(FILE)
    return path


MISTAKES = {
    "--cohort 9": "cohort clients 9 5",
    "--local-steps 99999999999999999999": "local_steps 9007199254740992",
    "--rounds \u0663": "--rounds '\u0663'",
    "--step-size inf": "step_size 0 inf",
    "--partition dirichlet(1.0,least=900)": "1797 digits 4500",
    "--local-epochs 2 --local-steps 3": "local_steps local_epochs",
    "--measure train_loss train_loss": "train_loss twice",
    "--measure runtime(upload_rate='x')": "runtime upload_rate 'x'",
    "--problem softmax(tiny_shakespeare(stride=True))": "tiny_shakespeare stride True",
    "--measure train_los": "'train_los' 'train_loss'",
    "--partition pachinko": "digits",
    "--problem softmax(diabetes)": "softmax diabetes regression ridge",
    "-o /not/there/x.csv": "-o /not/there/x.csv",
}


def test_a_mistake_is_one_clear_line(refused):
    def line(words):
        option = words.partition(" ")[0]
        others = [w for pair in zip(DIGITS[::2], DIGITS[1::2], strict=True) if pair[0] != option for w in pair]
        return refused("train", *others, *words.split())

    all_refused(MISTAKES, line)
    constants = {"--seed -1": "seed 0 -1", "-o /not/there/c.json": "-o /not/there/c.json"}
    all_refused(constants, lambda words: refused("constants", *DIGITS[:4], *words.split()))


@pytest.mark.parametrize("seeds", [1, 2])
def test_an_interrupted_run_keeps_what_was_measured(seeds, file, tmp_path, run):
    """Stopped in the third round of the second method's first seed; an earlier table is not touched."""
    table, partial = tmp_path / "runs.csv", tmp_path / "runs.partial.csv"
    table.write_text("of another run")
    own = ["--compare", f"{file}:stop", "--measure", "train_loss", "--every", "1", "--rounds", "5", "-o", table]
    assert run("train", *DIGITS[:4], *own, "--seeds", seeds)[0] == 130
    assert table.read_text() == "of another run"
    rows = list(csv.DictReader(partial.read_text().splitlines()))
    found = {name: [int(r["round"]) for r in rows if r["algorithm"] == name] for name in ("fedavg()", "stop()")}
    assert found == {"fedavg()": [0, 1, 2, 3, 4, 5], "stop()": [0, 1, 2]}


TABLE = np.array([[2.0, 5.0], [3.0, 7.0], [11.0, 4.0], [6.0, 9.0], [8.0, 2.0], [5.0, 3.0]])


def made(**changes):
    parts = {"name": "own", "inputs": TABLE, "targets": np.array([0, 1, 2, 0, 1, 2]), "classes": 3}
    return Dataset(**{**parts, **changes})


def test_data_that_no_model_can_learn_are_refused():
    assert len(made()) == 6
    column, gap = {"targets": np.array([[0, 1, 2, 0, 1, 2]]).T}, {"targets": np.array([0.1, np.nan] * 3)}
    wrong = [
        ({"inputs": np.array([1, 2, np.nan, 3, 4, 5.0])}, "inputs finite 2"),
        ({"targets": np.array([0, 1, 2, 0, 1, 3])}, "targets 0 2 3"),
        ({"targets": np.arange(6) / 3}, "targets 0 2 float64"),
        ({**gap, "kind": "regression"}, "targets finite 1"),
        ({"inputs": TABLE[:, 0]}, "inputs (samples, features)"),
        ({"inputs": TABLE.astype(str)}, "inputs <U32"),
        ({"inputs": TABLE + 2j}, "inputs complex128"),
        ({"inputs": [[1, 2], [3]] * 3}, "inputs list"),
        ({"inputs": np.ma.masked_greater(TABLE, 7)}, "inputs masked"),
        ({"inputs": TABLE[:0], "targets": []}, "inputs (0, 2)"),
        (column, "targets one"),
        ({"targets": [0, 1, 1, 0, 1, 0], "kind": "binary"}, "targets -1 1 0"),
        ({"classes": 3.0}, "classes 3.0"),
        ({"prepare": 7}, "prepare 7"),
        ({"test": (TABLE, [0, 1, 2, 0, 1, 2])}, "test Dataset tuple"),
        ({"test": made(inputs=TABLE[:, :1])}, "(2,) (1,)"),
        ({"groups": ["a", "b"] * 3}, "groups 0"),
        ({"groups": [0, 2] * 3, "group_names": ("a", "b")}, "group_names 3"),
        ({"groups": [0, 1] * 3, "group_names": ("a", "a")}, "group_names 2"),
    ]
    all_refused(((lambda changes=changes: made(**changes), f"own {words}") for changes, words in wrong))
    for name in (None, "my\nown"):
        all_refused([(lambda name=name: made(name=name), f"name {name!r}")])
    all_refused(
        [
            (lambda: trained(made(inputs=TABLE * [1, 1e200])), "own 1 9e+200"),
            (lambda: stream(-3, "anything"), "seed 0 -3"),
        ]
    )


SETTING = Setting(rounds=2, cohort=2, batch=3, step_size=0.07, local_steps=2)


def trained(data, word="softmax"):
    problem = TASKS[word](data, regularisation=0.3).deal("iid", 2, 0)
    return list(rounds(problem.model, problem.federation, fedavg, SETTING, seed=5))[-1].model


def test_a_table_trains_as_its_numbers_whatever_array_holds_them():
    kinds = [TABLE.astype(kind) for kind in ("int64", "int8", "uint8", "float16", ">f8", "longdouble")]
    for inputs in (*kinds, TABLE.tolist(), torch.tensor(TABLE), np.ma.masked_array(TABLE)):
        assert torch.equal(trained(made(inputs=inputs, test=made(inputs=inputs))), trained(made()))
    flags = TABLE > 4
    assert torch.equal(trained(made(inputs=flags)), trained(made(inputs=flags.astype(float))))
    both = (made(targets=targets, kind="regression") for targets in (TABLE.astype(int), TABLE))
    found = [trained(data, "ridge") for data in both]
    assert torch.equal(*found)
    assert found[0].shape == (6,)
