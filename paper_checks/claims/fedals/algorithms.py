"""Algorithms 1 and 2 of both versions: what their lines do, against what the text says they do."""

from __future__ import annotations

from collections.abc import Callable

from ..checkers import Refuted
from ..claim import Book, Check, Claim, Defect, fails, Finding, holds, Kind, Repair
from .listings import ALPHA, Array, HEAD, Listing, PHI, ROUNDS, TAU, trained

ALGORITHM_1_V1, ALGORITHM_1_V2 = ("Algorithm 1", "v1"), ("Algorithm 1", "v2")
EXCHANGED_FIRST = {"to_the_letter": True, "before": True}
"""Version 2 with the exchange in front of the step: its left-hand sides are then right to the letter."""


def shown(model: Array) -> str:
    return f"({float(model[0]):.5g}, {float(model[1]):.5g})"


def same(left: Callable[[], Array], right: Callable[[], Array]) -> Check:
    """Two runs end with the same model, in fractions."""

    def run(book: Book) -> Finding:
        a, b = left(), right()
        return holds(f"both end at {shown(a)}") if (a == b).all() else fails(f"{shown(a)} against {shown(b)}")

    return run


def fedavg() -> Array:
    """Algorithm 2."""
    return trained("fedavg()", ROUNDS, TAU).model


def sends(book: Book) -> Finding:
    """v1's else-if for many periods: the extractor's test is only reached where the head's has failed."""
    for tau in range(1, 6):
        for alpha in range(1, 6):
            run = Listing(tau, alpha, first=1, else_if=True)
            run.run(4)
            if run.sent[PHI]:
                return holds(f"tau = {tau}, alpha = {alpha}: sent after steps {run.sent[PHI]}")
            if not run.sent[HEAD]:
                return fails(f"tau = {tau}: not even the head is sent", as_audited=False)
    return fails("never sent for any tau, alpha from 1 to 5: a multiple of alpha tau is one of tau")


def _period(book: Book) -> Finding:
    for tau in range(1, 6):
        for alpha in (*range(1, 6), 10):
            run = Listing(tau, alpha)
            run.run(4 * alpha)
            if run.sent[PHI] != [1 + i * alpha * tau for i in range(4)]:
                return fails(f"tau = {tau}, alpha = {alpha}: after steps {run.sent[PHI]}")
            if run.sent[HEAD] != [1 + i * tau for i in range(4 * alpha)]:
                return fails(f"tau = {tau}: head after steps {run.sent[HEAD]}")
    return holds("head after steps 1, tau + 1, 2 tau + 1, ..., extractor after 1, alpha tau + 1, ...")


ELSE_IF = Claim(
    "fedals.algorithm_1.else_if",
    "Algorithm 1 of v1 averages the extractor every alpha tau steps.",
    Kind.ALGORITHM.at(*ALGORITHM_1_V1),
    sends,
    note="A slip, mended in v2: the extractor's test stands in the else branch of the head's, which is true whenever "
    "it would be.",
    repair=Repair("two separate tests, as in v2; the first average then comes after the first step", _period),
    defect=Defect.SLIP,
)


def _goes_on(book: Book) -> Finding:
    """The listing to the letter, written to the new iterate, and clients that train on their own."""
    letter, current = (Listing(to_the_letter=yes).run(ROUNDS) for yes in (True, False))
    alone = trained("fedavg()", 1, ROUNDS * TAU).model
    said = f"to the letter {shown(letter)}, from the averages {shown(current)}, each client on its own {shown(alone)}"
    return holds(said) if (letter == current).all() else fails(said, as_audited=bool((letter == alone).all()))


LETTER = Claim(
    "fedals.algorithm_1.assignment",
    "In Algorithm 1 clients go on from the averages that they receive.",
    Kind.ALGORITHM.at(*ALGORITHM_1_V2),
    _goes_on,
    note="A slip in the order of lines (or of an index): lines 8 and 12 overwrite the iterate that line 5 has just "
    "used, so that to the letter no average is ever used. The released code writes to the new iterate.",
    repair=Repair(
        "lines 6 to 13 before line 5: the algorithm that the text describes",
        same(
            lambda: Listing(**EXCHANGED_FIRST).run(ROUNDS), lambda: trained(f"fedals(alpha={ALPHA})", ROUNDS, TAU).model
        ),
    ),
    defect=Defect.SLIP,
)

ALPHA_ONE = Claim(
    "fedals.algorithm_1.fedavg",
    "For alpha = 1 Algorithm 1 is FedAvg, as the first row of Table 2 says.",
    Kind.ALGORITHM.at("Algorithm 1 and Table 2", "v2"),
    same(lambda: Listing(alpha=1).run(ROUNDS), fedavg),
    note="The same slip as fedals.algorithm_1.assignment. Written to the new iterate, as in the released code, "
    "averages come one step into each period, and the models that are returned have gone apart again.",
    repair=Repair(
        "the exchange before the step, or the counter tested after it",
        {
            "before": same(lambda: Listing(alpha=1, **EXCHANGED_FIRST).run(ROUNDS), fedavg),
            "after": same(lambda: trained("fedals(alpha=1)", ROUNDS, TAU).model, fedavg),
        },
    ),
    defect=Defect.SLIP,
)


def _common_start(book: Book) -> Finding:
    """Models of both clients where a round's exchange is done, for alpha = 2 and for alpha = 1."""
    apart = {}
    for alpha in (1, ALPHA):
        run = Listing(alpha=alpha)
        run.run(ROUNDS)
        apart[alpha] = [r for r in range(ROUNDS) if (run.iterates[r, 1][0] != run.iterates[r, 1][1]).any()]
    said = f"clients differ after the exchange of rounds {apart[ALPHA]} for alpha = {ALPHA}, {apart[1]} for alpha = 1"
    return fails(said, as_audited=not apart[1]) if apart[ALPHA] else holds(said)


APPLIES = Claim(
    "fedals.section_5.applies",
    "Theorem 4.3 is about FedAvg and does not cover FedALS: with alpha > 1 clients start all rounds but every alpha-th "
    "from extractors of their own.",
    Kind.REMARK.at("Section 5; Theorem 4.3"),
    Refuted(_common_start),
    note="FedALS is motivated by (9), with other steps for each part, and has no bound of its own. (9) has one "
    "complexity, one sample count and one number of steps for the whole model, so that v1's reason, a head of lower "
    "complexity than the extractor, does not follow from it either.",
    ours=True,
)
