"""Witnesses: violations of a statement as files, in exact numbers, and what replaying one says."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import sympy as sp

from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.showing.files import content

from .core import Instance
from .exact import DIGITS, Exactly

SHOWN = 20
"""Digits of both sides that a file shows."""


class WitnessError(BoundsError):
    """A witness that cannot be read or replayed."""


@dataclass(frozen=True)
class Witness:
    """An instance that meets every condition a machine decides, and violates the statement.

    ``bound`` is what to load (a name, or path/file.py:variable); ``definitions`` are equations of the catalogue put
    into it; ``formula`` is a hash of what was falsified; ``instance`` holds rational numbers.
    """

    bound: str
    formula: str
    relation: str
    family: str
    instance: Mapping[str, Any]
    measured: str
    value: str
    ratio: float
    arithmetic: str
    conditions: tuple[tuple[str, str, bool | None], ...]
    definitions: tuple[str, ...] = ()
    statement: str = ""
    command: str = ""

    def save(self, path: Path, command: str = "") -> None:
        """Write the file; ``command`` is the search that found it."""
        held = {**asdict(self), "command": command or self.command}
        held["instance"] = {name: str(value) for name, value in self.instance.items()}
        path.write_text(json.dumps(held, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Replay:
    """What recomputing a witness says: both sides as text of up to 50 digits, and whether they violate."""

    measured: str
    bound: str
    ratio: float
    violated: bool
    digits: int
    arithmetic: str
    failed: tuple[str, ...] = ()
    undecided: tuple[str, ...] = ()
    conditions: tuple[tuple[str, str, bool | None], ...] = field(default=())


def formula(bound: Bound) -> str:
    """A hash of the statement: target, relation, right-hand side, conditions; prose and names do not count."""
    said = [bound.target.name, bound.relation, *sorted(map(sp.srepr, bound.spelled_terms.values()))]
    said += sorted(map(sp.srepr, bound.relations))
    said += sorted(c.assumption.name for c in bound.conditions if c.assumption is not None)
    said += [str(bound.about), str(bound.statistic)]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()[:16]


def witness_of(
    bound: Bound, name: str, family: str, instance: Instance, found: Exactly, definitions: tuple[str, ...] = ()
) -> Witness:
    return Witness(
        name, formula(bound), bound.relation, family, instance, digits(found.measured), digits(found.bound),
        round(found.ratio, 6) if abs(found.ratio) < 1e300 else float("inf"), found.arithmetic, found.conditions,
        definitions, stated(bound),
    )  # fmt: skip


def stated(bound: Bound) -> str:
    """What is falsified, in one line."""
    return f"{bound.target.name} {bound.relation} {' + '.join(map(str, bound.spelled_terms.values()))}"


def digits(value: sp.Expr) -> str:
    return str(sp.N(value, SHOWN))


def load_witness(path: Path | str) -> Witness:
    """Read a witness file; anything that is none is refused in one line."""
    try:
        data = content(path)
    except BoundsError as error:
        raise WitnessError(str(error)) from None
    try:
        held = json.loads(data.decode())
        held["instance"] = {name: _number(text) for name, text in held["instance"].items()}
        held["conditions"] = tuple(tuple(c) for c in held["conditions"])
        held["definitions"] = tuple(held["definitions"])
        texts = (*(held[name] for name in ("bound", "formula", "family")), *held["definitions"])
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("bound, formula, family and definitions must be text")
        return Witness(**held)
    except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, RecursionError) as error:
        raise WitnessError(f"{path} is no witness file: {type(error).__name__}: {error}") from None


def _number(text: str) -> int | Fraction:
    if re.search("[eE]", text):  # 1e999999999 would be written out
        raise ValueError(f"{text!r} is neither a whole number nor a fraction")
    number = Fraction(text)
    return int(number) if number.denominator == 1 else number


def read(found: Exactly) -> Replay:
    return Replay(
        str(sp.N(found.measured, DIGITS)),
        str(sp.N(found.bound, DIGITS)),
        found.ratio,
        found.violated,
        DIGITS,
        found.arithmetic,
        found.failed,
        tuple(words for words, _, met in found.conditions if met is None),
        found.conditions,
    )
