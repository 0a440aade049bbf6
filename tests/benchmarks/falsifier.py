"""Sensitivity and specificity of the falsifier on planted statements: ``python tests/benchmarks/falsifier.py``.

Thirty false statements and thirty true ones, each searched with the same budget of evaluations. The table goes into
RESULTS.md beside this file.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

sys.path.append(str(Path(__file__).resolve().parents[1]))

from results import machine, options, put, table
from tools.planted import CUT, false_statements, true_statements

from bounds.core import Bound
from paper_checks.falsifier import falsify, replay, Search


class Outcome(NamedTuple):
    """One search: what was found, its time, and how long its witness takes to replay."""

    search: Search
    seconds: float
    replayed: float


def searched(statements: Mapping[str, Bound], evaluations: int, seed: int) -> dict[str, Outcome]:
    outcomes = {}
    for name, bound in statements.items():
        began = time.perf_counter()
        search = falsify(bound, evaluations, seed)
        seconds, replayed = time.perf_counter() - began, 0.0
        if search.witness is not None:
            began = time.perf_counter()
            if not replay(search.witness, bound).violated:
                raise RuntimeError(f"{name}: the witness does not replay")
            replayed = time.perf_counter() - began
        outcomes[name] = Outcome(search, seconds, replayed)
        said = "violated" if search.violated else f"largest ratio {search.ratio:.4g}"
        print(f"{name:<48} {said:<24} {search.evaluations:>5} evaluations {seconds:7.1f} s", flush=True)
    return outcomes


def section(false: Mapping[str, Outcome], true: Mapping[str, Outcome], evaluations: int, seed: int) -> list[str]:
    caught = {name: o for name, o in false.items() if o.search.violated}
    alarms = [name for name, o in true.items() if o.search.violated]
    slowest = max((o.replayed for o in caught.values()), default=0.0)
    lines = [
        "# The falsifier on planted statements",
        "",
        f"{machine()}. One process.",
        "",
        f"Budget: {evaluations:,} evaluations each, seed {seed}; constants cut to {float(CUT):g} of their tight value.",
        "",
        table([_row("false", false, len(caught)), _row("true", true, len(alarms))]),
        "",
        f"Slowest replay of a witness: {slowest:.2f} s.",
    ]
    missed = [name for name in false if name not in caught]
    lines += ["", f"Missed: {'; '.join(missed) or 'none'}. False alarms: {'; '.join(alarms) or 'none'}."]
    return lines


def _row(kind: str, outcomes: Mapping[str, Outcome], called: int) -> dict[str, Any]:
    seconds = [o.seconds for o in outcomes.values()]
    return {"": kind, "statements": len(outcomes), "called violated": called, "median s": statistics.median(seconds),
            "largest s": max(seconds)}  # fmt: skip


def main() -> None:
    asked = options(__doc__, evaluations=1000, seed=0)
    false = searched(false_statements(), asked.evaluations, asked.seed)
    true = searched(true_statements(), asked.evaluations, asked.seed)
    put("\n".join(section(false, true, asked.evaluations, asked.seed)))


if __name__ == "__main__":
    main()
