"""Values that bring labels along, such as a pandas Series: the answer keeps its index. pandas itself is not needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import DomainError
from ..statement import Statement


def of_library(value: Any, name: str) -> bool:
    """Whether a value's class, or one it is made from, comes from this package, which need not be imported to know."""
    return any(kind.__module__.partition(".")[0] == name for kind in type(value).__mro__)


def is_series(value: Any) -> bool:
    return of_library(value, "pandas") and type(value).__name__ == "Series"


def labelled(bound: Statement, values: Mapping[str, Any], answer: Any) -> Any:
    """The answer as a Series with the index of those among ``values`` that it runs along; plain where none is one.

    A Series of a quantity that varies over clients runs along them, any other is a sweep. Two along one axis must have
    one index. An answer along several axes stays an array.
    """
    if not np.ndim(answer):
        return answer
    axes = {q.name: q.card.axis for q in bound._all}
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
