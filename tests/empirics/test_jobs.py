"""What a cell may call: registered jobs and functions in files, whatever a grid or a stored result says."""

import json
import sys
from importlib import import_module
from pathlib import Path

import pytest
from sweep_cells import HERE

from bounds.errors import BoundsError
from empirics.errors import EmpiricsError
from empirics.store import Cell, Outcome, Store
from empirics.store.jobs import job_called, JOBS
from fedbounds import main

KEYS = {
    "train": ({"algorithm": "fedavg()", "rounds": 7, "seed": 3}, "e73ddd234cbe81249367"),
    "timed": ({"seconds": 2.5, "seed": 4}, "891fa64befb6350dffe5"),
    "tightness": ({"bound": "fedcog.theorem", "rounds": 2}, "d56e0cc4ceaa23e19697"),
}


@pytest.mark.parametrize("job", JOBS.values(), ids=str)
def test_jobs_are_functions_that_there_are_by_either_name(job):
    module, _, name = job.function.partition(":")
    assert job_called(job.function) is getattr(import_module(module), name)
    assert Cell(job.name, {"seed": 3}) == Cell(job.function, {"seed": 3})


@pytest.mark.parametrize(("name", "arguments", "key"), [(n, *rest) for n, rest in KEYS.items()])
def test_keys_stay_what_they_are(name, arguments, key):
    assert Cell(name, arguments).key == key


@pytest.mark.parametrize(
    "function",
    ["shutil:rmtree", "subprocess:getoutput", "os:system", "trap_module:go", "trap_package.part:go",
     "empirics.cells:loaded", "square", "a b:c", ":f", "train:", "train.py", "own.py:f g", "own.py:a.b",
     "x.py:__import__('os')"],
)  # fmt: skip
@pytest.mark.parametrize("more", [["--status"], ["--verify"], ["--workers", "0"]])
def test_other_functions_are_refused_before_anything_is_imported(tmp_path, capsys, monkeypatch, function, more):
    ran = tmp_path / "ran"
    for place in ("trap_module.py", "trap_package/__init__.py", "trap_package/part.py"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(f"open({str(ran)!r}, 'w')\ndef go(number): pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    grid = tmp_path / "g.toml"
    grid.write_text(f"function = {json.dumps(function)}\n[vary]\nnumber = [3]\n")
    assert main(["sweep", str(grid), "--store", str(tmp_path / "store"), *more]) == 2
    err = capsys.readouterr().err
    assert "unknown job" in err
    assert "path/file.py:name" in err
    assert err.count("\n") == 1
    assert not ran.exists()
    assert not {"trap_module", "trap_package"} & (set(sys.modules) - before)


def test_a_function_of_a_file_must_be_made_there_and_return_outcomes(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(
        "from shutil import rmtree\nfrom empirics.store import Outcome\n"
        "def fine(number) -> Outcome:\n    return Outcome({'n': [number]})\n"
        "def silent(number):\n    return Outcome({'n': [number]})\n"
    )
    assert Cell(f"{path}:fine", {"number": 7}).run() == Outcome({"n": [7]})
    for name, said in (("rmtree", "unknown function in"), ("silent", "-> Outcome"), ("Outcome", "unknown function in")):
        with pytest.raises(BoundsError, match=said):
            Cell(f"{path}:{name}", {"number": 7}).run()


def test_the_text_of_a_file_is_the_version_of_its_functions(tmp_path):
    path = tmp_path / "own.py"
    path.write_text("a = 3\n")
    before = Cell(f"{path}:f", {"number": 7}).key
    path.write_text("a = 4\n")
    assert Cell(f"{path}:f", {"number": 7}).key != before
    with pytest.raises(EmpiricsError, match="No such file"):
        _ = Cell(f"{tmp_path / 'none.py'}:f", {}).key


def test_naming_a_file_does_not_run_it(tmp_path, capsys):
    ran, path = tmp_path / "ran", tmp_path / "own.py"
    path.write_text(f"open({str(ran)!r}, 'w')\n")
    grid = tmp_path / "g.toml"
    grid.write_text(f'function = "{path}:f"\n[vary]\nnumber = [3]\n')
    assert main(["sweep", str(grid), "--store", str(tmp_path / "store"), "--status"]) == 0
    assert "1 missing" in capsys.readouterr().out
    assert not ran.exists()


def test_a_stored_result_is_read_without_looking_its_function_up(tmp_path, capsys):
    store = Store(tmp_path / "store")
    store.keep(Cell(f"{HERE}:square", {"number": 3}), Outcome({"a": [5]}, {"n": 2}), 0.1)
    card = next(store.folder.glob("*.json"))
    held = {**json.loads(card.read_text()), "function": "trap_module:go"}
    held.pop("digest", None)
    card.write_text(json.dumps(held))
    assert main(["results", "--store", str(store.folder), "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("n,2")
    assert "trap_module" not in sys.modules
    assert Path(card).exists()
