"""From a bound to a verdict: search in every family that serves it, shrink what is found, confirm it exactly."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bounds.core import Bound
from bounds.errors import BoundsError, UnknownNameError
from empirics.progress import Progress, Silent

from ..falsify_options import EVALUATIONS
from .cells import Cells, Visited
from .core import Instance, MARGIN
from .definitions import loaded
from .exact import Exactly
from .families import FAMILIES
from .instances import Family
from .search import Found, Searcher
from .shrink import Shrinker
from .witness import formula, read, Replay, Witness, witness_of, WitnessError

TRIES = 4


class CannotServeError(BoundsError):
    """No family can put both sides of the bound side by side, or none meets its conditions."""


@dataclass(frozen=True)
class Search:
    """What a search says: a witness, or the largest ratio reached and the budget spent, which proves nothing.

    ``ratio`` is measured over bound; ``undecided`` are conditions that no machine decides; ``unconfirmed`` counts
    violations in floating-point arithmetic that exact arithmetic did not confirm; ``refusals`` says by family why it
    was not searched.
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
    """Where the search has been, family by family."""
    shares: Mapping[str, float] = field(default_factory=dict)
    """By term the largest share that an instance needs of it; a term of which none needs any was not tested."""

    @property
    def violated(self) -> bool:
        return self.witness is not None


def serving(bound: Bound, family: str | None = None) -> tuple[list[Family], dict[str, str]]:
    """The families that serve a bound, and why the others do not; refuses a bound that none serves."""
    if family is not None and family not in FAMILIES:
        raise CannotServeError(f"unknown family {family!r}; available: {', '.join(FAMILIES)}")
    chosen = [FAMILIES[family]] if family else list(FAMILIES.values())
    reasons = {f.name: f.refuses(bound) for f in chosen}
    able = [f for f in chosen if not reasons[f.name]]
    if not able:
        one = len({*reasons.values()}) == 1
        said = reasons[chosen[0].name] if one else "; ".join(f"{name}: {why}" for name, why in reasons.items())
        raise CannotServeError(f"no family of instances serves {bound.name}: {said}")
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
    definitions: tuple[str, ...] = (),
    simplify: bool = True,
) -> Search:
    """Search for an instance that meets every condition a machine decides and violates the bound.

    The budget counts evaluations, shared by the families; ``minutes`` only stops. ``name`` is what a witness says to
    load, ``definitions`` what was put into the bound; ``pins`` hold parameters of the instances at one value. Without
    ``simplify`` a violation is confirmed nearly as it was found, with all its digits.
    """
    able, refusals = serving(bound, family)
    able, refusals = _with_pins(bound, able, refusals, pins or {})
    bar = progress or Silent()
    began = time.monotonic()
    deadline = began + 60 * minutes if minutes else float("inf")
    bar.start(evaluations)
    searches: list[tuple[Family, Found]] = []
    witness, unconfirmed = None, 0
    for at, each in enumerate(able):
        left = max(1, (evaluations + at) // len(able))  # together all of them
        for again in range(TRIES):  # what exact arithmetic does not confirm ends a search, not the looking
            found = Searcher(bound, each, left, seed + 1000 * again, deadline, bar, pins or {}).run()
            searches.append((each, found))
            left -= found.evaluations
            if found.score > MARGIN:
                shrinker = Shrinker(bound, each, found.instance, pins)
                witness = _confirmed(shrinker, name or bound.name, definitions, simplify)
                unconfirmed += witness is None
            if witness or found.interrupted or left < 1:
                break
        if witness or found.interrupted:
            break
    return _summary(bound, searches, witness, unconfirmed, refusals, time.monotonic() - began)


def _with_pins(
    bound: Bound, able: list[Family], refusals: dict[str, str], pins: Mapping[str, float]
) -> tuple[list[Family], dict[str, str]]:
    """The families whose instances have all these parameters, at these values; refuses pins that none has."""
    wrong: dict[str, BoundsError] = {}
    for family in able:
        try:
            family.box(bound).pinned(pins)
        except BoundsError as error:
            wrong[family.name] = error
    left = [family for family in able if family.name not in wrong]
    if not left:  # of several reasons the one that knows the name says more
        raise min(wrong.values(), key=lambda error: isinstance(error, UnknownNameError))
    return left, refusals | {name: str(error) for name, error in wrong.items()}


def _confirmed(shrinker: Shrinker, name: str, definitions: tuple[str, ...], simplify: bool) -> Witness | None:
    """The violation as a witness, made simple; as it was found if only that survives exact arithmetic."""
    bound, family, whole = shrinker.bound, shrinker.family, dict(shrinker.instance)
    try:
        simple = shrinker.run() if simplify else shrinker.smaller()
    except KeyboardInterrupt:  # it is a violation all the same
        simple = whole
    for instance in (simple, whole) if simple != whole else (whole,):
        found: Exactly = family.exactly(bound, instance)
        if found.violated:
            return witness_of(bound, name, family.name, instance, found, definitions)
    return None


def _summary(
    bound: Bound,
    searches: list[tuple[Family, Found]],
    witness: Witness | None,
    unconfirmed: int,
    refusals: Mapping[str, str],
    seconds: float,
) -> Search:
    family, best = max(searches, key=lambda pair: pair[1].score)
    spent, met = sum(f.evaluations for _, f in searches), sum(f.admissible for _, f in searches)
    interrupted = any(f.interrupted for _, f in searches)
    if spent and not met and not interrupted:
        counted: dict[str, int] = {}
        for _, found in searches:
            for words, count in found.failed.items():
                counted[words] = counted.get(words, 0) + count
        worst = sorted(counted, key=lambda words: -counted[words])[:3]
        raise CannotServeError(
            f"{bound.name}: none of {spent} instances met the assumptions; most often failed: {'; '.join(worst)}"
        )
    return Search(
        bound.name,
        witness.ratio if witness else best.best.ratio,
        best.score,
        spent,
        met,
        seconds,
        witness,
        family.undecided(bound, best.instance) if best.instance else (),
        tuple(dict.fromkeys(f.name for f, _ in searches)),
        refusals,
        unconfirmed,
        interrupted,
        best.instance,
        tuple(cells.record(name) for name, cells in _joined(searches).items()),
        {term: max(f.shares.get(term, 0.0) for _, f in searches) for _, f in searches for term in f.shares},
    )


def _joined(searches: list[tuple[Family, Found]]) -> dict[str, Cells]:
    """The cells of all searches of a family together."""
    whole: dict[str, Cells] = {}
    for family, found in searches:
        whole.setdefault(family.name, Cells()).join(found.cells)
    return whole


def replay(witness: Witness, bound: Bound | None = None) -> Replay:
    """Recompute a witness in exact arithmetic; ``differs`` says where the file said otherwise.

    Refuses one whose formula is no longer the bound's, and numbers that are not an instance the bound covers.
    """
    statement = bound or loaded(witness.bound, witness.definitions)
    if formula(statement) != witness.formula:
        raise WitnessError(f"the statement of {witness.bound} is not the one this witness violates: search again")
    if witness.family not in FAMILIES:
        raise WitnessError(f"unknown family {witness.family!r}; available: {', '.join(FAMILIES)}")
    family, instance, where = FAMILIES[witness.family], dict(witness.instance), f"the witness of {witness.bound}"
    try:
        if wrong := family.refuses(statement) or family.misfit(statement, instance):
            raise WitnessError(f"{where} is not an instance of the family {family.name}: {wrong}")
        return read(witness, statement, family.exactly(statement, instance))
    except (LookupError, ArithmeticError) as error:  # of a file that somebody has changed
        what = f"has no {error}" if isinstance(error, KeyError) else f"cannot be run: {error}"
        raise WitnessError(f"{where} {what}") from None


def parameters(instance: Mapping[str, Any]) -> str:
    """An instance on one line."""
    return " ".join(f"{name}={value}" for name, value in sorted(instance.items()))
