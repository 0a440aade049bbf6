"""Units of ties, of conversions and of what is known without a theorem."""

import sympy as sp

from bounds.bounded_quantity import CONVERSIONS, WEIGHTED
from bounds.dimensions import unit_of
from bounds.identities import IDENTITIES
from bounds.scenario_values import QUANTITIES, ROLES
from bounds.trivial_bounds import START_VALUES, TRIVIAL

COUNTED = ("model_size", "complexity")
"""Numbers of parameters turned into megabits, or standing in for another number."""
PLAIN = [
    t for t in IDENTITIES if t.needs and not t.right.atoms(sp.core.function.AppliedUndef) and t.left.name not in COUNTED
]


def test_both_sides_of_a_tie_have_one_unit():
    assert not [str(tie) for tie in PLAIN if unit_of(tie.right) != tie.left.card.unit]


def test_a_factor_turns_the_unit_of_one_target_into_that_of_the_other():
    for conversion in CONVERSIONS:
        before = {"target": "grad_norm_sq", **conversion.source}
        word, result = (
            QUANTITIES["weighted_grad_norm_sq" if found.get("statistic") == WEIGHTED else found["target"]]
            for found in (before, {**before, **conversion.result})
        )
        assert unit_of(conversion.factor * word) == result.card.unit, conversion.name


def test_what_is_known_anyway_has_the_unit_of_its_target():
    for target, known in TRIVIAL.items():
        wanted = QUANTITIES[target].card.unit
        assert all(unit_of(one.expression) == wanted for one in known), target
        assert target not in START_VALUES or QUANTITIES[START_VALUES[target]].card.unit == wanted
    assert set(ROLES) <= set(QUANTITIES)
