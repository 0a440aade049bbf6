"""Section 4.3.4: the split (3), Theorem 6, and the choices of K and beta argued from it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from bounds.fedinit.letters import B2, beta, c, D, G2, K, L, L_G, lam, mu, mu_0, N, root_sum, S, sigma2, sigma_l, T, U
from bounds.vocabulary import generalization_gap, optimality_gap

from ..checkers import All, At, Formula, ImpliedBy, MonotoneIn, resolve, Same, SlopeIs, term
from ..checkers.points import value
from ..checkers.trends import Curve
from ..claim import Book, Claim, Defect, Finding, Grade, judged, Kind, Repair
from .divergence import STEP_2
from .stability import minimiser, over_coins, risk
from .theorem_3 import BY_BUDGET, SHARE

STABILITY = term("fedinit.theorem_6", "stability")
DIVERGENCE = term("fedinit.theorem_6", "divergence")
LONG = sp.log(T * K) > 1 + mu_0 * L / K + sp.log(sigma2 + 1)
ONE_MORE = {c: mu_0 / (K + 1), K: K + 1}
RANGE_96 = (beta > 0, beta < sp.sqrt(6) / 24)


def _split(book: Book) -> Finding:
    """The three parts of (3) on coins, of an output that stops two thirds on the way from 0 to the minimiser."""

    def output(coins: tuple[int, ...]) -> Fraction:
        return minimiser(coins) * Fraction(2, 3)

    excess = over_coins(lambda d: risk(output(d)) - risk(minimiser(d), d))
    gap = over_coins(lambda d: risk(output(d)) - risk(output(d), d))
    left = over_coins(lambda d: risk(output(d), d) - risk(minimiser(d), d))
    stated = At("fedinit.excess_risk_split", {generalization_gap: gap, optimality_gap: left})(book)
    said = f"{excess} = {gap} + {left}, all data sets enumerated"
    return judged(stated == excess, said, grade=Grade.SEARCHED)


THEOREM_6 = Claim(
    "fedinit.theorem_6",
    "(3) splits the excess risk into generalisation and optimisation; (18): Theorem 2's order, plus "
    "[sigma_l (TK)^{cL}]^{1/(1+cL)}/S, plus sqrt(D + G^2) K^{cL/(1+cL)}/T^{1/(1+cL)}.",
    Kind.EQUATION.at("Section 4.1, eq. (3); Theorem 6, eq. (18)"),
    {
        "(3)": _split,
        "as printed": Same(
            "fedinit.theorem_6",
            (D + L * (sigma2 + K * G2)) / (N * K * T)
            + (sigma_l * (T * K) ** (c * L)) ** SHARE / S
            + sp.sqrt(D + G2) * K ** (c * L * SHARE) / T**SHARE,
        ),
        "third term is sqrt(D+G^2)/T times (TK)^{cL/(1+cL)}": Same(
            DIVERGENCE, sp.sqrt(D + G2) / T * (T * K) ** (c * L / (1 + c * L))
        ),
    },
    damaged="the third term, rebuilt as sqrt(Delta^T) (TK)^{cL/(1+cL)}",
)

AT = {
    c: sp.Rational(1, 2), L: 1, L_G: 1, U: 1, sigma2: 1, D: 1, G2: 1, K: 5, N: 3, lam: sp.Rational(1, 2),
    mu: sp.Rational(1, 3), beta: sp.Rational(1, 20), B2: 1,
}  # fmt: skip


def _ratio(above: Formula, below: Formula, over: sp.Symbol, values: tuple[int, ...]) -> Callable[[Book], Curve]:
    """The ratio of two formulas along one quantity, all else as in ``AT``."""

    def curve(book: Book) -> Curve:
        plain = (resolve(above, book) / resolve(below, book)).subs({q: v for q, v in AT.items() if q != over})
        rest = {q: 1000 for q in plain.free_symbols if q != over}
        return values, [float(value(plain.subs(rest), {over: sp.Integer(v)})) for v in values]

    return curve


POWERS = tuple(10**p for p in range(6, 31, 3))
PRINTED_FIRST = term("fedinit.theorem_3_printed", "stochastic gradients")

STABILITY_TERM = Claim(
    "fedinit.theorem_6.stability",
    "(18)'s stability term is the order of Theorem 3's first term in S.",
    Kind.THEOREM.at("Theorem 6, eq. (18), second term"),
    SlopeIs(_ratio(PRINTED_FIRST, STABILITY, S, POWERS), 0),
    note="S^{1/(1+cL)} is lost: Theorem 3's term falls like S^{-cL/(1+cL)} only. So the sentence that it matches SGD's "
    "dependence on S does not hold.",
    repair=Repair(
        "their ratio grows like S^{1/(1+cL)}, here S^{2/3}",
        SlopeIs(_ratio(PRINTED_FIRST, STABILITY, S, POWERS), 2 / 3, 0.01),
    ),
    defect=Defect.GAP,
)


def _summed_divergence(book: Book) -> sp.Expr:
    """Theorem 3's drift term with Theorem 5's lasting part of the divergence in each of the T rounds."""
    lasting = sp.sqrt(At(term("fedinit.theorem_5", "dissimilarity"), STEP_2)(book))
    return term("fedinit.theorem_3_printed", "client drift")(book).subs(root_sum, T * lasting)


def _drift_ratio(book: Book) -> Curve:
    """Per logarithm: the ratio of what Theorems 3 and 5 give to the third term of (18)."""
    ratio = _summed_divergence(book) / DIVERGENCE(book) / sp.log(lam * mu * N * K * T)
    plain = ratio.subs(AT).subs(S, 1000)
    return POWERS, [float(value(plain, {T: sp.Integer(v)})) for v in POWERS]


DIVERGENCE_TERM = Claim(
    "fedinit.theorem_6.divergence",
    "(18)'s divergence term is what Theorem 3's second term becomes with Theorem 5, up to logarithms.",
    Kind.THEOREM.at("Theorem 6, eq. (18), third term"),
    SlopeIs(_drift_ratio, 0),
    note="Theorem 3 sums sqrt(Delta^t) over all T rounds, (18) has a single one. At the step size of the theorem every "
    "Delta^t, not only the last, is of order log^2/T^2, so the sum is a factor T larger and the term grows with T.",
    repair=Repair("a factor T larger", SlopeIs(_drift_ratio, 1, 0.01)),
    defect=Defect.GAP,
)

MAIN = Claim(
    "fedinit.theorem_6.main_restriction",
    "The divergence term is the main restriction in (18): for long runs it is the largest.",
    Kind.REMARK.at("Discussion of Theorem 6"),
    SlopeIs(_ratio(DIVERGENCE, STABILITY, T, POWERS), 0),
    note="Read as the largest of the three, as the text has it below ('dominant term'). For a given number of samples "
    "the stability term grows like T^{cL/(1+cL)} while the divergence term, as printed, falls: (18) has a best T and "
    "diverges beyond it.",
    repair=Repair(
        "the ratio of divergence to stability term falls like 1/T; only the optimisation term is smaller still",
        {
            "against stability": SlopeIs(_ratio(DIVERGENCE, STABILITY, T, POWERS), -1, 0.01),
            "against optimisation": SlopeIs(_ratio(DIVERGENCE, "fedinit.theorem_2_order", T, POWERS), 1 / 3, 0.01),
        },
    ),
    defect=Defect.READING,
)

CONSTANT_C = Claim(
    "fedinit.theorem_6.constant_c",
    "The step size log(lambda mu NKT)/(lambda mu KT) can be at most c/t in every round with a constant c.",
    Kind.SETTING.at("Theorem 6, step size"),
    ImpliedBy("fedinit.step_size_theorem_2_order", c / T, where=(lam * mu * N * K * T > 1,)),
    note="In the last rounds it asks for c K lambda mu >= log(lambda mu NKT), which grows with T (T K in the "
    "denominator asks for more): c, and with it the exponent cL/(1+cL), is not constant.",
    damaged="the denominator under c: t, T or TK",
    repair=Repair(
        "for runs short enough",
        ImpliedBy(
            "fedinit.step_size_theorem_2_order",
            c / T,
            where=(lam * mu * N * K * T > 1, c * lam * mu * K >= sp.log(lam * mu * N * K * T)),
        ),
    ),
    defect=Defect.GAP,
)

SELECTION_K = Claim(
    "fedinit.theorem_6.selection_of_k",
    "With c = mu_0/K, for which the third term of (18) asks for large K, the second asks for small K.",
    Kind.REMARK.at("Selection of K"),
    ImpliedBy(At(STABILITY, BY_BUDGET), At(STABILITY, ONE_MORE), where=(LONG, sigma2 >= 1)),
    note="The text holds c fixed for the second term and puts c = mu_0/K for the third. With c = mu_0/K all three "
    "terms fall with K in long runs, so that no best K > 1 follows; with c fixed the third term grows with K like the "
    "second.",
    repair=Repair(
        "both terms fall with K under c = mu_0/K, both grow under a fixed c",
        {
            "second falls": ImpliedBy(At(STABILITY, ONE_MORE), At(STABILITY, BY_BUDGET), where=(LONG, sigma2 >= 1)),
            "third falls": ImpliedBy(At(DIVERGENCE, ONE_MORE), At(DIVERGENCE, BY_BUDGET), where=(LONG,)),
            "second grows": MonotoneIn(STABILITY, K, up=True, where=(sigma2 > 0,)),
            "third grows": MonotoneIn(DIVERGENCE, K, up=True, where=(D + G2 > 0,)),
        },
    ),
    defect=Defect.REFUTED,
)

LARGE_K = Claim(
    "fedinit.theorem_6.large_k",
    "Beyond a threshold of K it is the divergence term that grows and costs test accuracy.",
    Kind.REMARK.at("Section 5.2, Hyperparameters; Section 4.3.4, selection of K"),
    All(
        {
            "c = mu_0/K, as in 4.3.4": ImpliedBy(At(DIVERGENCE, BY_BUDGET), At(DIVERGENCE, ONE_MORE), where=(LONG,)),
            "c fixed": MonotoneIn(DIVERGENCE, K, up=True, where=(D + G2 > 0,)),
        },
        wrong=("c = mu_0/K, as in 4.3.4",),
    ),
    note="Section 5.2 explains the fall of accuracy at large K by the very term that asks for large K in 4.3.4. With "
    "c = mu_0/K the term falls once log(TK) > 1 + mu_0 L/K, so for all large K; with c fixed it grows from K = 1 on, "
    "without a threshold.",
    defect=Defect.READING,
)


def _slope(book: Book) -> sp.Expr:
    """Derivative of the logarithm of the weight in beta."""
    return sp.log(resolve("fedinit.divergence_weight", book)).diff(beta)


BEST_BETA = Claim(
    "fedinit.divergence_weight.minimum",
    "The divergence's coefficient (1+beta)^{1/(beta c L)}/sqrt(1 - 96 beta^2) has its minimum inside 0 < beta < "
    "sqrt(6)/24.",
    Kind.REMARK.at("Selection of beta"),
    {
        "as printed": Same("fedinit.divergence_weight", (1 + beta) ** (1 / (beta * c * L)) / sp.sqrt(1 - 96 * beta**2)),
        "it falls at first": ImpliedBy(
            At(_slope, {beta: 1 / (400 * c * L + 10)}), 0, where=(c * L < 10,), within={c: (0.01, 10), L: (0.1, 1)}
        ),
        "and rises at the end": ImpliedBy(
            0,
            At(_slope, {beta: sp.Rational(10206, 100000)}),
            where=(c * L > sp.Rational(1, 1000),),
            within={c: (0.01, 10), L: (0.1, 1)},
        ),
    },
    damaged="the exponent 1/(beta c L)",
    note="As a property of the printed factor; see fedinit.divergence_weight.artefact.",
)


def _round_factors(book: Book) -> Finding:
    """1 + beta of a round, over the root of Theorem 5's weight, both as multiples of their values at beta = 0."""
    length = resolve("fedinit.stability_round", book)
    weight = resolve(term("fedinit.theorem_4_before", "gradient noise"), book)
    factor = length / length.subs(beta, 0) * sp.sqrt(sp.cancel(weight / weight.subs(beta, 0)))
    large, small = (float(factor.subs(beta, at)) for at in (sp.Rational(1, 100), sp.Rational(1, 1000)))
    return judged(large <= small, f"{large:.4f} at beta = 0.01, {small:.4f} at beta = 0.001")


ARTEFACT = Claim(
    "fedinit.divergence_weight.artefact",
    "The minimum is one of the bound on the drift: a round's factor 1 + beta over sqrt(1 - 96 beta^2) has it too.",
    Kind.REMARK.at("Selection of beta; Appendix A.3.2"),
    _round_factors,
    note="The text speaks of the printed factor. 1 + beta is replaced by the power 1/(beta c L) of it, which falls "
    "with beta as 1 + beta does not. With the factor that the round has, beta = 0 is best of the range from 0 on: "
    "the bound gives no reason for a relaxed start.",
    repair=Repair(
        "a round's own factor grows with beta",
        MonotoneIn((1 + beta) / sp.sqrt(1 - 96 * beta**2), beta, up=True, where=RANGE_96),
    ),
    defect=Defect.REFUTED,
    ours=True,
)
