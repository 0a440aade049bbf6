"""What a disk does to a store in time: lost bytes, half-written files, tables that are none; and who finds it."""

import hashlib
import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path
from socket import gethostname

import pyarrow as pa
import pytest
from sweep_cells import HERE

from empirics.experiments import Cell, Outcome, Store, StoreError
from empirics.experiments.running import sweep
from empirics.experiments.whole import write_lasting
from figures.runs import Runs

CELLS = [Cell(f"{HERE}:square", {"number": n}) for n in (3, 5, 7)]
CELL = CELLS[0]


@pytest.fixture
def store(tmp_path):
    """Three results."""
    made = Store(tmp_path / "store")
    sweep(CELLS, made, workers=0)
    return made


@pytest.fixture
def grid(tmp_path):
    path = tmp_path / "g.toml"
    path.write_text(f'job = "{HERE}:square"\n[vary]\nnumber = [3, 5, 7, 11]\n')
    return str(path)


def files(store, cell):
    return store.folder / f"{cell.key}.json", store.folder / f"{cell.key}.parquet"


def flipped(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 4
    path.write_bytes(content)


def recarded(store, cell, **words):
    """Other words on a card, which then has the digest that belongs to them unless told otherwise."""
    path, _ = files(store, cell)
    card = {**json.loads(path.read_text()), **words}
    if "digest" not in words:
        said = {k: v for k, v in card.items() if k != "digest"}
        card["digest"] = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps({k: v for k, v in card.items() if k != "digest" or v}))


def with_table(store, cell, content):
    """A table of this content, with a card that says so."""
    files(store, cell)[1].write_bytes(content)
    recarded(store, cell, bytes=len(content), sha256=hashlib.sha256(content).hexdigest())


def test_every_flipped_bit_of_a_card_is_found(store):
    card, _ = files(store, CELL)
    content = card.read_bytes()
    harmless = 0
    for place in range(0, len(content), 5):
        card.write_bytes(content)
        flipped(card, place)
        harmless += store.look(CELL)[0] is not None
    assert len(content) // 5 >= 100
    assert harmless < 20, "only white space between the words may change"


def test_a_number_that_changed_on_a_card_is_found(store):
    path, _ = files(store, CELL)
    path.write_text(path.read_text().replace('"n": 2', '"n": 6'))
    assert "its digest differs" in store.look(CELL)[1]


def test_a_sweep_computes_again_what_the_disk_has_changed(store):
    flipped(files(store, CELLS[1])[1], 40)
    assert sorted(d.how for d in sweep(CELLS, store, workers=0)) == ["done", "there", "there"]
    assert len(list(store.folder.glob("*.aside"))) == 2


def test_status_does_not_call_a_damaged_cell_there(store, grid, run):
    flipped(files(store, CELLS[1])[1], 40)
    flipped(files(store, CELLS[2])[0], 200)
    status, out, _ = run("sweep", grid, "--store", str(store.folder), "--status")
    assert status == 0
    assert "4 cells: 1 done, 2 damaged, 1 missing" in out


def test_verify_says_what_is_damaged_and_how(store, grid, run):
    words = ("sweep", grid, "--store", str(store.folder), "--verify")
    status, out, _ = run(*words)
    assert (status, out.splitlines()[-1].endswith("4 cells: 3 whole, 1 missing")) == (0, True)
    flipped(files(store, CELLS[1])[1], 40)
    with_table(store, CELLS[2], b"no table at all")
    status, out, _ = run(*words)
    assert status == 1
    assert "4 cells: 1 whole, 2 damaged, 1 missing" in out
    assert f"damaged: number=5: {CELLS[1].key}.json: {CELLS[1].key}.parquet: its checksum differs" in out
    assert "damaged: number=7: " in out
    assert "no table" in out
    assert len(list(store.folder.iterdir())) == 6, "verifying changes nothing"


def test_a_card_without_a_digest_is_damaged(store, grid, run):
    recarded(store, CELL, digest=None)
    assert "its digest differs" in store.look(CELL)[1]
    status, out, _ = run("sweep", grid, "--store", str(store.folder), "--verify")
    assert status == 1
    assert "4 cells: 1 damaged, 2 whole, 1 missing" in out


NO_TABLES = [b"no table at all", b"PAR1" + 60 * b"x" + b"PAR1", b"", b"PAR1"]


@pytest.mark.parametrize("content", NO_TABLES, ids=["text", "magic", "empty", "short"])
def test_a_table_that_is_none_is_told_and_the_others_are_shown(store, run, content):
    with_table(store, CELL, content)
    status, out, err = run("results", "--store", str(store.folder), "--csv")
    assert status == 1
    assert len(out.splitlines()) == 3
    assert err.count("\n") == 1
    assert f"1 damaged result is left out: {CELL.key}" in err.replace(str(store.folder) + "/", "")
    with pytest.raises(StoreError, match="no table"):
        Runs(store).columns(CELL)


def test_a_table_of_another_length_than_its_card_says_is_damaged(store):
    recarded(store, CELL, rows=5)
    with pytest.raises(StoreError, match="2 rows, its card says 5"):
        store.get(CELL).columns()


def test_results_name_damaged_results_instead_of_leaving_them_out_silently(store, run):
    flipped(files(store, CELLS[1])[1], 40)
    flipped(files(store, CELLS[2])[0], 200)
    (store.folder / "notes.json").write_text("mine")
    status, out, err = run("results", "--store", str(store.folder), "--csv")
    assert (status, len(out.splitlines())) == (1, 2)
    assert "2 damaged results are left out, the first: " in err


@pytest.mark.parametrize(
    ("place", "said"), [(lambda p: p.symlink_to("nowhere"), "a link to nothing"), (os.mkfifo, "no file")]
)
def test_a_card_that_is_no_file_is_damaged_and_nobody_waits_for_it(store, run, place, said):
    card = files(store, CELL)[0]
    card.unlink()
    place(card)
    status, out, err = run("results", "--store", str(store.folder), "--csv")
    assert (status, len(out.splitlines())) == (1, 3)
    assert f"1 damaged result is left out: {CELL.key}.json: {said}" in err


# ---- writing ----


def test_what_dead_writers_left_is_removed_and_nothing_else(store):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    old, young = time.time() - 90_000, time.time() - 120

    def left(host, process, age, name=f"{CELL.key}.json"):
        path = store.folder / f".{name}.{host}.{process}.{uuid.uuid4().hex}"
        path.write_text("half")
        os.utime(path, (age, age))
        return path

    here = gethostname()
    dead = [left(here, gone.pid, young), left("elsewhere", 7, old)]
    alive = [
        left(here, os.getpid(), young),
        left(here, gone.pid, time.time()),
        left("elsewhere", gone.pid, young),
        left(here, gone.pid, old, "notes.json"),
    ]
    sweep(CELLS, store, workers=0)
    assert not [path for path in dead if path.exists()]
    assert all(path.exists() for path in alive)
    assert [store.has(cell) for cell in CELLS] == [True] * 3


def test_a_file_and_its_name_are_on_the_disk_before_it_counts_as_written(tmp_path, monkeypatch):
    asked = []
    real = os.fsync

    def noted(file):
        asked.append(Path(f"/proc/self/fd/{file}").readlink())
        real(file)

    monkeypatch.setattr(os, "fsync", noted)
    write_lasting(tmp_path / "here" / "a", b"content")
    assert [path.parent.name for path in asked[:1]] == ["here"]
    assert asked[-1] == tmp_path / "here"
    assert (tmp_path / "here" / "a").read_bytes() == b"content"


def test_parquet_files_of_every_kind_come_back(tmp_path):
    made = Store(tmp_path)
    columns = {"a": [1, None], "b": ["x", ""], "c": [[1.5], []], "d": [None, None]}
    assert made.keep(CELL, Outcome(columns), 0.1).columns() == columns
    assert pa.array(columns["c"]).type == pa.list_(pa.float64())
