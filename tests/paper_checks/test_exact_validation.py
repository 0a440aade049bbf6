"""Bounds on runs against exact expectations, by what they say of themselves."""

from dataclasses import replace

import numpy as np
import pytest

from bounds import BOUNDS
from empirics.errors import EmpiricsError
from empirics.problems.quadratics import random_quadratics
from empirics.training.setting import Setting
from paper_checks.runs.can import can
from paper_checks.runs.words import EXACT
from paper_checks.validation import run, VALIDATIONS, Verdict
from paper_checks.validation.exact import compare

SMALL = ["--instances", "1", "--rounds", "2", "--clients", "3", "--local-steps", "2"]
MEASURABLE = [name for name, evidence in VALIDATIONS.items() if evidence == EXACT]


def test_bounds_of_every_paper_with_runs_are_measurable_and_orders_are_not():
    assert {name.split(".")[0] for name in MEASURABLE} == {"fedinit", "decaying_k", "fedcog"}
    for name in ("fedinit.theorem_1_order", "fedinit.theorem_3", "fedcog.corollary"):
        assert can(BOUNDS[name], EXACT)


@pytest.mark.parametrize("name", MEASURABLE)
def test_it_finds_a_step_size_inside_the_conditions_and_compares(name, tmp_path, capsys):
    arguments = [*SMALL, "--out", str(tmp_path)]
    assert run(name, arguments) == 0
    out = capsys.readouterr().out
    assert "holds here" in out
    assert "NOT met" not in out
    assert (tmp_path / f"{name}.csv").read_text().startswith("instance,step_size,round,exact")


def test_a_bound_cut_below_the_exact_value_is_violated():
    problem = random_quadratics(3, 4, 2, noise=0.3)
    bound = BOUNDS["fedinit.lemma_2"]
    setting = Setting(3, 2, local_steps=3, step_size=0.02 / problem.smoothness)
    found = compare(bound, problem, setting, 0.06)
    assert set(found.verdicts) == {Verdict.HOLDS_HERE}
    smallest = float((found.bound / found.exact).min())
    planted = replace(bound, terms={n: t / (1.001 * smallest) for n, t in bound.terms.items()})
    assert Verdict.VIOLATED in compare(planted, problem, setting, 0.06).verdicts
    kept = replace(bound, terms={n: t / (0.999 * smallest) for n, t in bound.terms.items()})
    assert Verdict.VIOLATED not in compare(kept, problem, setting, 0.06).verdicts


def test_a_run_outside_the_assumptions_or_conditions_decides_nothing():
    problem = random_quadratics(3, 4, 2, noise=0.3)
    theorem, small = BOUNDS["fedcog.theorem"], 0.02 / problem.smoothness
    partial = compare(theorem, problem, Setting(3, 2, local_steps=3, step_size=small), 0.0)
    assert partial.outside
    assert set(partial.verdicts) == {Verdict.UNDECIDED}
    with pytest.warns(UserWarning, match="silent"):
        wild = compare(theorem, problem, Setting(3, 4, local_steps=3, step_size=0.5 / problem.smoothness), 0.0)
    assert set(wild.verdicts) == {Verdict.UNDECIDED}
    assert np.isfinite(wild.formula).all()


def test_what_it_measures_is_the_statistic_of_the_bound():
    problem = random_quadratics(5, 3, 2, noise=0.2)
    setting = Setting(4, 3, local_steps=2, step_size=0.01 / problem.smoothness)
    mean = compare(BOUNDS["fedinit.theorem_4_before"], problem, setting, 0.05)
    rounds = compare(BOUNDS["fedinit.theorem_4_recursion"], problem, setting, 0.05)
    # Delta^0 = 0 and Delta^1 .. Delta^3 are the first three of the recursion's targets.
    assert mean.exact[0] == pytest.approx(rounds.exact[:3].sum() / 4)
    last = compare(BOUNDS["fedinit.theorem_2"], problem, setting, 0.05)
    assert last.exact.shape == (1,)


@pytest.mark.parametrize("bad", [["--rounds", "0"], ["--clients", "-2"], ["--cohort", "0"]])
def test_bad_numbers_are_one_line(bad):
    with pytest.raises(EmpiricsError, match="must be a whole number >= 1"):
        run("fedinit.lemma_2", bad)


def test_a_step_size_outside_the_conditions_shows_the_formula_marked_so(tmp_path, capsys):
    assert run("fedinit.lemma_2", [*SMALL, "--step-size", "3", "--out", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "OUTSIDE" in out
    assert "2 x undecided" in out
