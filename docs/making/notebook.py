"""Execute the notebook and compare its outputs with the committed ones (renew: ``python -m docs.making.notebook``)."""

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
"""Tag of a cell whose output is not committed because it is large."""
INLINE = "module://matplotlib_inline.backend_inline"
"""The matplotlib backend that makes pictures outputs of cells."""
TOLERANCE = 1e-3
"""Relative difference up to which two printed numbers are equal."""
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
    """A text for every cell whose outputs differ between two runs, apart from numbers within the tolerance."""
    for cell, other in zip(kept.cells, fresh.cells, strict=True):
        before, now = (sorted(_outputs(one)) for one in (cell, other))
        if len(before) != len(now) or not all(map(_equal, before, now)):
            yield f"{cell.source}\n--- kept\n{before}\n--- now\n{now}"


def _outputs(cell: Any) -> Iterator[tuple[str, str]]:
    """The outputs of a cell as (kind, text), without the bytes of pictures, which depend on the machine's fonts."""
    streams: dict[str, str] = {}
    for output in cell.get("outputs", ()):
        if output.output_type == "stream":
            streams[output.name] = streams.get(output.name, "") + output.text
        else:
            yield from ((kind, "" if kind.startswith("image/") else text) for kind, text in output.data.items())
    yield from streams.items()


def _equal(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two outputs are equal, numbers up to the tolerance."""
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
