"""The reference of figures and tables: what each shows, and what came out at the laptop scale where that was run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bounds.papers import PAPERS
from figures.artefact import Artefact
from figures.catalogue import artefact, FILES
from figures.writing import what_ran

from .text import page, plain

MADE = Path(__file__).resolve().parents[2] / "figures" / "laptop"


def of_paper(paper: str, pages: Path, made: Path = MADE) -> str:
    """The page of one paper's figures and tables, or of ours; pictures are copied into ``pages``."""
    title = f"Figures and tables of {PAPERS[paper].short}" if paper in PAPERS else "Figures of our own"
    shown = (artefact(f"{paper}.{file}") for file in FILES[paper])
    return page(f"# {title}", *(part for one in shown for part in _one(one, pages, made)))


def gallery(made: Path = MADE) -> str:
    """Every picture that was made, small, and leading to its page."""
    shown = [artefact(f"{paper}.{file}") for paper, files in FILES.items() for file in files]
    links = [
        f"[![{plain(one.title)}]({one.name}.svg)]({one.name.partition('.')[0]}.md)"
        for one in shown
        if (made / f"{one.name}.svg").exists()
    ]
    shelf = ["", "```{container} gallery", *links, "```"] if links else []
    return "\n".join(["Each beside what the paper reports, at the laptop scale.", *shelf])


def _one(shown: Artefact, pages: Path, made: Path) -> Iterator[str | list[str]]:
    yield f"## {shown.name}"
    yield f"{plain(shown.source or 'Ours')}: **{plain(shown.title)}**"
    path = made / f"{shown.name}.json"
    if path.exists():
        yield from _result(json.loads(path.read_text(encoding="utf-8")), pages, made)
    yield f"```sh\nfedbounds figure {shown.name} --scale laptop -o figures/laptop\n```"


def _result(card: Mapping[str, Any], pages: Path, made: Path) -> Iterator[str | list[str]]:
    """The picture or table, how it was made, and what it says of the paper."""
    name = card["name"]
    if card["unavailable"]:
        yield f"Not shown: {plain(card['unavailable'])}"
    elif card["kind"] == "figure":
        shutil.copyfile(made / f"{name}.svg", pages / f"{name}.svg")
        yield [f"```{{image}} {name}.svg", f":alt: {' '.join(card['title'].split())}", ":width: 100%", "```"]
    else:
        yield [line for line in (made / f"{name}.md").read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    yield plain(" ".join(filter(None, (card["caption"], what_ran(card)))))
    yield [f"- **{j['verdict']}**: {plain(j['words'])} ({plain(j['why'])})" for j in card["conclusions"]]
    taus = [f"{plain(a['column'])} {a['tau']:+.2f} [{a['low']:+.2f}, {a['high']:+.2f}]" for a in card["agreement"]]
    yield f"Kendall's tau with the reported numbers: {'; '.join(taus)}." if taus else ""
    runs = card["runs"]
    if runs["wanted"]:
        yield f"{runs['there']} of {runs['wanted']} runs, {card['minutes']:.0f} minutes of one core."
