"""The contract can fail: bounds with one planted error each, and the test that must see it."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
import test_every_bound as contract
from loops import each

from bounds import BOUNDS, Condition
from bounds.core import MIXED
from bounds.points import POINTS
from bounds.vocabulary import local_gap as Delta, non_iidness as delta, smoothness as L, strong_convexity as mu

SOUND = BOUNDS["fedals.one_round"]
POINT = POINTS[SOUND.name]
LOCAL, DRIFT = SOUND.terms["local generalization"], SOUND.terms["non-iidness"]


def broken(**changes):
    return replace(SOUND, **changes)


def with_terms(local=LOCAL, drift=DRIFT, **changes):
    return broken(terms={"local generalization": local, "non-iidness": drift}, **changes)


def rng():
    return np.random.default_rng(3)


@pytest.mark.parametrize(
    "planted",
    [
        with_terms(drift=DRIFT / sp.sqrt(mu)),  # sqrt(L)/mu for sqrt(L/mu)
        with_terms(local=LOCAL / mu),
        with_terms(local=LOCAL + L),
        broken(off_by={"non-iidness": MIXED}),
    ],
    ids=["lost root", "curvature twice", "added units", "declared mixed but is not"],
)
def test_units_are_seen(planted):
    with pytest.raises(AssertionError, match="carries"):
        contract.test_every_term_carries_the_unit_of_the_target.one(planted, POINT)


@pytest.mark.parametrize("planted", [with_terms(drift=2 * DRIFT), with_terms(local=LOCAL * sp.sqrt(L / mu))])
def test_a_wrong_factor_differs_from_the_slow_twin(planted):
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        contract.test_it_equals_its_slow_twin.one(planted, POINT)


def test_a_negative_term_is_seen_and_so_is_a_needless_sign():
    with pytest.raises(AssertionError, match="'non-iidness' is negative"):
        contract.test_its_terms_are_nonnegative_where_it_holds_unless_signed.one(with_terms(drift=-DRIFT), POINT, rng())
    with pytest.raises(AssertionError, match="was never negative"):
        contract.test_its_terms_are_nonnegative_where_it_holds_unless_signed.one(
            broken(signed=("non-iidness",)), POINT, rng()
        )


def test_a_condition_that_always_holds_is_seen():
    empty = broken(conditions=(*SOUND.conditions, Condition("always", sp.Le(mu, 2 * L))))
    with pytest.raises(AssertionError, match="is it a condition"):
        contract.test_every_numeric_condition_can_fail.one(empty, POINT)


def test_shared_letters_and_unreadable_formulas_are_seen():
    with pytest.raises(AssertionError):
        contract.test_no_two_quantities_share_a_letter.one(broken(letters={Delta: "x_k", delta: "x_k"}))
    with pytest.raises(ValueError, match=r"Unknown symbol|Parse\w*Exception"):
        contract.test_its_formula_renders.one(broken(letters={Delta: r"\nonsense{x}"}))


@pytest.mark.parametrize("numbers", [{"smoothness": 1}, {"smoothness": 3.7, "strong_convexity": 3.7}])
def test_a_point_with_ones_or_equal_numbers_is_seen(numbers):
    with pytest.raises(AssertionError):
        contract.test_its_point_is_generic.one(SOUND, {**POINT, **numbers})


def test_a_loop_reports_every_failure_by_name():
    checked = each(["a", "b", "c"], lambda name: {"name": name, "unused": 1})(lambda name: 1 / (name == "b"))
    with pytest.raises(AssertionError, match=r"2 fail:\na: ZeroDivisionError.*\nc: ZeroDivisionError"):
        checked()
    checked.one(name="b")
