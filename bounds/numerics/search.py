"""Interval branch and bound over one quantity: the smallest value of a bound, the farthest point that meets a target.

Boxes are split until interval arithmetic proves that what is left cannot change the answer; a box is dropped only with
such a proof, so no second valley and no far-out feasible part is missed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .intervals import Array
from .landscape import centre, Landscape, SMALLEST

ROUNDS = 60
PIECES = 512
"""Boxes per round that splitting aims at: fewer would waste the fixed cost of an array operation."""

MOST_BOXES = 20_000
MOST_SETTLED = 32
"""Points of a round that are evaluated with as many digits as it takes: some ten milliseconds."""

VAGUE = 1e-3
"""Relative width of an enclosure at a point from which on its box is left undecided."""

TOLERANCE = 1e-10
"""Relative to the value of the minimum."""

WIDTHS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""Relative half-widths tried around a minimum: where it is flat, its place is known less well than its value."""


class Valley(NamedTuple):
    """Per owner: the best point found (NaN: none), the largest its value can be, and a lower bound of all values."""

    at: Array
    top: Array
    floor: Array


class Edge(NamedTuple):
    """Per owner: the farthest point that meets the target (NaN: none) and how far out a farther one could be."""

    at: Array
    slack: Array


def lowest(land: Landscape, whole: bool, chosen: Array | None = None) -> Valley:
    """The certified minimum of ``land`` at the ``chosen`` owners, over whole numbers only if ``whole``."""
    valley = Valley(*(np.full(land.owners, x) for x in (np.nan, np.inf, np.inf)))
    tolerance = 0.0 if whole else TOLERANCE
    owner, lo, hi = _start(land, whole, chosen)
    for _ in range(ROUNDS):
        owner, lo, hi, low = _live(land, owner, lo, hi)
        _improve(land, valley, owner, _middle(lo, hi, whole))
        narrow = is_narrow(lo, hi)
        for ends in (lo, hi):
            _improve(land, valley, owner[narrow], ends[narrow], final=True)
        top = valley.top[owner]
        with np.errstate(invalid="ignore"):
            beaten = low >= np.where(np.isfinite(top), top - tolerance * np.abs(top), np.inf)
        np.minimum.at(valley.floor, owner[beaten & ~narrow], low[beaten & ~narrow])
        settled = beaten | narrow
        owner, lo, hi = split(owner[~settled], lo[~settled], hi[~settled], whole)
        if not len(lo) or len(lo) > MOST_BOXES:
            break
    if len(lo):
        np.minimum.at(valley.floor, owner, land.enclose(owner, lo, hi).value.lo)
    return valley._replace(floor=np.minimum(valley.floor, valley.top))


def _live(land: Landscape, owner: Array, lo: Array, hi: Array) -> tuple[Array, Array, Array, Array]:
    """The boxes where the bound may speak, with a lower bound of its values; a monotone box is cut to its low end."""
    box = land.enclose(owner, lo, hi)
    rising, falling = box.inside & (box.slope.lo >= 0), box.inside & (box.slope.hi <= 0)
    lo, hi = np.where(falling & ~rising, hi, lo), np.where(rising, lo, hi)
    low = box.value.lo.copy()
    if (cut := rising | falling).any():
        low[cut] = np.maximum(low[cut], land.enclose(owner[cut], lo[cut], hi[cut]).value.lo)
    keep = ~box.outside
    return owner[keep], lo[keep], hi[keep], low[keep]


def is_narrow(lo: Array, hi: Array) -> Array:
    """Boxes with no float between their ends, or nearer to zero than a search looks."""
    return (np.nextafter(lo, np.inf) >= hi) | (np.maximum(np.abs(lo), np.abs(hi)) <= SMALLEST)


def _start(land: Landscape, whole: bool, chosen: Array | None) -> tuple[Array, Array, Array]:
    owner, lo, hi = land.boxes(whole)
    if chosen is None:
        return owner, lo, hi
    mine = chosen[owner]
    return owner[mine], lo[mine], hi[mine]


def _middle(lo: Array, hi: Array, whole: bool) -> Array:
    middle = centre(lo, hi)
    return np.clip(np.floor(middle), lo, hi) if whole else middle


def _improve(land: Landscape, valley: Valley, owner: Array, x: Array, final: bool = False) -> None:
    """Lower ``top`` to the best of the points ``x`` where the bound speaks; if ``final``, lower ``floor`` too."""
    if not len(x):
        return
    at_points = land.enclose(owner, x, x)
    fine = ~np.isnan(land.value(owner, x)) & ~at_points.outside
    if final:
        np.minimum.at(valley.floor, owner[fine], at_points.value.lo[fine])
    order = np.lexsort((at_points.value.hi, owner))
    order = order[fine[order]]
    first = order[np.unique(owner[order], return_index=True)[1]]
    better = first[at_points.value.hi[first] < valley.top[owner[first]]]
    valley.at[owner[better]] = x[better]
    valley.top[owner[better]] = at_points.value.hi[better]


def split(owner: Array, lo: Array, hi: Array, whole: bool) -> tuple[Array, Array, Array]:
    """Cut every box into pieces: in equal ratios where its ends are far apart, else in equal lengths."""
    if not len(lo):
        return owner, lo, hi
    pieces = int(np.clip(PIECES // len(lo), 2, 32))
    share = np.arange(pieces + 1) / pieces
    edges = lo[:, None] + share * (hi - lo)[:, None]
    far = (lo * hi > 0) & (np.maximum(np.abs(lo), np.abs(hi)) > 4 * np.minimum(np.abs(lo), np.abs(hi)))
    with np.errstate(all="ignore"):
        ratio = lo[:, None] * (hi / lo)[:, None] ** share
    edges = np.clip(np.where(far[:, None], ratio, edges), lo[:, None], hi[:, None])
    edges[:, 0], edges[:, -1] = lo, hi
    first, last = edges[:, :-1], edges[:, 1:]
    if whole:
        first, last = np.floor(first) + (np.arange(pieces) > 0), np.floor(last)
    full = first <= last if whole else (first < last)
    return np.repeat(owner, full.sum(axis=1)), first[full], last[full]


def farthest(land: Landscape, target: float, side: str, whole: bool) -> Edge:
    """The largest (smallest) point at which the bound, evaluated by its own code, is at most ``target``.

    Boxes on which rounding leaves the bound unknown even at single points (a removable singularity, say) are not split
    further: a farther point may lie there, and ``slack`` says how far.
    """
    sign = 1.0 if side == "largest" else -1.0
    best, beyond = np.full((2, land.owners), -np.inf)
    owner, lo, hi = _start(land, whole, None)
    for _ in range(ROUNDS):
        box = land.enclose(owner, lo, hi)
        keep = ~box.outside & (box.value.lo <= target)
        owner, lo, hi = owner[keep], lo[keep], hi[keep]
        middle = _middle(lo, hi, whole)
        for x in (lo, hi, middle):
            np.maximum.at(best, owner, np.where(_meets(land, owner, x, target, sign), sign * x, -np.inf))
        far = np.maximum(sign * lo, sign * hi)
        narrow = is_narrow(lo, hi)
        vague = ~narrow & (far > best[owner]) & (hi - lo <= np.abs(middle)) & _is_vague(land, owner, middle, target)
        np.maximum.at(beyond, owner[vague], far[vague])
        keep = (far > best[owner]) & ~narrow & ~vague
        owner, lo, hi = split(owner[keep], lo[keep], hi[keep], whole)
        if not len(lo):
            break
        if len(lo) > MOST_BOXES:  # go on next to the best points, which are then sharp, and leave the rest undecided
            near = np.zeros(len(lo), dtype=bool)
            near[np.argsort(np.maximum(sign * lo, sign * hi) - best[owner])[:PIECES]] = True
            np.maximum.at(beyond, owner[~near], np.maximum(sign * lo, sign * hi)[~near])
            owner, lo, hi = owner[near], lo[near], hi[near]
    np.maximum.at(beyond, owner, np.maximum(sign * lo, sign * hi))
    with np.errstate(invalid="ignore"):
        slack = np.where(beyond > best, beyond - best, 0.0)
    return Edge(np.where(np.isfinite(best), sign * best, np.nan), slack)


def _meets(land: Landscape, owner: Array, x: Array, target: float, sign: float) -> Array:
    """Where the bound is at most ``target``: its own value is, and so is its enclosure or, at the farthest points where
    rounding leaves that open, its value with as many digits as it takes."""
    with np.errstate(invalid="ignore"):
        met = land.value(owner, x) <= target
    places = np.flatnonzero(met)
    if places.size:
        point = land.enclose(owner[places], x[places], x[places])
        met[places] = ~point.outside & (point.value.hi <= target)
        open_ = places[~point.outside & (point.value.lo <= target) & (target < point.value.hi)]
        open_ = open_[np.argsort(-sign * x[open_])][:MOST_SETTLED]
        met[open_] = land.settled(owner[open_], x[open_]) <= target
    return met


def _is_vague(land: Landscape, owner: Array, x: Array, target: float) -> Array:
    """Points at which rounding leaves the bound far more room than the last digits of ``target``."""
    value = land.enclose(owner, x, x).value
    with np.errstate(invalid="ignore"):
        return (value.lo <= target) & (target < value.hi) & (value.hi - value.lo > VAGUE * abs(target))


def polish(land: Landscape, valley: Valley, chosen: Array) -> Valley:
    """The same minimum with its place made sharp: first by value (limits of conditions), then by the slope's sign."""
    owner = np.flatnonzero(chosen & np.isfinite(valley.at))
    if not len(owner):
        return valley
    steps = np.linspace(-1.0, 1.0, 33)
    for radius in 1e-3 / 8.0 ** np.arange(16):
        _improve(land, valley, *_around(land, owner, valley.at, radius * steps))
    return _level(land, valley, owner)


def _around(land: Landscape, owner: Array, at: Array, steps: Array) -> tuple[Array, Array]:
    x = at[owner][:, None] * (1.0 + steps)
    x = np.clip(x, land.limits.low[owner][:, None], land.limits.high[owner][:, None])
    return np.repeat(owner, len(steps)), x.ravel()


def _level(land: Landscape, valley: Valley, owner: Array) -> Valley:
    """Narrow down where the slope changes sign around each minimum that lies inside."""
    owner, lo, hi = _bracket(land, owner, valley.at[owner])
    if not len(owner):
        return valley
    rows, steps = np.arange(len(owner)), 33
    for _ in range(11):
        x = lo[:, None] + (hi - lo)[:, None] * np.arange(steps) / (steps - 1)
        slope = land.enclose(np.repeat(owner, steps), x.ravel(), x.ravel()).slope
        rises = ((slope.lo + slope.hi) >= 0).reshape(x.shape)
        first = np.where(rises.any(axis=1), np.argmax(rises, axis=1), steps - 1).clip(1)
        lo, hi = x[rows, first - 1], x[rows, first]
    x = lo / 2 + hi / 2
    here = land.enclose(owner, x, x)
    fine = ~np.isnan(land.value(owner, x)) & (here.value.lo <= valley.top[owner])
    valley.at[owner[fine]] = x[fine]
    valley.top[owner[fine]] = np.maximum(here.value.hi, valley.top[owner])[fine]
    return valley


def _bracket(land: Landscape, owner: Array, at: Array) -> tuple[Array, Array, Array]:
    """The narrowest interval around each point whose ends surely slope down to it; points without one left out."""
    lo, hi = np.full(len(owner), np.nan), np.full(len(owner), np.nan)
    for width in WIDTHS[::-1]:
        low = np.maximum(at - width * np.abs(at), land.limits.low[owner])
        high = np.minimum(at + width * np.abs(at), land.limits.high[owner])
        left, right = land.enclose(owner, low, low), land.enclose(owner, high, high)
        around = left.inside & right.inside & (left.slope.hi < 0) & (right.slope.lo > 0)
        lo, hi = np.where(around, low, lo), np.where(around, high, hi)
    found = np.isfinite(lo)
    return owner[found], lo[found], hi[found]
