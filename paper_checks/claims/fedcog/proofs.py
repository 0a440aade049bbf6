"""FedCOG, A.6.2, (18) to (57): from smoothness to the descent of one round, each step from the one before."""

from __future__ import annotations

import sympy as sp

from bounds.domains import NONNEGATIVE, POSITIVE, REAL
from bounds.fedcog.letters import apart_sq, beta_sq, eta, g, g_k, h_sq, kappa_sq, L, p, sigma_sq, step_sq, tau
from bounds.operators import ClientMean, ClientSum
from bounds.quantities import quantity
from bounds.vocabulary import GRADIENT, step_alignment

from ..checkers import All, At, Broken, Dominates, EdgeIs, ImpliedBy, Refuted, Same, term, Total
from ..claim import Book, Claim, Defect, Kind, Repair
from . import tossed

T_1 = quantity("gradient_alignment", "T_1", "inner product of global and mean stochastic gradient", GRADIENT**2, REAL)
T_2 = quantity("squared_mean_gradient", "T_2", "squared mean stochastic gradient", GRADIENT**2, NONNEGATIVE)

# By (18) a round moves the server model by -tau eta times the mean stochastic gradient.
BY_18 = {step_alignment: -tau * eta * T_1, step_sq: (tau * eta) ** 2 * T_2}
LINE_20 = -tau * eta * T_1 + L * tau**2 * eta**2 / 2 * T_2
QUADRATIC = step_alignment + L / 2 * step_sq
"""What L/2 ||theta||^2 changes by, whatever the step: smoothness holds there with equality."""


def plugged_in(book: Book) -> sp.Expr:
    """(20) with the corrected sign, T_1 from (23) and T_2 from (29)."""
    alignment = g / 2 + h_sq / 2 - apart_sq / 2
    put = {step_alignment: -tau * eta * alignment, step_sq: (tau * eta) ** 2 * book["fedcog.mean_update"].expr}
    return book["fedcog.smoothness_step"].expr.subs(put, simultaneous=True)


def line_31(book: Book) -> sp.Expr:
    """The terms of (30) that (31) keeps."""
    kept = book["fedcog.descent"].spelled_terms
    return sp.Add(*(kept[name] for name in ("global gradient", "gradient noise", "gradient drift")))


r = sp.Symbol("r", integer=True, nonnegative=True)
PATH = quantity("path_gradients", r"\sum_s T_5", "squared gradients summed over a local path", GRADIENT**2, NONNEGATIVE)
S = quantity("path_distance", "S", "L^2 times the mean squared distance along a local path", GRADIENT**2, NONNEGATIVE)
one = quantity("first_vector", "a", "a component of one vector", GRADIENT, REAL)
other = quantity("second_vector", "b", "the same component of another vector", GRADIENT, REAL)
u = quantity("first_share", "u", "weight of the one vector", domain=POSITIVE)
v = quantity("second_share", "v", "weight of the other vector", domain=POSITIVE)

A = 2 * tau * (tau - 1) * eta**2 * L**2
T_4 = 2 * r * eta**2 * sigma_sq + 2 * r * eta**2 * PATH
LINE_45 = (tau - 1) * L**2 * eta**2 * sigma_sq + (tau - 1) * L**2 * eta**2 * PATH
# (47) summed over the path: sum_s |theta - theta_s|^2 is tau S / L^2.
LINE_47 = 2 * L**2 * (tau * S / L**2) + 2 * tau * g_k
LINE_48 = (tau - 1) * L**2 * eta**2 * sigma_sq + A * S + A * g_k
FULL_LIMIT = sp.Min(1 / (2 * tau * L), 1 / (L * sp.sqrt(2 * tau * (tau - 1) * (2 * beta_sq + 1))))
A_IS_ONE = 1 / (L * sp.sqrt(2 * tau * (tau - 1)))
SEVERAL = (sp.Gt(tau, 1),)


def rearranged(book: Book) -> sp.Expr:
    """(48) read as S <= what it is made of, solved for S."""
    (solved,) = sp.solve(sp.Eq(S, LINE_48), S)
    return solved


def averaged(book: Book) -> sp.Expr:
    """(51) averaged over the clients, Assumption 5.4 put in."""
    mean = ClientMean(sp.expand(book["fedcog.gradient_drift"].expr))
    return mean.subs(ClientMean(g_k), book["fedcog.dissimilarity"].expr)


def line_54(book: Book) -> sp.Expr:
    """(33) with (53) for its last term: (30) without the term that (31) drops."""
    kept = book["fedcog.descent"].spelled_terms
    whole = sp.Add(*(kept[name] for name in kept if name != "local paths"))
    return whole.subs(apart_sq, book["fedcog.mean_gradient_drift"].expr)


def line_57(book: Book) -> sp.Expr:
    """(55) with 1/2 for A beta^2/(1-A) and 3/2 for 1/(1-A)."""
    parts = book["fedcog.descent_with_drift"].spelled_terms
    drift = parts["drift by noise"] + parts["drift by heterogeneity"]
    halved = -tau * eta / 2 * g * (1 - sp.Rational(1, 2))
    return halved + parts["gradient noise"] + sp.Rational(3, 2) * (1 - A) * drift


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "fedcog.eq_18",
        "Over a round the server model moves by minus tau eta times the weighted mean of the clients' mean stochastic "
        "gradients.",
        Kind.PROOF.at("eq. (16) to (18)"),
        tossed.server_move,
    ),
    Claim(
        "fedcog.eq_19",
        "Smoothness bounds the change of the objective by the alignment minus L/2 times the squared step.",
        Kind.PROOF.at("eq. (19)"),
        All(
            {
                "L/2 ||theta||^2": Same(QUADRATIC, "fedcog.smoothness_step_printed", difference=L * step_sq),
                "noisy steps from a minimum": Broken("fedcog.smoothness_step_printed", "fedcog_eq_19.json", ratio=-1.0),
            },
            wrong=("L/2 ||theta||^2", "noisy steps from a minimum"),
        ),
        note="The sign before the squared step. (20) has the right sign, and nothing after it is touched.",
        repair=Repair(
            "with a plus, with equality for L/2 ||theta||^2",
            {
                "L/2 ||theta||^2": Same(QUADRATIC, "fedcog.smoothness_step"),
                "a search": Dominates("fedcog.smoothness_step", family="quadratics"),
            },
            "fedcog.smoothness_step",
        ),
        defect=Defect.SLIP,
    ),
    Claim(
        "fedcog.eq_20",
        "Putting the update (18) into (19), its sign mended, gives (20), with equality.",
        Kind.PROOF.at("eq. (19) to (20)"),
        {
            "with a plus": Same(At("fedcog.smoothness_step", BY_18), LINE_20),
            "as printed": Refuted(
                Same(At("fedcog.smoothness_step_printed", BY_18), LINE_20, difference=-L * tau**2 * eta**2 * T_2)
            ),
        },
        note="With the sign as printed, fedcog.eq_19, it does not.",
    ),
    Claim(
        "fedcog.eq_22",
        "The noise in T_1 vanishes in expectation, since d_k - h_i has mean zero, also for different clients.",
        Kind.PROOF.at("eq. (21) to (22) and the text after (23)"),
        tossed.indices_mixed,
        note="An index, k is meant: two clients' mean gradients differ. The step needs E[d_k - h_k] = 0 alone.",
        repair=Repair(
            "E[d_k - h_k] = 0 for every client, and the noise vanishes",
            {"indices": tossed.indices_alike, "(22)": tossed.noise_part_vanishes},
        ),
        defect=Defect.SLIP,
    ),
    Claim(
        "fedcog.eq_26",
        "Clients draw independently, as the proof says and no assumption does, so that the square of their weighted "
        "noise is the sum with squared weights.",
        Kind.PROOF.at("eq. (26)"),
        {
            "coins of their own": tossed.clients_uncorrelated(shared=False),
            "one coin for all clients": Refuted(tossed.clients_uncorrelated(shared=True)),
        },
        note="Clients that share a seed, as the text proposes for the generated data, must not share that of the "
        "mini-batches.",
    ),
    Claim(
        "fedcog.eq_28",
        "By Assumption 5.3 the noises of one client at different steps do not correlate.",
        Kind.PROOF.at("eq. (27) to (28), again (40)"),
        tossed.one_coin_a_round,
        note="A batch that is kept for a round meets the assumption at every fixed model, and its noise is tau times "
        "that of (28). It fails if read without fresh batches and is not refuted with them: what is quoted from Wang "
        "et al. needs noise of mean zero given all that came before. fedcog.theorem.fresh_batches has the theorem.",
        repair=Repair(
            "with batches that are fresh at every step, though gradients depend on earlier noise",
            tossed.steps_uncorrelated,
        ),
        defect=Defect.READING,
    ),
    Claim(
        "fedcog.eq_29",
        "T_2 is at most 2 sigma^2 / tau times the squared weights plus twice the squared mean true gradient.",
        Kind.PROOF.at("eq. (28) to (29)"),
        {
            "formula": Same("fedcog.mean_update", 2 * ClientSum(p**2 * tau * sigma_sq / tau**2) + 2 * h_sq),
            "a run tossed with coins": tossed.update_bounded,
        },
    ),
    Claim(
        "fedcog.eq_30",
        "(23) and (29) in (20) give (30).",
        Kind.PROOF.at("eq. (30)"),
        Same(plugged_in, "fedcog.descent"),
    ),
    Claim(
        "fedcog.eq_31",
        "Where 1 - 2 tau eta L >= 0, and only there, the squared mean path gradient may be dropped.",
        Kind.PROOF.at("eq. (31)"),
        {
            "may": ImpliedBy("fedcog.descent", line_31, under=("fedcog.theorem",)),
            "only there": ImpliedBy(
                0, term("fedcog.descent", "local paths"), where=(sp.Gt(2 * tau * eta * L, 1), sp.Gt(h_sq, 0))
            ),
        },
    ),
    Claim(
        "fedcog.eq_33",
        "The elementary inequalities: 2 a b = a^2 + b^2 - (a - b)^2, (a + b)^2 <= 2 a^2 + 2 b^2, and the square of a "
        "weighted mean is at most the mean of the squares.",
        Kind.PROOF.at("eq. (23), (25), (33), again (36), (39), (42) and (46)"),
        {
            "(23)": Same(one * other, one**2 / 2 + other**2 / 2 - (one - other) ** 2 / 2),
            "(25)": ImpliedBy((one + other) ** 2, 2 * one**2 + 2 * other**2, squares=((one - other) ** 2,)),
            "(33)": ImpliedBy(
                ((u * one + v * other) / (u + v)) ** 2,
                (u * one**2 + v * other**2) / (u + v),
                squares=(u * v * (one - other) ** 2 / (u + v) ** 2,),
            ),
        },
        note="Proved for the mean of two vectors; a mean of more is one of two, time and again.",
    ),
    Claim(
        "fedcog.eq_43",
        "After r local steps a client is, in expected square, within 2 r eta^2 (sigma^2 + the squared gradients summed "
        "over the path) of its start.",
        Kind.PROOF.at("eq. (38) to (43)"),
        tossed.distance_bounded,
        note="With fresh batches, as fedcog.eq_28.",
    ),
    Claim(
        "fedcog.eq_48",
        "(43) summed over the steps, with 0 + 1 + ... + (tau - 1) = tau (tau - 1) / 2, and (47) put in give (48).",
        Kind.PROOF.at("eq. (44) to (48)"),
        {
            "(45)": Same(L**2 / tau * sp.summation(T_4, (r, 0, tau - 1)), LINE_45),
            "(48)": Same(At(lambda book: LINE_45, {PATH: LINE_47}), LINE_48),
        },
        damaged="the distance in (48) is printed with the client's index on the wrong model; read as in (47)",
    ),
    Claim(
        "fedcog.eq_51",
        "Rearranging (48) bounds the drift of client k's gradient by noise over 1 - A and A/(1-A) of its gradient.",
        Kind.PROOF.at("eq. (49) to (51)"),
        Same("fedcog.gradient_drift", rearranged),
    ),
    Claim(
        "fedcog.eq_53",
        "Averaged over the clients, bounded dissimilarity put in for their mean squared gradient, (51) gives (53).",
        Kind.PROOF.at("eq. (52) to (53)"),
        {
            "averaged": Same("fedcog.mean_gradient_drift", averaged),
            "with tau eta / 2, as printed": Same(
                Total(((tau * eta / 2, "fedcog.mean_gradient_drift"),)),
                tau * (tau - 1) * sigma_sq * L**2 * eta**3 / (2 * (1 - A))
                + A * tau * eta * beta_sq * g / (2 * (1 - A))
                + A * tau * eta * kappa_sq / (2 * (1 - A)),
            ),
        },
    ),
    Claim(
        "fedcog.eq_55",
        "(53) in (33) gives (55).",
        Kind.PROOF.at("eq. (54) to (55)"),
        Same("fedcog.descent_with_drift", line_54),
    ),
    Claim(
        "fedcog.eq_51.below_one",
        "The rearrangement needs A < 1, and (53) with it; (55) needs 1 - 2 tau eta L >= 0 of (31) alone, from which "
        "A < 1 follows.",
        Kind.PROOF.at("text after eq. (51), eq. (53) and (55)"),
        {
            "(51)": EdgeIs("fedcog.gradient_drift", eta, A_IS_ONE, closed=False, where=SEVERAL),
            "(53)": EdgeIs("fedcog.mean_gradient_drift", eta, A_IS_ONE, closed=False, where=SEVERAL),
            "(55)": EdgeIs("fedcog.descent_with_drift", eta, 1 / (2 * tau * L), where=SEVERAL),
            "not negative": ImpliedBy(0, "fedcog.gradient_drift", under=("fedcog.gradient_drift",)),
        },
        note="Beyond eta L = 1/sqrt(2 tau (tau - 1)) the right side of (51) is negative, while the left is a square.",
    ),
    Claim(
        "fedcog.eq_57",
        "Under (62) and (63), (55) is at most (57), whose 1/4 and 3/4 are what 1/2 for A beta^2/(1-A), and 3/2 for "
        "1/(1-A) at beta^2 = 1, leave.",
        Kind.PROOF.at("eq. (56) to (57)"),
        {
            "implied": ImpliedBy(
                "fedcog.descent_with_drift", "fedcog.descent_one_round", under=("fedcog.descent_one_round",)
            ),
            "constants": Same("fedcog.descent_one_round", line_57),
            "one step: no drift": Same(
                At("fedcog.descent_one_round", {tau: 1}), -eta / 4 * g + L * eta**2 * sigma_sq * ClientSum(p**2)
            ),
            "A beta^2/(1-A) <= 1/2 is (63)": Same(
                A * beta_sq / (1 - A) - sp.Rational(1, 2), beta_sq * (1 / (1 - A) - 1 - 1 / (2 * beta_sq))
            ),
        },
        note="The text before (56) prints an implication where the two are equivalent, since 1/(1-A) - 1 = A/(1-A).",
        about=("fedcog.theorem",),
    ),
)
