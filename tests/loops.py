"""One test for a whole catalogue or table: every entry is checked, and all that fail are reported together."""

from collections.abc import Callable, Iterable
from inspect import Signature, signature
from typing import Any

import pytest


def cases(names: str, rows: Iterable[Any]) -> Callable[[Callable[..., None]], Any]:
    """``pytest.mark.parametrize`` in one test, which reports all rows that fail; its other arguments are fixtures.

    A name that the check does not take is passed over. ``test.one`` is the check itself.
    """
    words, table = names.replace(",", " ").split(), list(rows)

    def made(check: Callable[..., None]) -> Any:
        wanted = signature(check).parameters

        def test(**fixtures: Any) -> None:
            failed = []
            for row in table:
                values = dict(zip(words, row if len(words) > 1 else (row,), strict=True))
                try:
                    check(**{name: value for name, value in values.items() if name in wanted}, **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    failed.append(f"{str(values)[:300]}: {type(error).__name__}: {error}")
            assert not failed, f"{len(failed)} of {len(table)} fail:\n" + "\n".join(failed)

        others = [parameter for name, parameter in wanted.items() if name not in words]
        test.__signature__ = Signature(others)  # type: ignore[attr-defined]
        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        test.one = check  # type: ignore[attr-defined]
        return test

    return made
