"""SCAFFOLD in the falsifier: its controls in closed form and in fractions, true theorems and planted false ones."""

from dataclasses import replace

import sympy as sp
from loops import cases
from tools.planted import shortened

from bounds.assumptions import FIXED_STEP_SIZE, HARMONIC_STEP_SIZE
from bounds.catalog import get
from bounds.core import Condition
from bounds.operators import ClientSum
from bounds.vocabulary import average_gap, client_weight, global_step, grad_norm_sq, next_divergence, step_offset
from paper_checks.falsifier import falsify
from paper_checks.falsifier.falsify import FAMILIES
from paper_checks.runs.obstacles import obstacle
from paper_checks.runs.origins import CURVES, QUADRATICS

CONVEX, STRONG = get("classics.scaffold_convex"), get("classics.scaffold_strongly_convex")
TABLE = {
    "clients": 4, "kinds": 2, "count_0": 3, "count_1": 1, "cohort": 2, "with_replacement": 0, "local_steps": 3,
    "rounds": 3, "step_size": 0.2, "floor": 0.0, "relaxation": 0.0, "dim": 2, "start_0": 1.5, "start_1": -0.5,
    "curvature_0_0": 1.2, "curvature_0_1": 0.4, "curvature_1_0": 0.7, "curvature_1_1": 1.9, "turn_0": 0.25,
    "turn_1": -0.5, "minimum_0_0": 0.6, "minimum_0_1": -1.1, "minimum_1_0": -0.7, "minimum_1_1": 0.9, "noise_0": 0.3,
    "noise_1": 0.5, "weight_0": 1.0, "weight_1": 1.0,
}  # fmt: skip


@cases("bound lost", [(CONVEX, "controls"), (STRONG, "noise")])
def test_the_theorems_stand_and_what_is_left_of_them_is_refuted(bound, lost):
    assert falsify(bound, evaluations=60).witness is None
    low = replace(bound, name="own.low", terms={n: sp.Rational(1, 30) * x for n, x in bound.terms.items()})
    for planted in (low, shortened(bound, lost)):
        search = falsify(replace(planted, name="own.planted"), evaluations=300)
        assert search.witness.ratio > 1
        assert FAMILIES["quadratics"].exactly(planted, search.witness.instance).violated


def test_what_searched_runs_of_it_do_not_have_is_the_reason():
    falls = tuple(
        Condition.assume(HARMONIC_STEP_SIZE) if c.assumption is FIXED_STEP_SIZE else c for c in CONVEX.conditions
    )
    late = {**CONVEX.terms, "late": step_offset * grad_norm_sq}
    assert "constant step sizes" in obstacle(replace(CONVEX, conditions=falls, terms=late), QUADRATICS)
    for target in (global_step, next_divergence):
        assert target.name in obstacle(replace(CONVEX, target=target), QUADRATICS)
    assert obstacle(replace(CONVEX, target=average_gap), QUADRATICS)
    assert obstacle(CONVEX, CURVES)


def test_controls_ask_for_clients_that_weigh_alike_and_are_drawn_once():
    weighted = replace(CONVEX, terms={**CONVEX.terms, "w": ClientSum(client_weight**2)})
    family = FAMILIES["quadratics"]
    assert family.impossible(CONVEX, {**TABLE, "with_replacement": 1})
    assert family.impossible(weighted, {**TABLE, "weight_0": 0.3})
    assert not family.impossible(CONVEX, TABLE)
