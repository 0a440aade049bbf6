"""Pictures of the site: committed figures, outputs of the notebook, and plots of the sessions on hand-written pages."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import figures
from bounds.papers import PAPERS
from fedbounds import main
from figures.catalogue import BY_PAPER, NAMES

from .notebook import PLACE
from .text import slug

DOCS = Path(__file__).resolve().parents[1]
MADE = Path(figures.__file__ or "").parent / "laptop"
TYPED = re.compile(r"^\$ fedbounds (plot (?:.*\\\n)*.*)\n", re.MULTILINE)
SHOWN = ("image/png", "text/latex", "text/html", "text/plain")
"""The forms of an output, in order of preference."""


def write(folder: Path) -> None:
    """Copy or draw all pictures into the folders from which the pages show them."""
    for name in filter(drawn, NAMES):
        shutil.copyfile(MADE / f"{name}.svg", folder / "figures" / f"{name}.svg")
    for file, (_, cells) in notebook_parts().items():
        for cell in cells:
            for data, name in _outputs(cell, file):
                (folder / "notebook" / name).write_bytes(base64.b64decode(data))
    (folder / "sessions").mkdir(parents=True, exist_ok=True)
    for page in sorted([*DOCS.glob("*.md"), *DOCS.glob("how-to/*.md")]):
        for typed in TYPED.findall(page.read_text(encoding="utf-8")):
            _draw(shlex.split(typed.replace("\\\n", " ")), folder / "sessions")


def _draw(words: list[str], folder: Path) -> None:
    """Run the plot command of a session; the lines that it prints are on the page already."""
    place = words.index("-o") + 1
    with contextlib.redirect_stdout(io.StringIO()):
        if status := main([*words[:place], str(folder / words[place]), *words[place + 1 :]]):
            raise RuntimeError(f"{words[place]} is not drawn: fedbounds {shlex.join(words)} ended with {status}")


def figures_title(paper: str) -> str:
    return f"Figures and tables of {PAPERS[paper].short}" if paper in PAPERS else "Figures of our own"


def names_of(paper: str) -> list[str]:
    """The figures and tables of a paper, or our own."""
    return [f"{paper}.{name}" for name in BY_PAPER[paper]]


def drawn(name: str) -> bool:
    return (MADE / f"{name}.svg").exists()


def result(name: str) -> dict[str, Any]:
    """The JSON card of a figure at the laptop scale; empty if it was not run."""
    path = MADE / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def table_of(name: str) -> str:
    """The Markdown of a committed table."""
    lines = (MADE / f"{name}.md").read_text(encoding="utf-8").splitlines()
    return "\n".join(line for line in lines if line.startswith("|"))


@cache
def notebook_parts() -> dict[str, tuple[str, list[Any]]]:
    """By file name: a heading and the cells below it; the key of the cells above the first heading is empty."""
    import nbformat

    parts: dict[str, tuple[str, list[Any]]] = {"": ("", [])}
    for cell in nbformat.read(PLACE, as_version=4).cells:
        heading = re.match(r"## (.*)", cell.source) if cell.cell_type == "markdown" else None
        if heading:
            parts[slug(heading[1])] = (heading[1], [])
        parts[list(parts)[-1]][1].append(cell)
    return parts


def _outputs(cell: Any, file: str) -> Iterator[tuple[str, str]]:
    for i, output in enumerate(cell.get("outputs", ())):
        if "image/png" in output.get("data", {}):
            yield output.data["image/png"], f"{file}_{cell.id}_{i}.png"


def cells(file: str) -> Iterator[str]:
    """The cells of a part as Markdown, without the heading, each followed by its outputs."""
    for cell in notebook_parts()[file][1]:
        if cell.cell_type != "code":
            yield re.sub(r"^## .*\n*", "", cell.source)
            continue
        yield f"```python\n{cell.source}\n```"
        names = [name for _, name in _outputs(cell, file)]
        for output in cell.get("outputs", ()):
            data = {"text/plain": output.text} if output.output_type == "stream" else output.data
            kind = next(kind for kind in SHOWN if kind in data)
            if kind == "image/png":
                yield f"![What the cell draws]({names.pop(0)})"
            elif kind == "text/latex":
                formula = data[kind].strip("$ \n").removeprefix(r"\displaystyle").strip()
                yield f"$$\n{formula}\n$$"
            elif kind == "text/html":
                yield f'```{{raw}} html\n<div class="output">{data[kind]}</div>\n```'
            else:
                yield f"```text\n{data[kind].rstrip()}\n```"
