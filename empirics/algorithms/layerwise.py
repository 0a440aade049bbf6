"""FedALS: average the head every round and the representation extractor every ``alpha`` rounds; alone or as a plug-in.

Clients keep their own extractors between two averages, so a local model per client is remembered. The server model of
a state is the average of the active clients' models, whatever was exchanged.
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

# ---- the head and the layers below it; models of the clients' own ----


def head_columns(work: Work, head: str) -> Tensor:
    """True on the columns of the head ``(dim,)``: the layers whose name begins with ``head``."""
    mask = torch.zeros(work.starts.shape[-1], dtype=torch.bool, device=work.starts.device)
    named = [name for name in work.layers if name.startswith(head)]
    if not named:
        raise EmpiricsError(f"head must begin a layer's name; got {head!r}; layers: {', '.join(work.layers)}")
    for name in named:
        mask[work.layers[name]] = True
    return mask


def named_head(where: str, head: Any) -> str:
    """``head`` if it can begin a layer's name."""
    if not (isinstance(head, str) and head):
        raise EmpiricsError(f"{where} must be the beginning of a layer's name; got {head!r}")
    return head


@dataclass(frozen=True)
class OwnStart:
    """Every client goes on from its own model, in which the averaged columns were replaced."""

    key: str = "local"

    def __call__(self, state: State, rows: Tensor) -> Tensor:
        return own_rows(state, self.key, rows)


@dataclass(frozen=True)
class LocalModels:
    """The clients' own models; the columns that ``sharing.averaged(work)`` says are the same for all, active or not.

    The server remembers what it last sent of every column as ``received``, and after which round. Only the rows of
    active clients are written, so that a round costs the same however many clients there are: see ``own_rows``.
    """

    sharing: Any
    key: str = "local"

    def begin(self, model: Tensor, clients: int) -> Remembered:
        exchange = Exchange(sent=torch.zeros_like(model), written=model.new_zeros(clients, 1))
        rows = {self.key: model.expand(clients, -1).clone()}
        return Remembered(rows, {"received": model.clone()}, {self.key: exchange})

    def __call__(self, work: Work, ends: Tensor, model: Tensor) -> Mapping[str, Tensor]:
        columns, now, exchange = self.sharing.averaged(work), work.state.round + 1, work.state.exchanges[self.key]
        work.state.memory[self.key][work.rows] = ends
        exchange.written[work.rows] = now
        exchange.sent.masked_fill_(columns, now)
        return {"received": torch.where(columns, model, work.received)}


# ---- layer-wise averaging ----


@dataclass(frozen=True)
class Periods:
    """Which columns are averaged after a round: the head always, the extractor every ``alpha`` rounds.

    ``early`` averages after the first of the steps instead of the last (a listing that tests the counter before it has
    grown); ``never`` leaves the extractor alone for ever (an else-if whose first test is true whenever the second is).
    """

    alpha: int
    head: str
    early: bool = False
    never: bool = False

    def extractor_due(self, work: Work) -> bool:
        return self.averaged_until(work.state.round + 1) == work.state.round + 1

    def averaged_until(self, rounds: int) -> int:
        """The round of the last average of the extractor among the finished rounds; 0 if there was none."""
        shift = 0 if self.early else 1
        last = (rounds - 1 + shift) // self.alpha * self.alpha - shift  # the newest round, from 0, that averages it
        return 0 if self.never else max(last + 1, 0)

    def averaged(self, work: Work) -> Tensor:
        """True on the columns that are averaged after this round."""
        head = head_columns(work, self.head)
        return torch.ones_like(head) if self.extractor_due(work) else head


@dataclass(frozen=True)
class LayerwiseControls(ClientVectors):
    """SCAFFOLD's controls, renewed layer by layer when the layer is averaged, over the whole walk since the last time.

    ``walked`` is each client's sum of step sizes since the extractor was averaged, and the round that last added to it:
    a sum that is older than the last average counts as 0.
    """

    periods: Periods = field(kw_only=True)

    def begin(self, model: Tensor, clients: int) -> Remembered:
        rows, vectors, _ = super().begin(model, clients)
        return Remembered({**rows, "walked": model.new_zeros(clients, 2)}, vectors)

    def change(self, work: Work, ends: Tensor) -> Tensor:
        server, memory, walked, now = work.state.server, work.state.memory, work.lengths, work.state.round + 1
        before, last = memory["walked"][work.rows].split(1, -1)
        averaged = self.periods.averaged_until(work.state.round)
        since = walked + torch.where(last > averaged, before, torch.zeros_like(before))
        memory["walked"][work.rows] = torch.cat([since, torch.full_like(since, now)], -1)
        length = torch.where(head_columns(work, self.periods.head), walked, since)
        change = (work.received - ends) / length - server["control"]
        return torch.where(self.periods.averaged(work), change, torch.zeros_like(change))


@dataclass(frozen=True)
class EarlySteps:
    """One step in the first round, then the planned number: averages come after steps 1, tau + 1, 2 tau + 1, ..."""

    planned: StepRule = field(default_factory=PlannedSteps)

    @property
    def needs_loss(self) -> bool:
        return self.planned.needs_loss

    def __call__(self, state: State, steps: int, step_size: float) -> tuple[int, float]:
        planned, size = self.planned(state, steps, step_size)
        return (planned if state.round else 1), size


@method(alpha=COUNT, head=named_head, reading=("intended", "printed", "printed_v1", "code"))
def layerwise(algorithm: Algorithm, alpha: int = 10, head: str = "head", reading: str = "intended") -> Algorithm:
    """``algorithm`` with layer-wise averaging: the head every round, all other layers every ``alpha`` rounds.

    ``intended``: averages after every ``tau`` (head) and ``alpha tau`` (extractor) local steps, FedAvg for alpha = 1.
    ``printed`` (version 2, two ifs) and ``code`` test the step counter before it has grown, so averages come one step
    after the start of a period; a round here ends with an average, so their first round has a single step. The two
    readings are one method under two names: the listing's assignments are taken to replace the
    current parameters, as the code does (taken to the letter they overwrite an iterate that is not used again, and
    no client ever receives an average). ``printed_v1`` has an else-if that never averages the extractor.

    The listings know full participation only. Here a drawn client goes on from its own model, averages are over the
    drawn clients and reach everyone: the work on the extractor of clients not drawn when it is averaged is lost.
    Works with methods that average models; a server step of its own has no layer-wise reading.
    """
    if algorithm.combine != Average() or algorithm.start != ServerStart():
        raise EmpiricsError(f"layerwise needs a method that averages models from a common start; got {algorithm.name}")
    early = reading != "intended"
    periods = Periods(alpha, head, early=early, never=reading == "printed_v1")
    keepers: tuple[Memory, ...] = tuple(
        LayerwiseControls(keeper.uniform, periods=periods) if isinstance(keeper, Controls) else keeper
        for keeper in algorithm.remember
    )
    return replace(
        algorithm,
        start=OwnStart(),
        remember=(*keepers, LocalModels(periods)),
        reading=reading,
        steps=EarlySteps(algorithm.steps) if early else algorithm.steps,
    )


fedals = on_fedavg(
    "fedals",
    layerwise,
    "FedALS (Algorithm 1): FedAvg with layer-wise averaging periods; readings as for ``layerwise``.",
)
