"""Jobs on FedCOG's generation of samples: class counts of clients, generated images, and the time of generation.

Seconds are processor time of one thread. Methods that are compared take turns within one run, so that other load on the
machine slows all of them equally.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ...algorithms import algorithm as read_algorithm
from ...algorithms.algorithm import Work
from ...algorithms.consensus import Generate
from ...algorithms.state import State
from ...errors import EmpiricsError
from ...problems.problem import FederatedProblem
from ...training.engines import choose
from ...training.rounds import plan_round, train_round
from .. import Outcome
from ..registry import job
from . import in_turns
from .continued import begun, carried
from .train import loaded, SharedRun

KEEPING = "with_consensus_data(fedavg())"
CLIENT = 0


@job("generated_images", version=1, shared=True)
def images(first: str, after: int, steps: Sequence[int], **shared: Any) -> Outcome:
    """Images that one client generates for every class after ``after`` rounds, by number of steps, from the same noise.

    A row for every image, with the model's input as numbers; ``steps`` is -1 for a test sample of the class.
    """
    plan, dealt, state = _begun(first, after, shared)
    work, shape = _work(plan, dealt, state)
    assert work.labels is not None
    classes = work.labels.shape[-1]
    assert dealt.tests is not None
    x, y = dealt.tests.of(0)
    first_of = [int(torch.nonzero(y == label)[0, 0]) for label in range(classes)]
    rows: list[tuple[int, int, list[float]]] = [(-1, k, x[at].flatten().tolist()) for k, at in enumerate(first_of)]
    for number in steps:
        made, labels, _ = Generate(samples=classes, steps=number, targets="uniform")(dealt.model, work, shape)
        rows += [(number, int(k), one.flatten().tolist()) for k, one in zip(labels[0], made[0], strict=True)]
    columns = dict(zip(("steps", "label", "pixels"), map(list, zip(*rows, strict=True)), strict=True))
    return Outcome(columns, {"shape": list(shape), "client": CLIENT})


@job("class_counts", version=1)
def class_counts(problem: str, partition: str, clients: int, seed: int) -> Outcome:
    """The number of samples of every class of each client, a row for each."""
    counts = loaded(problem).deal(partition, clients, seed).federation.label_counts
    client, label = (index.flatten().tolist() for index in np.indices(tuple(counts.shape)))
    return Outcome({"client": client, "label": label, "samples": counts.flatten().tolist()})


@job("generation_round_seconds", version=1, shared=True)
def round_seconds(first: str, after: int, algorithms: Mapping[str, str], repeats: int, **shared: Any) -> Outcome:
    """Seconds of one round of each method from one state; methods take turns, and the first turn is not counted."""
    plan, dealt, state = _begun(first, after, shared)
    engine = choose(dealt.model, dealt.device)
    rounds = plan.setting_for(1, dealt.clients)

    def one(text: str) -> Callable[[], object]:
        method = read_algorithm(text)
        here = carried(method, state, dealt.clients)
        return lambda: train_round(dealt.model, dealt.federation, method, rounds, plan.seed, engine, here)

    return _timed({name: one(text) for name, text in algorithms.items()}, repeats)


@job("generation_seconds", version=1, shared=True)
def generation_seconds(
    first: str, after: int, samples: Sequence[int], steps: int, repeats: int, **shared: Any
) -> Outcome:
    """Seconds in which one client generates ``samples`` samples; numbers take turns, the first turn is not counted."""
    plan, dealt, state = _begun(first, after, shared)
    work, shape = _work(plan, dealt, state)

    def one(number: int) -> Callable[[], object]:
        return lambda: Generate(samples=number, steps=steps)(dealt.model, work, shape)

    return _timed({str(number): one(number) for number in samples}, repeats)


def _timed(works: Mapping[str, Callable[[], object]], repeats: int) -> Outcome:
    names, turns, seconds = zip(*in_turns(works, repeats, time.process_time), strict=True)
    return Outcome({"job": list(names), "repeat": list(turns), "seconds": list(seconds)}, {"clock": "processor"})


def _begun(first: str, after: int, shared: Mapping[str, Any]) -> tuple[SharedRun, FederatedProblem, State]:
    """The plan, the problem with its data, and the state after the first rounds."""
    plan = SharedRun.of(shared)
    state = begun(plan, first, after, after, ()).state
    if state is None:
        raise EmpiricsError(f"{first} diverged in the first {after} rounds")
    return plan, plan.deal(), state


def _work(plan: SharedRun, dealt: FederatedProblem, state: State) -> tuple[Work, tuple[int, ...]]:
    """The work of one client in the next round, and the shape of a model input."""
    method, cohort = read_algorithm(KEEPING), (np.array([CLIENT]), np.ones(1))
    here, rounds = carried(method, state, dealt.clients), plan.setting_for(1, dealt.clients)
    work = plan_round(dealt.model, dealt.federation, method, rounds, plan.seed, here, cohort)
    batch = dealt.federation.draw(plan.seed, state.round, cohort[0], np.array([1]), 1).at(1, 0)
    return work, tuple(batch[0].shape[2:])
