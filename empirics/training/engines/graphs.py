"""Networks on a GPU: local steps recorded as CUDA graphs, of stacks of small networks or single large ones.

A small operation takes longer to launch than to compute, and a step of a network has hundreds. Recorded as a graph they
are launched together: all local steps of a round for a stack of small networks, otherwise step by step. Everything that
a recording reads is in buffers, which are filled before it is replayed. Work that cannot be replayed (see ``tracing``)
or occurs only once is computed without a recording. On a CPU the same buffers are used without recording.
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
from .precision import full_precision
from .stacked import descend, joined, LocalGradient
from .stacking import StackedNetwork
from .steppers import stepper
from .tracing import Rehearsal, Untraceable

SMALL = 500_000  # parameters up to which clients are stacked; a step of a larger network keeps the device busy
TOGETHER = 32  # clients in a stack
CAPACITY = 64  # recordings in memory

Run = Callable[[], None]


class Graphs:
    """Local steps of networks on a GPU.

    ``together`` clients are stepped at once (None: 32 for networks of up to 500,000 parameters trained on their task
    loss, else 1); the last bits of results depend on it. Products are in float32. ``record=False`` disables
    recordings. Two runs of convolutional networks are bitwise equal, as the tests for GPUs check; embeddings add up
    their gradients in any order. ``recordings`` and ``replays`` are counts; ``refusals`` has the reasons for work that
    cannot be recorded.
    """

    def __init__(self, together: int | None = None, record: bool = True) -> None:
        if together is not None and together < 1:
            raise EmpiricsError(f"together must be >= 1; got {together}")
        self.together, self.record = together, record
        self.recordings = self.replays = 0
        self.refusals: dict[tuple[Any, ...], str] = {}
        # Keeps algorithms alive whose id is in keys; they are not hashable if their hooks are not.
        self.algorithms: dict[int, Algorithm] = {}
        self._recordings: OrderedDict[tuple[Any, ...], Run | None] = OrderedDict()
        self._pool: Any = None
        self._buffers: Buffers | None = None
        self._source: tuple[Any, ...] = ()

    def local(
        self, model: Trainable, federation: Source, algorithm: Algorithm, setting: Setting, work: Work
    ) -> tuple[Tensor, Tensor | None]:
        network, samples = cast(Network, model), cast(Federation, federation)  # ``choose`` uses graphs for these alone
        self._begin(network, samples)
        together = self._together(network, algorithm)
        stepped = cast(Trainable, self._stack if together > 1 else network)
        ends, losses = torch.empty(work.starts.shape, dtype=work.starts.dtype, device=work.starts.device), []
        order = np.argsort(-work.steps, kind="stable")
        with full_precision(work.starts.device):
            for begin in range(0, len(order), together):
                rows = order[begin : begin + together]
                part = work.pick(rows)
                batches = samples.draw(part.seed, part.state.round, part.clients, part.steps, setting.batch)
                chunk = _Chunk(self, min(together, work.total), stepped, batches, algorithm, setting, part)
                ends[torch.from_numpy(rows).to(ends.device)] = chunk.run()
                losses.append(chunk.first)
        first = joined(losses)
        back = torch.from_numpy(np.argsort(order, kind="stable")).to(ends.device)
        return ends, None if first is None else first[back]

    def _begin(self, model: Network, federation: Federation) -> None:
        """Drop CUDA graphs recorded for other networks or data, and move the modules' buffers to the device."""
        if self._source and self._source[0] is model and self._source[1] is federation:
            return
        self._source, self._buffers, self._stack = (model, federation), None, StackedNetwork(model)
        for cache in (self._recordings, self.refusals, self.algorithms):
            cache.clear()
        for part in (*model.work.module.modules(), *self._stack.network.work.module.modules()):
            for name, buffer in part._buffers.items():
                part._buffers[name] = None if buffer is None else buffer.to(federation.inputs.device)

    def _together(self, model: Network, algorithm: Algorithm) -> int:
        """The number of clients to step at once; 1 for objectives other than the task loss and recurrent networks."""
        recurrent = any(isinstance(part, torch.nn.RNNBase) for part in model.work.module.modules())
        if recurrent or not isinstance(algorithm.objective, TaskLoss):
            return 1
        if self.together is not None:
            return self.together
        return TOGETHER if model.dim <= SMALL else 1

    # ---- recordings ----

    def buffers(self, rows: int, steps: int, work: Work, batches: Batches) -> Buffers:
        """Return buffers that fit this work; new ones if the present ones do not, which invalidates all recordings."""
        if self._buffers is None or not self._buffers.fit(rows, steps, work, batches):
            self._buffers = Buffers(rows, steps, work, batches)
            self._recordings.clear()
        return self._buffers

    def recording(self, key: tuple[Any, ...], run: Run, *, twice: bool) -> Run | None:
        """Return a recording of ``run``, made on first use (``twice``: on second use), or None if there is none.

        The buffers' models are not changed. Stops recording if hardly any recording is used again.
        """
        if key not in self._recordings:
            self._recordings[key] = None
            if len(self._recordings) > CAPACITY:
                self._recordings.popitem(last=False)
            if twice:
                return None
        self._recordings.move_to_end(key)
        rarely_used = self.recordings > CAPACITY and self.replays < 3 * self.recordings
        if self._recordings[key] is None and not rarely_used:
            assert self._buffers is not None
            w = self._buffers.w
            if self._pool is None and w.device.type == "cuda":  # recordings may share memory: none needs another's
                self._pool = torch.cuda.graph_pool_handle()
            self.recordings, before = self.recordings + 1, w.clone()
            try:
                self._recordings[key] = capture(run, w.device, self._pool)
            except Untraceable as reason:
                self.refusals[key[0]] = str(reason)
            finally:
                w.copy_(before)
        return self._recordings[key]


@dataclass
class _Chunk:
    """The local work of some clients, sorted by decreasing number of steps, in buffers of ``buffer_rows`` rows."""

    engine: Graphs
    buffer_rows: int
    model: Trainable
    batches: Batches
    algorithm: Algorithm
    setting: Setting
    work: Work
    first: Tensor | None = None

    def run(self) -> Tensor:
        """Return the models after the local steps, by recordings if possible."""
        if hasattr(self.algorithm.objective, "prepare"):
            self.algorithm.objective.prepare(self.model, self.batches.at(len(self.work.client_index), 0), self.work)
        self.engine.algorithms[id(self.algorithm)] = self.algorithm
        who = (id(self.algorithm), self.setting, self.work.total, *sorted(self.work.recalled))
        if self.engine.record and who not in self.engine.refusals:
            models = self._by_steps(who) if self._step_by_step() else self._at_once(who)
            if models is not None:
                return models.clone()
        ends = self.work.starts.clone()
        self.first = descend(self.model, self.algorithm, self.setting, self.work, ends, self.batches)
        return ends

    def _step_by_step(self) -> bool:
        """Whether to record single steps: if the optimiser has no state, and for one client or unequal steps."""
        has_state = self.setting.optimizer != "sgd" or self.setting.momentum or self.algorithm.moves is not None
        return not has_state and (len(self.work.steps) == 1 or bool((self.work.steps != self.work.steps[0]).any()))

    def _at_once(self, who: tuple[Any, ...]) -> Tensor | None:
        """Replay all local steps as one recording; return the models, or None if there is no recording."""
        work, (rows, steps) = self.work, self.batches.index.shape[:2]
        buffers = self.engine.buffers(self.buffer_rows, steps, work, self.batches)
        buffers.fill(work)
        buffers.load_steps(self.batches, slice(0, steps), rows)
        fixed = buffers.work(work, rows)
        fixed, w = fixed._replace(steps=work.steps, step_sizes=fixed.step_sizes[:steps]), buffers.w[:rows]
        batches = buffers.batches(self.batches, rows, steps)

        def run() -> None:
            w.copy_(fixed.starts)
            first = descend(self.model, self.algorithm, self.setting, fixed, w, batches)
            if first is not None:
                buffers.first[:rows].copy_(first)

        key = (who, "all", rows, work.steps.tobytes())
        recording = self.engine.recording(key, run, twice=True)
        if recording is None:
            return None
        recording()
        self.engine.replays += 1
        self.first = buffers.first[:rows].clone() if self.algorithm.steps.needs_loss else None
        return w

    def _by_steps(self, who: tuple[Any, ...]) -> Tensor | None:
        """Replay steps one by one, by a recording per number of active rows; None if one cannot be recorded."""
        work, rows = self.work, len(self.work.steps)
        buffers = self.engine.buffers(self.buffer_rows, 1, work, self.batches)
        buffers.fill(work)
        w = buffers.w[:rows].copy_(work.starts)
        if self.algorithm.steps.needs_loss:
            self.first = self.model.task_loss(w, self.batches.at(rows, 0)).detach()
        for step in range(int(work.steps.max())):
            active = int((work.steps > step).sum())
            buffers.load_steps(self.batches, slice(step, step + 1), active)
            recording = self.engine.recording((who, "step", active), self._step(buffers, active), twice=False)
            if recording is None:
                return None
            recording()
            self.engine.replays += 1
        return w

    def _step(self, buffers: Buffers, active: int) -> Run:
        """A function that takes one local step of the first ``active`` rows in the buffers."""
        fixed, w = buffers.work(self.work, active), buffers.w[:active]
        batches = buffers.batches(self.batches, active, 1)

        def run() -> None:
            gradient_at = LocalGradient(self.model, self.algorithm.objective, fixed, batches, active, 0)
            direction = self.algorithm.direction(fixed, w, gradient_at(w), gradient_at)
            stepper(self.setting)(w, direction, fixed.current_step_size, None)

        return run


def capture(run: Run, device: torch.device, pool: Any = None) -> Run:
    """Return ``run`` as a CUDA graph (on a CPU unchanged), after a rehearsal, or raise ``Untraceable``.

    The rehearsal runs ``run`` once, which also lets libraries initialise: that must not happen during a recording.
    """
    try:
        with Rehearsal():
            run()
    except Untraceable:
        raise
    except (TypeError, AttributeError, RuntimeError, ValueError) as error:  # a hook used something unreadable
        raise Untraceable(f"{type(error).__name__}: {error}") from error
    if device.type != "cuda":
        return run
    graph: Any = torch.cuda.CUDAGraph()
    torch.cuda.synchronize(device)
    try:
        with torch.cuda.graph(graph, pool=pool):
            run()
    except RuntimeError as error:  # out of memory too
        graph = None  # frees its memory
        torch.cuda.synchronize(device)
        torch.cuda.empty_cache()
        raise Untraceable(f"the device refused: {error}") from error
    replay: Run = graph.replay
    return replay
