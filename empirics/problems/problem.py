"""A federated problem: a model, a federation to train it on, and the constants that theorems need.

The attributes have the names that the assumptions of ``bounds.assumptions`` read; None means unknown. Constants of
linear models hold at every model; those of networks must be estimated (``empirics.measuring.constants``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bounds.dissimilarity import convex_pair, excess, split_for

from ..errors import EmpiricsError
from ..federation.federation import Federation
from ..models.compiled import compiled, NotServed
from ..models.linear import LeastSquares, Linear, minimisers
from ..models.model import Model
from ..numbers import must
from ..training.setting import WEIGHTS
from . import evaluation
from .evaluation import Samples
from .quadratics import Quadratics

MOST_COORDINATES = 1500
"""Largest dimension for which dense Hessians of all clients are computed."""
LEAST_EXCESS = 1e-6
"""Smallest excess of B^2 over 1, so that the corresponding G^2 does not depend on rounding."""


@dataclass(frozen=True, eq=False)
class Population:
    """A pool ``inputs (points, ...)``, ``targets``, from which client k draws with probabilities ``shares[k]``."""

    inputs: Tensor
    targets: Tensor
    shares: Tensor

    def risks(self, model: Model, rows: Tensor) -> Tensor:
        """Return the exact risk of every row under every client's distribution ``(rows, clients)``."""
        x, y = self.inputs.unsqueeze(0), self.targets.unsqueeze(0)
        parts = rows.split(8 if model.stacked else 1)
        return torch.cat([model.evaluate(part, x, y)[0].double() @ self.shares.T for part in parts])


@dataclass(frozen=True, eq=False)
class FederatedProblem:
    """``model`` trained on ``federation``; the global loss weights clients equally or by their numbers of samples.

    ``test`` is the common test set (its clients do not matter), ``local_test`` holds test samples of the same clients
    as ``federation``; ``population`` makes population risks exact. ``independent_samples`` says whether every client's
    samples are independent draws from its distribution (None: unknown).
    """

    model: Model
    federation: Federation
    test: Federation | None = None
    local_test: Federation | None = None
    population: Population | None = None
    client_weight: str = "uniform"
    name: str = "problem"
    independent_samples: bool | None = None

    nonnegative_loss = True
    lower_bound = 0.0

    def __post_init__(self) -> None:
        must(self.client_weight in WEIGHTS, "client_weight", f"one of {', '.join(WEIGHTS)}", self.client_weight)
        tested = self.clients if self.local_test is None else self.local_test.clients
        must(tested == self.clients, "clients of local_test", f"the {self.clients} of the federation", tested)

    def __str__(self) -> str:
        return self.name

    # ---- the federation ----

    @property
    def clients(self) -> int:
        return self.federation.clients

    @property
    def client_sizes(self) -> tuple[int, ...]:
        return tuple(int(n) for n in self.federation.client_sizes)

    @cached_property
    def weights(self) -> Tensor:
        """The clients' weights in the global loss ``(clients,)``, of sum 1."""
        if self.client_weight == "uniform":
            return torch.full((self.clients,), 1 / self.clients, dtype=torch.float64, device=self.device)
        sizes = torch.from_numpy(np.ascontiguousarray(self.federation.client_sizes)).double().to(self.device)
        return sizes / sizes.sum()

    @cached_property
    def samples(self) -> Samples:
        return Samples(self.federation)

    @cached_property
    def tests(self) -> Samples | None:
        """The common test set or, if there is none, the test samples of all clients."""
        tests = self.test if self.test is not None else self.local_test
        return None if tests is None else Samples(tests)

    @cached_property
    def own_tests(self) -> Samples | None:
        return None if self.local_test is None else Samples(self.local_test)

    @property
    def device(self) -> torch.device:
        """The device of the clients' samples, on which runs compute."""
        return self.federation.members.device

    def compiled(self) -> FederatedProblem:
        """Return the problem with compiled passes; raise ``NotServed`` if its model cannot be compiled."""
        if self.device.type != "cpu":
            raise NotServed(f"it lies on {self.device}")
        return replace(self, model=compiled(self.model))

    def to(self, device: torch.device | str) -> FederatedProblem:
        """Return the problem with training and test samples on ``device``; the population is not moved."""
        test, local = (part and part.to(device) for part in (self.test, self.local_test))
        return replace(self, federation=self.federation.to(device), test=test, local_test=local)

    def replacing(self, client: int, places: np.ndarray, inputs: Tensor, targets: Tensor) -> FederatedProblem:
        """Return the problem with the samples ``places`` of a client replaced; batches keep their order."""
        federation = self.federation
        members, first = federation.members.clone(), int(federation.offsets[client])
        members[first + torch.as_tensor(places)] = len(federation.inputs) + torch.arange(len(places))
        inputs = torch.cat([federation.inputs, inputs.to(federation.inputs.dtype)])
        targets = torch.cat([federation.targets, targets])
        return replace(self, federation=replace(federation, inputs=inputs, targets=targets, members=members))

    # ---- losses and gradients ----

    def client_losses(self, w: Tensor) -> Tensor:
        """Return every client's training loss at one model ``(clients,)``."""
        return evaluation.one_model(self.model, w, self.samples).loss

    def loss(self, w: Tensor) -> float:
        """Return the global training loss."""
        return float(self.weights @ self.client_losses(w))

    def client_gradients(self, w: Tensor) -> Tensor:
        """Return the gradient of every client's training loss ``(clients, dim)``."""
        return evaluation.client_gradients(self.model, w, self.samples)

    def gradients(self, rows: Tensor) -> Tensor:
        """Return the gradient of the global loss at every row ``(rows, dim)``."""
        return evaluation.gradient(self.model, rows, self.samples, self.weights)

    # ---- minimisers ----

    @property
    def convex(self) -> bool:
        return isinstance(self.model, Linear)

    @cached_property
    def _exact(self) -> Linear:
        if not isinstance(self.model, Linear):
            raise EmpiricsError(f"{self.name}: minimisers are only computed for linear models")
        return replace(self.model, dtype=torch.float64)

    @cached_property
    def minimiser(self) -> Tensor:
        """The minimiser of the global loss, to gradient norm 1e-10, in float64 ``(dim,)``."""
        _, x, y = next(self.samples.chunks(evaluation.WHOLE))
        weight = (self.samples.share * self.weights[self.samples.owner]).unsqueeze(0)
        return minimisers(self._exact, x.double(), y, weight)[0]

    @cached_property
    def local_minimisers(self) -> Tensor:
        """The minimiser of every client's loss, to gradient norm 1e-10, in float64 ``(clients, dim)``."""
        return torch.cat([minimisers(self._exact, *batch, int(group[0])) for group, batch in self._full_batches()])

    @cached_property
    def optimal_loss(self) -> float:
        """The smallest global loss."""
        return float(self.weights @ self._at_minimum(self.minimiser.expand(self.clients, -1)))

    @property
    def smallest_loss(self) -> float:
        """The smallest global loss, or a lower bound where it is unknown."""
        return self.optimal_loss if self.convex else self.lower_bound

    @cached_property
    def local_optimal_losses(self) -> Tensor:
        """Every client's smallest loss ``(clients,)``."""
        return self._at_minimum(self.local_minimisers)

    def _at_minimum(self, rows: Tensor) -> Tensor:
        batches = self._full_batches()
        return torch.cat([self._exact.task_loss(rows[group].contiguous(), batch) for group, batch in batches])

    def _full_batches(self) -> Iterator[tuple[np.ndarray, tuple[Tensor, Tensor, Tensor]]]:
        """Yield groups of clients with all their samples as a batch in double precision."""
        for group in evaluation.client_groups(self.model, self.samples, np.arange(self.clients)):
            x, y, weight = self.samples.full_batches(group)
            yield group, (x.double(), y, weight.double())

    # ---- constants that hold at every model; None where unknown ----

    @property
    def smoothness(self) -> float | None:
        """An L for which every client's training loss is L-smooth, as theorems on convergence assume."""
        return None if self.client_smoothness is None else float(self.client_smoothness.max())

    @cached_property
    def sample_smoothness(self) -> float | None:
        """Smallest L for which the loss of every training (and population) sample is L-smooth."""
        if not self.convex:
            return None
        constants = [self._exact.smoothness(x[0].double()) for _, x, _ in self.samples.chunks(1 << 16)]
        if self.population is not None:
            constants.append(self._exact.smoothness(self.population.inputs.double()))
        return max(constants)

    @cached_property
    def client_smoothness(self) -> Tensor | None:
        """An L for the training loss of each client ``(clients,)``; exact for least squares.

        The Hessian is the mean of Kronecker products of ``x_i x_i^T`` and second derivatives in the outputs, which are
        at most ``curvature``, plus the penalty.
        """
        if not self.convex:
            return None
        largest = []
        for k in range(self.clients):
            x = self.samples.of(k)[0].double()
            gram = x @ x.T if len(x) < x.shape[1] else x.T @ x
            largest.append(torch.linalg.eigvalsh(gram)[-1] / len(x))
        return self._exact.curvature * torch.stack(largest) + self._exact.regularisation

    @property
    def strong_convexity(self) -> float | None:
        """The mu of every sample's loss."""
        return self._exact.strong_convexity if self.convex else None

    pl_constant = strong_convexity

    @cached_property
    def heterogeneity(self) -> float | None:
        """Gamma: the smallest global loss minus the weighted mean of the smallest client losses."""
        return self.optimal_loss - float(self.weights @ self.local_optimal_losses) if self.convex else None

    @cached_property
    def lipschitz(self) -> float | None:
        """Lipschitz constant of a sample's loss over all models; infinite with a penalty or an unbounded slope."""
        if not self.convex:
            return None
        if self._exact.regularisation or not math.isfinite(self._exact.slope):
            return math.inf
        return self._exact.slope * max(float(x.double().norm(dim=-1).max()) for _, x, _ in self.samples.chunks(1 << 16))

    @property
    def loss_cap(self) -> float | None:
        """Supremum of a sample's loss over all models: infinite for linear models."""
        return math.inf if self.convex else None

    @cached_property
    def gradient_variance(self) -> float | None:
        """A bound, at every model, on the variance of a single sample's gradient on any client."""
        return float(self.client_gradient_variance.max()) if self.client_gradient_variance is not None else None

    @cached_property
    def client_gradient_variance(self) -> Tensor | None:
        """As ``gradient_variance`` for each client ``(clients,)``; infinite for losses of unbounded slope.

        A variance is at most the mean square, here ``slope^2 mean ||x||^2`` (the penalty is constant).
        """
        if not self.convex:
            return None
        squares = torch.cat([(x[0].double() ** 2).sum(-1) for _, x, _ in self.samples.chunks(1 << 16)])
        return self._exact.slope**2 * self.samples.client_means(squares)

    @cached_property
    def quadratics(self) -> Quadratics | None:
        """The clients' losses as quadratics, for least squares of up to ``MOST_COORDINATES`` dimensions."""
        if not isinstance(self.model, LeastSquares) or self.model.dim > MOST_COORDINATES:
            return None
        exact: dict[str, Any] = {"dtype": torch.float64, "device": self.device}
        eye = torch.eye(self.model.outputs, **exact)
        curvatures = []
        for k in range(self.clients):
            x = self.samples.of(k)[0].double()
            single = x.T @ x / len(x) + self._exact.regularisation * torch.eye(x.shape[1], **exact)
            curvatures.append(torch.kron(eye, single))
        return Quadratics(
            curvatures=torch.stack(curvatures).cpu().numpy(),
            minima=self.local_minimisers.cpu().numpy(),
            weights=self.weights.cpu().numpy(),
            floors=self.local_optimal_losses.cpu().numpy(),
        )

    # ---- gradient dissimilarity: sum_k p_k ||grad F_k||^2 <= G^2 + B^2 ||grad F||^2 at every model ----

    @cached_property
    def optimum_dissimilarity(self) -> float | None:
        """``sum_k p_k ||grad F_k(w*)||^2`` at the minimiser of the global loss: a lower bound on G^2."""
        if not self.convex:
            return None
        exact = replace(self, model=self._exact)
        return float(self.weights @ (exact.client_gradients(self.minimiser) ** 2).sum(-1))

    def dissimilarity_offset_for(self, factor: float) -> float | None:
        """Return a valid ``G^2`` for ``B^2 = factor``, or infinity if none is known.

        For quadratics it is the smallest, else that for smooth and strongly convex clients (``bounds.dissimilarity``).
        """
        if self.quadratics is not None:
            return self.quadratics.dissimilarity_offset_for(factor)
        if self._curvatures is None or self.optimum_dissimilarity is None:
            return None
        if not excess(*self._curvatures):
            return self.optimum_dissimilarity if factor >= 1 else math.inf
        split = split_for(factor, *self._curvatures)
        return convex_pair(self.optimum_dissimilarity, *self._curvatures, split)[0] if split > 0 else math.inf

    @cached_property
    def _curvatures(self) -> tuple[float, float] | None:
        """(L, mu) of the clients, or None if mu is 0 or unknown, or G^2 and B^2 would overflow."""
        L, mu = self.smoothness, self.strong_convexity
        return (L, mu) if L is not None and mu and math.isfinite(excess(L, mu)) else None

    @cached_property
    def dissimilarity_factor(self) -> float | None:
        """The B^2 of ``dissimilarity_offset``: that of ``quadratics``, else for s = 1 in ``bounds.dissimilarity``."""
        if self.quadratics is not None:
            return self.quadratics.dissimilarity_factor
        return None if self._curvatures is None else 1 + 2 * max(excess(*self._curvatures), LEAST_EXCESS)

    @cached_property
    def dissimilarity_offset(self) -> float | None:
        """A G^2 that is valid with ``dissimilarity_factor`` at every model."""
        factor = self.dissimilarity_factor
        return None if factor is None else self.dissimilarity_offset_for(factor)
