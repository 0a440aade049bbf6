"""The command ``falsify``: search for a counterexample to a bound, or recompute one from a file."""

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
from bounds.showing.reading import as_words, read
from bounds.showing.usage import refuse_unused, UsageError, writable_file
from empirics.progress import progress

from ..falsify_options import EVALUATIONS, FAMILIES as FAMILY_WORDS
from .detection_rate import detection_rate
from .falsify import falsify as search, FAMILIES, replay as replay_of, Search
from .weakened_assumptions import weakened
from .witness import holds_witness, load_witness, loaded, Replay, statement_text

MAX_EVALUATIONS = 10**9
"""Limit on the evaluations of a search, which would take weeks."""
FALSIFY_JSON = """\
families of instances:
  quadratics   local SGD on quadratic clients in 1 or 2 dimensions; exact expectations over noise and cohorts
  curves       gradient steps on smooth functions of one variable, convex or not; exact expectations over cohorts
  atoms        quadratic losses of few samples from two-point distributions; exact expectations over all data sets

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
        output: Write the counterexample, if one is found, to this JSON file; an existing file must be a counterexample
            to the same statement.
        replay: Recompute a counterexample exactly instead of searching.
        quantities: Numbers of the instances that are fixed, by name.
    """
    words = (*words, *as_words(quantities))
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
    check_between("evaluations", budget, 1, MAX_EVALUATIONS)
    check_between("seed", seed, 0, 10**18 - 1)
    if minutes is not None and not 0 < minutes < math.inf:
        raise UsageError(f"minutes must be a finite number > 0; got {minutes:g}")
    bound = load(name)
    exists = path is not None and holds_witness(path, bound)
    with progress(f"searching a violation of {bound.name}") as bar:
        result = search(
            bound, budget, seed, family, minutes=minutes, pins=_pins(bound, words), progress=bar, name=name
        )  # fmt: skip
    report = Report(lines(result, bound.conditions) + [one.text for one in weakened(bound)], as_json(result))
    report.status = int(result.violated)
    if result.witness is not None and path is not None:
        try:
            result.witness.save(path, _command(name, words, budget, seed, family))
        except BoundsError as error:
            report.error = error
        else:
            report.wrote = (path,)
            report.add(f"replay: {shlex.join(['fedbounds', 'falsify', name, '--replay', str(path)])}")
    elif exists:
        report.remarks = (f"{path} is unchanged: it is a counterexample to this statement from an earlier search",)
    if result.interrupted:
        report.interrupted = f"interrupted after {result.evaluations} of {budget} evaluations"
    return report


def _command(name: str, words: Sequence[str], evaluations: int, seed: int, family: str | None) -> str:
    """Return the command that repeats a search."""
    command = ["fedbounds", "falsify", name, *words, "--evaluations", str(evaluations)]
    command += ["--seed", str(seed)] if seed else []
    command += ["--family", family] if family else []
    return shlex.join(command)


def _replayed(name: str | None, path: Path) -> Report:
    """Return the report of recomputing a counterexample; ``name`` must be its bound, if given."""
    witness = load_witness(path)
    if name not in (None, witness.bound):
        raise UsageError(f"{path} is about {witness.bound}, not {name}: leave the name out")
    for source in (witness.bound, *witness.definitions):
        if ".py" in source and source != name:  # a data file must not run code
            trust = ": if you trust that file, name it before --replay" if source == witness.bound else ""
            raise UsageError(f"{path} would run {source}{trust}")
    with progress(f"replaying a witness against {witness.bound}"):
        replayed = replay_of(witness)
    text = [f"{witness.bound}: {statement_text(loaded(witness.bound, witness.definitions))}", *_replay_lines(replayed)]
    differs = [f"{path} differs from its replay: {'; '.join(replayed.differs)}"] if replayed.differs else []
    return Report(text, asdict(replayed), int(bool(replayed.violated or replayed.differs)), differs)


def _replay_lines(replayed: Replay) -> list[str]:
    status = {True: "met", False: "NOT met", None: "not decided by machine"}
    return [
        f"measured {replayed.measured}",
        f"bound    {replayed.bound}",
        f"{'VIOLATED' if replayed.violated else 'not violated'}: ratio {replayed.ratio:.6g}, {replayed.arithmetic}",
        *(f"  {status[met]} ({how}): {words}" for words, how, met in replayed.conditions),
    ]


def lines(result: Search, conditions: Sequence[Any]) -> list[str]:
    """Return the result of a search as lines of text."""
    text = [f"{name} does not serve: {reason}" for name, reason in result.refusals.items()]
    if not conditions:
        text.append("the bound states no conditions: every instance counts")
    spent = f"{result.evaluations} evaluations ({result.admissible} admissible), {result.seconds:.1f} s"
    if witness := result.witness:
        sides = f"measured {witness.measured}, bound {witness.value}"
        text.append(f"VIOLATED: {sides} (ratio {witness.ratio:.6g}, {witness.arithmetic}), after {spent}")
        text.append(f"  {witness.statement}")
        text += [f"  {name} = {value}" for name, value in sorted(witness.instance.items())]
    elif result.admissible:
        text.append(f"no violation found: largest ratio {result.ratio:.6g} after {spent}. This proves nothing.")
    else:
        text.append(f"no result: none of the instances was admissible, after {spent}")
    for visited in result.visited:
        text += [f"setting: {FAMILY_WORDS[visited.family]}", f"searched {visited.text}"]
    if result.witness is None:
        text.append(detection_rate(result.bound, result.evaluations))
    if result.unconfirmed:
        text.append(f"{result.unconfirmed} violation(s) in floating point that exact arithmetic did not confirm")
    if result.interrupted:
        text.append("interrupted: this is the best so far")
    return [*text, *(f"not decided by machine: {words}" for words in result.undecided)]


def as_json(result: Search) -> dict[str, Any]:
    """Return the result of a search as plain data."""
    content = asdict(result)
    content["violated"] = result.violated
    content["instance"] = {name: str(value) for name, value in result.instance.items()}
    if result.witness is not None:
        content["witness"]["instance"] = {name: str(value) for name, value in result.witness.instance.items()}
    return content


def _pins(bound: Bound, words: Sequence[str]) -> dict[str, float]:
    """Return the fixed numbers of the instances; those from a file are ignored if no instance has them."""
    names = {name for family in FAMILIES.values() if not family.refuses(bound) for name in family.box(bound).names}
    pins = {}
    for name, value in read(words).items():
        if value.optional and name not in names:
            continue
        if value.kind != "number":
            raise UsageError(f"{name} must be a single number here; got {' '.join(map(str, value.numbers.flat))}")
        pins[name] = float(value.numbers)
    return pins
