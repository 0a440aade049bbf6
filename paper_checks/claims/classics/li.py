"""Li et al. 2020: Theorems 1 to 3, from the recursion of their distances, in both readings of the first step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from bounds import vocabulary as q
from bounds.classics.li import LI
from bounds.operators import ClientMax, ClientSum
from bounds.units import LOSS

from ..checkers import At, Dominates, ImpliedBy, Informative, MeasuredIn, Same, short, States, TendsTo
from ..claim import Book, Check, Claim, Finding, judged, Kind
from ..parabolas import Scalars
from .runs import Case, compared, MIXED

B, D2, E, G2 = q.noise_level, q.initial_distance_sq, q.local_steps, q.grad_cap_sq
Gamma, K, L, N = q.heterogeneity, q.cohort, q.smoothness, q.clients
T, gamma, mu, p_k = q.iterations, q.step_offset, q.strong_convexity, q.client_weight
sigma2, sigma_k = q.gradient_variance, q.client_gradient_variance

ONE, TWO, THREE = (f"classics.li_theorem_{i}" for i in (1, 2, 3))
SETTING = (
    "smooth", "strongly_convex", "bounded_variance", "independent_noise", "bounded_gradient", "local_sgd",
    "fixed_local_steps", "harmonic_step_size",
)  # fmt: skip
GAMMA = sp.Max(8 * L / mu, E)
NOISE = ClientSum(p_k**2 * sigma_k) + 6 * L * Gamma + 8 * (E - 1) ** 2 * G2
SCHEME = 4 / K * E**2 * G2


def _stated(noise: sp.Expr) -> sp.Expr:
    return L / mu / (GAMMA + T - 1) * (2 * noise / mu + mu * GAMMA / 2 * D2)


def _alone(clients: int, weights: tuple[Fraction, ...] = (), variance: Fraction = Fraction(0)) -> Scalars:
    """Clients that all have the loss (x - 1)^2."""
    return Scalars((Fraction(1),) * clients, (Fraction(2),) * clients, weights=weights, variance=variance)


NOISE_ALONE = Fraction(7, 5)
RUNS = (
    (MIXED, 2, Fraction(4), 3, 2),
    (MIXED, 2, MIXED.minimiser, 1, 3),
    (replace(MIXED, variance=NOISE_ALONE), 2, Fraction(4), 9, 1),
    (_alone(2), 2, Fraction(4), 1, 3),
    (_alone(2, variance=NOISE_ALONE), 2, Fraction(1), 1, 3),
    (_alone(12, variance=NOISE_ALONE), 1, Fraction(1), 1, 1),
)
"""Clients, how many take part, start, local steps, rounds: all at once, disagreement, start, noise of all, of one."""
OFTEN = ((_alone(1), 50, Fraction(4), 1, 3), (_alone(1, variance=NOISE_ALONE), 50, Fraction(1), 1, 3))
"""One client, drawn again and again."""
LARGER = tuple(Fraction(2 if k == 0 else 1, 101) for k in range(100))
THREE_QUARTERS, TENTHS = (Fraction(3, 4), Fraction(1, 4)), (Fraction(1, 10), Fraction(1, 5), Fraction(7, 10))
UNEQUAL_RUNS = (
    *((replace(problem, weights=TENTHS), *how) for problem, *how in RUNS[:3]),
    (_alone(2, THREE_QUARTERS), 2, Fraction(4), 1, 3),
    (_alone(2, THREE_QUARTERS, NOISE_ALONE), 2, Fraction(1), 1, 3),
    (_alone(100, LARGER, NOISE_ALONE), 1, Fraction(1), 1, 1),
)


def _exact_runs(name: str, runs: Sequence[Any] = RUNS, everyone: bool = False, again: bool = False) -> Check:
    """Exact runs in both readings of the first step, t = 0 or 1 of 2/(mu (offset + t)), with the G met on the way.

    Clients of unequal weights p_k run SGD on the losses p_k N F_k, and the bound has the constants stated for these.
    """
    sampling = "with_replacement" if again else "without_replacement"

    def cases() -> Iterator[Case]:
        from empirics.exact import expected, Group
        from empirics.training.setting import Setting

        for first, (problem, some, start, steps, rounds) in product((0, 1), runs):
            clients = problem.clients
            size, scales = clients if everyone else some, [clients * p for p in problem.shares]
            bent, flat = max(scales) * problem.smoothness, min(scales) * problem.strong_convexity
            offset: Any = max(8 * bent / flat, Fraction(steps)) + first
            alike = Counter(zip(scales, problem.curvatures, problem.minima, strict=True))
            groups = [Group(s * h, b, s**2 * problem.variance, count) for (s, h, b), count in alike.items()]
            setting = Setting(
                rounds, size, local_steps=steps, step_size=2 / (flat * offset), step_offset=offset, sampling=sampling
            )
            run = expected("fedavg()", groups, start, setting)
            caps = run.rounds["client_grad_cap_sq"].max(axis=0)
            cap = max(of_scaled / s**2 for of_scaled, (s, _, _) in zip(caps, alike, strict=True))
            yield run.server["optimality_gap"][-1], {
                "clients": clients, "cohort": size, "client_weight": (Fraction(1, clients),) * clients,
                "client_gradient_variance": (max(scales) * problem.variance,) * clients, "smoothness": bent,
                "strong_convexity": flat, "heterogeneity": problem.heterogeneity, "grad_cap_sq": max(scales) * cap,
                "local_steps": steps, "iterations": steps * rounds,
                "initial_distance_sq": (start - problem.minimiser) ** 2,
            }  # fmt: skip

    return lambda book: compared(book, name, cases())


RATE = ImpliedBy(
    (gamma + T - 1) / (gamma + T) ** 2, 1 / (gamma + T + 1), squares=(1 / ((gamma + T) ** 2 * (gamma + T + 1)),)
)
"""What the induction asks of every step: from v/(gamma + t) to v/(gamma + t + 1), where v is at least 4 B/mu^2."""

START_LEFT = gamma * (gamma - 1) / ((gamma + T - 1) * (gamma + T - 2))
"""What the steps with t = 1 to T - 1 leave of the squared distance at the start."""

FIRST_STEP = Claim(
    "classics.li_first_step",
    "The bounds follow from the recursion of the distances, whichever step size the first local step has.",
    Kind.PROOF.at("Section 3.1, eqs. (4), (5)", LI),
    {
        "induction": RATE,
        "product": Same(START_LEFT * (1 - 2 / (gamma + T)), START_LEFT.xreplace({T: T + 1})),
        "start": ImpliedBy(START_LEFT, gamma / (gamma + T - 1), where=(gamma >= 8,)),
    },
    note="With eta_1 first the induction alone gives (gamma + 1)/(gamma + T) for gamma/(gamma + T - 1), which is "
    "larger than (4) allows; but the start falls like 1/T^2, gamma (gamma - 1)/((gamma + T - 1)(gamma + T - 2)).",
)


THEOREM_1 = Claim(
    "classics.li_theorem_1",
    "With all clients (4) bounds the last model's gap, whatever the clients' weights.",
    Kind.THEOREM.at("Theorem 1, eqs. (4), (5)", LI),
    {
        "formula": Same(ONE, _stated(NOISE)),
        "from the recursion": Same(L / 2 * (4 / mu**2 * NOISE + GAMMA * D2) / (GAMMA + T - 1), ONE),
        "unit": MeasuredIn(ONE, LOSS),
        "conditions": States(ONE, (), (*SETTING, "full_participation"), words=1),
        "exact runs": _exact_runs(ONE, everyone=True),
        "search": Dominates(ONE),
    },
)

THEOREM_2 = Claim(
    "classics.li_theorem_2",
    "Where K clients are drawn with replacement, 4 E^2 G^2/K is added to the noise.",
    Kind.THEOREM.at("Theorem 2, eq. (6)", LI),
    {
        "formula": Same(TWO, _stated(NOISE + SCHEME)),
        "unit": MeasuredIn(TWO, LOSS),
        "conditions": States(TWO, (), (*SETTING, "sampled_with_replacement"), words=1),
        "exact runs": _exact_runs(TWO, (*RUNS, *OFTEN), again=True),
        "search": Dominates(TWO),
    },
)

THEOREM_3 = Claim(
    "classics.li_theorem_3",
    "Where K of N equal clients are drawn without replacement, the addition is (N - K)/(N - 1) of that.",
    Kind.THEOREM.at("Theorem 3", LI),
    {
        "formula": Same(THREE, _stated(NOISE + SCHEME * (N - K) / (N - 1))),
        "all take part": Same(At(THREE, {K: N}), ONE),
        "unit": MeasuredIn(THREE, LOSS),
        "conditions": States(THREE, (sp.Gt(N, 1),), (*SETTING, "sampled_without_replacement"), words=2),
        "exact runs": _exact_runs(THREE),
        "search": Dominates(THREE),
    },
)

SAYS = Claim(
    "classics.li_theorem_1.informative",
    "(4) can be smaller than what smoothness says of the start, and tends to 0 with the iterations.",
    Kind.REMARK.at("Theorem 1", LI),
    {"smaller": Informative(ONE, L / 2 * D2, under=(ONE,)), "limit": TendsTo(ONE, T, sp.oo, sp.S.Zero)},
    ours=True,
)

DRIFT = Claim(
    "classics.li_theorem_1.local_steps",
    "For a fixed number of iterations the bound does not fall with the local steps, where no variance exceeds G^2 and "
    "2 mu Gamma is at most G^2.",
    Kind.REMARK.at("Section 3.3", LI),
    ImpliedBy(ONE, At(ONE, {E: E + 1}), where=(sigma_k <= G2, 2 * mu * Gamma <= G2, mu <= L)),
    note="Both hold where G^2 and the variances are the smallest that the assumptions admit: a squared gradient "
    "exceeds its variance, and strong convexity bounds Gamma by G^2/(2 mu). Without them it fails: with a tiny G more "
    "than 8 L/mu local steps can lower the bound, through the offset of the step size.",
    ours=True,
)

# ---- unbalanced clients ----

NU = N * ClientMax(p_k)

UNBALANCED = Claim(
    "classics.li_unbalanced",
    "For clients of unequal weights Theorem 3 holds with nu L, varsigma mu, sqrt(nu) sigma and sqrt(nu) G in place of "
    "its constants, nu and varsigma being N times the largest and the smallest weight.",
    Kind.REMARK.at("after Theorem 3", LI),
    {
        "mean squared gradient": ImpliedBy(ClientSum((N * p_k) ** 2 * G2) / N, NU * G2),
        "variance of the mean": ImpliedBy(ClientSum((N * p_k / N) ** 2 * sigma2), NU * sigma2 / N),
        "exact runs": _exact_runs(THREE, UNEQUAL_RUNS),
    },
    note="The gradients of one scaled loss p_k N F_k are bounded by nu G only, not by sqrt(nu) G. But G and sigma "
    "enter as means over the clients, in the drift, in the draw and in the noise: that of (p_k N)^2 is at most nu.",
)


def _distance(book: Book) -> Finding:
    largest = max(MIXED.gradient(c, Fraction(4)) ** 2 for c in range(3))
    share = (4 - MIXED.minimiser) ** 2 / (4 * largest / MIXED.strong_convexity**2)
    return judged(share <= Fraction(1, 4), f"the squared distance is {short(share)} of the bound")


START = Claim(
    "classics.li_start",
    "The start is no further from the minimiser than 2 G/mu.",
    Kind.REMARK.at("Section 3.1, after eq. (7)", LI),
    {
        "from strong convexity": ImpliedBy(
            D2, 4 * G2 / mu**2, where=(mu**2 * D2 <= G2,), squares=((G2 - mu**2 * D2) / mu**2, 3 * G2 / mu**2)
        ),
        "a run": _distance,
    },
    note="Half of it would do, a quarter of the squared bound: strong convexity gives mu ||w - w*|| <= ||grad F(w)|| "
    "<= G.",
)
