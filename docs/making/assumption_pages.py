"""Who assumes what: the assumptions of all theorems, a matrix for each paper, and which theorem applies to a reader."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from bounds.assumptions import ASSUMPTIONS, follows
from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.papers import Paper, PAPERS
from bounds.stated import OUTCOME, role_of
from paper_checks.comparing.audit_status import AUDIT_STATUS

from .bound_pages import path
from .text import entries, plain, table, wide


def needs(bound: Bound) -> list[str]:
    """The names of the assumptions of a bound, in the order of the list of all."""
    assumed = {c.assumption.name for c in bound.conditions if c.assumption is not None}
    return [name for name in ASSUMPTIONS if name in assumed]


# ---- the matrix ----


def overview() -> str:
    """Every assumption with the number of bounds of each paper that make it."""
    count = {
        name: [sum(name in needs(b) for b in BOUNDS.values() if b.source.paper == key) for key in PAPERS]
        for name in ASSUMPTIONS
    }
    rows = (
        [f"`{name}`", plain(ASSUMPTIONS[name].words), *(str(n or "") for n in numbers)]
        for name, numbers in sorted(count.items(), key=lambda item: -sum(item[1]))
    )
    head = ["assumption", "in words", *(f"[{p.short}]({key}.md)" for key, p in PAPERS.items())]
    said = (
        "How many bounds of each paper make each assumption; the head of a column leads to the paper's theorems by "
        "assumption. Which of them fit your problem: [which theorem applies to me?](../which.md)"
    )
    hidden = ["```{toctree}", ":hidden:", "", *PAPERS, "```"]
    return wide(
        "# Who assumes what", entries("assumption matrix", "assumptions", main=True), said, table(head, rows), hidden
    )


def of_paper(paper: Paper) -> str:
    """The bounds of a paper by assumption."""
    mine = [b for b in BOUNDS.values() if b.source.paper == paper.key and needs(b)]
    columns = [name for name in ASSUMPTIONS if any(name in needs(b) for b in mine)]
    head = "".join(f'<th title="{escape(ASSUMPTIONS[name].words)}"><span>{name}</span></th>' for name in columns)
    rows = "\n".join(
        f'<tr><th><a href="../{path(b.name, "bounds/").removesuffix(".md")}.html">{b.name.partition(".")[2]}</a></th>'
        + "".join("<td>●</td>" if name in needs(b) else "<td></td>" for name in columns)
        + "</tr>"
        for b in mine
    )
    said = (
        f"The bounds of {paper.short} that make an assumption, and which; point at the head of a column for its words. "
        "Conditions that numbers decide stand on the page of each bound."
    )
    drawn = (
        f'<div class="matrix"><table>\n<thead><tr><th></th>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'
    )
    return wide(f"# Assumptions of {paper.short}", said, drawn)


# ---- which theorem applies ----


def theorems() -> list[Bound]:
    """Inequalities on a number of a run; the single steps of a recursion are left out."""
    return [
        b
        for b in BOUNDS.values()
        if b.relation in ("<=", "<~")
        and b.statistic is not None
        and b.about is not None
        and role_of(b.target.name) == OUTCOME
        and not b.target.name.startswith("next_")
        and needs(b)
    ]


def which() -> str:
    """Tick what is true of a problem and a run, and see what applies; without a script, all with what they need."""
    shown = sorted(theorems(), key=lambda b: (b.target.name, len(needs(b))))
    used = [name for name in ASSUMPTIONS if any(name in needs(b) for b in shown)]
    said = (
        "Tick what is true of your problem and your run. What follows from it counts too: a strongly convex loss is "
        "convex. Theorems that lack nothing come first, then those that lack least. What numbers decide, such as a "
        "limit on the step size, is not asked here: `fedbounds compare` does, at your numbers."
    )
    targets = dict.fromkeys(b.target.name for b in shown)
    options = "".join(f"<option>{escape(name)}</option>" for name in targets)
    boxes = "\n".join(
        f'<label><input type="checkbox" value="{name}" data-gives="{" ".join(sorted(follows(name)))}"> '
        f"{escape(ASSUMPTIONS[name].words)}</label>"
        for name in used
    )
    form = (
        '<form id="which">\n<p><label>I want to bound <select><option value="">anything</option>'
        f"{options}</select></label> <output></output></p>\n<fieldset>\n{boxes}\n</fieldset>\n</form>"
    )
    rows = "\n".join(_row(b) for b in shown)
    head = "<thead><tr><th>theorem</th><th>bounds</th><th>audit</th><th>assumes</th></tr></thead>"
    drawn = (
        f'<table id="theorems">\n{head}\n<tbody>\n{rows}\n</tbody></table>\n<script src="../_static/which.js"></script>'
    )
    asked = ("which theorem applies", "non-convex", "nonconvex", "strongly convex", "partial participation")
    also = (
        "No box about convexity ticked: the theorems for non-convex losses remain. The audit is that of the inequality "
        "itself where one claim decides it; the claims about a bound stand on its page."
    )
    return wide("# Which theorem applies to me?", entries(*asked, main=True), said, form, drawn, also)


def _row(bound: Bound) -> str:
    standing = AUDIT_STATUS.get(bound.name)
    spans = " ".join(f'<span data-name="{name}">{name}</span>' for name in needs(bound))
    cells: Iterator[str] = iter(
        (
            f'<a href="{path(bound.name, "bounds/").removesuffix(".md")}.html">{bound.name}</a>',
            escape(bound.target.name),
            "" if standing is None else str(standing),
            spans,
        )
    )
    return f'<tr data-target="{bound.target.name}">' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
