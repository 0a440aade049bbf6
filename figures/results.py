"""``fedbounds results``: tabulate the results in a store, or plot means over seeds along rounds or an argument."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bounds.errors import unknown
from bounds.showing.command_line import Report
from bounds.showing.usage import refuse_unused, UsageError, writable_file
from empirics.errors import EmpiricsError
from empirics.experiments.results import is_number, ordered, Row, selected, shown, STALE, tabulated
from empirics.spec_strings import assignments, refuse_twice

from .curves import output_paths, WIDE_RANGE, write_files
from .drawing import Axis, draw_panels
from .runs import mean_curve

AXES = """--plot draws means over the seeds with a band of one standard error; their numbers go beside them as CSV:
  x=round (rounds is the same) for a curve over the measured rounds, or x=ARGUMENT whose values are numbers;
  y=QUANTITY; hue=ARGUMENT,ARGUMENT (none: one curve). Runs that differ in more than that are not averaged:
  filter them, or name what tells them apart in hue"""
ROUND = "round"
SEED, VALUE, QUANTITY = "seed", "value", "quantity"
NOT_COMPARED = (SEED, "key", "status", ROUND, QUANTITY, VALUE)
"""Columns in which runs may differ and still be averaged."""
COLUMNS = ("curve", "x", "y", "error", "seeds")


def results(
    *words: str,
    sweep: str | None = None,
    columns: Sequence[str] = (),
    store: Path | str | None = None,
    plot: bool = False,
    x: str = "",
    y: str = "",
    hue: str = "",
    csv: bool = False,
    latex: bool = False,
    output: Path | str | None = None,
) -> Report:
    """Show the results in a store, one line per run and quantity at its last round, or draw them.

    Args:
        words: Only runs with this argument or column, as name=value.
        sweep: Only the runs of a sweep: its name, or the file of its plan.
        columns: Columns to print (all that vary).
        store: Folder of the results ($FEDBOUNDS_STORE, else ./fedbounds-store).
        plot: Draw a picture, by x=..., y=..., hue=..., described below.
        x: round, or an argument whose values are numbers.
        y: The quantity to draw.
        hue: Arguments that tell the curves apart, separated by commas.
        csv: Print the table as CSV, with every digit.
        latex: Print the table in LaTeX.
        output: Write the table to this file (.csv or .tex), or the picture (Y-over-X.svg).
    """
    path = None if output is None else Path(output)
    if plot:
        refuse_unused("--plot prints no table", columns=columns, csv=csv, latex=latex)
        for name, value, example in (("x", x, "round"), ("y", y, "test_accuracy")):
            if not value:
                raise UsageError(f"--plot needs {name}=..., such as {name}={example}")
    else:
        refuse_unused("only --plot draws along axes", x=x or None, y=y or None, hue=hue or None)
        if path is not None:
            if path.suffix not in (".csv", ".tex"):
                raise UsageError(f"-o writes a table to .csv or .tex; got {path}; --plot draws a picture")
            writable_file("-o", path)
    if csv and latex:
        raise UsageError("give only one of --csv, --latex")
    if sweep == "":
        raise UsageError("--sweep needs the name of a sweep, or the file of its plan")
    table, damages, remarks = selected(
        assignments("a filter", words), sweep, store, rounds=plot and x in ("round", "rounds")
    )
    if plot:
        axes = {"x": x, "y": y} | ({"hue": hue} if hue else {})
        report = Report([], None, wrote=write(table, axes, path))
    else:
        form = path.suffix if path is not None else ".csv" if csv else ".tex" if latex else ""
        report = tabulated(table, [columns] if isinstance(columns, str) else columns, form, path, words)
    report.remarks, report.status = tuple(remarks), int(bool(damages))
    return report


def write(table: Sequence[Row], axes: Mapping[str, str], path: Path | None) -> list[Path]:
    """Write the picture, its numbers as CSV and its caption; return their paths. ``axes`` are the columns x, y, hue."""
    x = ROUND if axes["x"] == "rounds" else axes["x"]
    hue = [name for name in axes.get("hue", "").split(",") if name]
    refuse_twice(hue)
    chosen = _rows_to_draw(table, x, axes["y"], hue)
    paths = output_paths(path or Path(f"{axes['y']}-over-{x}.svg"), ",".join(COLUMNS))
    rows = _means(chosen, x, axes["y"], hue)
    over = [row["x"] for row in rows]
    log = x != ROUND and min(over) > 0 and max(over) > WIDE_RANGE * min(over)
    numbers = [COLUMNS, *([row[name] for name in COLUMNS] for row in rows)]

    def draw() -> Any:
        return draw_panels(rows, Axis(x, log), Axis(axes["y"]), points=x != ROUND)

    return write_files(paths, draw, numbers, _caption(chosen, x, axes["y"], hue) + "\n")


def _rows_to_draw(table: Sequence[Row], x: str, y: str, hue: Sequence[str]) -> list[Row]:
    """Return the rows of the quantity to draw; raise if there are none or their values are not numbers."""
    if not table:
        raise EmpiricsError("nothing to draw: no result has all that is needed")
    known = dict.fromkeys(name for row in table for name in row)
    for name in (x, *hue):
        if name not in known:
            raise unknown("column", name, known)
    rows = [row for row in table if row[QUANTITY] == y]
    if not rows:
        raise unknown(QUANTITY, y, {str(row[QUANTITY]) for row in table})
    for name, words in ((VALUE, f"y={y}"), (x, f"x={x}")):
        for row in rows:
            if not is_number(row.get(name)):
                value = repr(shown(row[name])) if name in row else "none"
                raise EmpiricsError(
                    f"{words} must be a number in every run that is drawn; a run has {value}: filter, or take another"
                )
    return rows


def _groups(rows: Iterable[Row], names: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """Return the rows by their values of these columns."""
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row.get(name) for name in names)].append(row)
    return groups


def _means(chosen: Sequence[Row], x: str, y: str, hue: Sequence[str]) -> list[dict[str, Any]]:
    """Return the points of every curve: mean, standard error and number of seeds."""
    points = []
    groups = _groups(chosen, hue)
    for values in sorted(groups, key=lambda values: list(map(ordered, values))):
        counts = {}
        for (at,), rows in _groups(groups[values], [x]).items():
            _refuse_mixed(rows, x, hue)
            counts[float(at)] = len(rows)
        runs = [(np.array([row[x]]), np.array([row[VALUE]])) for row in groups[values]]
        parts = (  # a call such as fedavg() needs no name
            v if isinstance(v, str) and "(" in v else f"{name}={'none' if v is None else shown(v)}"
            for name, v in zip(hue, values, strict=True)
        )
        label = ", ".join(parts) or y
        for at, mean, error in zip(*mean_curve(runs), strict=True):
            points.append({"panel": "", "curve": label, "x": at, "y": mean, "error": error, "seeds": counts[float(at)]})
    return points


def _refuse_mixed(rows: Sequence[Row], x: str, hue: Sequence[str]) -> None:
    """Raise if the rows to be averaged differ in more than their seed, or share a seed."""
    names = dict.fromkeys(name for row in rows for name in row if name not in (*NOT_COMPARED, x))
    differ = [name for name in names if len({str(row.get(name)) for row in rows}) > 1]
    if differ:
        first = f"{differ[0]}=no" if differ[0] == STALE else f"{differ[0]}={shown(rows[0].get(differ[0]))}"
        raise EmpiricsError(
            f"runs that differ in {', '.join(differ)} would be averaged as if they were seeds: filter them, such as "
            f"by {first!r}, or draw them apart with hue={','.join([*hue, *differ])}"
        )
    if len({row.get(SEED) for row in rows}) < len(rows):
        keys = ", ".join(dict.fromkeys(str(row["key"]) for row in rows))
        raise EmpiricsError(f"{len(rows)} values of one seed would be averaged, of the results {keys}: filter by key")


def _caption(chosen: Sequence[Row], x: str, y: str, hue: Sequence[str]) -> str:
    """Return the caption: what is drawn, over which seeds, what all runs share, and how many diverged."""
    seeds = sorted({str(row[SEED]) for row in chosen if SEED in row}, key=ordered)
    shared = {
        name: value
        for name, value in chosen[0].items()
        if name not in (*NOT_COMPARED, STALE, x, *hue) and all(row.get(name) == value for row in chosen)
    }
    runs = {row["key"]: row["status"] for row in chosen}
    diverged = sum(status == "diverged" for status in runs.values())
    parts = [f"**{y} over {x}.** Mean over seeds {', '.join(seeds) or '(none)'}; band or bar: one standard error."]
    if shared:
        parts.append(f"All runs: {', '.join(f'{name}={shown(value)}' for name, value in shared.items())}.")
    if diverged:
        parts.append(f"{diverged} of {len(runs)} runs diverged, and count as far as they go.")
    return " ".join(parts)
