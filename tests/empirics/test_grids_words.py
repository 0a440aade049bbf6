"""A grid's words are read as the command line's are, of every cell, before the first starts; and so by --status."""

import codecs

import pytest
from sweep_cells import HERE

from empirics.errors import EmpiricsError
from empirics.experiments.checking import check_words
from empirics.experiments.grids import Grid, read_grid
from fedbounds import main

FIXED = {"problem": '"softmax(iris)"', "rounds": "2", "clients": "3", "measure": '["train_loss"]'}


@pytest.fixture
def refused(tmp_path, capsys):
    """What a sweep and its --status say alike of a training grid, which neither may start a cell of."""

    def run(vary, **fixed):
        lines = [f"{name} = {item}" for name, item in {**FIXED, **fixed}.items()]
        path = tmp_path / "g.toml"
        path.write_text("\n".join(["[fixed]", *lines, "[vary]", *(f"{n} = {item}" for n, item in vary.items())]))
        told = []
        for how in (["--workers", "0"], ["--status"], ["--verify"]):
            assert main(["sweep", str(path), "--store", str(tmp_path / "store"), *how]) == 2
            seen = capsys.readouterr()
            assert seen.out == ""
            told.append(seen.err)
        assert len(set(told)) == 1
        assert told[0].count("\n") == 1
        assert not (tmp_path / "store").exists()
        return told[0]

    return run


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("fedinit(beta=1e-400)", "of a size that"),
        ("fedinit(beta=1_0)", "plain decimal numbers; got '1_0'"),
        ("relaxed(scaffold(), beta=0x1)", "plain decimal numbers; got '0x1'"),
        ("fedavg()#x", "must be a name or a call"),
        ("nope()", "unknown algorithm 'nope'"),
        ("fedprox(0.1, 0.2)", "takes at most 1 without a name; got 2"),
    ],
)
def test_calls_of_a_grid_are_read_by_the_reader_of_the_command_line(refused, call, said):
    assert said in refused({"algorithm": f'["{call}"]', "seed": "[5]"})


@pytest.mark.parametrize(
    ("vary", "fixed", "said"),
    [
        ({"seed": "[0, true]"}, {}, "seed must be a whole number >= 0; got True"),
        ({"seed": "[5]"}, {"clients": '"four"'}, "clients must be a whole number >= 1; got 'four'"),
        ({"seed": "[5]"}, {"lr": "0.1"}, "unknown argument of train 'lr'"),
        ({"rounds": "[2, 4]"}, {"rounds": "3", "seed": "5"}, "rounds is fixed and varied"),
        ({"seed": "[5]"}, {"measure": '["train_loss", "train_loss"]'}, "train_loss is given twice"),
        ({"seed": "[5]"}, {"local_steps": "3", "local_epochs": "2"}, "local_steps or local_epochs; got both"),
        ({"seed": "[5]"}, {"problem": '"softmax(iris, regularization=0.1)"'}, "did you mean 'regularisation'"),
        ({"seed": "[5]"}, {"problem": "[3]"}, "problem must be text; got [3]"),
        ({"seed": "[5]"}, {"local_test": '"held"'}, "unknown local_test 'held'"),
    ],
)
def test_words_that_no_cell_can_have_are_refused_by_the_sweep_and_by_its_status(refused, vary, fixed, said):
    assert said in refused(vary, algorithm='"fedavg()"', **fixed)


@pytest.mark.parametrize(
    ("word", "one", "other"),
    [
        ("algorithm", "fedavg()", "fedavg"),
        ("algorithm", "fedinit(0.1)", "fedinit(beta=0.1)"),
        ("partition", "iid", "iid()"),
        ("partition", "dirichlet(0.3)", "dirichlet(alpha=0.3)"),
        ("problem", "softmax(iris)", "softmax(iris, regularisation=0.001)"),
    ],
)
def test_two_spellings_of_one_run_are_refused_by_name(word, one, other):
    same = {"problem": "softmax(iris)", "algorithm": "fedprox(0.3)", "rounds": 2, "seed": 5, "clients": 3}
    fixed = {name: item for name, item in same.items() if name != word}
    grid = Grid("g", {**fixed, "measure": ["train_loss"]}, {word: [one, other]})
    with pytest.raises(EmpiricsError) as raised:
        check_words(grid.cells())
    assert f"two would be the same run: {word} '{one}' and '{other}'" in str(raised.value)


def test_what_a_function_of_ones_own_needs_is_said_in_words(tmp_path, capsys):
    path = tmp_path / "g.toml"
    path.write_text(f'job = "{HERE}:square"\n[vary]\nsleep = [0.25]\n')
    assert main(["sweep", str(path), "--store", str(tmp_path / "s"), "--workers", "0"]) == 2
    assert "square: number must be given" in capsys.readouterr().err


def test_a_further_block_may_fix_what_the_first_varies_but_not_both_itself():
    assert Grid("g", {}, {"a": [1, 2]}, also=({"fixed": {"a": 7}},)).size == 3
    with pytest.raises(EmpiricsError, match="a is fixed and varied"):
        Grid("g", {"b": 3}, {}, also=({"fixed": {"a": 7}, "vary": {"a": [1, 2]}},))


def test_a_mark_of_byte_order_is_passed_over_as_in_other_files(tmp_path):
    path = tmp_path / "g.toml"
    path.write_bytes(codecs.BOM_UTF8 + b"[vary]\nseed = [3, 7]\n")
    assert read_grid(str(path)).size == 2


def test_the_name_of_a_grid_is_not_empty(capsys):
    assert main(["sweep", "", "--status"]) == 2
    assert "must not be empty" in capsys.readouterr().err
