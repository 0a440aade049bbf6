"""Random generators keyed by their purpose, so that draws do not depend on the order in which they are made."""

from __future__ import annotations

from hashlib import sha256

import numpy as np

from .errors import EmpiricsError


def stream(seed: int, purpose: str, *, round: int = 0, client: int = 0) -> np.random.Generator:
    """Return the random generator of (seed, purpose, round, client), independent of those of other arguments.

    The counter-based Philox generator is seeded through NumPy's ``SeedSequence``; ``purpose`` is a word such as
    ``"samples"`` and enters by its hash, so adding a new purpose changes no existing draw.
    """
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise EmpiricsError(f"seed must be a whole number >= 0; got {seed!r}")
    word = int.from_bytes(sha256(purpose.encode()).digest()[:8], "little")
    return np.random.Generator(np.random.Philox(np.random.SeedSequence((seed, word, round, client))))
