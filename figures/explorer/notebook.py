"""The explorer inside a notebook: the page in a frame, which needs no widgets and no server."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.showing.files import write_whole
from bounds.showing.loading import load

from .command import entries, once, results
from .page import page
from .records import NamedBound

HEIGHT = 900
SHOWN = 60
"""An error shows so many characters of a wrong value."""


@dataclass(frozen=True)
class Explorer:
    """A page that a notebook shows; ``save`` writes it to a file."""

    html: str = field(repr=False)
    names: tuple[str, ...]
    height: int = HEIGHT

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="fedbounds explorer" sandbox="allow-scripts" allow="clipboard-write" width="100%" '
            f'height="{self.height}" style="border:0" srcdoc="{escape(self.html)}"></iframe>'
        )

    def save(self, path: str | Path) -> Path:
        """Write the page to ``path``, which is returned."""
        return write_whole(Path(path), self.html)


def explore(*bounds: Bound | str, store: str | Path | None = None, height: int = HEIGHT) -> Explorer:
    """The explorer of these bounds, by name or themselves; of the whole catalogue without any."""
    named = once([_entry(bound) for bound in bounds]) or entries([])
    html = page(named, results(_folder(store)))
    return Explorer(html, tuple(entry.label for entry in named), height)


def _entry(bound: Bound | str) -> NamedBound:
    if isinstance(bound, str):
        return NamedBound(load(bound), bound)
    if not isinstance(bound, Bound):
        raise BoundsError(f"explore takes bounds or their names, one after the other; got {_short(bound)}")
    return NamedBound(bound, bound.name)


def _folder(store: str | Path | None) -> Path | None:
    if store is not None and not isinstance(store, (str, Path)):
        raise BoundsError(f"store must be the path of a folder; got {_short(store)}")
    return None if store is None else Path(store)


def _short(value: object) -> str:
    """What was given, on one line."""
    said = " ".join(repr(value).split())
    return f"{said if len(said) <= SHOWN else f'{said[:SHOWN]}…'} ({type(value).__name__})"
