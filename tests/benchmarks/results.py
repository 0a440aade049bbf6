"""RESULTS.md: one chapter per benchmark, each rewritten by its own script."""

from __future__ import annotations

import argparse
import os
import platform
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).resolve().parent / "RESULTS.md"


def options(doc: str | None, given: Sequence[str] | None = None, **defaults: Any) -> argparse.Namespace:
    """The words of a benchmark's line: an option of its kind for each default, a flag where that is False."""
    parser = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    for name, default in {**defaults, "write": False}.items():
        kind: dict[str, Any] = {"action": "store_true"} if default is False else {"type": type(default)}
        parser.add_argument(f"--{name.replace('_', '-')}", default=default, **kind)
    return parser.parse_args(given)


def publish(chapter: str, write: bool) -> None:
    """Print a chapter, and put it into RESULTS.md."""
    print(chapter)
    if write:
        put(chapter)


def turns(
    work: Mapping[str, Callable[[], Any]], repeats: int, clock: Callable[[], float] = time.process_time
) -> dict[str, list[float]]:
    """Seconds of each, one run of all after another so that a busy moment hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(repeats):
        for name, function in work.items():
            begin = clock()
            function()
            times[name].append(clock() - begin)
    return times


def row(what: str, measured: float, target: float | str = "") -> dict[str, Any]:
    """A row of a table of single numbers with their targets."""
    return {"what": what, "measured": measured, "target": target}


def put(chapter: str, file: Path = RESULTS) -> None:
    """Put a chapter, which begins with a line ``# Title``, in the place of the one with that title, or at the end."""
    title = chapter.splitlines()[0]
    before = re.split(r"(?m)^(?=# )", file.read_text(encoding="utf-8")) if file.exists() else []
    chapters = [part.strip() for part in before if part.strip()]
    titles = [part.splitlines()[0] for part in chapters]
    if title in titles:
        chapters[titles.index(title)] = chapter.strip()
    else:
        chapters.append(chapter.strip())
    file.write_text("\n\n".join(chapters) + "\n", encoding="utf-8")


def table(rows: list[dict[str, Any]]) -> str:
    """Rows with the same keys as a Markdown table, numbers to three digits."""

    def cell(value: Any) -> str:
        return value if isinstance(value, str) else f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"

    lines = [list(rows[0]), ["---"] * len(rows[0]), *([cell(v) for v in row.values()] for row in rows)]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def machine() -> str:
    """The processor and the versions that matter everywhere."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    model = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    return (
        f"{platform.system()} {platform.machine()}, {model}, {os.cpu_count()} cores; Python {platform.python_version()}"
    )
