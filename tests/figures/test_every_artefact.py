"""What every figure and table of the catalogue promises."""

import json
from functools import cache

import pytest
from figure_toys import OPEN, verdicts
from loops import cases

from bounds.papers import PAPERS
from empirics.experiments import Cell
from fedbounds import main
from figures import substitutes, writing
from figures.artefact import Artefact
from figures.catalogue import artefact, chosen, FILES, NAMES
from figures.making import budget
from figures.runs import Runs
from figures.scale import SCALES
from figures.writing import PICTURES

CORES, MINUTES = 2, {"smoke": 10, "laptop": 88, "overnight": 6000}
"""That the whole set may take."""
HERE = ("cifar10", "mnist", "fashion_mnist", "omniglot", "sent140_users", "shakespeare")
LAPTOP = {"fedals": 22, "fedinit": 40, "decaying_k": 28, "fedcog": 76, "ours": 11}
"""Minutes of one core that a paper's figures may take there."""


@cache
def of(name, scale):
    """The runs of a figure or table, with the data sets of a machine that has had a few of them downloaded."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(substitutes, "present", lambda name: name in HERE)
        found = artefact(name).cells(scale)
    assert all(isinstance(cell, Cell) for cell in found)
    return {cell.key: cell for cell in found}


@cases("name", NAMES)
def test_it_is_declared_and_its_runs_are_cells_at_every_scale(name):
    made = artefact(name)
    assert isinstance(made, Artefact)
    assert made.name == name
    assert (made.draw is None) == name.partition(".")[2].startswith("table")
    assert (made.source == "") == (made.paper == "ours")
    for scale in SCALES:
        assert of(name, scale).keys() <= of(made.packed_in, scale).keys()


def test_without_data_only_what_needs_none_is_run_and_each_says_what_is_missing(monkeypatch, store):
    monkeypatch.setattr(substitutes, "present", lambda name: False)
    for made in chosen([paper for paper in FILES if paper != "ours"]):
        if made.name != "decaying_k.table_2":  # the networks alone are timed
            assert not made.cells("laptop")
        shown = made.data(Runs(store), "laptop")
        assert shown.unavailable or shown.sheet
        assert set(verdicts(shown)) <= {OPEN} or not made.cells("smoke")


def together(names, scale):
    return list({key: cell for name in names for key, cell in of(name, scale).items()}.values())


def test_the_whole_set_and_every_paper_keep_to_their_time_by_the_written_budgets(monkeypatch):
    monkeypatch.setattr(substitutes, "present", lambda name: name in HERE)
    for scale, minutes in MINUTES.items():
        assert budget(chosen(["all"]), scale, together(NAMES, scale)) <= CORES * minutes, scale
    assert f" {MINUTES['laptop']} minutes" in SCALES["laptop"]
    for paper, most in LAPTOP.items():
        made = chosen([paper])
        found = together([one.name for one in made], "laptop")
        assert len(found) > 20, paper
        assert 0.1 * most < budget(made, "laptop", found) <= most, paper


def test_names_are_those_of_papers_or_ours():
    assert set(FILES) == set(LAPTOP) == {*(key for key, paper in PAPERS.items() if not paper.works), "ours"}


@pytest.mark.slow
def test_everything_runs_end_to_end_at_the_smallest_scale(tmp_path, capsys, monkeypatch):
    arguments = ["--scale", "smoke", "--store", str(tmp_path / "store"), "-o", str(tmp_path / "out")]
    assert main(["figure", "all", *arguments]) == 0
    for name in NAMES:
        runs = json.loads((tmp_path / "out" / f"{name}.json").read_text())["runs"]
        assert runs["there"] == runs["wanted"], name
    first = {p.name: p.read_bytes() for p in (tmp_path / "out").rglob("*.*")}
    assert all(len(content) > 1000 for name, content in first.items() if name.endswith((".svg", ".pdf", ".png")))
    first_of = [next(n for n in NAMES if n.startswith(paper) and f"{n}.svg" in first) for paper in FILES]
    once = writing.picture
    monkeypatch.setattr(writing, "picture", lambda made, *more: once(made, *more) if made.name in first_of else [])
    again = ["--scale", "smoke", "--store", str(tmp_path / "store"), "-o", str(tmp_path / "again")]
    assert main(["figure", "all", *again]) == 0
    assert "0 to do" in capsys.readouterr().out
    drawn_once = {f"{n}{suffix}" for n in NAMES if n not in first_of for suffix in (*PICTURES, *writing.CAPTIONS)}
    second = {p.name: p.read_bytes() for p in (tmp_path / "again").rglob("*.*")}
    assert second == {name: content for name, content in first.items() if name not in drawn_once}
