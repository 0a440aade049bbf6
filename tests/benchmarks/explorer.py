"""The explorer's page: its size, how soon it paints, and how long a slider takes to redraw the chart.

    python tests/benchmarks/explorer.py [--write]

Times are taken inside the browser: the first paint as it reports it; a redraw from evaluating the bounds to the end of
the layout, at the movement of a slider by one step. ``--write`` puts the chapter into RESULTS.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from results import machine, options, publish, row, table

from figures.explorer.command import entries
from figures.explorer.page import page as made

sys.path.append(str(Path(__file__).resolve().parents[1]))
from explorer_browser import browser, Page

MOVES, OPENINGS, HEAVIEST = 60, 5, 5
MOVE = """
const id = arguments[0], steps = arguments[1], done = arguments[2], slider = document.getElementById(id);
explorer.timing.redraws.length = 0;
let left = steps;
const next = () => {
  if (!left--) return done(explorer.timing.redraws);
  slider.value = (Number(slider.value) + 1) % (Number(slider.max) + 1);
  slider.dispatchEvent(new Event("input", {bubbles: true}));
  requestAnimationFrame(() => requestAnimationFrame(next));
};
next();
"""
CHAPTER = """\
# The explorer

Written by `python tests/benchmarks/explorer.py --write`. Chromium without a display; times inside the page. A redraw
evaluates the bound at 200 places, its terms and conditions, writes the chart, its legend and the words beside it, and
lays the page out; heaviest: the largest median of all bounds.
"""


def painted(shown: Page, file: Path) -> tuple[float, float]:
    """Milliseconds to the first paint with content and to the first chart, the medians of several openings."""
    paints, charts = [], []
    for _ in range(OPENINGS):
        shown.open(file)
        paints.append(shown.js("return performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        charts.append(shown.js("return explorer.timing.first"))
    return median(paints), median(charts)


def redraws(shown: Page, name: str, moves: int) -> list[float]:
    """Milliseconds of every redraw of this bound while the first slider moves."""
    shown.choose("bound", name)
    slider = shown.js("return document.querySelector('#sliders input[type=range]:not(:disabled)')?.id")
    return list(shown.driver.execute_async_script(MOVE, slider, moves)) if slider else [0.0]


def measured() -> list[dict[str, Any]]:
    named = entries([])
    with tempfile.TemporaryDirectory() as scratch, browser() as shown:
        file = Path(scratch, "explorer.html")
        file.write_text(made(named), encoding="utf-8")
        size = file.stat().st_size / 1000
        paint, chart = painted(shown, file)
        quick = {entry.label: median(redraws(shown, entry.label, 5)) for entry in named}
        heavy = sorted(quick, key=quick.__getitem__)[-HEAVIEST:]
        slow = {name: median(redraws(shown, name, MOVES)) for name in heavy}
    heaviest = max(slow, key=slow.__getitem__)
    return [
        row(f"size of the page with {len(named)} bounds, kB", size, 400),
        row("first paint, ms", paint, 1000),
        row("first chart, the data unpacked and everything laid out, ms", chart, 1000),
        row("slider to redraw, median over all bounds, ms", median(quick.values())),
        row(f"slider to redraw, heaviest ({heaviest}), median, ms", slow[heaviest], 16),
    ]


def how_quiet() -> str:
    """The day, and what else the machine is busy with: times are upper limits where it is."""
    load = os.getloadavg()[0]
    return f"{date.today()}, {'quiet' if load < 1 else 'not quiet'} (load {load:.1f} when it began)"


def main() -> None:
    asked = options(__doc__)
    version = subprocess.run(["chromium", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    begun = how_quiet()
    publish(f"{CHAPTER}{machine()}; {version}; {begun}.\n\n{table(measured())}\n", asked.write)


if __name__ == "__main__":
    main()
