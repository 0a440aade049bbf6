"""From stored runs to files: what is read, what is written, byte by byte the same, and what the report says."""

import csv
import errno
import json
import lzma
import math

import matplotlib
import numpy as np
import pytest
from figure_toys import keep
from matplotlib.image import imread

from bounds.errors import BoundsError
from bounds.showing.files import whole
from empirics.errors import EmpiricsError
from empirics.experiments import Cell, Store
from empirics.experiments.packing import SUFFIX, unpacked
from figures import making, report, writing
from figures.artefact import Artefact, Shown
from figures.catalogue import NAMES
from figures.comparing import agreements, judge, leads
from figures.drawing import Axis, canvas, panels
from figures.ran import COLUMNS, Ran, Setting
from figures.runs import mean_curve, Runs
from figures.sheets import entry, sheet, tidy
from figures.style import settled, STYLE
from figures.symbols import symbols, typeset
from paper_checks.audit.running import CLAIMS
from paper_checks.reported import table

PRINTED = table("fedinit", "Table 3")
BETAS = ("beta=0.02", "beta=0.05", "beta=0.1")


def cell(beta, seed):
    return Cell("train", {"algorithm": f"fedinit({beta})", "seed": seed})


def seeds(beta):
    return [cell(beta, seed) for seed in range(3)]


def all_cells(scale):
    return [c for beta in BETAS for c in seeds(beta)]


def table_data(runs, scale):
    found = [
        entry(PRINTED[b, "accuracy"], b, "accuracy", [100 * runs.last(c, "test_accuracy") for c in seeds(b)])
        for b in BETAS
    ]
    told = judge("beta = 0.1 is best", leads(found, "beta=0.1"))
    return Shown("toy runs & 3 seeds", tidy(found), sheet(found), [told], agreements(found))


def curve_data(runs, scale):
    rows = [
        {"panel": "accuracy", "curve": b, "x": x, "y": y, "error": e}
        for b in BETAS
        for x, y, e in zip(*mean_curve(runs.curve(c, "test_accuracy") for c in seeds(b)), strict=True)
    ]
    return Shown("toy runs, 3 seeds", rows)


TABLE = Artefact("fedinit.table_3", "accuracy for several beta", all_cells, table_data)
CURVES = Artefact(
    "fedinit.figure_6", "curves", all_cells, curve_data,
    lambda shown: panels(shown.rows, Axis("round"), Axis("test accuracy")),
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


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with a table and a picture of the runs; what a test wrote is not to be changed."""
    folder = tmp_path_factory.mktemp("made")
    list(making.make([TABLE, CURVES], "laptop", filled(folder / "store"), folder / "out"))
    return folder / "out"


# ---- reading ----


def test_runs_read_curves_layers_and_the_mean_of_the_last_values(store):
    runs = Runs(store)
    at, values = runs.curve(cell("beta=0.05", 1), "test_accuracy")
    np.testing.assert_array_equal(at, [0, 1, 2])
    np.testing.assert_allclose(values, [0.1, 0.433, 0.483])
    assert runs.last(cell("beta=0.05", 1), "test_accuracy", window=2) == pytest.approx((0.433 + 0.483) / 2)
    assert runs.layers(cell("beta=0.05", 1), "spread") == ["conv"]
    assert runs.curve(cell("beta=0.05", 1), "spread", "conv")[1][1] == pytest.approx(0.2)
    assert set(runs.used) == {cell("beta=0.05", 1).key}


def test_missing_failed_and_diverged_runs_are_told_apart(store):
    runs, gone, burst, broken = (Runs(store), *(cell(f"beta={beta}", 0) for beta in (0.7, 0.9, 0.8)))
    keep(store, burst, {"test_accuracy": [0.1, 0.3]}, status="diverged")
    store.fail(broken, "ValueError: no", 0.1)
    assert (runs.has(gone), runs.has(broken), runs.diverged(burst)) == (False, False, True)
    assert math.isnan(runs.last(gone, "test_accuracy", diverged=0.0))
    assert len(runs.curve(gone, "test_accuracy")[0]) == 0
    assert runs.last(burst, "test_accuracy", diverged=0.0) == 0.0


def test_mean_curves_average_what_is_there():
    x, y, error = mean_curve([(np.array([0, 2]), np.array([1.5, 4.0])), (np.array([0]), np.array([2.5]))])
    np.testing.assert_allclose(x, [0, 2])
    np.testing.assert_allclose(y, [2.0, 4.0])
    assert error[0] == pytest.approx(0.5)
    assert math.isnan(error[1])


# ---- writing ----


def test_a_table_and_its_card_say_reported_and_ours_and_judge_them(made):
    words, tex = ((made / f"fedinit.table_3.{kind}").read_text() for kind in ("md", "tex"))
    for said in (
        "| beta=0.1 | 75.95 / 55.30 ± 0.17 |",
        "- **reproduced**: beta = 0.1 is best",
        "+1.00 [+1.00, +1.00] over 3",
    ):
        assert said in words
    assert r"beta=0.1 & 75.95 / 55.30 $\pm$ 0.17 \\" in tex
    assert r"toy runs \& 3 seeds" in tex
    with (made / "fedinit.table_3.csv").open() as file:
        row = list(csv.DictReader(file))[2]
    assert float(row["ours"]) == pytest.approx(100 * (0.55 + 0.003))
    assert (row["reported"], row["reported_std"], row["seeds"]) == ("75.95", "", "3")
    card = json.loads((made / "fedinit.table_3.json").read_text())
    assert card["runs"] == {"wanted": 9, "there": 9, "done": 9}
    assert card["seeds"] == [0, 1, 2]
    assert list(card["keys"]) == sorted(c.key for c in all_cells(""))
    assert card["versions"]["numpy"] == [np.__version__]


def test_the_same_runs_give_the_same_bytes_in_the_report_too(made, tmp_path):
    list(making.make([TABLE, CURVES], "laptop", filled(tmp_path / "store"), tmp_path / "out"))
    names = {p.relative_to(made) for p in made.rglob("*.*")}
    assert {p.suffix for p in names} == {".csv", ".json", ".md", ".tex", ".pdf", ".svg", ".png", ".xz"}
    assert names == {p.relative_to(tmp_path / "out") for p in (tmp_path / "out").rglob("*.*")}
    assert not [n for n in names if (made / n).read_bytes() != (tmp_path / "out" / n).read_bytes()]
    text, cards = (made / "REPORT.md").read_text(), report.read(made)
    assert "| conclusions on | reproduced |\n|---|--:|\n| the papers' experiments | 1 |" in text
    assert "2 artefacts from 9 runs" in text
    assert "[FedInit, Table 3](./fedinit.table_3.md)" in text
    assert text == report.text(cards)
    assert [c["name"] for c in cards] == [n for n in NAMES if n in {TABLE.name, CURVES.name}]
    assert sum(c["minutes"] for c in cards) == pytest.approx(0.18)
    assert report.minutes(cards) == pytest.approx(0.09), "those of shared runs count once"


def test_a_picture_is_one_column_wide_with_embedded_type_42_fonts(made):
    assert imread(made / "fedinit.figure_6.png").shape[1] / 200 == pytest.approx(3.4, abs=0.15)
    pdf = (made / "fedinit.figure_6.pdf").read_bytes()
    assert b"/Type42" in pdf.replace(b" ", b"") or b"CIDFontType2" in pdf
    assert b"/Type3" not in pdf.replace(b" ", b"")


def test_the_box_of_a_picture_holds_every_word_as_it_is_saved():
    for words in ("FedALS, rounds, (57) repaired", "the longest of all the names beside an axis"):
        with matplotlib.rc_context(STYLE):
            made, axes = canvas(1, 1)
            axes[0, 0].set_yticks([0, 1], [words, "short"], fontsize=6)
            box = settled(made)
            made.set_dpi(STYLE["savefig.dpi"])
            assert box.x0 <= made.get_tightbbox().x0


SET = {
    "K_r-rounds": r"$K_r$-rounds",
    "Kη-fixed and η_r-step": r"$K\eta$-fixed and $\eta_r$-step",
    "beta = 0.1, alphabet": r"$\beta$ = 0.1, alphabet",
    "1/K^2 or 1/K": "$1/K^2$ or $1/K$",
    "K* printed, (10)": "$K^*$ printed, (10)",
    "floor / zeta^2": r"floor / $\zeta^2$",
    "L / mu": r"$L / $$\mu$",
    "step size times L": "step size times $L$",
    "costs $5 and beta": "costs $5 and beta",
    "Decaying-K, Theorem 1": "Decaying-K, Theorem 1",
}


def test_symbols_are_set_as_mathematics():
    for words, drawn in SET.items():
        assert symbols(words) == drawn
        with matplotlib.rc_context(STYLE):
            made, axes = canvas(1, 1)
            axes[0, 0].set_title(words, loc="left", parse_math=False)
            axes[0, 0].set_yticks([0, 1], [words, "short"])
            typeset(made)
            made.draw_without_rendering()
            assert axes[0, 0].get_title(loc="left") == axes[0, 0].get_yticklabels()[0].get_text() == drawn


def test_what_is_not_available_is_said_not_drawn(tmp_path):
    gone = Artefact(
        "fedals.figure_2",
        "curves",
        lambda s: [],
        lambda r, s: Shown("svhn", [], unavailable="SVHN: data not available"),
        CURVES.draw,
    )
    list(making.make([gone], "laptop", Store(tmp_path / "none"), tmp_path / "out"))
    assert "data not available" in (tmp_path / "out" / "REPORT.md").read_text()
    assert {p.name for p in (tmp_path / "out").iterdir()} == {"REPORT.md", "fedals.figure_2.json"}


def test_latex_takes_every_special_letter():
    assert writing.escaped("50% of a_b & ±2 #1 {x}") == r"50\% of a\_b \& $\pm$2 \#1 \{x\}"
    assert writing.escaped("Kη-fixed, Δ′ |\n\nx") == r"K$\eta$-fixed, $\Delta$$'$ $|$ x"
    assert writing.escaped("[a] é") == "{[}a] é"


def test_whatever_a_table_shows_stays_in_its_row(tmp_path):
    odd = Artefact(
        TABLE.name, "a | b\nc", lambda s: [],
        lambda r, s: Shown("one\n\ntwo", [{"a": 'x, "y"\nz'}], [["a|b", "c\nd"], ["[e]", "f & g"]], unavailable="no η"),
    )  # fmt: skip
    list(making.make([odd], "laptop", Store(tmp_path / "none"), tmp_path))
    assert "| a\\|b | c d |\n| --- | --- |\n| [e] | f & g |\n" in (tmp_path / f"{TABLE.name}.md").read_text()
    tex = (tmp_path / f"{TABLE.name}.tex").read_text()
    assert "    {[}e] & f \\& g \\\\\n" in tex
    assert "\\caption{a $|$ b c. one two no $\\eta$}\n" in tex
    with (tmp_path / f"{TABLE.name}.csv").open(newline="") as file:
        assert list(csv.DictReader(file)) == [{"a": 'x, "y"\nz', **dict.fromkeys(COLUMNS, "")}]
    row = next(line for line in (tmp_path / "REPORT.md").read_text().splitlines() if line.startswith("| [FedInit"))
    assert "| a \\| b c |" in row


def test_the_report_says_how_much_longer_a_question_would_take():
    card, least = {"keys": {"one": 60.0, "two": 30.0}}, "0 of 2 surely so; least: a over b"
    for why, verdict, hours in (
        (f"{least} +0.5 ± 1.5", "undecided", 8 * 1.5),
        (f"{least} -3e-05 ± 6e-05", "undecided", 3 * 1.5),
        (f"{least} +0 ± 1.5", "undecided", math.inf),
        ("not measured: everything", "undecided", None),
        (f"{least} +0.5 ± 1.5", "contradicted", None),
    ):
        found = report.Conclusion("fedals", "it is so", verdict, False, (card,), (why,)).more
        assert found == pytest.approx(hours), why


# ---- what can go wrong with files ----


def test_half_a_file_never_takes_the_place_of_a_whole_one(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("whole")

    def stopped(error):
        with whole(path) as beside:
            beside.write_text("ha")
            raise error

    with pytest.raises(BoundsError, match=r"a\.csv: No space left on device; what was there is there still"):
        stopped(OSError(errno.ENOSPC, "No space left on device"))
    with pytest.raises(KeyboardInterrupt):
        stopped(KeyboardInterrupt())
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == {"a.csv": "whole"}


def test_a_file_that_cannot_be_written_is_named(store, tmp_path):
    for name in (f"{TABLE.name}.csv", f"{TABLE.name}.md", f"{CURVES.name}.svg", "REPORT.md"):
        folder = tmp_path / name
        (folder / name / "taken").mkdir(parents=True)
        with pytest.raises(BoundsError, match=rf"{name}: "):
            list(making.make([TABLE, CURVES], "laptop", store, folder))
        assert not [p for p in folder.iterdir() if p.name.startswith(".")]


def test_a_card_that_is_none_is_left_out_of_the_report_and_named(store, tmp_path):
    for content in ("{bad", "{}", "[]", "[" * 100_000, '{"name": "fedinit.table_1"}'):
        (tmp_path / "fedinit.table_1.json").write_text(content)
        (tmp_path / "package.json").write_text("{not ours")
        with pytest.warns(UserWarning, match=r"fedinit.table_1.json"):
            list(making.make([TABLE], "laptop", store, tmp_path))
        assert "1 artefacts from 9 runs" in (tmp_path / "REPORT.md").read_text()


# ---- the report ----


def test_a_card_and_the_report_say_what_ran(store, tmp_path):
    ran = Ran(Setting("MNIST", "small CNN", "40", "4", "30"), Setting("FEMNIST", "CNN", "400", "40", "300"))

    def data(runs, scale):
        return Shown("caption", [{"row": "a", "ours": 1.5, "ran": ran}, {"row": "b", "ours": 2.5}], [["", "x"]])

    list(making.make([Artefact(TABLE.name, "t", lambda s: [], data)], "laptop", store, tmp_path))
    words = "MNIST for FEMNIST, small CNN for CNN, 4 of 40 for 40 of 400 clients, 30 for 300 rounds"
    (told,) = report.read(tmp_path)
    assert [one["words"] for one in told["ran"]] == [words]
    assert f"| {words} |" in (tmp_path / "REPORT.md").read_text()
    assert f"What ran: {words}." in (tmp_path / f"{TABLE.name}.md").read_text()
    first, second = (tmp_path / f"{TABLE.name}.csv").read_text().splitlines()[1:]
    assert first == "a,1.5,MNIST,FEMNIST,small CNN,40,4,30"
    assert second == "b,2.5,,,,,,"


def test_the_report_tells_a_conclusion_once_and_what_it_is_about(store, tmp_path):
    list(making.make([TABLE, CURVES], "laptop", store, tmp_path))
    one, other = report.read(tmp_path)
    seen = {"words": "a beats b", "verdict": "contradicted", "why": "1 of 1 surely; least: a over b -3 ± 0.7"}
    seen |= {"counted": False, "regimes": []}
    counted = {"words": "a costs b", "verdict": "reproduced", "why": "2x", "counted": True, "regimes": []}
    cards = [{**one, "conclusions": [seen, counted]}, {**other, "conclusions": [seen]}]
    text = report.text(cards)
    assert "| conclusions on | reproduced | contradicted |" in text
    assert f"| {report.EXPERIMENTS} | 0 | 1 |\n| {report.FORMULAS} | 1 | 0 |" in text
    assert "| a beats b | **contradicted** | a over b -3 ± 0.7 | " in text
    assert text.count("| a beats b |") == 1
    assert "**FedInit, contradicted**: a beats b." in text
    (row,) = [line for line in text.splitlines() if line.startswith("| a beats b")]
    assert all(f"/{card['name']}." in row for card in cards)


def test_the_report_beside_the_audit_counts_its_claims():
    found = report.audited(["fedcog.table_1", "fedcog.table_10", "fedinit.figure_4"])
    assert found["fedcog.table_1"] == sum(n.startswith("fedcog.table_1.") for n in CLAIMS)
    assert found["fedcog.table_10"] == sum(n.startswith("fedcog.table_10") for n in CLAIMS)
    assert "fedinit.figure_4" not in found


# ---- packed runs ----


def test_a_finished_figures_runs_are_packed_and_taken_over(store, tmp_path, monkeypatch):
    """Same numbers, cards and verdicts out of the packed runs as out of the store that they were packed from."""
    folder = tmp_path / "smoke"
    list(making.make([TABLE], "smoke", store, folder))
    pack = folder / making.RUNS / f"{TABLE.name}{SUFFIX}"
    assert pack.stat().st_size < 1e6
    monkeypatch.setattr(making, "COMMITTED", tmp_path / "laptop")
    other = Store(tmp_path / "other")
    wanted = all_cells("smoke")
    assert making.resume([TABLE], "smoke", other) == len(wanted)
    assert making.resume([TABLE], "smoke", other) == 0
    for cell in wanted:
        mine, theirs = store.get(cell), other.get(cell)
        assert mine.columns() == theirs.columns()
        assert mine.card == theirs.card
    list(making.make([TABLE], "smoke", other, tmp_path / "again"))
    for name in (f"{TABLE.name}.json", f"{TABLE.name}.csv", f"{making.RUNS}/{pack.name}"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_the_finished_runs_of_an_unfinished_figure_are_packed(store, tmp_path):
    missing, *there = all_cells("smoke")
    store.set_aside([missing])
    list(making.make([TABLE], "smoke", store, tmp_path))
    pack = tmp_path / making.RUNS / f"{TABLE.name}.jsonl.xz"
    assert {kept.card["key"] for kept in unpacked(pack.read_bytes(), pack.name)} == {cell.key for cell in there}


def test_the_report_has_the_longest_runs_that_are_whole(store, tmp_path):
    whole, part = tmp_path / "whole", tmp_path / "part"
    list(making.make([TABLE], "smoke", store, whole))
    store.set_aside(all_cells("smoke")[:1])
    list(making.make([TABLE], "smoke", store, part))
    for folders in ((whole, part), (part, whole)):
        (card,) = report.read(*folders)
        assert card["runs"]["there"] == card["runs"]["wanted"]
    (card,) = report.read(part)
    assert card["runs"]["there"] < card["runs"]["wanted"]


def test_a_damaged_pack_is_named():
    for content in (b"", b"nothing", lzma.compress(b"{}\n"), lzma.compress(b'{"key": 3')):
        with pytest.raises(EmpiricsError, match=r"a\.jsonl\.xz"):
            unpacked(content, "a.jsonl.xz")
