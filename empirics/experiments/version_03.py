"""Stores of version 0.3, a folder with two files per result, taken over into the file of today."""

from __future__ import annotations

import json
import re
import warnings
from hashlib import sha256
from pathlib import Path

from bounds.showing.process import remark

from .cells import Outcome
from .store import DamagedResultWarning, Kept, RESULTS, Store, stored, StoreError

KEY = re.compile(r"[0-9a-f]{20}(-[\w.+-]+)?")
OF_FILES = ("rows", "bytes", "sha256", "digest", "format")
"""What a card of version 0.3 said of its own files."""


def take_over(store: Store) -> None:
    """Copy the results that the store does not hold yet, in one transaction; the files stay as they are."""
    cards = {path.stem: path for path in store.folder.glob("*.json") if KEY.fullmatch(path.stem)}
    if not cards:
        return
    results, damages = [], list[str]()
    try:
        for key in sorted(cards.keys() - store.known()):
            try:
                results += _result(cards[key])
            except (OSError, ValueError, LookupError, TypeError) as error:
                damages.append(f"{cards[key]}: {error}")
        if results:
            store.write(results)
            remark([f"{len(results)} results of version 0.3 are copied into {store.file}"])
    except StoreError as error:
        raise StoreError(
            f"{store.folder} is a store of version 0.3: copy the folder and give the copy ({error})"
        ) from None
    if damages:
        words = f"{len(damages)} results of version 0.3 are damaged and left out, the first: {damages[0]}"
        warnings.warn(words, DamagedResultWarning, stacklevel=2)


def _result(card_file: Path) -> list[Kept]:
    """The result of a card; failures are left to be tried again."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    card = json.loads(card_file.read_text(encoding="utf-8"))
    if card["status"] not in RESULTS:
        return []
    content = card_file.with_suffix(".parquet").read_bytes()
    if card["format"] != 2 or sha256(content).hexdigest() != card["sha256"]:
        raise ValueError("its table is of another format, or its checksum differs")
    columns = pq.read_table(pa.BufferReader(content), use_threads=False).to_pydict()
    about = {word: item for word, item in card.items() if word not in OF_FILES}
    return [stored(about, Outcome(columns, about["facts"], about["status"]))]
