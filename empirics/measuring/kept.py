"""Runs that are kept in a file after their last round, so that they can go on to more rounds with the same numbers."""

from __future__ import annotations

import json
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    """Where a run stands, the rows that were measured on the way, and which engine computed."""

    reached: Reached
    rows: list[Row]
    engine: str = "torch"


@dataclass(frozen=True)
class KeptRuns:
    """Runs by algorithm and seed, and what all of them share.

    ``words`` are those of the command line: with others they would be other runs. ``versions`` are those of the
    packages that computed: others may give other last bits.
    """

    words: Mapping[str, Any]
    versions: Mapping[str, str]
    runs: Mapping[tuple[str, int], KeptRun]


class Keeper:
    """The runs of one command and their file: what is kept there goes on, what comes to its end is kept.

    ``anew``: whatever the file holds, nothing goes on, and it is written over.
    """

    def __init__(self, path: Path, words: Mapping[str, Any], versions: Mapping[str, str], anew: bool = False) -> None:
        self.path, self.words, self.versions = path, json.loads(json.dumps(words)), versions
        before = KeptRuns(self.words, versions, {}) if anew or not path.exists() else read(path)
        for name in self.words | before.words:
            was, value = (words.get(name) for words in (before.words, self.words))
            if was != value:
                raise EmpiricsError(
                    f"{path} keeps runs with {name}={quoted(was)}; got {quoted(value)}, which makes "
                    "other runs: give another file"
                )
        self.others = sorted(name for name, version in versions.items() if before.versions.get(name) != version)
        self.runs, self.changed = dict(before.runs), False
        self._ends: dict[tuple[str, int], Reached] = {}

    def resumed(self, run: Run) -> tuple[Run, list[Row]]:
        """The run from where it was kept, and the rows before that, those that were due at its new length alone."""
        key, end = (run.algorithm.name, run.seed), run.setting.rounds
        run = replace(run, keep=lambda reached: self._ends.update({key: reached}))
        kept = self.runs.get(key)
        if kept is None:
            return run, []
        at, engine = kept.reached.state.round, engine_of(run.problem.model)
        if at > end:
            raise EmpiricsError(f"{self.path} keeps {at} rounds of {key[0]}; --rounds must be at least that; got {end}")
        if kept.engine != engine:
            raise EmpiricsError(
                f"{self.path} keeps numbers by {kept.engine}, and these would be by {engine}: say --engine "
                f"{kept.engine.partition('-')[0]}"
            )
        due = at == end or at % run.period == 0
        return replace(run, begun=kept.reached), [row for row in kept.rows if due or row.round < at]

    def add(self, run: Run, rows: Sequence[Row]) -> None:
        """Keep a run that has come to its end; one that diverged has none."""
        key = run.algorithm.name, run.seed
        if key in self._ends:
            self.changed = True
            self.runs[key] = KeptRun(self._ends.pop(key), list(rows), engine_of(run.problem.model))

    def write(self) -> None:
        """All runs that were kept, those of before among them, where any has come to its end since."""
        if self.changed:
            write(KeptRuns(self.words, self.versions, self.runs), self.path)


HELD: list[Any] = [KeptRun, Reached, State, Exchange, Folded, RunningMean, Weights, Row]
"""All that a file holds, besides tensors, numbers and texts."""


def write(kept: KeptRuns, path: Path) -> None:
    """All of it in one file."""
    with whole(path) as beside:
        torch.save({"format": FORMAT, **vars(kept)}, beside)


def read(path: Path) -> KeptRuns:
    """What ``write`` wrote; nothing in the file is run."""
    try:
        with torch.serialization.safe_globals(HELD):
            found = torch.load(path, weights_only=True)
        if (form := found.pop("format")) != FORMAT:
            raise EmpiricsError(f"{path} is kept in format {form}, this version reads {FORMAT}")
        return KeptRuns(**found)
    except OSError as error:
        raise EmpiricsError(f"{path}: {error.strerror or error}") from None
    except (pickle.UnpicklingError, RuntimeError, EOFError, LookupError, TypeError, AttributeError) as error:
        said = f"{path} holds no kept runs ({type(error).__name__}): give another file, or delete it"
        raise EmpiricsError(said) from None
