"""Exact moments of averaged SGD (FedAvg) on quadratics whose clients may all differ, for many step sizes at once.

A client's round maps its start affinely by powers of ``1 - eta A_k``, and the server's second moment depends on the
cohort only through the second moments of the clients' weights. So 40 different clients of which 10 take part need no
list of their C(40, 10) cohorts. ``exact_run`` handles any linear method, one plan at a time.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice
from typing import Any, NamedTuple

import numpy as np

from ..errors import EmpiricsError
from ..problems.quadratics import Quadratics
from .draws import draw
from .rounds import all_states

Array = np.ndarray[Any, Any]
Plan = tuple[int, float]
"""The local steps and the step size of a round."""
AT_ONCE = 1 << 21
"""Maximum size of the clients' maps for step sizes that are computed together."""
ROUNDS = 16
"""Number of rounds whose quantities are computed together."""
FLAT = 64
"""Maximum size of a second moment for which rounds are computed by doubling, with a round's map as a matrix."""
WORDS = ("optimality_gap", "grad_norm_sq", "distance_sq")


class Passes(NamedTuple):
    """Minibatches of ``batch`` samples cut from shuffled passes over each client's ``samples (C,)``, anew every round.

    The problem's noise is then that of a single random sample. The last batch of a pass may be smaller.
    """

    samples: Array
    batch: int

    def of(self, client: int, steps: int) -> tuple[Array, Array]:
        """The variance of each step's batch plus ``1/(n - 1)`` ``(steps,)``, and the steps that begin passes.

        With n samples, two batches of a pass have covariance ``-1/(n - 1)``, and a batch of b has variance
        ``(n - b)/(b (n - 1)) = n/(b (n - 1)) - 1/(n - 1)``.
        """
        size = int(self.samples[client])
        batches = -(-size // self.batch)
        is_last = np.arange(steps) % batches == batches - 1
        batch_sizes = np.where(is_last, size - (batches - 1) * self.batch, self.batch)
        return size / (batch_sizes * max(size - 1, 1)), np.arange(0, steps, batches)


class _Round(NamedTuple):
    """A round for P step sizes, acting on u, the server model less the minimiser.

    A client returns ``maps (P, C, d, d) u + shifts (P, C, d)`` plus noise; ``noise (P, d, d)`` is the covariance of the
    average's noise.
    """

    maps: Array
    shifts: Array
    noise: Array


class _LocalModels(NamedTuple):
    """The clients' models within a round: maps of (u, 1) ``(C, d, d + 1)``, and the covariances of their noise."""

    maps: Array
    noise: Array


class _Form(NamedTuple):
    """A quantity ``<matrix, S> + constant`` of the second moment S of (u, 1); or several, whose largest is taken."""

    matrix: Array
    constant: Any = 0.0


@dataclass(frozen=True, eq=False)
class AveragingRun:
    """The expected quantities of one plan by name, as in the protocol ``Moments``."""

    server: Mapping[str, Array]
    rounds: Mapping[str, Array]
    along: Mapping[str, Array]

    def iterations(self, name: str) -> Array:
        """A quantity at the average of all clients before every local step, and at the last server model."""
        return self.along[name]


@dataclass(frozen=True, eq=False)
class Averaging:
    """Exact moments of FedAvg on ``problem`` with ``cohort`` clients a round.

    ``passes`` describes minibatches without replacement (None: independent samples). All ways to draw a cohort are
    supported for clients of equal weight; otherwise all must take part in every round or be drawn with replacement.

    >>> from empirics.problems.quadratics import random_quadratics
    >>> runs = Averaging(random_quadratics(3, clients=40, dim=2, noise=0.3), cohort=10)
    >>> expected = runs.readings(local_steps=4, step_sizes=np.array([0.05, 0.1]), rounds=30)
    >>> expected["optimality_gap"].shape
    (31, 2)
    """

    problem: Quadratics
    cohort: int
    sampling: str = "without_replacement"
    passes: Passes | None = None

    def __post_init__(self) -> None:
        weights = self.problem.weights
        some = self.sampling == "bernoulli" or (self.sampling != "with_replacement" and self.cohort < len(weights))
        if some and np.ptp(weights) > 1e-12:
            raise EmpiricsError(
                "clients of different weights need all clients in every round, or sampling with replacement; "
                f"got {self.cohort} of {len(weights)} {self.sampling.replace('_', ' ')}"
            )
        _ = self._weights  # raises if the cohort is larger than the number of clients

    def readings(self, local_steps: int, step_sizes: Array, rounds: int) -> dict[str, Array]:
        """Return the expected ``optimality_gap``, ``grad_norm_sq`` and ``distance_sq`` ``(rounds + 1, step sizes)``.

        They are at the server model before the first round and after every round, and infinite after an overflow.
        """
        sizes = np.atleast_1d(np.asarray(step_sizes, dtype=float))
        together, parts = self.together(local_steps), []
        with np.errstate(over="ignore", invalid="ignore"):
            for begin in range(0, len(sizes), together):
                one = self._round(local_steps, sizes[begin : begin + together])
                states = islice((self._diagonal if self._excess is None else self._states)(one), rounds + 1)
                blocks = []
                while block := list(islice(states, ROUNDS)):
                    blocks.append(_quantities(block[0][0], np.stack([moment for _, moment in block])))
                parts.append(np.concatenate(blocks, axis=1))
        values = np.concatenate(parts, axis=-1)  # (quantities, rounds + 1, step sizes)
        values = np.where(np.isfinite(values), values, np.inf)
        return dict(zip(WORDS, values, strict=True))

    def together(self, local_steps: int) -> int:
        """The number of step sizes whose maps are computed together."""
        return max(1, AT_ONCE // (self.problem.clients * self.problem.dim * max(self.problem.dim, local_steps)))

    def run(self, local_steps: int, step_size: float, rounds: int) -> AveragingRun:
        """Return the quantities of one plan at the server, at the clients' average, and the largest gradients.

        ``divergence`` is available only if all clients take part, as the last cohort is not recorded.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            models = [self._local_models(j, step_size) for j in range(local_steps + 1)]
            forms = [form for each in models[:-1] for form in self._average_forms(each)]
            divergence = [] if self._excess is not None else [self._divergence(models[-1])]
            squares = [self._gradient_squares(each) for each in models[:-1]]
            values = self._evaluate([*forms, *divergence, *squares], local_steps, step_size, rounds)
        # Before the first step the average is the server's.
        server = dict(zip(WORDS, values[: len(WORDS)], strict=True))
        average = values[: len(forms)].reshape(local_steps, len(WORDS), rounds + 1)[..., :-1]
        along = {}
        for i, word in enumerate(WORDS):  # ordered by round, then by step
            along[word] = np.append(average[:, i].T.ravel(), server[word][-1])
        if divergence:
            server["divergence"] = np.append(0.0, values[len(forms)][:-1])
        caps = values[len(forms) + len(divergence) :, :-1].max(0)
        return AveragingRun(server, {"grad_cap_sq": caps}, along)

    # ---- the draw ----

    @cached_property
    def _weights(self) -> tuple[Array, Array]:
        """Mean ``(C,)`` and second moments ``(C, C)`` of the clients' weights in the average."""
        clients = self.problem.clients
        cohort = draw(self.sampling, self.cohort, [1] * clients, self.problem.weights)
        mean, second = cohort.mean[:, 0], cohort.other[..., 0, 0].copy()
        np.fill_diagonal(second, cohort.own[:, 0, 0])
        return mean, second + np.outer(mean, mean)

    @cached_property
    def _pair_factor(self) -> float:
        """The factor f in ``E a_k a_l = f E a_k E a_l``, which is the same for all pairs of different clients."""
        mean, second = self._weights
        return float(second[0, 1] / (mean[0] * mean[1])) if len(mean) > 1 else 1.0

    @cached_property
    def _excess(self) -> Array | None:
        """``E a_k^2 - f (E a_k)^2`` ``(C,)`` with the factor of pairs f; None if the weights are not random."""
        mean, second = self._weights
        excess = np.diag(second) - self._pair_factor * mean**2
        return None if np.abs(excess).max() <= 1e-12 * mean.max() ** 2 else excess

    # ---- a round ----

    @cached_property
    def _axes(self) -> tuple[Array, Array, Array, Array]:
        """Eigenvalues ``(C, d)`` and eigenvectors ``(C, d, d)``; gradients at the minimiser and noise along these."""
        p = self.problem
        values, axes = np.linalg.eigh(p.curvatures)
        gradients = np.einsum("kde,kd->ke", axes, p.client_gradients(p.minimiser))
        return values, axes, gradients, axes.swapaxes(1, 2) @ p.noise @ axes

    def _local(self, steps: int, sizes: Array) -> tuple[Array, Array, Array]:
        """Clients' models after local steps, ``maps u + shifts``, and the factors of earlier steps along their axes.

        ``(P, C, d, d)``, ``(P, C, d)`` and ``(P, C, d, steps)``.
        """
        values, axes, gradients, _ = self._axes
        factors = 1 - sizes[:, None, None] * values  # (P, C, d)
        decay = factors[..., None] ** np.arange(steps - 1, -1, -1)
        maps = (axes * (factors**steps)[:, :, None, :]) @ axes.swapaxes(1, 2)
        return maps, -sizes[:, None, None] * np.einsum("kde,pke->pkd", axes, decay.sum(-1) * gradients), decay

    def _round(self, steps: int, sizes: Array) -> _Round:
        _, axes, _, noise = self._axes
        maps, shifts, decay = self._local(steps, sizes)
        total = np.zeros((len(sizes), *noise.shape[1:]))
        squares = np.diag(self._weights[1])
        for k, square in enumerate(squares):
            own = self._noise_factors(k, decay[:, k]) * noise[k] * (square * sizes**2)[:, None, None]
            total += axes[k] @ own @ axes[k].T
        return _Round(maps, shifts, total)

    def _noise_factors(self, client: int, decay: Array) -> Array:
        """Factors of a gradient's noise in that of a client's model after all steps, by pairs of axes ``(P, d, d)``."""
        if self.passes is None or not decay.size:
            return decay @ decay.swapaxes(1, 2)
        variance, begins = self.passes.of(client, decay.shape[-1])
        passes = np.add.reduceat(decay, begins, axis=-1)
        others = max(int(self.passes.samples[client]) - 1, 1)
        return (decay * variance) @ decay.swapaxes(1, 2) - passes @ passes.swapaxes(1, 2) / others

    # ---- one plan in full ----

    def _local_models(self, steps: int, step_size: float) -> _LocalModels:
        """The clients' models after a number of local steps."""
        _, axes, _, noise = self._axes
        (maps,), (shifts,), (decay,) = self._local(steps, np.array([step_size]))
        factors = np.stack([self._noise_factors(k, own[None])[0] for k, own in enumerate(decay)])
        model_noise = axes @ (step_size**2 * factors * noise) @ axes.swapaxes(1, 2)
        return _LocalModels(np.concatenate([maps, shifts[..., None]], axis=-1), model_noise)

    @cached_property
    def _metrics(self) -> tuple[Array, Array, Array]:
        curvature = self.problem.curvature
        return curvature / 2, curvature @ curvature, np.eye(len(curvature))

    def _average_forms(self, models: _LocalModels) -> list[_Form]:
        """The three quantities ``WORDS`` at the average of all clients."""
        weights = self.problem.weights
        average = np.einsum("k,kde->de", weights, models.maps)
        noise = np.einsum("k,kde->de", weights**2, models.noise)
        return [_Form(average.T @ metric @ average, float((metric * noise).sum())) for metric in self._metrics]

    def _gradient_squares(self, models: _LocalModels) -> _Form:
        """The expected squares of the clients' stochastic gradients at their models."""
        p = self.problem
        at_minimiser = np.concatenate(
            [np.zeros((*p.minima.shape, p.dim)), p.client_gradients(p.minimiser)[..., None]], axis=-1
        )
        gradients = p.curvatures @ models.maps + at_minimiser
        noise = p.curvatures @ models.noise @ p.curvatures + p.noise
        return _Form(gradients.swapaxes(1, 2) @ gradients, np.trace(noise, axis1=1, axis2=2))

    def _divergence(self, models: _LocalModels) -> _Form:
        """The mean squared distance of the clients' models from their average, the next server model."""
        weights = self.problem.weights
        distances = models.maps - np.einsum("k,kde->de", weights, models.maps)
        variances = np.trace(models.noise, axis1=1, axis2=2)
        noise = float(np.mean((1 - 2 * weights) * variances) + weights**2 @ variances)
        return _Form(np.tensordot(distances, distances, axes=([0, 1], [0, 1])) / len(weights), noise)

    def _evaluate(self, forms: list[_Form], steps: int, step_size: float, rounds: int) -> Array:
        """Values of the forms at every server state ``(forms, rounds + 1)``."""
        side = self.problem.dim + 1
        stacks = [form.matrix.reshape(-1, side, side) for form in forms]
        matrices = np.concatenate(stacks)
        constants = np.concatenate([np.broadcast_to(f.constant, len(m)) for f, m in zip(forms, stacks, strict=True)])
        parts = [np.tensordot(matrices, s, axes=([1, 2], [1, 2])) for s in self._moments(steps, step_size, rounds)]
        values = np.maximum(np.concatenate(parts, axis=1), 0.0) + constants[:, None]
        values = np.where(np.isfinite(values), values, np.inf)
        begins = np.cumsum([0, *(len(m) for m in stacks[:-1])])
        return np.maximum.reduceat(values, begins, axis=0)

    def _moments(self, steps: int, step_size: float, rounds: int) -> Iterator[Array]:
        """Second moments of (u, 1) before the first round and after every round, in blocks ``(n, d + 1, d + 1)``."""
        one, first = self._round(steps, np.array([step_size])), self._first_moment
        maps = self._extended(one)
        if first.size <= FLAT:
            matrix = np.einsum("kab,kcd->acbd", maps[0], maps[0]).reshape(first.size, -1)
            noise = np.pad(one.noise[0], (0, 1)).ravel()
            yield all_states(matrix, noise, first.ravel(), rounds).reshape(-1, *first.shape)
            return
        moment = first[None]
        for round_ in range(rounds + 1):
            moment = self._after(moment, maps, one.noise) if round_ else moment
            yield moment

    # ---- the rounds ----

    @cached_property
    def _start(self) -> Array:
        return self.problem.start - self.problem.minimiser

    def _states(self, one: _Round) -> Iterator[tuple[Array, Array]]:
        """Yield the curvature and, before every round, the second moments of u ``(P, d, d)``, if cohorts are random."""
        maps = self._extended(one)
        moment = np.tile(self._first_moment, (len(maps), 1, 1))
        while True:
            yield self.problem.curvature, moment[:, :-1, :-1]
            moment = self._after(moment, maps, one.noise)

    @property
    def _first_moment(self) -> Array:
        extended = np.append(self._start, 1.0)
        return np.outer(extended, extended)

    def _extended(self, one: _Round) -> Array:
        """Maps of (u, 1) ``(P, n, d + 1, d + 1)`` for ``_after``: f^(1/2) M and the excess_k^(1/2) M_k."""
        points, clients, dim, _ = one.maps.shape
        mean, _ = self._weights
        maps = np.zeros((points, clients + 1, dim + 1, dim + 1))
        maps[:, 1:, :dim, :dim], maps[:, 1:, :dim, dim], maps[:, 1:, dim, dim] = one.maps, one.shifts, 1.0
        maps[:, 0] = np.einsum("k,pkde->pde", mean, maps[:, 1:])
        if self._excess is None:
            return maps[:, :1]
        maps *= np.sqrt(np.maximum([self._pair_factor, *self._excess], 0.0))[:, None, None]
        return maps

    @staticmethod
    def _after(moment: Array, maps: Array, noise: Array) -> Array:
        """The second moment S of (u, 1) after a round.

        The clients' maps M_k of (u, 1) are linear, and the second moment becomes
        ``f M S M^T + sum_k excess_k M_k S M_k^T + noise`` with their mean M.
        """
        points, count, wide, _ = maps.shape
        tall = maps.reshape(points, count * wide, wide)
        half = (tall @ moment).reshape(maps.shape).transpose(0, 1, 3, 2).reshape(tall.shape)
        after: Array = half.swapaxes(1, 2) @ maps.transpose(0, 1, 3, 2).reshape(tall.shape)
        after[:, :-1, :-1] += noise
        return after

    def replay(self) -> Generator[Array, Sequence[Plan]]:
        """Yield the quantities ``(1, 3)`` before training, then ``(n, 3)`` after n rounds; send the plans of rounds."""
        moments, maps = self._first_moment[None], dict[Plan, tuple[Array, Array]]()
        while True:
            with np.errstate(over="ignore", invalid="ignore"):
                readings = np.nan_to_num(_quantities(self.problem.curvature, moments[:, :-1, :-1]).T, nan=np.inf)
            plans = yield readings
            after = [moments[-1:]]
            with np.errstate(over="ignore", invalid="ignore"):
                maps = self._maps(plans, maps)
                for plan in plans:
                    after.append(self._after(after[-1], *maps[plan]))
            moments = np.concatenate(after[1:])

    def _maps(self, plans: Sequence[Plan], known: dict[Plan, tuple[Array, Array]]) -> dict[Plan, tuple[Array, Array]]:
        """Return the maps and the noise of ``_after`` for rounds of these plans."""
        maps = {plan: known[plan] for plan in plans if plan in known}
        for steps, group in groupby(sorted(set(plans) - maps.keys()), key=lambda plan: plan[0]):
            new = list(group)
            one = self._round(steps, np.array([size for _, size in new]))
            extended = self._extended(one)
            maps |= {plan: (extended[i : i + 1], one.noise[i : i + 1]) for i, plan in enumerate(new)}
        return maps

    def _diagonal(self, one: _Round) -> Iterator[tuple[Array, Array]]:
        """Yield the same along the axes of the mean map, if weights are not random."""
        mean, _ = self._weights
        mean_map = np.einsum("k,pkde->pde", mean, one.maps)
        overflow = ~np.isfinite(mean_map).all((1, 2))
        mean_map = np.where(overflow[:, None, None], np.eye(mean_map.shape[-1]), mean_map)
        values, axes = np.linalg.eigh((mean_map + mean_map.swapaxes(1, 2)) / 2)
        back = axes.swapaxes(1, 2)
        shift = np.einsum("pde,pd->pe", axes, np.einsum("k,pkd->pd", mean, one.shifts))
        noise = back @ one.noise @ axes
        curvature = back @ self.problem.curvature @ axes
        pairs = values[:, :, None] * values[:, None, :]
        expectation, covariance = np.einsum("pde,d->pe", axes, self._start), np.zeros_like(noise)
        while True:
            yield curvature, covariance + expectation[:, :, None] * expectation[:, None, :]
            expectation = values * expectation + shift
            covariance = pairs * covariance + noise
            covariance[overflow] = np.inf


def _quantities(curvature: Array, moment: Array) -> Array:
    """Loss gap, squared gradient and squared distance ``(3, ...)`` for the second moment ``(..., d, d)`` of u."""
    square = curvature @ curvature
    distance = np.trace(moment, axis1=-2, axis2=-1)
    return np.stack([(curvature * moment).sum((-2, -1)) / 2, (square * moment).sum((-2, -1)), distance])
