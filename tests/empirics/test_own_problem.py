"""Data of one's own in one line: the model by the target, what is held out, what is refused; frames like files."""

import numpy as np
import pandas
import pytest

from bounds.errors import BoundsError
from empirics.data.own import from_frame, table
from empirics.federation.federation import Federation
from empirics.problems.own_problem import own_problem, spelled_out
from empirics.problems.tasks import task
from fedbounds import main

SIZES = {"north": 13, "south": 7, "west": 4}
SIDES = np.repeat(list(SIZES), list(SIZES.values()))


@pytest.fixture
def frame():
    rng = np.random.default_rng(7)
    found = pandas.DataFrame({"site": SIDES, "dose": rng.normal(size=24), "age": rng.integers(20, 90, 24)})
    found["cost"] = 2.5 * found.dose + rng.normal(size=24)
    found["ill"] = np.where(found.cost > 0.3, "yes", "no")
    found["stage"] = np.arange(24) % 3
    return found


@pytest.fixture
def file(frame, tmp_path):
    path = tmp_path / "sites.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize(("target", "model"), [("cost", "ridge"), ("ill", "logistic"), ("stage", "softmax")])
def test_the_model_is_that_of_the_target_and_the_long_line_prints_the_same(target, model, file, capsys):
    others = " ".join({"cost", "ill", "stage"} - {target})
    own = ["--csv", str(file), "--target", target, "--group", "site", "--leave-out", others]
    rest = ["--rounds", "2", "--batch", "3", "--step-size", "0.07"]
    assert main(["train", *own, *rest]) == 0
    short = capsys.readouterr()
    text = f"{model}(held_out(table({str(file)!r}, target={target!r}, group='site', leave_out={others!r})), "
    line = f'--problem "{text}regularisation=0.01)" --partition "by_group()"'
    assert f"--csv stands for {line}\n" in short.err
    assert main(["train", "--problem", f"{text}regularisation=0.01)", "--partition", "by_group()", *rest]) == 0
    assert capsys.readouterr().out == short.out


def test_what_is_held_out_and_short_of_a_batch_is_said(file, capsys):
    own = ["--csv", str(file), "--target", "cost", "--group", "site", "--leave-out", "ill"]
    assert main(["train", *own, "--rounds", "1", "--batch", "9"]) == 0
    said = capsys.readouterr().err
    tests = task(f"ridge(held_out(table({str(file)!r}, target='cost', group='site', leave_out='ill')))").data.test
    counts = np.bincount(tests.groups, minlength=3)
    span = f"{counts.min()} to {counts.max()} of each site (which has 4 to 13); 3 clients"
    assert f"held out for tests: 5 of 24 lines, {span}\n" in said
    kept = np.array([*SIZES.values()]) - counts
    assert (
        f"{(kept < 9).sum()} of 3 clients hold fewer than the 9 samples of a batch (the smallest {min(kept)})" in said
    )


@pytest.mark.parametrize(
    "verb",
    [
        ["train", "--rounds", "1"],
        ["constants"],
        ["compare", "grad_norm_sq", "rounds=7", "local_steps=3", "step_size=0.01"],
        ["validate", "fedinit.lemma_2", "--rounds", "1", "--seeds", "2", "-o", "OUT"],
    ],
    ids=lambda words: words[0],
)
def test_every_run_says_features_classes_clients_and_weights(verb, file, tmp_path, capsys):
    own = ["--csv", str(file), "--target", "stage", "--group", "site", "--leave-out", "ill", "--batch", "2"]
    words = [word.replace("OUT", str(tmp_path)) for word in verb]
    assert main([*words, *own, "--client-weight", "samples"]) in (0, 1)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "features, " in line]
    tests = task(f"softmax(held_out(table({str(file)!r}, target='stage', group='site', leave_out='ill')))").data.test
    kept = np.array([*SIZES.values()]) - np.bincount(tests.groups, minlength=3)
    assert "3 features, 3 classes ('0', '1', '2'); 3 clients" in line
    assert f"{kept.min()} to {kept.max()} training samples, weighted by" in line


def test_a_group_whose_lines_are_all_held_out_is_no_client(frame):
    held = set(range(24)) - {int(row) for row in _kept(frame)}
    frame.loc[min(held), "site"] = "lone"
    found = own_problem(frame, "cost", "site", ["ill"])
    assert found.remarks[-1] == "site 'lone' has all its lines held out, and is no client"
    assert found.problem.deal("by_group()", None, 0).clients == 3


def _kept(frame):
    """The rows that are not held out, by a feature that counts them."""
    numbered = frame.assign(row=np.arange(24))[["row", "cost"]]
    return own_problem(numbered, "cost").problem.data.inputs[:, 0]


def test_a_model_and_a_penalty_of_ones_choice(file):
    text = own_problem(file, "ill", leave_out="site", model="svm", regularisation=0.3).problem
    assert text == f"svm(held_out(table({str(file)!r}, target='ill', leave_out='site')), regularisation=0.3)"
    text = own_problem(file, "ill", leave_out="site", model="femnist_dnn(precision='double')").problem
    assert text.endswith("leave_out='site')), precision='double')")


def test_whole_numbers_are_one_output_of_ridge_unless_they_are_called_classes(file, frame):
    for data in (file, frame):
        found = own_problem(data, "stage", "site", "ill cost", "ridge")
        made = task(found.problem) if isinstance(found.problem, str) else found.problem
        assert made.deal("by_group()", None, 0).model.dim == 3  # dose, age and the intercept
        assert own_problem(data, "stage", "site", "ill cost", kind="numbers").problem is not None
    assert "kind='numbers'" in own_problem(file, "stage", "site", "ill cost", "ridge").problem
    text = own_problem(file, "stage", "site", "ill cost", "ridge", kind="classes").problem
    assert task(text).deal("by_group()", None, 0).model.dim == 9
    with pytest.raises(BoundsError, match="ill must hold numbers; line 2 has"):
        own_problem(file, "ill", "site", "cost", "ridge")


@pytest.mark.parametrize("verb", ["train", "constants", "advise", "validate"])
def test_other_lines_stay_as_they_are(verb):
    words = ["x", "--problem", "softmax(iris)", "--regularisation", "0.5", "--seeds=3", "cohort=2"]
    assert spelled_out(verb, words) == words


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "cost"], "--target goes with --csv "),
        (["--csv", "FILE"], "--csv needs --target COLUMN, the column to predict"),
        (["--csv", "FILE", "--target", "cost", "--problem", "x"], "leave one of the two out"),
        (["--csv", "FILE", "--target", "cost", "--group", "site", "--partition", "iid"], "leave --partition out"),
        (["--csv", "FILE", "--target", "cost", "--regularisation", "-1"], "must be a finite number > 0"),
        (["--csv", "FILE", "--target", "price"], "unknown column of FILE 'price'"),
        (["--csv", "FILE", "--target", "cost"], "FILE: site must hold numbers; line 2 has 'north'"),
        (["--csv", "FILE", "--target", "cost", "--group", "site", "--leave-out", "ill", "--model", "soft"], "soft"),
        (
            ["--csv", "FILE", "--target", "ill", "--group", "site", "--model", "femnist_dnn", "--regularisation", "2"],
            "penalty of a linear model; femnist_dnn has none",
        ),
    ],
)
def test_a_mistake_is_one_clear_line(options, said, file, capsys):
    assert main(["constants", *(o.replace("FILE", str(file)) for o in options)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said.replace("FILE", str(file)) in err.splitlines()[-1]


# ---- frames ----


def test_a_frame_is_read_as_its_file_is(frame, file):
    frame["age"] = frame.age.astype("Int64")
    for target in ("cost", "ill", "stage"):
        others = [name for name in ("cost", "ill", "stage") if name != target]
        mine, told = from_frame(frame, target, "site", others), table(str(file), target, "site", " ".join(others))
        assert (mine.kind, mine.classes, mine.group_names) == (told.kind, told.classes, told.group_names)
        for part in ("inputs", "targets", "groups"):
            assert np.array_equal(getattr(mine, part), getattr(told, part))


def test_a_federation_of_a_frame_has_a_client_for_every_group(frame):
    found = Federation.from_frame(frame, "ill", "site", ["stage", "cost"])
    assert found.client_sizes.tolist() == list(SIZES.values())
    inputs, targets = found.samples(1)
    south = frame[frame.site == "south"]
    assert inputs.tolist() == south[["dose", "age"]].values.tolist()
    assert targets.tolist() == [int(word == "yes") for word in south.ill]
    assert Federation.from_frame(frame[["dose", "cost"]], "cost").client_sizes.tolist() == [24]


DATES = pandas.date_range("2024-03-05", periods=24)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"when": DATES}, "frame: when must hold numbers; row 0 has '2024-03-05 00:00:00'"),
        ({"kind": pandas.Categorical(["u", "v"] * 12)}, "frame: kind must hold numbers; row 0 has 'u'"),
        ({"dose": [0.5, None, None] * 8}, "frame: dose must hold numbers; row 1 has '' (15 further rows too)"),
        ({"cost": [1.5, float("inf")] * 12}, "frame: cost must hold numbers or text; row 1 has 'inf'"),
        ({"site": [None, *SIDES[1:]]}, "frame: site must hold numbers or text; row 0 has ''"),
        ({"cost": 3}, "frame: cost must hold two classes or more; all lines have '3'"),
    ],
)
def test_what_is_no_number_is_refused_by_its_column(changed, said, frame):
    with pytest.raises(BoundsError) as raised:
        own_problem(frame.drop(columns="ill").assign(**changed), "cost", "site")
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_what_is_no_frame_is_refused():
    with pytest.raises(BoundsError, match=r"^a frame must be a pandas DataFrame; got dict$"):
        from_frame({"x": [1.5]}, "x")
    with pytest.raises(BoundsError, match=r"^frame must hold a row and a column or more; got shape \(0, 1\)$"):
        from_frame(pandas.DataFrame({"x": []}), "x")


def test_names_with_blanks_are_left_out_between_commas(tmp_path):
    path = tmp_path / "blanks.csv"
    path.write_text("first name,last name,dose,y\nAnn,Lee,1.5,2.5\nBo,Ray,3.5,4.5\n")
    assert table(str(path), "y", leave_out="first name, last name").inputs.tolist() == [[1.5], [3.5]]
    assert table(str(path), "y", "last name", leave_out="first name").group_names == ("Lee", "Ray")
