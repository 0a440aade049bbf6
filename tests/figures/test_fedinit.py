"""FedInit's figures and tables: settings and costs against the print, findings in their regime alone."""

import math

import numpy as np
import pytest
from figure_toys import keep

from empirics.experiments.jobs import BLOCKS
from empirics.experiments.jobs.wall import seconds
from figures.catalogue import artefact
from figures.fedinit import costs, grid, reading, settings

from figures.fedinit import table_8, times  # isort: skip
from figures.fedinit.settings import HOME, METHODS, Setup
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
        for setup, level in zip(reading.APART, (even, uneven), strict=True):
            for made in grid.runs("smoke", setup, "FedAvg"):
                put(store, made, level)
        paper = grid.runs("smoke", HOME, "FedAvg")[0].arguments["rounds"] * 3 / share
        monkeypatch.setattr(Setup, "in_paper", property(lambda self: Setting("CIFAR-10", "ResNet-18-GN", work=paper)))
        return [r for r in reading.guards(Runs(store), "smoke", [HOME], ("FedAvg", "FedDyn")) if r.missed]

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


@pytest.fixture
def here(monkeypatch):
    """CIFAR-10 on disk, Omniglot in place of CIFAR-100."""
    monkeypatch.setattr(grid, "found", lambda name: {"cifar10": "cifar10", "cifar100": "omniglot"}[name])


def test_the_papers_scale_is_the_papers_setting(here):
    given = grid.runs("paper", Setup(share="5%-200", split="0.6"), "FedInit")[2].arguments
    printed = {
        "clients": 200, "cohort": 10, "rounds": 500, "local_epochs": 5, "batch": 50, "step_size": 0.1, "seed": 2,
        "weight_decay": 1e-3, "step_size_decay": 0.998, "clip": 10, "partition": "dirichlet_replaced(0.6)",
        "augment": "fedinit", "problem": "resnet18(cifar10)",
    }  # fmt: skip
    assert {k: given[k] for k in printed} == printed
    assert grid.runs("paper", Setup(data="CIFAR-100"), "FedDyn")[0].arguments["rounds"] == 800
    assert grid.runs("paper", HOME, "FedDyn")[0].arguments["step_size_decay"] == 0.999
    assert grid.PLANS["paper"].seeds == 3
    assert len(artefact("fedinit.table_1").cells("paper")) == 2 * 8 * 7 * 3


def test_methods_are_written_with_the_coefficients_of_table_7():
    fewer, other = Setup(share="5%-200"), Setup(data="CIFAR-100")
    assert [settings.written(m, HOME) for m in METHODS] == [
        "fedavg()", "fedadam(server_step_size=0.1)", "fedsam(rho=0.1)", "scaffold()", "feddyn(alpha=0.1)",
        "fedcm(alpha=0.1)", "fedinit(beta=0.1)",
    ]  # fmt: skip
    assert settings.written("FedSAM", fewer) == "fedsam(rho=0.01)"
    assert settings.written("FedDyn", other) == "feddyn(alpha=0.01)"
    assert settings.written("FedInit", fewer) == "fedinit(beta=0.05)"
    assert settings.written("SCAFFOLD", HOME, 0.02) == "relaxed(scaffold(), beta=0.02)"
    assert settings.written("FedInit", HOME, 0.0) == "fedavg()"


# ---- costs ----


def test_costs_are_counted_off_the_methods():
    found = {m: costs.costs(settings.written(m, HOME)) for m in METHODS}
    assert {m: c.gradients for m, c in found.items()} == {m: 2 if m == "FedSAM" else 1 for m in METHODS}
    assert (found["SCAFFOLD"].communication, found["FedCM"].communication) == (2, 1.5)
    assert [found[m].vectors for m in METHODS] == [1, 1, 1, 3, 2, 2, 2]
    assert [found[m].kept for m in METHODS] == [0, 0, 0, 1, 1, 0, 1]


def test_table_8_has_the_printed_multiples_by_the_cost_model():
    printed = table("fedinit", "Table 8")
    for (method, column), at in printed.items():
        cost = next(k for k, words in table_8.COLUMNS.items() if words == column)
        first = at.value[0]
        assert table_8.modelled(method, cost) == (int(first) if first.isdigit() else 1)
    assert [str(j.verdict) for j in table_8.data(None, "smoke").conclusions] == [
        "reproduced", "contradicted", "reproduced", "contradicted",
    ]  # fmt: skip


def test_rounds_of_all_methods_take_turns():
    found = seconds("softmax(held_out(digits))", ["fedavg()", "scaffold()"], 2, 0, "iid", 6, 2, local_steps=1)
    assert found.columns["algorithm"] == ["fedavg()", "scaffold()"] * (2 * BLOCKS)
    assert found.columns["block"] == [b for b in range(BLOCKS) for _ in range(4)]
    assert min(found.columns["seconds"]) > 0
