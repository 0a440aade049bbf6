"""What a stored result is known by where files of the user's own are named: what they and their imports say."""

import pytest

from empirics.experiments import Cell
from empirics.experiments.sources import digests, own_files, source_digest

OWN = """
import numpy
import helper
from inner.parts import scale
from . import beside

def cell(seed: int = 3) -> "Outcome":
    return helper.made(seed)
"""
FILES = {
    "own.py": OWN,
    "helper.py": "import deeper\n",
    "deeper.py": "x = 1\n",
    "beside.py": "",
    "stranger.py": "y = 1\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in {
        **FILES,
        "inner/__init__.py": "",
        "inner/parts.py": "from . import side\n",
        "inner/side.py": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def trained(folder, **more):
    return Cell("train", {"problem": "softmax(digits)", "algorithm": f"{folder}/own.py:mine", "seed": 3, **more}).key


@pytest.mark.parametrize(
    "name", ["own.py", "helper.py", "deeper.py", "beside.py", "inner/__init__.py", "inner/parts.py", "inner/side.py"]
)
def test_what_a_file_says_and_what_it_imports_changes_the_key(folder, name):
    keys = trained(folder), Cell(f"{folder}/own.py:cell", {"seed": 5}).key
    (folder / name).write_text((folder / name).read_text() + "z = 7\n")
    again = trained(folder), Cell(f"{folder}/own.py:cell", {"seed": 5}).key
    assert keys[0] != again[0]
    assert keys[1] != again[1]


def test_what_it_does_not_import_changes_nothing(folder):
    key = trained(folder)
    (folder / "stranger.py").write_text("y = 2\n")
    assert trained(folder) == key


def test_the_same_place_in_another_folder_is_another_file(folder, tmp_path_factory, monkeypatch):
    other = tmp_path_factory.mktemp("other")
    (other / "own.py").write_text("mine = 3\n")
    arguments = {"problem": "softmax(digits)", "algorithm": "own.py:mine", "seed": 3}
    keys = []
    for place in (folder, other):
        monkeypatch.chdir(place)
        keys.append(Cell("train", arguments).key)
    assert keys[0] != keys[1]


def test_files_are_found_wherever_arguments_name_them(folder):
    own = f"{folder}/own.py:mine"
    assert digests({"a": [1, {"b": own}], "c": "fedavg()"}) == {own: source_digest(folder / "own.py")}
    assert digests({"a": f"{folder}/none.py:mine"}) == {}  # said when it is asked for


def test_a_lone_file_is_known_by_its_text_and_a_broken_one_too(folder):
    (folder / "lone.py").write_text("x = 1\n")
    (folder / "broken.py").write_text("x = (\n")
    assert source_digest(folder / "lone.py") != source_digest(folder / "broken.py")
    assert len(source_digest(folder / "broken.py")) == 12


# ---- tables ----


@pytest.fixture
def sheet(tmp_path):
    path = tmp_path / "my.csv"
    path.write_text("x,y\n1.5,2\n0.25,3\n")
    return path


@pytest.mark.parametrize("call", ["table({!r}, target='y')", "held_out(table(file={!r}, target='y'), share=0.3)"])
def test_a_changed_table_is_another_cell_and_an_unchanged_one_the_same(sheet, call):
    def key():
        return Cell("train", {"problem": f"ridge({call.format(str(sheet))})", "seed": 3}).key

    before = key()
    text = sheet.read_text()
    sheet.write_text(text)  # written again, the same bytes
    assert key() == before
    sheet.write_text(text.replace("0.25", "0.75"))
    assert key() != before
    sheet.write_text(text)
    assert key() == before


def test_what_is_no_table_names_no_file(sheet):
    file = repr(str(sheet))
    assert own_files([f"ridge(table({file}, target='y'))"]) == {str(sheet): sheet}
    assert own_files([f"tables({file})", f"ridge(table({file}", f"a table({file})", f"table(x={file})"]) == {}
