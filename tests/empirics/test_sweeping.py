"""Sweeps: grids, resuming, failing cells, dying workers and drivers, two at once; the same bytes however many work."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sweep_cells import HERE

from bounds.errors import BoundsError
from empirics.errors import EmpiricsError
from empirics.experiments import Cell, processes, Store
from empirics.experiments.grids import Grid, read_grid
from empirics.experiments.running import sweep
from empirics.measuring import Run
from empirics.measuring.kept import read
from empirics.problems.tasks import task
from fedbounds import main

SQUARES = Grid("squares", vary={"number": [1, 2, 3]}, job=f"{HERE}:square")


def traced(tmp_path, numbers=(1, 2, 3), sleep=0.0):
    trace = tmp_path / "trace"
    trace.mkdir(exist_ok=True)
    fixed = {"trace": str(trace), "sleep": sleep}
    return Grid("traced", fixed, {"number": list(numbers)}, f"{HERE}:square"), trace


# ---- grids ----


def test_a_grid_is_every_combination_once():
    grid = Grid("g", {"rounds": 5}, {"a": [1, 2, 2.0], "b": ["x", "y"]}, f"{HERE}:square")
    assert [c.arguments for c in grid.cells()] == [
        {"a": 1, "b": "x", "rounds": 5},
        {"a": 1, "b": "y", "rounds": 5},
        {"a": 2, "b": "x", "rounds": 5},
        {"a": 2, "b": "y", "rounds": 5},
    ]


def test_further_blocks_override_what_they_name():
    also = ({"fixed": {"b": 7}}, {"vary": {"a": [9]}, "job": f"{HERE}:raises"})
    grid = Grid("g", {"c": 1}, {"a": [1], "b": [2, 3]}, f"{HERE}:square", also)
    found = [(c.job.partition(":")[2], c.arguments["a"], c.arguments["b"]) for c in grid.cells()]
    assert found == [("square", 1, 2), ("square", 1, 3), ("square", 1, 7), ("raises", 9, 2), ("raises", 9, 3)]


def test_a_toml_file_and_a_python_file_make_grids(tmp_path):
    (tmp_path / "g.toml").write_text('name = "mine"\n[vary]\nnumber = [1, 2]\n[[also]]\nfixed.number = 5\n')
    grid = read_grid(str(tmp_path / "g.toml"))
    assert [c.arguments["number"] for c in grid.cells()] == [1, 2, 5]
    (tmp_path / "g.py").write_text(
        "from empirics.experiments.grids import Grid\nown = Grid('own', vary={'number': [4]})\n"
    )
    assert read_grid(f"{tmp_path / 'g.py'}:own").vary == {"number": [4]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[vary", "not a TOML file"),
        ("[vari]\na = [1]\n", "unknown word 'vari'"),
        ("name = 'x'\n", "needs [fixed] or [vary]"),
        ("vary = 3\n", "vary must be a table"),
        ("[vary]\na = 3\n", "a must be a list of values"),
        ("[vary]\na = []\n", "a must be a list of values"),
        ("[vary]\na = [1]\n[[also]]\nfix = 3\n", "unknown word in a block"),
        ("[vary]\na = [nan]\n", "must be finite"),
        ("job = 3\n[fixed]\na = 2\n", "job must be a name or path/file.py:name; got 3"),
        ("also = [7]\n[fixed]\na = 2\n", "also must be a list of tables; got 7 in it"),
        ("[[also]]\nfixed = 3\n[fixed]\na = 2\n", "fixed must be a table; got 3"),
        ("[[also]]\nvary = 3\n[fixed]\na = 2\n", "vary must be a table; got 3"),
        ("[[also]]\nvary.a = 3\n[fixed]\nb = 2\n", "a must be a list of values"),
        ("[[also]]\njob = 3\n[fixed]\nb = 2\n", "job must be a name or path/file.py:name; got 3"),
    ],
)
def test_a_bad_grid_is_one_line(tmp_path, content, said):
    path = tmp_path / "g.toml"
    path.write_text(content)
    with pytest.raises(BoundsError) as told:
        read_grid(str(path)).cells()
    assert said in str(told.value)
    assert "\n" not in str(told.value)


def test_a_missing_file_is_one_line(tmp_path, capsys):
    assert main(["sweep", str(tmp_path / "none.toml")]) == 2
    assert "No such file" in capsys.readouterr().err


# ---- running ----


def test_what_is_there_is_not_computed_again(store, tmp_path):
    grid, trace = traced(tmp_path)
    first = sweep(grid.cells(), store, workers=0)
    assert [d.how for d in first] == ["done"] * 3
    more, _ = traced(tmp_path, (1, 2, 3, 4))
    assert [d.how for d in sweep(more.cells(), store, workers=0)] == ["there"] * 3 + ["done"]
    assert len(list(trace.iterdir())) == 4
    sweep(grid.cells(), store, workers=0, fresh=True)
    assert len(list(trace.iterdir())) == 7
    assert len(list(store.folder.glob("*.aside"))) == 6


@pytest.mark.parametrize(
    ("function", "how", "said"),
    [
        ("raises", "failed", "ValueError: no square of 2 for you"),
        ("diverges", "diverged", ""),
        ("wrong_result", "failed", "must return an Outcome; got int"),
        ("nothing_here", "failed", "unknown function in"),
    ],
)
def test_a_cell_that_goes_wrong_is_recorded_and_the_others_run(store, function, how, said):
    cells = [Cell(f"{HERE}:{function}", {"number": 2}), *SQUARES.cells()]
    found = sweep(cells, store, workers=0)
    assert [d.how for d in found] == [how, "done", "done", "done"]
    assert said in found[0].error
    again = [d.how for d in sweep(cells, store, workers=0) if d.how != "there"]
    assert again == ([how] if how == "failed" else [])


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("ragged", "a table's columns must have one length; got [1, 2]"),
        ("mixed", "columns of one kind each and facts of JSON data: Could not convert"),
        ("status", "an outcome's status must be one of done, diverged; got 'finished'"),
        ("huge", "columns of one kind each and facts of JSON data: Python int too large to"),
        ("facts", "set is not JSON serializable"),
        ("columns", "columns of one kind each"),
        ("exits", "SystemExit: 3"),
    ],
)
def test_an_outcome_that_cannot_be_kept_is_a_failure_and_the_others_run(store, kind, said):
    found = sweep([Cell(f"{HERE}:odd", {"kind": kind}), *SQUARES.cells()], store, workers=0)
    assert [d.how for d in found] == ["failed", "done", "done", "done"]
    assert said in found[0].error


def test_results_of_other_tables_are_their_facts_in_valid_json(store, capsys):
    sweep([Cell(f"{HERE}:odd", {"kind": "quantity"})], store, workers=0)
    assert main(["results", "--store", str(store.folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=lambda word: pytest.fail(word))
    assert {row["quantity"]: row["value"] for row in found} == {"low": None, "high": "inf"}


@pytest.mark.parametrize(
    ("store_word", "said"), [("", "argument --store: must not be empty"), ("file", "the store must be a folder; file")]
)
@pytest.mark.parametrize("line", [["sweep", "g.toml"], ["results"], ["figure", "fedinit.table_3"], ["bundle"]])
def test_a_store_that_cannot_be_one_is_found_first(line, store_word, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("g.toml").write_text(f'job = "{HERE}:square"\n[vary]\nnumber = [2]\n')
    assert main([*line, "--store", store_word]) == 2
    assert said in capsys.readouterr().err


def test_the_command_runs_says_and_prints(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("FEDBOUNDS_STORE", str(tmp_path / "store"))
    grid = tmp_path / "g.toml"
    grid.write_text(f'job = "{HERE}:square"\n[vary]\nnumber = [2, 5]\n')
    assert main(["sweep", str(grid), "--status"]) == 0
    assert "2 cells: 2 missing" in capsys.readouterr().out
    assert main(["sweep", str(grid), "--workers", "0"]) == 0
    assert main(["results", "number=5", "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("n,2")
    assert main(["results", "numbr=5"]) == 2
    assert "did you mean 'number'" in capsys.readouterr().err
    bad = tmp_path / "bad.toml"
    bad.write_text(f'job = "{HERE}:raises"\n[vary]\nnumber = [2]\n')
    assert main(["sweep", str(bad), "--workers", "0"]) == 1
    told = capsys.readouterr()
    assert "1 failed" in told.out
    assert re.search(r"failed: number=2: .*sweep_cells.py, line \d+: ValueError: no square of 2 for you\n", told.err)


def test_results_of_no_store(tmp_path, capsys):
    assert main(["results", "--store", str(tmp_path / "none")]) == 2
    assert "there is no store" in capsys.readouterr().err


def test_no_cluster_at_an_address(store, monkeypatch):
    monkeypatch.setattr(processes, "ANSWER", "0.3s")
    with pytest.raises(EmpiricsError, match="no cluster answers at"):
        sweep(SQUARES.cells(), store, scheduler="tcp://127.0.0.1:1")


# ---- processes ----


def driver(grid, folder, workers="2"):
    """The command as a process of its own."""
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-m", "fedbounds", "sweep", str(grid), "--store", str(folder), "--workers", workers]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def written(tmp_path, function, more="", numbers=range(6)):
    path = tmp_path / f"{function}.toml"
    path.write_text(f'job = "{HERE}:{function}"\n[fixed]\n{more}\n[vary]\nnumber = {list(numbers)}\n')
    return path


@pytest.mark.slow
def test_workers_that_are_killed_cost_no_cell_and_workers_change_no_byte(tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    process = driver(written(tmp_path, "dies_once", f'marks = "{marks}"', range(3)), tmp_path / "two")
    told = process.communicate(timeout=240)
    assert process.returncode == 0, told
    assert "3 done" in told[0]
    assert len(list(marks.iterdir())) == 3
    for folder, workers in (("one", "0"), ("three", "3")):
        again = driver(written(tmp_path, "square", numbers=range(3)), tmp_path / folder, workers)
        told = again.communicate(timeout=240)
        assert again.returncode == 0, told
    tables = [{p.name: p.read_bytes() for p in (tmp_path / f).glob("*.parquet")} for f in ("one", "three")]
    assert tables[0] == tables[1]
    assert len(tables[0]) == 3


@pytest.mark.slow
def test_a_killed_driver_leaves_whole_files_and_the_rerun_does_the_rest(tmp_path):
    grid, trace = traced(tmp_path, range(8), sleep=0.4)
    more = f'trace = "{trace}"\nsleep = 0.4'
    process = driver(written(tmp_path, "square", more, range(8)), tmp_path / "store", "0")
    store = Store(tmp_path / "store")
    until = time.monotonic() + 120
    while len(store.of(grid.cells())) < 3 and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=20)
    process.communicate()
    there = len(store.of(grid.cells()))
    assert 3 <= there < 8
    assert not any(store.look(c)[1] for c in grid.cells())
    before = len(list(trace.iterdir()))
    assert sorted({d.how for d in sweep(grid.cells(), store, workers=0)}) == ["done", "there"]
    assert len(list(trace.iterdir())) - before == 8 - there


@pytest.mark.slow
def test_two_sweeps_on_one_store_at_once(tmp_path):
    grid = written(tmp_path, "square", "sleep = 0.1", range(10))
    both = [driver(grid, tmp_path / "store", "0") for _ in range(2)]
    for process in both:
        told = process.communicate(timeout=120)
        assert process.returncode == 0, told
    store, cells = Store(tmp_path / "store"), read_grid(str(grid)).cells()
    assert len(store.of(cells)) == 10
    assert [k.columns() for k in store.of(cells)]


@pytest.mark.slow
def test_sweeps_with_workers_of_their_own_run_side_by_side_without_a_word(tmp_path):
    grid = written(tmp_path, "square", "sleep = 0.5", range(4))
    both = [driver(grid, tmp_path / folder, "1") for folder in ("one", "two")]
    for process in both:
        told = process.communicate(timeout=120)
        assert process.returncode == 0, told
        assert "Port" not in told[1]
        assert "unclosed" not in told[1]


@pytest.mark.slow
def test_an_interrupted_sweep_says_how_to_go_on(tmp_path):
    process = driver(written(tmp_path, "square", "sleep = 0.3", range(30)), tmp_path / "store", "0")
    until = time.monotonic() + 60
    while not list((tmp_path / "store").glob("*.json")) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted; " in out
    assert "run it again to go on" in out
    assert "Traceback" not in err


# ---- going on ----


def length(store, rounds, **sweeping):
    """The results of short runs of two methods, by method and seed."""
    grid = Grid(
        "length",
        {
            "problem": "softmax(digits)",
            "clients": 5,
            "cohort": 2,
            "partition": "dirichlet(0.7)",
            "measure": ["train_loss", "mean_divergence"],
            "every": 2,
            "local_steps": 3,
            "rounds": rounds,
        },
        {"algorithm": ["scaffold()", "fedinit(beta=0.07)"], "seed": [3, 4]},
        "train",
    )
    assert {done.how for done in sweep(grid.cells(), store, 0, **sweeping)} == {"done"}
    return [kept.columns() for kept in store.of(grid.cells())]


def rows_but_seconds(found):
    return [{name: column for name, column in each.items() if "seconds" not in name} for each in found]


def test_cells_that_go_on_hold_the_numbers_of_those_that_run_at_once(tmp_path, monkeypatch):
    going, at_once = Store(tmp_path / "going"), Store(tmp_path / "once")
    length(going, 3, keep_states=True)
    ran = []
    plain = Run.__iter__
    monkeypatch.setattr(Run, "__iter__", lambda run: ran.append(run.begun) or plain(run))
    went = length(going, 7, keep_states=True)
    assert [begun.state.round for begun in ran] == [3, 3, 3, 3]
    assert rows_but_seconds(went) == rows_but_seconds(length(at_once, 7))
    length(going, 5, keep_states=True)  # shorter than what is kept: from the start, and the longer one stays
    ran.clear()
    length(going, 9, keep_states=True)
    assert [begun.state.round for begun in ran] == [7, 7, 7, 7]
    assert not list(at_once.folder.glob("*.pt"))


@pytest.mark.parametrize("why", ["torn", "other versions"])
def test_a_state_that_cannot_be_gone_on_from_costs_a_run_from_the_start(why, tmp_path, monkeypatch):
    store = Store(tmp_path)
    with monkeypatch.context() as then:
        if why == "other versions":
            then.setattr("empirics.experiments.jobs.train.computing", lambda: {"torch": "another"})
        length(store, 3, keep_states=True)
    for state in tmp_path.glob("*.pt") if why == "torn" else ():
        state.write_bytes(state.read_bytes()[:100])
    ran = []
    plain = Run.__iter__
    monkeypatch.setattr(Run, "__iter__", lambda run: ran.append(run.begun) or plain(run))
    length(store, 4, keep_states=True)
    assert ran == [None] * 4
    assert [kept_state(path).round for path in tmp_path.glob("*.pt")] == [4] * 4


def kept_state(path):
    (run,) = read(path).runs.values()
    return run.reached.state


@pytest.mark.parametrize("words", [["--status"], ["--verify"], ["--scheduler", "tcp://127.0.0.1:1"]])
def test_states_are_kept_only_where_runs_end_on_this_machine(words, capsys):
    assert main(["sweep", "examples/beta.toml", "--keep-states", *words]) == 2
    assert "leave out --keep-states" in capsys.readouterr().err


# ---- where cells compute ----


def on_a_gpu(**more):
    words = {"problem": "femnist_dnn(held_out(digits))", "clients": 4, "partition": "dirichlet(0.7)", "rounds": 3}
    fixed = words | {"algorithm": "fedavg()", "measure": ["train_loss", "test_accuracy"], "batch": 7, **more}
    return Grid("there", {**fixed, "local_steps": 5}, {"seed": [3]}, "train").cells()


def test_cells_for_a_gpu_are_refused_before_the_first_where_there_is_none(store, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(EmpiricsError, match="no cell was started, for on this machine torch sees no GPU: take engine"):
        sweep(on_a_gpu(engine="cuda"), store, 0)
    assert not list(store.folder.glob("*"))


def test_a_problem_that_moves_has_the_same_numbers():
    dealt = task("femnist_dnn(held_out(digits))").deal("dirichlet(0.7)", 4, 3, local_test="matched")
    moved = dealt.to("cpu")
    w = dealt.model.start(3)
    assert moved.loss(w) == dealt.loss(w)
    assert (moved.test.clients, moved.local_test.clients, moved.device) == (1, 4, dealt.device)


@pytest.mark.gpu
def test_a_cell_on_a_gpu_has_the_numbers_of_a_cpu(store):
    (here,), (there,) = ([*on_a_gpu(engine=engine)] for engine in ("torch", "cuda"))
    sweep([here, there], store, 0)
    values, others = (store.get(cell).columns()["value"] for cell in (here, there))
    assert values == pytest.approx(others, rel=1e-3)
    assert store.get(there).card["facts"]["engine"] == "cuda"
