"""Values of a point by the names of quantities, some of them replaced."""

from types import SimpleNamespace


def but(v: SimpleNamespace, **changed: object) -> SimpleNamespace:
    return SimpleNamespace(**{**vars(v), **changed})
