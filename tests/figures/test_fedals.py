"""FedALS's figures and tables: numbers by hand from made runs, settings against the grid, what missing data do."""

import math

import numpy as np
import pytest
from figure_toys import keep, NOT, OPEN, verdicts, YES

from empirics.experiments.jobs.train import train
from figures.catalogue import artefact
from figures.comparing import Reproduction
from figures.fedals import figure_1, grid, listing, settings, table_1, table_2, table_3
from figures.runs import Runs
from paper_checks.reported import table

HERE = ("cifar10", "mnist", "fashion_mnist")
STAND_INS = {**{name: name for name in HERE}, "cifar100": "omniglot"}
FIGURE_2, FIGURE_3 = artefact("fedals.figure_2"), artefact("fedals.figure_3")


@pytest.fixture(autouse=True)
def disk(monkeypatch):
    """Data sets as on a machine without SVHN, CIFAR-100 and MultiNLI; returned to be changed."""
    present = dict(STAND_INS)
    monkeypatch.setattr(settings, "found", lambda name: present.get(name, ""))
    return present


def filled(store, runs, column="CIFAR-10", scale="smoke"):
    """Hand-made runs: test accuracies at the end, one per seed, by (method, split), no two differences quite alike."""
    for n, ((method, split, *layers), values) in enumerate(runs.items()):
        for seed, cell in enumerate(grid.seeds(scale, column, method, split, *layers)):
            value = values[seed] + 2e-9 * n**2 * seed
            keep(store, cell, {"test_accuracy": [0.1, value], "test_loss": [2.0, 2.0 - value]})
    return Runs(store)


def place(shown, row, column):
    found = (r for r in shown.rows if r["row"] == row)
    return next(r for r in found if r["column"].rpartition(" for ")[2] == column or r["column"].startswith(column))


# ---- the grid ----


def test_one_grid_for_several_tables():
    first, second, third = (set(c.key for c in t.cells("laptop")) for t in (table_1, table_2, table_3))
    seeds = grid.PLANS["laptop"].seeds
    assert len(first & second) == (2 + 1) * seeds  # alpha = 1 and 10, and FedAvg on iid clients
    assert len(first & third) == seeds  # all layers but the last in the extractor
    assert {c.key for c in FIGURE_2.cells("laptop")} <= first


@pytest.mark.parametrize("number", [4, 5])
def test_the_plan_for_the_papers_scale_is_the_printed_one(number):
    printed = table("fedals", f"Table {number}", version="v2")
    for (row, _), cell in printed.items():
        assert float(listing.planned(row, number == 5)) == pytest.approx(float(cell.value)), row
    shown = listing.shown(number == 5)
    assert {row for row, _ in printed} < {line[0] for line in shown.sheet[1:]}


def test_the_papers_runs(disk):
    disk |= {name: name for name in ("svhn", "cifar100", "multinli")}
    one = grid.arguments("paper", "SVHN", "FedALS", "iid")
    assert (one["problem"], one["partition"], one["rounds"], one["every"]) == ("resnet20(svhn)", "iid", 2000, 10)
    assert (one["algorithm"], one["momentum"], one["nesterov"]) == ("fedals(alpha=10)", 0.9, True)
    text = grid.arguments("paper", "MultiNLI", "FedALS+SCAFFOLD", "non-iid")
    assert text["problem"] == "opt(multinli(task='next'))"
    assert (text["optimizer"], text["step_size_rule"], text["rounds"]) == ("adamw", "harmonic", 4000)
    assert "momentum" not in text
    assert grid.arguments("paper", "CIFAR-10", "SCAFFOLD", "non-iid")["momentum"] == 0
    assert len(table_3.cells("paper")) == 6 * 3 * 20


def test_all_layers_in_the_extractor_is_fedavg_with_ten_times_the_steps():
    whole = grid.arguments("laptop", "CIFAR-10", "FedALS", "non-iid", 5)
    assert (whole["algorithm"], whole["local_steps"], whole["rounds"]) == ("fedavg()", 50, 30)
    assert "extractor" not in whole["problem"]
    assert "extractor=2" in grid.arguments("laptop", "CIFAR-10", "FedALS", "non-iid", 2)["problem"]


def test_scaffolds_controls_need_plain_steps():
    """By momentum 0.9 five steps go 2.6 times as far, so errors of the controls grow 1.6 times a round."""
    told = {"rounds": 60, "local_steps": 5, "step_size": 0.05, "batch": 16, "clients": 5, "seed": 0}
    plan = {"problem": "softmax(held_out(digits))", "algorithm": "scaffold()", "measure": ["test_loss"], **told}
    last = {m: train(momentum=m, partition="sorted('label')", **plan).columns["value"][-1] for m in (0.0, 0.9)}
    assert last[0.0] < math.log(10) < last[0.9]


# ---- tables ----

TABLE_1 = {
    ("FedAvg", "iid"): (0.80, 0.82),
    ("FedALS", "iid"): (0.80, 0.83),
    ("FedAvg", "non-iid"): (0.40, 0.42),
    ("FedALS", "non-iid"): (0.50, 0.53),
    ("SCAFFOLD", "non-iid"): (0.41, 0.43),
    ("FedALS+SCAFFOLD", "non-iid"): (0.56, 0.59),
}


def test_table_1_by_hand(store):
    shown = table_1.data(filled(store, TABLE_1), "smoke")
    one = place(shown, "FedALS non-iid", "CIFAR-10")
    assert (one["reported"], one["reported_std"]) == pytest.approx((52.24, 3.65))
    assert (one["ours"], one["ours_error"], one["seeds"]) == pytest.approx((51.5, 1.5, 2))
    assert place(shown, "FedALS non-iid", "MultiNLI")["ours"] == pytest.approx(2 - 0.515)
    assert verdicts(shown) == [YES] * 8
    column = next(a for a in shown.agreement if a.column == "digits for CIFAR-10")
    # Of 15 pairs two are the other way: SCAFFOLD with FedAvg (46.51 over 45.38), both with FedALS (52.24 over 51.21).
    assert column.tau == pytest.approx((13 - 2) / 15)


def test_table_1_the_other_way_round(store):
    swapped = TABLE_1 | {("FedALS", "non-iid"): (0.2, 0.22), ("FedALS+SCAFFOLD", "non-iid"): (0.1, 0.12)}
    assert verdicts(table_1.data(filled(store, swapped), "smoke")) == [NOT] * 8


def test_without_client_drift_nothing_is_said_of_non_iid_clients(store):
    calm = TABLE_1 | {("FedAvg", "iid"): (0.39, 0.41)}
    assert verdicts(table_1.data(filled(store, calm), "smoke")) == [Reproduction.REGIME] * 8
    assert "client drift" in table_1.data(Runs(store), "smoke").conclusions[0].why


def test_a_run_that_diverged_counts_as_nothing_right(store):
    runs = filled(store, TABLE_1)
    keep(store, grid.seeds("smoke", "CIFAR-10", "SCAFFOLD", "non-iid")[0], {"test_accuracy": [0.1]}, "diverged")
    assert place(table_1.data(runs, "smoke"), "SCAFFOLD non-iid", "CIFAR-10")["ours"] == pytest.approx(43 / 2)


def test_columns_say_what_is_behind_them(store):
    shown = table_1.data(Runs(store), "laptop")
    assert shown.sheet[0][1:] == [
        "CIFAR-10",
        "CIFAR-100 (not run at this scale)",
        "MNIST",
        "SVHN (data not available)",
        "MultiNLI (not run at this scale)",
    ]
    assert "SVHN: data not available" in shown.caption
    assert shown.sheet[1][4] == "94.76 / –"
    assert verdicts(shown) == [OPEN] * 4
    assert table_3.data(Runs(store), "laptop").sheet[0][2] == "CIFAR-100 (not run at this scale)"


ALPHAS = {1: (0.40, 0.42), 5: (0.50, 0.51), 10: (0.51, 0.53), 25: (0.45, 0.46), 50: (0.3, 0.32), 100: (0.2, 0.22)}


def _alphas(store, accuracy):
    """Runs of the laptop's plan; a network of 900 in the extractor, 100 in the head."""
    spread = np.linspace(0, 1, grid.PLANS["laptop"].seeds)
    for cell, value in zip(table_2.alike("laptop"), spread, strict=True):
        keep(store, cell, {"test_accuracy": [0.1, *[0.7 + 0.02 * value] * 3]})
    for alpha, (low, high) in accuracy.items():
        sent = 2 * (100 * 200 + 900 * 200 // alpha)
        cells = grid.seeds("laptop", "CIFAR-10", f"alpha={alpha}", "non-iid")
        for cell, value in zip(cells, low + (high - low) * spread, strict=True):
            keep(store, cell, {"test_accuracy": [0.1, *[value] * 3], "exchanged_parameters": [(200, sent)]})
    return Runs(store)


def test_table_2_by_hand(store):
    shown = table_2.data(_alphas(store, ALPHAS), "laptop")
    assert place(shown, "alpha=5", "CIFAR-10")["ours"] == pytest.approx(50.5)
    for alpha, printed in {1: 2344, 5: 473, 10: 239, 25: 99, 50: 52, 100: 29}.items():
        sent = place(shown, f"alpha={alpha}", "ResNet-20")
        assert sent["reported"] == printed == round(sent["ours"])
        assert sent["ours"] == pytest.approx(2 * (650 + 292_304 / alpha) * 20_000 / 5 / 1e6)
        assert place(shown, f"alpha={alpha}", "the same")["ours"] == pytest.approx(0.04 + 0.36 / alpha)
    assert verdicts(shown) == [YES] * 3


def test_table_2_where_longer_periods_only_cost(store):
    falling = {alpha: (0.5 - alpha / 300, 0.51 - alpha / 300) for alpha in ALPHAS} | {100: (0.6, 0.61)}
    assert verdicts(table_2.data(_alphas(store, falling), "laptop"))[:2] == [NOT, NOT]


@pytest.mark.parametrize(("best", "verdict"), [(2, YES), (1, NOT)])
def test_table_3_by_hand(store, best, verdict):
    values = {("FedALS", "non-iid", n): (0.3, 0.31) if n != best else (0.5, 0.52) for n in (1, 2, 3)}
    shown = table_3.data(filled(store, values), "smoke")
    row = {1: "L=1 of 3 for 4 of 20", 2: "L=2 of 3 for 16 of 20"}[best]
    assert place(shown, row, "SVHN")["ours"] == pytest.approx(51)
    assert place(shown, "L=12", "SVHN")["note"] == "no like in this network"
    assert verdicts(shown) == [verdict]


# ---- figures ----


def test_figure_2_by_hand_and_without_its_data(store, disk):
    cells = grid.seeds("laptop", "CIFAR-10", "FedALS", "non-iid")[:3]
    for cell, value in zip(cells, (0.3, 0.4, 0.5), strict=True):
        keep(store, cell, {"test_accuracy": [0.1, (20, value)]})
    shown = FIGURE_2.data(Runs(store), "laptop")
    assert shown.caption.startswith("SVHN: data not available; the same curves on CIFAR-10. ")
    rows = [(r["panel"], r["curve"], r["x"], round(r["y"], 9)) for r in shown.rows]
    assert rows == [("CIFAR-10 for SVHN, non-iid", "FedALS", 0, 10), ("CIFAR-10 for SVHN, non-iid", "FedALS", 20, 40)]
    assert shown.rows[1]["error"] == pytest.approx(10 / 3**0.5)
    assert verdicts(shown) == [OPEN, OPEN]
    disk["svhn"] = "svhn"
    assert all("svhn" in c.arguments["problem"] for c in FIGURE_2.cells("laptop"))


def test_figure_2_judges(store):
    shown = FIGURE_2.data(filled(store, TABLE_1, "SVHN"), "smoke")
    assert verdicts(shown) == [YES, YES]


def test_figure_3_needs_its_data_and_the_papers_scale(store, disk):
    assert FIGURE_3.cells("laptop") == []
    assert FIGURE_3.data(Runs(store), "laptop").unavailable == "MultiNLI (not run at this scale)"
    assert FIGURE_3.data(Runs(store), "paper").unavailable == "MultiNLI (data not available)"
    disk["multinli"] = "multinli"
    assert FIGURE_3.data(Runs(store), "laptop").unavailable == "MultiNLI (not run at this scale)"
    assert len(FIGURE_3.cells("paper")) == 5 * 20
    lower = FIGURE_3.data(filled(store, TABLE_1, "MultiNLI"), "smoke")
    assert verdicts(lower) == [YES, YES]


SIZES = (64 * 200 + 200, 200 * 200 + 200, 200 * 10 + 10)
LAYERS = ("features.1.weight", "features.2.weight", "head.weight")


def _layers(store, distances):
    for i, cell in enumerate(grid.example("smoke")):
        curves = {
            ("consensus_distance", name): [(1, d), (2, d * (3 + i + 1e-7 * i * n))]
            for n, (name, d) in enumerate(zip(LAYERS, distances, strict=True))
        }
        keep(store, cell, curves)
    return figure_1.data(Runs(store), "smoke")


def test_figure_1_by_hand(store):
    shown = _layers(store, (1.0, 2.0, 3.0))
    last = {(r["panel"][:3], r["curve"]): r["y"] for r in shown.rows if r["x"] == 2}
    for place, (distance, size) in enumerate(zip((1.0, 2.0, 3.0), SIZES, strict=True), 1):
        assert last["of ", f"layer {place}"] == pytest.approx(3.5 * distance)
        assert last["per", f"layer {place}"] == pytest.approx(3.5 * distance / size * 1e6)
    assert verdicts(shown) == [YES, YES]


def test_figure_1_whole_layers_and_single_parameters_may_disagree(store):
    assert verdicts(_layers(store, (3.0, 2.0, 2.5))) == [NOT, YES]
