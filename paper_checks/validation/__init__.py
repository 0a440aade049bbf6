"""Measurements held against bounds: ``validate(bound, evidence, options)`` finds one ``Comparison``.

``VALIDATIONS`` says, by the name of a bound, which evidence needs no problem named; ``run`` is the command line, where
any bound may be given a problem to train (``--problem``) or a log of the user's own runs (``--measured``).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence, Set
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.showing.files import to_write
from bounds.showing.loading import load
from bounds.showing.tables import to_json
from bounds.showing.terminal import print_lines
from bounds.showing.usage import UsageError, writable_folder
from empirics.problems.own_problem import spelled_out
from empirics.progress import Progress, progress, Silent

from ..runs.can import can
from .comparison import as_json, Comparison, Verdict, write
from .options import AS_JSON, DRAWS, EXACT, LOG, Options, parsed, RUNS

FINDERS = {DRAWS: "one_round", EXACT: "exact", RUNS: "trained", LOG: "log"}
"""The module of every kind of evidence: its ``found(bound, options, bar)`` makes the comparison."""
VALIDATIONS = {
    "fedals.one_round": DRAWS,
    **{name: EXACT for name, bound in BOUNDS.items() if not can(bound, EXACT)},
}
ON_A_PROBLEM = 'give --problem "softmax(digits)", or any other, to train; or --measured runs.csv'


def validate(bound: Bound, evidence: str, plan: Options, bar: Progress | None = None) -> Comparison:
    """Hold a bound against one kind of evidence (``draws``, ``exact``, ``runs`` or ``log``) as planned.

    Refuses, in one line, a plan that cannot be held or is outside of what the bound speaks of. ``Options.of(evidence)``
    is the usual plan.
    """
    found: Comparison = import_module(f".{FINDERS[evidence]}", __name__).found(bound, plan, bar or Silent())
    return found


def usage() -> list[str]:
    """One line per bound that can be measured."""
    names = sorted(name for name, bound in BOUNDS.items() if name in VALIDATIONS or not can(bound, RUNS))
    return [f"fedbounds validate {n}{'' if n in VALIDATIONS else ' --problem MODEL(DATA)'}" for n in names]


Draw = Callable[[Comparison, Path], list[Path]]


def run(name: str, arguments: Sequence[str], draw: Draw | None = None) -> int:
    """Validate the bound of this name, the way the arguments ask for, or all of a pattern; 1 where one is violated.

    ``draw(comparison, folder)`` is how a caller from a later room adds the figure of a bound's own validation; it
    returns the paths it wrote.
    """
    if is_pattern(name):
        status: int = import_module(".every", __name__).run(name, arguments)
        return status
    bound, arguments = load(name), spelled_out("validate", arguments)
    evidence = evidence_of(bound, name, {a.partition("=")[0] for a in arguments})
    plan = parsed(bound, evidence, arguments)
    if plan is None:
        return 0
    made = not plan.out.exists()
    writable_folder("-o", plan.out)
    for ending in ("csv", "json"):
        to_write(plan.out / f"{bound.name}.{ending}")
    try:
        with nullcontext(Silent()) if evidence == LOG else progress() as bar:
            found = validate(bound, evidence, plan, bar)
    except BaseException:
        if made:
            plan.out.rmdir()
        raise
    as_data, command = AS_JSON in arguments, shlex.join(["fedbounds", "validate", name, *arguments])
    if not as_data:
        print_lines([str(found)])
    paths = write(found, plan.out, command)
    paths += draw(found, plan.out) if draw and evidence == DRAWS else []
    wrote = [str(path) for path in paths]
    print(to_json({**as_json(found, command), "wrote": wrote}) if as_data else f"wrote {', '.join(wrote)}")
    return int(bool(found.violations))


def evidence_of(bound: Bound, name: str, asked: Set[str]) -> str:
    """Which evidence the options that are ``asked`` for, such as ``--problem``, mean."""
    if {"--measured", "--problem"} <= asked:
        raise UsageError("--problem trains runs, --measured reads runs of yours: leave one of the two out")
    if "--measured" in asked:
        return LOG
    if name in VALIDATIONS and "--problem" not in asked:
        return VALIDATIONS[name]
    reason, exact = can(bound, RUNS), not can(bound, EXACT)
    if reason and not exact:
        raise BoundsError(f"{name} cannot be measured: {reason}; fedbounds validate lists what can be")
    if "--problem" in asked or (not exact and asked & {"-h", "--help"}):
        return RUNS
    if exact:
        return EXACT
    raise UsageError(f"{name} is measured on a problem: {ON_A_PROBLEM}")


def is_pattern(name: str) -> bool:
    """Whether a name stands for many: ``all``, or one with the signs of the shell, such as ``fedinit.*``."""
    return name == "all" or (not {*"*?["}.isdisjoint(name) and ":" not in name)


__all__ = ["VALIDATIONS", "Comparison", "Options", "Verdict", "run", "usage", "validate"]
