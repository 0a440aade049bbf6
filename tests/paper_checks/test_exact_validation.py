"""Bounds on runs against exact expectations, by what they say of themselves."""

from dataclasses import replace

import numpy as np
import pytest

from bounds import BOUNDS
from empirics.errors import EmpiricsError
from empirics.problems.quadratics import random_quadratics
from empirics.sizes import ROW
from empirics.training.setting import Setting
from paper_checks.runs.methods import demands
from paper_checks.runs.obstacles import obstacle
from paper_checks.runs.origins import EXACT
from paper_checks.validation import Options, validate, VALIDATIONS, Verdict
from paper_checks.validation.exact import compare, compare_inside

SMALL = ["--instances", "1", "--rounds", "2", "--clients", "3", "--local-steps", "2"]
MEASURABLE = [name for name, evidence in VALIDATIONS.items() if evidence == EXACT]


def test_it_finds_a_step_size_inside_the_conditions_and_compares(tmp_path, run):
    assert {name.split(".")[0] for name in MEASURABLE} == {"fedinit", "decaying_k", "fedcog", "classics"}
    for name in MEASURABLE:
        fixed = [f"--{option.replace('_', '-')}" for option in demands(BOUNDS[name]).plan]
        words = [word for pair in zip(SMALL[::2], SMALL[1::2], strict=True) if pair[0] not in fixed for word in pair]
        status, out, _ = run("validate", name, *words, "-o", tmp_path)
        assert status == 0
        assert ("holds here" in out, "NOT met" in out) == (True, False), name
        at = BOUNDS[name].statistic
        moment = "iteration" if (at.kind, at.over) == ("every", "iterations") else "round"
        assert (tmp_path / f"{name}.csv").read_text().startswith(f"instance,step_size,{moment},exact")
    for name in ("fedinit.theorem_1_order", "fedinit.theorem_3", "fedcog.corollary"):
        assert obstacle(BOUNDS[name], EXACT)


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


def test_the_step_size_is_the_first_of_halves_at_which_no_condition_fails():
    """1/(2 sqrt(2) K L) is the largest that Lemma 2 allows: between 1/(16 L) and 1/(8 L) for three local steps."""
    problem = random_quadratics(3, 4, 2, noise=0.3)
    setting, _ = compare_inside(BOUNDS["fedinit.lemma_2"], problem, Options.of(EXACT, rounds=2))
    assert setting.step_size * problem.smoothness == pytest.approx(1 / 16, rel=1e-12)


def test_what_cannot_be_held_is_refused_before_the_work(monkeypatch):
    """The most bytes that are asked for at once are refused where there is one byte less."""
    monkeypatch.setattr("paper_checks.validation.exact.compare_inside", lambda *_: 1 / 0)  # the work begins
    for told, most in (
        ({"clients": 7, "dim": 5, "rounds": 3, "instances": 2}, 3 * 8 * 7 * 5**2),
        ({"clients": 2, "dim": 3, "rounds": 900, "instances": 2}, 8 * 900 * 23),
        ({"clients": 2, "dim": 3, "rounds": 2, "instances": 700}, ROW * 700),
    ):
        for there, refusal in ((most + 1, ZeroDivisionError), (most - 1, EmpiricsError)):
            monkeypatch.setattr("empirics.sizes.memory", lambda there=there: there)
            with pytest.raises(refusal):
                validate(BOUNDS["fedinit.lemma_2"], EXACT, Options.of(EXACT, **told))
