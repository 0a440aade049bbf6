"""What is asked of a store and is not there is named: a folder that is none, a lost card, a value that nothing has."""

import sys
from pathlib import Path

import pytest
from sweep_cells import HERE

from empirics.experiments import Cell, Store
from empirics.experiments.running import sweep
from fedbounds import main

CELLS = [Cell(f"{HERE}:square", {"number": n}) for n in (3, 5, 7, 11)]


@pytest.fixture
def store(tmp_path):
    """Four results, one of which has no numbers to offer but its failure."""
    made = Store(tmp_path / "store")
    sweep([*CELLS, Cell(f"{HERE}:raises", {"number": 13})], made, workers=0)
    return made


@pytest.fixture
def results(store, capsys):
    """Status and words of the command on that store."""

    def run(*words):
        status = main(["results", *words, "--store", str(store.folder)])
        told = capsys.readouterr()
        return status, told.out, told.err

    return run


def test_a_folder_of_other_files_is_no_store_and_an_empty_one_is_one_without_results(tmp_path, capsys):
    assert main(["results", "--store", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "no results\n"
    (tmp_path / "notes.json").write_text("{}")
    for more in ([], ["--csv"]):
        assert main(["results", "--store", str(tmp_path), *more]) == 2
        assert "is no store: it holds files, and no result" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason=f"no /proc on {sys.platform}")
def test_the_processes_of_the_machine_are_no_store(capsys):
    assert main(["results", "--store", "/proc"]) == 2
    assert "is no store" in capsys.readouterr().err


def test_a_store_of_which_only_set_aside_files_are_left_is_still_one(store, results):
    for kept in store:
        store.set_aside(kept.cell)
    assert results()[:2] == (0, "no results\n")


def test_a_table_whose_card_is_gone_is_named_wherever_one_looks(store, results, tmp_path, capsys):
    (store.folder / f"{CELLS[1].key}.json").unlink()
    told = f"{CELLS[1].key}.parquet has no {CELLS[1].key}.json that says what it is: "
    for more in ([], ["--csv"]):
        status, out, err = results(*more)
        assert status == 1
        assert told in err
        assert "11" in out
    grid = tmp_path / "g.toml"
    grid.write_text(f'job = "{HERE}:square"\n[vary]\nnumber = [3, 5, 7, 11]\n')
    words = ["sweep", str(grid), "--store", str(store.folder)]
    assert main([*words, "--verify"]) == 1
    seen = capsys.readouterr().out
    assert f"damaged: number=5: {told}" in seen
    assert "3 whole, 1 damaged" in seen
    assert main([*words, "--workers", "0"]) == 0
    assert main([*words, "--verify"]) == 0


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("number=6.5", "no result has number=6.5; the nearest are 3, 5, 7"),
        ("number=0,1", "number must be a number here; got '0,1'"),
        ("number=1/10", "number must be a number here; got '1/10'"),
        ("number==5", "number must be a number here; got '=5'"),
        ("number=1_1", "number must be a number here; got '1_1'"),
        ("number=1e400", "number must be a number here; got '1e400'"),
        ("status=don", "unknown value of status 'don'; did you mean 'done'"),
        ("quantity=nope", "unknown value of quantity 'nope'"),
    ],
)
def test_a_value_that_no_result_has_is_refused_with_the_nearest(results, word, said):
    status, out, err = results(word)
    assert (status, out) == (2, "")
    assert said in err


def test_one_column_has_one_wanted_value(results):
    status, _, err = results("number=3", "number=5")
    assert status == 2
    assert "number is given twice" in err


def test_values_that_are_there_but_never_together_are_no_mistake(results):
    assert results("number=3", "status=failed")[:2] == (0, "no results\n")
    assert results("number=3.0", "--csv")[0] == 0
