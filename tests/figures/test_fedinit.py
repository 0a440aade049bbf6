"""FedInit's figures and tables: settings and costs against the print, findings in their regime alone."""

import math

import numpy as np
import pytest
from figure_toys import keep

from empirics.experiments.jobs import BLOCKS
from empirics.experiments.jobs.wall import seconds
from figures.fedinit import findings, grid, listing, times
from figures.fedinit.grid import HOME, Setup
from figures.run_description import Setting
from figures.runs import Runs
from paper_checks.reported import table

pytestmark = pytest.mark.usefixtures("in_regime")


def put(store, made, accuracies, **more):
    """One run that ends at this accuracy in percent; loss and divergences follow from it unless they are given."""
    levels = np.array([10.0, (10 + accuracies) / 2, accuracies]) / 100
    curves = {"test_accuracy": levels, "test_loss": 3 - 2 * levels, "active_divergence": 1.7 - levels,
              "divergence": 2.9 - levels, **more}  # fmt: skip
    keep(store, made, curves)


def test_the_first_round_at_which_the_running_mean_is_there():
    at, accuracy = np.array([0, 5, 10, 15, 20]), np.array([90.0, 10.0, 40.0, 30.0, 60.0])
    assert times.first(at, accuracy, 40.0, 1) == 10
    assert times.first(at, accuracy, 40.0, 2) == 20
    assert times.first(at, accuracy, 61.0, 1) == math.inf
    assert times.first(at, accuracy, 60.0 + 1e-12, 1) == 20


@pytest.fixture
def guarded(monkeypatch, store):
    """Table 3 of hand-made runs, judged with their guards: by the levels of FedAvg at both splits, and their length."""
    monkeypatch.undo()

    def missed(even, uneven, share):
        for setup, level in zip(findings.APART, (even, uneven), strict=True):
            for made in grid.runs("smoke", setup, "FedAvg"):
                put(store, made, level)
        paper = grid.runs("smoke", HOME, "FedAvg")[0].arguments["rounds"] * 3 / share
        monkeypatch.setattr(Setup, "in_paper", property(lambda self: Setting("CIFAR-10", "ResNet-18-GN", work=paper)))
        return [r for r in findings.guards(Runs(store), "smoke", [HOME], ("FedAvg", "FedDyn")) if r.missed]

    return missed


def test_a_finding_on_the_relaxed_start_needs_drift_length_room_and_like_methods(guarded):
    assert guarded(70.0, 60.0, 0.6) == []
    (drift,) = guarded(61.0, 60.0, 0.6)  # 1 of 6.24 points
    assert drift.value == pytest.approx(1.0)
    assert drift.threshold == pytest.approx((78.77 - 72.53) / 2)
    (horizon,) = guarded(70.0, 60.0, 0.4)
    assert horizon.value == pytest.approx(0.4)
    plateau, *_ = guarded(17.5, 11.0, 0.6)
    assert plateau.value == pytest.approx(1.1)
    (ceiling,) = guarded(90.0, 78.0, 0.6)
    assert ceiling.value == pytest.approx(78 - 72.53)


def test_table_8_has_the_printed_multiples_by_the_cost_model():
    printed = table("fedinit", "Table 8")
    for (method, column), at in printed.items():
        cost = next(k for k, words in listing.COLUMNS.items() if words == column)
        first = at.value[0]
        assert listing.modelled(method, cost) == (int(first) if first.isdigit() else 1)
    assert [str(j.verdict) for j in listing.costs_of_a_round(None, "smoke").conclusions] == [
        "reproduced", "contradicted", "reproduced", "contradicted",
    ]  # fmt: skip


def test_rounds_of_all_methods_take_turns():
    plan = {"problem": "softmax(held_out(digits))", "seed": 0, "clients": 6, "cohort": 2, "local_steps": 1}
    found = seconds(["fedavg()", "scaffold()"], 2, **plan)
    assert found.columns["algorithm"] == ["fedavg()", "scaffold()"] * (2 * BLOCKS)
    assert found.columns["block"] == [b for b in range(BLOCKS) for _ in range(4)]
    assert min(found.columns["seconds"]) > 0
