"""Lemmas 1 and 2: Appendix A.1, what they follow from, and what they break on."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import sympy as sp

from bounds.decaying_k.letters import C, eta, F_0, F_star, F_T, G2, Gamma, K, L, mu, N, p_c, S, sigma_c
from bounds.operators import ClientSum
from bounds.units import PARAMETER
from bounds.vocabulary import distance_sq

from ..checkers import Broken, Dominates, ImpliedBy, MeasuredIn, number, rational, Same, short, States, term
from ..claim import Book, Claim, claimed, Defect, Finding, judged, Kind, Repair
from ..parabolas import Scalars
from .common import A1_TO_A3, CAP, KAPPA

LEMMA, LEMMA_TRUE = "decaying_k.lemma_1_printed", "decaying_k.lemma_1"
NOISE = ("gradient variance", "heterogeneity", "drift", "partial participation")
SAMPLING = (C - N) / (N - 1)
SAMPLING_TRUE = (C - N) / (C - 1)
VARIANCE = ClientSum(p_c**2 * sigma_c)
LARGE_COHORT = sp.Gt(N, 1)


def _jump(book: Book) -> Finding:
    """Four opposed clients, two drawn, ten steps from x^* itself: the last step of the round, in exact numbers."""
    problem, step_size, steps = Scalars.of((1, -1, 1, -1)), Fraction(1, 20), 10
    before = problem.average(Fraction(0), steps - 1, step_size) ** 2
    after = sum(chance * x**2 for chance, x in problem.round_ends(Fraction(0), 2, steps, step_size))
    cap = number(book, "decaying_k.gradient_cap", smoothness=1, initial_distance_sq=0)
    bound = number(
        book, LEMMA, **problem.values(), cohort=2, local_steps=steps, step_size=step_size, distance_sq=before,
        grad_cap_sq=cap,
    )  # fmt: skip
    said = f"E||x_(t+1) - x^*||^2 = {short(after)} against {short(bound)}"
    witness = {"clients": "(x - b)^2/2, b = 1, -1, 1, -1", "N": "2", "K": "10", "eta": "1/20", "x_1": "x^* = 0"}
    return judged(after <= bound, said, witness, bound == Fraction(3, 400))


LEMMA_1 = Claim(
    "decaying_k.lemma_1",
    "(16) bounds the distance to x^* one iteration later, with G^2 = L^2 ||x_1 - x^*||^2.",
    Kind.THEOREM.at("Lemma 1, eq. (16)"),
    {
        "stored witness": Broken(LEMMA, "decaying_k_claim.lemma_1_gradient_cap.json", ratio=7.156090841412641),
        "by plain loops": _jump,
        "formula": Same(
            LEMMA,
            (1 - eta * mu) * distance_sq
            + eta**2 * (VARIANCE + 6 * L * Gamma + 8 * (K - 1) ** 2 * G2 + SAMPLING * 4 / N * K**2 * G2),
        ),
        "unit": MeasuredIn(LEMMA, PARAMETER**2),
        "conditions": States(LEMMA, (LARGE_COHORT,), (*A1_TO_A3, "bounded_gradient")),
    },
    wrong=("stored witness", "by plain loops"),
    note="Started at x^* the defined G is 0 while the clients walk away from it. In the cited work G bounds the "
    "clients' stochastic gradients. On the right the print has x^2 for x^*.",
    repair=Repair(
        "as in the cited work: G bounds the clients' gradients, (C - N)/(C - 1), equal weights, steps up to 1/(4L)",
        {
            "formula": Same(
                LEMMA_TRUE,
                (1 - eta * mu) * distance_sq
                + eta**2
                * (ClientSum(sigma_c) / C**2 + 6 * L * Gamma + (8 * (K - 1) ** 2 + SAMPLING_TRUE * 4 / N * K**2) * G2),
            ),
            "conditions": States(
                LEMMA_TRUE,
                (CAP, sp.Gt(C, 1)),
                (*A1_TO_A3, "bounded_gradient", "sampled_without_replacement", "independent_noise"),
                words=1,
            ),
            "search": Dominates(LEMMA_TRUE),
        },
        LEMMA_TRUE,
    ),
    damaged="x^2 for x^* in the distance on the right",
    about=("decaying_k.gradient_cap",),
    defect=Defect.REFUTED,
)


def _long_step(book: Book) -> Finding:
    """Two equal clients x^2/2, both taking part, one step of 3/2 from 1: x becomes -1/2."""
    problem, step_size = Scalars.of((0, 0)), Fraction(3, 2)
    after = problem.average(Fraction(1), 1, step_size) ** 2
    bound = number(
        book, LEMMA, **problem.values(), cohort=2, local_steps=1, step_size=step_size, distance_sq=1, grad_cap_sq=1
    )
    witness = {"clients": "x^2/2 twice", "eta": "3/2", "x_1": "1", "N": "2", "K": "1"}
    return judged(after <= bound, f"{after} against {bound}", witness, bound == Fraction(-1, 2))


LEMMA_1_STEP = Claim(
    "decaying_k.lemma_1_step_size",
    "(16) needs no limit on the step size.",
    Kind.ASSUMPTION.at("Lemma 1"),
    {"stored witness": Broken(LEMMA, "decaying_k_claim.lemma_1_step_size.json", ratio=-0.5), "by hand": _long_step},
    wrong=("stored witness", "by hand"),
    note="None is stated in Lemmas 1 and 2; the cited work asks for at most 1/(4L), as Theorem 1 does, so that only "
    "the lemmas by themselves are too wide.",
    repair=Repair(
        "with step sizes up to 1/(4L) and the other repairs of Lemma 1", Dominates(LEMMA_TRUE, seed=2), LEMMA_TRUE
    ),
    defect=Defect.REFUTED,
)


def _shared_coin(book: Book) -> Finding:
    """C equal clients x^2/2 from x^* = 0 by one step, all taking part, with one coin of +-1 between them: eta^2."""
    step_size, found = Fraction(1, 4), {}
    for size in (2, 10, 1000):
        problem = replace(Scalars.of((0,) * size), variance=Fraction(1))
        bound = number(
            book, LEMMA_TRUE, **problem.values(), cohort=size, local_steps=1, step_size=step_size, distance_sq=0,
            grad_cap_sq=1,
        )  # fmt: skip
        found[size] = step_size**2 / bound
    said = ", ".join(f"{ratio} for C = {size}" for size, ratio in found.items())
    witness = {"clients": "x^2/2, C of them", "x_1": "x^* = 0", "K": "1", "N": "C", "eta": "1/4"}
    audited = all(ratio == size for size, ratio in found.items())
    return judged(max(found.values()) <= 1, f"squared distance over (16): {said}", witness, audited)


def _kept_batch(book: Book) -> Finding:
    """Two clients x^2/2 with a coin of +-1 each, the same for ever: at rest at minus their mean, E x^2 = 1/2."""
    problem, step_size, rest = replace(Scalars.of((0, 0)), variance=Fraction(1)), Fraction(1, 4), Fraction(1, 2)
    bound = number(
        book, LEMMA_TRUE, **problem.values(), cohort=2, local_steps=1, step_size=step_size, distance_sq=rest,
        grad_cap_sq=1,
    )  # fmt: skip
    said = f"a squared distance of {rest} at rest against {bound}"
    return judged(rest <= bound, said, {"clients": "x^2/2 twice", "K": "1", "eta": "1/4"})


INDEPENDENCE = Claim(
    "decaying_k.lemma_1_independence",
    "A3, a bound on each client's gradient variance, is all that Lemma 1, repaired, needs of the noise.",
    Kind.ASSUMPTION.at("Assumption 3 with Lemma 1, eq. (16)"),
    {"one coin for all clients": _shared_coin, "one coin for ever": _kept_batch},
    wrong=("one coin for all clients", "one coin for ever"),
    note="It fails if read without independence and is not refuted with it: the sum of p_c^2 sigma_c^2 needs noises "
    "that do not correlate over the clients (with one coin for all C it is too small by exactly C), and the cross "
    "term with x_t - x^* needs noise of mean zero given all that came before. The same holds of Lemma 2 and Theorem 1.",
    repair=Repair("with noise that is independent over clients and steps", Dominates(LEMMA_TRUE), LEMMA_TRUE),
    defect=Defect.READING,
)


def sampling_factor(book: Book, cohort: int, clients: int) -> Fraction:
    """The factor in front of 4/N K^2 G^2 eta^2 in (16)."""
    factor = term(LEMMA, "partial participation")(book) / (4 / N * K**2 * G2 * eta**2)
    found = sp.simplify(factor).subs({N: cohort, C: clients})
    return rational(found)


@claimed(
    "decaying_k.lemma_1_sampling_factor",
    "(C - N)/(N - 1) is the factor of a uniform draw of N out of C clients.",
    Kind.PROOF.at("Lemma 1, eq. (16)"),
    note="It is (C - N)/(C - 1) in the cited work, the print has the cohort where the clients "
    "belong. (16) is only weaker for it; what suffers is that the factor is then bounded by 1.",
    repair=Repair(
        "(C - N)/(C - 1)",
        Same(
            term(LEMMA_TRUE, "partial participation"),
            lambda book: term(LEMMA, "partial participation")(book) * (N - 1) / (C - 1),
        ),
        LEMMA_TRUE,
    ),
    defect=Defect.SLIP,
)
def finite_population(book: Book) -> Finding:
    """The variance of the mean of N of C numbers over that of N draws with replacement, over all cohorts."""
    minima = tuple(map(Fraction, (3, -1, 4, 1, -5)))
    problem = Scalars(minima, (Fraction(1),) * 5)
    mean = problem.minimiser
    spread = sum((b - mean) ** 2 for b in minima) / 5
    found = {}
    for size in (2, 3, 4):
        cohorts = problem.cohorts(size)
        found[size] = sum(p * (sum(minima[c] for c in c_) / size - mean) ** 2 for p, c_ in cohorts) * size / spread
    printed = {n: sampling_factor(book, n, 5) for n in found}
    said = "; ".join(f"N = {n}: {found[n]}, printed {printed[n]}" for n in found)
    right = all(v == Fraction(5 - n, 4) for n, v in found.items())
    return judged(found == printed, f"five clients, {said}", {"C": "5"}, right)


# ---- Lemma 2 ----

SUM, SUM_TRUE = "decaying_k.lemma_2", "decaying_k.lemma_2_repaired"
RIGHT_21 = 2 / mu * (F_0 - F_star) - 2 / L * (F_T - F_star)
RIGHT_22 = 2 / mu * F_0 - 2 / L * F_T


def _from_22(last: sp.Expr) -> object:
    """(22) times L^2/mu, the noise from (16) with its participation factor replaced by 1."""

    def made(book: Book) -> sp.Expr:
        parts = book[LEMMA].spelled_terms
        noise = sp.Add(*(parts[n] for n in NOISE[:3])) + parts[NOISE[3]] / SAMPLING
        return L**2 / mu * (2 / mu * F_0 - 2 / L * last) + L**2 / mu * noise / eta**2 * S

    return made


def _sum_at_optimum(book: Book) -> Finding:
    bound = number(
        book, SUM, initial_loss=-1, optimal_loss=-1, smoothness=2, strong_convexity=1, heterogeneity=0, grad_cap_sq=0,
        client_weight=(Fraction(1, 2),) * 2, client_gradient_variance=(0, 0), cohort=2, local_steps=1,
        squared_step_sizes=Fraction(4, 64),
    )  # fmt: skip
    witness = {"F": "x^2 + y^2/2 - 1 for both clients", "start": "0, 0", "L": "2", "mu": "1"}
    return judged(bound >= 0, f"a sum of zeros against {bound}", witness, bound == -4)


LEMMA_2 = Claim(
    "decaying_k.lemma_2",
    "(17) bounds the weighted sum of the expected squared gradient norms.",
    Kind.THEOREM.at("Lemma 2, eq. (17)"),
    {
        "stored witness": Broken(SUM, "decaying_k_claim.lemma_2.json", ratio=0.0),
        "by hand": _sum_at_optimum,
        "(22)": ImpliedBy(RIGHT_21, RIGHT_22, where=(F_star <= F_0, F_star <= F_T)),
        "from (22)": Same(SUM, _from_22(F_star)),
        "F^* for F(x_T)": ImpliedBy(_from_22(F_T), SUM, where=(F_star <= F_T,)),
        "conditions": States(SUM, (F_star <= F_0,), (*A1_TO_A3, "bounded_gradient")),
    },
    wrong=("stored witness", "by hand", "(22)"),
    note="Negative where F^* < 0, as Theorem 1: (22) drops -2 (1/mu - 1/L) F^* from (21) 'noting mu <= L', which is "
    "then positive. From (22), times L^2/mu, with the participation factor replaced by 1 "
    "(decaying_k.lemma_2_cohort_factor), it follows. K_t is printed outside the sum over t and is read as the largest.",
    repair=Repair(
        "with 2 kappa^2 (F_0 - F^*), G bounding the clients' gradients, uniform sampling and step sizes up to 1/(4L)",
        {
            "formula": Same(
                SUM_TRUE,
                2 * KAPPA**2 * (F_0 - F_star)
                + KAPPA * L * S * (ClientSum(sigma_c) / C**2 + 6 * L * Gamma)
                + KAPPA * L * S * (8 * (K - 1) ** 2 + 4 * K**2 / N) * G2,
            ),
            "conditions": States(
                SUM_TRUE,
                (F_star <= F_0, CAP),
                (*A1_TO_A3, "bounded_gradient", "sampled_without_replacement", "independent_noise"),
                words=2,
            ),
            "(22) where F^* >= 0": ImpliedBy(RIGHT_21, RIGHT_22, where=(F_star <= F_0, F_star <= F_T, F_star >= 0)),
            "search": Dominates(SUM_TRUE),
        },
        SUM_TRUE,
    ),
    defect=Defect.REFUTED,
)
