"""``fedbounds figure`` and ``bundle`` as one types them, right and wrong."""

import json
import re
from pathlib import Path

import pytest
from figure_toys import keep, said

from bounds.catalog import BOUNDS
from empirics.experiments import Cell, Outcome, Store
from figures import bundle
from figures.catalogue import artefact, NAMES

NAME = "fedinit.table_3"


def smoke(capsys, store, target, *more, verb=("figure", NAME)):
    return said(capsys, *verb, "--scale", "smoke", "--store", store, "-o", target, *more)


def test_without_a_name_it_lists_them_all(capsys):
    status, out, _ = said(capsys, "figure")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == list(NAMES)


@pytest.fixture
def full(tmp_path):
    store = Store(tmp_path / "store")
    for i, cell in enumerate(artefact(NAME).cells("smoke")):
        curve = [0.1, 0.2 + 0.01 * i]
        keep(store, cell, {"test_accuracy": curve, "divergence": curve, "train_loss": curve, "test_loss": curve})
    return store


def test_what_is_in_the_store_is_not_run_again(full, tmp_path, capsys):
    status, out, err = smoke(capsys, full.folder, tmp_path / "out", "--workers", 0)
    assert status == 0
    assert err == ""
    first, second = out.splitlines()
    assert " 0 to do" in first
    assert second.startswith("1 figures and tables, 6 files in")
    assert (tmp_path / "out" / f"{NAME}.md").exists()


def test_drawing_alone_runs_nothing_and_says_what_is_missing(tmp_path, capsys):
    status, out, err = smoke(capsys, tmp_path / "no", tmp_path / "out", "--no-sweep")
    assert (status, out, err.count(NAME), err.count("\n")) == (2, "", 1, 1)
    assert not list((tmp_path / "out").iterdir())
    _, *others = artefact(NAME).cells("smoke")
    for cell in others:
        keep(Store(tmp_path / "some"), cell, {"test_accuracy": [0.1, 0.3]})
    status, _, err = smoke(capsys, tmp_path / "some", tmp_path / "out", "--no-sweep")
    assert (status, err.split()[:3]) == (1, ["1", "of", str(len(others) + 1)])
    runs = json.loads((tmp_path / "out" / f"{NAME}.json").read_text())["runs"]
    assert (runs["there"], runs["wanted"]) == (len(others), len(others) + 1)


@pytest.mark.parametrize(("style", "inches"), [("neurips", 5.5), ("slides", 9.0)])
def test_a_figure_is_drawn_again_in_another_style_from_its_numbers_alone(style, inches, full, tmp_path, capsys):
    from matplotlib.image import imread

    name, out = "fedinit.figure_1b", tmp_path / "out"
    assert said(capsys, "figure", name, "--scale", "smoke", "--store", full.folder, "-o", out, "--no-sweep")[0] == 0
    kept = {p.name: p.read_bytes() for p in out.rglob("*.*")}
    assert said(capsys, "figure", name, "--redraw", "-o", out)[1] == f"5 files in {out}\n"
    assert kept == {p.name: p.read_bytes() for p in out.rglob("*.*")}
    assert said(capsys, "figure", name, "--redraw", "--style", style, "-o", out)[0] == 0
    assert imread(out / f"{name}.png").shape[1] / 200 == pytest.approx(inches, rel=0.06)
    assert (out / f"{name}.csv").read_bytes() == kept[f"{name}.csv"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fedinit.table_33"], "unknown figure or table 'fedinit.table_33'; did you mean"),
        ([NAME, "--scale", "huge"], "unknown scale 'huge'"),
        ([NAME, "--workers", "-3"], "--workers: must be a whole number from 0 to 1024; got '-3'"),
        ([NAME, "--workers", "nan"], "--workers: must be a whole number from 0 to 1024; got 'nan'"),
        ([NAME, "--workers", "100000"], "--workers: must be a whole number from 0 to 1024; got '100000'"),
        ([NAME, "--style", "poster"], "unknown style 'poster'"),
        (["fedinit.figure_6", "--redraw", "-o", "none"], "none of these figures lies in none"),
        ([NAME, "--redraw", "--no-sweep"], "not allowed with argument"),
        ([NAME, "--redraw", "--workers", "3"], "--redraw reads no runs"),
        ([""], "unknown figure or table ''"),
        (["../fedinit.table_3"], "unknown figure or table '../fedinit.table_3'"),
        ([NAME, "--scale", ""], "unknown scale ''"),
        ([NAME, "-o", ""], "-o: must not be empty"),
        ([NAME, "--store", ""], "--store: must not be empty"),
        ([NAME, "--scale", "smoke", "--store", "/proc/none"], "--store /proc/none: No such file"),
        ([NAME, "--fresh", "--no-sweep"], "not allowed with argument"),
        ([NAME, "--scheduler", "tcp://127.0.0.1:9", "--scale", "smoke"], "no cluster answers at tcp://127.0.0.1:9"),
    ],
)
def test_mistakes_are_one_line(arguments, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, _, err = said(capsys, "figure", *arguments)
    assert status == 2
    assert words in err
    assert len([line for line in err.splitlines() if line.startswith("fedbounds:")]) == 1


def test_a_figure_that_is_stopped_says_what_is_kept(tmp_path, capsys, monkeypatch):
    cells = artefact(NAME).cells("smoke")

    def stops(todo, store, *_):
        keep(store, cells[1], {"test_accuracy": [0.3, 0.4]})
        raise KeyboardInterrupt

    monkeypatch.setattr("figures.command.sweep", stops)
    status, _, err = smoke(capsys, tmp_path / "s", tmp_path / "o")
    kept = f"interrupted: 1 of {len(cells)} runs are kept in {tmp_path / 's'}: the same command goes on from there"
    assert (status, err) == (130, f"fedbounds: {kept}\n")


def test_drawing_that_is_stopped_says_what_is_written(full, tmp_path, capsys, monkeypatch):
    def stops(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("empirics.progress.Silent.step", stops)
    status, _, err = smoke(capsys, full.folder, tmp_path / "o", "--no-sweep")
    written = f"interrupted: 1 of 1 figures and tables are written, in {tmp_path / 'o'}"
    assert (status, err) == (130, f"fedbounds: {written}\n")
    assert (tmp_path / "o" / f"{NAME}.md").exists()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["bundle", "--workers", "0"], "--workers: must be a whole number from 1 to 1024; got '0'"),
        (["bundle", "-o", ""], "-o: must not be empty"),
        (["explore", "-o", ""], "-o: must not be empty"),
        (["explore", "--store", ""], "--store: must not be empty"),
        (["explore", "fedals.one_round", "-o", "/dev/full"], "/dev/full: it is no file that could be written"),
    ],
)
def test_mistakes_of_the_other_verbs_are_one_line(words, line, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = said(capsys, *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert line in err


@pytest.mark.parametrize("verb", ["figure", "bundle"])
def test_a_folder_that_cannot_be_written_is_found_before_anything_runs(verb, full, tmp_path, capsys):
    (tmp_path / "file").write_text("here")
    names = [NAME] if verb == "figure" else []
    status, _, err = smoke(capsys, full.folder, tmp_path / "file" / "out", verb=(verb, *names))
    assert status == 2
    assert re.search(r"^fedbounds: -o .*: Not a directory$", err, re.M)


def test_a_bundle_needs_a_store(tmp_path, capsys):
    status, _, err = said(capsys, "bundle", "--store", tmp_path / "none", "-o", tmp_path / "b")
    assert status == 2
    assert "there is no store" in err
    assert not (tmp_path / "b").exists()


def test_macros_have_names_that_tex_takes_and_no_two_alike():
    names = [bundle.macro_name(name) for name in BOUNDS]
    assert len(set(names)) == len(BOUNDS)
    assert all(re.fullmatch("[A-Za-z]+", name) for name in names)
    assert bundle.macro_name("fedinit.theorem_1") == "fedinitTheoremOne"
    text = bundle.macros(BOUNDS)
    assert text.count("\\newcommand") == len(BOUNDS)
    for line in text.splitlines():
        assert line.startswith("%") or line.count("{") == line.count("}")


def test_runs_of_different_columns_and_kinds_lie_in_one_table(tmp_path):
    import pyarrow.parquet as pq

    store = Store(tmp_path / "store")
    numbers = store.keep(Cell("train", {"seed": 3}), Outcome({"rounds": [5, None], "value": [0.25, 0.5]}), 0.1)
    words = store.keep(Cell("timed", {"seed": 4}), Outcome({"rounds": ["all"], "layer": ["head"]}), 0.1)
    bundle._runs(tmp_path / "runs.parquet", [numbers, words])
    found = pq.read_table(tmp_path / "runs.parquet").to_pydict()
    assert found["rounds"] == ["5", None, "all"]
    assert found["value"] == [0.25, 0.5, None]
    assert found["layer"] == [None, None, "head"]


@pytest.mark.slow
def test_a_bundle_holds_everything(full, tmp_path, capsys, verdicts, monkeypatch):
    import pyarrow.parquet as pq

    monkeypatch.setattr(bundle, "audit", lambda claims, *_: [verdicts[c.name] for c in claims])
    folder = tmp_path / "b"
    assert smoke(capsys, full.folder, folder, verb=("bundle",))[0] == 0
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*.*")}
    told = re.findall(r"^\| `([^`]+)`", (folder / "README.md").read_text(), re.M)
    assert told
    assert all((folder / name).exists() for name in told)
    assert {f"figures/{NAME}.tex", "audit.csv", "audit/REPORT.md", "audit/reports/fedinit.md", "machine.json"} <= files
    assert (folder / "references.bib").read_text().count("@") >= 4
    numbers = pq.read_table(folder / "numbers.parquet").to_pydict()
    drawn = Path(folder / "figures" / f"{NAME}.csv").read_text().splitlines()
    assert sum(a == NAME for a in numbers["artefact"]) == (len(drawn) - 1) * len(drawn[0].split(","))
    runs = pq.read_table(folder / "runs.parquet").to_pydict()
    assert set(runs["key"]) == {c.key for c in artefact(NAME).cells("smoke")}
