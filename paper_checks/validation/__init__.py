"""Compare measurements with bounds: ``validate(bound, evidence, options)`` returns one ``Comparison``.

``VALIDATIONS`` says, by the name of a bound, which evidence needs no problem named; any bound may be given a problem to
train, or a log of the user's own runs.
"""

from __future__ import annotations

from collections.abc import Set
from importlib import import_module

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.showing.usage import UsageError
from empirics.progress import Progress, Silent

from ..runs.can import can
from .comparison import Comparison, Verdict
from .options import DRAWS, EXACT, LOG, Options, RUNS

FINDERS = {DRAWS: "one_round", EXACT: "exact", RUNS: "trained", LOG: "log"}
"""The module of every kind of evidence: its ``found(bound, options, bar)`` makes the comparison."""
VALIDATIONS = {
    "fedals.one_round": DRAWS,
    **{name: EXACT for name, bound in BOUNDS.items() if not can(bound, EXACT)},
}
ON_A_PROBLEM = 'give --problem "softmax(digits)", or any other, to train; or --measured runs.csv'


def validate(bound: Bound, evidence: str, plan: Options, bar: Progress | None = None) -> Comparison:
    """Compare a bound with one kind of evidence (``draws``, ``exact``, ``runs`` or ``log``) as planned.

    ``Options.of(evidence)`` is the usual plan.

    Raises:
        BoundsError: where the plan cannot be run or is outside what the bound covers.
    """
    found: Comparison = import_module(f".{FINDERS[evidence]}", __name__).found(bound, plan, bar or Silent())
    return found


def usage() -> list[str]:
    """One line per bound that can be measured."""
    names = sorted(name for name, bound in BOUNDS.items() if name in VALIDATIONS or not can(bound, RUNS))
    return [f"fedbounds validate {n}{'' if n in VALIDATIONS else ' --problem MODEL(DATA)'}" for n in names]


def evidence_of(bound: Bound, name: str, given: Set[str]) -> str:
    """Which evidence the options that are ``given`` mean: ``problem``, ``measured``, or none of them."""
    if {"measured", "problem"} <= given:
        raise UsageError("--problem trains runs, --measured reads runs of yours: leave one of the two out")
    if "measured" in given:
        return LOG
    if name in VALIDATIONS and not given:
        return VALIDATIONS[name]
    reason, exact = can(bound, RUNS), not can(bound, EXACT)
    if reason and not exact:
        raise BoundsError(f"{name} cannot be measured: {reason}; fedbounds validate lists what can be")
    if given:
        return RUNS
    if exact:
        return EXACT
    raise UsageError(f"{name} is measured on a problem: {ON_A_PROBLEM}")


__all__ = ["VALIDATIONS", "Comparison", "Options", "Verdict", "usage", "validate"]
