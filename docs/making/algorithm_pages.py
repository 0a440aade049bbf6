"""The reference of algorithms: what each does and its options, from the code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from bounds.catalog import BOUNDS
from empirics.algorithms import ALGORITHMS
from empirics.algorithms.algorithm import Algorithm

from .text import alone, docstring, page, plain, table

PLUGGED = "algorithm"
"""The first argument of a plug-in."""


def algorithms() -> str:
    """The list of all of them."""
    said = (
        "An algorithm is written as a call: `fedinit(beta=0.05)`. One that takes an `algorithm` is a plug-in:\n"
        "`relaxed(scaffold(), beta=0.05)`. Your own: [](../../how-to/algorithm.md)."
    )
    rows = (
        [f"[{name}]({name}.md)", f"`{_call(name, made)}`", docstring((inspect.getdoc(made) or "").partition("\n\n")[0])]
        for name, made in ALGORITHMS.items()
    )
    return page(
        "# Algorithms", said, table(["name", "written as", ""], ([n, c, " ".join(d.split())] for n, c, d in rows))
    )


def of_algorithm(name: str) -> str:
    """The page of one."""
    return alone(f"# {name}", "[Algorithms](index.md)", *_one(name, ALGORITHMS[name]))


def _call(name: str, made: Callable[..., Any]) -> str:
    return f"{name}({', '.join(map(_written, inspect.signature(made).parameters.values()))})"


def _one(name: str, made: Callable[..., Any]) -> Iterator[str | list[str]]:
    parameters = list(inspect.signature(made).parameters.values())
    yield f"`{_call(name, made)}`"
    yield docstring(inspect.getdoc(made) or "")
    options = [p for p in parameters if p.name != PLUGGED]
    if options:
        yield "## Options"
        yield table(["option", "default", "type"], ([f"`{p.name}`", _default(p), _kind(p)] for p in options))
    if theorems := [b for b in BOUNDS.values() if b.about and b.about.algorithm == name and b.relation in ("<=", "<~")]:
        yield "## Theorems about it"
        yield [
            f"- [{b.name}](../bounds/{b.name.replace('.', '/', 1)}.md): {plain(b.target.card.meaning)}"
            for b in theorems
        ]
    called = f"{name}(fedavg())" if any(p.name == PLUGGED for p in parameters) else f"{name}()"
    yield "## Run it"
    yield f'```sh\nfedbounds train --problem "softmax(digits)" --algorithm "{called}"\n```'


def _written(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return parameter.name
    default = parameter.default
    return f"{parameter.name}={default if isinstance(default, Algorithm) else repr(default)}"


def _default(parameter: inspect.Parameter) -> str:
    return "" if parameter.default is parameter.empty else f"`{parameter.default!r}`"


def _kind(parameter: inspect.Parameter) -> str:
    return "" if parameter.annotation is parameter.empty else plain(str(parameter.annotation))
