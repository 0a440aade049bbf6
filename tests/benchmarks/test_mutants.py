"""Errors planted in a few lines."""

import ast

from mutants import Planted

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
