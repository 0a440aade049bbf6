"""Bounds on runs against exact expectations, by what they say of themselves."""

from dataclasses import fields, replace

import numpy as np
import pytest

from bounds import BOUNDS
from bounds.assumptions import INDEPENDENT_NOISE
from bounds.scenario import Scenario
from empirics.algorithms import algorithm
from empirics.errors import EmpiricsError
from empirics.exact import exact_run
from empirics.problems.quadratics import Quadratics, random_quadratics
from empirics.sizes import ROW
from empirics.training.setting import Setting
from paper_checks.runs.can import can
from paper_checks.runs.demands import demands
from paper_checks.runs.words import EXACT
from paper_checks.validation import Options, validate, VALIDATIONS, Verdict
from paper_checks.validation.exact import about, breaks, compare, inside
from paper_checks.validation.jobs import best_steps

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
        assert can(BOUNDS[name], EXACT)


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
    with pytest.warns(UserWarning, match="does not apply"):
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
    setting, _ = inside(BOUNDS["fedinit.lemma_2"], problem, Options.of(EXACT, rounds=2))
    assert setting.step_size * problem.smoothness == pytest.approx(1 / 16, rel=1e-12)


def test_least_gradients_of_every_number_of_local_steps_at_a_quarter_of_one_over_l():
    """The job's numbers are those of exact runs of the problem itself: the scale multiplies losses alone."""
    made = best_steps(instance=4, steps=[2, 3], ends=[1, 3], clients=5, dim=2, noise=0.3, scale=2.5)
    problem = random_quadratics(4, 5, 2, noise=0.3)
    assert made.facts["step_size"] == pytest.approx(1 / (4 * 2.5 * problem.smoothness), rel=1e-12)
    assert made.facts["cohort"] == 2
    places = zip(made.columns["local_steps"], made.columns["rounds"], made.columns["value"], strict=True)
    for local_steps, rounds, value in places:
        setting = Setting(rounds, 2, local_steps=local_steps, step_size=1 / (4 * problem.smoothness))
        series = exact_run(problem, algorithm("fedavg()"), setting).iterations("grad_norm_sq")
        assert value == pytest.approx(2.5**2 * series.min(), rel=1e-9)
    assert len(made.columns["value"]) == 4


def test_what_cannot_be_held_is_refused_before_the_work(monkeypatch):
    """The most bytes that are asked for at once are refused where there is one byte less."""
    monkeypatch.setattr("paper_checks.validation.exact.inside", _stop)
    for told, most in (
        ({"clients": 7, "dim": 5, "rounds": 3, "instances": 2}, 3 * 8 * 7 * 5**2),
        ({"clients": 2, "dim": 3, "rounds": 900, "instances": 2}, 8 * 900 * 23),
        ({"clients": 2, "dim": 3, "rounds": 2, "instances": 700}, ROW * 700),
    ):
        for there, refusal in ((most + 1, Stop), (most - 1, EmpiricsError)):
            monkeypatch.setattr("empirics.sizes.memory", lambda there=there: there)
            with pytest.raises(refusal):
                validate(BOUNDS["fedinit.lemma_2"], EXACT, Options.of(EXACT, **told))


class Stop(Exception):
    """The work has begun."""


def _stop(*_):
    raise Stop("begun")


def test_bad_numbers_are_refused_and_a_step_size_outside_the_conditions_is_marked(tmp_path, run, refused):
    for bad in (["--rounds", "0"], ["--clients", "-2"], ["--cohort", "0"]):
        assert all(word in refused("validate", "fedinit.lemma_2", *bad) for word in (bad[0][2:], ">= 1"))
    status, out, _ = run("validate", "fedinit.lemma_2", *SMALL, "--step-size", "3", "-o", tmp_path)
    assert status == 0
    assert ("OUTSIDE" in out, "2 x undecided" in out) == (True, True)


class CommonNoise(Quadratics):
    """All clients draw the same noise: what sums of p_c^2 sigma_c^2 do not cover."""

    independent_noise = False


def test_a_sum_of_variances_says_nothing_where_noise_is_common_to_the_clients():
    """Decided by machine where anybody knows; in numbers it is assumed, but not without noise."""
    repaired = BOUNDS["decaying_k.theorem_1_repaired"]
    problem = random_quadratics(3, 3, 2, noise=0.3)
    plan = Setting(3, 3, local_steps=2, step_size=0.1)
    common = CommonNoise(**{f.name: getattr(problem, f.name) for f in fields(problem)})
    assert [breaks(repaired, p, about(repaired, 0.0), plan) for p in (problem, common)] == [False, True]
    for name in ("lemma_1", "lemma_1_sharp", "lemma_2_repaired", "theorem_1_sharp"):
        assert INDEPENDENT_NOISE in {c.assumption for c in BOUNDS[f"decaying_k.{name}"].conditions}
    noisy = Scenario.of(clients=3, gradient_variance=0.2)
    assert INDEPENDENT_NOISE.holds(*noisy.facts) is None
    assert INDEPENDENT_NOISE.holds(*noisy.at(gradient_variance=0).facts) is True
