"""FedCOG: clients generate data that complement their own and distil the server's model on them; alone or as a plug-in.

Inputs are ``(rows, samples, ...)``; outputs have the model's ``class_axis``, so that any model can be used. Every row
has the same number of generated samples; those beyond the client's own number have weight 0.
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
from bounds.fedcog import labels as target_counts

from ..errors import EmpiricsError
from ..federation.shuffles import orders
from ..models.model import Batch, Model
from ..models.networks.generator import Generator
from ..streams import stream
from .algorithm import Algorithm, method, on_fedavg, Rows, TaskLoss, Work
from .network_methods import adam, batch_mean, class_probabilities, generator, log_sum, Probabilities, real_inputs

GENERATED, TEACHER, LOG_TEACHER = "generated", "teacher", "teacher's logarithms"
SHARES, ORDER, READY = "generated shares", "generated order", "generation done"
"""Names of tensors in ``Work.recalled``."""
ORDER_SALT = 0x67656E6572617465  # "generate": keeps these orders apart from those of the batches
P_MIN, P_MAX, LOG_2 = 0.01, 0.99, log(2)
LOG_RANGE = log(P_MIN), log(P_MAX)


# ---- optimisation variables: the generated inputs themselves, or noise and a generator of images from it (A.4.2) ----

ToInputs = Callable[..., Tensor]
"""Function from the optimisation variables to inputs ``(rows, samples, *shape)``."""


@dataclass(frozen=True)
class Pixels:
    """The variables are the inputs, initialised with standard normal noise, the same for all clients if ``shared``."""

    shared: bool = False

    def __call__(self, work: Work, samples: int, shape: tuple[int, ...]) -> tuple[list[Tensor], ToInputs]:
        """Return the variables, each with one row per client, and the function from them to inputs."""
        return [noise(work, self.shared, (samples, *shape))], lambda inputs: inputs


@dataclass(frozen=True)
class LearnedGenerator:
    """The variables are the noise and the parameters of one generator per client, initialised anew in every round.

    Pixels are between 0 and 1 whatever the range of the client's own inputs, as in the released code.
    """

    shared: bool = False
    noise: int = 256
    maps: int = 64
    groups: int = 2

    def __call__(self, work: Work, samples: int, shape: tuple[int, ...]) -> tuple[list[Tensor], ToInputs]:
        """Return noise ``(rows, samples, noise)``, parameters ``(rows, dim)`` and the function from them to inputs."""
        if len(shape) != 3 or shape[1] != shape[2]:
            raise EmpiricsError(f"fedcog's generator makes square images (channels, side, side); inputs are {shape}")
        network = generator(Generator(shape[0], shape[1], self.noise, self.maps, self.groups), work.starts.dtype)
        seeds = [int(_stream(work, "image generator", k, self.shared).integers(2**62)) for k in work.clients]
        starts = torch.stack([network.start(seed) for seed in seeds]).to(work.starts)

        def images(z: Tensor, parameters: Tensor) -> Tensor:
            return torch.cat([network.output(parameters[k : k + 1], z[k : k + 1]) for k in range(len(z))])

        return [noise(work, self.shared, (samples, self.noise)), starts], images


def noise(work: Work, shared: bool, shape: tuple[int, ...]) -> Tensor:
    """Return standard normal numbers ``(rows, *shape)`` drawn by round and client, or by round only if ``shared``."""
    draws = [_stream(work, "generated inputs", k, shared).standard_normal(shape, dtype="float32") for k in work.clients]
    return torch.from_numpy(np.stack(draws)).to(work.starts)


def _stream(work: Work, purpose: str, client: int, shared: bool) -> np.random.Generator:
    return stream(work.seed, purpose, round=work.state.round, client=0 if shared else int(client))


# ---- generation and distillation ----


@dataclass(frozen=True)
class Generate:
    """Generates inputs that the server's model classifies as their target while the client's own model disagrees.

    Eq. (1): from standard normal noise, ``steps`` Adam steps on the variables minimise the mean of cross-entropy plus
    ``disagreement`` times ``1 - JS``, eq. (2), with natural logarithms. Target labels complement the client's classes
    (``uniform``: equally many of each class), rounded so that ``samples`` are generated. A client whose classes are
    equally frequent uses equally many of each. The reading ``code`` rounds down, swaps the arguments of the divergences
    and clamps probabilities to [0.01, 0.99], as the released code does.
    """

    samples: int = 256
    steps: int = 100
    disagreement: float = 0.1
    step_size: float = 1e-2
    targets: str = "complementary"
    variables: Pixels | LearnedGenerator = field(default_factory=Pixels)
    reading: str = "intended"

    def __call__(self, net: Model, work: Work, shape: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
        """Return generated inputs ``(rows, samples, *shape)``, their target labels and weights ``(rows, samples)``."""
        labels, shares = self.labels(work)
        variables, to_inputs = self.variables(work, self.samples, shape)
        server_output = frozen_output(net, work.received.expand(len(work.client_index), -1))
        client_output = frozen_output(net, work.recall("last"))
        moments = [torch.zeros(2, *x.shape).to(x) for x in variables]
        for step in range(self.steps):
            with torch.enable_grad():
                points = [x.detach().requires_grad_() for x in variables]
                inputs = to_inputs(*points)
                loss = self.loss(net, server_output(inputs), client_output(inputs), labels, shares).sum()
                gradients = torch.autograd.grad(loss, points)
            for x, gradient, x_moments in zip(variables, gradients, moments, strict=True):
                adam(x, gradient, x_moments, step + 1, self.step_size, 0.5)
        with torch.no_grad():
            return to_inputs(*variables), labels, shares

    def loss(self, net: Model, server: Tensor, client: Tensor, labels: Tensor, shares: Tensor) -> Tensor:
        """Return eq. (1) for every row ``(rows,)``, from the outputs of the server's and of the client's model."""
        task = F.cross_entropy(server.movedim(net.class_axis, 1), labels, reduction="none")
        return batch_mean(task, shares) + self.disagreement * (1 - self.divergence(net, server, client, shares))

    def divergence(self, net: Model, server: Tensor, client: Tensor, shares: Tensor) -> Tensor:
        """Return the Jensen-Shannon divergence of two outputs, mean over samples ``(rows,)``."""
        p, q = class_probabilities(net, server), class_probabilities(net, client)
        if self.reading == "code":
            p, q = (Probabilities(x.p.clamp(P_MIN, P_MAX), x.log.clamp(*LOG_RANGE)) for x in (p, q))
            log_mean = (log_sum(p.log, q.log) - LOG_2).clamp(*LOG_RANGE)
            mean = Probabilities((0.5 * (p.p + q.p)).clamp(P_MIN, P_MAX), log_mean)
            swapped = 0.5 * (mean.divergence(p.log) + mean.divergence(q.log))
            return batch_mean(swapped, shares).clamp(0, 1)
        log_mean = log_sum(p.log, q.log) - LOG_2
        return batch_mean(0.5 * (p.divergence(log_mean) + q.divergence(log_mean)), shares)

    def labels(self, work: Work) -> tuple[Tensor, Tensor]:
        """Return target labels and the weight of every sample in a mean, both ``(rows, samples)``."""
        assert work.labels is not None  # the algorithm has ``needs_labels``
        share = target_counts.floors if self.reading == "code" else target_counts.largest_remainder
        rows = []
        for counts in work.labels.tolist():
            lack = target_counts.complement(counts)
            if self.targets == "uniform" or not any(lack):
                lack = [1] * len(counts)
            rows.append([label for label, n in enumerate(share(lack, self.samples)) for _ in range(n)])
        padded = [row + [0] * (self.samples - len(row)) for row in rows]
        sizes = torch.tensor([[len(row)] for row in rows])
        real = (torch.arange(self.samples) < sizes).to(work.starts)
        return torch.tensor(padded).to(work.starts.device), real / real.sum(-1, keepdim=True).clamp(min=1)


def frozen_output(net: Model, w: Tensor) -> Callable[[Tensor], Tensor]:
    """Return the outputs of frozen models as a function of inputs."""
    return net.at(w[0]).output if len(w) == 1 and hasattr(net, "at") else partial(net.output, w)


@dataclass(frozen=True)
class Distil:
    """Objective ``base`` plus distillation of the server's model on generated inputs, eq. (3), from round ``after`` on.

    Inputs are generated once per round, before the first step. ``weight`` None balances the two losses by the numbers
    of samples that the client has and lacks (A.2.2): ``N_real`` and ``N_lack`` divided by their sum. ``batch`` is the
    number of generated samples per step, in shuffled passes over them (None: all). ``supervision`` is ``soft`` for the
    server model's probabilities, or cross-entropy to the ``target`` label or to the server model's ``predicted`` label
    (Table 5, variant 3).
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
        base_loss: Tensor = self.base(net, w, batch, work)
        if GENERATED not in work.recalled:
            return base_loss
        inputs, teacher, shares = self._step_samples(work)
        divergence = teacher.divergence(class_probabilities(net, net.output(w, inputs)).log)
        base_weight, distillation_weight = self.weights(work)
        return base_weight * base_loss + distillation_weight * batch_mean(divergence, shares)

    def prepare(self, net: Model, batch: Batch, work: Work) -> None:
        """Generate inputs in rounds that distil, and store them with the teacher's probabilities on them.

        The logarithms of hard labels are stored as 0, so that the divergence is the cross-entropy.
        """
        if hasattr(self.base, "prepare"):
            self.base.prepare(net, batch, work)
        work.recalled[READY] = torch.zeros_like(work.weights)
        if work.state.round < self.after or self.weight == 0:
            return
        inputs, labels, shares = self.generate(net, work, tuple(real_inputs(batch[0], "fedcog").shape[2:]))
        with torch.no_grad():
            server_output = frozen_output(net, work.received.expand(len(work.client_index), -1))
            teacher = class_probabilities(net, server_output(inputs))
        if self.supervision != "soft":
            labels = labels if self.supervision == "target" else teacher.p.argmax(-1)
            hard = F.one_hot(labels, teacher.p.shape[-1]).to(inputs)
            teacher = Probabilities(hard, torch.zeros_like(hard))
        work.recalled.update({GENERATED: inputs, TEACHER: teacher.p, LOG_TEACHER: teacher.log, SHARES: shares})
        if self.batch is not None and self.batch < self.generate.samples:
            work.recalled[ORDER] = self._order(work).to(work.starts.device)

    def _step_samples(self, work: Work) -> tuple[Tensor, Probabilities, Tensor]:
        """Return the generated inputs of the current step, the teacher's probabilities on them, and their weights."""
        inputs, p, logs, shares = (work.recalled[name] for name in (GENERATED, TEACHER, LOG_TEACHER, SHARES))
        if ORDER not in work.recalled:
            return inputs, Probabilities(p, logs), shares
        order = work.now(ORDER)
        rows = torch.arange(len(order), device=order.device).unsqueeze(-1)
        shares = shares[rows, order]
        weights = shares / shares.sum(-1, keepdim=True).clamp(min=1e-30)
        return inputs[rows, order], Probabilities(p[rows, order], logs[rows, order]), weights

    def _order(self, work: Work) -> Tensor:
        """Return the generated samples that each step uses ``(rows, steps, batch)``, in shuffled passes over them."""
        assert self.batch is not None
        sizes = (work.recalled[SHARES] > 0).sum(-1).clamp(min=1).cpu().numpy()
        needed = len(work.step_sizes) * self.batch
        passes = orders(work.seed ^ ORDER_SALT, work.state.round, work.clients, sizes, -(-needed // int(sizes.min())))
        rows = [order[:, :size].ravel()[:needed] for order, size in zip(passes, sizes, strict=True)]
        return torch.from_numpy(np.stack(rows)).view(len(rows), -1, self.batch)

    def weights(self, work: Work) -> tuple[Tensor | float, Tensor | float]:
        """Return the weights of the base objective and of the distillation."""
        if self.weight is not None:
            return 1.0, self.weight
        counts = work.labels
        assert counts is not None  # the algorithm has ``needs_labels``
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

    Start, correction, server step and messages of ``algorithm`` are kept. ``distillation=None`` uses weights without
    hyper-parameters. The model that a client disagrees with is its last local model, or the initial model before its
    first round. Variants of Table 5: ``steps=0`` uses pure noise (1), ``disagreement=0`` only the server's model (2),
    ``supervision`` other than ``soft`` hard labels (3). The released code uses ``batch=64`` generated samples per step,
    eq. (3) all of them. With ``shared`` all clients start from the same noise, as the theorem assumes. With
    ``generator`` the variables are the noise and a network from noise to images instead of the pixels (A.4.2); the
    network is discarded after the round.
    """
    variables = LearnedGenerator(shared) if generator else Pixels(shared)
    generate = Generate(samples, steps, disagreement, targets=targets, variables=variables, reading=reading)
    last = Rows("last")
    return replace(
        algorithm,
        objective=Distil(algorithm.objective, generate, distillation, after, batch, supervision),
        remember=algorithm.remember if last in algorithm.remember else (*algorithm.remember, last),
        needs_labels=True,
        reading=reading,
    )


ABOUT = "FedCOG, Algorithm 1: FedAvg, from round ``after`` on with generation and distillation (Section 6: after 50)."
fedcog = on_fedavg("fedcog", with_consensus_data, ABOUT, after=50)
