"""What binds the parts together: numbering, cross references, the lemmas' caps inside the theorems, vacuity."""

from __future__ import annotations

import sympy as sp

from bounds.fedinit.letters import beta, C, D, eta, G2, K, L, lam, N, sigma2, T
from bounds.vocabulary import optimality_gap

from ..checkers import At, ImpliedBy, Informative, Total
from ..claim import Book, Claim, Defect, fails, Finding, holds, Kind

INSIDE = {N: (1, 4), C: (1, 9), K: (2, 9)}

LEMMA_2_CAP = Claim(
    "fedinit.theorem_1.lemma_2_cap",
    "Theorem 1's caps imply eta <= 1/(KL) of Lemmas 3 and 4 and N eta K L <= 1, with which 4x + 13 and 3x + 10 become "
    "17 and 13; with three participants or more, or at most half of the clients, the one of Lemma 2 too.",
    Kind.PROOF.at("Theorem 1; Lemma 2, proof; Appendix A.2.2"),
    {
        "Lemma 2": ImpliedBy(
            "fedinit.step_size_cap_theorem_1",
            "fedinit.step_size_cap_lemma_2",
            where=(N <= C, K >= 2, sp.Or(N >= 3, 2 * N <= C)),
            within=INSIDE,
        ),
        "Lemmas 3 and 4": ImpliedBy(
            "fedinit.step_size_cap_theorem_1", "fedinit.step_size_cap_lemma_3", where=(N <= C,)
        ),
        "N eta K L": ImpliedBy(Total(((N * K * L, "fedinit.step_size_cap_theorem_1"),)), 1, where=(N <= C,)),
    },
    note="The proof of Theorem 1 uses both. For one or two clients that all take part N/(2CKL) and 1/(NKL) leave "
    "1/(2KL), which is larger.",
    damaged="the number under the root of Lemma 2's cap",
)


def _cited(book: Book) -> Finding:
    """What the proof of Theorem 10 takes from 'Theorem 11' and 'Theorem 8', and what they bound."""
    bounded = {"11": book["fedinit.theorem_3"].target, "8": book["fedinit.theorem_2"].target}
    recursion = book["fedinit.theorem_4_recursion"].target
    wrong = {k: bounded[k].name for k, needed in (("11", optimality_gap), ("8", recursion)) if bounded[k] != needed}
    if wrong:
        return fails("; ".join(f"Theorem {k} bounds the {v}" for k, v in wrong.items()), wrong, len(wrong) == 2)
    return holds("both bound what is taken from them")


CITED = Claim(
    "fedinit.theorem_5.references",
    "Theorem 8 has the recursion of the divergence and Theorem 11 the bound on the loss gap, for which the proof of "
    "Theorem 10 cites them.",
    Kind.PROOF.at("Appendix A.2.6"),
    _cited,
    note="A slip of the numbers: the recursion is Theorem 9's (A.2.5), the loss gap Theorem 8's; Theorem 11 is on "
    "stability.",
    defect=Defect.SLIP,
)


WITHOUT_NOISE = Claim(
    "fedinit.theorem_1.informative",
    "With the experiments' numbers (C = 100, N = 10, T = 500, beta = 0.1, K = 5) Theorem 1 can say more than the "
    "trivial 2L(f(w) - f*) at the start, for some loss and step size that it covers.",
    Kind.REMARK.at("Theorem 1; Section 5"),
    Informative(
        At("fedinit.theorem_1", {C: 100, N: 10, T: 500, beta: sp.Rational(1, 10), K: 5}),
        2 * L * D,
        where=(
            eta * L <= sp.Rational(1, 200),
            eta * L >= sp.Rational(1, 1000),
            lam <= sp.Rational(1, 3),
            lam >= sp.Rational(1, 4),
        ),
        within={
            eta: (0.004, 0.02),
            L: (0.2, 0.4),
            D: (100.0, 1000.0),
            lam: (0.25, 0.33),
            sigma2: (0.0, 0.1),
            G2: (0.0, 0.01),
        },
    ),
    note="Only with hardly any noise and dissimilarity: their terms do not fall with T at a given step size.",
)
