"""The constants of a problem in the vocabulary's words: closed forms where there are any, else estimates on a path."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from bounds.vocabulary import client_gradient_variance

from ...algorithms.algorithm import Algorithm
from ...errors import EmpiricsError
from ...problems.problem import FederatedProblem
from ...progress import Progress, Silent
from ...streams import stream
from ...training.rounds import rounds
from ...training.setting import Setting
from .closed import closed_forms
from .core import between, Constant, known
from .curvature import eigenvalues, FEW_STEPS, hessian_product, roughly
from .noise import gradients_along, of_batches, offset_along, sample_noise

SOME_SAMPLES = 256
"""Samples whose curvature stands for that of all clients' samples where that need not be the largest."""


def visited(problem: FederatedProblem, algorithm: Algorithm, setting: Setting, seed: int, most: int = 20) -> Tensor:
    """Server models along a run, evenly spaced, start and end among them ``(at most 'most', dim)``."""
    if most < 2:
        raise EmpiricsError(f"a path needs at least 2 models; got {most}")
    wanted = set(np.linspace(0, setting.rounds, min(most, setting.rounds + 1)).round().astype(int).tolist())
    states = rounds(problem.model, problem.federation, algorithm, setting, seed)
    return torch.stack([state.model.clone() for state in states if state.round in wanted])


def constants(
    problem: FederatedProblem,
    batch: int,
    path: Tensor | None = None,
    factor: float | None = None,
    *,
    quick: bool = False,
    bar: Progress | None = None,
    closed: Mapping[str, Constant] | None = None,
) -> dict[str, Constant]:
    """What is known of ``problem``, by word; ``batch`` is the minibatch's size.

    ``path (T, dim)`` are models of a run (default: the start alone): maxima along it are lower estimates, said so.
    ``factor`` chooses the B^2 for which G^2 is given (default: what the closed form of quadratics says, else 1).
    ``quick`` takes the curvature of a network from some of the samples of all clients together, which every L of the
    samples' losses covers like those of the clients' losses. ``bar`` hears how far it is. ``closed`` are the closed
    forms that end the intervals of estimates (default: those of plain averaged SGD).
    """
    if batch < 1:
        raise EmpiricsError(f"batch must be >= 1; got {batch}")
    if factor is not None and factor < 1:
        raise EmpiricsError(f"the dissimilarity factor B^2 must be >= 1; got {factor:g}")
    start = problem.model.start(0)
    walked = start.unsqueeze(0) if path is None else path
    where = "at the start" if path is None else f"maximum over {len(walked)} models of a run"
    caps = closed_forms(problem, batch) if closed is None else closed
    parts = (
        _federation(problem),
        _convex(problem, start) if problem.convex else _network(problem, walked, where, quick, bar or Silent()),
        _noise(problem, walked, where, batch, caps),
        _dissimilarity(problem, walked, where, factor, caps),
    )
    return {c.quantity.name: c for part in parts for c in part}


def _federation(problem: FederatedProblem) -> Iterator[Constant]:
    yield known("clients", problem.clients, "counted")
    yield known("client_weight", problem.weights.numpy(), f"{problem.client_weight} weights")
    yield known("parameters", problem.model.dim, "counted")
    yield known("model_size", 32 * problem.model.dim / 1e6, "32 bits a parameter")
    if len(set(problem.client_sizes)) == 1:
        yield known("samples", problem.client_sizes[0], "counted")


def _convex(problem: FederatedProblem, start: Tensor) -> Iterator[Constant]:
    assert problem.smoothness is not None
    assert problem.strong_convexity is not None
    start = start.double()
    yield known(
        "smoothness", problem.smoothness, "closed form: curvature times the largest squared input, plus penalty"
    )
    yield known("strong_convexity", problem.strong_convexity, "closed form: the penalty")
    if problem.strong_convexity > 0:
        yield known("pl_constant", problem.strong_convexity, "strong convexity implies it")
        yield known("condition_number", problem.smoothness / problem.strong_convexity, "smoothness over convexity")
    first = problem.loss(start)
    yield known("initial_loss", first, "evaluated")
    yield known("optimal_loss", problem.optimal_loss, "minimised to gradient norm 1e-10")
    yield known("initial_gap", first - problem.optimal_loss, "minimised to gradient norm 1e-10")
    away = start - problem.minimiser
    yield known("initial_distance_sq", float(away @ away), "minimised to gradient norm 1e-10")
    assert problem.heterogeneity is not None
    yield known("heterogeneity", max(problem.heterogeneity, 0.0), "all minimised to gradient norm 1e-10")


def _network(problem: FederatedProblem, path: Tensor, where: str, quick: bool, bar: Progress) -> Iterator[Constant]:
    pieces = [_some(problem)] if quick else [problem.samples.of(k) for k in range(problem.clients)]
    top, residual = 0.0, 0.0
    bar.start(len(path) * len(pieces))
    for i, w in enumerate(path, 1):
        for piece in pieces:
            bar.doing(f"curvature at model {i} of {len(path)}")
            found = (roughly if quick else eigenvalues)(hessian_product(problem.model, w, *piece), w)
            steepest = max(abs(found.largest), abs(found.smallest))
            if steepest > top:
                top, residual = steepest, max(found.residual_largest, found.residual_smallest)
            bar.step()
    what = "the clients' Hessians"
    if quick:
        what = f"the Hessian of {len(pieces[0][0])} of all clients' samples, {FEW_STEPS} steps"
    how = f"Lanczos on {what}, {where} (residual {residual:.1g}): a lower estimate"
    yield between("smoothness", top, top if quick else top - residual, math.inf, how)
    losses = [problem.loss(w) for w in path]
    yield known("initial_loss", losses[0], "evaluated")
    lowest = min(losses)
    yield between(
        "optimal_loss", lowest, problem.lower_bound, lowest, "least loss on the path; the loss is nonnegative"
    )
    yield between(
        "initial_gap", losses[0] - lowest, losses[0] - lowest, losses[0] - problem.lower_bound, "initial minus optimal"
    )


def _some(problem: FederatedProblem) -> tuple[Tensor, Tensor]:
    """A few of all clients' samples, as many of each as of the others as far as they go."""
    sizes = problem.federation.client_sizes
    share = -(-SOME_SAMPLES // problem.clients)
    first = problem.federation.offsets[:-1]
    chosen = [
        begin + stream(0, "curvature samples", client=k).permutation(size)[:share]
        for k, (begin, size) in enumerate(zip(first, sizes, strict=True))
    ]
    places = torch.from_numpy(np.concatenate(chosen)[:SOME_SAMPLES])
    return problem.samples.pool(problem.federation.members[places.to(problem.federation.members.device)])


def _noise(
    problem: FederatedProblem, path: Tensor, where: str, batch: int, caps: Mapping[str, Constant]
) -> Iterator[Constant]:
    def ended(estimate: Constant) -> Constant:
        return _below(estimate, [c for name, c in caps.items() if name == estimate.quantity.name])

    sizes = problem.federation.client_sizes
    found = [sample_noise(problem, w) for w in path]
    means = np.array([of_batches(f.variance, sizes, batch) for f in found])
    errors = np.array([of_batches(f.error, sizes, batch) for f in found])
    top = np.unravel_index(means.argmax(), means.shape)
    value = float(means[top])
    low = max(0.0, value - 2 * float(errors[top]))
    yield ended(between("gradient_variance", value, low, math.inf, f"{where}: a lower estimate"))
    each = means.max(0).tolist()
    how = f"{where}, client by client: lower estimates"
    yield ended(Constant(client_gradient_variance, each, each, [math.inf] * len(each), how))
    steep = float((gradients_along(problem, path).largest + means.max(1)).max())
    yield ended(between("grad_cap_sq", steep, steep, math.inf, f"{where}: a lower estimate"))


def _below(estimate: Constant, caps: Sequence[Constant]) -> Constant:
    """The estimate with the least of the closed forms at the upper end of its interval."""
    if not caps:
        return estimate
    cap = min(caps, key=lambda c: np.max(c.value))
    high = np.maximum(estimate.value, cap.value)
    return estimate._replace(
        high=high.tolist() if high.ndim else float(high), how=f"{estimate.how}; upper end: {cap.how}"
    )


def _dissimilarity(
    problem: FederatedProblem, path: Tensor, where: str, factor: float | None, caps: Mapping[str, Constant]
) -> Iterator[Constant]:
    """G^2 for a B^2: exact of quadratics, else an estimate."""
    quadratics = problem.quadratics
    if quadratics is not None:
        chosen = quadratics.dissimilarity_factor if factor is None else factor
        how = "closed form of quadratics, at every model"
        yield known("dissimilarity_factor", chosen, "chosen" if factor else how)
        offset = quadratics.dissimilarity_offset_for(chosen)
        if math.isinf(offset):
            least = quadratics.smallest_dissimilarity_factor
            raise EmpiricsError(
                f"no finite G^2 serves at every model for B^2 = {chosen:g}; B^2 must exceed {least:.6g}"
            )
        yield known("dissimilarity_offset", offset, how)
        return
    chosen = 1.0 if factor is None else factor
    least = offset_along(gradients_along(problem, path), chosen)
    how = f"{where}, for B^2 = {chosen:g}: a lower estimate"
    yield _below(between("dissimilarity_offset", least, least, math.inf, how), _offsets(caps, chosen))
    yield known("dissimilarity_factor", chosen, "chosen")


def _offsets(caps: Mapping[str, Constant], factor: float) -> list[Constant]:
    """What serves as G^2 with this B^2: that of a pair with a smaller B^2, or what bounds every gradient."""
    pair = [caps[name] for name in ("dissimilarity_offset", "dissimilarity_factor") if name in caps]
    paired = pair[:1] if pair and pair[1].value <= factor else []
    return [*paired, *(caps[name] for name in ("grad_cap_sq",) if name in caps)]
