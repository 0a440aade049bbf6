"""The explorer's page: its size, how soon it paints, and how long its chart and its plane take to follow a hand.

    python tests/benchmarks/explorer.py [--write]

Times are taken inside the browser: the first paint as it reports it; a redraw from evaluating the bounds to the end of
the layout, at the movement of a slider by one step; a plane from the change to the paint, and what its thread takes of
that; a drag by the time of its handler and by the frames. ``--write`` puts the chapter into RESULTS.md.
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
from explorer_browser import browser, Page, SINGLE

MOVES, OPENINGS, HEAVIEST, PLANES_MADE = 60, 5, 5, 20
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
PLANES = """
const times = arguments[0], done = arguments[1], field = document.getElementById("f-rounds");
explorer.taken.planes.length = 0;
let left = times;
const next = () => {
  if (explorer.busy() || explorer.drawn()?.stale) return setTimeout(next, 1);
  if (!left--) return done(explorer.taken.planes);
  field.value = String(Number(field.value) + 1);
  field.dispatchEvent(new Event("input", {bubbles: true}));
  setTimeout(next, 1);
};
next();
"""
DRAG = """
const times = arguments[0], done = arguments[1], box = document.getElementById("plane");
box.setPointerCapture = () => {};
const {left, top, width, height} = box.getBoundingClientRect(), took = [], frames = [];
const point = (kind, k) => box.dispatchEvent(new PointerEvent(kind, {bubbles: true, pointerId: 1,
  clientX: left + width * (0.3 + 0.4 * Math.abs(Math.sin(k / 9))),
  clientY: top + height * (0.3 + 0.3 * Math.abs(Math.cos(k / 7)))}));
point("pointerdown", 0);
let k = 0, last = 0;
const frame = (now) => {
  if (last) frames.push(now - last);
  last = now;
  if (k++ === times) { point("pointerup", k); return done([took, frames]); }
  const begin = performance.now();
  point("pointermove", k);
  took.push(performance.now() - begin);
  requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
"""
TARGETS = ("optimality_gap", "grad_norm_sq", "divergence")
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
        shown.open(file, SINGLE)
        paints.append(shown.js("return performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        charts.append(shown.js("return explorer.timing.first"))
    return median(paints), median(charts)


def redraws(shown: Page, name: str, moves: int) -> list[float]:
    """Milliseconds of every redraw of this bound while the first slider moves."""
    shown.choose("bound", name)
    slider = shown.js("return document.querySelector('#sliders input[type=range]:not(:disabled)')?.id")
    return list(shown.driver.execute_async_script(MOVE, slider, moves)) if slider else [0.0]


def planes(shown: Page, file: Path, target: str) -> tuple[float, float]:
    """Milliseconds from a change to the plane of all theorems, and what its thread takes of them: the medians."""
    shown.open(file)
    shown.choose("number", target)
    found = shown.driver.execute_async_script(PLANES, PLANES_MADE)
    return median(whole for _, whole in found), median(busy for busy, _ in found)


def drags(shown: Page, file: Path) -> tuple[float, float]:
    """Milliseconds of a movement of the point over the plane, and between two frames: the medians."""
    shown.open(file)
    shown.driver.execute_async_script(PLANES, 1)
    took, frames = shown.driver.execute_async_script(DRAG, MOVES)
    return median(took), median(frames)


def measured() -> list[dict[str, Any]]:
    named = entries([])
    with tempfile.TemporaryDirectory() as scratch, browser() as shown:
        file = Path(scratch, "explorer.html")
        file.write_text(made(named), encoding="utf-8")
        size = file.stat().st_size / 1000
        paint, chart = painted(shown, file)
        made_ = {target: planes(shown, file, target) for target in TARGETS}
        drag, frame = drags(shown, file)
        shown.open(file, SINGLE)
        quick = {entry.label: median(redraws(shown, entry.label, 5)) for entry in named}
        heavy = sorted(quick, key=quick.__getitem__)[-HEAVIEST:]
        slow = {name: median(redraws(shown, name, MOVES)) for name in heavy}
    heaviest = max(slow, key=slow.__getitem__)
    return [
        row(f"size of the page with {len(named)} bounds, kB", size, 600),
        row("first paint, ms", paint, 1000),
        row("first chart, the data unpacked and everything laid out, ms", chart, 1000),
        row("slider to redraw, median over all bounds, ms", median(quick.values())),
        row(f"slider to redraw, heaviest ({heaviest}), median, ms", slow[heaviest], 16),
        *(
            row(f"plane of all theorems, 64 x 64, {target}: change to paint, median, ms", made_[target][0], 100)
            for target in TARGETS
        ),
        *(row(f"the same in its thread, {target}, median, ms", made_[target][1]) for target in TARGETS),
        row("drag over the plane: script of a movement, median, ms", drag, 16),
        row("drag over the plane: from frame to frame, median, ms", frame, 17),
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
