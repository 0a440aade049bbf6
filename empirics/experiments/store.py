"""The store: one SQLite file of results in a folder, which can be copied and read while it is written.

A result is one row, written in one transaction, so that all of it is stored or nothing, even after a loss of power. The
journal is SQLite's rollback journal: a store without a writer is a single file, which also works if it is read-only or
on a network file system. Every row has a digest, by which damaged rows are recognised.
"""

from __future__ import annotations

import hashlib
import json
import lzma
import sqlite3
import warnings
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import EmpiricsError
from .cells import Cell, Outcome
from .machine import machine

FILE = "results.sqlite"
FORMAT = 1
"""The version of the file's format, stored as its ``user_version``."""
SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS result (key TEXT PRIMARY KEY, card TEXT, columns BLOB, digest TEXT);
CREATE TABLE IF NOT EXISTS sweep (name TEXT PRIMARY KEY, keys TEXT);
PRAGMA user_version = {FORMAT};
COMMIT;
"""
BUSY = 60.0
"""Seconds to wait for another process that is writing."""
RESULTS = ("done", "diverged")
TIDY = ("quantity", "layer", "round", "value", "client", "step")
"""The columns of a training run's table that place its numbers."""


class StoreError(EmpiricsError):
    """A store that cannot be read or written."""


class OutcomeError(EmpiricsError):
    """An outcome that cannot be stored, because of an error in the run's function."""


class DamagedResultWarning(UserWarning):
    """A stored result is damaged."""


@dataclass(frozen=True)
class Kept:
    """A stored result or failure: ``card`` describes run, machine and duration, ``content`` is the compressed table."""

    card: Mapping[str, Any]
    content: bytes

    @property
    def cell(self) -> Cell:
        return Cell(self.card["job"], self.card["arguments"])

    @property
    def status(self) -> str:
        return str(self.card["status"])

    def columns(self) -> dict[str, list[Any]]:
        """The table as columns by name."""
        table: dict[str, list[Any]] = json.loads(zlib.decompress(self.content))
        return table

    def readings(self) -> Iterator[tuple[str, str, int, float]]:
        """Quantity, layer, round and value of every federation-wide number of a training run; none of other jobs."""
        columns = self.columns()
        for quantity, layer, at, value, client, step in zip(*(columns.get(name, ()) for name in TIDY), strict=False):
            if client is None and step is None:
                yield quantity, layer, at, value


Found = tuple[Kept | None, str]
"""A result or failure and "", or None and the reason why it is unusable, or None and "" if there is no result."""


class Store:
    """A folder with the results of runs, which is made at the first write."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / FILE

    # ---- reading ----

    def has(self, cell: Cell) -> bool:
        """Whether the run has a stored result that is not damaged."""
        return bool(self.of([cell]))

    def get(self, cell: Cell) -> Kept | None:
        """Return the run's result or failure, or None if there is none; warns if it is damaged."""
        return self._usable([cell])[0]

    def of(self, cells: Iterable[Cell]) -> list[Kept]:
        """Return the stored results of these runs."""
        return [kept for kept in self._usable(cells) if kept is not None and kept.status in RESULTS]

    def look(self, cells: Iterable[Cell]) -> list[Found]:
        """Return the result or failure of every run, or the reason why it is unusable, without warnings."""
        keys = [cell.key for cell in cells]
        with self._database() as database:
            by_key = {row[0]: self._checked(*row) for row in _rows(database, keys)}
        return [by_key.get(key, (None, "")) for key in keys]

    def __iter__(self) -> Iterator[Kept]:
        """All undamaged results and failures, in the order of keys."""
        return (kept for kept, _ in self.everything() if kept is not None)

    def everything(self, among: Collection[str] | None = None) -> Iterator[Found]:
        """All results and failures in the order of keys, or why they are unusable; ``among`` limits the keys."""
        with self._database() as database:
            rows = sorted(_rows(database, among))
        return (self._checked(*row) for row in rows)

    def sweeps(self) -> dict[str, list[str]]:
        """The keys of the runs of every recorded sweep, by its name."""
        with self._database() as database:
            return {name: json.loads(keys) for name, keys in database.execute("SELECT name, keys FROM sweep")}

    def state(self, cell: Cell) -> Path:
        """The file for the state of runs that differ from this one in length only, from which they can be continued."""
        return self.folder.absolute() / f"{cell.key_prefix}.pt"

    def _usable(self, cells: Iterable[Cell]) -> list[Kept | None]:
        results = self.look(cells)
        for damage in filter(None, (damage for _, damage in results)):
            warnings.warn(
                f"{damage}: it counts as missing and will be computed again", DamagedResultWarning, stacklevel=3
            )
        return [kept for kept, _ in results]

    def _checked(self, key: str, card: str, content: bytes, digest: str) -> Found:
        if digest != _digest(key, card, content):
            return None, f"{self.file}: the result {key} is damaged (its digest differs)"
        return Kept(json.loads(card), content), ""

    # ---- writing ----

    def keep(self, cell: Cell, outcome: Outcome, minutes: float) -> Kept:
        """Write a result and return it; raises ``OutcomeError`` if it cannot be stored."""
        kept = stored(_about(cell, outcome.status, minutes), outcome)
        self.write([kept])
        return kept

    def fail(self, cell: Cell, error: str, minutes: float) -> None:
        """Write that the run raised an error; the next sweep tries it again."""
        self.write([Kept({**_about(cell, "failed", minutes), "error": error}, b"")])

    def write(self, results: Iterable[Kept]) -> None:
        """Write results, which replace those with the same keys."""
        rows = [(str(r.card["key"]), json.dumps(r.card), r.content) for r in results]
        with self._database(write=True) as database:
            database.executemany(
                "INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?)", [(*row, _digest(*row)) for row in rows]
            )

    def forget(self, cells: Iterable[Cell]) -> None:
        """Delete the results of these runs."""
        keys = [(cell.key,) for cell in cells]
        if keys:
            with self._database(write=True) as database:
                database.executemany("DELETE FROM result WHERE key = ?", keys)

    def record(self, sweep: str, cells: Iterable[Cell]) -> None:
        """Write the runs of the sweep of this name, if they are not recorded yet."""
        keys = json.dumps([cell.key for cell in cells])
        with self._database() as database:
            recorded = database.execute("SELECT 1 FROM sweep WHERE name = ? AND keys = ?", (sweep, keys)).fetchone()
        if not recorded:
            with self._database(write=True) as database:
                database.execute("INSERT OR REPLACE INTO sweep VALUES (?, ?)", (sweep, keys))

    # ---- the file ----

    @contextmanager
    def _database(self, write: bool = False) -> Iterator[sqlite3.Connection]:
        """The database for one transaction; an empty one in memory for reading if there is no file."""
        exists = self.file.exists()
        if exists and not self.file.is_file():
            raise StoreError(f"{self.file} is not a regular file: move it away")
        place = f"{self.file.absolute().as_uri()}?mode=rwc" if exists or write else ":memory:"
        try:
            if write:
                self.folder.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(place, BUSY, uri=True)) as database:
                database.text_factory = lambda content: content.decode(errors="replace")  # damaged text may be invalid
                (version,) = database.execute("PRAGMA user_version").fetchone()
                if version > FORMAT:
                    words = f"is of format {version}, written by a later version of fedbounds: update it"
                    raise StoreError(f"{self.file} {words}")
                if version < FORMAT:
                    database.executescript(SCHEMA)
                database.execute("PRAGMA synchronous = EXTRA")
                if write:
                    database.execute("BEGIN IMMEDIATE")
                with database:
                    yield database
        except (sqlite3.Error, OSError) as error:
            words = f"{self.file}: {getattr(error, 'strerror', None) or error}"
            if not isinstance(error, (sqlite3.OperationalError, OSError)):  # not a database, or malformed
                raise StoreError(f"{words}: restore a copy, or move it away and run again") from None
            lost = "; this result is not stored, earlier ones are: fix the problem and run again"
            raise StoreError(f"{words}{lost if write else ''}") from None


def _rows(database: sqlite3.Connection, keys: Collection[str] | None) -> list[tuple[str, str, bytes, str]]:
    if keys is None:
        return database.execute("SELECT * FROM result").fetchall()
    query = "SELECT * FROM result WHERE key = ?"
    return [row for key in keys for row in database.execute(query, (key,)).fetchall()]


def _about(cell: Cell, status: str, minutes: float) -> dict[str, Any]:
    """The card of a run."""
    return {
        "key": cell.key,
        "status": status,
        "job": cell.job,
        "version": cell.spec.version,
        "arguments": dict(cell.arguments),
        "seed": cell.arguments.get("seed"),
        "minutes": round(minutes, 4),
        **machine(),
    }


def stored(card: Mapping[str, Any], outcome: Outcome) -> Kept:
    """Return an outcome in the form in which it is stored; ``card`` describes run, machine and duration."""
    if outcome.status not in RESULTS:
        raise OutcomeError(f"an outcome's status must be one of {', '.join(RESULTS)}; got {outcome.status!r}")
    try:
        facts = dict(outcome.facts)
        json.dumps(facts)
        columns = {str(name): _column(values) for name, values in outcome.columns.items()}
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise OutcomeError(f"an outcome must have columns of one type each and facts of JSON data: {error}") from None
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise OutcomeError(f"a table's columns must have the same length; got {sorted(lengths)}")
    return Kept({**card, "facts": facts}, compressed(columns))


def compressed(columns: Mapping[str, list[Any]]) -> bytes:
    """Return the bytes of a table in the form in which it is stored."""
    return zlib.compress(json.dumps(columns).encode(), level=1)


def _column(values: Iterable[Any]) -> list[Any]:
    """A column as JSON data of one type; integers among floats become floats."""
    items = json.loads(json.dumps(list(values), default=lambda item: item.tolist()))
    types = {type(item) for item in items if item is not None}
    if types == {int, float}:
        return [item if item is None else float(item) for item in items]
    if len(types) > 1:
        raise ValueError(f"a column has values of the types {' and '.join(sorted(each.__name__ for each in types))}")
    return list(items)


def _digest(key: str, card: str, content: bytes) -> str:
    return hashlib.sha256(f"{key}\n{card}\n".encode() + content).hexdigest()


# ---- results in one small compressed file, with a line of JSON for each; equal results give equal bytes ----

SUFFIX = ".jsonl.xz"


class PackError(EmpiricsError):
    """A file of packed results that cannot be read."""


def packed(results: Iterable[Kept]) -> bytes:
    """Return the bytes of a file with these results, sorted by key."""
    ordered = sorted(results, key=lambda kept: str(kept.card["key"]))
    lines = [json.dumps({**kept.card, "columns": kept.columns()}, sort_keys=True) for kept in ordered]
    return lzma.compress("".join(f"{line}\n" for line in lines).encode(), preset=9 | lzma.PRESET_EXTREME)


def unpacked(content: bytes, name: str) -> list[Kept]:
    """Return the results in the ``content`` of a packed file; ``name`` is the file's, for errors."""
    results = []
    try:
        for line in lzma.decompress(content).decode().splitlines():
            card = json.loads(line)
            content = compressed(card.pop("columns"))
            results.append(Kept({**card, "key": str(card["key"]), "facts": card["facts"]}, content))
    except (lzma.LZMAError, ValueError, LookupError, TypeError, AttributeError, EOFError) as error:
        reason = " ".join(str(error).split())
        raise PackError(f"{name}: not packed results ({reason}): download or check out the file again") from None
    return results
