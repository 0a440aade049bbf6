"""Tables of one's own: what a CSV file is read as, and what is wrong with one, in a line."""

import io
import os

import numpy as np
import pandas
import pytest

from bounds.errors import BoundsError
from empirics.data.catalogue import dataset
from empirics.data.dataset import Dataset
from empirics.data.own import from_frame, table
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
        ("0.25,7", ",7", "height must hold numbers; line 3 has ''"),
        ("0.25,7", "tall,7", "height must hold numbers; line 3 has 'tall'"),
        ("0.25,7", "nan,7", "height must hold numbers; line 3 has 'nan'"),
        ("0.25,7", "0.25", "line 3 has 4 cells, the names above are 5"),
        ("a,0.25", ",0.25", "who must hold numbers or text; line 3 has ''"),
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
    ("content", "said"), [(b"", "must be a CSV file"), (b"a,b\n", "one for every sample"), (b"\xff\xfe,\n", "UTF-8")]
)
def test_a_file_that_is_no_table_is_refused(tmp_path, content, said):
    path = tmp_path / "odd.csv"
    path.write_bytes(content)
    with pytest.raises(BoundsError, match=said):
        table(str(path), "y")
    with pytest.raises(BoundsError, match="No such file"):
        table(str(tmp_path / "none.csv"), "y")


# ---- files and frames, the same rules ----


def both(tmp_path, text, *words, **options):
    """What the same rows say, or what is wrong with them, as a file and as a frame of text."""
    path = tmp_path / "rows.csv"
    path.write_text(text)
    frame = pandas.read_csv(io.StringIO(text), dtype=str, keep_default_na=False)
    for read, data in ((table, str(path)), (from_frame, frame)):
        try:
            yield read(data, *words, **options)
        except BoundsError as error:
            yield str(error)


@pytest.mark.parametrize("marker", ["", "NA", "nan", "-NaN", "?", "-", "null", "None", "inf", "<NA>", "1_0", "1e-400",
                                    "1e400", "１２", "٣", "0,5", "1 000", "#N/A N/A", r"\N", "-1.#IND",
                                    "#DIV/0!", "n.a.", "---", "\u2014"])  # fmt: skip
@pytest.mark.parametrize("column", ["site", "dose", "cost", "ill"])
@pytest.mark.parametrize("kind", ["", "classes"])
def test_what_is_missing_or_not_a_plain_number_is_refused_by_line_column_and_value(marker, column, kind, tmp_path):
    rows = [["s1", "0.7", "2.5", "yes"], ["s2", "1.3", "-4.1", "no"], ["s1", "-0.2", "3.25", "no"]]
    head = ["site", "dose", "cost", "ill"]
    rows[1][head.index(column)] = f'"{marker}"'
    text = "\n".join(",".join(row) for row in [head, *rows]) + "\n"
    target = "ill" if column == "ill" else "cost"
    left = "" if column in ("cost", "ill") else "ill"
    words = (target, "site", left or ("cost" if target == "ill" else "ill"))
    for found, where in zip(both(tmp_path, text, *words, kind=kind), ("line 3", "row 1"), strict=True):
        assert isinstance(found, str), found
        assert f": {column} must hold " in found
        assert f"{where} has {marker!r}" in found


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (["1", "1.0", "01", "+1", "1e0", "2.50", "2.5"], ("1", "2.5")),
        (["-0", "0.0", "0", "00", "0e7", "0e-999999999", "-3", "-3.0"], ("-3", "0")),
        (["9007199254740993", "9007199254740992", "9007199254740993.0", "12", "12.", "1.2e1", "012"],
         ("12", "9007199254740992", "9007199254740993")),
        (["2024-01", "2024-02", "10.0.0.1", "10.0.0.1", "b 2", "3/4", "2024-01"],
         ("10.0.0.1", "2024-01", "2024-02", "3/4", "b 2")),
    ],
)  # fmt: skip
def test_numbers_that_are_equal_are_one_label_and_others_are_not(cells, names, tmp_path):
    rows = [f"{cell},{0.3 * i},{i % 2}" for i, cell in enumerate(cells)]
    for found in both(tmp_path, "\n".join(["site,dose,y", *rows]), "y", "site"):
        assert found.group_names == names
    for found in both(tmp_path, "\n".join(["site,dose,y", *rows]), "site", leave_out="y", kind="classes"):
        assert found.class_names == names
        assert len(set(found.targets.tolist())) == found.classes == len(names)


def test_whole_numbers_of_64_bits_make_as_many_clients_as_they_are(tmp_path):
    ids = [2**60 + 1, 2**60, 2**60 + 1, 2**60 + 3]
    frame = pandas.DataFrame({"id": ids, "dose": [0.5, 1.5, -2.25, 0.125], "ok": [True, False, True, True]})
    frame.to_csv(tmp_path / "ids.csv", index=False)
    for found in (from_frame(frame, "dose", "id"), table(str(tmp_path / "ids.csv"), "dose", "id")):
        assert found.group_names == (str(2**60), str(2**60 + 1), str(2**60 + 3))
        assert found.groups.tolist() == [1, 0, 1, 2]
        assert found.inputs.tolist() == [[1], [0], [1], [1]]
    assert from_frame(frame.astype({"id": "Int64"}), "dose", "id").groups.tolist() == [1, 0, 1, 2]


def test_numbers_among_text_are_refused_unless_they_are_called_classes(tmp_path):
    text = "dose,y\n0.3,1.5\n0.7,2.5\n1.1,low\n1.9,3.5\n"
    for found, where in zip(both(tmp_path, text, "y"), ("line 4", "row 2"), strict=True):
        assert f"{where} has 'low'" in found
    for found in both(tmp_path, text, "y", kind="classes"):
        assert found.class_names == ("1.5", "2.5", "3.5", "low")


def test_an_index_that_was_saved_is_refused_in_files_and_frames(tmp_path):
    path = tmp_path / "saved.csv"
    pandas.DataFrame({"dose": [0.5, 1.5, 2.5], "y": [1.25, 2.75, 0.5]}).to_csv(path)
    for read, data in ((table, str(path)), (from_frame, pandas.read_csv(path))):
        with pytest.raises(BoundsError, match="'Unnamed: 0' is a column without a name"):
            read(data, "y")
        assert read(data, "y", leave_out="Unnamed: 0").inputs.tolist() == [[0.5], [1.5], [2.5]]


def test_lines_are_counted_with_blank_ones_and_breaks_inside_quotes(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text('\nnote,dose,y\n\n"two\nlines",0.5,3.5\n\n\nok,1.5,x7\nok,2.5,4.5\n')
    with pytest.raises(BoundsError, match=r"line 8 has 'x7', line 4 has '3.5'"):
        table(str(path), "y", leave_out="note")
    path.write_text('note,dose,y\n"two\nlines",0.5,3.5\n\nok,0,75,4.5\n')
    with pytest.raises(BoundsError, match=r"line 5 has 4 cells, .* 0\.5, not 0,5"):
        table(str(path), "y", leave_out="note")


def test_numbers_in_another_notation_in_every_line_do_not_become_classes(tmp_path):
    for cells in (
        ("12.5%", "3.1%", "7.25%", "9%"),
        ("$5.20", "$1.75", "$3.10", "$9"),
        ("0.5 kg", "2 kg", "3 kg", "7 kg"),
    ):
        text = "dose,y\n" + "".join(f"{0.3 * i},{cell}\n" for i, cell in enumerate(cells))
        for found in both(tmp_path, text, "y"):
            assert isinstance(found, str), found
            assert "4 different texts in 4 rows" in found
            assert repr(cells[0]) in found
        for found in both(tmp_path, text, "y", kind="classes"):
            assert found.classes == 4


def test_frames_of_sparse_columns_and_of_columns_called_by_numbers_are_read(tmp_path):
    frame = pandas.DataFrame({1: [0.5, 1.5, -2.5, 3.5], 2: [3, 0, 0, 7], 5: [0, 1, 1, 0]})
    frame[2] = frame[2].astype("Sparse[int64]")
    found = from_frame(frame, 5)
    assert found.inputs.tolist() == [[0.5, 3], [1.5, 0], [-2.5, 0], [3.5, 7]]
    assert found.targets.tolist() == [-1, 1, 1, -1]


@pytest.mark.parametrize("number", [0.1, 0.7, 3.0, 1234.567, 1e-8, 1e17])
def test_a_constant_feature_becomes_zero_whatever_the_rounding_of_its_mean(number):
    inputs = np.column_stack([np.full(37, number), np.linspace(-2.3, 4.1, 37)])
    data = Dataset("own", inputs, np.arange(37) % 2, 2, source="none", licence="none").standardised()
    assert not data.inputs[:, 0].any()
    assert data.inputs[:, 1].std() == pytest.approx(1)


@pytest.mark.parametrize("separator", [";", "\t", "|", " "])
def test_another_separator_is_named(separator, file):
    with pytest.raises(BoundsError) as raised:
        table(changed(file, ",", separator), "score")
    assert repr(separator) in str(raised.value)


def test_what_is_not_a_regular_file_is_refused_before_it_is_opened(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero", tmp_path):
        assert main(["train", "--csv", str(path), "--target", "y"]) == 2
        assert f"{path} must be a regular file" in capsys.readouterr().err
