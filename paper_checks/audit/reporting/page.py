"""The report as one HTML page that needs nothing else: filters by verdict and words, works offline, light and dark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from bounds.papers import PAPERS

from ...claims.review import Review
from .records import by_owner, counts, papers, quoted, Record, short, WORDS

STYLE = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); }
td { text-align: right; } td:first-child, th:first-child { text-align: left; }
details { border-bottom: 1px solid var(--line); padding: .35rem 0; } summary { cursor: pointer; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; margin: .6rem 0 .6rem 1.2rem; }
dt { opacity: .7; } dd { margin: 0; overflow-wrap: anywhere; } code { font-size: .92em; }
.v { display: inline-block; min-width: 6rem; font-weight: 600; }
.HOLDS { color: light-dark(#17692f, #6fcf87); } .FAILS { color: light-dark(#b3261e, #ff8a80); }
.REPAIRED { color: light-dark(#8a5a00, #e8b84a); } .OPEN { color: light-dark(#44546a, #9fb3c8); }
form { position: sticky; top: 0; background: Canvas; padding: .6rem 0; display: flex; gap: 1rem; flex-wrap: wrap; }
"""

SCRIPT = """
const form = document.querySelector("form"), claims = [...document.querySelectorAll("details")];
function sift() {
  const wanted = new Set([...form.querySelectorAll("input:checked")].map(box => box.value));
  const words = form.q.value.toLowerCase();
  for (const c of claims) c.hidden = !wanted.has(c.dataset.verdict) || !c.textContent.toLowerCase().includes(words);
}
form.addEventListener("input", sift);
form.addEventListener("submit", event => event.preventDefault());
const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
if (named) named.open = true;
"""


def page(found: Sequence[Record], reviews: Mapping[str, Review]) -> str:
    """The whole page."""
    boxes = "".join(f'<label><input type="checkbox" value="{w}" checked> {w}</label>' for w in WORDS)
    sections = "".join(_paper(paper, group, reviews.get(paper)) for paper, group in papers(found).items())
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>The audit</title><style>{STYLE}</style><h1>The audit</h1>{_tally(found)}"
        f'<form><label>Words <input name="q" type="search"></label>{boxes}</form>{sections}'
        f"<script>{SCRIPT}</script></html>\n"
    )


def _tally(found: Sequence[Record]) -> str:
    head = "".join(f"<th>{w}</th>" for w in ("paper", "sentences", "claims", *WORDS))
    rows = [(short(paper), group) for paper, group in papers(found).items()]
    body = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(whose)}</td><td>{len(group)}</td>"
        + "".join(f"<td>{n}</td>" for n in counts(group).values())
        + "</tr>"
        for name, claims in [*rows, ("all", found)]
        for whose, group in by_owner(claims).items()
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _paper(paper: str, group: Sequence[Record], review: Review | None) -> str:
    about = PAPERS.get(paper)
    title = f"{about.short}: {about.title}" if about else paper
    said = "".join(f"<p>{escape(p)}</p>" for p in quoted(review.summary if review else (), group))
    return f"<h2>{escape(title)}</h2>{said}" + "".join(map(_claim, group))


def _claim(record: Record) -> str:
    witness = ", ".join(f"{k} = {v}" for k, v in record.witness.items())
    repair = f"{record.repair}: {record.repair_evidence}" if record.repair else ""
    rows = {
        "defect": record.defect,
        "whose": "ours, a cross-check" if record.ours else "",
        "source": record.source,
        "evidence": f"{record.evidence} ({record.grade})",
        "witness": witness,
        "repair": f"{repair} {record.repair_bound}".strip(),
        "readings": record.damaged,
        "note": record.note,
    }
    told = "".join(f"<dt>{k}</dt><dd>{escape(v)}</dd>" for k, v in rows.items() if v)
    changed = "" if record.expected else " <strong>(differs from the audited verdict)</strong>"
    return (
        f'<details id="{record.name}" data-verdict="{record.verdict}"><summary>'
        f'<span class="v {record.verdict}">{record.verdict}</span> <code>{record.name}</code> '
        f"{escape(record.words)}{changed}</summary><dl>{told}"
        f"<dt>again</dt><dd><code>{escape(record.command)}</code></dd></dl></details>"
    )
