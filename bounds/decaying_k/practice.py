"""Decaying-K, Section 3.5, the basis of the practical schedules: the optimum relative to its value at the start, and
the loss estimate. The eight schedules of Table 3 are in ``schedules``."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from ..core import Bound, Condition
from ..quantities import Quantity
from ..vocabulary import summed_client_loss
from .letters import eta_0, F_0, F_r, F_star, K_0, N, s, W, W_0
from .optima import eta_star, k_star
from .runtime import FEDAVG, LETTERS, of

PRACTICE_LETTERS = {**LETTERS, F_r: r"F(\bar x_r)"}

_NO_LOSS_LEFT = (
    Condition("the smallest loss F^* is 0"),
    Condition("the loss at the start is positive", F_0 > 0),
    Condition("the loss is nonnegative", F_r >= 0),
)


def _over_start(name: str, place: str, optimum: Bound, root: int, start: Quantity) -> Bound:
    """Return the optimum for (F, W), divided by the one for (F_0, W_0) and multiplied by the value chosen there."""
    under_root = (optimum.terms["optimum"] ** root).subs(F_star, 0)
    ratio = under_root / under_root.subs({F_r: F_0, W: W_0}, simultaneous=True)
    return Bound(
        **of(name, optimum.target, place, FEDAVG),
        relation="=",
        terms={"optimum": start * ratio ** sp.Rational(1, root)},
        conditions=_NO_LOSS_LEFT,
        letters=PRACTICE_LETTERS,
        note="(13) and (14) divide by the optimum at round 0, where W = 0 and there is none, and drop the runtimes; "
        "with them the value also falls by the ratio of the runtimes.",
    )


k_error_with_time = _over_start("k_error_with_time", "Section 3.5, eq. (13) with the runtimes, derived", k_star, 3, K_0)
eta_error_with_time = _over_start(
    "eta_error_with_time", "Section 3.5, eq. (14) with the runtimes, derived", eta_star, 2, eta_0
)

_UNBIASED = Condition("reported losses are unbiased and the loss hardly changes over the window")
rolling_loss_printed = Bound(
    **of("rolling_loss_printed", F_r, "Section 3.5, eq. (15)", FEDAVG),
    relation="=",
    terms={"mean report": summed_client_loss / (s * N)},
    conditions=(_UNBIASED,),
    letters=PRACTICE_LETTERS,
    note="The sum runs over the s + 1 rounds r - s..r but is divided by s: a loss that never changes is overestimated "
    "by the factor (s + 1)/s.",
)
rolling_loss = replace(
    rolling_loss_printed,
    **of("rolling_loss", None, "Section 3.5, eq. (15), repaired"),
    terms={"mean report": summed_client_loss / ((s + 1) * N)},
    note="Divided by the number of rounds in the sum.",
)
