"""The cells of sweeps take a file's numbers as they stand: 0 is not 'left open', and a truth value is no number."""

import pytest

from empirics.errors import EmpiricsError
from empirics.experiments.jobs.continued import continued
from empirics.experiments.jobs.timed import timed
from empirics.experiments.jobs.train import train
from empirics.experiments.jobs.wall import seconds

WHAT = {"problem": "softmax(iris, regularisation=0.02)", "clients": 4, "seed": 3, "batch": 10, "local_steps": 2}
CELLS = {
    "train": (train, {"algorithm": "fedavg", "rounds": 2, "measure": ["train_loss"]}),
    "continued": (
        continued,
        {"first": "fedavg", "after": 1, "algorithm": "scaffold", "rounds": 2, "measure": ["train_loss"], "every": 1},
    ),
    "timed": (timed, {"algorithm": "fedavg", "seconds": 40.0, "points": 2, "minibatch_time": 1.5, "model_size": 2.5}),
    "wall": (seconds, {"algorithms": ["fedavg"], "laps": 1}),
}


def said(cell, **changes):
    """The line that a cell refuses changed arguments with."""
    run, own = CELLS[cell]
    with pytest.raises(EmpiricsError) as raised:
        run(**{**WHAT, **own, **changes})
    return str(raised.value)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"cohort": 0}, "cohort must be a whole number >= 1; got 0"),
        ({"cohort": True}, "cohort must be a whole number >= 1; got True"),
        ({"clients": 0}, "clients must be a whole number >= 1; got 0"),
        ({"clients": True}, "clients must be a whole number >= 1; got True"),
        ({"clients": 2.5}, "clients must be a whole number >= 1; got 2.5"),
        ({"seed": True}, "seed must be a whole number >= 0; got True"),
        ({"seed": 1.5}, "seed must be a whole number >= 0; got 1.5"),
        ({"step_size": True}, "step_size must be > 0; got True"),
        ({"batch": 0}, "batch must be a whole number >= 1; got 0"),
    ],
    ids=lambda given: "-".join(f"{k}={v}" for k, v in given.items()) if isinstance(given, dict) else "",
)
def test_a_number_that_is_none_is_refused_by_every_cell(cell, changes, rule):
    assert said(cell, **changes) == rule


@pytest.mark.parametrize(
    ("cell", "changes", "rule"),
    [
        ("train", {"rounds": 0}, "rounds must be a whole number >= 1; got 0"),
        ("train", {"every": 0}, "every must be a whole number >= 1; got 0"),
        ("train", {"every": True}, "every must be a whole number >= 1; got True"),
        ("timed", {"probe": 0}, "probe must be a whole number >= 1; got 0"),
        ("timed", {"points": 0}, "points must be a whole number >= 1; got 0"),
        ("wall", {"laps": 0}, "laps must be a whole number >= 1; got 0"),
    ],
)
def test_what_one_cell_alone_takes_is_looked_at_too(cell, changes, rule):
    assert said(cell, **changes) == rule


def test_everyone_takes_part_where_no_cohort_is_given():
    run, own = CELLS["train"]
    assert run(**{**WHAT, **own}).columns == run(**{**WHAT, **own, "cohort": 4}).columns
