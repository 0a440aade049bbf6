"""FedALS under partial participation: Lemmas D.1 and D.2, Cases I and II, and versions that count repeated draws.

Case I samples with replacement, so a client may be drawn several times. Lemma D.1 gives every draw the weight 1/cohort
and sums over draws. For weights of *clients*, as in the averaged model and (72), its second and third
identities are wrong: a client drawn twice has weight 2/cohort. Both forms are included. Case II cannot draw a client
twice, and its identities hold, although its weights sum to 1 only on average.
"""

from __future__ import annotations

import sympy as sp
from sympy.functions.combinatorial.numbers import stirling

from .. import vocabulary as q
from ..core import assumed, Bound, Condition
from ..operators import ClientMean as E_k
from ..quantities import Quantity
from .letters import Delta, delta, K, K_hat, L, mu, w, x
from .one_round import (
    CONVEX_LOSS,
    drift_part,
    EVERY_SAMPLE,
    EXACT,
    fedals_bound,
    FEDAVG,
    INDEPENDENT,
    LETTERS,
    local_part,
    NONNEGATIVE,
    of,
    ONE_ROUND,
)  # fmt: skip

CASE_1, CASE_2 = assumed("sampled_with_replacement", "sampled_without_replacement")
REWEIGHTED = Condition("a participant's weight is its own weight times clients over cohort")
FIXED = Condition("a client's local gap and non-iidness are the same whoever else takes part")
SHARE_1, SHARE_2 = 1 / K_hat, w * K / K_hat


def _lemma(name: str, place: str, value: sp.Expr, how: tuple[Condition, ...], what: str) -> Bound:
    return fedals_bound(
        **of(name, q.participation_mean, place, FEDAVG),
        terms={"mean over clients": value},
        conditions=(*how, Condition("the client values are fixed: they do not depend on who takes part")),
        relation="=",
        signed=("mean over clients",),
        note=f"Expectation of the sum over participants of {what}.",
    )


def share_moment(power: int) -> sp.Expr:
    """Return ``E[(N/cohort)^power] / p_k`` as a polynomial in p_k; N of the ``cohort`` draws are client k.

    N is binomial; with factorial moments, ``E[N^m] = sum_j S(m, j) cohort (cohort-1) ... (cohort-j+1) p_k^j``.
    """
    falling = [sp.expand(sp.Mul(*(K_hat - i for i in range(j)))) for j in range(power + 1)]
    moment = sp.Add(*(stirling(power, j) * falling[j] * w ** (j - 1) for j in range(1, power + 1)))
    return moment / K_hat**power


_WEIGHTS = ("weight times value", "squared weight times value", "cubed weight times value")
_D1 = "Lemma D.1, eq. (63)"
_D2 = "Lemma D.2, eq. (67)"
_DRAWS = "every draw has weight 1/cohort, and draws of one client are not added up"
_CASE_2 = (CASE_2, REWEIGHTED)

lemma_d1_mean = _lemma("lemma_d1_mean", _D1, E_k(x), (CASE_1,), _WEIGHTS[0])
lemma_d1_weight_printed = _lemma(
    "lemma_d1_weight_printed", _D1, E_k(SHARE_1 * x), (CASE_1,), f"{_WEIGHTS[1]}, true of draws: {_DRAWS}"
)
lemma_d1_weight_sq_printed = _lemma(
    "lemma_d1_weight_sq_printed", _D1, E_k(SHARE_1**2 * x), (CASE_1,), f"{_WEIGHTS[2]}, true of draws: {_DRAWS}"
)
lemma_d1_weight = _lemma(
    "lemma_d1_weight", "Lemma D.1, counted by clients", E_k(share_moment(2) * x), (CASE_1,), _WEIGHTS[1]
)
lemma_d1_weight_sq = _lemma(
    "lemma_d1_weight_sq", "Lemma D.1, counted by clients", E_k(share_moment(3) * x), (CASE_1,), _WEIGHTS[2]
)
lemma_d2_mean = _lemma("lemma_d2_mean", _D2, E_k(x), _CASE_2, _WEIGHTS[0])
lemma_d2_weight = _lemma("lemma_d2_weight", _D2, E_k(SHARE_2 * x), _CASE_2, _WEIGHTS[1])
lemma_d2_weight_sq = _lemma("lemma_d2_weight_sq", _D2, E_k(SHARE_2**2 * x), _CASE_2, _WEIGHTS[2])


def _case(
    name: str,
    place: str,
    local: sp.Expr,
    drift: sp.Expr,
    how: tuple[Condition, ...],
    note: str,
    target: Quantity = q.generalization_gap,
) -> Bound:
    return fedals_bound(
        **of(f"participation_{name}", target, place, FEDAVG, ONE_ROUND),
        terms={"local generalization": local, "non-iidness": drift},
        conditions=(*CONVEX_LOSS, INDEPENDENT, EXACT, *how, FIXED, *NONNEGATIVE),
        note=note,
    )


_RISK = "The empirical risk is that of the participants, eq. (61)."

participation_case1 = _case(
    "case1",
    "Remark 4.2, Case I, eq. (73)",
    local_part(SHARE_1),
    drift_part(SHARE_1),
    (CASE_1,),
    f"{_RISK} Rests on (71) and on identities of Lemma D.1 that overlook a client drawn twice: see "
    "fedals.participation_gap_quadratic and fedals.participation_case1_counted.",
)
participation_case2 = _case(
    "case2",
    "Remark 4.2, Case II, eq. (74)",
    local_part(SHARE_2),
    drift_part(SHARE_2),
    _CASE_2,
    f"{_RISK} If all clients take part it is (6); otherwise it rests on (71).",
)
participation_case1_counted = _case(
    "case1_counted",
    "eq. (72), averaged over the participants of Case I counted by clients",
    E_k(L / mu * share_moment(3) * Delta),
    E_k(2 * sp.sqrt(L / mu) * share_moment(2) * sp.sqrt(delta * Delta)),
    (CASE_1,),
    "Derived. Tends to (6) as the cohort grows, where (73) tends to zero. The participation gap of (62) comes on top: "
    "see fedals.participation_gap_quadratic.",
    target=q.out_of_sample_gap,
)

participation_gap_claimed = fedals_bound(
    **of("participation_gap", q.participation_gap, "eq. (71)", FEDAVG, ONE_ROUND),
    terms={"nothing": sp.S.Zero},
    conditions=(Condition("participants are drawn as in Case I or II"),),
    relation="=",
    note=(
        "Claimed for the averaged model from Lemmas D.1 and D.2, which are about fixed numbers; the averaged model "
        "depends on who took part. See fedals.participation_gap_quadratic."
    ),
)

participation_gap_quadratic = Bound(
    **of("participation_gap_quadratic", q.participation_gap, "eq. (71), exact value for squared distances in Case I"),
    terms={"spread of the clients": E_k(L * q.client_distance_sq) / K_hat},
    conditions=(
        CASE_1,
        INDEPENDENT,
        EXACT,
        EVERY_SAMPLE,
        Condition("the loss is half the smoothness times the squared distance from the model to the sample"),
        Condition("distances are those of the clients' population means to their weighted mean"),
    ),
    relation="=",
    about=FEDAVG,
    statistic=ONE_ROUND,
    letters={**LETTERS, q.client_distance_sq: r"\|m_k-\bar m\|^2"},
    note="Derived. The averaged model is closer to the participants than to the other clients.",
)
