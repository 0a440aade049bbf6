"""Read the values of a command line (``GRAMMAR``) and span the grid of their sweeps, for one bound."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from .. import vocabulary
from ..core import Bound
from ..domains import array_of
from ..errors import BoundsError, DomainError, shortened, unknown
from ..letters import quantity_named, unknown_quantity
from ..numerics.evaluate import evaluator_of
from ..quantities import CLIENTS, Quantity
from ..vocabulary import client_weight, clients
from .files import from_json
from .numbers import is_zero, read_number

ROUNDING = 1e-9
"""The relative tolerance for a value outside its interval."""

GRAMMAR = """\
quantity=value:
  0.5   1e-3   1/3           a number
  1:100:5   1e-4:1:9:log     a range: 5 numbers from 1 to 100; 9 numbers of equal ratio
  1,2,3   [1,2,3]            a list
  [[1,2],[3,4]]              a list of lists
  @file.json                 a value kept in a file
  client_weight=uniform      all clients have the same weight
@file.json alone reads constants: a JSON object of values by quantity. It may hold more than a bound needs (keys that
begin with _ are notes), and quantity=value takes precedence. Its note _interval has [low, high] of uncertain constants
(null: unknown end); eval then also prints the range of the bound, minimize and solve those of their answers. A bound on
single samples uses the smoothness of their losses, sample_smoothness, if the file has both.

For a quantity that varies over clients (or classes) a list runs over them, a list of lists is a sweep, and a number or
a range holds for all clients. For other quantities a list or a range is a sweep. Several sweeps are combined each
with each. Ranges of whole-number quantities are rounded, repeated numbers dropped. With client_weight=uniform a list
over the clients sets their number; without a list, give clients (it may be swept)."""
MOST_POINTS = 1_000_000
"""Points of a grid: a table of that many rows takes half a minute; larger ones belong in a program."""
MOST_SWEEPS = 30
"""The largest number of sweeps; arrays cannot have more than about twice as many axes."""

LEADING_ZERO = re.compile(r"[+-]?0[0-9]")


@dataclass(frozen=True, eq=False)
class Value:
    """One parsed value: ``kind`` is number, range, list, table (a list of lists) or uniform.

    ``log`` marks a logarithmic range. An ``optional`` value is ignored by a bound that does not use it. ``ends`` is the
    interval of an uncertain constant, and ``file`` the file of constants that a value comes from.
    """

    kind: str
    numbers: np.ndarray
    optional: bool = False
    log: bool = False
    ends: tuple[Any, Any] | None = None
    file: str = ""

    def equals(self, other: Value) -> bool:
        """Whether both values are the same."""
        same = self.kind == other.kind and np.array_equal(self.numbers, other.numbers)
        return same and (self.ends, self.log) == (other.ends, other.log)


# ---- reading text ----


def as_words(quantities: Mapping[str, Any]) -> list[str]:
    """Return quantities that a program passes as the command line that its files record; lists as ``[a,b]``."""

    def typed(value: Any) -> str:
        value = value.tolist() if hasattr(value, "tolist") else value
        return f"[{','.join(map(typed, value))}]" if isinstance(value, (list, tuple)) else str(value)

    return [f"{name}={typed(value)}" for name, value in quantities.items()]


def read(words: Sequence[str], named: Callable[[str], str] = str) -> dict[str, Value]:
    """Return the values of arguments and files by quantity, in the given order; ``named`` translates typed letters."""
    typed = {named(word.partition("=")[0]) for word in words if "=" in word}
    found: dict[str, Value] = {}
    files: dict[str, Value] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals and word.startswith("@"):
            constants = constants_of(constants_in(word[1:]), word[1:])
            for known in constants.keys() & files.keys():
                if known not in typed and not constants[known].equals(files[known]):
                    both = f"{files[known].file} and {word[1:]} hold different values of {known}"
                    raise BoundsError(f"{both}; say which: {known}=...")
            files |= constants
            found |= {k: v for k, v in constants.items() if k not in found or found[k].optional}
        elif not equals or not name:
            meant = f"@{word}" if word.endswith(".json") else f"{word}=VALUE" if word.isidentifier() else ""
            meant = f"--csv {word} (of constants, compare, advise, train)" if word.endswith(".csv") else meant
            hint = f": write {meant}" if meant else ""
            raise BoundsError(f"expected quantity=value or @file.json; got {shortened(word)!r}{hint}")
        elif (quantity := named(name)) in found and not found[quantity].optional:
            raise BoundsError(f"{quantity} is given twice")
        else:
            found[quantity] = parse(name, text)
    return found


def given_values(words: Sequence[str], quantities: Mapping[str, Any], bounds: Sequence[Bound] = ()) -> dict[str, Value]:
    """Return the values of ``quantity=value`` arguments and files, and of ``quantities`` that a program passes.

    Letters that have one meaning in the papers of ``bounds`` are read as the quantities that they stand for.
    """
    known = {clients.name, *(q.name for bound in bounds for q in bound.quantities)}

    def named(word: str) -> str:
        return quantity_named(word, known, *{bound.source.paper for bound in bounds})

    values = read(words, named)
    for name, item in quantities.items():
        if (quantity := named(name)) in values and not values[quantity].optional:
            raise BoundsError(f"{quantity} is given twice")
        values[quantity] = value_of(name, item)
    return values


def parse(name: str, text: str) -> Value:
    """Parse the value of one quantity."""
    text = text.strip()
    if text.startswith("@"):
        return value_of(name, _load(text[1:]))
    if text == "uniform":
        return Value("uniform", np.empty(0))
    if text.startswith("["):
        return value_of(name, _brackets(name, text))
    if ":" in text:
        return Value("range", _range(name, text), log=text.endswith(":log"))
    if "," in text:
        if slip := next((part for part in text.split(",")[1:] if LEADING_ZERO.match(part.strip())), ""):
            raise DomainError(f"{name}: {slip!r} begins with a zero; decimals are written 0.05, lists 0,5")
        if "" in (parts := [part.strip() for part in text.split(",")]):
            raise DomainError(f"{name}: a number is missing beside a comma in {text!r}")
        return value_of(name, [parse_number(name, part) for part in parts])
    return value_of(name, parse_number(name, text))


def parse_number(name: str, text: str, otherwise: str = ", a range a:b:n or a:b:n:log, or a list") -> float:
    """Parse one number, such as 0.5, 1e-3 or 1/3; ``otherwise`` says in errors what else would be valid."""
    try:
        return read_number(text, otherwise)
    except DomainError as error:
        raise DomainError(f"{name} {error}") from None


def _range(name: str, text: str) -> np.ndarray:
    first, *rest = text.split(":")
    if len(rest) not in (2, 3) or (len(rest) == 3 and rest[2] != "log"):
        hint = f": write {text}:N for N points" if len(rest) == 1 else ""
        raise DomainError(f"{name}: a range is a:b:n or a:b:n:log; got {shortened(text)!r}{hint}")
    low, high, count = parse_number(name, first), parse_number(name, rest[0]), parse_number(name, rest[1])
    if not np.isfinite([low, high]).all():
        raise DomainError(f"{name}: the ends of a range must be finite numbers; got {text!r}")
    if not (1 <= count <= MOST_POINTS and count == int(count)):
        raise DomainError(f"{name}: a range has a whole number of points from 1 to {MOST_POINTS}; got {rest[1]!r}")
    if (low == high) != (count == 1):
        raise DomainError(f"{name}: a range runs over several points from one number to another; got {text!r}")
    if not np.isfinite(high - low):
        raise DomainError(f"{name}: the ends of a range are too far apart; got {text!r}")
    if len(rest) == 2:
        return np.linspace(low, high, int(count))
    if not (low > 0 < high or low < 0 > high):
        raise DomainError(f"{name}: the ends of a range with :log must be of one sign and not 0; got {text!r}")
    return np.geomspace(low, high, int(count))


def _brackets(name: str, text: str) -> Any:
    """Parse nested lists; every number in them may be written like a single one."""
    try:
        return json.loads(re.sub(r"[^\[\],\s]+", lambda m: json.dumps(parse_number(name, m.group())), text))
    except (json.JSONDecodeError, RecursionError):
        raise DomainError(f"{name}: a list is [1,2,3] or [[1,2],[3,4]]; got {shortened(text)!r}") from None


# ---- files ----


def _load(path: str) -> Any:
    if not path:
        raise BoundsError("@ needs the name of a JSON file: @file.json")
    return from_json(path, parse_float=_float)


def _float(text: str) -> float | str:
    """Return a float; a number that underflows stays text, so that it is rejected with the name of its quantity."""
    number = float(text)
    return number if number or is_zero(text) else text


def constants_in(path: str) -> dict[str, Any]:
    """Return the JSON object in a file of constants."""
    data = _load(path)
    if not isinstance(data, dict):
        raise BoundsError(f"{path} must hold a JSON object of values by quantity")
    return data


def constants_of(data: Mapping[str, Any], source: str) -> dict[str, Value]:
    """Return the values by quantity in an object of constants, with their intervals; ``source`` is its file."""
    for name in data:
        if name != "_interval" and re.fullmatch("_?intervals?", name.strip().lower()):
            raise BoundsError(f"{source}: {name!r} would not be read; write _interval")
    values = {name: value_of(name, item) for name, item in data.items() if not name.startswith("_")}
    for name in values:
        meant = name.strip().lower().replace(" ", "_").replace("-", "_")
        if meant != name and (meant in values or isinstance(getattr(vocabulary, meant, None), Quantity)):
            raise BoundsError(f"{source}: {name!r} would not be read; write {meant}")
    intervals = data.get("_interval", {})
    if not isinstance(intervals, Mapping):
        raise BoundsError(f"{source}: _interval must hold [low, high] by quantity, null where there is no end")
    for name in intervals.keys() - values.keys():
        raise BoundsError(f"{source}: {unknown('name in _interval', name, values)}; an _interval is of a value")
    ends = {name: _ends(f"{source}: _interval of {name}", values[name], pair) for name, pair in intervals.items()}
    return {name: replace(value, optional=True, ends=ends.get(name), file=source) for name, value in values.items()}


def _ends(where: str, value: Value, pair: Any) -> tuple[Any, Any]:
    """Return the interval of a value in the shape of the value; raise if it does not contain the value."""
    if not (isinstance(pair, (list, tuple)) and len(pair) == 2):
        raise BoundsError(f"{where} must be [low, high], null where there is no end; got {shortened(str(pair))}")
    low, high = (array_of(where, _known(end, limit)) for end, limit in zip(pair, (-math.inf, math.inf), strict=True))
    if low.shape != high.shape or not np.all(low <= high):
        raise BoundsError(f"{where} must have its low end below its high end; got {shortened(str(pair))}")
    listed = value.numbers.shape[-1:] if value.kind in ("list", "table") else ()
    if low.ndim and low.shape != listed:
        raise BoundsError(f"{where} holds lists of {low.size}; its value has {listed[0] if listed else 1}")
    slack = ROUNDING * np.abs(value.numbers)
    if not np.all((low - slack <= value.numbers) & (value.numbers <= high + slack)):
        raise BoundsError(f"{where} does not contain its value, {shortened(str(value.numbers.tolist()))}")
    return np.broadcast_to(low, listed).tolist(), np.broadcast_to(high, listed).tolist()


def _known(end: Any, limit: float) -> Any:
    """Return the end of an interval, infinite where it is null."""
    return [_known(part, limit) for part in end] if isinstance(end, (list, tuple)) else limit if end is None else end


def value_of(name: str, item: Any) -> Value:
    """Return the value that a program or a JSON file gives: a number, lists of numbers, or text."""
    if isinstance(item, str):
        if item.lstrip().startswith("@"):
            raise BoundsError(f"{name}: a file cannot name another file; got {shortened(item)!r}")
        return parse(name, item)
    numbers = array_of(name, item)
    if numbers.ndim > 2:
        raise DomainError(f"{name} must be a list or a list of lists; got lists {numbers.ndim} deep")
    return Value(("number", "list", "table")[numbers.ndim], numbers)


# ---- the grid of one bound ----


@dataclass(frozen=True, eq=False)
class Grid:
    """A bound with arrays for its quantities that broadcast to one axis per sweep; a client axis comes last.

    ``axes`` has one entry per sweep: its numbers by quantity (of several quantities if sweeps are paired).
    ``uncertain`` holds the intervals of uncertain constants.
    """

    bound: Bound
    values: Mapping[str, np.ndarray]
    axes: tuple[dict[str, list[Any]], ...]
    uncertain: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(next(iter(axis.values()))) for axis in self.axes)

    def remarks(self) -> list[str]:
        """Return a remark if uncertain constants are used at their values, not over their intervals."""
        return _at_values(self.uncertain)

    def points(self) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
        """Yield, for every point, the values of the sweeps and all values: numbers, or lists over the clients."""
        over = {q.name for q in self.bound.quantities if q.card.axis}
        for index in np.ndindex(self.shape):
            swept = tuple(column[i] for i, axis in zip(index, self.axes, strict=True) for column in axis.values())
            yield swept, {name: _at(array, index, name in over) for name, array in self.values.items()}


def _at(array: np.ndarray, index: tuple[int, ...], listed: bool) -> Any:
    lead = array.shape[:-1] if listed else array.shape
    here = array[tuple(min(i, n - 1) for i, n in zip(index, lead, strict=True))] if lead else array
    return here.item() if here.size == 1 else here


def uncertainty_remarks(bounds: Iterable[Bound], given: Mapping[str, Value]) -> list[str]:
    """Return the remark on uncertain constants for a picture of several bounds."""
    used = {_renamed_constants(bound, given).get(q.name, q.name) for bound in bounds for q in bound.quantities}
    return _at_values([name for name, value in given.items() if value.ends is not None and name in used])


def substitution_remarks(bounds: Iterable[Bound], given: Mapping[str, Value]) -> Iterator[str]:
    """Yield which constants of a file a bound uses under another name, and the assumption that says so."""
    for bound in bounds:
        for name, word in _renamed_constants(bound, given).items():
            value = given[word]
            why = next(c.words for c in bound.conditions if c.assumption and (name, word) in c.assumption.constants)
            yield f"{name} of {bound.name} is {word} of {value.file}, {_end(value.numbers.tolist())}: {why}"


def _renamed_constants(bound: Bound, given: Mapping[str, Value]) -> dict[str, str]:
    """Return, by quantity, the names of constants in files that a bound uses for quantities of other names."""
    words = {q.name: bound.word_of(q.name) for q in bound.quantities}
    return {
        name: word
        for name, word in words.items()
        if word != name and word in given and given[word].file and (name not in given or given[name].file)
    }


def _at_values(names: Collection[str]) -> list[str]:
    text = f"uncertain constants were taken at their values, not over their intervals: {', '.join(names)}"
    return [text] if names else []


# ---- spanning the grid ----


def grid(bound: Bound, given: Mapping[str, Value], *, paired: bool = False, free: Iterable[str] = ()) -> Grid:
    """Return the grid for one bound; ``free`` quantities get no value, and ``paired`` sweeps vary together."""
    constants = {name: given[word] for name, word in _renamed_constants(bound, given).items()}
    bound, values = _special_case(bound, {**given, **constants}, set(free))
    used = {q.name: q for q in bound.quantities}
    if evaluator_of(bound).counts_clients:
        used.setdefault(clients.name, clients)
    for name, value in values.items():
        if name not in used and not value.optional:
            raise unknown_quantity(f"quantity of {bound.name}", name, used, bound.source.paper)
    for name in free:
        if name not in used:
            raise unknown_quantity(f"quantity of {bound.name}", name, used, bound.source.paper)
        if name in values and not values[name].optional:
            raise BoundsError(f"{name} is the unknown; it cannot be given a value too")
    inputs = {name: value for name, value in values.items() if name in used and name not in free}
    return _span(bound, {name: _fitted(used[name], value) for name, value in inputs.items()}, used, paired)


def _span(bound: Bound, values: Mapping[str, Value], used: Mapping[str, Quantity], paired: bool) -> Grid:
    """Return the grid of these values, with one axis per sweep, or one for all sweeps if they are ``paired``."""
    sweeps = {name: v.numbers for name, v in values.items() if _sweeps(used[name], v)}
    _check_size({name: len(numbers) for name, numbers in sweeps.items()}, paired)
    arrays = {name: v.numbers for name, v in values.items()}
    for place, (name, numbers) in enumerate(sweeps.items()):
        shape = [1] if paired else [1] * len(sweeps)
        shape[0 if paired else place] = len(numbers)
        if used[name].card.axis:
            shape.append(numbers.shape[1] if numbers.ndim == 2 else 1)
        arrays[name] = numbers.reshape(shape)
    columns = {name: numbers.tolist() for name, numbers in sweeps.items()}
    axes = [columns] if paired and columns else [{name: column} for name, column in columns.items()]
    counted = {clients.name} if bound.axis == CLIENTS else set()  # certain, as the length of the lists
    uncertain = {name: v.ends for name, v in values.items() if v.ends is not None and name not in counted}
    return Grid(bound, arrays, tuple(axes), uncertain)


def _check_size(lengths: Mapping[str, int], paired: bool) -> None:
    """Raise if sweeps of these lengths cannot be paired, or if they span too many points."""
    if paired and len(set(lengths.values())) > 1:
        got = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise BoundsError(f"--zip pairs sweeps of one length; got {got}")
    if not paired and len(lengths) > MOST_SWEEPS:
        raise BoundsError(f"{len(lengths)} sweeps at once are too many; at most {MOST_SWEEPS}")
    points = max(lengths.values(), default=1) if paired else prod(lengths.values())
    if points > MOST_POINTS:
        raise BoundsError(f"the sweeps span {points} points; at most {MOST_POINTS} at once")


def _sweeps(quantity: Quantity, value: Value) -> bool:
    return value.kind in ("range", "table") or (value.kind == "list" and not quantity.card.axis)


def _fitted(quantity: Quantity, value: Value) -> Value:
    """Return the value in a shape that the quantity can have; ranges of integer quantities are rounded."""
    if value.ends is not None:
        if _sweeps(quantity, value):
            raise DomainError(f"{quantity.name} is a sweep; an _interval is that of one value: leave one of them out")
        _check_ends(quantity, *value.ends)
    if value.kind == "uniform":
        raise DomainError(f"{quantity.name} cannot be 'uniform'; only client_weight can")
    if value.kind == "table" and not quantity.card.axis:
        raise DomainError(f"{quantity.name} is one number for all; give a list, not a list of lists")
    if value.kind == "range" and quantity.card.domain.whole:
        return replace(value, numbers=np.array(list(dict.fromkeys(np.rint(value.numbers).tolist()))))
    return value


def _check_ends(quantity: Quantity, low: Any, high: Any) -> None:
    """Raise if an interval leaves the domain; it may touch an open end."""
    domain = quantity.card.domain
    if domain.simplex:
        raise DomainError(f"{quantity.name} cannot be uncertain, as it sums to 1; leave its _interval out")
    known = np.asarray([*np.ravel(low), *np.ravel(high)], dtype=float)
    known = known[np.isfinite(known)]
    if ((known < domain.low) | (known > domain.high)).any():
        raise DomainError(
            f"_interval of {quantity.name} must stay {domain.words}; got [{_end(low)}, {_end(high)}]: mend it, "
            "or write null for an unknown end"
        )


def _end(end: Any) -> str:
    return str(end) if np.ndim(end) else f"{end:g}"


def _special_case(bound: Bound, given: Mapping[str, Value], free: set[str]) -> tuple[Bound, dict[str, Value]]:
    """Return equal weights for listed clients, or the bound for identical clients if there are no lists."""
    given = dict(given)
    if bound.axis != CLIENTS:
        return bound, given
    weight = given.get(client_weight.name)
    uniform = weight is not None and weight.kind == "uniform"
    weighted = any(q == client_weight for q in bound.quantities)
    per_client = {q.name for q in bound.quantities if q.card.per_client}
    lists = {k: v.numbers.shape[-1] for k, v in given.items() if k in per_client and v.kind in ("list", "table")}
    swept = clients.name in free or (clients.name in given and given[clients.name].kind != "number")
    if not lists and (uniform or (swept and not weighted)):
        given.pop(client_weight.name, None)
        identical: Any = evaluator_of(bound).special.bound
        return identical, given
    if uniform and weight is not None:
        size = max(lists.values())
        given[client_weight.name] = Value("list", np.full(size, 1 / size), weight.optional)
    return bound, given
