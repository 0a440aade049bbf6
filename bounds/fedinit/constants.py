"""FedInit, the constants of its theorems and the caps on lambda, the step size and the relaxation, as bounds."""

from __future__ import annotations

from sympy import exp, Integer, sqrt

from . import common
from .common import fedinit_bound, of
from .letters import beta, C, eta, K, kappa_1, kappa_2, L, lam, mu, N

CONSTANT_NOTE = "The digits are damaged in the text that was read; rebuilt as 10*195*2/3 = 1300 and 10*51*2 = 1020."

constants = tuple(
    fedinit_bound(
        **of(name, target, "Theorem 1, under eq. (9)", common.ALGORITHM_1, common.EVERY_ROUND),
        relation="=",
        terms={"with relaxation": common.CONSTANTS[target] - at_zero, "without relaxation": Integer(at_zero)},
        conditions=(common.BETA_NOT_NEGATIVE, common.BETA_BELOW_72),
        note=CONSTANT_NOTE,
    )
    for name, target, at_zero in (("kappa_1", kappa_1, 17), ("kappa_2", kappa_2, 13))
)

contraction_cap = fedinit_bound(
    **of("contraction_cap", lam, "Appendix A.2.2, before the descent inequality", common.PROOF, common.EVERY_ROUND),
    terms=common.CONTRACTION_CAP,
    signed=tuple(label for label in common.CONTRACTION_CAP if label != "whole descent"),
    conditions=(
        *common.SMOOTH_NOISY_DISSIMILAR,
        common.TWO_STEPS,
        common.STEP_SAMPLING,
        common.BETA_NOT_NEGATIVE,
        common.BETA_BELOW_72,
    ),
    note="The inequality is strict; if the sum is not positive, no such lambda exists and the theorems do not apply.",
)

CAP_PLACES = {
    "theorem_1": "Theorem 1, step size", "theorem_2": "Theorem 2, step size", "theorem_4": "Theorem 4, step size",
    "theorem_5": "Theorem 5, step size", "lemma_2": "Lemma 2, proof", "lemma_3": "Lemmas 3 and 4, proof",
}  # fmt: skip
CAP_NOTES = {
    "lemma_2": "The number under the root is lost in the text that was read; the printed step of the proof holds under "
    "this cap (medium confidence).",
    "theorem_4": "sqrt(N)/(sqrt(C) K L) is rebuilt from damaged text (high confidence).",
}
step_size_caps = tuple(
    fedinit_bound(
        **of(f"step_size_cap_{where}", eta, CAP_PLACES[where]),
        terms={"cap": cap},
        conditions=(common.TWO_STEPS,),
        about=common.PROOF if where.startswith("lemma") else common.ALGORITHM_1,
        statistic=common.EVERY_ROUND,
        note=CAP_NOTES.get(where, ""),
    )
    for where, cap in common.STEP_CAPS.items()
)

step_size_cap_descent = fedinit_bound(
    **of("step_size_cap_descent", eta, "Appendix A.2.2, bracket of the summed gradients (solved for the step size)"),
    terms={"cap": N / (C * K * L * (1 + 60 * beta**2 / (N * common.WEIGHT_72)))},
    conditions=(common.BETA_NOT_NEGATIVE, common.BETA_BELOW_72),
    about=common.PROOF,
    statistic=common.EVERY_ROUND,
    note="Derived: the step sizes for which the bracket is at most 0, as the proof needs. The text continues with "
    "N/(2CKL) instead, which is smaller only while 60 beta^2 <= N (1 - 72 beta^2).",
)

relaxation_caps = tuple(
    fedinit_bound(
        **of(f"relaxation_cap_{where}", beta, place, common.ALGORITHM_1, common.EVERY_ROUND),
        terms={"cap": cap},
        note=note,
    )
    for where, cap, place, note in (
        (
            "theorem_1",
            common.BETA_CAP_72,
            "Theorem 1, relaxation",
            "From 72 beta^2 < 1; whether < or <= is printed is lost.",
        ),
        (
            "theorem_4",
            common.BETA_CAP_96,
            "Theorem 4, relaxation",
            "From 96 beta^2 < 1; whether < or <= is printed is lost.",
        ),
        (
            "theorem_5",
            exp(-lam * mu * eta * K / 2) / sqrt(96),
            "Theorem 5, proof",
            "The proof's 96 beta^2 <= exp(-lambda mu eta K), solved for the relaxation.",
        ),
    )
)
