"""One grid point of a tightness table as a cell of a store: bound and exact worst case, or the proof of the latter."""

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

from .grid_point import fitted, GridPoint, question, values
from .program import WorstCaseError
from .solve import answer, estimated, taking
from .symbolic_run import starting_models
from .worst_case_proof import certify

TERM = "term: "
MOST = 10_000
"""Grid points of one table."""


@job("tightness", version=1, setting="paper_checks.worst_case.grid_point:GridPoint")
def tightness(bound: str, **point: Any) -> Outcome:
    """A bound (by name) beside its exact worst case; ``inside`` says whether its conditions hold at this point."""
    chosen = load(bound)
    here = fitted(chosen, GridPoint(**point))
    given, asked = values(chosen, here), question(chosen, here)
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
        "ratio": total / worst.value if worst.value > 0 else inf,
        "inside": inside,
        "exact": worst.exact,
        "dominating_term": max(parts, key=lambda name: parts[name]),
        "dominating_assumption": max(found, key=lambda word: found[word]) if found else "",
        "seconds": round(worst.seconds, 3),
        **{TERM + name: part for name, part in parts.items()},
        **shares,
    }
    facts = {"algorithm": str(asked.algorithm), "relaxations": list(asked.relaxations)}
    return Outcome({name: [value] for name, value in row.items()}, facts | {"assumptions": asked.assumptions})


@job("certificate", version=2, setting="paper_checks.worst_case.grid_point:GridPoint")
def certificate(bound: str, about: float, **point: Any) -> Outcome:
    """The proof of a point's worst case, which is ``about`` so large; a refusal is a result and says why."""
    try:
        found = certify(question(load(bound), GridPoint(**point)), about)
    except WorstCaseError as error:
        return Outcome({"bound": [nan], "width": [nan]}, {"refused": str(error)})
    facts = {"certificate": found.content, "open_below": found.open_below}
    return Outcome({"bound": [float(found.bound)], "width": [found.width]}, facts)


def proof_cell(bound: str, point: GridPoint, about: float) -> Cell:
    """Two digits of the worst case are enough."""
    return Cell("certificate", {"bound": bound, **point.as_row(), "about": float(f"{about:.2g}")})


def terms(bound: Bound, given: dict[str, Any]) -> tuple[dict[str, float], bool]:
    """The bound term by term, and whether its numeric conditions hold."""
    mine = {q.name: given[q.name] for q in bound.quantities}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideConditionsWarning)
        parts = {name: float(value) for name, value in bound.parts(outside=True, **mine).items()}
    return parts, bool(bound.holds(**mine))


# ---- how long they take, before anything is computed ----


def refuse_many(spans: dict[str, Any]) -> None:
    """Refuse a grid of too many points before they are made."""
    if (count := prod(len(values) for values in spans.values())) > MOST:
        least = duration(count * taking(2, 1))
        raise WorstCaseError(
            f"the grid has {count} points, at least {least} of one core; at most {MOST} at once: give fewer values"
        )


def expected(bound: Bound, at: Sequence[GridPoint], patience: float) -> float:
    """About how many seconds of one core all points take; refuses one that alone takes more than ``patience``.

    The largest point is stated, and the others are taken to be to it as their numbers of gradients say.
    """
    if not patience > 0:
        raise WorstCaseError(f"patience must be > 0 seconds; got {patience:g}")
    largest = max(at, key=least_time)
    least = least_time(largest)  # without stating it
    seconds = least if least > patience else estimated(question(bound, largest), inf)
    if seconds > patience:
        raise WorstCaseError(
            f"too large: rounds={largest.rounds} local_steps={largest.local_steps} would take about "
            f"{duration(seconds)}, more than {duration(patience)}; take fewer, or raise --patience"
        )
    return sum(seconds * least_time(point) / least for point in at)


def least_time(point: GridPoint) -> float:
    """Seconds below which no point of that many gradients is solved."""
    gradients = point.rounds * point.local_steps
    if point.cohort:  # one of every client at every model that a round begins with, more where it goes on from there
        others = comb(point.clients - 1, point.cohort - 1)
        gradients = starting_models(point.rounds, point.cohort, point.clients) * (1 + (point.local_steps - 1) * others)
    return taking(gradients + 1, gradients)


def proof_time(gradients: int) -> float:
    """About how many seconds a proof of a worst case of that many gradients of a client takes, on one core."""
    return 0.2 + 2.5 * taking(gradients + 1, gradients)
