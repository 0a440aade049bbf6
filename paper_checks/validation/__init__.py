"""Compare measurements with bounds: ``validate(bound, evidence, options)`` returns one ``Comparison``.

``VALIDATIONS`` says, by the name of a bound, which evidence needs no problem named; any bound may be given a problem to
train, or a log of the user's own runs.
"""

from __future__ import annotations

from importlib import import_module

from bounds.catalog import BOUNDS
from bounds.core import Bound
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


def validate(bound: Bound, evidence: str, plan: Options, bar: Progress | None = None) -> Comparison:
    """Compare a bound with one kind of evidence (``draws``, ``exact``, ``runs`` or ``log``) as planned.

    ``Options.of(evidence)`` is the usual plan.

    Raises:
        BoundsError: where the plan cannot be run or is outside what the bound covers.
    """
    found: Comparison = import_module(f".{FINDERS[evidence]}", __name__).found(bound, plan, bar or Silent())
    return found


__all__ = ["VALIDATIONS", "Comparison", "Options", "Verdict", "validate"]
