"""The best value of what a run chooses: every formula for it that a paper prints or that is derived."""

from __future__ import annotations

from collections.abc import Iterator

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.showing import printing
from bounds.showing.cards import letters_of
from figures.explorer import optima

from .bound_pages import path
from .search import BEST, minimisers
from .text import cell_math, entries, page, plain, table

TITLES = {"local_steps": "The best K: number of local steps", "step_size": "The best step size"}


def best() -> str:
    """The page of all of them."""
    said = (
        "What papers state, as printed and as derived from their own bounds, and the closed minimisers of bounds that "
        "SymPy finds. Each is the best of a bound, which need not be the best of a run. What to run at your numbers, "
        "and what it costs to follow each: "
        "[what should I run?](../how-to/advise.md)"
    )
    words = [word for word in BEST if _stated(word) or _minimised(word)]
    parts = (part for word in words for part in _of(word))
    index = entries(*(name for word in words for name in BEST[word]), main=True)
    return page("# The best K and the best step size", index, said, *parts)


def _of(word: str) -> Iterator[str | list[str]]:
    yield f"## {TITLES.get(word, f'The best {word}')}"
    yield f"Also called {', '.join(BEST[word])}."
    if found := _stated(word):
        yield table(["stated", "where"], ([_link(b), plain(str(b.source))] for b in found))
    if closed := _minimised(word):
        yield table(["minimiser of", "closed form"], ([_link(b), cell_math(_formula(b, word))] for b in closed))


def _stated(word: str) -> list[Bound]:
    return [b for b in BOUNDS.values() if b.target.name == word and b.name in minimisers()]


def _minimised(word: str) -> list[Bound]:
    return [b for b in BOUNDS.values() if word in optima.derived(b)]


def _formula(bound: Bound, word: str) -> str:
    letters, found = letters_of(bound), optima.derived(bound)[word]
    return f"{letters[found.over]} = {printing.latex(found.at, letters)}"


def _link(bound: Bound) -> str:
    return f"[{bound.name}]({path(bound.name, 'bounds/')})"
