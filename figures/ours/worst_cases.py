"""How tight every bound could be: bound over the exact worst case of its class, from the tables that come along."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from paper_checks.claims.checkers.worst import NOTHING
from paper_checks.worst_cases.refining import DOUBT
from paper_checks.worst_cases.tables import best_steps, committed, FOLDER, smallest_factors

from ..artefact import Artefact, no_runs, Shown
from ..comparing import Judged, Reproduction
from ..drawing import canvas, legend
from ..runs import Runs
from ..style import MEASURED, SILENT, THEORY
from .settings import PAPERS

LINE = 0.17


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
    if not rows:
        return Judged(words, Reproduction.UNDECIDED, "no tables")
    below = [row for row in rows if row["ratio"] < 1 - DOUBT]
    sure = [row for row in below if row["exact"]]
    verdict = Reproduction.NOT if sure else Reproduction.UNDECIDED if below else Reproduction.REPRODUCED
    least = min(rows, key=lambda row: float(row["ratio"]))
    return Judged(
        words, verdict, f"{len(below)} of {len(rows)} ratios below 1; least {least['ratio']:.4g}: {least['row']}"
    )


def draw(shown: Shown) -> Any:
    """One line per bound."""
    names = list(dict.fromkeys(row["row"] for row in shown.rows))
    made, axes = canvas(1, 1)
    made.set_figheight(0.7 + LINE * max(len(names), 5))
    ax = axes[0, 0]
    for place, name in enumerate(names):
        mine = [row for row in shown.rows if row["row"] == name]
        exact = mine[0]["exact"]
        colour, label = (THEORY, "exact worst case") if exact else (MEASURED, "upper estimate")
        ax.plot(
            [row["ratio"] for row in mine], [-place] * len(mine), "o", ms=3, mec=colour, mew=0.5, alpha=0.7,
            mfc=colour if exact else "none", label=label,
        )  # fmt: skip
    ax.axvline(1, color=SILENT, lw=0.7, zorder=0)
    ax.set_xscale("log")
    ax.set_yticks([-i for i in range(len(names))], names, fontsize=5.5)
    ax.set_xlabel("bound / worst case")
    legend(made, axes)
    return made


ARTEFACT = Artefact("ours.worst_cases", "bound over exact worst case", no_runs, data, draw)
