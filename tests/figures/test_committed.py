"""The laptop scale's results that lie in the repository: whole, small, from clean code, and told in the report."""

import csv
import json
from pathlib import Path

import pytest
from loops import each

from empirics.experiments import Store
from empirics.experiments.packing import SUFFIX
from figures import making, report, stand_ins
from figures.catalogue import artefact, NAMES
from figures.ran import COLUMNS
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


@each(NAMES, lambda name: {"name": name})
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
        keys.setdefault(artefact(name).packed_in, set()).update(card(name)["keys"])
    there = {path.name.removesuffix(SUFFIX) for path in (FOLDER / making.RUNS).iterdir()}
    assert there == {pack for pack, found in keys.items() if found}
    for pack in there:
        packed = [kept.card["key"] for kept in making.kept_with_code("laptop", pack)]
        assert sorted(packed) == sorted(keys[pack])


@pytest.mark.slow
def test_packed_runs_are_those_of_the_card_and_draw_its_numbers(tmp_path, monkeypatch):
    """Without any data set, from an empty store: what is drawn is what lies there."""
    monkeypatch.setattr(stand_ins, "present", lambda name: False)
    wrong = []
    with stand_ins.counted_as_here(making.sets_of_kept("laptop")):
        for name in NAMES:
            made, kept, store = artefact(name), card(name), Store(tmp_path / name)
            if not kept["keys"]:
                continue
            wrong += [] if making.resume([made], "laptop", store) == kept["runs"]["wanted"] else [f"{name}: runs"]
            shown = made.data(Runs(store), "laptop")
            verdicts = [str(judged.verdict) for judged in shown.conclusions]
            wrong += [] if verdicts == [j["verdict"] for j in kept["conclusions"]] else [f"{name}: verdicts"]
            wrong += [] if shown.caption == kept["caption"] else [f"{name}: caption"]
    assert wrong == []


def test_the_report_is_made_of_these_cards():
    assert (ROOM / "REPORT.md").read_text(encoding="utf-8") == making.committed()


def test_no_conclusion_is_drawn_from_a_single_seed():
    drawn = [n for n in NAMES for j in card(n)["conclusions"] if j["verdict"] != "undecided"]
    assert drawn
    assert not [n for n in drawn if n not in TIMED and card(n)["seeds"] and len(card(n)["seeds"]) < 2]
