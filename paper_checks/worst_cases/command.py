"""``fedbounds tightness``: a bound beside its exact worst case over a grid, and what follows for K*."""

from __future__ import annotations

import argparse
import json
import math
import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import unknown
from bounds.showing.loading import load
from bounds.showing.tables import aligned
from bounds.showing.usage import UsageError, writable_folder
from bounds.showing.values import read
from empirics.errors import EmpiricsError
from empirics.progress import progress
from empirics.store import Store
from empirics.sweeping import sweep
from empirics.sweeping.command import folder

from ..tightness_options import NAMES
from .places import Place, question, refusal
from .program import solver, WorstCaseError
from .refining import DOUBT
from .tables import Best, best_steps, card, cells, committed, full, places, Row, smallest_factors, write
from .worst import estimated, taking

FINE, FINDING = 0, 1
GRID = {"rounds": [2.0, 4.0], "local_steps": [1.0, 2.0, 3.0, 4.0], "heterogeneity": [0.1, 10.0]}
SHOWN = ("step_size", "bound", "worst_case", "ratio", "dominating_term", "dominating_assumption")


def run(args: argparse.Namespace) -> int:
    """What the words ask for; 1 when a worst case exceeds its bound, or a place could not be computed."""
    if not args.name:
        return _list()
    if args.committed:
        return _tell(load(args.name), committed(args.name), args, card(args.name))
    if args.full and args.words:
        raise UsageError("--full has a grid of its own: give no quantity=value with it")
    bound = load(args.name)
    at = full(bound) if args.full else places({**GRID, **_spans(args.words)})
    _refuse(bound, at, args.patience)
    if args.output is not None:
        writable_folder("-o", args.output)
    rows, failed = _computed(args, at)
    about = _card(args, bound, at[0], rows) | {"refused": len(failed)}
    status = _tell(bound, rows, args, about)
    for error, count in Counter(failed).items():
        print(f"fedbounds: {count} places without a number: {error}", file=sys.stderr)
    if args.output is not None and rows:
        print("wrote " + ", ".join(str(p) for p in write(rows, about, bound.name, args.output)))
    return FINDING if failed else status


def _list() -> int:
    """The bounds within reach."""
    for bound in BOUNDS.values():
        if not refusal(bound):
            print(f"{bound.name:<32} {bound.target.name}, {bound.statistic}")
    return FINE


def _spans(words: Sequence[str]) -> dict[str, list[float]]:
    found = {}
    for name, value in read(words).items():
        if name not in NAMES:
            raise unknown("quantity of a tightness table", name, NAMES)
        if value.kind not in ("number", "range", "list"):
            raise WorstCaseError(f"{name} must be a number, a range or a list")
        found[name] = [float(x) for x in value.numbers.ravel()]
    return found


def _refuse(bound: Bound, at: Sequence[Place], patience: float) -> None:
    """What cannot be computed, before anything is."""
    if not patience > 0:
        raise WorstCaseError(f"patience must be > 0 seconds; got {patience:g}")
    solver()
    largest = max(at, key=lambda place: place.work / place.clients)
    gradients = largest.rounds * largest.local_steps
    expected = taking(gradients + 1, gradients)  # at least, and without stating it
    if expected <= patience:
        expected = estimated(question(bound, largest).program())
    if expected > patience:
        raise WorstCaseError(
            f"too large: rounds={largest.rounds} local_steps={largest.local_steps} would take about {expected:.0f} s, "
            f"more than {patience:g} s; take fewer, or raise --patience"
        )


def _computed(args: Any, at: Sequence[Place]) -> tuple[list[Row], list[str]]:
    """Rows of the places, in order, and the errors of those that have none."""
    if args.workers is not None and args.workers < 0:
        raise EmpiricsError(f"workers must be >= 0; got {args.workers}")
    store, wanted = Store(folder(args.store)), cells(args.name, at)
    failed: list[str] = []
    with progress() as bar:
        bar.start(len(wanted))

        def heard(done: Any) -> None:
            if done.how == "failed":
                failed.append(done.error)
            bar.step()

        sweep(wanted, store, args.workers, heard=heard)
    rows: list[Row] = []
    for cell in wanted:
        kept = store.get(cell)
        if kept is not None and kept.status == "done":
            columns = kept.columns()
            rows.append({name: values[0] for name, values in columns.items()})
    return rows, failed


def _card(args: Any, bound: Bound, place: Place, rows: Sequence[Row]) -> dict[str, Any]:
    asked = question(bound, place)
    return {
        "bound": bound.name,
        "command": shlex.join(["fedbounds", "tightness", args.name, *args.words, *(["--full"] if args.full else [])]),
        "algorithm": str(asked.algorithm),
        "statistic": str(asked.statistic),
        "units": "L = 1; initial loss or squared distance 1; heterogeneity is G^2 or Gamma",
        "estimate": "upper" if asked.relaxations else "exact",
        "relaxations": list(asked.relaxations),
        "versions": {name: version(name) for name in ("clarabel", "numpy", "scipy", "sympy")},
        "seconds": round(sum(row["seconds"] for row in rows), 1),
    }


# ---- what is said ----


def _tell(bound: Bound, rows: Sequence[Row], args: Any, card: Mapping[str, Any]) -> int:
    best, factors = best_steps(rows), smallest_factors(rows)
    broken = [row for row in rows if row["inside"] and row["exact"] and row["ratio"] < 1 - DOUBT]
    if args.json:
        print(json.dumps({**card, "rows": [_plain(row) for row in rows], "best_steps": [vars(b) for b in best],
                          "smallest_factors": factors}, indent=2, allow_nan=False))  # fmt: skip
        return FINDING if broken else FINE
    for line in (*_table(rows), *_steps(best), *_factors(factors), *_remarks(rows, card)):
        print(line)
    return FINDING if broken else FINE


def _plain(row: Row) -> dict[str, Any]:
    return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}


def _table(rows: Sequence[Row]) -> list[str]:
    varied = [name for name in NAMES if len({row[name] for row in rows}) > 1]
    head = [*varied, *SHOWN]
    body = [[_short(row[c]) + ("" if row["inside"] or c != "bound" else "*") for c in head] for row in rows]
    return aligned([head, *body]) if rows else []


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _steps(best: Sequence[Best]) -> list[str]:
    if not best:
        return []
    varied = [name for name in best[0].where if len({b.where[name] for b in best}) > 1]
    head = [*varied, "K* by bound", "K* exact", "regret"]
    body = [
        [*(_short(b.where[n]) for n in varied), str(b.by_bound), str(b.by_worst_case), f"{b.regret:.1%}"] for b in best
    ]
    return ["", "best local steps among those above, and what following the bound costs:", *aligned([head, *body])]


def _factors(factors: Mapping[str, float]) -> list[str]:
    if not factors:
        return []
    said = [f"  {name}: {factor:.3g}" for name, factor in factors.items() if name != "bound"]
    return [
        "",
        f"the bound could be multiplied by {factors['bound']:.3g} and still hold at every place above",
        "one term at a time, it could be multiplied by:",
        *said,
    ]


def _remarks(rows: Sequence[Row], card: Mapping[str, Any]) -> list[str]:
    told = []
    if any(not row["inside"] for row in rows):
        told.append("* outside the bound's conditions: the formula, not the theorem")
    if rows and not all(row["exact"] for row in rows):
        told += ["upper estimates of the worst case, so that ratios are at least as large as shown:"]
        told += [f"  {words}" for words in card.get("relaxations", ())]
    return ["", *told] if told else []
