"""Run the command as a process: streams, warnings and interrupts, and one line and a status for every error."""

from __future__ import annotations

import gc
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

from ..errors import BoundsError, message_of, NoMinimumError, NoSolutionError, shortened
from .files import inputs_kept
from .loading import place_in_files
from .terminal import folded, on_terminal, Terminal
from .usage import remove_empty_folders, to_install

FINE, FINDING, MISTAKE, BUG, INTERRUPTED = 0, 1, 2, 70, 130
"""Exit statuses; 70 is an internal error in the C library's ``sysexits.h``."""
TRACEBACK = "FEDBOUNDS_TRACEBACK"
ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("bounds", "empirics", "paper_checks", "figures", "fedbounds")
LONGEST = 400
"""The largest number of characters of a bug's message."""
MOST_SHOWN = 2000
"""The largest number of characters of a line; file names may be long."""


def guarded(run: Callable[[], int], *, alone: bool = False) -> int:
    """Return the exit status of ``run`` whatever it raises; if ``alone``, set up the process for it."""
    if alone:
        _set_up()
    with _warnings_as_lines() as numeric, inputs_kept():
        try:
            status = run()
        except KeyboardInterrupt as error:
            status = _interrupted(alone, str(error))
        except BaseException as error:
            if _of_interrupt(error):
                return _flushed(_interrupted(alone, ""))
            status = FINE if _reader_left(error) else _reported(error)
        finally:
            remove_empty_folders()
        status = _flushed(status)
        if status in (FINE, FINDING):  # an error says enough
            remark(numeric)
        return status


def remark(lines: Iterable[str]) -> None:
    """Print each line on standard error, if it is open."""
    for line in lines:
        words = shortened(" ".join(str(line).split()), MOST_SHOWN)
        try:
            if sys.stderr is not None:  # closed by the caller (2>&-): print would turn to standard output
                print(*folded(f"fedbounds: {words}", sys.stderr), sep="\n", file=sys.stderr, flush=True)
        except (OSError, ValueError):
            _to_nowhere(sys.stderr)


# ---- what went wrong ----


def _reported(error: BaseException) -> int:
    """Report an error in one line and return the status: a mistake of the caller, a finding, or a bug."""
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    if isinstance(error, SystemExit) and not error.code and not place_in_files(error):
        return FINE
    status, line = _status_and_line(error)
    remark([line])
    return status


def _status_and_line(error: BaseException) -> tuple[int, str]:
    """Return the status and the line for an error."""
    if isinstance(error, (BoundsError, NoSolutionError)):
        return FINDING if isinstance(error, (NoMinimumError, NoSolutionError)) else MISTAKE, str(error)
    if place := place_in_files(error):
        return MISTAKE, f"{place}: {message_of(error)}"
    if isinstance(error, OSError):
        where = error.filename or "standard output or a file being written"
        return MISTAKE, f"{where}: {error.strerror}" if error.strerror else message_of(error)
    if isinstance(error, ValueError) and (backend := os.environ.get("MPLBACKEND")) and "Key backend:" in str(error):
        return MISTAKE, f"matplotlib has no MPLBACKEND={backend}: unset it, pictures are drawn without a display"
    if isinstance(error, Warning):
        return MISTAKE, f"{message_of(error)} (a warning that a filter made an error)"
    if missing := to_install(error):
        return MISTAKE, missing
    # PyTorch has an exception class for GPU memory, and none for main memory
    torch = type(error).__name__ == "OutOfMemoryError" or "can't allocate memory" in message_of(error)
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and torch):
        words = f"out of memory ({message_of(error)})" if str(error) else "out of memory"
        return BUG, f"{words}; ask for less: fewer points of a sweep, clients, samples or workers (--workers 1)"
    words = shortened(" ".join(message_of(error).split()), LONGEST)
    more = "" if os.environ.get(TRACEBACK) else f"; {TRACEBACK}=1 shows the traceback"
    return BUG, f"this is a bug in fedbounds, please report: {words} ({_place(error)}){more}"


def _place(error: BaseException) -> str:
    """Return the last line of our own code in the traceback, as ``bounds/core.py:41``."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename).resolve()
        if path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0].removesuffix(".py") in PACKAGES:
            return f"{path.relative_to(ROOT).as_posix()}:{frame.lineno}"
    return "no line of ours"


def _of_interrupt(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error: extension modules that are interrupted while loading raise their own errors."""
    while error is not None and not isinstance(error, (KeyboardInterrupt, BoundsError)):
        error = error.__cause__ or error.__context__
    return isinstance(error, KeyboardInterrupt)


def _interrupted(alone: bool, words: str) -> int:
    """Report an interrupt, with the message of the interrupted code if it has one."""
    if alone:  # a second Ctrl-C, while threads and workers stop, ends the process at once
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)
        exec("")  # clears a flag of an interrupted exec, with which Python would exit by the signal
    remark([words or "interrupted"])
    return 128 + _TERMINATED[-1] if _TERMINATED else INTERRUPTED


_TERMINATED: list[int] = []
"""The signal that ended the process, other than Ctrl-C."""


def _terminated(number: int, frame: Any) -> None:
    """Handle a signal like Ctrl-C, so that workers are stopped and results kept."""
    _TERMINATED.append(number)
    signal.default_int_handler(number, frame)


# ---- streams and warnings ----


def _set_up() -> None:
    """Set up the streams and signals.

    Characters that a stream cannot encode, or that control a terminal, are spelled out. Standard output that is not a
    terminal keeps them: a CSV file, for example, has the data's own characters. Ctrl-C and SIGTERM are handled. Garbage
    is collected more rarely, as nearly all of the many objects that are made while bounds load are kept.
    """
    gc.set_threshold(50_000)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None:
            stream.reconfigure(errors="namereplace")
        if stream is not None and (name == "stderr" or on_terminal(stream)):
            setattr(sys, name, Terminal(stream))
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell script
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)


def _reader_left(error: BaseException) -> bool:
    """Whether the reader of standard output has gone (``| head``), which is not an error. Pipes to workers break, too.

    Rich notices it itself: it redirects the rest to nowhere and exits.
    """
    if isinstance(error, SystemExit):
        return isinstance(error.__context__, BrokenPipeError)
    if not isinstance(error, BrokenPipeError):
        return False
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
    except (AttributeError, OSError, ValueError):  # no poll on this system, or no file behind the stream
        return False
    return bool(poll.poll(0))


def _flushed(status: int) -> int:
    """Flush standard output and return the status; output that cannot be written is dropped."""
    try:
        if sys.stdout is not None:  # closed by the caller (>&-)
            sys.stdout.flush()
    except OSError as error:
        _to_nowhere(sys.stdout)
        return status if isinstance(error, BrokenPipeError) else _reported(error)
    return status


def _to_nowhere(stream: Any) -> None:
    """Redirect a stream to nowhere, so that flushing it at the end of the process does not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def _warnings_as_lines() -> Iterator[list[str]]:
    """Print every distinct warning as one line on standard error; collect those of NumPy's arithmetic."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.simplefilter("ignore", ResourceWarning)  # such as files that an interrupted import leaves open
        printed: set[str] = set()  # Python itself repeats a warning for every line of code that gives it

        numeric: list[str] = []

        def show(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
            if str(message) in printed:
                return
            printed.add(str(message))
            if category is RuntimeWarning:
                numeric.append(str(message))
            else:
                remark([str(message)])

        warnings.showwarning = show
        yield numeric
