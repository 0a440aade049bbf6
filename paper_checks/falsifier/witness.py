"""Witnesses: files with counterexamples in exact numbers, and the result of recomputing one."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import sympy as sp

from bounds.core import Bound, Condition
from bounds.errors import BoundsError, shortened
from bounds.showing.files import from_json, MOST_SOURCE, write_whole
from bounds.showing.loading import load

from .core import Instance
from .exact import DIGITS, Exactly

EXACT = re.compile(r"-?[0-9]{1,4000}(/0*[1-9][0-9]{0,4000})?")
"""The text of a number of an instance."""
SHOWN = 20
"""Digits of both sides in a file."""


class WitnessError(BoundsError):
    """A witness that cannot be read or replayed."""


@dataclass(frozen=True)
class Witness:
    """An instance that meets all decidable conditions and violates the statement. ``bound`` is the name of the bound
    (or path/file.py:variable), ``definitions`` are equations of the catalogue that were substituted into it,
    ``formula`` is a hash of the statement, ``instance`` has rational numbers."""

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
        """Write the file; ``command`` is the command that found the counterexample."""
        content = {**asdict(self), "command": command or self.command}
        content["instance"] = {name: str(value) for name, value in self.instance.items()}
        write_whole(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


@dataclass(frozen=True)
class Replay:
    """The result of recomputing a witness; both sides are texts of up to 50 digits."""

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
    """Fields in which the file differs from the result."""


def formula(bound: Bound) -> str:
    """Return a hash of the statement: target, relation, right side and conditions, but not names or prose."""
    parts = [bound.target.name, bound.relation, *sorted(map(sp.srepr, bound.spelled_terms.values()))]
    parts += sorted(map(sp.srepr, bound.relations))
    parts += sorted(c.assumption.name for c in bound.conditions if c.assumption is not None)
    parts += [str(bound.about), str(bound.statistic)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def witness_of(
    bound: Bound, name: str, family: str, instance: Instance, exact: Exactly, definitions: tuple[str, ...] = ()
) -> Witness:
    """Return the witness of an instance that violates a bound."""
    return Witness(
        name, formula(bound), bound.relation, family, instance, digits(exact.measured), digits(exact.bound),
        round(exact.ratio, 6) if abs(exact.ratio) < 1e300 else float("inf"), exact.arithmetic, exact.conditions,
        definitions, statement_text(bound),
    )  # fmt: skip


def statement_text(bound: Bound) -> str:
    """Return the statement of a bound as a line of text."""
    return f"{bound.target.name} {bound.relation} {' + '.join(map(str, bound.spelled_terms.values()))}"


def digits(value: sp.Expr) -> str:
    return str(sp.N(value, SHOWN))


def load_witness(path: Path | str) -> Witness:
    """Return the witness of a file; raise ``WitnessError`` if the file is not one."""
    try:
        return Witness(**_typed(from_json(path)))
    except WitnessError as error:
        raise WitnessError(f"{path} is not a counterexample's file: {error}") from None
    except BoundsError as error:
        raise WitnessError(str(error)) from None


def holds_witness(path: Path, bound: Bound) -> bool:
    """Return whether a file is a witness of this statement; raise ``WitnessError`` if it is another file. If a search
    finds nothing, it leaves the file, which must not look like its result."""
    if not path.exists() or not path.stat().st_size:
        return False
    try:
        with path.open("rb") as file:  # not by ``from_json``, which records inputs that must not be overwritten
            existing = Witness(**_typed(json.loads(file.read(MOST_SOURCE))))
    except (ValueError, RecursionError, BoundsError):
        existing = None
    if existing is None or existing.formula != formula(bound):
        what = "not a witness file" if existing is None else f"a witness against another statement, {existing.bound}"
        raise WitnessError(f"-o {path} is {what}, and would stay if nothing is found: move it, or name another file")
    return True


def _typed(content: Any) -> dict[str, Any]:
    """Return the fields of a witness from the content of a file; raise ``WitnessError`` for wrong names or types. What
    a replay computes again needs no further check, as ``compared`` names the fields that differ."""
    names = [field.name for field in fields(Witness)]
    if not isinstance(content, dict) or set(content) != {*names}:
        wrong = sorted({*names} ^ {*content}) if isinstance(content, dict) else names
        raise WitnessError(f"it must be an object with the fields {', '.join(names)}; missing or unknown: {wrong[0]!r}")
    for name in names:
        words, kind = KINDS.get(name, ("a text", str))
        if not isinstance(content[name], kind):
            raise WitnessError(f"{name} must be {words}; got {shortened(repr(content[name]))}")
    numbers = {name: _number(name, text) for name, text in content["instance"].items()}
    conditions = tuple(tuple(x) if isinstance(x, list) else x for x in content["conditions"])
    definitions = tuple(map(str, content["definitions"]))
    return {**content, "instance": numbers, "conditions": conditions, "definitions": definitions}


KINDS: dict[str, tuple[str, type]] = {
    "instance": ("an object of numbers by name", dict),
    "ratio": ("a decimal number", float),
    "conditions": ("a list of [words, how it is decided, true, false or null]", list),
    "definitions": ("a list of names", list),
}
"""The fields that are not text: a description of valid values, and their type."""


def _number(name: str, text: Any) -> int | Fraction:
    if not isinstance(text, str) or not EXACT.fullmatch(text):
        raise WitnessError(
            f'{name} must be an integer or a fraction as text, such as "1/3"; got {shortened(repr(text))}'
        )
    number = Fraction(text)
    return int(number) if number.denominator == 1 else number


def compared(witness: Witness, bound: Bound, exact: Exactly) -> Replay:
    """Return the result of recomputing a witness, with the fields in which the file differs."""
    recomputed = witness_of(bound, witness.bound, witness.family, dict(witness.instance), exact, witness.definitions)
    pairs = {field.name: (getattr(witness, field.name), getattr(recomputed, field.name)) for field in fields(Witness)}
    pairs.pop("command")  # a replay does not know the search
    return Replay(
        str(sp.N(exact.measured, DIGITS)), str(sp.N(exact.bound, DIGITS)), exact.ratio, exact.violated, DIGITS,
        exact.arithmetic, exact.failed, tuple(words for words, _, met in exact.conditions if met is None),
        exact.conditions, tuple(f"{name} is {new}, not {old}" for name, (old, new) in pairs.items() if old != new),
    )  # fmt: skip


def loaded(name: str, definitions: Iterable[str] = ()) -> Bound:
    """Return the bound of this name after substituting the equations of these names."""
    bound = load(name)
    for equation in definitions:
        bound = defined(bound, load(equation))
    return bound


def defined(bound: Bound, equation: Bound) -> Bound:
    """Return the bound with the target of the equation replaced by its right side. An assumption of the bound that
    states what the quantity is (such as a cap on gradients) is dropped, since the equation now defines the quantity;
    the conditions of the equation are added."""
    target = equation.target
    if equation.relation != "=" or target not in bound.all_quantities:
        raise BoundsError(f"{equation.name} is not an equation for a quantity of {bound.name}")
    kept = [c for c in bound.conditions if not _states(c, target.name)]
    words = {c.words for c in kept}
    return replace(
        bound,
        where={**bound.where, **equation.where, target: equation.expr},
        conditions=(*kept, *(c for c in equation.conditions if c.words not in words)),
        note=f"{bound.note} With {target.name} as {equation.name} defines it.".strip(),
    )


def _states(condition: Condition, name: str) -> bool:
    """Return whether the condition is the assumption that states what the quantity of this name is."""
    return condition.assumption is not None and getattr(condition.assumption.holds, "attribute", "") == name
