"""Which results belong to which sweep: a record beside them, written when a sweep runs; or the file of its plan.

A result knows what it is, not who asked for it: several sweeps may share it. A record holds the sweep's name and the
keys of its cells; a later sweep of the same name takes its place.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Collection, Sequence
from pathlib import Path

from bounds.errors import unknown, UnknownNameError

from ..errors import EmpiricsError
from . import Cell, Store
from .grids import read_grid
from .whole import RECORD, write_lasting


def record(store: Store, name: str, cells: Sequence[Cell]) -> None:
    """Write which cells the sweep of this name has."""
    path = store.folder / f"{hashlib.sha256(name.encode(errors='backslashreplace')).hexdigest()[:20]}{RECORD}"
    content = json.dumps({"name": name, "keys": [cell.key for cell in cells]}, indent=1).encode()
    with contextlib.suppress(OSError):  # a store that can only be read: the plan's file names its cells as well
        if not (path.is_file() and path.read_bytes() == content):
            write_lasting(path, content)


def recorded(store: Store) -> dict[str, list[str]]:
    """The keys of every recorded sweep's cells, by its name."""
    found: dict[str, list[str]] = {}
    for path in sorted(store.folder.glob(f"*{RECORD}")):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            found[told["name"]] = [str(key) for key in told["keys"]]
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            again = "delete it; the sweep's next run writes it again, and --sweep takes the file of its plan"
            raise EmpiricsError(f"{path} is not the record of a sweep: {again}") from None
    return found


def keys(store: Store, sweep: str) -> Collection[str]:
    """The keys of the cells of a sweep: by its name, or by the file of its plan (``g.toml``, ``g.py:variable``)."""
    if sweep.endswith((".toml", ".py")) or ".py:" in sweep or Path(sweep).is_file():
        return {cell.key for cell in read_grid(sweep).cells()}
    known = recorded(store)
    if sweep not in known:
        raise UnknownNameError(f"{unknown('sweep', sweep, known)}; or give the file of its plan")
    return set(known[sweep])
