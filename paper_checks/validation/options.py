"""The options of a validation, in one record for all kinds of evidence, and their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from empirics.numbers import check_options

from ..runs.origins import EXACT, RUNS

DRAWS, LOG = "draws", "log"
"""Kinds of evidence besides ``EXACT`` and ``RUNS``: draws of one averaging round, and a log of the user."""
MANY = "many"
"""Instead of a kind of evidence: many bounds, each with the evidence that is available."""


@dataclass(frozen=True)
class Options:
    """The plan of a validation; ``OPTION_NAMES`` lists the options that each kind of evidence uses.

    None leaves the choice to what the bound allows. ``problem`` and ``partition`` are text or the objects themselves,
    ``words`` are ``quantity=value`` or ``@file.json``, and ``clients`` of draws are several numbers to compare.
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
    def of(cls, evidence: str, **given: Any) -> Options:
        """The given options and the defaults of this kind of evidence; raises if a value is not admissible."""
        options = cls(**{**DEFAULTS.get(evidence, {}), **given})
        if evidence == RUNS and options.clients is None and not str(options.partition).startswith("by_group"):
            options = replace(options, clients=10)
        for count in options.clients if evidence == DRAWS else [options.clients]:
            values = {**vars(options), "clients": count}
            check_options({name: value for name, value in values.items() if value is not None})
        return options


OPTION_NAMES = {
    DRAWS: ("clients", "seeds", "samples", "regularisation", "concentration", "workers"),
    EXACT: ("instances", "clients", "cohort", "dim", "noise", "rounds", "local_steps", "relaxation", "step_size",
            "step_offset"),
    RUNS: ("problem", "clients", "cohort", "partition", "seed", "client_weight", "samples", "rounds", "local_steps",
           "step_size", "step_offset", "batch", "sampling", "seeds", "algorithm"),
    LOG: ("measured",),
    MANY: ("problem", "workers"),
}  # fmt: skip
"""The options that each kind of evidence uses."""
DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    DRAWS: {"clients": (1, 2, 5, 10, 20, 50), "samples": 20},
    EXACT: {"clients": 4, "rounds": 5, "local_steps": 3},
    RUNS: {"seeds": 5},
}
"""Default values that differ from those of ``Options``."""
DEFAULT_PROBLEM = "softmax(digits, regularisation=0.5)"
"""The problem to train if one of many bounds needs one and none is given; its data come with scikit-learn."""
WAYS = """\
four ways:
  fedbounds validate all                           every bound that can be measured, in one table; or "fedinit.*"
  fedbounds validate NAME                          exact expectations, or the experiment of this bound
  fedbounds validate NAME --problem MODEL(DATA)    training
  fedbounds validate NAME --measured runs.csv quantity=value @file.json    a log of your own runs"""
VALIDATE_JSON = """\
--json prints one object: bound, source, statistic, relation, command, lines (what identifies a line, such as round;
measured, standard_error, bound, bound_error, low, high, outside, ratio, verdict, why, parts), violated (number of
violated lines), conditions, findings, error_rate, versions, and the plan as in the JSON card of -o. For many bounds:
bounds (bound, evidence, relation, measured, standard_error, value, ratio, verdict, why, seconds of CPU, doubt), asked
(number of bounds that can be measured), cannot (number of the others), violated."""
