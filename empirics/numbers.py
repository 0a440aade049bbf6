"""Numbers from outside, of a command line, a call or a sweep's file: what each must be, said in one line if it is not.

A truth value is not a number, and nothing is rounded: ``true`` rounds or 2.5 clients are mistakes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from bounds.domains import COUNT, Domain, NONNEGATIVE, POSITIVE, RELAXATION, WHOLE

from .errors import EmpiricsError

LARGEST = 2**53
"""Of whole numbers: beyond, floating-point numbers skip some, and nothing can be counted so far."""
MOMENTUM = Domain(">= 0 and < 1", low=0, high=1, open_high=True)
KINDS: Mapping[str, tuple[type, str]] = {
    "int": (Integral, "a whole number"),
    "float": (Real, "a number"),
    "bool": (bool, "True or False"),
}
"""What a value must be where an option is declared so."""

OPTIONS: Mapping[str, Domain] = {
    **dict.fromkeys(("clients", "cohort", "rounds", "local_steps", "local_epochs", "batch", "seeds", "every"), COUNT),
    **dict.fromkeys(("samples", "instances", "dim", "workers", "probe", "points", "laps"), COUNT),
    **dict.fromkeys(("seed",), WHOLE),
    **dict.fromkeys(("step_size", "step_size_decay", "step_offset", "epsilon", "clip"), POSITIVE),
    **dict.fromkeys(("momentum", "beta1", "beta2"), MOMENTUM),
    **dict.fromkeys(("weight_decay", "noise"), NONNEGATIVE),
    **dict.fromkeys(("regularisation", "concentration"), POSITIVE),
    "relaxation": RELAXATION,
}
"""What the options of a run must be, by their names on the command line and in a sweep's file."""


def check_options(given: Mapping[str, Any]) -> None:
    """Refuse the first of the ``OPTIONS`` among ``given`` that is not what it must be; None is left open."""
    for name in (name for name, value in given.items() if name in OPTIONS and value is not None):
        value, domain = given[name], OPTIONS[name]
        kind = Integral if domain.whole else Real
        if isinstance(value, bool) or not isinstance(value, kind) or not _inside(value, domain):
            raise EmpiricsError(f"{name} must be {_words(value, domain)}; got {shown(value)}")


def checked(name: str, value: Any, domain: Domain) -> Any:
    """``value`` as a number of ``domain``; ``name`` says whose and which, such as ``fedprox: mu``."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise EmpiricsError(f"{name} must be a number; got {shown(value)}")
    if not _inside(value, domain):
        raise EmpiricsError(f"{name} must be {_words(value, domain)}; got {shown(value)}")
    return int(value) if domain.whole else float(value)


def _inside(value: Any, domain: Domain) -> bool:
    try:
        number = float(value)
    except OverflowError:
        return False
    return bool(domain.contains(np.asarray(number))) and not (domain.whole and abs(number) > LARGEST)


def _words(value: Any, domain: Domain) -> str:
    """The rule that the value broke: a huge one is most often a slip."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value > LARGEST:
        return f"{domain.words} and at most {LARGEST}" if domain.whole else "a finite number"
    return domain.words


def shown(value: Any) -> str:
    """A value as a message quotes it, in a few words."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10 * LARGEST:
        return f"a number of about {round(value.bit_length() * math.log10(2))} digits"
    if isinstance(value, (float, np.floating)):
        return f"{value:g}"
    words = str(value) if isinstance(value, np.integer) else repr(value)
    return words if len(words) <= 80 else f"{words[:70]} ..."


def check_name(what: str, value: Any) -> None:
    """Refuse what cannot be printed as the name of a thing, on one line."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise EmpiricsError(f"{what} must be a line of text; got {shown(value)}")


def array_of_numbers(what: str, value: Any, rule: str = "an array of numbers") -> np.ndarray:
    """``value`` as an array of real numbers or truths in this machine's byte order; masked entries are none."""
    if np.ma.is_masked(value):
        raise EmpiricsError(f"{what} must be {rule}; some are masked: fill them or leave their samples out")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:  # rows of different lengths, a tensor elsewhere
        raise EmpiricsError(f"{what} must be {rule}; got {type(value).__name__}: {error}") from None
    if array.dtype.kind not in "biuf" or not array.ndim:
        sort = "an array" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
        raise EmpiricsError(f"{what} must be {rule}; got {sort} of {array.dtype}")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def check_kind(name: str, declared: str, value: Any) -> None:
    """Refuse a value that is not of the kind its option declares, if that is a kind of number."""
    kind, words = KINDS.get(declared, (object, ""))
    if not isinstance(value, kind) or (isinstance(value, bool) and declared in ("int", "float")):
        got = repr(value) if isinstance(value, float) else shown(value)  # 3.0 is not whole, 3 is
        raise EmpiricsError(f"{name} must be {words}; got {got}")
