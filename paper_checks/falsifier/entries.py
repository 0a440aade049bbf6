"""Of a statement about every round (iteration, client): the entry where it does worst."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bounds.core import Bound

from .core import scores
from .deciding import compiled


class Entry(NamedTuple):
    """The quantities at one entry (one value per client where they vary), the measured number, and whose it is."""

    values: dict[str, Any]
    measured: Any
    client: int | None


def worst_entry(bound: Bound, used: Mapping[str, Any], measured: Any) -> Entry:
    """The entry where the statement does worst.

    ``measured`` is an array of exact numbers, one per entry; a quantity that changes along has as many. Where the
    target varies over clients they are its last axis.
    """
    rough = {name: np.asarray(value, dtype=float) for name, value in used.items()}
    with np.errstate(all="ignore"):
        at = np.broadcast_to(compiled(bound)(**rough), measured.shape)
    found = np.where(np.isnan(at), -np.inf, scores(measured.astype(float), at, bound.relation))
    index = np.unravel_index(int(np.argmax(found)), measured.shape)
    own = int(index[-1]) if bound.target.card.axis else None
    over = {q.name for q in bound.quantities if q.card.axis}
    row = index[:-1] if own is not None else index
    return Entry({n: _at(v, row, n in over) for n, v in used.items()}, measured[index], own)


def _at(value: Any, row: tuple[Any, ...], varies: bool) -> Any:
    array = np.asarray(value, dtype=object)
    here = array[row] if array.ndim > int(varies) else array
    if not varies:
        return here.item() if isinstance(here, np.ndarray) else here
    return list(here)
