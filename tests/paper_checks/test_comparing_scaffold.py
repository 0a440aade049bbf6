"""SCAFFOLD's theorems beside each other, and beside FedAvg's where controls cancel; when the first controls' error
follows."""

import numpy as np
import pytest

from bounds.catalog import get
from bounds.classes import ClassOf, ways
from bounds.errors import BoundsError
from bounds.scenario import Scenario
from empirics.algorithms import algorithm
from empirics.exact import ExactRun
from empirics.problems.quadratics import random_quadratics
from empirics.training.setting import Setting
from paper_checks.comparing import compare
from paper_checks.comparing.compare_rows import EXACT

KNOWN = dict(
    clients=3, cohort=3, local_steps=1, rounds=40, step_size=0.004, smoothness=1.3, strong_convexity=0.2,
    gradient_variance=0.003, initial_gap=1.1, initial_distance_sq=2.3, optimum_dissimilarity=0.17,
)  # fmt: skip
CONVEX = ClassOf.of(get("classics.scaffold_convex"))


def methods(**changed):
    """The methods whose classes the convex theorem reaches, and why no others."""
    reached, refused = ways(CONVEX, Scenario.of(**{**KNOWN, **changed}))
    return {way.to.algorithm for way in reached}, " ".join(refused)


# ---- the first controls ----


def test_the_error_of_controls_that_begin_at_zero_follows_for_any_weights_and_is_exact_for_equal_ones():
    draws = np.random.default_rng(5)
    for _ in range(60):
        clients = int(draws.integers(1, 6))
        weights = draws.dirichlet(np.full(clients, 0.7))
        squares = draws.exponential(size=clients) ** 3
        error, at_best = squares.mean(), float(weights @ squares)
        made = Scenario.of(clients=clients, client_weight=weights.tolist(), optimum_dissimilarity=at_best)
        assert error <= made["control_error"].safe * (1 + 1e-9)
        alike = Scenario.of(clients=clients, optimum_dissimilarity=error)
        assert alike["control_error"].safe == pytest.approx(error, rel=1e-12)
    lightest = Scenario.of(clients=2, client_weight=[0.2, 0.8], optimum_dissimilarity=0.2 * 3.1)  # the lighter has all
    assert lightest["control_error"].safe == pytest.approx(3.1 / 2, rel=1e-12)
    assert lightest["control_error"].safe > 1.3 * 0.62  # so that without the weights the tie would be wrong


def test_other_first_controls_are_typed_and_no_error_follows_where_clients_may_differ():
    assert Scenario.of(**KNOWN, control_error=4.1)["control_error"].value == 4.1
    assert "control_error" in Scenario.of(clients=3, cohort=3).missing(get("classics.scaffold_convex"))


# ---- where controls cancel ----


@pytest.mark.parametrize(("steps", "clients", "same"), [(1, 3, True), (2, 3, False), (4, 1, True)])
def test_scaffold_is_fedavg_where_the_conversion_says_so(steps, clients, same):
    problem = random_quadratics(6, clients, 2, noise=0.3)
    setting = Setting(3, clients, local_steps=steps, step_size=0.2)
    gaps = [
        ExactRun(problem, algorithm(who), setting).run().server["optimality_gap"] for who in ("scaffold()", "fedavg()")
    ]
    assert np.allclose(*gaps, rtol=1e-11) is same
    found, why = methods(local_steps=steps, clients=clients, cohort=clients)
    assert ("fedavg" in found) is same
    assert same or "one local step a round" in why


@pytest.mark.parametrize(
    "changed",
    [{"cohort": 2}, {"client_weight": [0.2, 0.3, 0.5]}, {"server_step_size": 1.5}, {"sampling": "with_replacement"}],
)
def test_it_is_not_where_some_rest_weigh_differently_or_the_server_goes_further(changed):
    assert methods(**changed)[0] == {"scaffold"}


def test_resting_clients_make_another_run_indeed():
    problem, plan = random_quadratics(6, 3, 2), Setting(3, 2, local_steps=1, step_size=0.2)
    first, second = (ExactRun(problem, algorithm(who), plan).run() for who in ("scaffold()", "fedavg()"))
    assert not np.allclose(first.server["optimality_gap"], second.server["optimality_gap"], rtol=1e-3)


# ---- a federation that runs it ----


def test_a_federation_that_runs_scaffold_is_ranked_and_held_exactly():
    plan = {**KNOWN, "local_steps": 2, "cohort": 2, "rounds": 9}
    found = compare(Scenario.of(**plan, algorithm="scaffold"), "optimality_gap", exact=True)
    rows = {row.bound: row for row in found.rows if row.bound.startswith("classics.scaffold") and row.conversions == ()}
    assert set(rows) == {"classics.scaffold_convex", "classics.scaffold_strongly_convex"}
    low = rows["classics.scaffold_convex"]
    h = 2 * 0.004
    expected = 2.3 / (h * 9) + 9 * 3 * h * 0.17 / (2 * 9) + 12 * h * 0.003 / (2 * 2) * (1 + 2)
    assert low.high == pytest.approx(expected, rel=1e-12)
    assert 0 < low.evidence[EXACT].value < low.high
    assert not any(row.kind.algorithm == "fedavg" and row.state == "speaks" for row in found.rows)


def test_methods_that_nobody_knows_and_two_at_once_are_refused():
    with pytest.raises(BoundsError, match=r"^algorithm must be fedavg or scaffold; got fedprox$"):
        Scenario.of(**KNOWN, algorithm="fedprox")
    with pytest.raises(BoundsError, match="algorithm is given as fedavg and as scaffold"):
        Scenario.of("algorithm=scaffold", algorithm="fedavg", **KNOWN)
    both = Scenario.of(**KNOWN, algorithm="scaffold")
    assert both.at(relaxation=0.1).algorithm == "scaffold with fedinit"
    assert both.at(local_steps=3).algorithm == "scaffold"
    assert both != Scenario.of(**KNOWN)
