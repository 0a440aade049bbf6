"""Validation of numbers and names from the command line, calls and sweep files; errors are one line.

Booleans are not numbers, and nothing is rounded: ``true`` rounds or 2.5 clients are errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

import numpy as np

from bounds.domains import COUNT, Domain, NONNEGATIVE, POSITIVE, RELAXATION, WHOLE
from bounds.errors import DomainError, unknown
from bounds.showing.numbers import whole_word

from .errors import EmpiricsError

LARGEST = 2**53
"""The largest integer accepted; above it floating-point numbers skip integers."""
MOMENTUM = Domain(">= 0 and < 1", low=0, high=1, open_high=True)
Rule = Domain | Collection[str] | type[bool] | Callable[[str, Any], Any]
"""Of an option: a domain of numbers, the allowed texts, ``bool``, or a function of its description and value."""
KINDS: Mapping[str, tuple[type, str]] = {
    "int": (Integral, "a whole number"),
    "float": (Real, "a number"),
    "bool": (bool, "True or False"),
}
"""The type of values for an option annotated ``int``, ``float`` or ``bool``, and its name in messages."""

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
"""The domains of a run's options, by their names on the command line and in a sweep's file."""


def check_options(options: Mapping[str, Any]) -> None:
    """Raise for the first of the ``OPTIONS`` whose value is outside its domain; None (not set) is accepted."""
    for name, value in options.items():
        if name not in OPTIONS or value is None:
            continue
        domain = OPTIONS[name]
        kind = Integral if domain.whole else Real
        if isinstance(value, bool) or not isinstance(value, kind) or not _inside(value, domain):
            raise EmpiricsError(f"{name} must be {_words(value, domain)}; got {quoted(value)}")


def checked(name: str, value: Any, domain: Domain) -> Any:
    """Return ``value`` as an int or float in ``domain``, else raise; ``name`` for the message, as ``fedprox: mu``."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise EmpiricsError(f"{name} must be a number; got {quoted(value)}")
    if not _inside(value, domain):
        raise EmpiricsError(f"{name} must be {_words(value, domain)}; got {quoted(value)}")
    return int(value) if domain.whole else float(value)


def _inside(value: Any, domain: Domain) -> bool:
    try:
        number = float(value)
    except OverflowError:
        return False
    return bool(domain.contains(np.asarray(number))) and not (domain.whole and abs(number) > LARGEST)


def _words(value: Any, domain: Domain) -> str:
    """The rule that the value broke; for a huge integer the limit on integers, as it is most often a slip."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and value > LARGEST:
        return f"{domain.words} and at most {LARGEST}" if domain.whole else "a finite number"
    return domain.words


Seeds = int | str | Sequence[int]
"""Seeds of runs: how many (3: 0, 1 and 2), a list of them, or a text such as ``3``, ``5,6,7`` or ``5..9``."""
MOST_SEEDS = 10_000


def seed_list(seeds: Seeds) -> list[int]:
    """Return the seeds one by one; a range includes both ends."""
    numbers: Any = seeds
    if isinstance(seeds, str):
        try:
            parts = [[whole_word(end) for end in part.strip().split("..", 1)] for part in seeds.split(",")]
        except DomainError as error:
            raise EmpiricsError(f"seeds {error}: give their number, or seeds such as 5,6,7 or 5..9") from None
        ranges = [range(ends[0], min(ends[-1], ends[0] + MOST_SEEDS) + 1) for ends in parts]
        every = [seed for each in ranges for seed in each] if all(ranges) else []
        numbers = parts[0][0] if len(parts) == len(parts[0]) == 1 else every
    if isinstance(numbers, Integral) and not isinstance(numbers, bool):
        numbers = range(min(int(numbers), MOST_SEEDS + 1))
    rule = f"their number (1 to {MOST_SEEDS}), or different ones such as 5,6,7 or 5..9"
    must(isinstance(numbers, Sequence) and 1 <= len(numbers) <= MOST_SEEDS, "seeds", rule, seeds)
    for seed in numbers:
        check_options({"seed": seed})
    must(len(set(numbers)) == len(numbers), "seeds", rule, seeds)
    return list(numbers)


def seeds_text(seeds: Sequence[int]) -> str:
    """Return a list of seeds as the text that ``seed_list`` reads: ``5..9``, or ``5,7,8`` with gaps."""
    contiguous = list(seeds) == [seeds[0] + i for i in range(len(seeds))]
    return f"{seeds[0]}..{seeds[-1]}" if seeds and contiguous else ",".join(map(str, seeds))


def quoted(value: Any) -> str:
    """A value as text for an error message, shortened to 80 characters."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10 * LARGEST:
        return f"a number of about {round(value.bit_length() * math.log10(2))} digits"
    if isinstance(value, (float, np.floating)):
        return f"{value:g}"
    words = str(value) if isinstance(value, np.integer) else repr(value)
    return words if len(words) <= 80 else f"{words[:70]} ..."


def must(rule: bool | np.bool, what: str, words: str, value: object = None) -> None:
    """Raise ``EmpiricsError("{what} must be {words}; got {value}")`` unless the rule holds."""
    if not rule:
        raise EmpiricsError(f"{what} must be {words}; got {quoted(value)}")


def check_name(what: str, value: Any) -> None:
    """Raise unless ``value`` is one line of printable text."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise EmpiricsError(f"{what} must be a line of text; got {quoted(value)}")


def array_of_numbers(what: str, value: Any, rule: str = "an array of numbers") -> np.ndarray:
    """Return ``value`` as an array of real numbers or booleans in native byte order; raise if entries are masked."""
    if np.ma.is_masked(value):
        raise EmpiricsError(f"{what} must be {rule}; some are masked: fill them or leave their samples out")
    try:
        array = np.asarray(value)
    except (ValueError, TypeError, RuntimeError) as error:  # rows of different lengths, a tensor elsewhere
        raise EmpiricsError(f"{what} must be {rule}; got {type(value).__name__}: {error}") from None
    if array.dtype.kind not in "biuf" or not array.ndim:
        container = "an array" if isinstance(value, np.ndarray) else f"a {type(value).__name__}"
        raise EmpiricsError(f"{what} must be {rule}; got {container} of {array.dtype}")
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def check_kind(name: str, annotation: str, value: Any) -> None:
    """Raise if ``annotation`` is int, float or bool and ``value`` is not of that type."""
    kind, words = KINDS.get(annotation, (object, ""))
    if not isinstance(value, kind) or (isinstance(value, bool) and annotation in ("int", "float")):
        got = repr(value) if isinstance(value, float) else quoted(value)  # 3.0 is not whole, 3 is
        raise EmpiricsError(f"{name} must be {words}; got {got}")


def check_choice(kind: str, value: Any, known: Iterable[str]) -> str:
    """Return ``value`` if it is one of the ``known`` names, else raise."""
    names = tuple(known)
    if not isinstance(value, str):
        raise EmpiricsError(f"{kind} must be one of {', '.join(names)}; got {quoted(value)}")
    if value not in names:
        raise unknown(kind, value, names)
    return value


def checked_option(where: str, value: Any, rule: Rule) -> Any:
    """Return the value of an option, a number as an int or float; raise if it breaks its rule."""
    if isinstance(rule, Domain):
        return checked(where, value, rule)
    if rule is bool:
        must(isinstance(value, bool), where, "True or False", value)
        return value
    return rule(where, value) if callable(rule) else check_choice(where, value, rule)


def check_fields(options: Any, who: str, rules: Mapping[str, Rule]) -> None:
    """Raise for a field of a dataclass that is not of its type (int, float or bool) or breaks its rule."""
    for option in fields(options):
        where, kind, value = f"{option.name} of {who}", str(option.type), getattr(options, option.name)
        check_kind(where, kind, value)
        if option.name in rules and not (value is None and "None" in kind):
            checked_option(where, value, rules[option.name])
