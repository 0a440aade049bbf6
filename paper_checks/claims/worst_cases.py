"""Claims of ours: every bound within reach is above the worst case of its class, and by how much at least."""

from __future__ import annotations

from collections.abc import Mapping

from bounds.catalog import BOUNDS

from .checkers import AboveWorstCase
from .claim import Claim, Kind

NOTE = (
    "Over every federation of the class at the places of its table, not those a search visits: semidefinite "
    "programming, no noise, all clients taking part, L = 1, F* = 0, and 1 the loss, squared distance or squared "
    "gradient that the bound starts from. The bound could be smaller there by the ratio, and by at least the ratio "
    "where the worst case is an upper estimate."
)


def above(least: Mapping[str, float], more: str = "") -> tuple[Claim, ...]:
    """One claim per bound, with the audited smallest ratio of bound to worst case; ``more`` is added to its note."""
    return tuple(
        Claim(
            f"{name}.worst_case",
            f"{source.place} is above the worst case over its class at every place of its table.",
            Kind.THEOREM.at(source.place, source.version),
            AboveWorstCase(name, ratio),
            note=f"{NOTE} {more}".strip(),
            ours=True,
        )
        for name, ratio in least.items()
        for source in [BOUNDS[name].source]
    )
