"""Which planted violations the falsifier finds: ``python tests/benchmarks/regimes.py [--seeds 5]``.

Eighteen statements that are false in one regime only, and (``--mechanical``) a plant of the same make in every
statement whose verdict is a search's, for each of clients, samples, local steps and rounds. Every hit is confirmed in
exact arithmetic, not made simple. Two budgets: that of the claims, and the usual one of ``fedbounds falsify``. The
outcome of every plant goes into ``regimes.json`` at once: a benchmark that is stopped goes on where it was, and begins
anew where the falsifier has changed. Verdicts quote the counts in ``falsifier/detection_rate.json``. Seeds that cannot
change whether a plant counts are left out.

A mechanical plant that no search finds is looked for once more by one that is told the far end of the axis. Where that
finds nothing either, the plant is not known to be false, and does not count.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import re
import sys
import time
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]

from threadpoolctl import threadpool_limits
from tools import planted_regimes
from tools.planted_regimes import mechanical, Planted, regimes

from bounds.core import Bound
from paper_checks.claims.checkers import Dominates
from paper_checks.falsifier import CannotServeError, falsify
from paper_checks.falsifier.detection_rate import MEASURED as COUNTS
from paper_checks.falsify_options import EVALUATIONS

MEASURED = HERE / "regimes.json"
OFTEN = 0.8
"""The share of the seeds in which a plant must be found to count."""
BUDGETS = (Dominates.evaluations, EVALUATIONS)
TOLD = 1000
"""Evaluations of a search that is told where to look."""


SPEAK = {"command.py", "detection_rate.py", "witness.py"}
"""Files that say what a search found, and have no part in finding it."""


def code() -> str:
    """A fingerprint of what searches, without its words: counts of different ones are not put together."""
    files = [path for path in sorted(COUNTS.parent.rglob("*.py")) if path.name not in SPEAK]
    trees = [ast.parse(path.read_bytes()) for path in (*files, Path(planted_regimes.__file__))]
    for node in (node for tree in trees for node in ast.walk(tree)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                node.value = ast.Constant(value=None)
    return hashlib.sha256("".join(map(ast.dump, trees)).encode()).hexdigest()[:16]


def held() -> dict[str, Any]:
    """What was measured of this falsifier so far."""
    found: dict[str, Any] = json.loads(MEASURED.read_text(encoding="utf-8")) if MEASURED.exists() else {}
    return found if found.get("code") == code() else {"code": code(), "budgets": BUDGETS, "plants": {}}


def searched(bound: Bound, budget: int, seeds: int) -> dict[str, Any]:
    """After how many evaluations every seed found the plant, as long as it may still count."""
    seen: list[int | None] = []
    while len(seen) < seeds and seen.count(None) <= (1 - OFTEN) * seeds + 1e-9:
        found = falsify(bound, budget, len(seen), simplify=False)
        seen.append(found.evaluations if found.violated else None)
    return {"seeds": seeds, "evaluations": seen}


def told(plant: Planted) -> bool:
    """Whether a search finds the plant that stays where the plant takes away most."""
    try:
        return falsify(plant.bound, TOLD, pins=plant.far, simplify=False).violated
    except CannotServeError:  # nothing there meets the conditions
        return False


def measured(plant: Bound | Planted, seeds: int) -> dict[str, Any]:
    """One plant in every budget; one that may be none in the smallest alone."""
    bound = plant.bound if isinstance(plant, Planted) else plant
    kind = "size" if isinstance(plant, Planted) else "regime"
    row: dict[str, Any] = {"statement": bound.name, "kind": kind, "false": True, "found": {}}
    row["found"][BUDGETS[0]] = first = searched(bound, BUDGETS[0], seeds)
    if isinstance(plant, Planted) and not any(first["evaluations"]):
        row["false"] = told(plant)
    if row["false"]:
        row["found"] |= {budget: searched(bound, budget, seeds) for budget in BUDGETS[1:]}
    return row


def written(known: dict[str, Any]) -> str:
    """The counts as JSON, a plant a line."""
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in known["plants"].items())
    head = "".join(f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in known.items() if name != "plants")
    return f'{{\n{head} "plants": {{\n{rows}\n }}\n}}\n'


def every_plant(held: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """By name every plant: its statement, whether it is known to be false, and what was found.

    One that was not measured yet has found nothing, and counts as false.
    """
    named: dict[str, dict[str, Any]] = {}
    for kind, bounds in (("regime", regimes()), ("size", {n: plant.bound for n, plant in mechanical().items()})):
        for name, bound in bounds.items():
            named[name] = {"found": {}, "statement": bound.name, "kind": kind, "false": True}
    return {**named, **held["plants"]}


def is_found(plant: Mapping[str, Any], budget: int) -> bool:
    """Whether nearly every seed found it in this budget; what was not measured was not found."""
    seen = plant["found"].get(str(budget))
    return bool(seen) and sum(at is not None for at in seen["evaluations"]) >= OFTEN * seen["seeds"]


def counts(held: Mapping[str, Any]) -> dict[str, Any]:
    """What the product keeps: by statement, and in all by kind, how many plants there are and how many are found."""
    plants, budgets = list(every_plant(held).values()), list(held["budgets"])

    def counted(some: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
        some = list(some)
        false = [plant for plant in some if plant["false"]]
        unmeasured = sum(not plant["found"] for plant in false)
        found = [sum(is_found(plant, budget) for plant in false) for budget in budgets]
        return {"false": len(false), "unmeasured": unmeasured, "unknown": len(some) - len(false), "found": found}

    kinds = {kind: counted(p for p in plants if p["kind"] == kind) for kind in ("regime", "size")}
    names = sorted({plant["statement"] for plant in plants})
    statements = {name: counted(p for p in plants if p["statement"] == name) for name in names}
    return {"budgets": budgets, "all": kinds, "statements": statements}


def count() -> None:
    """Write the counts of what is held, a statement a line."""
    found = counts(json.loads(MEASURED.read_text(encoding="utf-8")))
    statements = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in found.pop("statements").items())
    head = "".join(f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in found.items())
    COUNTS.write_text(f'{{\n{head} "statements": {{\n{statements}\n }}\n}}\n', encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", help="plants whose name matches this pattern", default="")
    parser.add_argument("--mechanical", action="store_true", help="the plants of every searched statement")
    options = parser.parse_args()
    threadpool_limits(1)
    known = held()
    plants = mechanical() if options.mechanical else regimes()
    for name, plant in plants.items():
        if not re.search(options.only, name) or name in known["plants"]:
            continue
        began = time.process_time()
        row = measured(plant, options.seeds)
        row["processor_seconds"] = round(time.process_time() - began, 1)
        known["plants"][name] = row
        known["measured"] = f"{date.today()} by python tests/benchmarks/regimes.py, and again with --mechanical"
        print(f"{name:<50} {'' if row['false'] else '(may be none) '}{[*row['found'].values()]}", flush=True)
        MEASURED.write_text(written(known), encoding="utf-8")
    if MEASURED.exists():
        count()


if __name__ == "__main__":
    main()
