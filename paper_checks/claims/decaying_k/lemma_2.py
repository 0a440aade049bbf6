"""Appendix A.1 and A.2: Lemma 2, what it follows from, and what it breaks on."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from bounds.decaying_k.letters import C, eta, F_0, F_star, F_T, G2, Gamma, K, L, mu, N, S, sigma_c
from bounds.operators import ClientSum

from ..checkers import All, Broken, Dominates, ImpliedBy, number, Same, States
from ..claim import Book, Claim, Defect, Finding, judged, Kind, Repair
from .common import A1_TO_A3, CAP, KAPPA
from .lemma_1 import LEMMA, NOISE, SAMPLING

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
    All(
        {
            "stored witness": Broken(SUM, "decaying_k_claim.lemma_2.json", ratio=0.0),
            "by hand": _sum_at_optimum,
            "(22)": ImpliedBy(RIGHT_21, RIGHT_22, where=(F_star <= F_0, F_star <= F_T)),
            "from (22)": Same(SUM, _from_22(F_star)),
            "F^* for F(x_T)": ImpliedBy(_from_22(F_T), SUM, where=(F_star <= F_T,)),
            "conditions": States(SUM, (F_star <= F_0,), (*A1_TO_A3, "bounded_gradient")),
        },
        wrong=("stored witness", "by hand", "(22)"),
    ),
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
