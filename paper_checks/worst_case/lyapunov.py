"""What makes a rate: a quadratic of a round's state that every federation of the class shrinks, as a linear program.

Sought are ``V = <P0 mean, mean> + <P1 apart, apart> + p (F(w) - F*)`` and multipliers ``lam >= 0`` of the class's
inequalities ``row_ab <= 0`` between the minimiser, the models of the round and the next server model, such that

    rho V + gamma zeta^2 + noise - V_next + sum lam_ab row_ab

is a sum of squares, separately in means and in deviations, and free of function values. With ``P0 >= e e'`` for the
server model it follows that ``E|w_T - w*|^2 <= rho^T V_0 + (gamma zeta^2 + noise) (1 - rho^T) / (1 - rho)`` for every T
and for every number of clients: nothing in the two blocks knows it. For a fixed rho all is linear in what is sought.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import permutations
from math import log2
from typing import Any

import numpy as np
from scipy import sparse

from .coordinates import Array, pack, triangle, unpack
from .one_round import Cohort, OneRound
from .program import WorstCaseError

STEADY = 1e-9
ALL_PAIRS = 4
"""Local steps up to which every pair of points counts; beyond, neighbours and the minimiser: nothing was lost by it in
any case that was tried, and a program of 40 steps has a tenth of the multipliers."""


GAP, FEASIBLE = 1e-7, 1e-10
"""The solver's settings."""
COST_OF_NONE = 1e-9
"""What deviations of the noise cost where there are none (a single client): something, so that they stay small."""
INSTALL = "rates need the extra `exact`: python -m pip install 'fedbounds[exact]'"
Weights = tuple[float, float, float, float]


class NotCertified(WorstCaseError):
    """There is no such quadratic at this contraction, or the solver found none."""


@dataclass(frozen=True, eq=False)
class Block:
    """Means, or deviations: rows over the unknown vectors of this block.

    ``heard`` are the state before the round and the gradients that clients hear, ``after`` is the state after it;
    ``points`` and ``gradients`` those of the
    evaluations (the minimiser first, then the models of the round, then the next server model if it counts);
    ``known[j]`` the unknown vectors that the noise of step j is independent of, ``noise`` their columns.
    """

    heard: Array
    after: Array
    points: Array
    gradients: Array
    noise: tuple[int, ...] = ()
    known: tuple[tuple[int, ...], ...] = ()

    @property
    def width(self) -> int:
        return int(self.points.shape[1])


@dataclass(frozen=True, eq=False)
class Sought:
    """A solution: the quadratic, the multipliers ``lam[a, b]``, and what they prove at ``rho``.

    ``start_distance`` and ``start_dissimilarity`` are what ``V_0`` is of ``|w_0 - w*|^2`` and of ``zeta^2``; ``gamma``
    and ``noise`` are added a round per ``zeta^2`` and per ``sigma^2``; ``noises (2, steps)`` is what a step's noise
    counts for in means and in deviations of that many ``clients``, ``unheard`` what stands in either block where noise
    meets what is independent of it, which is 0 in the mean. ``spare`` is the least eigenvalue of all that must have
    none
    below 0, ``scale`` its largest entry.
    """

    rho: float
    means: Array
    apart: Array
    potential: float
    gamma: float
    multipliers: Array
    start_distance: float
    start_dissimilarity: float
    noises: Array
    unheard: tuple[Array, Array]
    clients: int
    spare: float
    scale: float

    @property
    def floor(self) -> float:
        """What is left of ``zeta^2`` after many rounds."""
        return self.gamma / (1 - self.rho)

    @property
    def noise(self) -> float:
        return float(noise_cost(self.noises, self.clients))

    @property
    def noise_floor(self) -> float:
        """What is left of ``sigma^2`` after many rounds."""
        return self.noise / (1 - self.rho)


class Lyapunov:
    """The program of one round over L-smooth, mu-strongly convex clients; ``solve`` it for any contraction.

    ``noise``: of how many clients gradients have independent noise of variance ``sigma^2``, if they have.
    Unknown vectors are in powers of two of their own size: the
    state, the first gradient, its changes from step to step; ``unit`` is that of gradients.
    """

    def __init__(
        self, round_: OneRound, smoothness: Any, strong_convexity: Any, noise: int | None = None,
        cohort: Cohort | None = None,
    ) -> None:  # fmt: skip
        self.round, self.smoothness, self.strong_convexity = round_, smoothness, strong_convexity
        self.noise = noise
        self.cohort = None if cohort is None or cohort.cohort == cohort.clients else cohort
        if self.cohort is not None and round_.memory and round_.renewed is None:
            raise NotCertified(
                "rates with cohorts are certified for methods whose clients keep nothing between rounds, for scaffold "
                f"and for fedinit; clients of this one keep {', '.join(round_.memory)}: leave out cohort and clients"
            )
        self.unit = self._power(float(smoothness))
        steps = np.concatenate([round_.mean_points[:, len(round_.means) :], round_.mean_next[:1, len(round_.means) :]])
        self.change = self._power(min(1.0, smoothness * float(np.abs(steps).max())))
        self.ends = round_.begins_at_server and self.cohort is None
        """Whether the loss of the server model is part of the quadratic."""
        self.steady = self._steady()
        self.blocks = (self._block(0), self._block(1))
        self.evaluations = 1 + round_.gradients + self.ends
        self.pairs = [
            (a, b)
            for a, b in permutations(range(self.evaluations), 2)
            if round_.gradients <= ALL_PAIRS or 0 in (a, b) or abs(a - b) == 1
        ]

    def _power(self, x: float) -> float:
        return 2.0 ** round(log2(x)) if x > 0 else 1.0

    def _steady(self) -> Array | None:
        """The deviations ``M grad f_i(w*)`` at which clients stay at the minimiser; None where there are none."""
        n = len(self.round.apart)
        near, far = self.round.apart_points, self.round.apart_next
        ends = np.zeros((0, n + self.round.gradients))
        if self.round.renewed is not None:
            ends = self.round.renewed.ends
        left = np.concatenate([near[:, :n], far[:, :n] - np.eye(n), ends[:, :n]])
        right = -np.concatenate([near[:, n:].sum(1), far[:, n:].sum(1), ends[:, n:].sum(1)])
        found = np.linalg.lstsq(left, right, rcond=None)[0] if n else np.zeros(0)
        if np.abs(left @ found - right).max(initial=0) > STEADY * (1 + np.abs(right).max(initial=0)):
            return None
        return np.asarray(found)

    @property
    def floored(self) -> bool:
        """Whether heterogeneity, or who is drawn, keeps the model from the minimiser: the rate then has a floor."""
        return self.steady is None or (self.cohort is not None and self.round.renewed is None)

    def units(self, which: int) -> Array:
        """How large the coordinates of the state are, about: powers of two (the server model's is 1)."""
        n = len((self.round.means, self.round.apart)[which])
        rows = (self.round.mean_next, self.round.apart_next)[which][:, n:]
        found = [self._power(float(np.abs(row).sum()) * self.smoothness) for row in rows]
        if which == 0:
            found[0] = self._power(1.0)
        return np.array(found)

    def _block(self, which: int) -> Block:
        r, m = self.round, self.round.gradients
        after, points = ((r.mean_next, r.mean_points), (r.apart_next, r.apart_points))[which]
        n, ends = len(after), self.ends
        floor, noisy = which == 1 and self.floored, self.noise is not None
        width = n + m + ends + floor + (m if noisy else 0)
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
        heard = columns.copy()
        first = n + m + ends + floor
        if noisy:
            heard[range(n, n + m), range(first, first + m)] += self.unit
        nothing = np.zeros((1, width))
        asked, later = points @ heard, after @ heard
        places = [nothing, asked]
        if ends:
            places.append(later[:1] if which == 0 else nothing)
        known = tuple((*range(n + j + 1), *range(first - floor, first), *range(first, first + j)) for j in range(m))
        return Block(
            heard, later, np.concatenate(places), np.concatenate([optimum, gradients]),
            tuple(range(first, first + m)) if noisy else (), known if noisy else (),
        )  # fmt: skip

    # ---- what is added up ----

    @cached_property
    def next(self) -> tuple[list[tuple[Any, Array, int]], list[tuple[Any, Array, int]]]:
        """By block, what the mean of the next quadratic is: a factor, rows, and whose quadratic of them.

        With cohorts a drawn client's deviations add to the means, by the spread of a cohort's mean. What clients keep
        moves for a share of them: the mean squared deviation is that of all less the square of what the mean becomes.
        """
        means, apart = self.blocks
        now: list[tuple[Any, Array, int]] = [(1, means.after, 0)]
        if self.cohort is None:
            return now, [(1, apart.after, 1)]
        n, k, r = len(self.round.means), len(self.round.apart), self.round.renewed
        spread = float(self.cohort.spread)
        if r is None:
            more = self.round.mean_next[:, n:] @ apart.heard[k:]
            return now, [(1, apart.after, 1), (spread, more, 0)]
        share, moved = r.share, r.apart @ apart.heard
        return [*now, (share * (1 - share), r.means @ means.heard, 1)], [
            (1 - share, apart.heard[:k], 1),
            (share, apart.after, 1),
            (-(share**2) * spread, moved, 1),
            (spread, r.ends @ apart.heard, 0),
        ]

    def combined(self, multipliers: Array, which: int) -> Array:
        """The sum of ``multipliers[a, b]`` times the class's inequality of a and b, without function values.

        With ``x = x_a - x_b`` it is ``f_b - f_a + <g_b, x> + mu/2 |x|^2 + |g_a - g_b - mu x|^2 / (2 (L - mu)) <= 0``.
        """
        block, L, mu = self.blocks[which], self.smoothness, self.strong_convexity
        lam, weight = multipliers, 1 / (2 * (L - mu))
        around = np.diag(lam.sum(1) + lam.sum(0)) - lam - lam.T  # sum of lam_ab (u_a - u_b)(v_a - v_b)'
        inner = lam.T - np.diag(lam.sum(0))  # sum of lam_ab <g_b, x_a - x_b>
        x, g = block.points, block.gradients
        bent = g - mu * x
        cross = g.T @ inner @ x
        total: Array = (cross + cross.T) / 2 + mu / 2 * (x.T @ around @ x) + weight * (bent.T @ around @ bent)
        return total

    def flow(self, rho: Any, potential: Any, multipliers: Array) -> Array:
        """What is left of every function value; the minimiser's, the first, is 0."""
        found: Array = multipliers.sum(0) - multipliers.sum(1)
        if self.ends:
            found[1] += rho * potential
            found[-1] -= potential
        return found

    def summed(
        self, rho: Any, means: Array, apart: Array, gamma: Any, multipliers: Array, noises: Array
    ) -> list[Array]:
        """Both blocks of the inequality above; ``gamma`` and ``noises`` are per unit of gradients."""
        found = []
        for which, P in enumerate((means, apart)):
            block = self.blocks[which]
            total = self.combined(multipliers, which)
            total[: len(P), : len(P)] += rho * P
            for factor, rows, whose in self.next[which]:
                total = total - factor * (rows.T @ self.unscaled((means, apart)[whose], whose) @ rows)
            if which and self.floored:
                column = len(self.round.apart) + self.round.gradients + self.ends
                total[column, column] += gamma
            for column, cost in zip(block.noise, noises[which], strict=True):
                total[column, column] += cost
            found.append(total)
        return found

    def left(
        self, rho: Any, means: Array, apart: Array, gamma: Any, multipliers: Array, noises: Array,
        unheard: tuple[Array, Array],
    ) -> list[Array]:  # fmt: skip
        """What must be a sum of squares: the same, with ``unheard`` where noise makes the mean 0."""
        found = self.summed(rho, means, apart, gamma, multipliers, noises)
        for total, places, values in zip(found, self.free, unheard, strict=True):
            for (i, j), x in zip(places, values, strict=True):
                total[i, j] = total[j, i] = x
        return found

    def unscaled(self, P: Array, which: int) -> Array:
        """The quadratic over coordinates in their own units, from that over powers of two of them."""
        units = self.units(which)
        return P / units[:, None] / units[None, :] if len(P) else P

    # ---- the program in floats ----

    @cached_property
    def free(self) -> list[list[tuple[int, int]]]:
        """The entries of both blocks that noise makes 0 in the mean."""
        return [
            [(i, column) for column, known in zip(block.noise, block.known, strict=True) for i in known]
            for block in self.blocks
        ]

    @cached_property
    def _places(self) -> list[slice]:
        """Where the unknowns stand: both quadratics, the loss's weight, gamma, multipliers, what noise costs, the rest.

        They are in units of gradients; those from the loss's weight to noise are at least 0.
        """
        n, k, noises = len(self.round.means), len(self.round.apart), len(self.blocks[0].noise)
        counts = [n * (n + 1) // 2, k * (k + 1) // 2, 1, 1, len(self.pairs), 2 * noises, *map(len, self.free)]
        ends = np.cumsum(counts)
        return [slice(end - count, end) for end, count in zip(ends.tolist(), counts, strict=True)]

    def _unpacked(self, y: Array) -> tuple[Array, Array, Any, Any, Array, Array]:
        """Both quadratics, the loss's weight, gamma, the multipliers and what noise costs."""
        P0, P1, potential, gamma, pairs, noises = (y[place] for place in self._places[:6])
        lam = np.zeros((self.evaluations, self.evaluations))
        if self.pairs:
            lam[tuple(np.array(self.pairs).T)] = pairs
        means, apart = _symmetric(P0, len(self.round.means)), _symmetric(P1, len(self.round.apart))
        return means, apart, potential[0], gamma[0], lam, noises.reshape(2, -1)

    @cached_property
    def _linear(self) -> tuple[list[Array], list[Array]]:
        """The function values, then by block what is left packed, as matrices over the unknowns.

        First the part that rho multiplies, then the rest.
        """
        width, bounded = self._places[-1].stop, self._places[5].stop
        several = [self._unpacked(row) for row in np.eye(bounded)]

        def rows(rho: float) -> list[Array]:
            columns = []
            for means, apart, potential, gamma, lam, noises in several:
                blocks = self.summed(rho, means, apart, gamma, lam / self.unit, noises)
                columns.append((self.flow(rho, potential, lam)[1:], *map(pack, blocks)))
            found = [np.array(parts).T for parts in zip(*columns, strict=True)]
            return [np.pad(part, ((0, 0), (0, width - bounded))) for part in found]

        alone = rows(0.0)
        times = [one - none for one, none in zip(rows(1.0), alone, strict=True)]
        for which, places in enumerate(self.free):  # entries that are anything; the known columns are earlier
            for column, (i, j) in enumerate(places, self._places[6 + which].start):
                alone[1 + which][j * (j + 1) // 2 + i, column] = 2**0.5
        return times, alone

    def solve(self, rho: float, weights: Weights, margin: float = 0.0) -> Sought:
        """The solution of the least weighted sum of start (per distance, per dissimilarity), floor and noise floor.

        ``margin`` is how far all that must be a sum of squares stays from having none.
        """
        clarabel = solver()
        (flows, *blocks), upright = self._at(rho), range(self._places[2].start, self._places[5].stop)
        width = flows.shape[1]
        parts: list[Any] = [sparse.csc_matrix(flows), _unit(upright, width)]
        right = [np.zeros(len(flows) + len(upright))]
        cones: list[Any] = [clarabel.ZeroConeT(len(flows)), clarabel.NonnegativeConeT(len(upright))]
        for block, rows in zip(self.blocks, blocks, strict=True):
            parts.append(sparse.csc_matrix(-rows))
            right.append(-margin * pack(np.eye(block.width)))
            cones.append(clarabel.PSDTriangleConeT(block.width))
        for which, size in enumerate((len(self.round.means), len(self.round.apart))):
            if size:  # the quadratics themselves, that of means above the squared distance
                i, j = triangle(size)
                place = self._places[which]
                parts.append(_unit(range(place.start, place.stop), width, np.where(i == j, 1.0, 2**0.5)))
                least = margin * np.eye(size)
                least[0, 0] += which == 0
                right.append(-pack(least))
                cones.append(clarabel.PSDTriangleConeT(size))
        matrix = sparse.vstack(parts, format="csc")
        matrix.eliminate_zeros()
        nothing, cost = sparse.csc_matrix((width, width)), self._cost(rho, weights)
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.max_iter, settings.max_threads = False, 200, 1
        settings.tol_gap_abs, settings.tol_gap_rel, settings.tol_feas = GAP, GAP, FEASIBLE
        try:
            found = answered(clarabel.DefaultSolver(nothing, cost, matrix, np.concatenate(right), cones, settings))
        except WorstCaseError as error:
            raise NotCertified(f"at contraction {rho:.6g} {error}") from None
        if str(found.status) not in ("Solved", "AlmostSolved"):
            raise NotCertified(f"nothing is certified at contraction {rho:.6g} (status {found.status})")
        return self._read(rho, np.array(found.x))

    def _at(self, rho: float) -> list[Array]:
        """The rows of function values and of both blocks at a contraction."""
        return [rho * times + alone for times, alone in zip(*self._linear, strict=True)]

    def _cost(self, rho: float, weights: Weights) -> Array:
        means, apart, potential, gamma, _, noises = self._places[:6]
        cost, unit = np.zeros(self._places[-1].stop), self.unit
        begin = self.round.start / self.units(0)
        cost[means] = weights[0] * _twice(begin)
        if self.steady is not None and len(self.round.apart):
            cost[apart] = weights[1] * _twice(self.steady / self.units(1))
        cost[potential] = weights[0] * self.smoothness / 2 / unit
        cost[gamma] = weights[2] / unit**2 / (1 - rho) if self.floored else 1.0
        if self.noise is not None:
            share, clients = weights[3] / unit**2 / (1 - rho), self.noise
            of_each = [share / clients, share * (1 - 1 / clients) + COST_OF_NONE]
            cost[noises] = np.repeat(of_each, len(self.blocks[0].noise))
        return cost

    def _read(self, rho: float, y: Array) -> Sought:
        unit = self.unit
        means, apart, potential, gamma, lam, noises = self._unpacked(y)
        blocks = [unpack(rows @ y, b.width) for b, rows in zip(self.blocks, self._at(rho)[1:], strict=True)]
        spare = min(float(np.linalg.eigvalsh(block)[0]) for block in blocks if len(block))
        unheard = [np.array([b[at] for at in own]) for b, own in zip(blocks, self.free, strict=True)]
        distance, dissimilarity = self.start(means, apart, potential / unit)
        return Sought(
            rho, means, apart, float(potential) / unit, float(gamma) / unit**2, lam / unit, float(distance),
            float(dissimilarity), noises / unit**2, (unheard[0], unheard[1]), self.noise or 1,
            spare, max(float(np.abs(b).max()) for b in blocks),
        )  # fmt: skip

    def start(self, means: Array, apart: Array, potential: Any) -> tuple[Any, Any]:
        """What the quadratic is before the first round, per ``|w_0 - w*|^2`` and per ``zeta^2``."""
        begin = self.round.start / self.units(0)
        distance = begin @ means @ begin + potential * self.smoothness / 2
        if self.steady is None or not len(self.round.apart):
            return distance, 0 * distance
        first = self.steady / self.units(1)
        return distance, first @ apart @ first


def solver() -> Any:
    """Clarabel, or one line on how to get it."""
    try:
        import clarabel
    except ImportError:
        raise WorstCaseError(INSTALL) from None
    return clarabel


def answered(problem: Any) -> Any:
    """What the solver found; where an eigenvalue does not converge it panics, with what is no ``Exception``."""
    try:
        return problem.solve()
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise WorstCaseError(f"the solver broke down ({error}): no number is given") from None


def noise_cost(noises: Array, clients: int) -> Any:
    """What independent noise of variance 1 of every client adds a round, by its mean and its deviations."""
    return noises[0].sum() / clients + noises[1].sum() * Fraction(clients - 1, clients)


def _unit(at: range, width: int, scale: Array | float = 1.0) -> Any:
    """Rows that put these unknowns into a cone."""
    return sparse.csc_matrix((-scale * np.ones(len(at)), (range(len(at)), at)), shape=(len(at), width))


def _twice(vector: Array) -> Array:
    """``<P vector, vector>`` as coefficients of the entries of P."""
    i, j = triangle(len(vector))
    found: Array = np.where(i == j, 1.0, 2.0) * vector[i] * vector[j]
    return found


def _symmetric(entries: Array, size: int) -> Array:
    matrix = np.zeros((size, size))
    i, j = triangle(size)
    matrix[i, j] = matrix[j, i] = entries
    return matrix
