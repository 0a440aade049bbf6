"""The store: canonical names, whole files or none, and what damage, strangers and a full disk do to it."""

import json
import os
import resource
import subprocess
import sys
from dataclasses import replace

import pytest
from sweep_cells import HERE, odd

from empirics.errors import EmpiricsError
from empirics.experiments import Cell, Outcome, registry as jobs, Store
from empirics.experiments.canonical import call, canonical, text
from empirics.experiments.store import DamagedResultWarning, OutcomeError

CELL = Cell(f"{HERE}:square", {"number": 3})
OUTCOME = Outcome({"round": [0, 5], "value": [0.1, 1 / 3], "layer": ["", "head"], "client": [None, 2]}, {"n": 2})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("relaxed( scaffold(),beta = .05)", "relaxed(scaffold(), beta=0.05)"),
        ("fedcog(steps=2, weight=1.0)", "fedcog(weight=1,steps = 2)"),
        ('softmax("digits")', "softmax('digits')"),
    ],
)
def test_one_call_has_one_text(one, other):
    assert call(one) == call(other)
    assert Cell(CELL.job, {"a": one}).key == Cell(CELL.job, {"a": other}).key


def test_text_that_is_no_call_stays_as_it_is():
    for words in ("iid", "path/own.py:mine", "a (b", "f(x", f"f({'(' * 5000}", "f(\0)", "f(1e309)", "f(x='a(b'"):
        assert call(words) == words


def test_canonical_data():
    assert text({"b": 2.0, "a": [1.5, None, True]}) == '{"a":[1.5,null,true],"b":2}'
    assert canonical({"x": (1, 2)}) == {"x": [1, 2]}
    with pytest.raises(EmpiricsError, match="must be finite; got nan"):
        canonical({"x": float("nan")})
    with pytest.raises(EmpiricsError, match="text, a number, a list or a table"):
        canonical({"x": object()})


def test_the_key_depends_on_every_argument_the_function_and_its_version(monkeypatch):
    keys = {
        Cell(f"{HERE}:square", {"number": 3}).key,
        Cell(f"{HERE}:square", {"number": 4}).key,
        Cell(f"{HERE}:square", {"number": 3, "sleep": 0.1}).key,
        Cell(f"{HERE}:raises", {"number": 3}).key,
    }
    assert len(keys) == 4
    assert Cell(f"{HERE}:square", {"number": 3.0}).key == CELL.key
    before, known = Cell("train", {"seed": 3}).key, jobs.jobs()
    monkeypatch.setattr(jobs, "jobs", lambda: known | {"train": replace(known["train"], version="99")})
    assert Cell("train", {"seed": 3}).key != before


def test_a_result_comes_back_as_it_was_kept(store):
    assert not store.has(CELL)
    kept = store.keep(CELL, OUTCOME, minutes=0.25)
    assert store.has(CELL)
    assert store.get(CELL).columns() == {k: list(v) for k, v in OUTCOME.columns.items()}
    assert kept.cell == CELL
    card = store.get(CELL).card
    assert (card["minutes"], card["facts"], card["rows"], card["status"]) == (0.25, {"n": 2}, 2, "done")
    assert {"versions", "commit", "processor", "device", "python"} <= set(card)


def test_the_same_result_is_the_same_bytes(store, tmp_path):
    other = Store(tmp_path / "other")
    for place in (store, other):
        place.keep(CELL, OUTCOME, minutes=0.5)
    tables = [next(place.folder.glob("*.parquet")).read_bytes() for place in (store, other)]
    assert tables[0] == tables[1]


def test_a_failure_is_recorded_and_is_no_result(store):
    store.fail(CELL, "ValueError: no", 0.1)
    assert not store.has(CELL)
    assert store.get(CELL).card["error"] == "ValueError: no"
    assert [k.status for k in store] == ["failed"]


@pytest.mark.parametrize("name", ["json", "parquet"])
def test_a_torn_file_is_no_result(store, name):
    store.keep(CELL, OUTCOME, minutes=0.1)
    path = next(store.folder.glob(f"*.{name}"))
    path.write_bytes(path.read_bytes()[:-7])
    with pytest.warns(DamagedResultWarning, match=f"{store.folder}/{CELL.key}.json: .*does so again"):
        assert not store.has(CELL)
    store.set_aside(CELL)
    assert not store.look(CELL)[1]
    assert len(list(store.folder.glob("*.aside"))) == 2


@pytest.mark.parametrize(
    ("card", "why"),
    [
        ([1, 2], "not a card"),
        ({"hello": "there"}, "not a card"),
        ({"format": 99, "key": "k", "status": "done", "job": "f", "arguments": {}, "version": "1"}, "format 99"),
        ({"format": 2, "key": "k", "status": "failed", "job": "f", "arguments": {}, "version": "1"}, "result of k"),
    ],
)
def test_a_strangers_file_is_no_result(store, card, why):
    store.keep(CELL, OUTCOME, minutes=0.1)
    next(store.folder.glob("*.json")).write_text(json.dumps(card))
    with pytest.warns(DamagedResultWarning, match=why):
        assert not store.has(CELL)


@pytest.mark.parametrize(
    ("status", "name", "value"),
    [
        ("done", "bytes", None),
        ("done", "minutes", "long"),
        ("done", "versions", []),
        ("done", "sha256", None),
        ("done", "facts", 3),
        ("failed", "error", None),
        ("failed", "commit", None),
        ("done", "status", "finished"),
        ("done", "status", ["done"]),
    ],
)
def test_a_card_that_lacks_a_word_or_has_another_kind_of_it_is_no_result(store, status, name, value):
    store.keep(CELL, OUTCOME, minutes=0.1)
    if status == "failed":
        store.fail(CELL, "ValueError: no", minutes=0.1)
    path = next(store.folder.glob("*.json"))
    path.write_text(json.dumps({**json.loads(path.read_text()), name: value}))
    with pytest.warns(DamagedResultWarning, match="not a card of a result"):
        assert store.get(CELL) is None
    assert list(store) == []


@pytest.mark.parametrize("content", ["[" * 100_000, '{"format": ' + "9" * 5000 + "}", "\x00"])
def test_a_card_that_breaks_its_reader_is_a_damaged_one(store, content):
    store.keep(CELL, OUTCOME, minutes=0.1)
    next(store.folder.glob("*.json")).write_text(content)
    with pytest.warns(DamagedResultWarning):
        assert store.get(CELL) is None


def test_half_a_letter_in_an_error_is_kept(store):
    store.fail(CELL, "OSError: no file a\udc80b", minutes=0.1)
    assert store.get(CELL).card["error"] == "OSError: no file a\udc80b"


def test_what_cannot_be_kept_leaves_the_store_as_it_was(store):
    store.keep(CELL, OUTCOME, minutes=0.1)
    before = {p.name: p.read_bytes() for p in store.folder.iterdir()}
    for kind in ("ragged", "mixed", "status", "facts", "columns"):
        with pytest.raises(OutcomeError):
            store.keep(CELL, odd(kind), minutes=0.1)
    assert before == {p.name: p.read_bytes() for p in store.folder.iterdir()}


def test_a_folder_with_other_files_is_read_around_them(store):
    store.keep(CELL, OUTCOME, minutes=0.1)
    (store.folder / "notes.json").write_text("{")
    (store.folder / "README").write_text("mine")
    assert [k.cell for k in store] == [CELL]


FULL = """
import resource, sys
from pathlib import Path
from sweep_cells import HERE
from empirics.experiments import Cell, Outcome, Store, StoreError
store, cell = Store(Path(sys.argv[1])), Cell(f"{HERE}:square", {"number": 3})
store.keep(cell, Outcome({"a": [1]}), 0.1)
import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
try:
    store.keep(Cell(f"{HERE}:square", {"number": 4}), Outcome({"a": list(range(100000))}), 0.1)
except StoreError as error:
    print(error)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limit on file sizes here")
def test_a_full_disk_loses_nothing_and_says_so(store):

    told = subprocess.run(
        [sys.executable, "-c", FULL, str(store.folder)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": "tests"},
    )
    assert "this result is not kept, those that were kept before are; mend it and run again" in told.stdout, told.stderr
    assert store.has(CELL)
    assert sorted(p.suffix for p in store.folder.iterdir()) == [".json", ".parquet"]
