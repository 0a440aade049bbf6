"""Constants in closed form, which are valid at every model or along every run of FedAvg.

A theorem holds with every constant that meets its assumption, so these are upper ends of the estimates' intervals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch

from bounds.scenario_values import Provenance

from ...algorithms.algorithm import Algorithm, fedavg
from ...models.linear import Linear
from ...problems.problem import FederatedProblem
from .core import certain_constant, Constant
from .noise import batch_variance

EVERYWHERE = "closed form, at every model"
FULL_BATCH = "every batch is all samples of a client"
CONVEXITY = f"{EVERYWHERE}: by convexity, from the clients' gradients at the minimiser and L/mu"


def closed_forms(
    problem: FederatedProblem, batch: int, method: Algorithm = fedavg, step_size: float | None = None
) -> dict[str, Constant]:
    """Return the constants that have a closed form by name, for minibatches of ``batch`` samples.

    The gradient cap G^2 is for runs of ``method`` with this step size (None: any up to 1 over the penalty). Offset G^2
    and factor B^2 of the dissimilarity are a pair.
    """
    constants = (
        *_noise(problem, batch),
        *_dissimilarity(problem),
        *_uniform_dissimilarity(problem),
        *_largest_gradient(problem, method, step_size),
    )
    return {c.quantity.name: c for c in constants}


def _noise(problem: FederatedProblem, batch: int) -> Iterator[Constant]:
    caps, sizes = problem.client_gradient_variance, problem.federation.client_sizes
    if batch >= sizes.max():  # whatever the model
        yield certain_constant("gradient_variance", 0.0, FULL_BATCH, Provenance.PROVED)
        yield certain_constant("client_gradient_variance", np.zeros(len(sizes)), FULL_BATCH, Provenance.PROVED)
    if caps is None or not torch.isfinite(caps).all():
        return
    if batch < sizes.max():
        variances = batch_variance(caps.cpu().numpy(), sizes, batch)
        how = f"{EVERYWHERE}: slope^2 mean ||x||^2, for the smallest batch"
        yield certain_constant("gradient_variance", variances.max(), how, Provenance.PROVED)
        yield certain_constant("client_gradient_variance", variances, how, Provenance.PROVED)
    yield certain_constant(
        "sample_gradient_variance", caps.cpu().numpy(), f"{EVERYWHERE}: slope^2 mean ||x||^2", Provenance.PROVED
    )


def _dissimilarity(problem: FederatedProblem) -> Iterator[Constant]:
    if problem.dissimilarity_offset is None or problem.dissimilarity_factor is None:
        return
    how = CONVEXITY if problem.quadratics is None else f"{EVERYWHERE}: that of the quadratics"
    yield certain_constant("dissimilarity_offset", problem.dissimilarity_offset, how, Provenance.PROVED)
    yield certain_constant("dissimilarity_factor", problem.dissimilarity_factor, how, Provenance.PROVED)


def _uniform_dissimilarity(problem: FederatedProblem) -> Iterator[Constant]:
    """zeta^2 of a linear model of bounded slope s.

    The penalty's gradient is the same for all clients and cancels. Without it client k's gradient is at most ``s m_k``,
    with ``m_k`` the mean norm of its inputs, and client k's minus the global one is ``(1 - p_k)`` times its own minus
    ``p_j`` times every other one. The slope of least squares is unbounded: there the difference grows with the model
    unless all clients' inputs have the same second moments.
    """
    model = problem.model
    if problem.quadratics is not None and math.isfinite(problem.quadratics.uniform_dissimilarity):
        how = f"{EVERYWHERE}: that of the quadratics, which all have the same curvature"
        yield certain_constant("uniform_dissimilarity", problem.quadratics.uniform_dissimilarity, how)
    if not (isinstance(model, Linear) and math.isfinite(model.slope)):
        return
    norms = torch.cat([x[0].double().norm(dim=-1) for _, x, _ in problem.samples.chunks(1 << 16)])
    caps = model.slope * problem.samples.client_means(norms)
    largest = float((problem.weights.double() @ caps + (1 - 2 * problem.weights.double()) * caps).max())
    how = f"{EVERYWHERE}: slope and mean norms of the clients' inputs"
    yield certain_constant("uniform_dissimilarity", largest**2 if problem.clients > 1 else 0.0, how, Provenance.PROVED)


def _largest_gradient(problem: FederatedProblem, method: Algorithm, step_size: float | None) -> Iterator[Constant]:
    """G^2 along every run of FedAvg on a linear model of bounded slope s, with penalty r and inputs of norm <= X.

    After a step the norm is at most ``max(||w||, s X / r)`` if ``r eta <= 1``, and also after an average; a gradient's
    norm is at most ``s X + r ||w||``.
    """
    model = problem.model
    plain = (method.start, method.direction, method.objective) == (fedavg.start, fedavg.direction, fedavg.objective)
    if not (isinstance(model, Linear) and plain and math.isfinite(model.slope) and method.combine == fedavg.combine):
        return
    if step_size is not None and model.regularisation * step_size > 1:
        return
    pull = model.slope * max(float(x.double().norm(dim=-1).max()) for _, x, _ in problem.samples.chunks(1 << 16))
    first = float(model.start(0).double().norm())
    reach = model.regularisation * first
    cap = pull + max(reach, pull) if model.regularisation else pull
    steps = "" if step_size is not None else " of plain SGD with steps of at most 1 over the penalty"
    how = f"closed form, along every run{steps}: slope and largest input, plus penalty"
    limits = {"relaxation": 0.0, "distillation_weight": 0.0}
    limits |= {"step_size": 1 / model.regularisation} if model.regularisation else {}
    yield certain_constant("grad_cap_sq", cap**2, how, Provenance.PROVED)._replace(up_to=tuple(limits.items()))
