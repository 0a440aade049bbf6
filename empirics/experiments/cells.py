"""A cell: a job by name and its arguments. A training run, a search, a worst case: what is asked for once."""

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
    """``job`` is the name of a registered job or ``path/file.py:name``; ``arguments`` are JSON data, canonical.

    The key is made of the job's name and version and of the arguments that differ from their defaults: an argument
    that a job learns later changes no key. What files of the user's own say counts, where arguments name them. The
    number of rounds stands apart, at the end: runs of one beginning and different lengths share the rest.
    """

    job: str
    arguments: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "job", self._known.name)
        object.__setattr__(self, "arguments", canonical(self.arguments))

    @cached_property
    def _known(self) -> Job:
        return known_job(self.job)

    @property
    def version(self) -> str:
        """What changes when the same arguments may give other numbers."""
        return self._known.version

    @property
    def home(self) -> str:
        """Where the job's code is, for who runs it."""
        return self._known.home

    @property
    def usual(self) -> Mapping[str, Any]:
        """The defaults of the job's arguments."""
        return self._known.defaults

    @property
    def goes_on(self) -> bool:
        """Whether a run of this job can go on where a shorter one stands."""
        return self._known.goes_on

    @cached_property
    def config(self) -> str:
        """The canonical text that is hashed."""
        usual = self.usual
        told = {
            k: v for k, v in self.arguments.items() if k not in usual or text(v) != text(usual[k])
        }  # false is not 0
        told.pop(LENGTH, None)
        own = digests(self.arguments)
        return text({"job": self.job, "version": self.version, "arguments": told} | ({"files": own} if own else {}))

    @cached_property
    def begins(self) -> str:
        """What the cells of one beginning and different lengths share of their names."""
        return hashlib.sha256(self.config.encode()).hexdigest()[:20]

    @property
    def key(self) -> str:
        """The name of the cell's files."""
        length = self.arguments.get(LENGTH, self.usual.get(LENGTH))
        end = "" if length is None else f"-{text(length)}"
        return self.begins + re.sub(r"[^\w.+-]", "_", end)

    def run(self) -> Outcome:
        """Call the job; whatever it raises is the caller's to record."""
        return run(self.home, self.arguments)

    def __str__(self) -> str:
        told = ", ".join(f"{k}={v}" for k, v in self.arguments.items())
        return f"{self.job}({told})"


def run(home: str, arguments: Mapping[str, Any]) -> Outcome:
    """Call a job by the home that a cell names."""
    outcome = resolved(home)(**arguments)
    if not isinstance(outcome, Outcome):
        raise EmpiricsError(f"{home} must return an Outcome; got {type(outcome).__name__}")
    return outcome
