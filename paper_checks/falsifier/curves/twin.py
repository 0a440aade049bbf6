"""The statement on a table's run again, in 60-digit numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath

from bounds.core import Bound

from ...runs import schedules
from ...runs.methods import knob
from ..exact import decimal, WORKING
from .family import Facts, static
from .plain import PlainCurve


def told(bound: Bound, instance: Mapping[str, Any]) -> tuple[dict[str, Any], PlainCurve, str]:
    """The constants of an instance, its run, and the arithmetic they were done in."""
    knobs = knob(bound.about, "relaxation", decimal(instance["relaxation"]))
    whole = ("clients", "cohort", "local_steps", "rounds")
    table = {name: value if name in whole else decimal(value) for name, value in instance.items()}
    run = PlainCurve(instance, *knobs)
    if schedules.pinned(bound):
        told = schedules.chosen(bound, static(table, _constants(run)))
        table |= told
        run = PlainCurve({**instance, **told}, *knobs)
    return static(table, _constants(run)), run, f"{WORKING} digits"


def _constants(run: PlainCurve) -> Facts:
    bowl, lowest = run.table["bowl"], decimal(run.shape.lowest)
    return Facts(
        clients=run.clients,
        smoothness=1 + bowl,
        strong_convexity=max(bowl + lowest, mpmath.mpf(0)),
        convex=bowl + lowest >= 0,
        client_weight=run.shares,
        dissimilarity_offset=sum(p * t * t for p, t in zip(run.shares, run.tilts, strict=True)),
        uniform_dissimilarity=max(t * t for t in run.tilts),
        dissimilarity_factor=run.table.get("dissimilarity_factor", mpmath.mpf(1)),
        initial_gap=run.value(run.table["start"]),
        floor=run.table["floor"],
    )
