"""The notebook as pages, with the outputs that are kept with it: a page for each of its headings."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .notebook import PLACE
from .text import alone, page, slug, table

SHOWN = ("image/png", "text/latex", "text/html", "text/plain")
"""Of the forms in which a cell gives an output, the first that it has is shown."""


@cache
def parts(place: Path = PLACE) -> Mapping[str, tuple[str, list[Any]]]:
    """By file: the heading, and the cells below it; the cells above the first one begin the list of all."""
    import nbformat

    found: dict[str, tuple[str, list[Any]]] = {"": ("", [])}
    for cell in nbformat.read(place, as_version=4).cells:
        heading = re.match(r"## (.*)", cell.source) if cell.cell_type == "markdown" else None
        if heading:
            found[slug(heading[1])] = (heading[1], [])
        found[list(found)[-1]][1].append(cell)
    return found


def notebook() -> str:
    """The list of the notebook's parts, below its introduction."""
    first = [part for cell in parts()[""][1] for part in _cell(cell, "")]
    rows = ([f"[{title}]({file}.md)"] for file, (title, _) in parts().items() if file)
    said = "The file is `notebooks/tour.ipynb`; a test runs it, and compares what comes out with what is shown here."
    return page(*first, said, table(["part"], rows))


def of_part(file: str) -> str:
    """The page of one part."""
    title, cells = parts()[file]
    shown = [part for cell in cells for part in _cell(cell, file)]
    shown[0] = re.sub(r"^## .*\n*", "", shown[0])
    return alone(f"# {title}", "[The notebook](index.md)", *shown)


def pictures(folder: Path) -> None:
    """Writes the pictures that the pages show."""
    for file, (_, cells) in parts().items():
        for cell in cells:
            for data, name in _pictures(cell, file):
                (folder / name).write_bytes(base64.b64decode(data))


def _pictures(cell: Any, file: str) -> Iterator[tuple[str, str]]:
    for i, output in enumerate(cell.get("outputs", ())):
        if "image/png" in output.get("data", {}):
            yield output.data["image/png"], f"{file}_{cell.id}_{i}.png"


def _cell(cell: Any, file: str) -> Iterator[str]:
    if cell.cell_type != "code":
        yield cell.source
        return
    yield f"```python\n{cell.source}\n```"
    names = [name for _, name in _pictures(cell, file)]
    for output in cell.get("outputs", ()):
        data = {"text/plain": output.text} if output.output_type == "stream" else output.data
        yield _output({kind: data[kind] for kind in SHOWN if kind in data}, names)


def _output(data: Mapping[str, str], names: list[str]) -> str:
    kind, said = next(iter(data.items()))
    if kind == "image/png":
        return f"![What the cell draws]({names.pop(0)})"
    if kind == "text/latex":
        formula = said.strip("$ \n").removeprefix(r"\displaystyle").strip()
        return f"$$\n{formula}\n$$"
    if kind == "text/html":
        return f'```{{raw}} html\n<div class="output">{said}</div>\n```'
    return f"```text\n{said.rstrip()}\n```"
