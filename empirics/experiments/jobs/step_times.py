"""Seconds per SGD step: all networks in turn inside one run, so that the machine's noise affects all equally."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ...models.networks import Network, network
from ...streams import stream
from ...training.engines.threads import one_thread
from .. import Outcome
from ..registry import job

STEP = 0.01
"""The step size; it costs the same whatever it is."""


@job("step_times", version=1)
def step_times(networks: Sequence[Mapping[str, Any]], repeats: int, seed: int) -> Outcome:
    """The median seconds of a minibatch step of every network, on one thread.

    A network is given as ``network`` (its text), ``batch`` and, where its inputs are characters, ``tokens`` (how many
    there are). The first step of each is not counted.
    """
    built = [(network(one["network"]), int(one["batch"]), one.get("tokens")) for one in networks]
    draws = stream(seed, "step times")
    with one_thread(torch.device("cpu")):
        made = [(model, model.start(seed).unsqueeze(0), _batch(model, b, t, draws)) for model, b, t in built]
        seconds = np.array([[_step(*one) for one in made] for _ in range(repeats + 1)])[1:]
    return Outcome(
        {"network": [one["network"] for one in networks], "seconds": np.median(seconds, axis=0).tolist()},
        {"parameters": [model.dim for model, _, _ in built]},
    )


def _batch(
    model: Network, batch: int, tokens: int | None, draws: np.random.Generator
) -> tuple[torch.Tensor, torch.Tensor, None]:
    assert model.input_shape is not None
    shape = (1, batch, *model.input_shape)
    made = draws.random(shape, dtype=np.float32) if tokens is None else draws.integers(tokens, size=shape)
    return torch.from_numpy(made), torch.from_numpy(draws.integers(2, size=(1, batch))), None


def _step(model: Network, row: torch.Tensor, batch: tuple[torch.Tensor, torch.Tensor, None]) -> float:
    begin = time.perf_counter()
    row.sub_(model.gradient(row, batch), alpha=STEP)
    return time.perf_counter() - begin
