"""The grid of values on a command line: arrays for one bound, with one axis per sweep."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from ..core import Bound
from ..errors import BoundsError, DomainError
from ..letters import quantity_named, unknown_quantity
from ..numerics.evaluate import evaluator_of
from ..quantities import CLIENTS, Quantity
from ..vocabulary import client_weight, clients
from .reading import MOST_POINTS, Value

MOST_SWEEPS = 30
"""The largest number of sweeps; arrays cannot have more than about twice as many axes."""
MOST_MEMBERS = 1_000_000_000
"""The largest number of points times clients (or classes), which takes some ten seconds per term."""


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

    def remarks(self) -> Iterator[str]:
        """Yield a remark if uncertain constants are used at their values, not over their intervals."""
        if self.uncertain:
            yield _at_values(self.uncertain)

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


def uncertainty_remarks(bounds: Iterable[Bound], given: Mapping[str, Value]) -> Iterator[str]:
    """Yield the remark on uncertain constants for a picture of several bounds."""
    used = {_renamed_constants(bound, given).get(q.name, q.name) for bound in bounds for q in bound.quantities}
    if uncertain := [name for name, value in given.items() if value.ends is not None and name in used]:
        yield _at_values(uncertain)


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


def _at_values(names: Iterable[str]) -> str:
    return f"uncertain constants were taken at their values, not over their intervals: {', '.join(names)}"


# ---- spanning the grid ----


def grid(bound: Bound, given: Mapping[str, Value], *, paired: bool = False, free: Iterable[str] = ()) -> Grid:
    """Return the grid for one bound; ``free`` quantities get no value, and ``paired`` sweeps vary together."""
    known, paper = {q.name for q in bound.quantities} | {clients.name}, bound.source.paper
    given = {name if value.optional else quantity_named(name, known, paper): value for name, value in given.items()}
    given = {**given, **{name: given[word] for name, word in _renamed_constants(bound, given).items()}}
    bound, given = _special_case(bound, given, set(free))
    used = {q.name: q for q in bound.quantities}
    if evaluator_of(bound).counts_clients:
        used.setdefault(clients.name, clients)
    for name, value in given.items():
        if name not in used and not value.optional:
            raise unknown_quantity(f"quantity of {bound.name}", name, used, bound.source.paper)
    for name in free:
        if name not in used:
            raise unknown_quantity(f"quantity of {bound.name}", name, used, bound.source.paper)
        if name in given and not given[name].optional:
            raise BoundsError(f"{name} is the unknown; it cannot be given a value too")
    inputs = {name: value for name, value in given.items() if name in used and name not in free}
    return _span(bound, {name: _fitted(used[name], value) for name, value in inputs.items()}, used, paired)


def _span(bound: Bound, values: Mapping[str, Value], used: Mapping[str, Quantity], paired: bool) -> Grid:
    """Return the grid of these values, with one axis per sweep, or one for all sweeps if they are ``paired``."""
    lists = {n: v.numbers.shape[-1] for n, v in values.items() if used[n].card.axis and v.kind in ("list", "table")}
    if len(set(lists.values())) > 1:
        lengths = _lengths(dict(sorted(lists.items())))
        raise DomainError(f"lists over the {bound.axis} must have one length; got {lengths}")
    sweeps = {name: v.numbers for name, v in values.items() if _sweeps(used[name], v)}
    _check_size({name: len(numbers) for name, numbers in sweeps.items()}, max([1, *lists.values()]), paired)
    arrays = {name: v.numbers for name, v in values.items()}
    for place, (name, numbers) in enumerate(sweeps.items()):
        shape = [1] if paired else [1] * len(sweeps)
        shape[0 if paired else place] = len(numbers)
        if used[name].card.axis:
            shape.append(numbers.shape[1] if numbers.ndim == 2 else 1)
        arrays[name] = numbers.reshape(shape)
    columns = {name: numbers.tolist() for name, numbers in sweeps.items()}
    axes = [{name: column} for name, column in columns.items()]
    if paired and columns:
        axes = [columns]
    counted = {clients.name} if bound.axis == CLIENTS else set()  # certain, as the length of the lists
    uncertain = {name: v.ends for name, v in values.items() if v.ends is not None and name not in counted}
    return Grid(bound, arrays, tuple(axes), uncertain)


def _check_size(lengths: Mapping[str, int], members: int, paired: bool) -> None:
    """Raise if sweeps of these lengths cannot be paired, or if the grid is too large for ``members`` clients."""
    if paired and len(set(lengths.values())) > 1:
        raise BoundsError(f"--zip pairs sweeps of one length; got {_lengths(lengths)}")
    if not paired and len(lengths) > MOST_SWEEPS:
        raise BoundsError(f"{len(lengths)} sweeps at once are too many; at most {MOST_SWEEPS}")
    points = max(lengths.values(), default=1) if paired else prod(lengths.values())
    if points > MOST_POINTS:
        raise BoundsError(f"the sweeps span {points} points; at most {MOST_POINTS} at once")
    if points * members > MOST_MEMBERS:
        raise BoundsError(f"{points} points of {members} each are too many; at most {MOST_MEMBERS} in all at once")


def _lengths(lengths: Mapping[str, int]) -> str:
    return ", ".join(f"{name}: {length}" for name, length in lengths.items())


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
    if clients.name in given and (others := given[clients.name].numbers[given[clients.name].numbers != 1]).size:
        for name in (name for name, size in lists.items() if size == 1):  # NumPy would broadcast a single entry
            raise DomainError(f"{name} has 1 entry where there are {others.flat[0]:g} clients; list one for each")
    swept = clients.name in free or (clients.name in given and given[clients.name].kind != "number")
    if not lists and (uniform or (swept and not weighted)):
        given.pop(client_weight.name, None)
        identical: Any = evaluator_of(bound).special.bound
        return identical, given
    if uniform and weight is not None:
        size = max(lists.values())
        given[client_weight.name] = Value("list", np.full(size, 1 / size), weight.optional)
    return bound, given
