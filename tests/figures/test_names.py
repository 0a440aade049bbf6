"""Names say what was used: panels, columns, rows and lines of the report against the cells behind the numbers."""

import re

from figures import report, substitutes, writing
from figures.catalogue import artefact, NAMES
from figures.making import COMMITTED
from figures.run_description import ours_for_theirs

SETS = (*sorted(substitutes.TITLES.values(), key=len, reverse=True), "CIFAR100")
NETWORKS = ("ResNet-18-GN", "ResNet-20", "VGG-11", "OPT-125M")
NAMED = ("panel", "row", "column", "task", "curve")


def untrue(text, ours, names):
    """The names in a text that are not what ran, unless what ran is said to stand for them."""
    for mine in filter(None, ours):
        text = re.sub(rf"{re.escape(mine)} for ({'|'.join(map(re.escape, names))})(?![\w-])", "", text)
        text = text.replace(mine, "")
    return [name for name in names if re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text)]


def false_names(row):
    """Everything in a row's names that is not what its columns say ran."""
    text = "; ".join(str(row[name]) for name in NAMED if name in row)
    found = untrue(text, [row["data"]], SETS) if row["data"] else []
    found += untrue(text, [row["network"]], NETWORKS) if row["network"] else []
    pairs = re.findall(r"(\d+) of (\d+)(?: for \d+ of \d+)? clients", text) if row["clients"] else []
    found += [pair for pair in pairs if pair != (str(row["cohort"]), str(row["clients"]))]
    return found + re.findall(r"\d+%-\d+", text)


def test_committed_names_are_as_true():
    wrong = {}
    for name in NAMES:
        path, words = COMMITTED / f"{name}.csv", report.read_card(COMMITTED / f"{name}.json")["caption"]
        found = [what for row in (writing.read_rows(path) if path.exists() else []) for what in false_names(row)]
        picture = COMMITTED / f"{name}.svg"
        if artefact(name).draw and picture.exists():
            text = picture.read_text(encoding="utf-8")
            found += re.findall(r"\w\((?:\w+[,=(]|\w+\))", words)  # code
            found += ["caption in the picture"] if "seeds" in re.sub(r"<[^>]+>", " ", text) else []
            found += [] if "seed" in words or name.startswith("ours") else ["no seeds in the caption"]
            found += [] if "<text" in text else ["no words in the picture"]
        wrong |= {name: found} if found else {}
    assert wrong == {}


def test_a_committed_picture_is_drawn_from_the_csv_beside_it(tmp_path):
    for name in ("fedinit.figure_1a", "fedcog.figure_6", "ours.gap_slopes"):
        numbers, card = (
            writing.read_rows(COMMITTED / f"{name}.csv"),
            {"source": "", "title": "t", "caption": "c", "ran": []},
        )
        writing.picture(artefact(name), numbers, card, tmp_path)
        assert (tmp_path / f"{name}.svg").read_bytes() == (COMMITTED / f"{name}.svg").read_bytes(), name


def test_names_that_differ_in_signs_alone_are_one():
    assert ours_for_theirs("CIFAR-10", "CIFAR10") == "CIFAR-10"
