"""The numbers that an instance of a family consists of, by name, each with the rule that it keeps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

FARTHEST = Fraction(10) ** 100
"""Sizes beyond this, and below its inverse, would leave the floating-point numbers that assumptions are decided in."""
ANY = float("inf")


@dataclass(frozen=True)
class Number:
    """A number of an instance; ``{k}`` in its name means every client, ``{i}`` for every axis.

    It lies between ``low`` and ``high``, both possible unless ``inside``; one that is not ``needed`` may be left out.
    Unlike a domain of the vocabulary, which is for arrays of floats, the rule judges one exact number as it is.
    """

    name: str
    low: float = -ANY
    high: float = ANY
    whole: bool = False
    inside: bool = False
    needed: bool = True

    def wrong(self, name: str, value: Any) -> str:
        """Why ``value`` breaks the rule; empty if it does not."""
        if self.whole and not isinstance(value, int):
            return f"{name} must be a whole number; got {value}"
        if not (self.low < value < self.high if self.inside else self.low <= value <= self.high):
            ends = (("> ", ">= "), ("< ", "<= "))
            rules = [
                ends[i][not self.inside] + f"{end:g}" for i, end in enumerate((self.low, self.high)) if abs(end) < ANY
            ]
            return f"{name} must be {' and '.join(rules)}; got {value}"
        if value and not 1 / FARTHEST <= abs(value) <= FARTHEST:
            return f"{name} must be zero or of a size from 1e-100 to 1e100"
        return ""


POSITIVE: dict[str, Any] = {"low": 0, "inside": True}
COUNT: dict[str, Any] = {"low": 1, "whole": True}
SWITCH: dict[str, Any] = {"low": 0, "high": 1, "whole": True}


def misfit(instance: Mapping[str, Any], numbers: Iterable[Number], axes: int) -> str:
    """Why a table is not an instance made of these numbers: one that it lacks, has too many or that breaks its rule."""
    clients = instance.get("clients", 0)
    kinds = instance.get("kinds", clients)
    if not isinstance(kinds, int) or not 1 <= kinds <= len(instance):
        what = (
            "kinds must be the number of kinds of clients"
            if "kinds" in instance
            else "clients must be the number of clients"
        )
        return f"{what} that it describes; got {kinds}"
    known = {number.name.format(k=k, i=i): number for number in numbers for k in range(kinds) for i in range(axes)}
    for name in instance:
        if name not in known:
            return f"it has no place for {name!r}"
    for name, number in known.items():
        if name not in instance and number.needed:
            return f"it has no {name}"
        if name in instance and (wrong := number.wrong(name, instance[name])):
            return wrong
    if clients != (described := sum(instance.get(f"count_{k}", 1) for k in range(kinds))):
        return f"clients must be the number of clients that it describes, {described}; got {clients}"
    if not 1 <= instance["cohort"] <= clients:
        return f"cohort must be >= 1 and at most the {clients} clients; got {instance['cohort']}"
    return ""
