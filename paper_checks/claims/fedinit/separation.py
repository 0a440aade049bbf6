"""Appendix A.3.2, last display: the separation of two runs, summed over steps and rounds."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from bounds.fedinit.letters import beta, c, eta, K, L, L_G, mu_0, root_sum, S, s, sigma2, sigma_l, T, t_0, tau

from ..checkers import At, ImpliedBy, Same, term, Total
from ..claim import Book, Claim, Defect, fails, Finding, holds, Kind, Repair

SAME, OTHER = 1 - 1 / S, 1 / S
CENTRAL = 2 * (L_G**2 + S * L_G * sigma_l) / L
GROWTH = (T * K / t_0) ** (c * L)


LEFT_OVER: sp.Expr = (1 - 1 / S) * c * L
"""Exponent of the growth with the chance of the same sample."""


def _step_adds(book: Book) -> sp.Expr:
    """What a step adds to the separation at Theorem 3's step size with mu_0 = cK, times the number of the step."""
    step_size = At("fedinit.step_size_theorem_3", {mu_0: c * K})
    return sp.expand(tau * At("fedinit.stability_step", {s: 0, eta: step_size})(book))


def _summed(start: int) -> Callable[[Book], Finding]:
    """The exact recursion d <- (1 + a/tau) d + b/tau from step t_0 + start on, against the closed form."""

    def run(book: Book) -> Finding:
        at = {c: 1, L: sp.Rational(1, 2), S: 10**6, L_G: 1, sigma2: 1, K: 1, t_0: 1}
        held = {**{q.name: v for q, v in at.items()}, "first step": 1 + start}
        growth, added = float(LEFT_OVER.subs(at)), float(_step_adds(book).subs(at))
        closed = sp.lambdify(T, term("fedinit.stability_separation", "stochastic gradients")(book).subs(at))
        distance = 0.0
        for step in range(1 + start, 400):
            distance = (1 + growth / step) * distance + added / step
            if distance > closed(step):
                said = f"after step {step} the recursion is at {distance:.6g}, the closed form at {closed(step):.6g}"
                return fails(said, held, step > 50)
        return holds("below the closed form for 400 steps")

    return run


SUMMED = Claim(
    "fedinit.stability.sum",
    "The steps from t_0 on add up to at most 2(L_G + S sigma_l)/((S-1)L) (TK/t_0)^{cL}.",
    Kind.PROOF.at("Appendix A.3.2, last display, first term"),
    _summed(0),
    note="A slip of an index: the sums begin at t_0, the integrals that bound them would have to begin at t_0 - 1. "
    "When the runs first differ in step t_0 + 1 the display holds.",
    repair=Repair("from tau = t_0 + 1 on", _summed(1)),
    defect=Defect.SLIP,
)

SUM_CONSTANTS = Claim(
    "fedinit.stability.separation",
    "The first term is what a step adds, 2c(L_G/S + sigma_l), over its growth (1 - 1/S)cL, times (TK/t_0)^{cL}; the "
    "second is the drift's factor times the same growth and the sum of sqrt(Delta^t).",
    Kind.PROOF.at("Appendix A.3.2, last display"),
    {
        "steps": Same(
            term("fedinit.stability_separation", "stochastic gradients"),
            Total(((GROWTH / LEFT_OVER, _step_adds),)),
        ),
        "drift": Same(
            term("fedinit.stability_separation", "client drift"), (1 + beta) ** (1 / (beta * c * L)) * GROWTH * root_sum
        ),
    },
    damaged="the exponent 1/(beta c L); the base TK/t_0 of the second growth",
)

EXPONENT = Claim(
    "fedinit.stability.exponent",
    "The factor (1 + beta)^{1/(beta c L)} covers the 1 + beta of a round.",
    Kind.PROOF.at("Appendix A.3.2, last display"),
    ImpliedBy(1 + beta, (1 + beta) ** (1 / (beta * c * L)), where=(beta > 0,)),
    note="Only while beta c L <= 1, which the small mu_0 L of the text gives. Where it does, it overshoots without "
    "bound: with c = mu_0/K it is (1 + beta)^{K/(beta mu_0 L)}.",
    repair=Repair(
        "while beta c L <= 1",
        ImpliedBy(1 + beta, (1 + beta) ** (1 / (beta * c * L)), where=(beta > 0, beta * c * L <= 1)),
        bound="fedinit.theorem_3",
    ),
    defect=Defect.GAP,
)
