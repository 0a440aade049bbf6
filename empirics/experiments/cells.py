"""A run (cell): the name of a job, such as a training run or a worst case, and its arguments."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..errors import EmpiricsError
from .canonical import canonical, text
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

    def run(self) -> Outcome:
        """Call the job."""
        return run(self.home, self.arguments)

    def __str__(self) -> str:
        return f"{self.job}({', '.join(f'{k}={v}' for k, v in self.arguments.items())})"


def run(home: str, arguments: Mapping[str, Any]) -> Outcome:
    """Call the job whose code is at ``home`` and return its outcome."""
    outcome = resolved(home)(**arguments)
    if not isinstance(outcome, Outcome):
        raise EmpiricsError(f"{home} must return an Outcome; got {type(outcome).__name__}")
    return outcome
