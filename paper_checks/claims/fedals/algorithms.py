"""Algorithms 1 and 2 of both versions: what their lines do, against what the text says they do."""

from __future__ import annotations

from collections.abc import Callable

from ..checkers import Refuted
from ..claim import Book, Check, Claim, Defect, fails, Finding, holds, Kind, Repair
from .by_hand import listings as lines
from .by_hand.listings import FedAls, HEAD, PHI, Place, Vector

ROUNDS, TAU, ALPHA = 6, 3, 2
ALGORITHM_1_V1, ALGORITHM_1_V2 = ("Algorithm 1", "v1"), ("Algorithm 1", "v2")


def shown(model: Vector) -> str:
    return f"({float(model[0]):.5g}, {float(model[1]):.5g})"


def same(takes: str, left: Callable[[], Vector], right: Callable[[], Vector]) -> Check:
    """Two runs end with the same model, in fractions."""

    def run(book: Book) -> Finding:
        a, b = left(), right()
        return holds(f"both end at {shown(a)}") if a == b else fails(f"{shown(a)} against {shown(b)}")

    return run


def version_1(tau: int = TAU, alpha: int = ALPHA) -> FedAls:
    return FedAls(tau, alpha, 1, lines.current, else_if=True)


def exchanged_first(tau: int = TAU, alpha: int = ALPHA) -> FedAls:
    """Algorithm 1 of v2 with the exchange in front of the step: its left-hand sides are then right to the letter."""
    return FedAls(tau, alpha, 0, lines.to_the_letter, else_if=False, before=True)


def version_2(assign: Place = lines.current, tau: int = TAU, alpha: int = ALPHA) -> FedAls:
    return FedAls(tau, alpha, 0, assign, else_if=False)


def sends(book: Book) -> Finding:
    """v1's else-if for many periods: the extractor's test is only reached where the head's has failed."""
    for tau in range(1, 6):
        for alpha in range(1, 6):
            run = version_1(tau, alpha)
            run.run(4)
            if run.sent[PHI]:
                return holds(f"tau = {tau}, alpha = {alpha}: sent after steps {run.sent[PHI]}")
            if not run.sent[HEAD]:
                return fails(f"tau = {tau}: not even the head is sent", as_audited=False)
    return fails("never sent for any tau, alpha from 1 to 5: a multiple of alpha tau is one of tau")


def _period(book: Book) -> Finding:
    for tau in range(1, 6):
        for alpha in (*range(1, 6), 10):
            run = version_2(tau=tau, alpha=alpha)
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
    letter, current = (version_2(assign).run(ROUNDS) for assign in (lines.to_the_letter, lines.current))
    alone = lines.alone(ROUNDS, TAU)
    said = f"to the letter {shown(letter)}, from the averages {shown(current)}, each client on its own {shown(alone)}"
    return holds(said) if letter == current else fails(said, as_audited=letter == alone)


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
            "the exchange in front of the step against averages after every tau and alpha tau steps",
            lambda: exchanged_first().run(ROUNDS),
            lambda: lines.intended(ROUNDS, TAU, ALPHA),
        ),
    ),
    defect=Defect.SLIP,
)

ALPHA_ONE = Claim(
    "fedals.algorithm_1.fedavg",
    "For alpha = 1 Algorithm 1 is FedAvg, as the first row of Table 2 says.",
    Kind.ALGORITHM.at("Algorithm 1 and Table 2", "v2"),
    same(
        "Algorithm 1 with alpha = 1 against Algorithm 2",
        lambda: version_2(alpha=1).run(ROUNDS),
        lambda: lines.fedavg(ROUNDS, TAU),
    ),
    note="The same slip as fedals.algorithm_1.assignment. Written to the new iterate, as in the released code, "
    "averages come one step into each period, and the models that are returned have gone apart again.",
    repair=Repair(
        "the exchange before the step, or the counter tested after it",
        {
            "before": same(
                "lines 6 to 13 before line 5, against Algorithm 2",
                lambda: exchanged_first(alpha=1).run(ROUNDS),
                lambda: lines.fedavg(ROUNDS, TAU),
            ),
            "after": same(
                "averages after every tau steps against Algorithm 2",
                lambda: lines.intended(ROUNDS, TAU, 1),
                lambda: lines.fedavg(ROUNDS, TAU),
            ),
        },
    ),
    defect=Defect.SLIP,
)


def _common_start(book: Book) -> Finding:
    """Models of both clients where a round's exchange is done, for alpha = 2 and for alpha = 1."""
    apart = {}
    for alpha in (1, ALPHA):
        run = version_2(alpha=alpha)
        run.run(ROUNDS)
        here = [[run.iterates[k, r, 1] for k in lines.CLIENTS] for r in range(ROUNDS)]
        apart[alpha] = [r for r, (a, b) in enumerate(here) if a != b]
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
