"""Theorem 4.1: what it states and its proof, (10) to (37); the consensus distance, Remark 5.1."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import numpy as np
import sympy as sp

from bounds.fedals.letters import Delta, delta, distance_sq, K, L, mu, R, T, tau, w
from bounds.operators import bind, ClientMean as E_k, ClientSum

from ..checkers import At, MonotoneIn, Refuted, requires, Same, term
from ..claim import Book, Check, Claim, fails, Finding, Grade, holds, judged, Kind
from . import enumerated as tiny
from .common import NONNEGATIVE, shared
from .enumerated import clients, MU, SMOOTH, TOLERANCE

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
    "One variance bound for all models excludes least squares with different inputs, though it is convex and smooth.",
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

# ---- Theorem 4.1: what it states and what is read off its terms ----

THEOREM, DISCUSSION = "Theorem 4.1, eq. (6)", "Section 4.1, Discussion"
GAP, LOCAL_GAP, NON_IIDNESS, CLOSED, IID = (
    "fedals.gaussian_mean_gap",
    "fedals.gaussian_mean_local_gap",
    "fedals.gaussian_mean_non_iidness",
    "fedals.gaussian_mean_bound",
    "fedals.one_round_iid_claimed",
)
D, d, r = shared(Delta), shared(delta), shared(distance_sq)
LOCAL, DRIFT = term("fedals.one_round", "local generalization"), term("fedals.one_round", "non-iidness")

SPREAD_SQ = 2 * w**2 / mu * Delta
"""(26): what replacing one client's data moves the averaged model, squared and in the mean."""
SLOPE_SQ = 2 * L * delta
"""(29) with (36): the squared gradient of a client's training risk at the averaged model, in the mean."""


STATEMENT = Claim(
    "fedals.theorem_4_1",
    "As a formula, the one-round bound is (31) with the two estimates (26) and (29) put in.",
    Kind.EQUATION.at(THEOREM),
    {
        "local generalization": Same(LOCAL, E_k(L / 2 * SPREAD_SQ)),
        "non-iidness": Same(DRIFT, E_k(sp.sqrt(SLOPE_SQ * SPREAD_SQ)), where=NONNEGATIVE),
        "signs": requires({"fedals.one_round": NONNEGATIVE}),
    },
    note="An identity of formulas; whether the theorem holds is decided by fedals.eqs_16_37 and "
    "fedals.theorem_4_1.search. Numbered (15) and (37) in the appendix, where the same formula stands.",
)

READ_OFF = Claim(
    "fedals.discussion.local",
    "The bound is smaller where clients' own models generalise better, and grows with the clients' non-iidness.",
    Kind.REMARK.at(DISCUSSION),
    {
        "a Delta + b sqrt(delta Delta)": Same(
            "fedals.one_round",
            E_k(L / mu * w**2 * Delta) + E_k(2 * sp.sqrt(L / mu) * w * sp.sqrt(delta * Delta)),
            where=NONNEGATIVE,
        )
    },
    note="Both factors, a and b, are nonnegative. The bound alone is judged, not the gap.",
)


# ---- The proof of Theorem 4.1, (10) to (37) ----

SOLVERS = tuple(tiny.SOLVERS)
Sides = Callable[[Any], tuple[float, float]]
"""Left and right side of a step for the expectations of one client."""


def step(sides: Sides, equal: bool = False, solvers: tuple[str, ...] = SOLVERS) -> Check:
    """``left <= right`` (``=`` if ``equal``) for every client of the enumerated problem and every solver."""

    def run(book: Book) -> Finding:
        closest = 0.0
        for solver in solvers:
            for k, client in enumerate(clients(solver)):
                left, right = sides(client)
                close = abs(left - right) <= TOLERANCE * max(abs(left), abs(right))
                if not (close if equal else left <= right or close):
                    return fails(f"client {k + 1}, {solver}: {left:.8g} against {right:.8g}")
                closest = max(closest, left / right if right else 1.0)
        return holds("equal" if equal else f"left at most {closest:.4f} of right", Grade.SEARCHED)

    return run


def _exchanged(book: Book) -> Finding:
    """The lemma for two data sets of a client, all else arbitrary: chances, risks, models, whatever else is drawn.

    A client's data enter as one of finitely many sets, and both sides are sums over pairs of them, equal or not: two
    sets show every such pair. ``own`` is the client's set, ``copy`` the other one; the rest of the world is held fixed.
    """
    chances = sp.symbols("p0:2", positive=True)
    risk = [[sp.Symbol(f"r{model}{data}", real=True) for data in (0, 1)] for model in (0, 1)]
    gap = swap = sp.Integer(0)
    for own, copy in product((0, 1), repeat=2):
        chance = chances[own] * chances[copy]
        gap += chance * (risk[own][copy] - risk[own][own])
        swap += chance * (risk[own][copy] - risk[copy][copy])
    stated = book["fedals.lemma_b1"]
    weights = sp.symbols("w0:2", positive=True)
    swaps = sp.symbols("g0:2", real=True)
    mean = bind(stated.expr, {q: dict(client_weight=weights, swap_gap=swaps)[q.name] for q in stated.quantities})
    same = sp.expand((gap - swap).subs(chances[1], 1 - chances[0])) == 0
    weighed = sp.expand(mean - sum(w * g for w, g in zip(weights, swaps, strict=True))) == 0
    said = "both sides equal as polynomials in all chances and risks, and averaged with the clients' weights"
    return judged(same and weighed, said, grade=Grade.PROVED)


LEMMA = Claim(
    "fedals.lemma_b1",
    "The expected gap is what the loss on a client's fresh data rises by when that client has trained on other data.",
    Kind.THEOREM.at("Lemma B.1, eqs. (10) to (14) (v1: A.1)"),
    {"exchange": _exchanged, "conditions": requires({"fedals.lemma_b1": ()})},
)


def _descent(book: Book) -> Finding:
    """(17) for every pair of models and every data set: the second-order expansion of a smooth function."""
    grid = np.linspace(-4.0, 5.0, 37)
    x, y = grid[:, None, None], grid[None, :, None]
    worst = -np.inf
    for sets in tiny.SETS:
        left = tiny.risk(y, sets[None, None]) - tiny.risk(x, sets[None, None])
        right = tiny.risk_slope(x, sets[None, None]) * (y - x) + SMOOTH / 2 * (y - x) ** 2
        worst = max(worst, float((left - right).max()))
    said = f"largest left - right {worst:.3g} over 37 x 37 models"
    return judged(worst <= TOLERANCE, said, grade=Grade.SEARCHED)


def _first_form(c: Any) -> float:
    """(31), the bracket."""
    return SMOOTH / 2 * c.moved_sq + float((c.slope_sq * c.moved_sq) ** 0.5)


def _second_form(c: Any) -> float:
    """(32), the bracket."""
    moved = 2 * c.weight**2 / MU * c.gap
    return SMOOTH * c.weight**2 / MU * c.gap + float((2 * SMOOTH * c.drift_on_copy * moved) ** 0.5)


def above(*names: str, solvers: tuple[str, ...] = SOLVERS) -> Check:
    """The gap of the enumerated problem is at most each of these bounds, for every solver."""

    def run(book: Book) -> Finding:
        pairs = {f"{name}, {s}": (tiny.gap(s), tiny.at(book[name], s)) for name in names for s in solvers}
        said = "; ".join(f"{what}: gap {a:.5g}, bound {b:.5g}" for what, (a, b) in pairs.items())
        return judged(all(a <= b for a, b in pairs.values()), said, grade=Grade.SEARCHED)

    return run


CHAIN = Claim(
    "fedals.eqs_16_37",
    "On a problem whose data sets are all enumerated every step of the proof of Theorem 4.1 holds, and its bound is "
    "above the gap.",
    Kind.PROOF.at("proof of Theorem 4.1, eqs. (16) to (37)"),
    {
        "(17)": _descent,
        "(19)": step(lambda c: (c.inner, c.inner_size)),
        "(20)": step(lambda c: (c.inner_size, c.norms)),
        "(21)": step(lambda c: (c.norms, (c.slope_sq * c.moved_sq) ** 0.5)),
        "(12) = (13)": step(lambda c: (c.own, c.swapped), equal=True),
        "(14)": step(lambda c: (c.swap, c.fresh - c.swapped), equal=True),
        "(22)": step(lambda c: (c.moved_sq, c.weight**2 * c.local_moved_sq), equal=True),
        "(23)": step(lambda c: (c.local_moved_sq, 2 / MU * c.excess_on_copy), solvers=("exact",)),
        "(26)": step(lambda c: (c.excess_on_copy, c.gap), equal=True),
        "(28)": step(lambda c: (c.slope_sq, 2 * SMOOTH * c.above_best_on_copy)),
        "(29)": step(lambda c: (c.above_best_on_copy, c.drift_on_copy), equal=True, solvers=("exact",)),
        "(31)": step(lambda c: (c.swap, _first_form(c))),
        "(32)": step(lambda c: (_first_form(c), _second_form(c)), solvers=("exact",)),
        "(36)": step(lambda c: (c.drift_on_copy, c.drift), equal=True),
        "(37)": above("fedals.one_round", solvers=("exact",)),
    },
    note="In double precision, for two clients and one loss. (22) needs a loss that is "
    "convex in what is averaged, (28) minimisers without a gradient: fedals.theorem_4_1.conditions. (25) holds in "
    "expectation only, (29) with equality, (35) is a number without an equation, and the text beside (22) writes "
    "S^(k,i) as if one sample had been replaced.",
)
