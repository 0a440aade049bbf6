"""How a validation's result looks in the terminal and on disk."""

from __future__ import annotations

import csv
import math
import platform
from collections.abc import Iterator
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

from empirics.measuring.estimates import Estimate

from .core import Comparison, ERROR_RATE, Result, Validation

WIDTH = 80  # of the table where stdout is no terminal


def plus_minus(estimate: Estimate) -> str:
    """Value and standard error, ``0.003465±0.000007``: two digits of the error if they are below 36, else one."""
    value, error = float(estimate.value), float(estimate.error)
    if not (math.isfinite(value) and math.isfinite(error) and error > 0):
        return f"{value:.4g}"
    size = math.floor(math.log10(error))
    places = max(0, (1 if error / 10.0**size < 3.55 else 0) - size)
    return f"{value:.{places}f}±{error:.{places}f}"


def show(validation: Validation, result: Result, seconds: float) -> None:
    """Print what was compared, the table, the verdict and the findings."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH
    console.print(f"{validation.name}: {validation.words}  \\[{escape(str(result.bound.source))}]")
    for line in result.assumptions:
        console.print(f"  {escape(line)}")
    for (problem, partition), group in groupby(result.comparisons, key=lambda c: (c.problem, c.partition)):
        console.print(_table(f"{problem}, {partition}", list(group)))
    console.print(escape(_legend(result)))
    for line in (*_verdict(result), *result.findings):
        console.print(escape(line))
    console.print(f"{seconds:.0f} s")


def _table(title: str, comparisons: list[Comparison]) -> Any:
    from rich import box
    from rich.table import Table

    first = comparisons[0]
    title = f"{title}: {first.seeds} draws"
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.padding = (0, 1, 0, 0)
    terms = (f"term {i}" for i in range(1, len(first.parts) + 1))
    for head in ("K", "measured gap", "bound", *terms, "ratio"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for c in comparisons:
        parts = (f"{float(part.value):.3g}" for part in c.parts.values())
        numbers = (plus_minus(c.measured), plus_minus(c.bound), *parts, f"{float(c.ratio.value):.3g}")
        table.add_row(str(c.clients), *numbers, str(c.verdict))
    return table


def _legend(result: Result) -> str:
    terms = ", ".join(f"term {i}: {name}" for i, name in enumerate(result.bound.terms, 1))
    return f"bound = sum of {terms}; ratio: bound / measured; ±: one standard error over draws (bound: jackknife)."


def _verdict(result: Result) -> Iterator[str]:
    rows = len(result.comparisons)
    said = [str(c.verdict) for c in result.comparisons]
    counts = ", ".join(f"{said.count(word)} x {word}" for word in sorted(set(said)))
    yield (
        f"Verdicts: {counts} (one-sided t tests over draws, error rate {ERROR_RATE:.0%} over all {rows} rows together; "
        "they speak of these settings only)."
    )
    for c in result.violations:
        where = f"{c.problem}, {c.partition}, K = {c.clients}"
        yield f"Violated: {where}: {plus_minus(c.measured)} > {plus_minus(c.bound)}."
    reduced = sorted(((_reduction(c), c) for c in result.comparisons if _reduction(c) > 0), key=lambda pair: pair[0])
    if reduced:
        ends = (f"{ratio:.3g} ({c.problem}, {c.partition}, K = {c.clients})" for ratio, c in (reduced[0], reduced[-1]))
        yield f"The control variate, of mean exactly zero, divides the gap's variance by {' to '.join(ends)}."


def _reduction(comparison: Comparison) -> float:
    """Variance of the plain estimate over that with the control variate; zero where there is none."""
    plain = comparison.extras.get("generalization_gap without control variate")
    return float((plain.error / comparison.measured.error) ** 2) if plain else 0.0


def write_table(result: Result, path: Path) -> None:
    """The tidy table as CSV, full precision; an empty cell where there is no number."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("problem", "partition", "clients", "quantity", "value", "standard_error"))
        for row in result.rows():
            writer.writerow(["" if cell is None else cell for cell in row])


def card(result: Result) -> dict[str, Any]:
    """Settings, constants, versions, assumptions and findings, for the JSON beside the table."""
    packages = ("fedbounds", "numpy", "scipy", "scikit-learn", "sympy")
    return {
        "bound": result.bound.name,
        "source": str(result.bound.source),
        **result.card,
        "assumptions": list(result.assumptions),
        "verdicts": [[c.problem, c.partition, c.clients, str(c.verdict)] for c in result.comparisons],
        "error_rate": ERROR_RATE,
        "findings": list(result.findings),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
    }
