"""The constants of a problem in the vocabulary's words: closed forms where there are any, else estimates on a path."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor

from bounds.vocabulary import dissimilarity_offset

from ...algorithms.algorithm import Algorithm
from ...errors import EmpiricsError
from ...models.linear import LeastSquares, Linear
from ...problems.problem import FederatedProblem
from ...progress import Progress, Silent
from ...streams import stream
from ...training.engines.precision import full_precision
from ...training.rounds import rounds
from ...training.setting import Setting
from .closed import closed_forms, CONVEXITY
from .core import at_least, between, CHOSEN, Constant, EXACT, known, PROVED, proved
from .curvature import eigenvalues, FEW_STEPS, hessian_product, roughly
from .noise import gradients_along, of_batches, offset_along, sample_noise

SOME_SAMPLES = 256
"""Samples whose curvature represents that of all clients' samples where that need not be the largest."""


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
    """The constants of ``problem`` by name; ``batch`` is the minibatch's size, all samples of clients that hold fewer.

    ``path (T, dim)`` are models of a run (default: the start alone): maxima along it are lower estimates, said so.
    ``factor`` chooses the B^2 for which G^2 is given (default: that of the closed form, else 1). ``quick`` takes the
    curvature of a network from some of the samples of all clients together, which every L of the samples' losses
    covers. ``bar`` shows the progress. ``closed`` are the closed forms that take the place of estimates, which stay
    the low ends of their intervals (default: those of plain averaged SGD).
    """
    if batch < 1:
        raise EmpiricsError(f"batch must be >= 1; got {batch}")
    if factor is not None and factor < 1:
        raise EmpiricsError(f"the dissimilarity factor B^2 must be >= 1; got {factor:g}")
    with full_precision(problem.device):
        start = problem.model.start(0).to(problem.device)
        walked = start.unsqueeze(0) if path is None else path
        where = "at the start" if path is None else f"maximum over {len(walked)} models of a run"
        caps = closed_forms(problem, batch) if closed is None else closed
        parts = (
            _federation(problem),
            _start(problem, start),
            _convex(problem, start) if problem.convex else _network(problem, walked, where, quick, bar or Silent()),
            _noise(problem, walked, where, batch, caps),
            _dissimilarity(problem, walked, where, factor, caps),
        )
        return {c.quantity.name: c for part in parts for c in part}


def _federation(problem: FederatedProblem) -> Iterator[Constant]:
    yield known("clients", problem.clients, "counted")
    yield known("client_weight", problem.weights.cpu().numpy(), f"{problem.client_weight} weights")
    yield known("parameters", problem.model.dim, "counted")
    yield known("model_size", 32 * problem.model.dim / 1e6, "32 bits a parameter")
    if len(set(problem.client_sizes)) == 1:
        yield known("samples", problem.client_sizes[0], "counted")


def _start(problem: FederatedProblem, start: Tensor) -> Iterator[Constant]:
    at = start.double() if problem.convex else start
    yield known("initial_grad_norm_sq", gradients_along(problem, at.unsqueeze(0)).together[0], "evaluated")


def _convex(problem: FederatedProblem, start: Tensor) -> Iterator[Constant]:
    assert problem.smoothness is not None
    assert problem.sample_smoothness is not None
    assert problem.strong_convexity is not None
    assert isinstance(problem.model, Linear)
    start = start.double()
    curved = "" if isinstance(problem.model, LeastSquares) else f"{problem.model.curvature:g} times "
    of_clients = EXACT if not curved else PROVED
    top = f"closed form: {curved}the largest eigenvalue of a client's mean x x^T, plus penalty"
    yield known("smoothness", problem.smoothness, top, of_clients)
    single = f"closed form: {curved}the largest squared input, plus penalty"
    yield known("sample_smoothness", problem.sample_smoothness, single)
    yield known("strong_convexity", problem.strong_convexity, "closed form: the penalty", PROVED)
    if problem.strong_convexity > 0:
        yield known("pl_constant", problem.strong_convexity, "strong convexity implies it", PROVED)
        ratio = problem.smoothness / problem.strong_convexity
        yield known("condition_number", ratio, "smoothness over convexity", PROVED)
    assert problem.optimum_dissimilarity is not None
    yield known("optimum_dissimilarity", problem.optimum_dissimilarity, "minimised to gradient norm 1e-10")
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
    how = f"Lanczos on {what}, {where} (residual {residual:.1g})"
    low = top if quick else top - residual
    some = quick and len(pieces[0][0]) < sum(problem.client_sizes)  # their mean may be steeper than any client's
    yield between("smoothness", top, 0.0, math.inf, how) if some else at_least("smoothness", top, how, low)
    yield at_least("sample_smoothness", top, how, low)
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
    return problem.federation.take(problem.federation.members[places.to(problem.federation.members.device)])


def _noise(
    problem: FederatedProblem, path: Tensor, where: str, batch: int, caps: Mapping[str, Constant]
) -> Iterator[Constant]:
    def ended(estimate: Constant) -> Constant:
        cap = caps.get(estimate.quantity.name)
        return estimate if cap is None else proved(cap, estimate)

    sizes = problem.federation.client_sizes
    found = [sample_noise(problem, w) for w in path]
    means = np.array([of_batches(f.variance, sizes, batch) for f in found])
    errors = np.array([of_batches(f.error, sizes, batch) for f in found])
    top = np.unravel_index(means.argmax(), means.shape)
    value = float(means[top])
    low = max(0.0, value - 2 * float(errors[top]))
    yield ended(at_least("gradient_variance", value, where, low))
    yield ended(at_least("client_gradient_variance", means.max(0), f"{where}, client by client"))
    single = np.max([f.variance for f in found], axis=0)
    yield ended(at_least("sample_gradient_variance", single, f"{where}, client by client"))
    along = gradients_along(problem, path)
    yield ended(at_least("grad_cap_sq", float((along.largest + means.max(1)).max()), where))
    apart = at_least("uniform_dissimilarity", float(along.apart.max()), where)
    cap = caps.get("uniform_dissimilarity")
    if cap is not None or not problem.convex:  # of squares it is infinite where there is no closed form
        yield cap if cap is not None and cap.provenance == EXACT else ended(apart)


def _dissimilarity(
    problem: FederatedProblem, path: Tensor, where: str, factor: float | None, caps: Mapping[str, Constant]
) -> Iterator[Constant]:
    """G^2 for a B^2: proved at every model where the clients are convex, else along a run, else an estimate."""
    pair = caps.get("dissimilarity_factor")
    usual = known("dissimilarity_factor", 1.0, CHOSEN, CHOSEN) if pair is None else pair
    chosen = usual if factor is None else known("dissimilarity_factor", factor, CHOSEN, CHOSEN)
    if problem.quadratics is None:
        seen = offset_along(gradients_along(problem, path), chosen.value)
        if problem.optimum_dissimilarity is not None:
            seen, where = max(seen, problem.optimum_dissimilarity), f"{where} and at the minimiser"
        estimate = at_least("dissimilarity_offset", seen, f"{where}, for B^2 = {chosen.value:g}")
        served = _offset(problem, chosen.value, caps)
        yield estimate if served is None else proved(served, estimate)
    else:
        offset = problem.quadratics.dissimilarity_offset_for(chosen.value)
        if math.isinf(offset):
            least = problem.quadratics.smallest_dissimilarity_factor
            raise EmpiricsError(
                f"no finite G^2 serves at every model for B^2 = {chosen.value:g}; B^2 must exceed {least:.6g}"
            )
        yield known("dissimilarity_offset", offset, "closed form of quadratics, at every model")
    yield chosen


def _offset(problem: FederatedProblem, factor: float, caps: Mapping[str, Constant]) -> Constant | None:
    """The least that is known to serve as G^2 with this B^2: by convexity, or what bounds every gradient."""
    served = problem.dissimilarity_offset_for(factor)
    convex = [] if served is None else [known("dissimilarity_offset", served, CONVEXITY, PROVED)]
    run = [c._replace(quantity=dissimilarity_offset) for name, c in caps.items() if name == "grad_cap_sq"]
    found = min([*convex, *run], key=lambda c: c.value, default=None)
    return found if found is not None and math.isfinite(found.value) else None
