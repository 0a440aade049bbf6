"""How far long work is: a bar on a terminal, silence elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol


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
def progress() -> Iterator[Progress]:
    """A bar on stderr when that is a terminal, silence otherwise."""
    if not sys.stderr.isatty():
        yield Silent()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress as Bars, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Bar(bars)


class _Bar:
    """One bar over all seeds of all problems."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._task = bars.add_task("starting", total=None)

    def start(self, total: int) -> None:
        self._bars.update(self._task, total=total, completed=0)

    def doing(self, words: str) -> None:
        self._bars.update(self._task, description=words)

    def step(self) -> None:
        self._bars.advance(self._task)
