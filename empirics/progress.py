"""How far long work is: a bar on a terminal, now and then a plain line elsewhere, both on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, Protocol

from bounds.showing.terminal import printable, raw

SILENCE = "FEDBOUNDS_PROGRESS"
"""Environment variable; ``none`` silences all of this."""
FIRST = 1.0
"""Seconds after which work that is not yet over says what it is."""
EVERY = 10.0
"""Seconds between further lines at least; of long work, a twentieth of the time it has taken."""
UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


class Progress(Protocol):
    """Hears how far a run is."""

    def start(self, total: int) -> None: ...

    def doing(self, words: str) -> None: ...

    def step(self) -> None: ...


class Silent:
    """Tells nobody."""

    def start(self, total: int) -> None:
        pass

    def doing(self, words: str) -> None:
        pass

    def step(self) -> None:
        pass


@contextmanager
def progress(what: str = "working", *, brief: bool = False) -> Iterator[Progress]:
    """A bar on standard error when that is a terminal; lines when it is a pipe or a file, after a second of work.

    ``what`` is being done, in a few words. The lines come on time even if the work never says how far it is. Work that
    is mostly ``brief`` says lines on a terminal too: a bar would flicker there.
    """
    if sys.stderr is None or os.environ.get(SILENCE) == "none":  # closed by the caller (2>&-), or not wanted
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


def lasting(seconds: float) -> str:
    """A time in words, with two digits: 40 s, 2.5 min, 1.2e+08 d."""
    size, unit = next((u for u in UNITS if seconds >= u[0]), UNITS[-1])
    return f"{seconds / size:.2g} {unit}"


class _Lines:
    """One line after ``FIRST`` seconds, then one now and then, written by a thread: work need not come up for air."""

    def __init__(self, what: str) -> None:
        self._what, self._words = what, ""
        self._total, self._done = 0, 0
        self._began = self._started = time.monotonic()
        self._over = Event()
        self._teller = Thread(target=self._tell, daemon=True)
        self._teller.start()

    def start(self, total: int) -> None:
        self._total, self._done, self._started = total, 0, time.monotonic()

    def doing(self, words: str) -> None:
        self._words = words

    def step(self) -> None:
        self._done += 1

    def end(self) -> None:
        self._over.set()
        self._teller.join()

    def _tell(self) -> None:
        wait = FIRST
        while not self._over.wait(wait):
            try:
                print(self._line(), file=sys.stderr, flush=True)
            except (OSError, ValueError, AttributeError):  # nobody listens any more
                return
            wait = max(EVERY, (time.monotonic() - self._began) / 20)

    def _line(self) -> str:
        told = [f"{self._done} of {self._total} done"] if self._total else []
        took = time.monotonic() - self._started
        if 0 < self._done < self._total:
            told.append(f"about {lasting(took / self._done * (self._total - self._done))} left")
        told += [self._words] if self._words else []
        return f"fedbounds: {self._what}" + (f": {', '.join(told)}" if told else " ...")


@contextmanager
def _bar(what: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bars, TextColumn, TimeRemainingColumn

    what = printable(what)
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    shared = sys.stdout is not None and sys.stdout.isatty()  # what is printed to a file meanwhile must get there
    with Bars(*columns, console=Console(file=raw(sys.stderr)), transient=True, redirect_stdout=shared) as bars:
        yield _Bar(bars, what)


class _Bar:
    """One bar over all steps."""

    def __init__(self, bars: Any, what: str) -> None:
        self._bars, self._what = bars, what
        self._task = bars.add_task(what, total=None)

    def start(self, total: int) -> None:
        self._bars.update(self._task, total=total, completed=0)

    def doing(self, words: str) -> None:
        self._bars.update(self._task, description=f"{self._what}: {printable(words)}")

    def step(self) -> None:
        self._bars.advance(self._task)
