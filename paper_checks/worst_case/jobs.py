"""The jobs of a store for one grid point: a bound with its exact worst case, and the proof of the worst case."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import comb, inf, nan, prod
from typing import Any

from bounds.core import Bound
from bounds.errors import OutsideConditionsWarning
from bounds.showing.loading import load
from empirics.experiments import Cell, Outcome
from empirics.experiments.registry import job
from empirics.progress import duration

from .certificate import certify
from .formulation import program_of
from .grid_point import adapted, GridPoint, problem_at, values
from .linear_run import count_starting_models
from .program import WorstCaseError
from .solve import solve, solve_seconds

TERM = "term: "
MAX_POINTS = 10_000
"""Limit on the grid points of one table."""


@job("tightness", version=1, accepts="paper_checks.worst_case.grid_point:GridPoint")
def tightness_job(bound: str, **point: Any) -> Outcome:
    """Compute a bound (by name) and its exact worst case; ``inside``: whether the bound's conditions hold here."""
    chosen = load(bound)
    adapted_point = adapted(chosen, GridPoint(**point))
    quantities, problem = values(chosen, adapted_point), problem_at(chosen, adapted_point)
    worst = solve(problem, inf)
    parts, inside = terms(chosen, quantities)
    total = sum(parts.values())
    positive = {name: share for name, share in worst.contributions.items() if share > 0}
    shares = {f"share: {name}": share / worst.value for name, share in worst.contributions.items() if worst.value}
    row = {
        **adapted_point.as_row(),
        "step_size": quantities["step_size"],
        "bound": total,
        "worst_case": worst.value,
        "gap": worst.gap,
        "ratio": total / worst.value if worst.value > 0 else inf,
        "inside": inside,
        "exact": worst.exact,
        "dominating_term": max(parts, key=lambda name: parts[name]),
        "dominating_assumption": max(positive, key=lambda name: positive[name]) if positive else "",
        "seconds": round(worst.seconds, 3),
        **{TERM + name: part for name, part in parts.items()},
        **shares,
    }
    facts = {"algorithm": str(problem.algorithm), "relaxations": list(problem.relaxations)}
    return Outcome({name: [value] for name, value in row.items()}, facts | {"assumptions": problem.assumptions})


@job("certificate", version=2, accepts="paper_checks.worst_case.grid_point:GridPoint")
def certificate_job(bound: str, about: float, **point: Any) -> Outcome:
    """Prove a point's worst case, whose value in floats is roughly ``about``; a refusal is a result with its reason."""
    try:
        proof = certify(problem_at(load(bound), GridPoint(**point)), about)
    except WorstCaseError as error:
        return Outcome({"bound": [nan], "width": [nan]}, {"refused": str(error)})
    facts = {"certificate": proof.content, "open_below": proof.open_below}
    return Outcome({"bound": [float(proof.bound)], "width": [proof.width]}, facts)


def proof_cell(bound: str, point: GridPoint, about: float) -> Cell:
    """Return the cell of a proof; two digits of the worst case suffice."""
    return Cell("certificate", {"bound": bound, **point.as_row(), "about": float(f"{about:.2g}")})


def terms(bound: Bound, quantities: dict[str, Any]) -> tuple[dict[str, float], bool]:
    """Return the terms of a bound by name, and whether its numeric conditions hold."""
    own = {q.name: quantities[q.name] for q in bound.quantities}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideConditionsWarning)
        parts = {name: float(value) for name, value in bound.parts(outside=True, **own).items()}
    return parts, bool(bound.holds(**own))


# ---- estimates of the time ----


def check_grid_size(spans: dict[str, Any]) -> None:
    """Raise ``WorstCaseError`` for a grid of too many points, before they are made."""
    if (count := prod(len(values) for values in spans.values())) > MAX_POINTS:
        raise WorstCaseError(f"the grid has {count} points; the limit is {MAX_POINTS}: give fewer values")


def expected_seconds(bound: Bound, points: Sequence[GridPoint], patience: float) -> list[float]:
    """Return about how many seconds every point takes on one core, scaled from the program of the largest one.

    Raises ``WorstCaseError`` if that one would take more than ``patience``, or has no worst case.
    """
    if not patience > 0:
        raise WorstCaseError(f"patience must be > 0 seconds; got {patience:g}")
    largest = max(points, key=min_seconds)
    least = seconds = min_seconds(largest)
    if least <= patience and not largest.cohort:
        seconds = solve_seconds(*program_of(problem_at(bound, largest)).blocks)
    if seconds > patience:
        raise WorstCaseError(
            f"too large: rounds={largest.rounds} local_steps={largest.local_steps} would take about "
            f"{duration(seconds)}, more than {duration(patience)}; take fewer, or raise --patience"
        )
    return [seconds * min_seconds(point) / least for point in points]


def min_seconds(point: GridPoint) -> float:
    """Return a lower estimate of the seconds for a point, from its number of gradients."""
    gradients = point.rounds * point.local_steps
    if point.cohort:  # per client: one at every model with which a round begins, and one per later step and cohort
        others = comb(point.clients - 1, point.cohort - 1)
        models = count_starting_models(point.rounds, point.cohort, point.clients)
        gradients = models * (1 + (point.local_steps - 1) * others)
    return solve_seconds(gradients + 1, gradients)


def proof_seconds(gradients: int) -> float:
    """Return about how many seconds a proof takes on one core, from the number of gradients of a client."""
    return 0.2 + 2.5 * solve_seconds(gradients + 1, gradients)
