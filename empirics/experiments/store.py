"""The store: a folder of result files that can be stopped, copied, shared and damaged without anything being lost.

A cell has two files: ``KEY.parquet`` with its table and ``KEY.json``, its card, written last: without a card there is
no result. Each is written under another name and then renamed, so a reader never sees half of one. The card has the
digests of the table and of itself, so that what a disk forgets is found whenever a result is looked at.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import uuid
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import EmpiricsError
from .cells import Cell, Outcome
from .machine import machine
from .whole import remove_orphans, write_lasting

FORMAT = 2
KEY = re.compile(r"[0-9a-f]{20}(-[\w.+-]+)?")
OWN = re.compile(rf"\.?{KEY.pattern}\.(json|parquet|sweep|pt)")
"""How the name of a store's file begins: a result's, a sweep's record, a run's state, one under way, one set aside."""
RESULTS = ("done", "diverged")
Kinds = Mapping[str, Any]
ABOUT: Kinds = {
    "key": str, "status": str, "job": str, "arguments": dict, "version": str, "minutes": (int, float),
    "python": str, "versions": dict, "commit": str, "processor": str, "device": str,
}  # fmt: skip
RESULT: Kinds = {"facts": dict, "rows": int, "bytes": int, "sha256": str}
FAILURE: Kinds = {"error": str}
"""What a card must say, and as what."""


class StoreError(EmpiricsError):
    """A store that cannot be read or written."""


class OutcomeError(EmpiricsError):
    """An outcome that no file can hold: the fault of the cell's function, not of the store."""


class DamagedResultWarning(UserWarning):
    """A result that is there and cannot be used."""


@dataclass(frozen=True)
class Kept:
    """A result as it lies in the store."""

    card: Mapping[str, Any]
    table: Path

    @property
    def cell(self) -> Cell:
        return Cell(self.card["job"], self.card["arguments"])

    @property
    def status(self) -> str:
        return str(self.card["status"])

    def columns(self) -> dict[str, list[Any]]:
        """The table, column by column; its content is checked against the card."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            content = self.table.read_bytes()
        except OSError as error:
            raise StoreError(f"{self.table}: {error.strerror}") from None
        if hashlib.sha256(content).hexdigest() != self.card["sha256"]:
            raise self._damaged("its checksum differs")
        try:
            # Not read_table, which starts threads whatever it is told: a process that ends may trip over them.
            with pq.ParquetFile(pa.BufferReader(content), pre_buffer=False) as file:
                found: dict[str, list[Any]] = file.read(use_threads=False).to_pydict()
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._damaged(f"no table: {' '.join(str(error).split())}") from None
        rows = _length(found)
        if rows != self.card["rows"]:
            raise self._damaged(f"{rows} rows, its card says {self.card['rows']}")
        return found

    def _damaged(self, why: str) -> StoreError:
        return StoreError(f"{self.table} is damaged ({why}): delete it and run the sweep again")


class Store:
    """A folder of results; made when it is first written to."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def has(self, cell: Cell) -> bool:
        """Whether the cell's result is there and whole."""
        kept = self.get(cell)
        return kept is not None and kept.status in RESULTS

    def get(self, cell: Cell) -> Kept | None:
        """The cell's result or its failure; None where there is none, or, with a warning, where it is damaged."""
        kept, damage = self.look(cell)
        if damage:
            again = "it counts as missing; what computes it does so again, and sets aside what is there"
            warnings.warn(f"{self.folder}/{damage}: {again}", DamagedResultWarning, stacklevel=2)
        return kept

    def look(self, cell: Cell) -> tuple[Kept | None, str]:
        """The same without a warning, and why the cell's files cannot be used: empty where they can, or are missing."""
        return self._read(cell.key)

    def _read(self, key: str) -> tuple[Kept | None, str]:
        path = self._card(key)
        if path.is_symlink() and not path.exists():
            return None, f"{path.name}: a link to nothing"
        if path.exists() and not path.is_file():  # a pipe would be waited for
            return None, f"{path.name}: no file"
        try:
            card = json.loads(path.read_text(encoding="utf-8"))
            wrong = _foreign(card, key)
        except FileNotFoundError:
            return None, ""
        except (OSError, ValueError, RecursionError) as error:
            return None, f"{path.name}: {error}"
        table = self._table(key)
        if not wrong and card["status"] in RESULTS:
            wrong = _torn(table, card["bytes"], card["sha256"])
        return (None, f"{path.name}: {wrong}") if wrong else (Kept(card, table), "")

    def keep(self, cell: Cell, outcome: Outcome, minutes: float, seed: int | None = None) -> Kept:
        """Write a result: the table, then the card. ``OutcomeError``, and nothing written, where it is none."""
        content, result = _packed(outcome)
        self._write(self._table(cell.key), content)
        card = _sealed(self._about(cell, outcome.status, minutes, seed) | result)
        self._write_card(cell, card)
        return Kept(card, self._table(cell.key))

    def restore(self, cell: Cell, card: Mapping[str, Any], outcome: Outcome) -> None:
        """Keep a result that was made elsewhere: where, and in how many minutes, ``card`` tells."""
        content, result = _packed(outcome)
        new = _sealed({**card, "format": FORMAT, **result})
        if wrong := _foreign(new, cell.key):
            raise StoreError(f"packed result {cell.key}: {wrong}")
        self._write(self._table(cell.key), content)
        self._write_card(cell, new)

    def fail(self, cell: Cell, error: str, minutes: float) -> None:
        """Record that the cell raised; it is tried again by the next run."""
        self._write_card(cell, _sealed({**self._about(cell, "failed", minutes, None), "error": error}))

    def state(self, cell: Cell) -> Path:
        """Where runs that begin like the cell's are kept to go on from."""
        return self.folder.absolute() / f"{cell.begins}.pt"

    def set_aside(self, cell: Cell) -> None:
        """Move a cell's files out of the way without deleting them."""
        for path in (self._card(cell.key), self._table(cell.key)):
            with contextlib.suppress(FileNotFoundError):
                path.replace(path.with_name(f"{path.name}.{uuid.uuid4().hex[:6]}.aside"))

    def __iter__(self) -> Iterator[Kept]:
        """Every whole result and failure, by key."""
        return (kept for kept, _ in self.everything() if kept is not None)

    def everything(self, among: Container[str] | None = None) -> Iterator[tuple[Kept | None, str]]:
        """Every result and failure by key, or else why it cannot be used; files of others are passed over.

        ``among``: only those with one of these keys.
        """
        tables = self._keys("parquet", among)  # first: whoever writes one now writes its card meanwhile
        for key in self._keys("json", among):
            yield self._read(key)
        for key in tables:
            if lonely := self._lonely(key):
                yield None, lonely

    def _keys(self, kind: str, among: Container[str] | None) -> list[str]:
        stems = (path.stem for path in sorted(self.folder.glob(f"*.{kind}")))
        return [stem for stem in stems if KEY.fullmatch(stem) and (among is None or stem in among)]

    def lonely(self, cell: Cell) -> str:
        """What there is of a cell whose card is gone, and what to do; empty where there is nothing, or both."""
        return self._lonely(cell.key)

    def _lonely(self, key: str) -> str:
        table, card = self._table(key), self._card(key)
        if card.exists() or card.is_symlink() or not table.exists():
            return ""
        return f"{table.name} has no {card.name} that says what it is: bring that back, or delete it and sweep again"

    def foreign(self) -> bool:
        """Whether the folder holds files, and none of a store."""
        names = [path.name for path in self.folder.iterdir()]
        return bool(names) and not any(map(OWN.match, names))

    def tidy(self) -> int:
        """Remove what dead processes left half written; how many files that were."""
        return remove_orphans(self.folder)

    def of(self, cells: Iterable[Cell]) -> list[Kept]:
        """The results of these cells that are there."""
        return [kept for kept in map(self.get, cells) if kept is not None and kept.status in RESULTS]

    def _about(self, cell: Cell, status: str, minutes: float, seed: int | None) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "key": cell.key,
            "status": status,
            "job": cell.job,
            "version": cell.version,
            "arguments": dict(cell.arguments),
            "seed": cell.arguments.get("seed", seed),
            "minutes": round(minutes, 4),
            **machine(),
        }

    def _card(self, key: str) -> Path:
        return self.folder / f"{key}.json"

    def _table(self, key: str) -> Path:
        return self.folder / f"{key}.parquet"

    def _write_card(self, cell: Cell, card: Mapping[str, Any]) -> None:
        words = json.dumps(card, indent=1, ensure_ascii=False)
        self._write(self._card(cell.key), words.encode(errors="backslashreplace"))  # half a letter as JSON spells it

    def _write(self, path: Path, content: bytes) -> None:
        try:
            write_lasting(path, content)
        except OSError as error:
            raise StoreError(
                f"{path}: {error.strerror or error}: this result is not kept, those that were kept before are; "
                "mend it and run again"
            ) from None


def _packed(outcome: Outcome) -> tuple[bytes, dict[str, Any]]:
    """The table as the content of a file, and what the card says of it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if outcome.status not in RESULTS:
        raise OutcomeError(f"an outcome's status must be one of {', '.join(RESULTS)}; got {outcome.status!r}")
    buffer = pa.BufferOutputStream()
    try:
        facts, rows = dict(outcome.facts), _length(outcome.columns)
        json.dumps(facts)
        pq.write_table(pa.table({k: list(v) for k, v in outcome.columns.items()}), buffer, compression="zstd")
    except OutcomeError:
        raise
    except (TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, pa.ArrowException) as error:
        raise OutcomeError(f"an outcome must be columns of one kind each and facts of JSON data: {error}") from None
    content = buffer.getvalue().to_pybytes()
    digest = hashlib.sha256(content).hexdigest()
    return content, {"facts": facts, "rows": rows, "bytes": len(content), "sha256": digest}


def _length(columns: Mapping[str, list[Any]]) -> int:
    lengths = {len(column) for column in columns.values()}
    if len(lengths) > 1:
        raise OutcomeError(f"a table's columns must have one length; got {sorted(lengths)}")
    return lengths.pop() if lengths else 0


def _foreign(card: Any, key: str) -> str:
    """Why a card is not one of ours, or not of this cell."""
    if not isinstance(card, dict) or "format" not in card or "key" not in card:
        return "not a card of a result"
    if card["format"] != FORMAT:
        return f"written in format {card['format']}, this version reads {FORMAT}"
    if card["key"] != key:
        return f"holds the result of {card['key']}"
    kinds = {"failed": FAILURE, **dict.fromkeys(RESULTS, RESULT)}.get(str(card.get("status")))
    whole = kinds is not None and all(isinstance(card.get(n), kind) for n, kind in {**ABOUT, **kinds}.items())
    if not whole:
        return "not a card of a result"
    return "" if card.get("digest") == _digest(card) else "its digest differs"


def _sealed(card: Mapping[str, Any]) -> dict[str, Any]:
    """The card with its digest."""
    return {**card, "digest": _digest(card)}


def _digest(card: Mapping[str, Any]) -> str:
    """Of what a card says, but for its digest; the same for a card and for what is read back of it."""
    said = json.loads(json.dumps({word: item for word, item in card.items() if word != "digest"}))
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _torn(table: Path, size: int, digest: str) -> str:
    """Why a table is not the one its card was written for."""
    try:
        found = table.stat().st_size
        if found != size:
            return f"{table.name} has {found} bytes, its card says {size}"
        with table.open("rb") as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == digest
    except OSError as error:
        return f"{table.name}: {error.strerror}"
    return "" if same else f"{table.name}: its checksum differs"
