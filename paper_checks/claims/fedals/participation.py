"""Remark 4.2 and Appendix D: partial participation, (59) to (74), compared with all draws of three clients."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction as F
from itertools import combinations, product
from math import prod

from ..checkers import number
from ..claim import Book, fails, Finding, finding, holds

WEIGHTS = (F(47, 100), F(31, 100), F(22, 100))
VALUES = (F(9, 10), F(-17, 10), F(23, 10))
CENTRES = (F(-1), F(2), F(3, 2))
"""The minima of noise-free clients."""
Shares = tuple[F, ...]
"""The weight of every client in the average of the participants; zero for clients that do not take part."""


def case_1(cohort: int, weights: Sequence[F] = WEIGHTS) -> Iterator[tuple[F, Shares]]:
    """Yield all draws with replacement as pairs (probability, shares); a client drawn twice has twice the share."""
    for drawn in product(range(len(weights)), repeat=cohort):
        counts = tuple(F(drawn.count(k), cohort) for k in range(len(weights)))
        yield prod((weights[k] for k in drawn), start=F(1)), counts


def case_2(cohort: int, weights: Sequence[F] = WEIGHTS) -> Iterator[tuple[F, Shares]]:
    """Yield all subsets as pairs (probability, shares); a participant's share is its weight times clients / cohort."""
    subsets = list(combinations(range(len(weights)), cohort))
    for subset in subsets:
        shares = tuple(w * len(weights) / cohort if k in subset else F(0) for k, w in enumerate(weights))
        yield F(1, len(subsets)), shares


CASES = {"I": case_1, "II": case_2}


def expected(draws: Iterator[tuple[F, Shares]], of: Callable[[Shares], F]) -> F:
    """Return the expectation of a function of the shares."""
    return sum((chance * of(shares) for chance, shares in draws), F(0))


def dot(left: Sequence[F], right: Sequence[F]) -> F:
    return sum((a * b for a, b in zip(left, right, strict=True)), F(0))


def gap_of_participants(case: str, cohort: int, weights: Sequence[F] = WEIGHTS) -> F:
    """Return the left side of (71) for noise-free clients at ``CENTRES`` and half squared distances as loss."""

    def of(shares: Shares) -> F:
        risks = [(dot(shares, CENTRES) - c) ** 2 / 2 for c in CENTRES]
        return dot(weights, risks) - dot(shares, risks)

    return expected(CASES[case](cohort, weights), of)


def out_of_sample_gap(cohort: int, gaps: Sequence[F], weights: Sequence[F] = WEIGHTS) -> F:
    """Return the second gap of (62) in Case I for half squared distances: squared shares times local gaps."""
    return expected(case_1(cohort, weights), lambda shares: dot([s**2 for s in shares], gaps))


# ---- Lemmas D.1 and D.2, (59) to (71) ----

SIZES = (1, 2, 3)


def _moment(power: int, cohort: int) -> F:
    """Return the expected sum over clients of share^power times value in Case I."""
    return expected(case_1(cohort), lambda shares: dot([s**power for s in shares], VALUES))


def lemma(book: Book, power: int, name: str) -> Finding:
    """An identity of Lemma D.1 holds over all draws of Case I; else it does with repeated clients counted apart."""
    for size in SIZES:
        exact = _moment(power, size)
        stated = number(book, name, client_weight=WEIGHTS, client_value=VALUES, cohort=size, clients=3)
        if exact != stated:
            separate = _moment(1, size) / size ** (power - 1) == stated
            evidence = f"cohort {size}: {exact} over all draws, {stated} stated"
            evidence += "; true if the draws of one client are kept apart" if separate else ""
            return fails(evidence, as_audited=separate)
    return holds(f"equal in fractions over all draws of {', '.join(map(str, SIZES))} of three clients")


def limits(book: Book) -> Finding:
    mean, *partial = (dot(WEIGHTS[:k], VALUES[:k]) for k in (3, 1, 2))
    evidence = f"sums up to k = 1, 2: {', '.join(map(str, partial))}; the mean is {mean}"
    return finding(mean in partial, evidence)


def totals(book: Book, case: str) -> Finding:
    totals = {sum(shares, F(0)) for _, shares in CASES[case](2)}
    evidence = f"two of three clients: shares sum to {', '.join(map(str, sorted(totals)))}"
    return finding(totals == {F(1)}, evidence)


def mean_total(book: Book) -> Finding:
    mean = expected(case_2(2), lambda shares: sum(shares, F(0)))
    return finding(mean == 1, f"mean {mean}")


def support(book: Book) -> Finding:
    fewer = expected(case_1(2), lambda shares: F(sum(s > 0 for s in shares) < 2))
    evidence = f"Case I, two draws of three clients: only one takes part with probability {fewer}"
    return finding(fewer <= 0, evidence)


def gap_is_zero(book: Book) -> Finding:
    """The gap of the participants (71) is zero, as stated, in both cases."""
    stated = F(str(book["fedals.participation_gap"].expr))
    gaps = {case: gap_of_participants(case, 2) for case in CASES}
    evidence = "noise-free clients of weights 47/100, 31/100, 11/50 at -1, 2, 3/2, two take part, half squared "
    evidence += f"distances: {'; '.join(f'Case {case}: {gap}' for case, gap in gaps.items())}"
    as_audited = stated == 0 and all(gap != 0 for gap in gaps.values())
    return finding(all(gap == stated for gap in gaps.values()), evidence, as_audited=as_audited)


LOSS_FACTOR = F(27, 10)
"""L in the loss L/2 times the squared distance."""


def gap_is_spread(book: Book) -> Finding:
    mean = dot(WEIGHTS, CENTRES)
    distances = [(c - mean) ** 2 for c in CENTRES]
    for size in SIZES:
        gap = LOSS_FACTOR * gap_of_participants("I", size)
        stated = number(
            book, "fedals.participation_gap_quadratic", client_weight=WEIGHTS, client_distance_sq=distances,
            smoothness=LOSS_FACTOR, cohort=size,
        )  # fmt: skip
        if gap != stated:
            return fails(f"cohort {size}: {float(gap):.8g} over all draws, {float(stated):.8g} stated")
    return holds("equal over all draws of 1, 2 and 3 of three clients")


# ---- Remark 4.2, (73) and (74) as bounds ----


def _drift(client: int, weights: Sequence[F]) -> F:
    """Return half the expected squared distance of a client's model, of variance 1, to the averaged one in Case I."""
    own = [F(k == client) for k in range(3)]
    return expected(
        case_1(3, weights), lambda shares: sum((s - o) ** 2 for s, o in zip(shares, own, strict=True)) / F(2)
    )


def one_large_client(book: Book, name: str) -> Finding:
    """The bound is at least the gap of identical clients of which one has almost all weight; half squared distances."""
    weights = (F(999, 1000), F(1, 2000), F(1, 2000))
    gap = out_of_sample_gap(3, (F(1),) * 3, weights)
    drifts = [_drift(client, weights) for client in range(3)]
    stated = book[name](
        client_weight=list(map(float, weights)), smoothness=1.0, strong_convexity=1.0, cohort=3, local_gap=1.0,
        non_iidness=list(map(float, drifts)),
    )  # fmt: skip
    where = "half squared distances, local gaps 1, weights 0.999, 0.0005, 0.0005, three draws"
    return finding(float(gap) <= float(stated), f"{where}: gap {float(gap):.4g}, bound {float(stated):.4g}")


def noise_free(book: Book, name: str, case: str) -> Finding:
    thirds = (F(1, 3),) * 3
    gap = gap_of_participants(case, 2, thirds)
    values = {"client_weight": list(map(float, thirds)), "clients": 3, "cohort": 2, "smoothness": 1.0}
    values |= {"strong_convexity": 1.0, "local_gap": 0.0, "non_iidness": 0.5}
    stated = book[name](**{q.name: values[q.name] for q in book[name].quantities})
    evidence = f"three equal noise-free clients at -1, 2, 3/2, two take part: gap {gap}, bound {float(stated):.4g}"
    return finding(gap <= float(stated), evidence)
