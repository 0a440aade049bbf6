"""A cell: a function by name and its arguments. A training run, a search, a worst case: what is asked for once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..errors import EmpiricsError
from .canonical import canonical, text
from .jobs import job_called, job_function, job_version


@dataclass(frozen=True)
class Outcome:
    """What a cell's function returns: a table as columns of equal length, and facts that are single values.

    ``status`` is ``done``, or ``diverged`` for a training run that left the finite numbers: a result too.
    """

    columns: Mapping[str, list[Any]]
    facts: Mapping[str, Any] = field(default_factory=dict)
    status: str = "done"


@dataclass(frozen=True)
class Cell:
    """``function`` is a registered job or ``path/file.py:name``; ``arguments`` are JSON data, in canonical form."""

    function: str
    arguments: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "function", job_function(self.function))
        object.__setattr__(self, "arguments", canonical(self.arguments))

    @cached_property
    def version(self) -> str:
        """What changes when the same arguments may give other numbers."""
        return job_version(self.function)

    @cached_property
    def config(self) -> str:
        """The canonical text that is hashed."""
        return text({"function": self.function, "version": self.version, "arguments": self.arguments})

    @cached_property
    def key(self) -> str:
        """The name of the cell's files."""
        return hashlib.sha256(self.config.encode()).hexdigest()[:20]

    def run(self) -> Outcome:
        """Call the function; whatever it raises is the caller's to record."""
        outcome = job_called(self.function)(**self.arguments)
        if not isinstance(outcome, Outcome):
            raise EmpiricsError(f"{self.function} must return an Outcome; got {type(outcome).__name__}")
        return outcome

    def __str__(self) -> str:
        told = ", ".join(f"{k}={v}" for k, v in self.arguments.items())
        return f"{self.function}({told})"
