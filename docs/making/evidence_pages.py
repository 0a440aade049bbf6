"""What holds which theorem against what happens: every bound by every verb, and the reason where one says nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from bounds.catalog import BOUNDS
from bounds.classes import ClassOf, unlike
from bounds.core import Bound
from bounds.papers import Paper, PAPERS
from bounds.scenario import Scenario
from bounds.ties import KNOBS, METHODS
from paper_checks.runs.can import can
from paper_checks.runs.words import ATOMS, CURVES, EXACT, QUADRATICS, RUNS, WORST
from paper_checks.validation import VALIDATIONS

from .bound_pages import path
from .text import entries, plain, table, wide

VERBS = {
    "validate": "exact expectations, no sampling",
    "validate --problem": "training on data",
    "falsify": "a search for a violation",
    "tightness": "the exact worst case",
    "compare": "a rank among theorems on the same number",
}
OTHER = {"fedinit": 0.1, "fedcog": 0.5, "fedals": 2}
"""By method: a value of its knob at which it is not FedAvg."""


def reach(bound: Bound) -> dict[str, str]:
    """By verb: why it says nothing about the bound, in the words of the tool; empty where it does."""
    searched = [can(bound, family) for family in (QUADRATICS, CURVES, ATOMS)]
    return {
        "validate": "" if bound.name in VALIDATIONS else can(bound, EXACT),
        "validate --problem": can(bound, RUNS),
        "falsify": searched[0] if all(searched) else "",
        "tightness": can(bound, WORST),
        "compare": _unranked(bound),
    }


def _unranked(bound: Bound) -> str:
    """Why no federation that runs what the bound is about ranks it."""
    if bound.relation == "<~":
        return "it hides a constant: slopes can be compared, levels cannot"
    if bound.relation != "<=":
        return f"it states {bound.relation!r}, not an upper bound"
    kind = ClassOf.of(bound)
    if kind.reading not in ("", "intended"):  # it is that of FedAvg, or of another reading, by the plan
        return ""
    knobs = [f"{knob}={OTHER[name]}" for name, knob, _ in KNOBS if name == kind.algorithm]
    base = [f"algorithm={kind.algorithm}"] if kind.algorithm in METHODS else []
    return unlike(kind, Scenario.of(*knobs, *base))


# ---- pages ----


def overview() -> str:
    """How many bounds of each paper every verb reaches."""
    rows = []
    for paper in PAPERS.values():
        found = [reach(bound) for bound in of(paper)]
        counted = [str(sum(not one[verb] for one in found)) for verb in VERBS]
        rows.append([f"[{paper.short}]({paper.key}.md)", str(len(found)), *counted])
    said = (
        "How many bounds of each paper each verb holds against what happens, or ranks. The page of a paper names them, "
        "and says of the others what stops it. Of a bound of your own the verb itself says the same line."
    )
    head = ["paper", "bounds", *(f"`{verb}`: {words}" for verb, words in VERBS.items())]
    hidden = ["```{toctree}", ":hidden:", "", *PAPERS, "```"]
    return wide("# What can be held against what", entries("evidence matrix"), said, table(head, rows), hidden)


def of(paper: Paper) -> list[Bound]:
    """The bounds of a paper."""
    return [bound for bound in BOUNDS.values() if bound.source.paper == paper.key]


def of_paper(paper: Paper) -> str:
    """The bounds of a paper by verb; reasons are numbered."""
    found = {bound: reach(bound) for bound in of(paper)}
    reasons = list(dict.fromkeys(why for one in found.values() for why in one.values() if why))
    said = "● : the verb says something about the bound. A number: it does not, for the reason of that number below."
    head = "".join(f'<th title="{escape(words)}"><span>{escape(verb)}</span></th>' for verb, words in VERBS.items())
    rows = "\n".join(_row(bound, one, reasons) for bound, one in found.items())
    drawn = (
        f'<div class="matrix"><table>\n<thead><tr><th></th>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'
    )
    return wide(f"# {paper.short}: what can be held against what", said, drawn, _listed(reasons))


def _row(bound: Bound, one: Mapping[str, str], reasons: list[str]) -> str:
    cells = "".join(
        f'<td title="{escape(one[verb])}">{reasons.index(one[verb]) + 1}</td>' if one[verb] else "<td>●</td>"
        for verb in VERBS
    )
    link = f"../{path(bound.name, 'bounds/').removesuffix('.md')}.html"
    return f'<tr><th><a href="{link}">{bound.name.partition(".")[2]}</a></th>{cells}</tr>'


def _listed(reasons: Iterable[str]) -> list[str]:
    return [f"{i}. {plain(why)}" for i, why in enumerate(reasons, 1)]
