"""The store: one SQLite file of results in a folder, which can be stopped, copied and read while it is written.

A result is one row, written in one transaction: all of it is kept, through a loss of power too, or none of it. The
journal is SQLite's rollback journal, so a store without a writer is a single file, also where it can only be read
and on network file systems. Every row has a digest, by which a row that a disk has changed is found when it is read.
"""

from __future__ import annotations

import hashlib
import json
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
"""Of the file, as its ``user_version``."""
SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS result (key TEXT PRIMARY KEY, card TEXT, columns BLOB, digest TEXT);
CREATE TABLE IF NOT EXISTS sweep (name TEXT PRIMARY KEY, keys TEXT);
PRAGMA user_version = {FORMAT};
COMMIT;
"""
BUSY = 60.0
"""Seconds to wait for another process that writes."""
RESULTS = ("done", "diverged")


class StoreError(EmpiricsError):
    """A store that cannot be read or written."""


class OutcomeError(EmpiricsError):
    """An outcome that cannot be stored: the fault of the run's function, not of the store."""


class DamagedResultWarning(UserWarning):
    """A result that is there and cannot be used."""


@dataclass(frozen=True)
class Kept:
    """A result or a failure in the store: ``card`` says what ran, where and for how long, ``content`` is its table."""

    card: Mapping[str, Any]
    content: bytes

    @property
    def cell(self) -> Cell:
        return Cell(self.card["job"], self.card["arguments"])

    @property
    def status(self) -> str:
        return str(self.card["status"])

    def columns(self) -> dict[str, list[Any]]:
        """The table, column by column."""
        found: dict[str, list[Any]] = json.loads(zlib.decompress(self.content))
        return found


Found = tuple[Kept | None, str]
"""A result or failure, or else why it cannot be used; neither where there is none."""


class Store:
    """A folder with the results of runs; made when it is first written to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / FILE

    # ---- reading ----

    def has(self, cell: Cell) -> bool:
        """Whether the run's result is there and whole."""
        return bool(self.of([cell]))

    def get(self, cell: Cell) -> Kept | None:
        """The run's result or failure; None where there is none, or, with a warning, where it is damaged."""
        return self._usable([cell])[0]

    def of(self, cells: Iterable[Cell]) -> list[Kept]:
        """The results of these runs that are there."""
        return [kept for kept in self._usable(cells) if kept is not None and kept.status in RESULTS]

    def look(self, cells: Iterable[Cell]) -> list[Found]:
        """The results or failures of these runs, each or else why it cannot be used, without a warning."""
        keys = [cell.key for cell in cells]
        with self._database() as database:
            found = {row[0]: self._checked(*row) for row in _rows(database, keys)}
        return [found.get(key, (None, "")) for key in keys]

    def __iter__(self) -> Iterator[Kept]:
        """Every whole result and failure, by key."""
        return (kept for kept, _ in self.everything() if kept is not None)

    def everything(self, among: Collection[str] | None = None) -> Iterator[Found]:
        """Every result and failure by key, or else why it cannot be used; ``among``: only those with these keys."""
        with self._database() as database:
            rows = sorted(_rows(database, among))
        return (self._checked(*row) for row in rows)

    def sweeps(self) -> dict[str, list[str]]:
        """The keys of the runs of every recorded sweep, by its name."""
        with self._database() as database:
            return {name: json.loads(keys) for name, keys in database.execute("SELECT name, keys FROM sweep")}

    def state(self, cell: Cell) -> Path:
        """The file in which runs that begin like this one are kept to go on from."""
        return self.folder.absolute() / f"{cell.begins}.pt"

    def _usable(self, cells: Iterable[Cell]) -> list[Kept | None]:
        found = self.look(cells)
        for damage in filter(None, (damage for _, damage in found)):
            again = "it counts as missing; what computes it does so again"
            warnings.warn(f"{damage}: {again}", DamagedResultWarning, stacklevel=3)
        return [kept for kept, _ in found]

    def _checked(self, key: str, card: str, content: bytes, digest: str) -> Found:
        if digest != _digest(key, card, content):
            return None, f"{self.file}: the result {key} is damaged (its digest differs)"
        return Kept(json.loads(card), content), ""

    # ---- writing ----

    def keep(self, cell: Cell, outcome: Outcome, minutes: float) -> Kept:
        """Write a result; ``OutcomeError``, and nothing is written, where it cannot be stored."""
        kept = stored(_about(cell, outcome.status, minutes), outcome)
        self.write([kept])
        return kept

    def fail(self, cell: Cell, error: str, minutes: float) -> None:
        """Record that the run raised an error; the next sweep tries it again."""
        self.write([Kept({**_about(cell, "failed", minutes), "error": error}, b"")])

    def write(self, results: Iterable[Kept]) -> None:
        """Write results, also those made elsewhere, each in the place of the one of its key."""
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
        """Write which runs the sweep of this name has, unless that is known."""
        keys = json.dumps([cell.key for cell in cells])
        with self._database() as database:
            known = database.execute("SELECT 1 FROM sweep WHERE name = ? AND keys = ?", (sweep, keys)).fetchone()
        if not known:
            with self._database(write=True) as database:
                database.execute("INSERT OR REPLACE INTO sweep VALUES (?, ?)", (sweep, keys))

    # ---- the file ----

    @contextmanager
    def _database(self, write: bool = False) -> Iterator[sqlite3.Connection]:
        """The database for one transaction; without a file to read from, an empty one in memory."""
        there = self.file.exists()
        if there and not self.file.is_file():
            raise StoreError(f"{self.file} is not a regular file: move it away")
        place = f"{self.file.absolute().as_uri()}?mode=rwc" if there or write else ":memory:"
        try:
            if write:
                self.folder.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(place, BUSY, uri=True)) as database:
                # a text that a disk has changed may be no text
                database.text_factory = lambda content: content.decode(errors="replace")
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
                raise StoreError(f"{words}: bring a copy back, or move it away and run again") from None
            lost = "; this result is not stored, those that were stored before are: mend it and run again"
            raise StoreError(f"{words}{lost if write else ''}") from None


def _rows(database: sqlite3.Connection, keys: Collection[str] | None) -> list[tuple[str, str, bytes, str]]:
    if keys is None:
        return database.execute("SELECT * FROM result").fetchall()
    ask = "SELECT * FROM result WHERE key = ?"
    return [row for key in keys for row in database.execute(ask, (key,)).fetchall()]


def _about(cell: Cell, status: str, minutes: float) -> dict[str, Any]:
    return {
        "key": cell.key,
        "status": status,
        "job": cell.job,
        "version": cell.known.version,
        "arguments": dict(cell.arguments),
        "seed": cell.arguments.get("seed"),
        "minutes": round(minutes, 4),
        **machine(),
    }


def stored(card: Mapping[str, Any], outcome: Outcome) -> Kept:
    """An outcome as it is stored; the ``card`` says what ran, where and for how long."""
    if outcome.status not in RESULTS:
        raise OutcomeError(f"an outcome's status must be one of {', '.join(RESULTS)}; got {outcome.status!r}")
    try:
        facts = dict(outcome.facts)
        json.dumps(facts)
        columns = {str(name): _column(values) for name, values in outcome.columns.items()}
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise OutcomeError(f"an outcome must be columns of one kind each and facts of JSON data: {error}") from None
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise OutcomeError(f"a table's columns must have one length; got {sorted(lengths)}")
    return Kept({**card, "facts": facts}, compressed(columns))


def compressed(columns: Mapping[str, list[Any]]) -> bytes:
    """A table as it is stored."""
    return zlib.compress(json.dumps(columns).encode(), level=1)


def _column(values: Iterable[Any]) -> list[Any]:
    """A column as JSON data of one kind; whole numbers among floats become floats."""
    found = json.loads(json.dumps(list(values), default=lambda item: item.tolist()))
    kinds = {type(value) for value in found if value is not None}
    if kinds == {int, float}:
        return [value if value is None else float(value) for value in found]
    if len(kinds) > 1:
        raise ValueError(f"a column holds {' and '.join(sorted(kind.__name__ for kind in kinds))}")
    return list(found)


def _digest(key: str, card: str, content: bytes) -> str:
    return hashlib.sha256(f"{key}\n{card}\n".encode() + content).hexdigest()
