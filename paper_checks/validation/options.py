"""The options of a validation: one record for every kind of evidence."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bounds.core import Bound
from bounds.showing.usage import UsageError
from empirics.numbers import check_options

from ..runs.demands import demands
from ..runs.methods import takes

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
        """The plan for an evidence: what is told, and the usual for the rest; refuses numbers that are nonsense."""
        made = cls(**{**ASKED[evidence], **told})
        if evidence == RUNS and made.clients is None and not str(made.partition).startswith("by_group"):
            made = replace(made, clients=10)
        for count in made.clients if evidence == DRAWS else [made.clients]:
            given = {**vars(made), "clients": count}
            check_options({name: value for name, value in given.items() if value is not None})
        return made


USUAL = "softmax(digits, regularisation=0.5)"
"""What is trained where one of many bounds needs a problem and none is named: its data come with scikit-learn."""
ASKED: Mapping[str, Mapping[str, Any]] = {
    DRAWS: {
        "clients": (1, 2, 5, 10, 20, 50),
        "seeds": None,
        "samples": 20,
        "regularisation": 0.5,
        "concentration": 0.3,
        "workers": 2,
    },
    EXACT: {
        "instances": 3,
        "clients": 4,
        "cohort": None,
        "dim": 2,
        "noise": 0.3,
        "rounds": 5,
        "local_steps": 3,
        "relaxation": 0.06,
        "step_size": None,
        "step_offset": None,
    },
    RUNS: {
        "problem": "",
        "clients": None,
        "cohort": None,
        "partition": "iid",
        "seed": 0,
        "client_weight": "uniform",
        "samples": 50,
        "rounds": None,
        "local_steps": 5,
        "step_size": None,
        "step_offset": None,
        "batch": 32,
        "sampling": None,
        "seeds": 5,
        "algorithm": None,
    },
    LOG: {"measured": None},
    MANY: {"problem": "", "workers": 2},
}
"""The options of each evidence, with their defaults; None is left to what the bound allows."""
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
DRAWN = "handwritten digits, ridge and softmax regression, iid and label-skewed clients, one exact averaging round"


def refuse_idle(bound: Bound, evidence: str, given: Collection[str]) -> None:
    """Refuse an option that was given and would change nothing for this bound."""
    if reason := _idle(bound, evidence, given):
        raise UsageError(f"{reason}; leave it out")


def _idle(bound: Bound, evidence: str, given: Collection[str]) -> str:
    """Why an option that was typed would change nothing for this bound; empty if all of them count."""
    uses = {q.name for q in bound.quantities}
    asked = demands(bound)
    if evidence in (EXACT, RUNS) and (fixed := [name for name in asked.plan if name in given]):
        return f"--{fixed[0].replace('_', '-')} changes nothing: {bound.name} is on {asked.plan[fixed[0]]}"
    if asked.quiet and (loud := {EXACT: "noise", RUNS: "batch"}.get(evidence)) in given:
        return f"--{loud} changes nothing: {bound.name} is on exact gradients"
    if (
        evidence == EXACT
        and "relaxation" in given
        and "relaxation" not in uses
        and not takes(bound.about, "relaxation")
    ):
        return f"--relaxation changes nothing: {bound.name} is about {bound.about}, which does not take it"
    if evidence == RUNS and "samples" in given:
        from .reading import fresh, needs_population  # here: they bring torch, which --help does without

        if fresh(bound):
            return f"--samples changes nothing: {bound.name} is on new samples in every round, --local-steps * --batch"
        if not needs_population(bound):
            return f"--samples changes nothing: {bound.name} speaks of no population risk"
    return ""
