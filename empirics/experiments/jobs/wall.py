"""Jobs that time rounds and steps; methods take turns in one process, so that other load slows all of them equally."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from ...algorithms import algorithm as read_algorithm
from ...models.networks import Network, network
from ...numbers import check_options
from ...streams import stream
from ...training.rounds import rounds
from ...training.threads import one_thread
from .. import Outcome
from ..registry import job
from . import BLOCKS, in_turns
from .train import SharedRun

STEP = 0.01
"""The step size, which does not affect the time."""


@job("round_times", version=1, shared=True)
def seconds(algorithms: Sequence[str], laps: int, **shared: Any) -> Outcome:
    """Seconds of single rounds without measuring, by ``algorithm``, ``block`` and ``round``, as they were executed."""
    check_options({"laps": laps})
    plan = SharedRun.of(shared)
    dealt = plan.deal()
    setting = plan.setting_for(BLOCKS * laps + 1, dealt.clients)
    runs = {n: rounds(dealt.model, dealt.federation, read_algorithm(n), setting, plan.seed) for n in algorithms}
    for states in runs.values():
        next(states)  # the start
    rows = in_turns({n: partial(next, states) for n, states in runs.items()}, BLOCKS * laps)
    columns: dict[str, list[Any]] = {
        "algorithm": [name for name, _, _ in rows],
        "block": [(turn - 1) // laps for _, turn, _ in rows],
        "round": [turn for _, turn, _ in rows],
        "seconds": [taken for _, _, taken in rows],
    }
    return Outcome(columns, {"clients": dealt.clients, "parameters": dealt.model.dim})


@job("step_times", version=1)
def step_times(networks: Sequence[Mapping[str, Any]], repeats: int, seed: int) -> Outcome:
    """The median seconds of a minibatch step of every network, on one thread.

    A network is given as ``network`` (its text), ``batch`` and, if its inputs are characters, ``tokens`` (the size of
    the alphabet). The first step of each is not counted.
    """
    built = [(network(one["network"]), int(one["batch"]), one.get("tokens")) for one in networks]
    rng = stream(seed, "step times")
    with one_thread():
        cases = [(model, model.start(seed).unsqueeze(0), _batch(model, b, t, rng)) for model, b, t in built]
        rows = in_turns({str(k): partial(_step, *case) for k, case in enumerate(cases)}, repeats)
    times = np.array([taken for _, _, taken in rows]).reshape(repeats, len(cases))
    return Outcome(
        {"network": [one["network"] for one in networks], "seconds": np.median(times, axis=0).tolist()},
        {"parameters": [model.dim for model, _, _ in built]},
    )


def _batch(
    model: Network, batch: int, tokens: int | None, rng: np.random.Generator
) -> tuple[torch.Tensor, torch.Tensor, None]:
    assert model.input_shape is not None
    shape = (1, batch, *model.input_shape)
    inputs = rng.random(shape, dtype=np.float32) if tokens is None else rng.integers(tokens, size=shape)
    return torch.from_numpy(inputs), torch.from_numpy(rng.integers(2, size=(1, batch))), None


def _step(model: Network, row: torch.Tensor, batch: tuple[torch.Tensor, torch.Tensor, None]) -> None:
    row.sub_(model.gradient(row, batch), alpha=STEP)
