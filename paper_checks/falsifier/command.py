"""``fedbounds falsify``: search for a violation of a bound, or replay one that was found."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from bounds.core import Bound
from bounds.showing.loading import load
from bounds.showing.process import remark
from bounds.showing.tables import to_json
from bounds.showing.terminal import print_lines
from bounds.showing.usage import UsageError, writable_file
from bounds.showing.values import read
from empirics.progress import progress

from .definitions import loaded
from .falsify import falsify, replay, Search
from .families import FAMILIES
from .fringe import fringes
from .power import power
from .witness import holds_witness, load_witness, Replay, stated

NONE, VIOLATED = 0, 1


def run(options: argparse.Namespace) -> int:
    """Search, or replay; 0: no violation found, 1: violated, or a witness that says what its replay does not."""
    if options.replay is not None:
        return _replayed(options)
    if options.output is not None:
        writable_file("-o", options.output)
    bound = load(options.name)
    before = options.output is not None and holds_witness(options.output, bound)
    with progress(f"searching a violation of {bound.name}") as bar:
        found = falsify(
            bound, options.evaluations, options.seed, options.family,
            minutes=options.minutes, pins=_pins(bound, options.words), progress=bar,
            name=options.name,
        )  # fmt: skip
    told = lines(found, bound.conditions) + [each.words for each in fringes(bound)]
    if options.json:
        print(to_json(as_json(found)))
    else:
        print_lines(told)
    if found.witness is not None and options.output is not None:
        found.witness.save(options.output, _command(options))
        if not options.json:
            again = [options.name] * (".py" in options.name) + ["--replay", str(options.output)]
            print(f"wrote {options.output}; replay: fedbounds falsify {shlex.join(again)}")
    elif before:
        remark([f"{options.output} stays: the violation of this statement that was found before, not by this search"])
    if found.interrupted:
        raise KeyboardInterrupt(f"interrupted after {found.evaluations} of {options.evaluations} evaluations")
    return VIOLATED if found.violated else NONE


def _command(options: argparse.Namespace) -> str:
    """The search without what does not change its result."""
    said = ["fedbounds", "falsify", options.name, *options.words, "--evaluations", str(options.evaluations)]
    said += ["--seed", str(options.seed)] if options.seed else []
    said += ["--family", options.family] if options.family else []
    return shlex.join(said)


def _replayed(options: argparse.Namespace) -> int:
    witness = load_witness(options.replay)
    if options.name not in (None, witness.bound):
        raise UsageError(f"{options.replay} is about {witness.bound}, not {options.name}: leave the name out")
    for name in (witness.bound, *witness.definitions):
        if ".py" in name and name != options.name:  # a file of data must not run code
            trust = ": if you trust that file, name it before --replay" if name == witness.bound else ""
            raise UsageError(f"{options.replay} would run {name}{trust}")
    with progress(f"replaying a witness against {witness.bound}"):
        found = replay(witness)
    if options.json:
        print(to_json(asdict(found)))
    else:
        print_lines([f"{witness.bound}: {stated(loaded(witness.bound, witness.definitions))}", *_sides(found)])
    if found.differs:
        remark([f"{options.replay} says otherwise than its replay: {'; '.join(found.differs)}"])
    return VIOLATED if found.violated or found.differs else NONE


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
