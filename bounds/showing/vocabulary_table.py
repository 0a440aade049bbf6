"""List the vocabulary: every quantity with its card, the papers' letters, its bounds and its identities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Any

from ..errors import unknown
from ..papers import PAPERS
from .tables import aligned

Entry = dict[str, Any]
WIDE = 104


def all_entries() -> list[Entry]:
    """Return an entry for every quantity, in the order of the vocabulary; ``index.json`` stores them."""
    from ..catalog import BOUNDS
    from ..identities import IDENTITIES
    from ..letters import letters
    from ..scenario_values import QUANTITIES
    from .cards import quantity_card

    used = {name: {q.name for q in bound.quantities} for name, bound in BOUNDS.items()}
    return [
        {
            **quantity_card(quantity, quantity.card.letter),
            "letters": {
                paper: typed
                for paper, table in letters().items()
                if (typed := [letter for letter, meant in table.items() if meant == word])
            },
            "bounds": [name for name, words in used.items() if word in words],
            "bounded": [name for name, bound in BOUNDS.items() if bound.target.name == word],
            "follows": [str(identity) for identity in IDENTITIES if identity.left.name == word],
            "gives": [str(identity) for identity in IDENTITIES if word in identity.needs],
        }
        for word, quantity in QUANTITIES.items()
    ]


def chosen(entries: Sequence[Entry], word: str | None) -> list[Entry]:
    """Return all entries, the one with this name, or those that some paper calls by this letter."""
    if word is None:
        return list(entries)
    named = [entry for entry in entries if entry["name"] == word]
    lettered = [entry for entry in entries if any(word in typed for typed in entry["letters"].values())]
    if not named and not lettered:
        raise unknown("quantity", word, (entry["name"] for entry in entries))
    return named or lettered


def lines(entries: Sequence[Entry], word: str | None) -> Iterable[str]:
    """Return the lines of a table of all entries, or of a card for each requested one."""
    if word is None:
        rows = [[e["name"], e["unit"], e["domain"], _count(e), e["meaning"]] for e in entries]
        return aligned(rows, ["quantity", "unit", "domain", "bounds", "meaning"])
    return [line for entry in entries for line in _card(entry)]


def _count(entry: Entry) -> str:
    return str(len(entry["bounds"]) + len(entry["bounded"]))


def _card(entry: Entry) -> list[str]:
    each = {"clients": "one for every client", "classes": "one for every class", None: ""}[entry["axis"]]
    facts = [
        ("unit", [entry["unit"]]),
        ("domain", [entry["domain"] + (f"; {each}" if each else "")]),
        ("letters", [f"{' or '.join(typed)} in {PAPERS[paper].short}" for paper, typed in entry["letters"].items()]),
        ("follows", entry["follows"]),
        ("gives", entry["gives"]),
        ("bounds", _by_paper(entry["bounds"])),
        ("bounded", _by_paper(entry["bounded"])),
    ]
    rows = [["" if i else f"  {label}", text] for label, texts in facts for i, text in enumerate(texts)]
    return [f"{entry['name']}   {entry['meaning']}", *aligned(rows)]


def _by_paper(names: Sequence[str]) -> list[str]:
    """Return lines with the names of bounds, paper by paper."""
    papers = dict.fromkeys(name.partition(".")[0] for name in names)
    lists = [", ".join(name for name in names if name.startswith(f"{paper}.")) for paper in papers]
    return [line for text in lists for line in wrap(text, WIDE)]
