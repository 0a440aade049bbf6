"""Help and options of the verbs ``compare`` and ``advise`` on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bounds.errors import BoundsError
from bounds.showing.usage import refuse_unused, UsageError
from empirics.numbers import check_options

from .table import ComparisonTable

LONGEST = 86_400
"""Seconds that worst cases may take."""
OF_PROBLEM = ("partition", "seed", "measure", "schedules")
"""Options without effect unless there is a problem."""
COMPARE_WORDS = """\
quantity=value: one number (0.5, 1e-3, 1/3), or a list 1,2,3 where it varies over clients; client_weight=uniform;
@file.json has constants (fedbounds constants writes them), which quantity=value overrides. What follows from other
quantities is left out: iterations from local_steps and rounds, rounds from runtime and the times, initial_gap from two
losses. sampling=with_replacement draws clients by their weights; relaxation=0.1 makes the method FedInit, otherwise it
is FedAvg; algorithm=scaffold is SCAFFOLD with zero initial controls.
Rows are ranked by "to", the value that holds for all admissible constants; "from" is the value with every uncertain
constant at its other end, "via" names the conversions to the row's quantity, "x start" is "to" over the value before
training."""
ADVISE_WORDS = """\
GOAL is the quantity to minimise: optimality_gap, grad_norm_sq or distance_sq, within a budget (runtime=20, rounds=50,
iterations=400 or communicated_bytes=1e6 of a participant; or of all participants --within bytes=4e7, --within
gradients=1e5); or with --to optimality_gap=0.001 the cost to minimise: rounds, iterations, seconds, bytes or gradients.
--over local_steps,step_size says what is optimised (default: both; also cohort, where more participants cost more). Fix
a quantity by giving its value, step_size=0.028: formulas for the others are evaluated there. A runtime needs
communication_time and minibatch_time, seconds of a round and of a step; where clients differ, client_minibatch_time (a
list), or client_download_rate and client_upload_rate with model_size: a round then takes as long as its slowest
participant. Bounds and formulas need constants only (@file.json, which fedbounds constants writes). The quadratic
surrogate, schedules and training need the federation: --problem, as fedbounds train takes it."""


def check(options: Mapping[str, Any]) -> None:
    """Refuse options that are not what they must be, or have no effect."""
    if options.get("problem") is None and options.get("csv") is None:
        unused = {name: value for name, value in options.items() if name in OF_PROBLEM}
        refuse_unused("without --problem nothing is trained and there is no surrogate", **unused)
    check_options({name: options[name] for name in ("clients", "batch", "seed") if name in options})
    if not 0 <= options.get("worst_case", 0) <= LONGEST:  # False for NaN
        raise BoundsError(f"worst_case must be seconds from 0 to {LONGEST}; got {options['worst_case']:g}")
    if options.get("measure", 2) < 2:
        raise UsageError(f"--measure needs 2 seeds or more, for a standard error; got {options['measure']}")


def sources(table: ComparisonTable) -> Iterator[str]:
    """The source of every value, for ``compare --how``."""
    yield "every quantity: value; provenance: source"
    yield from (f"  {table.scenario.how(word)}" for word in sorted(table.scenario))
