"""Evaluate a bound for a number of identical clients without an array over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import DomainError
from ..quantities import CLIENTS
from ..statement import Statement
from ..vocabulary import client_weight, clients

ROUNDING = 1e-9
"""The tolerance for the sum of the weights, as in their domain."""


def applies(bound: Statement, values: Mapping[str, Any]) -> bool:
    """Whether ``values`` have the number of clients and no lists over them (a list of one entry is one)."""
    if clients.name not in values or bound.axis != CLIENTS or bound.target.card.axis:
        return False
    merged = {**bound.given, **values}
    over = [merged[q.name] for q in bound.all_quantities if q.card.axis and q.name in merged]
    return all(np.ndim(value) == 0 or (np.ndim(value) > 1 and np.shape(value)[-1] == 1) for value in over)


def special_form(bound: Statement) -> Statement:
    """Return ``bound.equal_clients()`` without fixed values of quantities that do not occur in it."""
    form = bound.equal_clients()
    names = {q.name for q in form.all_quantities}
    over = {q.name for q in bound.all_quantities if q.card.axis}
    return replace(form, given={n: _dropped(v) if n in over else v for n, v in form.given.items() if n in names})


def special_values(bound: Statement, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``values`` for the special form: per-client quantities without their axis, and no weights."""
    over = {q.name for q in bound.all_quantities if q.card.axis}
    short = {name: _dropped(value) if name in over else value for name, value in values.items()}
    weight = short.pop(client_weight.name, _dropped(bound.given.get(client_weight.name, np.nan)))
    if any(q == client_weight for q in bound.all_quantities):
        _check_weights(np.asarray(weight, dtype=float), np.asarray(values[clients.name], dtype=float))
    return short


def _check_weights(weight: np.ndarray, count: np.ndarray) -> None:
    clients.card.domain.check(clients.name, count)
    weight, count = np.broadcast_arrays(weight, count)
    with np.errstate(over="ignore"):  # an infinite sum is rejected below, too
        total = weight * count
    if (wrong := ~(np.abs(total - 1) <= ROUNDING)).any():
        raise DomainError(
            f"{client_weight.name} must sum to 1 over the clients; got a sum of {total[wrong].flat[0]:g} "
            f"over {count[wrong].flat[0]:g} clients"
        )


def _dropped(value: Any) -> Any:
    return value[..., 0] if np.ndim(value) and hasattr(value, "shape") else value[0] if np.ndim(value) else value
