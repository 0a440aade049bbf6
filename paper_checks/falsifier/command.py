"""``fedbounds falsify``: search for a violation of a bound, or replay one that was found."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.showing.command_line import Report
from bounds.showing.loading import load
from bounds.showing.numbers import check_between
from bounds.showing.usage import refuse_unused, UsageError, writable_file
from bounds.showing.values import read
from empirics.progress import progress

from ..falsify_options import EVALUATIONS
from .definitions import loaded
from .falsify import falsify as search, replay as replay_of, Search
from .families import FAMILIES
from .fringe import fringes
from .power import power
from .witness import holds_witness, load_witness, Replay, stated

MOST = 10**9
"""Evaluations of one search: beyond that it takes weeks."""
FALSIFY_JSON = """\
families of instances:
  quadratics   local SGD on quadratic clients in 1 or 2 dimensions, expectations over noise and cohorts exact
  curves       gradient steps on smooth functions of one variable, convex or not, all cohorts followed
  atoms        quadratic losses of few samples from two-point distributions, expectations over all data sets exact

--json prints one object: bound, violated, ratio and score (of the worst instance), instance (its numbers as text),
witness (null, or what -o writes), evaluations, admissible, seconds, families, refusals, visited, unconfirmed,
undecided, interrupted; with --replay: measured, bound, ratio, violated, arithmetic, digits, conditions, failed,
undecided, differs. The exit status is 0 where no violation is found (which proves nothing), 1 where one is."""


def falsify(
    name: str | None = None,
    *words: str,
    evaluations: int | None = None,
    minutes: float | None = None,
    seed: int | None = None,
    family: str | None = None,
    output: Path | str | None = None,
    replay: Path | str | None = None,
    **quantities: float,
) -> Report:
    """Search for an instance that meets every assumption of a bound and violates it, or recompute one.

    Args:
        name: A bound of the list, or path/file.py:variable.
        words: Numbers of the instances that are fixed, such as clients=2; @file.json fixes those that it has.
        evaluations: The budget (4000).
        minutes: Stop after this time, whatever is left of the budget.
        seed: The same seed gives the same search (0).
        family: Search one family of instances only.
        output: Write the counterexample to this JSON file, if one is found; a file that is there must be one of the
            same statement.
        replay: Recompute a counterexample exactly instead of searching.
        quantities: numbers of the instances that are fixed, by name.
    """
    words = (*words, *(f"{key}={value!r}" for key, value in quantities.items()))
    if replay is not None:
        why = "--replay recomputes a counterexample and searches nothing"
        refuse_unused(why, evaluations=evaluations, minutes=minutes, seed=seed, family=family, output=output)
        if words:
            raise UsageError(f"{why}; leave out {' '.join(words)}")
        return _replayed(name, Path(replay))
    if name is None:
        raise UsageError("falsify needs the name of a bound, or --replay FILE")
    path = None if output is None else Path(output)
    if path is not None:
        writable_file("-o", path)
    budget, seed = EVALUATIONS if evaluations is None else evaluations, seed or 0
    check_between("evaluations", budget, 1, MOST)
    check_between("seed", seed, 0, 10**18 - 1)
    if minutes is not None and not 0 < minutes < math.inf:
        raise UsageError(f"minutes must be a finite number > 0; got {minutes:g}")
    bound = load(name)
    before = path is not None and holds_witness(path, bound)
    with progress(f"searching a violation of {bound.name}") as bar:
        found = search(
            bound, budget, seed, family, minutes=minutes, pins=_pins(bound, words), progress=bar, name=name
        )  # fmt: skip
    result = Report(lines(found, bound.conditions) + [each.words for each in fringes(bound)], as_json(found))
    result.status = int(found.violated)
    if found.witness is not None and path is not None:
        try:
            found.witness.save(path, _command(name, words, budget, seed, family))
        except BoundsError as error:
            result.error = error
        else:
            result.wrote = (path,)
            result.add(f"replay: {shlex.join(['fedbounds', 'falsify', name, '--replay', str(path)])}")
    elif before:
        result.remarks = (f"{path} stays: the violation of this statement that was found before, not by this search",)
    if found.interrupted:
        result.interrupted = f"interrupted after {found.evaluations} of {budget} evaluations"
    return result


def _command(name: str, words: Sequence[str], evaluations: int, seed: int, family: str | None) -> str:
    """The search without what does not change its result."""
    said = ["fedbounds", "falsify", name, *words, "--evaluations", str(evaluations)]
    said += ["--seed", str(seed)] if seed else []
    said += ["--family", family] if family else []
    return shlex.join(said)


def _replayed(name: str | None, path: Path) -> Report:
    witness = load_witness(path)
    if name not in (None, witness.bound):
        raise UsageError(f"{path} is about {witness.bound}, not {name}: leave the name out")
    for own in (witness.bound, *witness.definitions):
        if ".py" in own and own != name:  # a file of data must not run code
            trust = ": if you trust that file, name it before --replay" if own == witness.bound else ""
            raise UsageError(f"{path} would run {own}{trust}")
    with progress(f"replaying a witness against {witness.bound}"):
        found = replay_of(witness)
    told = [f"{witness.bound}: {stated(loaded(witness.bound, witness.definitions))}", *_sides(found)]
    differs = [f"{path} says otherwise than its replay: {'; '.join(found.differs)}"] if found.differs else []
    return Report(told, asdict(found), int(bool(found.violated or found.differs)), differs)


def _sides(found: Replay) -> list[str]:
    said = {True: "met", False: "NOT met", None: "not decided by machine"}
    return [
        f"measured {found.measured}",
        f"bound    {found.bound}",
        f"{'VIOLATED' if found.violated else 'not violated'}: ratio {found.ratio:.6g}, {found.arithmetic}",
        *(f"  {said[met]} ({how}): {words}" for words, how, met in found.conditions),
    ]


def lines(found: Search, conditions: Sequence[Any]) -> list[str]:
    """The result of a search as text."""
    told = [f"{name} does not serve: {reason}" for name, reason in found.refusals.items()]
    if not conditions:
        told.append("the bound states no conditions: every instance counts")
    spent = f"{found.evaluations} evaluations ({found.admissible} admissible), {found.seconds:.1f} s"
    if found.witness is not None:
        told += _witnessed(found, spent)
    elif found.admissible:
        told.append(f"no violation found: largest ratio {found.ratio:.6g} after {spent}. This proves nothing.")
    else:
        told.append(f"nothing seen: none of the instances was admissible, after {spent}")
    told += [f"searched {each.words}" for each in found.visited]
    if found.witness is None:
        told.append(power(found.bound, found.evaluations))
    if found.unconfirmed:
        told.append(f"{found.unconfirmed} violation(s) in floating-point numbers that exact arithmetic did not confirm")
    if found.interrupted:
        told.append("interrupted: this is the best so far")
    return [*told, *(f"not decided by machine: {words}" for words in found.undecided)]


def _witnessed(found: Search, spent: str) -> list[str]:
    witness = found.witness
    assert witness is not None
    return [
        f"VIOLATED: measured {witness.measured}, bound {witness.value} (ratio {witness.ratio:.6g}, "
        f"{witness.arithmetic}), after {spent}",
        f"  {witness.statement}",
        *(f"  {name} = {value}" for name, value in sorted(witness.instance.items())),
    ]


def as_json(found: Search) -> dict[str, Any]:
    """The result of a search as plain data."""
    held = asdict(found)
    held["violated"] = found.violated
    held["instance"] = {name: str(value) for name, value in found.instance.items()}
    if found.witness is not None:
        held["witness"]["instance"] = {name: str(value) for name, value in found.witness.instance.items()}
    return held


def _pins(bound: Bound, words: Sequence[str]) -> dict[str, float]:
    """The numbers of the instances that are held; of what a file brings, those that some instance has."""
    known = {name for family in FAMILIES.values() if not family.refuses(bound) for name in family.box(bound).names}
    pins = {}
    for name, value in read(words).items():
        if value.optional and name not in known:
            continue
        if value.kind != "number":
            raise UsageError(f"{name} of the instances is one number; got {' '.join(map(str, value.numbers.flat))}")
        pins[name] = float(value.numbers)
    return pins
