"""The result of ``fedbounds.train``: all measured numbers, the last ones of every run, and their means over seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bounds.showing.notebook import card
from bounds.showing.tables import html_table, Tabular

from .record import Run
from .table import losses, Row, run_status


@dataclass(frozen=True)
class TrainedRun:
    """A finished run: its numbers in the last measured round by quantity (None: not finite), and how it ended.

    ``line`` says all of this; numbers of clients are averaged, and those of local steps are after the last step.
    """

    algorithm: str
    seed: int
    last: Mapping[str, float] | None
    diverged: bool
    line: str

    @classmethod
    def of(cls, run: Run, rows: Sequence[Row]) -> TrainedRun:
        """Describe a run with these rows."""
        name, diverged = str(run.algorithm), run_status(rows) == "diverged"
        who, end = f"{name}, seed {run.seed}", rows[-1] if rows else None
        if end is not None and end.quantity == "diverged":
            line = f"{who}: diverged in round {end.round}, norms up to {end.value:.4g} before"
            return cls(name, run.seed, None, diverged, line)
        last = last_numbers(rows)
        line = f"{who}, round {run.setting.rounds}: {', '.join(f'{n} {v:.4g}' for n, v in last.items())}"
        if diverged:
            line += f"; diverged: train_loss was {losses(rows)[0]:.4g} at the start"
        return cls(name, run.seed, last, diverged, line)


def last_numbers(rows: Sequence[Row]) -> dict[str, float]:
    """Quantities of the last measured round: means over clients, after the last local step, over all layers."""
    values: dict[str, list[float]] = {}
    last = max((row.round for row in rows), default=0)
    steps = {row.quantity: row.step for row in rows if row.step is not None}
    for row in rows:
        if row.round == last and not row.layer and row.step == steps.get(row.quantity):
            suffix = "" if row.client is None else " (mean over clients)"
            values.setdefault(row.quantity + suffix, []).append(row.value)
    return {name: float(np.mean(each)) for name, each in values.items()}


@dataclass(frozen=True, eq=False)
class Trained(Tabular):
    """Trained runs: ``rows`` has one row per measured number, as ``fedbounds train -o FILE`` writes them."""

    rows: Sequence[Row]
    runs: Sequence[TrainedRun]
    engine: str = "torch"
    wrote: Sequence[Path] = ()

    @property
    def status(self) -> int:
        """The exit status of the command: 1 if a run diverged."""
        return int(any(run.diverged for run in self.runs))

    @property
    def by_algorithm(self) -> Mapping[str, Sequence[TrainedRun]]:
        """The runs of every method, one per seed."""
        methods = dict.fromkeys(run.algorithm for run in self.runs)
        return {method: [run for run in self.runs if run.algorithm == method] for method in methods}

    def lines(self) -> Iterator[str]:
        yield from (run.line for run in self.runs)
        yield ""
        yield from self._means()
        if self.engine != "torch":
            yield f"numbers by {self.engine}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _means(self) -> Iterator[str]:
        """Lines with mean and standard error of every method's last numbers, over the seeds that did not diverge."""
        for method, runs in self.by_algorithm.items():
            finished = [run.last for run in runs if run.last is not None and not run.diverged]
            if len(finished) < len(runs):
                yield f"{method}  diverged with {len(runs) - len(finished)} of {len(runs)} seeds"
            for name in finished[0] if finished else ():
                sample = np.array([last[name] for last in finished])
                error = f" ± {sample.std(ddof=1) / len(sample) ** 0.5:.2g}" if len(sample) > 1 else ""
                yield f"{method}  {name}  {sample.mean():.6g}{error}"

    def records(self) -> list[dict[str, Any]]:
        return [row._asdict() for row in self.rows]

    def __repr__(self) -> str:
        return f"<Trained {', '.join(self.by_algorithm)}: {len(self.rows)} rows>"

    def _repr_html_(self) -> str:
        missing = {name: None for run in self.runs for name in run.last or ()}
        last: list[dict[str, Any]] = [
            {"algorithm": run.algorithm, "seed": run.seed, **missing, **(run.last or {})} for run in self.runs
        ]
        for run, row in zip(self.runs, last, strict=True) if self.status else ():
            row["diverged"] = run.diverged
        return card(*html_table(last), f"<p>the last of {len(self.rows)} rows; to_pandas() has them all</p>")


def as_json(trained: Trained, command: str) -> list[dict[str, Any]]:
    """The data that ``train --json`` prints: by method the last numbers of every seed, and whether it diverged."""
    return [
        {"algorithm": method, "seeds": [run.last for run in runs], "diverged": [run.diverged for run in runs]}
        for method, runs in trained.by_algorithm.items()
    ]
