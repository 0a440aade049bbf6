"""Remark 4.2 and Appendix D: partial participation, (59) to (74), against all draws of three clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction as F
from itertools import combinations, product
from math import prod

import sympy as sp

from bounds.fedals.letters import Delta, delta, K, K_hat, L, mu, w, x
from bounds.operators import ClientMean as E_k

from ..checkers import All, At, number, requires, resolve, Same, term
from ..claim import Book, Claim, claimed, Defect, fails, Finding, holds, judged, Kind, Repair
from .common import found_too, NONNEGATIVE

WEIGHTS = (F(47, 100), F(31, 100), F(22, 100))
VALUES = (F(9, 10), F(-17, 10), F(23, 10))
CENTRES = (F(-1), F(2), F(3, 2))
"""Where the clients are that have no noise."""
Shares = tuple[F, ...]
"""The weight of every client in the average of the participants: zero for those who stay away."""


def case_1(cohort: int, weights: Sequence[F] = WEIGHTS) -> Iterator[tuple[F, Shares]]:
    """Draws with replacement, by client: a client drawn twice has twice the weight."""
    for drawn in product(range(len(weights)), repeat=cohort):
        counts = tuple(F(drawn.count(k), cohort) for k in range(len(weights)))
        yield prod((weights[k] for k in drawn), start=F(1)), counts


def case_2(cohort: int, weights: Sequence[F] = WEIGHTS) -> Iterator[tuple[F, Shares]]:
    """Uniform subsets; a participant has its own weight times clients over cohort."""
    subsets = list(combinations(range(len(weights)), cohort))
    for subset in subsets:
        shares = tuple(w * len(weights) / cohort if k in subset else F(0) for k, w in enumerate(weights))
        yield F(1, len(subsets)), shares


CASES = {"I": case_1, "II": case_2}


def expected(draws: Iterator[tuple[F, Shares]], of: Callable[[Shares], F]) -> F:
    """The expectation of a function of the shares."""
    return sum((chance * of(shares) for chance, shares in draws), F(0))


def dot(left: Sequence[F], right: Sequence[F]) -> F:
    return sum((a * b for a, b in zip(left, right, strict=True)), F(0))


def participation_gap(case: str, cohort: int, weights: Sequence[F] = WEIGHTS) -> F:
    """(71), left side, for noise-free clients at ``CENTRES`` and half squared distances."""

    def of(shares: Shares) -> F:
        risks = [(dot(shares, CENTRES) - c) ** 2 / 2 for c in CENTRES]
        return dot(weights, risks) - dot(shares, risks)

    return expected(CASES[case](cohort, weights), of)


def out_of_sample_gap(cohort: int, gaps: Sequence[F], weights: Sequence[F] = WEIGHTS) -> F:
    """The second gap of (62) in Case I, half squared distances: every share squared times the client's local gap."""
    return expected(case_1(cohort, weights), lambda shares: dot([s**2 for s in shares], gaps))


# ---- Lemmas D.1 and D.2, (59) to (71) ----

ONE, CASE_1, CASE_2, COUNTED = (
    "fedals.one_round",
    "fedals.participation_case1",
    "fedals.participation_case2",
    "fedals.participation_case1_counted",
)
SIZES = (1, 2, 3)


def _moment(power: int, cohort: int) -> F:
    """The expected sum over clients of share^power times value in Case I."""
    return expected(case_1(cohort), lambda shares: dot([s**power for s in shares], VALUES))


def lemma(book: Book, power: int, name: str) -> Finding:
    """An identity of Lemma D.1 against all draws of Case I."""
    for size in SIZES:
        found = _moment(power, size)
        stated = number(book, name, client_weight=WEIGHTS, client_value=VALUES, cohort=size, clients=3)
        if found != stated:
            apart = _moment(1, size) / size ** (power - 1) == stated
            said = f"cohort {size}: {found} over all draws, {stated} stated"
            said += "; true if the draws of one client are kept apart" if apart else ""
            return fails(said, as_audited=apart)
    return holds(f"equal in fractions over all draws of {', '.join(map(str, SIZES))} of three clients")


COUNTED_ONCE = Claim(
    "fedals.lemma_d1.weight",
    "Case I: the participants' mean of value times a power of weight is the mean value over that power of the cohort.",
    Kind.THEOREM.at("Lemma D.1, eq. (63) (v1: C.1)"),
    {
        "the value": lambda book: lemma(book, 1, "fedals.lemma_d1_mean"),
        "times weight": lambda book: lemma(book, 2, "fedals.lemma_d1_weight_printed"),
        "times squared weight": lambda book: lemma(book, 3, "fedals.lemma_d1_weight_sq_printed"),
    },
    wrong=("times weight", "times squared weight"),
    note="Counted by draws, as the proof does, it is true. But (59) makes the weights a distribution over clients, and "
    "(72) is about a client's weight in the averaged model: 2/cohort for one that is drawn twice.",
    repair=Repair(
        "the moments of a binomial",
        {
            "times weight": lambda book: lemma(book, 2, "fedals.lemma_d1_weight"),
            "times squared weight": lambda book: lemma(book, 3, "fedals.lemma_d1_weight_sq"),
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
    Kind.THEOREM.at("Lemma D.2, eq. (67) (v1: C.2)"),
    {
        f"power {power}": Same(f"fedals.{name}", _chance(power))
        for power, name in ((1, "lemma_d2_mean"), (2, "lemma_d2_weight"), (3, "lemma_d2_weight_sq"))
    },
    damaged="(69) is cut off in v2 and read from v1; the upper limits k of the last sums in (68) to (70) are read as K",
)


@claimed(
    "fedals.lemma_d2.limits",
    "In the last sums of (68) to (70) the index runs up to k.",
    Kind.EQUATION.at("proof of Lemma D.2, eqs. (68) to (70)"),
    note="A slip of an index: K is meant; any shorter sum leaves clients out.",
    defect=Defect.SLIP,
)
def limits(book: Book) -> Finding:
    whole, *short = (dot(WEIGHTS[:k], VALUES[:k]) for k in (3, 1, 2))
    said = f"sums up to k = 1, 2: {', '.join(map(str, short))}; the mean is {whole}"
    return judged(whole in short, said)


def _totals(case: str) -> Finding:
    totals = {sum(shares, F(0)) for _, shares in CASES[case](2)}
    said = f"two of three clients: shares sum to {', '.join(map(str, sorted(totals)))}"
    return judged(totals == {F(1)}, said)


def _mean_total(book: Book) -> Finding:
    mean = expected(case_2(2), lambda shares: sum(shares, F(0)))
    return judged(mean == 1, f"mean {mean}")


DISTRIBUTION = Claim(
    "fedals.eq_59",
    "The participants' weights are a distribution over the participants.",
    Kind.DEFINITION.at("Appendix D, eqs. (59), (60)"),
    {"Case I": lambda book: _totals("I"), "Case II": lambda book: _totals("II")},
    note="In Case II they sum to one only on average, unless all clients have the same weight: the averaged model is "
    "then stretched or shrunk, and moving all data by the same vector does not move it by that vector.",
    repair=Repair("they sum to one in expectation", _mean_total),
    defect=Defect.REFUTED,
)


@claimed(
    "fedals.eq_59.support",
    "As many different clients take part as are drawn.",
    Kind.DEFINITION.at("Appendix D, before eq. (59)"),
    note="A slip: not in Case I, where a client may be drawn twice. (The text also excludes that all take part and "
    "allows a cohort of K.)",
    defect=Defect.SLIP,
)
def support(book: Book) -> Finding:
    fewer = expected(case_1(2), lambda shares: F(sum(s > 0 for s in shares) < 2))
    said = f"Case I, two draws of three clients: only one takes part with probability {fewer}"
    return judged(fewer <= 0, said)


def _gap_is_zero(book: Book) -> Finding:
    stated = F(str(book["fedals.participation_gap"].expr))
    found = {case: participation_gap(case, 2) for case in CASES}
    said = "; ".join(f"Case {case}: {gap}" for case, gap in found.items())
    who = "noise-free clients of weights 47/100, 31/100, 11/50 at -1, 2, 3/2, two take part"
    said = f"{who}, half squared distances: {said}"
    if all(gap == stated for gap in found.values()):
        return holds(said)
    return fails(said, as_audited=stated == 0 and all(gap != 0 for gap in found.values()))


LOSS_FACTOR = F(27, 10)
"""L, for the loss L/2 times the squared distance."""


def _gap_is_spread(book: Book) -> Finding:
    mean = dot(WEIGHTS, CENTRES)
    distances = [(c - mean) ** 2 for c in CENTRES]
    for size in SIZES:
        found = LOSS_FACTOR * participation_gap("I", size)
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
    note="The lemmas are about fixed numbers, and of a model that does not depend on who takes part it would be true; "
    "the averaged model does and lies nearer to them. So does the non-iidness that (72) averages: of the first of "
    "these clients it is 0, 9/8 or 25/32 in Case I, depending on who joins it.",
    repair=Repair(
        "squared distances, Case I: L over cohort times the clients' weighted squared distance",
        _gap_is_spread,
        "fedals.participation_gap_quadratic",
    ),
    defect=Defect.REFUTED,
)


# ---- Remark 4.2, (73) and (74) as bounds ----


def _drift(client: int, weights: Sequence[F]) -> F:
    """Half the expected squared distance of a client's model, of variance 1, from the averaged one, Case I."""
    own = [F(k == client) for k in range(3)]
    return expected(
        case_1(3, weights), lambda shares: sum((s - o) ** 2 for s, o in zip(shares, own, strict=True)) / F(2)
    )


def _one_large_client(book: Book, name: str) -> Finding:
    """Half squared distances, identical clients; all but few draws in a thousand are of the large one alone."""
    weights = (F(999, 1000), F(1, 2000), F(1, 2000))
    gap = out_of_sample_gap(3, (F(1),) * 3, weights)
    drifts = [_drift(client, weights) for client in range(3)]
    stated = book[name](
        client_weight=list(map(float, weights)), smoothness=1.0, strong_convexity=1.0, cohort=3, local_gap=1.0,
        non_iidness=list(map(float, drifts)),
    )  # fmt: skip
    where = "half squared distances, local gaps 1, weights 0.999, 0.0005, 0.0005, three draws"
    return judged(float(gap) <= float(stated), f"{where}: gap {float(gap):.4g}, bound {float(stated):.4g}")


ROOT = sp.sqrt(delta * Delta)


def _averaged(case: str, second: str, third: str) -> All:
    """(73), (74): the two terms of (72) under the second and third identity of a lemma, by their full names."""
    return All(
        {
            "local generalization": Same(
                term(case, "local generalization"), lambda book: L / mu * resolve(At(third, {x: Delta}), book)
            ),
            "non-iidness": Same(
                term(case, "non-iidness"),
                lambda book: 2 * sp.sqrt(L / mu) * resolve(At(second, {x: ROOT}), book),
                where=NONNEGATIVE,
            ),
        }
    )


D1, D2 = "fedals.lemma_d1_weight", "fedals.lemma_d2_weight"
SUBSTITUTED = Claim(
    "fedals.remark_4_2",
    "As formulas, Cases I and II are (6) with 1/cohort and with weight times K over cohort in place of a client's "
    "weight, and (72) with the identities of Lemmas D.1 and D.2 put in, non-iidness taken for a fixed number.",
    Kind.EQUATION.at("Remark 4.2; Appendix D, eqs. (73), (74)"),
    {
        "Case I": Same(CASE_1, At(ONE, {w: 1 / K_hat})),
        "Case II": Same(CASE_2, At(ONE, {w: w * K / K_hat})),
        "Case II, everyone": Same(At(CASE_2, {K_hat: K}), ONE),
        "Case I, Lemma D.1 as printed": _averaged(CASE_1, f"{D1}_printed", f"{D1}_sq_printed"),
        "Case II, Lemma D.2": _averaged(CASE_2, D2, f"{D2}_sq"),
        "signs": requires(dict.fromkeys((CASE_1, CASE_2, COUNTED), NONNEGATIVE)),
    },
    note="An identity of formulas, not a proof of bounds: non-iidness depends on who takes part (fedals.eq_71), and "
    "Case I's identities overlook clients that are drawn twice (fedals.lemma_d1.weight). As bounds both fail: "
    "fedals.eq_73.bound, fedals.eq_73.out_of_sample, fedals.eq_74.bound. The weights that the mean over clients is "
    "taken with stay what they are.",
)


def _noise_free(book: Book, name: str, case: str) -> Finding:
    thirds = (F(1, 3),) * 3
    gap = participation_gap(case, 2, thirds)
    known = {"client_weight": list(map(float, thirds)), "clients": 3, "cohort": 2, "smoothness": 1.0}
    known |= {"strong_convexity": 1.0, "local_gap": 0.0, "non_iidness": 0.5}
    stated = book[name](**{q.name: known[q.name] for q in book[name].quantities})
    said = f"three equal noise-free clients at -1, 2, 3/2, two take part: gap {gap}, bound {float(stated):.4g}"
    return judged(gap <= float(stated), said)


FAVOURED = Claim(
    "fedals.eq_73.bound",
    "(73) bounds the expected generalization gap (61) of Case I.",
    Kind.THEOREM.at("Appendix D, eq. (73)"),
    found_too(lambda book: _noise_free(book, CASE_1, "I"), CASE_1),
    note="Without noise all local gaps are zero and so is (73), whatever the non-iidness, but the participation gap "
    "that (71) drops is positive.",
    defect=Defect.REFUTED,
)
FAVOURED_2 = Claim(
    "fedals.eq_74.bound",
    "(74) bounds the expected generalization gap (61) of Case II.",
    Kind.THEOREM.at("Appendix D, eq. (74)"),
    found_too(lambda book: _noise_free(book, CASE_2, "II"), CASE_2),
    note="As for (73), with equal weights too, where the shares do sum to one.",
    defect=Defect.REFUTED,
)


ONE_LARGE = Claim(
    "fedals.eq_73.out_of_sample",
    "(73) bounds the out-of-sample gap, the second one of (62), of Case I.",
    Kind.THEOREM.at("Appendix D, eqs. (62), (73)"),
    lambda book: _one_large_client(book, CASE_1),
    note="With nearly all weight on one client every draw is that client: the averaged model is its model and its gap "
    "the local gap, while (73) divides it by the squared cohort.",
    repair=Repair(
        "(72) averaged with the moments counted by clients, non-iidness taken for a fixed number",
        {"formula": _averaged(COUNTED, D1, f"{D1}_sq"), "this instance": lambda book: _one_large_client(book, COUNTED)},
        COUNTED,
    ),
    about=("fedals.lemma_d1_weight_sq",),
    defect=Defect.REFUTED,
)
