"""Shuffled orders for a whole cohort in one vectorised call, from a counter hash keyed by (seed, round, client).

Building one generator per client would cost more than training a convex model for a round, so the words come from
SplitMix64's finaliser over key and counter. A client's row does not depend on which others are computed.
"""

from __future__ import annotations

import numpy as np

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_LAST = np.uint64(0xFFFFFFFFFFFFFFFF)


def _mix(x: np.ndarray) -> np.ndarray:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _mix_one(x: int) -> int:
    """``_mix`` of a single number: several times as fast as arrays of one."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & int(_LAST)
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & int(_LAST)
    return x ^ (x >> 31)


def words(seed: int, round_: int, clients: np.ndarray, passes: int, count: int) -> np.ndarray:
    """Random 64-bit words ``(clients, passes, count)``; a longer row begins with the words of a shorter one."""
    of_seed, of_round = ((int(np.uint64(n)) + int(_GOLDEN)) & int(_LAST) for n in (seed, round_))
    key = _mix_one(_mix_one(of_seed) ^ of_round)
    rows = _mix(np.uint64(key) ^ (clients.astype(np.uint64) + _GOLDEN))
    each = _mix(rows[:, None] ^ (np.arange(passes, dtype=np.uint64) + _GOLDEN))
    return _mix(each[:, :, None] + np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN)


def orders(seed: int, round_: int, clients: np.ndarray, sizes: np.ndarray, passes: int) -> np.ndarray:
    """``passes`` shuffled orders of ``range(size)`` for every client: ``(clients, passes, largest size)``.

    The first ``size`` entries of a row are a permutation of the client's own positions; padding stands behind them.
    """
    longest = int(sizes.max())
    keys = words(seed, round_, clients, passes, longest)
    if (sizes < longest).any():
        beyond = np.arange(longest) >= sizes[:, None]
        keys = np.where(beyond[:, None, :], _LAST, keys)
    else:
        order = _sorted_by_highest_bits(keys)
        if order is not None:
            return order
    return np.argsort(
        keys, axis=-1
    )  # unstable: two of the 64-bit words tie once in 1e13 rows of 1,000, padding never matters


def _sorted_by_highest_bits(keys: np.ndarray) -> np.ndarray | None:
    """``argsort`` by sorting keys that carry their place in their lowest bits, faster; None where the others tie."""
    count = keys.shape[-1]
    bits = np.uint64((count - 1).bit_length())
    carried = keys >> bits << bits
    carried |= np.arange(count, dtype=np.uint64)
    carried.sort(axis=-1)
    order: np.ndarray = (carried & ((np.uint64(1) << bits) - np.uint64(1))).view(np.int64)
    carried >>= bits
    return None if (carried[..., 1:] == carried[..., :-1]).any() else order
