"""Values that plain floating point may get wrong, found and evaluated again; all others stay as they are.

Four steps, each for the points that the one before could not clear: ``magnitudes`` for a whole sweep at once, its
guards point by point, an enclosure in interval arithmetic, and as many digits as it takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
import sympy as sp

from ..errors import BoundsError
from . import intervals as iv
from .digits import as_float, Digits
from .enclosure import Enclosed
from .kernel import Arrays, Kernel
from .landscape import decide, sides_of
from .magnitudes import Magnitudes, Unknown
from .rounding import cautious, lenient

CLOSE = 1e-10
"""A value is as good as its formula when an enclosure shows it to be this near, relatively."""

SAME = 1e-11
"""Sides of a condition that are as near as this, relatively, are equal up to rounding: floats decide."""

ROWS = 4096
"""Points enclosed at once."""

MOST = 20_000
"""Points evaluated with many digits in one call: some seconds."""

NORMAL = float(np.finfo(float).tiny)


class Settled(NamedTuple):
    """Arrays of values, or one for each relation, and where all relations hold; whether a value is too small for all
    the digits of a float, and at how many points floating point was left to decide although it may be wrong."""

    arrays: list[np.ndarray]
    speaks: np.ndarray
    tiny: bool = False
    unsettled: int = 0


class Settling:
    """``plain`` generated code of some values and relations, with a second look where it is needed."""

    def __init__(
        self,
        names: tuple[str, ...],
        values: tuple[sp.Expr, ...],
        relations: tuple[sp.Basic, ...],
        axis: bool,
        keeps_axis: bool,
    ) -> None:
        self.plain = Kernel(names, values, relations, axis, keeps_axis)
        self.names, self.axis, self.keeps_axis = names, axis, keeps_axis
        self.expressions, self.relations = values, relations

    def values(
        self, arrays: Arrays, shape: tuple[int, ...], masked: bool = True, wanted: np.ndarray | None = None
    ) -> Settled:
        """The values, NaN where a relation fails unless ``masked`` is off. No second look where not ``wanted``."""
        speaks = np.ones(self.plain.shape(shape), dtype=bool)
        found = self.plain.values(arrays, shape, masked, speaks)
        points = self._in_doubt(arrays, shape)
        points = points if wanted is None else points[wanted.reshape(-1)[points]]
        if not points.size:
            return Settled(found, speaks)
        rows, width = self._rows(arrays, shape, points), shape[-1] if self.axis else 1
        again = Again(self, rows, width, len(points))
        met = np.logical_and.reduce(again.met()) if self.relations and masked else np.ones(len(points), dtype=bool)
        values = again.values(np.flatnonzero(met))
        for out, value in zip(found, values, strict=True):
            flat = out.reshape(-1, out.shape[-1] if self.axis else 1)  # contiguous: a view
            flat[points] = np.where(met[:, None], value, np.nan)
        speaks.reshape(-1)[points] = met
        return Settled(found, speaks, again.tiny, again.unsettled)

    def met(self, arrays: Arrays, shape: tuple[int, ...]) -> Settled:
        """Where each relation holds."""
        found = self.plain.met(arrays, shape)
        points = self._in_doubt(arrays, shape) if self.relations else np.zeros(0, dtype=int)
        unsettled = 0
        if points.size:
            again = Again(self, self._rows(arrays, shape, points), shape[-1] if self.axis else 1, len(points))
            for out, holds in zip(found, again.met(), strict=True):
                out.reshape(-1)[points] = holds
            unsettled = again.unsettled
        everywhere = np.ones(self.plain.shape(shape), dtype=bool)
        return Settled(found, reduce(np.logical_and, found, everywhere), unsettled=unsettled)

    @cached_property
    def cautious(self) -> Kernel:
        """The same code for searches that are to end where a cap is met exactly."""
        return Kernel(self.names, self.expressions, self.relations, self.axis, self.keeps_axis, cautious)

    # ---- which points ----

    @cached_property
    def _magnitudes(self) -> Magnitudes | None:
        try:
            return Magnitudes(self.expressions, self.relations)
        except Unknown:  # a function without rules: nothing clears a point
            return None

    def _in_doubt(self, arrays: Arrays, shape: tuple[int, ...]) -> np.ndarray:
        lead = shape[:-1] if self.axis else shape
        if not np.prod(shape):
            return np.zeros(0, dtype=int)
        needed = self._magnitudes and self._magnitudes.doubts(arrays, shape[-1] if self.axis else 1)
        if needed is None:
            return np.arange(int(np.prod(lead)))
        if not needed:
            return np.zeros(0, dtype=int)
        clear = np.logical_and.reduce(self._guards(needed).met(arrays, shape))
        return np.flatnonzero(~clear)

    def _guards(self, needed: tuple[int, ...]) -> Kernel:
        """The code of some guards, kept: sweeps that are alike need the same."""
        if needed not in self._guard_kernels:
            assert self._magnitudes is not None
            guards = tuple(self._magnitudes.guards[i] for i in needed)
            self._guard_kernels[needed] = Kernel(self.names, (), guards, self.axis, self.keeps_axis, _as_it_is)
        return self._guard_kernels[needed]

    @cached_property
    def _guard_kernels(self) -> dict[tuple[int, ...], Kernel]:
        return {}

    def _rows(self, arrays: Arrays, shape: tuple[int, ...], points: np.ndarray) -> Arrays:
        """The numbers of some points: (points, members of the axis) for every quantity."""
        lead = shape[:-1] if self.axis else shape
        places = np.unravel_index(points, lead) if lead else ()
        rows = {}
        for name in self.names:
            full = np.asarray(arrays[name]) if self.axis else np.asarray(arrays[name])[..., None]
            full = full.reshape((1,) * (len(lead) + 1 - full.ndim) + full.shape)
            index = tuple(np.where(n == 1, 0, place) for n, place in zip(full.shape[:-1], places, strict=True))
            rows[name] = full[index].reshape(-1, full.shape[-1])
        return rows

    @cached_property
    def digits(self) -> Digits:
        return Digits(self.expressions, ())

    @cached_property
    def side_digits(self) -> tuple[Digits, ...]:
        return tuple(Digits((), (relation,)) for relation in self.relations)


class Again:
    """A second look at some points."""

    def __init__(self, settling: Settling, rows: Arrays, width: int, count: int) -> None:
        self.settling, self.rows, self.width, self.count = settling, rows, width, count
        self.tiny, self.spent = False, 0
        self.left: set[int] = set()

    @property
    def unsettled(self) -> int:
        return len(self.left)

    def met(self) -> list[np.ndarray]:
        """Where each relation holds, at every point."""
        return [
            self._met(i, r, p) for i, (r, p) in enumerate(zip(self.settling.relations, self._plain_met(), strict=True))
        ]

    def values(self, points: np.ndarray) -> list[np.ndarray]:
        """Every value, (points, members), at some of the points; NaN at the others."""
        plain = [p.copy() for p in self._plain_values()]
        sure = np.ones((self.count,), dtype=bool)
        sure[points] = self._near(plain, points)
        for point in np.flatnonzero(~sure).tolist():
            found = self._exact(self.settling.digits, point)
            if found is None:
                continue
            for value, members in zip(plain, found[0], strict=True):
                value[point] = [as_float(x) for x in members]
                self.tiny |= any(0 < abs(x) < NORMAL for x in value[point])
        return plain

    # ---- floating point and enclosures ----

    def _shaped(self, rows: Arrays) -> tuple[Arrays, tuple[int, ...]]:
        if self.settling.axis:
            return rows, (self.count, self.width)
        return {n: a[:, 0] for n, a in rows.items()}, (self.count,)

    def _plain_values(self) -> list[np.ndarray]:
        found = self.settling.plain.values(*self._shaped(self.rows), masked=False)
        return [v.reshape(self.count, -1) for v in found]

    def _plain_met(self) -> list[np.ndarray]:
        return [m.reshape(-1) for m in self.settling.plain.met(*self._shaped(self.rows))]

    def _enclosed(self, expressions: Sequence[sp.Expr], points: np.ndarray) -> tuple[list[iv.Interval], np.ndarray]:
        """Enclosures at some points, and where the expressions may not be real numbers."""
        numbers = {n: a[points] for n, a in self.rows.items()} | {"": np.zeros((len(points), self.width))}
        try:
            enclosed = Enclosed(expressions, None, numbers)
        except BoundsError:  # a function without intervals: nothing is known
            nothing = np.ones(len(points), dtype=bool)
            return [iv.everything(np.zeros((len(points), 1))) for _ in expressions], nothing
        jets, domains = enclosed.run(enclosed.anywhere, None, np.arange(len(points)))
        return [jet.value for jet in jets], domains.partial

    def _near(self, plain: list[np.ndarray], points: np.ndarray) -> np.ndarray:
        """At which of the points all plain values are near the true ones."""
        sure = np.zeros(len(points), dtype=bool)
        for start in range(0, len(points), ROWS):
            part = points[start : start + ROWS]
            boxes, partial = self._enclosed(self.settling.expressions, part)
            near = ~partial
            for box, values in zip(boxes, plain, strict=True):
                near &= _is_near(values[part], box).all(axis=-1)
            sure[start : start + ROWS] = near
        return sure

    def _met(self, number: int, relation: sp.Basic, plain: np.ndarray) -> np.ndarray:
        holds = plain.copy()
        for start in range(0, self.count, ROWS):
            part = np.arange(start, min(start + ROWS, self.count))
            sides, partial = self._enclosed(sides_of((relation,)), part)
            yes, no = (np.broadcast_to(s.all(axis=-1) if i == 0 else s.any(axis=-1), part.shape)
                       for i, s in enumerate(decide(relation, iter(sides))))  # fmt: skip
            # Sides that are equal up to rounding stay with floating point, so that every question gets one answer.
            level = reduce(
                np.logical_or, [_is_level(*pair).any(axis=-1) for pair in zip(sides[::2], sides[1::2], strict=True)]
            )
            tight = reduce(np.logical_and, [_is_tight(side).all(axis=-1) for side in sides])
            known = ~partial & (yes | no) & ~level
            holds[part] = np.where(known, yes, plain[part])
            known |= ~partial & tight & level
            for point in part[~known].tolist():
                found = self._exact(self.settling.side_digits[number], point)
                if found is not None:
                    holds[point] = all(found[1][0])
        return holds

    # ---- digits ----

    def _exact(self, digits: Digits, point: int) -> tuple[list[list[object]], list[list[bool]]] | None:
        self.spent += 1
        if self.spent > MOST:
            self.left.add(point)
            return None
        values, met, settled = digits.at({n: a[point].tolist() for n, a in self.rows.items()}, self.width)
        if not settled:
            self.left.add(point)
        return values, met


def _as_it_is(guard: sp.Basic) -> sp.Basic:
    """A guard's own comparison, which has more room than any rounding takes; only its sides are lenient."""
    return guard.func(*map(lenient, guard.args), evaluate=False)


def _is_near(value: np.ndarray, box: iv.Interval) -> np.ndarray:
    with np.errstate(all="ignore"):
        most = np.maximum(np.abs(box.lo - value), np.abs(box.hi - value))
        near = np.isfinite(value) & (np.abs(value) >= NORMAL) & (most <= CLOSE * np.abs(value))
        zero = (value == 0) & (box.lo == 0) & (box.hi == 0)
        beyond = (value == np.inf) & (box.lo >= iv.MAX * (1 - CLOSE)) | (value == -np.inf) & (
            box.hi <= -iv.MAX * (1 - CLOSE)
        )
    return near | zero | beyond


def _is_tight(box: iv.Interval) -> np.ndarray:
    with np.errstate(all="ignore"):
        wide = box.hi - box.lo
        return np.isfinite(wide) & (wide <= SAME * np.maximum(np.abs(box.lo), np.abs(box.hi)))


def _is_level(a: iv.Interval, b: iv.Interval) -> np.ndarray:
    with np.errstate(all="ignore"):
        apart = np.maximum(np.maximum(a.lo - b.hi, b.lo - a.hi), 0.0)
        return apart <= SAME * np.maximum(np.abs(a.hi), np.abs(b.hi))


__all__ = ["Settled", "Settling"]
