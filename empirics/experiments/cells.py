"""A run: a job by name, such as a training run or a worst case, and its arguments."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..errors import EmpiricsError
from .canonical import canonical, text
from .registry import Job, known_job, resolved
from .sources import digests

LENGTH = "rounds"
"""The argument that says how long a run is."""


@dataclass(frozen=True)
class Outcome:
    """What a job returns: a table as columns of equal length, and facts that are single values.

    ``status`` is ``done``, or ``diverged`` for a training run that left the finite numbers: a result too.
    """

    columns: Mapping[str, list[Any]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    status: str = "done"


@dataclass(frozen=True)
class Cell:
    """One run: ``job`` is the name of a registered job or ``path/file.py:name``, ``arguments`` are canonical JSON data.

    The key is made of the job's name and version, of the arguments that differ from their defaults, so that an argument
    that a job learns later changes no key, and of the user's own files that arguments name. The number of rounds stands
    at its end: runs that differ in length only share the rest.
    """

    job: str
    arguments: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "job", self.known.name)
        object.__setattr__(self, "arguments", canonical(self.arguments))

    @cached_property
    def known(self) -> Job:
        """The job, with its version, its defaults and the place of its code."""
        return known_job(self.job)

    @property
    def home(self) -> str:
        """Where the job's code is."""
        return self.known.home

    @cached_property
    def config(self) -> str:
        """The canonical text that is hashed."""
        usual = self.known.defaults
        # as texts: false is not 0
        given = {k: v for k, v in self.arguments.items() if k not in usual or text(v) != text(usual[k])}
        given.pop(LENGTH, None)
        own = digests(self.arguments)
        about = {"job": self.job, "version": self.known.version, "arguments": given}
        return text(about | ({"files": own} if own else {}))

    @cached_property
    def begins(self) -> str:
        """The part of the key that runs share which differ in length only."""
        return hashlib.sha256(self.config.encode()).hexdigest()[:20]

    @property
    def key(self) -> str:
        """The name of the result."""
        length = self.arguments.get(LENGTH, self.known.defaults.get(LENGTH))
        end = "" if length is None else f"-{text(length)}"
        return self.begins + re.sub(r"[^\w.+-]", "_", end)

    def run(self) -> Outcome:
        """Call the job."""
        return run(self.home, self.arguments)

    def __str__(self) -> str:
        return f"{self.job}({', '.join(f'{k}={v}' for k, v in self.arguments.items())})"


def run(home: str, arguments: Mapping[str, Any]) -> Outcome:
    """Call the job whose code is at ``home``."""
    outcome = resolved(home)(**arguments)
    if not isinstance(outcome, Outcome):
        raise EmpiricsError(f"{home} must return an Outcome; got {type(outcome).__name__}")
    return outcome
