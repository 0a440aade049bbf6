"""An interior-point solver whose multipliers are dual feasible at every step.

The multipliers of a general solver are slightly infeasible in the dual, and prove a bound only after a repair that
weakens it. Here the dual matrices are positive definite and function values cancel from the first step on, so the
bound is as close to the worst case as the duality gap. An early point of the path is a federation strictly inside its
class, and the last one nearly attains the bound.

The steps are those of Nesterov and Todd (1998) with the corrections of Mehrotra and Gondzio (1996). Each solves a
least-squares problem by normal equations with iterative refinement. The condition number reaches 1e10 at the end of the
path and the normal equations square it: if refinement does not converge, a QR factorisation with the largest rows
first is used instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack, qr, solve_triangular

from .program import Array, change_basis, normalise, pack, Program, Solution, unpack_blocks, WorstCaseError

TOLERANCE, SUFFICIENT, FIRST_GAP = 1e-4, 1e-6, 1e-7
"""Relative to the value: the accepted error, the error below which no other attempt is made, and the first gap.

Numbers closer to a worst case than ``TOLERANCE`` times its value are not distinguished from it."""
ABOUT_ZERO = 1e-9
"""An error below this share of the terms that add up to the value is accepted: the value is then about zero."""
VANISHING = 1e-26
"""Size of objective coefficients, relative to the largest of the constraints, that are rounding errors of squares; the
metric is then 0 on every federation."""
NO_NUMBER = (
    "no number is given: the worst case is infinite, no federation meets these assumptions, or their numbers are too "
    "far apart; bound the start (such as initial_distance_sq or initial_gap) and the clients' heterogeneity, take "
    "fewer steps, a step size nearer to 1/smoothness, or units in which smoothness and start are about 1"
)
MAX_STEPS = 150
PENALTY = 1e4
"""Cost of the artificial variable that makes the first dual point definite; it exceeds all squares together."""
SHORTEST = 1e-3
"""Step length below which the path ends."""
RECENTRE = 0.03
"""When the path is followed carefully, shorter steps are replaced by steps that only return to its centre."""
TO_BOUNDARY = 0.98
"""Share of the way to the boundary that a step goes; corrected steps go less far."""
MAX_CORRECTIONS, LONG_ENOUGH, MIN_GAIN = 3, 0.9, 0.02
"""Number of corrections of a step, step length that needs none, and length that a correction must gain."""
CENTRED = 0.1, 10.0
"""Range of complementarity products, relative to their target, that need no correction."""
MAX_REFINEMENTS, REFINED = 6, 1e-8
"""Number of refinements of a step, and the relative size of the last one."""
SMALLEST = 0.1
"""Lower limit of a first multiplier, relative to its usual size."""
INFEASIBLE = 1e-9
"""Residual up to which a point counts as a federation inside the class."""
ZERO = 1e-12
"""Values below this, in the program's units, count as this when a relative gap is computed."""


def optimum(program: Program) -> Solution:
    """Return the optimum to a relative accuracy of ``TOLERANCE``; raise ``WorstCaseError`` if that is not reached."""
    largest = max((float(np.abs(c.row).max(initial=0.0)) for c in program.constraints), default=1.0)
    if max(np.abs(goal).max(initial=0.0) for goal in program.objectives) <= VANISHING * max(largest, 1.0):
        weights = np.full(len(program.objectives), 1 / len(program.objectives))
        zero, multipliers = np.zeros(program.size), np.zeros(len(program.constraints))
        return Solution(0.0, 0.0, zero, zero, zero, multipliers, weights, 0, program.blocks)
    best, why = None, ""
    for gap, carefully in ((FIRST_GAP, False), (FIRST_GAP / 100, False), (FIRST_GAP, True)):
        try:
            solution = follow_path(program, gap, carefully)
        except WorstCaseError as error:
            why = why or str(error)
            continue
        best = solution if best is None or solution.doubt < best.doubt else best
        about_zero = ABOUT_ZERO * float((np.abs(np.array(program.objectives)) @ np.abs(best.x)).max())
        if best.doubt <= max(SUFFICIENT * abs(best.value), about_zero):
            return best
        why = f"the value {best.value:.6g} may be off by {best.doubt:.2g}"
    if best is None or best.doubt > TOLERANCE * abs(best.value):
        raise WorstCaseError(f"{NO_NUMBER} ({why})")
    return best


def follow_path(program: Program, gap: float, carefully: bool = False) -> Solution:
    """Return the solution with this relative duality gap.

    If multipliers must grow a thousandfold from the first ones, as with many local steps of non-convex clients, the
    first steps are too short; then the path is followed carefully, in more steps. Raises ``WorstCaseError`` if no point
    of the path is dual feasible.
    """
    normalised, units = normalise(program)
    path = Path(normalised)
    try:
        solution = path.follow(gap, carefully)
    except WorstCaseError:
        if carefully:
            raise
        solution = path.follow(gap, carefully=True)
    unknowns: dict[str, Any] = {name: getattr(solution, name) * units for name in ("x", "interior", "last_interior")}
    return replace(solution, **unknowns, doubt=doubt(normalised, solution))


@dataclass(frozen=True, eq=False)
class _Point:
    """A primal point (inner products, slacks, values) and the multipliers of the dual.

    ``values`` are the function values, and with several objectives their minimum.
    """

    grams: list[Array]
    slacks: Array
    values: Array
    multipliers: Array


class Path:
    """The central path of a normalised program.

    Multipliers are those of the constraints, of the objectives if there are several, and of the artificial variable.
    Those of function values must cancel: ``flows @ multipliers == due``.
    """

    def __init__(self, program: Program) -> None:
        self.program, self.packed = program, program.packed
        goals = np.array(program.objectives)
        self.scale, self.count = float(np.abs(goals).max()) or 1.0, len(program.constraints)
        goals = goals / self.scale
        rows = np.array([c.row for c in program.constraints])
        sizes = np.abs(rows).max(1)
        self.sizes = np.where(sizes > 0, sizes, 1.0)
        several = goals if len(goals) > 1 else goals[:0]
        unit = np.concatenate([*(pack(np.eye(n)) for n in program.blocks), np.zeros(program.value_count)])
        self.rows = np.concatenate([rows / self.sizes[:, None], -several, unit[None]])
        limits = np.array([float(c.limit) for c in program.constraints]) / self.sizes
        self.cost = np.concatenate([limits, np.zeros(len(several)), [PENALTY]])
        self.goal = np.zeros(program.size) if len(several) else goals[0]
        self.flows, self.due = self.rows[:, self.packed :].T, self.goal[self.packed :]
        if len(several):  # their multipliers are weights
            weights = np.zeros(len(self.cost))
            weights[self.count : -1] = 1.0
            self.flows, self.due = np.vstack([self.flows, weights]), np.append(self.due, 1.0)

    def follow(self, gap: float, carefully: bool = False) -> Solution:
        """Return the solution with this relative gap; ``carefully`` begins at a point with equal products."""
        at, last, most_slack = self._start_point(), None, 0.0
        at = self._balanced(at) if carefully else at
        interior: _Point | None = None
        last_interior: _Point | None = None
        order = sum(self.program.blocks) + len(self.cost)
        for count in range(MAX_STEPS):
            self.program.check_time()
            dual = self._dual_blocks(at.multipliers)
            residuals = self._residuals(at)
            pairs = zip(at.grams, dual, strict=True)
            mu = (sum(float((a * b).sum()) for a, b in pairs) + float(at.multipliers @ at.slacks)) / order
            without_artificial = at.multipliers * (np.arange(len(self.cost)) < len(self.cost) - 1)
            if min(float(np.linalg.eigvalsh(s)[0]) for s in self._dual_blocks(without_artificial)) > 0:
                last = at, without_artificial, count
            slack = float((at.slacks + residuals)[:-1].min())
            if slack > most_slack and np.abs(residuals[:-1]).max() < INFEASIBLE:
                interior, most_slack = at, slack
            last_interior = at if slack > 0 else last_interior
            if last is not None and order * mu < gap * max(abs(float(self.cost @ without_artificial)), ZERO):
                break
            closed = order * mu < gap / 100 * max(abs(float(self.cost @ at.multipliers)), ZERO)
            if last is None and closed:  # the dual has no interior, for example if nothing bounds the initial distance
                last = at, at.multipliers, count
                break
            try:
                at, length = self._step(at, dual, residuals, mu, RECENTRE if carefully else 0.0)
            except (np.linalg.LinAlgError, ValueError):  # a number is no longer finite
                break
            if length < SHORTEST:
                break
        if last is None:
            raise WorstCaseError("no multipliers leave a sum of squares: the solver did not come inside the dual")
        point, multipliers, count = last
        x, deepest, last_inside = (self._primal(p or point) for p in (point, interior, last_interior))
        value, bound = min(float(o @ x) for o in self.program.objectives), float(self.cost @ multipliers) * self.scale
        weights = multipliers[self.count : -1] if len(self.program.objectives) > 1 else np.ones(1)
        prices = multipliers[: self.count] * self.scale / self.sizes
        return Solution(value, bound, x, deepest, last_inside, prices, weights, count, self.program.blocks)

    # ---- points ----

    def _start_point(self) -> _Point:
        """Return a dual feasible point; the primal one need not be feasible."""
        z = np.append(np.ones(len(self.cost) - 1), 0.0)
        z[: self.count] = self.sizes / np.median(self.sizes)  # equal flows in both directions, which cancel
        for relative, size in product((False, True), 2.0 ** np.arange(60)):  # relative if the sizes differ much
            at, weights = size * z, z if relative else np.ones(len(z))
            start = at + weights * np.linalg.lstsq(self.flows * weights, self.due - self.flows @ at, rcond=None)[0]
            if (start[:-1] > SMALLEST * at[:-1]).all():
                break
        else:
            raise WorstCaseError("function values do not cancel with positive multipliers")
        start[-1] = 0.0
        start[-1] = 1 + 2 * max(0.0, -min(float(np.linalg.eigvalsh(s)[0]) for s in self._dual_blocks(start)))
        grams = [np.eye(n) for n in self.program.blocks]
        slacks = np.maximum(1.0, self.cost - self.rows[:, : self.packed] @ _packed(grams))
        return _Point(grams, slacks, np.zeros(len(self.due)), start)

    def _balanced(self, at: _Point) -> _Point:
        """Return a point with the same multipliers and equal complementarity products; it need not be feasible."""
        dual = self._dual_blocks(at.multipliers)
        mu = float(np.median(np.concatenate([np.linalg.eigvalsh(s) for s in dual])))
        return _Point([mu * np.linalg.inv(s) for s in dual], mu / at.multipliers, at.values, at.multipliers)

    def _dual_blocks(self, multipliers: Array) -> list[Array]:
        """Return the dual slack matrices, which must be positive semidefinite."""
        return unpack_blocks(multipliers @ self.rows - self.goal, self.program.blocks)

    def _residuals(self, at: _Point) -> Array:
        """Return the residuals of the constraints with their slacks."""
        left_side = self.rows[:, : self.packed] @ _packed(at.grams)
        residuals: Array = self.cost - left_side - self.flows.T @ at.values - at.slacks
        return residuals

    def _primal(self, at: _Point) -> Array:
        """Return the unknowns of the program at a point."""
        return np.concatenate([_packed(at.grams), at.values[: self.program.value_count]])

    # ---- steps ----

    def _step(self, at: _Point, dual: list[Array], residuals: Array, mu: float, least: float) -> tuple[_Point, float]:
        """Return the next point and the step length; steps shorter than ``least`` are replaced by centring steps."""
        step = _Scaled(self, at, dual, residuals)
        lengths, slacks = step.lengths, step.slacks
        predictor = step.towards([-np.diag(x) for x in lengths], -slacks)
        primal_length, dual_length = step.step_lengths(predictor)
        after = float((slacks + primal_length * predictor.slacks) @ (slacks + dual_length * predictor.multipliers))
        for x, a, b in zip(lengths, predictor.grams, predictor.dual, strict=True):
            after += float(((np.diag(x) + primal_length * a) * (np.diag(x) + dual_length * b)).sum())
        share = after / (mu * (sum(map(len, lengths)) + len(slacks)))
        target_mu = mu * min(1.0, max(share, 1e-4) ** 2)
        target = []
        for x, a, b in zip(lengths, predictor.grams, predictor.dual, strict=True):
            both = a @ b
            target.append(np.diag(target_mu / x - x) - (both + both.T) / (x[:, None] + x[None, :]))
        to_boundary = 0.9 + 0.09 * min(primal_length, dual_length)
        rest = target_mu / slacks - slacks - predictor.slacks * predictor.multipliers / slacks
        direction = step.towards(target, rest)
        primal_length, dual_length = step.step_lengths(direction, to_boundary)
        for _ in range(MAX_CORRECTIONS):
            if min(primal_length, dual_length) > LONG_ENOUGH:
                break
            target, rest = step.corrected(target, rest, direction, target_mu, (primal_length, dual_length))
            other = step.towards(target, rest)
            longer = step.step_lengths(other, to_boundary)
            if sum(longer) < primal_length + dual_length + MIN_GAIN:
                break
            direction, (primal_length, dual_length) = other, longer
        if max(primal_length, dual_length) < least:
            direction = step.towards([np.diag(mu / x - x) for x in lengths], mu / slacks - slacks)
            primal_length, dual_length = step.step_lengths(direction)
        grams = [G @ m @ G.T for G, m in zip(step.frames, direction.grams, strict=True)]
        unpaid = step.d * (residuals - self.rows[:, : self.packed] @ _packed(grams)) - direction.slacks
        values = np.linalg.lstsq(self.flows.T * step.d[:, None], unpaid, rcond=None)[0]
        point = _Point(
            [a + primal_length * (m + m.T) / 2 for a, m in zip(at.grams, grams, strict=True)],
            at.slacks + primal_length * direction.slacks / step.d,
            at.values + primal_length * values,
            at.multipliers + dual_length * step.d * direction.multipliers,
        )
        return point, max(primal_length, dual_length)


@dataclass(frozen=True, eq=False)
class _Direction:
    """A primal (``grams``, ``slacks``) and dual (``dual``, ``multipliers``) step in scaled coordinates."""

    grams: list[Array]
    slacks: Array
    dual: list[Array]
    multipliers: Array


class _Scaled:
    """A point in Nesterov and Todd's coordinates, in which primal and dual are equal.

    The matrices are diagonal with the entries ``lengths``; slacks and multipliers are both ``slacks``: the slacks are
    multiplied by ``d`` and the multipliers divided by it. ``wide`` and ``line`` belong to the free multipliers.
    """

    def __init__(self, path: Path, at: _Point, dual: list[Array], residuals: Array) -> None:
        self.path = path
        self.frames, self.lengths = [], []
        for gram, square in zip(at.grams, dual, strict=True):
            one, other = np.linalg.cholesky(square), np.linalg.cholesky(gram)
            _, lengths, turn = np.linalg.svd(one.T @ other)
            self.frames.append(other @ turn.T / np.sqrt(lengths))
            self.lengths.append(lengths)
        self.d, self.slacks = np.sqrt(at.multipliers / at.slacks), np.sqrt(at.multipliers * at.slacks)
        pieces, begin = [], 0
        for frame in self.frames:
            end = begin + len(frame) * (len(frame) + 1) // 2
            pieces.append(change_basis(path.rows[:, begin:end], frame))
            begin = end
        self.rows = np.concatenate(pieces, axis=1) * self.d[:, None]
        # the flow equations determine some multipliers (bound) from the others (free): bound = due - elimination @ free
        flows = path.flows * self.d
        self.bound = qr(flows, mode="r", pivoting=True)[1][: len(flows)]
        self.free = np.setdiff1d(np.arange(len(self.d)), self.bound)
        bound_flows = flows[:, self.bound]
        self.elimination = np.linalg.solve(bound_flows, flows[:, self.free])
        self.due = np.zeros(len(self.d))
        self.due[self.bound] = np.linalg.solve(bound_flows, path.due - path.flows @ at.multipliers)
        self.wide = self.rows[self.free] - self.elimination.T @ self.rows[self.bound]
        line = self.d * residuals
        self.line = line[self.free] - self.elimination.T @ line[self.bound]

    @cached_property
    def normal(self) -> tuple[Any, Array] | None:
        """A Cholesky factor of the normal equations, scaled to a unit diagonal, and the scale; None if not definite."""
        square = self.wide @ self.wide.T + self.elimination.T @ self.elimination
        square[np.diag_indices_from(square)] += 1.0
        scale = 1 / np.sqrt(np.diag(square))
        square *= scale
        square *= scale[:, None]
        try:
            return cho_factor(square, overwrite_a=True, check_finite=False), scale
        except np.linalg.LinAlgError:
            return None

    @cached_property
    def orthogonal(self) -> tuple[Array, Array, Array, Array]:
        """A QR factorisation of the least-squares matrix: order of the rows, reflections, their factors, triangle."""
        tall = np.concatenate([self.wide.T, np.eye(len(self.free)), -self.elimination])
        order = np.argsort(-np.abs(tall).max(1), kind="stable")  # the largest rows first
        raw: Any = qr(tall[order], mode="raw", overwrite_a=True, check_finite=False)
        (reflections, factors), triangle = raw
        return order, reflections, factors, triangle[: len(self.free)]

    def towards(self, grams: Sequence[Array], slacks: Array) -> _Direction:
        """Return the direction whose primal and dual parts add up to these matrices and slacks."""
        rest = slacks - self.due
        right = _packed(grams) - self.due @ self.rows
        y = self._by_normal_equations(right, rest)
        y = self._by_orthogonal_factor(right, rest) if y is None else y
        multipliers = self.due.copy()
        multipliers[self.free] += y
        multipliers[self.bound] -= self.elimination @ y
        dual = unpack_blocks(multipliers @ self.rows, self.path.program.blocks)
        return _Direction([a - b for a, b in zip(grams, dual, strict=True)], slacks - multipliers, dual, multipliers)

    def _by_normal_equations(self, right: Array, rest: Array) -> Array | None:
        """Return the free multipliers, or None if the refinement does not converge."""
        if self.normal is None:
            return None
        factor, scale = self.normal
        y = np.zeros(len(self.free))
        for _ in range(MAX_REFINEMENTS):
            ahead = self.wide @ (right - y @ self.wide) + rest[self.free] - y - self.line
            ahead -= (rest[self.bound] + self.elimination @ y) @ self.elimination
            change = scale * cho_solve(factor, scale * ahead, check_finite=False)
            y += change
            if np.abs(change).max() <= REFINED * np.abs(y).max():
                return y
        return None

    def _by_orthogonal_factor(self, right: Array, rest: Array) -> Array:
        """Return the free multipliers."""
        order, reflections, factors, triangle = self.orthogonal
        tall = np.concatenate([right, rest[self.free], rest[self.bound]])[order]
        size = len(self.free)
        rotated = lapack.dormqr("L", "T", reflections, factors, tall[:, None], 64 * size)[0][:size, 0]
        return solve_triangular(triangle, rotated - solve_triangular(triangle, self.line, trans="T"))

    def corrected(
        self, grams: Sequence[Array], slacks: Array, direction: _Direction, mu: float, lengths: tuple[float, float]
    ) -> tuple[list[Array], Array]:
        """Return a target whose direction, after longer steps than ``lengths``, has products close to ``mu``."""
        one, other = (min(1.0, 1.5 * length + 0.1) for length in lengths)
        target = []
        for x, gram, a, b in zip(self.lengths, grams, direction.grams, direction.dual, strict=True):
            product = (np.diag(x) + one * a) @ (np.diag(x) + other * b)
            sizes, axes = np.linalg.eigh((product + product.T) / 2)
            target.append(gram + (axes * _correction(sizes, mu)) @ axes.T * 2 / (x[:, None] + x[None, :]))
        products = (self.slacks + one * direction.slacks) * (self.slacks + other * direction.multipliers)
        return target, slacks + _correction(products, mu) / self.slacks

    def step_lengths(self, direction: _Direction, to_boundary: float = TO_BOUNDARY) -> tuple[float, float]:
        """Return the primal and the dual step length."""
        primal_length = self._step_length(direction.grams, direction.slacks, to_boundary)
        return primal_length, self._step_length(direction.dual, direction.multipliers, to_boundary)

    def _step_length(self, blocks: Sequence[Array], numbers: Array, to_boundary: float) -> float:
        """Return the share of the way to the boundary, at most 1."""
        worst = min(0.0, float((numbers / self.slacks).min()))
        for x, block in zip(self.lengths, blocks, strict=True):
            root = np.sqrt(x)
            worst = min(worst, float(np.linalg.eigvalsh(block / root[:, None] / root[None, :])[0]))
        return min(1.0, -to_boundary / worst) if worst else 1.0


def _correction(products: Array, mu: float) -> Array:
    """Return what moves products into the range ``CENTRED`` around ``mu``, limited from below."""
    low, high = CENTRED
    return np.asarray(np.maximum(np.clip(products, low * mu, high * mu) - products, -high * mu))


def _packed(blocks: Sequence[Array]) -> Array:
    return np.concatenate([pack(block) for block in blocks])


# ---- accuracy of a solution ----


def doubt(program: Program, solution: Solution) -> float:
    """Return a first-order bound on the error of the value, from the gap and all primal and dual violations.

    A value that is small relative to the numbers of the program may be smaller than the violations.
    """
    rows = np.array([c.row for c in program.constraints])
    violations = np.maximum(rows @ solution.x - np.array([c.limit for c in program.constraints]), 0.0)
    slack = solution.multipliers @ rows - np.array(program.objectives).T @ solution.weights
    total = solution.gap + float(np.abs(solution.multipliers) @ violations)
    total += abs(float(np.sum(solution.weights)) - 1) * abs(solution.value)
    for gram, dual in zip(solution.grams, unpack_blocks(slack, program.blocks), strict=True):
        for one, other in ((gram, dual), (dual, gram)):  # a negative eigenvalue counts with the other's trace
            total += max(-float(np.linalg.eigvalsh(one)[0]), 0.0) * max(float(np.trace(other)), 0.0)
    if program.value_count:  # values are as large as in the solution, or as the inner products in their inequalities
        with_values = np.abs(rows[:, program.packed :]).max(1) > 0
        terms: Any = np.abs(rows[with_values, : program.packed] * solution.x[: program.packed]).max(initial=0.0)
        largest = max(float(terms), float(np.abs(solution.x[program.packed :]).max()))
        total += float(np.abs(slack[program.packed :]).sum()) * largest
    return total if np.isfinite(total) else float("inf")
