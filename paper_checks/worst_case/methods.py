"""Names and parameters of methods in proof files, and the check that ``verify.one_round`` makes their steps."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from empirics.algorithms.algorithm import Algorithm, Average, Gradient, ServerStart
from empirics.algorithms.local import ClientMomentum, Controlled, Proximal
from empirics.algorithms.relaxed import RelaxedStart
from empirics.algorithms.server import ServerMomentum
from empirics.exact.numbers import fraction

from . import verify
from .linear_run import LinearRun
from .program import WorstCaseError

AGREE = 1e-11
"""Relative tolerance between a run in fractions and the same run in floats."""


class NoListing(WorstCaseError):
    """``verify.one_round`` does not list the steps of this method."""


def _parameter(part: str, kind: Any, name: str) -> Callable[[Algorithm], float | None]:
    """Return a function that reads a number of an algorithm's part, or None where the part is of another kind."""
    return lambda a: getattr(getattr(a, part), name) if isinstance(getattr(a, part), kind) else None


METHODS: dict[str, Callable[[Algorithm], float | None]] = {
    "fedavg": lambda a: 0,
    "fedprox": _parameter("direction", Proximal, "mu"),
    "fedinit": _parameter("start", RelaxedStart, "beta"),
    "scaffold": lambda a: 0 if isinstance(a.direction, Controlled) else None,
    "fedavgm": lambda a: a.combine.momentum if isinstance(a.combine, ServerMomentum) and not a.combine.divide else None,
    "fedcm": _parameter("direction", ClientMomentum, "alpha"),
}
"""By name, a function that returns a method's parameter, or None for another method."""


def method_and_parameter(algorithm: Algorithm) -> tuple[str, Fraction]:
    """Return the name and parameter of a method in proof files; raise ``NoListing`` if it has none."""
    name = algorithm.name.partition("(")[0]
    parameter = METHODS[name](algorithm) if name in METHODS else None
    if parameter is not None:
        return name, fraction(parameter)
    if (algorithm.start, algorithm.direction, algorithm.combine) == (ServerStart(), Gradient(), Average()):
        return "fedavg", Fraction(0)  # such as dsgd
    raise NoListing(f"proofs cover methods named {', '.join(METHODS)} only; this one is named {algorithm.name}")


def round_method(algorithm: Algorithm, local_steps: int) -> tuple[str, Fraction]:
    """Return the listed method that makes the same rounds when all clients take part."""
    if local_steps == 1 and isinstance(algorithm.direction, Controlled) and algorithm.start == ServerStart():
        return "fedavg", Fraction(0)  # the mean of the controls is the server's
    return method_and_parameter(algorithm)


def check_steps(run: LinearRun, claim: dict[str, Any]) -> None:
    """Raise ``WorstCaseError`` if the hooks of a method make other models than ``verify.one_round`` for a claim."""
    plan = {key: claim[key] for key in verify.PLAN} | {"local_steps": [path.shape[1] - 1 for path in run.paths]}
    any_metric = {"given": {}, "metric": "grad_norm_sq", "statistic": "last", "over": "rounds"}
    exact = verify.Run({"kind": verify.WORST_CASE, "claim": plan | any_metric, "change": "1", "near": {}})
    queries = [point for name, (point, _) in exact.points.items() if name != "*"]
    names = ["start"] * exact.convex + [f"g{j + 1}" for j in range(run.gradients)]
    for vectors, rows in ((exact.servers, run.server), (queries, run.queries[0])):
        # a client's own gradients and those of one other client; with change 1, gradient j is g1 + ... + gj
        own, other = rows[:, 1 : 1 + run.gradients], rows[:, 1 + run.gradients : 1 + 2 * run.gradients]
        for part, coefficients in enumerate((own + (run.clients - 1) * other, own - other)):
            sums = np.cumsum(coefficients[:, ::-1], axis=1)[:, ::-1]
            floats = np.column_stack([rows[:, :1] * (part == 0), sums] if exact.convex else [sums])
            fractions = np.array([[float(vector.parts[part].get(name, 0)) for name in names] for vector in vectors])
            if not np.allclose(fractions, floats, rtol=0, atol=AGREE * (1 + np.abs(fractions).max())):
                raise WorstCaseError(f"{claim['method']} makes other steps than verify.one_round: no proof")
