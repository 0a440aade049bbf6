"""The canonical form of a run's arguments, which is hashed: equal calls and numbers have equal texts."""

from __future__ import annotations

import ast
import json
import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..errors import EmpiricsError
from ..spec_strings import tree


def canonical(item: Any) -> Any:
    """Return JSON data in canonical form: sorted keys, integral floats as integers, calls rewritten by ``call``."""
    try:
        return _canonical(item)
    except RecursionError:
        raise EmpiricsError("an argument of a run is nested too deeply") from None


def _canonical(item: Any) -> Any:
    if isinstance(item, Mapping):
        return {str(key): _canonical(item[key]) for key in sorted(item, key=str)}
    if isinstance(item, (list, tuple)):
        return [_canonical(part) for part in item]
    if isinstance(item, float):
        if not math.isfinite(item):
            raise EmpiricsError(f"an argument of a run must be finite; got {item}")
        return int(item) if item == int(item) else item
    if isinstance(item, str):
        return call(item)
    if item is None or isinstance(item, (bool, int)):
        return item
    raise EmpiricsError(f"an argument of a run must be text, a number, a list or a table; got {item!r}")


def text(item: Any) -> str:
    """The canonical form as one line of JSON."""
    return json.dumps(canonical(item), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


@lru_cache(maxsize=1024)
def call(words: str) -> str:
    """Rewrite ``relaxed( scaffold(),beta = .05)`` as ``relaxed(scaffold(), beta=0.05)``; other text is unchanged."""
    if "(" not in words or ".py:" in words:
        return words
    try:
        node = tree(words)
        return _call_text(node) if isinstance(node, ast.Call) else words
    except (EmpiricsError, OverflowError, RecursionError):  # not a valid call
        return words


def _call_text(node: ast.expr) -> str:
    if isinstance(node, ast.Call):
        positional = [_call_text(a) for a in node.args]
        named = sorted(f"{k.arg}={_call_text(k.value)}" for k in node.keywords)
        return f"{ast.unparse(node.func)}({', '.join(positional + named)})"
    if isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value.is_integer():
        return str(int(node.value))
    return ast.unparse(node)
