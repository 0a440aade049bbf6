"""The papers' letters: the names under which a paper's package imports the words of the vocabulary.

One letter is another word in another paper (K counts clients in FedALS, local steps in FedInit), so values are given by
words alone; who types a letter is told which word it is. The modules that the catalogue is declared in are the table.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Collection, Iterable
from functools import cache
from importlib import import_module

from .errors import unknown, UnknownNameError
from .papers import PAPERS
from .quantities import Quantity


@cache
def letters() -> dict[str, dict[str, tuple[str, ...]]]:
    """By paper, then by letter: the words that its files import under that letter, mostly one.

    >>> letters()["fedals"]["K"], letters()["fedinit"]["K"]
    (('clients',), ('local_steps',))
    """
    return {paper: _of_package(f"{__package__}.{paper}") for paper in PAPERS}


def _of_package(package: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for file in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        for letter, item in vars(import_module(file.name)).items():
            if isinstance(item, Quantity) and letter != item.name:
                found.setdefault(letter, set()).add(item.name)
    return {letter: tuple(sorted(words)) for letter, words in sorted(found.items())}


def meaning(letter: str, known: Collection[str], paper: str = "") -> str:
    """What a letter stands for, in the papers that have it; that of ``paper`` first. Empty where none has it.

    Where a paper has it for several words, those are said that are ``known`` where the letter was typed.
    """
    spoken: dict[tuple[str, ...], list[str]] = {}
    for key in sorted(PAPERS, key=lambda key: key != paper):
        words = letters()[key].get(letter, ())
        if words := tuple(w for w in words if w in known) or words:
            spoken.setdefault(words, []).append(PAPERS[key].short)
    told = [f"{' or '.join(words)} in {_listed(papers)}" for words, papers in spoken.items()]
    return f"{letter} is {', '.join(told)}: write the word" if told else ""


def unknown_quantity(of: str, name: str, known: Iterable[str], paper: str = "") -> UnknownNameError:
    """The error for a ``name`` that is no quantity ``of`` something: a letter of the papers is translated."""
    words = set(known)
    return unknown(of, name, words, meaning(name, words, paper))


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
