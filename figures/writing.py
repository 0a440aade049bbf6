"""Write the files of one figure or table.

Both have their numbers as CSV and a JSON card on the runs. A figure is written as PDF, SVG and PNG with its caption, a
table as text; captions and tables come in LaTeX and Markdown.
"""

from __future__ import annotations

import csv
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from string import ascii_lowercase
from typing import Any, cast

from bounds.showing.files import whole, write_whole
from bounds.showing.printing import escaped
from bounds.showing.tables import booktabs
from empirics.experiments import Kept

from .artefact import Artefact, Content
from .run_description import COLUMNS, flatten, RunInfo
from .style import fix_layout, HOUSE, save, scale_line_widths, STYLES, typeset

PICTURES = (".pdf", ".svg", ".png")
CAPTIONS = (".caption.md", ".caption.tex")
NUMBERS = ("x", "y", "error")
"""Columns of a CSV that are read as numbers even if all their cells are empty."""
NO_RUN = "none of its runs is there"


def write(
    artefact: Artefact, content: Content, card: Mapping[str, Any], folder: Path, style: str = HOUSE
) -> list[Path]:
    """Write all files of a figure or table and return their paths; the same numbers give the same bytes.

    A figure without rows gets a card only, which gives the reason; older files of it are removed.
    """

    def at(suffix: str) -> Path:
        return folder / f"{artefact.name}{suffix}"

    written = write_whole(at(".json"), json.dumps(card, indent=1, ensure_ascii=False) + "\n")
    if artefact.draw is not None and not content.rows:
        for suffix in (".csv", *PICTURES, *CAPTIONS):
            at(suffix).unlink(missing_ok=True)
        return [written]
    paths = [_csv(flatten(content.rows), at(".csv")), written]
    if artefact.draw is not None:
        return paths + picture(artefact, read_rows(at(".csv")), card, folder, style)
    return [
        *paths,
        write_whole(at(".md"), markdown(artefact, content)),
        write_whole(at(".tex"), latex(artefact, content)),
    ]


def picture(
    artefact: Artefact, numbers: Sequence[Mapping[str, Any]], card: Mapping[str, Any], folder: Path, style: str = HOUSE
) -> list[Path]:
    """Draw the rows of a CSV, write the picture in every format and its caption; return the paths."""
    import matplotlib

    paths = [folder / f"{artefact.name}{suffix}" for suffix in PICTURES]
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # the user's own settings must not change the bytes
        matplotlib.rcParams.update(cast(Any, STYLES[style]))
        assert artefact.draw is not None
        figure = artefact.draw(Content(card["caption"], numbers))
        typeset(figure)
        scale_line_widths(figure)
        box = fix_layout(figure)
        for path in paths:
            with whole(path) as beside:
                save(figure, beside, box)
    name = f"{card['source'] or 'Ours'}: {card['title']}"
    below = notes(card["caption"], card.get("ran"))
    texts = (
        f"**{name}.**\n\n{below}\n",
        f"\\caption{{{escaped(name)}.}}\n\\label{{fig:{artefact.name}}}\n{_small(below)}\n",
    )
    for suffix, text in zip(CAPTIONS, texts, strict=True):
        paths.append(write_whole(folder / f"{artefact.name}{suffix}", text))
    return paths


def notes(caption: str, info: Sequence[Mapping[str, Any]] | None) -> str:
    """Return the caption followed by data, network, clients and rounds of the runs, if there are any."""
    words = f"What ran: {'; '.join(one['words'] for one in info)}." if info else ""
    return " ".join(filter(None, (caption, words)))


def _small(notes: str) -> str:
    """Return the notes in LaTeX, set below the caption so that a list of figures shows one line each."""
    return rf"\par\smallskip{{\footnotesize {escaped(notes)}\par}}"


def make_card(
    artefact: Artefact, content: Content, scale: str, used: Sequence[Kept], wanted: int, changed: str = ""
) -> dict[str, Any]:
    """Return the card: the runs behind a figure or table, where they were made, and the verdicts on findings.

    ``used`` are the results that exist, ``wanted`` is the number of runs that the artefact reads.
    """
    cards = [result.card for result in used]
    return {
        "name": artefact.name,
        "title": artefact.title,
        "source": artefact.source,
        "kind": "table" if artefact.draw is None else "figure",
        "scale": scale,
        **({"changed": changed} if changed else {}),
        "caption": content.caption,
        "unavailable": content.unavailable or (NO_RUN if artefact.draw and not content.rows else ""),
        "ran": unique_runs(row.get("ran") for row in content.rows),
        "runs": {"wanted": wanted, "there": len(used), **dict(sorted(Counter(c["status"] for c in cards).items()))},
        "seeds": sorted({c["seed"] for c in cards if c.get("seed") is not None}),
        "minutes": round(sum(c["minutes"] for c in cards), 2),
        "keys": {c["key"]: c["minutes"] for c in sorted(cards, key=lambda c: str(c["key"]))},
        "commits": _sorted_unique(c["commit"] for c in cards),
        "devices": _sorted_unique(c["device"] for c in cards),
        "processors": _sorted_unique(c["processor"] for c in cards),
        "python": _sorted_unique(c["python"] for c in cards),
        "versions": {
            n: _sorted_unique(c["versions"].get(n, "") for c in cards)
            for n in _sorted_unique(n for c in cards for n in c["versions"])
        },
        "agreement": [dict(vars(a)) for a in content.agreement],
        "findings": [
            {
                "words": finding.words,
                "verdict": str(finding.verdict),
                "why": finding.why,
                "effect": finding.effect,
                "least": finding.least.rounded if finding.least else None,
                "counted": finding.counted,
                "guards": [{"subject": g.subject, "words": str(g), "missed": g.missed} for g in finding.guards],
            }
            for finding in content.findings
        ],
    }


def unique_runs(info: Iterable[RunInfo | None]) -> list[dict[str, Any]]:
    """Return the descriptions of the runs, each once: the columns of a CSV, a text, and the differences."""
    return [
        {**one.columns(), "words": str(one), "differences": one.differences}
        for one in dict.fromkeys(filter(None, info))
    ]


def _sorted_unique(values: Iterable[str]) -> list[str]:
    return sorted(set(values))


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read a CSV file that ``write`` wrote; columns of numbers (empty: NaN) and of truth values are converted."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    readers = {name: _reader(name, [row[name] for row in rows]) for name in (rows[0] if rows else ())}
    return [{name: readers[name](cell) for name, cell in row.items()} for row in rows]


def _reader(name: str, cells: Sequence[str]) -> Callable[[str], Any]:
    """Return the function that converts the cells of a column."""
    filled = list(filter(None, cells))
    if name in COLUMNS or (not filled and name not in NUMBERS):
        return str
    if filled and set(filled) <= {"True", "False"}:
        return "True".__eq__
    if _all_parse(int, cells):
        return int
    return (lambda cell: float(cell or "nan")) if _all_parse(float, filled) else str


def _all_parse(kind: Callable[[str], Any], cells: Sequence[str]) -> bool:
    try:
        [kind(cell) for cell in cells]
    except ValueError:
        return False
    return True


def _csv(rows: Sequence[Mapping[str, Any]], path: Path) -> Path:
    """Write rows as CSV, the columns that describe the runs last; return the path."""
    names = list(dict.fromkeys(k for row in rows for k in row if k not in COLUMNS)) + list(COLUMNS)
    with whole(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, names, lineterminator="\n")
        out.writeheader()
        out.writerows({k: _cell(v) for k, v in row.items()} for row in rows)
    return path


def _cell(value: Any) -> Any:
    """Return the value as written in a CSV: numbers with twelve digits, the same on every machine; NaN is empty."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.12g}"
    return value


# ---- tables ----


LONGEST_HEAD = 30
"""Characters of a column head; a longer one is replaced by a letter that the notes explain."""


def _heads(content: Content) -> tuple[list[str], str]:
    """Return the heads of a table, and a note on the letters among them (empty: none)."""
    (corner, *heads), letters = content.sheet[0], iter(ascii_lowercase)
    short = {head: f"({next(letters)})" for head in heads if len(head) > LONGEST_HEAD}
    key = "; ".join(f"{letter} {head}" for head, letter in short.items())
    return [corner, *(short.get(head, head) for head in heads)], f"Columns: {key}." if key else ""


def _below(content: Content, key: str) -> str:
    words = notes(content.caption, unique_runs(row.get("ran") for row in content.rows))
    return " ".join(filter(None, (key, words, content.unavailable)))


def markdown(artefact: Artefact, content: Content) -> str:
    """Return the table in Markdown with its caption, rank agreement and findings."""
    lines, key = [f"# {artefact.source or 'Ours'}: {artefact.title}", ""], ""
    if content.sheet:
        heads, key = _heads(content)
        lines += [markdown_row(heads), markdown_row(["---"] * len(heads)), *map(markdown_row, content.sheet[1:]), ""]
    lines += [_below(content, key), ""]
    if content.agreement:
        lines += ["Kendall's tau between reported and ours, with 90 % of it under both noises:", ""]
        lines += [f"- {a.column}: {a}" for a in content.agreement] + [""]
    lines += [f"- **{j.verdict}**: {j.words} ({j.why})" for j in content.findings]
    return "\n".join(lines).rstrip() + "\n"


def markdown_row(cells: Sequence[str]) -> str:
    """Return a row of a table in Markdown; line breaks and bars in its cells do not end them."""
    return "| " + " | ".join(" ".join(c.split()).replace("|", "\\|") for c in cells) + " |"


def latex(artefact: Artefact, content: Content) -> str:
    """Return the table in LaTeX (booktabs) with its notes."""
    heads, key = _heads(content) if content.sheet else ([artefact.title], "")
    lines = [
        r"\begin{table}",
        rf"  \caption{{{escaped(artefact.title)}.}}",
        rf"  \label{{tab:{artefact.name}}}",
        *(f"  {line}" for line in booktabs(heads, content.sheet[1:], "l" + "r" * (len(heads) - 1))),
        f"  {_small(_below(content, key))}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
