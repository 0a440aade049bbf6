"""The reference of algorithms: what each does and its options, from the code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from empirics.algorithms import ALGORITHMS
from empirics.algorithms.algorithm import Algorithm

from .text import docstring, page, plain, table

PLUGGED = "algorithm"
"""The first argument of a plug-in."""


def algorithms() -> str:
    """The page of all of them."""
    said = (
        "An algorithm is written as a call: `fedinit(beta=0.05)`. One that takes an `algorithm` is a plug-in:\n"
        "`relaxed(scaffold(), beta=0.05)`. Your own: [](../how-to/algorithm.md)."
    )
    return page("# Algorithms", said, *(part for name, made in ALGORITHMS.items() for part in _one(name, made)))


def _one(name: str, made: Callable[..., Any]) -> Iterator[str | list[str]]:
    parameters = list(inspect.signature(made).parameters.values())
    yield f"## {name}"
    yield f"`{name}({', '.join(map(_written, parameters))})`"
    yield docstring(inspect.getdoc(made) or "")
    options = [p for p in parameters if p.name != PLUGGED]
    if options:
        yield table(["option", "default", "type"], ([f"`{p.name}`", _default(p), _kind(p)] for p in options))


def _written(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return parameter.name
    default = parameter.default
    return f"{parameter.name}={default if isinstance(default, Algorithm) else repr(default)}"


def _default(parameter: inspect.Parameter) -> str:
    return "" if parameter.default is parameter.empty else f"`{parameter.default!r}`"


def _kind(parameter: inspect.Parameter) -> str:
    return "" if parameter.annotation is parameter.empty else plain(str(parameter.annotation))
