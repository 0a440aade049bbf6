"""Measurements held against bounds.

``VALIDATIONS`` are those that need no problem named, by the name of the bound; ``run`` takes any bound, a problem to
train (``--problem``) or a log of the user's own runs (``--measured``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.errors import BoundsError, UnknownNameError
from bounds.showing.loading import load
from bounds.showing.usage import UsageError

from ..runs.can import can
from ..runs.words import EXACT, RUNS
from .core import Result, Validation, Verdict
from .exact import ExactValidation
from .one_round import VALIDATION as ONE_ROUND

VALIDATIONS: dict[str, Validation | ExactValidation] = {
    ONE_ROUND.name: ONE_ROUND,
    **{name: ExactValidation(bound) for name, bound in BOUNDS.items() if not can(bound, EXACT)},
}

ON_A_PROBLEM = 'give --problem "softmax(digits)", or any other, to train; or --measured runs.csv'


def trainable() -> list[str]:
    """The bounds of the catalogue that training can be held against."""
    return [name for name, bound in BOUNDS.items() if not can(bound, RUNS)]


def usage() -> list[str]:
    """One line per bound and way to validate it."""
    alone = [f"usage: fedbounds validate {n} [--help]   {v.words}" for n, v in sorted(VALIDATIONS.items())]
    trained = [f"usage: fedbounds validate {n} --problem MODEL(DATA) [--help]" for n in sorted(trainable())]
    return [*alone, *trained, "usage: fedbounds validate NAME --measured runs.csv quantity=value @file.json [--help]"]


def run(name: str, arguments: Sequence[str], draw: Any = None) -> int:
    """Validate the bound of this name, the way the arguments ask for; the exit status."""
    asked = {a.partition("=")[0] for a in arguments}
    if name in VALIDATIONS and not asked & {"--problem", "--measured"}:
        return VALIDATIONS[name].main(list(arguments), draw)
    bound = _bound(name)
    if "--measured" in asked:
        from .log import main as judge_log

        return judge_log(bound, arguments, name)
    reason, exact = can(bound, RUNS), not can(bound, EXACT)
    if reason and not exact:
        raise BoundsError(f"{name} cannot be measured: {reason}; can be: {', '.join(_available())}")
    if "--problem" in asked or (not exact and asked & {"-h", "--help"}):
        from .trained import main as train

        return train(bound, arguments, name)
    if exact:
        return ExactValidation(bound).main(list(arguments), draw)
    raise UsageError(f"{name} is measured on a problem: {ON_A_PROBLEM}")


def _available() -> list[str]:
    return sorted({*VALIDATIONS, *trainable()})


def _bound(name: str) -> Bound:
    try:
        return load(name)
    except UnknownNameError as error:
        if ":" in name or name.endswith(".py"):
            raise
        raise UsageError(f"{error}; available: {', '.join(_available())}") from None


__all__ = ["VALIDATIONS", "ExactValidation", "Result", "Validation", "Verdict", "run", "usage"]
