"""Compare bounds with measurements: ``validate(bound, evidence, options)`` returns a ``Comparison`` with verdicts.

There are four kinds of evidence, each in a module of its own: draws of one averaging round (``one_round``), exact
moments on quadratics (``exact``), training (``trained``, planned by ``training_plan`` and measured by
``measurement_plan``), and a log of the user's own runs (``log``). ``verdicts`` computes errors and verdicts.
``command`` is the Python function behind ``fedbounds validate``; ``survey`` validates many bounds at once; ``jobs`` are
validations that figures store.
"""

from __future__ import annotations

from importlib import import_module

from bounds.catalog import BOUNDS
from bounds.core import Bound
from empirics.progress import Progress, Silent

from ..runs.obstacles import obstacle
from ..runs.origins import EXACT, RUNS
from .comparison import Comparison, Verdict
from .options import DRAWS, LOG, Options

MODULES = {DRAWS: "one_round", EXACT: "exact", RUNS: "trained", LOG: "log"}
"""By kind of evidence: the module whose ``make_comparison(bound, options, bar)`` makes the comparison."""
VALIDATIONS = {
    "fedals.one_round": DRAWS,
    **{name: EXACT for name, bound in BOUNDS.items() if not obstacle(bound, EXACT)},
}
"""By bound: the kind of evidence that needs neither a problem nor a log."""


def validate(bound: Bound, evidence: str, plan: Options, bar: Progress | None = None) -> Comparison:
    """Compare a bound with one kind of evidence: ``draws``, ``exact``, ``runs`` or ``log``.

    ``plan`` are the options of the measurement; ``Options.of(evidence)`` gives the defaults.

    Raises:
        BoundsError: if the plan cannot be run or the bound does not cover it.
    """
    module = import_module(f".{MODULES[evidence]}", __name__)
    comparison: Comparison = module.make_comparison(bound, plan, bar or Silent())
    return comparison


__all__ = ["VALIDATIONS", "Comparison", "Options", "Verdict", "validate"]
