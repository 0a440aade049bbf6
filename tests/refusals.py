"""Refusals as tables: what is wrong beside the names and numbers that its one line must hold."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from bounds.errors import BoundsError


def refusal(call: Callable[..., Any], *given: Any, **options: Any) -> str:
    """The one line that a call is refused with."""
    with pytest.raises(BoundsError) as raised:
        call(*given, **options)
    return str(raised.value)


def _said(word: str, line: str) -> bool:
    """Whether the line has the word, or the number, as a whole."""
    before, after = (r"\b" if end.isalnum() else "" for end in (word[0], word[-1]))
    return re.search(before + re.escape(word) + after, line) is not None


def all_refused(
    cases: Mapping[Any, str] | Iterable[tuple[Any, str]],
    call: Callable[[Any], Any] = lambda case: case(),
    kind: type[Exception] | tuple[type[Exception], ...] = BoundsError,
) -> None:
    """Every case is refused in one line with the names and numbers beside it, which are split at spaces.

    ``call`` raises an error of the ``kind``, or gives the line that a command refused the case with. All cases that are
    accepted, or refused otherwise, are reported together.
    """
    failed = []
    for i, (case, words) in enumerate(cases.items() if isinstance(cases, Mapping) else cases):
        try:
            line = call(case)
        except kind as error:
            line = str(error)
        except (Exception, pytest.fail.Exception) as error:
            failed.append(f"case {i} {case!r}: {type(error).__name__}: {error}")
            continue
        if not isinstance(line, str):
            failed.append(f"case {i} {case!r} is accepted: {line!r}"[:500])
            continue
        lacks = [word for word in words.split() if not _said(word, line)]
        if lacks or "\n" in line.strip():
            failed.append(f"case {i} {case!r}: without {lacks} in {line!r}")
    assert not failed, f"{len(failed)} fail:\n" + "\n".join(failed)
