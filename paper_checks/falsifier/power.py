"""What the falsifier was seen to find: planted violations of the statements that are searched.

``power.json`` is written by ``tests/benchmarks/regimes.py``: by plant and by budget, after how many evaluations every
seed found it. How a search goes about depends on its budget, so that a small search has a power of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

MEASURED = Path(__file__).with_name("power.json")
OFTEN = 0.8
"""The share of the seeds in which a plant must be found to count."""


@cache
def measured() -> Mapping[str, Any]:
    """The budgets, and by name every plant: its statement, whether it is known to be false, and what was found.

    One that was not measured yet has found nothing, and counts as false.
    """
    from .planted_regimes import mechanical, regimes

    held: Mapping[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8"))
    sizes = {name: planted.bound for name, planted in mechanical().items()}
    named = {
        name: {"statement": bound.name, "kind": kind, "false": True}
        for kind, some in (("regime", regimes()), ("size", sizes))
        for name, bound in some.items()
    }
    plants = {name: {"found": {}, **named.get(name, {}), **held["plants"].get(name, {})} for name in
              dict.fromkeys((*named, *held["plants"]))}  # fmt: skip
    return {**held, "plants": plants}


def is_found(plant: Mapping[str, Any], budget: int) -> bool:
    """Whether nearly every seed found it in this budget; what was not measured was not found."""
    seen = plant["found"].get(str(budget))
    return bool(seen) and sum(at is not None for at in seen["evaluations"]) >= OFTEN * seen["seeds"]


def power(statement: str, evaluations: int) -> str:
    """In words: how many of the violations planted in this statement, and in all, a search of such a budget finds.

    The counts are those of the largest budget measured that is no larger. A plant that is not known to be false is
    none.
    """
    held = measured()
    budgets = [budget for budget in held["budgets"] if budget <= evaluations]
    if not budgets:
        return f"power: not measured for fewer than {min(held['budgets'])} evaluations"
    budget = max(budgets)

    def count(plants: Iterable[Mapping[str, Any]]) -> str:
        false = [plant for plant in plants if plant["false"]]
        unmeasured = sum(not plant["found"] for plant in false)
        said = f" ({unmeasured} not measured)" if unmeasured else ""
        return f"{sum(is_found(plant, budget) for plant in false)} of {len(false)}{said}"

    every = held["plants"].values()
    own = [plant for plant in every if plant["statement"] == statement]
    unknown = sum(not plant["false"] for plant in own)
    mine = f"{count(own)} violations planted in it" if len(own) > unknown else "no violation is planted in it"
    mine += f" ({unknown} more may be none)" if unknown else ""
    regime, size = (count(p for p in every if p["kind"] == kind) for kind in ("regime", "size"))
    return f"power: {mine}, of all {regime} by regime and {size} by size, found within {budget} evaluations"
