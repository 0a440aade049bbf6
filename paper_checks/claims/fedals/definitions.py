"""Consensus distance; what the variance bound of Theorem 4.3 excludes; Remark 5.1 of v1."""

from __future__ import annotations

from fractions import Fraction as F

import sympy as sp

from bounds.operators import ClientSum
from bounds.vocabulary import (
    client_distance_sq as distance_sq,
    clients as K,
    iterations as T,
    local_steps as tau,
    rounds as R,
)

from ..checkers import At, Computed, MonotoneIn, Refuted, Same
from ..claim import Book, Claim, Finding, judged, Kind

CONSENSUS, RATE = "fedals.consensus_distance", "fedals.optimization_rate"
DISTANCE = Claim(
    "fedals.consensus_distance",
    "The consensus distance is the plain mean of the squared distances to the mean model, zero after an average.",
    Kind.DEFINITION.at("Section 1"),
    {
        "mean": Same(CONSENSUS, ClientSum(distance_sq) / K),
        "average": Same(At(CONSENSUS, {distance_sq: sp.S.Zero}), 0),
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
    note="As every quadratic loss whose curvature differs from sample to sample. Squared distances meet all of them.",
    ours=True,
)

MORE_STEPS = Claim(
    "fedals.remark_5_1",
    "For a given number of iterations, averaging less often makes the quoted bound on the optimisation error larger.",
    Kind.REMARK.at("Remark 5.1", "v1"),
    {
        "at given iterations": MonotoneIn(RATE, tau, up=True),
        "at given rounds it falls": MonotoneIn(At(RATE, {T: tau * R}), tau, up=False),
    },
    note="With T = tau R two terms do not change and the third falls. Quoted from another paper without its constants, "
    "so that no units and no dependence on the clients are left. The paper says that the empirical risk grows, which a "
    "larger bound does not show: clients of one Hessian return one model however often they average "
    "(fedals.section_5.same_model).",
)
