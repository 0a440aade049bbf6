"""Findings of the audit of Decaying-K, by arithmetic of their own: plain loops and numbers typed from the paper."""

from fractions import Fraction

from paper_checks.audit.running import CLAIMS
from paper_checks.claims.claim import Book, Status
from paper_checks.claims.parabolas import Parabolas


def test_scalar_federations_run_as_by_hand():
    problem = Parabolas.of((2, -1), (1, 3))
    assert problem.local(1, Fraction(1), 2, Fraction(1, 4)) == [1, Fraction(-1, 2), Fraction(-7, 8)]
    assert problem.minimiser == Fraction(-1, 4)
    assert problem.loss(Fraction(1)) == Fraction(1, 4) + 3
    assert problem.round_ends(Fraction(1), 1, 1, Fraction(1, 4)) == [
        (Fraction(1, 2), Fraction(5, 4)),
        (Fraction(1, 2), Fraction(-1, 2)),
    ]


def test_every_failing_claim_says_why():
    assert not [c.name for c in CLAIMS.values() if c.paper == "decaying_k" and c.audited is Status.FAILS and not c.note]


def test_the_printed_step_size_is_above_the_limit_for_a_gradient_cap_that_strong_convexity_allows():
    """(x^2 + y^2/48)/2 at (1, 0): kappa = 48, F = 1/2, G^2 = 1 >= 2 mu F = 1/48, N = K = 1, four rounds: 1 > 1/4."""
    assert 2 * 48 * Fraction(1, 2) / 12 / 4 == 1 > Fraction(1, 4)
    witness = CLAIMS["decaying_k.corollary_2_1_cap"].check(Book()).witness
    cap, mu, loss, least = (
        Fraction(witness[n]) for n in ("grad_cap_sq", "strong_convexity", "current_loss", "optimal_loss")
    )
    assert cap >= 2 * mu * (loss - least)


def test_the_ratio_to_the_worst_case_is_rounded_down():
    """450.75 / 0.97149783 = 463.974... in the table."""
    said = CLAIMS["decaying_k.theorem_1.worst_case"].check(Book()).evidence
    assert said.startswith("bound / exact worst case >= 463.9 at ")
