"""The signature of a bound, for ``inspect`` and completion in notebooks, and checked arguments of verbs."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from types import UnionType
from typing import Any, TYPE_CHECKING

import numpy as np

from ..errors import BoundsError, shortened, unknown
from .usage import UsageError

if TYPE_CHECKING:
    from ..quantities import Quantity
    from ..statement import Statement

REAL, WHOLE, EACH = float | np.ndarray, int | np.ndarray, Sequence[float] | np.ndarray
"""Annotations: a number, an integer, one number per client; or arrays of them."""


class CallSignature:
    """The descriptor ``__signature__`` of bounds. The class itself has none, so that it shows its constructor."""

    def __get__(self, bound: Statement | None, owner: type[Statement]) -> Signature:
        if bound is None:
            raise AttributeError("__signature__")
        named = [Parameter(q.name, Parameter.KEYWORD_ONLY, annotation=_kind(q)) for q in bound.quantities]
        return Signature(named, return_annotation=REAL)


def _kind(quantity: Quantity) -> Any:
    if quantity.card.axis:
        return EACH
    return WHOLE if quantity.card.domain.whole else REAL


# ---- functions of verbs ----

ACCEPTED = {
    str: {"str", "Path", "PathLike"}, bool: {"bool"}, int: {"int", "float", "bool"}, float: {"float"},
    type(None): {"None"}, dict: {"dict", "Mapping"}, list: {"list", "Sequence"}, tuple: {"tuple", "Sequence"},
}  # fmt: skip
"""The annotations that accept a value of a plain type; values of other types are not checked."""


@cache
def with_checked_arguments(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a verb's function that raises ``UsageError`` if an argument is missing, unknown or of a wrong type."""
    name, parameters = f"fedbounds.{function.__name__}", signature(function).parameters

    @wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        try:
            bound = signature(function).bind(*arguments, **options).arguments
        except TypeError as error:
            for option in (option for option in options if option not in parameters):
                raise unknown(f"argument of {name}", option, parameters) from None
            raise UsageError(f"{name}: {error}") from None
        for each, given in bound.items():
            kind, annotation = parameters[each].kind, str(parameters[each].annotation)
            for value in given if kind is Parameter.VAR_POSITIONAL else [given]:
                if kind is not Parameter.VAR_KEYWORD and not _accepts(annotation, value, function.__globals__):
                    raise UsageError(f"{name}: {each} must be of type {annotation}; got {shortened(repr(value))}")
        try:
            return function(*arguments, **options)
        except BoundsError as error:  # its message may name options as they are typed in a shell
            error.args = (in_python(str(error), parameters),)
            raise

    checked.__module__ = "fedbounds"  # where pickling finds it
    return checked


def in_python(message: str, parameters: Collection[str]) -> str:
    """Return a message with options of the command line (``--seeds "5..9"``) as arguments (``seeds="5..9"``)."""

    def argument(found: re.Match[str]) -> str:
        name = found[1].replace("-", "_")
        value = f'="{found[3]}"' if found[3] else "=" if found[2] else ""
        return f"{name}{value}" if name in parameters else found[0]

    return re.sub(r'--([a-z][a-z-]*)( (?:(\w+=\w+)|(?=["\dA-Z])))?', argument, message)


def _accepts(annotation: str, value: Any, aliases: Mapping[str, Any]) -> bool:
    """Whether a value is of a type that an annotation names, itself or by an alias, or of one that is not checked."""
    if type(value) not in ACCEPTED:
        return True
    unions = (alias for part in annotation.split("|") if isinstance(alias := aliases.get(part.strip()), UnionType))
    parts = "|".join([annotation, *map(str, unions)]).split("|")
    named = {part.strip().partition("[")[0].rpartition(".")[2] for part in parts}
    return bool(named & {"Any", *ACCEPTED[type(value)]})
