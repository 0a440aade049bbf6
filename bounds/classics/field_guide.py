"""Wang et al. 2021, "A Field Guide to Federated Optimization": FedAvg on convex losses, Theorem 1 and its two lemmas.

The bound is on the mean of the gaps after each of the local steps 1 to K of all rounds, at the average of all models:
neither the last iterate nor the gap at an averaged iterate. The paper's M counts clients, tau local steps and T rounds.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from .. import vocabulary as q
from ..assumptions import UNIFORM_DISSIMILARITY
from ..core import assumed, Bound, Condition, Statistic
from ..papers import heads
from ..places import VIRTUAL
from .common import EQUAL_WEIGHTS, EVERY_VIRTUAL, EVERYONE, FEDAVG, FIXED, MEAN_VIRTUAL

D2, L, M, T = q.initial_distance_sq, q.smoothness, q.clients, q.rounds
eta, sigma2, tau, zeta2 = q.step_size, q.gradient_variance, q.local_steps, q.uniform_dissimilarity

GUIDE = "Field Guide"
of = heads("classics", GUIDE)
LETTERS = {M: "M", tau: r"\tau", T: "T", D2: "D^2"}
SHORT_STEP = Condition("the step size is at most 1/(4L)", eta <= 1 / (4 * L))
_FEDERATION = assumed("convex", "smooth", "bounded_variance", "independent_noise", "uniform_dissimilarity")
SETTING = (*_FEDERATION, *EVERYONE, *FIXED, EQUAL_WEIGHTS)

lemma_1 = Bound(
    **of("field_guide_lemma_1", q.round_gap, "Section 6.1.2, Lemma 1", FEDAVG, Statistic("every", "rounds", VIRTUAL)),
    terms={
        "progress": (q.distance_sq - q.round_end_distance_sq) / (2 * eta * tau),
        "noise": eta * sigma2 / M,
        "drift": L / tau * q.summed_consensus,
    },
    conditions=(*(c for c in SETTING if c.assumption is not UNIFORM_DISSIMILARITY), SHORT_STEP),
    letters={**LETTERS, q.summed_consensus: r"\frac{1}{M}\sum_{i,k}\|x_i-\bar x\|^2"},
    signed=("progress",),
    note="On one round, given the state before it: the distance is that of the round's first model.",
)

lemma_2 = Bound(
    **of("field_guide_lemma_2", q.client_distance_sq, "Section 6.1.2, Lemma 2", FEDAVG, EVERY_VIRTUAL),
    terms={"heterogeneity": 18 * tau**2 * eta**2 * zeta2, "noise": 4 * tau * eta**2 * sigma2},
    conditions=(*SETTING, SHORT_STEP),
    letters=LETTERS,
    note="In expectation, for every client and after every local step of a round.",
)

theorem_1 = Bound(
    **of("field_guide_theorem_1", q.mean_gap, "Theorem 1, eq. (15)", FEDAVG, MEAN_VIRTUAL),
    terms={
        "start": D2 / (2 * eta * tau * T),
        "noise": eta * sigma2 / M,
        "noise drift": 4 * tau * eta**2 * L * sigma2,
        "heterogeneity drift": 18 * tau**2 * eta**2 * L * zeta2,
    },
    conditions=(*SETTING, SHORT_STEP),
    letters=LETTERS,
    note="The disagreement of the clients is bounded at every model, so that quadratic clients must have one Hessian.",
)

# ---- the tuned step ----

_D, _SIGMA, _ZETA = (sp.sqrt(x) for x in (D2, sigma2, zeta2))
_THIRD = sp.Rational(1, 3)
CAPS = (
    1 / (4 * L),
    sp.sqrt(M) * _D / (sp.sqrt(tau) * sp.sqrt(T) * _SIGMA),
    _D ** (2 * _THIRD) / (tau ** (2 * _THIRD) * T**_THIRD * L**_THIRD * _SIGMA ** (2 * _THIRD)),
    _D ** (2 * _THIRD) / (tau * T**_THIRD * L**_THIRD * _ZETA ** (2 * _THIRD)),
)
"""The four step sizes of (16), each of which keeps one term of (15) small; the smallest one is used."""
_NOTHING_VANISHES = (
    Condition("the start is not the minimiser", sp.Gt(D2, 0)),
    Condition("there is noise", sp.Gt(sigma2, 0)),
    Condition("the clients disagree", sp.Gt(zeta2, 0)),
)

tuned_step_size = Bound(
    **of("field_guide_step_size", eta, "Theorem 1, eq. (16)", FEDAVG),
    relation="=",
    terms={"least": sp.Min(*CAPS, evaluate=False)},  # evaluated it is the same, and SymPy is slow
    conditions=_NOTHING_VANISHES,
    letters=LETTERS,
)

theorem_1_tuned = replace(
    theorem_1,
    **of("field_guide_theorem_1_tuned", None, "Theorem 1, eq. (17)"),
    terms={
        "start": 2 * L * D2 / (tau * T),
        "noise": 2 * _SIGMA * _D / sp.sqrt(M * tau * T),
        "noise drift": 5 * (L * sigma2 * D2**2) ** _THIRD / (tau**_THIRD * T ** (2 * _THIRD)),
        "heterogeneity drift": 19 * (L * zeta2 * D2**2) ** _THIRD / T ** (2 * _THIRD),
    },
    conditions=(
        *SETTING,
        *_NOTHING_VANISHES,
        Condition("the step size is the least of the four of the Field Guide, (16)", sides=(eta, tuned_step_size.expr)),
    ),
    note="With the step size of (16), classics.field_guide_step_size.",
)
