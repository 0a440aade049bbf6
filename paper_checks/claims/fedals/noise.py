"""What can be said in place of Theorem 4.1, (72) and Theorem 4.3: the noise of gradients instead of non-iidness.

The variance of a sample's gradient is to be bounded at every model. Theorem 4.3 assumes this too; Theorem 4.1 does not.
"""

from __future__ import annotations

from fractions import Fraction as F

import sympy as sp

from bounds.assumptions import SAMPLES_NOISE
from bounds.fedals.letters import Delta, eta, K, K_hat, L, mu, n, sigma_k_sq, tau, w, Z
from bounds.operators import ClientMean as E_k

from ..checkers import At, OrderIs, requires, Same, term
from ..claim import Book, Claim, Finding, judged, Kind
from ..rows import rows
from .common import alike, NONNEGATIVE
from .enumerated import Walk
from .one_round import above
from .participation import out_of_sample_gap, WEIGHTS

NOISE, CONSTANTS, ROUNDS, CASE_1 = (
    f"fedals.{name}"
    for name in (
        "one_round_noise_sharp",
        "one_round_constants_sharp",
        "rounds_noise_sharp",
        "participation_case1_noise_sharp",
    )
)
SQUARED = {mu: L, Delta: sigma_k_sq / (L * n)}
"""Squared distances: the local gap is what the samples' mean is off by."""
SQUARED_GAP = At("fedals.gaussian_mean_gap", {Delta: SQUARED[Delta]})
VARIANCE = Delta / mu
"""Of an exact minimiser, at most: its excess risk on an independent data set is the local gap."""
q = 1 - eta * mu
CONTRACTED = {sp.Max(q, 0): q}
"""What the step size leaves of the maximum that the bound's formula has beyond it."""
later = sp.Symbol("s", integer=True, nonnegative=True)
KEPT = eta * q**later
"""By how much of its gradient a step shows in the model ``s`` steps later, at most."""


def _mended(name: str) -> dict[str, Same]:
    """What a share weighs: half of L - mu times its square and the variance, and the share times the covariance."""
    square, share = (w**2, w) if name == NOISE else (_moment(3), _moment(2))
    covariance = sp.sqrt(sigma_k_sq / n) * sp.sqrt(VARIANCE)
    return {
        "curvature": Same(term(name, "curvature"), E_k((L - mu) / 2 * square * VARIANCE)),
        "sampling": Same(term(name, "sampling"), E_k(share * covariance), where=NONNEGATIVE[:1]),
    }


def _moment(power: int) -> sp.Expr:
    """``E[(N/cohort)^power] / w`` of a binomial N, for the two requested powers, by its factorial moments."""
    two, three = (K_hat - 1) * w, (K_hat - 1) * (K_hat - 2) * w**2
    return {2: (1 + two) / K_hat, 3: (1 + 3 * two + three) / K_hat**2}[power]


def _boundary(book: Book) -> Finding:
    """The instance of fedals.theorem_4_1.boundary: gap 1, where (6) says 3/4."""
    given = {"local_gap": [4.0, 0.0], "client_gradient_variance": [64.0, 0.0], "samples": 1}
    bounds = {name: book[name] for name in (NOISE, CONSTANTS)}
    found = {
        name: float(
            bound(client_weight=[0.5, 0.5], smoothness=1.0, strong_convexity=1.0,
                  **{q.name: given[q.name] for q in bound.quantities if q.name in given})
        )
        for name, bound in bounds.items()
    }  # fmt: skip
    said = f"gap 1, bounds {', '.join(f'{v:g}' for v in found.values())}, where (6) is 0.75"
    return judged(min(found.values()) >= 1, said)


WITHOUT = Claim(
    "fedals.theorem_4_1.noise",
    "Where the variance of a sample's gradient is bounded at every model, which Theorem 4.1 does not assume, the gap "
    "has a bound without non-iidness.",
    Kind.THEOREM.at("Theorem 4.1, eq. (6), without non-iidness"),
    {
        **_mended(NOISE),
        "by constants": Same(
            CONSTANTS, E_k((L - mu) / 2 * w**2 * sigma_k_sq / (mu**2 * n) + w * sigma_k_sq / (mu * n))
        ),
        "squared distances, however far": Same(At(NOISE, SQUARED), SQUARED_GAP),
        "the same by constants": Same(At(CONSTANTS, {mu: L}), SQUARED_GAP),
        "order": OrderIs(alike(CONSTANTS), K, 1 / K, where=(sp.Gt(sigma_k_sq, 0),)),
        "conditions": requires({NOISE: (*NONNEGATIVE[:1], SAMPLES_NOISE), CONSTANTS: (SAMPLES_NOISE,)}),
        "above the gap": above(NOISE, CONSTANTS, solvers=("exact",)),
        "at a boundary": _boundary,
    },
    note="Proved in bounds/fedals/noise.py: given the other clients the inner product of (17) is a covariance, since a "
    "client's model and its gradients at a model that has not seen its data are centred by their means. The gap of "
    "squared distances is met with equality. With such a variance bound, and equal weights, the gap falls like 1/K "
    "whatever the distance of the clients. Without one, as in least squares whose inputs differ, it can grow with the "
    "distance as (6) does: fedals.discussion.non_iid_hurts.",
    ours=True,
)  # fmt: skip


def _last_coins(book: Book) -> Finding:
    """The instances of fedals.theorem_4_3.constants and of fedals.theorem_4_3.squared_distances."""
    closest = F(0)
    for clients, steps, pull in ((2, 7, F(1)), (32, 4, F(1)), (16, 16, F(1)), (5, 175, F(1, 20))):
        walk = Walk.of(clients, steps, pull)
        given = {"samples_per_round": [steps] * clients, "local_steps": steps, "step_size": float(pull)}
        bound = book[ROUNDS](
            client_weight=[1 / clients] * clients, client_gradient_variance=[1.0] * clients, smoothness=1.0,
            strong_convexity=1.0, **given,
        )  # fmt: skip
        closest = max(closest, walk.gap / F(bound))
    return judged(closest <= 1 + F(1, 10**12), f"gap over bound at most {float(closest):.6g} on four of them")


ANY_ROUND = Claim(
    "fedals.theorem_4_3.noise",
    "A round of local steps has a gap of at most constants: no rate of the steps, no complexity, no non-iidness.",
    Kind.THEOREM.at("Theorem 4.3, eq. (9), replaced"),
    {
        "curvature": Same(
            At(term(ROUNDS, "curvature"), CONTRACTED),
            E_k((L - mu) / 2 * w**2 * sigma_k_sq * tau / Z * sp.summation(KEPT**2, (later, 0, tau - 1)).simplify()),
        ),
        "sampling": Same(
            At(term(ROUNDS, "sampling"), CONTRACTED),
            E_k(w * sigma_k_sq / Z * sp.summation(KEPT, (later, 0, tau - 1)).simplify()),
        ),
        "one step": Same(
            At(At(ROUNDS, CONTRACTED), {tau: 1}),
            E_k(w * eta * sigma_k_sq / Z + (L - mu) / 2 * w**2 * eta**2 * sigma_k_sq / Z),
        ),
        "conditions": requires({ROUNDS: (sp.Le(eta * (L + mu), 2), SAMPLES_NOISE)}),
        "where (9) fails": _last_coins,
        "above the gap": above(ROUNDS, solvers=("fresh samples",)),
    },
    note="Proved in bounds/fedals/noise.py, for steps of at most 2/(L + mu), the samples of a round used once each, "
    "the gap measured where a round ends. Met with equality for squared distances, whatever the clients and the start. "
    "Rounds may differ: it bounds each of them.",
    ours=True,
)


def _drawn(book: Book) -> Finding:
    """Half squared distances: every draw of one to three of three clients with different gaps."""
    gaps, bound = (F(3, 2), F(1, 4), F(5)), book[CASE_1]
    for cohort in (1, 2, 3):
        exact = out_of_sample_gap(cohort, gaps)
        stated = bound(
            client_weight=[float(p) for p in WEIGHTS], local_gap=[float(g) for g in gaps],
            client_gradient_variance=[7 * float(g) for g in gaps], samples=7, cohort=cohort, smoothness=1.0,
            strong_convexity=1.0,
        )  # fmt: skip
        if abs(float(exact) - float(stated)) > 1e-12:
            return judged(False, f"cohort {cohort}: {float(exact):.8g} over all draws, {float(stated):.8g} stated")
    return judged(True, "equal over all draws of 1, 2 and 3 of three clients")


DRAWN = Claim(
    "fedals.eq_73.noise",
    "Where the variance of a sample's gradient is bounded at every model, the out-of-sample gap of Case I has a bound "
    "in which nothing depends on who takes part.",
    Kind.THEOREM.at("Appendix D, eq. (73), replaced"),
    {
        **_mended(CASE_1),
        "squared distances": Same(At(CASE_1, SQUARED), E_k(_moment(2) * SQUARED[Delta])),
        "all draws": _drawn,
        "conditions": requires({CASE_1: (*NONNEGATIVE[:1], SAMPLES_NOISE)}),
    },
    note="(72) without its non-iidness, averaged over the draws counted by clients. Its condition that non-iidness be "
    "the same whoever joins, which (73) and fedals.eq_73.counted.search need and which holds for hardly more than a "
    "cohort of one, is gone. The participation gap, fedals.eq_71, comes on top.",
    ours=True,
)

SEARCHES = rows("fedals", "searches")
"""The falsifier on this paper's bounds, of which it broke none."""
