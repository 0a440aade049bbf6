"""Files of one figure or table: its numbers as CSV and a card; a picture as PDF, SVG, PNG, with its caption; or a
table.

Captions of pictures, and tables, are LaTeX and Markdown.
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
from bounds.showing.latex_tables import booktabs
from bounds.showing.printing import escaped
from empirics.experiments import Kept

from .artefact import Artefact, Shown
from .run_description import COLUMNS, flat, Ran
from .style import HOUSE, save, settled, STYLES, weighted
from .symbols import typeset

PICTURES = (".pdf", ".svg", ".png")
CAPTIONS = (".caption.md", ".caption.tex")
NUMBERS = ("x", "y", "error")
"""Columns of a CSV that hold numbers even where all of it is empty."""
NO_RUN = "none of its runs is there"


def write(artefact: Artefact, shown: Shown, card: Mapping[str, Any], folder: Path, style: str = HOUSE) -> list[Path]:
    """Everything one figure or table is made of; the same numbers give the same bytes. Returns the paths.

    A figure that has nothing to show is its card alone, which says why; what an earlier one has left is removed.
    """

    def at(suffix: str) -> Path:
        return folder / f"{artefact.name}{suffix}"

    written = write_whole(at(".json"), json.dumps(card, indent=1, ensure_ascii=False) + "\n")
    if artefact.draw is not None and not shown.rows:
        for suffix in (".csv", *PICTURES, *CAPTIONS):
            at(suffix).unlink(missing_ok=True)
        return [written]
    paths = [_csv(flat(shown.rows), at(".csv")), written]
    if artefact.draw is not None:
        return paths + picture(artefact, rows(at(".csv")), card, folder, style)
    return [*paths, write_whole(at(".md"), markdown(artefact, shown)), write_whole(at(".tex"), latex(artefact, shown))]


def picture(
    artefact: Artefact, numbers: Sequence[Mapping[str, Any]], card: Mapping[str, Any], folder: Path, style: str = HOUSE
) -> list[Path]:
    """The drawing of the rows of a CSV in every format, and its caption beside it."""
    import matplotlib

    paths = [folder / f"{artefact.name}{suffix}" for suffix in PICTURES]
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # whatever the user's own settings: the same bytes everywhere
        matplotlib.rcParams.update(cast(Any, STYLES[style]))
        made = cast(Any, artefact.draw)(Shown(card["caption"], numbers))
        typeset(made)
        weighted(made)
        box = settled(made)
        for path in paths:
            with whole(path) as beside:
                save(made, beside, box)
    name = f"{card['source'] or 'Ours'}: {card['title']}"
    below = notes(card["caption"], card.get("ran"))
    texts = (
        f"**{name}.**\n\n{below}\n",
        f"\\caption{{{escaped(name)}.}}\n\\label{{fig:{artefact.name}}}\n{_small(below)}\n",
    )
    kept = zip(CAPTIONS, texts, strict=True)
    return paths + [write_whole(folder / f"{artefact.name}{suffix}", text) for suffix, text in kept]


def notes(caption: str, ran: Sequence[Mapping[str, str]] | None) -> str:
    """What is shown and how it was made, then data, network, clients and rounds where something ran."""
    words = f"What ran: {'; '.join(one['words'] for one in ran)}." if ran else ""
    return " ".join(filter(None, (caption, words)))


def _small(notes: str) -> str:
    """Notes below a caption in LaTeX: a caption of one line can be read in a list of figures."""
    return rf"\par\smallskip{{\footnotesize {escaped(notes)}\par}}"


def card(
    artefact: Artefact, shown: Shown, scale: str, used: Sequence[Kept], wanted: int, changed: str = ""
) -> dict[str, Any]:
    """From which runs it comes, where these were made, and what it says of the paper."""
    cards = [kept.card for kept in used]
    return {
        "name": artefact.name,
        "title": artefact.title,
        "source": artefact.source,
        "kind": "table" if artefact.draw is None else "figure",
        "scale": scale,
        **({"changed": changed} if changed else {}),
        "caption": shown.caption,
        "unavailable": shown.unavailable or (NO_RUN if artefact.draw and not shown.rows else ""),
        "ran": listed(row.get("ran") for row in shown.rows),
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
        "conclusions": [
            {
                **vars(j),
                "verdict": str(j.verdict),
                "regimes": [{"words": str(r), "missed": r.missed} for r in j.regimes],
            }
            for j in shown.conclusions
        ],
    }


def listed(ran: Iterable[Ran | None]) -> list[dict[str, str]]:
    """What ran, each once, by the columns of a CSV and in words."""
    return [{**one.columns(), "words": str(one)} for one in dict.fromkeys(filter(None, ran))]


def _seen(values: Iterable[str]) -> list[str]:
    return sorted(set(values))


def rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a CSV of ours: numbers where a column holds numbers alone (NaN where it is empty), truth values."""
    with path.open(newline="", encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    of = {name: _reader(name, [row[name] for row in read]) for name in (read[0] if read else ())}
    return [{name: of[name](cell) for name, cell in row.items()} for row in read]


def _reader(name: str, cells: Sequence[str]) -> Callable[[str], Any]:
    said = list(filter(None, cells))
    if name in COLUMNS or (not said and name not in NUMBERS):
        return str
    if said and set(said) <= {"True", "False"}:
        return "True".__eq__
    for kind in (int, float):
        try:
            [kind(cell) for cell in (cells if kind is int else said)]
        except ValueError:
            continue
        return int if kind is int else lambda cell: float(cell or "nan")
    return str


def _csv(rows: Sequence[Mapping[str, Any]], path: Path) -> Path:
    names = list(dict.fromkeys(k for row in rows for k in row if k not in COLUMNS)) + list(COLUMNS)
    with whole(path) as beside, beside.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, names, lineterminator="\n")
        out.writeheader()
        out.writerows({k: _cell(v) for k, v in row.items()} for row in rows)
    return path


def _cell(value: Any) -> Any:
    """Numbers with twelve digits: enough for any picture, the same on every machine; NaN is empty."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.12g}"
    return value


# ---- tables ----


LONGEST_HEAD = 30
"""Letters of a column's head; a longer one is a letter, and stands below the table."""


def _heads(shown: Shown) -> tuple[list[str], str]:
    """The heads of a table, and what the letters among them stand for."""
    (corner, *heads), letters = shown.sheet[0], iter(ascii_lowercase)
    short = {head: f"({next(letters)})" for head in heads if len(head) > LONGEST_HEAD}
    key = "; ".join(f"{letter} {head}" for head, letter in short.items())
    return [corner, *(short.get(head, head) for head in heads)], f"Columns: {key}." if key else ""


def _below(shown: Shown, key: str) -> str:
    words = notes(shown.caption, listed(row.get("ran") for row in shown.rows))
    return " ".join(filter(None, (key, words, shown.unavailable)))


def markdown(artefact: Artefact, shown: Shown) -> str:
    """The table, its caption, and what it says of the paper."""
    lines, key = [f"# {artefact.source or 'Ours'}: {artefact.title}", ""], ""
    if shown.sheet:
        heads, key = _heads(shown)
        lines += [_line(heads), _line(["---"] * len(heads)), *map(_line, shown.sheet[1:]), ""]
    lines += [_below(shown, key), ""]
    if shown.agreement:
        lines += ["Kendall's tau between reported and ours, with 90 % of it under both noises:", ""]
        lines += [f"- {a.column}: {a}" for a in shown.agreement] + [""]
    lines += [f"- **{j.verdict}**: {j.words} ({j.why})" for j in shown.conclusions]
    return "\n".join(lines).rstrip() + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(c.split()).replace("|", "\\|") for c in cells) + " |"


def latex(artefact: Artefact, shown: Shown) -> str:
    """The table for booktabs, its notes below it."""
    heads, key = _heads(shown) if shown.sheet else ([artefact.title], "")
    lines = [
        r"\begin{table}",
        rf"  \caption{{{escaped(artefact.title)}.}}",
        rf"  \label{{tab:{artefact.name}}}",
        *(f"  {line}" for line in booktabs(heads, shown.sheet[1:], "l" + "r" * (len(heads) - 1))),
        f"  {_small(_below(shown, key))}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"
