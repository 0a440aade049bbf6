"""FedALS: average the head every round and the representation extractor every ``alpha`` rounds; alone or as a plug-in.

Clients keep their own extractors between two averages, so the state holds a local model per client. The server model of
the state is always the average of all columns of the active clients' models, including columns that are not sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from bounds.domains import COUNT

from ..errors import EmpiricsError
from .algorithm import Algorithm, Average, Memory, method, on_fedavg, PlannedSteps, ServerStart, State, StepRule, Work
from .local import ClientVectors, Controls
from .state import Exchange, own_rows, Remembered

# ---- the head and the layers below it; models that clients keep ----


def head_columns(work: Work, head: str) -> Tensor:
    """Return a mask ``(dim,)`` of the head's columns: the layers whose names begin with ``head``."""
    mask = torch.zeros(work.starts.shape[-1], dtype=torch.bool, device=work.starts.device)
    names = [name for name in work.layers if name.startswith(head)]
    if not names:
        raise EmpiricsError(f"head must begin a layer's name; got {head!r}; layers: {', '.join(work.layers)}")
    for name in names:
        mask[work.layers[name]] = True
    return mask


def checked_head(where: str, head: Any) -> str:
    """Return ``head``; raise unless it is a nonempty string, which can begin a layer's name."""
    if not (isinstance(head, str) and head):
        raise EmpiricsError(f"{where} must be the beginning of a layer's name; got {head!r}")
    return head


@dataclass(frozen=True)
class OwnStart:
    """Every client continues from its own model, with the averaged columns replaced by what the server sent."""

    key: str = "local"

    def __call__(self, state: State, rows: Tensor) -> Tensor:
        return own_rows(state, self.key, rows)


@dataclass(frozen=True)
class LocalModels:
    """Memory of the clients' own models; the columns ``sharing.averaged(work)`` are averaged and sent to all clients.

    The server stores the last value that it sent of each column as ``received``, and after which round. Only the rows
    of active clients are written, so that a round's cost does not depend on the number of clients: see ``own_rows``.
    """

    sharing: Any
    key: str = "local"

    def begin(self, model: Tensor, clients: int) -> Remembered:
        exchange = Exchange(sent=torch.zeros_like(model), written=model.new_zeros(clients, 1))
        rows = {self.key: model.expand(clients, -1).clone()}
        return Remembered(rows, {"received": model.clone()}, {self.key: exchange})

    def __call__(self, work: Work, ends: Tensor, model: Tensor) -> Mapping[str, Tensor]:
        columns, now, exchange = self.sharing.averaged(work), work.state.round + 1, work.state.exchanges[self.key]
        work.state.memory[self.key][work.client_index] = ends
        exchange.written[work.client_index] = now
        exchange.sent.masked_fill_(columns, now)
        return {"received": torch.where(columns, model, work.received)}


# ---- layer-wise averaging ----


@dataclass(frozen=True)
class Periods:
    """Averages the head after every round and the extractor every ``alpha`` rounds.

    With ``early`` the extractor is averaged in the first round of a period instead of the last (a listing that tests
    the step counter before incrementing it), with ``never`` not at all (a listing whose else-if cannot be reached).
    """

    alpha: int
    head: str
    early: bool = False
    never: bool = False

    def extractor_due(self, work: Work) -> bool:
        return self.averaged_until(work.state.round + 1) == work.state.round + 1

    def averaged_until(self, rounds: int) -> int:
        """Return the last of the first ``rounds`` rounds that averaged the extractor, from 1; 0 if none did."""
        shift = 0 if self.early else 1
        last = (rounds - 1 + shift) // self.alpha * self.alpha - shift  # counted from 0
        return 0 if self.never else max(last + 1, 0)

    def averaged(self, work: Work) -> Tensor:
        """Return a mask ``(dim,)`` of the columns that are averaged after this round."""
        head = head_columns(work, self.head)
        return torch.ones_like(head) if self.extractor_due(work) else head


@dataclass(frozen=True)
class LayerwiseControls(ClientVectors):
    """SCAFFOLD's controls, updated for each layer when it is averaged, from all steps since its last average.

    The memory ``walked`` holds, for each client, the sum of step sizes since the extractor was averaged and the round
    that last added to it; a sum from before the last average counts as 0.
    """

    periods: Periods = field(kw_only=True)

    def begin(self, model: Tensor, clients: int) -> Remembered:
        rows, vectors, _ = super().begin(model, clients)
        return Remembered({**rows, "walked": model.new_zeros(clients, 2)}, vectors)

    def change(self, work: Work, ends: Tensor) -> Tensor:
        memory, now = work.state.memory, work.state.round + 1
        before, last = memory["walked"][work.client_index].split(1, -1)
        averaged = self.periods.averaged_until(work.state.round)
        since = work.lengths + torch.where(last > averaged, before, torch.zeros_like(before))
        memory["walked"][work.client_index] = torch.cat([since, torch.full_like(since, now)], -1)
        length = torch.where(head_columns(work, self.periods.head), work.lengths, since)
        change = (work.received - ends) / length - work.state.server["control"]
        return torch.where(self.periods.averaged(work), change, torch.zeros_like(change))


@dataclass(frozen=True)
class EarlySteps:
    """One step in the first round, then the planned number, so that averages follow steps 1, tau + 1, 2 tau + 1, ..."""

    planned: StepRule = field(default_factory=PlannedSteps)

    @property
    def needs_loss(self) -> bool:
        return self.planned.needs_loss

    def __call__(self, state: State, steps: int, step_size: float) -> tuple[int, float]:
        planned, size = self.planned(state, steps, step_size)
        return (planned if state.round else 1), size


@method(alpha=COUNT, head=checked_head, reading=("intended", "printed", "printed_v1", "code"))
def layerwise(algorithm: Algorithm, alpha: int = 10, head: str = "head", reading: str = "intended") -> Algorithm:
    """``algorithm`` with layer-wise averaging: the head every round, all other layers every ``alpha`` rounds.

    ``intended`` averages after every ``tau`` (head) and ``alpha tau`` (extractor) local steps; alpha = 1 is FedAvg.
    ``printed`` (version 2, two ifs) and ``code`` test the step counter before incrementing it, so that averages come
    one step after the start of a period; since a round here ends with an average, their first round has a single step.
    Both readings are the same method: the listing's assignments are read as replacing the current parameters, as the
    code does (taken literally, they overwrite an iterate that is not used again, and no client ever receives an
    average). ``printed_v1`` has an else-if that never averages the extractor.

    The listings assume full participation. Here a drawn client continues from its own model, and averages over the
    drawn clients are sent to everyone: extractor updates of clients that are not drawn when it is averaged are lost.
    Works with methods that average models; a modified server step has no layer-wise reading.
    """
    if algorithm.combine != Average() or algorithm.start != ServerStart():
        raise EmpiricsError(f"layerwise needs a method that averages models from a common start; got {algorithm.name}")
    early = reading != "intended"
    periods = Periods(alpha, head, early=early, never=reading == "printed_v1")
    memories: tuple[Memory, ...] = tuple(
        LayerwiseControls(memory.uniform, periods=periods) if isinstance(memory, Controls) else memory
        for memory in algorithm.remember
    )
    return replace(
        algorithm,
        start=OwnStart(),
        remember=(*memories, LocalModels(periods)),
        reading=reading,
        steps=EarlySteps(algorithm.steps) if early else algorithm.steps,
    )


ABOUT = "FedALS (Algorithm 1): FedAvg with layer-wise averaging periods; readings as for ``layerwise``."
fedals = on_fedavg("fedals", layerwise, ABOUT)
