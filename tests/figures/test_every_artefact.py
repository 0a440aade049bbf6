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
from figures.catalogue import artefact, BY_PAPER, NAMES, select
from figures.making import minutes, planned
from figures.runs import Runs
from figures.scale import SCALES
from figures.writing import PICTURES

CORES, MINUTES = 2, {"smoke": 10, "laptop": 88, "overnight": 6000}
"""That the whole set may take."""
HERE = ("cifar10", "mnist", "fashion_mnist", "omniglot", "sent140_users", "shakespeare")
LAPTOP = {"fedals": 22, "fedinit": 40, "decaying_k": 28, "fedcog": 76, "ours": 11}
"""Minutes of one core that a paper's figures may take there."""


ASKED = Artefact.cells


@cache
def of(name, scale):
    """The runs of a figure or table, with the data sets of a machine that has had a few of them downloaded."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(substitutes, "present", lambda name: name in HERE)
        listed = ASKED(artefact(name), scale)
    assert all(isinstance(cell, Cell) for cell in listed)
    return {cell.key: cell for cell in listed}


@cases("name", NAMES)
def test_it_is_declared_and_its_runs_are_cells_at_every_scale(name):
    made = artefact(name)
    assert isinstance(made, Artefact)
    assert made.name == name
    assert (made.draw is None) == name.partition(".")[2].startswith("table")
    assert (made.source == "") == (made.paper == "ours")
    for scale in SCALES:
        assert of(name, scale).keys() <= of(made.pack or name, scale).keys()


def test_without_data_only_what_needs_none_is_run_and_each_says_what_is_missing(monkeypatch, store):
    monkeypatch.setattr(substitutes, "present", lambda name: False)
    for made in select([paper for paper in BY_PAPER if paper != "ours"]):
        if made.name != "decaying_k.table_2":  # the networks alone are timed
            assert not made.cells("laptop")
        shown = made.data(Runs(store), "laptop")
        assert shown.unavailable or shown.sheet
        assert set(verdicts(shown)) <= {OPEN} or not made.cells("smoke")


def test_the_whole_set_and_every_paper_keep_to_their_time_by_the_written_budgets(monkeypatch):
    monkeypatch.setattr(Artefact, "cells", lambda made, scale: of(made.name, scale).values())
    for scale, most in MINUTES.items():
        assert sum(minutes(planned(select(["all"]), scale), scale).values()) <= CORES * most, scale
    for paper, most in LAPTOP.items():
        cost = minutes(planned(select([paper]), "laptop"), "laptop")
        assert len(cost) > 20, paper
        assert 0.1 * most < sum(cost.values()) <= most, paper


def test_names_are_those_of_papers_or_ours():
    assert set(BY_PAPER) == set(LAPTOP) == {*(key for key, paper in PAPERS.items() if not paper.works), "ours"}


@pytest.mark.slow
def test_everything_runs_end_to_end_at_the_smallest_scale(tmp_path, capsys, monkeypatch):
    """A picture of every paper is drawn in all formats and drawn again; the others are drawn as SVG."""
    once, store = writing.picture, str(tmp_path / "store")
    firsts = [next(n for n in NAMES if n.startswith(f"{paper}.") and artefact(n).draw) for paper in BY_PAPER]

    def picture(made, *more):
        with monkeypatch.context() as patched:
            patched.setattr(writing, "PICTURES", PICTURES if made.name in firsts else (".svg",))
            return once(made, *more)

    def files(folder, *names):
        assert main(["figure", *names, "--scale", "smoke", "--store", store, "-o", str(tmp_path / folder)]) == 0
        return {p.name: p.read_bytes() for p in (tmp_path / folder).rglob("*.*")}

    monkeypatch.setattr(writing, "picture", picture)
    found = files("all", "all")
    for name in NAMES:
        runs = json.loads(found[f"{name}.json"])["runs"]
        assert runs["there"] == runs["wanted"], name
    assert {f"{name}{suffix}" for name in firsts for suffix in PICTURES} <= found.keys()
    assert all(len(content) > 1000 for name, content in found.items() if name.endswith(PICTURES))
    capsys.readouterr()
    again = files("again", *firsts)
    assert "0 to do" in capsys.readouterr().out
    assert again.pop("REPORT.md") != found["REPORT.md"]
    assert again == {name: found[name] for name in again}
