"""A run (cell): the name of a job, such as a training run or a worst case, and its arguments."""

from __future__ import annotations

import ast
import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from ..errors import EmpiricsError
from ..spec_strings import tree
from .registry import find_job, Job, resolved
from .sources import digests

LENGTH = "rounds"
"""The argument for the length of a run."""


@dataclass(frozen=True)
class Outcome:
    """The result of a job: a table as columns of equal length, and facts, which are single values.

    ``status`` is ``done``, or ``diverged`` for a training run that reached infinite or undefined values.
    """

    columns: Mapping[str, list[Any]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    status: str = "done"


@dataclass(frozen=True)
class Cell:
    """One run: ``job`` is the name of a registered job or ``path/file.py:name``, ``arguments`` are canonical JSON data.

    The key is a hash of the job's name and version, of the arguments that differ from their defaults (so that new
    arguments of a job change no key), and of the user's files that arguments name. The number of rounds is appended:
    runs that differ in length only share the rest of the key.
    """

    job: str
    arguments: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "job", self.spec.name)
        object.__setattr__(self, "arguments", canonical(self.arguments))

    @cached_property
    def spec(self) -> Job:
        """The job, with its version, its defaults and the location of its code."""
        return find_job(self.job)

    @property
    def home(self) -> str:
        """The location of the job's code."""
        return self.spec.home

    @cached_property
    def config(self) -> str:
        """The canonical text that is hashed."""
        defaults = self.spec.defaults
        # compared as texts, as False equals 0
        arguments = {k: v for k, v in self.arguments.items() if k not in defaults or text(v) != text(defaults[k])}
        arguments.pop(LENGTH, None)
        config = {"job": self.job, "version": self.spec.version, "arguments": arguments}
        if files := digests(self.arguments):
            config["files"] = files
        return text(config)

    @cached_property
    def key_prefix(self) -> str:
        """The part of the key that is shared by runs that differ in length only."""
        return hashlib.sha256(self.config.encode()).hexdigest()[:20]

    @property
    def key(self) -> str:
        """The key of the result in the store."""
        length = self.arguments.get(LENGTH, self.spec.defaults.get(LENGTH))
        end = "" if length is None else f"-{text(length)}"
        return self.key_prefix + re.sub(r"[^\w.+-]", "_", end)

    def __str__(self) -> str:
        return f"{self.job}({', '.join(f'{k}={v}' for k, v in self.arguments.items())})"


def run(home: str, arguments: Mapping[str, Any]) -> Outcome:
    """Call the job whose code is at ``home`` and return its outcome."""
    outcome = resolved(home)(**arguments)
    if not isinstance(outcome, Outcome):
        raise EmpiricsError(f"{home} must return an Outcome; got {type(outcome).__name__}")
    return outcome


# ---- the canonical form of arguments, which is hashed: equal calls and numbers have equal texts ----


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
