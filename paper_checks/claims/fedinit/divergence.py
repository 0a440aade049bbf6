"""Section 4.3.3, Appendices A.2.5 and A.2.6: the recursion, Theorems 4 and 5 and what their proofs leave out."""

from __future__ import annotations

import sympy as sp

from bounds.fedinit.letters import B2, beta, C, Delta, eta, g2, K, L, lam, mean_g2, mu, N, path2, T
from bounds.vocabulary import final_divergence, initial_divergence

from ..checkers import At, ImpliedBy, Same
from ..checkers.formulas import resolve
from ..claim import Book, Claim, Defect, Kind, Repair

THETA = 96 * beta**2
DECAY = sp.exp(-lam * mu * eta * K)
AT_CAP = {L: sp.sqrt(N / C) / (eta * K)}
STEP_2 = {eta: sp.log(lam * mu * N * K * T) / (lam * mu * K * T)}
MEETS_LOG = (lam * mu * N * K * T > 3,)


def _recursion(book: Book) -> sp.Expr:
    """Lemma 4's recursion with the summed gradients split into drift (Lemma 2) and the global gradient."""
    whole = 2 * C**2 * K * L**2 * resolve("fedinit.lemma_2", book) + 2 * C**2 * K**2 * g2
    return resolve("fedinit.lemma_4_recursion", book).subs(path2, whole)


SHARE = (C - N) / (N * (C - 1))
"""Weight of the sampling variance in Lemma 3; C^2 times that of the mean is 1 - SHARE."""

RECURSION = Claim(
    "fedinit.theorem_4.recursion",
    "The recursion of Theorem 4 follows from Lemma 4 by splitting the summed gradients: 96, 267, 69, 267.",
    Kind.PROOF.at("Appendix A.2.5, recursion"),
    Same("fedinit.theorem_4_recursion", At(_recursion, AT_CAP), difference=-6 * C * eta**2 * K**2 * g2 / N),
    note="The split leaves 6 C eta^2 K^2/N times the squared global gradient, which 267 B^2 does not show.",
    damaged="267 is read from 26T; the sum 195 + 72 allows no other number",
    repair=Repair(
        "with Lemma 3's sampling weights kept, the coefficient of the gradient is at most 267 B^2 after all",
        ImpliedBy(
            (3 * (39 * SHARE + 26) + 72 * (1 - SHARE)) * B2 + 6 * (1 - SHARE), 267 * B2, where=(C > 1, N <= C, B2 >= 1)
        ),
        bound="fedinit.theorem_4_recursion",
    ),
    defect=Defect.GAP,
)


def _mean(book: Book) -> sp.Expr:
    """The recursion solved for the divergence and averaged over T rounds."""
    rest = resolve("fedinit.theorem_4_recursion", book) - THETA * Delta
    return ((initial_divergence - final_divergence) / T + rest.subs(g2, mean_g2)) / (1 - THETA)


INSERTED = Claim(
    "fedinit.theorem_4",
    "Theorem 4's explicit form is the recursion solved for Delta^t and averaged, with Theorem 1 put in for the "
    "gradients: 534, 267 kappa_2, 801 kappa_1.",
    Kind.THEOREM.at("Appendix A.2.5, accumulation and last displays; Theorem 4"),
    {
        "averaged": Same("fedinit.theorem_4_before", _mean),
        "inserted": Same("fedinit.theorem_4", At("fedinit.theorem_4_before", {mean_g2: "fedinit.theorem_1"})),
    },
    note="Delta^0 is kept although Theorem 1 has dropped it as 0.",
)

NEVER_BINDS = Claim(
    "fedinit.theorem_4.third_cap",
    "The cap sqrt(N)/(sqrt(C) K L) that Theorem 4 adds is met whenever N/(2CKL) is: it restricts nothing.",
    Kind.ASSUMPTION.at("Theorem 4, step size"),
    {
        "it is larger": ImpliedBy(N / (2 * C * K * L), sp.sqrt(N / C) / (K * L), where=(N <= C,)),
        "same caps": Same("fedinit.step_size_cap_theorem_4", "fedinit.step_size_cap_theorem_1", where=(N <= C,)),
    },
    damaged="sqrt(N)/(sqrt(C) K L), the only reading for which the proof's 24 C eta^2 K^2 L^2/N is at most 24",
)
