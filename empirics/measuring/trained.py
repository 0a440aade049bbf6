"""The result of ``fedbounds.train``: all measured numbers, the last ones of every run, and their means over seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bounds.showing.notebook import card
from bounds.showing.tables import html_table, Tabular

from .table import Row

Ends = Mapping[str, Sequence[Mapping[str, float] | None]]


@dataclass(frozen=True, eq=False)
class Trained(Tabular):
    """Trained runs: ``rows`` has one row per measured number, as ``fedbounds train -o FILE`` writes them.

    ``ends`` are the last numbers of every method by seed (None if it diverged); ``run_lines`` has a line for every run.
    """

    rows: Sequence[Row]
    ends: Ends
    run_lines: Sequence[str]
    engine: str = "torch"
    wrote: Sequence[Path] = ()

    @property
    def status(self) -> int:
        """The exit status of the command: 1 if a run diverged."""
        return int(any(row.quantity in ("diverged", "diverges") for row in self.rows))

    def lines(self) -> Iterator[str]:
        yield from self.run_lines
        yield from self.summary()
        if self.engine != "torch":
            yield f"numbers by {self.engine}"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def summary(self) -> Iterator[str]:
        """Lines with mean and standard error of every method's last numbers, over the seeds that did not diverge."""
        yield ""
        for method, runs in self.ends.items():
            finished = [run for run in runs if run is not None]
            if len(finished) < len(runs):
                yield f"{method}  diverged with {len(runs) - len(finished)} of {len(runs)} seeds"
            for name in finished[0] if finished else ():
                sample = np.array([run[name] for run in finished])
                error = f" ± {sample.std(ddof=1) / len(sample) ** 0.5:.2g}" if len(sample) > 1 else ""
                yield f"{method}  {name}  {sample.mean():.6g}{error}"

    def records(self) -> list[dict[str, Any]]:
        return [row._asdict() for row in self.rows]

    def __repr__(self) -> str:
        return f"<Trained {', '.join(self.ends)}: {len(self.rows)} rows>"

    def _repr_html_(self) -> str:
        runs = [(method, seed, end) for method, ends in self.ends.items() for seed, end in enumerate(ends)]
        missing = {name: None for _, _, end in runs for name in end or ()}
        last = [{"algorithm": m, "seed": s, **(missing if end is None else end)} for m, s, end in runs]
        return card(*html_table(last), f"<p>the last of {len(self.rows)} rows; to_pandas() has them all</p>")
