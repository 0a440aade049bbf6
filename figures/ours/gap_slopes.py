"""Figure of the generalization gap against the number of IID clients: does it fall like 1/K or like 1/K^2?"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from empirics.measuring.estimates import power_law
from paper_checks.validation import Verdict as Standing

from ..artefact import Content
from ..comparing import exact_finding, Finding, judge, Pair
from ..drawing import Axis, each_panel
from ..one_round import panel
from ..runs import Runs, standard_error
from .grid import Federation, info_of, one_round_cell, PLANS
from .theorems import one_round_rows as rows_of

GROUPS = 6
"""Groups of draws. The slope is fitted to each; the spread of the slopes is its error."""
BETWEEN = 1.5
"""Halfway between the two powers."""


def federations(scale: str) -> list[Federation]:
    return [f for f in PLANS[scale].axes["draws"] if f.concentration is None]


def data(runs: Runs, scale: str) -> Content:
    rows = [row for f in federations(scale) for row in rows_of(runs, scale, f)]
    by_model = {f.words: slopes(runs, scale, f) for f in federations(scale)}
    info = {f.words: info_of(one_round_cell(scale, f)) for f in federations(scale)}
    for name, values in by_model.items():
        mean, error = (float(np.mean(values)), standard_error(values)) if len(values) > 1 else (math.nan, math.nan)
        slope = {"bound": "fedals.one_round", "x_name": "", "y_name": "exponent of K", "curve": "slope", "verdict": ""}
        rows.append(
            {"panel": name, **slope, "x": math.nan, "y": mean, "error": error, "outside": False, "ran": info[name]}
        )
    return Content(_caption(scale, rows), rows, findings=_findings(by_model, rows))


def slopes(runs: Runs, scale: str, federation: Federation) -> list[float]:
    """Return the exponent of K in the mean gap of each group of draws."""
    table = runs.rows(one_round_cell(scale, federation), "quantity", "value")
    if not table:
        return []
    counts = np.array(PLANS[scale].axes["counts"], dtype=float)
    gaps = [value for quantity, value in table if quantity == "generalization_gap"]
    values = np.array(gaps, dtype=float).reshape(len(counts), federation.seeds)
    total, error = values.mean(1), values.std(1, ddof=1)
    parts = np.array_split(values, min(GROUPS, federation.seeds // 2), axis=1)
    exponents = [float(power_law(counts, part.mean(1), (total / error) ** 2)) for part in parts]
    return [slope for slope in exponents if math.isfinite(slope)]


def _findings(by_model: dict[str, list[float]], rows: list[dict[str, Any]]) -> list[Finding]:
    """Return the findings on both powers, by the slopes, and on the first term as a bound by itself, by the tests."""
    fitted = ", ".join(f"{name}: {np.mean(v):.3f}" for name, v in by_model.items() if v)
    steep = {name: ([-s for s in values], [BETWEEN] * len(values)) for name, values in by_model.items()}
    findings = []
    for words, sides in (
        ("1/K^2 (FedALS, discussion of Theorem 4.1): slope below -1.5", steep),
        ("1/K, as the exact value for squared distances: slope above -1.5", {n: two[::-1] for n, two in steep.items()}),
    ):
        pairs = [Pair(name, high, low) for name, (high, low) in sides.items()]
        one = judge(f"with identical clients the gap falls like {words}", pairs)
        findings.append(replace(one, more=f"{one.more}; slopes {fitted}"))
    mine = [row for row in rows if row["curve"] == "first term alone"]
    broken = [f"{row['panel']}, K = {row['x']:g}" for row in mine if row["verdict"] == str(Standing.VIOLATED)]
    holds = bool(mine) and all(row["verdict"] == str(Standing.HOLDS_HERE) for row in mine)
    words = "with identical clients the first term bounds the gap by itself (FedALS, discussion of Theorem 4.1)"
    why = f"violated at {len(broken)} of {len(mine)} places: {'; '.join(broken) or 'none'}"
    return [*findings, exact_finding(words, holds, why, bool(broken))]


def _caption(scale: str, rows: list[dict[str, Any]]) -> str:
    draws = "; ".join(
        f"{f.words}: {f.seeds} draws of 20 samples per client, penalty {f.regularisation:g}" for f in federations(scale)
    )
    fitted = "; ".join(f"{r['panel']}: {r['y']:.2f} ± {r['error']:.2g}" for r in rows if r["curve"] == "slope")
    return (
        f"One averaging round of exact local minimisers, clients with one distribution. {draws}. Grey: powers of K "
        f"through the first dot. Fitted exponents of K: {fitted}. Dots: mean over draws with a control variate of mean "
        "zero subtracted, bars one standard error; dotted: the bound's first term alone, as the discussion reads it."
    )


# ---- drawing ----


def draw(content: Content) -> Any:
    """Draw one panel per model with both powers as guides."""
    rows = [row for row in content.rows if row["curve"] != "slope"]
    return each_panel(rows, panel, Axis("", log=True), Axis("gap of the loss", log=True), legend_lines=2)
