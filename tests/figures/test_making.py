"""From stored runs to files: what is read, what is written, byte by byte the same, and what the report says."""

import csv
import json
import math

import pytest
from figure_toys import keep
from matplotlib.image import imread

from empirics.experiments import Cell, Store
from empirics.experiments.store import SUFFIX, unpacked
from figures import making, report
from figures.artefact import Artefact, Content
from figures.catalogue import NAMES
from figures.comparing import judge
from figures.drawing import Axis, curve_drawing
from figures.run_description import COLUMNS
from figures.runs import curve_rows, Runs
from figures.sheets import agreements, entry, entry_rows, leads, sheet
from paper_checks.reported import table

PRINTED = table("fedinit", "Table 3")
BETAS = ("beta=0.02", "beta=0.05", "beta=0.1")


def cell(beta, seed):
    return Cell("train", {"algorithm": f"fedinit({beta})", "seed": seed})


def seeds(*betas):
    return [cell(beta, seed) for beta in betas for seed in range(3)]


def table_data(runs, scale):
    listed = [
        entry(PRINTED[b, "accuracy"], b, "accuracy", [100 * runs.last(c, "test_accuracy") for c in seeds(b)])
        for b in BETAS
    ]
    finding = judge("beta = 0.1 is best", leads(listed, "beta=0.1"))
    return Content("toy runs & 3 seeds", entry_rows(listed), sheet(listed), [finding], agreements(listed))


def curve_data(runs, scale):
    rows = [row for b in BETAS for row in curve_rows(runs, seeds(b), "test_accuracy", "accuracy", b, None)]
    return Content("toy runs, 3 seeds", rows)


TABLE = Artefact("accuracy for several beta", table_data, name="fedinit.table_3")
CURVES = Artefact(
    "curves", curve_data, curve_drawing(Axis("round"), Axis("test accuracy")), name="fedinit.figure_6",
)  # fmt: skip


def filled(folder):
    """A store with nine runs."""
    made = Store(folder)
    for i, beta in enumerate(BETAS):
        for seed in range(3):
            last = 0.41 + 0.07 * i + 0.003 * seed
            keep(made, cell(beta, seed), {"test_accuracy": [0.1, last - 0.05, last], ("spread", "conv"): [0.3, 0.2]})
    return made


@pytest.fixture
def store(tmp_path):
    return filled(tmp_path / "store")


def test_a_curve_of_two_seeds_has_no_error_band(store):
    for cells, banded in ((seeds(BETAS[0]), True), (seeds(BETAS[0])[:2], False)):
        rows = curve_rows(Runs(store), cells, "test_accuracy", "accuracy", "0", None)
        assert all(math.isfinite(row["error"]) == banded for row in rows)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a table and a picture of the runs; what a test wrote is not to be changed."""
    folder = tmp_path_factory.mktemp("made")
    list(making.make(making.planned([TABLE, CURVES], "laptop"), "laptop", filled(folder / "store"), folder / "out"))
    return folder / "out"


def test_missing_failed_and_diverged_runs_are_told_apart(store):
    runs, gone, burst, broken = (Runs(store), *(cell(f"beta={beta}", 0) for beta in (0.7, 0.9, 0.8)))
    keep(store, burst, {"test_accuracy": [0.1, 0.3]}, status="diverged")
    store.fail(broken, "ValueError: no", 0.1)
    assert (runs.result(gone), runs.result(broken), runs.diverged(burst)) == (None, None, True)
    assert math.isnan(runs.last(gone, "test_accuracy", diverged=0.0))
    assert len(runs.curve(gone, "test_accuracy")[0]) == 0
    assert runs.last(burst, "test_accuracy", diverged=0.0) == 0.0


def test_the_same_runs_give_the_same_bytes_in_the_report_too(made, tmp_path):
    list(making.make(making.planned([TABLE, CURVES], "laptop"), "laptop", filled(tmp_path / "store"), tmp_path / "out"))
    names = {p.relative_to(made) for p in made.rglob("*.*")}
    assert {p.suffix for p in names} == {".csv", ".json", ".md", ".tex", ".pdf", ".svg", ".png", ".xz"}
    assert names == {p.relative_to(tmp_path / "out") for p in (tmp_path / "out").rglob("*.*")}
    assert not [n for n in names if (made / n).read_bytes() != (tmp_path / "out" / n).read_bytes()]
    text, cards = (made / "REPORT.md").read_text(), report.read_cards(made)
    assert "| findings on | reproduced |\n|---|--:|\n| the papers' experiments | 1 |" in text
    assert f"`fedbounds figure {' '.join(c['name'] for c in cards)} --scale laptop`" in text
    assert "2 figures and tables from 9 runs" in text
    assert "[FedInit, Table 3](./fedinit.table_3.md)" in text
    assert text == report.text(cards)
    assert [c["name"] for c in cards] == [n for n in NAMES if n in {TABLE.name, CURVES.name}]
    assert sum(c["minutes"] for c in cards) == pytest.approx(0.18)
    assert report.minutes(cards) == pytest.approx(0.09), "those of shared runs count once"


def test_a_card_of_another_version_is_left_out_of_the_report(made, tmp_path):
    card = json.loads((made / f"{TABLE.name}.json").read_text())
    del card["findings"][0]["least"]
    (tmp_path / f"{TABLE.name}.json").write_text(json.dumps(card))
    with pytest.warns(UserWarning, match=TABLE.name):
        assert report.read_cards(tmp_path) == []
    assert report.read_card(tmp_path / f"{TABLE.name}.json") == card, "which is drawn again all the same"


def test_the_card_that_judges_most_findings_is_reported_even_without_all_runs(made, tmp_path):
    card = json.loads((made / f"{TABLE.name}.json").read_text())
    partial = card | {"runs": card["runs"] | {"there": 1}}
    whole = card | {"scale": "smoke", "findings": [one | {"verdict": "not judged"} for one in card["findings"]]}
    for folder, each in (("whole", whole), ("partial", partial)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{TABLE.name}.json").write_text(json.dumps(each))
    assert report.read_cards(tmp_path / "whole", tmp_path / "partial") == [partial]


def test_a_picture_is_one_column_wide_with_embedded_type_42_fonts(made):
    assert imread(made / "fedinit.figure_6.png").shape[1] / 300 == pytest.approx(245 / 72, abs=0.12)
    pdf = (made / "fedinit.figure_6.pdf").read_bytes()
    assert b"/Type42" in pdf.replace(b" ", b"") or b"CIDFontType2" in pdf
    assert b"/Type3" not in pdf.replace(b" ", b"")


def test_what_is_not_available_is_said_not_drawn(tmp_path):
    missing = Content("svhn", [], unavailable="SVHN: data not available")
    gone = Artefact("curves", lambda runs, scale: missing, CURVES.draw, name="fedals.figure_2")
    list(making.make(making.planned([gone], "laptop"), "laptop", Store(tmp_path / "none"), tmp_path / "out"))
    assert "data not available" in (tmp_path / "out" / "REPORT.md").read_text()
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"REPORT.md", "fedals.figure_2.json"}


def test_whatever_a_table_shows_stays_in_its_row(tmp_path):
    odd = Artefact(
        "a | b\nc",
        lambda r, s: Content("one\n\ntwo", [{"a": 'x, "y"\nz'}], [["a|b", "c\nd"], ["[e]", "f & g"]],
                             unavailable="no η"),
        name=TABLE.name,
    )  # fmt: skip
    list(making.make(making.planned([odd], "laptop"), "laptop", Store(tmp_path / "none"), tmp_path))
    assert "| a\\|b | c d |\n| --- | --- |\n| [e] | f & g |\n" in (tmp_path / f"{TABLE.name}.md").read_text()
    tex = (tmp_path / f"{TABLE.name}.tex").read_text()
    assert "    {[}e] & f \\& g \\\\\n" in tex
    assert "\\caption{a $|$ b c.}\n" in tex
    assert "{\\footnotesize one two no $\\eta$\\par}" in tex
    with (tmp_path / f"{TABLE.name}.csv").open(newline="") as file:
        assert list(csv.DictReader(file)) == [{"a": 'x, "y"\nz', **dict.fromkeys(COLUMNS, "")}]
    row = next(line for line in (tmp_path / "REPORT.md").read_text().splitlines() if line.startswith("| [FedInit"))
    assert "| a \\| b c |" in row


def test_a_finished_figures_runs_are_packed_and_taken_over(store, tmp_path, monkeypatch):
    """Same numbers, cards and verdicts out of the packed runs as out of the store that they were packed from."""
    folder = tmp_path / "smoke"
    list(making.make(making.planned([TABLE], "smoke"), "smoke", store, folder))
    pack = folder / making.RUNS / f"{TABLE.name}{SUFFIX}"
    assert pack.stat().st_size < 1e6
    monkeypatch.setattr(making, "COMMITTED", tmp_path / "laptop")
    other = Store(tmp_path / "other")
    wanted = seeds(*BETAS)
    assert making.copy_committed_runs(making.planned([TABLE], "smoke"), "smoke", other) == len(wanted)
    assert making.copy_committed_runs(making.planned([TABLE], "smoke"), "smoke", other) == 0
    for cell in wanted:
        mine, theirs = store.get(cell), other.get(cell)
        assert mine.columns() == theirs.columns()
        assert mine.card == theirs.card
    list(making.make(making.planned([TABLE], "smoke"), "smoke", other, tmp_path / "again"))
    for name in (f"{TABLE.name}.json", f"{TABLE.name}.csv", f"{making.RUNS}/{pack.name}"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_the_finished_runs_of_an_unfinished_figure_are_packed(store, tmp_path):
    missing, *there = seeds(*BETAS)
    store.forget([missing])
    list(making.make(making.planned([TABLE], "smoke"), "smoke", store, tmp_path))
    pack = tmp_path / making.RUNS / f"{TABLE.name}.jsonl.xz"
    assert {kept.card["key"] for kept in unpacked(pack.read_bytes(), pack.name)} == {cell.key for cell in there}
