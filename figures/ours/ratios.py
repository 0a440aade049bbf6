"""Figures of the tightness of every bound, over runs and over the exact worst case of its class, one line per bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

from paper_checks.claims.checkers.worst import NOTHING
from paper_checks.worst_case.interior_point import TOLERANCE
from paper_checks.worst_case.tightness_table import best_steps, committed, FOLDER, smallest_factors

from ..artefact import Content
from ..comparing import exact_finding, Finding
from ..drawing import add_legend, new_figure, Row
from ..run_description import plural, problem_words
from ..runs import Runs
from ..style import BLACK, GREY, MEASURED, REFERENCE, width_factor
from . import grid, theorems
from .grid import exact_cell, PLANS, training_cell
from .settings import COMPARED, ROUNDS, title

IDENTICAL, DIFFERENT = "identical", "different"
SIDES = {"exact": ("o", 0.17), "measured": ("D", -0.17)}
"""The value that a bound is divided by: its mark, and how far above the middle of a line it is drawn."""
SHORTEST = 5
"""Minimum number of lines for which space is reserved."""
Look = tuple[str, str, str, bool, float]
"""Legend label, mark and colour, whether it is filled, and how far above the middle of its line it is drawn."""


def never_below(
    words: str, rows: Sequence[Row], exact: Sequence[Row], nothing: str, place: str, doubt: float = 0.0
) -> Finding:
    """Judge that no ratio of a bound to the value it bounds is below ``1 - doubt``.

    ``exact`` are the rows whose exact ratios contradict this, ``nothing`` is the reason if there are no rows, and
    ``place`` the template that names the row with the smallest ratio.
    """
    below = [row for row in rows if row["ratio"] < 1 - doubt]
    least = place.format(**min(rows, key=lambda row: float(row["ratio"]))) if rows else ""
    why = f"{len(below)} of {len(rows)} ratios below 1; least {least}" if rows else nothing
    return exact_finding(words, bool(rows) and not below, why, bool(exact))


# ---- runs ----


def over_runs(runs: Runs, scale: str) -> Content:
    plan, name = PLANS[scale], grid.data_set(scale)
    once = "fedals.one_round"
    rows = _ratios(once, theorems.distance_rows(runs, scale), IDENTICAL)
    for federation in plan.axes["draws"]:
        clients = IDENTICAL if federation.concentration is None else DIFFERENT
        rows += _ratios(once, theorems.one_round_rows(runs, scale, federation), clients)
    compared = [bound for named in COMPARED.values() for bound in named]
    for bound in (*ROUNDS, *compared):
        for i in range(plan.counts["compared"] if bound in compared else 0):
            rows += _ratios(bound, theorems.rows_of(runs, exact_cell(scale, bound, i), bound, str(i)), DIFFERENT)
        rows += _ratios(bound, theorems.rows_of(runs, training_cell(scale, bound), bound, name), DIFFERENT)
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
    inside = [row for row in rows if not row["outside"]]
    words = "no bound is below what it bounds, inside its conditions"
    below = [row for row in inside if row["curve"] == "exact" and row["ratio"] < 1 - theorems.ROUNDING]
    finding = never_below(words, inside, below, "not measured", "{ratio:.3g}: {row}, {panel}")
    return Content(
        caption + theorems.outside_note([r for r in rows if r["curve"] == "bound"]), rows, findings=[finding]
    )


def _ratios(bound: str, rows: Iterable[dict[str, Any]], clients: str) -> list[dict[str, Any]]:
    """Return the ratio of the bound to the exact, else the measured value, wherever both are positive."""
    listed = list(rows)
    known = {(r["panel"], r["x"]) for r in listed if r["curve"] == "exact"}
    listed = [r for r in listed if r["curve"] != "measured" or (r["panel"], r["x"]) not in known]
    bounds = {(r["panel"], r["x"]): r for r in listed if r["curve"] == "bound"}
    ratios = []
    for row in listed:
        above = bounds.get((row["panel"], row["x"]))
        if row["curve"] in SIDES and above and row["y"] > 0 and math.isfinite(above["y"]):
            shared = {"panel": row["panel"], "row": title(bound), "curve": row["curve"], "clients_are": clients}
            ratio = above["y"] / row["y"]
            ratios.append(
                {**shared, "x": row["x"], "ratio": ratio, "outside": bool(above["outside"]), "ran": row["ran"]}
            )
    return ratios


def _run_look(row: Row) -> Look:
    """Return the look of a ratio: exact ones a little above measured ones, open outside the conditions."""
    mark, shift = SIDES[row["curve"]]
    colour = REFERENCE if row["clients_are"] == IDENTICAL else MEASURED
    return f"{row['curve']}, {row['clients_are']} clients", mark, colour, not row["outside"], shift


# ---- worst cases ----


def over_worst_cases(runs: Runs, scale: str) -> Content:
    """Return the ratios in the committed tables of worst cases, which ``fedbounds tightness NAME`` computes."""
    rows: list[dict[str, Any]] = []
    for path in sorted(FOLDER.glob("*.csv")):
        table = [row for row in committed(path.stem) if row["inside"] and row["worst_case"] > NOTHING]
        if not table:
            continue
        share = smallest_factors(table)["bound"]
        regrets = [best.regret for best in best_steps(table)]
        for row in table:
            work = row["rounds"] * row["local_steps"]
            dominating = {name: row[name] for name in ("dominating_term", "dominating_assumption")}
            extra = {"smallest_factor": share, "worst_regret": max(regrets, default=0.0)}
            place = {name: row[name] for name in ("rounds", "local_steps", "step_size", "condition_number")}
            values = {**place, "heterogeneity": row["heterogeneity"], "gradients": work, "ratio": row["ratio"]}
            rows.append({"row": title(path.stem), "exact": row["exact"], **values, **dominating, **extra})
    most = max((2 * row["gradients"] for row in rows), default=0)
    caption = (
        "Bound over the worst case of noiseless full-participation runs over the whole class of federations it covers "
        f"(semidefinite programming; two clients, which stand for any number; up to {most} gradients), one mark per "
        "place inside the conditions, short lines at their geometric means. Filled: exact; open: the worst case is an "
        "upper estimate, the ratio at least as large. Left of 1 a bound would be violated. L = 1, the start a unit "
        "away, heterogeneity 0.1 and 10."
    )
    words = "no bound is below the exact worst case, inside its conditions"
    below = [row for row in rows if row["ratio"] < 1 - TOLERANCE and row["exact"]]
    finding = never_below(words, rows, below, "no tables", "{ratio:.4g}: {row}", TOLERANCE)
    return Content(caption, rows, findings=[finding])


def _worst_look(row: Row) -> Look:
    """Return the look of a ratio: small heterogeneity a little above large, open for upper estimates."""
    hardly = row["heterogeneity"] < 1
    words = f"{'exact' if row['exact'] else 'upper estimate'}, heterogeneity {row['heterogeneity']:g}"
    return words, "o", REFERENCE if hardly else MEASURED, row["exact"], 0.17 if hardly else -0.17


# ---- drawing ----


def draw(look: Callable[[Row], Look], label: str, height: float, content: Content) -> Any:
    """Draw a line of ``height`` inches for each bound, with a mark per ratio and a dash at their geometric mean.

    Lines are sorted by the geometric mean of their ratios, the smallest on top; 1 is marked.
    """
    ratios: dict[str, dict[Look, list[float]]] = {}
    for row in content.rows:
        ratios.setdefault(row["row"], {}).setdefault(look(row), []).append(float(row["ratio"]))

    def centre(groups: Iterable[list[float]]) -> float:
        return float(np.exp(np.log([ratio for group in groups for ratio in group]).mean()))

    names = sorted(ratios, key=lambda name: centre(ratios[name].values()))
    figure, axes = new_figure(1, 1)
    figure.set_figheight((0.7 + height * max(len(names), SHORTEST)) * width_factor())
    ax = axes[0, 0]
    for place, name in enumerate(names):
        for (words, mark, colour, filled, shift), values in ratios[name].items():
            ax.plot(values, np.full(len(values), shift - place), mark, ms=2.4, mec=colour,
                    mfc=colour if filled else "none", mew=0.5, alpha=0.7, label=words)  # fmt: skip
        for shift in {look[-1] for look in ratios[name]}:
            middle = centre(values for look, values in ratios[name].items() if look[-1] == shift)
            ax.plot([middle, middle], [shift - place - 0.15, shift - place + 0.15], color=BLACK, lw=1.0)
    ax.axvline(1, color=GREY, lw=0.7, zorder=0)
    ax.set_xscale("log")
    ax.set_yticks([-i for i in range(len(names))], names)
    ax.set_xlabel(label)
    add_legend(figure, axes, most=2)
    return figure


draw_runs = partial(draw, _run_look, "bound / value\n1: tight; left of 1: violated", 0.17)
draw_worst_cases = partial(draw, _worst_look, "bound / exact worst case\n1: tight; left of 1: violated", 0.18)
