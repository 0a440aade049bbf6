"""Figures of our own: rows and verdicts from hand-made runs, formulas by hand, and what the cells behind them say."""

import math

import numpy as np
import pytest
from figure_toys import columns, MemoryStore, NOT, OPEN, verdicts, YES

from empirics.experiments import Outcome
from figures.ours import grid, local_steps, ratios, relaxation, theorems, vacuity
from figures.ours.settings import COMPARED
from figures.runs import Runs
from paper_checks.validation import jobs as comparisons


def compared(exact, bound, outside=False):
    """What a cell of ``exact`` returns for two numbers of rounds."""
    table = {"rounds": [1, 2], "exact": exact, "bound": bound, "outside": [outside] * 2}
    return Outcome({**table, "measured": exact, "error": [0.01, 0.01]})


# ---- theorems ----


def test_a_theorem_held_against_exact_values(store):
    name = COMPARED["fedcog"][0]
    cell = grid.exact("smoke", name, 0)
    store.keep(cell, compared([2.0, 1.0], [3.0, 1.0]), 0.0)
    rows = theorems.rows_of(Runs(store), cell, name, "quadratics")
    assert [(r["curve"], r["x"], r["y"]) for r in rows[:4]] == [
        ("bound", 1, 3.0), ("bound", 2, 1.0), ("exact", 1, 2.0), ("exact", 2, 1.0)
    ]  # fmt: skip
    assert theorems.held("holds", rows).verdict is YES
    above = [{**row, "y": 1.01} if row["curve"] == "exact" and row["x"] == 2 else row for row in rows]
    assert theorems.held("holds", above).verdict is NOT
    outside = [{**row, "outside": True} for row in above]
    assert theorems.held("holds", outside).verdict is OPEN
    assert "OUTSIDE" in theorems.remark(outside)
    assert not theorems.remark(above)


def test_tightness_of_one_round_is_told_beside_its_exact_case_of_alike_clients(store):
    counts = [3, 7]
    kept = columns(("clients", "value", "error"), [(count, 0.9 / count, 0.01) for count in counts])
    store.keep(grid.mean("smoke"), Outcome(kept), 0.0)
    rows = ratios.over_runs(Runs(store), "smoke").rows
    assert {(row["row"], row["clients_are"]) for row in rows} == {("FedALS, one round", ratios.ALIKE)}
    assert [row["curve"] for row in rows] == ["exact", "exact"]  # where it is known nothing measured is needed
    for row, count in zip(rows, counts, strict=True):  # half squared distances to a mean of N samples: a gap of s^2/N
        gap = 2.0 / (20 * count)
        local, other = 2.0 / 20, 2.0 / 20 * (count - 1) / (2 * count)
        assert row["ratio"] * gap == pytest.approx(local / count**2 + 2 * math.sqrt(local * other) / count)


FACTS = {
    "smoothness": 2.0, "strong_convexity": 1.0, "current_loss": 9.0, "optimal_loss": 2.0, "grad_cap_sq": 27.0,
    "step_size": 0.125, "cohort": 2, "heterogeneity": 0.5, "client_gradient_variance": [0.1, 0.1],
}  # fmt: skip


def best(falls):
    """Runs of 1, 2 or 4 local steps whose least value is at 4, then at 1 (or the other way round) as rounds go on."""
    first, last = ((3.0, 2.0, 1.0), (1.0, 2.0, 3.0)) if falls else ((1.0, 2.0, 3.0), (3.0, 2.0, 1.0))
    values = [*zip([1] * 3, (1, 2, 4), first, strict=True), *zip([4] * 3, (1, 2, 4), last, strict=True)]
    return Outcome(columns(("rounds", "local_steps", "value"), values), FACTS)


def test_local_steps_by_hand():
    for falls, verdict in ((True, YES), (False, NOT)):
        store = MemoryStore()
        for instance in range(2):
            store.keep(grid.best_steps("smoke", instance), best(falls), 0.0)
        shown = local_steps.data(Runs(store), "smoke")
        at = {(r["curve"], r["x"]): r["y"] for r in shown.rows if r["panel"] == "quadratics"}
        # (kappa F - F*) / (8 eta^2 L (1 + 1/(2 N)) R), kappa = 2, two clients a round; G^2 = 27 divides the derived.
        level = (2 * 9 - 2) / (8 * 0.125**2 * 2 * 1.25)
        for rounds in (1, 4):
            assert at["K* printed, (10)", rounds] == pytest.approx(math.cbrt(level / rounds))
            assert at["K* derived", rounds] == pytest.approx(math.cbrt(level / rounds) / 3)
        assert (at["best found", 1], at["best found", 4]) == pytest.approx((4, 1) if falls else (1, 4))
        assert verdicts(shown)[0] is verdict


def test_limits_on_the_relaxation_come_from_the_conditions():
    assert relaxation.alone_limit("fedinit.theorem_1") == pytest.approx(math.sqrt(2) / 12, abs=1e-5)
    assert relaxation.alone_limit("fedinit.theorem_5") == pytest.approx(math.sqrt(6) / 24, abs=1e-5)


def test_all_conditions_together_allow_less():
    # lambda exists while 39 x + 3900 beta^2 x/(1 - 72 beta^2) + 12 y < 1, x = eta K L B^2/N, y = (eta K L)^2 B^2.
    numbers = {"clients": 4, "cohort": 2, "local_steps": 3, "step_size": 0.01 / 3, "smoothness": 1.0}
    numbers |= {"dissimilarity_factor": 1.0, "pl_constant": 0.5}
    left = 1 - 39 * 0.005 - 12 * 1e-4
    square = left / (3900 * 0.005 + 72 * left)
    found = relaxation.joint_limit("fedinit.theorem_1", numbers)
    assert found == pytest.approx(math.sqrt(square), abs=2e-5)
    assert math.isnan(relaxation.joint_limit("fedinit.theorem_1", {**numbers, "step_size": 0.1}))


def test_the_map_of_one_round_by_hand(store):
    shown = vacuity.data(Runs(store), "smoke")
    rows = [row for row in shown.rows if row["panel"].startswith("FedALS")]
    for row in rows:
        k, condition = row["x"], row["y"]
        excess = (k - 1) / (2 * k)
        bound = condition / k**2 + 2 * math.sqrt(condition * excess) / k
        assert row["bound"] == pytest.approx(bound)
        assert row["state"] == (vacuity.VACUOUS if bound > 1 else vacuity.INFORMATIVE)
    silent = {row["panel"] for row in shown.rows if row["state"] == vacuity.FAILS}
    assert silent == {row["panel"] for row in shown.rows} - {"FedALS, Theorem 4.1"}


# ---- the cells themselves ----


SAMPLED = ["fedinit.lemma_2", "fedinit.theorem_2", "fedinit.theorem_4", "fedcog.theorem", "decaying_k.theorem_1"]


def test_sampled_runs_agree_with_the_exact_value():
    for bound in SAMPLED:
        table = comparisons.exact(bound, 0, [1, 12], clients=3, step_size=0.001, runs=40).columns
        measured, exact, error = (np.array(table[name]) for name in ("measured", "exact", "error"))
        assert (np.abs(measured - exact) <= 4.5 * error + 1e-12).all(), bound
        assert not any(table["outside"])
        assert (exact <= np.array(table["bound"])).all(), bound


def test_other_units_of_the_loss_change_no_model():
    plain, larger = (comparisons.best_steps(0, [1, 2], [2], 3, 2, 0.3, scale) for scale in (1.0, 10.0))
    assert larger.columns["value"] == pytest.approx([100 * v for v in plain.columns["value"]])
    assert larger.facts["grad_cap_sq"] == pytest.approx(100 * plain.facts["grad_cap_sq"])


def test_one_round_of_means_and_of_ridge():
    mean = comparisons.gaussian_mean([1, 4], 200, 10, 2, 1.0).columns
    exact = np.array([2 / 10, 2 / 40])
    assert (np.abs(np.array(mean["value"]) - exact) < 4.5 * np.array(mean["error"])).all()
    table = comparisons.one_round("ridge(digits, regularisation=0.5)", [1, 3], 4, 20).columns
    rows = list(zip(table["quantity"], table["clients"], table["value"], strict=True))
    gaps, told = (
        [v for q, k, v in rows if (q, k) == (name, 3)] for name in ("generalization_gap", "measured for the bound")
    )
    assert told == pytest.approx([np.mean(gaps)])


def test_relaxed_cells_tell_where_a_theorem_is_silent():
    table = comparisons.relaxed(0, [0.0, 0.15], ["fedinit.theorem_4"], 3, 2, 4, 0.005).columns
    at = {(b, q): (v, o) for b, q, v, o in zip(*table.values(), strict=True)}
    assert at[0.0, "fedinit.theorem_4"][1] is False
    assert at[0.15, "fedinit.theorem_4"][1] is True
    assert at[0.15, "mean_divergence"][0] < at[0.0, "mean_divergence"][0]
