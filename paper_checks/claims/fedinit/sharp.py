"""Smaller bounds where all clients take part, each step of their proof, and that they are smaller."""

from __future__ import annotations

import sympy as sp

from bounds.fedinit.letters import B2, beta, D, Delta, eta, G2, g2, K, L, lam, mean_g2, N, sigma2, T
from bounds.vocabulary import mean_divergence

from ..checkers import At, Dominates, ImpliedBy, MonotoneIn, requires, resolve, Same, term
from ..claim import Book, Claim, Kind
from .optimization import LEFT as PRINTED, RANGE

DRIFT = 3 * K * beta**2 * Delta + 2 * K**2 * eta**2 * sigma2 + 8 * K**3 * eta**2 * (G2 + B2 * g2)
"""The sum of squared local drifts, after the first step of the proof."""
YOUNG = 1 / (2 * K - 1) + 4 * K * eta**2 * L**2
CAP = 8 * (eta * K * L) ** 2 <= 1
W = 1 - 5 * beta**2
LEFT = 1 - 8 * (1 + beta**2) / W * (eta * K * L) ** 2 * B2
OF_ROUND = (eta <= 1 / (2 * sp.sqrt(2) * K * L), 5 * beta**2 < 1)


def _divergence(book: Book) -> sp.Expr:
    """Start and walk by a factor 2 each, the walk's noise and gradients again; L at its largest beside the drift."""
    walk = 2 * K * sigma2 + 4 * K * L**2 * DRIFT + 4 * K**2 * (G2 + B2 * g2)
    return sp.expand(2 * beta**2 * Delta + 2 * eta**2 * walk).subs(L, 1 / (sp.sqrt(8) * eta * K))


RECURSION = Claim(
    "fedinit.theorem_4_recursion.sharp",
    "With all clients in every round Delta^{t+1} <= 5 beta^2 Delta^t + 6 eta^2 K sigma_l^2 + 16 eta^2 K^2 (G^2 + B^2 "
    "|grad f|^2): 96, 69 and 267 are not the best constants.",
    Kind.THEOREM.at("Theorem 4, proof, sharpened"),
    {
        "a step": ImpliedBy(YOUNG, 1 / (K - 1), where=(K >= 2, CAP)),
        "K - 1 steps": ImpliedBy((1 + 1 / (K - 1)) ** (K - 1), 3, where=(K >= 2,)),
        "constants": Same("fedinit.theorem_4_recursion_sharp", _divergence),
        "its range": requires({"fedinit.theorem_4_recursion_sharp": OF_ROUND}),
        "exact runs": Dominates("fedinit.theorem_4_recursion_sharp"),
    },
    note="The noise of a step inside later gradients is paid for by a factor 2, for which the print has no room.",
    ours=True,
)


def _descent(book: Book) -> sp.Expr:
    """The descent of a round over lambda eta K/2 with drift and mean divergence put in, less what lambda takes up."""
    settled = (resolve("fedinit.theorem_4_recursion_sharp", book) - 5 * beta**2 * Delta) / W
    drift = DRIFT.subs(Delta, mean_divergence).subs(mean_divergence, settled).subs(g2, mean_g2)
    rest = 2 * D / (eta * K * T) + 2 * eta * L * sigma2 / N + L**2 / K * drift
    return (rest - (1 - LEFT) * mean_g2) / lam


THEOREM_1 = Claim(
    "fedinit.theorem_1.sharp",
    "With all clients in every round Theorem 1 holds without its bracket and for beta^2 < 1/5, dissimilarity entering "
    "by (eta K L)^2, not eta K L/N; wherever the printed one speaks it is smaller, and it is smallest at beta = 0.",
    Kind.THEOREM.at("Theorem 1, eq. (9), sharpened"),
    {
        "descent": Same("fedinit.theorem_1_sharp", _descent),
        "noise": ImpliedBy(
            term("fedinit.theorem_1_sharp", "gradient noise", "drift noise"),
            At(term("fedinit.theorem_1", "gradient noise"), {sigma2: sigma2 / 3}),
            where=(N * eta * K * L <= 1, *RANGE),
            within={beta: (0.0, 0.117)},
        ),
        "dissimilarity": ImpliedBy(
            term("fedinit.theorem_1_sharp", "dissimilarity"),
            At(term("fedinit.theorem_1", "dissimilarity"), {G2: G2 / 5}),
            where=(N * eta * K * L <= 1, *RANGE),
            within={beta: (0.0, 0.117)},
        ),
        "every lambda of the print": ImpliedBy(
            PRINTED, LEFT, where=(N * eta * K * L <= 1, *RANGE), within={beta: (0.0, 0.117)}
        ),
        "grows with beta": MonotoneIn("fedinit.theorem_1_sharp", beta, up=True, where=(beta >= 0, sigma2 > 0)),
        "its range": requires({"fedinit.theorem_1_sharp": (*OF_ROUND, lam <= LEFT)}),
        "exact runs": Dominates("fedinit.theorem_1_sharp"),
    },
    note="At the 56 grid points of fedinit.theorem_1_sharp.worst_case (at most 32 gradients) it is 3.8 times the worst "
    "case at the least where the print is 53 times; in long runs of small steps both are about twice the exact value. "
    "Both grow with beta squared: neither shows that a relaxed start helps.",
    ours=True,
)
