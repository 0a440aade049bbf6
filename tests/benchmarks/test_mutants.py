"""Errors planted in a few lines, and marks of which of these lines are executed."""

import ast

import touched
from mutants import Planted
from touched import Marked, MARKS, Recorder

SOURCE = '''"""A few lines."""
from __future__ import annotations

LEAST = 0.7


def judged(value: int = 3) -> str:
    """Words stay."""
    if value < LEAST or value == 5:
        return "low" + "er"
    elif value > 40:
        return f"{value + 2}"
    for k in range(2):
        value = max(value - k, -value)
    return "high" if value else "nought"
'''


def test_each_error_is_another_single_change_of_the_code_and_none_of_the_words():
    finder = Planted()
    finder.visit(ast.parse(SOURCE))
    found = []
    for place, (_, said) in enumerate(finder.places):
        changed = ast.unparse(Planted(place).visit(ast.parse(SOURCE))).splitlines()
        told = ast.unparse(ast.parse(SOURCE)).splitlines()
        found.append((said, [new for old, new in zip(told, changed, strict=True) if old != new]))
    assert all(len(changed) == 1 for _, changed in found)
    assert ("Or -> And", ["    if value < LEAST and value == 5:"]) in found
    assert ("max -> min", ["        value = min(value - k, -value)"]) in found
    assert ("0.7 -> 1.7", ["LEAST = 1.7"]) in found
    assert ("3 -> 4", ["def judged(value: int=4) -> str:"]) in found
    assert len({changed[0] for _, changed in found}) == len(found) == 14
    assert not any("lower" in said or "value + 3" in changed[0] for said, changed in found)


def test_marks_say_which_statements_are_executed():
    statements, marks = [], {}
    tree = Marked("some.py", statements).generic_visit(ast.parse(SOURCE))
    space = {MARKS: marks}
    exec(compile(tree, "some.py", "exec"), space)
    lines = SOURCE.splitlines()
    assert {lines[statements[n].first - 1] for n in marks} == {"LEAST = 0.7", "def judged(value: int = 3) -> str:"}
    assert all(statements[n].imported for n in marks)
    marks.clear()
    assert space["judged"](41) == "43"
    assert [lines[statements[n].first - 1].strip() for n in sorted(marks)] == [
        "if value < LEAST or value == 5:",
        "elif value > 40:",
        'return f"{value + 2}"',
    ]
    assert not any(statements[n].imported for n in marks)


def test_what_a_file_executes_as_it_is_collected_counts_for_all_its_tests(tmp_path, monkeypatch):
    """A number that a function of the folder makes for a test file: an error in the function is shown to its tests."""
    (tmp_path / "made.py").write_text("def third(x):\n    return x / 3\n\n\ndef twice(x):\n    return 2 * x\n")
    (tmp_path / "test_made.py").write_text("SIX = twice(3)\n")
    marks = bytearray(4)
    recorder = Recorder(marks)
    marks[3] = 1  # the fourth statement, what ``twice`` returns
    recorder.pytest_collection_finish()
    told = {"collected": recorder.collected, "found": [["test_six", 0.3, []]], "failed": []}
    monkeypatch.setattr(touched, "ROOT", tmp_path)
    monkeypatch.setattr(touched, "_recorded", lambda *_: told)
    found = touched.Touched(tmp_path, ["test_made.py"], tmp_path / "kept" / "some.json", slow=False)
    assert [test.name for test in found.by("made.py", 6)] == ["test_six"]
    assert found.by("made.py", 2) == []
