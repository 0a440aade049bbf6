"""What a round says in the vocabulary's words, read off exact first and second moments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..problems.quadratics import Quadratics
from .spread import Spread

Array = np.ndarray[Any, Any]


def at_server(problem: Quadratics, model: Spread, last: Spread) -> dict[str, Array]:
    """Readings of a server model ``(d,)`` and the clients' last local models ``(C, d)``."""
    away = model.less(problem.minimiser)
    gradients = Spread(problem.client_gradients(model.mean), _pull(problem, model.columns[:, None, :]))
    squares = gradients.square()
    return {
        "grad_norm_sq": away.map(lambda x: x @ problem.curvature).square(),
        "optimality_gap": gap(problem, away),
        "distance_sq": away.square(),
        "client_grad_norm_sq": squares,
        "mean_client_grad_sq": squares @ problem.weights,
        "divergence": Spread(last.mean - model.mean, last.columns - model.columns[:, None, :]).square().mean(),
    }


def of_round(problem: Quadratics, path: Spread, model: Spread) -> dict[str, Array]:
    """Readings over the local work of all clients: local models ``(C, K+1, d)`` after 0 to K steps from ``model``."""
    steps = path.mean.shape[1] - 1
    drift = Spread(path.mean - model.mean, path.columns - model.columns[:, None, None, :]).square()
    gradients = _path_gradients(problem, path)
    walked = gradients.map(lambda g: g[..., :-1, :].sum(-2))
    at_start = Spread(problem.client_gradients(model.mean), _pull(problem, model.columns[:, None, :]))
    along = Spread(at_start.mean - walked.mean / steps, at_start.columns - walked.columns / steps)
    norms = gradients.square()[:, :-1]
    return {
        "local_drift": drift[:, :-1].sum(1).mean(),
        "summed_grad_norm_sq": walked.map(lambda g: g.sum(-2)).square(),
        "mean_path_gradient_sq": walked.map(lambda g: problem.weights @ g / steps).square(),
        "gradient_drift": along.square(),
        "mean_gradient_drift": problem.weights @ along.square(),
        "grad_cap_sq": (norms + problem.client_gradient_variance[:, None]).max(),
    }


def along_round(problem: Quadratics, path: Spread) -> dict[str, Any]:
    """Readings after 0 to K local steps of all clients; distances from consensus are given layer by layer."""
    average = path.map(lambda w: np.einsum("i,...ikd->...kd", problem.weights, w))
    away = average.less(problem.minimiser)
    apart = Spread(path.mean - average.mean, path.columns - average.columns[:, None])
    layers: Mapping[str, slice] = {**problem.layers, "model": slice(0, problem.dim)}
    return {
        "grad_norm_sq": away.map(lambda x: x @ problem.curvature).square(),
        "optimality_gap": gap(problem, away),
        "distance_sq": away.square(),
        "consensus_distance": {
            name: problem.weights @ apart.map(lambda x, where=where: x[..., where]).square()  # type: ignore[misc]
            for name, where in layers.items()
        },
    }


def over_steps(along: Mapping[str, Any]) -> dict[str, Any]:
    """What the readings along a round add up to: before its local steps (``summed``), after them, and at its end."""
    return {
        "summed_consensus": along["consensus_distance"]["model"][:-1].sum(),
        "summed_gap": along["optimality_gap"][:-1].sum(),
        "round_gap": along["optimality_gap"][1:].mean(),
        "round_end_distance_sq": along["distance_sq"][-1],
    }


def gap(problem: Quadratics, away: Spread) -> Array:
    """``E F(w) - F*``: half the expected square of the distance, measured by the Hessian."""
    factor = np.linalg.cholesky(problem.curvature)
    return away.map(lambda x: x @ factor).square() / 2


def metric_of(curvature: Array, name: str) -> Array:
    """The symmetric matrix M for which a word is the expected ``|M (w - w*)|^2``: squared gradient or distance, gap."""
    if name == "optimality_gap":
        values, axes = np.linalg.eigh(curvature)
        root: Array = axes * np.sqrt(values / 2) @ axes.T
        return root
    return {"grad_norm_sq": curvature, "distance_sq": np.eye(len(curvature))}[name]


def _pull(problem: Quadratics, moves: Array) -> Array:
    """What moves ``(..., C or 1, d)`` of the clients' models change in their gradients."""
    return np.einsum(
        "ide,...ie->...id", problem.curvatures, np.broadcast_to(moves, (*moves.shape[:-2], *problem.minima.shape))
    )


def _path_gradients(problem: Quadratics, path: Spread) -> Spread:
    """Gradients of every client's loss along its own path ``(C, K+1, d)``."""
    away = path.mean - problem.minima[:, None, :]
    return Spread(away, path.columns).map(lambda w: np.einsum("ide,...ike->...ikd", problem.curvatures, w))
