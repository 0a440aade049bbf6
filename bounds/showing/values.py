"""The values of a command line (``GRAMMAR``): numbers, ranges, lists, files; and the sweeps they span."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from ..core import Bound
from ..errors import BoundsError, DomainError, unknown
from ..quantities import CLIENTS, Quantity
from ..vocabulary import client_weight, clients

GRAMMAR = """\
quantity=value:
  0.5   1e-3   1/3           a number
  1:100:5   1e-4:1:9:log     a range: 5 numbers from 1 to 100; 9 numbers of equal ratio
  1,2,3   [1,2,3]            a list
  [[1,2],[3,4]]              a list of lists
  @file.json                 a value kept in a file
  client_weight=uniform      every client weighs the same
@file.json alone brings constants: a JSON object of values by quantity. It may hold more than a bound needs (words that
begin with _ are notes), and quantity=value goes before it. Its note _interval holds [low, high] of uncertain constants
(null: no end); eval then also prints the interval of the bound.

For a quantity that varies over clients (or classes) a list runs over them, a list of lists is a sweep, and a number or
a range holds for all clients alike. For other quantities a list or a range is a sweep. Several sweeps are combined each
with each. Ranges of whole-number quantities are rounded, repeated numbers dropped. With client_weight=uniform a list
over the clients tells how many there are; without one, give clients (it may be swept)."""
MOST_POINTS = 10_000_000


@dataclass(frozen=True, eq=False)
class Value:
    """One value as typed: ``kind`` is number, range, list, table (a list of lists) or uniform.

    ``log`` marks a range of equal ratios; an ``optional`` value is ignored by a bound that does not use it. ``ends``
    are those of the interval that an uncertain constant lies in.
    """

    kind: str
    numbers: np.ndarray
    optional: bool = False
    log: bool = False
    ends: tuple[Any, Any] | None = None


@dataclass(frozen=True, eq=False)
class Grid:
    """A bound with arrays for its quantities that broadcast to one axis per sweep (the client axis comes last).

    ``axes`` has one entry per sweep: its numbers by quantity (several quantities where sweeps are paired).
    ``uncertain`` holds the intervals of constants that are known no better.
    """

    bound: Bound
    values: Mapping[str, np.ndarray]
    axes: tuple[dict[str, list[Any]], ...]
    uncertain: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(next(iter(axis.values()))) for axis in self.axes)

    def remarks(self) -> Iterator[str]:
        """What to say where answers take uncertain constants at their values alone."""
        if self.uncertain:
            yield _at_values(self.uncertain)

    def points(self) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
        """What the sweeps say at each point, and the values there: numbers, and lists over the clients."""
        over = {q.name for q in self.bound.quantities if q.card.axis}
        for index in np.ndindex(self.shape):
            said = tuple(column[i] for i, axis in zip(index, self.axes, strict=True) for column in axis.values())
            yield said, {name: _at(array, index, name in over) for name, array in self.values.items()}


def _at(array: np.ndarray, index: tuple[int, ...], listed: bool) -> Any:
    lead = array.shape[:-1] if listed else array.shape
    here = array[tuple(min(i, n - 1) for i, n in zip(index, lead, strict=True))] if lead else array
    return here.item() if here.size == 1 else here


def taken_as_they_are(bounds: Iterable[Bound], given: Mapping[str, Value]) -> Iterator[str]:
    """The same of a picture of several bounds, each of which takes what it uses of the values ``given``."""
    used = {q.name for bound in bounds for q in bound.quantities}
    if uncertain := [name for name, value in given.items() if value.ends is not None and name in used]:
        yield _at_values(uncertain)


def _at_values(names: Iterable[str]) -> str:
    return f"uncertain constants were taken at their values, not over their intervals: {', '.join(names)}"


# ---- reading text ----


def read(words: Sequence[str]) -> dict[str, Value]:
    """The values of ``quantity=value`` words and constants files, in the order they were given."""
    found: dict[str, Value] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals and word.startswith("@"):
            found |= {k: v for k, v in _constants(word[1:]).items() if k not in found or found[k].optional}
        elif not equals or not name:
            raise BoundsError(f"expected quantity=value or @file.json; got {word!r}")
        elif name in found and not found[name].optional:
            raise BoundsError(f"{name} is given twice")
        else:
            found[name] = parse(name, text)
    return found


def parse(name: str, text: str) -> Value:
    """The value of one quantity from its text."""
    text = text.strip()
    if text.startswith("@"):
        return _from_json(name, _load(text[1:]))
    if text == "uniform":
        return Value("uniform", np.empty(0))
    if text.startswith("["):
        return _listed(name, _brackets(name, text))
    if ":" in text:
        return Value("range", _range(name, text), log=text.endswith(":log"))
    if "," in text:
        return _listed(name, [parse_number(name, part) for part in text.split(",")])
    return Value("number", np.asarray(parse_number(name, text)))


def parse_number(name: str, text: str, otherwise: str = ", a range a:b:n or a:b:n:log, or a list") -> float:
    """One number: 0.5, 1e-3, 1/3; ``otherwise`` says what else would be understood in its place."""
    above, slash, below = text.partition("/")
    try:
        if "_" in text or not text.isascii():  # float takes 1_0 for 10, and the digits of any script
            raise ValueError
        return float(above) / float(below) if slash else float(text)
    except (ValueError, ZeroDivisionError):
        raise DomainError(f"{name} must be a number{otherwise}; got {text!r}") from None


def _range(name: str, text: str) -> np.ndarray:
    first, *rest = text.split(":")
    if len(rest) not in (2, 3) or (len(rest) == 3 and rest[2] != "log"):
        raise DomainError(f"{name}: a range is a:b:n or a:b:n:log; got {text!r}")
    low, high, count = parse_number(name, first), parse_number(name, rest[0]), parse_number(name, rest[1])
    if not np.isfinite([low, high]).all():
        raise DomainError(f"{name}: the ends of a range must be finite numbers; got {text!r}")
    if not (1 <= count <= MOST_POINTS and count == int(count)):
        raise DomainError(f"{name}: a range has a whole number of points from 1 to {MOST_POINTS}; got {rest[1]!r}")
    if len(rest) == 2:
        return np.linspace(low, high, int(count))
    if not low * high > 0:
        raise DomainError(f"{name}: the ends of a range with :log must be of one sign and not 0; got {text!r}")
    return np.geomspace(low, high, int(count))


def _brackets(name: str, text: str) -> Any:
    """Nested lists of numbers; every number may be written in any way a single one may."""
    quoted = re.sub(r"[^\[\],\s]+", lambda m: json.dumps(m.group()), text)
    try:
        items = json.loads(quoted)
    except (json.JSONDecodeError, RecursionError):
        raise DomainError(f"{name}: a list is [1,2,3] or [[1,2],[3,4]]; got {text!r}") from None
    return _each(items, lambda item: parse_number(name, item))


def _each(items: Any, change: Callable[[Any], Any]) -> Any:
    return [_each(i, change) for i in items] if isinstance(items, list) else change(items)


def _listed(name: str, items: Any) -> Value:
    try:
        array = np.asarray(items, dtype=float)
    except ValueError:
        raise DomainError(f"{name} must be a rectangular list of numbers; got {items}") from None
    if array.size == 0:
        raise DomainError(f"{name} must hold at least one number; got an empty list")
    if array.ndim > 2:
        raise DomainError(f"{name} must be a list or a list of lists; got lists {array.ndim} deep")
    return Value("list" if array.ndim == 1 else "table", array)


# ---- files ----


def _load(path: str) -> Any:
    if not path:
        raise BoundsError("@ needs the name of a JSON file: @file.json")
    try:
        return json.loads(Path(path).read_text(encoding="utf-8-sig"), object_pairs_hook=_once, parse_int=float)
    except OSError as error:
        raise BoundsError(f"{path}: {error.strerror}") from None
    except BoundsError as error:
        raise BoundsError(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:  # not JSON, not UTF-8, or lists a thousand deep
        raise BoundsError(f"{path} is not JSON: {error}") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs; a name that comes twice is refused rather than the first forgotten."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise BoundsError(f"{next(n for n in names if names.count(n) > 1)} is given twice")
    return found


def _constants(path: str) -> dict[str, Value]:
    held = _load(path)
    if not isinstance(held, dict):
        raise BoundsError(f"{path} must hold a JSON object of values by quantity")
    values = {name: item for name, item in held.items() if not name.startswith("_")}
    ends = _intervals(path, held.get("_interval", {}))
    return {name: replace(_from_json(name, v), optional=True, ends=ends.get(name)) for name, v in values.items()}


def _intervals(path: str, held: Any) -> dict[str, tuple[Any, Any]]:
    """The note ``_interval`` of a constants file: [low, high] of uncertain constants, null where there is no end."""
    if not isinstance(held, dict):
        raise BoundsError(f"{path}: _interval must hold [low, high] by quantity, null where there is no end")
    return {name: _ends(f"{path}: _interval of {name}", pair) for name, pair in held.items()}


def _ends(where: str, pair: Any) -> tuple[Any, Any]:
    """Two numbers, or two lists of one length."""
    if not (isinstance(pair, list) and len(pair) == 2):
        raise BoundsError(f"{where} must be [low, high], null where there is no end; got {json.dumps(pair)}")
    try:
        low, high = (_finite(end, limit) for end, limit in zip(pair, (-math.inf, math.inf), strict=True))
        ordered = bool(np.all(np.asarray(low) <= np.asarray(high)))
    except (TypeError, ValueError):
        raise BoundsError(f"{where} must hold numbers, or lists of one length; got {json.dumps(pair)}") from None
    if not ordered or np.shape(low) != np.shape(high):
        raise BoundsError(f"{where} must have its low end below its high end; got {json.dumps(pair)}")
    return low, high


def _finite(end: Any, limit: float) -> Any:
    """The end of an interval, infinite where it is null."""
    if isinstance(end, list):
        return [_finite(part, limit) for part in end]
    if isinstance(end, (bool, str)):
        raise TypeError(end)
    return limit if end is None else float(end)


def _from_json(name: str, item: Any) -> Value:
    def as_number(part: Any) -> float:
        if isinstance(part, bool) or not isinstance(part, (int, float)):
            raise DomainError(f"{name} must be a number or a list of numbers; got {json.dumps(part)}")
        return float(part)

    if isinstance(item, str):
        return parse(name, item)
    return (
        _listed(name, _each(item, as_number))
        if isinstance(item, list)
        else Value("number", np.asarray(as_number(item)))
    )


# ---- spanning the grid ----


def grid(bound: Bound, given: Mapping[str, Value], *, paired: bool = False, free: Iterable[str] = ()) -> Grid:
    """Arrays for one bound; ``free`` quantities are left without a value, ``paired`` sweeps move together."""
    bound, given = _special_case(bound, given, set(free))
    used = {q.name: q for q in bound.quantities}
    if bound.axis == CLIENTS:
        used.setdefault(clients.name, clients)
    for name, value in given.items():
        if name not in used and not value.optional:
            raise unknown(f"quantity of {bound.name}", name, used)
    for name in free:
        if name not in used:
            raise unknown(f"quantity of {bound.name}", name, used)
        if name in given and not given[name].optional:
            raise BoundsError(f"{name} is what is asked for; it cannot be given a value too")
    wanted = {name: value for name, value in given.items() if name in used and name not in free}
    return _span(bound, {name: _fitted(used[name], value) for name, value in wanted.items()}, used, paired)


def _span(bound: Bound, values: Mapping[str, Value], used: Mapping[str, Quantity], paired: bool) -> Grid:
    sweeps = {name: v.numbers for name, v in values.items() if _sweeps(used[name], v)}
    lengths = {name: len(numbers) for name, numbers in sweeps.items()}
    if paired and len(set(lengths.values())) > 1:
        said = ", ".join(f"{name}: {n}" for name, n in lengths.items())
        raise BoundsError(f"--zip pairs sweeps of one length; got {said}")
    count = min(1, len(sweeps)) if paired else len(sweeps)
    if prod(lengths.values()) > MOST_POINTS and not paired:
        raise BoundsError(f"the sweeps span {prod(lengths.values())} points; at most {MOST_POINTS} at once")
    arrays = {name: v.numbers for name, v in values.items()}
    for place, (name, numbers) in enumerate(sweeps.items()):
        lead = [1] * count
        lead[0 if paired else place] = len(numbers)
        tail = [numbers.shape[1] if numbers.ndim == 2 else 1] if used[name].card.axis else []
        arrays[name] = numbers.reshape(*lead, *tail)
    columns = [{name: numbers.tolist()} for name, numbers in sweeps.items()]
    merged = [{k: v for column in columns for k, v in column.items()}] if paired and columns else columns
    return Grid(bound, arrays, tuple(merged), {name: v.ends for name, v in values.items() if v.ends is not None})


def _sweeps(quantity: Quantity, value: Value) -> bool:
    return value.kind in ("range", "table") or (value.kind == "list" and not quantity.card.axis)


def _fitted(quantity: Quantity, value: Value) -> Value:
    """The value in the shape this quantity can have; ranges of whole numbers rounded."""
    if value.kind == "uniform":
        raise DomainError(f"{quantity.name} cannot be 'uniform'; only client_weight can")
    if value.kind == "table" and not quantity.card.axis:
        raise DomainError(f"{quantity.name} is one number for all; give a list, not a list of lists")
    if value.kind == "range" and quantity.card.domain.whole:
        return replace(value, numbers=np.array(list(dict.fromkeys(np.rint(value.numbers).tolist()))))
    return value


def _special_case(bound: Bound, given: Mapping[str, Value], free: set[str]) -> tuple[Bound, dict[str, Value]]:
    """Equal weights for listed clients, or the bound for equal clients where nobody is listed."""
    given = dict(given)
    if bound.axis != CLIENTS:
        return bound, given
    weight = given.get(client_weight.name)
    uniform = weight is not None and weight.kind == "uniform"
    weighted = any(q == client_weight for q in bound.quantities)
    per_client = {q.name for q in bound.quantities if q.card.per_client}
    lists = [v.numbers for name, v in given.items() if name in per_client and v.kind in ("list", "table")]
    swept = clients.name in free or (clients.name in given and given[clients.name].kind != "number")
    if not lists and (uniform or (swept and not weighted)):
        given.pop(client_weight.name, None)
        return bound.equal_clients(), given
    if uniform and weight is not None:
        size = max(numbers.shape[-1] for numbers in lists)
        given[client_weight.name] = Value("list", np.full(size, 1 / size), weight.optional)
    return bound, given
