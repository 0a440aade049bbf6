"""Grids that cannot be run are found before the first cell starts, whatever a file holds: one line, status 2."""

import json

import pytest
from sweep_cells import HERE

from empirics.errors import EmpiricsError
from empirics.experiments import Store
from empirics.experiments.grids import Grid
from fedbounds import main


@pytest.fixture
def refused(tmp_path, capsys):
    """What the command says of a grid with this text, which it must refuse without starting a cell."""

    def run(text, *more, path=None):
        path = path or tmp_path / "g.toml"
        if text is not None:
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
        store = tmp_path / "store"
        assert main(["sweep", str(path), "--store", str(store), *(more or ("--workers", "0"))]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert told.err.count("\n") == 1
        assert len(told.err) < 700
        assert not store.exists()
        return told.err

    return run


# ---- size ----


def test_the_size_of_a_grid_is_known_without_its_cells():
    grid = Grid(
        "g", {"a": 3}, {"b": [1, 2], "c": [4, 5, 6]}, "train", ({"vary": {"d": range(50)}}, {"fixed": {"b": 7}})
    )
    assert grid.size == 6 + 300 + 3
    huge = Grid("g", {}, {name: range(300_000) for name in "abc"}, "train")
    assert huge.size == 300_000**3


@pytest.mark.parametrize("more", [[], ["--status"], ["--verify"], ["--fresh"]])
def test_a_grid_that_is_too_large_is_refused_with_its_size_and_without_building_it(refused, monkeypatch, more):
    monkeypatch.setattr("empirics.experiments.grids.Cell", lambda *_: pytest.fail("a cell was built"))
    values = list(range(1000))
    words = "".join(f"{name} = {values}\n" for name in ("a", "b"))
    told = refused(f'[fixed]\nproblem = "softmax(digits)"\n[vary]\nseed = {values}\n{words}', *more)
    assert "has 1e+09 cells, more than the 200,000" in told


# ---- files ----


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a = " + 500 * "[" + 500 * "]", "nested too deeply"),
        ("[fixed]\na = " + 500 * "{x = " + "3" + 500 * "}", "nested too deeply"),
        ("a = " + 5000 * "9", "not a TOML file"),
        (b"a = \xff", "not a TOML file"),
        (b"\x00", "not a TOML file"),
        ("[fixed]\na = 2001-02-03\n", "must be text, a number, a list or a table"),
        ("name = 3\n[fixed]\na = 2\n", "name must be a line of text; got 3"),
        ('name = "a\\nb"\n[fixed]\na = 2\n', "name must be a line of text"),
        ("name = {a = 3}\n[fixed]\na = 2\n", "name must be a line of text"),
        (f"fixed = {list(range(9000))}\n", "fixed must be a table"),
        (f"[vary]\na = '{9000 * 'x'}'\n", "a must be a list of values"),
        (f"also = {list(range(9000))}\n[fixed]\na = 2\n", "also must be a list of tables"),
    ],
)
def test_a_file_that_holds_no_grid_is_one_line(refused, text, said):
    assert said in refused(text)


def test_an_argument_that_is_nested_too_deeply_is_one_line():
    nest = [7]
    for _ in range(5000):
        nest = [nest]
    with pytest.raises(EmpiricsError, match="nested too deeply"):
        Grid("g", {"a": nest}, {}, "train").cells()


@pytest.mark.parametrize(
    "call", ["f(" + "-" * 5000 + "1)", "f(" * 300 + ")" * 300, "f(" + "9" * 5000 + ")", "f(1e999)"]
)
def test_a_text_that_no_parser_can_read_stays_as_it_is(call):
    (cell,) = Grid("g", {"algorithm": call}, {}, "train").cells()
    assert len(cell.key) == 20


# ---- cells ----

FINE = {
    "problem": "softmax(held_out(digits))",
    "algorithm": "fedavg()",
    "rounds": 3,
    "clients": 4,
    "measure": ["test_loss"],
}


def written(fixed, vary=None):
    lines = [f"{k} = {json.dumps(v)}" for k, v in fixed.items()]
    return "\n".join(
        ["[fixed]", *lines, "[vary]", *(f"{k} = {json.dumps(v)}" for k, v in (vary or {"seed": [5]}).items())]
    )


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"algorithm": None}, "train: algorithm must be given"),
        ({"measure": None}, "train: measure must be given"),
        ({"problem": "softmax(digit)"}, "digit"),
        ({"problem": "digits"}, "a model of a data set"),
        ({"problem": "softmax(digits)"}, "no test samples"),
        ({"problem": "logistic_network(digits)"}, "logistic"),
        ({"measure": "test_loss"}, "measurement"),
        ({"measure": ["test_los"]}, "did you mean 'test_loss'"),
        ({"measure": 7}, "must be a list of measurements"),
        ({"clients": -3}, "clients"),
        ({"cohort": 9}, "cohort must be <= clients; got 9 > 4"),
        ({"cohort": 0}, "cohort must be a whole number >= 1; got 0"),
        ({"rounds": "3"}, "rounds must be a whole number >= 1"),
        ({"cohort": 100_000}, "cohort must be <="),
        ({"partition": "dirichle(1)"}, "did you mean 'dirichlet'"),
        ({"partition": "nowhere.py:mine"}, "No such file"),
        ({"stepsize": 0.1}, "stepsize"),
    ],
    ids=str,
)
def test_cells_that_cannot_run_are_found_before_the_first_starts(refused, wrong, said):
    fixed = {k: v for k, v in {**FINE, **wrong}.items() if v is not None}
    told = refused(written(fixed))
    assert told.startswith("fedbounds: no cell was started, for this one cannot run: train(")
    assert said in told.partition("): ")[2] or said in told


def test_one_wrong_value_among_many_is_found(refused):
    fixed = {k: v for k, v in FINE.items() if k != "algorithm"}
    methods = ["fedavg()", "fedprox(0.1)", "fedpro(0.1)"]
    told = refused(written(fixed, {"algorithm": methods, "seed": list(range(30))}))
    assert "did you mean 'fedprox'" in told
    assert "seed must be a whole number >= 0; got True" in refused(written(FINE, {"seed": [5, True]}))


def test_a_network_without_test_samples_is_found_without_training_it(refused, monkeypatch):
    monkeypatch.setattr("empirics.training.rounds.play", lambda *_, **__: pytest.fail("no round is trained"))
    told = refused(written({**FINE, "problem": "femnist_dnn(digits)"}))
    assert "no test samples" in told


def test_a_function_of_ones_own_is_held_against_its_arguments(refused, tmp_path):
    assert f"unknown argument of {HERE}:square 'numbr'; did you mean 'number'" in refused(
        f'job = "{HERE}:square"\n[vary]\nnumbr = [3]\n'
    )
    own = tmp_path / "own.py"
    own.write_text("import nothing_of_this_name\n")
    assert "nothing_of_this_name" in refused(f'job = "{own}:f"\n[vary]\nnumber = [3]\n')


def test_what_is_there_already_is_not_tried_again(tmp_path, monkeypatch):
    grid = tmp_path / "g.toml"
    grid.write_text(written(FINE))
    words = ["sweep", str(grid), "--store", str(tmp_path / "store"), "--workers", "0"]
    assert main(words) == 0
    monkeypatch.setattr("empirics.experiments.jobs.train.prepared", lambda **_: pytest.fail("tried"))
    assert main(words) == 0
    assert len(list(Store(tmp_path / "store"))) == 1


def test_a_grid_that_is_refused_leaves_the_store_as_it_was(tmp_path, capsys):
    grid = tmp_path / "g.toml"
    grid.write_text(written(FINE))
    words = ["sweep", str(grid), "--store", str(tmp_path / "store"), "--workers", "0"]
    assert main(words) == 0
    before = sorted(p.name for p in (tmp_path / "store").iterdir())
    grid.write_text(written(FINE, {"seed": [5], "cohort": [2, 100_000]}))
    assert main([*words, "--fresh"]) == 2
    assert "cohort must be <=" in capsys.readouterr().err
    assert before == sorted(p.name for p in (tmp_path / "store").iterdir())


@pytest.mark.slow
def test_workers_look_for_mistakes_before_they_start(refused):
    told = refused(written({**FINE, "algorithm": "fedavgg()"}), "--workers", "1")
    assert told.startswith("fedbounds: no cell was started")
    assert "did you mean 'fedavg'" in told
