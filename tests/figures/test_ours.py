"""Figures of our own: rows and verdicts from hand-made runs, formulas by hand, and what the cells behind them say."""

import numpy as np
import pytest
from figure_toys import NOT, OPEN, YES

from empirics.experiments import Outcome
from figures.ours import grid, theorems
from figures.ours.settings import COMPARED
from figures.runs import Runs
from paper_checks.validation import jobs as comparisons


def compared(exact, bound, outside=False):
    """What a cell of ``exact`` returns for two numbers of rounds."""
    table = {"rounds": [1, 2], "exact": exact, "bound": bound, "outside": [outside] * 2}
    return Outcome({**table, "measured": exact, "error": [0.01, 0.01]})


def test_a_theorem_held_against_exact_values(store):
    name = COMPARED["fedcog"][0]
    cell = grid.exact_cell("smoke", name, 0)
    store.keep(cell, compared([2.0, 1.0], [3.0, 1.0]), 0.0)
    rows = theorems.rows_of(Runs(store), cell, name, "quadratics")
    assert [(r["curve"], r["x"], r["y"]) for r in rows[:4]] == [
        ("bound", 1, 3.0), ("bound", 2, 1.0), ("exact", 1, 2.0), ("exact", 2, 1.0)
    ]  # fmt: skip
    assert theorems.theorem_finding("holds", rows).verdict is YES
    above = [{**row, "y": 1.01} if row["curve"] == "exact" and row["x"] == 2 else row for row in rows]
    assert theorems.theorem_finding("holds", above).verdict is NOT
    outside = [{**row, "outside": True} for row in above]
    assert theorems.theorem_finding("holds", outside).verdict is OPEN
    assert "OUTSIDE" in theorems.outside_note(outside)
    assert not theorems.outside_note(above)


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
    gaps, measured = (
        [v for q, k, v in rows if (q, k) == (name, 3)] for name in ("generalization_gap", "measured for the bound")
    )
    assert measured == pytest.approx([np.mean(gaps)])


def test_relaxed_cells_tell_where_a_theorem_is_silent():
    table = comparisons.relaxed(0, [0.0, 0.15], ["fedinit.theorem_4"], 3, 2, 4, 0.005).columns
    at = {(b, q): (v, o) for b, q, v, o in zip(*table.values(), strict=True)}
    assert at[0.0, "fedinit.theorem_4"][1] is False
    assert at[0.15, "fedinit.theorem_4"][1] is True
    assert at[0.15, "mean_divergence"][0] < at[0.0, "mean_divergence"][0]
