"""One place of a tightness table as a cell of a store: bound, exact worst case, what dominates either; its proof."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from math import inf, nan
from typing import Any

from bounds.core import Bound
from bounds.errors import OutsideConditionsWarning
from bounds.showing.loading import load
from empirics.experiments import Outcome
from empirics.experiments.registry import job

from .federation import question_of_json
from .grid_point import fitted, Place, question, values
from .program import WorstCaseError
from .solve import answer

TERM = "term: "


@job(
    "tightness",
    version=1,
    setting="paper_checks.worst_case.grid_point:Place",
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


@job("certificate", version=1)
def certificate(question: Mapping[str, Any], about: float) -> Outcome:
    """The proof of a question's worst case, which is ``about`` so large; a refusal is a result and says why."""
    from .worst_case_proof import certify

    try:
        found = certify(question_of_json(question), about)
    except WorstCaseError as error:
        return Outcome({"bound": [nan], "width": [nan]}, {"refused": str(error)})
    facts = {"certificate": found.content, "open_below": found.open_below}
    return Outcome({"bound": [float(found.bound)], "width": [found.width]}, facts)
