"""Sweeps: resuming, failing cells, dying workers and drivers, two at once; the same bytes however many work."""

import json
import re
import signal
from pathlib import Path

import pytest
from refusals import all_refused
from sweep_cells import HERE, sweeping, wait_for

from empirics.experiments import Cell, processes, Store
from empirics.experiments.grids import Grid, read_grid
from empirics.experiments.running import run_missing
from empirics.measuring import Run
from empirics.measuring.kept import read

SQUARES = Grid("squares", vary={"number": [1, 2, 3]}, job=f"{HERE}:square")


def traced(tmp_path, numbers=(1, 2, 3), sleep=0.0):
    trace = tmp_path / "trace"
    trace.mkdir(exist_ok=True)
    fixed = {"trace": str(trace), "sleep": sleep}
    return Grid("traced", fixed, {"number": list(numbers)}, f"{HERE}:square"), trace


def written(tmp_path, function, more="", numbers=range(6)):
    path = tmp_path / f"{function}.toml"
    path.write_text(f'job = "{HERE}:{function}"\n[fixed]\n{more}\n[vary]\nnumber = {list(numbers)}\n')
    return path


def test_what_is_there_is_not_computed_again(store, tmp_path):
    grid, trace = traced(tmp_path)
    assert [d.how for d in run_missing(grid.cells(), store, workers=0)] == ["done"] * 3
    more, _ = traced(tmp_path, (1, 2, 3, 4))
    assert [d.how for d in run_missing(more.cells(), store, workers=0)] == ["there"] * 3 + ["done"]
    assert len(list(trace.iterdir())) == 4
    run_missing(grid.cells(), store, workers=0, fresh=True)
    assert len(list(trace.iterdir())) == 7


def test_a_cell_that_goes_wrong_is_recorded_and_the_others_run(store):
    wrong = [
        (Cell(f"{HERE}:{function}", {"number": 2}), how, words)
        for function, how, words in (
            ("raises", "failed", "ValueError 2"),
            ("diverges", "diverged", ""),
            ("wrong_result", "failed", "Outcome int"),
            ("nothing_here", "failed", "'nothing_here'"),
        )
    ]
    odd = {"ragged": "[1, 2]", "mixed": "int str", "status": "'finished'", "facts": "set"}
    odd["exits"] = "SystemExit 3"
    wrong += [(Cell(f"{HERE}:odd", {"kind": kind}), "failed", words) for kind, words in odd.items()]
    cells = [*(cell for cell, _, _ in wrong), *SQUARES.cells()]
    found = run_missing(cells, store, workers=0)
    assert [d.how for d in found] == [*(how for _, how, _ in wrong), "done", "done", "done"]
    all_refused([(i, words) for i, (_, _, words) in enumerate(wrong)], lambda place: found[place].error)
    again = [d.how for d in run_missing(cells, store, workers=0) if d.how != "there"]
    assert again == [how for _, how, _ in wrong if how == "failed"]


def test_the_command_runs_says_and_prints(tmp_path, run, refused, monkeypatch):
    monkeypatch.setenv("FEDBOUNDS_STORE", str(tmp_path / "store"))
    grid = written(tmp_path, "square", numbers=[2, 5])
    assert "2 runs: 2 missing" in run("sweep", grid, "--status")[1]
    assert run("sweep", grid, "--workers", "0")[0] == 0
    status, out, _ = run("results", "number=5", "--csv")
    assert (status, out.splitlines()[-1][-3:]) == (0, "n,2")
    all_refused({"numbr=5": "'numbr' 'number'"}, lambda word: refused("results", word))
    status, out, err = run("sweep", written(tmp_path, "raises", numbers=[2]), "--workers", "0")
    assert status == 1
    assert "1 failed" in out
    assert re.search(r"failed: number=2: .*sweep_cells.py, line \d+: ValueError: ", err)
    run_missing([Cell(f"{HERE}:odd", {"kind": "quantity"})], Store(tmp_path / "other"), workers=0)
    _, out, _ = run("results", "--store", tmp_path / "other", "--json")
    found = json.loads(out, parse_constant=lambda word: pytest.fail(word))
    assert {row["quantity"]: row["value"] for row in found} == {"low": None, "high": "inf"}


def test_a_run_that_diverged_is_named_and_gives_status_1_each_time(tmp_path, run):
    line = ["sweep", written(tmp_path, "diverges", numbers=[2, 5]), "--store", tmp_path / "store", "--workers", "0"]
    assert [run(*line)[::2] for _ in range(2)] == [(1, "")] * 2
    assert "2 there before, 2 of them diverged" in run(*line)[1]


def test_an_interrupted_sweep_keeps_what_was_done_and_says_how_to_go_on(store, tmp_path, run):
    status, out, err = run("sweep", written(tmp_path, "interrupts"), "--store", store.folder, "--workers", "0")
    assert (status, out, err.count("\n")) == (130, "", 1)
    assert "3 of 6 runs" in err
    assert sorted(kept.cell.arguments["number"] for kept in store) == [0, 1, 2]


def test_a_store_that_cannot_be_one_and_a_cluster_that_is_none_are_found_first(store, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    grid = str(written(tmp_path, "square", numbers=[2]))
    for words in (["sweep", grid], ["results"], ["figure", "fedinit.table_3"], ["figure", "--bundle"]):
        stores = {"": "--store empty", "file": "folder file"}
        all_refused(stores, lambda store, words=words: refused(*words, "--store", store))
    for words in ("--status", "--scheduler tcp://127.0.0.1:1"):
        all_refused({words: "--keep-states"}, lambda words: refused("sweep", grid, "--keep-states", *words.split()))
    monkeypatch.setattr(processes, "ANSWER", "0.3s")
    address = "tcp://127.0.0.1:1"
    all_refused([(lambda: run_missing(SQUARES.cells(), store, scheduler=address), address)])


@pytest.mark.slow
def test_workers_that_are_killed_cost_no_cell_and_workers_change_no_byte(tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    process = sweeping(written(tmp_path, "dies_once", f'marks = "{marks}"', range(3)), tmp_path / "two", "--workers=2")
    told = process.communicate(timeout=240)
    assert process.returncode == 0, told
    assert "3 done" in told[0]
    assert len(list(marks.iterdir())) == 3
    run_missing(SQUARES.cells(), Store(tmp_path / "one"), workers=0)
    run_missing(SQUARES.cells(), Store(tmp_path / "three"), workers=3)
    tables = [{kept.card["key"]: kept.content for kept in Store(tmp_path / name)} for name in ("one", "three")]
    assert tables[0] == tables[1]
    assert len(tables[0]) == 3


@pytest.mark.slow
def test_a_sweep_that_is_killed_leaves_whole_results_and_the_rerun_does_the_rest(tmp_path):
    grid, trace = traced(tmp_path, range(8), sleep=0.4)
    more = f'trace = "{trace}"\nsleep = 0.4'
    process = sweeping(written(tmp_path, "square", more, range(8)), tmp_path / "store", "--workers=0")
    store = Store(tmp_path / "store")
    wait_for(lambda: len(store.of(grid.cells())) >= 3, process)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    there = len(store.of(grid.cells()))
    assert 3 <= there < 8
    assert not any(damage for _, damage in store.look(grid.cells()))
    before = len(list(trace.iterdir()))
    assert sorted({d.how for d in run_missing(grid.cells(), store, workers=0)}) == ["done", "there"]
    assert len(list(trace.iterdir())) - before == 8 - there


@pytest.mark.slow
def test_two_sweeps_with_workers_of_their_own_run_on_one_store_at_once_without_a_word(tmp_path):
    grid = written(tmp_path, "square", "sleep = 0.2", range(8))
    both = [sweeping(grid, tmp_path / "store", "--workers=1") for _ in range(2)]
    for process in both:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, (out, err)
        assert "Port" not in err
        assert "unclosed" not in err
    store, cells = Store(tmp_path / "store"), read_grid(str(grid)).cells()
    assert len(store.of(cells)) == 8
    assert all(k.columns() for k in store.of(cells))


def length(store, rounds, **options):
    """The results of short runs of two methods, by method and seed."""
    fixed = {"problem": "softmax(digits)", "clients": 5, "cohort": 2, "partition": "dirichlet(0.7)", "local_steps": 3}
    fixed |= {"measure": ["train_loss", "mean_divergence"], "every": 2, "rounds": rounds}
    grid = Grid("length", fixed, {"algorithm": ["scaffold()", "fedinit(beta=0.07)"], "seed": [3, 4]}, "train")
    assert {done.how for done in run_missing(grid.cells(), store, 0, **options)} == {"done"}
    found = [kept.columns() for kept in store.of(grid.cells())]
    return [{name: column for name, column in each.items() if "seconds" not in name} for each in found]


@pytest.fixture
def begun(monkeypatch):
    """The rounds from which runs go on, None from the start."""
    seen, plain = [], Run.__iter__
    monkeypatch.setattr(
        Run, "__iter__", lambda run: seen.append(run.resume_from and run.resume_from.state.round) or plain(run)
    )  # fmt: skip
    return seen


def test_cells_that_go_on_hold_the_numbers_of_those_that_run_at_once(tmp_path, begun):
    going, at_once = Store(tmp_path / "going"), Store(tmp_path / "once")
    length(going, 3, keep_states=True)
    begun.clear()
    went = length(going, 7, keep_states=True)
    assert begun == [3] * 4
    assert went == length(at_once, 7)
    length(going, 5, keep_states=True)  # shorter than what is kept: from the start, and the longer one stays
    begun.clear()
    length(going, 9, keep_states=True)
    assert begun == [7] * 4
    assert not list(at_once.folder.glob("*.pt"))


@pytest.mark.parametrize("why", ["torn", "other versions"])
def test_a_state_that_cannot_be_gone_on_from_costs_a_run_from_the_start(why, tmp_path, monkeypatch, begun):
    store = Store(tmp_path)
    with monkeypatch.context() as then:
        if why == "other versions":
            then.setattr("empirics.experiments.jobs.train.computing", lambda: {"torch": "another"})
        length(store, 3, keep_states=True)
    for state in tmp_path.glob("*.pt") if why == "torn" else ():
        state.write_bytes(state.read_bytes()[:100])
    begun.clear()
    length(store, 4, keep_states=True)
    assert begun == [None] * 4
    for path in tmp_path.glob("*.pt"):
        (run,) = read(path)[0].values()
        assert run.reached.state.round == 4


def on_a_gpu(**more):
    words = {"problem": "femnist_dnn(held_out(digits))", "clients": 4, "partition": "dirichlet(0.7)", "rounds": 3}
    fixed = words | {"algorithm": "fedavg()", "measure": ["train_loss", "test_accuracy"], "batch": 7, **more}
    return Grid("there", {**fixed, "local_steps": 5}, {"seed": [3]}, "train").cells()


def test_cells_for_a_gpu_are_refused_before_the_first_where_there_is_none(store, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    all_refused([(lambda: run_missing(on_a_gpu(engine="cuda"), store, 0), "GPU engine")])
    assert not list(store.folder.glob("*"))


@pytest.mark.gpu
def test_a_cell_on_a_gpu_has_the_numbers_of_a_cpu(store):
    (here,), (there,) = ([*on_a_gpu(engine=engine)] for engine in ("torch", "cuda"))
    run_missing([here, there], store, 0)
    values, others = (store.get(cell).columns()["value"] for cell in (here, there))
    assert values == pytest.approx(others, rel=1e-3)
    assert store.get(there).card["facts"]["engine"] == "cuda"
