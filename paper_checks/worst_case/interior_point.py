"""Multipliers that prove at every moment: a program and its dual along their central path, solved by least squares.

A solver that comes from outside of the dual returns multipliers that prove nothing, by a little, and the bound pays for
mending them. Here what is left of the inequalities is definite and function values cancel from the first step on, so
that nothing needs mending, and the bound is as near to the worst case as the path is followed. An early point of the
path is a federation strictly inside of its class, the last one nearly attains the bound.

Steps are those of Nesterov and Todd (1998) with Mehrotra's correction and Gondzio's (1996). Each is the solution of a
least-squares problem, found from normal equations and refined. They square a condition that reaches 1e10 at the end of
the path: where refining does not converge an orthogonal factor with its largest rows first takes their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack, qr, solve_triangular

from .coordinates import Array, pack, unpacked
from .program import normalised, Program, Solved, turned, WorstCaseError

DOUBT, SURE, AIM = 1e-4, 1e-6, 1e-7
"""Relative to the value: the doubt that is accepted, that after which nothing else is tried, and the first gap.

A worst case is known to ``DOUBT`` of itself: nothing closer than that is distinguished from it."""
ABOUT_ZERO = 1e-9
"""A doubt below this share of the numbers that the value is the sum of is one about zero, and accepted."""
VANISHING = 1e-26
"""Coefficients of an objective that are nothing but rounding, relative to the largest of the constraints (squares, as
they are): the metric is 0 on every federation."""
NO_NUMBER = (
    "no number is given: the worst case is infinite, no federation meets these assumptions, or their numbers are too "
    "far apart; bound the start (such as initial_distance_sq or initial_gap) and the clients' heterogeneity, take "
    "fewer steps, a step size nearer to 1/smoothness, or units in which smoothness and start are about 1"
)
STEPS = 150
PENALTY = 1e4
"""Cost of the artificial variable that makes a first point definite: more than all squares together, in good units."""
SHORT = 1e-3
"""Steps of which the path is not followed any further."""
POOR = 0.03
"""Steps below it lead back to the path, not along it, where the path is followed carefully."""
EDGE = 0.98
"""How far a step goes towards the edge; a corrected one less far, by the length of what it corrects."""
CORRECTED, LONG, MORE = 3, 0.9, 0.02
"""How often a step is corrected at most, how long one is that needs no correction, by how much one must lengthen it."""
NEAR = 0.1, 10.0
"""Products of both sides that are near their aim, relative to it: others are corrected."""
REFINED, SETTLED = 6, 1e-8
"""Solutions of the normal equations for a step at most, and the last one's size, relative to the step."""
LEAST = 0.1
"""A first multiplier, relative to the usual one, at least."""
OFF = 1e-9
"""How far the equations of a federation may be off for it to be one inside."""
NOTHING = 1e-12
"""A worst case below this, in good units, is known when the gap is about that small."""


def optimum(program: Program) -> Solved:
    """The optimum, right to ``DOUBT``; ``WorstCaseError`` where there is none, or none that is sure."""
    largest = max((float(np.abs(c.row).max(initial=0.0)) for c in program.constraints), default=1.0)
    if max(np.abs(goal).max(initial=0.0) for goal in program.objectives) <= VANISHING * max(largest, 1.0):
        weights = np.full(len(program.objectives), 1 / len(program.objectives))
        zero, none = np.zeros(program.size), np.zeros(len(program.constraints))
        return Solved(0.0, 0.0, zero, zero, zero, none, weights, 0, program.blocks)
    best, why = None, ""
    for gap, carefully in ((AIM, False), (AIM / 100, False), (AIM, True)):
        try:
            found = followed(program, gap, carefully)
        except WorstCaseError as error:
            why = why or str(error)
            continue
        best = found if best is None or found.doubt < best.doubt else best
        about_zero = ABOUT_ZERO * float((np.abs(np.array(program.objectives)) @ np.abs(best.x)).max())
        if best.doubt <= max(SURE * abs(best.value), about_zero):
            return best
        why = f"the value {best.value:.6g} may be off by {best.doubt:.2g}"
    if best is None or best.doubt > DOUBT * abs(best.value):
        raise WorstCaseError(f"{NO_NUMBER} ({why})")
    return best


def followed(program: Program, gap: float, carefully: bool = False) -> Solved:
    """The path up to a duality gap, relative to the value; ``WorstCaseError`` where it never gets inside the dual.

    Where multipliers must grow a thousandfold from the first ones on, as with many local steps of non-convex clients,
    the first steps are too short to get anywhere: then the path is followed carefully, which takes more steps.
    """
    stated, units = normalised(program)
    path = Path(stated)
    try:
        found = path.follow(gap, carefully)
    except WorstCaseError:
        if carefully:
            raise
        found = path.follow(gap, carefully=True)
    unknowns: dict[str, Any] = {name: getattr(found, name) * units for name in ("x", "inside", "near")}
    return replace(found, **unknowns, doubt=doubt(stated, found))


@dataclass(frozen=True, eq=False)
class _Point:
    """Inner products and slacks of the program, multipliers of its dual; ``values`` are what flows are paid with."""

    grams: list[Array]
    slacks: Array
    values: Array
    multipliers: Array


class Path:
    """The program in good units: multipliers of constraints, of several objectives, of the artificial variable."""

    def __init__(self, program: Program) -> None:
        self.program, self.packed = program, program.packed
        goals = np.array(program.objectives)
        self.scale, self.count = float(np.abs(goals).max()) or 1.0, len(program.constraints)
        goals = goals / self.scale
        rows = np.array([c.row for c in program.constraints])
        sizes = np.abs(rows).max(1)
        self.sizes = np.where(sizes > 0, sizes, 1.0)
        several = goals if len(goals) > 1 else goals[:0]
        unit = np.concatenate([*(pack(np.eye(n)) for n in program.blocks), np.zeros(program.values)])
        self.rows = np.concatenate([rows / self.sizes[:, None], -several, unit[None]])
        limits = np.array([float(c.limit) for c in program.constraints]) / self.sizes
        self.cost = np.concatenate([limits, np.zeros(len(several)), [PENALTY]])
        self.goal = np.zeros(program.size) if len(several) else goals[0]
        self.flows, self.due = self.rows[:, self.packed :].T, self.goal[self.packed :]
        if len(several):  # their multipliers are weights
            weights = np.zeros(len(self.cost))
            weights[self.count : -1] = 1.0
            self.flows, self.due = np.vstack([self.flows, weights]), np.append(self.due, 1.0)

    def follow(self, gap: float, carefully: bool = False) -> Solved:
        """From a first point, or ``carefully`` from one where all products of both sides are equal."""
        at, last, room = self._first(), None, 0.0
        at = self._centred(at) if carefully else at
        inside: _Point | None = None
        near: _Point | None = None
        order = sum(self.program.blocks) + len(self.cost)
        for count in range(STEPS):
            self.program.check_time()
            left = self._left(at.multipliers)
            off = self._off(at)
            pairs = zip(at.grams, left, strict=True)
            mu = (sum(float((a * b).sum()) for a, b in pairs) + float(at.multipliers @ at.slacks)) / order
            bare = at.multipliers * (np.arange(len(self.cost)) < len(self.cost) - 1)
            if min(float(np.linalg.eigvalsh(s)[0]) for s in self._left(bare)) > 0:
                last = at, bare, count
            spare = float((at.slacks + off)[:-1].min())
            if spare > room and np.abs(off[:-1]).max() < OFF:
                inside, room = at, spare
            near = at if spare > 0 else near
            if last is not None and order * mu < gap * max(abs(float(self.cost @ bare)), NOTHING):
                break
            closed = order * mu < gap / 100 * max(abs(float(self.cost @ at.multipliers)), NOTHING)
            if last is None and closed:  # the dual has no inside, as where nothing bounds how far away the start is
                last = at, at.multipliers, count
                break
            try:
                at, length = self._next(at, left, off, mu, POOR if carefully else 0.0)
            except (np.linalg.LinAlgError, ValueError):  # no number any more
                break
            if length < SHORT:
                break
        if last is None:
            raise WorstCaseError("no multipliers leave a sum of squares: the solver did not come inside the dual")
        x, within, nearest = (self._unknowns(found or last[0]) for found in (last[0], inside, near))
        _, multipliers, count = last
        weights = multipliers[self.count : -1] if len(self.program.objectives) > 1 else np.ones(1)
        value, beyond = min(float(o @ x) for o in self.program.objectives), float(self.cost @ multipliers) * self.scale
        prices = multipliers[: self.count] * self.scale / self.sizes
        return Solved(value, beyond, x, within, nearest, prices, weights, count, self.program.blocks)

    # ---- points ----

    def _first(self) -> _Point:
        z = np.append(np.ones(len(self.cost) - 1), 0.0)
        z[: self.count] = self.sizes / np.median(self.sizes)  # flows there and back are alike, and cancel
        for relative, size in product((False, True), 2.0 ** np.arange(60)):  # sizes far apart change relative to theirs
            at, weights = size * z, z if relative else np.ones(len(z))
            near = at + weights * np.linalg.lstsq(self.flows * weights, self.due - self.flows @ at, rcond=None)[0]
            if (near[:-1] > LEAST * at[:-1]).all():
                break
        else:
            raise WorstCaseError("function values do not cancel with positive multipliers")
        near[-1] = 0.0
        near[-1] = 1 + 2 * max(0.0, -min(float(np.linalg.eigvalsh(s)[0]) for s in self._left(near)))
        grams = [np.eye(n) for n in self.program.blocks]
        slacks = np.maximum(1.0, self.cost - self.rows[:, : self.packed] @ _packed(grams))
        return _Point(grams, slacks, np.zeros(len(self.due)), near)

    def _centred(self, at: _Point) -> _Point:
        """The same multipliers with inner products and slacks in balance; what that breaks is mended on the way."""
        left = self._left(at.multipliers)
        mu = float(np.median(np.concatenate([np.linalg.eigvalsh(s) for s in left])))
        return _Point([mu * np.linalg.inv(s) for s in left], mu / at.multipliers, at.values, at.multipliers)

    def _left(self, multipliers: Array) -> list[Array]:
        """What must be a sum of squares, block by block."""
        return unpacked(multipliers @ self.rows - self.goal, self.program.blocks)

    def _off(self, at: _Point) -> Array:
        """By how much the slacks are not what the inequalities leave."""
        off: Array = self.cost - self.rows[:, : self.packed] @ _packed(at.grams) - self.flows.T @ at.values - at.slacks
        return off

    def _unknowns(self, at: _Point) -> Array:
        return np.concatenate([_packed(at.grams), at.values[: self.program.values]])

    # ---- steps ----

    def _next(self, at: _Point, left: list[Array], off: Array, mu: float, poor: float) -> tuple[_Point, float]:
        """The next point, and how far towards it the step went; one below ``poor`` is made again without correction."""
        step = _Scaled(self, at, left, off)
        lengths, slacks = step.lengths, step.slacks
        first = step.towards([-np.diag(x) for x in lengths], -slacks)
        one, other = step.reaches(first)
        after = float((slacks + one * first.slacks) @ (slacks + other * first.multipliers))
        for x, a, b in zip(lengths, first.grams, first.left, strict=True):
            after += float(((np.diag(x) + one * a) * (np.diag(x) + other * b)).sum())
        share = after / (mu * (sum(map(len, lengths)) + len(slacks)))
        aim = mu * min(1.0, max(share, 1e-4) ** 2)
        wanted = []
        for x, a, b in zip(lengths, first.grams, first.left, strict=True):
            both = a @ b
            wanted.append(np.diag(aim / x - x) - (both + both.T) / (x[:, None] + x[None, :]))
        edge = 0.9 + 0.09 * min(one, other)
        rest = aim / slacks - slacks - first.slacks * first.multipliers / slacks
        found = step.towards(wanted, rest)
        one, other = step.reaches(found, edge)
        for _ in range(CORRECTED):
            if min(one, other) > LONG:
                break
            wanted, rest = step.corrected(wanted, rest, found, aim, (one, other))
            again = step.towards(wanted, rest)
            longer = step.reaches(again, edge)
            if sum(longer) < one + other + MORE:
                break
            found, (one, other) = again, longer
        if max(one, other) < poor:
            found = step.towards([np.diag(mu / x - x) for x in lengths], mu / slacks - slacks)
            one, other = step.reaches(found)
        moved = [G @ m @ G.T for G, m in zip(step.frames, found.grams, strict=True)]
        paid = step.d * (off - self.rows[:, : self.packed] @ _packed(moved)) - found.slacks
        values = np.linalg.lstsq(self.flows.T * step.d[:, None], paid, rcond=None)[0]
        new = _Point(
            [a + one * (m + m.T) / 2 for a, m in zip(at.grams, moved, strict=True)],
            at.slacks + one * found.slacks / step.d,
            at.values + one * values,
            at.multipliers + other * step.d * found.multipliers,
        )
        return new, max(one, other)


@dataclass(frozen=True, eq=False)
class _Direction:
    """A step in scaled coordinates, of what is primal and of what is dual."""

    grams: list[Array]
    slacks: Array
    left: list[Array]
    multipliers: Array


class _Scaled:
    """A point in Nesterov and Todd's coordinates, in which both sides are the same: ``lengths`` and ``slacks``."""

    def __init__(self, path: Path, at: _Point, left: list[Array], off: Array) -> None:
        self.path = path
        self.frames, self.lengths = [], []
        for gram, square in zip(at.grams, left, strict=True):
            one, other = np.linalg.cholesky(square), np.linalg.cholesky(gram)
            _, lengths, turn = np.linalg.svd(one.T @ other)
            self.frames.append(other @ turn.T / np.sqrt(lengths))
            self.lengths.append(lengths)
        self.d, self.slacks = np.sqrt(at.multipliers / at.slacks), np.sqrt(at.multipliers * at.slacks)
        pieces, begin = [], 0
        for frame in self.frames:
            end = begin + len(frame) * (len(frame) + 1) // 2
            pieces.append(turned(path.rows[:, begin:end], frame))
            begin = end
        self.rows = np.concatenate(pieces, axis=1) * self.d[:, None]
        # flows are met by the multipliers that are freest to move, by what the others do
        flows = path.flows * self.d
        self.bound = qr(flows, mode="r", pivoting=True)[1][: len(flows)]
        self.free = np.setdiff1d(np.arange(len(self.d)), self.bound)
        held = flows[:, self.bound]
        self.by = np.linalg.solve(held, flows[:, self.free])
        self.due = np.zeros(len(self.d))
        self.due[self.bound] = np.linalg.solve(held, path.due - path.flows @ at.multipliers)
        self.wide = self.rows[self.free] - self.by.T @ self.rows[self.bound]
        line = self.d * off
        self.line = line[self.free] - self.by.T @ line[self.bound]

    @cached_property
    def normal(self) -> tuple[Any, Array] | None:
        """A triangular factor of the normal equations with a diagonal of ones, and their scale."""
        square = self.wide @ self.wide.T + self.by.T @ self.by
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
        """The order of the rows, the largest first, reflections, their factors and the triangle of what is left."""
        tall = np.concatenate([self.wide.T, np.eye(len(self.free)), -self.by])
        order = np.argsort(-np.abs(tall).max(1), kind="stable")
        raw: Any = qr(tall[order], mode="raw", overwrite_a=True, check_finite=False)
        (turns, factors), triangle = raw
        return order, turns, factors, triangle[: len(self.free)]

    def towards(self, grams: Sequence[Array], slacks: Array) -> _Direction:
        """The step whose two sides add up to this, in inner products and in slacks."""
        rest = slacks - self.due
        right = _packed(grams) - self.due @ self.rows
        y = self._refined(right, rest)
        y = self._turned(right, rest) if y is None else y
        moved = self.due.copy()
        moved[self.free] += y
        moved[self.bound] -= self.by @ y
        left = unpacked(moved @ self.rows, self.path.program.blocks)
        return _Direction([a - b for a, b in zip(grams, left, strict=True)], slacks - moved, left, moved)

    def _refined(self, right: Array, rest: Array) -> Array | None:
        """The free multipliers by normal equations; None where they do not converge."""
        if self.normal is None:
            return None
        factor, scale = self.normal
        y = np.zeros(len(self.free))
        for _ in range(REFINED):
            ahead = self.wide @ (right - y @ self.wide) + rest[self.free] - y - self.line
            ahead -= (rest[self.bound] + self.by @ y) @ self.by
            change = scale * cho_solve(factor, scale * ahead, check_finite=False)
            y += change
            if np.abs(change).max() <= SETTLED * np.abs(y).max():
                return y
        return None

    def _turned(self, right: Array, rest: Array) -> Array:
        """The free multipliers by an orthogonal factor."""
        order, turns, factors, triangle = self.orthogonal
        tall = np.concatenate([right, rest[self.free], rest[self.bound]])[order]
        seen = lapack.dormqr("L", "T", turns, factors, tall[:, None], 64 * len(self.free))[0][: len(self.free), 0]
        return solve_triangular(triangle, seen - solve_triangular(triangle, self.line, trans="T"))

    def corrected(
        self, grams: Sequence[Array], slacks: Array, found: _Direction, aim: float, lengths: tuple[float, float]
    ) -> tuple[list[Array], Array]:
        """What to step towards instead, so that after longer steps than these all products of both sides are near."""
        one, other = (min(1.0, 1.5 * length + 0.1) for length in lengths)
        wanted = []
        for x, gram, a, b in zip(self.lengths, grams, found.grams, found.left, strict=True):
            product = (np.diag(x) + one * a) @ (np.diag(x) + other * b)
            sizes, axes = np.linalg.eigh((product + product.T) / 2)
            wanted.append(gram + (axes * _missing(sizes, aim)) @ axes.T * 2 / (x[:, None] + x[None, :]))
        products = (self.slacks + one * found.slacks) * (self.slacks + other * found.multipliers)
        return wanted, slacks + _missing(products, aim) / self.slacks

    def reaches(self, found: _Direction, edge: float = EDGE) -> tuple[float, float]:
        """How far a step may go on both sides."""
        return self.reach(found.grams, found.slacks, edge), self.reach(found.left, found.multipliers, edge)

    def reach(self, blocks: Sequence[Array], numbers: Array, edge: float) -> float:
        """How far one side may go: at most 1, and not over the edge."""
        worst = min(0.0, float((numbers / self.slacks).min()))
        for x, block in zip(self.lengths, blocks, strict=True):
            root = np.sqrt(x)
            worst = min(worst, float(np.linalg.eigvalsh(block / root[:, None] / root[None, :])[0]))
        return min(1.0, -edge / worst) if worst else 1.0


def _missing(products: Array, aim: float) -> Array:
    """What products lack to be near their aim, or have too much."""
    low, high = NEAR
    missing: Array = np.maximum(np.clip(products, low * aim, high * aim) - products, -high * aim)
    return missing


def _packed(blocks: Sequence[Array]) -> Array:
    return np.concatenate([pack(block) for block in blocks])


# ---- how sure a solution is ----


def doubt(program: Program, found: Solved) -> float:
    """By how much the gap, broken constraints, inner products and multipliers may have moved the value, to first order.

    Where values are small beside the numbers of a program a solution may break constraints by more than the value.
    """
    rows = np.array([c.row for c in program.constraints])
    broken = np.maximum(rows @ found.x - np.array([c.limit for c in program.constraints]), 0.0)
    slack = found.multipliers @ rows - np.array(program.objectives).T @ found.weights
    total = found.gap + float(np.abs(found.multipliers) @ broken)
    total += abs(float(np.sum(found.weights)) - 1) * abs(found.value)
    for gram, dual in zip(found.grams, unpacked(slack, program.blocks), strict=True):
        for one, other in ((gram, dual), (dual, gram)):  # a negative eigenvalue counts with the other's trace
            total += max(-float(np.linalg.eigvalsh(one)[0]), 0.0) * max(float(np.trace(other)), 0.0)
    if program.values:  # how large they are: the found ones, and what inner products make of them in the class
        with_values = np.abs(rows[:, program.packed :]).max(1) > 0
        made: Any = np.abs(rows[with_values, : program.packed] * found.x[: program.packed]).max(initial=0.0)
        largest = max(float(made), float(np.abs(found.x[program.packed :]).max()))
        total += float(np.abs(slack[program.packed :]).sum()) * largest
    return total if np.isfinite(total) else float("inf")
