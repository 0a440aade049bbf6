"""What an adversary found once and must not find again: misreadings, lost files and long lines, over all verbs."""

import json
import os
import resource
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from bounds.errors import BoundsError
from bounds.showing.files import write_whole
from bounds.showing.process import guarded
from empirics.experiments import Cell, Outcome, Store
from empirics.experiments.processes import _remove_left_over, SCRATCH
from fedbounds import main
from paper_checks.falsifier import load_witness

ROOT = Path(__file__).resolve().parents[1]
GRID = '[fixed]\nproblem = "softmax(iris)"\nalgorithm = "fedavg()"\nrounds = 2\nseed = 3\n'


def test_an_exception_whose_message_raises_is_one_line(refused, tmp_path):
    path = tmp_path / "own.py"
    path.write_text("class E(BaseException):\n    def __str__(self):\n        raise self\nraise E()\n")
    assert str(path) in refused("show", f"{path}:mine")


@pytest.mark.parametrize("workers", ["1_0", "٣", "100000000000000000000", "-1"])
def test_a_sweep_takes_plain_numbers_of_workers(refused, tmp_path, workers):
    grid = tmp_path / "g.toml"
    grid.write_text(GRID + 'measure = ["train_loss"]\n')
    assert "whole number from 0 to 1024" in refused("sweep", grid, "--workers", workers, "--status")


def test_a_store_that_cannot_be_read_is_said(refused, tmp_path):
    loop, grid = tmp_path / "loop", tmp_path / "g.toml"
    loop.symlink_to(loop)
    grid.write_text(GRID + 'measure = ["train_loss"]\n')
    for store in (loop, grid / "below"):
        assert "cannot be read" in refused("sweep", grid, "--status", "--store", store)


def test_a_report_below_a_loop_of_links_is_one_line(refused, tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "loop" in refused("check", "--report", tmp_path / "loop", "decaying_k.eq_24")


def test_an_end_of_an_interval_that_no_float_holds_is_refused(refused, tmp_path):
    path = tmp_path / "c.json"
    path.write_text('{"smoothness": 2, "_interval": {"smoothness": [1, ' + 400 * "9" + "]}}")
    assert "_interval of smoothness" in refused("eval", "decaying_k.theorem_1", f"@{path}")


# ---- files ----


def test_what_is_written_takes_the_place_of_a_file_alone(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "stream").open("w") as stream:
        number = stream.fileno()
        streams = [Path(f"/dev/fd/{number}"), Path(f"/proc/self/fd/{number}")]
        for place in (tmp_path / "pipe", Path("/dev/null"), tmp_path, *streams):
            with pytest.raises(BoundsError, match="it is no file that could be written"):
                write_whole(place, "words")
    assert write_whole(tmp_path / "new.txt", "words").read_text() == "words"


def test_a_disk_that_is_full_leaves_what_was_there(tmp_path):
    path = tmp_path / "c.json"
    path.write_text('{"old": 2.5}')
    words = ["constants", "--quick", "--problem", "softmax(iris)", "--clients", "3", "-o", str(path)]
    code = f"import sys; from fedbounds import main; sys.exit(main({words!r}))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )  # fmt: skip
    assert done.returncode == 2
    assert str(path) in done.stderr
    assert json.loads(path.read_text()) == {"old": 2.5}


def test_folders_of_dead_drivers_are_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    for process in (child.pid, os.getpid()):
        (tmp_path / f"{SCRATCH}{process}-abc").mkdir()
    _remove_left_over()
    assert [p.name for p in tmp_path.iterdir()] == [f"{SCRATCH}{os.getpid()}-abc"]


def test_reading_a_result_starts_no_thread_that_could_outlive_the_command(tmp_path):
    store, cell = Store(tmp_path), Cell("train", {"problem": "softmax(iris)", "seed": 3})
    store.keep(cell, Outcome({"round": [2, 5], "value": [0.25, 0.75]}), 0.1)
    code = (
        "import os, sys; from pathlib import Path; import pyarrow.parquet, numpy\n"
        "from empirics.experiments import Store\n"
        "kept, = Store(Path(sys.argv[1]))\n"
        "before = os.listdir('/proc/self/task'); kept.columns()\n"
        "print(len(os.listdir('/proc/self/task')) - len(before))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout == "0\n", done.stderr


def test_a_warning_is_said_once_wherever_it_comes_from(capsys):
    def run():
        warnings.warn("the sky falls", stacklevel=1)
        warnings.warn("the sky falls", stacklevel=2)
        return 0

    assert guarded(run) == 0
    assert capsys.readouterr().err == "fedbounds: the sky falls\n"


def test_two_tables_of_the_same_worst_cases_are_the_same_bytes(capsys, tmp_path):
    place = ["fedcog.theorem", "rounds=1", "local_steps=2", "heterogeneity=0.3"]
    for name in ("one", "two"):
        where = ["--store", str(tmp_path / f"store-{name}"), "--workers", "0", "-o", str(tmp_path / name)]
        assert main(["tightness", *place, *where]) == 0
    one, two = ((tmp_path / name / "fedcog.theorem.csv").read_bytes() for name in ("one", "two"))
    assert one == two
    assert json.loads((tmp_path / "one" / "fedcog.theorem.json").read_text())["seconds"] >= 0


def test_a_seed_beyond_all_counting_is_refused_with_its_range(refused, tmp_path):
    grid, seed = tmp_path / "g.toml", 30 * "7"
    more = 'measure = ["train_loss"]\nclients = 3\npartition = "iid()"\n'
    grid.write_text(GRID.replace("seed = 3", f"seed = {seed}") + more)
    said = refused("sweep", grid, "--workers", "0", "--store", tmp_path / "s").partition("\n")[0]
    assert f"at most {2**53}" in said
    assert "at most 18 digits" in refused("falsify", "fedcog.theorem", "--seed", seed)


def test_a_thread_that_a_file_leaves_running_is_named(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(
        "import threading, time\nfrom bounds import get\nmine = get('fedals.one_round')\n"
        "threading.Thread(target=lambda: time.sleep(0.7)).start()\n"
        "threading.Thread(target=lambda: time.sleep(600), daemon=True).start()\n"
    )
    words = [sys.executable, "-m", "fedbounds", "show", f"{path}:mine"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.returncode == 0
    assert done.stderr.count("\n") == 1
    assert f"{path}, line 4: a thread still runs" in done.stderr


def test_workers_do_not_run_the_script_that_started_the_sweep(tmp_path):
    grid, script = tmp_path / "g.toml", tmp_path / "script.py"
    grid.write_text(GRID + 'measure = ["train_loss"]\nclients = 3\npartition = "iid()"\n')
    words = ["sweep", str(grid), "--workers", "1", "--store", str(tmp_path / "s")]
    script.write_text(
        f"if __name__ != '__main__':\n    raise ImportError('no worker can import this')\n"
        f"import sys\nfrom fedbounds import main\nsys.exit(main({words!r}))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert "1 done" in done.stdout


WITNESS = ROOT / "paper_checks" / "counterexamples" / "fedcog_eq_19.json"


@pytest.mark.parametrize(
    "words",
    [
        *(("falsify", "--replay", WITNESS, *idle) for idle in (("--family", "nonsense"), ("--seed", "3"),
          ("-o", "x.json"))),
        ("tightness", "--patience", "7"),
        ("tightness", "fedcog.theorem", "--committed", "--store", "s"),
        ("tightness", "fedcog.theorem", "--workers", "3"),
        ("figure", "--scale", "smoke"),
        ("figure", "fedinit.table_3", "--no-sweep", "--workers", "3"),
        ("figure", "fedinit.table_3", "--workers", "3", "--scheduler", "tcp://127.0.0.1:9"),
    ],
)  # fmt: skip
def test_an_option_that_would_change_nothing_is_refused(refused, words):
    flags = [
        word for word in words if str(word).startswith("-") and word not in ("--replay", "--committed", "--no-sweep")
    ]
    assert f"leave out {flags[0]}" in refused(*words)


ROUNDS = ("rounds=300", "step_size=0.02", "cohort=4", "smoothness=1.7", "strong_convexity=0.1", "grad_cap_sq=2.3",
          "current_loss=2.1", "optimal_loss=0.4", "client_gradient_variance=0.6", "local_steps=5")  # fmt: skip


def test_a_decimal_comma_is_no_list(capsys, refused):
    words = (*ROUNDS, "clients=8", "client_weight=uniform")
    assert "'05' begins with a zero" in refused("eval", "decaying_k.per_rounds", *words, "heterogeneity=0,05")
    assert main(["eval", "decaying_k.per_rounds", *words, "heterogeneity=0,0.5"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_weights_beyond_all_numbers_are_one_line(refused):
    words = (*ROUNDS, "heterogeneity=0.05", "clients=8", "client_weight=1e308")
    assert "must sum to 1" in refused("eval", "decaying_k.per_rounds", *words)


def test_a_number_of_clients_that_no_formula_has_needs_numbers(refused):
    assert "how many numbers its lists have" in refused("minimize", "fedals.one_round", "over=clients")


@pytest.mark.parametrize("idle", [["--workers", "3"], ["--status"], ["--verify"]])
def test_a_running_cluster_has_workers_of_its_own(refused, tmp_path, idle):
    assert "leave out --workers" in refused("sweep", tmp_path / "g.toml", "--scheduler", "nonsense", *idle)


def test_a_witness_under_a_name_that_no_file_can_have_is_refused(tmp_path):
    witness = load_witness(ROOT / "paper_checks" / "counterexamples" / "fedcog_eq_19.json")
    with pytest.raises(BoundsError, match="null byte"):
        witness.save(tmp_path / "a\0b")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", ["--status", "--verify"])
def test_what_runs_nothing_takes_no_workers(refused, tmp_path, how):
    grid = tmp_path / "g.toml"
    grid.write_text(GRID + 'measure = ["train_loss"]\n')
    assert "leave out --workers" in refused("sweep", grid, how, "--workers", "2")


def test_a_page_does_not_take_the_place_of_the_file_of_its_bound(refused, tmp_path):
    own = tmp_path / "my_bound.py"
    text = (ROOT / "examples" / "my_bound.py").read_text(encoding="utf-8")
    own.write_text(text, encoding="utf-8")
    (page := tmp_path / "page.html").symlink_to(own)
    assert "is what this command reads" in refused("explore", f"{own}:my_bound", "-o", page)
    assert own.read_text(encoding="utf-8") == text


def test_a_link_to_a_file_is_followed_and_stays(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "target.json")
    for words in ("first", "second"):
        write_whole(tmp_path / "link.json", words)
        assert (tmp_path / "link.json").is_symlink()
        assert (tmp_path / "target.json").read_text() == words


def test_a_column_that_is_asked_for_twice_is_refused(refused, tmp_path):
    Store(tmp_path).keep(Cell("train", {"problem": "softmax(iris)", "seed": 3}), Outcome({"value": [0.25]}), 0.1)
    assert "twice" in refused("results", "--store", tmp_path, "--columns", "seed", "seed")


@pytest.mark.parametrize("name", ["_Interval", "_intervals", "interval"])
def test_an_interval_under_another_name_is_not_passed_over(refused, tmp_path, name):
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"smoothness": 2.5, name: {"smoothness": [1.5, 3]}}))
    assert "write _interval" in refused("eval", "decaying_k.theorem_1", f"@{path}")
