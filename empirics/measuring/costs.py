"""Costs of a run: parameters sent, and simulated time on given devices."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from bounds.domains import NONNEGATIVE, POSITIVE, WHOLE

from ..numbers import check_fields
from ..spec_strings import spec_string
from ..streams import stream
from .core import Measurement, Snapshot

BITS = 32
"""Bits of a parameter on the network, as in Decaying-K."""


def columns_sent(s: Snapshot) -> int:
    """The number of parameters in one copy that a participant sends: all, or the averaged layers of some methods."""
    for memory in s.algorithm.remember:
        sharing = getattr(memory, "sharing", None)
        if sharing is not None:
            return int(sharing.averaged(s.last_work).sum())
    return len(s.state.model)


@dataclass(frozen=True)
class Devices:
    """Simulates the time of a round on devices with these rates (megabit/s) and seconds per minibatch.

    Every client's three numbers are multiplied by ``exp(spread z)`` with standard normal z, drawn once for a run by
    ``device_seed``, so that a slow client stays slow. A round takes as long as its slowest participant, by Decaying-K
    (3) and (4). With ``alike`` it takes the time (5) of a client with these rates, without ``spread``, and the largest
    number of steps. More copies of a model take longer to send.
    """

    download_rate: float = 20.0
    upload_rate: float = 5.0
    minibatch_time: float = 0.1
    spread: float = 0.0
    device_seed: int = 0
    alike: bool = False

    def __post_init__(self) -> None:
        rates = dict.fromkeys(("download_rate", "upload_rate", "minibatch_time"), POSITIVE)
        check_fields(self, "runtime", {**rates, "spread": NONNEGATIVE, "device_seed": WHOLE})

    def of(self, clients: np.ndarray) -> np.ndarray:
        """Download rate, upload rate and minibatch time ``(3, clients)``."""
        typical = np.array([self.download_rate, self.upload_rate, self.minibatch_time])[:, None]
        if not self.spread:
            return np.broadcast_to(typical, (3, len(clients)))
        draws = [stream(self.device_seed, "device", client=int(k)).standard_normal(3) for k in clients]
        return typical * np.exp(self.spread * np.stack(draws, axis=1))

    def __call__(self, s: Snapshot) -> float:
        """The simulated time of a round."""
        from bounds.decaying_k.runtime import client_round, runtime as common_round  # imports SymPy, which is slow

        size, steps = BITS * columns_sent(s) / 1e6, s.last_work.steps[s.averaged.cpu().numpy()]
        copies_down, copies_up = s.algorithm.downloads, s.algorithm.uploads
        if self.alike:
            time = common_round.formula(
                rounds=1, iterations=int(steps.max()), model_size=size, minibatch_time=self.minibatch_time,
                download_rate=self.download_rate / copies_down, upload_rate=self.upload_rate / copies_up,
            )  # fmt: skip
        else:
            down, up, minibatch = self.of(s.active)
            time = client_round.formula(
                model_size=size, local_steps=steps, client_minibatch_time=minibatch,
                client_download_rate=down / copies_down, client_upload_rate=up / copies_up,
            )  # fmt: skip
        return float(np.max(time))


def runtime(**options: Any) -> Measurement:
    """Return the measurement of the run's simulated time on ``Devices`` with these options."""
    devices = Devices(**options)
    return Measurement(spec_string("runtime", **vars(devices)), devices, word="runtime", local=True, over="sum")


vars(runtime)["__signature__"] = signature(Devices)
