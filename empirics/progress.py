"""Progress of long work on standard error: a bar on a terminal, occasional lines elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

from bounds.showing.terminal import printable, raw

SILENCE = "FEDBOUNDS_PROGRESS"
"""Environment variable; if it is ``none``, no progress is shown."""
FIRST = 1.0
"""Seconds until the first line."""
EVERY = 10.0
"""Seconds between later lines, or a twentieth of the elapsed time if that is longer."""
UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


class Progress:
    """Receives reports of progress and ignores them; subclasses show them."""

    def start(self, total: int) -> None:
        """Begin work of ``total`` steps."""

    def doing(self, words: str) -> None:
        """Describe the current step."""

    def step(self) -> None:
        """Count one step as done."""


class Silent(Progress):
    """Progress that is not shown."""


@contextmanager
def progress(what: str = "working", *, brief: bool = False) -> Iterator[Progress]:
    """Show the progress of the work in this block, which ``what`` describes in a few words.

    Lines appear on schedule even between steps. ``brief`` work prints lines on a terminal too, where a bar would
    flicker.
    """
    if sys.stderr is None or os.environ.get(SILENCE) == "none":  # None if the caller closed it (2>&-)
        yield Silent()
    elif not brief and sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb", "unknown"):
        with _bar(what) as bar:
            yield bar
    else:
        lines = _Lines(what)
        try:
            yield lines
        finally:
            lines.end()


def duration(seconds: float) -> str:
    """Format a time with two digits and its unit: 40 s, 2.5 min, 1.2e+08 d."""
    size, unit = next((u for u in UNITS if seconds >= u[0]), UNITS[-1])
    return f"{seconds / size:.2g} {unit}"


class _Lines(Progress):
    """Prints lines from a thread, independently of the work."""

    def __init__(self, what: str) -> None:
        self._what, self._words = what, ""
        self._total, self._done = 0, 0
        self._created = self._started = time.monotonic()
        self._finished = Event()
        self._printer = Thread(target=self._print, daemon=True)
        self._printer.start()

    def start(self, total: int) -> None:
        self._total, self._done, self._started = total, 0, time.monotonic()

    def doing(self, words: str) -> None:
        self._words = words

    def step(self) -> None:
        self._done += 1

    def end(self) -> None:
        self._finished.set()
        self._printer.join()

    def _print(self) -> None:
        wait = FIRST
        while not self._finished.wait(wait):
            try:
                print(self._line(), file=sys.stderr, flush=True)
            except (OSError, ValueError, AttributeError):  # the reader of standard error has gone
                return
            wait = max(EVERY, (time.monotonic() - self._created) / 20)

    def _line(self) -> str:
        parts = [f"{self._done} of {self._total} done"] if self._total else []
        if 0 < self._done < self._total:
            per_step = (time.monotonic() - self._started) / self._done
            parts.append(f"about {duration(per_step * (self._total - self._done))} left")
        if self._words:
            parts.append(self._words)
        return f"fedbounds: {self._what}" + (f": {', '.join(parts)}" if parts else " ...")


@contextmanager
def _bar(what: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bars, TextColumn, TimeRemainingColumn

    what = printable(what)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shared = sys.stdout is not None and sys.stdout.isatty()  # a redirected standard output is left alone
    with Bars(*columns, console=Console(file=raw(sys.stderr)), transient=True, redirect_stdout=shared) as bars:
        yield _Bar(bars, what)


class _Bar(Progress):
    """Shows a bar over all steps."""

    def __init__(self, bars: Any, what: str) -> None:
        self._bars, self._what = bars, what
        self._task = bars.add_task(what, total=None)

    def start(self, total: int) -> None:
        self._bars.update(self._task, total=total, completed=0)

    def doing(self, words: str) -> None:
        self._bars.update(self._task, description=f"{self._what}: {printable(words)}")

    def step(self) -> None:
        self._bars.advance(self._task)
