"""Arguments: every mistake is refused in one line that names quantity, rule and value; extremes are announced."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, strategies as st

from bounds import Bound, ClientMean, Condition, quantity, Source
from bounds.catalog import get
from bounds.domains import REAL
from bounds.errors import (
    BoundsError,
    DomainError,
    MissingQuantityError,
    OutsideConditionsWarning,
    SignWarning,
    TermOverflowWarning,
    UndefinedValueWarning,
    UnknownNameError,
)
from bounds.numerics.at_point import at_point
from bounds.vocabulary import (
    client_weight as w,
    generalization_gap,
    local_gap as Delta,
    local_steps as K,
    smoothness as L,
    strong_convexity as mu,
)

BOUND = Bound(
    name="own.bound",
    target=generalization_gap,
    terms={"spread": L / mu * ClientMean(w * Delta), "power": L**3 * K**2},
    source=Source("own notes", "line 3"),
    conditions=(Condition("few steps", sp.Le(K, 50)),),
)
VALUES = {
    "smoothness": 2.7,
    "strong_convexity": 0.3,
    "client_weight": [0.21, 0.34, 0.45],
    "local_gap": [0.051, 0.023, 0.087],
    "local_steps": 13,
}


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"smoothness": -1.3}, "smoothness must be > 0; got -1.3"),
        ({"smoothness": 0}, "smoothness must be > 0; got 0"),
        ({"smoothness": "three"}, "smoothness must be a number or a rectangular list of numbers; got 'three'"),
        ({"smoothness": float("nan")}, "smoothness must be a number; got NaN"),
        ({"smoothness": float("inf")}, "smoothness must be finite; got inf"),
        ({"smoothness": []}, "smoothness must hold at least one number; got an empty list"),
        ({"smoothness": [[1.2, 3.4], [5.6]]}, "smoothness must be a number or a rectangular list of numbers; got "),
        ({"smoothness": 1.2 + 3.4j}, "smoothness must be a number or a rectangular list of numbers; got (1.2+3.4j)"),
        ({"smoothness": None}, "smoothness must be a number"),
        ({"local_steps": 2.5}, "local_steps must be a whole number >= 1; got 2.5"),
        ({"strong_convexity": 3.1}, "strong_convexity must be <= smoothness; got 3.1 > 2.7"),
        ({"client_weight": [0.3, 0.3, 0.3]}, "client_weight must sum to 1 over the clients; got a sum of 0.9 over 3"),
        (
            {"client_weight": [0.33333333] * 3},
            "client_weight must sum to 1 over the clients; got a sum of 0.99999999",
        ),
        ({"client_weight": 0.3}, "client_weight must sum to 1 over the clients; got a sum of 0.9 over 3 clients"),
        ({"local_gap": [0.1, 0.2]}, "lists over the clients must have one length; got client_weight: 3, local_gap: 2"),
        ({"clients": 5}, "clients must equal the length of the lists over the clients, 3; got 5"),
    ],
)
def test_nonsense_is_refused_in_one_line(wrong, line):
    with pytest.raises(DomainError) as error:
        BOUND(**{**VALUES, **wrong})
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)


def test_every_method_checks_its_arguments():
    for method in (BOUND.formula, BOUND.parts, BOUND.holds, BOUND.failed):
        with pytest.raises(DomainError, match="smoothness must be > 0"):
            method(**{**VALUES, "smoothness": -1.3})


def test_shapes_that_do_not_broadcast_are_named():
    with pytest.raises(BoundsError, match=r"do not broadcast together; got .*smoothness: \(2,\)"):
        BOUND(**{**VALUES, "smoothness": [2.1, 2.2], "local_steps": [3, 4, 5]})


def test_missing_and_unknown_names():
    with pytest.raises(MissingQuantityError, match=r"^own.bound needs client_weight, local_gap, local_steps"):
        BOUND(strong_convexity=0.3)
    with pytest.raises(UnknownNameError, match=r"quantity of own.bound 'local_step'; did you mean 'local_steps'"):
        BOUND(**VALUES, local_step=3)
    with pytest.raises(UnknownNameError, match="unknown backend 'numpi'; did you mean 'numpy'"):
        BOUND.compile("numpi")


def test_results_are_plain_numbers_where_nothing_is_swept():
    assert type(BOUND(**VALUES)) is float
    assert type(BOUND.holds(**VALUES)) is bool
    assert BOUND(**{**VALUES, "local_steps": [13]}).shape == (1,)


def test_a_warning_tells_when_the_theorem_is_silent_everywhere():
    with pytest.warns(OutsideConditionsWarning, match="own.bound is silent here: needs few steps"):
        assert np.isnan(BOUND(**{**VALUES, "local_steps": 51}))


x = quantity("x", "x", "any number", domain=REAL)
y = quantity("y", "y", "any positive number")
GROWTH = Bound(
    name="own.growth", target=generalization_gap, terms={"tame": y, "wild": sp.exp(x * y)}, source=BOUND.source
)


@given(st.floats(0.5, 900), st.floats(0.5, 900))
def test_overflow_is_infinite_with_a_warning_that_names_the_term(a, b):
    if a * b < 709:
        assert GROWTH(x=a, y=b) == pytest.approx(b + np.exp(a * b), rel=1e-12)
    elif a * b > 710:
        with pytest.warns(TermOverflowWarning, match="own.growth: infinite in 'wild'$"):
            assert GROWTH(x=a, y=b) == np.inf
        with pytest.warns(TermOverflowWarning, match=r"own.growth: infinite in 'wild'$"):
            assert GROWTH.parts(x=a, y=b)["tame"] == b


RATIO = Bound(
    name="own.ratio", target=generalization_gap, terms={"tame": y, "lost": sp.exp(x) / (1 + sp.exp(x))},
    source=BOUND.source, conditions=(Condition("y is at most 7", sp.Le(y, 7)),)
)  # fmt: skip


def test_a_number_that_overflows_on_the_way_is_evaluated_again():
    np.testing.assert_allclose(RATIO(x=[2.3, 800, 2.1], y=[0.7, 0.9, 9.1]), [0.7 + 1 / (1 + np.exp(-2.3)), 1.9, np.nan])
    assert np.isnan(RATIO.compile()(x=800, y=0.9))  # plain floating point: infinity over infinity


def test_what_is_no_real_number_is_not_taken_for_silence():
    root = Bound(
        name="own.root", target=generalization_gap, terms={"tame": y, "lost": sp.sqrt(x)},
        source=BOUND.source, conditions=RATIO.conditions,
    )  # fmt: skip
    with pytest.warns(UndefinedValueWarning, match="own.root has no real value in 'lost', though its conditions hold"):
        assert np.isnan(root(x=[2.3, -0.3], y=[9.1, 0.7])).all()


def test_a_negative_bound_whose_terms_are_declared_nonnegative_is_announced():
    falling = {"tame": y, "lost": 0.7 - x**2}
    own = Bound("own.falling", generalization_gap, falling, BOUND.source, (Condition("x < 9", sp.Lt(x, 9)),))
    with pytest.warns(SignWarning, match="own.falling is negative, by 'lost': list terms that may be"):
        np.testing.assert_allclose(own(x=[0.3, 2.1, 11.3], y=1.9), [2.51, -1.81, np.nan])
    assert own(x=0.3, y=1.9) == pytest.approx(2.51)
    assert own.formula(x=11.3, y=1.9) < 0  # where the bound says nothing
    assert replace(own, signed=("lost",))(x=2.1, y=1.9) == pytest.approx(-1.81)


def test_compiled_code_does_not_check_but_keeps_silent_points():
    fast = BOUND.compile()
    beyond = fast(**{**VALUES, "smoothness": 0.2})  # mu > L: nonsense to the call, numbers to the compiled code
    mean = 0.21**2 * 0.051 + 0.34**2 * 0.023 + 0.45**2 * 0.087
    assert beyond == pytest.approx(0.2 / 0.3 * mean + 0.2**3 * 13**2, rel=1e-13)
    swept = fast(**{**VALUES, "local_steps": np.array([3, 51, 50])})
    assert np.isnan(swept).tolist() == [False, True, False]


def test_a_number_for_each_client_is_not_one_number():
    each = get("fedals.gaussian_mean_local_gap")
    known = {"client_gradient_variance": [1.3, 2.1, 0.7], "samples": 9, "smoothness": 0.4}
    assert len(set(each(**known))) == 3
    with pytest.raises(BoundsError, match="one local_gap per client"):
        at_point(each, known)
