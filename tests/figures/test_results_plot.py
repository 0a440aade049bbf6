"""``fedbounds results``: tables in order, of one sweep, for LaTeX; pictures by plain arithmetic; refusals."""

import csv
import statistics
from pathlib import Path

import pytest
from figure_toys import keep
from sweep_cells import HERE

from empirics.experiments import Cell, Outcome, Store

CURVES = {  # by method, local steps and seed: three looks each
    ("fedavg()", 2, 3): [0.11, 0.37, 0.52],
    ("fedavg()", 2, 4): [0.13, 0.31, 0.57],
    ("fedavg()", 10, 3): [0.12, 0.41, 0.59],
    ("fedavg()", 10, 4): [0.17, 0.46, 0.66],
    ("scaffold()", 2, 3): [0.10, 0.29, 0.73],
    ("scaffold()", 2, 4): [0.19, 0.33, 0.78],
}


def cell(method, steps, seed):
    return Cell("train", {"algorithm": method, "local_steps": steps, "seed": seed, "rounds": 2})


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = Store(tmp_path / "fedbounds-store")
    for which, values in CURVES.items():
        keep(made, cell(*which), {"test_accuracy": values, "train_loss": [2.5 - v for v in values]}, facts={"by": "me"})
    return made


@pytest.fixture
def drawn(store, run):
    """Draw stored results; returns the rows of the CSV beside the picture."""

    def command(*words):
        assert run("results", "--plot", *words, "-o", "p.svg") == (
            0,
            "wrote p.svg\nwrote p.csv\nwrote p.caption.md\n",
            "",
        )
        assert "</svg>" in Path("p.svg").read_text()
        with Path("p.csv").open(newline="") as file:
            return {(row["curve"], float(row["x"])): row for row in csv.DictReader(file)}

    return command


def test_curves_are_means_over_seeds_with_their_standard_errors(drawn):
    for word in ("round", "rounds"):
        points = drawn(f"x={word}", "y=test_accuracy", "hue=algorithm", "local_steps=2")
        assert set(points) == {(m, x) for m in ("fedavg()", "scaffold()") for x in (0, 1, 2)}
        for (method, x), row in points.items():
            values = [v[int(x)] for (m, steps, _), v in CURVES.items() if (m, steps) == (method, 2)]
            assert float(row["y"]) == pytest.approx(sum(values) / 2)
            assert float(row["error"]) == pytest.approx(statistics.stdev(values) / 2**0.5)
            assert row["seeds"] == "2"
        caption = Path("p.caption.md").read_text()
        assert all(words in caption for words in ("test_accuracy", "seeds 3, 4", "local_steps=2"))
        assert "algorithm" not in caption


def test_along_an_argument_the_last_values_are_drawn_and_curves_by_two_say_which_in_order(drawn):
    points = drawn("x=local_steps", "y=train_loss", "algorithm=fedavg()")
    assert list(points) == [("train_loss", 2.0), ("train_loss", 10.0)]
    for (_, x), row in points.items():
        values = [2.5 - v[-1] for (m, steps, _), v in CURVES.items() if (m, steps) == ("fedavg()", x)]
        assert float(row["y"]) == pytest.approx(sum(values) / 2)
    points = drawn("x=round", "y=test_accuracy", "hue=algorithm,local_steps")
    curves = list(dict.fromkeys(curve for curve, _ in points))
    assert curves == ["fedavg(), local_steps=2", "fedavg(), local_steps=10", "scaffold(), local_steps=2"]


def test_a_run_that_diverged_counts_as_far_as_it_goes_and_the_caption_says_so(store, drawn):
    keep(store, cell("scaffold()", 2, 5), {"test_accuracy": [0.16]}, status="diverged")
    points = drawn("x=round", "y=test_accuracy", "hue=algorithm", "local_steps=2")
    assert [points["scaffold()", x]["seeds"] for x in (0, 1, 2)] == ["3", "2", "2"]
    assert "1 of 5 runs" in Path("p.caption.md").read_text()


UNDRAWN = (
    ("x=round y=test_accuracy hue=algorithm", "local_steps"),
    ("x=round y=test_accuracy", "hue=algorithm,local_steps"),
    ("x=round y=test_acuracy", "'test_accuracy'"),
    ("x=algorithm y=test_accuracy", "x=algorithm"),
    ("x=round y=test_accuracy algorithm=scaffold() local_steps=10", "no result"),
    ("x=round y=train_loss hue=algorithm,local_steps -o mine.svg", "mine.csv"),
    ("x=round y=train_loss --latex", "--latex"),
    ("x=number y=name --store words", "y=name"),
    ("x=round y=loss --store words", "'round'"),
)


def test_what_cannot_be_drawn_is_one_line(store, refused, tmp_path):
    Path("mine.csv").write_text("my,own\n")
    for number in (2, 7):
        Store(tmp_path / "words").keep(
            Cell(f"{HERE}:square", {"number": number}), Outcome({}, {"name": "a", "loss": 1.5}), 0.1
        )
    for words, named in UNDRAWN:
        assert named in refused("results", "--plot", *words.split()), words
    assert "--plot" in refused("results", "-o", "p.svg")
    again = Cell("timed", cell("fedavg()", 2, 3).arguments)
    keep(store, again, {"test_accuracy": [0.2, 0.3, 0.4]})  # two results of one seed are not averaged
    said = refused("results", "--plot", "x=round", "y=test_accuracy", "algorithm=fedavg()", "local_steps=2")
    assert again.key in said
    assert Path("mine.csv").read_text() == "my,own\n"


def test_latex_is_a_tabular_of_the_same_table(tmp_path, run, refused):
    store = Store(tmp_path / "s")
    for seed, value in ((3, -0.25), (12, 2.5e-7)):
        store.keep(Cell("train", {"algorithm": "fed_avg()", "seed": seed}), Outcome({}, {"test_loss": value}), 0.1)
    words = ["results", "--store", store.folder, "--columns", "algorithm", "seed", "value", "--latex"]
    assert run(*words)[1].splitlines() == [
        r"\begin{tabular}{lrr}", r"  \toprule", r"  algorithm & seed & value \\", r"  \midrule",
        r"  fed\_avg() & 3 & $-0.25$ \\", r"  fed\_avg() & 12 & $2.5 \times 10^{-7}$ \\", r"  \bottomrule",
        r"\end{tabular}",
    ]  # fmt: skip
    store.keep(Cell("train", {"algorithm": "fedsam()", "seed": 5}), Outcome({}, {"test_loss": 1.5}), 0.1)
    said = refused(*words, "algorithm=fedsam()", "seed=3")
    assert all(named in said for named in ("algorithm=fedsam()", "seed=3"))


@pytest.fixture
def swept(tmp_path, monkeypatch, run):
    """Two sweeps that share a cell."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEDBOUNDS_STORE", "s")
    for name, numbers in (("few", [5, 3]), ("a/b more", [5, 7, 11])):
        file = Path(f"{name[:3].replace('/', '')}.toml")
        file.write_text(f'name = "{name}"\njob = "{HERE}:square"\n[vary]\nnumber = {numbers}\n')
        assert run("sweep", file, "--workers", "0")[0] == 0
    return Store(Path("s"))


def test_results_of_a_sweep_by_its_name_and_by_the_file_of_its_plan(swept, run):
    few, more = [3, 5], [5, 7, 11]
    for sweep, numbers in (("few", few), ("few.toml", few), ("a/b more", more), ("ab.toml", more), ("", [3, *more])):
        status, out, err = run("results", *(["--sweep", sweep] if sweep else []), "--columns", "number", "--csv")
        assert (status, err) == (0, "")
        assert [int(line) for line in out.splitlines()[1:]] == numbers, sweep


def test_a_sweep_that_is_not_known_is_refused(swept, refused):
    Path("other.toml").write_text(f'job = "{HERE}:square"\n[vary]\nnumber = [13]\n')
    for sweep, named in (("fee", "'few'"), ("none.toml", "none.toml"), ("", "--sweep"), ("other.toml", "other.toml")):
        assert named in refused("results", "--sweep", sweep), sweep
    assert set(swept.sweeps()) == {"few", "a/b more"}
