"""FedInit's figures and tables on hand-made runs."""

import math

import numpy as np
import pytest
from figure_toys import columns, keep, MemoryStore, NOT, outcome, places, verdicts, YES

from empirics.experiments import Outcome
from empirics.experiments.jobs import BLOCKS
from empirics.experiments.jobs.wall import seconds
from figures.catalogue import artefact, chosen, FILES
from figures.fedinit import costs, grid, listing, reading, settings, table_1, table_2, table_3

from figures.fedinit import table_8, table_10, table_11  # isort: skip
from figures.fedinit.settings import CIFAR10, HOME, METHODS, Setup
from figures.ran import Setting
from figures.runs import Runs
from paper_checks.reported import table

FIGURES = {name: artefact(f"fedinit.{name}") for name in FILES["fedinit"] if name.startswith("figure")}
NETWORK = "softmax regression for ResNet-18-GN"
pytestmark = pytest.mark.usefixtures("in_regime")
SEEDS = range(grid.PLANS["smoke"].seeds)


def put(store, made, accuracies, **more):
    """One run that ends at this accuracy in percent; loss and divergences follow from it unless they are given."""
    levels = np.array([10.0, (10 + accuracies) / 2, accuracies]) / 100
    curves = {"test_accuracy": levels, "test_loss": 3 - 2 * levels, "active_divergence": 1.7 - levels,
              "divergence": 2.9 - levels, **more}  # fmt: skip
    keep(store, made, curves)


# ---- tables of accuracies ----


def fill_table_1(store, gain):
    for i, method in enumerate(METHODS):
        for j, setup in enumerate(CIFAR10):
            for seed in SEEDS:
                level = 40 + j + 0.3 * i + 0.01 * seed * i + (gain if method == "FedInit" else 0)
                put(store, grid.runs("smoke", setup, method)[seed], level)


def test_table_1_shows_the_last_accuracies_beside_the_printed(store):
    fill_table_1(store, gain=2.0)
    shown = table_1.data(Runs(store), "smoke")
    at = places(shown)
    place = at[f"{NETWORK}, FedDyn", "digits for CIFAR-10, 2 of 40 for 10 of 200 clients, Dirichlet 0.6"]
    assert (place["reported"], place["seeds"]) == (79.96, 2)
    assert place["ours"] == pytest.approx(42 + 1.2 + 0.02)
    assert place["ours_error"] == pytest.approx(0.04 / 2)
    assert math.isnan(at["VGG-11, FedAvg", grid.column("smoke", HOME)]["ours"])
    assert at[f"{NETWORK}, FedAvg", "CIFAR-100, 10 of 100 clients, Dirichlet 0.1"]["note"] == "not run at this scale"
    assert len(shown.sheet) == 15
    assert [a.column for a in shown.agreement] == [grid.column("smoke", s) for s in CIFAR10]


def test_that_fedinit_is_best_is_seen_or_denied(store):
    for gain, verdict in ((3.0, YES), (-3.0, NOT)):
        fill_table_1(store, gain)
        best, better, _ = table_1.data(Runs(store), "smoke").conclusions
        assert (best.verdict, better.verdict) == (verdict, verdict)
        assert "of 24 comparisons" in best.why
        for name in ("figure_2", "figure_3"):  # they compare the ends
            shown = FIGURES[name].data(Runs(store), "smoke")
            assert verdicts(shown) == [verdict]
            assert len({r["panel"] for r in shown.rows}) == 4


def test_a_steadier_method_loses_less_with_fewer_participants(store):
    for share, *levels in (("10%-100", 50.0, 53.0), ("5%-200", 44.0, 52.0)):
        for method, level in zip(("FedAvg", "FedInit"), levels, strict=True):
            for seed, cell in enumerate(grid.runs("smoke", Setup(share=share), method)):
                put(store, cell, level + 0.1 * seed * (method == "FedInit"))
    told = table_1.data(Runs(store), "smoke").conclusions[2]
    assert "+5" in told.why


def test_what_the_relaxed_start_adds(store):
    for start, verdict in ((3.4, YES), (-1.2, NOT)):
        for i, method in enumerate(settings.BASELINES):
            for seed in SEEDS:
                put(store, grid.runs("smoke", HOME, method, 0.0)[seed], 30 + i)
                put(store, grid.runs("smoke", HOME, method, 0.1)[seed], 30 + i + start + 0.01 * i * seed)
        shown = table_2.data(Runs(store), "smoke")
        assert set(verdicts(shown)) == {verdict}
        sheet = {row[0]: row[2] for row in shown.sheet}
        assert sheet["SCAFFOLD/vanilla"].startswith("75.06 / 33.00")


def fill_table_3(store, levels):
    for beta, level in levels.items():
        for seed in SEEDS:
            put(store, grid.runs("smoke", HOME, "FedAvg", beta)[seed], level + 0.1 * seed * (1 + beta))


RISING = {-0.2: 20.0, -0.1: 22.0, 0.0: 25.0, 0.01: 26.0, 0.02: 27.5, 0.05: 29.0, 0.1: 31.0, 0.15: 12.0}


def test_table_3_where_everything_is_as_printed(store):
    fill_table_3(store, RISING)
    shown = table_3.data(Runs(store), "smoke")
    assert set(verdicts(shown)) == {YES}
    at = {place: row["ours"] for place, row in places(shown).items()}
    assert at["beta=0.1", "Delta^T"] == pytest.approx(1.7 - 0.31 - 0.00055)
    assert at["beta=0.1", "Delta^T, all clients"] == pytest.approx(2.9 - 0.31 - 0.00055)
    assert {a.column: a.tau for a in shown.agreement}["accuracy"] == pytest.approx(1.0)


def test_table_3_where_the_order_is_the_other_one_and_a_run_diverged(store):
    fill_table_3(store, {beta: 50 - level for beta, level in RISING.items() if beta != 0.15})
    for seed in SEEDS:
        keep(store, grid.runs("smoke", HOME, "FedAvg", 0.15)[seed], {"test_accuracy": [0.1]}, status="diverged")
    shown = table_3.data(Runs(store), "smoke")
    assert verdicts(shown) == [NOT, NOT, NOT, YES, NOT]  # but for the collapse
    last = {row[0]: row for row in shown.sheet}["beta=0.15"]
    assert last[1].endswith("/ 0.000 ± 0.000")
    assert last[2] == "inf / inf"


# ---- curves ----


def test_curves_are_means_over_seeds_smoothed_and_in_percent(store):
    for seed in SEEDS:
        put(store, grid.runs("smoke", HOME, "FedInit")[seed], 40.0 + 10 * seed)
    rows = FIGURES["figure_3"].data(Runs(store), "smoke").rows
    mine = [r for r in rows if r["curve"] == "FedInit"]
    assert {r["panel"] for r in mine} == {"digits for CIFAR-10, 2 of 20 for 10 of 100 clients, Dirichlet 0.1"}
    np.testing.assert_allclose([r["x"] for r in mine], [0, 1, 2])
    np.testing.assert_allclose([r["y"] for r in mine], [10.0, 27.5, 45.0])
    assert mine[2]["error"] == pytest.approx(5.0)
    at, values = reading.smooth((np.array([0, 3, 6, 9]), np.array([1.0, 2.0, 6.0, 7.0])), 3)
    np.testing.assert_allclose(values, [1.0, 1.5, 3.0, 5.0])
    assert at[-1] == 9


def test_divergence_and_accuracy_by_beta(store):
    for name, method in (("figure_6", "FedAvg"), ("figure_7", "SCAFFOLD")):
        for beta, level in ((0.0, 20.0), (0.02, 21.0), (0.05, 22.0), (0.1, 25.0)):
            for seed in SEEDS:
                put(store, grid.runs("smoke", HOME, method, beta)[seed], level + 0.1 * seed * beta)
        shown = FIGURES[name].data(Runs(store), "smoke")
        assert verdicts(shown) == [YES, YES]
        assert {r["curve"] for r in shown.rows} == {f"beta = {b:g}" for b in (0, 0.02, 0.05, 0.1)}


def test_what_is_not_run_is_said():
    shown = FIGURES["figure_4"].data(Runs(MemoryStore()), "smoke")
    assert shown.unavailable == "CIFAR-100: not run at this scale"
    assert not shown.conclusions


def test_sensitivity_to_the_local_interval_and_to_beta(store):
    for k, level in ((1, 20.0), (3, 30.0), (6, 24.0)):
        for seed in SEEDS:
            put(store, grid.runs("smoke", HOME, "FedInit", steps=k)[seed], level + 0.1 * seed * k)
    shown = FIGURES["figure_1a"].data(Runs(store), "smoke")
    assert verdicts(shown) == [YES, YES]
    assert [(r["x"], round(r["y"], 2)) for r in shown.rows] == [(1, 20.05), (3, 30.15), (6, 24.3)]
    fill_table_3(store, RISING)
    shown = FIGURES["figure_1b"].data(Runs(store), "smoke")
    assert verdicts(shown) == [YES, YES]
    assert len(shown.rows) == 8


# ---- seconds ----


def keep_seconds(store, share, by_method):
    """A timing in which block b's rounds take these seconds and a tenth of b."""
    (made,) = grid.timing("smoke", share)
    rows = [
        (name, block, 3 * block + i, by_method[method] * (1 + 0.1 * block) + extra)
        for block in range(BLOCKS)
        for name, method in zip(made.arguments["algorithms"], METHODS, strict=True)
        for i, extra in enumerate((0.0, 0.001, 7.0))
    ]
    store.keep(made, Outcome(columns(("algorithm", "block", "round", "seconds"), rows)), 0.01)


def test_table_10_takes_medians_block_by_block(store):
    for mine, verdict in ((2.04, YES), (3.9, NOT)):
        taken = dict(zip(METHODS, (2.0, 2.3, 4.1, 2.6, 2.5, 2.4, mine), strict=True))
        for share in settings.SHARES:
            keep_seconds(store, share, taken)
        shown = table_10.data(Runs(store), "smoke")
        at = places(shown)
        assert at["FedSAM", "2 of 20 for 10 of 100 clients, wall-clock"]["ours"] == pytest.approx(4.1 * 1.1 + 0.001)
        assert at["FedSAM", "2 of 40 for 10 of 200 clients, ratio"]["ours"] == pytest.approx(2.05, abs=1e-3)
        assert verdicts(shown) == [verdict, verdict, YES]


# ---- rounds to a target ----


def test_the_first_round_at_which_the_running_mean_is_there():
    at, accuracy = np.array([0, 5, 10, 15, 20]), np.array([90.0, 10.0, 40.0, 30.0, 60.0])
    assert table_11.first(at, accuracy, 40.0, 1) == 10
    assert table_11.first(at, accuracy, 40.0, 2) == 20
    assert table_11.first(at, accuracy, 61.0, 1) == math.inf
    assert table_11.first(at, accuracy, 60.0 + 1e-12, 1) == 20


@pytest.mark.parametrize(("mine", "verdict"), [(1, YES), (None, NOT)])
def test_table_11_takes_fedavgs_end_as_target(store, mine, verdict):
    end = 4
    when = {"FedAvg": end, "FedAdam": None, "FedSAM": end, "SCAFFOLD": 3, "FedDyn": 2, "FedCM": 2, "FedInit": mine}
    for method, first in when.items():
        for seed in SEEDS:
            there = (0.3 + 0.1 * seed, 0.5 + 0.1 * seed)
            curve = [there[first is not None and at >= first] for at in range(end + 1)]
            store.keep(grid.runs("smoke", HOME, method)[seed], outcome({"test_accuracy": curve}), 0.01)
    keep_seconds(store, HOME.share, {m: 1 + 0.1 * i for i, m in enumerate(METHODS)})
    shown = table_11.data(Runs(store), "smoke")
    on = "digits for CIFAR-10, the end of FedAvg for >70%, "
    at = {(row["row"], row["column"].removeprefix(on)): row for row in shown.rows if row["column"].startswith(on)}
    assert at["FedDyn", "rounds"]["ours"] == 2
    assert at["FedDyn", "rounds speed ratio"]["ours"] == 2
    assert at["FedDyn", "time"]["ours"] == pytest.approx(2 * (1.4 * 1.1 + 0.001))
    assert at["FedAdam", "rounds speed ratio"]["ours"] == 0
    assert at["FedAdam", "rounds"]["note"] == "reached by 0 of 2"
    assert math.isnan(at["FedAdam", "rounds"]["ours"])


# ---- guards ----


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


ALL = chosen(["fedinit"])


@pytest.fixture
def here(monkeypatch):
    """CIFAR-10 on disk, Omniglot in place of CIFAR-100."""
    monkeypatch.setattr(grid, "found", lambda name: {"cifar10": "cifar10", "cifar100": "omniglot"}[name])


# ---- the grid ----


def test_tables_and_figures_read_the_same_runs(here):
    for scale in ("laptop", "overnight", "paper"):
        keys = {a.name: {c.key for c in a.cells(scale)} for a in ALL}
        accuracy = keys["fedinit.table_1"]
        for name in ("figure_2", "figure_3", "table_9"):
            assert keys[f"fedinit.{name}"] <= accuracy
        assert keys["fedinit.figure_1b"] == keys["fedinit.table_3"]
        assert len(keys["fedinit.table_11"] - accuracy) == 1
        assert keys["fedinit.figure_6"] <= keys["fedinit.table_3"]
        assert keys["fedinit.table_3"] & accuracy
        assert keys["fedinit.figure_7"] & keys["fedinit.table_2"]


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
    assert len(table_1.cells("paper")) == 2 * 8 * 7 * 3


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


def test_the_settings_tables_say_what_the_grid_runs(here):
    shown = listing.hyperparameters(None, "laptop")
    at = {row["row"]: row for row in shown.rows}
    given = grid.runs("laptop", HOME, "FedAvg")[0].arguments
    for row, word in (("minibatch", "batch"), ("weight decay", "weight_decay"), ("local learning rate", "step_size")):
        assert float(at[f"CIFAR-10, {row}"]["ours, laptop"]) == given[word]
        assert float(at[f"CIFAR-10, {row}"]["ours, paper"]) == settings.chosen("CIFAR-10", row)
    assert at["CIFAR-10, communication round T"]["ours, laptop"] == str(given["rounds"])
    assert at["CIFAR-10, local interval K"]["ours, paper"] == "5 epochs"
    assert at["CIFAR-100, minibatch"]["ours, laptop"] == "not run"
    own = {row["row"]: row for row in listing.coefficients(None, "laptop").rows}
    for method, (_, row) in settings.TABLE_7.items():
        assert f"{settings.coefficient(method, HOME):g}" in own[row.replace("/", ", ")]["best"]


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
