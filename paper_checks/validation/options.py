"""The options of a validation: one record for every kind of evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from empirics.numbers import check_options

DRAWS, EXACT, RUNS, LOG = "draws", "exact", "runs", "log"
"""Evidence: one averaging round drawn again and again, exact moments on quadratics, training, a log of the user's."""
MANY = "many"
"""In its place: many bounds, each with the evidence there is."""


@dataclass(frozen=True)
class Options:
    """The plan of a validation; an evidence reads those that it asks for, None is left to what the bound allows.

    ``problem`` and ``partition`` are text, or the objects that it names.
    ``words`` are ``quantity=value`` or ``@file.json``; ``clients`` of draws are several numbers to compare.
    """

    words: tuple[str, ...] = ()
    problem: Any = ""
    measured: Path = Path()
    clients: Any = None
    cohort: int | None = None
    partition: Any = "iid"
    seed: int = 0
    client_weight: str = "uniform"
    samples: int = 50
    rounds: int | None = None
    local_steps: int = 5
    step_size: float | None = None
    step_offset: float | None = None
    batch: int = 32
    sampling: str | None = None
    seeds: int | None = None
    algorithm: str | None = None
    instances: int = 3
    dim: int = 2
    noise: float = 0.3
    relaxation: float = 0.06
    regularisation: float = 0.5
    concentration: float = 0.3
    workers: int = 2

    @classmethod
    def of(cls, evidence: str, **told: Any) -> Options:
        """The plan for an evidence: what is given, and the usual for the rest; refuses numbers that are nonsense."""
        made = cls(**{**USUAL.get(evidence, {}), **told})
        if evidence == RUNS and made.clients is None and not str(made.partition).startswith("by_group"):
            made = replace(made, clients=10)
        for count in made.clients if evidence == DRAWS else [made.clients]:
            given = {**vars(made), "clients": count}
            check_options({name: value for name, value in given.items() if value is not None})
        return made


ASKED = {
    DRAWS: ("clients", "seeds", "samples", "regularisation", "concentration", "workers"),
    EXACT: ("instances", "clients", "cohort", "dim", "noise", "rounds", "local_steps", "relaxation", "step_size",
            "step_offset"),
    RUNS: ("problem", "clients", "cohort", "partition", "seed", "client_weight", "samples", "rounds", "local_steps",
           "step_size", "step_offset", "batch", "sampling", "seeds", "algorithm"),
    LOG: ("measured",),
    MANY: ("problem", "workers"),
}  # fmt: skip
"""The options of each evidence."""
USUAL: Mapping[str, Mapping[str, Any]] = {
    DRAWS: {"clients": (1, 2, 5, 10, 20, 50), "samples": 20},
    EXACT: {"clients": 4, "rounds": 5, "local_steps": 3},
    RUNS: {"seeds": 5},
}
"""What they are where they are not given, if it is not what ``Options`` has."""
USUAL_PROBLEM = "softmax(digits, regularisation=0.5)"
"""What is trained where one of many bounds needs a problem and none is named: its data come with scikit-learn."""
WAYS = """\
four ways:
  fedbounds validate all                           every bound that can be measured, in one table; or "fedinit.*"
  fedbounds validate NAME                          exact expectations, or the experiment that is there for this bound
  fedbounds validate NAME --problem MODEL(DATA)    trained and measured
  fedbounds validate NAME --measured runs.csv quantity=value @file.json    a log of yours"""
VALIDATE_JSON = """\
--json prints one object: bound, source, statistic, relation, command, lines (what tells them apart, such as round; then
measured, standard_error, bound, bound_error, low, high, outside, ratio, verdict, why, parts), violated (how many lines
are), conditions, findings, error_rate, versions, and what the plan was, as in the JSON card of -o. Of many bounds:
bounds (bound, evidence, relation, measured, standard_error, value, ratio, verdict, why, seconds of CPU, doubt), asked
(how many can be measured), cannot (how many others cannot), violated."""
