"""Definitions and assumptions: composition, consensus distance, can the assumptions be met; Remark 5.1 of v1."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import permutations, product

import numpy as np
import sympy as sp

from bounds.operators import ClientSum
from bounds.vocabulary import (
    client_distance_sq as distance_sq,
    clients as K,
    consensus_distance,
    iterations as T,
    local_gap as Delta,
    local_steps as tau,
    non_iidness as delta,
    rounds as R,
)

from ..checkers import At, Computed, ImpliedBy, MeasuredIn, MonotoneIn, OrderIs, Refuted, Same, term, undecided
from ..claim import Book, Claim, fails, Finding, Grade, holds, judged, Kind, Repair, Status
from .by_hand import enumerated as tiny
from .common import alike, MU_AT_MOST_L, shared

CONSENSUS, RATE = "fedals.consensus_distance", "fedals.optimization_rate"
INPUT, FEATURES, LABEL = "inputs", "features", "labels"
MAPS = {"extractor": (INPUT, FEATURES), "head": (FEATURES, LABEL)}
"""Section 3.4: what the two parts of a model map from and to."""


def _composed(outer: str, inner: str) -> Computed:
    """``outer o inner`` is outer(inner(x)): it needs what inner maps to, and is to map inputs to labels."""

    def run(book: Book) -> Finding:
        (begin, middle), (wanted, end) = MAPS[inner], MAPS[outer]
        said = f"{inner}: {begin} to {middle}, then {outer}: {wanted} to {end}"
        return holds(said, Grade.PROVED) if (begin, middle, end) == (INPUT, wanted, LABEL) else fails(said)

    return Computed(f"domains of {outer} after {inner}", run)


def _unfitted(book: Book) -> Finding:
    """(3) for a model that no data set has had a part in, and for the averaged local minimisers."""
    fixed = sum(
        float(v * np.mean(tiny.risk(np.array(tiny.START), pool[None]) - tiny.risk(np.array(tiny.START), sets)))
        for v, pool, sets in zip(tiny.WEIGHTS, tiny.POOLS, tiny.SETS, strict=True)
    )
    fitted = tiny.gap("exact")
    said = f"a fixed model {fixed:.2g}, averaged minimisers {fitted:.4g}"
    return judged(abs(fixed) < tiny.TOLERANCE < fitted, said)


GAP = Claim(
    "fedals.eq_3",
    "The generalization error is what fitting the data costs: zero in the mean for a model that has not seen them.",
    Kind.DEFINITION.at("Section 3.2, eqs. (1) to (3)"),
    Computed("expected gap, all data sets gone through", _unfitted),
)


def _drawn(replace: bool) -> set[F]:
    """Probabilities of two of three fair coins (0 or 1) that are drawn from a data set, with or without replacement."""
    orders = list(product(range(3), repeat=2)) if replace else list(permutations(range(3), 2))
    chance: dict[tuple[int, ...], F] = {}
    for data, order in product(product((0, 1), repeat=3), orders):
        seen = tuple(data[i] for i in order)
        chance[seen] = chance.get(seen, F(0)) + F(1, 8 * len(orders))
    return set(chance.values())


def _independent(book: Book) -> Finding:
    without, with_again = _drawn(replace=False), _drawn(replace=True)
    said = f"two of three coins: {shown_set(without)} without replacement, {shown_set(with_again)} with"
    return judged(without == {F(1, 4)} != with_again, said)


def shown_set(values: set[F]) -> str:
    return ", ".join(map(str, sorted(values)))


INDEPENDENT = Claim(
    "fedals.eq_55.draws",
    "Points of one round that are drawn without replacement are like independent draws from the client's distribution.",
    Kind.PROOF.at("Theorem 4.3; proof of Theorem C.2, eq. (55)"),
    Computed("all data sets of three coins, in fractions", _independent),
    note="Within one round. Over several rounds the same data come back: see fedals.settings.fresh.",
)

FIRST = undecided(
    "fedals.related.first",
    "These are the first bounds for FedAvg in a general non-iid setting, and the first different averaging periods.",
    Kind.REMARK.at("Sections 1 and 4"),
    "a statement about all earlier papers, which no computation decides",
)

COMPOSED_V1 = Claim(
    "fedals.section_3_4.v1",
    "A model is the composition of extractor and head, written with the extractor to the left.",
    Kind.DEFINITION.at("Section 3.4", "v1"),
    _composed("extractor", "head"),
    Status.FAILS,
    note="A slip of notation, mended in v2. Read as functions are composed everywhere, it applies the head to the "
    "inputs.",
    repair=Repair("head to the left, as v2 writes it", _composed("head", "extractor")),
)

COMPOSED_V2 = Claim(
    "fedals.section_3_4.v2",
    "A model is the composition of head and extractor, the head to the left.",
    Kind.DEFINITION.at("Section 3.4", "v2"),
    _composed("head", "extractor"),
)

DISTANCE = Claim(
    "fedals.consensus_distance",
    "The consensus distance is the plain mean of the squared distances to the mean model, zero after an average.",
    Kind.DEFINITION.at("Section 1"),
    {
        "mean": Same(CONSENSUS, ClientSum(distance_sq) / K),
        "average": Same(At(CONSENSUS, {distance_sq: sp.S.Zero}), 0),
        "unit": MeasuredIn(CONSENSUS, consensus_distance),
    },
    note="Uniform whatever the weights of (4). With FedALS only the part that is averaged comes together.",
)

ALONE = Claim(
    "fedals.eq_6.alone",
    "For a single client the one-round bound is not below that client's own gap.",
    Kind.DEFINITION.at("Theorem 4.1, eq. (6)"),
    ImpliedBy(
        shared(Delta),
        At(alike("fedals.one_round"), {K: sp.S.One, shared(delta): sp.S.Zero}),
        where=(sp.Ge(shared(Delta), 0), MU_AT_MOST_L),
    ),
    note="Its averaged model is its own, without non-iidness: L/mu times the gap.",
)


def _variance(curvatures: tuple[F, ...], theta: F) -> F:
    """Variance of the slope of ``a (theta - b)^2 / 2`` over equally likely samples (a, b), b = 1, 2, ..."""
    slopes = [a * (theta - b) for b, a in enumerate(curvatures, start=1)]
    mean = sum(slopes, F(0)) / len(slopes)
    return sum(((s - mean) ** 2 for s in slopes), F(0)) / len(slopes)


def _together(book: Book) -> Finding:
    """Squared distances: L = mu = 1, and a gradient variance that is the same at every model."""
    found = {_variance((F(1), F(1), F(1)), F(theta)) for theta in (-1000, 0, 7)}
    return (
        holds(f"squared distances: gradient variance {found} at three models") if len(found) == 1 else fails(f"{found}")
    )


def _regression(book: Book) -> Finding:
    """Least squares with unlike inputs: the curvature differs by sample, and the variance grows with the model."""
    near, far = (_variance((F(1), F(2), F(4)), F(theta)) for theta in (10, 1000))
    said = f"curvatures 1, 2, 4: gradient variance {float(near):.4g} at 10, {float(far):.4g} at 1000"
    return judged(far <= near, said)


TOGETHER = Claim(
    "fedals.theorem_4_3.together",
    "Theorem 4.3's assumptions can be met together: strong convexity, smoothness, a variance bound for all models.",
    Kind.ASSUMPTION.at("Theorem 4.3"),
    Computed("gradient variance of squared distances, in fractions", _together),
)

RESTRICTIVE = Claim(
    "fedals.theorem_4_3.regression",
    "One variance bound for all models excludes least squares with unlike inputs, though it is convex and smooth.",
    Kind.ASSUMPTION.at("Theorem 4.3"),
    Refuted(Computed("gradient variance of least squares, in fractions", _regression)),
    note="Ours: as every loss whose curvature differs from sample to sample.",
)

LONGER = Claim(
    "fedals.section_5.goal",
    "The design goal is reached if the extractor's number of local steps is larger than the extractor's.",
    Kind.REMARK.at("Section 5", "v1"),
    lambda book: _larger(1, 1),
    Status.FAILS,
    note="A misprint, mended in v2: both symbols are printed alike, the head's is meant on the right.",
    repair=Repair("larger than the head's: alpha times as large", lambda book: _larger(10, 1)),
)


def _larger(left: int, right: int) -> Finding:
    """Steps of the two parts the sentence compares, in periods of the head's (alpha = 10)."""
    said = f"{left} against {right} periods of the head"
    return holds(said, Grade.PROVED) if left > right else fails(said)


MORE_STEPS = Claim(
    "fedals.remark_5_1",
    "For a given number of iterations, averaging less often raises the rate at which the empirical risk is optimised.",
    Kind.REMARK.at("Remark 5.1", "v1"),
    MonotoneIn(RATE, tau, up=True),
    note="At a given number of iterations, not of rounds: with T = tau R two terms do not change and the third falls.",
)

MORE_ROUNDS = Claim(
    "fedals.remark_5_1.rounds",
    "For a given number of rounds, averaging less often lowers that rate.",
    Kind.REMARK.at("Remark 5.1", "v1"),
    MonotoneIn(At(RATE, {T: tau * R}), tau, up=False),
    note="Ours: the remark is about a given number of iterations.",
)

RATE_PRINTED = Claim(
    "fedals.remark_5_1.rate",
    "The rate has three terms, of which the inverse root of the iterations decides in the end.",
    Kind.EQUATION.at("Remark 5.1", "v1"),
    {
        "T": OrderIs(RATE, T, 1 / sp.sqrt(T)),
        "first order": Same(At(term(RATE, "first order"), {T: tau * R}), 1 / R),
        "drift": Same(At(term(RATE, "drift"), {T: tau * R}), R ** -sp.Rational(2, 3)),
        "sampling": Same(term(RATE, "sampling"), T ** -sp.Rational(1, 2)),
    },
    note="Quoted from another paper without its constants, so that no units and no dependence on the clients are left.",
)
