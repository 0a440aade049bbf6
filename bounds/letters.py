"""What a paper's letters stand for: the names of quantities in the modules that declare its bounds.

One letter is another quantity in another paper (K counts clients in FedALS, local steps in FedInit), so values are
given by the quantities' names; the message about a letter says which name to write.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from functools import cache
from importlib import import_module

from .errors import unknown, UnknownNameError
from .papers import PAPERS
from .quantities import Quantity


@cache
def letters() -> dict[str, dict[str, str]]:
    """By paper, then by letter: the quantity that the letter stands for in that paper.

    >>> letters()["fedals"]["K"], letters()["fedinit"]["K"]
    ('clients', 'local_steps')
    """
    return {paper: _of_package(f"{__package__}.{paper}") for paper in PAPERS}


def _of_package(package: str) -> dict[str, str]:
    """The letters on which all modules agree; those of the classics are by different authors."""
    found: dict[str, set[str]] = {}
    for file in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        for letter, item in vars(import_module(file.name)).items():
            if isinstance(item, Quantity) and letter != item.name:
                found.setdefault(letter, set()).add(item.name)
    return {letter: meant.pop() for letter, meant in sorted(found.items()) if len(meant) == 1}


def meaning(letter: str, paper: str = "") -> str:
    """What a letter stands for in the papers that have it, that of ``paper`` first. Empty where none has it."""
    found: dict[str, list[str]] = {}
    for key in sorted(PAPERS, key=lambda key: key != paper):
        if word := letters()[key].get(letter):
            found.setdefault(word, []).append(PAPERS[key].short)
    listed = [f"{word} in {_listed(papers)}" for word, papers in found.items()]
    return f"{letter} is {', '.join(listed)}: write the word" if listed else ""


def quantity_named(name: str, known: Iterable[str], paper: str = "") -> str:
    """The quantity that is meant by ``name``: itself, the letter of its paper for it, or its name in other case.

    >>> quantity_named("K", ["clients", "smoothness"], "fedals")
    'clients'
    """
    names = set(known)
    if name in names or paper not in PAPERS:
        return name
    word = letters()[paper].get(name, name.lower())
    return word if word in names else name


def unknown_quantity(of: str, name: str, known: Iterable[str], paper: str = "") -> UnknownNameError:
    """The error for a ``name`` that is not a quantity ``of`` something: a letter of the papers is translated."""
    return unknown(of, name, set(known), meaning(name, paper))


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]
