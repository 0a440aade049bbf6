"""Refusals as tables: what is wrong beside the names and numbers that its one line must hold."""

import re
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from bounds.errors import BoundsError


def refusal(call, *given, **options):
    """The one line that a call is refused with."""
    with pytest.raises(BoundsError) as raised:
        call(*given, **options)
    return str(raised.value)


def all_refused(cases, line_of):
    """Every case is refused in one line, ``line_of(case)``, with its words; all that are not are reported together."""
    failed = []
    for case, words in cases.items() if isinstance(cases, dict) else cases:
        try:
            line = line_of(case).strip()
        except (Exception, pytest.fail.Exception) as error:
            failed.append(f"{case}: {type(error).__name__}: {error}")
            continue
        lacks = [word for word in words.split() if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", line)]
        if lacks or "\n" in line:
            failed.append(f"{case}: without {lacks} in {line!r}")
    assert not failed, "\n".join(failed)


def calls_refused(*cases):
    """Every call, a function without arguments, is refused in one line with the words beside it."""
    all_refused([(place, words) for place, (_, words) in enumerate(cases)], lambda place: refusal(cases[place][0]))


def refusals(
    kind: type[Exception] | tuple[type[Exception], ...],
    cases: Iterable[tuple[Any, str]],
    call: Callable[[Any], Any] = lambda case: case(),
) -> Callable[[], None]:
    """Make a test that ``call`` refuses every case with this error, in one line that has the names and numbers given.

    They are given as one text, split at spaces. A case without a ``call`` is a function to be called.
    """

    def test() -> None:
        failed = []
        for i, (case, names) in enumerate(cases):
            what = f"case {i} ({names}): {'' if callable(case) else case!r}"[:300]
            try:
                found = call(case)
            except Exception as error:
                said = str(error)
                if not isinstance(error, kind) or "\n" in said or any(name not in said for name in names.split()):
                    failed.append(f"{what} raises {type(error).__name__}: {said}")
            else:
                failed.append(f"{what} is accepted: {found!r}"[:500])
        assert not failed, f"{len(failed)} fail:\n" + "\n".join(failed)

    return test
