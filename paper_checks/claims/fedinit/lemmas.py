"""Lemmas 2 to 4: each from the one before by the algebra of its proof, and the two steps that do not go through."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import sympy as sp

from bounds.fedinit.letters import B2, beta, C, Delta, Delta_next, eta, G2, g2, K, L, N, path2, sigma2

from ..checkers import At, ImpliedBy, resolve, Same, Total
from ..claim import Book, Check, Claim, Defect, fails, Finding, holds, judged, Kind, Repair

AT_ROUND_CAP = {L: 1 / (eta * K)}
"""The largest smoothness under the cap 1/(KL), with which the proofs round their coefficients up."""

CAP_2 = sp.Integer(1) / (2 * sp.sqrt(2) * K * L)
ROUND = (K >= 2, eta <= 1 / (K * L))

YOUNG = Claim(
    "fedinit.lemma_2.growth",
    "Under Lemma 2's step-size cap a local step stretches the drift by at most 1 + 1/(K-1), K steps by at most 4, and "
    "the geometric sum is at most 3(K-1).",
    Kind.PROOF.at("Lemma 2, proof"),
    {
        "a step": ImpliedBy(1 / (2 * K - 1) + 4 * K * eta**2 * L**2, 1 / (K - 1), under=("fedinit.lemma_2",)),
        "K steps": ImpliedBy((1 + 1 / (K - 1)) ** K, 4, where=(K >= 2,)),
        "their sum": ImpliedBy((K - 1) * ((1 + 1 / (K - 1)) ** K - 1), 3 * (K - 1), where=(K >= 2,)),
    },
    damaged="the number under the root of the cap 1/(2 sqrt(2) K L) is lost; 2 is what makes this step true for all K",
)


def _drift_without_cap(book: Book) -> Finding:
    """One client, f = 1/2 w^2, no noise, no relaxation: the drift in closed form against (24)."""
    steps, step = 5, 10
    drift = sum(((1 - step) ** k - 1) ** 2 for k in range(steps))
    at = {K: steps, eta: step, Delta: 0, sigma2: 0, G2: 0, B2: 1, g2: 1, beta: 0}
    bound = resolve("fedinit.lemma_2", book).subs(at)
    witness = {"f": "w^2/2", "C": 1, "K": steps, "eta": step, "w": 1}
    said = f"local drift {drift} against bound {bound}"
    return judged(drift <= bound, said, witness, bound == 150000)


NEEDS_CAP = Claim(
    "fedinit.lemma_2.no_cap",
    "Lemma 2 holds under the assumptions alone, as its statement says: its step-size cap appears in the proof only.",
    Kind.THEOREM.at("Lemma 2, statement"),
    _drift_without_cap,
    note="The cap of the proof belongs into the statement; Theorem 1's proof goes back to it.",
    repair=Repair(
        "with the cap of the proof the growth step goes through",
        ImpliedBy(1 / (2 * K - 1) + 4 * K * eta**2 * L**2, 1 / (K - 1), where=(K >= 2, eta <= CAP_2)),
        bound="fedinit.lemma_2",
    ),
    defect=Defect.REFUTED,
)


def _lemma_3(book: Book) -> sp.Expr:
    """Variance of the noise, three times what a client walks (Lemma 2 put in), and the gradients of all clients."""
    walked = eta**2 * K * L**2 * resolve("fedinit.lemma_2", book) + beta**2 * Delta + eta**2 * K**2 * (G2 + B2 * g2)
    return eta**2 * K * sigma2 / N + 3 * walked / N + eta**2 * path2 / (C * N)


def _sampled_square(book: Book) -> Finding:
    """The sampling identity of Lemma 3 by enumeration of every cohort, for every N up to C = 5."""
    x = [Fraction(7, 3), Fraction(-2), Fraction(5, 4), Fraction(-1, 6), Fraction(3)]
    clients, total, squares = len(x), sum(x), sum(v * v for v in x)
    for drawn in range(1, clients + 1):
        cohorts = list(combinations(x, drawn))
        exact = sum((sum(some) ** 2 for some in cohorts), Fraction(0)) / len(cohorts)
        mixed = Fraction(drawn * (drawn - 1), clients * (clients - 1)) * total**2
        alone = Fraction(drawn * (clients - drawn), clients * (clients - 1)) * squares
        if exact != mixed + alone:
            return fails(f"{exact} against {mixed + alone}", {"x": x, "N": drawn})
    return holds(f"equal for every N <= C = {clients}, all cohorts enumerated")


SAMPLING = Claim(
    "fedinit.lemma_3.sampling",
    "The expected square of a sum over N of C clients drawn without replacement splits into sum and squares, whose "
    "weights may be replaced by 1/(CN) and 1/N.",
    Kind.EQUATION.at("Lemma 3, proof, sampling identity and summary of the bounds"),
    {
        "identity": _sampled_square,
        "variance": ImpliedBy((C - N) / (N * (C - 1)), 1 / N, where=(C > 1, N <= C)),
        "mean": ImpliedBy((N - 1) / (C * N * (C - 1)), 1 / (C * N), where=(C > 1, N <= C)),
    },
)


def _starts_in_the_sum(clients: int, drawn: int) -> Check:
    """Whether the last local models of all clients average to the server model after a round."""

    def run(book: Book) -> Finding:
        local = [Fraction(2 * i * i + 1, 3) for i in range(clients)]
        for cohort in combinations(local, drawn):
            server = sum(cohort) / Fraction(drawn)
            left = sum(server - w for w in local)
            if left != 0:
                at = {"local models": local, "averaged": cohort, "sum": left}
                return fails(f"the sum is {left} when {drawn} of {clients} local models are averaged", at)
        return holds(f"0 for every cohort of {drawn} of {clients} clients")

    return run


CANCEL = Claim(
    "fedinit.lemma_3.starts_cancel",
    "The relaxed starts cancel in the sum over all clients: sum_i (w^t - w_{i,K}^{t-1}) = 0.",
    Kind.PROOF.at("Lemma 3, proof, first term; Appendix A.2.2, first display"),
    _starts_in_the_sum(2, 1),
    note="The server model is the mean of the participants, so the sum vanishes under full participation only. With V "
    "the sampling variance of w^t, Lemma 3 drops terms of order beta^2 V and beta eta K L V, the descent inequality "
    "one of order beta L V; as listed, the age of absent clients' models too. The released code averages no starts: "
    "nothing has to cancel there.",
    repair=Repair("with all clients in every round", _starts_in_the_sum(2, 2)),
    defect=Defect.GAP,
)


def _noise_and_path(curvature: int) -> Check:
    """Two steps on f = a w^2 / 2 with unit noise: E(g_0 + g_1)^2 against 2 sigma^2 + E(grad_0 + grad_1)^2."""

    def run(book: Book) -> Finding:
        w, n0, n1, step = sp.symbols("w n0 n1 step", real=True)
        first = curvature * w
        second = curvature * (w - step * (first + n0))
        split = sp.expand((first + n0 + second + n1) ** 2 - (first + second) ** 2)
        excess = split.subs({n0**2: 1, n1**2: 1}).subs({n0: 0, n1: 0}) - 2  # noises of mean 0 and variance 1
        at = {"curvature": curvature, "steps": 2, "variance": 1, "excess": excess}
        if excess.coeff(step, 1) > 0:
            return fails(f"the split is short by {excess} (step size in units of 1/L)", at, excess == 2 * step)
        return holds(f"the split exceeds the exact square by {-excess}")

    return run


SPLIT = Claim(
    "fedinit.lemma_3.noise_split",
    "The expected square of a client's summed stochastic gradients is K sigma_l^2 plus that of the true gradients.",
    Kind.PROOF.at("Lemmas 3 and 4, proofs, first step"),
    _noise_and_path(-1),
    note="Noise of one step is inside the true gradients of the next ones; where the loss curves down their product "
    "is positive. On convex quadratics it is negative and the step is safe.",
    repair=Repair("on convex quadratics the split is an upper bound", _noise_and_path(1)),
    defect=Defect.GAP,
)

WIDER_CAP = Claim(
    "fedinit.lemma_3.cap",
    "The cap 1/(KL) of Lemmas 3 and 4 is enough to use Lemma 2 inside them.",
    Kind.PROOF.at("Lemmas 3 and 4, statements"),
    ImpliedBy(eta, "fedinit.step_size_cap_lemma_2", under=("fedinit.lemma_3",)),
    note="Lemma 2's cap is smaller by 2 sqrt(2).",
    repair=Repair(
        "with Lemma 2's cap too", ImpliedBy(eta, "fedinit.step_size_cap_lemma_2", under=("fedinit.lemma_2",))
    ),
    defect=Defect.GAP,
)


def _lemma_4(book: Book) -> sp.Expr:
    """Identity (15) squared with the factor 3; Lemma 3 with 1/N at most 1 except beside the summed gradients."""
    step = resolve("fedinit.lemma_3", book)
    own = step.subs(path2, 0).subs(N, 1) + step - step.subs(path2, 0)
    drift = resolve("fedinit.lemma_2", book)
    walk = eta**2 * K * sigma2 + 2 * eta**2 * K * L**2 * drift + 2 * eta**2 * K**2 * (G2 + B2 * g2)
    return 3 * (beta**2 * Delta + own + walk)


CONSTANTS = Claim(
    "fedinit.lemmas.constants",
    "(24) is K times the bound of one step; (25), the recursion behind Lemma 4 and (26) follow with eta K L at its "
    "largest value 1: the coefficients 15, 10, 39; 72, 51, 195, 3.",
    Kind.PROOF.at("Lemmas 2 to 4, eqs. (24), (25), (26)"),
    {
        "(24)": Same("fedinit.lemma_2", K * (4 * beta**2 * Delta + 3 * K * eta**2 * (sigma2 + 4 * K * (G2 + B2 * g2)))),
        "(25)": Same("fedinit.lemma_3", At(_lemma_3, AT_ROUND_CAP)),
        "recursion": Same("fedinit.lemma_4_recursion", At(_lemma_4, AT_ROUND_CAP)),
        "(26)": Same(
            Total(((1 - 72 * beta**2, "fedinit.lemma_4"), (1, 72 * beta**2 * Delta - Delta + Delta_next))),
            "fedinit.lemma_4_recursion",
        ),
    },
    note="The algebra after the questionable steps of the proofs, which have claims of their own.",
)
