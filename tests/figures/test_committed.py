"""The laptop scale's results that lie in the repository: whole, small, from clean code, and told in the report."""

import csv
import json
from pathlib import Path

import pytest
from figure_toys import MemoryStore
from loops import cases

from empirics.experiments.store import SUFFIX
from figures import making, report, substitutes, writing
from figures.catalogue import artefact, NAMES
from figures.run_description import COLUMNS, flatten
from figures.runs import Runs
from figures.writing import CAPTIONS

ROOM = Path(report.__file__).resolve().parent
FOLDER = ROOM / "laptop"
DERIVED = (".pdf", ".png", ".tex", CAPTIONS[0])
"""Endings of what is made of the other files where it is wanted, and not kept."""
LARGEST = 700_000
"""Bytes of one file: the maps of vacuity have 6,600 points."""
TIMED = {"fedinit.table_10", "fedcog.table_11"}
"""Seconds, taken again and again within one run: no seed changes them."""


def card(name):
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def empty(name):
    """Whether a figure has nothing to show and its card says why."""
    return bool(artefact(name).draw and card(name)["unavailable"])


@cases("name", NAMES)
def test_every_artefact_is_there_with_its_numbers_and_its_card(name):
    shown = card(name)
    assert shown["scale"] == "laptop"
    if not empty(name):
        with (FOLDER / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            head, *rows = csv.reader(file)
        assert rows
        assert head[-len(COLUMNS) :] == list(COLUMNS)
    assert shown["runs"]["there"] == shown["runs"]["wanted"]
    assert not [commit for commit in shown["commits"] if "dirty" in commit]


def test_nothing_else_lies_there_and_nothing_is_large():
    picture, table = (".csv", ".json", ".svg"), (".csv", ".json", ".md")
    kinds = {name: (".json",) if empty(name) else picture if artefact(name).draw else table for name in NAMES}
    wanted = {f"{name}{kind}" for name, found in kinds.items() for kind in found}
    assert {p.name for p in FOLDER.iterdir() if p.is_file() and not p.name.endswith(DERIVED)} == wanted
    assert not {p.name: p.stat().st_size for p in FOLDER.rglob("*.*") if p.stat().st_size > LARGEST}


def test_every_pack_holds_the_runs_of_those_that_name_it_once():
    keys = {}
    for name in NAMES:
        keys.setdefault(artefact(name).pack or name, set()).update(card(name)["keys"])
    there = {path.name.removesuffix(SUFFIX) for path in (FOLDER / making.RUNS).iterdir()}
    assert there == {pack for pack, found in keys.items() if found}
    for pack in there:
        packed = [kept.card["key"] for kept in making.committed_results("laptop", pack)]
        assert sorted(packed) == sorted(keys[pack])


@pytest.fixture(scope="module")
def runs():
    """The committed runs alone, and no data set."""
    store = MemoryStore()
    with pytest.MonkeyPatch.context() as patched, substitutes.assume_present(making.committed_data_sets("laptop")):
        patched.setattr(substitutes, "present", lambda name: False)
        making.copy_committed_runs(making.planned([artefact(name) for name in NAMES], "laptop"), "laptop", store)
        yield Runs(store)


def as_committed(name, runs, folder, wanted=str):
    """Rows, table, verdicts, reasons and guards of the runs of the card are those that lie there."""
    made, kept = artefact(name), card(name)
    assert sum(runs.result(cell) is not None for cell in made.cells("laptop")) == kept["runs"]["wanted"]
    shown = made.data(runs, "laptop")
    made_card = json.loads(json.dumps(writing.make_card(made, shown, "laptop", [], 0)))
    for word in ("title", "source", "kind", "caption", "unavailable", "ran", "agreement", "findings"):
        assert made_card[word] == kept[word], word
    if not empty(name):
        writing._csv(flatten(shown.rows), folder / "rows.csv")
        rows, committed = (
            list(csv.reader(path.read_text("utf-8").splitlines()))
            for path in (folder / "rows.csv", FOLDER / f"{name}.csv")
        )
        assert rows == [list(map(wanted, row)) for row in committed]
    if made.draw is None:
        assert writing.markdown(made, shown) == (FOLDER / f"{name}.md").read_text("utf-8")


SLOW = ("ours.rates",)
"""What is not drawn from runs, but certified anew."""


@cases("name", [name for name in NAMES if name not in SLOW])
def test_committed_runs_give_the_committed_numbers_verdicts_and_reasons(name, runs, tmp_path):
    as_committed(name, runs, tmp_path)


class Solved(str):
    """A cell that a solver may have found: whether it certifies a contraction is not sure to more than about 1e-5."""

    __hash__ = str.__hash__

    def __eq__(self, found):
        try:
            return float(found) == pytest.approx(float(self), rel=5e-5)
        except ValueError:
            return str(self) == found


@pytest.mark.slow
@cases("name", SLOW)
def test_what_is_computed_anew_gives_the_committed_numbers_too(name, runs, tmp_path):
    as_committed(name, runs, tmp_path, Solved)


def test_the_report_is_made_of_these_cards():
    assert (ROOM / "REPORT.md").read_text(encoding="utf-8") == making.committed_report()


def test_no_finding_is_judged_by_a_single_seed():
    drawn = [n for n in NAMES for j in card(n)["findings"] if j["verdict"] != "undecided"]
    assert drawn
    assert not [n for n in drawn if n not in TIMED and card(n)["seeds"] and len(card(n)["seeds"]) < 2]
