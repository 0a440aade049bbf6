"""Section 4.3.1 and Appendix A.2: the descent inequality, its bracket and lambda, Theorems 1 and 2."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from bounds.fedinit.letters import B2, beta, C, D, Delta, Delta_next, eta, G2, g2, K, L, lam, mu, N, path2, sigma2, T
from bounds.vocabulary import loss_decrease

from ..checkers import At, ImpliedBy, Informative, MonotoneIn, requires, resolve, Same, term, Total
from ..claim import Book, Claim, Defect, Finding, judged, Kind, Repair

W = 1 - 72 * beta**2
HALF = lam * eta * K / 2
"""What the descent inequality has in front of the squared gradient."""


def _expanded(book: Book, square: sp.Expr) -> sp.Expr:
    """E f(w^{t+1}) - f(w^t) by smoothness, Lemmas 2 and 3 put in; ``square`` stands for L^2 beside Lemma 2."""
    drift, step = resolve("fedinit.lemma_2", book), resolve("fedinit.lemma_3", book)
    return sp.expand(-eta * K * g2 / 2 + eta * square * drift / 2 + L * step / 2 - eta * path2 / (2 * C**2 * K))


def _front(quantity: sp.Symbol) -> Callable[[Book], sp.Expr]:
    """What stands in front of a quantity once Lemma 4 has taken the place of the divergence.

    N eta K L is put to its cap 1, except beside the gradient; 19 divergences are written as 20.
    """

    def front(book: Book) -> sp.Expr:
        square = L**2 if quantity == g2 else L / (N * eta * K)
        whole = _expanded(book, square)
        once = _expanded(book, L / (N * eta * K)).coeff(Delta, 1) + beta**2 * L / (2 * N)
        lemma_4 = sp.expand(resolve("fedinit.lemma_4", book))
        kept = 0 if quantity == Delta else whole.coeff(quantity, 1)
        return kept + once * lemma_4.coeff(quantity, 1)

    return front


CONSTANTS = Claim(
    "fedinit.theorem_1.constants",
    "kappa_1 = 1300 beta^2/(1-72 beta^2) + 17, kappa_2 = 1020 beta^2/(1-72 beta^2) + 13 and the share of descent that "
    "must exceed lambda, with its 39, 3900 and 12, follow from the lemmas.",
    Kind.PROOF.at("Theorem 1, under eq. (9); Appendix A.2.2"),
    {
        "kappa_1": Same("fedinit.kappa_1", Total(((2 * N / (3 * eta**2 * K**2 * L), _front(G2)),))),
        "kappa_2": Same("fedinit.kappa_2", Total(((2 * N / (eta**2 * K * L), _front(sigma2)),))),
        "lambda": Same("fedinit.contraction_cap", Total(((-2 / (eta * K), _front(g2)),))),
    },
    damaged="the digits of 1300, 1020 and 72; no others follow from Lemmas 2 to 4",
)

GROWING = 30 * beta**2 * eta**2 * L / (C * N**2 * W) + eta**2 * L / (2 * C * N)
FALLING = eta / (2 * C**2 * K)
RANGE = (beta >= 0, beta < sp.sqrt(2) / 12)
SMALL = {beta: (0.0, 0.117), N: (1, 40), C: (1, 400)}

BRACKET_SIGN = Claim(
    "fedinit.descent.bracket_sign",
    "A step size within Theorem 1's caps makes that factor nonpositive, so that it can be dropped.",
    Kind.PROOF.at("Appendix A.2.2, below the bracket"),
    ImpliedBy(
        At(GROWING, {eta: "fedinit.step_size_cap_theorem_1"}),
        At(FALLING, {eta: "fedinit.step_size_cap_theorem_1"}),
        where=(N <= C, *RANGE),
        within=SMALL,
    ),
    note="N/(2CKL) suffices exactly while 60 beta^2 <= N (1 - 72 beta^2): up to beta = 0.087 for N = 1 and 0.113 for "
    "N = 10, for no N up to sqrt(2)/12.",
    repair=Repair(
        "with the cap that the bracket asks for, which N/(2CKL) meets exactly where 60 beta^2 <= N(1 - 72 beta^2)",
        {
            "enough": ImpliedBy(
                N / (2 * C * K * L),
                "fedinit.step_size_cap_descent",
                where=(60 * beta**2 <= N * W, *RANGE),
                within=SMALL,
            ),
            "no further": ImpliedBy(
                "fedinit.step_size_cap_descent",
                N / (2 * C * K * L),
                where=(60 * beta**2 >= N * W, *RANGE),
                within={beta: (0.08, 0.117), N: (1, 4)},
            ),
        },
        bound="fedinit.step_size_cap_descent",
    ),
    defect=Defect.GAP,
)

LEFT_AT_CAP = At("fedinit.contraction_cap", {eta: "fedinit.step_size_cap_contraction"})

LAMBDA = Claim(
    "fedinit.theorem_1.lambda_exists",
    "Under the caps of Theorem 1 there is a positive lambda below the share of descent that is left.",
    Kind.PROOF.at("Appendix A.2.2, citing its reference [44]"),
    ImpliedBy(
        0,
        At("fedinit.contraction_cap", {eta: "fedinit.step_size_cap_theorem_1"}),
        where=(N <= C, *RANGE),
        within={**SMALL, B2: (1.0, 1.5)},
    ),
    note="At eta = 1/(NKL) the first subtrahend alone is 39 B^2/N^2: the caps leave nothing for N <= 6 even at B = 1, "
    "beta = 0, unless C is much larger than N. At C = 100, N = 10 and beta = 0.1 the largest step size leaves 0.08 at "
    "B = 1, nothing at B^2 = 1.1. Where no lambda exists the theorems say nothing.",
    repair=Repair(
        "with a third cap on the step size, solved for a given lambda",
        {
            "lambda is allowed": ImpliedBy(lam, LEFT_AT_CAP, where=RANGE, within=SMALL),
            "and no more": ImpliedBy(LEFT_AT_CAP, lam, where=RANGE, within=SMALL),
            "positive": ImpliedBy(0, "fedinit.step_size_cap_contraction", where=RANGE, within=SMALL),
            "and kept below": MonotoneIn("fedinit.contraction_cap", eta, up=False, where=RANGE),
            "its range": requires({"fedinit.step_size_cap_contraction": RANGE}),
        },
        bound="fedinit.step_size_cap_contraction",
    ),
    defect=Defect.GAP,
)


DESCENT = Claim(
    "fedinit.descent",
    "The descent inequality, half of lambda eta K times the squared gradient against the decreases of loss and "
    "divergence plus noise, has the coefficients that the lemmas give, 10 beta^2 L/((1-72 beta^2)N) among them.",
    Kind.PROOF.at("Appendix A.2.2, last display"),
    {
        "bracket": Same(GROWING - FALLING, _front(path2)),
        "its zero": Same(
            At(GROWING, {eta: "fedinit.step_size_cap_descent"}), At(FALLING, {eta: "fedinit.step_size_cap_descent"})
        ),
        "display": Same(
            "fedinit.descent",
            Total(
                (
                    (1 / HALF, loss_decrease + 10 * beta**2 * L * (Delta - Delta_next) / (W * N)),
                    (3 * eta**2 * K**2 * L * G2 / (2 * N * HALF), "fedinit.kappa_1"),
                    (eta**2 * K * L * sigma2 / (2 * N * HALF), "fedinit.kappa_2"),
                )
            ),
        ),
        "divergence": Same(
            term("fedinit.descent", "divergence decrease"), Total((((Delta - Delta_next) / HALF, _front(Delta)),))
        ),
    },
    note="The algebra, with the lemmas put in and the bracket left out. Whether it holds: fedinit.descent.dominates.",
)

SUMMED = Claim(
    "fedinit.theorem_1",
    "(9) is the mean of the descent inequality over T rounds, Delta^0 = 0 and Delta^T dropped.",
    Kind.THEOREM.at("Theorem 1, eq. (9); proof A.2.3"),
    {
        "summed": Same("fedinit.theorem_1", At("fedinit.descent", {loss_decrease: D / T, Delta: 0, Delta_next: 0})),
        "what is dropped": ImpliedBy(At(term("fedinit.descent", "divergence decrease"), {Delta: 0}), 0, where=RANGE),
    },
    note="Given the descent inequality, whose bracket, lambda and relaxed starts have claims of their own.",
)

INSENSITIVE = Claim(
    "fedinit.theorem_1.insensitive_to_beta",
    "Optimisation is insensitive to the relaxed start in its constants too: kappa_1 does not depend on beta.",
    Kind.REMARK.at("Discussion of Theorem 1; first corollary under Theorem 6"),
    Same("fedinit.kappa_1", At("fedinit.kappa_1", {beta: 0}), difference=1300 * beta**2 / W, where=RANGE),
    note="The text says that the divergence does not enter, and the order in T is the same. The constants are "
    "not: kappa_1 is 17 at beta = 0, 63 at the experiments' 0.1, and without bound towards sqrt(2)/12.",
    repair=Repair(
        "the constants grow with beta and blow up at sqrt(2)/12",
        {
            "kappa_1 grows": MonotoneIn("fedinit.kappa_1", beta, up=True, where=RANGE),
            "kappa_2 grows": MonotoneIn("fedinit.kappa_2", beta, up=True, where=RANGE),
            "pole": Same(
                lambda book: L + L * sp.cancel(1 / resolve("fedinit.kappa_1", book)).subs(beta, sp.sqrt(2) / 12), L
            ),
        },
    ),
    defect=Defect.REFUTED,
    ours=True,
)

OF_1 = (K >= 2, eta <= N / (2 * C * K * L), eta <= 1 / (N * K * L), beta >= 0, beta < sp.sqrt(2) / 12)
LEFT = 1 - 39 * eta * K * L * B2 / N - 3900 * beta**2 * eta * K * L * B2 / (W * N) - 12 * eta**2 * K**2 * L**2 * B2


def _unrolled(book: Book) -> sp.Expr:
    """The geometric sum of the noise of all rounds is at most 1/(lambda mu eta K) times that of one."""
    noise = HALF * At("fedinit.descent", {loss_decrease: 0, Delta: 0, Delta_next: 0})(book)
    return sp.exp(-lam * mu * eta * K * T) * D + noise / (lam * mu * eta * K)


THEOREM_2 = Claim(
    "fedinit.theorem_2",
    "(11) is the descent inequality with PL, unrolled over T rounds, once the divergences are left out.",
    Kind.THEOREM.at("Theorem 2, eq. (11); proof A.2.4"),
    {
        "unrolled": Same("fedinit.theorem_2", _unrolled),
        "exponential": ImpliedBy(
            (1 - lam * mu * eta * K) ** T, sp.exp(-lam * mu * eta * K * T), where=(eta <= 1 / (lam * mu * K),)
        ),
    },
)


def _weighted_decreases(book: Book) -> Finding:
    """Divergence 0, 1, 0: the weighted sum of its decreases against Delta^0 - Delta^T."""
    a = sp.Rational(1, 2)  # 1 - lambda mu eta K
    path = [0, 1, 0]
    weighted = sum((a ** (1 - t) * (path[t] - path[t + 1]) for t in range(2)), sp.S.Zero)
    at = {"Delta": path, "1 - lambda mu eta K": a, "T": 2}
    said = f"the weighted sum is {weighted}, Delta^0 - Delta^T is 0"
    return judged(weighted <= path[0] - path[-1], said, at, weighted == 1 - a)


OWN_WEIGHT = 1 - 72 * beta**2 - lam * mu * eta * K


POTENTIAL_RATE = 10 * beta**2 * L / (N * OWN_WEIGHT)

OF_POTENTIAL = (
    *OF_1[:4],
    eta <= 1 / (lam * mu * K),
    72 * beta**2 + lam * mu * eta * K < 1,
    lam < 1 - 39 * eta * K * L * B2 / N - 3900 * beta**2 * eta * K * L * B2 / (OWN_WEIGHT * N)
    - 12 * eta**2 * K**2 * L**2 * B2,
)  # fmt: skip

WEIGHTED = Claim(
    "fedinit.theorem_2.weighted_decreases",
    "The decreases of the divergence, weighted by powers of 1 - lambda mu eta K, sum to at most Delta^0 - Delta^T.",
    Kind.PROOF.at("Appendix A.2.4, third display"),
    _weighted_decreases,
    note="Weights favour late rounds: a divergence that rises and falls again leaves a positive sum. Theorem 5's proof "
    "drops the same sum without a word.",
    repair=Repair(
        "loss gap plus a multiple of the divergence shrinks by 1 - lambda mu eta K when 1 - 72 beta^2 in the constants "
        "becomes 1 - 72 beta^2 - lambda mu eta K",
        {
            "the divergence is absorbed": Same(
                10 * beta**2 * L / N + 72 * beta**2 * POTENTIAL_RATE, (1 - lam * mu * eta * K) * POTENTIAL_RATE
            ),
            "the bound": Same("fedinit.theorem_2_potential", At("fedinit.theorem_2", {1 / W: 1 / OWN_WEIGHT})),
            "its range": requires({"fedinit.theorem_2_potential": OF_POTENTIAL}),
            "weaker": ImpliedBy(
                "fedinit.theorem_2",
                "fedinit.theorem_2_potential",
                where=(72 * beta**2 + lam * mu * eta * K < 1,),
                within={beta: (0.0, 0.11)},
            ),
        },
        bound="fedinit.theorem_2_potential",
    ),
    defect=Defect.GAP,
)


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
            within={N: (1, 4), C: (1, 9), K: (2, 9)},
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


WITHOUT_NOISE = Claim(
    "fedinit.theorem_1.informative",
    "With the experiments' numbers (C = 100, N = 10, T = 500, beta = 0.1, K = 5) Theorem 1 can say more than the "
    "trivial 2L(f(w) - f*) at the start, for some loss and step size that it covers.",
    Kind.REMARK.at("Theorem 1; Section 5"),
    Informative(
        At("fedinit.theorem_1", {C: 100, N: 10, T: 500, beta: sp.Rational(1, 10), K: 5}),
        2 * L * D,
        where=(200 * eta * L <= 1, 1000 * eta * L >= 1, 3 * lam <= 1, 4 * lam >= 1),
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
