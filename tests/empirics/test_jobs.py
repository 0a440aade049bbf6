"""What a cell may call: registered jobs and functions in files, whatever a grid or a stored result says."""

import json
import re
import sys
from dataclasses import fields, MISSING, replace
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path

import pytest
from sweep_cells import HERE

from bounds.errors import BoundsError
from empirics.errors import EmpiricsError
from empirics.experiments import Cell, Outcome, registry as jobs, Store
from empirics.experiments.store import _digest
from empirics.training.setting import Setting
from fedbounds import main
from paper_checks.worst_cases.places import Place

RUN = {"algorithm": "fedavg()", "problem": "softmax(digits)", "seed": 3, "measure": ["train_loss"]}


@pytest.mark.parametrize("job", jobs.jobs().values(), ids=lambda job: job.name)
def test_a_declaration_says_what_the_function_says(job):
    module, _, name = job.home.partition(":")
    told = signature(getattr(import_module(module), name)).parameters
    usual = {n: p.default for n, p in told.items() if p.default is not p.empty}
    assert {n: d for n, d in job.defaults.items() if n in told} == usual
    assert set(job.defaults) == set(usual) or any(p.kind is p.VAR_KEYWORD for p in told.values())
    assert told[next(iter(told))].kind is not Parameter.VAR_POSITIONAL


def test_words_of_a_setting_have_its_defaults():
    usual = {f.name: f.default for f in fields(Setting) if f.default is not MISSING} | Setting.USUAL
    assert len(usual) > 10
    assert usual.items() <= jobs.jobs()["round_times"].defaults.items()
    assert {f.name: f.default for f in fields(Place)}.items() <= jobs.jobs()["tightness"].defaults.items()


def test_a_key_knows_no_place_of_code(monkeypatch):
    key, known = Cell("train", RUN).key, jobs.jobs()
    assert re.fullmatch(r"[0-9a-f]{20}", key)
    monkeypatch.setattr(jobs, "jobs", lambda: known | {"train": replace(known["train"], home="elsewhere:trained")})
    assert Cell("train", RUN).key == key


def test_a_file_that_is_edited_or_imports_one_that_is_makes_other_runs(tmp_path):
    own, helper = tmp_path / "own.py", tmp_path / "helper.py"
    own.write_text("import helper\n\n\ndef f(number) -> 'Outcome': ...\n")
    helper.write_text("share = 0.5\n")
    cells = [("train", {**RUN, "problem": f"{own}:made"}), ("train", {**RUN, "algorithm": f"{own}:made"})]
    cells += [("train", {**RUN, "measure": [f"{own}:made"]}), (f"{own}:f", {"number": 3})]

    def keys():
        return [Cell(*cell).key for cell in cells]

    first = keys()
    assert keys() == first
    helper.write_text("share = 0.7\n")
    second = keys()
    own.write_text(own.read_text() + "share = 3\n")
    assert all(len({*each}) == 3 for each in zip(first, second, keys(), strict=True))


def test_an_argument_at_its_default_changes_no_key():
    key = Cell("train", RUN).key
    assert Cell("train", {**RUN, "partition": "iid", "batch": 32, "momentum": 0, "cohort": None}).key == key
    assert Cell("train", {**RUN, "batch": 31}).key != key
    assert Cell("train", {**RUN, "partition": "dirichlet(0.3)"}).key != key


def test_an_argument_that_a_job_learns_later_changes_no_key(monkeypatch):
    key, known = Cell("train", RUN).key, jobs.jobs()
    more = replace(known["train"], defaults={**known["train"].defaults, "learned": 7})
    monkeypatch.setattr(jobs, "jobs", lambda: known | {"train": more})
    assert Cell("train", RUN).key == Cell("train", {**RUN, "learned": 7}).key == key
    assert Cell("train", {**RUN, "learned": 8}).key != key


def test_the_defaults_of_a_file_are_read_without_running_it(tmp_path):
    path = tmp_path / "own.py"
    path.write_text("raise SystemExit\ndef f(number, scale=2.5, other=print) -> 'Outcome': ...\n")
    assert jobs.known_job(f"{path}:f").defaults == {"scale": 2.5}


def test_runs_of_different_length_share_all_of_the_key_but_its_end():
    short, long = (Cell("train", {**RUN, "rounds": rounds}).key for rounds in (20, 350))
    assert short.partition("-")[0] == long.partition("-")[0] == Cell("train", RUN).key
    assert (short.partition("-")[2], long.partition("-")[2]) == ("20", "350")


def test_two_jobs_of_one_name_are_refused(tmp_path, monkeypatch):
    again = replace(jobs.jobs()["train"], home="elsewhere:train")
    monkeypatch.setattr(jobs, "of_module", lambda module: (again,))
    with pytest.raises(EmpiricsError, match="two jobs are named 'train'"):
        jobs.jobs()


@pytest.mark.parametrize(
    "function",
    ["shutil:rmtree", "subprocess:getoutput", "os:system", "trap_module:go", "trap_package.part:go",
     "empirics.experiments.jobs.train:loaded",
     "square", "a b:c", ":f", "train:", "train.py", "own.py:f g", "own.py:a.b",
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
    grid.write_text(f"job = {json.dumps(function)}\n[vary]\nnumber = [3]\n")
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
        "from shutil import rmtree\nfrom empirics.experiments import Outcome\n"
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
        Cell(f"{tmp_path / 'none.py'}:f", {})


def test_naming_a_file_does_not_run_it(tmp_path, capsys):
    ran, path = tmp_path / "ran", tmp_path / "own.py"
    path.write_text(f"open({str(ran)!r}, 'w')\n")
    grid = tmp_path / "g.toml"
    grid.write_text(f'job = "{path}:f"\n[vary]\nnumber = [3]\n')
    assert main(["sweep", str(grid), "--store", str(tmp_path / "store"), "--status"]) == 0
    assert "1 missing" in capsys.readouterr().out
    assert not ran.exists()


def test_a_stored_result_is_read_without_looking_its_function_up(tmp_path, capsys):
    store = Store(tmp_path / "store")
    store.keep(Cell(f"{HERE}:square", {"number": 3}), Outcome({"a": [5]}, {"n": 2}), 0.1)
    card = next(store.folder.glob("*.json"))
    held = {**json.loads(card.read_text()), "job": "trap_module:go"}
    card.write_text(json.dumps({**held, "digest": _digest(held)}))
    assert main(["results", "--store", str(store.folder), "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].endswith("n,2")
    assert "trap_module" not in sys.modules
    assert Path(card).exists()
