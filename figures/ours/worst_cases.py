"""How tight every bound could be: bound over the exact worst case of its class, from the tables that come along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paper_checks.claims.checkers.worst import NOTHING
from paper_checks.worst_cases.refining import DOUBT
from paper_checks.worst_cases.tables import best_steps, committed, FOLDER, smallest_factors

from ..artefact import Artefact, no_runs, Shown
from ..comparing import Judged
from ..drawing import columns, Row, strips
from ..runs import Runs
from ..style import MEASURED, THEORY
from . import beside
from .settings import PAPERS


def data(runs: Runs, scale: str) -> Shown:
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
    return Shown(caption, rows, conclusions=[_judged(rows)])


def _name(bound: str) -> str:
    paper, _, rest = bound.partition(".")
    return f"{PAPERS[paper]}, {rest.replace('_', ' ').replace('theorem', 'thm')}"


def _judged(rows: Sequence[dict[str, Any]]) -> Judged:
    words = "no bound is below the exact worst case, inside its conditions"
    exact = [row for row in rows if row["ratio"] < 1 - DOUBT and row["exact"]]
    return beside.never_below(words, rows, exact, "no tables", "{ratio:.4g}: {row}", DOUBT)


def draw(shown: Shown) -> Any:
    """One line per bound."""
    return strips(shown.rows, _line, "bound / worst case", 0.17, 5.5)


def _line(ax: Any, height: int, rows: list[Row]) -> None:
    exact = rows[0]["exact"]
    colour, label = (THEORY, "exact worst case") if exact else (MEASURED, "upper estimate")
    ax.plot(
        *columns(rows, "ratio"), [height] * len(rows), "o", ms=3, mec=colour, mew=0.5, alpha=0.7,
        mfc=colour if exact else "none", label=label,
    )  # fmt: skip


ARTEFACT = Artefact("ours.worst_cases", "bound over exact worst case", no_runs, data, draw)
