"""The store: keys of results, whole rows or none, and what damage, strangers and a full disk do to it."""

import os
import resource
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from refusals import all_refused
from sweep_cells import HERE

from empirics.experiments import Cell, Outcome, Store, StoreError
from empirics.experiments.cells import call, canonical, text
from empirics.experiments.running import run_missing
from empirics.experiments.store import DamagedResultWarning

CELLS = [Cell(f"{HERE}:square", {"number": n}) for n in (3, 5, 7)]
CELL = CELLS[0]
OUTCOME = Outcome({"round": [0, 5], "value": [0.1, 1 / 3], "layer": ["", "head"], "client": [None, 2]}, {"n": 2})


def test_one_call_has_one_text_and_one_key():
    for one, other in (
        ("relaxed( scaffold(),beta = .05)", "relaxed(scaffold(), beta=0.05)"),
        ("fedcog(steps=2, weight=1.0)", "fedcog(weight=1,steps = 2)"),
        ('softmax("digits")', "softmax('digits')"),
    ):
        assert call(one) == call(other)
        assert Cell(CELL.job, {"a": one}).key == Cell(CELL.job, {"a": other}).key
    unread = ["iid", "path/own.py:mine", "a (b", "f(x", "f(\0)", "f(1e309)", "f(x='a(b'"]
    for words in (*unread, f"f({'(' * 5000}", f"f({'-' * 5000}1)", f"f({'9' * 5000})"):
        assert call(words) == words  # no call: it stays as it is


def test_canonical_data():
    assert text({"b": 2.0, "a": [1.5, None, True]}) == '{"a":[1.5,null,true],"b":2}'
    assert canonical({"x": (1, 2)}) == {"x": [1, 2]}
    all_refused(
        [
            (lambda: canonical({"x": float("nan")}), "finite nan"),
            (lambda: canonical({"x": object()}), "text number list"),
        ]
    )


def changed(store, statement, *values):
    """Change the file behind the store's back."""
    with closing(sqlite3.connect(store.file)) as database, database:
        return database.execute(statement, values).fetchall()


def test_a_result_comes_back_as_it_was_stored(store):
    assert not store.has(CELL)
    kept = store.keep(CELL, OUTCOME, minutes=0.25)
    assert store.has(CELL)
    assert store.get(CELL).columns() == {k: list(v) for k, v in OUTCOME.columns.items()}
    assert kept.cell == CELL
    card = store.get(CELL).card
    assert (card["minutes"], card["facts"], card["status"]) == (0.25, {"n": 2}, "done")
    assert {"versions", "commit", "processor", "device", "python"} <= set(card)
    columns = {"a": [1, None], "b": ["x", ""], "c": [[1.5], []], "d": [None, None], "e": [2, 0.5], "f": [1e300, -0.0]}
    store.keep(CELL, Outcome({**columns, "g": np.array([3, 4]), "h": [np.float32(0.5), 10**30]}), 0.1)
    read = store.get(CELL).columns()
    assert read == {**columns, "g": [3, 4], "h": [0.5, 1e30]}
    kinds = [int, *4 * [float], *2 * [int], *2 * [float]]
    assert [type(value) for name in "aefgh" for value in read[name] if value is not None] == kinds
    nan = store.keep(CELL, Outcome({"a": [float("nan"), float("-inf")]}), 0.1).columns()["a"]
    assert [str(value) for value in nan] == ["nan", "-inf"]


def test_a_store_is_one_file_that_can_be_copied_and_read_where_nothing_can_be_written(store, tmp_path, run):
    store.keep(CELL, OUTCOME, 0.1)
    assert [path.name for path in store.folder.iterdir()] == [store.file.name]
    copy = Store(tmp_path / "copy")
    copy.folder.mkdir()
    copy.file.write_bytes(store.file.read_bytes())
    copy.file.chmod(0o400)
    copy.folder.chmod(0o500)
    assert copy.has(CELL)
    assert "error" not in run("results", "--store", copy.folder)[1]
    copy.folder.chmod(0o700)


def test_a_full_disk_loses_nothing_and_says_so(store, request):
    store.keep(CELL, OUTCOME, 0.1)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    request.addfinalizer(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before))
    resource.setrlimit(resource.RLIMIT_FSIZE, (store.file.stat().st_size + 5000, before[1]))
    with pytest.raises(StoreError, match=f"^{store.file}: "):
        store.keep(CELLS[1], Outcome({"a": [i * i % 7919 for i in range(100000)]}), 0.1)
    assert [kept.cell for kept in store] == [CELL]


@pytest.fixture
def three(store):
    """A store of three results."""
    run_missing(CELLS, store, workers=0)
    return store


@pytest.fixture
def grid(tmp_path):
    path = tmp_path / "g.toml"
    path.write_text(f'job = "{HERE}:square"\n[vary]\nnumber = [3, 5, 7, 11]\n')
    return str(path)


def flipped(store, cell, column, place, bit=4):
    """A bit of a row changes, as on a disk that goes bad."""
    ((content,),) = changed(store, f"SELECT CAST({column} AS BLOB) FROM result WHERE key = ?", cell.key)
    spoilt = bytearray(content)
    spoilt[place % len(spoilt)] ^= bit
    kind = "BLOB" if column == "columns" else "TEXT"
    changed(store, f"UPDATE result SET {column} = CAST(? AS {kind}) WHERE key = ?", bytes(spoilt), cell.key)


def test_every_flipped_bit_of_a_row_is_found_and_none_of_the_file_makes_another_result(three):
    whole, wanted = three.file.read_bytes(), {cell.key: three.get(cell).columns() for cell in CELLS}
    for column, bit in (("card", 4), ("card", 128), ("columns", 4), ("digest", 4)):
        for place in range(0, 700, 37):
            flipped(three, CELL, column, place, bit)
            with pytest.warns(DamagedResultWarning, match=f"{three.file}: .*{CELL.key}"):
                assert not three.has(CELL), (column, place)
            assert three.has(CELLS[1])
            three.file.write_bytes(whole)
    found = Counter()
    for place in range(0, len(whole), 211):
        spoilt = bytearray(whole)
        spoilt[place] ^= 16
        three.file.write_bytes(spoilt)
        try:
            for cell, (kept, damage) in zip(CELLS, three.look(CELLS), strict=True):
                assert kept is None or kept.columns() == wanted[cell.key], place
                found["damaged" if damage else "whole" if kept else "missing"] += 1
        except StoreError:
            found["refused"] += 1
    assert found["whole"] > 20
    assert found["damaged"] + found["refused"] > 3


def test_damage_is_named_by_status_and_results_and_computed_again_by_a_sweep(three, grid, run):
    words = ("sweep", grid, "--store", three.folder, "--status")
    assert run(*words)[0] == 0
    flipped(three, CELLS[1], "columns", 30)
    flipped(three, CELLS[2], "card", 200)
    before = three.file.read_bytes()
    status, out, _ = run(*words)
    assert (status, "4 runs: 1 done, 2 damaged, 1 missing" in out) == (1, True)
    for number, cell in ((5, CELLS[1]), (7, CELLS[2])):
        assert f"damaged: number={number}: {three.file}: the result {cell.key} " in out
    status, out, err = run("results", "--store", three.folder, "--csv")
    assert (status, len(out.splitlines()), err.count("\n")) == (1, 2, 1)
    assert CELLS[1].key in err or CELLS[2].key in err
    assert three.file.read_bytes() == before, "looking changes nothing"
    assert sorted(d.how for d in run_missing(CELLS, three, workers=0)) == ["done", "done", "there"]
    assert run(*words)[0] == 0


def test_a_file_that_is_no_store_is_refused_by_name(three, grid, refused):
    whole = three.file.read_bytes()
    commands = (["results"], ["sweep", grid, "--status"], ["sweep", grid, "--workers=0"])

    def refusals(words):
        all_refused([(c, f"{three.file} {words}") for c in commands], lambda c: refused(*c, "--store", three.folder))

    for content in (b"no database", whole[:5000], whole[:100] + bytes(4000) + whole[4100:]):
        three.file.write_bytes(content)
        refusals("")
    three.file.write_bytes(whole)
    changed(three, "PRAGMA user_version = 7")
    refusals("format 7")
    three.file.unlink()
    os.mkfifo(three.file)
    refusals("regular")


def test_a_folder_of_other_files_is_no_store_and_an_empty_one_has_no_results(tmp_path_factory, three, run, refused):
    tmp_path = tmp_path_factory.mktemp("other")
    assert run("results", "--store", tmp_path)[:2] == (0, "no results\n")
    (tmp_path / "notes.json").write_text("{}")
    strangers = [tmp_path, tmp_path / "none", *(["/proc"] if Path("/proc/self").is_dir() else [])]
    for more in ([], ["--csv"]):
        cases = [(place, str(place)) for place in strangers]
        all_refused(cases, lambda place, more=more: refused("results", "--store", place, *more))
    three.forget(kept.cell for kept in three)
    assert run("results", "--store", three.folder)[:2] == (0, "no results\n")
