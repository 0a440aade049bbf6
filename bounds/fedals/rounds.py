"""FedALS, many rounds: the R-round generalization bound, the optimisation rate beside it, consensus and communication.

The bounds (9) and (57) are means over the rounds. They are stated here for equal rounds, so that the quantities of a
client are those of any one round and the number of rounds drops out.
"""

from __future__ import annotations

import sympy as sp

from .. import vocabulary as q
from ..core import About, assumed, Bound, Condition, MIXED, Statistic
from ..operators import ClientMean as E_k, ClientSum
from ..places import SERVER
from ..units import LOSS
from .letters import alpha, C, Delta, delta, epsilon, h, K, L, mu, phi, sigma_sq, T, tau, w, Z
from .one_round import CONVEX_LOSS, EVERYONE, fedals_bound, FEDAVG, INDEPENDENT, inexact_terms, LETTERS, of

EACH_ROUND = Statistic("mean", over="rounds", at=SERVER)
EQUAL_ROUNDS = Condition("all rounds have the same sample counts, gaps and non-iidness")
MANY_ROUNDS = (
    *CONVEX_LOSS,
    INDEPENDENT,
    Condition.assume("local_sgd"),
    EVERYONE,
    *assumed("fixed_local_steps", "fresh_samples"),
    EQUAL_ROUNDS,
)

MODEL_CLASS, LOCAL_NOISE = sp.sqrt(C / Z), sigma_sq / (mu * tau)
FEDALS, MEAN_AVERAGED = About("fedals"), Statistic("mean", over="iterations", at="averaged model")
HIDDEN_LOSS = LOSS**-1
"""The quotient of a pure number and a loss: the hidden constant in front of a pure number is a loss."""


def _rounds(version: str, extra: dict[str, sp.Expr], note: str) -> Bound:
    """Return eq. (9) with the terms that a version adds to A and B. A is linear: its summands are separate terms."""
    local_gap = {"model class": MODEL_CLASS, "local optimization": LOCAL_NOISE, **extra}
    A, B = sp.Add(*local_gap.values()), sp.Add(delta, LOCAL_NOISE, *extra.values())
    return fedals_bound(
        **of(f"rounds_{version}", q.generalization_gap, "Theorem 4.3, eq. (9)", FEDAVG, EACH_ROUND, version),
        terms={
            **{name: E_k(2 * L * w**2 / mu * part) for name, part in local_gap.items()},
            "non-iidness": E_k(sp.sqrt(8 * L / mu) * w * sp.sqrt(A * B)),
        },
        conditions=(
            *MANY_ROUNDS,
            Condition.assume("bounded_variance"),
            Condition("the second factor under the root is nonnegative", sp.Ge(B, 0)),
        ),
        relation="<~",
        # The root contains products of losses, of pure numbers, and mixed ones: no single constant corrects its unit.
        off_by={"model class": HIDDEN_LOSS, **dict.fromkeys(extra, HIDDEN_LOSS), "non-iidness": MIXED},
        note=note,
    )


rounds_v1 = _rounds(
    "v1",
    {"condition number": L / mu},
    "As v2 with L/mu, a pure number, added to the losses in A and B; the proof text of both versions is the same.",
)
rounds_v2 = _rounds("v2", {}, "Constants and logarithms are hidden; C.2 in the appendix, eq. (58).")

rounds_inexact_printed = fedals_bound(
    **of("rounds_inexact_printed", q.generalization_gap, "proof of Theorem C.2, eq. (57)", FEDAVG, EACH_ROUND),
    terms=inexact_terms(Delta + epsilon),
    conditions=(
        *MANY_ROUNDS,
        Condition("local gap plus the local suboptimality is nonnegative", sp.Ge(Delta + epsilon, 0)),
        Condition("non-iidness plus local suboptimality is nonnegative", sp.Ge(delta + epsilon, 0)),
    ),
    note=(
        "The paper says it is (38) in every round, but the last factor lacks one suboptimality: (38) gives "
        "fedals.one_round_inexact, which is larger."
    ),
)

optimization_rate = fedals_bound(
    **of("optimization_rate", q.grad_norm_sq, "Remark 5.1", FEDAVG, MEAN_AVERAGED, "v1"),
    terms={"first order": tau / T, "drift": (tau / T) ** sp.Rational(2, 3), "sampling": 1 / sp.sqrt(T)},
    conditions=(*assumed("local_sgd", "fixed_local_steps"), Condition("the loss is smooth, possibly non-convex")),
    relation="<~",
    off_by=dict.fromkeys(("first order", "drift", "sampling"), q.grad_norm_sq.card.unit**-1),
    note=(
        "Quoted from Koloskova et al. (2020) as the rate of the empirical risk; the remark does not name the measure, "
        "and for non-convex losses it is the squared gradient norm. v2 has dropped the remark."
    ),
)

mean_consensus = Bound(
    **of("consensus_distance", q.consensus_distance, "Section 1", FEDALS),
    terms={"mean over clients": ClientSum(q.client_distance_sq) / K},
    conditions=(Condition("distances are to the unweighted mean of the clients' models"),),
    relation="=",
    letters={**LETTERS, q.client_distance_sq: r"\|\hat\theta-\theta_k\|^2"},
    note="A definition; the mean is uniform whatever the clients' weights. Zero right after a full average.",
)

SENT = {"head": h * T / tau, "extractor": phi * T / (alpha * tau)}
WHOLE_PERIODS = Condition(
    "alpha times tau divides the number of iterations; if not, the formula also counts the unfinished period's share"
)

sent = fedals_bound(
    **of("communicated_parameters", q.communicated_parameters, "Algorithm 1", FEDALS, version="v2"),
    terms=SENT,
    conditions=(WHOLE_PERIODS,),
    relation="=",
    note="Derived from the algorithm, one direction: the head is sent every tau steps, the extractor every alpha tau.",
)

exchanged = fedals_bound(
    **of("communicated_parameters_table_2", q.exchanged_parameters, "Table 2", FEDALS),
    terms={name: 2 * part for name, part in SENT.items()},
    conditions=(WHOLE_PERIODS,),
    relation="=",
    note=(
        "The paper states no convention. All six printed numbers (tau = 5, 20000 iterations) agree to their last "
        "digit with both directions counted, head 650 = 64*10+10 and extractor 292304: the CIFAR ResNet-20 with "
        "3x3-convolution shortcuts and batch-norm weights, without batch-norm buffers. The digits put the extractor at "
        "292223..292424 and the head at 639..715; one direction would need a network twice that size, and the usual "
        "shortcuts (none, or 1x1) give extractors of 269072 and 271824. v1's listing puts the extractor's test in an "
        "else branch that is never reached, so v1's own Table 2 was not produced by it."
    ),
)
