"""The proof of Theorem 4.1, (10) to (37): each step on a problem whose data sets are all gone through."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from bounds.vocabulary import (
    grad_norm_sq as G2,
    local_gap as Delta,
    non_iidness as delta,
    smoothness as L,
    step_size as eta,
    strong_convexity as mu,
)

from ..checkers import ArgminIs, Computed, Requires, Same
from ..claim import Book, Check, Claim, fails, Finding, Grade, holds, judged, Kind
from .by_hand import enumerated as tiny
from .by_hand.enumerated import Client, clients, MU, SMOOTH, TOLERANCE, WEIGHTS

SOLVERS = tuple(tiny.SOLVERS)
Sides = Callable[[Client, float], tuple[float, float]]
"""Left and right side of a step for one client of this weight."""


def step(takes: str, sides: Sides, equal: bool = False, solvers: tuple[str, ...] = SOLVERS) -> Check:
    """``left <= right`` (``=`` if ``equal``) for every client of the enumerated problem and every solver."""

    def run(book: Book) -> Finding:
        seen, closest = 0, 0.0
        for solver in solvers:
            for k, client in enumerate(clients(solver)):
                left, right = sides(client, float(WEIGHTS[k]))
                close = abs(left - right) <= TOLERANCE * max(abs(left), abs(right))
                if not (close if equal else left <= right or close):
                    return fails(f"client {k + 1}, {solver}: {left:.8g} against {right:.8g}")
                seen, closest = seen + 1, max(closest, left / right if right else 1.0)
        said = f"{'equal' if equal else f'left at most {closest:.4f} of right'} for {seen} clients and solvers"
        return holds(f"{said}; all data sets gone through, double precision")

    return Computed(takes, run)


def _swapped(book: Book) -> Finding:
    for solver in SOLVERS:
        left, right = tiny.gap(solver), tiny.at(book["fedals.lemma_b1"], solver)
        if abs(left - right) > TOLERANCE * abs(left):
            return fails(f"{solver}: gap {left:.8g} against {right:.8g}")
    return holds(f"gap {left:.8g} = mean of the swapped losses, exact and inexact solver")


def _sign_of_swap(book: Book) -> Finding:
    """(14) is (11) minus (13): the bracket of the lemma is their difference."""
    return step("bracket of (10)", lambda c, w: (c.swap, c.fresh - c.swapped), equal=True)(book)


PROOF = "proof of Theorem 4.1"

LEMMA = Claim(
    "fedals.lemma_b1",
    "The expected gap is what the loss on a client's fresh data rises by when that client has trained on other data.",
    Kind.THEOREM.at("Lemma B.1, eqs. (10) to (14) (v1: A.1)"),
    {
        "(10) is the gap": Computed("mean of the swapped losses against the gap", _swapped),
        "(12) = (13)": step("own loss against swapped", lambda c, w: (c.own, c.swapped), equal=True),
        "(14)": Computed("bracket against (11) minus (13)", _sign_of_swap),
        "conditions": Requires("fedals.lemma_b1"),
    },
)


def _descent(book: Book) -> Finding:
    """(17) for every pair of models and every data set: the second-order expansion of a smooth function."""
    import numpy as np

    worst = -np.inf
    for sets in tiny.SETS:
        grid = np.linspace(-4.0, 5.0, 37)
        x, y = grid[:, None, None], grid[None, :, None]
        left = tiny.risk(y, sets[None, None]) - tiny.risk(x, sets[None, None])
        right = tiny.risk_slope(x, sets[None, None]) * (y - x) + SMOOTH / 2 * (y - x) ** 2
        worst = max(worst, float((left - right).max()))
    return holds(f"largest left - right {worst:.3g} over 37 x 37 models") if worst <= TOLERANCE else fails(f"{worst}")


DESCENT = Claim(
    "fedals.eq_17",
    "A smooth loss rises by at most its slope times the move plus L/2 times the squared move.",
    Kind.PROOF.at("proof of Theorem 4.1, eqs. (17), (18)"),
    Computed("both sides on a grid of models and all data sets", _descent),
)


def _lagrange(book: Book) -> Finding:
    """(20) in two and three dimensions: what the product of the norms squared has over the squared inner product."""
    for n in (2, 3):
        a, b = (sp.symbols(f"{letter}:{n}", real=True) for letter in "ab")
        norms = sum(v**2 for v in a) * sum(v**2 for v in b)
        inner = sum(u * v for u, v in zip(a, b, strict=True)) ** 2
        squares = sum((a[i] * b[j] - a[j] * b[i]) ** 2 for i in range(n) for j in range(i))
        if sp.expand(norms - inner - squares) != 0:
            return fails(f"{n} dimensions")
    return holds("the rest is a sum of squares in two and three dimensions", Grade.PROVED)


CAUCHY = Claim(
    "fedals.eqs_19_21",
    "The inner product of (17) is in the mean at most the root of the product of two mean squares.",
    Kind.PROOF.at("proof of Theorem 4.1, eqs. (19) to (21)"),
    {
        "(19)": step("inner product, absolute", lambda c, w: (c.inner, c.inner_size)),
        "(20)": step("product of norms", lambda c, w: (c.inner_size, c.norms)),
        "(20) of vectors": Computed("Lagrange's identity", _lagrange),
        "(21)": step("root of mean squares", lambda c, w: (c.norms, (c.slope_sq * c.moved_sq) ** 0.5)),
    },
)

MOVED = Claim(
    "fedals.eq_22",
    "Replacing one client's data moves the averaged model by that client's weight times the move of its own model.",
    Kind.PROOF.at("proof of Theorem 4.1, eqs. (22), (39)"),
    step("(22)", lambda c, w: (c.moved_sq, w**2 * c.local_moved_sq), equal=True),
    note="The text beside it writes S^(k,i), as if a single sample had been replaced; all of the client's are.",
)

CONVEX = Claim(
    "fedals.eq_23",
    "Strong convexity bounds the squared move of an exact local model by 2/mu of its excess risk on the other data.",
    Kind.PROOF.at("proof of Theorem 4.1, eqs. (23), (27)"),
    step("(23)", lambda c, w: (c.local_moved_sq, 2 / MU * c.excess_on_copy), solvers=("exact",)),
)

INEXACT_CONVEX = Claim(
    "fedals.eq_23.exact_needed",
    "Step (23) needs exact local minimisers: without them the excess risk may even be negative.",
    Kind.ASSUMPTION.at("proof of Theorem 4.1, eq. (23)"),
    lambda book: _stuck(),
)


def _stuck() -> Finding:
    """A learning map that answers -0.3 times the minimiser: its local gap is below zero."""
    import numpy as np

    gaps = []
    for sets, pool in zip(tiny.SETS, tiny.POOLS, strict=True):
        theta = -0.3 * tiny.minimisers(sets)
        own, fresh = tiny.risk(theta, sets), tiny.risk(theta, np.broadcast_to(pool, (len(sets), len(pool))))
        gaps.append(float(np.mean(fresh - own)))
    said = f"models at -0.3 of their minimisers: local gaps {gaps[0]:.4g} and {gaps[1]:.4g}, squared moves positive"
    return judged(max(gaps) < 0, said)


LOCAL = Claim(
    "fedals.eqs_24_26",
    "The mean excess risk of a local model on fresh data over the model trained on them is its generalization gap.",
    Kind.PROOF.at("proof of Theorem 4.1, eqs. (24) to (26)"),
    step("(23) against (26)", lambda c, w: (c.excess_on_copy, c.gap), equal=True),
    note="(25) holds in expectation only: the population risk in it is not that of the data set it names.",
)

SLOPES = Claim(
    "fedals.eq_28",
    "The squared gradient of a smooth risk is at most 2L times how far the risk is above its smallest value.",
    Kind.PROOF.at("proof of Theorem 4.1, eqs. (28) to (30), (48), (49)"),
    {
        "step to take": ArgminIs(-eta * G2 + L / 2 * eta**2 * G2, eta, 1 / L),
        "what it gains": Same((-eta * G2 + L / 2 * eta**2 * G2).subs(eta, 1 / L), -G2 / (2 * L)),
        "(28)": step("(28)", lambda c, w: (c.slope_sq, 2 * SMOOTH * c.above_best_on_copy)),
        "(29)": step("(29)", lambda c, w: (c.above_best_on_copy, c.drift_on_copy), equal=True, solvers=("exact",)),
    },
    note="From (18) with the best step. (29) is printed as an inequality and is an equality for exact minimisers.",
)

UNPRIMED = Claim(
    "fedals.eq_36",
    "The excess risk of the averaged model on a client's data has the same mean if data and copy are exchanged.",
    Kind.PROOF.at("proof of Theorem 4.1, eqs. (33), (36)"),
    step("(36)", lambda c, w: (c.drift_on_copy, c.drift), equal=True),
)


def _first_form(c: Client, w: float) -> float:
    """(31), the bracket."""
    return SMOOTH / 2 * c.moved_sq + float((c.slope_sq * c.moved_sq) ** 0.5)


def _second_form(c: Client, w: float) -> float:
    """(32), the bracket."""
    moved = 2 * w**2 / MU * c.gap
    return SMOOTH * w**2 / MU * c.gap + float((2 * SMOOTH * c.drift_on_copy * moved) ** 0.5)


def _dominated(book: Book) -> Finding:
    measured, stated = tiny.gap("exact"), tiny.at(book["fedals.one_round"], "exact")
    said = f"gap {measured:.6g}, bound {stated:.6g}: {stated / measured:.3f} of it"
    return judged(measured <= stated, said)


CHAIN = Claim(
    "fedals.eqs_31_34",
    "(31) bounds the gap, and (32) to (34) bound (31): the theorem's bound is above the gap.",
    Kind.PROOF.at("proof of Theorem 4.1, eqs. (31) to (37)"),
    {
        "(31)": step("bracket of (10) against (31)", lambda c, w: (c.swap, _first_form(c, w))),
        "(32)": step("(31) against (32)", lambda c, w: (_first_form(c, w), _second_form(c, w)), solvers=("exact",)),
        "(37)": Computed("gap against the one-round bound", _dominated),
        "(33) to (34)": Same(
            sp.sqrt(2 * L * delta * 2 * Delta / mu),
            2 * sp.sqrt(L / mu) * sp.sqrt(delta * Delta),
            where=(sp.Ge(Delta, 0), sp.Ge(delta, 0)),
        ),
    },
    note="(35) is an equation number without an equation.",
)


def _signs(book: Book) -> Finding:
    least = min(min(c.gap, c.drift) for c in clients("exact"))
    return holds(f"smallest of them {least:.4g}") if least > 0 else fails(f"{least:.4g}")


SIGNS = Claim(
    "fedals.theorem_4_1.signs",
    "The bound's roots are of nonnegative numbers: exact minimisers have nonnegative local gaps and non-iidness.",
    Kind.ASSUMPTION.at("Theorem 4.1, eq. (6)"),
    {
        "measured": Computed("expected local gaps and non-iidness", _signs),
        "proof": step("mu/2 of the squared move", lambda c, w: (MU / 2 * c.local_moved_sq, c.gap), solvers=("exact",)),
    },
    note="(23) with (26) bounds the local gap from below by a square.",
)
