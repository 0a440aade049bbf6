"""The numbers that an instance of a family consists of, and the check that a table is such an instance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

FARTHEST = Fraction(10) ** 100
"""Limit on absolute values and their inverses; assumptions are decided in floating point."""
ANY = float("inf")


@dataclass(frozen=True)
class Number:
    """The name and range of a number of an instance; ``{k}`` in the name is a client group, ``{i}`` an axis. The range
    from ``low`` to ``high`` includes its ends unless ``inside``. Numbers that are not ``needed`` may be missing."""

    name: str
    low: float = -ANY
    high: float = ANY
    whole: bool = False
    inside: bool = False
    needed: bool = True

    def wrong(self, name: str, value: Any) -> str:
        """Return why ``value`` is not allowed; empty if it is."""
        if self.whole and not isinstance(value, int):
            return f"{name} must be an integer; got {value}"
        if not (self.low < value < self.high if self.inside else self.low <= value <= self.high):
            equal = "" if self.inside else "="
            limits = [f">{equal} {self.low:g}"] if self.low > -ANY else []
            limits += [f"<{equal} {self.high:g}"] if self.high < ANY else []
            return f"{name} must be {' and '.join(limits)}; got {value}"
        if value and not 1 / FARTHEST <= abs(value) <= FARTHEST:
            return f"{name} must be zero or of a size from 1e-100 to 1e100"
        return ""


POSITIVE: dict[str, Any] = {"low": 0, "inside": True}
COUNT: dict[str, Any] = {"low": 1, "whole": True}
SWITCH: dict[str, Any] = {"low": 0, "high": 1, "whole": True}


def misfit(instance: Mapping[str, Any], numbers: Iterable[Number], axes: int) -> str:
    """Return why a table is not an instance made of these numbers; empty if it is."""
    clients = instance.get("clients", 0)
    kinds = instance.get("kinds", clients)
    if not isinstance(kinds, int) or not 1 <= kinds <= len(instance):
        name, what = ("kinds", "client groups") if "kinds" in instance else ("clients", "clients")
        return f"{name} must be the number of {what} that it describes; got {kinds}"
    expected = {number.name.format(k=k, i=i): number for number in numbers for k in range(kinds) for i in range(axes)}
    for name in instance:
        if name not in expected:
            return f"it has no place for {name!r}"
    for name, number in expected.items():
        if name not in instance and number.needed:
            return f"it has no {name}"
        if name in instance and (wrong := number.wrong(name, instance[name])):
            return wrong
    if clients != (described := sum(instance.get(f"count_{k}", 1) for k in range(kinds))):
        return f"clients must be the number of clients that it describes, {described}; got {clients}"
    if not 1 <= instance["cohort"] <= clients:
        return f"cohort must be >= 1 and at most the {clients} clients; got {instance['cohort']}"
    return ""
