"""The number of a run that a statement bounds: its target, folded over rounds or iterations as its statistic says."""

from __future__ import annotations

from typing import Any

import numpy as np

from bounds.core import Bound

from ...runs import readings


def along(bound: Bound) -> bool:
    """Whether the statement is about the virtual average of all clients, iteration by iteration."""
    at = bound.statistic
    return at is not None and (at.over == "iterations" or "virtual" in at.at)


def iterated(bound: Bound, run: readings.Run) -> dict[str, Any]:
    """The readings of every local iteration, for a bound that speaks of them."""
    if not along(bound) or "distance_sq" not in {q.name for q in bound.quantities}:
        return {}
    return {"distance_sq": run.iterations("distance_sq")[:-1]}


def target(bound: Bound, run: readings.Run, step_size: Any) -> Any:
    """The target by its statistic: one number, or one per round or iteration."""
    word, at = bound.target.name, bound.statistic
    if along(bound):
        return _along(word, at.kind if at is not None else "every", run, step_size)
    if at is not None and at.kind != "every" and at.over:
        return readings.target(bound, run)
    if word == "next_divergence":
        return run.server["divergence"][1:]
    return run.rounds[word] if word in run.rounds else run.server[word][:-1]


def _along(word: str, kind: str, run: readings.Run, step_size: Any) -> Any:
    if word == "weighted_grad_norm_sq":
        return step_size * run.iterations("grad_norm_sq")[:-1].sum()
    found = run.iterations("distance_sq" if word == "next_distance_sq" else word)
    if word == "next_distance_sq":
        return found[1:]
    if kind in ("min", "mean"):
        return np.min(found) if kind == "min" else np.mean(found[:-1])
    return found[-1] if kind == "last" else found[:-1]
