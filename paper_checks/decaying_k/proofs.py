"""Appendix A.1 and A.2: Lemma 1 as taken over, the steps from it to Lemma 2, and from there to Theorem 1."""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import sympy as sp

from bounds.operators import ClientSum
from bounds.units import PARAMETER
from bounds.vocabulary import (
    client_gradient_variance as sigma_c,
    client_weight as p_c,
    clients as C,
    cohort as N,
    current_loss as F_T,
    distance_sq,
    grad_cap_sq as G2,
    grad_norm_sq,
    heterogeneity as Gamma,
    initial_distance_sq,
    initial_loss as F_0,
    squared_step_sizes as S,
    steps_cubed_ratio as ratio,
)

from ..checkers import All, At, Computed, Dominates, ImpliedBy, MeasuredIn, Same, term, Total
from ..claims import Book, Claim, Finding, Kind, Repair, Status
from .common import A1_TO_A3, at, CAP, eta, F_star, judged, K, KAPPA, L, mu, number, short, States, T
from .measured import TASKS
from .scalar import Scalars

SIX = "decaying_k.theorem_1"
LEMMA, LEMMA_TRUE = "decaying_k.lemma_1_printed", "decaying_k.lemma_1"
SUM, SUM_TRUE = "decaying_k.lemma_2", "decaying_k.lemma_2_repaired"
NOISE = ("gradient variance", "heterogeneity", "drift", "partial participation")
SAMPLING = (C - N) / (N - 1)
SAMPLING_TRUE = (C - N) / (C - 1)
VARIANCE = ClientSum(p_c**2 * sigma_c)
D_PRINTED = VARIANCE + 6 * L * Gamma + 8 * (K - 2) ** 2 * G2 + SAMPLING * 4 / N * K**2 * G2
LARGE_COHORT = sp.Gt(N, 1)
RIGHT_21 = 2 / mu * (F_0 - F_star) - 2 / L * (F_T - F_star)
RIGHT_22 = 2 / mu * F_0 - 2 / L * F_T


# ---- Lemma 1 ----


def _jump(book: Book) -> Finding:
    """Four opposed clients, two drawn, ten steps from x^* itself: the last step of the round, in exact numbers."""
    problem, step_size, steps = Scalars.of((1, -1, 1, -1)), Fraction(1, 20), 10
    before = problem.average(Fraction(0), steps - 1, step_size) ** 2
    after = sum(chance * x**2 for chance, x in problem.round_ends(Fraction(0), 2, steps, step_size))
    cap = number(book, "decaying_k.gradient_cap", smoothness=1, initial_distance_sq=0)
    bound = number(
        book, LEMMA, **problem.values(), cohort=2, local_steps=steps, step_size=step_size, distance_sq=before,
        grad_cap_sq=Fraction(cap.p, cap.q),
    )  # fmt: skip
    said = f"E||x_(t+1) - x^*||^2 = {short(after)} against {short(bound)}"
    witness = {"clients": "(x - b)^2/2, b = 1, -1, 1, -1", "N": "2", "K": "10", "eta": "1/20", "x_1": "x^* = 0"}
    return judged(after <= Fraction(bound.p, bound.q), said, witness, bound == sp.Rational(3, 400))


LEMMA_1 = Claim(
    "decaying_k.lemma_1",
    "(16) bounds the distance to x^* one iteration later, with G^2 = L^2 ||x_1 - x^*||^2.",
    at("Lemma 1, eq. (16)"),
    Kind.THEOREM,
    Computed("the jump at the end of a round, over all cohorts", _jump),
    known=Status.FAILS,
    note="Started at x^* the defined G is 0 while the clients walk away from it. In the cited work G bounds the "
    "clients' stochastic gradients. On the right the print has x^2 for x^*.",
    repair=Repair(
        "as in the cited work: G bounds the clients' gradients, (C - N)/(C - 1), equal weights, steps up to 1/(4L)",
        All(
            {
                "formula": Same(
                    LEMMA_TRUE,
                    (1 - eta * mu) * distance_sq
                    + eta**2
                    * (
                        ClientSum(sigma_c) / C**2
                        + 6 * L * Gamma
                        + (8 * (K - 1) ** 2 + SAMPLING_TRUE * 4 / N * K**2) * G2
                    ),
                ),
                "conditions": States(
                    LEMMA_TRUE,
                    (CAP, sp.Gt(C, 1)),
                    (*A1_TO_A3, "bounded_gradient", "sampled_without_replacement"),
                    words=1,
                ),
                "search": Dominates(LEMMA_TRUE, evaluations=50),
            }
        ),
        LEMMA_TRUE,
    ),
    damaged="x^2 for x^* in the distance on the right",
    about=("decaying_k.gradient_cap",),
)

LEMMA_1_FORM = Claim(
    "decaying_k.lemma_1_form",
    "(16) is (1 - eta mu) times the distance plus eta^2 times variance, heterogeneity, drift and participation.",
    at("Lemma 1, eq. (16)"),
    Kind.EQUATION,
    All(
        {
            "formula": Same(
                LEMMA,
                (1 - eta * mu) * distance_sq
                + eta**2 * (VARIANCE + 6 * L * Gamma + 8 * (K - 1) ** 2 * G2 + SAMPLING * 4 / N * K**2 * G2),
            ),
            "unit": MeasuredIn(LEMMA, PARAMETER**2),
            "conditions": States(LEMMA, (LARGE_COHORT,), (*A1_TO_A3, "bounded_gradient")),
        }
    ),
    known=Status.HOLDS,
)


def _long_step(book: Book) -> Finding:
    """Two equal clients x^2/2, both taking part, one step of 3/2 from 1: x becomes -1/2."""
    problem, step_size = Scalars.of((0, 0)), Fraction(3, 2)
    after = problem.average(Fraction(1), 1, step_size) ** 2
    bound = number(
        book, LEMMA, **problem.values(), cohort=2, local_steps=1, step_size=step_size, distance_sq=1, grad_cap_sq=1
    )
    witness = {"clients": "x^2/2 twice", "eta": "3/2", "x_1": "1", "N": "2", "K": "1"}
    return judged(after <= Fraction(bound.p, bound.q), f"{after} against {bound}", witness, bound == sp.Rational(-1, 2))


LEMMA_1_STEP = Claim(
    "decaying_k.lemma_1_step_size",
    "(16) needs no limit on the step size.",
    at("Lemma 1"),
    Kind.ASSUMPTION,
    Computed("one long step, in exact numbers", _long_step),
    known=Status.FAILS,
    note="None is stated in Lemmas 1 and 2; the cited work asks for at most 1/(4L), as Theorem 1 does.",
    repair=Repair("with step sizes up to 1/(4L)", Dominates(LEMMA_TRUE, evaluations=40, seed=2), LEMMA_TRUE),
)


def _finite_population(book: Book) -> Finding:
    """The variance of the mean of N of C numbers over that of N draws with replacement, over all cohorts."""
    minima = tuple(map(Fraction, (3, -1, 4, 1, -5)))
    problem = Scalars(minima, (Fraction(1),) * 5)
    mean = problem.minimiser
    spread = sum((b - mean) ** 2 for b in minima) / 5
    found = {}
    for size in (2, 3, 4):
        cohorts = problem.cohorts(size)
        found[size] = sum(p * (sum(minima[c] for c in c_) / size - mean) ** 2 for p, c_ in cohorts) * size / spread
    printed = {n: _sampling(book, n, 5) for n in found}
    said = "; ".join(f"N = {n}: {found[n]}, printed {printed[n]}" for n in found)
    right = all(v == Fraction(5 - n, 4) for n, v in found.items())
    return judged(found == printed, f"five clients, {said}", {"C": "5"}, right)


def _sampling(book: Book, cohort: int, clients: int) -> Fraction:
    """The factor in front of 4/N K^2 G^2 eta^2 in (16)."""
    factor = term(LEMMA, "partial participation")(book) / (4 / N * K**2 * G2 * eta**2)
    found = sp.simplify(factor).subs({N: cohort, C: clients})
    return Fraction(found.p, found.q)


SAMPLING_FACTOR = Claim(
    "decaying_k.lemma_1_sampling_factor",
    "(C - N)/(N - 1) is the factor of a uniform draw of N out of C clients.",
    at("Lemma 1, eq. (16)"),
    Kind.PROOF,
    Computed("the variance of a cohort's mean over all cohorts of five clients", _finite_population),
    known=Status.FAILS,
    note="It is (C - N)/(C - 1), as in the cited work: the print has the cohort where the clients belong.",
    repair=Repair(
        "(C - N)/(C - 1)",
        Same(
            term(LEMMA_TRUE, "partial participation"),
            lambda book: term(LEMMA, "partial participation")(book) * (N - 1) / (C - 1),
        ),
        LEMMA_TRUE,
    ),
)

# ---- from Lemma 1 to Lemma 2 ----

STEP_18 = Claim(
    "decaying_k.eq_18",
    "With D as printed, (18) is Lemma 1 rearranged.",
    at("Appendix A.1, D and eq. (18)"),
    Kind.PROOF,
    Same(
        eta**2 * D_PRINTED,
        term(LEMMA, *NOISE),
        difference=8 * eta**2 * G2 * ((K - 2) ** 2 - (K - 1) ** 2),
    ),
    known=Status.FAILS,
    note="D is printed with (K_t - 2)^2 for (K_t - 1)^2, too little for K_t > 1; (17) has K_t - 1 again.",
    repair=Repair(
        "with K_t - 1",
        Same(
            eta * mu * distance_sq,
            Total(((1, distance_sq), (-1, LEMMA), (1, term(LEMMA, *NOISE)))),
        ),
        LEMMA,
    ),
)

STEP_19 = Claim(
    "decaying_k.eq_19",
    "By smoothness eta mu / L^2 ||grad F||^2 is at most eta mu ||x - x^*||^2, so that (19) follows from (18).",
    at("Appendix A.1, eq. (19)"),
    Kind.PROOF,
    ImpliedBy(eta * mu / L**2 * grad_norm_sq, eta * mu * distance_sq, where=(grad_norm_sq <= L**2 * distance_sq,)),
    known=Status.HOLDS,
    note="The left side is replaced by something smaller: the right direction.",
)


def _telescoped(squared: bool) -> Finding:
    """One client x^2/20 with L = mu = 1/10 and one step of 2, allowed by 1/(4L) = 5/2, from 1 to 4/5."""
    curvature, step_size = Fraction(1, 10), Fraction(2)
    after = (1 - step_size * curvature) ** 2
    left = (curvature / curvature**2) * (step_size**2 if squared else step_size) * curvature**2
    witness = {"f": "x^2/20", "eta": "2", "T": "1", "x": "1 to 4/5"}
    return judged(left <= 1 - after, f"left side {left}, right side {1 - after}", witness, left == Fraction(2, 5))


STEP_20 = Claim(
    "decaying_k.eq_20",
    "Summing (19) over the iterations gives (20), with eta_t^2 on the left.",
    at("Appendix A.1, eqs. (20) to (22)"),
    Kind.PROOF,
    Computed("one step of gradient descent in exact numbers", lambda book: _telescoped(squared=True)),
    known=Status.FAILS,
    note="(19) has eta_t; with the square the two sides do not even have the same unit. (17) has eta_t again.",
    repair=Repair(
        "with eta_t on the left",
        All(
            {
                "instance": Computed("the same step", lambda book: _telescoped(squared=False)),
                "unit": MeasuredIn(mu / L**2 * eta * grad_norm_sq, PARAMETER**2),
            }
        ),
    ),
)

STEP_20_UNIT = Claim(
    "decaying_k.eq_20_unit",
    "Both sides of (20) have the same unit.",
    at("Appendix A.1, eq. (20)"),
    Kind.PROOF,
    MeasuredIn(mu / L**2 * eta**2 * grad_norm_sq, PARAMETER**2, off_by=eta.card.unit),
    known=Status.FAILS,
    note="The right side is a squared distance.",
    repair=Repair("with eta_t on the left", MeasuredIn(mu / L**2 * eta * grad_norm_sq, PARAMETER**2)),
)


def _ends(last: int) -> Finding:
    distances = [Fraction(1, k) for k in range(1, 8)]  # d_0 .. d_6
    summed = sum(distances[t] - distances[t + 1] for t in range(1, 6))
    ends = distances[last - 5] - distances[last]
    return judged(summed == ends, f"t = 1..5 sums to {summed}, d_{last - 5} - d_{last} is {ends}", {"d_t": "1/(t + 1)"})


STEP_20_ENDS = Claim(
    "decaying_k.eq_20_ends",
    "Summed over t = 1..T the distances telescope to those at 0 and at T.",
    at("Appendix A.1, eq. (20)"),
    Kind.PROOF,
    Computed("five terms of a falling sequence", lambda book: _ends(5)),
    known=Status.FAILS,
    note="To those at 1 and T + 1: Algorithm 1 starts at x_0, the global iterations at x_1. Harmless once the start is "
    "called x_1 throughout, as the later one is dropped.",
    repair=Repair("to those at 1 and T + 1", Computed("the same terms", lambda book: _ends(6))),
)


def _between(left: bool) -> ImpliedBy:
    """Squared distance against the loss above its smallest value, for curvatures h between mu and L."""
    from bounds.vocabulary import pl_constant as h

    gap = h / 2 * initial_distance_sq
    between = (mu <= h, h <= L)
    return (
        ImpliedBy(initial_distance_sq, 2 / mu * gap, between)
        if left
        else ImpliedBy(2 / L * gap, initial_distance_sq, between)
    )


STEP_21 = Claim(
    "decaying_k.eq_21",
    "Strong convexity bounds the first distance by 2/mu, smoothness the last by 2/L times the loss above F^*.",
    at("Appendix A.1, eq. (21)"),
    Kind.PROOF,
    All({"first distance": _between(True), "last distance": _between(False)}),
    known=Status.HOLDS,
    note="Checked for quadratics of every curvature between mu and L.",
)

STEP_22 = Claim(
    "decaying_k.eq_22",
    "As mu <= L, F^* can be dropped from (21).",
    at("Appendix A.1, eq. (22)"),
    Kind.PROOF,
    ImpliedBy(RIGHT_21, RIGHT_22, where=(F_star <= F_0, F_star <= F_T)),
    known=Status.FAILS,
    note="What is dropped is -2 (1/mu - 1/L) F^*, which is positive where F^* < 0.",
    repair=Repair("where F^* >= 0", ImpliedBy(RIGHT_21, RIGHT_22, where=(F_star <= F_0, F_star <= F_T, F_star >= 0))),
)

COHORT_FACTOR = Claim(
    "decaying_k.lemma_2_cohort_factor",
    "(C - N)/(N - 1) is at most 1.",
    at("Appendix A.1, end of the proof of Lemma 2"),
    Kind.PROOF,
    ImpliedBy(SAMPLING, 1, where=(LARGE_COHORT,)),
    known=Status.FAILS,
    note="Only where 2 N > C.",
    repair=Repair("(C - N)/(C - 1) is", ImpliedBy(SAMPLING_TRUE, 1, where=(sp.Gt(C, 1), N >= 1))),
)


def _published_factors(book: Book) -> Finding:
    factors = {name: _sampling(book, t.cohort, t.clients) for name, t in TASKS.items()}
    above = {n: f"{float(f):.3g}" for n, f in factors.items() if f > 1}
    said = "; ".join(f"{n}: {v}" for n, v in above.items()) or "none exceeds 1"
    return judged(not above, said, above, len(above) == len(TASKS) and factors["CIFAR100"] == Fraction(475, 24))


COHORT_FACTOR_PUBLISHED = Claim(
    "decaying_k.lemma_2_cohort_factor_published",
    "(C - N)/(N - 1) is at most 1 for the paper's own clients and cohorts.",
    at("Appendix A.1 with Table 1"),
    Kind.SETTING,
    Computed("(C - N)/(N - 1) from Table 1", _published_factors),
    known=Status.FAILS,
    note="It is 20 to 445, so that with (16) as printed the participation term of (6) is too small by that factor.",
    repair=Repair(
        "(C - N)/(C - 1) is, for all four",
        Computed(
            "(C - N)/(C - 1) from Table 1",
            lambda book: judged(
                all(Fraction(t.clients - t.cohort, t.clients - 1) <= 1 for t in TASKS.values()),
                "at most 1 for all four",
            ),
        ),
    ),
)


def _from_22(last: sp.Expr) -> object:
    """(22) times L^2/mu, the noise from (16) with its participation factor replaced by 1."""

    def made(book: Book) -> sp.Expr:
        parts = book[LEMMA].spelled_terms
        noise = sp.Add(*(parts[n] for n in NOISE[:3])) + parts[NOISE[3]] / SAMPLING
        return L**2 / mu * (2 / mu * F_0 - 2 / L * last) + L**2 / mu * noise / eta**2 * S

    return made


LEMMA_2_FORM = Claim(
    "decaying_k.lemma_2_form",
    "(22) times L^2/mu, with F(x_T) >= F^* and the participation factor replaced by 1, is (17).",
    at("Lemma 2, eq. (17)"),
    Kind.PROOF,
    All(
        {
            "equal": Same(SUM, _from_22(F_star)),
            "F^* for F(x_T)": ImpliedBy(_from_22(F_T), SUM, where=(F_star <= F_T,)),
            "conditions": States(SUM, (F_star <= F_0,), (*A1_TO_A3, "bounded_gradient")),
        }
    ),
    known=Status.HOLDS,
    note="As algebra; that the factor may be replaced by 1 is decaying_k.lemma_2_cohort_factor. K_t is printed outside "
    "the sum over t and is read as the largest.",
)


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
    at("Lemma 2, eq. (17)"),
    Kind.THEOREM,
    Computed("no gradient at all against a bound in exact numbers", _sum_at_optimum),
    known=Status.FAILS,
    note="Negative where F^* < 0, as Theorem 1.",
    repair=Repair(
        "with 2 kappa^2 (F_0 - F^*), G bounding the clients' gradients, uniform sampling and step sizes up to 1/(4L)",
        All(
            {
                "formula": Same(
                    SUM_TRUE,
                    2 * KAPPA**2 * (F_0 - F_star)
                    + KAPPA * L * S * (ClientSum(sigma_c) / C**2 + 6 * L * Gamma)
                    + KAPPA * L * S * (8 * (K - 1) ** 2 + 4 * K**2 / N) * G2,
                ),
                "conditions": States(
                    SUM_TRUE, (F_star <= F_0,), (*A1_TO_A3, "bounded_gradient", "sampled_without_replacement"), words=3
                ),
            }
        ),
        SUM_TRUE,
    ),
)

# ---- from Lemma 2 to Theorem 1 ----


def _reindexed(first: int) -> Finding:
    """t = I + k for rounds of 3, 2 and 2 steps, I the steps of the rounds up to r (first = 0) or before it (1)."""
    steps = (3, 2, 2)
    ends = list(accumulate(steps, initial=0))
    met = [ends[r - first] + k for r in range(1, 4) for k in range(1, steps[r - 1] + 1)]
    said = f"iterations {met[0]} to {met[-1]} for T = {sum(steps)}"
    return judged(met == list(range(1, 8)), said, {"K_r": "3, 2, 2"}, met[0] == 4)


REINDEXED = Claim(
    "decaying_k.a_2_reindexing",
    "With t = I + k, I = K_1 + .. + K_r, rounds and local steps go through the iterations 1 to T.",
    at("Appendix A.2, reindexing"),
    Kind.PROOF,
    Computed("three rounds counted", lambda book: _reindexed(0)),
    known=Status.FAILS,
    note="The sum for I must end with the round before.",
    repair=Repair("I = K_1 + .. + K_(r-1)", Computed("the same rounds", lambda book: _reindexed(1))),
)

FROM_LEMMA_2 = Claim(
    "decaying_k.theorem_1_from_lemma_2",
    "(17) divided by eta T, with K_r - 1 replaced by K_r, is (6).",
    at("Appendix A.2 and eq. (6)"),
    Kind.PROOF,
    All(
        {
            "constants": Same(At(SIX, {ratio: K**2}), lambda book: _over_run(book, K + 1)),
            "replacement": ImpliedBy(lambda book: _over_run(book, K), At(SIX, {ratio: K**2}), where=(K >= 1,)),
            "linear in the ratio": Same(At(SIX, {ratio: 3 * ratio}), Total(((3, SIX), (-2, At(SIX, {ratio: 0}))))),
        }
    ),
    known=Status.HOLDS,
    note="Shown for a fixed K; rounds of unequal length add K_r^3 to the sum. The first display of A.2 leaves K_r "
    "outside the sum over r.",
)


def _over_run(book: Book, drift_steps: sp.Expr) -> sp.Expr:
    """(17) over T steps of eta, per eta T, with ``drift_steps`` for K in the drift alone."""
    parts = dict(book[SUM].spelled_terms)
    parts["drift"] = parts["drift"].subs(K, drift_steps)
    return sp.Add(*parts.values()).subs(S, eta**2 * T) / (eta * T)


CLAIMS: tuple[Claim, ...] = (
    LEMMA_1,
    LEMMA_1_FORM,
    LEMMA_1_STEP,
    SAMPLING_FACTOR,
    STEP_18,
    STEP_19,
    STEP_20,
    STEP_20_UNIT,
    STEP_20_ENDS,
    STEP_21,
    STEP_22,
    COHORT_FACTOR,
    COHORT_FACTOR_PUBLISHED,
    LEMMA_2_FORM,
    LEMMA_2,
    REINDEXED,
    FROM_LEMMA_2,
)
