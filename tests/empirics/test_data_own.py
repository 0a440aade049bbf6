"""Data of one's own: what a CSV file or a frame is read as, the problem made of it, what is wrong with it in a line."""

import os

import numpy as np
import pandas
import pytest
from refusals import all_refused, refusal

from empirics.data.catalogue import dataset
from empirics.data.csv_tables import from_frame, table
from empirics.federation.federation import Federation
from empirics.problems.own_problem import own_problem

ROWS = [("b", 1.5, -2, "red", 30.25), ("a", 0.25, 7, "blue", 41.5), ("b", -3, 0.125, "red", 28), ("c", 4, 5, "red", 33)]
HEAD = "who,height,weight,colour,score"


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("\n".join([HEAD, *(",".join(map(str, row)) for row in ROWS)]) + "\n")
    return path


def written(tmp_path, text):
    """A file of rows: frames are read as the file that they would be saved as."""
    (tmp_path / "rows.csv").write_text(text)
    return str(tmp_path / "rows.csv")


def test_a_target_of_words_is_classes_and_one_of_numbers_regression_unless_classes_are_asked_for(people):
    found = table(str(people), "colour", "who", leave_out="score")
    assert found.inputs.tolist() == [[1.5, -2], [0.25, 7], [-3, 0.125], [4, 5]]
    assert (found.kind, found.targets.tolist()) == ("binary", [1, -1, 1, 1])  # red is later than blue
    assert [found.group_names[g] for g in found.groups] == ["b", "a", "b", "c"]
    assert found.group_word == "who"
    found = table(str(people), "score", leave_out="who colour")
    assert (found.kind, found.targets.tolist(), found.groups) == ("regression", [30.25, 41.5, 28, 33], None)
    classes = table(str(people), "score", leave_out="who, colour", kind="classes")
    assert (classes.kind, classes.classes, classes.targets.tolist()) == ("classification", 4, [1, 3, 0, 2])


def test_whole_numbers_of_64_bits_make_as_many_clients_as_they_are(tmp_path):
    ids = [2**60 + 1, 2**60, 2**60 + 1, 2**60 + 3]
    frame = pandas.DataFrame({"id": ids, "dose": [0.5, 1.5, -2.25, 0.125], "ok": [True, False, True, True]})
    frame.to_csv(tmp_path / "ids.csv", index=False)
    for found in (from_frame(frame, "dose", "id"), table(str(tmp_path / "ids.csv"), "dose", "id")):
        assert found.group_names == (str(2**60), str(2**60 + 1), str(2**60 + 3))
        assert found.groups.tolist() == [1, 0, 1, 2]
        assert found.inputs.tolist() == [[1], [0], [1], [1]]
    assert from_frame(frame.astype({"id": "Int64"}), "dose", "id").groups.tolist() == [1, 0, 1, 2]


def test_what_is_missing_or_not_a_plain_number_is_refused_by_line_column_and_value(tmp_path):
    markers = ("", "NA", "nan", "-NaN", "?", "-", "null", "None", "inf", "<NA>", "1_0", "1e-400", "1e400", "１２", "٣",
               "0,5", "1 000", "#N/A N/A", r"\N", "-1.#IND", "#DIV/0!", "n.a.", "---", "\u2014")  # fmt: skip
    head = ["site", "dose", "cost", "ill"]
    for column in head:
        target = "ill" if column == "ill" else "cost"
        words = (target, "site", "cost" if column == "ill" else "ill")
        for marker in markers:
            rows = [["s1", "0.7", "2.5", "yes"], ["s2", "1.3", "-4.1", "no"], ["s1", "-0.2", "3.25", "no"]]
            rows[1][head.index(column)] = f'"{marker}"'
            text = "\n".join(",".join(row) for row in [head, *rows]) + "\n"
            for kind in ("", "classes"):
                said = refusal(table, written(tmp_path, text), *words, kind=kind)
                assert f": {column} must hold " in said
                assert f"line 3 has {marker!r}" in said


def test_what_is_wrong_with_a_file_or_a_column_is_one_line(people, tmp_path, refused):
    whole = people.read_text()

    def line(change):
        people.write_text(whole.replace(*change))
        text = f"softmax(table({str(people)!r}, target='colour', group='who', leave_out='score'))"
        return refused("constants", "--problem", text)

    changes = {
        ("0.25,7", ",7"): "height 3 ''",
        ("0.25,7", "0.25"): "3 4 5",
        ("a,0.25", ",0.25"): "who 3 ''",
        ("height", "weight"): "'weight'",
        ("blue", "red"): "colour 'red'",
        **{(",", separator): repr(separator) for separator in (";", "|")},
        (",", " "): "'",
    }
    all_refused([(change, f"people.csv {words}") for change, words in changes.items()], line)
    people.write_text(whole)
    columns = [
        ({"target": "color"}, "'color' 'colour'"),
        ({"group": "whom"}, "'whom' 'who'"),
        ({"kind": "class"}, "'class' 'classes'"),
        ({"leave_out": "who height weight score"}, "people.csv who height"),
        ({"file": str(tmp_path / "none.csv")}, "none.csv"),
    ]
    all_refused(columns, lambda change: table(**{"file": str(people), "target": "colour", **change}))
    frames = {1: "DataFrame dict", 2: "(0, 1)"}
    all_refused(frames, lambda case: from_frame({"x": [1.5]} if case == 1 else pandas.DataFrame({"x": []}), "x"))
    for content, word in ((b"", "CSV"), (b"a,b\n", "sample"), (b"\xff\xfe,\n", "UTF-8"), (b'a,y\n"1,2\n', "CSV")):
        (tmp_path / "odd.csv").write_bytes(content)
        all_refused({"y": f"odd.csv {word}"}, lambda target: table(str(tmp_path / "odd.csv"), target))
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path):  # found before they are opened
        all_refused({path: f"{path} file"}, lambda path: refused("train", "--csv", path, "--target", "y"))


def test_text_among_numbers_and_other_notations_do_not_become_classes_unless_they_are_called_so(tmp_path):
    path = written(tmp_path, "dose,y\n0.3,1.5\n0.7,2.5\n1.1,low\n1.9,3.5\n")
    assert "line 4 has 'low'" in refusal(table, path, "y")
    assert table(path, "y", kind="classes").class_names == ("1.5", "2.5", "3.5", "low")
    for words in ("12.5% 3.1% 7.25% 9%", "$5.20 $1.75 $3.10 $9", "0.5kg 2kg 3kg 7kg"):
        cells = words.split()
        path = written(tmp_path, "dose,y\n" + "".join(f"{0.3 * i},{cell}\n" for i, cell in enumerate(cells)))
        all_refused({"y": f"y 4 classes '{cells[0]}'"}, lambda target, path=path: refusal(table, path, target))
        assert table(path, "y", kind="classes").classes == 4


def test_an_index_that_was_saved_is_refused_and_columns_with_blanks_are_left_out(tmp_path):
    path = tmp_path / "saved.csv"
    pandas.DataFrame({"dose": [0.5, 1.5, 2.5], "y": [1.25, 2.75, 0.5]}).to_csv(path)
    for reader, data in ((table, str(path)), (from_frame, pandas.read_csv(path))):
        assert "'Unnamed: 0'" in refusal(reader, data, "y")
        assert reader(data, "y", leave_out="Unnamed: 0").inputs.tolist() == [[0.5], [1.5], [2.5]]
    path.write_text("first name,last name,dose,y\nAnn,Lee,1.5,2.5\nBo,Ray,3.5,4.5\n")
    assert table(str(path), "y", leave_out="first name, last name").inputs.tolist() == [[1.5], [3.5]]
    assert table(str(path), "y", "last name", leave_out="first name").group_names == ("Lee", "Ray")


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


def test_a_frame_is_read_as_its_file_is(frame, file):
    frame["age"] = frame.age.astype("Int64")
    frame["visits"] = (frame.age % 2).astype("Sparse[int64]")
    frame.to_csv(file, index=False)
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


@pytest.mark.parametrize(("target", "model"), [("cost", "ridge"), ("ill", "logistic"), ("stage", "softmax")])
def test_the_model_is_that_of_the_target_and_the_long_line_prints_the_same(target, model, file, run):
    others = " ".join({"cost", "ill", "stage"} - {target})
    own = ["--csv", file, "--target", target, "--group", "site", "--leave-out", others]
    rest = ["--rounds", "2", "--batch", "3", "--step-size", "0.07"]
    status, short, err = run("train", *own, *rest)
    assert status == 0
    whole = f"table({str(file)!r}, target={target!r}, group='site', leave_out={others!r})"
    text = f"{model}(held_out({whole}), regularisation=0.01)"
    assert f'--problem "{text}" --partition "by_group()"\n' in err
    assert run("train", "--problem", text, "--partition", "by_group()", *rest)[:2] == (0, short)
    again = dataset(dataset(whole).name)  # its name reads back
    assert np.array_equal(again.inputs, dataset(whole).inputs)


def test_a_group_whose_lines_are_all_held_out_is_no_client(frame):
    numbered = frame.assign(row=np.arange(24))[["row", "cost"]]
    held = set(range(24)) - {int(row) for row in own_problem(numbered, "cost")[0].data.inputs[:, 0]}
    frame.loc[min(held), "site"] = "lone"
    problem, _, remarks = own_problem(frame, "cost", "site", ["ill"])
    assert "site 'lone'" in remarks[-1]
    assert problem.deal("by_group()", None, 0).clients == 3


def test_options_that_do_not_go_together_are_one_clear_line(file, run):
    cost, ill = f"--csv {file} --target cost", f"--csv {file} --target ill --group site"
    wrong = {
        "--target cost": "target= csv=",
        f"--csv {file}": "target=COLUMN",
        f"{cost} --problem x": "csv= problem=",
        f"{cost} --group site --partition sorted": "group= partition=",
        f"{cost} --regularisation -1": "regularisation 0 -1",
        cost: f"{file} site 2 'north'",
        f"{cost} --group site --leave-out ill --model soft": "'soft'",
        f"{ill} --model femnist_dnn --regularisation 2": "--regularisation femnist_dnn",
    }

    def line(options):
        status, out, err = run("constants", *options.split())
        assert (status, out) == (2, "")
        return err.splitlines()[-1]

    all_refused(wrong, line)
