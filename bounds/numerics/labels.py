"""Support for pandas Series as arguments: the result gets the index of the Series. pandas need not be installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import DomainError
from ..statement import Statement


def of_library(value: Any, name: str) -> bool:
    """Whether a value's class or one of its base classes comes from this package, without importing the package."""
    return any(kind.__module__.partition(".")[0] == name for kind in type(value).__mro__)


def is_series(value: Any) -> bool:
    return of_library(value, "pandas") and type(value).__name__ == "Series"


def labelled(bound: Statement, values: Mapping[str, Any], answer: Any) -> Any:
    """Return the result as a Series if one of ``values`` is a Series along the same axis, else unchanged.

    A Series of a per-client quantity runs over the clients, any other one is a sweep. Two along the same axis must have
    equal indexes, otherwise ``DomainError`` is raised. A result with several axes stays an array.
    """
    if not np.ndim(answer):
        return answer
    axes = {q.name: q.card.axis for q in bound.all_quantities}
    along = "" if bound.target.card.axis == "" or np.ndim(answer) != 1 else bound.axis
    first: tuple[str, Any] | None = None
    for name, value in values.items():
        if not is_series(value) or axes.get(name, "") != along:
            continue
        if first is not None and not value.index.equals(first[1].index):
            raise DomainError(
                f"{first[0]} and {name} are Series with different indexes: align them first (a.align(b)), or give "
                "arrays (.to_numpy())"
            )
        first = first or (name, value)
    if first is None or np.shape(answer) != (len(first[1]),):
        return answer
    return type(first[1])(answer, index=first[1].index, name=bound.target.name)
