"""One place of a tightness table as a cell of a store: bound, exact worst case, what dominates either."""

from __future__ import annotations

import warnings
from math import inf
from typing import Any

from bounds.core import Bound
from bounds.errors import OutsideConditionsWarning
from bounds.showing.loading import load
from empirics.experiments import Outcome
from empirics.experiments.registry import job

from .places import fitted, Place, question, values
from .worst import answer

TERM = "term: "


@job(
    "tightness",
    version=1,
    setting="paper_checks.worst_cases.places:Place",
    formerly="paper_checks.worst_cases.cells:tightness",
)
def tightness(bound: str, **place: Any) -> Outcome:
    """A bound (by name) beside its exact worst case at one place; ``inside`` says whether its conditions hold there."""
    chosen = load(bound)
    here = fitted(chosen, Place(**place))
    given = values(chosen, here)
    asked = question(chosen, here)
    worst = answer(asked, inf)
    parts, inside = terms(chosen, given)
    total = sum(parts.values())
    found = {word: share for word, share in worst.contributions.items() if share > 0}
    shares = {f"share: {word}": share / worst.value for word, share in worst.contributions.items() if worst.value}
    row = {
        **here.as_row(),
        "step_size": given["step_size"],
        "bound": total,
        "worst_case": worst.value,
        "gap": worst.gap,
        "ratio": total / worst.value if worst.value > 0 else float("inf"),
        "inside": inside,
        "exact": worst.exact,
        "dominating_term": max(parts, key=lambda name: parts[name]),
        "dominating_assumption": max(found, key=lambda word: found[word]) if found else "",
        "seconds": round(worst.seconds, 3),
        **{TERM + name: part for name, part in parts.items()},
        **shares,
    }
    return Outcome(
        {name: [value] for name, value in row.items()},
        {"algorithm": str(asked.algorithm), "relaxations": list(asked.relaxations), "assumptions": asked.assumptions},
    )


def terms(bound: Bound, given: dict[str, Any]) -> tuple[dict[str, float], bool]:
    """The bound term by term, and whether its numeric conditions hold."""
    mine = {q.name: given[q.name] for q in bound.quantities}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideConditionsWarning)
        parts = {name: float(value) for name, value in bound.parts(outside=True, **mine).items()}
    return parts, bool(bound.holds(**mine))
