"""Initial values and sliders (ends and scale) of the quantities on the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bounds.core import Bound
from bounds.points import POINTS
from bounds.quantities import Quantity

SPAN = 1000.0
"""Ratio between the initial value of a slider over positive numbers and its ends."""
MOST = 100
MEMBERS = 5
"""Clients, or classes, without an example."""
FIRST = ("rounds", "clients", "iterations", "local_steps", "step_size", "classes")
"""Quantities along which a bound is plotted first."""


class Slider(NamedTuple):
    """The ends of a slider, ``log`` for equal ratios; ``zero`` adds 0 below the lower end."""

    low: float
    high: float
    log: bool
    zero: bool = False


def start(bound: Bound) -> dict[str, float]:
    """Return an example value of every quantity, the same for all clients or classes."""
    example = POINTS.get(bound.name, {})
    return {q.name: _shared(q, example.get(q.name)) for q in bound.quantities}


def members(bound: Bound) -> int:
    """Return the number of clients or classes in the example."""
    example = POINTS.get(bound.name, {})
    lengths = [len(v) for v in example.values() if isinstance(v, Sequence)]
    count = example.get(bound.axis)
    return lengths[0] if lengths else int(count) if isinstance(count, (int, float)) else MEMBERS


def lists(bound: Bound) -> dict[str, list[float]]:
    """Return the lists of the example if equal clients or classes would be outside the conditions, else nothing."""
    example = POINTS.get(bound.name, {})
    length, values = members(bound), start(bound)
    equal = {
        q.name: [1 / length if q.card.domain.simplex else values[q.name]] * length if q.card.axis else values[q.name]
        for q in bound.quantities
    }
    if bound.name not in POINTS or not bound.axis or np.all(bound.holds(**equal)):
        return {}
    return {name: list(value) for name, value in example.items() if isinstance(value, Sequence)}


def _shared(quantity: Quantity, value: Any) -> float:
    """Return one number of the domain: the mean of the example's, or without an example any inside the domain."""
    domain = quantity.card.domain
    if value is None:
        return _inside(quantity)
    mean = sum(value) / len(value) if isinstance(value, Sequence) else value
    return float(round(mean)) if domain.whole else float(f"{mean:.3g}") if isinstance(value, Sequence) else float(mean)


def _inside(quantity: Quantity) -> float:
    domain = quantity.card.domain
    if math.isfinite(domain.low) and math.isfinite(domain.high):
        return domain.high if domain.whole else (domain.low + domain.high) / 2
    return max(1.0, domain.low)


def slider(quantity: Quantity, value: float) -> Slider:
    """Return a slider: with equal ratios for positive quantities without an upper end, else with equal steps."""
    domain = quantity.card.domain
    if math.isfinite(domain.high):
        return Slider(domain.low, domain.high, log=False)
    if domain.low == -math.inf:
        reach = 5 * abs(value) or 1.0
        return Slider(-reach, reach, log=False)
    if domain.whole or domain.low > 0:
        low = max(1.0, domain.low)
        return Slider(low, max(MOST, MOST * value), log=True, zero=domain.low == 0)
    return Slider(abs(value or 1.0) / SPAN, abs(value or 1.0) * SPAN, log=True, zero=not domain.open_low)


def first_axis(names: Sequence[str], chosen: Sequence[str]) -> str:
    """Return the initial quantity of the x-axis: one that has a minimiser (``chosen``) if possible, empty if none."""
    return next((name for name in (*chosen, *FIRST) if name in names), names[0] if names else "")


def trivial(bound: Bound, values: Mapping[str, float]) -> str | float | None:
    """Return the trivial value of the target: the end of its domain, or for a gap of losses the largest loss.

    It is a number, the name of a quantity of the bound, or None if it is unknown.
    """
    domain = bound.target.card.domain
    if bound.relation not in ("<=", "<~"):
        return None
    if math.isfinite(domain.high):
        return domain.high
    gap = bound.target.name in ("generalization_gap", "excess_risk", "participation_gap", "out_of_sample_gap")
    return "loss_cap" if gap and "loss_cap" in values else None
