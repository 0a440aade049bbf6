"""How algorithms are written: a call with its arguments, such as ``relaxed(scaffold(), beta=0.05)``.

``written`` is the canonical form (defaults spelled out), ``parse`` reads one with a literal parser: names of a
registry, numbers, strings and nested calls, nothing else is evaluated. The same string is used on the command line, in
tables and in the hash of a result.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter, signature
from typing import Any

import numpy as np

from bounds.errors import unknown
from bounds.showing.loading import from_file

from ..algorithm import Algorithm
from ..errors import EmpiricsError
from ..numbers import shown

CALL = re.compile(r"\w+\s*\(")
LONGEST = 2**63 - 1
"""Of whole numbers in a call: arrays hold no larger ones."""


def written(name: str, *arguments: Any, **options: Any) -> str:
    """The canonical text of a call: ``written("fedprox", mu=0.01)`` is ``fedprox(mu=0.01)``."""
    shown = [str(a) for a in arguments]
    shown += [f"{k}={v!r}" if isinstance(v, str) else f"{k}={_number(v)}" for k, v in options.items()]
    return f"{name}({', '.join(shown)})"


def _number(value: Any) -> str:
    """The shortest text that reads back to the same number; whole floats as whole numbers, minus zero as zero."""
    if isinstance(value, (float, np.floating)):
        return repr(float(value) + 0.0).removesuffix(".0")
    return str(value)


# ---- arguments ----


def chosen(kind: str, value: Any, known: Iterable[str]) -> str:
    """``value`` if it is one of the ``known`` words."""
    names = tuple(known)
    if not isinstance(value, str):
        raise EmpiricsError(f"{kind} must be one of {', '.join(names)}; got {shown(value)}")
    if value not in names:
        raise unknown(kind, value, names)
    return value


def plugged(name: str, algorithm: Any) -> Algorithm:
    """``algorithm`` if it is one: the first argument of the plug-in ``name``."""
    if not isinstance(algorithm, Algorithm):
        raise EmpiricsError(f"{name} must be given an algorithm first, such as {name}(fedavg()); got {algorithm!r}")
    return algorithm


# ---- reading ----


def parse(text: str, registry: Mapping[str, Callable[..., Any]], kind: str, own: type[Any] | None = None) -> Any:
    """The object a call names: ``parse("fedprox(mu=0.01)", ALGORITHMS, "algorithm")``; a bare name is called empty.

    ``path/file.py:variable`` is a user's own object, which must be of the type ``own`` (None: not to be had).
    """
    if own is not None and _in_a_file(text):
        return from_file(text.strip(), own)
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _no_call(kind, text) from None
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value > LONGEST:
            raise EmpiricsError(f"{kind}: write large numbers like 1e20; got {shown(node.value)} in {shown(text)}")
    return _build(tree, registry, kind, text)


def _in_a_file(text: str) -> bool:
    """Whether a text is written like ``path/file.py:variable``, or like a part of that."""
    words = text.strip()
    return (words.endswith(".py") or words.rpartition(":")[0].endswith(".py")) and not CALL.match(words)


def _no_call(kind: str, text: str) -> EmpiricsError:
    return EmpiricsError(f"{kind} must be a name or a call such as name(option=0.1); got {shown(text)}")


def _build(node: ast.expr, registry: Mapping[str, Callable[..., Any]], kind: str, text: str) -> Any:
    if isinstance(node, ast.Name):
        node = ast.Call(func=node, args=[], keywords=[])
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        raise _no_call(kind, text)
    name = node.func.id
    if name not in registry:
        raise unknown(kind, name, registry)
    arguments = [_value(a, registry, kind, text) for a in node.args]
    options = {}
    for keyword in node.keywords:
        if keyword.arg is None:
            raise _no_call(kind, text)
        if keyword.arg in options:
            raise EmpiricsError(f"{kind} {name}: {keyword.arg} is given twice in {shown(text)}")
        options[keyword.arg] = _value(keyword.value, registry, kind, text)
    return _call(registry[name], name, arguments, options, kind)


def _call(make: Callable[..., Any], name: str, arguments: list[Any], options: dict[str, Any], kind: str) -> Any:
    form = signature(make)
    open_ended = any(p.kind is Parameter.VAR_KEYWORD for p in form.parameters.values())
    for option in () if open_ended else options:
        if option not in form.parameters:
            raise unknown(f"option of {name}", option, form.parameters)
    try:
        form.bind(*arguments, **options)
    except TypeError as error:
        raise EmpiricsError(f"{kind} {name}: {error}") from None
    return make(*arguments, **options)


def _value(node: ast.expr, registry: Mapping[str, Callable[..., Any]], kind: str, text: str) -> Any:
    if isinstance(node, (ast.Call, ast.Name)):
        return _build(node, registry, kind, text)
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError):
        raise EmpiricsError(f"{kind}: arguments must be numbers, strings or calls; got {shown(text)}") from None
