"""The reference of figures and tables: what each shows, and what came out at the laptop scale where that was run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import figures
from bounds.papers import PAPERS
from figures.artefact import Artefact
from figures.catalogue import artefact, FILES, NAMES
from figures.writing import notes

from .text import alone, page, plain, table

MADE = Path(figures.__file__ or "").parent / "laptop"


def of_paper(paper: str, made: Path = MADE) -> str:
    """The list of one paper's figures and tables, or of ours: pictures small, each leading to its page."""
    shown = [artefact(f"{paper}.{file}") for file in FILES[paper]]
    rows = ([f"[{one.name}]({page_of(one.name)})", plain(one.title), _judged(one.name, made)] for one in shown)
    return page(f"# {_title(paper)}", *shelf_of(shown, made), table(["name", "", "conclusions"], rows))


def _title(paper: str) -> str:
    return f"Figures and tables of {PAPERS[paper].short}" if paper in PAPERS else "Figures of our own"


def page_of(name: str) -> str:
    """The page of a figure or table, from the folder of all of them."""
    return f"{name.replace('.', '/', 1)}.md"


def shelf_of(shown: Iterable[Artefact], made: Path, up: str = "") -> Iterator[list[str]]:
    """The pictures among these, small, each with its title and leading to its page; ``up`` is the folder of all."""
    links = [
        f"[![{plain(one.title)}]({up}{one.name}.svg) {plain(one.title)}]({up}{page_of(one.name)})"
        for one in shown
        if (made / f"{one.name}.svg").exists()
    ]
    if links:
        yield ["```{container} gallery", *links, "```"]


def _judged(name: str, made: Path) -> str:
    path = made / f"{name}.json"
    words = [j["verdict"] for j in json.loads(path.read_text(encoding="utf-8"))["conclusions"]] if path.exists() else []
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(sorted(words)))


def gallery(made: Path = MADE) -> str:
    """Every picture that was made, small, and leading to its page."""
    parts: list[str | list[str]] = ["Each beside what the paper reports, at the laptop scale."]
    for paper, files in FILES.items():
        parts.append(f"## [{_title(paper)}]({paper}.md)")
        parts += shelf_of((artefact(f"{paper}.{file}") for file in files), made)
    return page(*parts)


def pictures(pages: Path, made: Path = MADE) -> None:
    """The pictures copied to where the pages show them."""
    for name in NAMES:
        if (made / f"{name}.svg").exists():
            shutil.copyfile(made / f"{name}.svg", pages / f"{name}.svg")


def of_figure(name: str, made: Path = MADE) -> str:
    """The page of one figure or table."""
    paper = name.partition(".")[0]
    up = f"[Figures](../index.md) / [{_title(paper)}](../{paper}.md)"
    return alone(f"# {name}", up, *_one(artefact(name), made))


def _one(shown: Artefact, made: Path) -> Iterator[str | list[str]]:
    yield f"{plain(shown.source or 'Ours')}: **{plain(shown.title)}**"
    path = made / f"{shown.name}.json"
    if path.exists():
        yield from _result(json.loads(path.read_text(encoding="utf-8")), made)
    yield f"```sh\nfedbounds figure {shown.name} --scale laptop -o figures/laptop\n```"


def _result(card: Mapping[str, Any], made: Path) -> Iterator[str | list[str]]:
    """The picture or table, how it was made, and what it says of the paper."""
    name = card["name"]
    if card["unavailable"]:
        yield f"Not shown: {plain(card['unavailable'])}"
    elif card["kind"] == "figure":
        yield [f"```{{image}} ../{name}.svg", f":alt: {' '.join(card['title'].split())}", ":width: 100%", "```"]
    else:
        yield [line for line in (made / f"{name}.md").read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    yield plain(notes(card["caption"], card.get("ran")))
    yield [f"- **{j['verdict']}**: {plain(j['words'])} ({plain(j['why'])})" for j in card["conclusions"]]
    taus = [f"{plain(a['column'])} {a['tau']:+.2f} [{a['low']:+.2f}, {a['high']:+.2f}]" for a in card["agreement"]]
    yield f"Kendall's tau with the reported numbers: {'; '.join(taus)}." if taus else ""
    runs = card["runs"]
    if runs["wanted"]:
        yield f"{runs['there']} of {runs['wanted']} runs, {card['minutes']:.0f} minutes of one core."
