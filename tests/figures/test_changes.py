"""Figures with other seeds and arguments: which runs change, what says so, what is refused; and what would run."""

import csv
import json
from pathlib import Path

import pytest
from figure_toys import keep

from bounds.showing.tables import aligned
from empirics.experiments import Store
from figures.catalogue import artefact, NAMES
from figures.changes import apply_to_plans, Changes
from figures.runs import Runs
from figures.scale import plans_of

NAME = "fedinit.table_3"
SMOKE = ["figure", NAME, "--scale", "smoke"]
TWO = Changes(range(3), {"step_size": 0.07, "cohort": 3})


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEDBOUNDS_STORE", "store")


def test_every_figure_can_be_made_with_other_arguments(store):
    arguments = {"partition": "shards(2)", "step_size": 0.3, "rounds": 7, "every": 3, "clients": 9, "cohort": 3}
    for name in NAMES:
        with apply_to_plans(Changes(range(3), arguments), "smoke"):
            shown = artefact(name).data(Runs(store), "smoke")
        assert shown.caption or shown.unavailable, name


def test_a_changed_figure_says_so_everywhere_and_lies_in_a_folder_of_its_own(run, refused):
    store, words = Store(Path("store")), "seeds=3, step_size=0.07, cohort=3"
    with apply_to_plans(TWO, "smoke"):
        for i, cell in enumerate(artefact(NAME).cells("smoke")):
            keep(store, cell, {"test_accuracy": [0.1, 0.3 + 0.01 * i], "active_divergence": [0.1, 0.2 + 0.03 * i]})
    status, out, err = run(*SMOKE, "--seeds", "3", "--set", "step_size=0.07", "cohort=3", "--workers", "0")
    assert (status, err, out.startswith("27 runs, 0 to do")) == (0, "", True)
    folder = Path("figures-smoke-seeds=3-step_size=0.07-cohort=3")
    card = json.loads((folder / f"{NAME}.json").read_text())
    assert (card["changed"], card["seeds"]) == (words, [0, 1, 2])
    assert "step size 0.07" in card["caption"]
    for text in (card["caption"], *((folder / name).read_text() for name in (f"{NAME}.md", "REPORT.md"))):
        assert words in text
    with (folder / f"{NAME}.csv").open(newline="") as file:
        assert {row["changed"] for row in csv.DictReader(file)} == {words}
    for more, there in ((["--seeds", "4"], "seeds=4"), ([], words)):
        said = refused(*SMOKE, *more, "--no-sweep", "-o", folder)
        assert (there in said, f"-o {folder} " in said) == (True, True)
    for cell in artefact(NAME).cells("smoke"):
        keep(store, cell, {"test_accuracy": [0.1, 0.3], "active_divergence": [0.1, 0.2]})
    assert run(*SMOKE, "--no-sweep", "-o", "plain")[0] == 0
    assert "changed" not in json.loads(Path(f"plain/{NAME}.json").read_text())
    assert "seeds=4" in refused(*SMOKE, "--seeds", "4", "--no-sweep", "-o", "plain")


REFUSED = (
    ("--set stepsize=0.05", "'step_size'"),
    ("--set step_size=-0.1", "-0.1"),
    ("--set cohort=50 --dry-run", "50 > 20"),
    ("--set partition=dirichle(1)", "'dirichlet'"),
    ("--set algorithm=fedavg()", "algorithm"),
    ("--set seed=3", "--seeds"),
    ("--set local_epochs=3", "local_steps"),
    ("--set step_size=", "step_size"),
    ("--set batch=3 batch=5", "batch"),
    ("--seeds 0", "10000"),
    ("--seeds 5,5", "5,5"),
    ("--seeds 5..3", "5..3"),
    ("--seeds 5..x", "'x'"),
    ("--seeds 5,-1", "-1"),
    ("--seeds 2", "seeds=2"),
    ("--dry-run --no-sweep", "--no-sweep"),
)
COMPARED = (
    ("fedinit.table_2", "partition=iid", "'dirichlet_replaced(0.6)', 'dirichlet_replaced(0.1)'"),
    ("fedinit.figure_1a", "local_steps=3", "1, 3, 6"),
)
"""What a figure compares stays as it is."""


def test_what_cannot_be_changed_is_one_line_and_nothing_is_written(refused):
    for words, named in REFUSED:
        assert named in refused(*SMOKE, *words.split()), words
    for name, change, values in COMPARED:
        assert values in refused("figure", name, "--scale", "smoke", "--set", change, "--dry-run")
    assert not list(Path().iterdir())


def test_a_dry_run_says_what_is_there_and_what_is_left_and_writes_nothing(run):
    cells, store = artefact(NAME).cells("smoke"), Store(Path("store"))
    for cell in cells[:3]:
        keep(store, cell, {"test_accuracy": [0.1, 0.3]})
    files = sorted(store.folder.iterdir())
    status, out, err = run(*SMOKE, "--dry-run")
    assert (status, err) == (0, "")
    first, shared, *table = out.splitlines()
    budget = plans_of("fedinit")["smoke"].budget
    each = budget.minutes(cells[0])
    left = f"{len(cells) - 3} to do, at most {(len(cells) - 3) * each:.2g} minutes of one core"
    assert first == f"{NAME} (smoke): {len(cells)} runs, 3 in store, {left}"
    assert "step_size=0.1," in shared
    kinds = list(dict.fromkeys((c.arguments["algorithm"], c.arguments["partition"]) for c in cells))
    there = [2, 1, *[0] * (len(kinds) - 2)]
    rows = [[*kind, "0..1", f"{n} of 2", f"{(2 - n) * each:.2g}"] for kind, n in zip(kinds, there, strict=True)]
    assert table == [f"  {line}" for line in aligned(rows, ["algorithm", "partition", "seeds", "there", "minutes"])]
    assert sorted(store.folder.iterdir()) == files
    assert list(Path().iterdir()) == [Path("store")]
