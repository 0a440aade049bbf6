"""Files of one artefact: its numbers as CSV and a card; a picture as PDF, SVG and PNG; a table as LaTeX, Markdown."""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any, cast

from bounds.showing.files import whole, write_whole
from bounds.showing.printing import escaped
from empirics.experiments import Kept

from .artefact import Artefact, Shown
from .drawing import nothing
from .style import save, settled, SILENT, STYLE

PICTURES = (".pdf", ".svg", ".png")
FOOT = 92
"""Letters of a line of the caption below a picture."""


def write(artefact: Artefact, shown: Shown, card: Mapping[str, Any], folder: Path) -> list[Path]:
    """Everything one artefact is made of; the same numbers give the same bytes. Returns the paths."""
    stem = folder / artefact.name
    paths = [_csv(shown.rows, stem.with_name(f"{artefact.name}.csv"))]
    paths.append(
        write_whole(stem.with_name(f"{artefact.name}.json"), json.dumps(card, indent=1, ensure_ascii=False) + "\n")
    )
    if artefact.draw is not None:
        return paths + picture(artefact, shown, folder)
    paths.append(write_whole(stem.with_name(f"{artefact.name}.md"), markdown(artefact, shown)))
    paths.append(write_whole(stem.with_name(f"{artefact.name}.tex"), latex(artefact, shown)))
    return paths


def picture(artefact: Artefact, shown: Shown, folder: Path) -> list[Path]:
    """The drawing in every format, the caption at its foot."""
    import matplotlib

    paths = [folder / f"{artefact.name}{suffix}" for suffix in PICTURES]
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever the user's own settings: the same bytes everywhere
        matplotlib.rcParams.update(cast(Any, STYLE))
        made = artefact.draw(shown) if artefact.draw and not shown.unavailable else nothing(shown.unavailable)
        made.supxlabel(fill(shown.caption, FOOT), x=0.01, ha="left", fontsize=5, color=SILENT, parse_math=False)
        box = settled(made)
        for path in paths:
            with whole(path) as beside:
                save(made, beside, box)
    return paths


def card(artefact: Artefact, shown: Shown, scale: str, used: Sequence[Kept], wanted: int) -> dict[str, Any]:
    """From which runs it comes, where these were made, and what it says of the paper."""
    cards = [kept.card for kept in used]
    return {
        "name": artefact.name,
        "title": artefact.title,
        "source": artefact.source,
        "kind": "table" if artefact.draw is None else "figure",
        "scale": scale,
        "caption": shown.caption,
        "unavailable": shown.unavailable,
        "runs": {"wanted": wanted, "there": len(used), **dict(sorted(Counter(c["status"] for c in cards).items()))},
        "seeds": sorted({c["seed"] for c in cards if c.get("seed") is not None}),
        "minutes": round(sum(c["minutes"] for c in cards), 2),
        "keys": {c["key"]: c["minutes"] for c in sorted(cards, key=lambda c: str(c["key"]))},
        "commits": _seen(c["commit"] for c in cards),
        "devices": _seen(c["device"] for c in cards),
        "processors": _seen(c["processor"] for c in cards),
        "python": _seen(c["python"] for c in cards),
        "versions": {
            n: _seen(c["versions"].get(n, "") for c in cards) for n in _seen(n for c in cards for n in c["versions"])
        },
        "agreement": [dict(vars(a)) for a in shown.agreement],
        "conclusions": [{**vars(j), "verdict": str(j.verdict)} for j in shown.conclusions],
    }


def _seen(values: Iterable[str]) -> list[str]:
    return sorted(set(values))


def _csv(rows: Sequence[Mapping[str, Any]], path: Path) -> Path:
    with whole(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, list(dict.fromkeys(k for row in rows for k in row)), lineterminator="\n")
        out.writeheader()
        out.writerows({k: _cell(v) for k, v in row.items()} for row in rows)
    return path


def _cell(value: Any) -> Any:
    """Numbers with twelve digits: enough for any picture, the same on every machine; NaN is empty."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.12g}"
    return value


# ---- tables ----


def markdown(artefact: Artefact, shown: Shown) -> str:
    """The table, its caption, and what it says of the paper."""
    lines = [f"# {artefact.source or 'Ours'}: {artefact.title}", "", shown.caption, ""]
    if shown.unavailable:
        lines += [f"**{shown.unavailable}**", ""]
    if shown.sheet:
        head, *body = shown.sheet
        lines += [_line(head), _line(["---"] * len(head)), *map(_line, body), ""]
    if shown.agreement:
        lines += ["Kendall's tau between reported and ours, with 90 % of it under both noises:", ""]
        lines += [f"- {a.column}: {a}" for a in shown.agreement] + [""]
    lines += [f"- **{j.verdict}**: {j.words} ({j.why})" for j in shown.conclusions]
    return "\n".join(lines).rstrip() + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(c.split()).replace("|", "\\|") for c in cells) + " |"


def latex(artefact: Artefact, shown: Shown) -> str:
    """The table for booktabs."""
    head, *body = shown.sheet or [[artefact.title]]
    caption = f"{artefact.title}. {shown.caption} {shown.unavailable}"
    lines = [
        r"\begin{table}",
        rf"  \caption{{{escaped(caption)}}}",
        rf"  \label{{tab:{artefact.name}}}",
        rf"  \begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"    \toprule",
        *(f"    {' & '.join(map(escaped, row))} \\\\" for row in [head]),
        r"    \midrule",
        *(f"    {' & '.join(map(escaped, row))} \\\\" for row in body),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
