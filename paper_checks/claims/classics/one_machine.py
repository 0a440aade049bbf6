"""SGD on one machine: Bottou, Curtis and Nocedal 2018, Theorems 4.6 to 4.8, and Needell, Srebro and Ward 2014."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import sympy as sp

from bounds import vocabulary as q
from bounds.classics.one_machine import BOTTOU, NEEDELL
from bounds.units import LOSS, PARAMETER

from ..checkers import At, Dominates, EdgeIs, ImpliedBy, Informative, MeasuredIn, Same, States, TendsTo, term, Total
from ..claim import Book, Claim, Finding, Kind
from .li import RATE
from .runs import Case, compared, distance_after

D2, Delta_0, K, L = q.initial_distance_sq, q.initial_gap, q.iterations, q.smoothness
M, M_V, a, beta = q.gradient_variance, q.variance_growth, q.step_size, q.step_size_scale
c, mu, mu_G, offset = q.strong_convexity, q.alignment, q.gradient_norm_factor, q.step_offset
sigma2 = q.optimum_dissimilarity

FIXED, FALLING, NONCONVEX, NEEDELL_2_1 = (
    "classics.bottou_4_6", "classics.bottou_4_7", "classics.bottou_4_8", "classics.needell_2_1"
)  # fmt: skip
ONE = ("one_client", "local_sgd", "smooth", "gradient_moments")
M_G = M_V + mu_G**2
ALIGNED = mu <= mu_G
SHORT = a <= mu / (L * M_G)
ADDED = a**2 * L * M / 2
"""What noise adds to the gap in one step: half of L times the squared step times the variance."""


def _parabolas(book: Book) -> Finding:
    """Two directions of curvatures 3 and 1/2 that share the noise, gradients stretched by 5/4, in closed form."""

    def cases() -> Iterator[Case]:
        stretch, noise = Fraction(5, 4), Fraction(9, 4)
        for share, step, steps in ((Fraction(1, 2), Fraction(1, 5), 9), (Fraction(1), Fraction(4, 15), 40)):
            gap, start = Fraction(0), Fraction(0)
            for bent, part, x in ((Fraction(3), share, Fraction(2)), (Fraction(1, 2), 1 - share, Fraction(-6))):
                start += bent * x**2 / 2
                gap += bent / 2 * distance_after((1 - step * stretch * bent) ** 2, step**2 * noise * part, x**2, steps)
            yield gap, {
                "smoothness": 3, "strong_convexity": Fraction(1, 2), "alignment": stretch, "variance_growth": 0,
                "gradient_norm_factor": stretch, "gradient_variance": noise, "initial_gap": start, "step_size": step,
                "iterations": steps,
            }  # fmt: skip

    return compared(book, FIXED, cases())


THEOREM_4_6 = Claim(
    "classics.bottou_4_6",
    "With a fixed step the gap falls by 1 - a c mu a step, down to the floor a L M/(2 c mu).",
    Kind.THEOREM.at("Theorem 4.6, eq. (4.14)", BOTTOU),
    {
        "one step more": Same(Total(((1 - a * c * mu, FIXED), (1, ADDED))), At(FIXED, {K: K + 1})),
        "at the start": Same(At(FIXED, {K: sp.S.Zero}), Delta_0),
        "unit": MeasuredIn(At(FIXED, {K: sp.Integer(3)}), LOSS),
        "conditions": States(FIXED, (ALIGNED, SHORT), (*ONE, "globally_strongly_convex", "fixed_step_size")),
        "largest step": EdgeIs(FIXED, a, mu / (L * M_G), where=(ALIGNED,)),
        "exact runs": _parabolas,
        "search": Dominates(FIXED, family="quadratics"),
    },
)

NOISE = beta**2 * L * M / (2 * (beta * c * mu - 1))
NU = sp.Max(NOISE, offset * Delta_0)

THEOREM_4_7 = Claim(
    "classics.bottou_4_7",
    "With steps beta/(gamma + k) the gap is at most nu/(gamma + k), nu being the larger of a noise and a start.",
    Kind.THEOREM.at("Theorem 4.7, eqs. (4.21), (4.22)", BOTTOU),
    {
        "formula": Same(FALLING, NU / (offset + K)),
        "noise": Same(beta**2 * L * M / 2, (beta * c * mu - 1) * NOISE),
        "one step more": RATE,
        "unit": MeasuredIn(FALLING, LOSS),
        "conditions": States(
            FALLING,
            (ALIGNED, beta > 1 / (c * mu), offset > 1, beta / offset <= mu / (L * M_G)),
            (*ONE, "globally_strongly_convex", "harmonic_step_size"),
        ),
        "search": Dominates(FALLING, family="quadratics"),
    },
    note="Iterations are counted from 0 here, so that the offset is the paper's gamma + 1. A step leads from "
    "nu/(offset + k) to nu (offset + k - 1)/(offset + k)^2 at most, since noise is at most (beta c mu - 1) nu.",
)


SUMMED = 2 / (a * mu * K) * (Delta_0 + K * ADDED)
"""The descent a mu/2 ||grad F||^2 <= Delta_k - Delta_(k+1) + a^2 L M/2 over K steps, divided by a mu K/2."""

THEOREM_4_8 = Claim(
    "classics.bottou_4_8",
    "Without convexity the mean squared gradient over K steps is at most a L M/mu + 2 (F(w_1) - F_inf)/(K mu a).",
    Kind.THEOREM.at("Theorem 4.8, eq. (4.28b)", BOTTOU),
    {
        "from the descent": Same(SUMMED, NONCONVEX),
        "unit": MeasuredIn(NONCONVEX, q.GRADIENT**2),
        "limit": TendsTo(NONCONVEX, K, sp.oo, a * L * M / mu),
        "conditions": States(NONCONVEX, (ALIGNED, SHORT), (*ONE, "lower_bounded", "fixed_step_size")),
        "search": Dominates(NONCONVEX, family="quadratics"),
    },
)

SAYS = Claim(
    "classics.bottou_4_6.informative",
    "The floor of Theorem 4.6 can lie below the start, and that of Theorem 4.8 below what smoothness says of it.",
    Kind.REMARK.at("Theorems 4.6 and 4.8", BOTTOU),
    {
        "4.6": Informative(term(FIXED, "noise"), Delta_0, where=(c <= L, a <= 1 / L)),
        "4.8": Informative(NONCONVEX, 2 * L * Delta_0, under=(NONCONVEX,)),
    },
    ours=True,
)

NEEDELL_CLAIM = Claim(
    "classics.needell_2_1",
    "Where one of the losses is drawn in every step, the distance falls by 1 - 2 gamma mu (1 - gamma sup L) a step, "
    "down to a floor made of the gradients at the minimiser alone.",
    Kind.THEOREM.at("Theorem 2.1, eq. (2.4)", NEEDELL),
    {
        "one step more": Same(
            Total(((1 - 2 * a * c * (1 - a * L), NEEDELL_2_1), (1, 2 * a**2 * sigma2))), At(NEEDELL_2_1, {K: K + 1})
        ),
        "at the start": ImpliedBy(D2, At(NEEDELL_2_1, {K: sp.S.Zero}), under=(NEEDELL_2_1,)),
        "unit": MeasuredIn(At(NEEDELL_2_1, {K: sp.Integer(3)}), PARAMETER**2),
        "conditions": States(
            NEEDELL_2_1,
            (a < 1 / L,),
            (
                "smooth", "convex", "globally_strongly_convex", "exact_gradients", "local_sgd",
                "sampled_with_replacement", "one_participant", "one_local_step", "fixed_step_size",
            ),
        ),
        "search": Dominates(NEEDELL_2_1, family="quadratics"),
    },
    note="A step adds 2 gamma^2 sigma^2 at most; the floor is that over 2 gamma mu (1 - gamma sup L).",
)  # fmt: skip
