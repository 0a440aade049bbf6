"""The store: names of results, whole files or none, and what damage, strangers and a full disk do to it."""

import hashlib
import json
import os
import resource
import subprocess
import sys
import time
import uuid
from dataclasses import replace
from pathlib import Path
from socket import gethostname

import pyarrow as pa
import pytest
from refusals import all_refused
from sweep_cells import HERE, odd

from empirics.experiments import Cell, Outcome, registry as jobs, Store, StoreError
from empirics.experiments.canonical import call, canonical, text
from empirics.experiments.running import sweep
from empirics.experiments.store import DamagedResultWarning, OutcomeError
from empirics.experiments.whole import write_lasting
from figures.runs import Runs

CELLS = [Cell(f"{HERE}:square", {"number": n}) for n in (3, 5, 7)]
CELL = CELLS[0]
OUTCOME = Outcome({"round": [0, 5], "value": [0.1, 1 / 3], "layer": ["", "head"], "client": [None, 2]}, {"n": 2})


# ---- names ----


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


def test_the_key_depends_on_every_argument_the_function_and_its_version(monkeypatch):
    others = (("square", {"number": 4}), ("square", {"number": 3, "sleep": 0.1}), ("raises", {"number": 3}))
    assert len({CELL.key, *(Cell(f"{HERE}:{name}", given).key for name, given in others)}) == 4
    assert Cell(f"{HERE}:square", {"number": 3.0}).key == CELL.key
    before, known = Cell("train", {"seed": 3}).key, jobs.jobs()
    monkeypatch.setattr(jobs, "jobs", lambda: known | {"train": replace(known["train"], version="99")})
    assert Cell("train", {"seed": 3}).key != before


# ---- keeping ----


def test_a_result_comes_back_as_it_was_kept_in_the_same_bytes(store, tmp_path):
    assert not store.has(CELL)
    kept = store.keep(CELL, OUTCOME, minutes=0.25)
    assert store.has(CELL)
    assert store.get(CELL).columns() == {k: list(v) for k, v in OUTCOME.columns.items()}
    assert kept.cell == CELL
    card = store.get(CELL).card
    assert (card["minutes"], card["facts"], card["rows"], card["status"]) == (0.25, {"n": 2}, 2, "done")
    assert {"versions", "commit", "processor", "device", "python"} <= set(card)
    other = Store(tmp_path / "other")
    other.keep(CELL, OUTCOME, minutes=0.5)
    tables = [next(place.folder.glob("*.parquet")).read_bytes() for place in (store, other)]
    assert tables[0] == tables[1]
    columns = {"a": [1, None], "b": ["x", ""], "c": [[1.5], []], "d": [None, None]}
    assert store.keep(CELL, Outcome(columns), 0.1).columns() == columns
    assert pa.array(columns["c"]).type == pa.list_(pa.float64())


def test_a_failure_is_recorded_and_is_no_result(store):
    store.fail(CELL, "OSError: no file a\udc80b", 0.1)
    assert not store.has(CELL)
    assert store.get(CELL).card["error"] == "OSError: no file a\udc80b"
    assert [k.status for k in store] == ["failed"]


def test_what_cannot_be_kept_leaves_the_store_as_it_was_and_other_files_are_read_around(store):
    store.keep(CELL, OUTCOME, minutes=0.1)
    (store.folder / "notes.json").write_text("{")
    (store.folder / "README").write_text("mine")
    before = {p.name: p.read_bytes() for p in store.folder.iterdir()}
    for kind in ("ragged", "mixed", "status", "facts", "columns"):
        with pytest.raises(OutcomeError):
            store.keep(CELL, odd(kind), minutes=0.1)
    assert before == {p.name: p.read_bytes() for p in store.folder.iterdir()}
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
    print("refused:", error)
"""


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limit on file sizes here")
def test_a_full_disk_loses_nothing_and_says_so(store):
    words = [sys.executable, "-c", FULL, str(store.folder)]
    told = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": "tests"})
    assert told.stdout.startswith("refused: "), told.stderr
    assert store.has(CELL)
    assert sorted(p.suffix for p in store.folder.iterdir()) == [".json", ".parquet"]


def test_a_file_and_its_name_are_on_the_disk_before_it_counts_as_written(tmp_path, monkeypatch):
    asked, real = [], os.fsync

    def noted(file):
        asked.append(Path(f"/proc/self/fd/{file}").readlink())
        real(file)

    monkeypatch.setattr(os, "fsync", noted)
    write_lasting(tmp_path / "here" / "a", b"content")
    assert [path.parent.name for path in asked[:1]] == ["here"]
    assert asked[-1] == tmp_path / "here"
    assert (tmp_path / "here" / "a").read_bytes() == b"content"


def test_what_dead_writers_left_is_removed_and_nothing_else(three):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    old, young = time.time() - 90_000, time.time() - 120

    def left(host, process, age, name=f"{CELL.key}.json"):
        path = three.folder / f".{name}.{host}.{process}.{uuid.uuid4().hex}"
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
    sweep(CELLS, three, workers=0)
    assert not [path for path in dead if path.exists()]
    assert all(path.exists() for path in alive)
    assert [three.has(cell) for cell in CELLS] == [True] * 3


# ---- damage ----


@pytest.fixture
def three(store):
    """A store of three results."""
    sweep(CELLS, store, workers=0)
    return store


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


def strange(**words):
    return json.dumps({"key": "k", "job": "f", "arguments": {}, "version": "1", **words})


@pytest.mark.parametrize(
    ("card", "word"),
    [("[1, 2]", "card"), ('{"hello": "there"}', "card"), (strange(format=99, status="done"), "99"),
     (strange(format=2, status="failed"), "of k"), ("[" * 100_000, ""), ('{"format": ' + "9" * 5000 + "}", ""),
     ("\x00", "")],
    ids=["list", "table", "format", "key", "deep", "digits", "zero"],
)  # fmt: skip
def test_a_strangers_file_is_no_result(store, card, word):
    store.keep(CELL, OUTCOME, minutes=0.1)
    files(store, CELL)[0].write_text(card)
    with pytest.warns(DamagedResultWarning, match=f"{store.folder}/{CELL.key}.json: .*{word}"):
        assert not store.has(CELL)


def test_a_card_that_lacks_a_word_or_has_another_kind_of_it_is_no_result(store):
    for failed, name, value in (
        (False, "bytes", None),
        (False, "minutes", "long"),
        (False, "versions", []),
        (False, "sha256", None),
        (False, "facts", 3),
        (True, "error", None),
        (True, "commit", None),
        (False, "status", "finished"),
        (False, "status", ["done"]),
    ):
        store.keep(CELL, OUTCOME, minutes=0.1)
        if failed:
            store.fail(CELL, "ValueError: no", minutes=0.1)
        recarded(store, CELL, **{name: value})
        with pytest.warns(DamagedResultWarning):
            assert store.get(CELL) is None, name
        assert list(store) == [], name


def test_every_flipped_bit_of_a_card_and_a_torn_file_are_found(three):
    card, table = files(three, CELL)
    content = card.read_bytes()
    harmless = 0
    for place in range(0, len(content), 5):
        card.write_bytes(content)
        flipped(card, place)
        harmless += three.look(CELL)[0] is not None
    assert len(content) // 5 >= 100
    assert harmless < 20, "only white space between the words may change"
    card.write_text(content.decode().replace('"n": 2', '"n": 6'))
    assert "digest" in three.look(CELL)[1]
    for torn, whole in ((card, content), (table, table.read_bytes())):
        card.write_bytes(content)
        torn.write_bytes(whole[:-7])
        with pytest.warns(DamagedResultWarning):
            assert not three.has(CELL)
    three.set_aside(CELL)
    assert not three.look(CELL)[1]
    assert len(list(three.folder.glob("*.aside"))) == 2


@pytest.fixture
def grid(tmp_path):
    path = tmp_path / "g.toml"
    path.write_text(f'job = "{HERE}:square"\n[vary]\nnumber = [3, 5, 7, 11]\n')
    return str(path)


def test_verify_and_status_say_what_is_damaged_and_a_sweep_computes_it_again(three, grid, run):
    words = ("sweep", grid, "--store", three.folder)
    status, out, _ = run(*words, "--verify")
    assert (status, out.splitlines()[-1].endswith("4 cells: 3 whole, 1 missing")) == (0, True)
    flipped(files(three, CELLS[1])[1], 40)
    flipped(files(three, CELLS[2])[0], 200)
    status, out, _ = run(*words, "--status")
    assert status == 0
    assert "4 cells: 1 done, 2 damaged, 1 missing" in out
    status, out, _ = run(*words, "--verify")
    assert status == 1
    assert "4 cells: 1 whole, 2 damaged, 1 missing" in out
    assert f"damaged: number=5: {CELLS[1].key}.json: {CELLS[1].key}.parquet: " in out
    assert "damaged: number=7: " in out
    assert len(list(three.folder.iterdir())) == 6, "verifying changes nothing"
    assert sorted(d.how for d in sweep(CELLS, three, workers=0)) == ["done", "done", "there"]
    assert len(list(three.folder.glob("*.aside"))) == 4
    recarded(three, CELL, digest=None)
    assert "digest" in three.look(CELL)[1]
    assert "4 cells: 1 damaged, 2 whole, 1 missing" in run(*words, "--verify")[1]


def lost(card):
    card.unlink()


def a_link_to_nothing(card):
    card.unlink()
    card.symlink_to("nowhere")


def a_pipe(card):
    card.unlink()
    os.mkfifo(card)


@pytest.mark.parametrize("spoil", [lambda card: flipped(card, 200), lost, a_link_to_nothing, a_pipe])
def test_results_name_a_damaged_card_instead_of_leaving_it_out_silently(three, grid, run, spoil):
    """A table whose card is gone is named as well, and nobody waits for a pipe."""
    (three.folder / "notes.json").write_text("mine")
    spoil(files(three, CELL)[0])
    for more in ([], ["--csv"]):
        status, out, err = run("results", "--store", three.folder, *more)
        assert status == 1
        assert f"{CELL.key}." in err
        assert "5" in out
        assert "7" in out
    words = ("sweep", grid, "--store", three.folder)
    status, out, _ = run(*words, "--verify")
    assert status == 1
    assert f"damaged: number=3: {CELL.key}." in out
    assert "2 whole" in out
    assert run(*words, "--workers", "0")[0] == 0
    assert run(*words, "--verify")[0] == 0


def test_a_table_that_is_none_is_told_and_the_others_are_shown(three, run):
    for content in (b"no table at all", b"PAR1" + 60 * b"x" + b"PAR1", b"", b"PAR1"):
        with_table(three, CELL, content)
        status, out, err = run("results", "--store", three.folder, "--csv")
        assert (status, len(out.splitlines()), err.count("\n")) == (1, 3, 1)
        assert CELL.key in err
        all_refused([(lambda: Runs(three).columns(CELL), f"{CELL.key}.parquet")])
    recarded(three, CELLS[1], rows=5)
    with pytest.raises(StoreError, match=r"2 .* 5"):
        three.get(CELLS[1]).columns()
    kept = three.get(CELLS[2])
    flipped(kept.table, 40)  # after it was looked at
    with pytest.raises(StoreError, match="checksum"):
        kept.columns()


# ---- what is not there ----


def test_a_folder_of_other_files_is_no_store_and_an_empty_one_has_no_results(tmp_path_factory, three, run, refused):
    tmp_path = tmp_path_factory.mktemp("other")
    assert run("results", "--store", tmp_path)[:2] == (0, "no results\n")
    (tmp_path / "notes.json").write_text("{}")
    strangers = [tmp_path, tmp_path / "none", *(["/proc"] if Path("/proc/self").is_dir() else [])]
    for more in ([], ["--csv"]):
        cases = [(place, str(place)) for place in strangers]
        all_refused(cases, lambda place, more=more: refused("results", "--store", place, *more))
    for kept in three:
        three.set_aside(kept.cell)
    assert run("results", "--store", three.folder)[:2] == (0, "no results\n")  # files set aside are a store's


def test_a_value_that_no_result_has_is_refused_with_the_nearest(three, run, refused):
    sweep([Cell(f"{HERE}:square", {"number": 11}), Cell(f"{HERE}:raises", {"number": 13})], three, workers=0)
    wrong = {
        "number=6.5": "number=6.5 3 5 7",
        "number=0,1": "number '0,1'",
        "number=1/10": "number '1/10'",
        "number==5": "number '=5'",
        "number=1_1": "number '1_1'",
        "number=1e400": "number '1e400'",
        "status=don": "status 'don' 'done'",
        "quantity=nope": "quantity 'nope'",
        "number=3 number=5": "number twice",
    }
    all_refused(wrong, lambda words: refused("results", *words.split(), "--store", three.folder))
    found = run("results", "number=3", "status=failed", "--store", three.folder)
    assert found[:2] == (0, "no results\n")  # values that are there, but never together, are no mistake
    assert run("results", "number=3.0", "--csv", "--store", three.folder)[0] == 0
