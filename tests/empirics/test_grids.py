"""Grids: their cells; those that cannot be run are found before the first starts, whatever a file holds."""

import codecs
import json

import pytest
from refusals import all_refused
from sweep_cells import HERE

from empirics.experiments import Store
from empirics.experiments.grids import Grid, read_grid
from empirics.numbers import seed_list, seeds_text
from fedbounds import main


def test_seeds_are_a_number_a_list_or_a_range():
    for seeds, listed in {
        3: [0, 1, 2],
        "3": [0, 1, 2],
        "5,7": [5, 7],
        "5..7": [5, 6, 7],
        "9..9": [9],
        "1,4..5": [1, 4, 5],
    }.items():
        assert seed_list(seeds) == listed
        assert [cell.arguments["seed"] for cell in Grid("g", {}, {"seed": seeds}).cells()] == listed
    assert (seeds_text([5, 6, 7]), seeds_text([5, 7]), seeds_text([4])) == ("5..7", "5,7", "4..4")
    wrong = {
        "": "''",
        "5..": "''",
        "7..5": "'7..5'",
        "1,7..5": "'1,7..5'",
        "5..7..9": "'7..9'",
        "5,5": "'5,5'",
        "0": "'0'",
        -2: "-2",
        True: "True",
        "0..99999": "10000",
    }
    all_refused(wrong, seed_list)


@pytest.fixture
def line(tmp_path, refused):
    """What the command says of a grid with this text, which it must refuse without starting a cell."""

    def run(text, *more):
        path, store = tmp_path / "g.toml", tmp_path / "store"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        said = refused("sweep", path, "--store", store, *(more or ("--workers", "0")))
        assert len(said) < 700
        assert not store.exists()
        return said

    return run


def test_a_grid_is_every_combination_once_and_its_size_is_known_without_its_cells():
    grid = Grid("g", {"rounds": 5}, {"a": [1, 2, 2.0], "b": ["x", "y"]}, f"{HERE}:square")
    assert [c.arguments for c in grid.cells()] == [{"a": a, "b": b, "rounds": 5} for a in (1, 2) for b in ("x", "y")]
    also = ({"vary": {"d": range(50)}}, {"fixed": {"b": 7}})
    assert Grid("g", {"a": 3}, {"b": [1, 2], "c": [4, 5, 6]}, "train", also).size == 6 + 300 + 3
    assert Grid("g", {}, {name: range(300_000) for name in "abc"}, "train").size == 300_000**3
    assert Grid("g", {}, {"a": [1, 2]}, also=({"fixed": {"a": 7}},)).size == 3


def test_further_blocks_override_what_they_name():
    also = ({"fixed": {"b": 7}}, {"vary": {"a": [9]}, "job": f"{HERE}:raises"})
    grid = Grid("g", {"c": 1}, {"a": [1], "b": [2, 3]}, f"{HERE}:square", also)
    found = [(c.job.partition(":")[2], c.arguments["a"], c.arguments["b"]) for c in grid.cells()]
    assert found == [("square", 1, 2), ("square", 1, 3), ("square", 1, 7), ("raises", 9, 2), ("raises", 9, 3)]


def test_a_toml_file_and_a_python_file_make_grids(tmp_path):
    text = 'name = "mine"\n[vary]\nnumber = [1, 2]\n[[also]]\nfixed.number = 5\n'
    (tmp_path / "g.toml").write_bytes(codecs.BOM_UTF8 + text.encode())
    assert [c.arguments["number"] for c in read_grid(str(tmp_path / "g.toml")).cells()] == [1, 2, 5]
    own = "from empirics.experiments.grids import Grid\nown = Grid('own', vary={'number': [4]})\n"
    (tmp_path / "g.py").write_text(own)
    assert read_grid(f"{tmp_path / 'g.py'}:own").vary == {"number": [4]}


def test_a_grid_that_is_too_large_is_refused_with_its_size_and_without_building_it(line, monkeypatch):
    monkeypatch.setattr("empirics.experiments.grids.Cell", lambda *_: pytest.fail("a cell was built"))
    values = list(range(1000))
    words = "".join(f"{name} = {values}\n" for name in ("a", "b"))
    text = f'[fixed]\nproblem = "softmax(digits)"\n[vary]\nseed = {values}\n{words}'
    ways = ("--workers=0", "--status", "--fresh")
    all_refused(dict.fromkeys(ways, "1e+09 200,000"), lambda way: line(text, way))


FIXED = "[fixed]\na = 2\n"
FILES = {
    "a = " + 500 * "[" + 500 * "]": "deeply",
    b"a = \xff": "TOML",
    "[vary": "TOML",
    "[fixed]\na = 2001-02-03\n": "text number list table",
    f"name = 3\n{FIXED}": "name 3",
    "[vari]\na = [1]\n": "'vari' 'vary'",
    "name = 'x'\n": "[fixed] [vary]",
    "vary = 3\n": "vary table 3",
    "[vary]\na = 3\n": "a list 3",
    "[vary]\na = [nan]\n": "finite nan",
    "[vary]\nstep_size = [1e-400, 0.1]\n": "TOML",
    f"job = 3\n{FIXED}": "job path/file.py:name 3",
    f"also = [7]\n{FIXED}": "also 7",
    f"[[also]]\nfixed = 3\n{FIXED}": "fixed table 3",
}


def test_a_file_that_holds_no_grid_is_one_line(line, refused):
    all_refused(FILES, line)
    all_refused({"": "empty", "none.toml": "none.toml"}, lambda name: refused("sweep", name, "--status"))
    nest = [7]
    for _ in range(5000):
        nest = [nest]
    all_refused(
        [
            (lambda: Grid("g", {"a": nest}, {}, "train").cells(), "deeply"),
            (lambda: Grid("g", {"b": 3}, {}, also=({"fixed": {"a": 7}, "vary": {"a": [1, 2]}},)), "'g' a"),
        ]
    )


FINE = {
    "problem": "softmax(held_out(digits))",
    "algorithm": "fedavg()",
    "rounds": 3,
    "clients": 4,
    "measure": ["test_loss"],
}


def written(changes, vary=None):
    """The fine grid with these changes, where None leaves a word out."""
    fixed = {k: v for k, v in {**FINE, **changes}.items() if v is not None}
    lines = [f"{k} = {json.dumps(v)}" for k, v in fixed.items()]
    varied = [f"{k} = {json.dumps(v)}" for k, v in (vary or {"seed": [5]}).items()]
    return "\n".join(["[fixed]", *lines, "[vary]", *varied])


def calls(*texts):
    return {"algorithm": None}, {"algorithm": [*texts], "seed": [5]}


WORDS = [
    (calls("fedinit(beta=1e-400)"), "'1e-400'"),
    (calls("fedavg()", "fedprox(0.1)", "fedpro(0.1)"), "'fedpro' 'fedprox'"),
    (({}, {"seed": [0, True]}), "seed 0 True"),
    (({"clients": "four"},), "clients 1 'four'"),
    (({"lr": 0.1},), "train 'lr'"),
    (({"rounds": 3}, {"rounds": [2, 4], "seed": [5]}), "rounds"),
    (({"measure": ["train_loss", "train_loss"]},), "train_loss twice"),
    (({"local_steps": 3, "local_epochs": 2},), "local_steps local_epochs"),
    (({"problem": "softmax(iris, regularization=0.1)"},), "'regularization' 'regularisation'"),
    (({"local_test": "held"},), "local_test 'held'"),
    (({"measure": None},), "train measure given"),
]
"""What no cell can have: refused by --status as well."""
TRIED = {
    "problem": {
        "softmax(digit)": "'digit'",
        "softmax(digits)": "test samples",
        "logistic_network(digits)": "'logistic_network'",
    },
    "measure": {"test_loss": "measurements", "test_los": "measurements", 7: "measurements 7"},
    "clients": {-3: "clients 1 -3"},
    "cohort": {9: "cohort clients 9 4", 0: "cohort 1 0"},
    "rounds": {"3": "rounds 1 '3'"},
    "partition": {"dirichle(1)": "'dirichle' 'dirichlet'", "nowhere.py:mine": "nowhere.py"},
    "stepsize": {0.1: "'stepsize' 'step_size'"},
}
"""What is found by trying a cell."""


def test_cells_that_cannot_run_are_found_before_the_first_starts_by_a_sweep_and_by_its_status(line):
    def everywhere(case):
        said = {line(written(*case), *how) for how in (["--workers", "0"], ["--status"])}
        assert len(said) == 1
        return said.pop()

    all_refused(WORDS, everywhere)
    for word, values in TRIED.items():
        all_refused(values, lambda value, word=word: line(written({word: value})))
    all_refused({"test_los": "'test_loss'"}, lambda name: line(written({"measure": [name]})))
    for wrong in ("by_group", "pachinko"):  # one value among many
        grid = written({}, {"seed": [5, 7], "partition": ["iid", wrong]})
        all_refused({grid: f"partition={wrong}"}, line)


def test_a_function_of_ones_own_is_compared_with_its_arguments(line, tmp_path):
    own = tmp_path / "own.py"
    own.write_text("import nothing_of_this_name\n")
    jobs = {
        f'job = "{HERE}:square"\n[vary]\nnumbr = [3]\n': f"{HERE}:square 'numbr' 'number'",
        f'job = "{HERE}:square"\n[vary]\nsleep = [0.25]\n': f"{HERE}:square number",
        f'job = "{own}:f"\n[vary]\nnumber = [3]\n': "nothing_of_this_name",
    }
    all_refused(jobs, line)


def test_what_is_there_is_not_tried_again_and_a_grid_that_is_refused_leaves_it(tmp_path, monkeypatch, capsys):
    grid, store = tmp_path / "g.toml", tmp_path / "store"
    grid.write_text(written({}))
    words = ["sweep", str(grid), "--store", str(store), "--workers", "0"]
    assert main(words) == 0
    before = Store(store).file.read_bytes()
    with monkeypatch.context() as later:
        later.setattr("empirics.experiments.jobs.train.prepared", lambda **_: pytest.fail("tried"))
        assert main(words) == 0
    assert len(list(Store(store))) == 1
    grid.write_text(written({}, {"seed": [5], "cohort": [2, 100_000]}))
    assert main([*words, "--fresh"]) == 2
    assert "cohort" in capsys.readouterr().err
    assert before == Store(store).file.read_bytes()
