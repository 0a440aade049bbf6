"""What a paper's letters stand for: every paper's package has a table of them, ``letters.py``.

One letter is another quantity in another paper (K counts clients in FedALS, local steps in FedInit), so values are
given by the quantities' names; the message about a letter says which name to write.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from types import ModuleType

from .errors import unknown, UnknownNameError
from .papers import PAPERS
from .quantities import Quantity


@cache
def letters() -> dict[str, dict[str, str]]:
    """By paper, then by letter: the quantity that the letter stands for in that paper.

    >>> letters()["fedals"]["K"], letters()["fedinit"]["K"]
    ('clients', 'local_steps')
    """
    return {paper: _of_paper(import_module(f"{__package__}.{paper}.letters")) for paper in PAPERS}


def _of_paper(table: ModuleType) -> dict[str, str]:
    return {letter: item.name for letter, item in vars(table).items() if isinstance(item, Quantity)}


def meaning(letter: str, paper: str = "") -> str:
    """What a letter stands for in the papers that have it, that of ``paper`` first. Empty where none has it."""
    found: dict[str, list[str]] = {}
    for key in sorted(PAPERS, key=lambda key: key != paper):
        if word := letters()[key].get(letter):
            found.setdefault(word, []).append(PAPERS[key].short)
    listed = [f"{word} in {_listed(papers)}" for word, papers in found.items()]
    return f"{letter} is {', '.join(listed)}: write the word" if listed else ""


def unknown_quantity(of: str, name: str, known: Iterable[str], paper: str = "") -> UnknownNameError:
    """The error for a ``name`` that is no quantity ``of`` something: a letter of the papers is translated."""
    return unknown(of, name, set(known), meaning(name, paper))


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
