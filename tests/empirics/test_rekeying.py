"""Stores of the first format: taken over under the keys of this one, nothing lost, nothing computed again."""

import hashlib
import json

import pytest

from empirics.experiments import Cell, Outcome
from empirics.experiments.canonical import canonical, text
from empirics.experiments.rekeying import rekeyed
from fedbounds import main

ARGUMENTS = {"problem": "softmax(digits)", "algorithm": "fedavg()", "rounds": 7, "seed": 3, "batch": 32}
OUTCOME = Outcome({"value": [2.5, 1 / 3]}, {"n": 4})


def first_format(store, function, arguments, version="1"):
    """A result as the first version of the store wrote it; its key."""
    said = {"function": function, "version": version, "arguments": canonical(arguments)}
    key = hashlib.sha256(text(said).encode()).hexdigest()[:20]
    kept = store.keep(Cell("train", arguments), OUTCOME, minutes=0.5)
    card = {k: v for k, v in kept.card.items() if k not in ("job", "digest")} | said | {"format": 1, "key": key}
    kept.table.rename(store.folder / f"{key}.parquet")
    (store.folder / f"{kept.card['key']}.json").unlink()
    (store.folder / f"{key}.json").write_text(json.dumps(card))
    return key


def test_results_of_the_first_format_are_taken_over_with_their_tables(store):
    old = first_format(store, "empirics.cells:train", ARGUMENTS)
    content = (store.folder / f"{old}.parquet").read_bytes()
    cell = Cell("train", ARGUMENTS)
    assert not store.has(cell)
    assert list(rekeyed(store)) == [(old, cell.key)]
    assert store.get(cell).columns() == {"value": [2.5, 1 / 3]}
    assert store.get(cell).card["minutes"] == 0.5
    assert (store.folder / f"{cell.key}.parquet").read_bytes() == content
    assert len(list(store.folder.iterdir())) == 2
    assert not list(rekeyed(store))


@pytest.mark.parametrize(
    ("function", "version"), [("mine.cells:train", "1"), ("empirics.cells:train", "0")], ids=["foreign", "version"]
)
def test_what_cannot_be_taken_over_stays(store, capsys, function, version):
    old = first_format(store, function, ARGUMENTS, version)
    before = {p.name: p.read_bytes() for p in store.folder.iterdir()}
    assert main(["results", "--rekey", "--store", str(store.folder)]) == 1
    assert capsys.readouterr().out.endswith(f"0 results taken over, left: {old}\n")
    assert {p.name: p.read_bytes() for p in store.folder.iterdir()} == before


def test_a_damaged_table_is_not_taken_over(store):
    old = first_format(store, "empirics.cells:train", ARGUMENTS)
    (store.folder / f"{old}.parquet").write_bytes(b"torn")
    assert list(rekeyed(store)) == [(old, "")]
    assert (store.folder / f"{old}.json").exists()


def test_results_of_later_rooms_are_taken_over_by_the_command(store, capsys):
    first_format(store, "paper_checks.worst_cases.cells:tightness", {"bound": "fedcog.theorem", "rounds": 2})
    assert main(["results", "--store", str(store.folder)]) == 1
    assert "fedbounds results --rekey takes it over" in capsys.readouterr().err
    assert main(["results", "--rekey", "--store", str(store.folder)]) == 0
    assert "1 results taken over" in capsys.readouterr().out
    assert store.has(Cell("tightness", {"bound": "fedcog.theorem", "rounds": 2, "clients": 2}))
