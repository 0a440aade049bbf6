"""The notebook with its outputs: run afresh, compared with what is kept; ``python -m docs.making.notebook`` renews."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from math import isclose
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

PLACE = Path(__file__).resolve().parents[2] / "notebooks" / "tour.ipynb"
BARE = "no-output"
"""Tag of a cell whose output is not kept: a page is as large as all the rest."""
INLINE = "module://matplotlib_inline.backend_inline"
"""What makes pictures outputs of a cell, whatever the surroundings say."""
TOLERANCE = 1e-3
"""Relative difference up to which two printed numbers are one."""
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", re.IGNORECASE)


def executed(kept: Any, seconds: int = 300) -> Any:
    """A copy of the notebook with the outputs of a fresh run in an empty folder."""
    import nbformat
    from nbclient import NotebookClient

    fresh = nbformat.from_dict(kept)
    for cell in fresh.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    with TemporaryDirectory() as folder:
        env = {**os.environ, "MPLBACKEND": INLINE}
        NotebookClient(fresh, timeout=seconds, resources={"metadata": {"path": folder}}).execute(env=env)
    for cell in fresh.cells:
        cell.metadata = {"tags": tags} if (tags := cell.metadata.get("tags")) else {}  # no timings
        if BARE in cell.metadata.get("tags", ()):
            cell.outputs = []
    fresh.metadata = kept.metadata
    return fresh


def differences(kept: Any, fresh: Any) -> Iterator[str]:
    """The cells whose outputs are not those of another run: texts but for numbers, numbers beyond the tolerance."""
    for one, other in zip(kept.cells, fresh.cells, strict=True):
        mine, theirs = (sorted(_outputs(cell)) for cell in (one, other))
        if len(mine) != len(theirs) or not all(map(_alike, mine, theirs)):
            yield f"{one.source}\n--- kept\n{mine}\n--- now\n{theirs}"


def _outputs(cell: Any) -> Iterator[tuple[str, str]]:
    """What a cell shows, by kind; the bytes of a picture depend on the fonts of a machine, and are left out."""
    streams: dict[str, str] = {}
    for output in cell.get("outputs", ()):
        if output.output_type == "stream":
            streams[output.name] = streams.get(output.name, "") + output.text
        else:
            yield from ((kind, "" if kind.startswith("image/") else text) for kind, text in output.data.items())
    yield from streams.items()


def _alike(one: tuple[str, str], other: tuple[str, str]) -> bool:
    if one[0] != other[0] or NUMBER.sub("#", one[1]) != NUMBER.sub("#", other[1]):
        return False
    pairs = zip(NUMBER.findall(one[1]), NUMBER.findall(other[1]), strict=True)
    return all(isclose(float(x), float(y), rel_tol=TOLERANCE, abs_tol=1e-12) for x, y in pairs)


def main() -> None:
    """Write the notebook with the outputs of a fresh run."""
    import nbformat

    nbformat.write(executed(nbformat.read(PLACE, as_version=4)), PLACE)


if __name__ == "__main__":
    main()
