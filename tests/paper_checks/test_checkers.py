"""Checkers of formulas, conditions, limits and trends: what they must pass, and planted errors they must catch."""

import pytest
import sympy as sp
from checker_toys import all_are, bound, depth, inner, limited, offset, place, portion, repeats, run, speed, width
from loops import cases

from bounds.catalog import BOUNDS
from bounds.errors import UnknownNameError
from bounds.operators import ClientMax, ClientMean, ClientSum
from bounds.vocabulary import client_value, client_weight, clients, local_gap, step_size
from paper_checks.claims.checkers import (
    All,
    ArgminIs,
    At,
    ImpliedBy,
    Informative,
    MonotoneIn,
    OrderIs,
    requires,
    Same,
    Satisfies,
    TendsTo,
    term,
)
from paper_checks.claims.checkers.formulas import resolve, slope_of
from paper_checks.claims.claim import Claim, ClaimError, Grade, Kind, Status

HOLDS, FAILS, OPEN = Status.HOLDS, Status.FAILS, Status.OPEN
Q = sp.Rational
FORMULA = 3 * speed**2 / width + sp.sqrt(depth) * (1 + repeats) + sp.log(1 + offset)


# ---- Same ----

PLANTED = {
    "constant": FORMULA.subs(3, 4),
    "exponent": 3 * speed**3 / width + sp.sqrt(depth) * (1 + repeats) + sp.log(1 + offset),
    "sign": 3 * speed**2 / width - sp.sqrt(depth) * (1 + repeats) + sp.log(1 + offset),
    "dropped term": 3 * speed**2 / width + sp.sqrt(depth) * (1 + repeats),
    "swapped symbols": 3 * width**2 / speed + sp.sqrt(depth) * (1 + repeats) + sp.log(1 + offset),
    "moved parenthesis": 3 * speed**2 / width + sp.sqrt(depth) + repeats + sp.log(1 + offset),
    "last digit": FORMULA + Q(1, 10**12),
}


@cases("name", PLANTED)
def test_a_planted_error_is_caught_with_a_witness(name):
    found = run(Same("toys.printed", FORMULA), printed=PLANTED[name])
    assert found.status is FAILS
    here = {q: Q(found.witness[q.name]) for q in FORMULA.free_symbols if q.name in found.witness}
    assert abs(sp.N((PLANTED[name] - FORMULA).subs(here), 50)) > 1e-13


ROOT = sp.sqrt(speed + width)
EQUAL = [
    Same(ClientSum(client_weight * local_gap), ClientMean(local_gap)),
    Same(ROOT**3 / ROOT - sp.sqrt(speed**2 + 2 * speed * width + width**2), 0),  # but for rounding
    Same(ClientSum(client_weight), 1),
    Same(ClientSum(client_weight), 1 + Q(1, 10**50)),  # beyond the digits compared
    Same(sp.Max(speed, width), speed, where=(speed >= width,)),
    Same(speed**2, speed * width, where=(sp.Eq(speed, width),)),
    Same(BOUNDS["fedals.one_round"], BOUNDS["fedals.one_round"].expr),
]
UNEQUAL = [
    Same(clients * (clients - 1) * ClientMean(local_gap), 2 * clients * ClientMean(local_gap)),  # but at three clients
    Same(ClientSum(local_gap) / clients, ClientMean(local_gap)),
    Same(ClientMax(local_gap), local_gap),
    Same(ClientSum(client_weight), 1 + Q(1, 10**30)),
    Same(sp.Max(speed, width), speed, where=(speed <= width,)),
    Same(BOUNDS["fedals.one_round"], 2 * BOUNDS["fedals.one_round"].expr),
    # formulas in pieces that differ far away only
    Same(sp.Max(speed, 10**5), sp.Integer(10**5)),
    Same(sp.Piecewise((speed, speed < 5000), (0, True)), speed),
    Same(sp.Abs(place - 3000), place - 3000),
    # on either side of a number that pieces meet at
    Same(sp.Piecewise((3, speed < 10**9), (2, True)), 3),
    Same(sp.Max(speed, Q(1, 10**9)), speed),
    Same(sp.Piecewise((3, sp.Eq(repeats, 10**9)), (2, True)), 2),
    Same(sp.floor(repeats / sp.Integer(10) ** 7) + width, width),
    Same(sp.Max(speed, 10**9 * width**2), 10**9 * width**2 + 0 * speed),
]


def test_what_is_equal_and_what_is_not():
    all_are(HOLDS, *EQUAL)
    all_are(FAILS, *UNEQUAL)
    with pytest.raises(ClaimError, match="real"):
        run(Same(sp.sqrt(-1 - speed), sp.sqrt(-1 - speed) + 1))


def test_what_algebra_shows_is_proved_and_what_it_does_not_was_searched():
    other = (3 * speed**2 + width * sp.sqrt(depth) + width * repeats * sp.sqrt(depth)) / width + sp.log(offset + 1)
    searched = (
        Same(sp.sqrt(width + depth + 2 * sp.sqrt(width * depth)), sp.sqrt(width) + sp.sqrt(depth)),
        Same(sp.atan(width) + sp.atan(1 / width), sp.pi / 2),
        Same(sp.asinh(width), sp.log(width + sp.sqrt(1 + width**2))),
    )
    assert {found.grade for found in all_are(HOLDS, *searched)} == {Grade.SEARCHED}
    assert run(Same("toys.printed", other), printed=FORMULA).grade is Grade.PROVED
    assert run(Same(2 * width * (depth + 1), 2 * width + 2 * width * depth)).grade is Grade.PROVED


def test_the_audited_ratio_and_difference_are_verified():
    assert run(Same("toys.p", FORMULA, ratio=2), p=2 * FORMULA).as_audited
    assert not run(Same("toys.p", FORMULA, ratio=2), p=3 * FORMULA).as_audited
    assert run(Same("toys.p", FORMULA, difference=speed), p=FORMULA + speed).as_audited
    wrong = run(Same("toys.p", FORMULA, difference=speed), p=FORMULA - speed)
    assert (wrong.status, wrong.as_audited) == (FAILS, False)
    assert run(Same("toys.p", FORMULA, ratio=2, difference=-width), p=2 * FORMULA - width).as_audited


@cases(
    "check exact",
    [
        (Same(speed * (1 / 3), speed / 3), "(1, 3)"),
        (Same(0.1 + 0.2, Q(3, 10)), "0.30000000000000004"),
        (Same(At("toys.f", {speed: 0.7}), width), "(7, 10)"),
        (Same(speed, speed, where=(speed <= 0.25 * width,)), "(1, 4)"),
        (All({"one": Same(speed, speed), "two": Same(speed, 1.5 * speed)}), "(3, 2)"),
        (None, "Same"),
        (BOUNDS["fedals.one_round"], "Same"),
        ({"one": Same(speed, speed)}, "All"),
    ],
)
def test_a_claim_needs_a_check_of_exact_numbers(check, exact):
    with pytest.raises(ClaimError, match=r"toys\.c") as error:
        Claim("toys.c", "a sentence", Kind.REMARK.at("page 3"), check)
    assert exact in str(error.value)


def test_floats_of_a_bound_are_the_decimals_they_are_written_as():
    all_are(HOLDS, Same("toys.f", speed / 10), f=0.1 * speed)
    all_are(FAILS, Same("toys.f", speed / 10 + Q(1, 10**5)), f=0.1 * speed)
    for check in (Same("toys.f", speed / 3), Same(lambda book: speed * (1 / 3), speed / 3)):
        with pytest.raises(ClaimError, match=r"\(1, 3\)"):
            run(check, f=speed * (1 / 3))


def test_recipes_make_formulas_from_the_book():
    put = At("toys.f", {speed: width, width: speed})
    all_are(HOLDS, Same(put, width / speed), f=speed / width)
    all_are(FAILS, Same(put, speed / width), f=speed / width)
    all_are(HOLDS, Same(term("toys.f", "whole"), speed), f=speed)
    put = At("toys.f", {speed: local_gap})  # means over clients do not swallow what is put in
    all_are(FAILS, Same(put, ClientMean(local_gap**2)), f=ClientMean(speed * local_gap))
    all_are(HOLDS, Same(put, local_gap * ClientMean(local_gap)), f=speed * ClientMean(local_gap))


# ---- derivatives and minimisers ----

DERIVATIVE = 6 * speed / width


def derivative_is(of, by, printed, order=1, **way):
    return Same(printed, lambda book: slope_of(resolve(of, book), by, order), **way)


def test_a_derivative_is_recognised_and_a_wrong_one_caught():
    wrong = (DERIVATIVE / 2, -DERIVATIVE, DERIVATIVE * speed, DERIVATIVE + sp.sqrt(depth))
    all_are(HOLDS, derivative_is("toys.f", speed, DERIVATIVE), derivative_is("toys.f", speed, 6 / width, 2), f=FORMULA)
    all_are(FAILS, *(derivative_is("toys.f", speed, formula) for formula in wrong), f=FORMULA)
    held = run(derivative_is("toys.f", speed, DERIVATIVE / 2, ratio=Q(1, 2)), f=FORMULA)
    assert (held.status, held.as_audited) == (FAILS, True)
    square = sp.Max(speed, width) ** 2  # where two pieces meet is no difference
    all_are(HOLDS, derivative_is(square, speed, sp.Piecewise((2 * speed, speed > width), (0, True))))
    all_are(FAILS, derivative_is(square, speed, 2 * speed))
    for check in (
        derivative_is(ClientMean(local_gap), client_weight, 0),
        derivative_is(ClientMax(local_gap**2), local_gap, 0),
        MonotoneIn(ClientMean(local_gap), client_weight, up=True),
        MonotoneIn(ClientMax(local_gap), local_gap, up=True),
    ):
        with pytest.raises(ClaimError):
            run(check)


BOWL, LOWEST = depth * speed + width / speed, sp.sqrt(width / depth)
ROOTS = sp.sqrt(width) + sp.sqrt(depth)
MINIMISERS = [
    ArgminIs(BOWL, speed, LOWEST),
    ArgminIs(sp.log(speed) + width / speed, speed, width),  # not convex, one minimum
    ArgminIs(sp.log(speed / (width + 1)) ** 2, speed, width + 1),
    ArgminIs((portion - inner / 3) ** 2, portion, inner / 3),  # below 1 everywhere
    # so large that what rounding leaves of its slope is no small number
    ArgminIs(10**60 * speed * (speed - 2 * ROOTS), speed, sp.sqrt(width + depth + 2 * sp.sqrt(width * depth))),
]
NO_MINIMISERS = [
    ArgminIs(-BOWL, speed, LOWEST),  # a maximiser
    ArgminIs(width * speed, speed, width),
    ArgminIs(portion + 9 / portion, portion, 3),  # outside of the domain
    # a second minimum elsewhere that is lower
    ArgminIs((speed - width) ** 2 * ((speed - 7 * width) ** 2 - width**2 / 100), speed, width),
]


def test_minimisers():
    all_are(HOLDS, *MINIMISERS)
    all_are(FAILS, *NO_MINIMISERS)
    assert run(NO_MINIMISERS[0]).witness
    with pytest.raises(ClaimError, match="speed"):
        run(ArgminIs(BOWL, speed, speed))
    outside = run(ArgminIs(BOWL, speed, -LOWEST, ratio=1))
    assert (outside.status, outside.as_audited) == (FAILS, False)


@cases("factor", [2, Q(999999, 1000000), width, sp.sqrt(depth)])
def test_a_wrong_minimiser_fails_by_the_audited_factor_only(factor):
    checks = [ArgminIs(BOWL, speed, LOWEST * factor, ratio=ratio) for ratio in (factor, factor * 3)]
    assert [found.as_audited for found in all_are(FAILS, *checks)] == [True, False]


# ---- ImpliedBy ----

CAP = speed <= 1 / (10 * width)
DIFFERENCE = depth * (1 / (10 * width) - speed)
FOLLOWS = [
    ImpliedBy(speed * width, Q(1, 10), where=(CAP,)),  # with equality at the condition
    ImpliedBy(limited, speed),
    ImpliedBy(ClientMean(local_gap), ClientMax(local_gap)),
    ImpliedBy(speed, width, where=(sp.Eq(speed, width),)),
    ImpliedBy(speed + 1, depth, where=(sp.Eq(speed + width, depth), width >= 1)),
    ImpliedBy(ROOT**2, sp.sqrt(speed**2 + 2 * speed * width + width**2)),  # equal but for rounding
    ImpliedBy(place, sp.Abs(place)),
    ImpliedBy((1 + width / repeats) ** repeats, sp.exp(width), where=(repeats <= 50, width <= 20)),
    ImpliedBy(repeats, 10**6, within={repeats: (1, 10**6)}),
    # met by moves alone
    ImpliedBy(speed * width, 3, where=(speed > 500, speed < 501, width < speed / 10**5, depth * width > 4)),
]
DOES_NOT_FOLLOW = [
    ImpliedBy(2 * speed * width, speed**2 + width**2 - Q(1, 10**9)),  # false near equality of small numbers
    ImpliedBy(speed * width, Q(99999, 10**6), where=(CAP,)),  # in the last 0.001 % before the condition
    ImpliedBy(speed * width, Q(1, 10), where=(speed <= 1 / (Q(99, 10) * width),)),  # a weakened condition
    ImpliedBy(speed, sp.Integer(10**5)),  # at large values only
    ImpliedBy(place**3, place**4 + Q(105, 1000)),  # on an interval of the length 0.1
    ImpliedBy(limited, Q(9999, 10000) * speed),  # where a capped quantity reaches its cap
    ImpliedBy(ClientMean(client_value**2), ClientMean(client_value) ** 2 * 10**4),  # for very unequal clients
    # where the largest has a small weight
    ImpliedBy(ClientMax(local_gap), ClientMean(local_gap) * 100, where=(local_gap > 0,)),
    ImpliedBy(depth * speed, depth / (10 * width), squares=(DIFFERENCE,)),
    ImpliedBy(repeats, 999000, within={repeats: (1, 10**6)}),
]


def test_what_follows_and_what_does_not():
    all_are(HOLDS, *FOLLOWS)
    assert all(found.witness for found in all_are(FAILS, *DOES_NOT_FOLLOW))
    with pytest.raises(ClaimError):
        run(ImpliedBy(speed, width, where=(speed > width, speed < width)))


def test_a_sum_of_squares_proves_what_follows():
    mean = ImpliedBy(2 * speed * width, speed**2 + width**2)
    proved = (
        ImpliedBy(2 * speed * width, speed**2 + width**2, squares=((speed - width) ** 2,)),
        ImpliedBy(speed, speed + width),
        ImpliedBy(depth * speed, depth / (10 * width), where=(CAP,), squares=(DIFFERENCE,)),
    )
    assert [found.grade for found in all_are(HOLDS, mean, *proved)] == [Grade.SEARCHED, *[Grade.PROVED] * 3]
    other = run(ImpliedBy(2 * speed * width, speed**2 + width**2, squares=((speed - 2 * width) ** 2,)))
    assert (other.status, other.as_audited) == (OPEN, False)


def test_the_conditions_of_a_bound_are_used():
    check = ImpliedBy(speed * width, Q(1, 10), under=("toys.step",))
    all_are(HOLDS, check, step=bound("toys.step", width, CAP))
    all_are(FAILS, check, step=bound("toys.step", width, speed <= 1 / (9 * width)))


# ---- settings ----

ASKS = bound("toys.asks", width, step_size <= 1 / (10 * speed), clients >= 4)


def settled(*settings, **more):
    return run(Satisfies("toys.asks", dict(zip("AB", settings, strict=False)), **more), asks=ASKS)


@cases(
    "setting status",
    [
        ({"step_size": "0.1", "speed": 1, "clients": 4}, HOLDS),  # equality, in decimals
        ({"step_size": 0.1, "speed": 1, "clients": 4}, HOLDS),
        ({"step_size": "0.1000001", "speed": 1, "clients": 4}, FAILS),
        ({"step_size": "0.1", "clients": 4}, OPEN),  # what is not published is left open
        ({"step_size": "0.1", "clients": 3}, FAILS),  # unless it does not matter
    ],
)
def test_settings_inside_on_the_edge_and_outside(setting, status):
    assert settled(setting).status is status
    assert settled({"step_size": "0.05", "speed": 1, "clients": 4}, setting).status is status


def test_the_broken_conditions_are_named_and_the_audited_ones():
    setting = {"step_size": 1, "speed": 1, "clients": 4}
    assert settled(setting).witness == {"condition 0": "A"}
    assert "condition 0" in settled({"step_size": "0.1", "clients": 4}).evidence
    assert settled(setting, breaks=("condition 0",)).as_audited
    assert not settled(setting, breaks=("condition 1",)).as_audited
    assert not settled({**setting, "clients": 3}, breaks=("condition 0",)).as_audited


def test_what_is_not_published_is_searched_up_to_its_cap():
    rare = bound("toys.asks", width, step_size <= 10**5 / speed)  # fails for the largest speeds alone
    all_are(OPEN, Satisfies("toys.asks", {"A": {"step_size": 1}}), asks=rare)
    capped = bound("toys.asks", width, limited <= 7)
    all_are(HOLDS, Satisfies("toys.asks", {"A": {"speed": 6}}), asks=capped)
    all_are(OPEN, Satisfies("toys.asks", {"A": {"speed": 8}}), asks=capped)
    weights = bound("toys.asks", width, ClientMax(client_weight) <= Q(1, 2))
    all_are(HOLDS, Satisfies("toys.asks", {"A": {"client_weight": [".5", ".3", ".2"]}}), asks=weights)
    all_are(FAILS, Satisfies("toys.asks", {"A": {"client_weight": [".6", ".3", ".1"]}}), asks=weights)


def test_misspelt_names_and_nonsense_values_are_refused():
    with pytest.raises(UnknownNameError, match="step_size"):
        settled({"step_sizes": "0.1"})
    with pytest.raises(ClaimError, match="clients"):
        settled({"clients": "4.5"})
    with pytest.raises(ClaimError):
        run(Satisfies("toys.free", {"A": {"clients": 3}}), free=bound("toys.free", width))
    with pytest.raises(ClaimError):
        settled()


@cases(
    "written status",
    [
        ((repeats >= 7, speed - width / 3 <= 0), HOLDS),
        ((width / 3 >= speed, repeats - 7 >= 0), HOLDS),
        ((repeats >= 7,), FAILS),
        ((repeats >= 8, speed <= width / 3), FAILS),
        ((repeats >= 7, speed < width / 3), FAILS),
    ],
)
def test_conditions_written_out_again_are_the_same_as_functions(written, status):
    all_are(status, requires({"toys.f": written}), f=bound("toys.f", speed, speed <= width / 3, repeats >= 7))


def test_informative_somewhere_and_nowhere():
    ranges = {speed: (1, 2), width: (1, 2)}
    thin = {speed: (1, 2), repeats: (1, 2000)}
    all_are(
        HOLDS,
        Informative(speed / repeats, width),
        Informative(speed / repeats, width, given={repeats: 1}, within=ranges),
        Informative(1998 * speed / repeats, 2 * width / 2, within={**thin, width: (1, 1.001)}),
    )
    all_are(
        FAILS,
        Informative(speed + width, width),
        Informative(speed**2 + width**2, 2 * speed * width),
        Informative(3 * speed / repeats, width, given={repeats: 1}, within=ranges),
        Informative(2001 * speed / repeats, width, within={**thin, width: (0.5, 1)}),
        Informative(speed, 10**9, given={speed: 2}, where=(speed <= 1,)),  # it does not apply there
    )
    assert run(Informative(speed + width, width)).grade is Grade.PROVED
    found = run(Informative(speed**2 + width**2, 2 * speed * width))  # the nearest point is named
    assert found.witness.keys() == {"speed", "width"}
    assert float(found.evidence.rsplit("nearest ", 1)[1].split()[0]) >= 1


# ---- limits and orders ----

FRACTION = (3 * width * repeats**2 + depth) / (2 * repeats**2 + sp.sqrt(repeats))
SMALL_ROOT = sp.sqrt((speed - Q(1, 10**4)) * (speed - Q(1, 10**12)))
"""Real at 1 and at 1e-16, not at 1e-8."""


def test_limits():
    all_are(
        HOLDS,
        TendsTo(FRACTION, repeats, sp.oo, 3 * width / 2),
        TendsTo(sp.sin(speed * width) / speed, speed, 0, width),
        TendsTo(repeats * width, repeats, sp.oo, sp.oo),
        TendsTo(sp.sqrt(1 - portion) + width, portion, 1, width),  # from inside the domain
        TendsTo(SMALL_ROOT * width / speed, speed, 0, sp.oo),
    )
    wrong = [
        (FRACTION, 3 * width / 4), (FRACTION, 3 * width / 2 + Q(1, 10**9)), (FRACTION, 3 * depth / 2),
        (FRACTION, sp.Integer(0)), (FRACTION, sp.oo), (repeats * FRACTION, 3 * width / 2),
        (-repeats * width, sp.Integer(5)), (-repeats * width, sp.oo),
    ]  # fmt: skip
    all_are(FAILS, *(TendsTo(of, repeats, sp.oo, limit) for of, limit in wrong))
    all_are(FAILS, TendsTo(width / place, place, 0, sp.oo))  # from both sides
    for check in (
        TendsTo(sp.Piecewise((0, speed < 1), (1, True)), speed, 1, 1),
        TendsTo(sp.sin(speed) * width, speed, sp.oo, 0),
        TendsTo(1 + 1 / speed, speed, sp.oo, 1 + 1 / speed),
    ):
        with pytest.raises(ClaimError, match=r"speed|values nearby"):
            run(check)


def test_orders():
    of = width / repeats + depth / repeats**2
    wrong = (1 / repeats**2, 1 / sp.sqrt(repeats), sp.log(repeats) / repeats, sp.Integer(1))
    all_are(
        HOLDS,
        OrderIs(of, repeats, 1 / repeats),
        OrderIs(of, repeats, 1 / sp.sqrt(repeats), at_most=True),
        OrderIs(of, repeats, 1 / repeats**2, to=0),
    )
    all_are(
        FAILS, *(OrderIs(of, repeats, order) for order in wrong), OrderIs(of, repeats, 1 / repeats**2, at_most=True)
    )
    all_are(FAILS, OrderIs(-width / repeats, repeats, 1 / repeats))  # theta asks for a positive ratio


# ---- monotone functions ----

TURNING = (repeats - Q(6, 5)) ** 2  # lowest between 1 and 2, nearer to 1
FLAT = ROOT**2 - sp.sqrt(speed**2 + 2 * speed * width + width**2)
RISE = [
    MonotoneIn(width * speed**2 - depth / speed, speed, up=True),
    MonotoneIn(depth * speed + width / speed, speed, up=True, where=(depth * speed**2 > width,)),
    MonotoneIn(TURNING * width, repeats, up=True),  # a count is judged by its steps
    MonotoneIn(-width / (repeats - 2) ** 2, repeats, up=True),  # a step to where there is no value is no fall
    MonotoneIn(offset * speed, speed, up=True),  # flat at the end of a domain only
]
DO_NOT_RISE = [
    MonotoneIn(width * speed**2 - depth / speed, speed, up=False),
    MonotoneIn(depth * speed + width / speed, speed, up=True, where=(depth * speed**2 > Q(99, 100) * width,)),
    MonotoneIn((repeats - Q(8, 5)) ** 2, repeats, up=True),
    MonotoneIn(sp.Max(speed, width), speed, up=True),
    MonotoneIn(FLAT, speed, up=True),
]
THIN = [
    speed + Q(1, 10**10) / speed,  # falls below 1e-5 only
    speed - speed**2 / 10**7,  # falls above 5e6 only
    (speed - width) ** 3 - (speed - width) / 10**4,  # falls in a thin region about width
    (7 * speed - 3 * width) ** 3 - speed * width**2 / 10**9,  # in a thinner one, however large width is
]


def test_what_rises_and_what_does_not():
    assert all_are(HOLDS, *RISE)[0].grade is Grade.PROVED  # every term has the sign
    all_are(FAILS, *DO_NOT_RISE)


@cases("of", THIN)
def test_a_thin_or_far_region_where_it_turns_is_found(of):
    for up in (True, False):
        found = run(MonotoneIn(of if up else -of, speed, up=up))
        assert found.status is FAILS
        here = {q: Q(found.witness[q.name]) for q in of.free_symbols}
        assert of.diff(speed).subs(here) < 0
