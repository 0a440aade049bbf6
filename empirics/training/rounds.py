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
BLOCK = 16  # rounds whose cohorts are drawn together
LARGE = 10**7  # sample numbers drawn at once, of which many more may not fit into memory


def draw_cohort(setting: Setting, federation: Source, seed: int, round_: int) -> tuple[Array, Array]:
    """The clients of a round in ascending order and how often each counts."""
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
    chosen = np.flatnonzero(counts)
    return chosen, counts[chosen].astype(float)


@lru_cache(maxsize=4)
def _cohorts(seed: int, block: int, total: int, cohort: int) -> Array:
    """The cohorts of ``BLOCK`` rounds: a generator for each round would cost a tenth of a convex model's round."""
    draws = stream(seed, "cohort", round=block)
    return np.stack([np.sort(draws.choice(total, cohort, replace=False)) for _ in range(BLOCK)])


def shares(setting: Setting, federation: Source) -> Array:
    """The clients' weights in the global objective, summing to 1."""
    if setting.client_weight == "uniform":
        return np.full(federation.clients, 1 / federation.clients)
    sizes = federation.client_sizes
    return sizes / sizes.sum()


def _row_weights(setting: Setting, federation: Source, clients: Array, counts: Array) -> Array:
    """What each active row weighs in the average: drawn by weight, draws count equally; otherwise by weight.

    Both sum to 1 unless the setting asks for the unbiased weights, whose sum has mean 1.
    """
    if setting.sampling == "with_replacement":
        return counts / counts.sum()
    if setting.client_weight == "uniform":  # without an array over all clients: it would cost more than the draw
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
    begun: tuple[State, float] | None = None,
) -> Iterator[State]:
    """Train and yield the state before the first round and after every round.

    ``begun`` is the state to go on from, which stays as it is, and the largest model norm before it.

    ``model`` is a stacked or a network model; ``engine`` runs the local steps (default: the one that suits the model).
    The same seed gives the same numbers; cohort, batches and start depend on nothing else, so that algorithms compared
    under one seed face the same draws. Raises ``Diverged`` when a model is no longer finite. ``watch`` is shown every
    round's work, the clients' models after it and the new state.

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
    if begun is None:
        state = algorithm.begin(model.start(seed).to(federation.inputs.device), federation.clients)
        largest, done = float(state.model.norm()), 0
    else:
        state, largest = copy_state(begun[0]), begun[1]
        done = state.round
    yield state
    active = state.model.new_zeros(0, dtype=torch.int64)

    def seen(work: Work, ends: Tensor, after: State) -> None:
        nonlocal active
        active = work.rows
        if watch is not None:
            watch(work, ends, after)

    for round_ in range(done, setting.rounds):
        looked_at = round_ & (round_ - 1) == 0  # ever more seldom: it takes as long as a small step
        with seeded(algorithm.name) if looked_at else nullcontext():
            state = play(model, federation, algorithm, setting, seed, engine, state, watch=seen)
        norm = float(state.model.norm())
        own = own_rows(state, algorithm.personal, active) if algorithm.personal else None
        if not np.isfinite(norm) or (own is not None and not own.isfinite().all()):
            raise Diverged(round_ + 1, algorithm.name, largest)
        largest = max(largest, norm)
        yield state


def play(
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
    """One round: draw the cohort (unless its clients and counts are given), let every client of it work, combine."""
    drawn = cohort or draw_cohort(setting, federation, seed, state.round)
    work = plan(model, federation, algorithm, setting, seed, state, drawn)
    ends, first = engine.local(model, federation, algorithm, setting, work)
    losses = state.losses
    if first is not None:
        losses = (*losses, float(work.weights @ first) / float(work.weights.sum()))
    after = statistics.finished(model, work, ends, algorithm.finish(work, ends, losses))
    if watch is not None:
        watch(work, ends, after)
    if algorithm.also is None:
        return after
    own = plan(model, federation, algorithm.also, setting, seed, state, drawn)
    own_ends, _ = engine.local(model, federation, algorithm.also, setting, own)
    return after._replace(server={**after.server, **algorithm.also.renew(own, own_ends, after.model)})


def plan(
    model: Trainable,
    federation: Source,
    algorithm: Algorithm,
    setting: Setting,
    seed: int,
    state: State,
    drawn: tuple[Array, Array],
) -> Work:
    """What the drawn clients, with how often each counts, are to do from ``state``."""
    clients, counts = drawn
    if algorithm.everyone:
        clients, counts = np.arange(federation.clients), np.zeros(federation.clients)
        counts[drawn[0]] = drawn[1]
    device, dtype = state.model.device, state.model.dtype
    unequal = None
    if setting.client_weight != "uniform" and np.ptp(federation.client_sizes):
        unequal = torch.from_numpy(shares(setting, federation)[clients]).to(device, dtype)
    rows = torch.from_numpy(clients).to(device)
    decay = setting.step_size_decay
    planned = setting.step_size if decay == 1 else float(geometric(setting.step_size, decay, state.round))
    steps, step_size = _client_steps(setting, federation, algorithm, state, clients, planned)
    starts = checked_models(
        f"{algorithm.name}: what start returns", algorithm.start(state, rows), state.model.expand(len(rows), -1)
    )
    most = int(steps.max())
    drawn_at_once = most * (len(clients) if model.stacked else 1) * setting.batch
    if drawn_at_once > LARGE:
        what = f"drawing the batches of a round of {most} local steps"
        refuse_beyond_memory(NUMBER * drawn_at_once, what, "take more rounds of fewer steps")
    return Work(
        state=state,
        clients=clients,
        rows=rows,
        counts=torch.from_numpy(counts).to(device, dtype),
        weights=torch.from_numpy(_row_weights(setting, federation, clients, counts)).to(device, dtype),
        steps=steps,
        step_size=step_size,
        total=federation.clients,
        seed=seed,
        starts=statistics.started(model, state, rows, starts),
        layers=model.layers,
        sizes=setting.sizes(state.round, step_size, most),
        recalled={},
        labels=federation.label_counts[rows] if algorithm.needs_labels else None,
        net=model,
        shares=unequal,
        momentum=setting.momentum,
        nesterov=setting.nesterov,
    )


def _client_steps(
    setting: Setting, federation: Source, algorithm: Algorithm, state: State, clients: Array, planned: float
) -> tuple[Array, float]:
    """Local steps of every active client and the step size.

    What the algorithm makes of the planned number: the same for all, or each client's passes over its own samples.
    """
    where = f"{algorithm.name}: what steps returns"
    if setting.local_epochs is None:
        steps, step_size = checked_steps(where, algorithm.steps(state, setting.steps, planned))
        return np.full(len(clients), steps), step_size
    numbers, place = np.unique(setting.planned(federation.client_sizes[clients]), return_inverse=True)
    made = [checked_steps(where, algorithm.steps(state, number.item(), planned)) for number in numbers]
    return np.array([steps for steps, _ in made])[place], made[0][1]
