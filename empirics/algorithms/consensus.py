"""FedCOG: clients generate data that complement their own and distil the server's model on them; alone or as a plug-in.

Inputs are ``(rows, samples, ...)`` and outputs have the model's ``class_axis``; nothing here knows which model it is.
Every row has the planned number of generated samples; those beyond its own number weigh nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from math import log
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from bounds.domains import COUNT, NONNEGATIVE, WHOLE
from bounds.fedcog import labels as whole

from ..errors import EmpiricsError
from ..federation.shuffles import orders
from ..models.model import Batch, Model
from ..models.networks.generator import Generator
from ..streams import stream
from .algorithm import Algorithm, method, on_fedavg, Rows, TaskLoss, Work
from .halves import adam, floating, generator, log_sum, over, Probable, probable

GENERATED, TEACHER, LOG_TEACHER = "generated", "teacher", "teacher's logarithms"
SHARES, ORDER, READY = "generated shares", "generated order", "generation done"
SHUFFLED = 0x67656E6572617465  # "generate": keeps these orders apart from those of the batches
LEAST, MOST, LOG_2 = 0.01, 0.99, log(2)
LOGS = log(LEAST), log(MOST)


# ---- what is optimised: the generated inputs themselves, or noise and a generator that makes images of it (A.4.2) ----

Picture = Callable[..., Tensor]


@dataclass(frozen=True)
class Pixels:
    """The inputs are the variables, from standard normal noise; ``shared``: the same for all clients."""

    shared: bool = False

    def __call__(self, work: Work, samples: int, shape: tuple[int, ...]) -> tuple[list[Tensor], Picture]:
        """The variables, with a row for every client, and what makes inputs ``(rows, samples, *shape)`` of them."""
        return [noise(work, self.shared, (samples, *shape))], lambda inputs: inputs


@dataclass(frozen=True)
class LearnedGenerator:
    """Every client's own generator, started afresh in every round, and its noise are the variables.

    Pixels are from 0 to 1, whatever the range of the client's own inputs, as in the released code.
    """

    shared: bool = False
    noise: int = 256
    maps: int = 64
    groups: int = 2

    def __call__(self, work: Work, samples: int, shape: tuple[int, ...]) -> tuple[list[Tensor], Picture]:
        """Noise ``(rows, samples, noise)``, parameters ``(rows, dim)`` and what makes inputs of them."""
        if len(shape) != 3 or shape[1] != shape[2]:
            raise EmpiricsError(f"fedcog's generator makes square images (channels, side, side); inputs are {shape}")
        made = generator(Generator(shape[0], shape[1], self.noise, self.maps, self.groups), work.starts.dtype)
        starts = [
            made.start(int(_stream(work, "image generator", k, self.shared).integers(2**62))) for k in work.clients
        ]
        drawn = noise(work, self.shared, (samples, self.noise))

        def pictures(z: Tensor, parameters: Tensor) -> Tensor:
            rows = range(len(z))
            return torch.cat([made.output(parameters[k : k + 1], z[k : k + 1]) for k in rows])

        return [drawn, torch.stack(starts).to(work.starts)], pictures


def noise(work: Work, shared: bool, shape: tuple[int, ...]) -> Tensor:
    """Standard normal numbers ``(rows, *shape)``, keyed by round and client (``shared``: the same for all)."""
    draws = [_stream(work, "generated inputs", k, shared).standard_normal(shape, dtype="float32") for k in work.clients]
    return torch.from_numpy(np.stack(draws)).to(work.starts)


def _stream(work: Work, purpose: str, client: int, shared: bool) -> np.random.Generator:
    return stream(work.seed, purpose, round=work.state.round, client=0 if shared else int(client))


# ---- generation and distillation ----


@dataclass(frozen=True)
class Generate:
    """Inputs that the server's model classifies as their target and on which it and the client's own model disagree.

    Eq. (1): from standard normal noise, ``steps`` Adam steps, on what the ``pictures`` are made of, down the mean of
    cross-entropy plus ``disagreement`` times ``1 - JS``, eq. (2), with natural logarithms. Target labels complement the
    client's classes (``uniform``: equally many of each), rounded so that ``samples`` are generated (``code`` floors); a
    client whose classes are equally frequent takes equally many of each. ``code`` also swaps the arguments of the
    divergences and clamps probabilities to [0.01, 0.99], as the release does.
    """

    samples: int = 256
    steps: int = 100
    disagreement: float = 0.1
    step_size: float = 1e-2
    targets: str = "complementary"
    pictures: Pixels | LearnedGenerator = field(default_factory=Pixels)
    reading: str = "intended"

    def __call__(self, net: Model, work: Work, shape: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
        """Generated inputs ``(rows, samples, *shape)``, their target labels and weights ``(rows, samples)``."""
        labels, shares = self.labels(work)
        variables, inputs = self.pictures(work, self.samples, shape)
        theirs, own = frozen(net, work.received.expand(len(work.rows), -1)), frozen(net, work.recall("last"))
        moments = [torch.zeros(2, *x.shape).to(x) for x in variables]
        for step in range(self.steps):
            with torch.enable_grad():
                points = [x.detach().requires_grad_() for x in variables]
                made = inputs(*points)
                loss = self.loss(net, theirs(made), own(made), labels, shares).sum()
                gradients = torch.autograd.grad(loss, points)
            for x, gradient, own_moments in zip(variables, gradients, moments, strict=True):
                adam(x, gradient, own_moments, step + 1, self.step_size, 0.5)
        with torch.no_grad():
            return inputs(*variables), labels, shares

    def loss(self, net: Model, theirs: Tensor, own: Tensor, labels: Tensor, shares: Tensor) -> Tensor:
        """Eq. (1) for every row ``(rows,)`` from the outputs of the server's and of the client's model."""
        task = F.cross_entropy(theirs.movedim(net.class_axis, 1), labels, reduction="none")
        return over(task, shares) + self.disagreement * (1 - self.apart(net, theirs, own, shares))

    def apart(self, net: Model, theirs: Tensor, own: Tensor, shares: Tensor) -> Tensor:
        """Jensen-Shannon divergence of the outputs, mean over samples ``(rows,)``."""
        one, other = probable(net, theirs), probable(net, own)
        if self.reading == "code":
            p, q = (Probable(x.p.clamp(LEAST, MOST), x.log.clamp(*LOGS)) for x in (one, other))
            middle = Probable((0.5 * (p.p + q.p)).clamp(LEAST, MOST), (log_sum(p.log, q.log) - LOG_2).clamp(*LOGS))
            swapped = 0.5 * (middle.divergence(p.log) + middle.divergence(q.log))
            return over(swapped, shares).clamp(0, 1)
        between = log_sum(one.log, other.log) - LOG_2
        return over(0.5 * (one.divergence(between) + other.divergence(between)), shares)

    def labels(self, work: Work) -> tuple[Tensor, Tensor]:
        """Target labels and what every sample weighs in a mean, ``(rows, samples)`` both."""
        assert work.labels is not None  # asked for by ``needs_labels``
        share = whole.floors if self.reading == "code" else whole.largest_remainder
        rows = []
        for counts in work.labels.tolist():
            lack = whole.complement(counts)
            if self.targets == "uniform" or not any(lack):
                lack = [1] * len(counts)
            rows.append([label for label, n in enumerate(share(lack, self.samples)) for _ in range(n)])
        padded = [row + [0] * (self.samples - len(row)) for row in rows]
        number = torch.tensor([[len(row)] for row in rows])
        real = (torch.arange(self.samples) < number).to(work.starts)
        return torch.tensor(padded).to(work.starts.device), real / real.sum(-1, keepdim=True).clamp(min=1)


def frozen(net: Model, w: Tensor) -> Callable[[Tensor], Tensor]:
    """The outputs of frozen models as a function of inputs."""
    return net.at(w[0]).output if len(w) == 1 and hasattr(net, "at") else partial(net.output, w)


@dataclass(frozen=True)
class Distil:
    """``base`` plus the distillation of the server's model on generated inputs, eq. (3), from round ``after`` on.

    Inputs are generated once a round, at the first step. ``weight`` None balances the two losses by how many samples
    the client has and lacks (A.2.2): ``N_real`` and ``N_lack`` over their sum. ``batch``: how many of the generated
    samples a step takes, in shuffled passes over them (None: all). ``supervision``: the server model's probabilities
    (``soft``), or cross-entropy to the target label or to the server model's prediction (Table 5, variant 3).
    """

    base: Any = field(default_factory=TaskLoss)
    generate: Generate = field(default_factory=Generate)
    weight: float | None = 0.01
    after: int = 0
    batch: int | None = None
    supervision: str = "soft"

    def __call__(self, net: Model, w: Tensor, batch: Batch, work: Work) -> Tensor:
        if READY not in work.recalled:
            self.prepare(net, batch, work)
        own: Tensor = self.base(net, w, batch, work)
        if GENERATED not in work.recalled:
            return own
        inputs, teacher, shares = self._now(work)
        apart = teacher.divergence(probable(net, net.output(w, inputs)).log)
        real, made = self.weights(work)
        return real * own + made * over(apart, shares)

    def prepare(self, net: Model, batch: Batch, work: Work) -> None:
        """Generate, in rounds that distil, and keep what is wanted on the inputs.

        Hard labels have the logarithm 0: cross-entropy to them.
        """
        if hasattr(self.base, "prepare"):
            self.base.prepare(net, batch, work)
        work.recalled[READY] = torch.zeros_like(work.weights)
        if work.state.round < self.after or self.weight == 0:
            return
        inputs, labels, shares = self.generate(net, work, tuple(floating(batch[0], "fedcog").shape[2:]))
        with torch.no_grad():
            teacher = probable(net, frozen(net, work.received.expand(len(work.rows), -1))(inputs))
        if self.supervision != "soft":
            labels = labels if self.supervision == "target" else teacher.p.argmax(-1)
            hard = F.one_hot(labels, teacher.p.shape[-1]).to(inputs)
            teacher = Probable(hard, torch.zeros_like(hard))
        work.recalled.update({GENERATED: inputs, TEACHER: teacher.p, LOG_TEACHER: teacher.log, SHARES: shares})
        if self.batch is not None and self.batch < self.generate.samples:
            work.recalled[ORDER] = self._order(work).to(work.starts.device)

    def _now(self, work: Work) -> tuple[Tensor, Probable, Tensor]:
        """The generated inputs of this step, what is wanted on them, and what they weigh."""
        inputs, p, logs, shares = (work.recalled[name] for name in (GENERATED, TEACHER, LOG_TEACHER, SHARES))
        if ORDER not in work.recalled:
            return inputs, Probable(p, logs), shares
        chosen = work.now(ORDER)
        rows = torch.arange(len(chosen), device=chosen.device).unsqueeze(-1)
        shares = shares[rows, chosen]
        weights = shares / shares.sum(-1, keepdim=True).clamp(min=1e-30)
        return inputs[rows, chosen], Probable(p[rows, chosen], logs[rows, chosen]), weights

    def _order(self, work: Work) -> Tensor:
        """Which generated samples every step takes ``(rows, steps, batch)``: whole batches of shuffled passes."""
        assert self.batch is not None
        sizes = (work.recalled[SHARES] > 0).sum(-1).clamp(min=1).cpu().numpy()
        most = len(work.sizes) * self.batch
        passes = orders(work.seed ^ SHUFFLED, work.state.round, work.clients, sizes, -(-most // int(sizes.min())))
        rows = [order[:, :size].ravel()[:most] for order, size in zip(passes, sizes, strict=True)]
        return torch.from_numpy(np.stack(rows)).view(len(rows), -1, self.batch)

    def weights(self, work: Work) -> tuple[Tensor | float, Tensor | float]:
        """What the client's own loss and the distillation weigh."""
        if self.weight is not None:
            return 1.0, self.weight
        counts = work.labels
        assert counts is not None  # asked for by ``needs_labels``
        have = counts.sum(-1).to(work.starts.dtype)
        balanced = (counts.amax(-1) * counts.shape[-1]).to(work.starts.dtype)
        return have / balanced, (balanced - have) / balanced


@method(
    disagreement=NONNEGATIVE,
    distillation=NONNEGATIVE,
    samples=COUNT,
    steps=WHOLE,
    after=WHOLE,
    batch=COUNT,
    targets=("complementary", "uniform"),
    supervision=("soft", "target", "predicted"),
    shared=bool,
    generator=bool,
    reading=("intended", "code"),
)
def with_consensus_data(
    algorithm: Algorithm,
    disagreement: float = 0.1,
    distillation: float | None = 0.01,
    samples: int = 256,
    steps: int = 100,
    after: int = 0,
    batch: int | None = None,
    targets: str = "complementary",
    supervision: str = "soft",
    shared: bool = False,
    generator: bool = False,
    reading: str = "intended",
) -> Algorithm:
    """``algorithm`` whose clients also distil on generated data from round ``after`` on (FedCOG, Table 3).

    Its start, correction, server step and messages stay. ``distillation=None`` takes the hyper-parameter-free weights.
    A client that has never trained disagrees with the first model only in rounds after its first. Table 5: ``steps=0``
    takes noise as it is (variant 1), ``disagreement=0`` the server's model alone (2), ``supervision`` hard labels (3).
    The release takes ``batch`` 64 of the generated samples a step, where eq. (3) takes all. ``shared``: all clients
    start from the same noise, as the theorem supposes. ``generator`` learns a network from noise to images, and the
    noise, instead of the pixels (A.4.2); the network is thrown away after the round.
    """
    pictures = LearnedGenerator(shared) if generator else Pixels(shared)
    generate = Generate(samples, steps, disagreement, targets=targets, pictures=pictures, reading=reading)
    keepers = algorithm.remember if Rows("last") in algorithm.remember else (*algorithm.remember, Rows("last"))
    return replace(
        algorithm,
        objective=Distil(algorithm.objective, generate, distillation, after, batch, supervision),
        remember=keepers,
        needs_labels=True,
        reading=reading,
    )


ABOUT = "FedCOG, Algorithm 1: FedAvg, from round ``after`` on with generation and distillation (Section 6: after 50)."
fedcog = on_fedavg("fedcog", with_consensus_data, ABOUT, after=50)
