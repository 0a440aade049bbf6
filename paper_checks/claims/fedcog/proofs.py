"""FedCOG, A.6.2, (18) to (33): from smoothness to the descent of one round, (30), each step from the one before."""

from __future__ import annotations

import sympy as sp

from bounds.domains import NONNEGATIVE, REAL
from bounds.fedcog.letters import apart_sq, eta, g, h_sq, L, p, sigma_sq, step_sq, tau
from bounds.operators import ClientSum
from bounds.quantities import quantity
from bounds.vocabulary import GRADIENT, step_alignment

from ..checkers import All, At, Broken, Dominates, ImpliedBy, Refuted, Same, term
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


TOSSED = "takes the expectation over all coin tosses of a run"

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
            {
                "indices": tossed.indices_alike,
                "(22)": tossed.noise_part_vanishes,
            },
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
)
