"""Identical clients: the bound for a number of them, computed by their count and not one by one."""

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
"""How far the weights' sum may be from 1, as in the domain of weights."""


def applies(bound: Statement, values: Mapping[str, Any]) -> bool:
    """Whether ``values`` say how many clients there are and tell none of them from another; a list of one tells one."""
    if clients.name not in values or bound.axis != CLIENTS or bound.target.card.axis:
        return False
    merged = {**bound.given, **values}
    over = [merged[q.name] for q in bound._all if q.card.axis and q.name in merged]
    return all(np.ndim(value) == 0 or (np.ndim(value) > 1 and np.shape(value)[-1] == 1) for value in over)


def special_form(bound: Statement) -> Statement:
    """``bound.equal_clients()`` without the values that were fixed and that it has no place for."""
    form = bound.equal_clients()
    names = {q.name for q in form._all}
    over = {q.name for q in bound._all if q.card.axis}
    return replace(form, given={n: _dropped(v) if n in over else v for n, v in form.given.items() if n in names})


def special_values(bound: Statement, values: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` for the special form: per-client quantities without their axis, no weights."""
    over = {q.name for q in bound._all if q.card.axis}
    short = {name: _dropped(value) if name in over else value for name, value in values.items()}
    weight = short.pop(client_weight.name, _dropped(bound.given.get(client_weight.name, np.nan)))
    if any(q == client_weight for q in bound._all):
        _check_weights(np.asarray(weight, dtype=float), np.asarray(values[clients.name], dtype=float))
    return short


def _check_weights(weight: np.ndarray, count: np.ndarray) -> None:
    clients.card.domain.check(clients.name, count)
    weight, count = np.broadcast_arrays(weight, count)
    with np.errstate(over="ignore"):  # infinity is no sum of 1 either
        total = weight * count
    if (wrong := ~(np.abs(total - 1) <= ROUNDING)).any():
        raise DomainError(
            f"{client_weight.name} must sum to 1 over the clients; got a sum of {total[wrong].flat[0]:g} "
            f"over {count[wrong].flat[0]:g} clients"
        )


def _dropped(value: Any) -> Any:
    return value[..., 0] if np.ndim(value) and hasattr(value, "shape") else value[0] if np.ndim(value) else value
