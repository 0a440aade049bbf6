"""Cells for tests: quick ones, ones that raise, diverge or die, and a trace of what was really computed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from empirics.errors import Diverged
from empirics.experiments import Outcome

HERE = str(Path(__file__).resolve())
"""A job here is ``f"{HERE}:square"``."""


def square(number: float, trace: str = "", sleep: float = 0.0) -> Outcome:
    """A table of two rows; leaves a file in ``trace`` each time it is computed."""
    if trace:
        (Path(trace) / f"{number}.{os.getpid()}.{time.monotonic_ns()}").touch()
    time.sleep(sleep)
    return Outcome({"number": [number, number], "square": [float(number) ** 2, float(number) ** 2 + 0.5]}, {"n": 2})


def raises(number: float) -> Outcome:
    raise ValueError(f"no square of {number}\nfor you")


def diverges(number: float) -> Outcome:
    raise Diverged(3, "fedavg()", 1e30)


def odd(kind: str) -> Outcome:
    """Outcomes that no file can hold, and one that a reader must not take for a training run."""
    if kind == "exits":
        raise SystemExit(3)
    return {
        "ragged": Outcome({"a": [1, 2], "b": [3]}),
        "mixed": Outcome({"a": [1, "two"]}),
        "status": Outcome({"a": [1]}, {}, "finished"),
        "facts": Outcome({}, {"a": {1, 2}}),
        "columns": Outcome([[1, 2]]),  # type: ignore[arg-type]
        "unpicklable": Outcome({"a": [lambda: 3]}),
        "quantity": Outcome({"quantity": ["q"], "value": [2.5]}, {"low": float("nan"), "high": float("inf")}),
    }[kind]


def interrupts(number: float) -> Outcome:
    """Ctrl-C at the third."""
    if number > 2:
        signal.raise_signal(signal.SIGINT)
    return square(number)


def wrong_result(number: float) -> Outcome:
    return number  # type: ignore[return-value]


def dies_once(number: float, marks: str) -> Outcome:
    """Kills its own process the first time it is tried."""
    mark = Path(marks) / f"died-{number}"
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(number)


def sweeping(grid: Path, folder: Path, *more: str, **environment: str) -> subprocess.Popen[str]:
    """A sweep as a process, and group of processes, of its own."""
    command = [sys.executable, "-m", "fedbounds", "sweep", str(grid), "--store", str(folder), *more]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, **environment},
    )  # fmt: skip


def wait_for(seen: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until something is seen of a process that still runs."""
    until = time.monotonic() + 120
    while not seen() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()
