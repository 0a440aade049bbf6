"""The training loop: a generator of states, one per round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import lru_cache
from typing import Any, TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ..algorithms.algorithm import Algorithm, Work
from ..algorithms.hooks import checked_models, checked_steps, seeded
from ..algorithms.state import copy_state, own_rows, State
from ..errors import Diverged
from ..federation.federation import Source
from ..models.model import Trainable
from ..sizes import NUMBER, refuse_beyond_memory
from ..streams import stream
from . import statistics
from .setting import Setting
from .step_sizes import geometric

if TYPE_CHECKING:
    from .engines import Engine

Array = np.ndarray[Any, Any]
Watch = Callable[[Work, Tensor, State], None]
"""Called after a round with its work, the clients' models and the new state."""
BLOCK = 16  # rounds whose cohorts are drawn together
LARGE = 10**7  # sample indices of a round above which the memory is checked


def draw_cohort(setting: Setting, federation: Source, seed: int, round_: int) -> tuple[Array, Array]:
    """The clients of a round in ascending order, and how often each was drawn."""
    total, cohort = federation.clients, setting.cohort
    setting.check_cohort(total)
    if setting.sampling == "without_replacement":
        if cohort == total:
            return np.arange(total), np.ones(total)
        block, place = divmod(round_, BLOCK)
        return _cohorts(seed, block, total, cohort)[place].copy(), np.ones(cohort)
    draws = stream(seed, "cohort", round=round_)
    if setting.sampling == "with_replacement":
        counts: Array = draws.multinomial(cohort, shares(setting, federation))
    else:
        counts = np.zeros(total)
        while not counts.any():
            counts = (draws.random(total) < cohort / total).astype(float)
    clients = np.flatnonzero(counts)
    return clients, counts[clients].astype(float)


@lru_cache(maxsize=4)
def _cohorts(seed: int, block: int, total: int, cohort: int) -> Array:
    """The cohorts of ``BLOCK`` rounds; a generator for each round would cost a tenth of a convex model's round."""
    draws = stream(seed, "cohort", round=block)
    return np.stack([np.sort(draws.choice(total, cohort, replace=False)) for _ in range(BLOCK)])


def shares(setting: Setting, federation: Source) -> Array:
    """The clients' weights in the global objective, summing to 1."""
    if setting.client_weight == "uniform":
        return np.full(federation.clients, 1 / federation.clients)
    sizes = federation.client_sizes
    return sizes / sizes.sum()


def average_weights(setting: Setting, federation: Source, clients: Array, counts: Array) -> Array:
    """The weights of a cohort's clients in the average: equal per draw if they were drawn by weight, else by weight.

    They sum to 1, except for the setting's unbiased weights, whose sum has mean 1.
    """
    if setting.sampling == "with_replacement":
        return counts / counts.sum()
    if setting.client_weight == "uniform":  # avoids an array over all clients, which would cost more than the draw
        weights: Array = counts * (1 / federation.clients)
    else:
        weights = shares(setting, federation)[clients] * counts
    if setting.average == "unbiased":
        return weights * federation.clients / setting.cohort
    return weights / weights.sum()


def rounds(
    model: Trainable,
    federation: Source,
    algorithm: Algorithm,
    setting: Setting,
    seed: int,
    engine: Engine | None = None,
    watch: Watch | None = None,
    resume_from: tuple[State, float] | None = None,
) -> Iterator[State]:
    """Train and yield the state before the first round and after every round.

    ``model`` is a stacked or a network model; ``engine`` runs the local steps (default: the one that suits the model).
    The same seed gives the same numbers; cohort, batches and start depend on the seed alone, so that algorithms
    compared under one seed use the same draws. ``watch`` is called after every round. ``resume_from`` is a state to
    continue from (it is not changed) and the largest model norm before it. Raises ``Diverged`` if a model is no longer
    finite.

    >>> from empirics.algorithms import algorithm
    >>> from empirics.problems.tasks import task
    >>> problem = task("softmax(digits)").deal("dirichlet(0.5)", clients=6, seed=1)
    >>> setting = Setting(rounds=3, cohort=2, batch=16, local_steps=5, step_size=0.1)
    >>> states = list(rounds(problem.model, problem.federation, algorithm("fedinit(beta=0.06)"), setting, seed=4))
    >>> len(states), states[-1].round, states[-1].model.shape
    (4, 3, torch.Size([650]))
    """
    from .engines import choose

    engine = engine or choose(model, federation.inputs.device)
    if resume_from is None:
        state = algorithm.begin(model.start(seed).to(federation.inputs.device), federation.clients)
        largest = float(state.model.norm())
    else:
        state, largest = copy_state(resume_from[0]), resume_from[1]
    yield state
    active = state.model.new_zeros(0, dtype=torch.int64)

    def note_active(work: Work, ends: Tensor, after: State) -> None:
        nonlocal active
        active = work.client_index
        if watch is not None:
            watch(work, ends, after)

    for round_ in range(state.round, setting.rounds):
        check_draws = round_ & (round_ - 1) == 0  # in rounds 0, 1, 2, 4, 8, ...: it takes as long as a small step
        with seeded(algorithm.name) if check_draws else nullcontext():
            state = train_round(model, federation, algorithm, setting, seed, engine, state, watch=note_active)
        norm = float(state.model.norm())
        own = own_rows(state, algorithm.personal, active) if algorithm.personal else None
        if not np.isfinite(norm) or (own is not None and not own.isfinite().all()):
            raise Diverged(round_ + 1, algorithm.name, largest)
        largest = max(largest, norm)
        yield state


def train_round(
    model: Trainable,
    federation: Source,
    algorithm: Algorithm,
    setting: Setting,
    seed: int,
    engine: Engine,
    state: State,
    cohort: tuple[Array, Array] | None = None,
    watch: Watch | None = None,
) -> State:
    """Train one round from ``state`` and return the next state; ``cohort`` (clients, counts) is drawn by default."""
    cohort = cohort or draw_cohort(setting, federation, seed, state.round)
    work = plan_round(model, federation, algorithm, setting, seed, state, cohort)
    ends, first_losses = engine.local(model, federation, algorithm, setting, work)
    losses = state.losses
    if first_losses is not None:
        losses = (*losses, float(work.weights @ first_losses) / float(work.weights.sum()))
    after = statistics.next_state(model, work, ends, algorithm.finish(work, ends, losses))
    if watch is not None:
        watch(work, ends, after)
    if algorithm.also is None:
        return after
    own = plan_round(model, federation, algorithm.also, setting, seed, state, cohort)
    own_ends, _ = engine.local(model, federation, algorithm.also, setting, own)
    return after._replace(server={**after.server, **algorithm.also.renew(own, own_ends, after.model)})


def plan_round(
    model: Trainable,
    federation: Source,
    algorithm: Algorithm,
    setting: Setting,
    seed: int,
    state: State,
    cohort: tuple[Array, Array],
) -> Work:
    """Return the work of a round from ``state``: starts, steps and weights of the cohort (clients, counts)."""
    clients, counts = cohort
    if algorithm.everyone:
        clients, counts = np.arange(federation.clients), np.zeros(federation.clients)
        counts[cohort[0]] = cohort[1]
    device, dtype = state.model.device, state.model.dtype
    unequal_shares = None
    if setting.client_weight != "uniform" and np.ptp(federation.client_sizes):
        unequal_shares = torch.from_numpy(shares(setting, federation)[clients]).to(device, dtype)
    rows = torch.from_numpy(clients).to(device)
    decay = setting.step_size_decay
    planned = setting.step_size if decay == 1 else float(geometric(setting.step_size, decay, state.round))
    steps, step_size = _client_steps(setting, federation, algorithm, state, clients, planned)
    starts = checked_models(
        f"{algorithm.name}: what start returns", algorithm.start(state, rows), state.model.expand(len(rows), -1)
    )
    most = int(steps.max())
    samples = most * (len(clients) if model.stacked else 1) * setting.batch
    if samples > LARGE:
        what = f"drawing the batches of a round of {most} local steps"
        refuse_beyond_memory(NUMBER * samples, what, "take more rounds of fewer steps")
    weights = average_weights(setting, federation, clients, counts)
    return Work(
        state=state, clients=clients, client_index=rows, counts=torch.from_numpy(counts).to(device, dtype),
        weights=torch.from_numpy(weights).to(device, dtype), steps=steps, step_size=step_size,
        total=federation.clients, seed=seed, starts=statistics.start_models(model, state, rows, starts),
        layers=model.layers, step_sizes=setting.sizes(state.round, step_size, most), recalled={},
        labels=federation.label_counts[rows] if algorithm.needs_labels else None, net=model, shares=unequal_shares,
        momentum=setting.momentum, nesterov=setting.nesterov,
    )  # fmt: skip


def _client_steps(
    setting: Setting, federation: Source, algorithm: Algorithm, state: State, clients: Array, planned: float
) -> tuple[Array, float]:
    """The local steps of every client ``(rows,)`` and the step size, as the algorithm changes the planned ones."""
    where = f"{algorithm.name}: what steps returns"
    if setting.local_epochs is None:
        steps, step_size = checked_steps(where, algorithm.steps(state, setting.steps, planned))
        return np.full(len(clients), steps), step_size
    numbers, place = np.unique(setting.planned(federation.client_sizes[clients]), return_inverse=True)
    results = [checked_steps(where, algorithm.steps(state, number.item(), planned)) for number in numbers]
    return np.array([steps for steps, _ in results])[place], results[0][1]
