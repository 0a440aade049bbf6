"""One federation, given once, as a mapping: constants, the plan and costs, each with its interval and its source.

``Known`` maps words of the vocabulary to ``Stated``; what is not given follows by the table of ties. Sources, the
strongest first: a value that is given as ``word=value``, a file, a tie, a default.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping
from typing import Any, Self, TYPE_CHECKING

import numpy as np

from .errors import BoundsError
from .letters import unknown_quantity
from .quantities import Quantity
from .resolving import Resolved, resolved
from .sources import ALGORITHM, of_number, SAMPLING, told_by
from .stated import ADMISSIBLE, of_weights, PAIR, QUANTITIES, role_of, ROLES, ROUNDING, Stated, told
from .ties import EQUAL, FEDAVG, KNOBS, METHODS, SAMPLINGS, TIES

if TYPE_CHECKING:
    from .core import Bound


class Known:
    """A federation, its plan and its costs, by word; it never changes itself."""

    def __init__(
        self,
        given: Mapping[str, Stated],
        files: Mapping[str, Stated],
        sampling: str = SAMPLINGS[0],
        algorithm: str = METHODS[0],
        also: Iterable[Quantity] = (),
        stale: Mapping[str, str] | None = None,
        before: Known | None = None,
    ) -> None:
        self._given, self._files, self._also = dict(given), dict(files), tuple(also)
        self.sampling, self.base = sampling, algorithm
        _check_known(given, self._also)
        for word, said, known in ((SAMPLING, sampling, SAMPLINGS), (ALGORITHM, algorithm, METHODS)):
            if said not in known:
                hint = "".join(f": {name} is fedavg with {knob}=NUMBER" for name, knob, _ in KNOBS if name == said)
                raise BoundsError(f"{word} must be {' or '.join(known)}; got {said}{hint}")
        for source in (self._given, self._files):
            _check_pair(source)
        self._stale = {word: why for word, why in (stale or {}).items() if word not in given}
        self._whole: Resolved = resolved({**files, **given}, before._whole if before is not None else None)
        self._within: Resolved = self._whole
        if beyond := _beyond(self._whole):
            within = {word: stated for word, stated in self._whole.given.items() if word not in beyond}
            self._within = resolved(within, before._within if before is not None else None)
        self._stated = self._within.listed
        self._why = {**self._stale, **beyond}

    @classmethod
    def of(cls, *sources: str | Mapping[str, Any], also: Iterable[Quantity] = (), **typed: Any) -> Self:
        """From files (``"@c.json"``), ``"word=value"``, mappings like the object in such a file, and keywords.

        A mapping or a file may hold more words than anybody needs, and the notes ``_interval``, ``_how``,
        ``_provenance`` and ``_up_to`` (of a word the largest step size, say, up to which it holds); a keyword must be a
        word of the vocabulary, one of the quantities that it knows ``also`` (those of bounds of one's own),
        ``sampling`` or ``algorithm`` (``"scaffold"``; FedAvg's family is recognised by the numbers of its methods).
        What is
        typed goes before files and mappings. Raises ``BoundsError`` in one line, which names both, where two of the
        same strength disagree: by more than 1e-9, unless each lies in the other's interval.
        """
        if any(isinstance(source, Known) for source in sources):
            raise BoundsError("a Scenario is changed with at(word=value), not given to another one")
        told = told_by(sources, typed)
        files, stale = _left(told.files, told.typed, told.uniform)
        how = {SAMPLING: SAMPLINGS[0], ALGORITHM: METHODS[0], **told.said}
        return cls(told.typed, files, how[SAMPLING], how[ALGORITHM], also, stale)

    def at(self, **changed: Any) -> Self:
        """Another one, with these values in place of what was given or in the file; ties are computed again.

        With other weights of the clients, what a file says of the global loss or of runs is of another federation: it
        is left out, and ``missing`` says so.
        """
        said = {word: changed.pop(word, old) for word, old in self.said.items()}
        new = {word: of_number(word, value) for word, value in changed.items()}
        files, stale = _left(self._files, new)
        stale = {**self._stale, **stale}
        return type(self)({**self._given, **new}, files, **said, also=self._also, stale=stale, before=self)

    @property
    def said(self) -> dict[str, str]:
        """What is said in words and not in numbers: how clients are drawn, and what they run."""
        return {SAMPLING: self.sampling, ALGORITHM: self.base}

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
        if not isinstance(other, Known):
            return NotImplemented
        return self._stated == other._stated and self.said == other.said

    def source_of(self, word: str, bound: Bound) -> str:
        """The word of this scenario that stands for ``word`` in a bound: another one where an assumption asks so."""
        other = bound.word_of(word)
        return other if other in self else word

    def how(self, word: str) -> str:
        """One line: the word, its value, its interval, where it comes from."""
        return f"{word} = {self[word]}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._given) + len(self._files)} words given, {len(self)} known>"

    @property
    def method(self) -> str:
        """The algorithm that the plan's words describe, in FedAvg's family, or SCAFFOLD."""
        return self._named("{name}({knob}={value})")

    @property
    def algorithm(self) -> str:
        """The same without numbers: of several algorithms at once no theorem on one of them applies."""
        return self._named("{name}")

    def _named(self, form: str) -> str:
        known = ((name, knob, self[knob].value, off) for name, knob, off in KNOBS)
        knobs = [form.format(name=name, knob=knob, value=told(x)) for name, knob, x, off in known if x != off]
        return " with ".join([*([] if self.base == FEDAVG else [self.base]), *knobs]) or FEDAVG


AGAIN = tuple(
    tie for tie in TIES
    if tie.relation == EQUAL and not tie.counts and role_of(tie.left.name) not in ADMISSIBLE
    and any(role_of(word) in ADMISSIBLE for word in tie.needs)
)  # fmt: skip
"""What is computed again from a constant of an assumption that is given otherwise than in a file (L/mu)."""


def _check_known(given: Iterable[str], also: Iterable[Quantity]) -> None:
    known = {*QUANTITIES, *ROLES, *(quantity.name for quantity in also)}
    if strange := [word for word in given if word not in known]:
        first = unknown_quantity("word of a scenario", strange[0], {*QUANTITIES, SAMPLING, ALGORITHM})
        more = f"; also unknown: {', '.join(strange[1:])}" if strange[1:] else ""
        raise type(first)(f"{first}{more}")


def _left(
    files: Mapping[str, Stated], given: Mapping[str, Stated], uniform: bool = False
) -> tuple[dict[str, Stated], dict[str, str]]:
    """What of the files is not given otherwise, and of the words that are stale with it why.

    A pair goes as a whole. What a file computed from a constant that is given otherwise is computed again (L/mu).
    """
    paired = {word for word, role in ROLES.items() if role == PAIR}
    gone = set(given) | (paired if paired & set(given) else set()) | ({"client_weight"} if uniform else set())
    known = files.keys() | given.keys()
    for tie in AGAIN:
        replaced = any(w in given and w in files and role_of(w) in ADMISSIBLE for w in tie.needs)
        if replaced and all(w in known for w in tie.needs):
            gone.add(tie.left.name)
    stale = {}
    if "client_weight" in files and _reweighted(files["client_weight"], given.get("client_weight"), uniform):
        why = "that of {} is for other weights of the clients"
        stale = {word: why.format(s.origin) for word, s in files.items() if of_weights(word) and word not in given}
    return {word: stated for word, stated in files.items() if word not in {*gone, *stale}}, stale


def _reweighted(old: Stated, new: Stated | None, uniform: bool) -> bool:
    weights = np.asarray(old.value, dtype=float)
    other = np.full(weights.shape, 1 / weights.size) if uniform else None if new is None else np.asarray(new.value)
    return other is not None and not (
        other.shape in (weights.shape, ()) and np.allclose(other, weights, rtol=ROUNDING, atol=0)
    )


def _beyond(whole: Resolved) -> dict[str, str]:
    """What was given and does not hold for this plan, and why."""
    found = whole.listed
    return {
        word: f"that of {stated.origin} holds for {other} up to {limit:g} alone; here it is {told(found[other].value)}"
        for word, stated in whole.given.items()
        for other, limit in stated.up_to
        if other in found and np.max(found[other].value) > limit * (1 + ROUNDING)
    }


def _check_pair(source: Mapping[str, Stated]) -> None:
    """The two constants of dissimilarity come from one source: halves of two pairs do not hold together."""
    pair = [word for word, role in ROLES.items() if role == PAIR]
    if sum(word in source for word in pair) == 1:
        one, other = sorted(pair, key=lambda word: word not in source)
        raise BoundsError(f"{one} and {other} hold as a pair: {one} is {source[one].origin}, so give {other} with it")
