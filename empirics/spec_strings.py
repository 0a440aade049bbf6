"""Specification strings of algorithms, data, models and measurements, such as ``relaxed(scaffold(), beta=0.05)``.

``spec_string`` writes the canonical form, with defaults; ``parse`` reads names in a registry, numbers, strings and
nested calls, and evaluates nothing else. Command line, tables and keys of results use the same strings.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from inspect import Parameter, Signature, signature
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from bounds.errors import unknown
from bounds.showing.loading import from_file
from bounds.showing.numbers import decimal

from .errors import EmpiricsError
from .numbers import check_kind, quoted

CALL = re.compile(r"\w+\s*\(")
LONGEST = 2**63 - 1
"""The largest integer in a call, as in arrays."""


def spec_string(name: str, *arguments: Any, **options: Any) -> str:
    """Return the canonical text of a call: ``spec_string("fedprox", mu=0.01)`` is ``fedprox(mu=0.01)``."""
    texts = [str(a) for a in arguments]
    texts += [f"{k}={v!r}" if isinstance(v, str) else f"{k}={_number(v)}" for k, v in options.items()]
    return f"{name}({', '.join(texts)})"


def _number(value: Any) -> str:
    """The shortest text that is read as the same number; integral floats as integers, minus zero as zero."""
    if isinstance(value, (float, np.floating)):
        return repr(float(value) + 0.0).removesuffix(".0")
    return str(value)


# ---- arguments ----


def refuse_twice(names: Iterable[str]) -> None:
    """Raise if a name occurs twice: a method would count as more seeds, a measurement as more clients."""
    for name, times in Counter(names).items():
        if times > 1:
            raise EmpiricsError(f"{name} is given twice")


def assignments(what: str, words: Iterable[str]) -> dict[str, str]:
    """Return the values by name of texts ``name=value``; ``what`` takes them."""
    pairs = [word.partition("=") for word in words]
    for name, equals, value in pairs:
        if not equals or not name:
            raise EmpiricsError(f"{what} takes name=value; got {name + equals + value!r}")
    refuse_twice(name for name, _, _ in pairs)
    return {name: value for name, _, value in pairs}


def bind_arguments(
    who: str, kind: str, called: Signature, arguments: Sequence[Any], options: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the arguments of a call by name; raise if they do not fit the signature ``called``."""
    parameters = called.parameters.values()
    kinds = {p.kind for p in parameters}
    named = [p for p in parameters if p.kind not in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)]
    for option in options:
        if option not in called.parameters and Parameter.VAR_KEYWORD not in kinds:
            raise unknown(kind, option, (p.name for p in named))
    positional = [p.name for p in named if p.kind is not Parameter.KEYWORD_ONLY]
    if len(arguments) > len(positional) and Parameter.VAR_POSITIONAL not in kinds:
        raise EmpiricsError(f"{who} takes at most {len(positional)} without a name; got {len(arguments)}")
    passed = positional[: len(arguments)]
    for option in passed:
        if option in options:
            raise EmpiricsError(f"{who}: {option} is given twice")
    for needed in named:
        if needed.default is Parameter.empty and needed.name not in (*passed, *options):
            raise EmpiricsError(f"{who}: {needed.name} must be given, as in {who.split()[-1]}({needed.name}=...)")
    return called.bind(*arguments, **options).arguments


# ---- reading ----


def parse(
    text: str,
    registry: Mapping[str, Callable[..., Any]],
    kind: str,
    own: type[Any] | None = None,
    declared: bool = False,
    evaluate: bool = True,
) -> Any:
    """Return the object of a call: ``parse("fedprox(mu=0.01)", ALGORITHMS, "algorithm")``; ``fedavg`` is ``fedavg()``.

    ``path/file.py:variable`` is a user's own object, which must be of the type ``own`` (None: not allowed). With
    ``declared``, numbers must have the types that the called functions are annotated with. Without ``evaluate``, names
    and options are checked, and nothing is called.
    """
    if own is not None and isinstance(text, str) and names_file(text):
        return from_file(text.strip(), own)
    return _Parser(registry, kind, text, declared, evaluate).build(tree(text, kind))


def tree(text: str, kind: str = "a call") -> ast.expr:
    """Return the syntax tree of a call; raise for other expressions and for unusual spellings of numbers."""
    source = text.strip() if isinstance(text, str) else ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", SyntaxWarning)  # 1else 2
            root = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _not_a_call(kind, text) from None
    if ast.get_source_segment(source, root) != source.strip("() \t\n") and "#" in source:  # a comment would be dropped
        raise _not_a_call(kind, text)
    for node in ast.walk(root):
        for left, right in pairwise(node.args if isinstance(node, ast.Call) else ()):
            spelling = source[left.col_offset : right.end_col_offset] if source.isascii() else ""
            if re.fullmatch("[0-9]+,[0-9]+", spelling):
                one, two = spelling.replace(",", "."), spelling.replace(",", ", ")
                raise EmpiricsError(
                    f"{kind}: {spelling} in {quoted(text)}: write {one} for one number, {two} for two arguments"
                )
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value > LONGEST:
            raise EmpiricsError(f"{kind}: write large numbers like 1e20; got {quoted(node.value)} in {quoted(text)}")
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            _check_spelling(kind, ast.get_source_segment(source, node) or "", text)
    return root


def calls(text: str) -> Iterator[tuple[str, dict[str, Any], Sequence[ast.expr]]]:
    """Yield name, options and arguments of a call, then of its first argument, and so on; none of an empty text."""
    expression: ast.expr | None = tree(text) if text else None
    while expression is not None:
        call = expression if isinstance(expression, ast.Call) else ast.Call(expression, [], [])
        options = {k.arg or "": ast.literal_eval(k.value) for k in call.keywords}
        yield ast.unparse(call.func), options, call.args
        expression = call.args[0] if call.args else None


def _not_a_call(kind: str, text: Any) -> EmpiricsError:
    return EmpiricsError(f"{kind} must be a name or a call such as name(option=0.1); got {quoted(text)}")


def _check_spelling(kind: str, spelling: str, text: str) -> None:
    """Raise for numbers such as 1_0 and 0x1, and for those outside the range of floats."""
    try:
        if decimal(spelling) is None:
            raise ValueError("must be plain decimal numbers")
    except ValueError as error:
        raise EmpiricsError(f"{kind}: numbers {error}; got {quoted(spelling)} in {quoted(text)}") from None


def names_file(text: str) -> bool:
    """Whether a text has the form ``path/file.py:variable`` or ``path/file.py``."""
    words = text.strip()
    return (words.endswith(".py") or words.rpartition(":")[0].endswith(".py")) and not CALL.match(words)


class _Parser(NamedTuple):
    """Turns the syntax tree of ``text`` into calls of entries of a registry; arguments are those of ``parse``."""

    registry: Mapping[str, Callable[..., Any]]
    kind: str
    text: str
    declared: bool
    evaluate: bool

    def build(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            node = ast.Call(func=node, args=[], keywords=[])
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            raise _not_a_call(self.kind, self.text)
        typed = node.func.id
        name = next((known for known in (typed, typed.lower()) if known in self.registry), "")
        if not name:
            raise unknown(self.kind, typed, self.registry)
        arguments = [self.value(a) for a in node.args]
        options: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise _not_a_call(self.kind, self.text)
            if keyword.arg in options:
                raise EmpiricsError(f"{self.kind} {name}: {keyword.arg} is given twice in {quoted(self.text)}")
            options[keyword.arg] = self.value(keyword.value)
        return self.call(name, arguments, options)

    def call(self, name: str, arguments: list[Any], options: dict[str, Any]) -> Any:
        make = self.registry[name]
        called = signature(make)
        values = bind_arguments(f"{self.kind} {name}", f"option of {name}", called, arguments, options)
        for option, value in values.items() if self.declared else ():
            check_kind(f"{name}: {option}", str(called.parameters[option].annotation), value)
        return make(*arguments, **options) if self.evaluate else name

    def value(self, node: ast.expr) -> Any:
        if isinstance(node, (ast.Call, ast.Name)):
            return self.build(node)
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError):
            raise EmpiricsError(
                f"{self.kind}: arguments must be numbers, strings or calls; got {quoted(self.text)}"
            ) from None
