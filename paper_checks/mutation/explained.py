"""Survivors that are no holes, by the beginning of their name, each with the reason."""

from __future__ import annotations

# FedCOG: at the edge of eta L <= 1/(2 tau), A = (tau - 1)/(2 tau), which the claim fedcog.eq_62 shows.
IMPLIED = "implied by the condition eta L <= 1/(2 tau) beside it, under which A < 1/2"

EXPLAINED: dict[str, str] = {
    "fedcog.descent_with_drift | condition 'drift does not feed itself: A < 1'": IMPLIED,
    "fedcog.descent_one_round | condition 'drift does not feed itself: A < 1'": IMPLIED,
}
