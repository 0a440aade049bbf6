"""Parse the values of a command line (``GRAMMAR``): numbers, ranges, lists, and files of constants."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..domains import changed
from ..errors import BoundsError, DomainError, shortened, unknown
from .files import from_json
from .numbers import is_zero, number

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
    """Return quantities as ``read`` takes them; lists become ``[a,b]``."""

    def typed(value: Any) -> str:
        return f"[{','.join(map(typed, value))}]" if isinstance(value, (list, tuple)) else str(value)

    return [f"{name}={typed(value)}" for name, value in quantities.items()]


def read(words: Sequence[str]) -> dict[str, Value]:
    """Return the values of ``quantity=value`` arguments and files of constants, by quantity, in the given order."""
    found: dict[str, Value] = {}
    files: dict[str, Value] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not equals and word.startswith("@"):
            constants = _constants(word[1:])
            for known in constants.keys() & files.keys():
                typed = any(other.startswith(f"{known}=") for other in words)
                if not typed and not constants[known].equals(files[known]):
                    both = f"{files[known].file} and {word[1:]} hold different values of {known}"
                    raise BoundsError(f"{both}; say which: {known}=...")
            files |= constants
            found |= {k: v for k, v in constants.items() if k not in found or found[k].optional}
        elif not equals or not name:
            meant = f"@{word}" if word.endswith(".json") else f"{word}=VALUE" if word.isidentifier() else ""
            meant = f"--csv {word} (of constants, compare, advise, train)" if word.endswith(".csv") else meant
            hint = f": write {meant}" if meant else ""
            raise BoundsError(f"expected quantity=value or @file.json; got {shortened(word)!r}{hint}")
        elif name in found and not found[name].optional:
            raise BoundsError(f"{name} is given twice")
        else:
            found[name] = parse(name, text)
    return found


def given_values(words: Sequence[str], quantities: Mapping[str, Any]) -> dict[str, Value]:
    """Return the values of ``quantity=value`` arguments and files, and of ``quantities`` that a program passes."""
    if twice := next((name for name in quantities if any(word.startswith(f"{name}=") for word in words)), ""):
        raise BoundsError(f"{twice} is given twice")
    plain = {name: item.tolist() if hasattr(item, "tolist") else item for name, item in quantities.items()}
    return {**read(words), **{name: value_of(name, item) for name, item in plain.items()}}


def parse(name: str, text: str) -> Value:
    """Parse the value of one quantity."""
    text = text.strip()
    if text.startswith("@"):
        return value_of(name, _load(text[1:]))
    if text == "uniform":
        return Value("uniform", np.empty(0))
    if text.startswith("["):
        return _listed(name, _brackets(name, text))
    if ":" in text:
        return Value("range", _range(name, text), log=text.endswith(":log"))
    if "," in text:
        if slip := next((part for part in text.split(",")[1:] if LEADING_ZERO.match(part.strip())), ""):
            raise DomainError(f"{name}: {slip!r} begins with a zero; decimals are written 0.05, lists 0,5")
        if "" in (parts := [part.strip() for part in text.split(",")]):
            raise DomainError(f"{name}: a number is missing beside a comma in {text!r}")
        return _listed(name, [parse_number(name, part) for part in parts])
    return Value("number", np.asarray(parse_number(name, text)))


def parse_number(name: str, text: str, otherwise: str = ", a range a:b:n or a:b:n:log, or a list") -> float:
    """Parse one number, such as 0.5, 1e-3 or 1/3; ``otherwise`` says in errors what else would be valid."""
    try:
        return number(text, otherwise)
    except DomainError as error:
        raise DomainError(f"{name} {error}") from None


def _shown(item: Any) -> str:
    """Format a piece of JSON for an error message."""
    try:
        return shortened(json.dumps(item))
    except RecursionError:
        return "lists within lists"


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
    quoted = re.sub(r"[^\[\],\s]+", lambda m: json.dumps(m.group()), text)
    try:
        items = json.loads(quoted)
    except (json.JSONDecodeError, RecursionError):
        raise DomainError(f"{name}: a list is [1,2,3] or [[1,2],[3,4]]; got {shortened(text)!r}") from None
    return _each(name, items, lambda item: parse_number(name, item))


def _each(name: str, items: Any, change: Callable[[Any], Any], depth: int = 0) -> Any:
    if not isinstance(items, list):
        return change(items)
    if depth > 1:
        raise DomainError(f"{name} must be a list or a list of lists; got lists more than 2 deep")
    return [_each(name, item, change, depth + 1) for item in items]


def _listed(name: str, items: Any) -> Value:
    try:
        array = np.asarray(items, dtype=float)
    except ValueError:
        raise DomainError(f"{name} must be a rectangular list of numbers; got {shortened(str(items))}") from None
    if array.size == 0:
        raise DomainError(f"{name} must hold at least one number; got an empty list")
    return Value("list" if array.ndim == 1 else "table", array)


# ---- files ----


def _load(path: str) -> Any:
    if not path:
        raise BoundsError("@ needs the name of a JSON file: @file.json")
    return from_json(path, parse_int=_whole, parse_float=_float)


def _float(text: str) -> float | str:
    """Return a float; a number that underflows stays text, so that it is rejected with the name of its quantity."""
    number = float(text)
    return number if number or is_zero(text) else text


def _whole(text: str) -> float | int:
    """Return an integer as a float if that is exact or infinite, else as an int."""
    number = float(text)
    return number if math.isinf(number) or number == int(text) else int(text)


def _constants(path: str) -> dict[str, Value]:
    data = _load(path)
    if not isinstance(data, dict):
        raise BoundsError(f"{path} must hold a JSON object of values by quantity")
    for name in data:
        if name != "_interval" and re.fullmatch("_?intervals?", name.strip().lower()):
            raise BoundsError(f"{path}: {name!r} would not be read; write _interval")
    from .. import vocabulary  # needs SymPy, which has been loaded with the bound
    from ..quantities import Quantity

    values = {name: value_of(name, item) for name, item in data.items() if not name.startswith("_")}
    for name in values:
        meant = name.strip().lower().replace(" ", "_").replace("-", "_")
        if meant != name and (meant in values or isinstance(getattr(vocabulary, meant, None), Quantity)):
            raise BoundsError(f"{path}: {name!r} would not be read; write {meant}")
    intervals = data.get("_interval", {})
    if not isinstance(intervals, dict):
        raise BoundsError(f"{path}: _interval must hold [low, high] by quantity, null where there is no end")
    for name in intervals.keys() - values.keys():
        raise BoundsError(f"{path}: {unknown('name in _interval', name, values)}; an _interval is of a value")
    ends = {name: _ends(f"{path}: _interval of {name}", values[name], pair) for name, pair in intervals.items()}
    return {name: replace(value, optional=True, ends=ends.get(name), file=path) for name, value in values.items()}


def _ends(where: str, value: Value, pair: Any) -> tuple[Any, Any]:
    """Return the interval of a value in the shape of the value; raise if it does not contain the value."""
    if not (isinstance(pair, list) and len(pair) == 2):
        raise BoundsError(f"{where} must be [low, high], null where there is no end; got {_shown(pair)}")
    try:
        low, high = (
            np.array(_finite(end, limit), float) for end, limit in zip(pair, (-math.inf, math.inf), strict=True)
        )
    except (TypeError, ValueError):
        raise BoundsError(f"{where} must hold numbers, or lists of one length; got {_shown(pair)}") from None
    if low.shape != high.shape or not np.all(low <= high):
        raise BoundsError(f"{where} must have its low end below its high end; got {_shown(pair)}")
    listed = value.numbers.shape[-1:] if value.kind in ("list", "table") else ()
    if low.ndim and low.shape != listed:
        raise BoundsError(f"{where} holds lists of {low.size}; its value has {listed[0] if listed else 1}")
    slack = ROUNDING * np.abs(value.numbers)
    if not np.all((low - slack <= value.numbers) & (value.numbers <= high + slack)):
        raise BoundsError(f"{where} does not contain its value, {_shown(value.numbers.tolist())}")
    return np.broadcast_to(low, listed).tolist(), np.broadcast_to(high, listed).tolist()


def _finite(end: Any, limit: float) -> Any:
    """Return the end of an interval, infinite for null."""
    if isinstance(end, list):
        return [_finite(part, limit) for part in end]
    if isinstance(end, (bool, str)):
        raise TypeError(end)
    if end is not None and not math.isfinite(number := float(end)):
        raise ValueError("beyond the range of numbers")
    return limit if end is None else number


def value_of(name: str, item: Any) -> Value:
    """Return the value that a program or a JSON file gives: a number, lists of numbers, or text."""

    def as_number(part: Any) -> float:
        if isinstance(part, bool) or not isinstance(part, (int, float)):
            raise DomainError(f"{name} must be a number or a list of numbers; got {_shown(part)}")
        if isinstance(part, int) and (fault := changed(part)):
            raise DomainError(f"{name} must be {fault}")
        return float(part)

    if isinstance(item, str):
        if item.lstrip().startswith("@"):
            raise BoundsError(f"{name}: a file cannot name another file; got {shortened(item)!r}")
        return parse(name, item)
    if isinstance(item, list):
        return _listed(name, _each(name, item, as_number))
    return Value("number", np.asarray(as_number(item)))
