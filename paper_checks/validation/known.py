"""The constants of a bound from problem, plan and algorithm: their sources, and whether they support a verdict.

A theorem holds with every constant that meets its assumption, so any cap that is valid at every model supports a
verdict. A maximum along a path is only a lower estimate, and a constant that the user gives is not checked: with these
the bound is shown without a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from bounds.errors import MissingQuantityError
from empirics.algorithms.algorithm import Algorithm
from empirics.errors import EmpiricsError
from empirics.measuring.constants import closed_forms, Constant, constants, DECIDING, LOWER, visited
from empirics.measuring.costs import Devices
from empirics.models.linear import Linear
from empirics.problems.problem import FederatedProblem
from empirics.progress import Progress
from empirics.training.setting import Setting

from ..runs import schedules
from ..runs.readings import of_plan, UNBIASED


class Known(NamedTuple):
    """A value, its source, its interval, and why it supports no verdict (empty if it does)."""

    value: Any
    how: str
    low: Any
    high: Any
    doubt: str = ""

    @classmethod
    def sure(cls, value: Any, how: str) -> Known:
        return cls(value, how, value, value)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of a single uncertain number; None where it is certain or a list."""
        if np.ndim(self.value) or self.low == self.high:
            return None
        return float(self.low), float(self.high)


def known(
    names: Mapping[str, str],
    problem: FederatedProblem,
    method: Algorithm,
    setting: Setting,
    given: Mapping[str, float],
    sizes: Mapping[str, int],
    walk: bool = True,
    bar: Progress | None = None,
) -> dict[str, Known]:
    """The values of ``names`` that are not measured; ``sizes`` are the chosen numbers of samples.

    Every name comes with the quantity of the problem that it takes. ``walk``: estimates are made along a run, not only
    at the start.

    Raises:
        MissingQuantityError: where a value is unknown.
    """
    devices = Devices()
    plan = {
        **of_plan(setting.cohort, setting.steps, setting.rounds, setting.step_size, None, setting.step_offset),
        **{name: getattr(devices, name) for name in ("download_rate", "upload_rate", "minibatch_time")},
        "relaxation": getattr(method.start, "beta", None),
        "untouched_steps": 1,  # before its first step a run is that on the other data
    }
    found = {name: Known.sure(value, "the setting") for name, value in plan.items() if value is not None}
    found |= {name: Known.sure(value, "as drawn") for name, value in sizes.items()}
    for name in given:
        if name in found:  # a bound at one plan, or on other devices, beside runs of these
            raise EmpiricsError(f"{name} is {found[name].value:g} in these runs: leave {name}= out")
    if any(name not in found and name not in given for name in names):
        constant = _of_problem(problem, method, setting, walk, bar)
        found = {**{name: constant[word] for name, word in names.items() if word in constant}, **found}
    for name, value in given.items():
        found[name] = Known.sure(value, "given")._replace(doubt="is given, not proved")
    missing = [name for name in names if name not in found]
    if missing:
        said = " ".join(f"{name}=NUMBER" for name in missing)
        raise MissingQuantityError(f"{', '.join(missing)} is unknown for {problem}: give {said} to see the formula")
    return {name: found[name] for name in names}


def of_rounds(values: Mapping[str, Any], setting: Setting, rounds: int) -> dict[str, Any]:
    """The values for the first ``rounds`` rounds of the run."""
    many = rounds * setting.steps
    summed = sum(schedules.sizes(setting.step_size, setting.step_offset, many))
    changed = {"rounds": rounds, "iterations": many, "summed_step_sizes": summed}
    return {name: changed.get(name, value) for name, value in values.items()}


# ---- the problem ----


def _of_problem(
    problem: FederatedProblem, method: Algorithm, setting: Setting, walk: bool, bar: Progress | None
) -> dict[str, Known]:
    """The constants: closed forms for this algorithm and plan, else estimates along a run of seed 0.

    Those of a network are lower estimates at any cost and decide nothing, so the quick ones are computed.
    """
    most = 20 if problem.convex else 2
    path = visited(problem, method, setting, 0, most) if walk else None
    closed = closed_forms(problem, setting.batch, method, setting.step_size)
    estimates = constants(problem, setting.batch, path, quick=True, bar=bar, closed=closed)
    found = {name: _estimate(c) for name, c in estimates.items()}
    if "initial_loss" in found:
        found["current_loss"] = found["initial_loss"]._replace(how="at the start")
    if "optimum_dissimilarity" in found:
        found["control_error"] = found["optimum_dissimilarity"]._replace(how="controls start at zero")
    found |= {word: Known.sure(value, "gradients of samples are unbiased") for word, value in UNBIASED.items()}
    if isinstance(problem.model, Linear):
        found |= _largest(problem, problem.model, problem.model.start(0).unsqueeze(0) if path is None else path)
    parameters = problem.model.dim
    found["complexity"] = Known.sure(parameters, "replaced by the number of parameters")
    return found


def _largest(problem: FederatedProblem, model: Linear, path: Tensor) -> dict[str, Known]:
    """The largest loss of a sample and the largest norm of its gradient, over a run or over all models."""
    loss = slope = 0.0
    for w in path:
        norm = model.regularisation * float(w.norm())
        for _, x, y in problem.samples.like(w).chunks(1 << 15):
            loss = max(loss, float(model.evaluate(w.unsqueeze(0), x, y)[0].max()))
            pull = model.pull(model.output(w.unsqueeze(0), x), y)[0]
            slope = max(slope, float((pull.norm(dim=0) * x[0].norm(dim=-1)).max()) + norm)
    found = {
        word: Known(seen, "the largest at models of a run", seen, math.inf, "is a lower estimate")
        for word, seen in (("loss_cap", loss), ("lipschitz", slope))
    }
    if problem.lipschitz is not None and math.isfinite(problem.lipschitz):
        found["lipschitz"] = Known.sure(problem.lipschitz, "at every model")
    return found


def _estimate(constant: Constant) -> Known:
    doubt = "is a lower estimate" if constant.provenance == LOWER else "is an interval"
    doubt = "" if constant.provenance in DECIDING else doubt
    return Known(constant.value, constant.how, constant.low, constant.high, doubt)
