"""Read the sources of a scenario: typed values, files of constants, and mappings, with their notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .errors import BoundsError, DomainError
from .letters import by_quantity
from .scenario_values import (
    ASSUMED,
    CHOSEN,
    COST,
    DESIGN,
    EXACT,
    float_or_tuple,
    format_value,
    INTERVAL,
    LOWER,
    OF_RUNS,
    PAIR,
    PROVED,
    PROVENANCES,
    QUANTITIES,
    role_of,
    ScenarioValue,
    UP,
    widened,
)  # fmt: skip
from .showing.files import from_json
from .showing.reading import read, Value

SAMPLING, ALGORITHM = "sampling", "algorithm"
"""The options of a scenario that are not numbers."""


class ParsedSources(NamedTuple):
    """The values that were typed, those of files and mappings, and the options that are not numbers.

    ``uniform`` is whether the clients' weights were typed as ``uniform``.
    """

    typed: dict[str, ScenarioValue]
    files: dict[str, ScenarioValue]
    options: dict[str, str]
    uniform: bool


def parse_sources(
    sources: Iterable[str | Mapping[str, Any]], typed: Mapping[str, Any], named: Callable[[str], str] = str
) -> ParsedSources:
    """Read files, texts, mappings and keywords; raise ``BoundsError`` if two of equal precedence disagree.

    ``named`` gives the name of a quantity that is typed by a letter.
    """
    typed = by_quantity(typed, named)
    options = {word: [str(typed.pop(word))] if word in typed else [] for word in (SAMPLING, ALGORITHM)}
    texts = [f"{word}={typed.pop(word)}" for word in list(typed) if isinstance(typed[word], str)]
    mappings: list[Mapping[str, Any]] = []
    for source in sources:
        if isinstance(source, Mapping):
            mappings.append(source)
            continue
        word, equals, text = source.partition("=")
        if equals and word in options:
            options[word].append(text)
        else:
            texts.append(f"{named(word)}{equals}{text}")
    for word, each in options.items():
        if len(set(each)) > 1:
            raise BoundsError(f"{word} is given as {' and as '.join(each)}; leave one of them out")
    words = {word: v for word, v in read(texts).items() if not v.optional}
    given = _merged(_typed(words), {word: from_number(word, value) for word, value in typed.items()})
    uniform = "client_weight" in words and words["client_weight"].kind == "uniform"
    if uniform and "client_weight" in typed:
        raise BoundsError("client_weight is given as uniform and as numbers; leave one of them out")
    files: dict[str, ScenarioValue] = {}
    names = ["given"] if len(mappings) == 1 else [f"mapping {i}" for i in range(1, len(mappings) + 1)]
    for values in (_from_files(texts), *map(_from_mapping, mappings, names)):
        files = _merged(files, values, {*given, *words})
    return ParsedSources(given, files, {word: each[0] for word, each in options.items() if each}, uniform)


def _merged(
    one: Mapping[str, ScenarioValue], other: Mapping[str, ScenarioValue], may_differ: Iterable[str] = ()
) -> dict[str, ScenarioValue]:
    """Return the union; of a quantity in both, the more reliable value. Raise if they disagree, unless they may."""
    both = one.keys() & other.keys()
    for word in both - set(may_differ):
        if not _agree(one[word], other[word]):
            pair = " and ".join(f"{format_value(s.value)} ({s.origin})" for s in (one[word], other[word]))
            raise BoundsError(f"two sources of {word} disagree: {pair}; leave one of them out")
    better = {word: min(one[word], other[word], key=lambda s: PROVENANCES.index(s.provenance)) for word in both}
    return {**one, **other, **better}


def _agree(one: ScenarioValue, other: ScenarioValue) -> bool:
    """Whether two values are equal up to rounding, or each lies in the other's interval."""
    if np.shape(one.value) != np.shape(other.value):
        return False
    pairs = ((one, other), (other, one))
    return all(np.all((widened(a.low, -1) <= b.value) & (b.value <= widened(a.high, 1))) for a, b in pairs)


def from_number(word: str, value: Any) -> ScenarioValue:
    """Return a number or a list that the user gave as a checked value; a ``ScenarioValue`` is returned unchanged."""
    if isinstance(value, ScenarioValue):
        return value
    if isinstance(value, str):
        raise DomainError(f"{word} must be a number, or a list of one for each client; got {value!r}")
    return _checked(word, value, None, ASSUMED, "typed")


def _checked(
    word: str, value: Any, ends: Any, provenance: str, how: str, up_to: tuple[tuple[str, float], ...] = ()
) -> ScenarioValue:
    """Return a given value after checking it against the domain of its quantity."""
    number = float_or_tuple(word, value)
    low, high = (number, number) if ends is None else (float_or_tuple(word, end) for end in ends)
    role = role_of(word)
    if provenance == LOWER and role in (UP, PAIR):
        high = np.full(np.shape(number), np.inf).tolist() if np.ndim(number) else np.inf
    if provenance == ASSUMED and role in (DESIGN, COST):
        provenance = CHOSEN
    quantity = QUANTITIES.get(word)
    if quantity is not None:
        quantity.card.domain.check(word, np.asarray(number, dtype=float))
        if np.ndim(number) and not quantity.card.axis:
            raise DomainError(f"{word} is one number here; got a list of {np.size(number)}")
    return ScenarioValue(number, low, high, provenance, role, how, frozenset([word]), up_to)


def _typed(values: Mapping[str, Value]) -> dict[str, ScenarioValue]:
    for word, value in values.items():
        if value.kind == "uniform" and word != "client_weight":
            raise DomainError(f"{word} must be a number; uniform is for client_weight alone")
    return {
        word: _from_value(word, value, ASSUMED, "typed") for word, value in values.items() if value.kind != "uniform"
    }


def _from_value(
    word: str, value: Value, provenance: str, how: str, up_to: tuple[tuple[str, float], ...] = ()
) -> ScenarioValue:
    quantity = QUANTITIES.get(word)
    listed = quantity is None or bool(quantity.card.axis)
    if value.kind in ("range", "table") or (value.kind == "list" and not listed):
        raise DomainError(f"{word} is one number here, not a sweep; give {word}=NUMBER")
    numbers = value.numbers.item() if value.numbers.ndim == 0 else value.numbers
    return _checked(word, numbers, value.ends, provenance, how, up_to)


def _from_files(texts: Iterable[str]) -> dict[str, ScenarioValue]:
    """Return the values in all files of constants (``@path``), with their notes; ``read`` checks that they agree."""
    values: dict[str, ScenarioValue] = {}
    for path in (text[1:] for text in texts if text.startswith("@")):
        notes = from_json(path)
        for word, value in read([f"@{path}"]).items():
            if word not in values and value.kind != "uniform":
                values[word] = _from_value(word, value, *_notes_on(word, notes, path, value.ends is not None))
    return values


def _from_mapping(source: Mapping[str, Any], name: str) -> dict[str, ScenarioValue]:
    values: dict[str, ScenarioValue] = {}
    intervals = source.get("_interval", {})
    for word, value in source.items():
        if isinstance(value, ScenarioValue):
            values[word] = value
        elif not word.startswith("_"):
            ends = None
            if word in intervals:
                low, high = intervals[word]
                ends = [-np.inf if low is None else low, np.inf if high is None else high]
            values[word] = _checked(word, value, ends, *_notes_on(word, source, name, word in intervals))
    return values


NOTES = ("_how", "_provenance", "_up_to")


def _notes_on(
    word: str, notes: Mapping[str, Any], name: str, uncertain: bool
) -> tuple[str, str, tuple[tuple[str, float], ...]]:
    """Return the provenance of a quantity in a file, its source in words, and up to which plan it is valid.

    Without a provenance a number is assumed, and so is one that was proved along runs if nothing says for which plans.
    """
    all_how, all_provenance, all_limits = [notes.get(note, {}) for note in NOTES]
    if not all(isinstance(each, Mapping) for each in (all_how, all_provenance, all_limits)) or not isinstance(
        all_how.get(word, ""), str
    ):
        raise BoundsError(f"{name}: {', '.join(NOTES[:-1])} and {NOTES[-1]} must hold texts by quantity")
    how, provenance, limits = all_how.get(word, ""), all_provenance.get(word), all_limits.get(word, {})
    if provenance is None:
        provenance = INTERVAL if uncertain else ASSUMED
    if provenance not in PROVENANCES:
        raise BoundsError(f"{name}: _provenance of {word} must be one of {', '.join(PROVENANCES)}; got {provenance!r}")
    if not isinstance(limits, Mapping) or not all(isinstance(limit, (int, float)) for limit in limits.values()):
        raise BoundsError(f"{name}: _up_to of {word} must hold the largest value of quantities such as step_size")
    how = f"{name}: {how}" if how else name
    if word in OF_RUNS and provenance in (EXACT, PROVED) and not limits:
        provenance, how = ASSUMED, f"{how}; its plans are not recorded, so it is assumed to be valid for this one"
    return provenance, how, tuple((other, float(limit)) for other, limit in limits.items())
