"""Where a bound is smallest with numbers put in: certified, inside the domain and where its numeric conditions hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TYPE_CHECKING

import numpy as np
import sympy as sp

from ..errors import NoMinimumError, NoSolutionError
from ..quantities import Quantity
from .enclosure import Enclosed
from .intervals import Array
from .landscape import decide, Landscape, LARGEST, LARGEST_WHOLE, sides_of, SMALLEST
from .search import lowest, polish, Valley

if TYPE_CHECKING:
    from ..core import Bound
    from .optima import Optimum

CLOSED, SEARCHED = "closed form", "interval branch and bound"

WIDEST_GAP = 1e-6
"""Relative distance of value and lower bound beyond which a minimum does not count as certified."""

NUDGE = 1e-9
"""Relative step that tells whether a condition stops the minimiser from moving on."""


NOTHING = "no value in the domain meets the conditions"
OVERFLOW = "is beyond floating-point numbers where it is smallest; give numbers of a moderate size"
NO_WHOLE = "no whole number meets the conditions"


@dataclass(frozen=True)
class Minimum:
    """The smallest value of ``bound`` over the points of the domain of ``over`` where its numeric conditions hold.

    ``value`` is the bound at ``at`` and ``lower`` a certified lower bound of all values: they differ by 1e-10 of the
    value unless cancellation keeps intervals wide. For a whole-number quantity ``at`` is the real minimiser and
    ``integer_at`` the best whole number, found by a search of its own (ties beyond rounding aside). ``binding`` says
    which condition or end of the domain stops the minimiser, if one does. With sweeps in the values every field but
    ``bound`` and ``over`` is an array; where a point of a sweep has no minimum it is NaN, and ``binding`` the reason.
    """

    bound: Bound
    over: Quantity
    at: Any
    value: Any
    lower: Any
    method: Any
    binding: Any
    integer_at: Any = None
    integer_value: Any = None

    def __str__(self) -> str:
        lines = [f"{self.over.name} = {self.at}  gives {self.bound.target.name} = {self.value}  ({self.method})"]
        if self.integer_at is not None:
            lines.append(f"best whole number: {self.integer_at}, which gives {self.integer_value}")
        if np.ndim(self.binding) == 0 and self.binding:
            lines.append(f"limited by: {self.binding}")
        return "\n".join(lines)


def certify(bound: Bound, over: Quantity, values: Mapping[str, Any], form: Optimum | None) -> Minimum:
    """The certified minimum; ``form`` is the closed form, where there is one, and is used where it is feasible."""
    land = Landscape(bound, over, values)
    if over not in sp.Add(*bound.spelled_terms.values()).free_symbols:
        raise NoMinimumError(f"{bound.name} does not depend on {over.name}, so no value of it is best")
    closed, valley = _by_formula(land, form)
    found = lowest(land, whole=False, chosen=~closed)
    reasons = _shortcomings(land, found, ~closed)
    lost = np.array([bool(r) for r in reasons])
    valley = _merge(closed, valley, polish(land, found, ~closed & ~lost))
    integer = _whole(land, valley, closed, lost) if over.card.domain.whole else None
    if integer is not None:
        none = ~lost & np.isnan(integer)
        reasons = [NO_WHOLE if n else r for n, r in zip(none, reasons, strict=True)]
        lost |= none
    if lost.all():
        raise _failure(land, reasons[0])
    return _answer(land, valley, integer, closed, lost, reasons)


def _answer(
    land: Landscape, valley: Valley, integer: Array | None, closed: Array, lost: Array, reasons: list[str]
) -> Minimum:
    at = np.where(lost, np.nan, valley.at)
    stops = binding(land, at, nudged(at, -1), nudged(at, 1))
    active = ["" if c or gone else b for c, gone, b in zip(closed, lost, stops, strict=True)]
    whole = {}
    if integer is not None:
        integer = np.where(lost, np.nan, integer)
        whole = {
            "integer_at": land.shaped(integer) if land.shape else int(integer[0]),
            "integer_value": land.shaped(land.exact(integer)),
        }
    value = land.exact(at)
    return Minimum(
        bound=land.bound,
        over=land.over,
        at=land.shaped(at),
        value=land.shaped(value),
        lower=land.shaped(np.where(lost, np.nan, np.minimum(valley.floor, value))),
        method=land.shaped(np.where(closed, CLOSED, SEARCHED)),
        binding=land.shaped(np.array([r or b for r, b in zip(reasons, active, strict=True)])),
        **whole,
    )


def _by_formula(land: Landscape, form: Optimum | None) -> tuple[Array, Valley]:
    """Where the closed form is positive, inside the domain and meets the conditions; and the minimum it gives there."""
    nowhere = np.full(land.owners, np.nan)
    if form is None:
        return np.zeros(land.owners, dtype=bool), Valley(nowhere, nowhere, nowhere)
    enclosed = Enclosed([form.at, form.value, *sides_of(form.requires)], None, land.spread)
    jets, domains = enclosed.run(enclosed.anywhere, None, np.arange(land.owners))
    columns = [np.broadcast_to(end[:, 0], (land.owners,)) for jet in jets for end in jet.value]
    at, value, floor = columns[0] / 2 + columns[1] / 2, columns[3], columns[2]
    sides = iter([jet.value for jet in jets[2:]])
    sure = ~domains.partial
    for relation in form.requires:
        sure = sure & decide(relation, sides)[0].all(axis=-1)
    with np.errstate(invalid="ignore"):
        sure = sure & (land.limits.low <= at) & (at <= land.limits.high)
    sure[sure] = np.isfinite(land.value(np.flatnonzero(sure), at[sure]))
    return sure, Valley(at, value, floor)


def _merge(where: Array, a: Valley, b: Valley) -> Valley:
    return Valley(*(np.where(where, x, y) for x, y in zip(a, b, strict=True)))


def _whole(land: Landscape, valley: Valley, closed: Array, lost: Array) -> Array:
    """The best whole number: next to a closed form if both neighbours are allowed, else by a search of its own."""
    below = np.maximum(np.floor(valley.at), land.limits.low)
    above = np.maximum(np.ceil(valley.at), land.limits.low)
    left, right = land.exact(below), land.exact(above)
    # A sum of one falling and one rising power falls, then rises: one of the neighbours of its lowest point is best.
    near = closed & ~lost & ~np.isnan(left) & ~np.isnan(right)
    best = np.where(left <= right, below, above)
    far = lowest(land, whole=True, chosen=~near & ~lost)
    return np.where(near, best, far.at)


def _shortcomings(land: Landscape, found: Valley, chosen: Array) -> list[str]:
    """Per owner why there is no certified minimum; empty where there is one."""
    reasons = [""] * land.owners
    empty = chosen & np.isnan(found.at)
    ends = ((land.limits.low, land.limits.open_low, "falls"), (land.limits.high, land.limits.open_high, "rises"))
    for end, is_open, way in ends:
        unattained = chosen & ~empty & is_open & _reached(land, found, end)
        for i in np.flatnonzero(unattained):
            reasons[i] = (
                f"{land.bound.name} keeps falling as {land.over.name} {way}, as far as {end[i]:g}, where the search "
                "ends: it has no minimum before"
            )
    spoken = land.speaks() if empty.any() else empty
    for i in np.flatnonzero(empty):
        reasons[i] = f"{land.bound.name} {OVERFLOW}" if spoken[i] else NOTHING
    for i in np.flatnonzero(chosen & ~empty & np.isinf(land.exact(found.at))):
        reasons[i] = reasons[i] or f"{land.bound.name} {OVERFLOW}"
    with np.errstate(invalid="ignore"):
        near = np.maximum(WIDEST_GAP * np.abs(found.top), np.finfo(float).tiny)
        vague = chosen & ~empty & ~(found.top - found.floor <= near)
    for i in np.flatnonzero(vague):
        reasons[i] = reasons[i] or (
            f"{land.bound.name}: rounding leaves its minimum over {land.over.name} between "
            f"{found.floor[i]:g} and {found.top[i]:g}, too wide to certify{_remedy(land)}"
        )
    return reasons


def _remedy(land: Landscape) -> str:
    """Which terms keep intervals wide, and what to do about them."""
    over, names = land.over.name, land.endless_terms()
    signed = [name for name in names if name in land.bound.signed]
    if signed:
        return f": nothing says that {signed[0]!r} is not negative; if it is not, take it out of signed="
    if names:
        return f": intervals know no end of {names[0]!r}; write it with {over} in one place, or narrow its domain"
    return f"; write the terms with {over} in fewer places"


def _reached(land: Landscape, found: Valley, end: Array) -> Array:
    """Where the bound at an end of the search is as low as anywhere, and not because it is level there."""
    owner = np.arange(land.owners)
    box = land.enclose(owner, end, end)
    level = (box.slope.lo == 0) & (box.slope.hi == 0)
    return (box.value.hi <= found.top) & ~np.isnan(land.value(owner, end)) & ~level


def _failure(land: Landscape, reason: str) -> Exception:
    if reason not in (NOTHING, NO_WHOLE):
        return NoMinimumError(reason)
    return NoSolutionError(f"{land.bound.name}: {reason} at these numbers: {'; '.join(land.unmet())}")


def binding(land: Landscape, at: Array, *beside: Array) -> list[str]:
    """Per owner the words of a condition, or end of the domain, that holds at ``at`` and fails at a point beside."""
    words = [""] * land.owners
    owner = np.flatnonzero(np.isfinite(at))
    low, high = land.limits.low[owner], land.limits.high[owner]
    for near in beside:
        for condition, met in zip(
            land.bound.numeric_conditions, land.met(owner, np.clip(near[owner], low, high)), strict=True
        ):
            for i in owner[~met]:
                words[i] = words[i] or condition.words
    for i in owner:
        ends = [land.limits.low[i] for near in beside if near[i] < at[i]]
        ends += [land.limits.high[i] for near in beside if near[i] > at[i]]
        if not words[i] and at[i] in ends:
            words[i] = _end_words(land, at[i] == land.limits.low[i], at[i])
    return words


def nudged(at: Array, way: int) -> Array:
    """A point right beside each: what a condition forbids there, it forbids from here on."""
    return at + way * np.maximum(NUDGE * np.abs(at), SMALLEST)


def _end_words(land: Landscape, low: bool, x: float) -> str:
    """What the end of the domain at ``x`` is: the domain's own rule, or another quantity."""
    card = land.over.card
    if abs(x) in (SMALLEST, LARGEST, LARGEST_WHOLE):
        return f"nothing up to {x:g}, where the search ends"
    if x == (card.domain.low if low else card.domain.high):
        return f"{card.name} must be {card.domain.words}"
    if not low and card.at_most is not None:
        return f"{card.name} must be <= {card.at_most.name}"
    below = [q.name for q in land.bound._all if q.card.at_most is not None and q.card.at_most.name == card.name]
    return f"{card.name} must be >= {', '.join(below)}" if low and below else f"{card.name} must be {card.domain.words}"
