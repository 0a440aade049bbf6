"""Random permutations for a whole cohort in one vectorised call, from a counter hash keyed by (seed, round, client).

One generator per client would cost more than a round of a convex model, so random words are SplitMix64's finaliser
of key and counter. A client's row does not depend on the other clients.
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
    """``_mix`` of a single integer, several times as fast as for an array of one."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & int(_LAST)
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & int(_LAST)
    return x ^ (x >> 31)


def random_words(seed: int, round_: int, clients: np.ndarray, passes: int, count: int) -> np.ndarray:
    """Random 64-bit words ``(clients, passes, count)``; rows of different ``count`` begin with the same words."""
    of_seed, of_round = ((int(np.uint64(n)) + int(_GOLDEN)) & int(_LAST) for n in (seed, round_))
    key = _mix_one(_mix_one(of_seed) ^ of_round)
    rows = _mix(np.uint64(key) ^ (clients.astype(np.uint64) + _GOLDEN))
    each = _mix(rows[:, None] ^ (np.arange(passes, dtype=np.uint64) + _GOLDEN))
    return _mix(each[:, :, None] + np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN)


def orders(seed: int, round_: int, clients: np.ndarray, sizes: np.ndarray, passes: int) -> np.ndarray:
    """Random permutations of ``range(size)`` for every client and pass ``(clients, passes, largest size)``.

    The first ``size`` entries of a row are the permutation; the rest is padding.
    """
    longest = int(sizes.max())
    keys = random_words(seed, round_, clients, passes, longest)
    if (sizes < longest).any():
        padding = np.arange(longest) >= sizes[:, None]
        keys = np.where(padding[:, None, :], _LAST, keys)
    elif (order := _argsort_by_highest_bits(keys)) is not None:
        return order
    return np.argsort(keys, axis=-1)  # need not be stable: two words tie once in 1e13 rows of 1,000


def _argsort_by_highest_bits(keys: np.ndarray) -> np.ndarray | None:
    """``argsort`` by sorting keys with their index in the lowest bits, which is faster; None if other bits tie."""
    count = keys.shape[-1]
    bits = np.uint64((count - 1).bit_length())
    tagged = keys >> bits << bits
    tagged |= np.arange(count, dtype=np.uint64)
    tagged.sort(axis=-1)
    order: np.ndarray = (tagged & ((np.uint64(1) << bits) - np.uint64(1))).view(np.int64)
    tagged >>= bits
    return None if (tagged[..., 1:] == tagged[..., :-1]).any() else order
