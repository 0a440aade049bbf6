"""Witnesses: violations of a statement as files, in exact numbers, and what replaying one says."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import sympy as sp

from bounds.core import Bound
from bounds.errors import BoundsError, shortened
from bounds.showing.files import from_json, MOST_SOURCE, write_whole

from .core import Instance
from .exact import DIGITS, Exactly

EXACT = re.compile(r"-?[0-9]{1,4000}(/0*[1-9][0-9]{0,4000})?")
"""A number of an instance."""
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
        write_whole(path, json.dumps(held, indent=1, ensure_ascii=False) + "\n")


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
    conditions: tuple[tuple[str, str, bool | None], ...] = ()
    differs: tuple[str, ...] = ()
    """What the witness said otherwise."""


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
        return Witness(**_typed(from_json(path)))
    except WitnessError as error:
        raise WitnessError(f"{path} is not a counterexample's file: {error}") from None
    except BoundsError as error:
        raise WitnessError(str(error)) from None


def holds_witness(path: Path, bound: Bound) -> bool:
    """Whether a witness of this statement is in the place of a new one; refuses another file there.

    It would stay where nothing is found, and read as what this search says.
    """
    if not path.exists() or not path.stat().st_size:
        return False
    try:
        with path.open("rb") as file:  # not as what the command reads, which it would not replace
            kept = Witness(**_typed(json.loads(file.read(MOST_SOURCE))))
    except (ValueError, RecursionError, BoundsError):
        kept = None
    if kept is None or kept.formula != formula(bound):
        what = "no witness file" if kept is None else f"a witness against another statement, {kept.bound}"
        raise WitnessError(f"-o {path} is {what}, and would stay if nothing is found: move it, or name another file")
    return True


def _typed(held: Any) -> dict[str, Any]:
    """The fields of a witness, each of its kind."""
    names = [each.name for each in fields(Witness)]
    if not isinstance(held, dict) or set(held) != {*names}:
        odd = sorted({*names} ^ {*held}) if isinstance(held, dict) else names
        raise WitnessError(f"it must be an object with the fields {', '.join(names)}; lacking or too many: {odd[0]!r}")
    for name in names:
        kind, good = KINDS.get(name, ("a text", _is_text))
        if not good(held[name]):
            raise WitnessError(f"{name} must be {kind}; got {shortened(repr(held[name]))}")
    numbers = {name: _number(name, text) for name, text in held["instance"].items()}
    conditions = tuple(tuple(condition) for condition in held["conditions"])
    return {**held, "instance": numbers, "conditions": conditions, "definitions": tuple(held["definitions"])}


def _is_text(item: Any) -> bool:
    return isinstance(item, str)


def _is_condition(item: Any) -> bool:
    return isinstance(item, list) and list(map(type, item)) in ([str, str, bool], [str, str, type(None)])


KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "relation": ("one of <=, >=, =", lambda item: item in ("<=", ">=", "=")),
    "instance": ("an object of numbers by name", lambda item: isinstance(item, dict)),
    "ratio": ("a number", lambda item: type(item) in (int, float)),
    "conditions": (
        "a list of [words, how it is decided, true, false or null]",
        lambda item: isinstance(item, list) and all(map(_is_condition, item)),
    ),
    "definitions": ("a list of texts", lambda item: isinstance(item, list) and all(map(_is_text, item))),
}
"""What a file must hold that is not text, in words and as a test."""


def _number(name: str, text: Any) -> int | Fraction:
    if not isinstance(text, str) or not EXACT.fullmatch(text):
        raise WitnessError(
            f'{name} must be a whole number or a fraction as text, such as "1/3"; got {shortened(repr(text))}'
        )
    number = Fraction(text)
    return int(number) if number.denominator == 1 else number


def read(witness: Witness, bound: Bound, found: Exactly) -> Replay:
    again = witness_of(bound, witness.bound, witness.family, dict(witness.instance), found, witness.definitions)
    pairs = {each.name: (getattr(witness, each.name), getattr(again, each.name)) for each in fields(Witness)}
    pairs.pop("command")  # how it was found, which no replay knows
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
        tuple(f"{name} is {new}, not {old}" for name, (old, new) in pairs.items() if old != new),
    )
