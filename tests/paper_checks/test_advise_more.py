"""Advice on the cohort, along schedules, by worst cases and on the way to a target; by other arithmetic."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import fedbounds
from bounds.errors import BoundsError
from bounds.scenario import Scenario
from empirics.algorithms.algorithm import fedavg
from empirics.exact import Averaging
from empirics.problems.quadratics import random_quadratics
from empirics.problems.tasks import task
from empirics.progress import Silent
from empirics.training.rounds import rounds
from empirics.training.setting import Setting
from paper_checks.comparing.advise import advise
from paper_checks.comparing.bound_advice import book, BoundAdvice, recommended, speaking
from paper_checks.comparing.goals import Goal, Plan, Point
from paper_checks.comparing.halving import _apart, Trials
from paper_checks.comparing.schedules import advised, ScheduleAdvice
from paper_checks.comparing.twin import runs, TwinAdvice
from paper_checks.comparing.whole_numbers import searched
from paper_checks.comparing.worst_advice import best as worst_case

SMALL = {
    "clients": 6, "smoothness": 1.7, "strong_convexity": 0.3, "initial_loss": 1.9, "optimal_loss": 0.4,
    "gradient_variance": 0.2, "grad_cap_sq": 2.3, "heterogeneity": 0.11, "optimum_dissimilarity": 0.15,
    "communication_time": 0.7, "minibatch_time": 0.05, "parameters": 31,
}  # fmt: skip
ALL = ("local_steps", "step_size", "cohort")


@pytest.fixture(scope="module")
def problem():
    return task("softmax(iris, regularisation=0.07)").deal("iid", 6, 3)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    def some(goal, own=()):
        asked, refused = speaking(goal, own)
        kept = ("decaying_k.theorem_1_repaired", "fedcog.theorem_sharp")
        return {name: row for name, row in asked.items() if name in kept}, refused

    monkeypatch.setattr("paper_checks.comparing.bound_advice.speaking", some)


def scenario(**more):
    return Scenario.of({**SMALL, **more})


# ---- whole numbers ----


def test_a_search_stops_after_patience_and_looks_between():
    looked = []

    def look(number):
        looked.append(number)
        return Point(number, 0.1, 5, abs(number - 13) + 2.5)

    found = searched((1, 2, 4, 8, 16, 32, 64, 128, 256), look)
    assert (found.best, found.open) == (13, False)
    assert max(looked) == 128  # three after 16
    rising = searched((2, 3, 5), lambda n: Point(n, 0.1, 5, 1 / n))
    assert rising.open
    assert rising.points[5].open == ("local_steps",)
    assert searched((2, 3, 5), lambda n: None) is None
    nowhere = searched(range(1, 99), lambda n: Point(n, 0.1, 5, math.inf))
    assert len([n for n in nowhere.points if n == int(n)]) < 20


# ---- what a cohort costs ----


def test_a_round_waits_for_its_slowest_participant():
    beta = [0.01, 0.4, 0.02, 0.07, 0.3, 0.05]
    asked = Goal.of(scenario(runtime=60, client_minibatch_time=beta, cohort=4), "optimality_gap", None, 5)
    drawn = [max(0.7 + beta[k] * 3 for k in chosen) for chosen in itertools.combinations(range(6), 4)]
    assert asked.round_seconds(3) == pytest.approx(np.mean(drawn))
    assert asked.rounds(3) == math.floor(60 / np.mean(drawn))
    weights = [0.1, 0.2, 0.25, 0.15, 0.05, 0.25]
    told = scenario(runtime=60, client_minibatch_time=beta, cohort=2, client_weight=weights)
    drawn = sum(weights[i] * weights[j] * max(0.7 + beta[i] * 3, 0.7 + beta[j] * 3) for i in range(6) for j in range(6))
    replaced = Goal.of(told.at(sampling="with_replacement"), "optimality_gap", None, 5)
    assert replaced.round_seconds(3) == pytest.approx(drawn)


def test_budgets_of_all_participants_and_of_one():
    def held(within, **more):
        return Goal.of(scenario(cohort=3, **more), "optimality_gap", None, 5, within)

    assert held({"gradients": 1000}).rounds(4) == 1000 // (4 * 5 * 3)
    assert held({"bytes": 9999}).rounds(4) == 9999 // (2 * 4 * 31 * 3)
    assert held({"communicated_bytes": 9999}).rounds(4) == 9999 // (2 * 4 * 31)
    assert held({"gradients": 1000}).at(4)["iterations"].value == 16 * 4
    with pytest.raises(BoundsError, match="within one budget; got rounds and bytes"):
        held({"bytes": 9999}, rounds=7)
    with pytest.raises(BoundsError, match="more than the budget of 14"):
        held({"gradients": 14})
    with pytest.raises(BoundsError, match="unknown budget 'euros'"):
        held({"euros": 50})


@pytest.mark.parametrize("within", [{"runtime": 60}, {"rounds": 9}, {"communicated_bytes": 9999}])
def test_a_cohort_that_costs_nothing_is_not_advised_on(within):
    with pytest.raises(BoundsError, match="more participants cost nothing here"):
        advise(scenario(), over=ALL, within=within)


# ---- all three together ----


def test_the_twins_joint_plan_is_the_best_of_all_cohorts(problem):
    asked = Goal.of(scenario(cohort=6), "optimality_gap", None, 5, {"gradients": 900})
    best = TwinAdvice(asked, runs(problem, 6, 5)).best(ALL)
    alone = []
    for cohort in range(1, 7):
        goal = Goal.of(scenario(cohort=cohort), "optimality_gap", None, 5, {"gradients": 900})
        alone.append(TwinAdvice(goal, runs(problem, cohort, 5)).best())
    assert best.value == min(point.value for point in alone)
    assert best == min(alone, key=lambda point: point.value)
    assert best.rounds == 900 // (best.local_steps * 5 * best.cohort)


def test_bounds_are_smallest_over_all_three_where_their_premises_hold():
    asked = Goal.of(scenario(), "optimality_gap", None, 5, {"gradients": 9e5})
    found, _ = recommended(asked, ALL)
    known = book(())
    for name, cohorts in (("decaying_k.theorem_1_repaired", range(1, 7)), ("fedcog.theorem_sharp", (6,))):
        alone = [BoundAdvice(known[name], asked.of_cohort(cohort)).best() for cohort in cohorts]
        assert found[name].value == min(point.value for point in alone)
    assert found["fedcog.theorem_sharp"].cohort == 6  # all clients take part, or it is silent


def test_the_joint_advice_names_the_cohort(problem):
    told = advise(scenario(), "gradients", ALL, to=("optimality_gap", 0.05), problem=problem, batch=5)
    assert f"cohort={told.best.point.cohort}" in told.advice
    assert " N " in str(told).splitlines()[1]
    row = json.loads(told.to_json())["rows"][0]
    assert row["cohorts"][0] <= row["cohort"] <= row["cohorts"][1]
    assert told.to_latex().count(r"\\") == len(told.rows) + 1


# ---- schedules ----


@pytest.mark.parametrize("cohort", [3, 7])
def test_a_replay_of_a_fixed_plan_is_the_fixed_plan(cohort):
    averaging = Averaging(random_quadratics(5, clients=7, dim=3, noise=0.4), cohort)
    walk = averaging.replay()
    next(walk)
    read = [walk.send((4, 0.06)) for _ in range(9)][-1]
    told = averaging.readings(4, [0.06], 9)
    assert read == pytest.approx([told[word][-1, 0] for word in ("optimality_gap", "grad_norm_sq", "distance_sq")])


def test_a_replay_of_changing_plans_is_that_of_gradient_descent():
    p = random_quadratics(2, clients=4, dim=3, noise=0.0)
    walk = Averaging(p, 4).replay()
    next(walk)
    w, plans = p.start.copy(), [(5, 0.09), (5, 0.05), (2, 0.05), (1, 0.11)]
    for steps, size in plans:
        ends = np.tile(w, (4, 1))
        for _ in range(steps):
            ends -= size * np.einsum("kde,ke->kd", p.curvatures, ends - p.minima)
        w = p.weights @ ends
        read = walk.send((steps, size))
    away = w - p.minimiser
    assert read[2] == pytest.approx(away @ away)
    assert read[0] == pytest.approx(away @ p.curvature @ away / 2)


def test_a_large_twin_replays_schedules_for_those_who_ask(problem, monkeypatch):
    known = scenario(runtime=9, cohort=3)
    told = advise(known, problem=problem, batch=5)
    asked = [adviser.name for adviser in told.rows if adviser.kind == "schedule"]
    assert asked
    monkeypatch.setattr("paper_checks.comparing.advise.REPLAYED", 1e2)
    left_out = advise(known, problem=problem, batch=5)
    why = dict(left_out.silent)
    assert {adviser.name for adviser in left_out.rows} == {adviser.name for adviser in told.rows} - set(asked)
    assert all(f"minutes on a twin of {problem.model.dim} parameters" in why[name] for name in asked)
    assert advise(known, problem=problem, batch=5, schedules=True).rows == told.rows


def test_a_schedule_spends_the_budget_and_no_more(problem):
    asked = Goal.of(scenario(runtime=40, cohort=3), "optimality_gap", None, 5)
    twin = TwinAdvice(asked, runs(problem, 3, 5))
    by_key = {schedule.key: ScheduleAdvice(schedule, twin) for schedule in advised()}
    assert set(by_key) == {"k_rounds", "k_error", "eta_rounds", "eta_error"}
    point = by_key["k_rounds"].replayed(9, 0.3)
    assert [k for k, _ in point.replayed[:8]] == [math.ceil(9 / r ** (1 / 3) - 1e-9) for r in range(1, 9)]
    spent = [0.7 + 0.05 * k for k, _ in point.replayed]
    assert sum(spent) <= 40 < sum(spent) + 0.7 + 0.05 * point.replayed[-1][0]
    falls = by_key["eta_rounds"].replayed(4, 0.3).replayed
    assert [size for _, size in falls] == pytest.approx([0.3 / (r + 1) ** 0.5 for r in range(len(falls))])
    losses = [twin.averaging.problem.optimal_loss + x for x in _gaps(twin, by_key["eta_error"].replayed(4, 0.3))]
    sizes = [size for _, size in by_key["eta_error"].replayed(4, 0.3).replayed]
    assert sizes == pytest.approx([0.3 * (loss / losses[0]) ** 0.5 for loss in losses[:-1]])


def _gaps(twin, point):
    walk = twin.averaging.replay()
    return [next(walk)[0], *(walk.send(plan)[0] for plan in point.replayed)]


def test_training_follows_the_schedule(problem):
    asked = Goal.of(scenario(iterations=20, cohort=3), "optimality_gap", None, 5)
    plan = Plan(4, 0.2, 3, ((4, 0.2), (3, 0.15), (1, 0.1)))
    assert Trials(problem, asked, Silent()).value(plan, 11) != Trials(problem, asked, Silent()).value((4, 0.2), 11)
    assert [plan.of_round(r) for r in (0, 2, 7)] == [(4, 0.2), (1, 0.1), (1, 0.1)]


# ---- on the way to a target ----


def test_a_run_costs_what_it_spent_when_it_is_first_there(problem):
    asked = Goal.of(scenario(cohort=3), "seconds", ("optimality_gap", 0.08), 5)
    setting = Setting(rounds=60, cohort=3, batch=5, local_steps=4, step_size=0.1)
    gaps = [
        problem.loss(state.model.double()) - problem.optimal_loss
        for state in rounds(problem.model, problem.federation, fedavg, setting, 7)
    ]
    first = next(i for i, gap in enumerate(gaps) if gap <= 0.08)
    assert first > 1
    assert Trials(problem, asked, Silent(), 80.0).value((4, 0.1), 7) == pytest.approx(first * (0.7 + 0.05 * 4))
    short = Trials(problem, asked, Silent(), (first - 0.5) * 0.9)
    assert short.value((4, 0.1), 7) == math.inf
    assert short.values(Plan(4, 0.1), [7]) == [short.limit]


def test_paired_costs_that_differ_alike_are_told_apart():
    best = np.array([3.0, 5.0, 4.0])
    assert _apart(best + 2, best)
    assert not _apart(best, best)
    assert not _apart(best + np.array([2.0, -3.0, 2.0]), best)


def test_plans_that_do_not_reach_the_target_are_told(problem):
    told = advise(
        scenario(cohort=3, step_size=1e-6), "seconds", to=("optimality_gap", 0.1), problem=problem, batch=5, measure=5
    )
    lost = [row for row in told.rows if row.measured is not None and row.measured.failed]
    assert lost
    assert all(row.measured.mean <= told.limit for row in lost)
    assert "seeds did not reach it" in str(told)
    assert told.best.measured.failed == 0
    assert json.loads(told.to_json())["limit"] == told.limit


def test_a_target_below_the_noise_is_not_trained_for(problem):
    told = advise(scenario(cohort=3), "rounds", to=("optimality_gap", 1e-12), problem=problem, batch=5, measure=5)
    assert not told.useful
    assert "no plan that was looked at reaches the target" in told.advice
    assert "nothing was trained" in dict(told.silent)["measured"]


# ---- without a twin ----


def test_without_a_twin_nothing_judges_but_training_does(problem):
    loose = replace(problem, model=replace(problem.model, regularisation=0.0))
    told = advise(scenario(cohort=3, rounds=6), "grad_norm_sq", problem=loose, batch=5)
    assert told.judged_by == ""
    assert "nothing judges it: the twin is taken at the minimiser of a linear model" in told.advice
    measured = advise(scenario(cohort=3, rounds=6), "grad_norm_sq", problem=loose, batch=5, measure=2)
    assert measured.judged_by == "measured"
    assert measured.best.kind == "measured"  # without a twin there are no schedules
    assert "on 2 fresh seeds" in measured.advice


def test_clients_that_weigh_differently_have_the_twin_of_all():
    uneven = task("softmax(iris, regularisation=0.07)").deal("dirichlet(0.5)", 4, 3, client_weight="samples")
    asked = Goal.of(Scenario.of(clients=4, cohort=4), "optimality_gap", None, 5, {"gradients": 600})
    twin = TwinAdvice(asked, runs(uneven, 4, 5))
    assert twin.best(ALL).cohort == 4
    assert math.isnan(twin.value(2, 0.1, 3))


# ---- worst cases ----


def test_the_worst_case_of_one_step_of_one_client_is_known():
    L, mu, gap = 1.7, 0.3, 1.5
    told = Scenario.of(clients=1, smoothness=L, strong_convexity=mu, initial_gap=gap, rounds=1,
                       step_size=2 / (L + mu), local_steps=1)  # fmt: skip
    point = worst_case(Goal.of(told, "optimality_gap", None, 5), (), 60, Silent())
    assert point.value == pytest.approx(gap * ((L - mu) / (L + mu)) ** 2, rel=1e-5)


def test_worst_cases_out_of_reach_are_told():
    long = Goal.of(scenario(rounds=40), "optimality_gap", None, 5)
    assert "at most 16 gradients" in worst_case(long, ("step_size", "local_steps"), 9, Silent())
    short = Goal.of(scenario(rounds=2), "optimality_gap", None, 5)
    assert "takes longer than its time" in worst_case(short, ("step_size", "local_steps"), 0.001, Silent())


L_, MU, AWAY = 1.7, 0.3, 1.3


def _shrinks(size, steps):
    """Gradient descent on the worst of the quadratics of these curvatures, which is the worst of the class."""
    return AWAY * max(abs(1 - size * L_), abs(1 - size * MU)) ** (2 * steps)


@pytest.mark.parametrize("more", [{"clients": 1, "iterations": 3}, {"clients": 5, "rounds": 3, "local_steps": 1}])
def test_the_advised_plan_is_the_best_of_the_class_and_its_worst_case_proved(more):
    """In the squared distance it is known: 2/(L + mu) is best, whatever clients and noise there are."""
    given = {"smoothness": L_, "strong_convexity": MU, "initial_distance_sq": AWAY, "gradient_variance": 0.7,
             "optimum_dissimilarity": 0.4, "cohort": more["clients"], **more}  # fmt: skip
    over = ("step_size",) if "local_steps" in more else ("local_steps", "step_size")
    found = worst_case(Goal.of(Scenario.of(given), "distance_sq", None, 5), over, 60, Silent())
    steps = found.point.local_steps * found.point.rounds
    assert steps == 3
    assert found.point.step_size == pytest.approx(2 / (L_ + MU), rel=0.05)
    known = _shrinks(found.point.step_size, steps)
    assert found.lower <= known <= found.upper < found.lower * (1 + 1e-4)
    assert found.point.step_size == float(f"{found.point.step_size:.3g}")  # what is shown is what was proved
    assert "strong_convexity" in found.notes[0]
    assert found.point.open == ()


def test_the_cheapest_plan_whose_worst_case_is_at_the_target():
    given = {"smoothness": L_, "strong_convexity": MU, "initial_distance_sq": AWAY, "optimum_dissimilarity": 0.4,
             "clients": 3, "cohort": 3, "local_steps": 1}  # fmt: skip
    level = 1.15 * _shrinks(2 / (L_ + MU), 4)
    needed = next(n for n in range(1, 9) if _shrinks(2 / (L_ + MU), n) <= level)
    asked = Goal.of(Scenario.of(given), "rounds", ("distance_sq", level), 5)
    found = worst_case(asked, ("step_size",), 60, Silent())
    assert (found.point.rounds, found.point.value) == (needed, needed) == (4, 4)
    assert found.upper <= level
    never = Goal.of(Scenario.of(given), "rounds", ("distance_sq", 1e-9), 5).within(Scenario.of(given, step_size=0.2))
    told = worst_case(never, (), 60, Silent())
    assert "reaches the target: the least is" in told
    assert f"{_shrinks(0.2, 16):.3g}, local_steps=1 rounds=16" in told


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"client_weight": [0.2, 0.5, 0.3]}, "clients of unlike weights"),
        ({"strong_convexity": 1.7}, "strong_convexity must be >= 0 and < smoothness 1.7; got 1.7"),
        ({"initial_distance_sq": None}, "it needs smoothness, and initial_gap, or initial_distance"),
        ({"optimum_dissimilarity": None, "local_steps": 2}, "the worst case is infinite"),
    ],
)
def test_who_has_no_worst_case_is_told_why(more, said):
    given = {"smoothness": L_, "strong_convexity": MU, "initial_distance_sq": AWAY, "optimum_dissimilarity": 0.4,
             "clients": 3, "cohort": 3, "rounds": 2, "local_steps": 1, **more}  # fmt: skip
    told = Scenario.of({word: number for word, number in given.items() if number is not None})
    assert said in worst_case(Goal.of(told, "grad_norm_sq", None, 5), ("step_size",), 30, Silent())


def test_the_worst_case_has_its_place_in_the_sentence_and_in_the_object():
    told = advise(scenario(rounds=2, cohort=6, local_steps=1), "distance_sq", ("step_size",), worst_case=30)
    assert "By the exact worst case, without noise and with all clients: local_steps=1 step_size=" in told.advice
    (row,) = (row for row in json.loads(told.to_json())["rows"] if row["kind"] == "worst case")
    about = row["worst_case"]
    assert about["lower"] <= row["says"] * (1 + 1e-9)
    assert 0 < about["upper"] / about["lower"] - 1 < 1e-4
    assert f"(proved: from {about['lower']:.9g} to {about['upper']:.9g})" in told.advice
    assert about["given"][:2] == ["smoothness", "strong_convexity"]
    (flat,) = (row for row in told.records() if row["kind"] == "worst case")
    assert (flat["worst_lower"], flat["worst_upper"]) == (about["lower"], about["upper"])


# ---- the verb ----


def test_the_verb_advises_on_a_cohort(tmp_path, capsys):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(SMALL))
    words = ["advise", "optimality_gap", f"@{path}", "--over", "local_steps,step_size,cohort"]
    assert fedbounds.main([*words, "runtime=60"]) == 2
    assert "more participants cost nothing here" in capsys.readouterr().err
    assert fedbounds.main([*words, "--within", "gradients=9e4"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("smallest optimality_gap within gradients = 90000, over local_steps, step_size, cohort")
    assert out.count("smallest optimality_gap") == 1


def test_one_round_of_all_clients_with_steps_that_leave_the_numbers():
    averaging = Averaging(random_quadratics(5, clients=3, dim=2, noise=0.4), 3)
    read = averaging.readings(4000, [1e-3, 40.0], 1)["optimality_gap"]
    assert np.isfinite(read[:, 0]).all()
    assert np.isfinite(read[0, 1])
    assert read[1, 1] == math.inf


def test_a_plan_that_ends_above_its_start_is_no_recommendation(problem):
    told = advise(scenario(cohort=3, rounds=3, step_size=900.0), over=["local_steps"], problem=problem, batch=5)
    assert not told.useful
    assert "no plan that was looked at ends below the start, 1.5" in told.advice


def test_a_step_size_that_a_theorem_fixes_is_that_of_the_rounds_that_reach_a_target():
    s = scenario(cohort=6, initial_gap=1.5, gradient_variance=0.02)
    goal = Goal.of(s, "seconds", ("grad_norm_sq", 0.9), 1)
    point = BoundAdvice(book(())["fedcog.corollary"], goal).best()
    assert point is not None
    assert point.step_size == pytest.approx(1 / math.sqrt(point.local_steps * point.rounds), rel=1e-9)
    assert point.value == pytest.approx(point.rounds * (0.7 + 0.05 * point.local_steps))


def test_theorems_advise_as_they_are_and_not_as_theorems_on_one_machine():
    asked, _ = speaking(Goal.of(scenario(cohort=6, rounds=5000), "grad_norm_sq", None, 1))
    assert {"fedcog.theorem_sharp", "fedinit.theorem_1_sharp"} <= asked.keys()
    assert "classics.bottou_4_8" not in asked
