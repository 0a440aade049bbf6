"""Shared parts of FedInit's bounds: algorithms, statistics, letters, constants and conditions.

In this paper K is the number of local steps, N of participants, C of clients, S of a client's samples and T of rounds.
``G2``, ``B2`` and ``sigma2`` are the squares G^2, B^2 and sigma_l^2.

The statements are about two algorithms. Those about Algorithm 1 itself are about ``fedinit``. Those about V_1, V_2 or
Delta^t average over all C clients, and their proofs let all clients train in every round although only N are averaged:
they are about ``fedinit`` in the reading ``proof``.
"""

from __future__ import annotations

from functools import partial

from sympy import exp, Expr, Integer, Min, sqrt

from ..core import About, assumed, Bound, Condition, Statistic
from ..papers import heads
from ..places import LOCAL, SERVER, TWO_RUNS
from ..quantities import Quantity
from ..vocabulary import initial_divergence, mean_grad_norm_sq
from .letters import B2, beta, C, eta, K, kappa_1, kappa_2, L, L_G, lam, mu, N, sigma2, T

ALGORITHM_1 = About("fedinit")
PROOF = About("fedinit", "proof")

EVERY_ROUND = Statistic("every", "rounds")
EVERY_STEP = Statistic("every", "local iterations", TWO_RUNS)
EVERY_SERVER = Statistic("every", "rounds", SERVER)
EVERY_LOCAL = Statistic("every", "rounds", LOCAL)
MEAN_SERVER = Statistic("mean", "rounds", SERVER)
MEAN_LOCAL = Statistic("mean", "rounds", LOCAL)
LAST_SERVER = Statistic("last", "rounds", SERVER)
LAST_LOCAL = Statistic("last", "rounds", LOCAL)

LETTERS: dict[Quantity, str] = {
    T: "T", sigma2: r"\sigma_l^2", B2: "B^2", L_G: "L_G",
    mean_grad_norm_sq: r"\frac{1}{T}\sum_{t}\mathbb{E}\|\nabla f(w^t)\|^2",
}  # fmt: skip
fedinit_bound = partial(Bound, letters=LETTERS)
"""Creates a bound with the paper's letters."""
of = heads("fedinit")

# ---- constants of Theorems 1 and 2 ----

WEIGHT_72 = 1 - 72 * beta**2
WEIGHT_96 = 1 - 96 * beta**2

CONSTANTS: dict[Quantity, Expr] = {kappa_1: 1300 * beta**2 / WEIGHT_72 + 17, kappa_2: 1020 * beta**2 / WEIGHT_72 + 13}
"""kappa_1 and kappa_2 as defined in Theorem 1: abbreviations in the theorems, and also bounds of their own."""

CONTRACTION_CAP: dict[str, Expr] = {
    "whole descent": Integer(1),
    "drift of the average": -39 * eta * K * L * B2 / N,
    "divergence": -3900 * beta**2 * eta * K * L * B2 / (WEIGHT_72 * N),
    "drift of the local models": -12 * eta**2 * K**2 * L**2 * B2,
}
"""The terms that the proof subtracts from the descent; lambda is any positive number below the sum."""

# ---- caps on the step size and on the relaxation ----

CAP_DESCENT = N / (2 * C * K * L)
CAP_SAMPLING = 1 / (N * K * L)
CAP_PL = 1 / (lam * mu * K)
CAP_GRADIENT_SUM = sqrt(N) / (sqrt(C) * K * L)
CAP_LOCAL = 1 / (2 * sqrt(2) * K * L)
CAP_ROUND = 1 / (K * L)

# Unevaluated: SymPy would compare the caps with one another, which is slow and has no effect.
STEP_CAPS: dict[str, Expr] = {
    "theorem_1": Min(CAP_DESCENT, CAP_SAMPLING, evaluate=False),
    "theorem_2": Min(CAP_DESCENT, CAP_SAMPLING, CAP_PL, evaluate=False),
    "theorem_4": Min(CAP_DESCENT, CAP_SAMPLING, CAP_GRADIENT_SUM, evaluate=False),
    "theorem_5": Min(CAP_DESCENT, CAP_SAMPLING, CAP_PL, evaluate=False),
    "lemma_2": CAP_LOCAL,
    "lemma_3": CAP_ROUND,
}
BETA_CAP_72 = sqrt(2) / 12
BETA_CAP_96 = sqrt(6) / 24

# ---- conditions ----

TWO_STEPS = Condition("K is at least 2", K >= 2)
STEP_DESCENT = Condition("the step size is at most N/(2CKL)", eta <= CAP_DESCENT)
STEP_SAMPLING = Condition("the step size is at most 1/(NKL)", eta <= CAP_SAMPLING)
STEP_PL = Condition("the step size is at most 1/(lambda mu K)", eta <= CAP_PL)
STEP_GRADIENT_SUM = Condition("the step size is at most sqrt(N)/(sqrt(C) K L)", eta <= CAP_GRADIENT_SUM)
STEP_LOCAL = Condition("the step size is at most 1/(2 sqrt(2) K L)", eta <= CAP_LOCAL)
STEP_ROUND = Condition("the step size is at most 1/(KL)", eta <= CAP_ROUND)
# Theorems 4 to 6 print 0 <= beta. Lemma 4 and Theorems 1 and 2 print only the upper end, which would allow any
# negative relaxation, however large: there we add the lower end.
BETA_NOT_NEGATIVE = Condition("the relaxation is not negative", beta >= 0)
BETA_POSITIVE = Condition("the relaxation is positive", beta > 0)
BETA_BELOW_72 = Condition("the relaxation is below sqrt(2)/12, so that 72 beta^2 < 1", beta < BETA_CAP_72)
BETA_BELOW_96 = Condition("the relaxation is below sqrt(6)/24, so that 96 beta^2 < 1", beta < BETA_CAP_96)
BETA_DECAY = Condition("96 beta^2 is at most exp(-lambda mu eta K)", 96 * beta**2 <= exp(-lam * mu * eta * K))
CONTRACTION = Condition("lambda is below the share of descent that is left", lam < sum(CONTRACTION_CAP.values()))

SMOOTH_NOISY_DISSIMILAR = assumed("smooth", "bounded_variance", "dissimilarity")
PL = Condition.assume("polyak_lojasiewicz")
# Stability: the losses on two data sets of one client, and on the samples they share, must all be L-smooth.
BOTH_SMOOTH = Condition.assume("replaced_smooth")
LIPSCHITZ_LOSS = Condition.assume("lipschitz")
SAMPLING = Condition.assume("sampled_without_replacement")
START = Condition.assume("relaxed_start")
TOGETHER = Condition(
    "before the first round every client holds the server model", sides=(initial_divergence, Integer(0))
)
ALL_TRAIN = Condition("all clients run their local steps in every round, participants are averaged")

SETTING = (*SMOOTH_NOISY_DISSIMILAR, SAMPLING, START)
"""Assumptions 1 to 3 and Algorithm 1, which all statements on optimisation and divergence need."""

OF_LEMMA_4 = (*SETTING, ALL_TRAIN, TWO_STEPS, STEP_ROUND, BETA_NOT_NEGATIVE, BETA_BELOW_72)
OF_DESCENT = (*SETTING, TWO_STEPS, STEP_DESCENT, STEP_SAMPLING, BETA_NOT_NEGATIVE, BETA_BELOW_72, CONTRACTION)
OF_THEOREM_1 = (*OF_DESCENT, Condition.assume("lower_bounded"), TOGETHER)
OF_THEOREM_2 = (*OF_THEOREM_1, PL, STEP_PL)
OF_THEOREM_4 = (*(c for c in OF_THEOREM_1 if c is not BETA_BELOW_72), ALL_TRAIN, STEP_GRADIENT_SUM, BETA_BELOW_96)
OF_THEOREM_5 = (*(c for c in OF_THEOREM_2 if c is not BETA_BELOW_72), ALL_TRAIN, BETA_BELOW_96, BETA_DECAY)
