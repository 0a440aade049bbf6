"""``rate`` as a function of Python, with the words of the verb as arguments; the verb calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import isfinite
from typing import Any

from bounds.errors import BoundsError, unknown
from bounds.showing.values import read
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import Algorithm
from empirics.progress import progress

from .program import solver
from .rate_search import Case
from .rate_table import place, Rates
from .rate_words import WORDS

NEEDED = WORDS[:4]
WHOLE = ("local_steps", "clients", "cohort", "rounds")
MOST = 1000
"""Places of one table."""


def rate(method: str | Algorithm, *texts: str, **words: float | Sequence[float]) -> Rates:
    """The smallest certified contraction per round, and what is left after many: the verb ``fedbounds rate``.

    Args:
        method: an algorithm, as text such as ``"fedinit(beta=0.1)"`` or as an object; one that adds and scales its
            gradients.
        texts: words as the shell has them, such as ``"step_size=0.1,0.2"`` or ``"@constants.json"``.
        words: ``local_steps, step_size, smoothness, strong_convexity``; ``gradient_variance`` with ``clients`` for
            noisy gradients; ``cohort`` with ``clients`` where some are drawn a round; ``rounds, initial_distance_sq,
            optimum_dissimilarity`` for a number after so many rounds. A list asks for several places, each with each.

    Raises:
        BoundsError: in one line, for values that are none, and for a method that is no linear map of its gradients.

    >>> found = rate("fedavg()", local_steps=2, step_size=0.25, smoothness=1, strong_convexity=0.1)
    >>> found.records()[0]["stated"]
    0.9037
    """
    chosen, at = places(method, texts, words)
    return rates(chosen, at)


def places(
    method: str | Algorithm, texts: Sequence[str], words: Mapping[str, Any]
) -> tuple[Algorithm, list[dict[str, float]]]:
    """The method and the places that ``rate`` is asked for, before any work."""
    chosen = method if isinstance(method, Algorithm) else algorithm(method)
    values = _values(texts, words)
    solver()
    at = [dict(zip(values, numbers, strict=True)) for numbers in product(*values.values())]
    if len(at) > MOST:
        raise BoundsError(f"{len(at)} places are too many for one table: at most {MOST}")
    return chosen, at


def rates(chosen: Algorithm, at: Sequence[dict[str, float]]) -> Rates:
    """The rates of these places."""
    cases = [_case(chosen, asked) for asked in at]
    with progress(f"rates of {chosen.name}", brief=len(at) == 1) as bar:
        bar.start(len(at))
        found = []
        for case, asked in zip(cases, at, strict=True):
            found.append(place(case, asked, bar.doing))
            bar.step()
    return Rates(tuple(found))


def _values(texts: Sequence[str], words: Mapping[str, Any]) -> dict[str, list[float]]:
    typed = dict.fromkeys(word.partition("=")[0] for word in texts if "=" in word)
    given: dict[str, list[float]] = {}
    for name, value in read(list(texts)).items():
        if name not in WORDS:
            if name in typed:
                raise unknown("quantity of a rate", name, WORDS)
            continue  # a file of constants holds more
        if value.kind not in ("number", "range", "list"):
            raise BoundsError(f"{name} must be a number, a range or a list")
        given[name] = [float(x) for x in value.numbers.ravel()]
    for name, value in words.items():
        if name not in WORDS:
            raise unknown("quantity of a rate", name, WORDS)
        given[name] = [float(x) for x in value] if isinstance(value, Sequence) else [float(value)]
    if missing := [name for name in NEEDED if name not in given]:
        raise BoundsError(f"a rate needs {', '.join(missing)}: give {missing[0]}=...")
    for name, numbers in given.items():
        for x in numbers:
            if not isfinite(x) or x < 0 or (name in WHOLE and x != int(x)):
                kind = "a whole number >= 0" if name in WHOLE else "a finite number >= 0"
                raise BoundsError(f"{name} must be {kind}; got {x:g}")
    return {name: list(dict.fromkeys(given[name])) for name in WORDS if name in given}


def _case(chosen: Algorithm, asked: Mapping[str, float]) -> Case:
    clients, cohort = (None if asked.get(w) is None else int(asked[w]) for w in ("clients", "cohort"))
    size, smoothness, strong_convexity = (asked[word] for word in NEEDED[1:])
    noisy = bool(asked.get("gradient_variance"))
    return Case(chosen, int(asked["local_steps"]), size, smoothness, strong_convexity, clients, cohort, noisy)
