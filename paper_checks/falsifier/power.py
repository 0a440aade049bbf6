"""How many planted violations of a statement a search finds, as it was measured.

``power.json`` is written by ``tests/benchmarks/regimes.py``. For every searched statement, and in all by kind of
violation: ``false``, how many were planted that are known to be violations; ``unmeasured``, how many of these were not
searched for yet; ``unknown``, how many more may be none; ``found``, by budget, how many nearly every seed found.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).with_name("power.json")
NONE = {"false": 0, "unmeasured": 0, "unknown": 0}


@cache
def measured() -> Mapping[str, Any]:
    """The budgets in evaluations, the counts by statement and those of all by kind."""
    held: Mapping[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return held


def power(statement: str, evaluations: int) -> str:
    """In words: how many of the violations planted in this statement, and in all, a search of such a budget finds.

    The counts are those of the largest budget measured that is no larger. A plant that is not known to be false is
    none.
    """
    held = measured()
    budgets = [budget for budget in held["budgets"] if budget <= evaluations]
    if not budgets:
        return f"power: not measured for fewer than {min(held['budgets'])} evaluations"
    place = len(budgets) - 1
    own = held["statements"].get(statement, NONE)
    mine = f"{_count(own, place)} violations planted in it" if own["false"] else "no violation is planted in it"
    mine += f" ({own['unknown']} more may be none)" if own["unknown"] else ""
    regime, size = (_count(held["all"][kind], place) for kind in ("regime", "size"))
    return f"power: {mine}, of all {regime} by regime and {size} by size, found within {budgets[-1]} evaluations"


def _count(plants: Mapping[str, Any], place: int) -> str:
    unmeasured = f" ({plants['unmeasured']} not measured)" if plants["unmeasured"] else ""
    return f"{plants['found'][place]} of {plants['false']}{unmeasured}"
