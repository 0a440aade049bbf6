"""FedALS's settings against the print, and the search for its step sizes."""

import math

import pytest
from figure_toys import keep

from empirics.experiments import Store
from figures import making
from figures.catalogue import artefact
from figures.fedals import grid, tables
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

    assert grid.best_step_size("overnight", ("cifar10", "fedavg()", "iid")) is None
    assert grid.arguments("overnight", "CIFAR-10", "alpha=25", "non-iid")["step_size"] == grid.START
    searched = 0
    while todo := [c for c in tables.searches("overnight") if not store.has(c)]:
        assert searched < 60
        for cell in todo:
            assert (cell.arguments["seed"], cell.arguments["rounds"] in (1000, 2000)) == (1000, True)
            keep(store, cell, {"test_accuracy": [0.1, *[ended(cell.arguments)] * 5]})
        searched += len(todo)
        list(
            making.make(
                making.planned([artefact("fedals.table_4")], "overnight"), "overnight", store, tmp_path / "overnight"
            )
        )
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
    list(
        making.make(
            making.planned([artefact("fedals.table_4")], "overnight"), "overnight", store, tmp_path / "overnight"
        )
    )
    given = a_run_that_diverged.arguments
    assert grid.search_results("overnight")[grid.search_key(given)][given["step_size"]] == 0
