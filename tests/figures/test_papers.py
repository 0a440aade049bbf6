"""What single figures of the papers do that no other does: search step sizes, draw stored pixels, time methods."""

import math

import numpy as np
import pytest
from figure_toys import keep

from empirics.experiments import Outcome, Store
from empirics.experiments.jobs import BLOCKS
from empirics.experiments.jobs.wall import seconds
from figures import making
from figures.catalogue import artefact
from figures.fedals import grid, tables
from figures.fedcog import figures
from figures.fedinit import times
from figures.runs import Runs
from paper_checks.reported import table

PRESENT = {"cifar10": "cifar10", "mnist": "mnist", "fashion_mnist": "fashion_mnist", "cifar100": "omniglot"}


@pytest.fixture(autouse=True)
def disk(monkeypatch):
    """Data sets as on a machine without SVHN, CIFAR-100 and MultiNLI."""
    monkeypatch.setattr(grid, "available", lambda name: PRESENT.get(name, ""))


def test_the_plan_for_the_papers_scale_is_the_printed_one():
    for number in (4, 5):
        printed = table("fedals", f"Table {number}", version="v2")
        for (row, _), cell in printed.items():
            assert float(tables.planned_numbers(number == 5)[row]) == pytest.approx(float(cell.value)), row
        sheet = artefact(f"fedals.table_{number}").data(Runs(), "paper").sheet
        assert {row for row, _ in printed} < {line[0] for line in sheet[1:]}


def test_step_sizes_are_doubled_until_the_best_lies_inside(tmp_path, monkeypatch):
    """By the packed runs of the search itself, which the other runs of the night take theirs from."""
    store = Store(tmp_path / "store")
    monkeypatch.setattr(making, "COMMITTED", tmp_path / "laptop")
    monkeypatch.setattr(grid, "search_results", grid.search_results.__wrapped__)
    peaks = {"fedavg()": 0.03, "fedals(alpha=10)": 0.001, "scaffold()": 0.3}

    def ended(given):
        away = abs(math.log2(given["step_size"] / peaks.get(given["algorithm"], 0.04)))
        return 0.62 - 0.07 * away - (0.01 if given["partition"] == "iid" else 0)

    def renew():
        planned = making.planned([artefact("fedals.table_4")], "overnight")
        list(making.make(planned, "overnight", store, tmp_path / "overnight"))

    assert grid.best_step_size("overnight", ("cifar10", "fedavg()", "iid")) is None
    assert grid.arguments("overnight", "CIFAR-10", "alpha=25", "non-iid")["step_size"] == grid.START
    searched = 0
    while todo := [c for c in tables.searches("overnight") if not store.has(c)]:
        assert searched < 60
        for cell in todo:
            assert (cell.arguments["seed"], cell.arguments["rounds"] in (1000, 2000)) == (1000, True)
            keep(store, cell, {"test_accuracy": [0.1, *[ended(cell.arguments)] * 5]})
        searched += len(todo)
        renew()
    shown = artefact("fedals.table_4").data(Runs(store), "overnight")
    rows = {row["setting"]: row["planned"] for row in shown.rows}
    assert rows["step size, CIFAR-10, FedAvg non-iid"] == "0.005: 43.9, 0.01: 50.9, 0.02: 57.9, 0.04: 59.1, 0.08: 52.1"
    for split, rounds in (("iid", 2000), ("non-iid", 4000)):
        given = [grid.arguments("overnight", "CIFAR-10", m, split) for m in ("FedAvg", "FedALS", "alpha=25")]
        assert [one["step_size"] for one in given] == [0.04, 0.00125, 0.00125]
        assert {one["rounds"] for one in given} == {rounds}
    assert grid.arguments("overnight", "CIFAR-10", "SCAFFOLD", "non-iid")["step_size"] == 0.32
    a_run_that_diverged = tables.searches("overnight")[3]
    keep(store, a_run_that_diverged, {"test_accuracy": [0.9] * 5}, "diverged")
    renew()
    given = a_run_that_diverged.arguments
    assert grid.search_results("overnight")[grid.search_key(given)][given["step_size"]] == 0


def test_figure_5_draws_the_stored_pixels(store):
    (cell,) = artefact("fedcog.figure_5").cells("smoke")
    pixels = [[0.0, 2.0, 4.0, 1.0], [5.0, 5.0, 5.0, 5.0], [3.0, -1.0, 1.0, 0.0]]
    store.keep(cell, Outcome({"steps": [-1, 0, 100], "label": [0, 0, 0], "pixels": pixels}, {"shape": [4]}), 0.1)
    shown = figures.images(Runs(store), "smoke")
    assert figures.image(shown.rows[0]).tolist() == [[0, 128], [255, 64]]
    assert figures.image(shown.rows[1]).max() == 0  # the images are the same
    coloured = {"pixels": "00ff10", "channels": 3, "side": 1}
    assert figures.image(coloured).tolist() == [[[0, 255, 16]]]


def test_the_first_round_at_which_the_running_mean_is_there():
    at, accuracy = np.array([0, 5, 10, 15, 20]), np.array([90.0, 10.0, 40.0, 30.0, 60.0])
    assert times.first_round_at(at, accuracy, 40.0, 1) == 10
    assert times.first_round_at(at, accuracy, 40.0, 2) == 20
    assert times.first_round_at(at, accuracy, 61.0, 1) == math.inf
    assert times.first_round_at(at, accuracy, 60.0 + 1e-12, 1) == 20


def test_rounds_of_all_methods_take_turns():
    plan = {"problem": "softmax(held_out(digits))", "seed": 0, "clients": 6, "cohort": 2, "local_steps": 1}
    timed = seconds(["fedavg()", "scaffold()"], 2, **plan)
    assert timed.columns["algorithm"] == ["fedavg()", "scaffold()"] * (2 * BLOCKS)
    assert timed.columns["block"] == [b for b in range(BLOCKS) for _ in range(4)]
    assert min(timed.columns["seconds"]) > 0
