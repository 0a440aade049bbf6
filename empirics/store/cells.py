"""A cell: a function by name and its arguments. A training run, a search, a worst case: what is asked for once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import EmpiricsError
from .canonical import canonical, text

VERSIONS: dict[str, int] = {
    "empirics.cells:train": 1,
    "empirics.cells_continued:continued": 1,
    "empirics.cells_generation:generation_seconds": 1,
    "empirics.cells_generation:images": 1,
    "empirics.cells_generation:round_seconds": 1,
    "empirics.cells_step_times:step_times": 1,
    "empirics.cells_timed:timed": 1,
    "empirics.cells_wall:seconds": 1,
    "paper_checks.validation.cells:best_steps": 1,
    "paper_checks.validation.cells:exact": 1,
    "paper_checks.validation.cells:gaussian_mean": 1,
    "paper_checks.validation.cells:one_round": 1,
    "paper_checks.validation.cells:relaxed": 1,
    "paper_checks.validation.cells:trained": 1,
    "paper_checks.worst_cases.cells:tightness": 1,
}
"""Raised when a function's numbers change for the same arguments; for others the file's text is its version."""


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
    """``function`` is ``module:name``; ``arguments`` are JSON data, kept in canonical form."""

    function: str
    arguments: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", self.function):
            raise EmpiricsError(f"a cell's function is written module:name; got {self.function!r}")
        object.__setattr__(self, "arguments", canonical(self.arguments))

    @cached_property
    def version(self) -> str:
        """What changes when the same arguments may give other numbers."""
        known = VERSIONS.get(self.function)
        return str(known) if known is not None else _source_hash(self.function.partition(":")[0])

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
        module, _, name = self.function.partition(":")
        outcome = getattr(import_module(module), name)(**self.arguments)
        if not isinstance(outcome, Outcome):
            raise EmpiricsError(f"{self.function} must return an Outcome; got {type(outcome).__name__}")
        return outcome

    def __str__(self) -> str:
        told = ", ".join(f"{k}={v}" for k, v in self.arguments.items())
        return f"{self.function}({told})"


def _source_hash(module: str) -> str:
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        spec = None
    if spec is None or not spec.origin or not Path(spec.origin).exists():
        raise EmpiricsError(f"there is no module {module!r} that a cell's function could come from")
    return hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()[:12]
