"""A limit on the time of a judgement: an error can make a formula that no computer algebra gets through."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from paper_checks.audit.running import Verdict, verdict_of
from paper_checks.claims.claim import Book, Claim

LEAST = 10.0  # CPU seconds that every claim is given
TIMES = 5.0  # and so many times what it takes without an error


def patience(seconds: float) -> float:
    """The CPU seconds after which a claim that takes ``seconds`` without an error is given up."""
    return LEAST + TIMES * seconds


class OutOfTime(BaseException):
    """What ends a judgement; no ``Exception``, which SymPy might take for a failure of one of its methods."""


def judged_within(seconds: float, claim: Claim, book: Book | None = None) -> Verdict | None:
    """The verdict, or None where so many seconds of CPU do not reach one.

    Only the main thread of a system that has such timers can be stopped; elsewhere there is no limit.
    """
    verdict = None
    with _alarm(seconds) as rung, suppress(OutOfTime):  # judge catches the first, but one may ring behind it
        verdict = verdict_of(claim, book)
    return None if rung else verdict


@contextmanager
def _alarm(seconds: float) -> Iterator[list[int]]:
    """Raise OutOfTime after the time, and every second from then on; the list is empty as long as it has not rung."""
    rung: list[int] = []

    def ring(number: int, frame: FrameType | None) -> None:
        rung.append(number)
        raise OutOfTime

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield rung
        return
    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield rung
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
