"""Read the sources of a scenario: typed values, files of constants, and mappings, with their notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from .errors import BoundsError, DomainError
from .letters import by_quantity
from .scenario_values import (
    float_or_tuple,
    format_value,
    OF_RUNS,
    Provenance,
    QUANTITIES,
    Role,
    role_of,
    ScenarioValue,
    widened,
)
from .showing.reading import constants_in, constants_of, read, Value, value_of

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
            texts.append(source)
    for word, each in options.items():
        if len(set(each)) > 1:
            raise BoundsError(f"{word} is given as {' and as '.join(each)}; leave one of them out")
    words = {word: v for word, v in read(texts, named).items() if not v.optional}
    uniform = "client_weight" in words and words["client_weight"].kind == "uniform"
    if uniform and "client_weight" in typed:
        raise BoundsError("client_weight is given as uniform and as numbers; leave one of them out")
    numbers = {word: value for word, value in words.items() if not (uniform and word == "client_weight")}
    given = _merged(
        {word: _from_value(word, value, Provenance.ASSUMED, "typed") for word, value in numbers.items()},
        {word: from_number(word, value) for word, value in typed.items()},
    )
    files: dict[str, ScenarioValue] = {}
    paths = [text[1:] for text in texts if text.startswith("@")]
    names = ["given"] if len(mappings) == 1 else [f"mapping {i}" for i in range(1, len(mappings) + 1)]
    for source, name in (*((constants_in(path), path) for path in paths), *zip(mappings, names, strict=True)):
        files = _merged(files, _from_constants(source, name), {*given, *words})
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
    better = {word: min(one[word], other[word], key=lambda s: [*Provenance].index(s.provenance)) for word in both}
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
    return _from_value(word, value_of(word, value), Provenance.ASSUMED, "typed")


def _from_value(
    word: str, value: Value, provenance: Provenance, how: str, up_to: tuple[tuple[str, float], ...] = ()
) -> ScenarioValue:
    """Return a given value after checking it against the domain of its quantity."""
    quantity, role = QUANTITIES.get(word), role_of(word)
    each = " or a list of one for each client" if quantity is None or quantity.card.axis else ""
    if value.kind != "number" and not (each and value.kind == "list"):
        raise DomainError(f"{word} must be one number{each} here, not a sweep or uniform; give {word}=NUMBER")
    number = float_or_tuple(value.numbers)
    low, high = (float_or_tuple(np.asarray(end, dtype=float)) for end in value.ends or (number, number))
    if provenance == Provenance.LOWER and role in (Role.UP, Role.PAIR):
        high = np.full(np.shape(number), np.inf).tolist() if np.ndim(number) else np.inf
    if provenance == Provenance.ASSUMED and role in (Role.DESIGN, Role.COST):
        provenance = Provenance.CHOSEN
    if quantity is not None:
        quantity.card.domain.check(word, value.numbers)
    return ScenarioValue(number, low, high, provenance, role, how, frozenset([word]), up_to)


def _from_constants(source: Mapping[str, Any], name: str) -> dict[str, ScenarioValue]:
    """Return the values of a file or a mapping with their notes; a ``ScenarioValue`` in it is returned unchanged."""
    ready = {word: value for word, value in source.items() if isinstance(value, ScenarioValue)}
    read = constants_of({word: value for word, value in source.items() if word not in ready}, name)
    numbers = {word: value for word, value in read.items() if value.kind != "uniform"}
    return ready | {w: _from_value(w, v, *_notes_on(w, source, name, v.ends is not None)) for w, v in numbers.items()}


NOTES = ("_how", "_provenance", "_up_to")


def _notes_on(
    word: str, notes: Mapping[str, Any], name: str, uncertain: bool
) -> tuple[Provenance, str, tuple[tuple[str, float], ...]]:
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
        provenance = Provenance.INTERVAL if uncertain else Provenance.ASSUMED
    if provenance not in [*Provenance]:
        raise BoundsError(f"{name}: _provenance of {word} must be one of {', '.join(Provenance)}; got {provenance!r}")
    if not isinstance(limits, Mapping) or not all(isinstance(limit, (int, float)) for limit in limits.values()):
        raise BoundsError(f"{name}: _up_to of {word} must hold the largest value of quantities such as step_size")
    how = f"{name}: {how}" if how else name
    if word in OF_RUNS and provenance in (Provenance.EXACT, Provenance.PROVED) and not limits:
        provenance = Provenance.ASSUMED
        how += "; its plans are not recorded, so it is assumed to be valid for this one"
    return Provenance(provenance), how, tuple((other, float(limit)) for other, limit in limits.items())
