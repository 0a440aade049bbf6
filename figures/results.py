"""``fedbounds results --plot``: means over seeds of what a store holds, along rounds or an argument of the runs."""

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
from empirics.experiments.results import filters, is_number, ordered, Row, selected, shown, STALE, tabulated
from empirics.spec_strings import refuse_twice

from .curves import places, WIDE_RANGE, write_files
from .drawing import Axis, panels
from .runs import mean_curve

AXES = """--plot draws means over the seeds with a band of one standard error; their numbers go beside them as CSV:
  x=round (rounds is the same) for a curve over the measured rounds, or x=ARGUMENT whose values are numbers;
  y=QUANTITY; hue=ARGUMENT,ARGUMENT (none: one curve). Runs that differ in more than that are not averaged:
  filter them, or name what tells them apart in hue"""
ROUND = "round"
SEED, VALUE, QUANTITY = "seed", "value", "quantity"
TOLD = (SEED, "key", "status", ROUND, QUANTITY, VALUE)
"""Columns in which runs that are averaged may differ."""
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
    table, damages, remarks = selected(filters(words), sweep, store, rounds=plot and x in ("round", "rounds"))
    if plot:
        axes = {"x": x, "y": y} | ({"hue": hue} if hue else {})
        found = Report([], None, wrote=write(table, axes, path))
    else:
        form = path.suffix if path is not None else ".csv" if csv else ".tex" if latex else ""
        found = tabulated(table, [columns] if isinstance(columns, str) else columns, form, path, words)
    found.remarks, found.status = tuple(remarks), int(bool(damages))
    return found


def write(table: Sequence[Row], axes: Mapping[str, str], path: Path | None) -> list[Path]:
    """The picture, its numbers beside it as CSV, and its caption; the paths. ``axes`` are the words x, y and hue."""
    x = ROUND if axes["x"] == "rounds" else axes["x"]
    hue = [name for name in axes.get("hue", "").split(",") if name]
    refuse_twice(hue)
    chosen = _chosen(table, x, axes["y"], hue)
    paths = places(path or Path(f"{axes['y']}-over-{x}.svg"), ",".join(COLUMNS))
    rows = _means(chosen, x, axes["y"], hue)
    over = [row["x"] for row in rows]
    log = x != ROUND and min(over) > 0 and max(over) > WIDE_RANGE * min(over)
    numbers = [COLUMNS, *([row[name] for name in COLUMNS] for row in rows)]

    def drawn() -> Any:
        return panels(rows, Axis(x, log), Axis(axes["y"]), points=x != ROUND)

    return write_files(paths, drawn, numbers, _caption(chosen, x, axes["y"], hue) + "\n")


def _chosen(table: Sequence[Row], x: str, y: str, hue: Sequence[str]) -> list[Row]:
    """The rows to draw; what cannot be drawn is refused."""
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
                told = f"a run has {shown(row[name])!r}" if name in row else "a run has none"
                raise EmpiricsError(
                    f"{words} must be a number in every run that is drawn; {told}: filter, or take another"
                )
    return rows


def _groups(rows: Iterable[Row], names: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    found = defaultdict(list)
    for row in rows:
        found[tuple(row.get(name) for name in names)].append(row)
    return found


def _means(chosen: Sequence[Row], x: str, y: str, hue: Sequence[str]) -> list[dict[str, Any]]:
    """Mean, standard error and number of seeds along every curve."""
    found = []
    groups = _groups(chosen, hue)
    for values in sorted(groups, key=lambda values: list(map(ordered, values))):
        counts = {}
        for (at,), rows in _groups(groups[values], [x]).items():
            _refuse_mixed(rows, x, hue)
            counts[float(at)] = len(rows)
        runs = [(np.array([row[x]]), np.array([row[VALUE]])) for row in groups[values]]
        said = (  # a text says itself what it is
            v if isinstance(v, str) and "(" in v else f"{name}={'none' if v is None else shown(v)}"
            for name, v in zip(hue, values, strict=True)
        )
        label = ", ".join(said) or y
        for at, mean, error in zip(*mean_curve(runs), strict=True):
            found.append({"panel": "", "curve": label, "x": at, "y": mean, "error": error, "seeds": counts[float(at)]})
    return found


def _refuse_mixed(rows: Sequence[Row], x: str, hue: Sequence[str]) -> None:
    """Values that would be averaged must be of one run with several seeds."""
    names = dict.fromkeys(name for row in rows for name in row if name not in (*TOLD, x))
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
    """What is drawn, of which runs; all that these have in common."""
    seeds = sorted({str(row[SEED]) for row in chosen if SEED in row}, key=ordered)
    shared = {
        name: value
        for name, value in chosen[0].items()
        if name not in (*TOLD, STALE, x, *hue) and all(row.get(name) == value for row in chosen)
    }
    runs = {row["key"]: row["status"] for row in chosen}
    lost = sum(status == "diverged" for status in runs.values())
    said = [f"**{y} over {x}.** Mean over seeds {', '.join(seeds) or '(none)'}; band or bar: one standard error."]
    said += [f"All runs: {', '.join(f'{name}={shown(value)}' for name, value in shared.items())}."] if shared else []
    said += [f"{lost} of {len(runs)} runs diverged, and count as far as they go."] if lost else []
    return " ".join(said)
