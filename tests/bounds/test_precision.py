"""What a call says is what its formula says: against a thousand digits, anywhere in the range of floats."""

from dataclasses import replace

import numpy as np
import pytest
import sympy as sp
from loops import cases
from precision import flaws, points, REGIMES

from bounds import Bound, BOUNDS, Condition, quantity, Source
from bounds.domains import POSITIVE
from bounds.errors import TermOverflowWarning, UnderflowWarning, UnsettledWarning
from bounds.numerics import recheck
from bounds.points import POINTS
from bounds.vocabulary import generalization_gap, local_steps, rounds
from paper_checks.audit.contract import quiet

every_bound = cases("name", BOUNDS)


def found(name, regimes, count, seed):
    """The flaws at ``count`` points of each regime."""
    draws = [np.random.default_rng([seed, i]) for i in range(len(regimes))]
    drawn = [points(BOUNDS[name], count, REGIMES[at], draw) for at, draw in zip(regimes, draws, strict=True)]
    return [flaw for there in drawn for flaw in flaws(BOUNDS[name], there, range(count))]


@every_bound
def test_no_number_is_wrong_and_no_condition_misjudged_without_a_warning(name):
    assert not found(name, ("wide", "mild"), 2, seed=len(name))


@pytest.mark.slow
@every_bound
def test_no_number_is_wrong_and_no_condition_misjudged_in_any_regime(name):
    assert not found(name, REGIMES, 6, seed=1000 + len(name))


a, b, c = (quantity(n, n, f"the number {n}", domain=POSITIVE) for n in "abc")


def own(term, *conditions):
    return Bound(
        name="own.bound", target=generalization_gap, terms={"all": term}, source=Source("own notes", "line 2"),
        conditions=tuple(Condition("words", r) for r in conditions),
    )  # fmt: skip


def test_a_sum_that_cancels_is_evaluated_again():
    bound = own(a * b - c / 3)
    third = 0.7 * 1.3 * 3
    exact = sp.Rational(0.7) * sp.Rational(1.3) - sp.Rational(third) / 3
    assert bound(a=0.7, b=1.3, c=third) == pytest.approx(float(exact), rel=1e-15)
    assert abs(bound.compile()(a=0.7, b=1.3, c=third) / float(exact) - 1) > 1e-3  # plain floating point
    assert bound(a=0.5, b=3.0, c=4.5) == 0


def test_what_leaves_the_range_on_the_way_comes_back_and_a_number_too_small_is_announced():
    assert own(a**2 * b)(a=1e-170, b=1e300) == pytest.approx(1e-40, rel=1e-12)
    assert own(a**2 / b)(a=1e170, b=1e300) == pytest.approx(1e40, rel=1e-12)
    assert own(sp.exp(a) / (1 + sp.exp(a)))(a=1234.5) == 1
    swept = own(a**2 * b)(a=[[1e-170], [0.7]], b=[1e300, 3e280])
    np.testing.assert_allclose(swept, [[1e-40, 3e-60], [0.49e300, 1.47e280]], rtol=1e-12)
    with pytest.warns(UnderflowWarning, match=r"own.bound"):
        assert own(a**2)(a=1e-170) > 0
    with pytest.warns(UnderflowWarning):
        assert own(a**2).parts(a=1e-161)["all"] == pytest.approx(1e-322, rel=0.05)
    assert own(a**2 + b)(a=1e-170, b=0.3) == 0.3
    with pytest.warns(TermOverflowWarning):
        assert own(a**2)(a=1e170) == np.inf


def test_conditions_are_not_decided_by_underflow_or_overflow():
    bound = own(c, a**2 * b**2 * c <= 1)
    large = {"a": 1e-200, "b": 1e200, "c": 2.0}
    assert not bound.holds(**large)
    assert bound.holds(**{**large, "c": 0.9})
    assert own(c, a**3 > b**3).holds(a=1e-120, b=1e-121, c=0.3)
    assert own(c, a**3 > b**3).failed(a=1e120, b=1e121, c=0.3)


def test_every_question_gets_one_answer_where_a_condition_is_met_up_to_rounding():
    bound = BOUNDS["fedcog.mean_gradient_drift"]
    v = {"dissimilarity_factor": 1.1, "dissimilarity_offset": 3.0, "grad_norm_sq": 7.9, "gradient_variance": 1.8}
    steps, scale = 822.0, 0.0029211674384721237
    cap = 1 / np.sqrt(2 * steps * (steps - 1)) / scale
    sizes = cap * (1 + np.arange(-40, 41) * 2.0**-52)
    with quiet():
        there = {**v, "local_steps": steps, "smoothness": scale, "step_size": sizes}
        holds = bound.holds(**there)
        np.testing.assert_array_equal(np.isnan(bound(**there)), ~holds)
        np.testing.assert_array_equal([bound.holds(**{**there, "step_size": s}) for s in sizes], holds)
        assert holds[0]
        assert not holds[-1]


TIES = [
    (3 * a <= 0.3, True),
    (3 * a < 0.3, False),
    (3 * a <= b, True),
    (b < a * 3, False),
    (0.3 - 3 * a < 0, False),
    (sp.Eq(3 * a, 0.3), True),
    (sp.Ne(3 * a, 0.3), False),
    (3 * a <= 0.3 * (1 - 2**-40), False),
    (c * (1 - 10 * a) > 0, False),
    ((1 - 10 * a) / c >= 0, True),
    (c / (1 - 10 * a) <= 5, False),
    (sp.log(2 - 10 * a) >= 0, True),
    (sp.exp(1 - 10 * a) >= 1, True),
    (sp.Eq((3 * a - b) ** 2, 0), True),
    (sp.Max(3 * a - b, 10 * a - 1) <= 0, True),
    (sp.Max(3 * a - b, 10 * a - 1.001) <= -0.001, False),
    (c * (1 - 9.9999 * a) <= 0, False),
    (sp.log(10 * a) <= 0, True),
    (sp.Piecewise((1 - 10 * a, a < b), (7, True)) >= 0, True),
    ((10 * a) ** c * (2 - 10 * a) ** (3 * a) >= 1, True),
    (sp.ceiling(10 * a) <= 1, True),
    (sp.floor(10 * a * b / 0.3) >= 1, True),
    (sp.floor(sp.ceiling(10 * a) * (10 * a) / 2) < 1, True),
]


def test_decimals_that_make_both_sides_equal_meet_a_cap_and_nothing_strict():
    for relation, met in TIES:
        there = {"a": 0.1, "b": 0.3, "c": 0.7}
        there = {name: there[name] for name in "abc" if name == "c" or name in map(str, relation.free_symbols)}
        bound = own(c, relation)
        with quiet():
            assert bound.holds(**there) is met, relation
            assert (bound(**there) == 0.7) is met, relation
            assert (not bound.failed(**there)) is met, relation
            pieces = own(sp.Piecewise((c, relation), (2 * c, True)))
            assert pieces(**there) == (0.7 if met else 1.4), relation


def test_a_compiled_function_forgives_what_a_product_loses():
    for relation, met in [(3 * a <= b, True), (3 * a < b, False), (sp.Eq(3 * a, b), True)]:
        assert (own(c, relation).compile()(a=0.1, b=0.3, c=0.7) == 0.7) is met


@pytest.mark.parametrize("small", [0.0, 2.0**-40])
def test_floors_and_ceilings_forgive_rounding_and_nothing_more(small):
    there, up = {"a": 0.1 * (1 + small), "b": 0.3 / (1 + small), "local_steps": 2**50 + 1}, small > 0
    for bound, wanted in [
        (own(sp.ceiling(10 * a)), 2 if up else 1),
        (own(1 + sp.ceiling(-b / a)), -1 if up else -2),
        (own(sp.floor(b / a)), 2 if up else 3),
        (own(sp.floor(-10 * a) + 3), 1 if up else 2),
        (own(sp.ceiling(sp.floor(b / a) * (10 * a))), 3),
        (own(sp.floor(local_steps / 2)), 2**49),
        (own(sp.floor(local_steps / 7)), (2**50 + 1) // 7),
    ]:
        found = {k: v for k, v in there.items() if k in {q.name for q in bound.quantities}}
        with quiet():
            assert bound(**found) == pytest.approx(wanted, rel=1e-12)
            assert bound(**found) == bound(**{k: np.full(3, v) for k, v in found.items()})[1]


def test_whole_numbers_of_any_size_are_compared_as_they_are_and_doubts_beyond_a_limit_are_told(monkeypatch):
    assert own(a, local_steps < rounds).holds(local_steps=2**52 - 1, rounds=2**52, a=0.7)
    assert not own(a, local_steps <= rounds).holds(local_steps=2**52 + 1, rounds=2**52, a=0.7)
    monkeypatch.setattr(recheck, "MOST", 3)
    with pytest.warns(UnsettledWarning, match=r"own.bound.* 2 "):
        replace(own(a * b - c), signed=("all",))(a=0.7, b=1.3, c=0.7 * 1.3 * (1 + np.arange(5) * 2.0**-52))


@pytest.mark.parametrize("name", ["fedals.one_round", "fedinit.theorem_5", "decaying_k.per_second", "fedcog.theorem"])
def test_ordinary_sweeps_are_cleared_without_looking_at_a_point(name, monkeypatch):
    bound, point = BOUNDS[name], POINTS[name]
    monkeypatch.setattr(recheck, "Point", None)
    swept = {**point, "smoothness": np.asarray(point["smoothness"]) * np.linspace(0.97, 1.03, 2_000)}
    with quiet():
        np.testing.assert_array_equal(bound(**swept), bound.compile()(**swept))


@pytest.mark.parametrize(
    ("term", "at", "value"),
    [
        (sp.Piecewise((sp.exp(a) - 1, a < 1), (7, True)), 1e-17, 1e-17),
        (sp.Piecewise((7, a >= 1), (sp.sqrt(1 + a) - 1, True)), 1e-17, 5e-18),
    ],
)
def test_pieces_have_all_their_digits(term, at, value):
    bound = replace(own(term), signed=("all",))
    assert bound(a=at) == pytest.approx(value, rel=1e-13)
    assert bound(a=[at, 2 * at])[0] == bound(a=at) == bound.parts(a=at)["all"]
