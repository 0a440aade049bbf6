"""Refusals as tables: what is wrong beside the names and numbers that its one line must hold."""

import re

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
