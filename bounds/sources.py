"""What a scenario is made of: values that are typed, files of constants and mappings, with their notes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from . import stated
from .errors import BoundsError, DomainError
from .showing.files import from_json
from .showing.reading import read, Value
from .stated import frozen, QUANTITIES, role_of, Stated, told, widened

SAMPLING, ALGORITHM = "sampling", "algorithm"
"""What is said of a run in words: how clients are drawn, and what they run."""


class Told(NamedTuple):
    """Values that are typed, those of files and mappings, what is said in words (how clients are drawn, what they run),
    and whether the weights of the clients were typed as uniform."""

    typed: dict[str, Stated]
    files: dict[str, Stated]
    said: dict[str, str]
    uniform: bool


def told_by(sources: Iterable[str | Mapping[str, Any]], typed: Mapping[str, Any]) -> Told:
    """What files, texts, mappings and keywords say; two of one kind that disagree are refused, and both named."""
    typed = dict(typed)
    said = {word: [str(typed.pop(word))] if word in typed else [] for word in (SAMPLING, ALGORITHM)}
    texts = [f"{word}={typed.pop(word)}" for word in list(typed) if isinstance(typed[word], str)]
    mappings: list[Mapping[str, Any]] = []
    for source in sources:
        if isinstance(source, Mapping):
            mappings.append(source)
        elif source.partition("=")[0] in said and "=" in source:
            said[source.partition("=")[0]].append(source.partition("=")[2])
        else:
            texts.append(source)
    for word, each in said.items():
        if len(set(each)) > 1:
            raise BoundsError(f"{word} is given as {' and as '.join(each)}; leave one of them out")
    words = {word: v for word, v in read(texts).items() if not v.optional}
    given = _merged(_typed(words), {word: of_number(word, value) for word, value in typed.items()})
    uniform = "client_weight" in words and words["client_weight"].kind == "uniform"
    if uniform and "client_weight" in typed:
        raise BoundsError("client_weight is given as uniform and as numbers; leave one of them out")
    files: dict[str, Stated] = {}
    names = ["given"] if len(mappings) == 1 else [f"mapping {i}" for i in range(1, len(mappings) + 1)]
    for found in (_of_files(texts), *map(_of_mapping, mappings, names)):
        files = _merged(files, found, {*given, *words})
    return Told(given, files, {word: found[0] for word, found in said.items() if found}, uniform)


def _merged(one: Mapping[str, Stated], other: Mapping[str, Stated], typed: Iterable[str] = ()) -> dict[str, Stated]:
    """Both; of a word that both have what is worth more, if they agree (on what is typed they need not)."""
    for word in (one.keys() & other.keys()) - set(typed):
        if not _agree(one[word], other[word]):
            said = " and ".join(f"{told(s.value)} ({s.origin})" for s in (one[word], other[word]))
            raise BoundsError(f"two sources of {word} disagree: {said}; leave one of them out")
    better = {
        word: min(one[word], other[word], key=lambda s: stated.PROVENANCES.index(s.provenance))
        for word in one.keys() & other.keys()
    }
    return {**one, **other, **better}


def _agree(one: Stated, other: Stated) -> bool:
    """Whether two values are one but for rounding, or each lies in the other's interval."""
    if np.shape(one.value) != np.shape(other.value):
        return False
    pairs = ((one, other), (other, one))
    return all(np.all((widened(a.low, -1) <= b.value) & (b.value <= widened(a.high, 1))) for a, b in pairs)


def of_number(word: str, value: Any) -> Stated:
    if isinstance(value, Stated):
        return value
    if isinstance(value, str):
        raise DomainError(f"{word} must be a number, or a list of one for each client; got {value!r}")
    return _stated(word, value, None, stated.ASSUMED, "typed")


def _stated(
    word: str, value: Any, ends: Any, provenance: str, how: str, up_to: tuple[tuple[str, float], ...] = ()
) -> Stated:
    """A given value, checked against the domain of its word."""
    number = frozen(word, value)
    low, high = (number, number) if ends is None else (frozen(word, end) for end in ends)
    role = role_of(word)
    if provenance == stated.LOWER and role in (stated.UP, stated.PAIR):
        high = np.full(np.shape(number), np.inf).tolist() if np.ndim(number) else np.inf
    if provenance == stated.ASSUMED and role in (stated.DESIGN, stated.COST):
        provenance = stated.CHOSEN
    quantity = QUANTITIES.get(word)
    if quantity is not None:
        quantity.card.domain.check(word, np.asarray(number, dtype=float))
        if np.ndim(number) and not quantity.card.axis:
            raise DomainError(f"{word} is one number here; got a list of {np.size(number)}")
    return Stated(number, low, high, provenance, role, how, frozenset([word]), up_to)


def _typed(values: Mapping[str, Value]) -> dict[str, Stated]:
    for word, value in values.items():
        if value.kind == "uniform" and word != "client_weight":
            raise DomainError(f"{word} must be a number; uniform is for client_weight alone")
    return {
        word: _of_value(word, value, stated.ASSUMED, "typed")
        for word, value in values.items()
        if value.kind != "uniform"
    }


def _of_value(word: str, value: Value, provenance: str, how: str, up_to: tuple[tuple[str, float], ...] = ()) -> Stated:
    quantity = QUANTITIES.get(word)
    listed = quantity is None or bool(quantity.card.axis)
    if value.kind in ("range", "table") or (value.kind == "list" and not listed):
        raise DomainError(f"{word} is one number here, not a sweep; give {word}=NUMBER")
    numbers = value.numbers.item() if value.numbers.ndim == 0 else value.numbers
    return _stated(word, numbers, value.ends, provenance, how, up_to)


def _of_files(texts: Iterable[str]) -> dict[str, Stated]:
    """The values of constants files with their notes; ``read`` refuses two that say different things."""
    found: dict[str, Stated] = {}
    for path in (text[1:] for text in texts if text.startswith("@")):
        notes = from_json(path)
        for word, value in read([f"@{path}"]).items():
            if word not in found and value.kind != "uniform":
                found[word] = _of_value(word, value, *_noted(word, notes, path, value.ends is not None))
    return found


def _of_mapping(source: Mapping[str, Any], name: str) -> dict[str, Stated]:
    found: dict[str, Stated] = {}
    ends = source.get("_interval", {})
    for word, value in source.items():
        if isinstance(value, Stated):
            found[word] = value
        elif not word.startswith("_"):
            around = [(s if e is None else e) for e, s in zip(ends[word], (-np.inf, np.inf), strict=True)] if (
                word in ends) else None  # fmt: skip
            found[word] = _stated(word, value, around, *_noted(word, source, name, word in ends))
    return found


Noted = tuple[str, str, tuple[tuple[str, float], ...]]
NOTES = ("_how", "_provenance", "_up_to")


def _noted(word: str, notes: Mapping[str, Any], name: str, uncertain: bool) -> Noted:
    """Provenance, how, and up to what plan, of a word in a file, from its notes: without any it is taken at its word.

    So is what is proved along runs, where nothing says of which plans.
    """
    said_in = [notes.get(note, {}) for note in NOTES]
    if any(not isinstance(words, Mapping) for words in said_in) or not isinstance(said_in[0].get(word, ""), str):
        raise BoundsError(f"{name}: {', '.join(NOTES[:-1])} and {NOTES[-1]} must hold words by quantity")
    how, said, limits = said_in[0].get(word, ""), said_in[1].get(word), said_in[2].get(word, {})
    if said is None:
        said = (
            stated.LOWER
            if "lower estimate" in how
            else stated.INTERVAL
            if uncertain
            else stated.PROVED
            if how
            else stated.ASSUMED
        )
    if said not in stated.PROVENANCES:
        raise BoundsError(f"{name}: _provenance of {word} must be one of {', '.join(stated.PROVENANCES)}; got {said!r}")
    if not isinstance(limits, Mapping) or not all(isinstance(limit, (int, float)) for limit in limits.values()):
        raise BoundsError(f"{name}: _up_to of {word} must hold the largest value of each word, such as step_size")
    how = f"{name}: {how}" if how else name
    if word in stated.OF_RUNS and said in (stated.EXACT, stated.PROVED) and not limits:
        said, how = stated.ASSUMED, f"{how}; nothing says for which plans, so for this one it is taken at its word"
    return said, how, tuple((other, float(limit)) for other, limit in limits.items())
