"""What every figure and table of the catalogue promises."""

import json
from importlib import import_module

import pytest

from bounds.papers import PAPERS
from empirics.experiments import Cell, Store
from fedbounds import main
from figures.artefact import Artefact, SCALES
from figures.catalogue import artefact, chosen, FILES, NAMES
from figures.making import budget, cells, make
from figures.writing import PICTURES

CORES, LAPTOP, OVERNIGHT = 2, 60, 600
"""Minutes that the whole set may take."""


@pytest.mark.parametrize("name", NAMES)
def test_it_is_declared_and_its_runs_are_cells_at_every_scale(name):
    made = artefact(name)
    assert isinstance(made, Artefact)
    assert made.name == name
    assert (made.draw is None) == name.partition(".")[2].startswith("table")
    assert (made.source == "") == (made.paper == "ours")
    for scale in SCALES:
        assert all(isinstance(c, Cell) for c in made.cells(scale))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_without_a_single_run_it_still_says_what_it_is(name, tmp_path):
    made = artefact(name)
    paths = next(make([made], "smoke", Store(tmp_path / "none"), tmp_path))
    assert {p.suffix for p in paths} >= ({*PICTURES} if made.draw else {".md", ".tex"}) | {".csv", ".json"}
    card = json.loads((tmp_path / f"{name}.json").read_text())
    assert card["caption"]
    assert card["title"]
    assert not [j for j in card["conclusions"] if j["verdict"] != "not decidable at this scale"] or not made.cells(
        "smoke"
    )


def test_the_whole_set_keeps_to_its_time_by_the_written_budgets():
    everything = chosen(["all"])
    for scale, minutes in (("laptop", LAPTOP), ("overnight", OVERNIGHT)):
        assert budget(everything, scale, cells(everything, scale)) <= CORES * minutes


@pytest.mark.parametrize("paper", FILES)
def test_every_paper_has_one_grid_and_shares_its_runs(paper):
    grid = import_module(f"figures.{paper}.grid")
    assert set(grid.PLANS) == set(SCALES)


def test_names_are_those_of_papers_or_ours():
    assert set(FILES) == {*PAPERS, "ours"}


@pytest.mark.slow
def test_everything_runs_end_to_end_at_the_smallest_scale(tmp_path, capsys):
    arguments = ["--scale", "smoke", "--store", str(tmp_path / "store"), "-o", str(tmp_path / "out")]
    assert main(["figure", "all", *arguments]) == 0
    for name in NAMES:
        runs = json.loads((tmp_path / "out" / f"{name}.json").read_text())["runs"]
        assert runs["there"] == runs["wanted"], name
    first = {p.name: p.read_bytes() for p in (tmp_path / "out").iterdir()}
    again = ["--scale", "smoke", "--store", str(tmp_path / "store"), "-o", str(tmp_path / "again")]
    assert main(["figure", "all", *again]) == 0
    assert "0 to do" in capsys.readouterr().out
    assert first == {p.name: p.read_bytes() for p in (tmp_path / "again").iterdir()}
