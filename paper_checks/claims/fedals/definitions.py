"""Consensus distance; what the variance bound of Theorem 4.3 excludes; Remark 5.1 of v1."""

from __future__ import annotations

from itertools import combinations

import sympy as sp

from bounds.fedals.letters import distance_sq, K, R, T, tau
from bounds.operators import ClientSum

from ..checkers import At, MonotoneIn, Refuted, Same
from ..claim import Book, Claim, Finding, Grade, judged, Kind

CONSENSUS, RATE = "fedals.consensus_distance", "fedals.optimization_rate"
DISTANCE = Claim(
    "fedals.consensus_distance",
    "The consensus distance is the plain mean of the squared distances to the mean model, zero after an average.",
    Kind.DEFINITION.at("Section 1"),
    {"mean": Same(CONSENSUS, ClientSum(distance_sq) / K), "average": Same(At(CONSENSUS, {distance_sq: sp.S.Zero}), 0)},
    note="Uniform whatever the weights of (4). With FedALS only the part that is averaged comes together.",
)


def _regression(book: Book) -> Finding:
    """The variance of the slope of ``a (theta - b)^2 / 2`` over three equally likely samples (a, b), all letters."""
    theta, curvatures, places = sp.Symbol("theta", real=True), sp.symbols("a1:4"), sp.symbols("b1:4")
    slopes = [a * (theta - b) for a, b in zip(curvatures, places, strict=True)]
    variance = sp.Poly(sum(s**2 for s in slopes) / 3 - (sum(slopes) / 3) ** 2, theta)
    growth = variance.coeff_monomial(theta**2)
    pairs = sum((a - b) ** 2 for a, b in combinations(curvatures, 2)) / 9
    unlike = growth.subs(dict(zip(curvatures, (1, 2, 4), strict=True)))
    said = (
        "over the square of the model the gradient variance of three equally likely samples tends to the sum of the "
        f"squared differences of their curvatures over 9: {unlike} for 1, 2, 4, zero for like ones alone"
    )
    return judged(sp.expand(growth - pairs) != 0, said, grade=Grade.PROVED)


RESTRICTIVE = Claim(
    "fedals.theorem_4_3.regression",
    "One variance bound for all models excludes least squares with unlike inputs, though it is convex and smooth.",
    Kind.ASSUMPTION.at("Theorem 4.3"),
    Refuted(_regression),
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
