"""Networks on a GPU: local steps recorded as CUDA graphs, small networks stacked, large ones client after client.

A small operation takes longer to launch than to compute, and a step of a network has hundreds. Recorded once, they are
launched together: for a stack of small networks all local steps of a round at once, otherwise step by step. Everything
a recording reads lies in buffers that stay in place and are filled before it is replayed. Work that cannot be replayed
(see ``tracing``), and work that comes only once, runs as it is. On a CPU the same buffers are used without recording.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from ...algorithms.algorithm import Algorithm, TaskLoss, Work
from ...errors import EmpiricsError
from ...federation.federation import Batches, Federation, Source
from ...models.model import Trainable
from ...models.network import Network
from ..setting import Setting
from .buffers import Buffers
from .precision import computing
from .stacked import descend, LocalGradient
from .stacking import StackedNetwork
from .steppers import stepper
from .tracing import Rehearsal, Untraceable

SMALL = 500_000  # parameters up to which clients are stacked: beyond, one client's step keeps the device busy
TOGETHER = 32  # clients in a stack
KEPT = 64  # recordings kept

Run = Callable[[], None]


class Graphs:
    """Local steps of networks on a GPU.

    ``together`` clients are stepped at once (None: 32 for networks of up to 500,000 parameters trained on their task
    loss, else 1). Products are in float32.
    ``record=False`` runs everything as it is. The last bits of the numbers depend on ``together``. Two runs
    give the same bits where the tests for GPUs show it, for convolutional networks; embeddings add up their gradients
    in any order. ``made`` and ``replayed`` count recordings, ``refused`` says why there is none.
    """

    def __init__(self, together: int | None = None, record: bool = True) -> None:
        if together is not None and together < 1:
            raise EmpiricsError(f"together must be >= 1; got {together}")
        self.together, self.record = together, record
        self.made = self.replayed = 0
        self.refused: dict[tuple[Any, ...], str] = {}
        # algorithms by the number that names them in keys: their hooks may hold what cannot be hashed
        self.seen: dict[int, Algorithm] = {}
        self._runs: OrderedDict[tuple[Any, ...], Run | None] = OrderedDict()
        self._pool: Any = None
        self._buffers: Buffers | None = None
        self._of: tuple[Any, ...] = ()

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        """The clients' models after their local steps ``(rows, dim)`` and, if asked for, their first losses."""
        network, held = cast(Network, model), cast(Federation, federation)  # what ``choose`` sends here
        self._begin(network, held)
        together = self._together(network, algorithm)
        stepping = cast(Trainable, self._stack if together > 1 else network)
        ends, firsts = torch.empty(work.starts.shape, dtype=work.starts.dtype, device=work.starts.device), []
        order = np.argsort(-work.steps, kind="stable")
        with computing(work.starts.device):
            for begin in range(0, len(order), together):
                chosen = order[begin : begin + together]
                part = work.pick(chosen)
                batches = held.draw(part.seed, part.state.round, part.clients, part.steps, setting.batch)
                chunk = _Chunk(self, min(together, work.total), stepping, batches, algorithm, setting, part)
                ends[torch.from_numpy(chosen).to(ends.device)] = chunk.run()
                firsts.append(chunk.first)
        if firsts[0] is None:
            return ends, None
        back = torch.from_numpy(np.argsort(order, kind="stable")).to(ends.device)
        return ends, torch.cat([f for f in firsts if f is not None])[back]

    def _begin(self, model: Network, federation: Federation) -> None:
        """Forget recordings of other networks or data; bring what the module holds beside parameters to the device."""
        if self._of and self._of[0] is model and self._of[1] is federation:
            return
        self._of, self._buffers, self._stack = (model, federation), None, StackedNetwork(model)
        for known in (self._runs, self.refused, self.seen):
            known.clear()
        for part in (*model.work.module.modules(), *self._stack.network.work.module.modules()):
            for name, buffer in part._buffers.items():
                part._buffers[name] = None if buffer is None else buffer.to(federation.inputs.device)

    def _together(self, model: Network, algorithm: Algorithm) -> int:
        """How many clients to step at once; objectives other than the task loss take one network at a time."""
        plain = isinstance(algorithm.objective, TaskLoss)
        recurrent = any(isinstance(part, torch.nn.RNNBase) for part in model.work.module.modules())
        if not plain or recurrent:
            return 1
        fitting = TOGETHER if model.dim <= SMALL else 1
        return fitting if self.together is None else self.together

    # ---- recordings ----

    def buffers(self, rows: int, steps: int, work: Work, batches: Batches) -> Buffers:
        """Buffers that fit this work: the ones that are there, or new ones, which old recordings do not know."""
        if self._buffers is None or not self._buffers.fit(rows, steps, work, batches):
            self._buffers = Buffers(rows, steps, work, batches)
            self._runs.clear()
        return self._buffers

    def recorded(self, key: tuple[Any, ...], run: Run, *, twice: bool) -> Run | None:
        """A recording of ``run``, made on first use (``twice``: for a second time); None where there is none.

        The buffers' models are as they were before. Gives up when hardly any recording is used again.
        """
        if key not in self._runs:
            self._runs[key] = None
            if len(self._runs) > KEPT:
                self._runs.popitem(last=False)
            if twice:
                return None
        self._runs.move_to_end(key)
        if self._runs[key] is None and not (self.made > KEPT and self.replayed < 3 * self.made):
            assert self._buffers is not None
            w = self._buffers.w
            if self._pool is None and w.device.type == "cuda":  # what a run makes in it is needed by no other run
                self._pool = torch.cuda.graph_pool_handle()
            self.made, before = self.made + 1, w.clone()
            try:
                self._runs[key] = captured(run, w.device, self._pool)
            except Untraceable as reason:
                self.refused[key[0]] = str(reason)
            finally:
                w.copy_(before)
        return self._runs[key]


@dataclass
class _Chunk:
    """Some clients' local work, sorted by falling number of steps, and how many the buffers hold (``room``)."""

    engine: Graphs
    room: int
    model: Trainable
    batches: Batches
    algorithm: Algorithm
    setting: Setting
    work: Work
    first: Tensor | None = None

    def run(self) -> Tensor:
        """The models after the local steps, from buffers where that is allowed."""
        if hasattr(self.algorithm.objective, "prepare"):
            self.algorithm.objective.prepare(self.model, self.batches.at(len(self.work.rows), 0), self.work)
        self.engine.seen[id(self.algorithm)] = self.algorithm
        who = (id(self.algorithm), self.setting, self.work.total, *sorted(self.work.recalled))
        if self.engine.record and who not in self.engine.refused:
            done = self._by_steps(who) if self._step_by_step() else self._at_once(who)
            if done is not None:
                return done.clone()
        ends = self.work.starts.clone()
        self.first = descend(self.model, self.algorithm, self.setting, self.work, ends, self.batches)
        return ends

    def _step_by_step(self) -> bool:
        """Whether steps are recorded one by one: nothing to remember between them, and one client or ragged steps."""
        remembers = self.setting.optimizer != "sgd" or self.setting.momentum or self.algorithm.moves is not None
        return not remembers and (len(self.work.steps) == 1 or bool((self.work.steps != self.work.steps[0]).any()))

    def _at_once(self, who: tuple[Any, ...]) -> Tensor | None:
        """All local steps as one recording; None if they have to be done another way."""
        work, (rows, steps) = self.work, self.batches.index.shape[:2]
        buffers = self.engine.buffers(self.room, steps, work, self.batches)
        buffers.fill(work)
        buffers.turn_to(self.batches, slice(0, steps), rows)
        still = buffers.work(work, rows)
        still, w = still._replace(steps=work.steps, sizes=still.sizes[:steps]), buffers.w[:rows]
        batches = buffers.batches(self.batches, rows, steps)

        def run() -> None:
            w.copy_(still.starts)
            first = descend(self.model, self.algorithm, self.setting, still, w, batches)
            if first is not None:
                buffers.first[:rows].copy_(first)

        key = (who, "all", rows, work.steps.tobytes())
        recording = self.engine.recorded(key, run, twice=True)
        if recording is None:
            return None
        recording()
        self.engine.replayed += 1
        self.first = buffers.first[:rows].clone() if self.algorithm.steps.needs_loss else None
        return w

    def _by_steps(self, who: tuple[Any, ...]) -> Tensor | None:
        """Step by step, each a recording for its number of active rows; None if they have to be done another way."""
        work, rows = self.work, len(self.work.steps)
        buffers = self.engine.buffers(self.room, 1, work, self.batches)
        buffers.fill(work)
        w = buffers.w[:rows].copy_(work.starts)
        if self.algorithm.steps.needs_loss:
            self.first = self.model.task_loss(w, self.batches.at(rows, 0)).detach()
        for step in range(int(work.steps.max())):
            active = int((work.steps > step).sum())
            buffers.turn_to(self.batches, slice(step, step + 1), active)
            recording = self.engine.recorded((who, "step", active), self._step(buffers, active), twice=False)
            if recording is None:
                return None
            recording()
            self.engine.replayed += 1
        return w

    def _step(self, buffers: Buffers, active: int) -> Run:
        """One local step of the first ``active`` rows, all of it on the buffers."""
        still, w = buffers.work(self.work, active), buffers.w[:active]
        batches = buffers.batches(self.batches, active, 1)

        def run() -> None:
            gradient_at = LocalGradient(self.model, self.algorithm.objective, still, batches, active, 0)
            direction = self.algorithm.direction(still, w, gradient_at(w), gradient_at)
            stepper(self.setting)(w, direction, still.size, None)

        return run


def captured(run: Run, device: torch.device, pool: Any = None) -> Run:
    """``run`` as a CUDA graph on a GPU, after a rehearsal; raises ``Untraceable`` where it cannot be one.

    The rehearsal also lets libraries set themselves up, which must not happen while a graph is recorded. It does what
    ``run`` does.
    """
    try:
        with Rehearsal():
            run()
    except Untraceable:
        raise
    except (TypeError, AttributeError, RuntimeError, ValueError) as error:  # a hook met something unreadable
        raise Untraceable(f"{type(error).__name__}: {error}") from error
    if device.type != "cuda":
        return run
    graph: Any = torch.cuda.CUDAGraph()
    torch.cuda.synchronize(device)
    try:
        with torch.cuda.graph(graph, pool=pool):
            run()
    except RuntimeError as error:  # out of memory too
        graph = None  # gives back what it took
        torch.cuda.synchronize(device)
        torch.cuda.empty_cache()
        raise Untraceable(f"the device refused: {error}") from error
    replay: Run = graph.replay
    return replay
