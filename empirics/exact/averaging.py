"""Exact moments of plain averaged SGD on quadratics whose clients all differ: for grids of plans, without cohorts.

A client's round maps its start affinely by powers of ``1 - eta A_k``, and the server's second moment asks of the draw
no more than how often two clients meet in it. So 40 different clients of which 10 take part need no list of their
C(40, 10) cohorts, and all step sizes of a grid go together. ``exact_run`` follows any linear method, plan by plan.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..errors import EmpiricsError
from ..problems.quadratics import Quadratics
from .draws import draw
from .rounds import listed

Array = np.ndarray[Any, Any]
AT_ONCE = 1 << 21
"""Numbers that the clients' maps of some step sizes may hold together; more are taken one after another."""
FLAT = 64
"""Numbers of a second moment up to which all rounds are computed by doubling, the map of a round being a matrix."""
WORDS = ("optimality_gap", "grad_norm_sq", "distance_sq")


class Passes(NamedTuple):
    """Minibatches of ``batch`` samples cut from shuffled passes over each client's ``samples (C,)``, anew every round.

    The problem's noise is then that of a single sample drawn at random. The last batch of a pass may be short.
    """

    samples: Array
    batch: int

    def of(self, client: int, steps: int) -> tuple[Array, Array]:
        """The variance of a step's batch by itself if passes were endless ``(steps,)``, and where passes begin.

        With n samples, batches of one pass have covariance ``-1/(n - 1)``, and a batch of b has the variance
        ``(n - b)/(b (n - 1)) = n/(b (n - 1)) - 1/(n - 1)``.
        """
        size = int(self.samples[client])
        batches = -(-size // self.batch)
        place = np.arange(steps) % batches
        taken = np.where(place == batches - 1, size - (batches - 1) * self.batch, self.batch)
        return size / (taken * max(size - 1, 1)), np.arange(0, steps, batches)


class _Round(NamedTuple):
    """What a round does with the displacement u of the server from the minimiser, for P step sizes.

    ``maps (P, C, d, d)``, ``shifts (P, C, d)``: a client returns ``map u + shift``, plus noise; ``noise (P, d, d)`` is
    the covariance that the noise of all gives to the average.
    """

    maps: Array
    shifts: Array
    noise: Array


class _Way(NamedTuple):
    """Clients within a round: what they make of (u, 1) ``(C, d, d + 1)``, the covariance of what noise adds."""

    maps: Array
    spread: Array


class _Form(NamedTuple):
    """A reading: the sum of products of a matrix with the second moment of (u, 1), and a constant; or several."""

    matrix: Array
    constant: Any = 0.0


def _form(metric: Array, of_u: Array, spread: Array | None = None) -> _Form:
    return _Form(of_u.T @ metric @ of_u, 0.0 if spread is None else float((metric * spread).sum()))


@dataclass(frozen=True, eq=False)
class AveragingRun:
    """What one plan says, as every exact engine says it: expectations by the vocabulary's words."""

    server: Mapping[str, Array]
    rounds: Mapping[str, Array]
    along: Mapping[str, Array]

    def iterations(self, name: str) -> Array:
        """At the average of all clients before every local step; the last entry is at the last server model."""
        return self.along[name]


@dataclass(frozen=True, eq=False)
class Averaging:
    """FedAvg on ``problem`` with ``cohort`` clients a round; ``passes`` says how minibatches are drawn (None: fresh).

    Moments are exact for every way to draw a cohort that ``Setting`` knows, as far as the server then averages by
    weights whose two moments are known: without replacement and not all, clients must weigh the same.

    >>> from empirics.problems.quadratics import random_quadratics
    >>> runs = Averaging(random_quadratics(3, clients=40, dim=2, noise=0.3), cohort=10)
    >>> found = runs.readings(local_steps=4, step_sizes=np.array([0.05, 0.1]), rounds=30)
    >>> found["optimality_gap"].shape
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
                "clients that weigh differently need all clients or draws with replacement; "
                f"got {self.cohort} of {len(weights)} {self.sampling.replace('_', ' ')}"
            )
        _ = self._weights  # refuses a cohort that the clients cannot fill

    def readings(self, local_steps: int, step_sizes: Array, rounds: int) -> dict[str, Array]:
        """Expectations at the server model before the first round and after every one ``(rounds + 1, step sizes)``.

        ``optimality_gap``, ``grad_norm_sq`` and ``distance_sq``; infinite where they left the finite numbers.
        """
        sizes = np.atleast_1d(np.asarray(step_sizes, dtype=float))
        together = max(1, AT_ONCE // (self.problem.clients * self.problem.dim * max(self.problem.dim, local_steps)))
        parts = []
        with np.errstate(over="ignore", invalid="ignore"):
            for begin in range(0, len(sizes), together):
                one = self._round(local_steps, sizes[begin : begin + together])
                follow = self._diagonal if self._rest is None else self._second_moments
                parts.append(list(follow(one, rounds)))
        read = np.concatenate([np.array(part) for part in parts], axis=-1)  # (rounds + 1, words, step sizes)
        read = np.where(np.isfinite(read), read, np.inf)
        return {word: read[:, i] for i, word in enumerate(WORDS)}

    def run(self, local_steps: int, step_size: float, rounds: int) -> AveragingRun:
        """One plan in full: the server, the average of all clients before every local step, the largest gradients.

        ``divergence`` is known only where all clients take part: else the last cohort is not followed.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            ways = [self._way(j, step_size) for j in range(local_steps + 1)]
            forms = [form for way in ways[:-1] for form in self._average_forms(way)]
            apart = [] if self._rest is not None else [self._divergence(ways[-1])]
            largest = [self._cap(way) for way in ways[:-1]]
            read = self._followed([*forms, *apart, *largest], local_steps, step_size, rounds)
        server = dict(zip(WORDS, read[: len(WORDS)], strict=True))  # before the first step all clients are there
        average = read[: len(forms)].reshape(local_steps, len(WORDS), rounds + 1)[..., :-1]
        along = {
            word: np.append(average[:, i].T.ravel(), server[word][-1]) for i, word in enumerate(WORDS)
        }  # by rounds, in each by steps
        if apart:
            server["divergence"] = np.append(0.0, read[len(forms)][:-1])
        caps = read[len(forms) + len(apart) :, :-1].max(0)
        return AveragingRun(server, {"grad_cap_sq": caps}, along)

    # ---- the draw ----

    @cached_property
    def _weights(self) -> tuple[Array, Array]:
        """Mean ``(C,)`` and second moments ``(C, C)`` of the clients' weights in the average."""
        clients = self.problem.clients
        found = draw(self.sampling, self.cohort, [1] * clients, self.problem.weights)
        mean, second = found.mean[:, 0], found.other[..., 0, 0].copy()
        np.fill_diagonal(second, found.own[:, 0, 0])
        return mean, second + np.outer(mean, mean)

    @cached_property
    def _common(self) -> float:
        """The factor f of ``E a_k a_l = f E a_k E a_l`` for two different clients, the same for all of them."""
        mean, second = self._weights
        return float(second[0, 1] / (mean[0] * mean[1])) if len(mean) > 1 else 1.0

    @cached_property
    def _rest(self) -> Array | None:
        """What ``E a_k^2`` has beyond that factor ``(C,)``; None where the weights are certain."""
        mean, second = self._weights
        rest = np.diag(second) - self._common * mean**2
        return None if np.abs(rest).max() <= 1e-12 * mean.max() ** 2 else rest

    # ---- a round ----

    @cached_property
    def _axes(self) -> tuple[Array, Array, Array, Array]:
        """Each client's eigenvalues ``(C, d)``, axes ``(C, d, d)``, gradient at the minimiser and noise along them."""
        p = self.problem
        values, axes = np.linalg.eigh(p.curvatures)
        pulls = np.einsum("kde,kd->ke", axes, p.client_gradients(p.minimiser))
        return values, axes, pulls, axes.swapaxes(1, 2) @ p.noise @ axes

    def _local(self, steps: int, sizes: Array) -> tuple[Array, Array, Array]:
        """Clients after some local steps, ``maps u + shifts``, and what is left of each step then, along their axes.

        ``(P, C, d, d)``, ``(P, C, d)`` and ``(P, C, d, steps)``.
        """
        values, axes, pulls, _ = self._axes
        factors = 1 - sizes[:, None, None] * values  # (P, C, d)
        later = factors[..., None] ** np.arange(steps - 1, -1, -1)
        maps = (axes * (factors**steps)[:, :, None, :]) @ axes.swapaxes(1, 2)
        return maps, -sizes[:, None, None] * np.einsum("kde,pke->pkd", axes, later.sum(-1) * pulls), later

    def _round(self, steps: int, sizes: Array) -> _Round:
        _, axes, _, noise = self._axes
        maps, shifts, later = self._local(steps, sizes)
        total = np.zeros((len(sizes), *noise.shape[1:]))
        squares = np.diag(self._weights[1])
        for k, square in enumerate(squares):
            spread = self._kept(k, later[:, k]) * noise[k] * (square * sizes**2)[:, None, None]
            total += axes[k] @ spread @ axes[k].T
        return _Round(maps, shifts, total)

    def _kept(self, client: int, later: Array) -> Array:
        """What the noise of all steps leaves at the end of a round, by pairs of axes ``(P, d, d)``."""
        if self.passes is None or not later.size:
            return later @ later.swapaxes(1, 2)
        alone, begins = self.passes.of(client, later.shape[-1])
        whole = np.add.reduceat(later, begins, axis=-1)
        among = max(int(self.passes.samples[client]) - 1, 1)
        return (later * alone) @ later.swapaxes(1, 2) - whole @ whole.swapaxes(1, 2) / among

    # ---- one plan in full ----

    def _way(self, steps: int, step_size: float) -> _Way:
        """Every client after a number of local steps: what it makes of (u, 1), and what noise has added."""
        _, axes, _, noise = self._axes
        (maps,), (shifts,), (later,) = self._local(steps, np.array([step_size]))
        kept = np.stack([self._kept(k, own[None])[0] for k, own in enumerate(later)])
        spread = axes @ (step_size**2 * kept * noise) @ axes.swapaxes(1, 2)
        return _Way(np.concatenate([maps, shifts[..., None]], axis=-1), spread)

    @cached_property
    def _metrics(self) -> tuple[Array, Array, Array]:
        curvature = self.problem.curvature
        return curvature / 2, curvature @ curvature, np.eye(len(curvature))

    def _average_forms(self, way: _Way) -> list[_Form]:
        """The three readings at the average of all clients, as linear forms of the second moment of (u, 1)."""
        weights = self.problem.weights
        average = np.einsum("k,kde->de", weights, way.maps)
        spread = np.einsum("k,kde->de", weights**2, way.spread)
        return [_form(metric, average, spread) for metric in self._metrics]

    def _cap(self, way: _Way) -> _Form:
        """The second moment of every client's stochastic gradient there, one form for each."""
        p = self.problem
        pulls = np.concatenate(
            [np.zeros((*p.minima.shape, p.dim)), p.client_gradients(p.minimiser)[..., None]], axis=-1
        )
        by_u = p.curvatures @ way.maps + pulls
        noise = p.curvatures @ way.spread @ p.curvatures + p.noise
        return _Form(by_u.swapaxes(1, 2) @ by_u, np.trace(noise, axis1=1, axis2=2))

    def _divergence(self, way: _Way) -> _Form:
        """The mean squared distance of the clients' last models from their average, the server's model."""
        weights = self.problem.weights
        away = way.maps - np.einsum("k,kde->de", weights, way.maps)
        alone = np.trace(way.spread, axis1=1, axis2=2)
        noise = float(np.mean((1 - 2 * weights) * alone) + weights**2 @ alone)
        return _Form(np.tensordot(away, away, axes=([0, 1], [0, 1])) / len(weights), noise)

    def _followed(self, forms: list[_Form], steps: int, step_size: float, rounds: int) -> Array:
        """Readings by form and state ``(forms, rounds + 1)``; of a form with several the largest."""
        side = self.problem.dim + 1
        stacks = [form.matrix.reshape(-1, side, side) for form in forms]
        matrices = np.concatenate(stacks)
        constants = np.concatenate([np.broadcast_to(f.constant, len(m)) for f, m in zip(forms, stacks, strict=True)])
        parts = [np.tensordot(matrices, s, axes=([1, 2], [1, 2])) for s in self._moments(steps, step_size, rounds)]
        read = np.maximum(np.concatenate(parts, axis=1), 0.0) + constants[:, None]
        read = np.where(np.isfinite(read), read, np.inf)
        begins = np.cumsum([0, *(len(m) for m in stacks[:-1])])
        return np.maximum.reduceat(read, begins, axis=0)

    def _moments(self, steps: int, step_size: float, rounds: int) -> Iterator[Array]:
        """Second moments of (u, 1) before the first round and after every one, in blocks ``(n, d + 1, d + 1)``."""
        one, first = self._round(steps, np.array([step_size])), self._first_moment
        maps = self._extended(one)
        if first.size <= FLAT:
            whole = np.einsum("kab,kcd->acbd", maps[0], maps[0]).reshape(first.size, -1)
            noise = np.pad(one.noise[0], (0, 1)).ravel()
            yield listed(whole, noise, first.ravel(), rounds).reshape(-1, *first.shape)
            return
        moment = first[None]
        for round_ in range(rounds + 1):
            moment = self._after(moment, maps, one.noise) if round_ else moment
            yield moment

    # ---- the rounds ----

    @cached_property
    def _start(self) -> Array:
        return self.problem.start - self.problem.minimiser

    def _second_moments(self, one: _Round, rounds: int) -> Iterator[Array]:
        """Readings round by round, where chance decides who takes part."""
        maps = self._extended(one)
        moment = np.tile(self._first_moment, (len(maps), 1, 1))
        for round_ in range(rounds + 1):
            if round_:
                moment = self._after(moment, maps, one.noise)
            yield self._read(moment[:, :-1, :-1])

    @property
    def _first_moment(self) -> Array:
        extended = np.append(self._start, 1.0)
        return np.outer(extended, extended)

    def _extended(self, one: _Round) -> Array:
        """The maps of u with a 1 below it that a round's second moment takes, those of weight 0 left out."""
        points, clients, dim, _ = one.maps.shape
        mean, _ = self._weights
        maps = np.zeros((points, clients + 1, dim + 1, dim + 1))
        maps[:, 1:, :dim, :dim], maps[:, 1:, :dim, dim], maps[:, 1:, dim, dim] = one.maps, one.shifts, 1.0
        maps[:, 0] = np.einsum("k,pkde->pde", mean, maps[:, 1:])
        if self._rest is None:
            return maps[:, :1]
        maps *= np.sqrt(np.maximum([self._common, *self._rest], 0.0))[:, None, None]
        return maps

    @staticmethod
    def _after(moment: Array, maps: Array, noise: Array) -> Array:
        """The second moment after a round.

        With u extended by a 1, the clients' maps act linearly, and the second moment becomes
        ``f M S M^T + sum_k rest_k M_k S M_k^T + noise`` for their mean M.
        """
        points, count, wide, _ = maps.shape
        tall = maps.reshape(points, count * wide, wide)
        half = (tall @ moment).reshape(maps.shape).transpose(0, 1, 3, 2).reshape(tall.shape)
        after: Array = half.swapaxes(1, 2) @ maps.transpose(0, 1, 3, 2).reshape(tall.shape)
        after[:, :-1, :-1] += noise
        return after

    def replay(self) -> Generator[Array, tuple[int, float]]:
        """Readings round by round where plans change: yields ``(3,)`` as ``readings`` has them, is sent the next plan.

        The first value is that before training; then it is sent local steps and step size of each round.
        """
        moment, before, one, maps = self._first_moment[None], None, None, None
        while True:
            plan = yield np.nan_to_num(self._read(moment[:, :-1, :-1])[:, 0], nan=np.inf)
            with np.errstate(over="ignore", invalid="ignore"):
                if plan != before:
                    one = self._round(plan[0], np.array([plan[1]]))
                    before, maps = plan, self._extended(one)
                assert one is not None
                assert maps is not None
                moment = self._after(moment, maps, one.noise)

    def _diagonal(self, one: _Round, rounds: int) -> Iterator[Array]:
        """Readings round by round, where all average with certain weights: along the axes of the one map there is."""
        mean, _ = self._weights
        whole = np.einsum("k,pkde->pde", mean, one.maps)
        lost = ~np.isfinite(whole).all((1, 2))  # a round that leaves the finite numbers has no axes
        whole = np.where(lost[:, None, None], np.eye(whole.shape[-1]), whole)
        values, axes = np.linalg.eigh((whole + whole.swapaxes(1, 2)) / 2)
        back = axes.swapaxes(1, 2)
        shift = np.einsum("pde,pd->pe", axes, np.einsum("k,pkd->pd", mean, one.shifts))
        noise = back @ one.noise @ axes
        curvature = back @ self.problem.curvature @ axes
        square = curvature @ curvature
        pairs = values[:, :, None] * values[:, None, :]
        now, covariance = np.einsum("pde,d->pe", axes, self._start), np.zeros_like(noise)
        for round_ in range(rounds + 1):
            if round_:
                now = values * now + shift
                covariance = pairs * covariance + noise
            moment = covariance + now[:, :, None] * now[:, None, :]
            read = _traces(curvature, square, moment)
            yield np.where(lost, np.inf, read) if round_ else read

    def _read(self, moment: Array) -> Array:
        curvature = self.problem.curvature
        return _traces(curvature, curvature @ curvature, moment)


def _traces(curvature: Array, square: Array, moment: Array) -> Array:
    """Loss gap, squared gradient and squared distance ``(3, P)`` of a second moment ``(P, d, d)`` of u."""
    distance = np.trace(moment, axis1=-2, axis2=-1)
    return np.stack([(curvature * moment).sum((-2, -1)) / 2, (square * moment).sum((-2, -1)), distance])
