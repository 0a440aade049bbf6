"""Specification strings of algorithms, data, models and measurements, such as ``relaxed(scaffold(), beta=0.05)``.

``written`` makes the canonical form, with defaults; ``parse`` reads names of a registry, numbers, strings and nested
calls, and evaluates nothing else. The same string is used on the command line, in tables and in the key of a result.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import Parameter, Signature, signature
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bounds.errors import unknown
from bounds.showing.loading import from_file
from bounds.showing.numbers import decimal

from .errors import EmpiricsError
from .numbers import check_kind, shown

CALL = re.compile(r"\w+\s*\(")
LONGEST = 2**63 - 1
"""The largest integer in a call: arrays hold no larger ones."""


def written(name: str, *arguments: Any, **options: Any) -> str:
    """Return the canonical text of a call: ``written("fedprox", mu=0.01)`` is ``fedprox(mu=0.01)``."""
    shown = [str(a) for a in arguments]
    shown += [f"{k}={v!r}" if isinstance(v, str) else f"{k}={_number(v)}" for k, v in options.items()]
    return f"{name}({', '.join(shown)})"


def _number(value: Any) -> str:
    """The shortest text that reads back to the same number; integral floats as integers, minus zero as zero."""
    if isinstance(value, (float, np.floating)):
        return repr(float(value) + 0.0).removesuffix(".0")
    return str(value)


# ---- arguments ----


def chosen(kind: str, value: Any, known: Iterable[str]) -> str:
    """Return ``value`` if it is one of the ``known`` names."""
    names = tuple(known)
    if not isinstance(value, str):
        raise EmpiricsError(f"{kind} must be one of {', '.join(names)}; got {shown(value)}")
    if value not in names:
        raise unknown(kind, value, names)
    return value


def refuse_twice(names: Iterable[str]) -> None:
    """Refuse a name that is given twice: a method would count as further seeds, a measurement as further clients."""
    for name, times in Counter(names).items():
        if times > 1:
            raise EmpiricsError(f"{name} is given twice")


def bind_arguments(
    who: str, kind: str, form: Signature, arguments: Sequence[Any], options: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the arguments of a call by name; refuse those that do not fit its ``form``."""
    named = [p for p in form.parameters.values() if p.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)]
    open_ended = any(p.kind is Parameter.VAR_KEYWORD for p in form.parameters.values())
    for option in () if open_ended else options:
        if option not in form.parameters:
            raise unknown(kind, option, (p.name for p in named))
    places = [p.name for p in named if p.kind is not Parameter.KEYWORD_ONLY]
    if len(arguments) > len(places) and not any(p.kind is Parameter.VAR_POSITIONAL for p in form.parameters.values()):
        raise EmpiricsError(f"{who} takes at most {len(places)} without a name; got {len(arguments)}")
    placed = places[: len(arguments)]
    for option in placed:
        if option in options:
            raise EmpiricsError(f"{who}: {option} is given twice")
    for needed in named:
        if needed.default is Parameter.empty and needed.name not in (*placed, *options):
            raise EmpiricsError(f"{who}: {needed.name} must be given, as in {who.split()[-1]}({needed.name}=...)")
    return form.bind(*arguments, **options).arguments


# ---- reading ----


def parse(
    text: str,
    registry: Mapping[str, Callable[..., Any]],
    kind: str,
    own: type[Any] | None = None,
    declared: bool = False,
) -> Any:
    """Return the object of a call: ``parse("fedprox(mu=0.01)", ALGORITHMS, "algorithm")``; ``fedavg`` is ``fedavg()``.

    ``path/file.py:variable`` is a user's own object, which must be of the type ``own`` (None: not allowed).
    ``declared``: numbers must be of the kinds that the annotations of the called functions declare.
    """
    if own is not None and isinstance(text, str) and in_a_file(text):
        return from_file(text.strip(), own)
    return _Reading(registry, kind, text, declared).build(tree(text, kind))


def tree(text: str, kind: str = "a call") -> ast.expr:
    """Return the syntax tree of a call; refuse other expressions, and numbers in unusual spellings."""
    source = text.strip() if isinstance(text, str) else ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)  # 1else 2
            found = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _no_call(kind, text) from None
    if ast.get_source_segment(source, found) != source.strip("() \t\n") and "#" in source:  # a comment would be dropped
        raise _no_call(kind, text)
    for node in ast.walk(found):
        for one, next_ in pairwise(node.args if isinstance(node, ast.Call) else ()):
            spelled = source[one.col_offset : next_.end_col_offset] if source.isascii() else ""
            if re.fullmatch("[0-9]+,[0-9]+", spelled):
                point, apart = spelled.replace(",", "."), spelled.replace(",", ", ")
                raise EmpiricsError(f"{kind}: {spelled} in {shown(text)} is written {point}, or {apart} if it is two")
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value > LONGEST:
            raise EmpiricsError(f"{kind}: write large numbers like 1e20; got {shown(node.value)} in {shown(text)}")
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            _check_spelling(kind, ast.get_source_segment(source, node) or "", text)
    return found


def _no_call(kind: str, text: Any) -> EmpiricsError:
    return EmpiricsError(f"{kind} must be a name or a call such as name(option=0.1); got {shown(text)}")


def _check_spelling(kind: str, spelled: str, text: str) -> None:
    """Refuse numbers such as 1_0 and 0x1, and those that no float holds."""
    try:
        if decimal(spelled) is None:
            raise ValueError("must be plain decimal numbers")
    except ValueError as error:
        raise EmpiricsError(f"{kind}: numbers {error}; got {shown(spelled)} in {shown(text)}") from None


def in_a_file(text: str) -> bool:
    """Whether a text has the form ``path/file.py:variable``, or a part of it."""
    words = text.strip()
    return (words.endswith(".py") or words.rpartition(":")[0].endswith(".py")) and not CALL.match(words)


class _Reading(NamedTuple):
    """Reads one text as a call of an entry of a registry."""

    registry: Mapping[str, Callable[..., Any]]
    kind: str
    text: str
    declared: bool

    def build(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            node = ast.Call(func=node, args=[], keywords=[])
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            raise _no_call(self.kind, self.text)
        typed = node.func.id
        name = next((known for known in (typed, typed.lower()) if known in self.registry), "")
        if not name:
            raise unknown(self.kind, typed, self.registry)
        arguments = [self.value(a) for a in node.args]
        options: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise _no_call(self.kind, self.text)
            if keyword.arg in options:
                raise EmpiricsError(f"{self.kind} {name}: {keyword.arg} is given twice in {shown(self.text)}")
            options[keyword.arg] = self.value(keyword.value)
        return self.call(name, arguments, options)

    def call(self, name: str, arguments: list[Any], options: dict[str, Any]) -> Any:
        make = self.registry[name]
        form = signature(make)
        given = bind_arguments(f"{self.kind} {name}", f"option of {name}", form, arguments, options)
        for option, value in given.items() if self.declared else ():
            check_kind(f"{name}: {option}", str(form.parameters[option].annotation), value)
        return make(*arguments, **options)

    def value(self, node: ast.expr) -> Any:
        if isinstance(node, (ast.Call, ast.Name)):
            return self.build(node)
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError):
            raise EmpiricsError(
                f"{self.kind}: arguments must be numbers, strings or calls; got {shown(self.text)}"
            ) from None
