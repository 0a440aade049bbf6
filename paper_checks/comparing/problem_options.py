"""The options that give a verb the federation itself beside its constants: for the quadratic twin and for training."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from typing import TYPE_CHECKING

from bounds.errors import BoundsError
from bounds.scenario import Scenario
from bounds.showing.numbers import whole_word

if TYPE_CHECKING:
    from empirics.problems.problem import FederatedProblem

PROBLEM = ("clients", "partition", "client_weight", "seed", "measure")
"""Options that mean nothing without a problem."""


def add_problem(parser: ArgumentParser) -> None:
    """Add ``--problem`` and what belongs to it."""
    add = parser.add_argument
    add("--problem", metavar="MODEL(DATA)", help="the federation itself, for the twin and for training")
    add("--clients", type=whole_word, metavar="N", help="number of clients of the problem (none: one per group)")
    add("--partition", default="iid", metavar="CALL", help="who holds what (iid)")
    add("--client-weight", default="uniform", help="uniform or samples (uniform)")
    add("--seed", type=whole_word, default=0, metavar="N", help="seed of the partition (0)")
    add("--batch", type=whole_word, default=32, metavar="N", help="minibatch size (32)")
    add(
        "--measure",
        type=_seeds,
        default=0,
        metavar="SEEDS",
        help="train, and measure on so many fresh seeds, 2 or more",
    )


def _seeds(text: str) -> int:
    found = whole_word(text)
    if found < 2:
        raise ArgumentTypeError(
            f"must be 2 seeds or more, for a standard error; got {text}: without it nothing is trained"
        )
    return found


def completed(scenario: Scenario, problem: FederatedProblem, batch: int) -> Scenario:
    """The scenario with the constants of the problem where it has none; refused where they are two federations."""
    clients = scenario.get("clients")
    if clients is not None and clients.value != problem.clients:
        raise BoundsError(
            f"the problem has {problem.clients} clients, the constants {clients.value:g}: they are two federations"
        )
    if "smoothness" in scenario or "initial_gap" in scenario:
        return scenario
    from empirics.measuring.constants import as_json, constants

    found = Scenario.of(as_json(constants(problem, batch)))
    known = {word: stated for word, stated in found.items() if stated.support == {word} and word not in scenario}
    return scenario.at(**known)
