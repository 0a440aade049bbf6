"""Definitions and assumptions: composition, consensus distance, can the assumptions be met; Remark 5.1 of v1."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import permutations, product

import sympy as sp

from bounds.operators import ClientSum
from bounds.vocabulary import (
    client_distance_sq as distance_sq,
    clients as K,
    consensus_distance,
    iterations as T,
    local_steps as tau,
    rounds as R,
)

from ..checkers import At, Computed, MeasuredIn, MonotoneIn, Refuted, Same
from ..claim import Book, Claim, fails, Finding, Grade, holds, judged, Kind, Repair, Status

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


def _variance(curvatures: tuple[F, ...], theta: F) -> F:
    """Variance of the slope of ``a (theta - b)^2 / 2`` over equally likely samples (a, b), b = 1, 2, ..."""
    slopes = [a * (theta - b) for b, a in enumerate(curvatures, start=1)]
    mean = sum(slopes, F(0)) / len(slopes)
    return sum(((s - mean) ** 2 for s in slopes), F(0)) / len(slopes)


def _regression(book: Book) -> Finding:
    """Least squares with unlike inputs: the curvature differs by sample, and the variance grows with the model."""
    near, far = (_variance((F(1), F(2), F(4)), F(theta)) for theta in (10, 1000))
    same = {_variance((F(1), F(1), F(1)), F(theta)) for theta in (-1000, 0, 7)}
    said = f"curvatures 1, 2, 4: gradient variance {float(near):.4g} at 10, {float(far):.4g} at 1000; alike {min(same)}"
    return judged(far <= near, said, as_audited=len(same) == 1)


RESTRICTIVE = Claim(
    "fedals.theorem_4_3.regression",
    "One variance bound for all models excludes least squares with unlike inputs, though it is convex and smooth.",
    Kind.ASSUMPTION.at("Theorem 4.3"),
    Refuted(Computed("gradient variance of least squares, in fractions", _regression)),
    note="Ours: as every loss whose curvature differs from sample to sample. Squared distances meet all assumptions.",
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
    {
        "at given iterations": MonotoneIn(RATE, tau, up=True),
        "at given rounds it falls": MonotoneIn(At(RATE, {T: tau * R}), tau, up=False),
    },
    note="With T = tau R two terms do not change and the third falls. Quoted from another paper without its constants, "
    "so that no units and no dependence on the clients are left.",
)
