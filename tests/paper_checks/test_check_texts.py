"""Checks written as text: each statement is the checker that Python would write, and a mistake is refused."""

import pytest
import sympy as sp
from loops import cases

from bounds.fedinit.letters import beta, C, eta, K, L, N, T
from bounds.units import LOSS
from paper_checks.claims import checkers as c
from paper_checks.claims.check_texts import CheckParser
from paper_checks.claims.claim import Book, ClaimError, holds

PARSER = CheckParser(
    "fedinit", {"SHORT": "(K >= 2, eta <= 1/(K*L))", "STEP": "1/(2*L)"}, {"said": lambda book, n=0: holds(f"{n}")}
)
ONE = "fedinit.theorem_1"


@cases(
    "text check",
    [
        ("theorem_1(eta=STEP) == K/N ratio 2 where SHORT, N > 1",
         c.Same(c.At(ONE, {eta: 1 / (2 * L)}), K / N, 2, where=(K >= 2, eta <= 1 / (K * L), N > 1))),
        ("eta <= 3/2 under lemma_2, lemma_3 within K 2..9, beta 0..0.1",
         c.ImpliedBy(eta, sp.Rational(3, 2), under=("fedinit.lemma_2", "fedinit.lemma_3"),
                   within={K: (2.0, 9.0), beta: (0.0, 0.1)})),
        ("theorem_1 falls in N", c.MonotoneIn(ONE, N, up=False)),
        ("theorem_1 -> 0 as T -> oo", c.TendsTo(ONE, T, sp.oo, 0)),
        ("theorem_1 is at most of order 1/T as T -> oo", c.OrderIs(ONE, T, 1 / T, at_most=True)),
        ("K/T + T is smallest at sqrt(K) over T", c.ArgminIs(K / T + T, T, sp.sqrt(K))),
        ("theorem_1 has unit LOSS off by LOSS**-1", c.MeasuredIn(ONE, LOSS, LOSS**-1)),
        ("theorem_1 can be below 2*L given K=5 where N <= C",
         c.Informative(ONE, 2 * L, {K: 5}, (N <= C,))),
        ("theorem_1 ends at eta < STEP", c.EdgeIs(ONE, eta, 1 / (2 * L), closed=False)),
        ("theorem_1 ends at T >= K", c.EdgeIs(ONE, T, K, below=False)),
        ("theorem_1 requires SHORT assumes smooth, convex words 1",
         c.States(ONE, (K >= 2, eta <= 1 / (K * L)), ("smooth", "convex"), 1)),
        ("not theorem_1 survives a search family quadratics", c.Refuted(c.Dominates(ONE, family="quadratics"))),
    ],
)  # fmt: skip
def test_a_statement_is_the_checker_that_python_would_write(text, check):
    assert PARSER.check(text) == check


def test_bounds_may_stand_anywhere_in_an_expression():
    book, made = Book(), PARSER.formula("sqrt(lemma_2)/K + at(eta*K, eta=lemma_3)")
    assert made(book) == sp.sqrt(c.resolve("fedinit.lemma_2", book)) / K + c.resolve("fedinit.lemma_3", book) * K
    assert book.requested == {"fedinit.lemma_2", "fedinit.lemma_3"}
    terms = PARSER.formula('theorem_1["initial loss", "gradient noise"]')
    assert terms(book) == c.term(ONE, "initial loss", "gradient noise")(book)
    assert PARSER.formula("slope(eta**2*lemma_2, K)")(book) == sp.diff(eta**2 * c.resolve("fedinit.lemma_2", book), K)


def test_a_slope_is_measured_along_powers_of_ten():
    check = PARSER.check("K/T**2 has slope -2 +- 0.01 in T from 10^2 to 10^9 by 10^1 given K=3")
    assert isinstance(check, c.SlopeIs)
    assert check.curve(Book())[1][0] == pytest.approx(3e-4)
    assert check(Book()).status == "HOLDS"


def test_a_check_in_python_gets_the_book_and_the_arguments_of_the_text():
    assert PARSER.check("said")(Book()).evidence == "0"
    assert PARSER.check("said(n=7)")(Book()).evidence == "7"


@cases(
    "text",
    [
        "theorem_1 == sigma", "theorem_1 == K within K 2..9", "theorem_1 falls in sigma", "nothing", "K",
        "theorem_1 -> 0 as T", "theorem_9 survives a search",
    ],
)  # fmt: skip
def test_a_mistake_in_a_text_is_refused(text):
    with pytest.raises(ClaimError):
        PARSER.check(text)
