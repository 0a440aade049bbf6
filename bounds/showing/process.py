"""The command as a process: its streams, warnings and interrupts; a line and a status for whatever goes wrong."""

from __future__ import annotations

import os
import select
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..errors import BoundsError, NoMinimumError, NoSolutionError, said, shortened
from .extras import to_install
from .files import inputs_kept
from .loading import ALONE, place_in_files
from .terminal import folded, on_terminal, Terminal

FINE, FINDING, MISTAKE, BUG, INTERRUPTED = 0, 1, 2, 70, 130
"""Exit statuses; 70 is what the C library's ``sysexits.h`` calls an internal error of a program."""
TRACEBACK = "FEDBOUNDS_TRACEBACK"
ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("bounds", "empirics", "paper_checks", "figures", "fedbounds")
LONGEST = 400
"""Characters of a bug's message that are shown."""
MOST_SHOWN = 2000
"""Characters of a line: a file's name may be longer."""


def guarded(run: Callable[[], int], *, alone: bool = False) -> int:
    """The exit status of ``run``, whatever it raises; where it runs ``alone``, the process is set up for it."""
    if alone:
        ALONE.set()
        _set_up()
    with _warnings_as_lines() as numeric, inputs_kept():
        try:
            status = run()
        except KeyboardInterrupt as error:
            status = _interrupted(alone, str(error))
        except BaseException as error:
            if _of_interrupt(error):
                return _flushed(_interrupted(alone, ""))
            status = FINE if _reader_left(error) else _judged(error)
        status = _flushed(status)
        if status in (FINE, FINDING):  # beside an error they would be a second line on the same matter
            remark(numeric)
        return status


def remark(lines: Iterable[str]) -> None:
    """Each as one line on standard error, if anybody listens there."""
    for line in lines:
        words = shortened(" ".join(str(line).split()), MOST_SHOWN)
        try:
            if sys.stderr is not None:  # closed by the caller (2>&-): print would turn to standard output
                print(*folded(f"fedbounds: {words}", sys.stderr), sep="\n", file=sys.stderr, flush=True)
        except (OSError, ValueError):
            _to_nowhere(sys.stderr)


# ---- what went wrong ----


def _judged(error: BaseException) -> int:
    """Say one line, return the status: the caller's mistake, a finding of the library, or a bug of ours."""
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    if isinstance(error, SystemExit) and not error.code and not place_in_files(error):
        return FINE
    status, line = _status_and_line(error)
    remark([line])
    return status


def _status_and_line(error: BaseException) -> tuple[int, str]:
    """Errors of the library and in files of the user, what the surroundings lack or forbid, and anything else."""
    if isinstance(error, (BoundsError, NoSolutionError)):
        return FINDING if isinstance(error, (NoMinimumError, NoSolutionError)) else MISTAKE, str(error)
    if place := place_in_files(error):
        return MISTAKE, f"{place}: {said(error)}"
    if isinstance(error, OSError):
        where = error.filename or "standard output or a file being written"
        return MISTAKE, f"{where}: {error.strerror}" if error.strerror else said(error)
    if isinstance(error, ValueError) and (backend := os.environ.get("MPLBACKEND")) and "Key backend:" in str(error):
        return MISTAKE, f"matplotlib has no MPLBACKEND={backend}: unset it, pictures are drawn without a display"
    if isinstance(error, Warning):
        return MISTAKE, f"{said(error)} (a warning that a filter made an error)"
    if missing := to_install(error):
        return MISTAKE, missing
    # PyTorch has a class of its own for a GPU's memory and none for the processor's
    torch = type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in said(error)
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and torch):
        words = f"out of memory ({said(error)})" if str(error) else "out of memory"
        return BUG, f"{words}; ask for less: fewer points of a sweep, clients, samples or workers (--workers 1)"
    words = " ".join(said(error).split())
    words = words if len(words) <= LONGEST else f"{words[:LONGEST]} ..."
    more = "" if os.environ.get(TRACEBACK) else f"; {TRACEBACK}=1 shows the traceback"
    return BUG, f"this is a bug in fedbounds, please report: {words} ({_place(error)}){more}"


def _place(error: BaseException) -> str:
    """The last of our own lines on the way to the error, as ``bounds/core.py:41``."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename).resolve()
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0].removesuffix(".py") in ROOMS:
            return f"{path.relative_to(ROOT).as_posix()}:{frame.lineno}"
    return "no line of ours"


def _of_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind it: extension modules that are interrupted while they load raise errors of their own."""
    while error is not None and not isinstance(error, (KeyboardInterrupt, BoundsError)):
        error = error.__cause__ or error.__context__
    return isinstance(error, KeyboardInterrupt)


def _interrupted(alone: bool, words: str) -> int:
    """Say it, in the words of who was interrupted, if it kept something."""
    if alone:  # a second Ctrl-C, while threads and workers end, ends the process without a word
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        exec("")  # clears the mark that an interrupted exec of text leaves, by which Python would end by the signal
    remark([words or "interrupted"])
    return 128 + _TERMINATED[-1] if _TERMINATED else INTERRUPTED


_TERMINATED: list[int] = []
"""The signal by which somebody ended the process, other than Ctrl-C."""


def _terminated(number: int, frame: Any) -> None:
    """Ends all as Ctrl-C does: workers and what is kept are looked after, and one line says so."""
    _TERMINATED.append(number)
    signal.default_int_handler(number, frame)


# ---- streams and warnings ----


def _set_up() -> None:
    """Signs that a stream cannot encode, or that steer a terminal, are named; Ctrl-C and SIGTERM are heard.

    What programs read on standard output stays as it is: CSV, for one, has the data's own characters.
    """
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None:
            stream.reconfigure(errors="namereplace")
        if stream is not None and (name == "stderr" or on_terminal(stream)):
            setattr(sys, name, Terminal(stream))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so a shell script starts what it puts into the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)


def _reader_left(error: BaseException) -> bool:
    """Whether the reader of standard output has gone (``| head``), which is no mistake; pipes to workers break too.

    Rich notices it itself: it sends what follows to nowhere, and exits.
    """
    if isinstance(error, SystemExit):
        return isinstance(error.__context__, BrokenPipeError)
    if not isinstance(error, BrokenPipeError):
        return False
    try:
        asked = select.poll()
        asked.register(sys.stdout.fileno(), 0)
    except (AttributeError, OSError, ValueError):  # no poll on this system, or no file behind the stream
        return False
    return bool(asked.poll(0))


def _flushed(status: int) -> int:
    """The status, once standard output has said everything; what it cannot say any more is dropped."""
    try:
        if sys.stdout is not None:  # closed by the caller (>&-)
            sys.stdout.flush()
    except OSError as error:
        _to_nowhere(sys.stdout)
        return status if isinstance(error, BrokenPipeError) else _judged(error)
    return status


def _to_nowhere(stream: Any) -> None:
    """What the stream still holds would fail again when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def _warnings_as_lines() -> Iterator[list[str]]:
    """Every warning is one line on standard error, said once; those of NumPy's arithmetic are kept for the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", ResourceWarning)  # such as files that an interrupted import leaves open
        told: set[str] = set()  # Python counts a warning anew for every place in the code that gives it

        numeric: list[str] = []

        def tell(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
            if str(message) in told:
                return
            told.add(str(message))
            if category is RuntimeWarning:
                numeric.append(str(message))
            else:
                remark([str(message)])

        warnings.showwarning = tell
        yield numeric
