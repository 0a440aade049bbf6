"""A federation as a mapping from quantities to values: constants, plan and costs, each with an interval and a source.

What is not given follows by ``bounds.identities``. Sources in order of precedence: a value given as
``quantity=value``, a file, an identity, a default.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping
from typing import Any, Self, TYPE_CHECKING

import numpy as np

from .errors import BoundsError, UnknownNameError
from .identities import EQUAL, FEDAVG, IDENTITIES, KNOBS, METHODS, SAMPLINGS
from .letters import quantity_named, unknown_quantity
from .quantities import Quantity
from .resolving import resolve
from .scenario_values import (
    ADMISSIBLE,
    format_value,
    of_weights,
    QUANTITIES,
    Role,
    role_of,
    ROLES,
    ROUNDING,
    ScenarioValue,
)
from .sources import ALGORITHM, from_number, parse_sources, SAMPLING

if TYPE_CHECKING:
    from .core import Bound


class ScenarioMapping:
    """An immutable mapping from names of quantities to ``ScenarioValue``; the base class of ``Scenario``."""

    def __init__(
        self,
        given: Mapping[str, ScenarioValue],
        files: Mapping[str, ScenarioValue],
        sampling: str = SAMPLINGS[0],
        algorithm: str = METHODS[0],
        also: Iterable[Quantity] = (),
        stale: Mapping[str, str] | None = None,
    ) -> None:
        self._given, self._files, self._also = dict(given), dict(files), tuple(also)
        self.sampling, self.base = sampling, algorithm
        _check_known(given, self._also)
        for option, text, allowed in ((SAMPLING, sampling, SAMPLINGS), (ALGORITHM, algorithm, METHODS)):
            if text not in allowed:
                hint = "".join(f": {name} is fedavg with {knob}=NUMBER" for name, knob, _ in KNOBS if name == text)
                raise BoundsError(f"{option} must be {' or '.join(allowed)}; got {text}{hint}")
        for source in (self._given, self._files):
            _check_pair(source)
        self._stale = {word: why for word, why in (stale or {}).items() if word not in given}
        known = {**files, **given}
        self._values = resolve(known)
        if beyond := _beyond(known, self._values):
            self._values = resolve({word: value for word, value in known.items() if word not in beyond})
        self.why_missing = {**self._stale, **beyond}
        """Why a value that was given cannot be used, by quantity."""

    @classmethod
    def of(
        cls, *sources: str | Mapping[str, Any], also: Iterable[Quantity] = (), papers: Iterable[str] = (), **typed: Any
    ) -> Self:
        """Build a scenario from files (``"@c.json"``), ``"quantity=value"``, mappings, and keywords.

        A mapping has the form of the JSON object in a file. Both may hold quantities that no bound needs, and the notes
        ``_interval``, ``_how``, ``_provenance`` and ``_up_to`` (the largest value, for example of the step size, up to
        which a constant is valid). A keyword must be a quantity of the vocabulary, a quantity in ``also`` (for the
        user's own bounds), a letter with one meaning in all ``papers``, ``sampling``, or ``algorithm`` (``"scaffold"``;
        relatives of FedAvg are recognised by their parameters). Texts and keywords precede files and mappings.

        Raises:
            BoundsError: Two sources of equal precedence disagree by more than 1e-9 and not each of the two values lies
                in the other's interval.
        """
        if any(isinstance(source, ScenarioMapping) for source in sources):
            raise BoundsError("a Scenario is changed with at(quantity=value), not given to another one")
        names = {*QUANTITIES, *(quantity.name for quantity in also)}
        parsed = parse_sources(sources, typed, lambda word: quantity_named(word, names, *papers))
        files, stale = _still_valid(parsed.files, parsed.typed, parsed.uniform)
        options = {SAMPLING: SAMPLINGS[0], ALGORITHM: METHODS[0], **parsed.options}
        return cls(parsed.typed, files, options[SAMPLING], options[ALGORITHM], also, stale)

    def at(self, **changed: Any) -> Self:
        """Return a copy in which these values replace those that were given; what follows is derived again.

        If the clients' weights change, a file's constants of the global loss and of runs belong to another federation:
        they are dropped, and ``missing`` explains why.
        """
        options = {word: changed.pop(word, old) for word, old in self.text_options.items()}
        new = {word: from_number(word, value) for word, value in changed.items()}
        files, stale = _still_valid(self._files, new)
        stale = {**self._stale, **stale}
        return type(self)({**self._given, **new}, files, **options, also=self._also, stale=stale)

    @property
    def text_options(self) -> dict[str, str]:
        """The options that are not numbers: the sampling of clients and the base algorithm."""
        return {SAMPLING: self.sampling, ALGORITHM: self.base}

    # ---- as a mapping ----

    def __getitem__(self, word: str) -> ScenarioValue:
        return self._values[word]

    def __contains__(self, word: object) -> bool:
        return word in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def keys(self) -> KeysView[str]:
        return self._values.keys()

    def items(self) -> ItemsView[str, ScenarioValue]:
        return self._values.items()

    def get(self, word: str) -> ScenarioValue | None:
        return self._values.get(word)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ScenarioMapping):
            return NotImplemented
        return self._values == other._values and self.text_options == other.text_options

    def source_of(self, word: str, bound: Bound) -> str:
        """Return the quantity of this scenario whose value a bound uses for ``word``: see ``Statement.word_of``."""
        other = bound.word_of(word)
        return other if other in self else word

    def how(self, word: str) -> str:
        """Describe one quantity in a line: its value, its interval, and where it comes from."""
        return f"{word} = {self[word]}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._given) + len(self._files)} quantities given, {len(self)} known>"

    @property
    def method(self) -> str:
        """The algorithm with its parameters, such as ``fedinit(relaxation=0.1)``."""
        return self._method_text("{name}({knob}={value})")

    @property
    def algorithm(self) -> str:
        """The algorithm without numbers. A combination of several has a name that no theorem is about."""
        return self._method_text("{name}")

    def _method_text(self, form: str) -> str:
        parts = [] if self.base == FEDAVG else [self.base]
        for name, knob, off in KNOBS:
            if (value := self[knob].value) != off:
                parts.append(form.format(name=name, knob=knob, value=format_value(value)))
        return " with ".join(parts) or FEDAVG


DERIVED_FROM_CONSTANTS = tuple(
    identity for identity in IDENTITIES
    if identity.relation == EQUAL and not identity.counts_entries and role_of(identity.left.name) not in ADMISSIBLE
    and any(role_of(word) in ADMISSIBLE for word in identity.needs)
)  # fmt: skip
"""Identities whose left side must be derived again if a constant in a file is replaced, such as L/mu."""


def _check_known(given: Iterable[str], also: Iterable[Quantity]) -> None:
    known = {*QUANTITIES, *ROLES, *(quantity.name for quantity in also)}
    if strange := [word for word in given if word not in known]:
        known = {*QUANTITIES, SAMPLING, ALGORITHM}
        raise UnknownNameError("; ".join(str(unknown_quantity("quantity", word, known)) for word in strange))


def _still_valid(
    files: Mapping[str, ScenarioValue], given: Mapping[str, ScenarioValue], uniform: bool = False
) -> tuple[dict[str, ScenarioValue], dict[str, str]]:
    """Return the values of files that the given ones do not replace, and why others became stale.

    A pair is replaced as a whole, and so is a number that the file derived from a replaced constant (L/mu).
    """
    paired = {word for word, role in ROLES.items() if role == Role.PAIR}
    replaced = set(given) | (paired if paired & set(given) else set()) | ({"client_weight"} if uniform else set())
    known = files.keys() | given.keys()
    for identity in DERIVED_FROM_CONSTANTS:
        changed = any(w in given and w in files and role_of(w) in ADMISSIBLE for w in identity.needs)
        if changed and all(w in known for w in identity.needs):
            replaced.add(identity.left.name)
    stale = {}
    if "client_weight" in files and _reweighted(files["client_weight"], given.get("client_weight"), uniform):
        why = "the value in {} is for other weights of the clients"
        stale = {word: why.format(s.origin) for word, s in files.items() if of_weights(word) and word not in given}
    return {word: value for word, value in files.items() if word not in {*replaced, *stale}}, stale


def _reweighted(old: ScenarioValue, new: ScenarioValue | None, uniform: bool) -> bool:
    """Whether the clients' weights change: to uniform ones, or to ``new`` unless it is None."""
    if not uniform and new is None:
        return False
    weights = np.asarray(old.value, dtype=float)
    other = np.asarray(1 / weights.size if uniform or new is None else new.value)
    same_shape = other.shape in (weights.shape, ())
    return not (same_shape and np.allclose(other, weights, rtol=ROUNDING, atol=0))


def _beyond(given: Mapping[str, ScenarioValue], resolved: Mapping[str, ScenarioValue]) -> dict[str, str]:
    """Return the given quantities whose values are not valid for this plan, each with the reason."""
    reasons = {}
    for word, value in given.items():
        for other, limit in value.up_to:
            here = resolved.get(other)
            if here is not None and np.max(here.value) > limit * (1 + ROUNDING):
                reasons[word] = (
                    f"the value in {value.origin} is valid for {other} up to {limit:g} only; "
                    f"here it is {format_value(here.value)}"
                )
    return reasons


def _check_pair(source: Mapping[str, ScenarioValue]) -> None:
    """Raise if one of the two dissimilarity constants is missing: halves of two pairs do not form a valid pair."""
    pair = [word for word, role in ROLES.items() if role == Role.PAIR]
    if sum(word in source for word in pair) == 1:
        one, other = sorted(pair, key=lambda word: word not in source)
        raise BoundsError(f"{one} and {other} hold as a pair: {one} is {source[one].origin}, so give {other} with it")
