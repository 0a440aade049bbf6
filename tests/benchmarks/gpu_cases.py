"""What is timed on a GPU in minutes: the networks of ``gpu.py`` and of the papers' runs, one way of training each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from gpu import Case, engine_round, LARGE, plain_round, SMALL, timed, TINY_SMALL

from empirics.training.engines.graphs import Graphs
from empirics.training.engines.precision import computing

COG = Case("fedcog_cnn(channels=1, side=28)", (1, 28, 28), 10, 10, 20, 64, 640)
"""FedCOG's clients on Fashion-MNIST, with a twentieth of the local steps."""
ALS = Case("resnet20()", (3, 32, 32), 5, 5, 5, 64, 640)
"""FedALS's clients."""
TINY = Case("femnist_dnn()", (1, 28, 28), 3, 3, 2, 4, 8)
REPEATS = 3


@dataclass(frozen=True)
class Timing:
    """One way of training: ``together`` clients at once (None: the engine's choice); ``loop``: the plain PyTorch loop.

    ``rate_of`` names the network whose runs this predicts.
    """

    name: str
    case: Case
    together: int | None = None
    precision: str = "float32"
    record: bool = True
    loop: bool = False
    rate_of: str = ""

    def measured(self, device: torch.device, matmul: float) -> tuple[str, dict[str, Any]]:
        """In words and numbers; ``matmul`` is the device's rate of matrix products of this precision."""
        case, cuda = self.case, device.type == "cuda"
        if cuda:
            torch.cuda.reset_peak_memory_stats()
        seconds = timed(self._round(device), device, REPEATS)
        rate, step = case.flops() / seconds, seconds / (case.cohort * case.steps)
        memory = torch.cuda.max_memory_reserved() / 1e9 if cuda else 0.0
        words = (
            f"{1e3 * seconds:.4g} ms a round, {1e3 * step:.3g} ms a client's step, {rate / 1e12:.3g} TFLOP/s, "
            f"{100 * rate / matmul:.3g} % of the rate of matrix products ({matmul / 1e12:.3g} TFLOP/s), {memory:.2g} GB"
        )
        return words, {"seconds_per_step": step, "rate_of": self.rate_of, "share": rate / matmul, "memory_gb": memory}

    def _round(self, device: torch.device) -> Callable[[], None]:
        if not self.loop:
            return engine_round(self.case, Graphs(self.together, self.precision, self.record), device)
        plain = plain_round(self.case, device)

        def exact() -> None:
            with computing("float32", device):
                plain()

        return exact


def cases(few: bool) -> list[Timing]:
    """All, what predicts the papers' runs first; ``few`` tiny ones for a rehearsal."""
    if few:
        return [Timing("tiny network", TINY, rate_of="femnist_dnn"), Timing("tiny CNN, loop", TINY_SMALL, loop=True)]
    small, eighteen = "small CNN", "ResNet-18-GN"
    return [
        Timing(f"{small}, stacked", SMALL),
        Timing("FedCOG's CNN, stacked", COG, rate_of="fedcog_cnn"),
        Timing("ResNet-20, stacked", ALS, rate_of="resnet20"),
        Timing(f"{eighteen}, one after another", LARGE, rate_of="resnet18"),
        Timing(f"{small}, one after another", SMALL, together=1),
        Timing(f"{small}, plain loop", SMALL, loop=True),
        Timing(f"{small}, stacked, not recorded", SMALL, record=False),
        Timing("ResNet-20, one after another", ALS, together=1),
        Timing("ResNet-20, plain loop", ALS, loop=True),
        Timing(f"{eighteen}, plain loop", LARGE, loop=True),
        Timing(f"{small}, stacked, tf32", SMALL, precision="tf32"),
        Timing(f"{small}, stacked, bf16", SMALL, precision="bf16"),
        Timing(f"{eighteen}, one after another, tf32", LARGE, precision="tf32"),
        Timing(f"{eighteen}, one after another, bf16", LARGE, precision="bf16"),
        Timing(f"{eighteen}, one after another, not recorded", LARGE, record=False),
    ]
