"""Computes the constants of a problem: closed forms where they exist, else estimates along a path of models."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import torch
from torch import Tensor

from bounds.scenario_values import Provenance
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
from .core import at_least, between, certain_constant, Constant, with_low_end
from .curvature import eigenvalues, few_step_eigenvalues, FEW_STEPS, hessian_product
from .noise import batch_variance, gradients_along, offset_along, sample_noise

SOME_SAMPLES = 256
"""Number of all clients' samples used for a quick estimate of curvature."""


def path_of_run(problem: FederatedProblem, algorithm: Algorithm, setting: Setting, seed: int, most: int = 20) -> Tensor:
    """Train and return evenly spaced server models of the run, including start and end ``(at most 'most', dim)``."""
    if most < 2:
        raise EmpiricsError(f"a path needs at least 2 models; got {most}")
    selected = set(np.linspace(0, setting.rounds, min(most, setting.rounds + 1)).round().astype(int).tolist())
    states = rounds(problem.model, problem.federation, algorithm, setting, seed)
    return torch.stack([state.model.clone() for state in states if state.round in selected])


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
    """Return the constants of ``problem`` by name, for minibatches of at most ``batch`` samples.

    ``path (T, dim)`` are models of a run (default: the start alone); maxima along it are lower estimates. ``factor`` is
    the B^2 that belongs to G^2 (default: that of the closed form, else 1). ``quick`` estimates the curvature of a
    network from some samples of all clients together, a lower estimate for the samples' losses. ``closed`` are closed
    forms (default: those of FedAvg), which replace estimates; the estimates become the low ends of their intervals.
    """
    if batch < 1:
        raise EmpiricsError(f"batch must be >= 1; got {batch}")
    if factor is not None and factor < 1:
        raise EmpiricsError(f"the dissimilarity factor B^2 must be >= 1; got {factor:g}")
    with full_precision(problem.device):
        start = problem.model.start(0).to(problem.device)
        models = start.unsqueeze(0) if path is None else path
        where = "at the start" if path is None else f"maximum over {len(models)} models of a run"
        caps = closed_forms(problem, batch) if closed is None else closed
        parts = (
            _federation(problem),
            _start(problem, start),
            _convex(problem, start) if problem.convex else _network(problem, models, where, quick, bar or Silent()),
            _noise(problem, models, where, batch, caps),
            _dissimilarity(problem, models, where, factor, caps),
        )
        return {c.quantity.name: c for part in parts for c in part}


def _federation(problem: FederatedProblem) -> Iterator[Constant]:
    yield certain_constant("clients", problem.clients, "counted")
    yield certain_constant("client_weight", problem.weights.cpu().numpy(), f"{problem.client_weight} weights")
    yield certain_constant("parameters", problem.model.dim, "counted")
    yield certain_constant("model_size", 32 * problem.model.dim / 1e6, "32 bits a parameter")
    if len(set(problem.client_sizes)) == 1:
        yield certain_constant("samples", problem.client_sizes[0], "counted")


def _start(problem: FederatedProblem, start: Tensor) -> Iterator[Constant]:
    at = start.double() if problem.convex else start
    yield certain_constant("initial_grad_norm_sq", gradients_along(problem, at.unsqueeze(0)).global_sq[0], "evaluated")


def _convex(problem: FederatedProblem, start: Tensor) -> Iterator[Constant]:
    assert problem.smoothness is not None
    assert problem.sample_smoothness is not None
    assert problem.strong_convexity is not None
    assert isinstance(problem.model, Linear)
    start = start.double()
    curved = "" if isinstance(problem.model, LeastSquares) else f"{problem.model.curvature:g} times "
    of_clients = Provenance.EXACT if not curved else Provenance.PROVED
    top = f"closed form: {curved}the largest eigenvalue of a client's mean x x^T, plus penalty"
    yield certain_constant("smoothness", problem.smoothness, top, of_clients)
    single = f"closed form: {curved}the largest squared input, plus penalty"
    yield certain_constant("sample_smoothness", problem.sample_smoothness, single)
    yield certain_constant("strong_convexity", problem.strong_convexity, "closed form: the penalty", Provenance.PROVED)
    if problem.strong_convexity > 0:
        how = "strong convexity implies it"
        yield certain_constant("pl_constant", problem.strong_convexity, how, Provenance.PROVED)
        ratio = problem.smoothness / problem.strong_convexity
        yield certain_constant("condition_number", ratio, "smoothness over convexity", Provenance.PROVED)
    assert problem.optimum_dissimilarity is not None
    yield certain_constant("optimum_dissimilarity", problem.optimum_dissimilarity, "minimised to gradient norm 1e-10")
    first = problem.loss(start)
    yield certain_constant("initial_loss", first, "evaluated")
    yield certain_constant("optimal_loss", problem.optimal_loss, "minimised to gradient norm 1e-10")
    yield certain_constant("initial_gap", first - problem.optimal_loss, "minimised to gradient norm 1e-10")
    distance = start - problem.minimiser
    yield certain_constant("initial_distance_sq", float(distance @ distance), "minimised to gradient norm 1e-10")
    assert problem.heterogeneity is not None
    yield certain_constant("heterogeneity", max(problem.heterogeneity, 0.0), "all minimised to gradient norm 1e-10")


def _network(problem: FederatedProblem, path: Tensor, where: str, quick: bool, bar: Progress) -> Iterator[Constant]:
    samples = [_some_samples(problem)] if quick else [problem.samples.of(k) for k in range(problem.clients)]
    solver = few_step_eigenvalues if quick else eigenvalues
    top, residual = 0.0, 0.0
    bar.start(len(path) * len(samples))
    for i, w in enumerate(path, 1):
        for inputs, targets in samples:
            bar.doing(f"curvature at model {i} of {len(path)}")
            spectrum = solver(hessian_product(problem.model, w, inputs, targets), w)
            curvature = max(abs(spectrum.largest), abs(spectrum.smallest))
            if curvature > top:
                top, residual = curvature, max(spectrum.residual_largest, spectrum.residual_smallest)
            bar.step()
    what, count = "the clients' Hessians", len(samples[0][0])
    if quick:
        what = f"the Hessian of {count} of all clients' samples, {FEW_STEPS} steps"
    how = f"Lanczos on {what}, {where} (residual {residual:.1g})"
    low = top if quick else top - residual
    some = quick and count < sum(problem.client_sizes)  # their mean loss may have more curvature than any client's
    yield between("smoothness", top, 0.0, math.inf, how) if some else at_least("smoothness", top, how, low)
    yield at_least("sample_smoothness", top, how, low)
    losses = [problem.loss(w) for w in path]
    yield certain_constant("initial_loss", losses[0], "evaluated")
    lowest = min(losses)
    yield between(
        "optimal_loss", lowest, problem.lower_bound, lowest, "least loss on the path; the loss is nonnegative"
    )
    yield between(
        "initial_gap", losses[0] - lowest, losses[0] - lowest, losses[0] - problem.lower_bound, "initial minus optimal"
    )


def _some_samples(problem: FederatedProblem) -> tuple[Tensor, Tensor]:
    """``SOME_SAMPLES`` samples, equally many of every client as far as it has them."""
    federation = problem.federation
    share = -(-SOME_SAMPLES // problem.clients)
    places = [
        begin + stream(0, "curvature samples", client=k).permutation(size)[:share]
        for k, (begin, size) in enumerate(zip(federation.offsets[:-1], federation.client_sizes, strict=True))
    ]
    index = torch.from_numpy(np.concatenate(places)[:SOME_SAMPLES])
    return federation.take(federation.members[index.to(federation.members.device)])


def _noise(
    problem: FederatedProblem, path: Tensor, where: str, batch: int, caps: Mapping[str, Constant]
) -> Iterator[Constant]:
    def capped(estimate: Constant) -> Constant:
        cap = caps.get(estimate.quantity.name)
        return estimate if cap is None else with_low_end(cap, estimate)

    sizes = problem.federation.client_sizes
    noises = [sample_noise(problem, w) for w in path]
    means = np.array([batch_variance(noise.variance, sizes, batch) for noise in noises])
    errors = np.array([batch_variance(noise.error, sizes, batch) for noise in noises])
    top = np.unravel_index(means.argmax(), means.shape)
    value = float(means[top])
    low = max(0.0, value - 2 * float(errors[top]))
    yield capped(at_least("gradient_variance", value, where, low))
    yield capped(at_least("client_gradient_variance", means.max(0), f"{where}, client by client"))
    single = np.max([noise.variance for noise in noises], axis=0)
    yield capped(at_least("sample_gradient_variance", single, f"{where}, client by client"))
    gradients = gradients_along(problem, path)
    yield capped(at_least("grad_cap_sq", float((gradients.largest_sq + means.max(1)).max()), where))
    dissimilarity = at_least("uniform_dissimilarity", float(gradients.distance_sq.max()), where)
    cap = caps.get("uniform_dissimilarity")
    if cap is not None or not problem.convex:  # for least squares without a closed form it is infinite
        yield cap if cap is not None and cap.provenance == Provenance.EXACT else capped(dissimilarity)


def _dissimilarity(
    problem: FederatedProblem, path: Tensor, where: str, factor: float | None, caps: Mapping[str, Constant]
) -> Iterator[Constant]:
    """G^2 and its B^2: proved at every model if the clients are convex, else along a run, else an estimate."""
    chosen = certain_constant("dissimilarity_factor", 1.0 if factor is None else factor, "chosen", Provenance.CHOSEN)
    b_sq = caps.get("dissimilarity_factor", chosen) if factor is None else chosen
    if problem.quadratics is None:
        offset = offset_along(gradients_along(problem, path), b_sq.value)
        if problem.optimum_dissimilarity is not None:
            offset, where = max(offset, problem.optimum_dissimilarity), f"{where} and at the minimiser"
        estimate = at_least("dissimilarity_offset", offset, f"{where}, for B^2 = {b_sq.value:g}")
        cap = _offset_cap(problem, b_sq.value, caps)
        yield estimate if cap is None else with_low_end(cap, estimate)
    else:
        offset = problem.quadratics.dissimilarity_offset_for(b_sq.value)
        if math.isinf(offset):
            least = problem.quadratics.smallest_dissimilarity_factor
            raise EmpiricsError(
                f"no finite G^2 holds at every model for B^2 = {b_sq.value:g}; B^2 must exceed {least:.6g}"
            )
        yield certain_constant("dissimilarity_offset", offset, "closed form of quadratics, at every model")
    yield b_sq


def _offset_cap(problem: FederatedProblem, factor: float, caps: Mapping[str, Constant]) -> Constant | None:
    """The smallest G^2 proved for this B^2, by convexity or by the cap of all gradients; None if there is none."""
    offset = problem.dissimilarity_offset_for(factor)
    proved = [c._replace(quantity=dissimilarity_offset) for name, c in caps.items() if name == "grad_cap_sq"]
    if offset is not None:
        proved.append(certain_constant("dissimilarity_offset", offset, CONVEXITY, Provenance.PROVED))
    smallest = min(proved, key=lambda c: c.value, default=None)
    return smallest if smallest is not None and math.isfinite(smallest.value) else None
