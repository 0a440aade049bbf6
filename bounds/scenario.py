"""One federation, told once: its constants, the plan and the costs, each with its interval and where it comes from.

A ``Scenario`` maps words of the vocabulary to ``Stated``; what is not given follows by the table of ties. Sources, the
strongest first: a value that is given as ``word=value``, a file, a tie, a default.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import product
from types import SimpleNamespace
from typing import Any, TYPE_CHECKING

import numpy as np

from .errors import BoundsError, DomainError
from .letters import unknown_quantity
from .quantities import CLIENTS, Quantity
from .showing.files import from_json
from .showing.reading import read, Value
from .stated import (
    ADMISSIBLE,
    ASSUMED,
    CHOSEN,
    COST,
    DESIGN,
    EXACT,
    FREE,
    INTERVAL,
    LOWER,
    PAIR,
    PROVED,
    PROVENANCES,
    QUANTITIES,
    role_of,
    ROLES,
    Stated,
    told,
    UP,
    worst,
)
from .ties import AT_LEAST, AT_MOST, EQUAL, length, ROUNDING, TAKEN, Tie, TIES

if TYPE_CHECKING:
    from .core import Bound
    from .substituting import Substituted


MOST_CLIENTS = 1_000_000
"""Clients of whom lists are made."""

WITHOUT_REPLACEMENT = "without_replacement"
SAMPLINGS = (WITHOUT_REPLACEMENT, "with_replacement")


class Scenario:
    """A federation, its plan and its costs, by word. Made with ``of``, changed with ``at``; never changes itself.

    >>> s = Scenario.of(clients=10, cohort=4, local_steps=3, rounds=20, step_size=0.05)
    >>> print(s["iterations"])
    60; chosen: local_steps*rounds (the same step size and local steps in every round)
    >>> s.at(local_steps=5)["iterations"].value
    100.0
    """

    def __init__(
        self,
        given: Mapping[str, Stated],
        files: Mapping[str, Stated],
        sampling: str = SAMPLINGS[0],
        also: Iterable[Quantity] = (),
    ) -> None:
        self._given, self._files, self.sampling, self._also = dict(given), dict(files), sampling, tuple(also)
        _check_known(given, self._also)
        if sampling not in SAMPLINGS:
            raise BoundsError(f"sampling must be {' or '.join(SAMPLINGS)}; got {sampling}")
        for source in (self._given, self._files):
            _check_pair(source)
        self._stated = _resolved({**files, **given})

    @classmethod
    def of(cls, *sources: str | Mapping[str, Any], also: Iterable[Quantity] = (), **typed: Any) -> Scenario:
        """From files (``"@c.json"``), ``"word=value"``, mappings like the object in such a file, and keywords.

        A mapping or a file may hold more words than anybody needs, and the notes ``_interval``, ``_how`` and
        ``_provenance``; a keyword must be a word of the vocabulary, one of the quantities that it knows ``also`` (those
        of bounds of one's own), or ``sampling``. Raises ``BoundsError`` in one line where two sources of one word
        disagree.
        """
        files: dict[str, Stated] = {}
        given: dict[str, Stated] = {}
        sampling = typed.pop("sampling", SAMPLINGS[0])
        texts = [f"{word}={typed.pop(word)}" for word in list(typed) if isinstance(typed[word], str)]
        for source in sources:
            if isinstance(source, Scenario):
                raise BoundsError("a Scenario is changed with at(word=value), not given to another one")
            if isinstance(source, Mapping):
                files |= _of_mapping(source, "given")
            elif source.startswith("sampling="):
                sampling = source.partition("=")[2]
            else:
                texts.append(source)
        files |= _of_files(texts)
        typed_words = {word: v for word, v in read(texts).items() if not v.optional}
        files = {w: s for w, s in files.items() if w not in typed_words}
        given |= _typed(typed_words)
        given |= {word: _of_number(word, value) for word, value in typed.items()}
        return cls(given, _left(files, given), sampling, also)

    def at(self, **changed: Any) -> Scenario:
        """Another one, with these values in place of what was given or in the file; ties are computed again."""
        sampling = changed.pop("sampling", self.sampling)
        new = {word: _of_number(word, value) for word, value in changed.items()}
        return Scenario({**self._given, **new}, _left(self._files, new), sampling, self._also)

    # ---- as a mapping ----

    def __getitem__(self, word: str) -> Stated:
        return self._stated[word]

    def __contains__(self, word: object) -> bool:
        return word in self._stated

    def __iter__(self) -> Iterator[str]:
        return iter(self._stated)

    def keys(self) -> KeysView[str]:
        return self._stated.keys()

    def items(self) -> ItemsView[str, Stated]:
        return self._stated.items()

    def get(self, word: str) -> Stated | None:
        return self._stated.get(word)

    def __len__(self) -> int:
        return len(self._stated)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return self._stated == other._stated and self.sampling == other.sampling

    def how(self, word: str) -> str:
        """One line: the word, its value, its interval, where it comes from."""
        return f"{word} = {self[word]}"

    def __repr__(self) -> str:
        return f"<Scenario of {len(self._given) + len(self._files)} words given, {len(self)} known>"

    # ---- in a bound ----

    def source_of(self, word: str, bound: Bound) -> str:
        """The word of this scenario that stands for ``word`` in a bound: another one where an assumption asks so."""
        other = bound.word_of(word)
        return other if other in self else word

    def missing(self, bound: Bound) -> dict[str, str]:
        """The words that the bound needs and this scenario lacks, each with how to give it."""
        wanted = [q.name for q in bound.quantities if role_of(q.name) != FREE]
        lacking = [word for word in wanted if self.source_of(word, bound) not in self]
        if any(role_of(word) == PAIR for word in lacking):
            from .substituting import pairs

            lacking = [word for word in lacking if role_of(word) != PAIR or not pairs(self)]
        return {word: _how_to_give(word) for word in lacking}

    def substituted(self, bound: Bound) -> Substituted:
        """What is put into the bound, and the values that come out: see ``bounds.substituting``."""
        from .substituting import substitute

        return substitute(self, bound)

    def values(self, bound: Bound) -> dict[str, Any]:
        """The numbers with which ``bound(**values)`` is valid here: the safe side of every word by its role.

        Raises ``BoundsError`` where words are missing.
        """
        return dict(self.substituted(bound).values)

    # ---- what assumptions read ----

    @cached_property
    def facts(self) -> tuple[SimpleNamespace, SimpleNamespace, SimpleNamespace]:
        """Problem, algorithm and setting in the attributes that assumptions read; what nobody knows is left out.

        FedAvg is FedInit without relaxation, and FedCOG that distils with weight 0: then all clients hold the same
        generated data, which nobody looks at.
        """
        from .substituting import pairs

        problem = {word: self[word].safe for word in PROBLEM_FACTS if word in self}
        problem = {word: value if np.ndim(value) == 0 else max(value) for word, value in problem.items()}
        if "optimal_loss" in self or "initial_gap" in self:
            problem["lower_bound"] = self["optimal_loss"].value if "optimal_loss" in self else 0.0
        if "strong_convexity" in self:
            problem["convex"] = True
        if any(word in self and np.max(self[word].low) > 0 for word in ("heterogeneity", "optimum_dissimilarity")):
            problem["identical_clients"] = False
        if "dissimilarity_offset" not in self and (known := pairs(self)):
            problem["dissimilarity_offset"] = known[0].offset
        setting: dict[str, Any] = {w: self[w].value for w in ("clients", "cohort", "local_steps") if w in self}
        if "step_size" in self:
            setting["step_sizes"] = self["step_size"].value
            setting["iteration_step_sizes"] = (self["step_size"].value,) * 3  # which fall in no plan of a fixed one
        setting["sampling"] = self.sampling
        method: dict[str, Any] = {"local_sgd": True, "exact_local_solver": False, "relaxed_start": True}
        if self["distillation_weight"].value == 0:
            method["shared_generated_data"] = True
        return SimpleNamespace(**problem), SimpleNamespace(**method), SimpleNamespace(**setting)

    @property
    def method(self) -> str:
        """The algorithm that the plan's words describe, in FedAvg's family."""
        knobs = [f"{name}({knob}={told(self[knob].value)})" for name, knob, off in KNOBS if self[knob].value != off]
        return " with ".join(knobs) or FEDAVG

    @property
    def algorithm(self) -> str:
        """The same without numbers: of several algorithms at once no theorem on one of them speaks."""
        return " with ".join(name for name, knob, off in KNOBS if self[knob].value != off) or FEDAVG


PROBLEM_FACTS = (
    "smoothness", "strong_convexity", "pl_constant", "lipschitz", "gradient_variance", "grad_cap_sq",
    "dissimilarity_offset", "loss_cap", "sample_smoothness", "uniform_dissimilarity",
)  # fmt: skip
FEDAVG = "fedavg"
KNOBS = (("fedinit", "relaxation", 0), ("fedcog", "distillation_weight", 0), ("fedals", "adaptation", 1))
"""The algorithm that is FedAvg where its knob has this value."""


# ---- sources ----


def _of_number(word: str, value: Any) -> Stated:
    if isinstance(value, Stated):
        return value
    if isinstance(value, str):
        raise DomainError(f"{word} must be a number, or a list of one for each client; got {value!r}")
    return _stated(word, value, None, ASSUMED, "typed")


def _stated(word: str, value: Any, ends: Any, provenance: str, how: str) -> Stated:
    """A given value, checked against the domain of its word."""
    number = _frozen(word, value)
    low, high = (number, number) if ends is None else (_frozen(word, end) for end in ends)
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
    return Stated(number, low, high, provenance, role, how, frozenset([word]))


def _frozen(word: str, value: Any) -> Any:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise DomainError(f"{word} must be a number, or a list of one for each client; got {value!r}") from None
    if array.ndim > 1:
        raise DomainError(f"{word} must be a number, or a list of one for each client; got lists in a list")
    return float(array) if array.ndim == 0 else tuple(array.tolist())


def _typed(values: Mapping[str, Value], how: str = "typed") -> dict[str, Stated]:
    for word, value in values.items():
        if value.kind == "uniform" and word != "client_weight":
            raise DomainError(f"{word} must be a number; uniform is for client_weight alone")
    return {word: _of_value(word, value, ASSUMED, how) for word, value in values.items() if value.kind != "uniform"}


def _of_value(word: str, value: Value, provenance: str, how: str) -> Stated:
    quantity = QUANTITIES.get(word)
    listed = quantity is None or bool(quantity.card.axis)
    if value.kind in ("range", "table") or (value.kind == "list" and not listed):
        raise DomainError(f"{word} is one number here, not a sweep; give {word}=NUMBER")
    numbers = value.numbers.item() if value.numbers.ndim == 0 else value.numbers
    return _stated(word, numbers, value.ends, provenance, how)


def _of_files(texts: Iterable[str]) -> dict[str, Stated]:
    """The values of constants files with their notes; ``read`` refuses two that say different things."""
    paths = [text[1:] for text in texts if text.startswith("@")]
    read_ = read([t for t in texts if "=" in t or t.startswith("@")]) if paths else {}
    found: dict[str, Stated] = {}
    for path in paths:
        notes = from_json(path)
        for word, value in read([f"@{path}"]).items():
            if word in read_ and read_[word].optional and word not in found and value.kind != "uniform":
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


def _noted(word: str, notes: Mapping[str, Any], name: str, uncertain: bool) -> tuple[str, str]:
    """Provenance and how of a word in a file, from its notes: without any, it is the word of whoever wrote it."""
    told = [notes.get(note, {}) for note in ("_how", "_provenance")]
    if any(not isinstance(words, Mapping) for words in told) or not isinstance(told[0].get(word, ""), str):
        raise BoundsError(f"{name}: _how and _provenance must hold words by quantity")
    how, said = told[0].get(word, ""), told[1].get(word)
    if said is None:
        said = LOWER if "lower estimate" in how else INTERVAL if uncertain else PROVED if how else ASSUMED
    if said not in PROVENANCES:
        raise BoundsError(f"{name}: _provenance of {word} must be one of {', '.join(PROVENANCES)}; got {said!r}")
    return said, f"{name}: {how}" if how else name


def _check_known(given: Iterable[str], also: Iterable[Quantity]) -> None:
    own = {quantity.name for quantity in also}
    for word in given:
        if word not in QUANTITIES and word not in ROLES and word not in own:
            raise unknown_quantity("word of a scenario", word, {*QUANTITIES, "sampling"})


def _left(files: Mapping[str, Stated], given: Mapping[str, Stated]) -> dict[str, Stated]:
    """What of the files is not given otherwise; a pair goes as a whole."""
    paired = {word for word, role in ROLES.items() if role == PAIR}
    gone = set(given) | (paired if paired & set(given) else set())
    return {word: stated for word, stated in files.items() if word not in gone}


def _check_pair(source: Mapping[str, Stated]) -> None:
    """The two constants of dissimilarity come from one source: halves of two pairs do not hold together."""
    pair = [word for word, role in ROLES.items() if role == PAIR]
    if sum(word in source for word in pair) == 1:
        one, other = sorted(pair, key=lambda word: word not in source)
        raise BoundsError(f"{one} and {other} hold as a pair: {one} is {_origin(source[one])}, so give {other} with it")


def _how_to_give(word: str) -> str:
    by = [str(tie.right) for tie in TIES if tie.left.name == word and tie.needs and tie.relation != TAKEN]
    return f"give {word}=NUMBER" + (f", or what {' or '.join(by)} needs" if by else "")


# ---- ties ----


def _resolved(given: Mapping[str, Stated]) -> dict[str, Stated]:
    """All words that follow; every equality between words that were given independently of each other is checked."""
    found = dict(given)
    kinds: tuple[tuple[str, ...], ...] = ((EQUAL,), (AT_MOST, AT_LEAST), (TAKEN,))
    while any(_put_in(found, kind) for kind in kinds):
        pass
    found |= {word: _for_all_clients(word, stated, found) for word, stated in found.items()}
    for tie in TIES:
        if tie.relation == EQUAL and tie.left.name in found:
            _check_agreement(tie, found)
    _check_order(found)
    return found


def _for_all_clients(word: str, stated: Stated, found: Mapping[str, Stated]) -> Stated:
    """A number given for all clients alike as the list over them."""
    quantity = QUANTITIES.get(word)
    if quantity is None or quantity.card.axis != CLIENTS or np.ndim(stated.value) or "clients" not in found:
        return stated
    count = _count(found)
    value, low, high = ((float(end),) * count for end in (stated.value, stated.low, stated.high))
    quantity.card.domain.check(word, np.asarray(value))
    return replace(stated, value=value, low=low, high=high)


def _put_in(found: dict[str, Stated], relations: tuple[str, ...]) -> bool:
    """Put in the first missing word that a tie of these kinds gives; False where there is none."""
    for tie in TIES:
        if tie.relation in relations and tie.left.name not in found and _ready(tie, found):
            follows = _follows(tie, found)
            if follows is not None:
                found[tie.left.name] = follows
                return True
    return False


def _ready(tie: Tie, found: Mapping[str, Stated]) -> bool:
    """Whether a tie gives its left word: a list over clients waits until they are counted, a number counts none."""
    if any(word not in found for word in tie.needs) or (tie.left.card.axis == CLIENTS and "clients" not in found):
        return False
    return not tie.right.has(length) or all(np.ndim(found[word].value) for word in tie.needs)


def _follows(tie: Tie, found: Mapping[str, Stated]) -> Stated | None:
    """What a tie gives; None where it says no more than that there is some number: its end is infinite."""
    word = tie.left.name
    if tie.left.card.axis == CLIENTS:
        _count(found)
    sources = [found[w] for w in tie.needs]
    low, high = _ends(tie, [_within(w, found[w]) for w in tie.needs], found)
    value = _value(tie, [s.value for s in sources], found)
    role = role_of(word)
    if role not in ADMISSIBLE and tie.relation == AT_MOST:
        value, low = high, tie.left.card.domain.low
    elif role not in ADMISSIBLE and tie.relation == AT_LEAST:
        value, high = low, tie.left.card.domain.high
    if tie.relation in (AT_MOST, AT_LEAST) and not np.all(np.isfinite(value)):
        return None
    provenance = worst(*sources, tie.provenance or EXACT)
    if tie.relation in (AT_MOST, AT_LEAST) and provenance in (EXACT, CHOSEN):
        provenance = PROVED
    _check_domain(tie, value, found)
    return Stated(value, low, high, provenance, role, tie.formula, frozenset().union(*(s.support for s in sources)))


def _check_domain(tie: Tie, value: Any, found: Mapping[str, Stated]) -> None:
    """A plan in which nothing can happen, such as a runtime of less than a round, is refused where it is made."""
    try:
        near = np.asarray(value, dtype=float)
        whole = tie.left.card.domain.whole
        tie.left.card.domain.check(tie.left.name, np.rint(near) if whole and np.allclose(near, np.rint(near)) else near)
    except DomainError as error:
        said = ", ".join(f"{w} = {told(found[w].value)}" for w in tie.needs)
        raise DomainError(f"{error}, by {tie.left.name} {tie.relation} {tie.right} with {said}") from None


def _count(found: Mapping[str, Stated]) -> int:
    """How long a list over the clients is; refused where it would not fit into memory."""
    count = int(found["clients"].value)
    if count > MOST_CLIENTS:
        raise DomainError(f"clients must be at most {MOST_CLIENTS} to be listed one by one; got {count}")
    return count


def _value(tie: Tie, numbers: Iterable[Any], found: Mapping[str, Stated]) -> Any:
    with np.errstate(all="ignore"):
        made = np.asarray(tie.value(*(np.asarray(n, dtype=float) for n in numbers)), dtype=float)
    if tie.left.card.domain.whole and np.allclose(made, np.rint(made), rtol=ROUNDING, atol=0):
        made = np.rint(made)
    if tie.left.card.axis == CLIENTS and made.ndim == 0 and "clients" in found:
        made = np.full(_count(found), float(made))
    return float(made) if made.ndim == 0 else tuple(made.tolist())


def _ends(tie: Tie, around: list[tuple[Any, Any]], found: Mapping[str, Stated]) -> tuple[Any, Any]:
    """The ends of a tie's right side: every one is monotone in each of its words, so its corners are enough."""
    varied = [pair if pair[0] != pair[1] else pair[:1] for pair in around]
    corners = np.array([_value(tie, corner, found) for corner in product(*varied)], dtype=float)
    low, high = np.nanmin(corners, axis=0), np.nanmax(corners, axis=0)
    return (low.item(), high.item()) if low.ndim == 0 else (tuple(low.tolist()), tuple(high.tolist()))


def _within(word: str, stated: Stated) -> tuple[Any, Any]:
    """The ends of a word inside of its domain: of a positive number without a lower end that is 0."""
    domain = QUANTITIES[word].card.domain
    return tuple(_frozen(word, np.clip(np.asarray(end), domain.low, domain.high)) for end in (stated.low, stated.high))


def _check_agreement(tie: Tie, found: Mapping[str, Stated]) -> None:
    """Two sources of one word must be of one mind; constants that are only admissible may differ."""
    left = found[tie.left.name]
    sources = [found[w] for w in tie.needs if w in found]
    if left.role in ADMISSIBLE or not _ready(tie, found) or any(tie.left.name in s.support for s in sources):
        return
    if left.support <= frozenset().union(*(s.support for s in sources)) or any(s.floor for s in sources):
        return
    near = [(_widened(s.low, -1), _widened(s.high, 1)) for s in sources]
    low, high = _loose_ends(tie, near, found)
    slack = ROUNDING * np.abs(np.asarray(left.value, dtype=float))
    if np.shape(left.value) == np.shape(low) and not (
        np.all(np.asarray(left.low) - slack <= high) and np.all(low <= np.asarray(left.high) + slack)
    ):
        said = ", ".join(f"{w} = {told(found[w].value)} ({_origin(found[w])})" for w in tie.needs)
        made = told(_value(tie, [s.value for s in sources], found))
        raise BoundsError(
            f"two sources of {tie.left.name} disagree: it is {told(left.value)} ({_origin(left)}), and {made} by "
            f"{tie.right} with {said}; leave one of them out"
        )


def _loose_ends(tie: Tie, near: list[tuple[Any, Any]], found: Mapping[str, Stated]) -> tuple[Any, Any]:
    corners = np.array([_value(tie, corner, found) for corner in product(*near)], dtype=float)
    return corners.min(axis=0), corners.max(axis=0)


def _widened(end: Any, sign: int) -> Any:
    number = np.asarray(end, dtype=float)
    return number + sign * ROUNDING * np.abs(number)


def _origin(stated: Stated) -> str:
    return stated.how.partition(":")[0]


def _check_order(found: Mapping[str, Stated]) -> None:
    """A word that can never exceed another one (mu and L, N and C) must not."""
    for word, stated in found.items():
        limit = QUANTITIES[word].card.at_most if word in QUANTITIES else None
        if limit is not None and limit.name in found:
            least, most = np.max(stated.low), np.max(found[limit.name].high)
            if least > most * (1 + ROUNDING):
                other = found[limit.name]
                raise DomainError(
                    f"{word} must be at most {limit.name}; got {told(stated.value)} ({_origin(stated)}) > "
                    f"{told(other.value)} ({_origin(other)})"
                )
