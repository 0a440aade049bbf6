"""``fedbounds results``: tables in order, of one sweep, for LaTeX; pictures by plain arithmetic; refusals."""

import csv
import statistics
from pathlib import Path

import pytest
from figure_toys import keep, said
from sweep_cells import HERE

from empirics.experiments import Cell, Outcome, Store
from empirics.experiments.sweeps import record, recorded

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


def drawn(capsys, *words):
    """The rows of the CSV beside a picture."""
    status, out, err = said(capsys, "results", "--plot", *words, "-o", "p.svg")
    assert (status, err) == (0, "")
    assert out == "wrote p.svg\nwrote p.csv\nwrote p.caption.md\n"
    assert "</svg>" in Path("p.svg").read_text()
    with Path("p.csv").open(newline="") as file:
        return {(row["curve"], float(row["x"])): row for row in csv.DictReader(file)}


@pytest.mark.parametrize("word", ["round", "rounds"])
def test_curves_are_means_over_seeds_with_their_standard_errors(word, store, capsys):
    found = drawn(capsys, f"x={word}", "y=test_accuracy", "hue=algorithm", "local_steps=2")
    assert set(found) == {(m, x) for m in ("fedavg()", "scaffold()") for x in (0, 1, 2)}
    for (method, x), row in found.items():
        values = [v[int(x)] for (m, steps, _), v in CURVES.items() if (m, steps) == (method, 2)]
        assert float(row["y"]) == pytest.approx(sum(values) / 2)
        assert float(row["error"]) == pytest.approx(statistics.stdev(values) / 2**0.5)
        assert row["seeds"] == "2"
    caption = Path("p.caption.md").read_text()
    assert caption.startswith("**test_accuracy over round.** Mean over seeds 3, 4; ")
    assert "local_steps=2" in caption
    assert "algorithm" not in caption


def test_along_an_argument_the_last_values_are_drawn_its_numbers_in_order(store, capsys):
    found = drawn(capsys, "x=local_steps", "y=train_loss", "algorithm=fedavg()")
    assert list(found) == [("train_loss", 2.0), ("train_loss", 10.0)]
    for (_, x), row in found.items():
        values = [2.5 - v[-1] for (m, steps, _), v in CURVES.items() if (m, steps) == ("fedavg()", x)]
        assert float(row["y"]) == pytest.approx(sum(values) / 2)


def test_curves_by_two_arguments_stand_in_order_and_say_which(store, capsys):
    found = drawn(capsys, "x=round", "y=test_accuracy", "hue=algorithm,local_steps")
    curves = list(dict.fromkeys(curve for curve, _ in found))
    assert curves == ["fedavg(), local_steps=2", "fedavg(), local_steps=10", "scaffold(), local_steps=2"]


def test_a_run_that_diverged_counts_as_far_as_it_goes_and_the_caption_says_so(store, capsys):
    keep(store, cell("scaffold()", 2, 5), {"test_accuracy": [0.16]}, status="diverged")
    found = drawn(capsys, "x=round", "y=test_accuracy", "hue=algorithm", "local_steps=2")
    assert [found["scaffold()", x]["seeds"] for x in (0, 1, 2)] == ["3", "2", "2"]
    assert "1 of 5 runs diverged" in Path("p.caption.md").read_text()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["x=round", "y=test_accuracy", "hue=algorithm"], "differ in local_steps would be averaged as if they were"),
        (["x=round", "y=test_accuracy"], "draw them apart with hue=algorithm,local_steps"),
        (["x=local_step", "y=test_accuracy"], "unknown column 'local_step'; did you mean 'local_steps'?"),
        (["x=round", "y=test_acuracy"], "unknown quantity 'test_acuracy'; did you mean 'test_accuracy'?"),
        (["x=round", "y=test_accuracy", "hue=algoritm"], "unknown column 'algoritm'; did you mean 'algorithm'?"),
        (["x=round", "y=test_accuracy", "hue=seed,seed"], "seed is given twice"),
        (["x=algorithm", "y=test_accuracy"], "x=algorithm must be a number in every run that is drawn; a run has 'fed"),
        (["x=round", "y=test_accuracy", "algorithm=scaffold()", "local_steps=10"], "nothing to draw: no result has"),
        (["x=round"], "--plot needs y=..., such as y=test_accuracy"),
        (["x=", "y=test_accuracy"], "--plot needs x=..., such as x=round"),
        (["x=round", "y=test_accuracy", "--columns", "seed"], "--plot draws no columns: leave out --columns"),
        (["x=round", "y=train_loss", "hue=algorithm,local_steps", "-o", "p.xyz"], "unknown picture format '.xyz'"),
        (["x=round", "y=train_loss", "hue=algorithm,local_steps", "-o", "mine.svg"], "mine.csv would be replaced"),
        (["x=round", "y=train_loss", "--latex"], "not allowed with argument"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(words, line, store, capsys):
    Path("mine.csv").write_text("my,own\n")
    status, out, err = said(capsys, "results", "--plot", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert line in err


@pytest.mark.parametrize(
    ("facts", "words", "line"),
    [
        (
            {"name": "three"},
            ["x=number", "y=name"],
            "y=name must be a number in every run that is drawn; a run has 'th",
        ),
        ({"loss": 1.5}, ["x=round", "y=loss"], "unknown column 'round'"),
    ],
)
def test_a_quantity_of_words_and_one_without_rounds_are_refused(facts, words, line, tmp_path, capsys):
    store = Store(tmp_path / "s")
    for number in (2, 7):
        store.keep(Cell(f"{HERE}:square", {"number": number}), Outcome({}, facts), 0.1)
    status, out, err = said(capsys, "results", "--store", store.folder, "--plot", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert line in err


def test_two_results_of_one_seed_are_not_averaged(store, capsys):
    again = Cell("timed", cell("fedavg()", 2, 3).arguments)
    keep(store, again, {"test_accuracy": [0.2, 0.3, 0.4]})
    words = ["x=round", "y=test_accuracy", "algorithm=fedavg()", "local_steps=2"]
    status, _, err = said(capsys, "results", "--plot", *words)
    assert status == 2
    assert "3 values of one seed would be averaged" in err
    assert again.key in err


def test_a_file_for_a_picture_needs_a_picture(store, capsys):
    assert "give --plot" in said(capsys, "results", "-o", "p.svg")[2]


# ---- tables ----


def test_numbers_are_sorted_as_numbers_and_those_in_texts_too(tmp_path, capsys):
    store = Store(tmp_path / "s")
    for steps in (10, 2, 0.5):
        for partition in ("shards(10)", "shards(2)", "iid"):
            arguments = {"local_steps": steps, "partition": partition, "seed": 3}
            store.keep(Cell("train", arguments), Outcome({}, {"n": 1}), 0.1)
    words = ["--store", store.folder, "--columns", "local_steps", "partition", "--csv"]
    found = [line.split(",") for line in said(capsys, "results", *words)[1].splitlines()[1:]]
    assert found == [[k, p] for k in ("0.5", "2", "10") for p in ("iid", "shards(2)", "shards(10)")]


def test_latex_is_a_tabular_of_the_same_table(tmp_path, capsys):
    store = Store(tmp_path / "s")
    for seed, value in ((3, -0.25), (12, 2.5e-7)):
        store.keep(Cell("train", {"algorithm": "fed_avg()", "seed": seed}), Outcome({}, {"test_loss": value}), 0.1)
    words = ["results", "--store", store.folder, "--columns", "algorithm", "seed", "value", "--latex"]
    assert said(capsys, *words)[1].splitlines() == [
        r"\begin{tabular}{lrr}", r"  \toprule", r"  algorithm & seed & value \\", r"  \midrule",
        r"  fed\_avg() & 3 & $-0.25$ \\", r"  fed\_avg() & 12 & $2.5 \times 10^{-7}$ \\", r"  \bottomrule",
        r"\end{tabular}",
    ]  # fmt: skip
    store.keep(Cell("train", {"algorithm": "fedsam()", "seed": 5}), Outcome({}, {"test_loss": 1.5}), 0.1)
    status, out, err = said(capsys, *words, "algorithm=fedsam()", "seed=3")
    assert (status, out) == (2, "")
    assert "no result has algorithm=fedsam() and seed=3: there is no table to write" in err


# ---- the results of one sweep ----


@pytest.fixture
def swept(tmp_path, monkeypatch, capsys):
    """Two sweeps that share a cell."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FEDBOUNDS_STORE", "s")
    for name, numbers in (("few", [5, 3]), ("a/b more", [5, 7, 11])):
        file = Path(f"{name[:3].replace('/', '')}.toml")
        file.write_text(f'name = "{name}"\njob = "{HERE}:square"\n[vary]\nnumber = {numbers}\n')
        assert said(capsys, "sweep", file, "--workers", "0")[0] == 0
    return Store(Path("s"))


@pytest.mark.parametrize(
    ("sweep", "numbers"),
    [("few", [3, 5]), ("few.toml", [3, 5]), ("a/b more", [5, 7, 11]), ("ab.toml", [5, 7, 11]), (None, [3, 5, 7, 11])],
)
def test_results_of_a_sweep_by_its_name_and_by_the_file_of_its_plan(sweep, numbers, swept, capsys):
    words = ["--sweep", sweep] if sweep else []
    status, out, err = said(capsys, "results", *words, "--columns", "number", "--csv")
    assert (status, err) == (0, "")
    assert [int(line) for line in out.splitlines()[1:]] == numbers


def test_the_last_plan_of_a_name_counts_and_a_store_that_is_read_only_needs_no_record(swept, capsys, monkeypatch):
    Path("few.toml").write_text(f'name = "few"\njob = "{HERE}:square"\n[vary]\nnumber = [7]\n')
    assert said(capsys, "sweep", "few.toml", "--workers", "0")[0] == 0
    assert said(capsys, "results", "--sweep", "few", "--columns", "number", "--csv")[1].split() == ["number", "7"]

    def refuses(*_):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("empirics.experiments.sweeps.write_lasting", refuses)
    assert said(capsys, "sweep", "ab.toml", "--workers", "0")[:2] == (0, "a/b more: 3 cells: 3 there before\n")
    record(swept, "few", [])
    assert len(recorded(swept)["few"]) == 1


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--sweep", "fee"], "unknown sweep 'fee'; did you mean 'few'?; or give the file of its plan"),
        (["--sweep", "none.toml"], "none.toml: No such file or directory"),
        (["--sweep", ""], "--sweep: must not be empty"),
        (["--sweep", "other.toml"], "none of the 1 cells of other.toml has a result in s: fedbounds sweep FILE runs"),
    ],
)
def test_a_sweep_that_is_none_is_one_line(words, line, swept, capsys):
    Path("other.toml").write_text(f'job = "{HERE}:square"\n[vary]\nnumber = [13]\n')
    status, out, err = said(capsys, "results", *words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert line in err


def test_a_record_that_is_damaged_is_named(swept, capsys):
    assert set(recorded(swept)) == {"few", "a/b more"}
    path = next(swept.folder.glob("*.sweep"))
    path.write_text('{"name": []')
    status, _, err = said(capsys, "results", "--sweep", "few")
    assert status == 2
    assert f"{path} is not the record of a sweep: delete it" in err
    assert said(capsys, "results")[0] == 0
