"""The signature of a bound: its quantities as keyword arguments, for ``inspect`` and completion in notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter, Signature
from typing import Any, TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..quantities import Quantity
    from ..statement import Statement

REAL, WHOLE, EACH = float | np.ndarray, int | np.ndarray, Sequence[float] | np.ndarray
"""Annotations: a number, an integer, one number per client; or arrays of them."""


class CallSignature:
    """The descriptor ``__signature__`` of bounds. The class itself has none, so that it shows its constructor."""

    def __get__(self, bound: Statement | None, owner: type[Statement]) -> Signature:
        if bound is None:
            raise AttributeError("__signature__")
        named = [Parameter(q.name, Parameter.KEYWORD_ONLY, annotation=_kind(q)) for q in bound.quantities]
        return Signature(named, return_annotation=REAL)


def _kind(quantity: Quantity) -> Any:
    if quantity.card.axis:
        return EACH
    return WHOLE if quantity.card.domain.whole else REAL
