"""Runs stored in a file after their last round, to be continued with more rounds and exactly the same numbers."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import torch

from bounds.showing.files import whole
from bounds.weights import Weights

from ..algorithms.state import Exchange, State
from ..errors import EmpiricsError
from ..models.compiled import engine_of
from ..numbers import quoted
from .record import Folded, Reached, Run, RunningMean
from .table import Row

FORMAT = 3


class KeptRun(NamedTuple):
    """The state that a run has reached, its rows so far, and the engine that computed it."""

    reached: Reached
    rows: list[Row]
    engine: str = "torch"


class Keeper:
    """Continues the runs of one command from a file, and stores them there at their end.

    ``words`` are the options of the command line on which the runs depend; ``versions`` are those of the packages that
    compute them, as other versions may change the last bits. With ``anew`` the file is not read, and will be
    overwritten.
    """

    def __init__(self, path: Path, words: Mapping[str, Any], versions: Mapping[str, str], anew: bool = False) -> None:
        self.path, self.words, self.versions = path, json.loads(json.dumps(words)), versions
        self.runs: dict[tuple[str, int], KeptRun] = {}
        self.changed, stored_words, stored_versions = False, self.words, versions
        if not anew and path.exists():
            self.runs, stored_words, stored_versions = read(path)
        for name in self.words | stored_words:
            stored, value = stored_words.get(name), self.words.get(name)
            if stored != value:
                raise EmpiricsError(
                    f"{path} has runs with {name}={quoted(stored)}; got {quoted(value)}: choose another file"
                )
        self.changed_packages = sorted(name for name, v in versions.items() if stored_versions.get(name) != v)
        self._ends: dict[tuple[str, int], Reached] = {}

    def resumed(self, run: Run) -> tuple[Run, list[Row]]:
        """Return the run with the stored state as its start, and the stored rows that are due at its new length."""
        key, end = (run.algorithm.name, run.seed), run.setting.rounds
        run = replace(run, keep=lambda reached: self._ends.update({key: reached}))
        stored = self.runs.get(key)
        if stored is None:
            return run, []
        at, engine = stored.reached.state.round, engine_of(run.problem.model)
        if at > end:
            raise EmpiricsError(f"{self.path} has {at} rounds of {key[0]}; --rounds must be at least that; got {end}")
        if stored.engine != engine:
            raise EmpiricsError(
                f"{self.path} has numbers by {stored.engine}, and these would be by {engine}: use --engine "
                f"{stored.engine.partition('-')[0]}"
            )
        due = at == end or at % run.period == 0
        return replace(run, resume_from=stored.reached), [row for row in stored.rows if due or row.round < at]

    def add(self, run: Run, rows: Sequence[Row]) -> None:
        """Add a run that has reached its last round; a run that diverged is not added."""
        key = run.algorithm.name, run.seed
        if key in self._ends:
            self.changed = True
            self.runs[key] = KeptRun(self._ends.pop(key), list(rows), engine_of(run.problem.model))

    def write(self) -> None:
        """Write all runs to the file, if one was added."""
        if self.changed:
            with whole(self.path) as beside:
                write(beside, self.runs, self.words, self.versions)


def rounds_of(run: Run, keeper: Keeper | None = None) -> Iterator[tuple[int, list[Row]]]:
    """Train a run and yield every round with the rows measured at it.

    A run that ``keeper`` has goes on from there, after its earlier rows as those of round 0; its new end is kept.
    """
    rows: list[Row] = []
    if keeper is not None:
        run, rows = keeper.resumed(run)
        yield 0, list(rows)
    for state, measured in run:
        rows += measured
        yield state.round, measured
    if keeper is not None:
        keeper.add(run, rows)


CLASSES: list[Any] = [KeptRun, Reached, State, Exchange, Folded, RunningMean, Weights, Row]
"""The classes in a file; they are stored by name, so that a new name needs a new ``FORMAT``."""


def write(
    path: Path, runs: Mapping[tuple[str, int], KeptRun], words: Mapping[str, Any], versions: Mapping[str, str]
) -> None:
    """Write what ``read`` returns."""
    torch.save({"format": FORMAT, "runs": dict(runs), "words": words, "versions": versions}, path)


def read(path: Path) -> tuple[dict[tuple[str, int], KeptRun], dict[str, Any], dict[str, str]]:
    """Return runs by algorithm and seed, words and versions of a file of a ``Keeper``; no code in it is executed."""
    try:
        with torch.serialization.safe_globals(CLASSES):
            contents = torch.load(path, weights_only=True)
        if (version := contents.pop("format")) != FORMAT:
            raise EmpiricsError(f"{path} is kept in format {version}, this version reads {FORMAT}")
        return contents["runs"], contents["words"], contents["versions"]
    except OSError as error:
        raise EmpiricsError(f"{path}: {error.strerror or error}") from None
    except (pickle.UnpicklingError, RuntimeError, EOFError, LookupError, TypeError, AttributeError) as error:
        raise EmpiricsError(
            f"{path} is not a file of kept runs ({type(error).__name__}): choose another file, or delete it"
        ) from None
