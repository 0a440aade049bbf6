"""How tight every bound is: over what runs gave, and over the exact worst case of its class, one line per bound."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from paper_checks.claims.checkers.worst import NOTHING
from paper_checks.worst_case.interior_point import DOUBT
from paper_checks.worst_case.tightness_table import best_steps, committed, FOLDER, smallest_factors

from ..artefact import Artefact, no_runs, Shown
from ..captions import plural
from ..comparing import counted, Judged
from ..drawing import columns, Row, strips
from ..run_description import problem_words
from ..runs import Runs
from ..style import BLACK, MEASURED, REFERENCE
from . import grid, theorems
from .grid import exact, PLANS, trained
from .settings import COMPARED, ROUNDS, title

ALIKE, UNLIKE = "alike", "unlike"
SIDES = {"exact": ("o", 0.17), "measured": ("D", -0.17)}
"""What a bound is divided by: its mark, and how far above the middle of a line it is drawn."""


def never_below(
    words: str, rows: Sequence[Row], exact: Sequence[Row], nothing: str, place: str, doubt: float = 0.0
) -> Judged:
    """That no ratio of a bound to what it bounds is below 1 (by ``doubt``), of which those in ``exact`` surely are.

    ``nothing`` is shown where there are none, ``place`` names the smallest.
    """
    below = [row for row in rows if row["ratio"] < 1 - doubt]
    least = place.format(**min(rows, key=lambda row: float(row["ratio"]))) if rows else ""
    why = f"{len(below)} of {len(rows)} ratios below 1; least {least}" if rows else nothing
    return counted(words, bool(rows) and not below, why, bool(exact))


# ---- runs ----


def over_runs(runs: Runs, scale: str) -> Shown:
    plan, name = PLANS[scale], grid.data(scale)
    once = "fedals.one_round"
    rows = _ratios(once, theorems.distances(runs, scale), ALIKE)
    for federation in plan.axes["draws"]:
        clients = ALIKE if federation.concentration is None else UNLIKE
        rows += _ratios(once, theorems.one_round(runs, scale, federation), clients)
    compared = [bound for named in COMPARED.values() for bound in named]
    for bound in (*ROUNDS, *compared):
        for i in range(plan.counts["compared"] if bound in compared else 0):
            rows += _ratios(bound, theorems.rows_of(runs, exact(scale, bound, i), bound, str(i)), UNLIKE)
        rows += _ratios(bound, theorems.rows_of(runs, trained(scale, bound), bound, name), UNLIKE)
    families = ", ".join(f.words for f in plan.axes["draws"])
    caption = (
        f"Bound divided by the exact value ({plural(plan.counts['compared'], 'federation')} of quadratics; FedALS, one "
        "round: squared distances to a mean) or by the mean of measurements "
        f"({problem_words(grid.problem(scale))}; FedALS, one round: {families}), one mark per number of rounds or "
        "clients, the bounds by their geometric mean; short lines: the geometric means of exact (above) and of "
        "measured ratios (below). Left of 1 a bound would be violated. Clients differ where their classes or their "
        "curvatures differ. Step sizes are those that the conditions allow. Values that are not positive have no ratio "
        "and are left out."
    )
    return Shown(
        caption + theorems.remark([r for r in rows if r["curve"] == "bound"]), rows, conclusions=[_over_runs(rows)]
    )


def _ratios(bound: str, rows: Iterable[dict[str, Any]], clients: str) -> list[dict[str, Any]]:
    """The bound over the value at every place where both are positive: the measured one where no exact one is known."""
    listed = list(rows)
    known = {(r["panel"], r["x"]) for r in listed if r["curve"] == "exact"}
    listed = [r for r in listed if r["curve"] != "measured" or (r["panel"], r["x"]) not in known]
    bounds = {(r["panel"], r["x"]): r for r in listed if r["curve"] == "bound"}
    found = []
    for row in listed:
        above = bounds.get((row["panel"], row["x"]))
        if row["curve"] in SIDES and above and row["y"] > 0 and math.isfinite(above["y"]):
            shared = {"panel": row["panel"], "row": title(bound), "curve": row["curve"], "clients_are": clients}
            ratio = above["y"] / row["y"]
            found.append(
                {**shared, "x": row["x"], "ratio": ratio, "outside": bool(above["outside"]), "ran": row["ran"]}
            )
    return found


def _over_runs(rows: Sequence[dict[str, Any]]) -> Judged:
    inside = [row for row in rows if not row["outside"]]
    words = "no bound is below what it bounds, inside its conditions"
    exact = [row for row in inside if row["curve"] == "exact" and row["ratio"] < 1 - theorems.ROUNDING]
    return never_below(words, inside, exact, "not measured", "{ratio:.3g}: {row}, {panel}")


def _both(ax: Any, height: int, rows: list[Row]) -> None:
    """Exact and measured ratios beside one another."""
    for kind, (mark, shift) in SIDES.items():
        if not (mine := [row for row in rows if row["curve"] == kind]):
            continue
        for clients, colour in ((ALIKE, REFERENCE), (UNLIKE, MEASURED)):
            for outside in (False, True):
                chosen = [row for row in mine if (row["clients_are"], row["outside"]) == (clients, outside)]
                label = "" if outside else f"{kind}, {clients} clients"
                _marks(ax, chosen, height + shift, mark, colour, label, not outside)
        (ratios,) = columns(mine, "ratio")
        centre = float(np.exp(np.log(ratios).mean()))
        ax.plot([centre, centre], [height + shift - 0.2, height + shift + 0.2], color=BLACK, lw=1.0)


def _marks(
    ax: Any, rows: Sequence[Row], height: float, mark: str, colour: str, label: str, filled: bool = True
) -> None:
    """A mark for every ratio, if there are any."""
    if rows:
        (ratios,) = columns(rows, "ratio")
        face, at = colour if filled else "none", np.full(len(rows), height)
        ax.plot(ratios, at, mark, ms=2.4, mec=colour, mfc=face, mew=0.5, alpha=0.7, label=label)


# ---- worst cases ----


def over_worst_cases(runs: Runs, scale: str) -> Shown:
    """No runs: worst cases are computed by ``fedbounds tightness NAME``, and their tables come along."""
    rows: list[dict[str, Any]] = []
    for path in sorted(FOLDER.glob("*.csv")):
        table = [row for row in committed(path.stem) if row["inside"] and row["worst_case"] > NOTHING]
        if not table:
            continue
        share = smallest_factors(table)["bound"]
        regrets = [best.regret for best in best_steps(table)]
        for row in table:
            work = row["rounds"] * row["local_steps"]
            said = {"dominating_term": row["dominating_term"], "dominating_assumption": row["dominating_assumption"]}
            extra = {"smallest_factor": share, "worst_regret": max(regrets, default=0.0)}
            place = {name: row[name] for name in ("rounds", "local_steps", "step_size", "condition_number")}
            kept = {**place, "heterogeneity": row["heterogeneity"], "gradients": work, "ratio": row["ratio"]}
            rows.append({"row": title(path.stem), "exact": row["exact"], **kept, **said, **extra})
    most = max((2 * row["gradients"] for row in rows), default=0)
    caption = (
        "Bound over the worst case of noiseless full-participation runs over the whole class of federations it covers "
        f"(semidefinite programming; two clients, which stand for any number; up to {most} gradients), one mark per "
        "place inside the conditions, the bounds by their geometric mean. Filled: exact; open: the worst case is an "
        "upper estimate, the ratio at least as large. Left of 1 a bound would be violated. L = 1, the start a unit "
        "away, heterogeneity 0.1 and 10."
    )
    return Shown(caption, rows, conclusions=[_over_worst_cases(rows)])


def _over_worst_cases(rows: Sequence[dict[str, Any]]) -> Judged:
    words = "no bound is below the exact worst case, inside its conditions"
    exact = [row for row in rows if row["ratio"] < 1 - DOUBT and row["exact"]]
    return never_below(words, rows, exact, "no tables", "{ratio:.4g}: {row}", DOUBT)


def _one(ax: Any, height: int, rows: list[Row]) -> None:
    """Where clients hardly differ a little above where they differ much."""
    among = sorted({row["heterogeneity"] for row in rows})
    for place, (differ, colour) in enumerate(zip(among, (REFERENCE, MEASURED), strict=False)):
        for attained in (True, False):
            mine = [r for r in rows if r["heterogeneity"] == differ and r["exact"] == attained]
            label = f"{'exact' if attained else 'upper estimate'}, heterogeneity {differ:g}"
            _marks(ax, mine, height + 0.17 - 0.34 * place, "o", colour, label, attained)


ARTEFACTS = (
    Artefact(
        "ours.tightness", "bound over value, every bound and every run", over_runs,
        lambda shown: strips(shown.rows, _both, "bound / value\n1: tight; left of 1: violated", 0.17),
    ),
    Artefact(
        "ours.worst_cases", "bound over exact worst case", over_worst_cases,
        lambda shown: strips(shown.rows, _one, "bound / exact worst case\n1: tight; left of 1: violated", 0.18),
        reads=no_runs,
    ),
)  # fmt: skip
