"""The statement on a table's run again, in 60-digit numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np

from bounds.core import Bound

from ...runs import readings
from ...runs.methods import knob
from .. import deciding
from ..entries import worst_entry
from ..exact import decimal, Exactly, weigh, WORKING
from ..runs.instance import plain_method
from .family import Facts, facts, plan, static
from .plain import PlainCurve


def exactly(bound: Bound, instance: Mapping[str, Any]) -> Exactly:
    """The statement at an instance, at the entry where it does worst."""
    with mpmath.workdps(WORKING):
        run = PlainCurve(instance, *knob(bound.about, "relaxation", decimal(instance["relaxation"])))
        whole = ("clients", "cohort", "local_steps", "rounds")
        table = {name: value if name in whole else decimal(value) for name, value in instance.items()}
        known = {**static(table, _constants(run)), **readings.of_run(run), **readings.iterated(bound, run)}
        measured = np.asarray(readings.target(bound, run, table["step_size"]), dtype=object)
        used = {q.name: known[q.name] for q in bound.quantities}
        decided = deciding.decided(bound, facts(dict(instance)), plain_method(bound), plan(instance))
        return weigh(bound, worst_entry(bound, used, measured), decided, f"{WORKING} digits", known)


def _constants(run: PlainCurve) -> Facts:
    bowl, lowest = run.table["bowl"], decimal(run.shape.lowest)
    return Facts(
        clients=run.clients,
        smoothness=1 + bowl,
        strong_convexity=max(bowl + lowest, mpmath.mpf(0)),
        convex=bowl + lowest >= 0,
        client_weight=run.shares,
        dissimilarity_offset=sum(p * t * t for p, t in zip(run.shares, run.tilts, strict=True)),
        dissimilarity_factor=run.table.get("dissimilarity_factor", mpmath.mpf(1)),
        initial_gap=run.value(run.table["start"]),
        floor=run.table["floor"],
    )
