"""Tables of one's own: what a CSV file is read as, and what is wrong with one, in a line."""

import numpy as np
import pytest

from bounds.errors import BoundsError
from empirics.data.catalogue import dataset
from empirics.data.own import table
from fedbounds import main

ROWS = [("b", 1.5, -2, "red", 30.25), ("a", 0.25, 7, "blue", 41.5), ("b", -3, 0.125, "red", 28), ("c", 4, 5, "red", 33)]
HEAD = "who,height,weight,colour,score"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("\n".join([HEAD, *(",".join(map(str, row)) for row in ROWS)]) + "\n")
    return path


def changed(file, old, new):
    file.write_text(file.read_text().replace(old, new))
    return str(file)


def test_a_target_of_words_is_classes_and_groups_have_names(file):
    found = table(str(file), "colour", "who", leave_out="score")
    assert found.inputs.tolist() == [[1.5, -2], [0.25, 7], [-3, 0.125], [4, 5]]
    assert (found.kind, found.targets.tolist()) == ("binary", [1, -1, 1, 1])  # red is later than blue
    assert [found.group_names[g] for g in found.groups] == ["b", "a", "b", "c"]
    assert found.group_word == "who"


def test_a_target_of_numbers_is_regression_unless_classes_are_asked_for(file):
    found = table(str(file), "score", leave_out="who colour")
    assert (found.kind, found.targets.tolist(), found.groups) == ("regression", [30.25, 41.5, 28, 33], None)
    classes = table(str(file), "score", leave_out="who colour", kind="classes")
    assert (classes.kind, classes.classes, classes.targets.tolist()) == ("classification", 4, [1, 3, 0, 2])


@pytest.mark.parametrize(("many", "kind"), [(20, "classification"), (21, "regression")])
def test_few_whole_numbers_are_classes_in_their_order(tmp_path, many, kind):
    path = tmp_path / "counts.csv"
    path.write_text("x,y\n" + "".join(f"{i / 7},{(i * 11) % many}\n" for i in range(3 * many)))
    found = table(str(path), "y")
    assert found.kind == kind
    assert found.targets.tolist() == [(i * 11) % many for i in range(3 * many)]


def test_it_is_a_data_set_of_the_command_line_and_reads_back(file, capsys):
    text = f"table({str(file)!r}, target='colour', group='who', leave_out='score')"
    assert np.array_equal(dataset(dataset(text).name).inputs, dataset(text).inputs)
    line = ["--problem", f"logistic({text}, regularisation=0.3)", "--partition", "by_group()"]
    assert main(["train", *line, "--rounds", "2", "--batch", "1", "--measure", "train_loss"]) == 0
    assert "train_loss" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0.25,7", ",7", "height is missing in line 3: fill it in, delete the line, or leave_out='height'"),
        ("0.25,7", "tall,7", "height must hold numbers; line 3 has 'tall': code it as numbers, or leave_out='height'"),
        ("0.25,7", "nan,7", "height must hold finite numbers; line 3 has 'nan'"),
        ("0.25,7", "0.25", "line 3 has 4 cells, the names above are 5"),
        ("a,0.25", ",0.25", "who is missing in line 3"),
        ("height", "weight", "two columns are named 'weight': rename one"),
        ("blue", "red", "colour must hold two classes or more; all lines have 'red'"),
    ],
)
def test_what_is_wrong_with_a_file_is_one_line(file, old, new, said, capsys):
    path = changed(file, old, new)
    text = f"softmax(table({path!r}, target='colour', group='who', leave_out='score'))"
    assert main(["constants", "--problem", text]) == 2
    err = capsys.readouterr().err.strip().splitlines()[-1]
    assert f"people.csv: {said}" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"target": "color"}, "colour"),
        ({"target": "colour", "leave_out": "scores"}, "score"),
        ({"target": "colour", "group": "whom"}, "who"),
        ({"target": "colour", "kind": "class"}, "classes"),
        ({"target": "colour", "leave_out": "who height weight score"}, "has no column that is a feature"),
    ],
)
def test_a_column_that_is_not_there_is_named_with_its_like(file, words, said):
    with pytest.raises(BoundsError, match=said):
        table(str(file), **words)


@pytest.mark.parametrize(
    ("content", "said"), [(b"", "got 0 in all"), (b"a,b\n", "got 1 in all"), (b"\xff\xfe,\n", "UTF-8")]
)
def test_a_file_that_is_no_table_is_refused(tmp_path, content, said):
    path = tmp_path / "odd.csv"
    path.write_bytes(content)
    with pytest.raises(BoundsError, match=said):
        table(str(path), "y")
    with pytest.raises(BoundsError, match="No such file"):
        table(str(tmp_path / "none.csv"), "y")
