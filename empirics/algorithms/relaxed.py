"""FedInit: relaxed initialisation, alone and as a plug-in for any other method."""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch import Tensor

from bounds.domains import RELAXATION

from ..errors import EmpiricsError
from .algorithm import Algorithm, Average, method, on_fedavg, Rows, ServerStart, State
from .server import AddUpdate


@dataclass(frozen=True)
class RelaxedStart:
    """``w^t + beta (w^t - last_k)``: the server model, extrapolated away from the client's last local model."""

    beta: float

    def __call__(self, state: State, rows: Tensor) -> Tensor:
        return state.model + self.beta * (state.model - state.memory["last"][rows])


@method(beta=RELAXATION, reading=("intended", "printed", "code", "proof"))
def relaxed(algorithm: Algorithm, beta: float = 0.1, reading: str = "intended") -> Algorithm:
    """``algorithm`` whose clients start at the relaxed initial point (FedInit, Section 5 and Table 2).

    Control variates, duals and updates are measured from the relaxed start, as in the released code; FedProx's centre
    remains the server model. A client that was not active keeps its last local model.

    ``intended`` and ``printed`` follow Algorithm 1: the server averages the models of the active clients. ``code`` is
    the released implementation: where ``algorithm`` averages models, the server adds the mean of the clients' moves
    instead, so that the relaxation offset does not enter the server model. ``proof`` is the variant that the lemmas
    analyse: all clients train in every round (every last local model is one round old), and only the drawn ones are
    averaged. With full participation and constant weights, all readings are the same method.
    """
    if algorithm.start != ServerStart():
        raise EmpiricsError(f"relaxed needs a method whose clients start at the server model; got {algorithm.name}")
    adds = reading == "code" and algorithm.combine == Average()
    return replace(
        algorithm,
        start=RelaxedStart(beta),
        remember=(*algorithm.remember, Rows("last")),
        everyone=algorithm.everyone or reading == "proof",
        reading=reading,
        combine=AddUpdate() if adds else algorithm.combine,
    )


ABOUT = "FedInit, Algorithm 1: FedAvg from the relaxed start; readings as for ``relaxed``."
fedinit = on_fedavg("fedinit", relaxed, ABOUT)
