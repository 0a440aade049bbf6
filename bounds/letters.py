"""The papers' letters: which quantity each letter stands for.

The same letter means different quantities in different papers (K counts clients in FedALS, local steps in FedInit).
A value may be given by a letter of its bound's paper; an error about another letter says which name to use.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import TypeVar

from .errors import BoundsError, unknown, UnknownNameError
from .papers import PAPERS
from .quantities import Quantity

V = TypeVar("V")


@cache
def letters() -> dict[str, dict[str, str]]:
    """Return, by paper and letter, the quantity that the letter stands for.

    >>> letters()["fedals"]["K"], letters()["fedinit"]["K"]
    ('clients', 'local_steps')
    """
    return {paper: _of_package(f"{__package__}.{paper}") for paper in PAPERS}


def _of_package(package: str) -> dict[str, str]:
    """Return the letters that mean the same in all modules of a package; the classics have several authors."""
    found: dict[str, set[str]] = {}
    for file in pkgutil.iter_modules(import_module(package).__path__, f"{package}."):
        for letter, item in vars(import_module(file.name)).items():
            if isinstance(item, Quantity) and letter != item.name:
                found.setdefault(letter, set()).add(item.name)
    return {letter: meant.pop() for letter, meant in sorted(found.items()) if len(meant) == 1}


def meaning(letter: str, paper: str = "") -> str:
    """Return a hint on what a letter stands for, that of ``paper`` first; empty if no paper uses it."""
    found: dict[str, list[str]] = {}
    for key in sorted(PAPERS, key=lambda key: key != paper):
        if word := letters()[key].get(letter):
            found.setdefault(word, []).append(PAPERS[key].short)
    listed = [f"{word} in {' and '.join(papers)}" for word, papers in found.items()]
    return f"{letter} is {', '.join(listed)}: write the name" if listed else ""


def quantity_named(name: str, known: Iterable[str], *papers: str) -> str:
    """Return the quantity meant: ``name``, what that letter means in all papers that use it, or the name in other case.

    >>> quantity_named("K", ["clients", "local_steps"], "fedals"), quantity_named("K", ["clients"], "fedals", "fedinit")
    ('clients', 'K')
    """
    names = set(known)
    used = [letters()[paper] for paper in papers if paper in PAPERS]
    if name in names or not used:
        return name
    meant = {of_paper[name] for of_paper in used if name in of_paper} or {name.lower()}
    return meant.pop() if len(meant) == 1 and meant <= names else name


def by_quantity(given: Mapping[str, V], named: Callable[[str], str]) -> dict[str, V]:
    """Return values by the ``named`` quantities; raise if one is given twice, by its name and by a letter."""
    names = [named(word) for word in given]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BoundsError(f"{twice[0]} is given twice")
    return dict(zip(names, given.values(), strict=True))


def unknown_quantity(of: str, name: str, known: Iterable[str], paper: str = "") -> UnknownNameError:
    """Return an error for an unknown quantity ``of`` something, which translates letters of the papers."""
    return unknown(of, name, set(known), meaning(name, paper))
