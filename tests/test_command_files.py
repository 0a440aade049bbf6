"""Files that a verb writes: none that it reads, none of other people, and all of that is found out before the work."""

import json

import pytest

import fedbounds

GAP = ["smoothness=1.1", "client_weight=.3,.7", "local_gap=0.03"]
PLOT = ["plot", "fedals.one_round", "x=strong_convexity=0.1:0.3:3", *GAP]


@pytest.fixture
def refused(capsys, monkeypatch, tmp_path):
    """The one line of a command that is refused, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def command(*words):
        assert fedbounds.main([str(w) for w in words]) == 2
        err = capsys.readouterr().err
        assert err.count("\n") == 1
        return err

    return command


def test_a_picture_whose_numbers_would_replace_a_table_of_somebody_is_refused(refused, tmp_path):
    log = "round,train_loss\n1,0.7\n"
    (tmp_path / "runs.csv").write_text(log)
    assert "runs.csv would be replaced, and is no file of this verb" in refused(
        *PLOT, "non_iidness=0.01", "-o", "runs.svg"
    )
    assert (tmp_path / "runs.csv").read_text() == log
    for _ in range(2):  # its own is made again
        assert fedbounds.main([*PLOT, "non_iidness=0.01", "-o", "gap.svg"]) == 0


def test_a_file_that_is_read_is_refused_as_a_place_to_write_before_the_work(refused, tmp_path, monkeypatch):
    monkeypatch.setattr("figures.curve_data.grid", lambda *_: pytest.fail("refused after the work"))
    given = json.dumps({"non_iidness": 0.01})
    (tmp_path / "gap.svg").write_text(given)
    assert "gap.svg is what this command reads" in refused(*PLOT, "@gap.svg", "-o", "gap.svg")
    assert (tmp_path / "gap.svg").read_text() == given


@pytest.mark.parametrize(
    ("words", "right"),
    [
        (["explore", "fedals.one_round", "-o", "runs.csv"], "runs.html"),
        (["verdict", "fedcog", "-o", "other.py"], "other.md"),
        (["verdict", "fedcog", "--erratum", "-o", "fedcog.md"], "fedcog.tex"),
    ],
)
def test_a_name_that_says_something_else_is_refused(refused, words, right):
    assert refused(*words).endswith(f"; got {words[-1]}: call it {right}\n")


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["figure", "fedinit.table_6", "--scale", "smoke", "--no-sweep"], "REPORT.md"),
        (["bundle", "--scale", "smoke"], "README.md"),
        (["bundle", "--scale", "smoke"], "references.bib"),
        (["bundle", "--scale", "smoke"], "bounds.tex"),
    ],
)
def test_a_folder_that_holds_a_file_of_somebody_is_refused(refused, tmp_path, words, name):
    (tmp_path / "store").mkdir()
    (tmp_path / name).write_text("mine")
    assert f"{name} would be replaced, and is no file of this verb" in refused(*words, "--store", "store", "-o", ".")
    assert (tmp_path / name).read_text() == "mine"
