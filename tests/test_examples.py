"""The examples in docstrings are true."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("bounds", "empirics", "paper_checks", "figures")
TOLD = [
    path.relative_to(ROOT)
    for room in ROOMS
    for path in sorted((ROOT / room).rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("path", TOLD, ids=Path.as_posix)
def test_the_examples_of_a_module_are_true(path):
    found = doctest.testmod(import_module(".".join(path.with_suffix("").parts)))
    assert found.attempted
    assert not found.failed
