"""The examples in docstrings are true."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import empirics

ROOM = Path(empirics.__file__).parent
TOLD = [path for path in sorted(ROOM.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", TOLD, ids=lambda path: path.relative_to(ROOM).as_posix())
def test_the_examples_of_a_module_are_true(path):
    module = import_module(".".join(("empirics", *path.relative_to(ROOM).with_suffix("").parts)))
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed
