"""Ties and conversions on federations of quadratics, whose words are all known exactly, and what is put into bounds.

Every tie and every conversion is checked in both directions: the one that is declared must hold on all instances, the
other one (or a factor that is off) must be caught on some.
"""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from comparing_toys import blurred, measured, outcomes, played, words
from loops import cases

from bounds import BOUNDS
from bounds.bounded_quantity import AFTER, BoundedQuantity, CONVERSIONS, routes, WEIGHTED
from bounds.identities import AT_LEAST, AT_MOST, EQUAL, IDENTITIES
from bounds.one_machine import one_machine, TARGETS
from bounds.places import AVERAGE, SERVER, VIRTUAL
from bounds.scenario import Scenario
from empirics.algorithms import algorithm
from empirics.exact import exact_run
from empirics.problems.quadratics import Quadratics, random_quadratics
from empirics.training.setting import Setting
from paper_checks.comparing import compare
from paper_checks.comparing.rows import RANKED
from paper_checks.runs import schedules

CLOSE = 1e-9
SEEDS = range(24)


def sides(tie, known):
    """Both sides of a tie: lists over clients in full."""
    return np.asarray(known[tie.left.name], dtype=float), np.asarray(
        tie.value(*(np.asarray(known[w], dtype=float) for w in tie.needs))
    )


def holds(relation, left, right, slack=CLOSE):
    room = slack * (np.abs(left) + np.abs(right))
    return bool(np.all({EQUAL: np.abs(left - right) <= room, AT_MOST: left <= right + room,
                        AT_LEAST: left >= right - room}[relation]))  # fmt: skip


SAID = [tie for tie in IDENTITIES if tie.relation in (EQUAL, AT_MOST, AT_LEAST)]


@cases("tie", SAID)
def test_a_tie_holds_and_the_other_direction_does_not(tie):
    known = [known_of(seed) for seed in SEEDS]
    if tie.left.name == "control_error":  # where all weigh the same, as they do there, both sides are one
        known = [unlike_weights(seed) for seed in SEEDS]
    seen = [sides(tie, one) for one in known]
    if tie.left.name == "final_divergence":
        seen = [(left, np.zeros(())) for left, _ in seen]
    assert all(holds(tie.relation, *pair) for pair in seen)
    if tie.relation == EQUAL:
        wrong = [(left, right * (1 + 1e-6)) for left, right in seen]
        assert not any(holds(EQUAL, left, right) for left, right in wrong if np.any(right))
    else:
        other = AT_MOST if tie.relation == AT_LEAST else AT_LEAST
        assert not all(holds(other, *pair) for pair in seen)


@cache
def known_of(seed):
    return {**words(*played(seed)), **outcomes(*played(seed)[:2], seed)}


def unlike_weights(seed):
    """Clients that weigh differently: their controls begin at zero and are averaged evenly."""
    problem = random_quadratics(seed, 4, 2)
    weights = np.random.default_rng(seed).dirichlet(np.ones(4))
    problem = replace(problem, weights=weights)
    error = (problem.client_gradients(problem.minimiser) ** 2).sum(-1).mean()
    return {"control_error": error, "optimum_dissimilarity": problem.optimum_dissimilarity, "client_weight": weights,
            "clients": 4}  # fmt: skip


def weighing(row):
    """The weights of a row's class, in numbers."""
    return schedules.weights(BOUNDS[row.bound].statistic, row.values) if row.quantity.weights else None


PLACES = [
    *((kind, "rounds", SERVER) for kind in ("min", "mean", "last", "expectation")),
    *((kind, "iterations", VIRTUAL) for kind in ("min", "mean", WEIGHTED, "expectation")),
    ("mean", AFTER, VIRTUAL),
]
STARTS = [
    BoundedQuantity(target, kind, over, at, "fedavg", "intended")
    for target in ("grad_norm_sq", "optimality_gap", "distance_sq")
    for kind, over, at in PLACES
    if kind not in (WEIGHTED, "expectation") or target == "grad_norm_sq"
]
MOVES = [
    (start, c) for start in STARTS for c in CONVERSIONS if c.name not in ("C9", "C12", "C13", "C14") and c.fits(start)
]
EQUALITIES = {("C3", WEIGHTED), ("C2", "expectation")}


def scenario(problem, plan, run, leave=()):
    known = {w: v for w, v in words(problem, plan, run).items() if w not in ("runtime", "lipschitz", *leave)}
    return Scenario.of({**known, "_provenance": dict.fromkeys(known, "proved")})


@cases("start move", MOVES)
def test_a_conversion_holds_and_the_other_direction_does_not(start, move):
    smaller = []
    for seed in SEEDS:
        _, plan, run = played(seed, start.over == AFTER)
        s = exactly(seed, start.over == AFTER)
        assert not move.refusal(start, s)
        there = measured(move.apply(start), run, plan["step_size"])
        bound = move.at(s) * measured(start, run, plan["step_size"])
        assert there <= bound * (1 + CLOSE)
        smaller.append(there < bound * (1 - 1e-6))
    if (move.name, start.statistic) in EQUALITIES:
        assert not any(smaller)  # an identity: any smaller factor is wrong
    elif (move.name, start.statistic) != ("C2", "last"):  # in these runs the last model is the best one
        assert any(smaller)  # so the way back does not hold


@cache
def exactly(seed, full):
    return scenario(*played(seed, full))


def test_means_before_and_after_the_steps_bound_neither_each_other_nor_what_is_made_of_the_other():
    """By exact runs: noisy ones from near the minimiser climb, those from afar descend."""
    before = BoundedQuantity("optimality_gap", "mean", "iterations", VIRTUAL, "fedavg", "intended")
    after = replace(before, over=AFTER)
    averaged = replace(before, statistic="expectation", at=AVERAGE)
    seen = set()
    for seed, near in product(SEEDS[:8], (False, True)):
        problem, plan, run = played(seed, True, steps=2 + seed % 3)
        if near:
            law = np.random.default_rng([seed, 3])
            problem = replace(problem, start=problem.minimiser + 0.01 * law.standard_normal(2))
            run = exact_run(problem, algorithm("fedavg()"), Setting(**plan))
        s = scenario(problem, plan, run, ("participation",))
        gaps, T = run.iterations("optimality_gap"), plan["local_steps"] * plan["rounds"]
        one, other = (measured(kind, run, plan["step_size"]) for kind in (before, after))
        assert one - other == pytest.approx((gaps[0] - gaps[-1]) / T, rel=1e-6, abs=1e-12)
        reached = {kind: {way.to: way.factor for way in routes(kind, s)[0]} for kind in (before, after)}
        assert after not in reached[before]
        assert not {before, averaged} & reached[after].keys()
        assert averaged in reached[before]
        least, last = replace(before, statistic="min"), replace(before, statistic="last", over="rounds", at=SERVER)
        assert measured(least, run, 0) <= other * (1 + CLOSE)
        assert measured(last, run, 0) <= other * T * (1 + CLOSE)
        assert last not in reached[after]
        assert least in reached[after]
        seen |= {("after below before", other < one * 0.99), ("before below after", one < other * 0.99),
                 ("averaged above after", run.average_gap() > other * 1.01),
                 ("last above after", gaps[-1] > other * 1.01)}  # fmt: skip
        part = s.at(cohort=1)
        assert {(way.to.statistic, way.to.over) for way in routes(after, part)[0]} == {("mean", AFTER)}
    assert {what for what, found in seen if found} == {what for what, _ in seen}  # each wrong direction is caught


@cases("name", ("C13", "C14"))
def test_a_class_has_another_name_where_all_take_part_and_is_another_one_elsewhere(name):
    """After a round the average of all clients is the server's model; with single local steps there is no other."""
    move = next(c for c in CONVERSIONS if c.name == name and c.source["at"] == VIRTUAL)
    start = BoundedQuantity("grad_norm_sq", "last", "iterations", VIRTUAL, "fedavg", "intended")
    elsewhere = []
    for seed, full, steps in product(SEEDS[:8], (True, False), (1, 3)):
        problem, plan, run = played(seed, full, steps=steps)
        allowed = not move.refusal(start, scenario(problem, plan, run))
        assert allowed == (plan["cohort"] == problem.clients and (name == "C13" or steps == 1))
        if name == "C14":
            there, here = run.iterations("grad_norm_sq")[:-1].sum(), run.server["grad_norm_sq"][:-1].sum()
        else:
            models = np.tile(problem.start, (problem.clients, 1))
            for _ in range(steps):
                pulls = [A @ (w - b) for A, w, b in zip(problem.curvatures, models, problem.minima, strict=True)]
                models = models - plan["step_size"] * np.array(pulls)
            there, here = models.mean(0), models[: plan["cohort"]].mean(0)
        if allowed:
            assert there == pytest.approx(here, rel=CLOSE)
        else:
            elsewhere.append(there != pytest.approx(here, rel=1e-6))
    assert np.mean(elsewhere) > 0.5


def test_rounds_of_one_step_by_all_clients_are_steps_of_one_machine():
    """Every moment of the server's model is that of a single client with the mean loss and the noise of the mean."""
    for seed in SEEDS[:8]:
        problem, plan, run = played(seed, True, steps=1)
        known = {w: v for w, v in words(problem, plan, run).items() if w not in ("runtime", "lipschitz")}
        machine, trusted = one_machine(Scenario.of(known))
        noise = (problem.weights**2 @ problem.noise.reshape(problem.clients, -1)).reshape(1, 2, 2)
        alone = Quadratics(
            problem.curvature[None], problem.minimiser[None], floors=np.array([problem.optimal_loss]), noise=noise,
            start=problem.start,
        )  # fmt: skip
        there = exact_run(alone, algorithm("fedavg()"), Setting(**{**plan, "cohort": 1}))
        for target in TARGETS:
            assert there.server[target] == pytest.approx(run.server[target], rel=1e-7)
        assert machine["gradient_variance"].value == pytest.approx(np.trace(noise[0]), rel=CLOSE)
        assert len(trusted) == 1  # that the noise is independent
        assert machine["optimum_dissimilarity"].value == 0 == machine["uniform_dissimilarity"].value
    for seed in SEEDS[:8]:
        for full, steps in ((True, 2), (False, 1)):
            problem, plan, run = played(seed, full, steps=steps)
            everyone = plan["cohort"] == problem.clients
            assert (one_machine(scenario(problem, plan, run)) is None) == (not everyone or steps != 1)


def test_no_theorem_on_one_machine_is_below_the_exact_number_of_the_federation():
    looked = set()
    for seed in SEEDS[:2]:
        problem, plan, run = played(seed, True, short=0.3, steps=1)
        s = blurred(problem, plan, run, (), np.random.default_rng([seed, 9]))
        for target in TARGETS:
            for row in compare(target, s).rows:
                if row.state in RANKED and "C15" in row.conversions and not row.refuted and row.quantity.at != AVERAGE:
                    true = measured(row.quantity, run, plan["step_size"], weighing(row))
                    assert true * (1 - CLOSE) <= row.high, row.bound
                    looked.add(row.bound)
    assert {"classics.bottou_4_6", "classics.bottou_4_8", "classics.local_sgd_theorem_1"} <= looked


KNOWN = dict(
    clients=3, cohort=3, local_steps=1, rounds=40, step_size=0.004, smoothness=1.3, strong_convexity=0.2,
    gradient_variance=0.003, initial_gap=1.1, initial_distance_sq=2.3, optimum_dissimilarity=0.17,
)  # fmt: skip
SCAFFOLD = BOUNDS["classics.scaffold_convex"]


def test_scaffold_is_fedavg_where_the_conversion_says_so():
    def converted(**changed):
        reached, _ = routes(BoundedQuantity.of(SCAFFOLD), Scenario.of(**{**KNOWN, **changed}))
        return {way.to.algorithm for way in reached}

    for steps, clients, cohort, same in ((1, 3, 3, True), (2, 3, 3, False), (4, 1, 1, True), (1, 3, 2, False)):
        problem = random_quadratics(6, clients, 2, noise=0.3 if cohort == clients else 0.0)
        setting = Setting(3, cohort, local_steps=steps, step_size=0.2)
        gaps = [
            exact_run(problem, algorithm(who), setting).server["optimality_gap"] for who in ("scaffold()", "fedavg()")
        ]
        assert np.allclose(*gaps, rtol=1e-11 if cohort == clients else 1e-3) is same
        assert ("fedavg" in converted(local_steps=steps, clients=clients, cohort=cohort)) is same
    for changed in ({"client_weight": [0.2, 0.3, 0.5]}, {"server_step_size": 1.5}, {"sampling": "with_replacement"}):
        assert converted(**changed) == {"scaffold"}
