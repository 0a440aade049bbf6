"""The search for a counterexample in all families that serve a bound, its simplification, and exact confirmation."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from bounds.core import Bound
from bounds.errors import BoundsError, UnknownNameError
from empirics.progress import Progress, Silent

from ..falsify_options import EVALUATIONS
from .atoms import Atoms
from .cells import Cells, Visited
from .core import Instance, MARGIN
from .curves import Curves
from .exact import Exactly
from .family import Family
from .quadratics import QuadraticRuns
from .search import Searcher, SearchState
from .simplify import Shrinker
from .witness import compared, formula, loaded, Replay, Witness, witness_of, WitnessError

FAMILIES: dict[str, Family] = {family.name: family for family in (QuadraticRuns(), Curves(), Atoms())}
"""All families of instances, by name."""
TRIES = 4
"""Number of searches in a family while exact arithmetic does not confirm what they find."""


class CannotServeError(BoundsError):
    """No family can compute both sides of the bound, or no instance meets its conditions."""


@dataclass(frozen=True)
class Search:
    """The result of a search: a counterexample (``witness``), or the largest ratio, which proves nothing.

    Attributes:
        ratio, score, instance: Measured over bound, score and numbers of the worst instance.
        evaluations, admissible: Counts of evaluated instances, and of those that meet all conditions.
        undecided: Conditions that cannot be decided automatically.
        families, refusals: The searched families, and why others were not searched.
        unconfirmed: Number of violations in floating point that exact arithmetic did not confirm.
        visited: The range of the search in every family.
        shares: For every term, the largest share of it that an instance needs; 0: the term was not tested.
    """

    bound: str
    ratio: float
    score: float
    evaluations: int
    admissible: int
    seconds: float
    witness: Witness | None
    undecided: tuple[str, ...]
    families: tuple[str, ...]
    refusals: Mapping[str, str] = field(default_factory=dict)
    unconfirmed: int = 0
    interrupted: bool = False
    instance: Instance = field(default_factory=dict)
    visited: tuple[Visited, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)

    @property
    def violated(self) -> bool:
        return self.witness is not None


def serving(bound: Bound, family: str | None = None) -> tuple[list[Family], dict[str, str]]:
    """Return the families that serve a bound, and why others do not; raise ``CannotServeError`` if none does."""
    if family is not None and family not in FAMILIES:
        raise CannotServeError(f"unknown family {family!r}; available: {', '.join(FAMILIES)}")
    chosen = [FAMILIES[family]] if family else list(FAMILIES.values())
    reasons = {f.name: f.refuses(bound) for f in chosen}
    able = [f for f in chosen if not reasons[f.name]]
    if not able:
        why = reasons[chosen[0].name]
        if len({*reasons.values()}) > 1:
            why = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        more = "fedbounds validate --measured compares your own runs"
        raise CannotServeError(f"no family of instances serves {bound.name}: {why}; {more}")
    return able, {name: reason for name, reason in reasons.items() if reason}


def falsify(
    bound: Bound,
    evaluations: int = EVALUATIONS,
    seed: int = 0,
    family: str | None = None,
    *,
    minutes: float | None = None,
    pins: Mapping[str, float] | None = None,
    progress: Progress | None = None,
    name: str | None = None,
    simplify: bool = True,
) -> Search:
    """Search for an instance that meets all decidable conditions of a bound and violates it.

    Args:
        bound: The bound.
        evaluations: The budget, which the families share.
        seed: The same seed gives the same search.
        family: Search this family only.
        minutes: Stop after this time.
        pins: Numbers of the instances that are fixed, by name.
        progress: Where to report progress.
        name: How a counterexample names the bound (a name, or path/file.py:variable).
        simplify: Whether to simplify a violation; otherwise it is confirmed nearly as it was found.

    Raises:
        CannotServeError: If no family serves the bound, or no instance met its conditions.
    """
    able, refusals = serving(bound, family)
    able, refusals = _with_pins(bound, able, refusals, pins or {})
    bar = progress or Silent()
    began = time.monotonic()
    deadline = began + 60 * minutes if minutes else float("inf")
    bar.start(evaluations)
    searches: list[tuple[Family, SearchState]] = []
    witness, unconfirmed = None, 0
    for index, searched in enumerate(able):
        left = max(1, (evaluations + index) // len(able))  # these add up to the budget
        for attempt in range(TRIES):
            state = Searcher(bound, searched, left, seed + 1000 * attempt, deadline, bar, pins or {}).run()
            searches.append((searched, state))
            left -= state.evaluations
            if state.score > MARGIN:
                shrinker = Shrinker(bound, searched, state.instance, pins)
                witness = _confirmed(shrinker, name or bound.name, simplify)
                unconfirmed += witness is None
            if witness or state.interrupted or left < 1:
                break
        if witness or state.interrupted:
            break
    return _summary(bound, searches, witness, unconfirmed, refusals, time.monotonic() - began)


def _with_pins(
    bound: Bound, able: list[Family], refusals: dict[str, str], pins: Mapping[str, float]
) -> tuple[list[Family], dict[str, str]]:
    """Return the families whose instances can have these numbers, and all refusals; raise an error if none can."""
    errors: dict[str, BoundsError] = {}
    for family in able:
        try:
            family.box(bound).pinned(pins)
        except BoundsError as error:
            errors[family.name] = error
    remaining = [family for family in able if family.name not in errors]
    if not remaining:  # an error about a value is more helpful than one about an unknown name
        raise min(errors.values(), key=lambda error: isinstance(error, UnknownNameError))
    return remaining, refusals | {name: str(error) for name, error in errors.items()}


def _confirmed(shrinker: Shrinker, name: str, simplify: bool) -> Witness | None:
    """Return the simplified violation as a witness, or the original one if only that is confirmed exactly."""
    bound, family, original = shrinker.bound, shrinker.family, dict(shrinker.instance)
    try:
        simple = shrinker.run() if simplify else shrinker.smaller()
    except KeyboardInterrupt:
        simple = original
    for instance in (simple, original) if simple != original else (original,):
        exact: Exactly = family.exactly(bound, instance)
        if exact.violated:
            return witness_of(bound, name, family.name, instance, exact)
    return None


def _summary(
    bound: Bound,
    searches: list[tuple[Family, SearchState]],
    witness: Witness | None,
    unconfirmed: int,
    refusals: Mapping[str, str],
    seconds: float,
) -> Search:
    """Return the result of all searches; raise ``CannotServeError`` if no instance was admissible."""
    family, best = max(searches, key=lambda pair: pair[1].score)
    states = [state for _, state in searches]
    evaluations, admissible = sum(s.evaluations for s in states), sum(s.admissible for s in states)
    interrupted = any(s.interrupted for s in states)
    if evaluations and not admissible and not interrupted:
        failures: Counter[str] = Counter()
        for state in states:
            failures.update(state.failed)
        most = "; ".join(words for words, _ in failures.most_common(3))
        raise CannotServeError(
            f"{bound.name}: none of {evaluations} instances met the assumptions; most often failed: {most}"
        )
    cells: dict[str, Cells] = {}
    for searched, state in searches:
        cells.setdefault(searched.name, Cells()).join(state.cells)
    return Search(
        bound.name, witness.ratio if witness else best.best.ratio, best.score, evaluations, admissible, seconds,
        witness, family.undecided(bound, best.instance) if best.instance else (), tuple(cells), refusals, unconfirmed,
        interrupted, best.instance, tuple(visited.record(name) for name, visited in cells.items()),
        {term: max(s.shares.get(term, 0.0) for s in states) for state in states for term in state.shares},
    )  # fmt: skip


def replay(witness: Witness, bound: Bound | None = None) -> Replay:
    """Recompute a witness in exact arithmetic and compare the result with the file. Raises ``WitnessError`` if the
    formula is no longer that of the bound, or the numbers are not an instance that the bound covers."""
    statement = bound or loaded(witness.bound, witness.definitions)
    if formula(statement) != witness.formula:
        raise WitnessError(f"the statement of {witness.bound} has changed since this witness was found: search again")
    if witness.family not in FAMILIES:
        raise WitnessError(f"unknown family {witness.family!r}; available: {', '.join(FAMILIES)}")
    family, instance, where = FAMILIES[witness.family], dict(witness.instance), f"the witness of {witness.bound}"
    try:
        if wrong := family.refuses(statement) or family.misfit(statement, instance):
            raise WitnessError(f"{where} is not an instance of the family {family.name}: {wrong}")
        return compared(witness, statement, family.exactly(statement, instance))
    except (LookupError, ArithmeticError) as error:  # the file was edited
        what = f"has no {error}" if isinstance(error, KeyError) else f"cannot be run: {error}"
        raise WitnessError(f"{where} {what}") from None
