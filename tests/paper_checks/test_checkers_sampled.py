"""DominatesSampled: planted true and false statements, looked at after every draw."""

import math

import numpy as np
import pytest
from checker_toys import bound, run, speed

from paper_checks.claims.checkers import At, DominatesSampled
from paper_checks.claims.claim import ClaimError, Grade, Status

HOLDS, FAILS, OPEN = Status.HOLDS, Status.FAILS, Status.OPEN


def exponential(mean, salt=0):
    """Draws of an exponential number of this mean: one per seed."""
    return lambda seed: float(np.random.default_rng([seed, salt]).exponential(mean))


def beta(mean, salt=0):
    """Draws between 0 and 1 of this mean."""
    return lambda seed: float(np.random.default_rng([seed, salt]).beta(4 * mean, 4 * (1 - mean)))


def test_a_false_statement_is_caught():
    found = run(DominatesSampled(1.0, exponential(1.6)))
    assert (found.status, found.grade) == (FAILS, Grade.SAMPLED)
    assert "error rate of 0.05" in found.evidence
    assert float(found.witness["mean"]) > 1


def test_a_true_statement_is_confirmed_where_the_upper_tail_is_known():
    with_cap = run(DominatesSampled(0.5, beta(0.3), cap=1.0))
    assert with_cap.status is HOLDS
    assert "decided by a bet" in with_cap.evidence
    assert run(DominatesSampled(1.0, exponential(0.6), mean_square=2.0)).status is HOLDS
    assert run(DominatesSampled(1.0, exponential(0.6), mean_square=200.0, most=200)).status is OPEN


@pytest.mark.parametrize(
    ("number", "known", "status", "factor"),
    [
        (1.9, {}, FAILS, lambda share: 1 + share * (1.9 - 1.3) / 1.3),
        (0.8, {"cap": 4.1}, HOLDS, lambda share: 1 + share * (1.3 - 0.8) / (4.1 - 1.3)),
        (0.8, {"mean_square": 2.3}, HOLDS, lambda share: fair_bet(share * 2 / 1.3)),
    ],
)
def test_so_many_equal_draws_decide_as_the_bets_say(number, known, status, factor):
    """Each bet multiplies its wealth by its factor at every draw; their mean must reach 1 / error rate."""
    shares = [0.5**k for k in range(1, 14)]
    draws = next(n for n in range(1, 2000) if sum(factor(s) ** n for s in shares) / len(shares) >= 1 / 0.07)
    found = run(DominatesSampled(1.3, lambda seed: number, error_rate=0.07, **known))
    assert found.status is status
    assert f"of {draws} draws" in found.evidence


def fair_bet(stake):
    """What a draw of 0.8 makes of a stake on a mean below 1.3, the mean square being at most 2.3."""
    return math.exp(-stake * 0.8) / (1 - stake * 1.3 + stake**2 * 2.3 / 2)


def test_without_knowledge_of_the_upper_tail_nothing_is_confirmed():
    """Any sample of zeros agrees with a mean of any size."""
    found = run(DominatesSampled(1.0, lambda seed: 0.0, most=300))
    assert found.status is OPEN
    assert "upper tail" in found.evidence


def test_skewed_numbers_a_little_above_the_bound_are_not_called_below_it():
    """Where t tests err: samples of a skewed law tend to look small and sure of it."""
    rng = np.random.default_rng(11)
    verdicts = [
        run(DominatesSampled(1 - 1e-9, rng.lognormal(-0.5, 1.0, 100).__getitem__, most=100, mean_square=np.e)).status
        for _ in range(60)
    ]
    assert verdicts.count(HOLDS) <= 6


def test_what_is_too_near_to_tell_stays_open():
    assert run(DominatesSampled(1.0, exponential(1.0), most=300)).status is OPEN
    assert run(DominatesSampled(0.4, beta(0.4), cap=1.0, most=300)).status is OPEN


def test_a_heavy_tail_below_the_bound_is_not_called_a_violation():
    """Nearly always 0, at times 40, with the mean 0.8: a t test over few draws could be fooled, the bet is not."""

    def rare(seed):
        return 40.0 if np.random.default_rng([seed, 5]).random() < 0.02 else 0.0

    assert run(DominatesSampled(1.0, rare, cap=40.0, most=1500)).status is not FAILS


@pytest.mark.parametrize("draws", [exponential, beta])
def test_true_statements_at_equality_are_rarely_called_false(draws):
    mean = 0.5
    verdicts = [run(DominatesSampled(mean, draws(mean, salt), most=80)).status for salt in range(100, 160)]
    assert verdicts.count(FAILS) <= 6  # 60 of error rate 0.05; more than 6 has chance 0.03, the seeds are fixed


def test_the_bound_comes_from_the_book():
    check = DominatesSampled(At("toys.f", {speed: 2}), beta(0.7), cap=3.0)
    assert run(check, f=bound("toys.f", speed)).status is HOLDS
    assert run(check, f=bound("toys.f", speed / 4)).status is FAILS
    with pytest.raises(ClaimError, match="speed have no value"):
        run(DominatesSampled("toys.f", exponential(1.0)), f=bound("toys.f", speed))


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (DominatesSampled(-1.0, exponential(1.0)), "must be positive"),
        (DominatesSampled(1.0, exponential(1.0), error_rate=0.0), "must be positive"),
        (DominatesSampled(1.0, lambda seed: -0.1), "between 0 and inf"),
        (DominatesSampled(1.0, lambda seed: float("nan")), "between 0 and inf"),
        (DominatesSampled(0.5, lambda seed: 1.5, cap=1.0), "between 0 and 1"),
        (DominatesSampled(2.0, beta(0.5), cap=1.0), "nothing to sample"),
        (DominatesSampled(2.0, beta(0.5), mean_square=3.0), "nothing to sample"),
    ],
)
def test_what_breaks_the_test_is_refused(check, words):
    with pytest.raises(ClaimError, match=words):
        run(check)
