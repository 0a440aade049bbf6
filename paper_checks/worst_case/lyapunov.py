"""The search for a rate: a quadratic form of the state that every federation of the class contracts.

The unknowns are ``V = <P0 mean, mean> + <P1 deviation, deviation> + p (F(w) - F*)`` and multipliers ``lam >= 0`` of the
class's inequalities ``row_ab <= 0`` between the minimiser, the models of the round and the next server model, such that

    rho V + gamma zeta^2 + noise - V_next + sum lam_ab row_ab

is a sum of squares, separately in means and in deviations, and contains no function values. With ``P0 >= e e'`` for the
server model it follows that ``E|w_T - w*|^2 <= rho^T V_0 + (gamma zeta^2 + noise) (1 - rho^T) / (1 - rho)`` for every T
and every number of clients, as the blocks do not depend on it. For fixed rho this is a semidefinite program.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from math import log2
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .function_class import interpolation
from .one_round import CohortSize, LinearMap, OneRound
from .program import Array, pack, triangle, unpack, WorstCaseError

FIXED = 1e-9
"""Tolerance for the existence of a fixed point."""
ALL_PAIRS = 4
"""Number of local steps up to which all pairs of points are used. Beyond, only neighbours and pairs with the minimiser
are: this changed no rate that was tried, and a program of 40 steps has a tenth of the multipliers."""
GAP, FEASIBLE = 1e-7, 1e-10
"""Tolerances of the solver."""
NO_DEVIATION_COST = 1e-9
"""Cost of the deviations of the noise of a single client, which are 0; it keeps their weights small."""
MEANS, DEVIATIONS = 0, 1
"""The two blocks: means over the clients, and deviations from them."""
INSTALL = "rates need the extra `exact`: python -m pip install 'fedbounds[exact]'"


class CostWeights(NamedTuple):
    """The weights of the terms of a bound in the cost that ``Lyapunov.solve`` minimises."""

    start_distance: float
    start_dissimilarity: float
    floor: float
    noise_floor: float

    def cost(self, solution: LyapunovSolution) -> float:
        """Return the weighted sum of a solution's terms."""
        return sum(weight * getattr(solution, term) for term, weight in self._asdict().items())


class Positions(NamedTuple):
    """Where the program's unknowns are in the vector of all of them; they are in units of gradients.

    Those from ``potential`` to ``noise_weights`` are at least 0.
    """

    means: slice
    deviations: slice
    potential: slice
    gamma: slice
    multipliers: slice
    noise_weights: slice
    mean_products: slice
    deviation_products: slice


class NotCertified(WorstCaseError):
    """No quadratic form was found for this contraction."""


@dataclass(frozen=True, eq=False)
class Block:
    """The means, or the deviations, as rows over the unknown vectors of the block.

    Attributes:
        inputs: The state before the round, and the gradients (with noise) that clients use.
        after: The state after the round.
        points, gradients: The evaluations: the minimiser, the models of the round and, if V contains the loss, the next
            server model.
        noise: For the column of every step's noise, the columns of which it is independent.
    """

    inputs: Array
    after: Array
    points: Array
    gradients: Array
    noise: dict[int, tuple[int, ...]]

    @property
    def width(self) -> int:
        return int(self.points.shape[1])


@dataclass(frozen=True, eq=False)
class LyapunovSolution:
    """A quadratic form and multipliers for the contraction ``rho``.

    Attributes:
        means, deviations: The matrices P0 and P1 of V, over the state in the program's units.
        potential: The factor p of the loss gap.
        gamma: What a round adds, per ``zeta^2``.
        multipliers: ``lam[a, b]``.
        start_distance, start_dissimilarity: ``V_0`` per ``|w_0 - w*|^2`` and per ``zeta^2``.
        noise_weights: ``(2, steps)``: weights of every step's noise in means and in deviations.
        noise_products: For both blocks, the coefficients chosen at ``noise_entries``.
        clients: The number of clients of which the noise is averaged.
        eigenvalue, largest: The smallest eigenvalue of the matrices that must have none below 0; their largest entry.
    """

    rho: float
    means: Array
    deviations: Array
    potential: float
    gamma: float
    multipliers: Array
    start_distance: float
    start_dissimilarity: float
    noise_weights: Array
    noise_products: tuple[Array, Array]
    clients: int
    eigenvalue: float
    largest: float

    @property
    def floor(self) -> float:
        """The limit of the bound after many rounds, per ``zeta^2``."""
        return self.gamma / (1 - self.rho)

    @property
    def noise_floor(self) -> float:
        """The limit of the bound after many rounds, per ``sigma^2``."""
        return float(noise_cost(self.noise_weights, self.clients)) / (1 - self.rho)


class Lyapunov:
    """The program of one round over L-smooth, mu-strongly convex clients; ``solve`` it for any contraction.

    ``noise_clients`` is the number of clients if gradients have independent noise of variance ``sigma^2``, else None.
    The unknown vectors (the state, the first gradient, its changes from step to step) are scaled by powers of two close
    to their sizes; ``unit`` is the scale of gradients.
    """

    def __init__(
        self, round_: OneRound, L: Any, mu: Any, noise_clients: int | None = None, cohort: CohortSize | None = None
    ) -> None:
        self.round, self.smoothness, self.strong_convexity = round_, L, mu
        self.noise_clients, self.cohort = noise_clients, cohort
        if cohort is not None and round_.memory and round_.memory_update is None:
            raise NotCertified(
                "rates with cohorts are certified for scaffold, fedinit and methods without client memory; clients of "
                f"this method store {', '.join(round_.memory)}: leave out cohort and clients"
            )
        self.unit = _power(float(L))
        steps = np.concatenate([round_.means.points, round_.means.after[:1]])[:, len(round_.means) :]
        self.change = _power(min(1.0, L * float(np.abs(steps).max())))
        self.with_loss = round_.begins_at_server and self.cohort is None
        """Whether the loss of the server model is part of V."""
        self.fixed_point = self._fixed_point()
        self.blocks = (self._block(MEANS), self._block(DEVIATIONS))
        self.evaluations = 1 + round_.gradients + self.with_loss
        self.pairs = [
            (a, b)
            for a, b in permutations(range(self.evaluations), 2)
            if round_.gradients <= ALL_PAIRS or 0 in (a, b) or abs(a - b) == 1
        ]

    def _fixed_point(self) -> Array | None:
        """Return deviations, per ``grad f_i(w*)``, at which clients stay at the minimiser; None if there are none."""
        n = len(self.round.deviations)
        points, after = self.round.deviations.points, self.round.deviations.after
        ends = np.zeros((0, n + self.round.gradients))
        if self.round.memory_update is not None:
            ends = self.round.memory_update.ends
        left = np.concatenate([points[:, :n], after[:, :n] - np.eye(n), ends[:, :n]])
        right = -np.concatenate([points[:, n:].sum(1), after[:, n:].sum(1), ends[:, n:].sum(1)])
        fixed_point = np.linalg.lstsq(left, right, rcond=None)[0] if n else np.zeros(0)
        if np.abs(left @ fixed_point - right).max(initial=0) > FIXED * (1 + np.abs(right).max(initial=0)):
            return None
        return np.asarray(fixed_point)

    @property
    def has_floor(self) -> bool:
        """Whether heterogeneity or the draw of the cohort keeps the model from converging to the minimiser."""
        return self.fixed_point is None or (self.cohort is not None and self.round.memory_update is None)

    def _map(self, which: int) -> LinearMap:
        return (self.round.means, self.round.deviations)[which]

    def units(self, which: int) -> Array:
        """Return powers of two close to the sizes of the state's coordinates (the server model's is 1)."""
        part = self._map(which)
        units = [_power(float(np.abs(row).sum()) * self.smoothness) for row in part.after[:, len(part) :]]
        if which == MEANS:
            units[0] = _power(1.0)
        return np.array(units)

    def _block(self, which: int) -> Block:
        """Return the block of means or of deviations."""
        part = self._map(which)
        n, m, ends = len(part), self.round.gradients, self.with_loss
        floor, noisy = which == DEVIATIONS and self.has_floor, self.noise_clients is not None
        width = n + m + ends + floor + m * noisy
        columns = np.zeros((n + m, width))
        columns[range(n), range(n)] = self.units(which)
        for j in range(m):
            columns[n + j, n] += self.unit
            columns[n + j, n + 1 : n + j + 1] += self.unit * self.change
        gradients = columns[n:].copy()
        if ends:
            last = np.zeros((1, width))
            last[0, n] += self.unit
            last[0, n + 1 : n + m + 1] += self.unit * self.change
            gradients = np.concatenate([gradients, last])
        optimum = np.zeros((1, width))
        if floor:
            optimum[0, n + m + ends] += self.unit
        inputs = columns.copy()
        first = n + m + ends + floor  # the first column of noise
        if noisy:
            inputs[range(n, n + m), range(first, first + m)] += self.unit
        zero = np.zeros((1, width))
        queries, state = part.points @ inputs, part.after @ inputs
        evaluated = [zero, queries]
        if ends:
            evaluated.append(state[:1] if which == MEANS else zero)
        noise = {first + j: (*range(n + j + 1), *range(first - floor, first + j)) for j in range(m * noisy)}
        return Block(inputs, state, np.concatenate(evaluated), np.concatenate([optimum, gradients]), noise)

    # ---- the inequality ----

    @cached_property
    def next(self) -> tuple[list[tuple[Any, Array, int]], list[tuple[Any, Array, int]]]:
        """For both blocks, the terms of the expected next V: a factor, rows, and which of P0 and P1 applies to them.

        With a cohort, a drawn client's deviations contribute the variance of the cohort's mean to the means. The memory
        changes for a share of the clients; its mean squared deviation is the mean square less the square of the mean.
        """
        means, deviations = self.blocks
        of_means: list[tuple[Any, Array, int]] = [(1, means.after, MEANS)]
        if self.cohort is None:
            return of_means, [(1, deviations.after, DEVIATIONS)]
        n, k, update = len(self.round.means), len(self.round.deviations), self.round.memory_update
        spread = float(self.cohort.variance)
        if update is None:
            variance = self.round.means.after[:, n:] @ deviations.inputs[k:]
            return of_means, [(1, deviations.after, DEVIATIONS), (spread, variance, MEANS)]
        share = update.share
        of_means.append((share * (1 - share), update.means @ means.inputs, DEVIATIONS))
        return of_means, [
            (1 - share, deviations.inputs[:k], DEVIATIONS),
            (share, deviations.after, DEVIATIONS),
            (-(share**2) * spread, update.deviations @ deviations.inputs, DEVIATIONS),
            (spread, update.ends @ deviations.inputs, MEANS),
        ]

    def interpolation_sum(self, multipliers: Array, which: int) -> Array:
        """Return the sum of ``multipliers[a, b]`` times the class's inequality of a and b, without function values."""
        block, (a, b) = self.blocks[which], np.nonzero(multipliers)
        weights = multipliers[a, b][:, None]

        def inner(u: Array, v: Array) -> Array:
            product = (weights * u).T @ v
            return (product + product.T) / 2

        x, g = block.points[a] - block.points[b], block.gradients
        return interpolation(inner, x, g[a], g[b], self.smoothness, self.strong_convexity)

    def value_coefficients(self, rho: Any, potential: Any, multipliers: Array) -> Array:
        """Return the coefficients of all function values; the minimiser's, the first, is 0 and may have any."""
        coefficients: Array = multipliers.sum(0) - multipliers.sum(1)
        if self.with_loss:
            coefficients[1] += rho * potential
            coefficients[-1] -= potential
        return coefficients

    def _sums(
        self, rho: Any, means: Array, deviations: Array, gamma: Any, multipliers: Array, noise_weights: Array
    ) -> list[Array]:
        """Return both blocks of the sum above; ``gamma`` and ``noise_weights`` are per unit of gradients."""
        sums = []
        for which, P in enumerate((means, deviations)):
            block = self.blocks[which]
            total = self.interpolation_sum(multipliers, which)
            total[: len(P), : len(P)] += rho * P
            for factor, rows, whose in self.next[which]:
                total = total - factor * (rows.T @ self._in_own_units((means, deviations)[whose], whose) @ rows)
            if which == DEVIATIONS and self.has_floor:
                column = len(self.round.deviations) + self.round.gradients + self.with_loss
                total[column, column] += gamma
            for column, weight in zip(block.noise, noise_weights[which], strict=True):
                total[column, column] += weight
            sums.append(total)
        return sums

    def _in_own_units(self, P: Array, which: int) -> Array:
        """Return a quadratic form over unscaled coordinates of the state."""
        units = self.units(which)
        return P / units[:, None] / units[None, :] if len(P) else P

    # ---- the program in floats ----

    @cached_property
    def noise_entries(self) -> list[list[tuple[int, int]]]:
        """The entries of both blocks whose products have expectation 0, so that any coefficient is allowed."""
        return [[(i, column) for column, others in b.noise.items() for i in others] for b in self.blocks]

    @cached_property
    def _positions(self) -> Positions:
        n, k, steps = len(self.round.means), len(self.round.deviations), len(self.blocks[0].noise)
        products = map(len, self.noise_entries)
        counts = [n * (n + 1) // 2, k * (k + 1) // 2, 1, 1, len(self.pairs), 2 * steps, *products]
        ends = np.cumsum(counts)
        return Positions(*(slice(end - count, end) for end, count in zip(ends.tolist(), counts, strict=True)))

    def _unpacked(self, y: Array) -> tuple[Array, Array, Any, Any, Array, Array]:
        """Return P0, P1, potential, gamma, multipliers and noise weights."""
        P0, P1, potential, gamma, pairs, noise_weights = (y[part] for part in self._positions[:6])
        lam = np.zeros((self.evaluations, self.evaluations))
        if self.pairs:
            lam[tuple(np.array(self.pairs).T)] = pairs
        means, deviations = _symmetric(P0, len(self.round.means)), _symmetric(P1, len(self.round.deviations))
        return means, deviations, potential[0], gamma[0], lam, noise_weights.reshape(2, -1)

    @cached_property
    def _linear(self) -> tuple[list[Array], list[Array]]:
        """The coefficients of function values and both packed residuals, as matrices over the unknowns.

        The first list is multiplied by rho, the second is constant.
        """
        at = self._positions
        width, bounded = at.deviation_products.stop, at.noise_weights.stop
        units = [self._unpacked(row) for row in np.eye(bounded)]

        def rows(rho: float) -> list[Array]:
            columns = []
            for means, deviations, potential, gamma, lam, noise_weights in units:
                blocks = self._sums(rho, means, deviations, gamma, lam / self.unit, noise_weights)
                columns.append((self.value_coefficients(rho, potential, lam)[1:], *map(pack, blocks)))
            matrices = [np.array(parts).T for parts in zip(*columns, strict=True)]
            return [np.pad(matrix, ((0, 0), (0, width - bounded))) for matrix in matrices]

        constant = rows(0.0)
        linear = [one - zero for one, zero in zip(rows(1.0), constant, strict=True)]
        for which, products in ((MEANS, at.mean_products), (DEVIATIONS, at.deviation_products)):
            for column, (i, j) in enumerate(self.noise_entries[which], products.start):  # i < j
                constant[1 + which][j * (j + 1) // 2 + i, column] = 2**0.5
        return linear, constant

    def solve(self, rho: float, weights: CostWeights, margin: float = 0.0) -> LyapunovSolution:
        """Return the solution with the smallest cost.

        ``margin`` is a lower limit on the eigenvalues of all matrices that must be sums of squares. Raises
        ``NotCertified`` if there is no solution.
        """
        clarabel = import_clarabel()
        values, *blocks = self._at(rho)
        nonnegative = range(self._positions.potential.start, self._positions.noise_weights.stop)
        width = values.shape[1]
        parts: list[Any] = [sparse.csc_matrix(values), _unit(nonnegative, width)]
        right = [np.zeros(len(values) + len(nonnegative))]
        cones: list[Any] = [clarabel.ZeroConeT(len(values)), clarabel.NonnegativeConeT(len(nonnegative))]
        for block, rows in zip(self.blocks, blocks, strict=True):
            parts.append(sparse.csc_matrix(-rows))
            right.append(-margin * pack(np.eye(block.width)))
            cones.append(clarabel.PSDTriangleConeT(block.width))
        for which in (MEANS, DEVIATIONS):
            if size := len(
                self._map(which)
            ):  # P1 is a sum of squares, and so is P0 minus the squared distance of the model
                i, j = triangle(size)
                part = self._positions[which]
                parts.append(_unit(range(part.start, part.stop), width, np.where(i == j, 1.0, 2**0.5)))
                lower = margin * np.eye(size)
                lower[0, 0] += which == MEANS
                right.append(-pack(lower))
                cones.append(clarabel.PSDTriangleConeT(size))
        matrix = sparse.vstack(parts, format="csc")
        matrix.eliminate_zeros()
        quadratic, cost = sparse.csc_matrix((width, width)), self._cost(rho, weights)
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_iter, settings.max_threads = False, 200, 1
        settings.tol_gap_abs, settings.tol_gap_rel, settings.tol_feas = GAP, GAP, FEASIBLE
        try:
            result = run_solver(clarabel.DefaultSolver(quadratic, cost, matrix, np.concatenate(right), cones, settings))
        except WorstCaseError as error:
            raise NotCertified(f"at contraction {rho:.6g} {error}") from None
        if str(result.status) not in ("Solved", "AlmostSolved"):
            raise NotCertified(f"nothing is certified at contraction {rho:.6g} (status {result.status})")
        return self._read(rho, np.array(result.x))

    def _at(self, rho: float) -> list[Array]:
        """Return the rows of function values and of both residuals for a contraction."""
        return [rho * linear + constant for linear, constant in zip(*self._linear, strict=True)]

    def _cost(self, rho: float, weights: CostWeights) -> Array:
        """Return the coefficients of the objective."""
        at, unit = self._positions, self.unit
        cost = np.zeros(at.deviation_products.stop)
        cost[at.means] = weights.start_distance * _square_coefficients(self.round.start / self.units(MEANS))
        if self.fixed_point is not None and len(self.round.deviations):
            cost[at.deviations] = weights.start_dissimilarity * _square_coefficients(
                self.fixed_point / self.units(DEVIATIONS)
            )
        cost[at.potential] = weights.start_distance * self.smoothness / 2 / unit
        cost[at.gamma] = weights.floor / unit**2 / (1 - rho) if self.has_floor else 1.0
        if self.noise_clients is not None:
            share, clients = weights.noise_floor / unit**2 / (1 - rho), self.noise_clients
            of_each = [share / clients, share * (1 - 1 / clients) + NO_DEVIATION_COST]
            cost[at.noise_weights] = np.repeat(of_each, len(self.blocks[0].noise))
        return cost

    def _read(self, rho: float, y: Array) -> LyapunovSolution:
        """Return the solution with these unknowns."""
        unit = self.unit
        means, deviations, potential, gamma, lam, noise_weights = self._unpacked(y)
        blocks = [unpack(rows @ y, b.width) for b, rows in zip(self.blocks, self._at(rho)[1:], strict=True)]
        products = [np.array([b[i, j] for i, j in own]) for b, own in zip(blocks, self.noise_entries, strict=True)]
        distance, dissimilarity = self.start(means, deviations, potential / unit)
        return LyapunovSolution(
            rho=rho,
            means=means,
            deviations=deviations,
            potential=float(potential) / unit,
            gamma=float(gamma) / unit**2,
            multipliers=lam / unit,
            start_distance=float(distance),
            start_dissimilarity=float(dissimilarity),
            noise_weights=noise_weights / unit**2,
            noise_products=(products[0], products[1]),
            clients=self.noise_clients or 1,
            eigenvalue=min(float(np.linalg.eigvalsh(b)[0]) for b in blocks if len(b)),
            largest=max(float(np.abs(b).max()) for b in blocks),
        )

    def start(self, means: Array, deviations: Array, potential: Any) -> tuple[Any, Any]:
        """Return V before the first round, per ``|w_0 - w*|^2`` and per ``zeta^2``."""
        begin = self.round.start / self.units(MEANS)
        distance = begin @ means @ begin + potential * self.smoothness / 2
        if self.fixed_point is None or not len(self.round.deviations):
            return distance, 0 * distance
        first = self.fixed_point / self.units(DEVIATIONS)
        return distance, first @ deviations @ first


def import_clarabel() -> Any:
    """Return the module ``clarabel``; raise ``WorstCaseError`` with the installation command if it is missing."""
    try:
        import clarabel
    except ImportError:
        raise WorstCaseError(INSTALL) from None
    return clarabel


def run_solver(problem: Any) -> Any:
    """Return the result of a solver, turning its panics, which are not ``Exception``s, into ``WorstCaseError``."""
    try:
        return problem.solve()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise WorstCaseError(f"the solver broke down ({error}): no number is given") from None


def noise_cost(noise_weights: Array, clients: int) -> Any:
    """Return what noise of variance 1, independent for every client, adds to V in a round."""
    return noise_weights[0].sum() / clients + noise_weights[1].sum() * Fraction(clients - 1, clients)


def _power(x: float) -> float:
    """Return the power of two closest to x; 1 for 0."""
    return 2.0 ** round(log2(x)) if x > 0 else 1.0


def _unit(at: range, width: int, scale: Array | float = 1.0) -> Any:
    """Return the rows that put these unknowns into a cone."""
    return sparse.csc_matrix((-scale * np.ones(len(at)), (range(len(at)), at)), shape=(len(at), width))


def _square_coefficients(vector: Array) -> Array:
    """Return ``<P vector, vector>`` as coefficients of the entries of P's upper triangle."""
    i, j = triangle(len(vector))
    return np.asarray(np.where(i == j, 1.0, 2.0) * vector[i] * vector[j])


def _symmetric(entries: Array, size: int) -> Array:
    """Return the symmetric matrix with these entries in its upper triangle."""
    matrix = np.zeros((size, size))
    i, j = triangle(size)
    matrix[i, j] = matrix[j, i] = entries
    return matrix
