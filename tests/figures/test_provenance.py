"""What a bundle says of itself: valid by the rules of both formats, with the command and the runs of each figure."""

import json

import pytest
from figure_toys import keep
from provenance_rules import check_codecheck, check_crate

from bounds.errors import BoundsError
from empirics.experiments import Store
from empirics.experiments.machine import machine
from figures import provenance
from figures.catalogue import artefact
from figures.command import drawn

NAMES = ["fedinit.table_3", "fedinit.figure_1b", "fedinit.table_6"]
ODD = {"python": '3.11 "x"', "system": "A: b", "processor": "P #1 – µ", "device": "cpu", "commit": ""}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A bundle of a table and a figure of one set of runs, and of a table that needs none."""
    where = tmp_path_factory.mktemp("bundle")
    store = Store(tmp_path_factory.mktemp("store"))
    for i, cell in enumerate(artefact(NAMES[0]).cells("smoke")):
        curve = [0.1, 0.2 + 0.01 * i]
        keep(store, cell, {"test_accuracy": curve, "active_divergence": curve, "divergence": curve}, minutes=0.25)
    wanted = [artefact(name) for name in NAMES]
    drawn(wanted, "smoke", store, where / "figures")
    (where / "README.md").write_text("# here")
    (where / "a b%.tex").write_text("x")
    others = {"README.md": "what lies here", "a b%.tex": 'words: "quoted" # and – more', "figures/REPORT.md": "all"}
    provenance.write(where, others, wanted, "smoke", {**ODD, "versions": {"fedbounds": "0.2.0", "numpy": "2.3"}})
    return where


def test_the_crate_is_valid_and_says_what_made_each_figure(folder):
    entities = check_crate(folder)
    here = machine()
    for name in NAMES:
        made, card = entities[f"#make-{name}"], json.loads((folder / f"figures/{name}.json").read_text())
        assert made["description"] == f"fedbounds figure {name} --scale smoke -o figures"
        tools = [entities[ref["@id"]] for ref in made["instrument"]]
        told = {tool["name"]: tool.get("version") for tool in tools}
        if card["keys"]:
            assert told["Python"] == here["python"]
            assert {n: v for n, v in told.items() if n in here["versions"]} == here["versions"]
        else:  # drawn without runs, by what writes the bundle
            assert (told["Python"], told["numpy"]) == (ODD["python"], "2.3")
            assert ODD["processor"] in told
        lying = {p.relative_to(folder).as_posix() for p in (folder / "figures").rglob(f"{name}.*")}
        assert {ref["@id"] for ref in made["result"]} == lying


def test_the_configuration_file_is_valid_and_names_a_command_for_every_figure(folder):
    found = check_codecheck(folder)
    comments = {item["file"]: item["comment"] for item in found["manifest"]}
    cards = {f"figures/{name}.json" for name in NAMES}
    assert set(comments) == {p.relative_to(folder).as_posix() for p in folder.rglob("*.*")} - cards - {
        "codecheck.yml", "ro-crate-metadata.json",
    }  # fmt: skip
    assert found["fedbounds"]["commands"] == {n: f"fedbounds figure {n} --scale smoke -o figures" for n in NAMES}
    assert found["fedbounds"] | ODD == found["fedbounds"]
    assert found["fedbounds"]["versions"] == {"fedbounds": "0.2.0", "numpy": "2.3"}
    runs = len(artefact(NAMES[0]).cells("smoke"))
    assert (
        f"; {0.25 * runs:g} minutes of runs; made by: fedbounds figure {NAMES[0]} "
        in comments[f"figures/{NAMES[0]}.csv"]
    )
    assert comments["a b%.tex"].startswith('words: "quoted" # and – more; made by: fedbounds bundle --scale smoke')


def test_a_configuration_file_that_was_completed_is_left_as_it_is(folder, tmp_path):
    provenance.refuse_completed(tmp_path)
    provenance.refuse_completed(folder)
    text = (folder / "codecheck.yml").read_text()
    (tmp_path / "codecheck.yml").write_text(text.replace("The fedbounds developers", "Ada"))
    with pytest.raises(BoundsError, match=r"codecheck\.yml was completed by hand, and would be replaced: move it"):
        provenance.refuse_completed(tmp_path)


@pytest.mark.parametrize("broken", ["twice", "dangling", "nested", "gone", "date"])
def test_a_crate_that_breaks_a_rule_would_be_noticed(folder, broken):
    path = folder / "ro-crate-metadata.json"
    before = path.read_text()
    found = json.loads(before)
    graph, root = found["@graph"], found["@graph"][1]
    {
        "twice": lambda: graph.append(graph[2]),
        "dangling": lambda: root.update(author={"@id": "#nobody"}),
        "nested": lambda: root.update(author={"@id": "#x", "name": "y"}),
        "gone": lambda: graph[2].update({"@id": "no.csv"}),
        "date": lambda: root.update(datePublished="today"),
    }[broken]()
    path.write_text(json.dumps(found))
    try:
        with pytest.raises((AssertionError, ValueError)):
            check_crate(folder)
    finally:
        path.write_text(before)
