"""ImpliedBy, Satisfies, Informative: what they must pass, and planted errors they must catch."""

import pytest
import sympy as sp
from checker_toys import bound, depth, limited, offset, place, repeats, run, speed, width

from bounds.errors import UnknownNameError
from bounds.operators import ClientMax, ClientMean
from bounds.vocabulary import client_value, client_weight, clients, local_gap, step_size
from paper_checks.claims.checkers import ImpliedBy, Informative, requires, Satisfies
from paper_checks.claims.claim import ClaimError, Grade, Status

HOLDS, FAILS, OPEN = Status.HOLDS, Status.FAILS, Status.OPEN
CAP = speed <= 1 / (10 * width)


def test_what_follows_holds_and_a_sum_of_squares_proves_it():
    mean = ImpliedBy(2 * speed * width, speed**2 + width**2)
    assert (run(mean).status, run(mean).grade) == (HOLDS, Grade.SEARCHED)
    proved = ImpliedBy(2 * speed * width, speed**2 + width**2, squares=((speed - width) ** 2,))
    assert run(proved).grade is Grade.PROVED
    assert run(ImpliedBy(speed, speed + width)).grade is Grade.PROVED


def test_a_factor_that_a_condition_makes_nonnegative_proves_too():
    difference = depth * (1 / (10 * width) - speed)
    check = ImpliedBy(depth * speed, depth / (10 * width), where=(CAP,), squares=(difference,))
    assert (run(check).status, run(check).grade) == (HOLDS, Grade.PROVED)
    assert run(ImpliedBy(depth * speed, depth / (10 * width), squares=(difference,))).status is FAILS


def test_squares_that_do_not_sum_to_the_difference_prove_nothing():
    found = run(ImpliedBy(2 * speed * width, speed**2 + width**2, squares=((speed - 2 * width) ** 2,)))
    assert (found.status, found.as_audited) == (OPEN, False)
    assert "do not sum" in found.evidence


@pytest.mark.parametrize(
    ("smaller", "larger", "where"),
    [
        (2 * speed * width, speed**2 + width**2 - sp.Rational(1, 10**9), ()),  # false near equality of small numbers
        (speed * width, sp.Rational(99999, 10**6), (CAP,)),  # false in the last 0.001 % before the condition
        (speed * width, sp.Rational(1, 10), (speed <= 1 / (sp.Rational(99, 10) * width),)),  # a weakened condition
        (speed, sp.Integer(10**5), ()),  # at large values only
        (1 / repeats, sp.Rational(99, 100), ()),  # at a count of one only
        (width, width + offset - sp.Rational(1, 10**6), ()),  # where what can be 0 is 0
        (place**3, place**4 + sp.Rational(105, 1000), ()),  # on an interval of the length 0.1
        (limited, sp.Rational(9999, 10000) * speed, ()),  # where a capped quantity reaches its cap
        (ClientMean(client_value**2), ClientMean(client_value) ** 2 * 10**4, ()),  # for very unequal clients
        (ClientMax(local_gap), ClientMean(local_gap) * 100, (local_gap > 0,)),  # where the largest has a small weight
    ],
)
def test_a_step_that_does_not_follow_is_refuted(smaller, larger, where):
    found = run(ImpliedBy(smaller, larger, where=where))
    assert found.status is FAILS
    assert found.witness


@pytest.mark.parametrize(
    ("smaller", "larger", "where"),
    [
        (speed * width, sp.Rational(1, 10), (CAP,)),  # with equality at the condition
        (limited, speed, ()),
        (ClientMean(local_gap), ClientMax(local_gap), ()),
        (ClientMean(local_gap), 1, (local_gap <= 1,)),  # a condition on every client
        (speed, width, (sp.Eq(speed, width),)),
        (speed + 1, depth, (sp.Eq(speed + width, depth), width >= 1)),
        (sp.sqrt(speed + width) ** 2, sp.sqrt(speed**2 + 2 * speed * width + width**2), ()),  # equal but for rounding
        (place, sp.Abs(place), ()),
        (sp.log(speed), speed - 1, ()),
        ((1 + width / repeats) ** repeats, sp.exp(width), (repeats <= 50, width <= 20)),
    ],
)
def test_what_is_true_is_not_refuted(smaller, larger, where):
    assert run(ImpliedBy(smaller, larger, where=where)).status is HOLDS


def test_the_conditions_of_a_bound_are_used():
    free = bound("toys.step", width, CAP)
    assert run(ImpliedBy(speed * width, sp.Rational(1, 10), under=("toys.step",)), step=free).status is HOLDS
    weak = bound("toys.step", width, speed <= 1 / (9 * width))
    assert run(ImpliedBy(speed * width, sp.Rational(1, 10), under=("toys.step",)), step=weak).status is FAILS


def test_ranges_of_interest_are_kept_to():
    within = {speed: (0.5, 2), repeats: (1, 10**6)}
    assert run(ImpliedBy(speed, 2, within=within)).status is HOLDS
    assert run(ImpliedBy(speed, sp.Rational(199, 100), within=within)).status is FAILS
    assert run(ImpliedBy(repeats, 10**6, within=within)).status is HOLDS
    assert run(ImpliedBy(repeats, 999000, within=within)).status is FAILS


def test_conditions_that_nothing_meets_are_said_to_be_so():
    with pytest.raises(ClaimError, match=r"no point.* meets the conditions"):
        run(ImpliedBy(speed, width, where=(speed > width, speed < width)))


def test_narrow_conditions_are_met_by_moves():
    narrow = (speed > 500, speed < 501, width < speed / 10**5, depth * width > 4)
    assert run(ImpliedBy(speed * width, 3, where=narrow)).status is HOLDS


# ---- settings ----

ASKS = bound("toys.asks", width, step_size <= 1 / (10 * speed), clients >= 4)


def settled(settings, **more):
    return run(Satisfies("toys.asks", settings, **more), asks=ASKS)


def test_settings_inside_on_the_edge_and_outside():
    assert settled({"A": {"step_size": "0.1", "speed": 1, "clients": 4}}).status is HOLDS  # equality, in decimals
    assert settled({"A": {"step_size": 0.1, "speed": 1, "clients": 4}}).status is HOLDS
    found = settled(
        {"A": {"step_size": "0.1", "speed": 1, "clients": 4}, "B": {"step_size": "0.1000001", "speed": 1, "clients": 4}}
    )
    assert found.status is FAILS
    assert found.witness == {"condition 0": "B"}


def test_the_broken_conditions_are_the_audited_ones():
    setting = {"A": {"step_size": 1, "speed": 1, "clients": 4}}
    assert settled(setting, breaks=("condition 0",)).as_audited
    assert not settled(setting, breaks=("condition 1",)).as_audited
    assert not settled({"A": {"step_size": 1, "speed": 1, "clients": 3}}, breaks=("condition 0",)).as_audited


def test_what_is_not_published_leaves_it_open_unless_it_does_not_matter():
    found = settled({"A": {"step_size": "0.1", "clients": 4}})
    assert found.status is OPEN
    assert "not decided by what is published: condition 0" in found.evidence
    assert settled({"A": {"step_size": "0.1", "clients": 3}}).status is FAILS
    rare = bound("toys.asks", width, step_size <= 10**5 / speed)  # fails for the largest speeds alone
    assert run(Satisfies("toys.asks", {"A": {"step_size": 1}}), asks=rare).status is OPEN


def test_what_is_not_published_keeps_to_its_cap():
    capped = bound("toys.asks", width, limited <= 7)
    assert run(Satisfies("toys.asks", {"A": {"speed": 6}}), asks=capped).status is HOLDS
    assert run(Satisfies("toys.asks", {"A": {"speed": 8}}), asks=capped).status is OPEN


def test_misspelt_names_and_nonsense_values_are_refused():
    with pytest.raises(UnknownNameError, match="step_size"):
        settled({"A": {"step_sizes": "0.1"}})
    with pytest.raises(ClaimError, match="clients must be a whole number"):
        settled({"A": {"clients": "4.5"}})
    with pytest.raises(ClaimError, match="nothing is compared"):
        run(Satisfies("toys.free", {"A": {"clients": 3}}), free=bound("toys.free", width))
    with pytest.raises(ClaimError, match="nothing is compared"):
        settled({})


def test_conditions_over_clients_take_lists():
    weights = bound("toys.asks", width, ClientMax(client_weight) <= sp.Rational(1, 2))
    for given, status in (([".5", ".3", ".2"], HOLDS), ([".6", ".3", ".1"], FAILS)):
        assert run(Satisfies("toys.asks", {"A": {"client_weight": given}}), asks=weights).status is status


# ---- vacuity ----


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ((repeats >= 7, speed - width / 3 <= 0), ""),
        ((width / 3 >= speed, repeats - 7 >= 0), ""),
        ((repeats >= 7,), "asked for besides"),
        ((repeats >= 7, speed <= width / 3, depth < 2), "not asked for: depth < 2"),
        ((repeats >= 8, speed <= width / 3), "not asked for: repeats >= 8"),
        ((repeats >= 7, speed < width / 3), "not asked for"),
    ],
)
def test_conditions_written_out_again_are_the_same_as_functions(written, said):
    found = run(requires({"toys.f": written}), f=bound("toys.f", speed, speed <= width / 3, repeats >= 7))
    assert found.status is (FAILS if said else HOLDS)
    assert said in found.evidence


def test_informative_somewhere_and_nowhere():
    assert run(Informative(speed / repeats, width)).status is HOLDS
    nowhere = run(Informative(speed + width, width))
    assert (nowhere.status, nowhere.grade) == (FAILS, Grade.PROVED)
    assert run(Informative(speed**2 + width**2, 2 * speed * width)).status is FAILS


def test_published_values_and_generous_ranges_decide():
    ranges = {speed: (1, 2), width: (1, 2)}
    assert run(Informative(speed / repeats, width, given={repeats: 1}, within=ranges)).status is HOLDS
    assert run(Informative(3 * speed / repeats, width, given={repeats: 1}, within=ranges)).status is FAILS
    thin = {speed: (1, 2), width: (1, 2), repeats: (1, 2000)}
    assert run(Informative(1998 * speed / repeats, 2 * width / 2, within={**thin, width: (1, 1.001)})).status is HOLDS
    assert run(Informative(2001 * speed / repeats, width, within={**thin, width: (0.5, 1)})).status is FAILS


def test_broken_conditions_and_a_trivial_value_of_zero():
    silent = run(Informative(speed, 10**9, given={speed: 2}, where=(speed <= 1,)))
    assert silent.status is FAILS
    assert "silent" in silent.evidence
    assert run(Informative(speed, 0)).status is FAILS
    assert run(Informative(place, offset)).status is HOLDS  # below zero it says more


def test_the_nearest_point_is_named():
    found = run(Informative(speed**2 + width**2, 2 * speed * width))
    assert found.witness.keys() == {"speed", "width"}
    assert float(found.evidence.rsplit("nearest ", 1)[1].split()[0]) >= 1
