"""What the falsifier was seen to find: planted violations of the statements that are searched, by regime.

``power.json`` is written by ``tests/benchmarks/regimes.py``: how many seeds found each plant, in which budget.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).with_name("power.json")
OFTEN = 0.8
"""The share of the seeds in which a plant must be found to count."""


@cache
def measured() -> Mapping[str, Any]:
    """Budget, number of seeds, and per plant the statement and the seeds that found it."""
    held: Mapping[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return held


def power(statement: str) -> str:
    """In words: how many of the violations planted in this statement, and in all, a search finds."""
    held = measured()
    plants = held["plants"].values()
    counts = [(plant["statement"], plant["found"] >= OFTEN * plant["seeds"]) for plant in plants]
    own = [found for name, found in counts if name == statement]
    mine = f"{sum(own)} of {len(own)} violations planted in it, " if own else "none was planted in it; "
    whole = sum(found for _, found in counts)
    return f"power: {mine}{whole} of {len(counts)} in all found within {held['evaluations']} evaluations"
