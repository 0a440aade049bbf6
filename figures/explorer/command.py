"""``fedbounds explore``: bounds on a page, in the browser, in a notebook or in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.showing.files import write_whole
from bounds.showing.loading import load
from bounds.showing.usage import writable_file
from empirics.experiments import Store
from empirics.progress import progress

from .records import NamedBound

HEIGHT = 900
SHOWN = 60
"""Characters of a wrong value that an error shows."""


@dataclass(frozen=True)
class Explorer:
    """A page that a notebook displays, made on first use; ``save`` writes it to a file."""

    bounds: tuple[NamedBound, ...]
    all: bool
    """Whether these are all bounds of the catalogue."""
    store: Path | None = None
    height: int = HEIGHT

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(entry.label for entry in self.bounds)

    @cached_property
    def html(self) -> str:
        """The page as one self-contained HTML file."""
        with progress("making the page"):
            from .page import page

            return page(list(self.bounds), self.store)

    def _repr_html_(self) -> str:
        return (
            f'<iframe title="fedbounds explorer" sandbox="allow-scripts" allow="clipboard-write" width="100%" '
            f'height="{self.height}" style="border:0" srcdoc="{escape(self.html)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Explorer of {len(self.bounds)} bounds; .save(path) writes the page"

    def save(self, path: str | Path) -> Path:
        """Write the page to ``path``, which is returned."""
        writable_file("-o", Path(path), ".html", ".htm")
        try:
            return write_whole(Path(path), self.html)
        except OSError as error:  # which names no file where the disk is full
            raise BoundsError(f"-o {path}: {error.strerror}") from None


def explore(*bounds: Bound | str, store: str | Path | None = None, height: int = HEIGHT) -> Explorer:
    """Explore bounds on a page with sliders, which needs neither a server nor the network.

    Without -o the page opens in the browser (BROWSER names one).

    Args:
        bounds: Bounds of the list, or path/file.py:variable (all of the list).
        store: Put measured and exact points of this store of runs into the page.
        height: pixels of the frame in a notebook.
    """
    if store is not None and not isinstance(store, (str, Path)):
        raise BoundsError(f"store must be the path of a folder; got {_short(store)}")
    named = once([_entry(bound) for bound in bounds])
    folder = results(None if store is None else Path(store))
    return Explorer(tuple(named or entries(())), not named, folder, height)


def save(explorer: Explorer, path: Path, command: str) -> list[Path]:
    """Write the page to the file given by ``-o``."""
    return [explorer.save(path)]


def open_page(explorer: Explorer) -> list[str]:
    """Open the page in the browser."""
    from .opening import opened

    return [f"opened {opened(explorer)}"]


def _entry(bound: Bound | str) -> NamedBound:
    if isinstance(bound, str):
        return NamedBound(load(bound), bound)
    if not isinstance(bound, Bound):
        raise BoundsError(f"explore takes bounds or their names, one after the other; got {_short(bound)}")
    return NamedBound(bound, bound.name)


def entries(names: Sequence[str]) -> list[NamedBound]:
    """Return the bounds of these names, each once; without names, all bounds of the catalogue."""
    if not names:
        return [NamedBound(bound, name) for name, bound in BOUNDS.items()]
    return once([NamedBound(load(name), name) for name in names])


def once(named: Sequence[NamedBound]) -> list[NamedBound]:
    """Return each bound once, under its first name; raise if two bounds have the same name."""
    unique: list[NamedBound] = []
    for entry in named:
        if any(entry.bound is other.bound for other in unique):
            continue
        if any(entry.label == other.label for other in unique):
            raise BoundsError(
                f"explore shows each bound under a name of its own; got two called {entry.label!r}: "
                "rename one with dataclasses.replace(bound, name=...)"
            )
        unique.append(entry)
    return unique


def results(folder: Path | None) -> Path | None:
    """Return the folder of a store; raise if it holds no results, since the page would silently show no points."""
    if folder is None:
        return None
    if not folder.is_dir():
        raise BoundsError(f"there is no store at {folder}; fedbounds figure all --scale smoke fills one")
    if next(iter(Store(folder)), None) is None:
        raise BoundsError(f"the store at {folder} holds no results; fedbounds figure all --scale smoke fills one")
    return folder


def _short(value: object) -> str:
    """Return a value and its type on one line, shortened."""
    text = " ".join(repr(value).split())
    return f"{text if len(text) <= SHOWN else f'{text[:SHOWN]}…'} ({type(value).__name__})"
