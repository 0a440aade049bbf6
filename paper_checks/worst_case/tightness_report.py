"""The output of ``fedbounds tightness``: the table, the best local steps, the smallest factors, and remarks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bounds.core import Bound
from bounds.showing.command_line import Report
from bounds.showing.tables import aligned

from .grid_point import heterogeneity_of, NAMES
from .interior_point import TOLERANCE
from .tightness_table import Best, best_steps, Constant, Row, smallest_factors

SHOWN = ("step_size", "bound", "worst_case", "ratio", "dominating_term", "dominating_assumption")


def report_of(
    bound: Bound, rows: Sequence[Row], card: Mapping[str, Any], best_constants: Sequence[Constant] | None = None
) -> Report:
    """Return the report of a table or of ``best_constants``; its status is 1 if a worst case exceeds its bound."""
    best, factors = best_steps(rows), smallest_factors(rows)
    above = [row for row in rows if row["inside"] and row["ratio"] < 1 - TOLERANCE]
    broken = [row for row in above if row["exact"]]
    heterogeneity = heterogeneity_of(bound)
    data = {**card, "heterogeneity": heterogeneity, "rows": list(rows)}
    data |= {"best_steps": [vars(b) for b in best], "smallest_factors": factors}
    if best_constants is not None:
        data["constants"] = [vars(c) for c in best_constants]
        lines = _constants(best_constants)
    else:
        lines, inside = _table(rows), sum(bool(row["inside"]) for row in rows)
        if broken:
            least = min(row["ratio"] for row in broken)
            which = f"at {len(broken)} of {inside} points a federation exceeds the bound"
            lines += ["", f"VIOLATED: {which}; the smallest ratio of bound to worst case is {least:.3g}"]
        elif above:
            which = f"at {len(above)} of {inside} points an upper estimate of the worst case exceeds the bound"
            lines += ["", f"NOT PROVED: {which}; fedbounds falsify searches for a federation that does"]
        must = "must" if broken else "may have to" if above else "could"
        lines += [*_steps(best), *_factors(factors, must), *_remarks(rows, card, heterogeneity)]
    return Report(lines, data, int(bool(broken)))


def _table(rows: Sequence[Row]) -> list[str]:
    varied = [name for name in NAMES if len({row[name] for row in rows}) > 1]
    head = [*varied, *SHOWN, *(("proved", "excess", "width") if "proved" in rows[0] else ())] if rows else []
    body = [[_cell(row, c) + ("" if row["inside"] or c != "bound" else "*") for c in head] for row in rows]
    return aligned([head, *body]) if rows else []


def _cell(row: Mapping[str, Any], name: str) -> str:
    value = row[name]
    return _short(value) if value or name != "cohort" else "all"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _steps(best: Sequence[Best]) -> list[str]:
    if not best:
        return []
    varied = [name for name in best[0].where if len({b.where[name] for b in best}) > 1]
    head = [*varied, "K* by bound", "K* exact", "regret"]
    body = [
        [*(_cell(b.where, n) for n in varied), str(b.by_bound), str(b.by_worst_case), f"{b.regret:.1%}"] for b in best
    ]
    return ["", "best local steps among those above, and what following the bound costs:", *aligned([head, *body])]


def _factors(factors: Mapping[str, float], verb: str) -> list[str]:
    if not factors:
        return []
    end = "and still" if verb == "could" else "to"
    return [
        "",
        f"the bound {verb} be multiplied by {factors['bound']:.3g} {end} hold at every point above",
        f"one term at a time, it {verb} be multiplied by:",
        *(f"  {name}: {factor:.3g}" for name, factor in factors.items() if name != "bound"),
    ]


def _constants(best: Sequence[Constant]) -> list[str]:
    """Return a table with a line per factor, and its explanation."""
    if not best:
        return ["the conditions of the bound hold at no point: it has no constants there"]
    head = ["in front of", "printed", "not below", "suffices", "places", "decided at"]
    body = []
    for c in best:
        where = " ".join(f"{word}={_short(value)}" for word, value in c.where.items())
        factors = map(_number, (c.printed, c.not_below, c.suffices))
        body.append([c.term, *factors, f"{c.proved} of {c.places}", where])
    if any(c.not_below == c.not_below for c in best):
        lower = "no smaller factor is valid: a federation in fractions attains more at the point in the last column"
    else:
        lower = "nothing is proved, as the federations meet the assumptions only at the visited models"
    return [
        *aligned([head, *body]),
        "",
        "factors in front of the whole bound, or of one term alone with the others unchanged",
        f"not below: {lower}",
        "suffices: valid at the proved points, by certificates; elsewhere nothing is claimed",
    ]


def _number(value: float) -> str:
    return "-" if value != value else f"{value:.6g}"


def _remarks(rows: Sequence[Row], card: Mapping[str, Any], heterogeneity: Sequence[str]) -> list[str]:
    remarks = [f"heterogeneity: {' and '.join(heterogeneity)}"] if heterogeneity not in ([], ["heterogeneity"]) else []
    if any(not row["inside"] for row in rows):
        remarks.append("* outside the bound's conditions: the formula, not the theorem")
    if any(row["cohort"] for row in rows):
        remarks.append("with a cohort, the worst case is the mean over all draws")
    if rows and not all(row["exact"] for row in rows):
        remarks.append("upper estimates of the worst case; ratios are at least as large as shown:")
        remarks += [f"  {relaxation}" for relaxation in card.get("relaxations", ())]
    return ["", *remarks, _setting(rows)] if rows else []


def _setting(rows: Sequence[Row]) -> str:
    """Return the setting of the worst cases, and what they leave out."""

    def span(name: str) -> str:
        numbers = sorted({row[name] or row["clients"] for row in rows})  # cohort 0: all clients
        return f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"

    part = f"{span('cohort')} drawn in every round" if any(row["cohort"] for row in rows) else "all in every round"
    plan = f"{span('rounds')} rounds of {span('local_steps')} local steps"
    return f"setting: {span('clients')} clients, {part}; {plan}; without gradient noise"
