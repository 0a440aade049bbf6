"""The measured detection rate of searches: how many planted violations they find.

``tests/benchmarks/regimes.py`` writes ``detection_rate.json``. For every statement, and for all of them by kind of
violation, it counts planted violations: ``false`` are known to be violations, ``unmeasured`` of these were not searched
yet, ``unknown`` may be none, and ``found`` (by budget) were found with nearly every seed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).with_name("detection_rate.json")
NONE = {"false": 0, "unmeasured": 0, "unknown": 0}


@cache
def measured() -> Mapping[str, Any]:
    """Return the content of the file: budgets in evaluations, counts by statement, and total counts by kind."""
    content: Mapping[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
    return content


def detection_rate(statement: str, evaluations: int) -> str:
    """Return as text how many planted violations, of this statement and of all, a search with this budget finds. The
    counts are those of the largest measured budget up to this one."""
    content = measured()
    budgets = [budget for budget in content["budgets"] if budget <= evaluations]
    if not budgets:
        return f"detection rate: not measured for fewer than {min(content['budgets'])} evaluations"
    last = len(budgets) - 1
    counts = content["statements"].get(statement, NONE)
    own = f"{_count(counts, last)} violations planted in it" if counts["false"] else "no violation is planted in it"
    own += f" ({counts['unknown']} more may be none)" if counts["unknown"] else ""
    regime, size = (_count(content["all"][kind], last) for kind in ("regime", "size"))
    total = f"of all {regime} by regime and {size} by size"
    return f"detection rate: {own}, {total}, found within {budgets[-1]} evaluations"


def _count(plants: Mapping[str, Any], budget: int) -> str:
    unmeasured = f" ({plants['unmeasured']} not measured)" if plants["unmeasured"] else ""
    return f"{plants['found'][budget]} of {plants['false']}{unmeasured}"
