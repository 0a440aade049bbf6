"""Partial participation: Remark 4.2, Lemmas D.1 and D.2, (59) to (74), against all draws of a few clients."""

from __future__ import annotations

from fractions import Fraction as F

import sympy as sp

from bounds.fedals.letters import K, K_hat, w, x
from bounds.operators import ClientMean as E_k

from ..checkers import All, number, Same
from ..claim import Book, Check, Claim, Defect, fails, Finding, holds, judged, Kind, Repair
from . import sampling
from .common import found_too
from .sampling import dot, WEIGHTS

D1, D2 = "Lemma D.1, eq. (63) (v1: C.1)", "Lemma D.2, eq. (67) (v1: C.2)"
ONE, CASE_1, CASE_2, COUNTED = (
    "fedals.one_round",
    "fedals.participation_case1",
    "fedals.participation_case2",
    "fedals.participation_case1_counted",
)
SIZES = (1, 2, 3)


VALUES = (F(9, 10), F(-17, 10), F(23, 10))


def _moment(power: int, cohort: int) -> F:
    """The expected sum over clients of share^power times value in Case I."""
    return sampling.expected(sampling.case_1(cohort), lambda shares: dot([s**power for s in shares], VALUES))


def lemma(power: int, name: str) -> Check:
    """An identity of Lemma D.1 against all draws of Case I."""

    def run(book: Book) -> Finding:
        for size in SIZES:
            found = _moment(power, size)
            stated = number(book, name, client_weight=WEIGHTS, client_value=VALUES, cohort=size, clients=3)
            if found != stated:
                apart = _moment(1, size) / size ** (power - 1) == stated
                said = f"cohort {size}: {found} over all draws, {stated} stated"
                said += "; true if the draws of one client are kept apart" if apart else ""
                return fails(said, as_audited=apart)
        return holds(f"equal in fractions over all draws of {', '.join(map(str, SIZES))} of three clients")

    return run


COUNTED_ONCE = Claim(
    "fedals.lemma_d1.weight",
    "Case I: the participants' mean of value times a power of weight is the mean value over that power of the cohort.",
    Kind.THEOREM.at(D1),
    All(
        {
            "the value": lemma(1, "fedals.lemma_d1_mean"),
            "times weight": lemma(2, "fedals.lemma_d1_weight_printed"),
            "times squared weight": lemma(3, "fedals.lemma_d1_weight_sq_printed"),
        },
        wrong=("times weight", "times squared weight"),
    ),
    note="Counted by draws, as the proof does, it is true. But (59) makes the weights a distribution over clients, and "
    "(72) speaks of a client's weight in the averaged model: 2/cohort for one that is drawn twice.",
    repair=Repair(
        "the moments of a binomial",
        {
            "times weight": lemma(2, "fedals.lemma_d1_weight"),
            "times squared weight": lemma(3, "fedals.lemma_d1_weight_sq"),
        },
        "fedals.lemma_d1_weight_sq",
    ),
    defect=Defect.READING,
)


def _chance(power: int) -> sp.Expr:
    """(67), left side: a client's chance to be in a uniform subset, its share to a power, its value."""
    taking = sp.combsimp(sp.binomial(K - 1, K_hat - 1) / sp.binomial(K, K_hat))
    return E_k(taking * (w * K / K_hat) ** power * x / w)


LEMMA_D2 = Claim(
    "fedals.lemma_d2",
    "Case II: the three expectations are those of a mean in which every client has its weight times K over cohort.",
    Kind.THEOREM.at(D2),
    {
        f"power {power}": Same(f"fedals.{name}", _chance(power))
        for power, name in ((1, "lemma_d2_mean"), (2, "lemma_d2_weight"), (3, "lemma_d2_weight_sq"))
    },
    damaged="(69) is cut off in v2 and read from v1; the upper limits k of the last sums in (68) to (70) are read as K",
)


def _partial_sums(book: Book) -> Finding:
    whole, *short = (dot(WEIGHTS[:k], VALUES[:k]) for k in (3, 1, 2))
    said = f"sums up to k = 1, 2: {', '.join(map(str, short))}; the mean is {whole}"
    return judged(whole in short, said)


LIMITS = Claim(
    "fedals.lemma_d2.limits",
    "In the last sums of (68) to (70) the index runs up to k.",
    Kind.EQUATION.at("proof of Lemma D.2, eqs. (68) to (70)"),
    _partial_sums,
    note="A slip of an index: K is meant; any shorter sum leaves clients out.",
    defect=Defect.SLIP,
)


def _totals(case: str) -> Check:
    def run(book: Book) -> Finding:
        totals = {sum(shares, F(0)) for _, shares in sampling.CASES[case](2)}
        said = f"two of three clients: shares sum to {', '.join(map(str, sorted(totals)))}"
        return judged(totals == {F(1)}, said)

    return run


def _mean_total(book: Book) -> Finding:
    mean = sampling.expected(sampling.case_2(2), lambda shares: sum(shares, F(0)))
    return judged(mean == 1, f"mean {mean}")


DISTRIBUTION = Claim(
    "fedals.eq_59",
    "The participants' weights are a distribution over the participants.",
    Kind.DEFINITION.at("Appendix D, eqs. (59), (60)"),
    {"Case I": _totals("I"), "Case II": _totals("II")},
    note="In Case II they sum to one only on average, unless all clients have the same weight: the averaged model is "
    "then stretched or shrunk, and moving all data by the same vector does not move it by that vector.",
    repair=Repair("they sum to one in expectation", _mean_total),
    defect=Defect.REFUTED,
)


def _repeats(book: Book) -> Finding:
    fewer = sampling.expected(sampling.case_1(2), lambda shares: F(sum(s > 0 for s in shares) < 2))
    said = f"Case I, two draws of three clients: only one takes part with probability {fewer}"
    return judged(fewer <= 0, said)


SUPPORT = Claim(
    "fedals.eq_59.support",
    "As many different clients take part as are drawn.",
    Kind.DEFINITION.at("Appendix D, before eq. (59)"),
    _repeats,
    note="A slip: not in Case I, where a client may be drawn twice. (The text also excludes that all take part and "
    "allows a cohort of K.)",
    defect=Defect.SLIP,
)


def _gap_is_zero(book: Book) -> Finding:
    stated = F(str(book["fedals.participation_gap"].expr))
    found = {case: sampling.participation_gap(case, 2) for case in sampling.CASES}
    said = "; ".join(f"Case {case}: {gap}" for case, gap in found.items())
    who = "noise-free clients of weights 47/100, 31/100, 11/50 at -1, 2, 3/2, two take part"
    said = f"{who}, half squared distances: {said}"
    if all(gap == stated for gap in found.values()):
        return holds(said)
    return fails(said, as_audited=stated == 0 and all(gap != 0 for gap in found.values()))


LOSS_FACTOR = F(27, 10)
"""L, for the loss L/2 times the squared distance."""


def _gap_is_spread(book: Book) -> Finding:
    mean = dot(WEIGHTS, sampling.CENTRES)
    distances = [(c - mean) ** 2 for c in sampling.CENTRES]
    for size in SIZES:
        found = LOSS_FACTOR * sampling.participation_gap("I", size)
        stated = number(
            book, "fedals.participation_gap_quadratic", client_weight=WEIGHTS, client_distance_sq=distances,
            smoothness=LOSS_FACTOR, cohort=size,
        )  # fmt: skip
        if found != stated:
            return fails(f"cohort {size}: {float(found):.8g} over all draws, {float(stated):.8g} stated")
    return holds("equal over all draws of 1, 2 and 3 of three clients")


NO_GAP = Claim(
    "fedals.eq_71",
    "The expected participation gap of the averaged model is zero in both cases.",
    Kind.EQUATION.at("Appendix D, eq. (71)"),
    found_too(_gap_is_zero, "fedals.participation_gap"),
    note="The lemmas speak of fixed numbers, and of a model that does not depend on who takes part it would be true; "
    "the averaged model does and lies nearer to them. So does the non-iidness that (72) averages: of the first of "
    "these clients it is 0, 9/8 or 25/32 in Case I, depending on who joins it.",
    repair=Repair(
        "squared distances, Case I: L over cohort times the clients' weighted squared distance",
        _gap_is_spread,
        "fedals.participation_gap_quadratic",
    ),
    defect=Defect.REFUTED,
)
