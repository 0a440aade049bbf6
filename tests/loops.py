"""One test for a whole catalogue: the check goes through every entry, and all that fail are reported together."""

from collections.abc import Callable, Iterable, Mapping
from inspect import signature
from typing import Any


def each(names: Iterable[str], given: Callable[[str], Mapping[str, Any]]) -> Callable[[Callable[..., None]], Any]:
    """Make a test of a check of one entry; ``given`` has its arguments by name. ``test.one`` is the check itself."""

    def made(check: Callable[..., None]) -> Any:
        wanted = signature(check).parameters

        def test() -> None:
            failed = []
            for name in names:
                arguments = given(name)
                try:
                    check(**{word: arguments[word] for word in wanted})
                except Exception as error:
                    failed.append(f"{name}: {type(error).__name__}: {error}")
            assert not failed, f"{len(failed)} fail:\n" + "\n".join(failed)

        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        test.one = check  # type: ignore[attr-defined]
        return test

    return made
