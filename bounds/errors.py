"""The errors and warnings of the library. Every message is one line that says what is wrong and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

SYNONYMS = {
    "lr": "step_size", "eta": "step_size", "learning_rate": "step_size", "stepsize": "step_size",
    "epochs": "local_epochs", "steps": "local_steps", "batch_size": "batch", "num_clients": "clients",
    "num_rounds": "rounds", "optim": "optimizer", "method": "algorithm", "seeds": "seed", "random_state": "seed",
    "out": "output", "budget": "evaluations", "jobs": "workers", "gpu": "device", "dataset": "problem",
    "data": "problem", "metrics": "measure", "noise": "gradient_variance", "gradient_bound": "grad_cap_sq",
    "participants": "cohort", "time": "runtime", "loss": "optimality_gap", "gradient_norm": "grad_norm_sq",
}  # fmt: skip
"""Names of options and quantities elsewhere, for hints."""
MOST_NAMED = 20
"""The number of names up to which an error lists all of them."""


class BoundsError(ValueError):
    """A mistake of the caller; the command line prints it as one line and exits with status 2."""


class DomainError(BoundsError):
    """A value outside the domain of its quantity, or one that contradicts another value."""


class MissingQuantityError(BoundsError):
    """Quantities without a value, all named at once."""


class UnknownNameError(BoundsError, KeyError):
    """An unknown ``name``; the message suggests similar ones."""

    name = ""
    __str__ = Exception.__str__  # that of KeyError puts quotes around the message


class DeclarationError(BoundsError):
    """A bound, condition or quantity whose declaration is inconsistent."""


class NoMinimumError(BoundsError):
    """No minimum can be certified; the message says why."""


class NoSolutionError(Exception):
    """No value in the domain meets the target. This is a result on the bound, not a mistake of the caller."""


class OutsideConditionsWarning(UserWarning):
    """The theorem applies at none of the points."""


class TermOverflowWarning(UserWarning):
    """A term overflowed, so that the value is infinite."""


class UndefinedValueWarning(UserWarning):
    """The conditions hold, but the formula has no real value: a root of a negative number, infinity over infinity."""


class SignWarning(UserWarning):
    """A bound is negative although its terms are declared nonnegative."""


class UnderflowWarning(UserWarning):
    """A value is so close to zero that a float cannot hold all its digits."""


class UnsettledWarning(UserWarning):
    """Rounding may have spoilt a value or a condition that was not recomputed."""


def shortened(text: str, most: int = 60) -> str:
    """Shorten a text for an error message."""
    return text if len(text) <= most else f"{text[: most - 20]}... ({len(text)} characters)"


def unknown(kind: str, name: str, known: Iterable[str], meant: str = "", lists: str = "") -> UnknownNameError:
    """Return an error for an unknown name, with a hint: ``meant``, similar names, or the command that ``lists`` all."""
    names = sorted(known)
    near = get_close_matches(name[:200], names, n=3, cutoff=0.5)  # comparing a longer one would be slow
    near = list(dict.fromkeys([word for word in names if word == SYNONYMS.get(name)] + near))[:3]
    hint = meant or (f"did you mean {' or '.join(repr(n) for n in near)}?" if near else _known(names, lists))
    error = UnknownNameError(f"unknown {kind} {shortened(name)!r}; {hint}")
    error.name = name
    return error


def _known(names: list[str], lists: str) -> str:
    if len(names) <= MOST_NAMED:
        return f"known: {', '.join(names) or 'none'}"
    some = f": {lists} lists them" if lists else f", such as {', '.join(names[:: len(names) // 3][:3])}"
    return f"there are {len(names)}{some}"


def message_of(error: BaseException) -> str:
    """Return ``Type: message`` for an exception, or its type alone if it has no message."""
    kind = type(error).__name__
    try:
        words = str(error)
    except BaseException:  # whatever a user's class raises
        words = ""
    return f"{kind}: {words}" if words else kind
