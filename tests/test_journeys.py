"""The journeys that the documentation tells name functions that exist, where they are."""

import re
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name

import pytest

PAGE = (Path(__file__).resolve().parents[1] / "docs/explanation/architecture.md").read_text(encoding="utf-8")
JOURNEYS = PAGE.split("\n## ")[1:]
MOST = (8, 12, 8, 8)


@pytest.mark.parametrize(("journey", "most"), list(zip(JOURNEYS, MOST, strict=True)))
def test_a_journey_is_short_and_passes_functions_that_exist(journey, most):
    rows = re.findall(r"^\| `(\S+\.py)` \| `(\S+)` \|", journey, flags=re.MULTILINE)
    assert 1 < len(rows) <= most
    for path, function in rows:
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        assert import_module(module).__file__.endswith(path)
        assert callable(resolve_name(f"{module}:{function}")), (path, function)
