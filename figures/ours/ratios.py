"""How tight every bound is: over what runs gave, and over the exact worst case of its class, one line per bound."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from empirics.experiments import Cell
from paper_checks.claims.checkers.worst import NOTHING
from paper_checks.worst_cases.refining import DOUBT
from paper_checks.worst_cases.tables import best_steps, committed, FOLDER, smallest_factors

from ..artefact import Artefact, no_runs, Shown
from ..captions import plural
from ..comparing import Judged, Reproduction
from ..drawing import columns, Row, strips
from ..ran import problem_words
from ..runs import Runs
from ..style import MEASURED, REFERENCE, THEORY
from . import beside, grid, theorems
from .grid import draws, exact, PLANS, trained
from .settings import COMPARED, PAPERS, ROUNDS, TITLES


def never_below(
    words: str, rows: Sequence[Row], exact: Sequence[Row], nothing: str, place: str, doubt: float = 0.0
) -> Judged:
    """That no ratio of a bound to what it bounds is below 1 (by ``doubt``), of which those in ``exact`` surely are.

    ``nothing`` is said where there are none, ``place`` says which is the least.
    """
    if not rows:
        return Judged(words, Reproduction.UNDECIDED, nothing)
    below = [row for row in rows if row["ratio"] < 1 - doubt]
    verdict = Reproduction.CONTRADICTED if exact else Reproduction.UNDECIDED if below else Reproduction.REPRODUCED
    least = place.format(**min(rows, key=lambda row: float(row["ratio"])))
    return Judged(words, verdict, f"{len(below)} of {len(rows)} ratios below 1; least {least}")


# ---- runs ----


def cells(scale: str) -> list[Cell]:
    plan, bounds = PLANS[scale], [bound for named in COMPARED.values() for bound in named]
    found = [exact(scale, bound, i) for bound in bounds for i in range(plan.counts["compared"])]
    return [*found, *(trained(scale, b) for b in (*bounds, *ROUNDS)), *(draws(scale, f) for f in plan.axes["draws"])]


def over_runs(runs: Runs, scale: str) -> Shown:
    plan, name = PLANS[scale], grid.data(scale)
    rows: list[dict[str, Any]] = []
    for federation in plan.axes["draws"]:
        rows += _ratios("FedALS, one round", theorems.one_round(runs, scale, federation), ("measured",))
    compared = [bound for named in COMPARED.values() for bound in named]
    for bound in (*ROUNDS, *compared):
        title = f"{PAPERS[bound.partition('.')[0]]}, {TITLES[bound]}"
        for i in range(plan.counts["compared"] if bound in compared else 0):
            rows += _ratios(title, beside.rows_of(runs, exact(scale, bound, i), bound, str(i)), ("exact",))
        rows += _ratios(title, beside.rows_of(runs, trained(scale, bound), bound, name), ("measured",))
    families = ", ".join(f.words for f in plan.axes["draws"])
    caption = (
        f"Bound divided by the exact value ({plural(plan.counts['compared'], 'federation')} of quadratics) or by the "
        f"mean of measurements ({problem_words(grid.problem(scale))}; FedALS, one round: {families}), one mark per "
        "number of rounds or clients; short line: the geometric mean. Left of 1 a bound would be violated. Step sizes "
        "are those that the conditions allow. Values that are not positive have no ratio and are left out."
    )
    return Shown(
        caption + beside.remark([r for r in rows if r["curve"] == "bound"]), rows, conclusions=[_over_runs(rows)]
    )


def _ratios(name: str, rows: Iterable[dict[str, Any]], kinds: Sequence[str]) -> list[dict[str, Any]]:
    """Bound over value at every place where both are positive."""
    listed = list(rows)
    bounds = {(r["panel"], r["x"]): r for r in listed if r["curve"] == "bound"}
    found = []
    for row in listed:
        bound = bounds.get((row["panel"], row["x"]))
        if row["curve"] in kinds and bound and row["y"] > 0 and math.isfinite(bound["y"]):
            shared = {"panel": row["panel"], "row": name, "curve": row["curve"], "x": row["x"]}
            found.append(
                {**shared, "ratio": bound["y"] / row["y"], "outside": bool(bound["outside"]), "ran": row["ran"]}
            )
    return found


def _over_runs(rows: Sequence[dict[str, Any]]) -> Judged:
    inside = [row for row in rows if not row["outside"]]
    words = "no bound is below what it bounds, inside its conditions"
    exact = [row for row in inside if row["curve"] == "exact" and row["ratio"] < 1 - beside.ROUNDING]
    return never_below(words, inside, exact, "not measured", "{ratio:.3g}: {row}, {panel}")


def _both(ax: Any, height: int, rows: list[Row]) -> None:
    """Exact and measured ratios beside one another."""
    for kind, colour, shift in (("exact", REFERENCE, 0.17), ("measured", MEASURED, -0.17)):
        if mine := [row for row in rows if row["curve"] == kind]:
            (ratios,), middle = columns(mine, "ratio"), height + shift
            face = ["white" if row["outside"] else colour for row in mine]
            ax.scatter(ratios, np.full(len(mine), middle), s=5, c=face, edgecolors=colour, lw=0.4, alpha=0.7)
            mean = float(np.exp(np.log(ratios).mean()))
            ax.plot([mean, mean], [middle - 0.2, middle + 0.2], color=colour, lw=1.3, label=kind)


# ---- worst cases ----


def over_worst_cases(runs: Runs, scale: str) -> Shown:
    """No runs: worst cases are computed by ``fedbounds tightness NAME --full``, and their tables come along."""
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
            rows.append({"row": _name(path.stem), "exact": row["exact"], **kept, **said, **extra})
    most = max((2 * row["gradients"] for row in rows), default=0)
    caption = (
        "Bound over the worst case of noiseless full-participation runs over the whole class of federations it speaks "
        f"of (semidefinite programming; two clients, which stand for any number; up to {most} gradients), one mark per "
        "place inside the conditions. Filled: exact; open: the worst case is an upper estimate, the ratio at least as "
        "large. Left of 1 a bound would be violated. L = 1, the start a unit away, heterogeneity 0.1 and 10."
    )
    return Shown(caption, rows, conclusions=[_over_worst_cases(rows)])


def _name(bound: str) -> str:
    paper, _, rest = bound.partition(".")
    return f"{PAPERS[paper]}, {rest.replace('_', ' ').replace('theorem', 'thm')}"


def _over_worst_cases(rows: Sequence[dict[str, Any]]) -> Judged:
    words = "no bound is below the exact worst case, inside its conditions"
    exact = [row for row in rows if row["ratio"] < 1 - DOUBT and row["exact"]]
    return never_below(words, rows, exact, "no tables", "{ratio:.4g}: {row}", DOUBT)


def _one(ax: Any, height: int, rows: list[Row]) -> None:
    exact = rows[0]["exact"]
    colour, label = (THEORY, "exact worst case") if exact else (MEASURED, "upper estimate")
    ax.plot(
        *columns(rows, "ratio"), [height] * len(rows), "o", ms=3, mec=colour, mew=0.5, alpha=0.7,
        mfc=colour if exact else "none", label=label,
    )  # fmt: skip


ARTEFACTS = {
    "tightness": Artefact(
        "ours.tightness", "bound over value, every bound and every run", cells, over_runs,
        lambda shown: strips(shown.rows, _both, "bound / value", 0.16, "x-small"),
    ),
    "worst_cases": Artefact(
        "ours.worst_cases", "bound over exact worst case", no_runs, over_worst_cases,
        lambda shown: strips(shown.rows, _one, "bound / worst case", 0.17, "x-small"),
    ),
}  # fmt: skip
