"""Changes that a command line makes to the plans of figures: the seeds, and arguments of the runs.

A changed figure cannot be mistaken for the committed one: caption, card and CSV state the changes, and it gets a
folder of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bounds.errors import BoundsError, DomainError, unknown
from bounds.showing.command_line import READERS, verb_signature
from bounds.showing.numbers import read_number
from empirics.experiments import Cell
from empirics.federation.partitions import partition
from empirics.numbers import check_options, quoted, seeds_text
from empirics.spec_strings import assignments

from .artefact import Artefact
from .catalogue import BY_PAPER
from .making import cells, planned
from .report import read_cards as cards
from .scale import apply_changes, Plan, plans_of

SUBJECT = ("problem", "algorithm", "algorithms", "bound", "bounds", "first", "measure", "closely")
"""Arguments that define what a figure shows, and therefore cannot be changed."""
SEEDS = ("seed", "seeds")
ODD = re.compile(r"[^\w.=+-]+")
"""Characters to replace in the name of a folder."""


@dataclass(frozen=True)
class Changes:
    """The seeds (None: as planned) and new values of arguments, for every run that takes them."""

    seeds: Sequence[int] | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)

    @property
    def _words(self) -> list[str]:
        seeds = {} if self.seeds is None else {"seeds": seeds_text(self.other_seeds) or len(self.seeds)}
        return [f"{name}={value}" for name, value in {**seeds, **self.arguments}.items()]

    @property
    def other_seeds(self) -> tuple[int, ...]:
        """The seeds if they are others than 0, 1, 2, ...; else empty."""
        seeds = tuple(self.seeds or ())
        return () if seeds == tuple(range(len(seeds))) else seeds

    def __str__(self) -> str:
        """``seeds=5, step_size=0.05``; empty where nothing is changed."""
        return ", ".join(self._words)

    @property
    def folder(self) -> str:
        """The suffix of the default folder's name."""
        return "".join("-" + ODD.sub("_", words).rstrip("_") for words in self._words)

    def plan(self, plan: Plan) -> Plan:
        """Return the plan with these changes, in its cells and in what captions read off it."""

        def change(arguments: Mapping[str, Any]) -> dict[str, Any]:
            return {name: self.arguments.get(name, value) for name, value in arguments.items()}

        rounds = self.arguments.get("rounds")
        return replace(
            plan,
            seeds=len(self.seeds or ()) or plan.seeds,
            other_seeds=self.other_seeds,
            setting=change(plan.setting),
            own={name: change(arguments) for name, arguments in plan.own.items()},
            every=self.arguments.get("every", plan.every),
            rounds=plan.rounds if rounds is None else dict.fromkeys(plan.rounds, rounds),
            changed=self.arguments,
        )


@contextmanager
def apply_to_plans(changes: Changes, scale: str) -> Iterator[None]:
    """Replace the plans of all papers at this scale by the changed ones inside a ``with`` block."""
    if not str(changes):
        yield
        return
    unchanged = {paper: plans_of(paper)[scale] for paper in BY_PAPER}
    try:
        for paper, plan in unchanged.items():
            plans_of(paper)[scale] = changes.plan(plan)
        yield
    finally:
        for paper, plan in unchanged.items():
            plans_of(paper)[scale] = plan


def read_changes(
    words: Sequence[str], seeds: Sequence[int] | None, artefacts: Sequence[Artefact], scale: str
) -> Changes:
    """Return the changes given as ``name=value`` texts; raise if no run takes them or figures compare their values."""
    if not words and seeds is None:
        return Changes(None, {})
    before = planned(artefacts, scale)
    every = cells(before)
    texts = assignments("--set", words)
    changes = Changes(seeds, {name: _value(name, text, every) for name, text in texts.items()})
    for artefact, own in before.items():
        _refuse_compared(artefact.name, own, changes.arguments)
    with apply_to_plans(changes, scale):
        now = {cell.key for cell in cells(planned(artefacts, scale))}
    if changes.other_seeds and (counted := [cell for cell in every if "seeds" in cell.arguments]):
        raise BoundsError(
            f"{counted[0].job} takes the number of its seeds alone: give seeds={len(changes.other_seeds)}"
        )
    if now == {cell.key for cell in every}:
        names = ", ".join(artefact.name for artefact in artefacts)
        raise BoundsError(
            f"no run of {names} changes with {changes}, its value already or without effect: give another"
        )
    return changes


def _value(name: str, text: str, cells: Sequence[Cell]) -> Any:
    """Return the value as ``fedbounds train`` reads it, else as the planned type; raise if it cannot be set."""
    if name in SEEDS:
        raise BoundsError(
            f'{name} is not among the arguments to set: choose seeds by --seeds "5,6,7" or --seeds "5..9"'
        )
    given = [cell.arguments[name] for cell in cells if name in cell.arguments]
    if name in SUBJECT:
        raise BoundsError(f"{name} is what a figure is about, which --set leaves as it is")
    if not given and not any(name in cell.spec.defaults for cell in cells):
        settable = {name for cell in cells for name in (*cell.arguments, *cell.spec.defaults)} - {*SUBJECT, *SEEDS}
        raise unknown("argument of these runs", name, settable)
    kinds = {type(value) for value in given}
    if not kinds <= {int, float, str}:
        raise BoundsError(f"{name} is {quoted(given[0])} here: --set takes numbers and words alone")
    option = verb_signature("empirics.verbs:train").options.get(name)
    reader = (option and READERS.get(option.kind)) or (str if kinds == {str} else read_number)
    try:
        value = reader(text)
    except DomainError as error:
        raise BoundsError(f"{name} {error}") from None
    check_options({name: value})
    if name == "partition":
        partition(text)
    return value


def _refuse_compared(artefact: str, cells: Sequence[Cell], arguments: Mapping[str, Any]) -> None:
    """Raise if a figure compares several values of a changed argument: with one value its runs would coincide."""
    if len({apply_changes(cell, arguments).key for cell in cells}) == len({cell.key for cell in cells}):
        return
    values = {
        name: dict.fromkeys(quoted(c.arguments[name]) for c in cells if name in c.arguments) for name in arguments
    }
    name = next(name for name, seen in values.items() if len(seen) > 1)
    raise BoundsError(
        f"{name} is what {artefact} compares ({', '.join(values[name])}): with one value its runs would be the same"
    )


def refuse_mixed(changes: Changes, folder: Path) -> None:
    """Raise if a folder holds figures with other changes or none, as one report would cover both."""
    for card in cards(folder) if folder.is_dir() else ():
        if (there := card.get("changed", "")) != str(changes):
            has = f"figures with {there}" if there else "figures of the plan itself"
            raise BoundsError(f"-o {folder} holds {has}: give another folder for {str(changes) or 'those of the plan'}")
