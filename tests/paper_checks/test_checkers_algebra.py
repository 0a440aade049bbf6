"""Same, derivative_is, ArgminIs: what they must pass, and planted errors they must catch."""

import pytest
import sympy as sp
from checker_toys import cost, depth, inner, offset, place, portion, repeats, run, speed, width

from bounds.catalog import BOUNDS
from bounds.operators import ClientMax, ClientMean, ClientSum
from bounds.vocabulary import client_weight, clients, local_gap
from paper_checks.claims.checkers import ArgminIs, At, derivative_is, Same, term, Total
from paper_checks.claims.checkers.numbers import side_by_side
from paper_checks.claims.claim import Book, Claim, ClaimError, Grade, Kind, Status

HOLDS, FAILS, OPEN = Status.HOLDS, Status.FAILS, Status.OPEN
FORMULA = 3 * speed**2 / width + sp.sqrt(depth) * (1 + repeats) + sp.log(1 + offset)

PLANTED = {
    "constant": FORMULA.subs(3, 4),
    "exponent": 3 * speed**3 / width + sp.sqrt(depth) * (1 + repeats) + sp.log(1 + offset),
    "sign": 3 * speed**2 / width - sp.sqrt(depth) * (1 + repeats) + sp.log(1 + offset),
    "dropped term": 3 * speed**2 / width + sp.sqrt(depth) * (1 + repeats),
    "swapped symbols": 3 * width**2 / speed + sp.sqrt(depth) * (1 + repeats) + sp.log(1 + offset),
    "moved parenthesis": 3 * speed**2 / width + sp.sqrt(depth) + repeats + sp.log(1 + offset),
    "last digit": FORMULA + sp.Rational(1, 10**12),
}


def test_what_is_equal_in_another_shape_is_proved_equal():
    other = (3 * speed**2 + width * sp.sqrt(depth) + width * repeats * sp.sqrt(depth)) / width + sp.log(offset + 1)
    found = run(Same("toys.printed", other), printed=FORMULA)
    assert (found.status, found.grade) == (HOLDS, Grade.PROVED)


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_error_is_caught_with_a_witness(name):
    found = run(Same("toys.printed", FORMULA), printed=PLANTED[name])
    assert found.status is FAILS
    here = {q: sp.Rational(found.witness[q.name]) for q in FORMULA.free_symbols if q.name in found.witness}
    assert abs(sp.N((PLANTED[name] - FORMULA).subs(here), 50)) > 1e-13


def test_evidence_tells_numbers_apart_that_have_the_same_six_digits():
    found = run(Same("toys.printed", speed), printed=speed * (1 + sp.Rational(3, 10**9)))
    assert "(more by a share of 3e-09)" in found.evidence
    assert (
        "less by a share of 3e-09"
        in run(Same("toys.printed", speed), printed=speed * (1 - sp.Rational(3, 10**9))).evidence
    )
    assert "share" not in run(Same("toys.printed", speed), printed=2 * speed).evidence


def test_numbers_side_by_side():
    assert side_by_side(sp.Rational(1, 3), sp.Rational(1, 7)) == "1/3 against 1/7"
    assert side_by_side(sp.Integer(2), sp.Integer(2), ">") == "2 > 2"
    big = sp.Integer(771367000000)
    assert side_by_side(big + 4, big) == "7.71367e+11 against 7.71367e+11 (more by a share of 5.2e-12)"
    assert side_by_side(-big - 4, -big).endswith("(less by a share of 5.2e-12)")
    assert side_by_side(sp.nan, sp.nan) == "nan against nan"


def test_an_error_in_a_bound_of_the_catalogue_is_caught():
    from bounds.catalog import get

    printed = get("decaying_k.per_second")
    assert Same(printed.name, printed.expr)(Book()).status is HOLDS
    name = next(iter(printed.terms))
    doubled = printed.__class__(**{**{f: getattr(printed, f) for f in printed.__dataclass_fields__},
                                   "terms": {**printed.terms, name: 2 * printed.terms[name]}})  # fmt: skip
    assert Same(printed.name, printed.expr)(Book({printed.name: doubled})).status is FAILS


def test_the_audited_ratio_and_difference_are_verified():
    printed = 2 * FORMULA
    assert run(Same("toys.p", FORMULA, ratio=2), p=printed).as_audited
    assert not run(Same("toys.p", FORMULA, ratio=2), p=3 * FORMULA).as_audited
    assert run(Same("toys.p", FORMULA, difference=speed), p=FORMULA + speed).as_audited
    wrong = run(Same("toys.p", FORMULA, difference=speed), p=FORMULA - speed)
    assert (wrong.status, wrong.as_audited) == (FAILS, False)
    assert run(Same("toys.p", FORMULA, ratio=2, difference=-width), p=2 * FORMULA - width).as_audited


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sp.Max(speed, 10**5), sp.Integer(10**5)),
        (sp.Min(speed, sp.Rational(1, 10**5)), speed / speed * sp.Rational(1, 10**5) + 0 * speed),
        (sp.Piecewise((speed, speed < 5000), (0, True)), speed),
        (sp.Abs(place - 3000), place - 3000),
        (ClientMax(local_gap) + speed, ClientMax(local_gap) + sp.Min(speed, 10**6)),
    ],
)
def test_formulas_in_pieces_that_differ_far_away_only(left, right):
    assert run(Same(left, right)).status is FAILS


def test_the_number_of_clients_is_not_always_the_same():
    """At three clients N(N-1) is 2N, at two N^2 is 2N."""
    gap = ClientMean(local_gap)
    assert run(Same(clients * (clients - 1) * gap, 2 * clients * gap)).status is FAILS
    assert run(Same(clients**2 * gap, 2 * clients * gap)).status is FAILS
    assert run(Same(ClientSum(client_weight * local_gap), gap)).status is HOLDS
    assert run(Same(ClientSum(local_gap) / clients, gap)).status is FAILS


def test_per_client_formulas_are_compared_for_every_client():
    assert run(Same(local_gap * 2, local_gap + local_gap)).status is HOLDS
    assert run(Same(ClientMax(local_gap), local_gap)).status is FAILS


def test_rounding_is_no_difference():
    zero = sp.sqrt(speed + width) ** 3 / sp.sqrt(speed + width) - sp.sqrt(speed**2 + 2 * speed * width + width**2)
    assert run(Same(zero, 0)).status is HOLDS
    assert run(Same(ClientSum(client_weight), 1)).status is HOLDS
    assert run(Same(ClientSum(client_weight), 1 + sp.Rational(1, 10**50))).status is HOLDS  # beyond the digits compared
    assert run(Same(ClientSum(client_weight), 1 + sp.Rational(1, 10**30))).status is FAILS


@pytest.mark.parametrize(
    ("check", "said"),
    [
        (Same(speed * (1 / 3), speed / 3), r"0.3333333333333333 is a float: write Rational\(1, 3\)"),
        (
            Same(speed, speed * (1 + 1e-15)),
            r"1.000000000000001 is a float: write Rational\(1000000000000001, 1000000000000000\)",
        ),
        (Same(0.1 + 0.2, sp.Rational(3, 10)), r"0.30000000000000004 is a float: write Rational\("),
        (Same(At("toys.f", {speed: 0.7}), width), r"0.7 is a float: write Rational\(7, 10\)"),
        (Same(speed, speed, where=(speed <= 0.25 * width,)), r"0.25 is a float: write Rational\(1, 4\)"),
        (ArgminIs("toys.f", speed, 0.4 * width), r"0.4 is a float: write Rational\(2, 5\)"),
        ({"one": Same(speed, speed), "two": Same(speed, 1.5 * speed)}, r"1.5 is a float: write Rational\(3, 2\)"),
    ],
)
def test_a_claim_is_about_exact_numbers(check, said):
    with pytest.raises(ClaimError, match=rf"^claim 'toys\.c': {said}"):
        Claim("toys.c", "a sentence", Kind.REMARK.at("page 3"), check)


def test_a_formula_that_is_computed_is_exact_too():
    with pytest.raises(ClaimError, match=r"0.3333333333333333 is a float: write Rational\(1, 3\)"):
        run(Same(lambda book: speed * (1 / 3), speed / 3))


def test_floats_of_a_bound_are_the_decimals_they_are_written_as():
    assert run(Same("toys.f", speed / 10), f=0.1 * speed).status is HOLDS
    assert run(Same("toys.f", speed / 10 + sp.Rational(1, 10**5)), f=0.1 * speed).status is FAILS
    with pytest.raises(ClaimError, match=r"0.3333333333333333 is a float: write Rational\(1, 3\)"):
        run(Same("toys.f", speed / 3), f=speed * (1 / 3))


def test_a_bound_stands_for_its_right_hand_side():
    bound = BOUNDS["fedals.one_round"]
    assert run(Same(bound, bound.expr)).status is HOLDS
    assert run(Same(bound, 2 * bound.expr)).status is FAILS


@pytest.mark.parametrize("check", [None, 5, BOUNDS["fedals.one_round"], {"one": Same(speed, speed), "two": None}])
def test_a_claim_needs_a_check(check):
    with pytest.raises(ClaimError, match=r"claim 'toys\.c': a check must be one, such as Same\(left, right\); got"):
        Claim("toys.c", "a sentence", Kind.REMARK.at("page 3"), check)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sp.Piecewise((3, speed < 10**9), (2, True)), 3),
        (sp.Piecewise((3, speed >= 10**9), (speed, True)), speed),
        (sp.Max(speed, sp.Rational(1, 10**9)), speed),
        (sp.Min(repeats, 10**12), repeats),
        (sp.Piecewise((3, sp.Eq(repeats, 10**9)), (2, True)), 2),
        (sp.Heaviside(speed - 1000) + width, width),
        (sp.Heaviside(1 - 10**7 * speed) + width, width),
        (sp.KroneckerDelta(repeats, 10**7) + width, width),
        (sp.floor(repeats / sp.Integer(10) ** 7) + width, width),
        (sp.Max(0, sp.Rational(1, 10**9) - speed) + width, width),
        (sp.Max(speed, 10**9 * width**2), 10**9 * width**2 + 0 * speed),
    ],
)
def test_both_sides_of_a_number_that_pieces_meet_at_are_tried(left, right):
    assert run(Same(left, right)).status is FAILS


def test_complex_steps_on_the_way_do_no_harm():
    assert run(Same(sp.sqrt(1 - speed) ** 2, 1 - speed)).status is HOLDS
    assert run(Same(sp.Max(sp.sqrt(1 - speed), 2) + width, sp.Max(sp.sqrt(1 - speed), 2))).status is FAILS


def test_conditions_decide_where_two_formulas_are_compared():
    assert run(Same(sp.Max(speed, width), speed, where=(speed >= width,))).status is HOLDS
    assert run(Same(sp.Max(speed, width), speed, where=(speed <= width,))).status is FAILS
    assert run(Same(speed**2, speed * width, where=(sp.Eq(speed, width),))).status is HOLDS


def test_a_formula_that_is_never_real_is_refused_in_words():
    with pytest.raises(ClaimError, match="a formula is not real"):
        run(Same(sp.sqrt(-1 - speed), sp.sqrt(-1 - speed) + 1))


def test_recipes_make_formulas_from_the_book():
    put = At("toys.f", {speed: width, width: speed})
    assert run(Same(put, width / speed), f=speed / width).status is HOLDS
    assert run(Same(put, speed / width), f=speed / width).status is FAILS
    assert run(Same(term("toys.f", "whole"), speed), f=speed).status is HOLDS
    assert run(Same(Total(((2, "toys.f"), (-1, width))), 2 * speed - width), f=speed).status is HOLDS


def test_means_over_clients_do_not_swallow_what_is_put_in():
    put = At("toys.f", {speed: local_gap})
    assert run(Same(put, ClientMean(local_gap**2)), f=ClientMean(speed * local_gap)).status is FAILS
    assert run(Same(put, local_gap * ClientMean(local_gap)), f=speed * ClientMean(local_gap)).status is HOLDS


DERIVATIVE = 6 * speed / width


def test_a_derivative_is_recognised_and_a_wrong_one_caught():
    assert run(derivative_is("toys.f", speed, DERIVATIVE), f=FORMULA).status is HOLDS
    assert run(derivative_is("toys.f", speed, 6 / width, order=2), f=FORMULA).status is HOLDS
    for wrong in (DERIVATIVE / 2, -DERIVATIVE, DERIVATIVE * speed, DERIVATIVE + sp.sqrt(depth)):
        assert run(derivative_is("toys.f", speed, wrong), f=FORMULA).status is FAILS
    held = run(derivative_is("toys.f", speed, DERIVATIVE / 2, ratio=sp.Rational(1, 2)), f=FORMULA)
    assert (held.status, held.as_audited) == (FAILS, True)


def test_a_derivative_at_a_tie_of_two_pieces_is_no_difference():
    square = sp.Max(speed, width) ** 2
    pieces = sp.Piecewise((2 * speed, speed > width), (0, True))
    assert run(derivative_is(square, speed, pieces)).status is HOLDS
    assert run(derivative_is(square, speed, 2 * speed)).status is FAILS


@pytest.mark.parametrize(
    ("of", "by", "words"),
    [(ClientMean(local_gap), client_weight, "sum to 1"), (ClientMax(local_gap**2), local_gap, "no derivative")],
)
def test_derivatives_that_sympy_would_get_wrong_are_refused(of, by, words):
    with pytest.raises(ClaimError, match=words):
        run(derivative_is(of, by, 0))


BOWL = depth * speed + width / speed
LOWEST = sp.sqrt(width / depth)


def test_a_minimiser_is_recognised():
    assert run(ArgminIs(BOWL, speed, "toys.at"), at=LOWEST).status is HOLDS
    assert run(ArgminIs(sp.log(speed) + width / speed, speed, width)).status is HOLDS  # not convex, one minimum
    assert run(ArgminIs(sp.log(speed / (width + 1)) ** 2, speed, width + 1)).status is HOLDS
    assert run(ArgminIs(repeats * depth + width / repeats, repeats, LOWEST)).status is HOLDS
    assert run(ArgminIs((portion - inner / 3) ** 2, portion, inner / 3)).status is HOLDS  # below 1 everywhere
    roots = sp.sqrt(width) + sp.sqrt(depth)
    large = 10**60 * speed * (speed - 2 * roots)  # so large that what rounding leaves of its slope is no small number
    assert run(ArgminIs(large, speed, sp.sqrt(width + depth + 2 * sp.sqrt(width * depth)))).status is HOLDS


@pytest.mark.parametrize("factor", [2, sp.Rational(999999, 1000000), width, sp.sqrt(depth)])
def test_a_wrong_minimiser_fails_by_the_audited_factor_only(factor):
    audited = run(ArgminIs(BOWL, speed, LOWEST * factor, ratio=factor))
    assert (audited.status, audited.as_audited) == (FAILS, True)
    other = run(ArgminIs(BOWL, speed, LOWEST * factor, ratio=factor * 3))
    assert (other.status, other.as_audited) == (FAILS, False)


def test_a_factor_that_is_1_at_some_points_is_still_verified():
    assert run(ArgminIs(BOWL, speed, LOWEST * sp.sqrt(repeats), ratio=sp.sqrt(repeats))).as_audited
    assert not run(ArgminIs(BOWL, speed, LOWEST * sp.Max(width, 1), ratio=width)).as_audited


def test_a_maximiser_is_no_minimiser():
    found = run(ArgminIs(-BOWL, speed, LOWEST))
    assert found.status is FAILS
    assert found.witness


def test_a_function_without_a_minimum_ends_the_search():
    found = run(ArgminIs(width / speed, speed, width))
    assert found.status is FAILS
    assert "no stationary point" in found.evidence
    assert run(ArgminIs(width * speed, speed, width)).status is FAILS


def test_a_value_outside_of_the_domain_is_no_minimiser():
    found = run(ArgminIs(BOWL, speed, -LOWEST, ratio=1))
    assert (found.status, found.as_audited) == (FAILS, False)
    assert "no value of speed" in found.evidence
    assert run(ArgminIs(portion + 9 / portion, portion, 3)).status is FAILS


def test_a_second_lower_minimum_elsewhere_is_seen():
    far = 7 * width
    wells = (speed - width) ** 2 * ((speed - far) ** 2 - width**2 / 100)
    assert run(ArgminIs(wells, speed, width)).status is FAILS


def test_a_minimiser_in_terms_of_itself_is_refused():
    with pytest.raises(ClaimError, match="in terms of speed itself"):
        run(ArgminIs(BOWL, speed, speed))


def test_sums_of_shares_near_their_ends():
    assert run(Same((1 - inner**2) / (1 - inner), 1 + inner)).status is HOLDS
    assert run(Same(cost * (1 - inner**2) / (1 - inner), cost * (1 + inner**2))).status is FAILS


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (sp.sqrt(width + depth + 2 * sp.sqrt(width * depth)), sp.sqrt(width) + sp.sqrt(depth)),
        (sp.atan(width) + sp.atan(1 / width), sp.pi / 2),
        (sp.asinh(width), sp.log(width + sp.sqrt(1 + width**2))),
    ],
)
def test_an_equality_that_no_algebra_shows_is_no_proof(left, right):
    found = run(Same(left, right))
    assert (found.status, found.grade) == (HOLDS, Grade.SEARCHED)
    assert found.evidence.startswith("equal at ")
    assert run(Same(2 * width * (depth + 1), 2 * width + 2 * width * depth)).grade is Grade.PROVED
