"""What a cell may call and what names its result: registered jobs, functions in files, files and what they import."""

import json
import re
import sys
from dataclasses import fields, MISSING, replace
from importlib import import_module
from inspect import Parameter, signature

import pytest
from loops import cases
from refusals import all_refused
from sweep_cells import HERE

from empirics.experiments import Cell, Outcome, registry as jobs, Store
from empirics.experiments.cells import run
from empirics.experiments.sources import own_files
from empirics.job_modules import MODULES
from empirics.training.setting import Setting
from paper_checks.worst_case.grid_point import GridPoint

RUN = {"algorithm": "fedavg()", "problem": "softmax(digits)", "seed": 3, "measure": ["train_loss"]}


@cases("job", jobs.jobs().values())
def test_a_declaration_says_what_the_function_says(job):
    module, _, name = job.home.partition(":")
    told = signature(getattr(import_module(module), name)).parameters
    usual = {n: p.default for n, p in told.items() if p.default is not p.empty}
    assert {n: d for n, d in job.defaults.items() if n in told} == usual
    assert set(job.defaults) == set(usual) or any(p.kind is p.VAR_KEYWORD for p in told.values())
    assert told[next(iter(told))].kind is not Parameter.VAR_POSITIONAL


def test_words_of_a_setting_have_its_defaults():
    usual = {f.name: f.default for f in fields(Setting) if f.default is not MISSING} | Setting.DEFAULTS
    assert len(usual) > 10
    assert usual.items() <= jobs.jobs()["round_times"].defaults.items()
    assert {f.name: f.default for f in fields(GridPoint)}.items() <= jobs.jobs()["tightness"].defaults.items()
    names = [declared.name for module in MODULES for declared in jobs.of_module(module)]
    assert len(names) == len(set(names)) > 5


def test_a_key_knows_arguments_that_are_not_defaults_and_no_place_of_code(monkeypatch):
    key, known = Cell("train", RUN).key, jobs.jobs()
    assert re.fullmatch(r"[0-9a-f]{20}", key)
    assert Cell("train", {**RUN, "partition": "iid", "batch": 32, "momentum": 0, "cohort": None}).key == key
    assert Cell("train", {**RUN, "batch": 31}).key != key
    assert Cell("train", {**RUN, "partition": "dirichlet(0.3)"}).key != key
    more = {**known["train"].defaults, "learned": 7}  # an argument that a job learns later
    changed = replace(known["train"], home="elsewhere:trained", defaults=more)
    monkeypatch.setattr(jobs, "jobs", lambda: known | {"train": changed})
    assert Cell("train", RUN).key == Cell("train", {**RUN, "learned": 7}).key == key
    assert Cell("train", {**RUN, "learned": 8}).key != key
    monkeypatch.setattr(jobs, "jobs", lambda: known | {"train": replace(changed, version="99")})
    assert Cell("train", RUN).key != key
    own = {Cell(f"{HERE}:{name}", {"number": 3}).key for name in ("square", "raises")}
    assert own == {Cell(f"{HERE}:{name}", {"number": 3.0}).key for name in ("square", "raises")}
    assert len(own) == 2


def test_runs_of_different_length_share_all_of_the_key_but_its_end():
    short, long = (Cell("train", {**RUN, "rounds": rounds}).key for rounds in (20, 350))
    assert short.partition("-")[0] == long.partition("-")[0] == Cell("train", RUN).key
    assert (short.partition("-")[2], long.partition("-")[2]) == ("20", "350")


OWN = """
import numpy
import helper
from inner.parts import scale
from . import beside

def cell(seed: int = 3) -> "Outcome":
    return helper.made(seed)
"""
IMPORTED = {"helper.py": "import deeper\n", "deeper.py": "x = 1\n", "beside.py": "", "inner/__init__.py": "",
            "inner/parts.py": "from . import side\n", "inner/side.py": ""}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    for name, text in {"own.py": OWN, **IMPORTED, "stranger.py": "y = 1\n"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_what_a_file_says_and_what_it_imports_changes_every_key_and_another_file_none(folder):
    own = f"{folder}/own.py"
    cells = [("train", {**RUN, "problem": f"{own}:made"}), ("train", {**RUN, "algorithm": f"{own}:made"})]
    cells += [("train", {**RUN, "measure": [f"{own}:made"]}), (f"{own}:cell", {"seed": 5})]
    keys = [[Cell(*cell).key for cell in cells]]
    for name in ("stranger.py", "own.py", *IMPORTED):
        (folder / name).write_text((folder / name).read_text() + "z = 7\n")
        keys.append([Cell(*cell).key for cell in cells])
        same = [one == other for one, other in zip(*keys[-2:], strict=True)]
        assert same == [name == "stranger.py"] * 4, name
    all_refused([(lambda: Cell(f"{folder / 'none.py'}:f", {}), f"{folder}/none.py")])


def test_a_changed_table_is_another_cell_and_an_unchanged_one_the_same(tmp_path):
    sheet = tmp_path / "my.csv"
    text = "x,y\n1.5,2\n0.25,3\n"
    for call in ("table({!r}, target='y')", "held_out(table(file={!r}, target='y'), share=0.3)"):
        keys = []
        for content in (text, text, text.replace("0.25", "0.75"), text):
            sheet.write_text(content)
            keys.append(Cell("train", {"problem": f"ridge({call.format(str(sheet))})", "seed": 3}).key)
        assert keys[0] == keys[1] == keys[3] != keys[2]
    file = repr(str(sheet))
    assert own_files([f"ridge(table({file}, target='y'))"]) == {str(sheet): sheet}
    assert own_files([f"tables({file})", f"ridge(table({file}", f"a table({file})", f"table(x={file})"]) == {}


def test_other_functions_are_refused_before_anything_is_imported(tmp_path, monkeypatch, refused):
    ran = tmp_path / "ran"
    for place in ("trap_module.py", "trap_package/__init__.py", "trap_package/part.py"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(f"open({str(ran)!r}, 'w')\ndef go(number): pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    functions = (
        "shutil:rmtree", "subprocess:getoutput", "os:system", "trap_module:go", "trap_package.part:go",
        "empirics.experiments.jobs.train:loaded", "square", "a b:c", ":f", "train:", "train.py", "own.py:f g",
        "own.py:a.b", "x.py:__import__('os')",
    )  # fmt: skip
    grid = tmp_path / "g.toml"
    for more in (["--status"], ["--workers", "0"]):

        def line(function, more=more):
            grid.write_text(f"job = {json.dumps(function)}\n[vary]\nnumber = [3]\n")
            return refused("sweep", grid, "--store", tmp_path / "store", *more)

        all_refused(dict.fromkeys(functions, "job path/file.py:name"), line)
    assert not ran.exists()
    assert not {"trap_module", "trap_package"} & (set(sys.modules) - before)


def test_a_function_of_a_file_must_be_made_there_and_return_outcomes(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(
        "from shutil import rmtree\nfrom empirics.experiments import Outcome\n"
        "def fine(number) -> Outcome:\n    return Outcome({'n': [number]})\n"
        "def silent(number):\n    return Outcome({'n': [number]})\n"
    )
    assert run(f"{path}:fine", {"number": 7}) == Outcome({"n": [7]})
    for name, words in (("rmtree", f"{path} 'rmtree'"), ("silent", "Outcome"), ("Outcome", f"{path} 'Outcome'")):
        all_refused([(lambda name=name: run(f"{path}:{name}", {"number": 7}), words)])


def test_naming_a_file_does_not_run_it(tmp_path, run):
    ran, path, grid = (tmp_path / name for name in ("ran", "own.py", "g.toml"))
    path.write_text(f"open({str(ran)!r}, 'w')\ndef f(number, scale=2.5, other=print) -> 'Outcome': ...\n")
    assert jobs.find_job(f"{path}:f").defaults == {"scale": 2.5}
    grid.write_text(f'job = "{path}:f"\n[vary]\nnumber = [3]\n')
    status, out, _ = run("sweep", grid, "--store", tmp_path / "store", "--status")
    assert status == 0
    assert "1 missing" in out
    assert not ran.exists()


def test_a_stored_result_is_read_without_looking_its_function_up(tmp_path, run):
    store = Store(tmp_path / "store")
    kept = store.keep(Cell(f"{HERE}:square", {"number": 3}), Outcome({"a": [5]}, {"n": 2}), 0.1)
    store.write([replace(kept, card={**kept.card, "job": "trap_module:go"})])
    status, out, _ = run("results", "--store", store.folder, "--csv")
    assert status == 0
    assert out.splitlines()[-1].endswith("n,2")
    assert "trap_module" not in sys.modules
