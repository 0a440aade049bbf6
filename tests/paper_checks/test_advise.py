"""Advice: where bounds are smallest, what formulas, surrogates, schedules, worst cases and training recommend."""

import itertools
import json
import math
import shlex
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from bounds.catalog import BOUNDS
from bounds.errors import BoundsError
from bounds.scenario import Scenario
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import fedavg
from empirics.problems.tasks import task
from empirics.progress import Silent
from empirics.training.rounds import rounds as trained_rounds
from empirics.training.setting import Setting
from paper_checks.comparing import advise
from paper_checks.comparing.bound_advice import BoundAdvice, by_formula, can_advise, formulas, of_bounds
from paper_checks.comparing.goal import Goal, Plan, Point, search_integers
from paper_checks.comparing.seed_racing import Trials
from paper_checks.comparing.surrogate import ScheduleAdvice, surrogate, surrogate_runs, SurrogateAdvice, usable
from paper_checks.comparing.worst_advice import best as worst_case

SMALL = {
    "clients": 6, "smoothness": 1.7, "strong_convexity": 0.3, "initial_loss": 1.9, "optimal_loss": 0.4,
    "gradient_variance": 0.2, "grad_cap_sq": 2.3, "heterogeneity": 0.11, "optimum_dissimilarity": 0.15,
    "communication_time": 0.7, "minibatch_time": 0.05, "parameters": 31,
}  # fmt: skip


@pytest.fixture(scope="module")
def problem():
    return task("softmax(iris, regularisation=0.07)").deal("iid", 6, 3)


ALL = ("local_steps", "step_size", "cohort")
ADVISERS = ("decaying_k.theorem_1_repaired", "decaying_k.theorem_1", "fedinit.theorem_2", "fedcog.theorem_sharp")
"""Bounds that advise here: one that holds, one that the audit refuted, one that recommends not to train."""


def those(*names):
    """Bounds that can advise, of these and of one's own."""

    def some(goal, book):
        able, refused = can_advise(goal, book)
        kept = {*names, *(name for name in book if name not in BOUNDS)}
        return {name: row for name, row in able.items() if name in kept}, refused

    return some


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr("paper_checks.comparing.bound_advice.can_advise", those(*ADVISERS))


def free(**more):
    return Scenario.of({**SMALL, **more})


def scenario(**more):
    return free(**{"cohort": 3, **more})


def within(goal, more=None, of="optimality_gap", **given):
    """A goal of so much of a budget."""
    return Goal.of(scenario(**given) if more is None else more, of, None, 5, goal)


def goal(**more):
    given = {word: value for word, value in {"runtime": 60, **more}.items() if value is not None}
    return Goal.of(scenario(**given), "optimality_gap", None, 5)


# ---- goals ----


def test_rounds_are_whole_and_a_round_fits_whatever_the_budget():
    assert goal().rounds(7) == math.floor(60 / (0.7 + 0.05 * 7))
    assert max(goal().steps()) == 1024  # the last of the grid within (60 - 0.7)/0.05 = 1186 steps
    told = goal(runtime=None, iterations=40)
    assert [told.rounds(steps) for steps in (1, 3, 7, 16, 40)] == [40, 13, 5, 2, 1]
    assert told.at(7, step_size=0.01)["iterations"].value == 35
    assert max(told.steps()) == 32
    advised = advise("optimality_gap", scenario(iterations=40, step_size=0.05, local_steps=4))
    assert advised.rows
    assert all(row.point.rounds == 40 // row.point.local_steps for row in advised.rows)
    assert within({"gradients": 1000}).rounds(4) == 1000 // (4 * 5 * 3)
    assert within({"bytes": 9999}).rounds(4) == 9999 // (2 * 4 * 31 * 3)
    assert within({"communicated_bytes": 9999}).rounds(4) == 9999 // (2 * 4 * 31)
    assert within({"gradients": 1000}).at(4)["iterations"].value == 16 * 4
    exact = {"gradients": 4 * 5 * 3, "bytes": 2 * 4 * 31 * 3, "communicated_bytes": 2 * 4 * 31}
    assert [within({word: 9999}).cost(4) for word in exact] == list(exact.values())
    assert goal().cost(4) == pytest.approx(0.7 + 0.05 * 4)


GAP = ("optimality_gap", 0.1)
REFUSED = [  # of Python: what is small, on the way to what, the words, options; what must be named
    ("optimality_gap", None, {}, {}, "budget"),
    ("seconds", None, {}, {}, "to optimality_gap"),
    ("divergence", None, {"runtime": 9}, {}, "'divergence'"),
    ("euros", GAP, {}, {}, "'euros'"),
    ("seconds", ("optimality_gap", -0.1), {}, {}, "> 0"),
    ("seconds", GAP, {"rounds": 12}, {}, "leave rounds out"),
    ("optimality_gap", None, {"runtime": 0.3}, {}, "rounds"),
    ("optimality_gap", None, {"rounds": 7}, {"within": {"bytes": 9999}}, "rounds and bytes"),
    ("optimality_gap", None, {}, {"within": {"gradients": 14}}, "14"),
    ("optimality_gap", None, {"runtime": 60}, {"over": ["local_steps"]}, "step_size=NUMBER"),
    ("optimality_gap", None, {"runtime": 60}, {"over": ["rounds"]}, "'rounds'"),
]
TYPED = [
    (["seconds", "--to", "optimality_gap"], "NAME=NUMBER"),
    (["optimality_gap", "rounds=9", "local_steps=2", "step_size=0.1"], "nothing is optimised"),
    (["optimality_gap", "rounds=9", "local_steps=2", "--over", "local_steps,step_size"], "out of over"),
    (["optimality_gap", "runtime=60", "--problem", "ridge(iris)", "--measure", "1"], "2 seeds"),
    (["rounds=50"], "goal comes first, such as optimality_gap"),
    (["optimality_gap", "runtime=60", "--over", "local_steps,step_size,cohort"], "participants cost nothing"),
]


def test_goals_and_options_that_mean_nothing_are_refused(refused, tmp_path):
    for minimise, to, more, options, named in REFUSED:
        with pytest.raises(BoundsError) as caught:
            advise(minimise, scenario(**more), to=to, **options)
        assert named in str(caught.value)
    path = tmp_path / "c.json"
    path.write_text(json.dumps(SMALL))
    for words, named in TYPED:
        assert named in refused("advise", *words, *([f"@{path}"] if "--over" in words else []))


# ---- bounds ----


def test_no_plan_of_a_search_elsewhere_is_better_than_a_bounds_own():
    asked = goal()
    for name in ("decaying_k.theorem_1_repaired", "decaying_k.lemma_2_repaired", "fedinit.theorem_1"):
        best = BoundAdvice(BOUNDS[name], asked).best()
        lowest = math.inf
        for steps in (1, 2, 9):
            for size in np.geomspace(1e-4, 0.6, 25):
                at = asked.scenario.at(local_steps=steps, step_size=size)
                value = float(at.substituted(BOUNDS[name]).value)
                factor = 1 / (2 * 0.3) / (size * steps * asked.rounds(steps) if "lemma_2" in name else 1)
                lowest = min(lowest, value * factor) if math.isfinite(value) else lowest
        assert 0.8 * lowest < best.value <= lowest * 1.02
        assert best.rounds == asked.rounds(best.local_steps)


def test_a_k_that_depends_on_its_own_rounds_agrees_with_itself():
    names = [bound.name for bound in formulas(goal(step_size=0.05, local_steps=4), ("local_steps", "step_size"))]
    assert {"decaying_k.k_star", "decaying_k.k_star_printed", "decaying_k.eta_star"} <= set(names)
    assert not [name for name in names if "schedule" in name]
    asked = goal(step_size=0.05)
    point, real, _ = by_formula(BOUNDS["decaying_k.k_star_rounds_printed"], asked, 1, 0.05)
    rounds = asked.rounds(point.local_steps)
    kappa = 1.7 / 0.3
    assert real == pytest.approx(((kappa * 1.9 - 0.4) / (8 * 0.05**2 * 1.7 * (1 + 1 / 6)) / rounds) ** (1 / 3))
    assert point.local_steps == max(1, round(real))


def test_the_surrogates_plan_is_the_best_of_its_grid(problem, monkeypatch):
    asked = goal()
    twin = SurrogateAdvice(asked, surrogate_runs(problem, 3, 5))
    best = twin.best()
    for steps in (1, 2, 5, 8):
        values = twin.averaging.readings(steps, twin.sizes, asked.rounds(steps))["optimality_gap"][-1]
        assert best.value <= values.min() * (1 + 1e-12)
    assert twin.value(best.local_steps, best.step_size) == pytest.approx(best.value)
    monkeypatch.setattr("paper_checks.comparing.surrogate.LARGE", 1)  # as for a large model
    assert SurrogateAdvice(goal(), surrogate_runs(problem, 3, 5)).best() == best


class TwoValleys(SurrogateAdvice):
    """One at 3 steps, and a lower one at 3000 steps so short that the grid ends above them."""

    def _points(self, steps, sizes, limit=math.inf):
        def value(size):
            valleys = ((3, 0.14, 1.0), (3000, 0.05, 0.5))
            return min(low + abs(math.log(steps / k)) + abs(math.log(steps * size / at)) for k, at, low in valleys)

        return [Point(steps, float(size), 50, value(size), cohort=3) for size in sizes]


@pytest.mark.parametrize("large", [1e7, 1])
def test_no_fixed_plan_of_another_adviser_beats_the_surrogates(problem, monkeypatch, large):
    monkeypatch.setattr("paper_checks.comparing.surrogate.LARGE", large)
    runs, asked = surrogate_runs(problem, 3, 5), within({"rounds": 50}, local_steps=3000)
    assert TwoValleys(asked, runs).best().local_steps == 3
    other = Plan(2300, 0.06 / 2300, 3)
    for over in (("local_steps", "step_size"), ("step_size",)):
        twin = TwoValleys(asked, runs)
        found = twin.best(over, [other if "local_steps" in over else other._replace(local_steps=3000)])
        assert found.value < min(0.65, twin.value(*other[:2]))
        assert found.local_steps == pytest.approx(3000, rel=0.1)
        assert not found.open
        assert 3 not in [point.local_steps for point in twin.near if point.value <= 1.1 * found.value]


def test_the_last_sentence_follows_from_the_rows(problem):
    table = advise("optimality_gap", scenario(step_size=0.05, runtime=60), problem=problem, batch=5)
    best = table.best
    assert (best.kind, table.regret(best)) == ("surrogate", 1)
    assert table.better is None or table.rows[0] is table.better
    assert best.surrogate <= min(row.surrogate for row in table.rows if not row.point.schedule)
    bounds = [table.regret(row) for row in table.rows if row.kind in ("bound", "refuted bound", "formula")]
    assert ("No bound chooses well here" in table.advice) == (min(bounds) > 1.5)
    assert f"local_steps={best.point.local_steps}" in table.advice
    assert all(regret >= 1 for regret in bounds)
    reached = tuple(replace(row, surrogate=0.0) if row is best else row for row in table.rows)
    assert [">=" in str(each) for each in (table, replace(table, rows=reached))] == [False, True]  # above a best of 0
    idle = [row for row in table.rows if row.no_training]
    assert idle
    assert all(row.point.step_size * row.point.local_steps * row.point.rounds * 1.7 < 0.5 for row in idle)


def test_measured_on_fresh_seeds(problem):
    """With worst cases beside it: every row's number is that of its own plan, and the row's set holds its plan."""
    told = advise(
        "optimality_gap", scenario(step_size=0.05, iterations=8), problem=problem, batch=5, measure=3, worst_case=2
    )
    kinds = {row.kind: row for row in told.rows}
    assert {"measured", "surrogate", "schedule", "worst case", "bound"} <= kinds.keys()
    trials = Trials(problem, told.goal, Silent())
    for row in (kinds["measured"], kinds["worst case"], kinds["schedule"]):
        values = [trials.value(row.point.plan, 1_000_000 + seed) for seed in range(3)]
        assert row.measured[0] == pytest.approx(np.mean(values), rel=1e-6)
    fixed = kinds["measured"]
    assert not fixed.point.schedule
    assert fixed.steps[0] <= fixed.point.local_steps <= fixed.steps[1]
    assert fixed.measured.mean == min(row.measured.mean for row in told.rows if not row.point.schedule)
    assert told.best is fixed
    assert min(told.regret(row) for row in told.rows if not row.point.schedule) == 1
    (row,) = (row for row in json.loads(told.to_json())["rows"] if row["kind"] == "worst case")
    about = row["worst_case"]
    assert about["lower"] <= row["bound_value"] * (1 + 1e-6)  # the value is a solver's, the end is proved
    assert 0 < about["upper"] / about["lower"] - 1 < 1e-4
    assert f"from {about['lower']:.9g} to {about['upper']:.9g}" in str(told)


def test_a_search_stops_after_patience_and_tries_between():
    tried = []
    found = search_integers([2**i for i in range(9)], lambda n: tried.append(n) or Point(n, 0.1, 5, abs(n - 13) + 2.5))
    assert (found.local_steps, found.open, max(tried)) == (13, (), 128)  # three after 16
    assert search_integers((2, 3, 5), lambda n: Point(n, 0.1, 5, 1 / n)).open == ("local_steps",)
    tried.clear()
    assert search_integers(range(1, 99), tried.append) is None
    assert len(tried) < 20


def test_a_round_waits_for_its_slowest_participant():
    beta = [0.01, 0.4, 0.02, 0.07, 0.3, 0.05]
    asked = within(None, free(runtime=60, client_minibatch_time=beta, cohort=4))
    drawn = [max(0.7 + beta[k] * 3 for k in chosen) for chosen in itertools.combinations(range(6), 4)]
    assert asked.round_seconds(3) == pytest.approx(np.mean(drawn))
    assert asked.rounds(3) == math.floor(60 / np.mean(drawn))
    weights = [0.1, 0.2, 0.25, 0.15, 0.05, 0.25]
    told = free(runtime=60, client_minibatch_time=beta, cohort=2, client_weight=weights)
    drawn = sum(weights[i] * weights[j] * max(0.7 + beta[i] * 3, 0.7 + beta[j] * 3) for i in range(6) for j in range(6))
    assert within(None, told.at(sampling="with_replacement")).round_seconds(3) == pytest.approx(drawn)


def test_the_joint_plan_is_the_best_of_all_cohorts(problem, monkeypatch):
    best = SurrogateAdvice(within({"gradients": 300}, cohort=6), surrogate_runs(problem, 6, 5)).best(ALL)
    alone = []
    for cohort in range(1, 7):
        alone.append(
            SurrogateAdvice(within({"gradients": 300}, cohort=cohort), surrogate_runs(problem, cohort, 5)).best()
        )
    assert best == min(alone, key=lambda point: point.value)
    assert best.rounds == 300 // (best.local_steps * 5 * best.cohort)
    names = ("decaying_k.theorem_1_repaired", "fedcog.theorem_sharp")
    monkeypatch.setattr("paper_checks.comparing.bound_advice.can_advise", those(*names))
    asked = within({"gradients": 9e5}, free())
    found = {row.name: row.point for row in of_bounds(asked, ALL, BOUNDS, Silent())[0]}
    for name, cohorts in zip(names, (range(1, 7), (6,)), strict=True):
        alone = [BoundAdvice(BOUNDS[name], asked.of_cohort(cohort)).best() for cohort in cohorts]
        assert found[name].value == min(point.value for point in alone)
    assert found["fedcog.theorem_sharp"].cohort == 6  # all clients take part, or it does not apply
    told = advise("gradients", free(), over=ALL, to=("optimality_gap", 0.05), problem=problem, batch=5)
    assert f"cohort={told.best.point.cohort}" in told.advice
    assert told.to_latex().count(r"\\") == len(told.rows) + 1


def test_a_given_step_size_is_that_of_every_row_and_theorems_that_prescribe_another_give_no_advice(monkeypatch):
    names = ("fedcog.theorem_sharp", "fedcog.corollary", "decaying_k.theorem_1_sharp")
    monkeypatch.setattr("paper_checks.comparing.bound_advice.can_advise", those(*names))
    asked = within({"rounds": 40}, free(cohort=6, step_size=0.002), of="grad_norm_sq")
    found, no_advice = of_bounds(asked, ("local_steps",), BOUNDS, Silent())
    assert {row.name: row.point.step_size for row in found} == dict.fromkeys((names[0], names[2]), 0.002)
    assert [name for name, why in no_advice if "step size of its own" in why] == ["fedcog.corollary"]


# ---- schedules ----


def test_a_schedule_spends_the_budget_and_no_more(problem):
    asked = Goal.of(free(runtime=40, cohort=3), "optimality_gap", None, 5)
    twin = SurrogateAdvice(asked, surrogate_runs(problem, 3, 5))
    by_key = {schedule.key: ScheduleAdvice(schedule, twin) for schedule in usable()}
    assert set(by_key) == {"k_rounds", "k_error", "eta_rounds", "eta_error"}
    point = by_key["k_rounds"].followed(9, 0.3)
    assert [k for k, _ in point.schedule[:8]] == [math.ceil(9 / r ** (1 / 3) - 1e-9) for r in range(1, 9)]
    spent = [0.7 + 0.05 * k for k, _ in point.schedule]
    assert sum(spent) <= 40 < sum(spent) + 0.7 + 0.05 * point.schedule[-1][0]
    falls = by_key["eta_rounds"].followed(4, 0.3).schedule
    assert [size for _, size in falls] == pytest.approx([0.3 / (r + 1) ** 0.5 for r in range(len(falls))])
    losses = [twin.averaging.problem.optimal_loss + x for x in _gaps(twin, by_key["eta_error"].followed(4, 0.3))]
    sizes = [size for _, size in by_key["eta_error"].followed(4, 0.3).schedule]
    assert sizes == pytest.approx([0.3 * (loss / losses[0]) ** 0.5 for loss in losses[:-1]])


def _gaps(twin, point):
    walk = twin.averaging.replay()
    return [next(walk)[0, 0], *walk.send(point.schedule)[:, 0]]


def test_the_printed_command_trains_the_schedule_that_was_judged(problem):
    options = {"problem": "softmax(iris, regularisation=0.07)", "clients": 6, "batch": 5}
    told = advise("optimality_gap", {"cohort": 3, "rounds": 20}, **options)
    twin = SurrogateAdvice(told.goal, surrogate_runs(task(options["problem"]).deal("iid", 6, 0), 3, 5))
    rows = [row for row in told.rows if row.kind == "schedule"]
    assert {"schedule k_error", "schedule eta_error"} & {row.name for row in rows}
    for row in rows:
        words = shlex.split(told.command_of(row))
        typed = dict(zip(words[2::2], words[3::2], strict=True))
        rule = algorithm(typed["--algorithm"]).steps
        losses = [twin.averaging.problem.optimal_loss + gap for gap in _gaps(twin, row.point)]
        for i, plan in enumerate(row.point.schedule):
            state = SimpleNamespace(round=i, losses=losses[: i + 1])
            ran = rule(state, int(typed["--local-steps"]), float(typed["--step-size"]))
            assert ran == (plan[0], pytest.approx(plan[1], rel=1e-4)), row.name


# ---- on the way to a target ----


def test_a_run_costs_what_it_spent_when_it_is_first_there(problem):
    asked = Goal.of(free(cohort=3), "seconds", ("optimality_gap", 0.08), 5)
    setting = Setting(rounds=60, cohort=3, batch=5, local_steps=4, step_size=0.1)
    gaps = [
        problem.loss(state.model.double()) - problem.optimal_loss
        for state in trained_rounds(problem.model, problem.federation, fedavg, setting, 7)
    ]
    first = next(i for i, gap in enumerate(gaps) if gap <= 0.08)
    assert first > 1
    assert Trials(problem, asked, Silent(), 80.0).value((4, 0.1), 7) == pytest.approx(first * (0.7 + 0.05 * 4))
    short = Trials(problem, asked, Silent(), (first - 0.5) * 0.9)
    assert short.value((4, 0.1), 7) == math.inf
    assert short.values(Plan(4, 0.1), [7]) == [short.limit]


def test_plans_that_do_not_reach_the_target_are_told(problem, monkeypatch):
    monkeypatch.setattr("paper_checks.comparing.bound_advice.can_advise", those("decaying_k.theorem_1_repaired"))
    known, to = free(cohort=3, step_size=1e-6), ("optimality_gap", 0.2)
    told = advise("seconds", known, to=to, problem=problem, batch=5, measure=2)
    lost = [row for row in told.rows if row.measured is not None and row.measured.failed]
    assert lost
    assert all(row.measured.mean <= told.limit for row in lost)
    assert told.best.measured.failed == 0
    assert json.loads(told.to_json())["limit"] == told.limit
    below = {"to": ("optimality_gap", 1e-12), "problem": problem, "batch": 5}  # the noise
    assert not advise("rounds", free(cohort=3, local_steps=2), over=["step_size"], **below).useful


# ---- worst cases ----


L_, MU, AWAY = 1.7, 0.3, 1.3
CLASS = {"smoothness": L_, "strong_convexity": MU, "initial_distance_sq": AWAY, "optimum_dissimilarity": 0.4}


def _shrinks(size, steps):
    """Gradient descent on the worst of the quadratics of these curvatures, which is the worst of the class."""
    return AWAY * max(abs(1 - size * L_), abs(1 - size * MU)) ** (2 * steps)


def test_the_advised_plan_is_the_best_of_the_class_and_its_worst_case_proved():
    """In the squared distance it is known: 2/(L + mu) is best, whatever clients and noise there are."""
    for more, over in (({"clients": 1, "iterations": 3}, ("local_steps", "step_size")),
                       ({"clients": 5, "rounds": 3, "local_steps": 1}, ("step_size",))):  # fmt: skip
        known = Scenario.of({**CLASS, "gradient_variance": 0.7, "cohort": more["clients"], **more})
        found = worst_case(Goal.of(known, "distance_sq", None, 5), over, 60, Silent())
        steps = found.point.local_steps * found.point.rounds
        assert (steps, found.point.open) == (3, ())
        assert found.point.step_size == pytest.approx(2 / (L_ + MU), rel=0.05)
        shrunk = _shrinks(found.point.step_size, steps)
        assert found.lower <= shrunk <= found.upper < found.lower * (1 + 1e-4)
        assert found.point.step_size == float(f"{found.point.step_size:.3g}")  # what is shown is what was proved
        assert "strong_convexity" in found.notes[0]


def test_the_cheapest_plan_whose_worst_case_is_at_the_target():
    given = {**CLASS, "clients": 3, "cohort": 3, "local_steps": 1}
    level = 1.15 * _shrinks(2 / (L_ + MU), 4)
    needed = next(n for n in range(1, 9) if _shrinks(2 / (L_ + MU), n) <= level)
    asked = Goal.of(Scenario.of(given), "rounds", ("distance_sq", level), 5)
    found = worst_case(asked, ("step_size",), 60, Silent())
    assert (found.point.rounds, found.point.value) == (needed, needed) == (4, 4)
    assert found.upper <= level
    never = replace(
        Goal.of(Scenario.of(given), "rounds", ("distance_sq", 1e-9), 5), scenario=Scenario.of(given, step_size=0.2)
    )
    assert f"{_shrinks(0.2, 16):.3g}" in worst_case(never, (), 60, Silent())


def test_a_step_size_that_a_theorem_fixes_is_that_of_the_rounds_that_reach_a_target():
    s = free(cohort=6, initial_gap=1.5, gradient_variance=0.02)
    goal = Goal.of(s, "seconds", ("grad_norm_sq", 0.9), 1)
    point = BoundAdvice(BOUNDS["fedcog.corollary"], goal).best()
    assert point is not None
    assert point.step_size == pytest.approx(1 / math.sqrt(point.local_steps * point.rounds), rel=1e-9)
    assert point.value == pytest.approx(point.rounds * (0.7 + 0.05 * point.local_steps))
    within = BoundAdvice(BOUNDS["fedcog.corollary"], Goal.of(s.at(rounds=4000), "grad_norm_sq", None, 1)).best()
    assert within is not None
    assert within.step_size == pytest.approx(1 / math.sqrt(within.local_steps * 4000), rel=1e-9)


@pytest.fixture(scope="module")
def regression():
    return task("logistic(breast_cancer, regularisation=0.07)").deal("dirichlet(0.6)", 4, 3)


def test_it_is_the_second_order_of_every_client(regression):
    found, at = surrogate(regression), regression.minimiser
    assert found.minimiser == pytest.approx(at.numpy(), abs=1e-9)
    for k in range(4):
        x, y = (part.double() for part in regression.samples.of(k))
        losses = lambda w, x=x, y=y: torch.nn.functional.softplus(-y * (x @ w)) + 0.035 * w @ w  # noqa: E731
        gradients = torch.autograd.functional.jacobian(losses, at).numpy()
        hessian = torch.autograd.functional.hessian(lambda w, losses=losses: losses(w).mean(), at).numpy()
        assert found.client_losses(at.numpy())[k] == pytest.approx(float(losses(at).mean()), rel=1e-10)
        assert found.client_gradients(at.numpy())[k] == pytest.approx(gradients.mean(0), abs=1e-10)
        assert found.curvatures[k] == pytest.approx(hessian, abs=1e-12)
        assert found.noise[k] == pytest.approx(np.cov(gradients.T, bias=True), abs=1e-12)
    assert found.optimal_loss == pytest.approx(regression.optimal_loss, rel=1e-12)
