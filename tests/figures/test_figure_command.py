"""``fedbounds figure`` as one types them, right and wrong."""

import json
import re
import shlex
from pathlib import Path

import pytest
from figure_toys import keep
from matplotlib.image import imread

from bounds.catalog import BOUNDS
from empirics.experiments import Cell, Outcome, Store
from figures import bundle
from figures.catalogue import artefact, NAMES

NAME = "fedinit.table_3"


def test_without_a_name_it_lists_them_all(run):
    status, out, _ = run("figure")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == list(NAMES)


@pytest.fixture
def smoke(run):
    """Run a verb at the smallest scale, from a store into a folder."""

    def command(store, target, *more, verb=("figure", NAME)):
        return run(*verb, "--scale", "smoke", "--store", store, "-o", target, *more)

    return command


@pytest.fixture
def full(tmp_path):
    store = Store(tmp_path / "store")
    for i, cell in enumerate(artefact(NAME).cells("smoke")):
        curve = [0.1, 0.2 + 0.01 * i]
        keep(store, cell, {"test_accuracy": curve, "divergence": curve, "train_loss": curve, "test_loss": curve})
    return store


def test_drawing_alone_runs_nothing_and_says_what_is_missing(tmp_path, smoke):
    status, out, err = smoke(tmp_path / "no", tmp_path / "out", "--no-sweep")
    assert (status, out, err.count(NAME), err.count("\n")) == (2, "", 1, 1)
    assert not (tmp_path / "out").exists()
    _, *others = artefact(NAME).cells("smoke")
    for cell in others:
        keep(Store(tmp_path / "some"), cell, {"test_accuracy": [0.1, 0.3]})
    status, _, err = smoke(tmp_path / "some", tmp_path / "out", "--no-sweep")
    assert (status, err.split()[:3]) == (1, ["1", "of", str(len(others) + 1)])
    runs = json.loads((tmp_path / "out" / f"{NAME}.json").read_text())["runs"]
    assert (runs["there"], runs["wanted"]) == (len(others), len(others) + 1)


def test_a_figure_is_drawn_again_in_another_style_from_its_numbers_alone(full, tmp_path, run):
    name, out = "fedinit.figure_1b", tmp_path / "out"
    assert run("figure", name, "--scale", "smoke", "--store", full.folder, "-o", out, "--no-sweep")[0] == 0
    kept = {p.name: p.read_bytes() for p in out.rglob("*.*")}
    assert run("figure", name, "--redraw", "-o", out)[1] == f"5 files in {out}\n"
    assert kept == {p.name: p.read_bytes() for p in out.rglob("*.*")}
    for style, inches in (("neurips", 5.5), ("slides", 9.0)):
        assert run("figure", name, "--redraw", "--style", style, "-o", out)[0] == 0
        assert imread(out / f"{name}.png").shape[1] / 300 == pytest.approx(inches, rel=0.06)
        assert (out / f"{name}.csv").read_bytes() == kept[f"{name}.csv"]


MISTAKES = (
    ("fedinit.table_33", "fedinit.table_33"),
    (f"{NAME} --scale huge", "'huge'"),
    (f"{NAME} --workers -3", "1024"),
    (f"{NAME} --style poster", "'poster'"),
    ("fedinit.figure_6 --redraw -o none", "none"),
    (f"{NAME} --redraw --workers 3", "--workers"),
    (f"{NAME} -o ''", "-o"),
    (f"{NAME} --scale smoke --store /proc/none", "/proc/none"),
    (f"{NAME} --fresh --no-sweep", "--no-sweep"),
    (f"{NAME} --scale smoke -o file/out", "-o file/out"),
    ("--bundle --store nowhere -o b", "nowhere"),
    ("fedcog.table_2", "FLAIR: data not available"),
    ("fedcog.table_2 --no-sweep", "FLAIR: data not available"),
)


def test_mistakes_are_one_line_before_anything_runs(full, tmp_path, refused, run, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEDBOUNDS_STORE", "store")
    Path("file").write_text("here")
    for words, named in MISTAKES:
        assert named in refused("figure", *shlex.split(words)), words
    assert not Path("b").exists()
    line = ("--scheduler", "tcp://127.0.0.1:9", "--scale", "smoke", "--store", "empty")
    status, _, err = run("figure", NAME, *line)
    assert (status, "tcp://127.0.0.1:9" in err) == (2, True)


def test_what_is_stopped_says_what_is_kept(full, tmp_path, smoke, monkeypatch):
    cells = artefact(NAME).cells("smoke")

    def stops(*_):
        keep(Store(tmp_path / "s"), cells[1], {"test_accuracy": [0.3, 0.4]})
        raise KeyboardInterrupt

    def stops_drawing(self):
        raise KeyboardInterrupt

    monkeypatch.setattr("empirics.experiments.running.attempt", stops)
    status, _, err = smoke(tmp_path / "s", tmp_path / "o", "--workers", "0")
    assert (status, err.count("\n")) == (130, 1)
    assert all(words in err for words in (f"1 of {len(cells)} runs", str(tmp_path / "s")))
    monkeypatch.setattr("empirics.progress.Silent.step", stops_drawing)
    status, _, err = smoke(full.folder, tmp_path / "o", "--no-sweep")
    assert (status, err.count("\n")) == (130, 1)
    assert all(words in err for words in ("1 of 1 figures", str(tmp_path / "o")))
    assert (tmp_path / "o" / f"{NAME}.md").exists()


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
    bundle._parquet(tmp_path / "runs.parquet", bundle._runs([numbers, words]))
    table = pq.read_table(tmp_path / "runs.parquet").to_pydict()
    assert table["rounds"] == ["5", None, "all"]
    assert table["value"] == [0.25, 0.5, None]
    assert table["layer"] == [None, None, "head"]


@pytest.mark.slow
def test_a_bundle_holds_everything(full, tmp_path, smoke, verdicts, monkeypatch):
    import pyarrow.parquet as pq

    monkeypatch.setattr(bundle, "audit", lambda claims, *_: [verdicts[c.name] for c in claims])
    folder = tmp_path / "b"
    assert smoke(full.folder, folder, verb=("figure", "--bundle"))[0] == 0
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*.*")}
    listed = re.findall(r"^\| `([^`]+)`", (folder / "README.md").read_text(), re.M)
    assert listed
    assert all((folder / name).exists() for name in listed)
    assert {f"figures/{NAME}.tex", "audit.csv", "audit/REPORT.md", "audit/reports/fedinit.md", "machine.json"} <= files
    assert (folder / "references.bib").read_text().count("@") >= 4
    numbers = pq.read_table(folder / "numbers.parquet").to_pydict()
    drawn = Path(folder / "figures" / f"{NAME}.csv").read_text().splitlines()
    assert sum(a == NAME for a in numbers["artefact"]) == (len(drawn) - 1) * len(drawn[0].split(","))
    runs = pq.read_table(folder / "runs.parquet").to_pydict()
    assert set(runs["key"]) == {c.key for c in artefact(NAME).cells("smoke")}
