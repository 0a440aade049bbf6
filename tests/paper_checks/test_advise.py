"""Advice: where bounds are smallest, what formulas say, the twin's plan, and the last sentence; by other arithmetic."""

import json
import math

import numpy as np
import pytest

import fedbounds
from bounds import Bound, Source
from bounds.catalog import BOUNDS
from bounds.core import About, Statistic
from bounds.errors import BoundsError
from bounds.scenario import Scenario
from bounds.vocabulary import (
    grad_norm_sq,
    gradient_variance,
    initial_gap,
    local_steps,
    optimality_gap,
    rounds,
    step_size,
)
from empirics.problems.tasks import task
from empirics.progress import Silent
from paper_checks.comparing.advise import _with_measured, advise
from paper_checks.comparing.advised import Advised, Adviser, SCHEDULE, Trained
from paper_checks.comparing.bound_advice import BoundAdvice, by_formula, formulas, other_ends, speaking
from paper_checks.comparing.goals import Goal, OVER, Point
from paper_checks.comparing.halving import Measured, Trials
from paper_checks.comparing.twin import runs, TwinAdvice

SMALL = {
    "clients": 6, "cohort": 3, "smoothness": 1.7, "strong_convexity": 0.3, "initial_loss": 1.9, "optimal_loss": 0.4,
    "gradient_variance": 0.2, "grad_cap_sq": 2.3, "heterogeneity": 0.11, "optimum_dissimilarity": 0.15,
    "communication_time": 0.7, "minibatch_time": 0.05, "parameters": 31,
}  # fmt: skip


@pytest.fixture(scope="module")
def problem():
    return task("softmax(iris, regularisation=0.07)").deal("iid", 6, 3)


ADVISERS = ("decaying_k.theorem_1_repaired", "decaying_k.theorem_1", "fedinit.theorem_2")
"""Bounds that advise here: one that holds, one that the audit refuted, one that recommends not to train."""


@pytest.fixture(autouse=True)
def few(monkeypatch):
    def some(goal, own=()):
        asked, refused = speaking(goal, own)
        mine = {bound.name for bound in own}
        return {name: row for name, row in asked.items() if name in (*ADVISERS, *mine)}, refused

    monkeypatch.setattr("paper_checks.comparing.bound_advice.speaking", some)


def scenario(**more):
    return Scenario.of({**SMALL, **more})


def goal(**more):
    given = {word: value for word, value in {"runtime": 60, **more}.items() if value is not None}
    return Goal.of(scenario(**given), "optimality_gap", None, 5)


# ---- goals ----


def test_rounds_are_whole_and_a_round_fits():
    assert goal().rounds(7) == math.floor(60 / (0.7 + 0.05 * 7))
    assert max(goal().steps()) == 1024  # the last of the grid within (60 - 0.7)/0.05 = 1186 steps


def test_a_budget_of_iterations_holds_whole_rounds_of_any_length():
    told = goal(runtime=None, iterations=40)
    assert [told.rounds(steps) for steps in (1, 3, 7, 16, 40)] == [40, 13, 5, 2, 1]
    assert told.at(7, step_size=0.01)["iterations"].value == 35
    assert max(told.steps()) == 32
    advised = advise(scenario(iterations=40, step_size=0.05, local_steps=4))
    assert advised.rows
    assert all(row.point.rounds == 40 // row.point.local_steps for row in advised.rows)


def test_a_formula_whose_steps_no_round_holds_gives_no_advice():
    """At such a small step size K* exceeds what the budget holds; what others say stays."""
    told = advise(scenario(runtime=0.76, step_size=1e-7))
    assert [row.name for row in told.rows if row.kind == "bound"]
    assert not [row.name for row in told.rows if row.kind == "formula" and row.point.local_steps > 1]


def test_a_bound_of_ones_own_advises_beside_the_others():
    said = {"optimisation": initial_gap / (step_size * local_steps * rounds), "noise": step_size * gradient_variance}
    mine = Bound(
        name="mine.b", target=optimality_gap, terms=said, source=Source("notes", "1"), about=About("fedavg"),
        statistic=Statistic("last", "rounds", "server model"),
    )  # fmt: skip
    silent = Bound(name="mine.c", target=grad_norm_sq, terms=said, source=Source("notes", "2"))
    told = advise(scenario(rounds=50, local_steps=4), over=["step_size"], own=[mine, silent])
    row = next(row for row in told.rows if row.name == "mine.b")
    assert row.point.step_size == pytest.approx((1.5 / (200 * 0.2)) ** 0.5, rel=1e-2)
    assert "mine.c" not in [row.name for row in told.rows]


def test_what_a_plan_costs():
    def cost(what):
        return Goal.of(scenario(), what, ("optimality_gap", 0.01), 5).cost(4, 9)

    assert cost("rounds") == 9
    assert cost("iterations") == 36
    assert cost("seconds") == pytest.approx(9 * (0.7 + 0.05 * 4))
    assert cost("bytes") == 9 * 2 * 4 * 31 * 3
    assert cost("gradients") == 9 * 4 * 5 * 3


@pytest.mark.parametrize(
    ("minimise", "to", "more", "wrong"),
    [
        ("optimality_gap", None, {}, "advice needs a budget"),
        ("seconds", None, {}, "give to optimality_gap"),
        ("divergence", None, {"runtime": 9}, "unknown target of an advice 'divergence'"),
        ("seconds", ("divergence", 0.1), {}, "unknown target of an advice 'divergence'"),
        ("euros", ("optimality_gap", 0.1), {}, "unknown cost 'euros'"),
        ("seconds", ("optimality_gap", -0.1), {}, "must be a number > 0"),
        ("seconds", ("optimality_gap", 0.1), {"rounds": 12}, "leave rounds out"),
        ("optimality_gap", None, {"runtime": 0.3}, "rounds must be"),
    ],
)
def test_goals_that_cannot_be_told(minimise, to, more, wrong):
    with pytest.raises(BoundsError, match=wrong):
        Goal.of(scenario(**more), minimise, to, 5)


# ---- bounds ----


@pytest.mark.parametrize("name", ["decaying_k.theorem_1_repaired", "decaying_k.lemma_2_repaired", "fedinit.theorem_1"])
def test_no_plan_of_a_search_elsewhere_is_better_than_a_bounds_own(name):
    asked = goal()
    best = BoundAdvice(BOUNDS[name], asked).best()
    lowest = math.inf
    for steps in (1, 2, 9):
        for size in np.geomspace(1e-4, 0.6, 25):
            at = asked.scenario.at(local_steps=steps, step_size=size)
            value = float(at.substituted(BOUNDS[name]).value)
            factor = 1 / (2 * 0.3) / (size * steps * asked.rounds(steps) if "lemma_2" in name else 1)
            lowest = min(lowest, value * factor) if math.isfinite(value) else lowest
    assert best.value <= lowest * 1.02
    assert best.value > 0.8 * lowest
    assert best.rounds == asked.rounds(best.local_steps)


def test_a_bound_that_asks_for_everyone_is_refused_with_its_words():
    asked, refused = speaking(goal(step_size=0.05))
    words = {row.bound: [failed.words for failed in row.failed] for row in refused}
    assert "all clients take part in every round" in words["fedcog.theorem"]
    assert "fedcog.theorem" not in asked
    assert "fedcog.theorem" in speaking(goal(cohort=6, step_size=0.05))[0]


def test_constants_at_their_other_ends_move_what_is_certain_of_k():
    uncertain = scenario(step_size=0.05, runtime=60, _interval={"grad_cap_sq": [0.002, 2.3]})
    assert [float(end["grad_cap_sq"].value) for end in other_ends(uncertain)] == [2.3, 0.002]
    told = advise(uncertain)
    row = next(row for row in told.rows if row.name == "decaying_k.k_star")
    assert row.steps[1] > 2 * row.steps[0]


# ---- formulas ----


def test_formulas_are_the_papers_and_those_derived_and_no_replayed_schedule():
    names = [bound.name for bound in formulas(goal(step_size=0.05, local_steps=4), ("local_steps", "step_size"))]
    assert {"decaying_k.k_star", "decaying_k.k_star_printed", "decaying_k.eta_star"} <= set(names)
    assert not [name for name in names if "schedule" in name]


def test_a_k_that_depends_on_its_own_rounds_agrees_with_itself():
    asked = goal(step_size=0.05)
    formula = BOUNDS["decaying_k.k_star_rounds_printed"]
    point, real = by_formula(formula, asked, 1, 0.05)
    rounds = asked.rounds(point.local_steps)
    kappa = 1.7 / 0.3
    assert real == pytest.approx(((kappa * 1.9 - 0.4) / (8 * 0.05**2 * 1.7 * (1 + 1 / 6)) / rounds) ** (1 / 3))
    assert point.local_steps == max(1, round(real))


# ---- the twin ----


def test_the_twins_plan_is_the_best_of_its_grid(problem):
    asked = goal()
    twin = TwinAdvice(asked, runs(problem, 3, 5))
    best = twin.best()
    for steps in (1, 2, 5, 8):
        values = twin.averaging.readings(steps, twin.sizes, asked.rounds(steps))["optimality_gap"][-1]
        assert best.value <= values.min() * (1 + 1e-12)
    assert twin.value(best.local_steps, best.step_size) == pytest.approx(best.value)


def test_a_large_models_path_ends_where_the_grid_is_best(problem, monkeypatch):
    whole = TwinAdvice(goal(), runs(problem, 3, 5)).best()
    monkeypatch.setattr("paper_checks.comparing.twin.WALKS", 1)
    assert TwinAdvice(goal(), runs(problem, 3, 5)).best() == whole


def test_the_first_round_at_a_level(problem):
    asked = Goal.of(scenario(), "gradients", ("optimality_gap", 0.05), 5)
    twin = TwinAdvice(asked, runs(problem, 3, 5))
    best = twin.best()
    path = twin.averaging.readings(best.local_steps, [best.step_size], best.rounds)["optimality_gap"][:, 0]
    assert path[-1] <= 0.05 < path[-2]
    assert best.value == best.rounds * best.local_steps * 5 * 3


# ---- the whole ----


def test_the_last_sentence_follows_from_the_rows(problem):
    told = advise(scenario(step_size=0.05, runtime=60), problem=problem, batch=5)
    best = told.best
    assert best.kind in ("twin", "schedule")
    assert told.rows[0] is best
    assert told.regret(best) == 1
    bounds = [told.regret(row) for row in told.rows if row.kind in ("bound", "refuted bound", "formula")]
    assert ("No bound chooses well here" in told.advice) == (min(bounds) > 1.5)
    assert f"local_steps={best.point.local_steps}" in told.advice
    assert "the twin proves nothing" in told.advice
    assert all(regret >= 1 for regret in bounds)


def test_a_bound_that_recommends_not_to_train_is_named(problem):
    told = advise(scenario(step_size=0.05, runtime=60), problem=problem, batch=5)
    idle = [row for row in told.rows if row.still]
    assert idle
    assert all(row.point.step_size * row.point.local_steps * row.point.rounds * 1.7 < 0.5 for row in idle)
    assert f"Do not train, say {idle[0].name}" in told.advice


def test_what_is_not_sure_to_speak_promises_nothing():
    """Sigma^2 as a lower estimate, and a start that nobody evaluated: neither is vacuous, and neither speaks."""
    seen = Scenario.of({**SMALL, "_provenance": {"gradient_variance": "lower"}}, rounds=10**9, local_steps=2)
    told = advise(seen, over=["step_size"])
    assert "speaks?" in {row.state for row in told.rows}
    assert "promises" not in told.advice
    assert "vacuous" not in told.advice
    unseen = advise(scenario(rounds=10**9, local_steps=2), "grad_norm_sq", over=["step_size"])
    assert "of the class" in {row.state for row in unseen.rows if row.kind == "bound"}
    assert "vacuous" not in unseen.advice


def test_without_the_federation_nothing_judges():
    told = advise(scenario(step_size=0.05, runtime=60))
    assert all(math.isnan(told.regret(row)) for row in told.rows)
    assert "Nothing here has been run" in told.advice


def test_measured_on_fresh_seeds(problem):
    """With worst cases beside it: every row's number is that of its own plan, and the row's set holds its plan."""
    told = advise(scenario(step_size=0.05, iterations=8), problem=problem, batch=5, measure=3, worst_case=4)
    kinds = {row.kind: row for row in told.rows}
    assert {"measured", "twin", "schedule", "worst case", "bound"} <= kinds.keys()
    trials = Trials(problem, told.goal, Silent())
    for row in (kinds["measured"], kinds["worst case"], kinds["schedule"]):
        values = [trials.value(row.point.plan, 1_000_000 + seed) for seed in range(3)]
        assert row.measured[0] == pytest.approx(np.mean(values), rel=1e-6)
    fixed = kinds["measured"]
    assert not fixed.point.replayed
    assert fixed.steps[0] <= fixed.point.local_steps <= fixed.steps[1]
    assert fixed.measured.mean == min(row.measured.mean for row in told.rows if not row.point.replayed)
    same = [row.name for row in told.rows if row.point.plan == fixed.point.plan and row is not fixed]
    assert (f"the plan of {', '.join(same)}" if same else "no adviser names it") in str(told)
    assert told.best.measured.mean == min(row.measured.mean for row in told.rows)
    assert min(told.regret(row) for row in told.rows) == 1
    assert "on 3 fresh seeds" in told.advice
    assert "By the exact worst case" in told.advice


@pytest.mark.parametrize("near", [True, False])
def test_a_schedule_that_is_hardly_better_is_said_to_be_so(near):
    falls = Point(4, 0.2, 2, 0.5, cohort=3, replayed=((4, 0.2), (2, 0.2)))
    fixed = Point(3, 0.1, 2, math.nan, cohort=3)
    ends = {falls.plan: Trained(0.5, 0.02, 0, 3), fixed.plan: Trained(0.6, 0.02, 0, 3)}
    plans = (falls.plan, *[fixed.plan] * near)
    found = Measured(ends, falls.plan, fixed, plans, (fixed.plan,), runs=6)
    rows = _with_measured([Adviser("schedule falls", SCHEDULE, falls, (2, 4), "", False)], found)
    told = Advised(goal(), OVER, tuple(rows), (), seeds=3)
    plan = "of fixed plans local_steps=3 step_size=0.1 (1.2x"
    assert f"{plan}{', which cannot be told apart from it' if near else ''})" in told.advice


def test_of_another_method_nothing_is_trained(problem):
    for more, why in (({"relaxation": 0.1}, "of fedinit"), ({"algorithm": "scaffold"}, "of scaffold"),
                      ({"server_step_size": 2}, "goes 2 times as far")):  # fmt: skip
        s = scenario(step_size=0.05, iterations=8).at(**more)
        told = advise(s, problem=problem, batch=5, worst_case=4)
        assert why in dict(told.silent)["quadratic twin"]
        assert why in dict(told.silent)["exact worst case"]
        with pytest.raises(BoundsError, match=why):
            advise(s, problem=problem, batch=5, measure=2)


def test_what_is_held_stays(problem):
    told = advise(scenario(step_size=0.05, runtime=60), over=["local_steps"], problem=problem, batch=5)
    assert {row.point.step_size for row in told.rows} == {0.05}
    assert "with step_size held" in told.advice
    with pytest.raises(BoundsError, match="step_size is not free here: give step_size=NUMBER"):
        advise(scenario(runtime=60), over=["local_steps"])
    with pytest.raises(BoundsError, match="unknown word to advise on 'rounds'"):
        advise(scenario(runtime=60), over=["rounds"])


def test_another_federation_is_refused(problem):
    with pytest.raises(BoundsError, match="the problem has 6 clients, the constants 7"):
        advise(scenario(clients=7, runtime=60), problem=problem)


def test_the_verb(tmp_path, capsys):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(SMALL))
    assert fedbounds.main(["advise", "optimality_gap", f"@{path}", "runtime=60", "step_size=0.05", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["goal"] == "smallest optimality_gap within runtime = 60"
    assert {"adviser", "local_steps", "step_size", "regret", "steps"} <= told["rows"][0].keys()


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["runtime=60"], "advise needs what is to be small"),
        (["optimality_gap"], "advice needs a budget"),
        (["seconds", "--to", "optimality_gap"], "--to must be TARGET=NUMBER"),
        (["optimality_gap", "runtime=60", "over=a", "over=b"], "give over=... once"),
        (["optimality_gap", "runtime=60", "--measure", "3"], "leave out --measure"),
        (["optimality_gap", "runtime=60", "--measure", "0"], "must be 2 seeds or more"),
    ],
)
def test_mistakes_are_one_line_and_status_2(words, wrong, capsys):
    assert fedbounds.main(["advise", *words]) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert wrong in said


def test_html_and_text_say_the_same(problem):
    told = advise(scenario(step_size=0.05, runtime=60))
    for row in told.rows:
        assert row.name in str(told)
        assert row.name in told._repr_html_()
