"""The families' computations in floats and in exact numbers, and against the training engine's own moments."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from loops import cases
from tools.planted import LOOSE, TIGHT

from bounds.catalog import get
from empirics.problems.quadratics import Quadratics
from paper_checks.falsifier import quadratic_tables as tables
from paper_checks.falsifier.deciding import largest
from paper_checks.falsifier.falsify import FAMILIES
from paper_checks.falsifier.quadratics import _finite
from paper_checks.falsifier.simplify import simpler

TABLE = {
    "clients": 3, "dim": 2, "cohort": 2, "with_replacement": 0, "local_steps": 3, "rounds": 2, "floor": 0.7,
    "step_size": 0.13, "relaxation": 0.06, "start_0": 1.3, "start_1": -0.4,
    **{f"curvature_{k}_{i}": [0.9, 0.31, 1.7, 0.23, 0.57, 1.1][2 * k + i] for k in range(3) for i in range(2)},
    **{f"minimum_{k}_{i}": [0.3, -1.1, 0.8, 0.45, -0.6, 0.2][2 * k + i] for k in range(3) for i in range(2)},
    **{f"turn_{k}": [0.21, -0.4, 0.7][k] for k in range(3)},
    **{f"noise_{k}": [0.5, 0.11, 0.83][k] for k in range(3)},
    **{f"weight_{k}": 1 for k in range(3)},
}  # fmt: skip
"""Nothing zero or equal, but for the weights, which a plain mean over clients asks for."""


def test_a_rational_table_stays_rational():
    """Without a turn, with a whole one, and in units in which a whole number is 1."""
    exact = {name: Fraction(3, 7) if isinstance(value, float) else value for name, value in TABLE.items()}
    exact |= {"curvature_0_0": 5, "curvature_0_1": 2, "curvature_1_0": 3, "curvature_1_1": 1, "dim": 2}
    plain = {name: value for name, value in exact.items() if not name.startswith("turn_")}
    for turned, first in ((plain, [[5, 0], [0, 2]]), ({**plain, "turn_0": 3}, None)):
        matrix = tables.curvature(turned, 0)
        assert all(isinstance(x, int | Fraction) for row in matrix for x in row)
        assert matrix[0][0] + matrix[1][1] == 7
        assert matrix[0][0] * matrix[1][1] - matrix[0][1] * matrix[1][0] == 10
        assert first is None or matrix == first
    assert tables.curvature({**plain, "turn_0": 3}, 0)[0][0] == Fraction(5 * 64 + 2 * 36, 100)
    tried = [table for table in simpler(plain) if table["curvature_1_0"] == Fraction(3, 5)]
    assert tried
    assert not [name for table in simpler(plain) for name, x in table.items() if isinstance(x, float)]


LONE = {
    **TABLE, "clients": 1, "dim": 1, "cohort": 1, "local_steps": 1, "rounds": 1, "noise_0": 0, "relaxation": 0.0,
}  # fmt: skip


@cases("step_size kept", [(0.13, 10**6), (3.1, int(350 / np.log((1 - 3.1 * 0.9) ** 2)))])
def test_a_run_ends_before_what_grows_leaves_the_finite_numbers(step_size, kept):
    """By hand: a step takes the squared distance times (1 - 0.9 step_size)^2; e^350 is the most it may grow by."""
    table = {**LONE, "rounds": 10**6, "step_size": step_size}
    assert _finite(get("decaying_k.lemma_1"), table, tables.problem(table)) == {**table, "rounds": kept}


SERVED = {
    "quadratics": ["decaying_k.lemma_1", "decaying_k.theorem_1", "fedinit.theorem_1", "fedinit.lemma_4_recursion",
                   "fedinit.theorem_4", "fedcog.descent", "fedcog.mean_update", "step_length", "contraction"],
    "curves": ["gradient_by_gap", "drift_of_two_steps", "fedcog.theorem", "fedinit.lemma_2",
               "fedcog.gradient_drift", "mean_gradient"],
    "atoms": ["fedals.one_round", "fedals.one_round_inexact", "fedals.participation_case2",
              "fedals.participation_gap_quadratic", "fedals.gaussian_mean_non_iidness"],
}  # fmt: skip
PAIRS = [(family, name) for family, names in SERVED.items() for name in names]


SIZES = {"local_steps": 4.0, "rounds": 3.0, "spread": 1.0, "start": 1.0, "noise": 1.0}


def statement(name):
    return {**TIGHT, **LOOSE}.get(name) or get(name)


@cases("family name", PAIRS)
def test_plain_exact_arithmetic_says_the_same_as_the_fast_computation(family, name):
    """Both sides in floats, and again in exact numbers."""
    bound, chosen = statement(name), FAMILIES[family]
    assert chosen.refuses(bound) == ""
    box, draws = chosen.box(bound), np.random.default_rng(7)
    compared = 0
    for _ in range(80):
        point = box.point(box.draw(draws.random(len(box)), draws))
        point.update({n: min(point[n], most) for n, most in SIZES.items() if n in point})
        table = chosen.instance(bound, point)
        if "step_size" in table:
            table["step_size"] *= 0.7  # away from the edge, where a bound may blow up
        if "dissimilarity_factor" in table:
            table["dissimilarity_factor"] *= 1.001  # at the least one rounding decides whether an offset is finite
        fast = chosen.evaluate(bound, table)
        if not fast.admissible or fast.score < -12 or fast.bound == 0:
            continue
        slow = chosen.exactly(bound, {n: v if isinstance(v, int) else Fraction(v) for n, v in table.items()})
        assert slow.failed == ()
        # The ratio, as entries that do equally badly may stand in for one another.
        assert slow.ratio == pytest.approx(fast.ratio, rel=1e-5)
        compared += 1
        if compared == 2:
            break
    assert compared == 2


def test_the_largest_step_size_is_the_cap_of_the_conditions():
    bound = get("decaying_k.lemma_1")
    found = largest(bound, {"smoothness": 2.5, "clients": 3.0, "cohort": 2.0}, "step_size", 10.0)
    assert found == pytest.approx(1 / 10, rel=1e-9)
    assert found < 1 / 10
    assert largest(bound, {}, "relaxation", 0.1) == 0.1  # no condition speaks of it


def test_constants_in_two_dimensions_are_those_of_the_problem():
    exact = {n: v if isinstance(v, int) else Fraction(str(v)) for n, v in TABLE.items()}
    table = {**exact, "dissimilarity_factor": Fraction(9)}
    known, problem = tables.constants(table), tables.problem(TABLE)
    straight = {name: value for name, value in TABLE.items() if name != "turn_1"}
    assert tables.curvature(straight, 1) == [[1.7, 0], [0, 0.23]]
    assert isinstance(problem, Quadratics)
    for name in ("smoothness", "strong_convexity", "pl_constant", "heterogeneity", "optimal_loss"):
        assert float(known[name]) == pytest.approx(getattr(problem, name), rel=1e-10), name
    assert float(known["dissimilarity_offset"]) == pytest.approx(problem.dissimilarity_offset_for(9.0), rel=1e-9)
    assert known["initial_gap"] == known["initial_loss"] - known["optimal_loss"]
    tight = {**exact, "dissimilarity_factor": Fraction(101, 100)}
    assert float(tables.constants(tight)["dissimilarity_offset"]) == float("inf")
    assert problem.dissimilarity_offset_for(1.01) == float("inf")


@cases("name", ["descent", "descent_with_drift", "descent_one_round"])
@cases("start", [Fraction(0), Fraction(1, 10**63)])
def test_a_run_that_starts_at_the_minimum_breaks_nothing(name, start):
    """Both sides vanish, or nearly: what rounding makes of them is no violation, however it falls."""
    table = {"clients": 1, "cohort": 1, "with_replacement": 0, "local_steps": 2, "rounds": 3, "shape": 3,
             "relaxation": Fraction(0), "floor": Fraction(0), "bowl": Fraction(1, 3), "height": Fraction(1),
             "start": start, "step_size": Fraction(1, 10), "tilt_0": Fraction(0), "weight_0": Fraction(1),
             "dissimilarity_factor": Fraction(1)}  # fmt: skip
    bound, curves = get(f"fedcog.{name}"), FAMILIES["curves"]
    fast = curves.evaluate(bound, {n: v if isinstance(v, int) else float(v) for n, v in table.items()})
    slow = curves.exactly(bound, table)
    assert fast.admissible
    assert slow.failed == ()
    assert not fast.violated
    assert not slow.violated
    rounding = sp.Float("1e-125", 50)
    assert not replace(slow, measured=rounding, bound=sp.S.Zero).violated
    assert replace(slow, measured=rounding, bound=sp.S.Zero, grain=0.0).violated  # if it were exact
    assert replace(slow, measured=sp.Float("1e-30", 50), bound=sp.S.Zero).violated
