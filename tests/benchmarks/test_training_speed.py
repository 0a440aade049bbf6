"""The training benchmark does the work it says and judges by its targets; chapters of the results stay apart."""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
import training_speed as bench
from peers.training_work import check_loss, cohort, data, first_model, SHAPES
from results import put, table

HERE = Path(__file__).parent
CELL, TWO = ("softmax", "20of20", 5, 1), ("cnn", "20of20", 5, 2)


def torch_loss(task, parameters, inputs, targets):
    p = [torch.from_numpy(a).double() for a in parameters]
    x, y = torch.from_numpy(inputs).flatten(0, 1).double(), torch.from_numpy(targets).flatten()
    if task == "cnn":
        x, y = x[:: len(x) // 1600], y[:: len(y) // 1600]
        for weight, bias in (p[:2], p[2:4]):
            x = F.max_pool2d(F.relu(F.conv2d(x, weight, bias)), 2)
        x = F.relu(F.linear(F.relu(F.linear(x.flatten(1), p[4], p[5])), p[6], p[7]))
    return float(F.cross_entropy(F.linear(x, p[-2], p[-1]), y))


@pytest.mark.parametrize("task", list(SHAPES))
def test_the_check_loss_is_torchs(task):
    inputs, targets = data(task, 11)
    parameters = [3 * a for a in first_model(task)]
    expected = torch_loss(task, parameters, inputs, targets)
    assert check_loss(task, parameters, inputs, targets) == pytest.approx(expected, rel=1e-10)
    assert expected > 2


def test_the_work_is_what_it_says():
    inputs, targets = data("softmax", 7)
    assert inputs.shape == (7, 160, 64)
    assert (inputs.min(), inputs.max()) == (0, 1)
    shares = np.stack([np.bincount(row, minlength=10) / 160 for row in targets])
    assert shares.max() > 0.4, "labels are skewed"
    assert list(cohort("20of20", 3)) == list(range(20))
    assert len(set(cohort("10of100", 3))) == 10
    assert list(cohort("10of100", 3)) != list(cohort("10of100", 4))
    assert [a.shape for a in first_model("cnn")] == SHAPES["cnn"]
    assert sum(a.size for a in first_model("cnn")) == 44_426


@pytest.mark.slow
@pytest.mark.parametrize(
    ("driver", "task"),
    [
        ("fedbounds.py", "softmax"),
        ("fedbounds.py --engine compiled", "cnn"),
        ("plain_loop.py", "softmax"),
    ],
)
def test_drivers_reach_the_check_loss(driver, task):
    result = bench.run(Path(sys.executable), driver, (task, "20of20", 5, 1), 0.0)
    assert result["loss"] == pytest.approx({"softmax": 1.8417, "cnn": 2.252}[task], abs=3e-3)
    assert result["rounds"] == {"softmax": 9, "cnn": 5}[task]
    assert 0 < result["cpu"] < 60


def results(**milliseconds):
    """One repeat of two cells; a peer that is 0 failed."""
    runs = {}
    for name, (one, two) in milliseconds.items():
        base = {"loss": 1.8, "others": 0.1, "versions": {"x": "1"}}
        runs[name.replace("_", "-"), CELL] = [{"cpu": one / 1e3, "wall": 9.0, **base} if one else "planted"]
        runs[name.replace("_", "-"), TWO] = [{"cpu": 9.0, "wall": two / 1e3, **base} if two else "planted"]
    return runs


@pytest.mark.parametrize(
    ("ours", "met"), [((1.4, 150), [True, True]), ((1.6, 150), [False, True]), ((1.4, 170), [True, False])]
)
def test_targets_are_judged_by_the_right_rival_and_clock(ours, met):
    runs = results(fedbounds=ours, pfl_research=(22.0, 300), BlazeFL=(3.0, 255), Flower=(500, 0))
    said = bench.verdicts([CELL, TWO], bench.medians(runs))
    assert [ok for _, ok in said] == met
    assert "pfl-research (target 15)" in said[0][0]
    assert "BlazeFL (target 1.6)" in said[1][0]
    rows = bench.peer_rows(["fedbounds", "BlazeFL", "Flower"], [CELL, TWO], bench.medians(runs))
    assert rows[1][bench.title(CELL)] == f"3 ({3 / ours[0]:.3g}x)"
    assert rows[2][bench.title(TWO)] == "-"
    assert bench.loss_rows(runs)[0]["softmax loss (1.8417)"] == "1.8000"


def test_chapters_of_the_results_are_replaced_one_by_one(tmp_path):
    file = tmp_path / "RESULTS.md"
    put("# One\n\nfirst\n\n## Part\n\na", file)
    put("# Two\n\nsecond", file)
    put("# One\n\nnew", file)
    assert file.read_text() == "# One\n\nnew\n\n# Two\n\nsecond\n"
    assert table([{"a": 1.23456, "b": "x"}, {"a": 12345.6, "b": "y"}]).splitlines()[2:] == [
        "| 1.23 | x |",
        "| 12346 | y |",
    ]


SCRIPTS = {p.stem for p in HERE.glob("*.py") if not p.stem.startswith("test_")}
EXTRA = set() if find_spec("pepit") else {"worst_cases"}


@pytest.mark.parametrize("script", sorted(SCRIPTS - EXTRA))
def test_every_benchmark_finds_what_it_measures(script):
    assert import_module(script).__doc__
