"""Decaying-K, the runtime model (Section 3.2): how long a client, a round and a run of federated averaging take.

Bandwidths do not depend on the number of participants; a round lasts as long as its slowest participant.
"""

from __future__ import annotations

from functools import partial

from ..core import About, Bound, Condition
from ..operators import ClientMax
from ..papers import heads
from ..vocabulary import condition_number, current_loss, initial_loss
from .letters import beta, beta_c, D, D_c, K, R, T, tau, U, U_c, W, W_c, W_r, x

FEDAVG = About("fedavg")
LETTERS = {
    condition_number: r"\kappa", current_loss: r"F(\bar x_{t_0})", initial_loss: r"F(\bar x_0)",
}  # fmt: skip
"""The paper's letters, where they differ from those of the vocabulary. Its index c of a client is our k."""
decaying_k_bound = partial(Bound, letters=LETTERS)
"""Creates a bound with the paper's letters."""
of = heads("decaying_k")

TAU = {tau: x / D + x / U}
"""The communication time of one round, our abbreviation for the expression in (5) and (7)."""

_SAME_HARDWARE = Condition("all clients have the same bandwidths and the same time per SGD step")

client_round = decaying_k_bound(
    **of("client_round", W_c, "Section 3.2, eq. (3)", FEDAVG),
    relation="=",
    terms={"download": x / D_c, "computation": K * beta_c, "upload": x / U_c},
    conditions=(Condition("the bandwidth of a client does not depend on how many clients take part"),),
)

round_time = decaying_k_bound(
    **of("round_time", W_r, "Section 3.2, eq. (4) with (3)", FEDAVG),
    relation="=",
    terms={"slowest participant": ClientMax(client_round.expr)},
    conditions=(
        Condition("the lists over the clients hold those that take part in the round"),
        Condition("the server waits for every participant"),
    ),
)

runtime = decaying_k_bound(
    **of("runtime", W, "Section 3.2, eq. (5)", FEDAVG),
    relation="=",
    terms={"communication": R * tau, "computation": beta * T},
    conditions=(_SAME_HARDWARE, Condition("every round has at least one local step", R <= T)),
    where=TAU,
    note="The sum of the local steps of all rounds in (5) is the number of iterations.",
)

runtime_fixed = decaying_k_bound(
    **of("runtime_fixed", W, "Section 3.4, eq. (7)", FEDAVG),
    relation="=",
    terms={name: term.subs(R, T / K) for name, term in runtime.terms.items()},
    conditions=(_SAME_HARDWARE, Condition("the run holds at least one round of K local steps", K <= T)),
    where=TAU,
    note="(5) with T / K rounds of K local steps each.",
)
