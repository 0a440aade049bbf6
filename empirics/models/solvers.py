"""Newton's method for many small strongly convex problems at once, with models as rows ``(rows, dim)`` in float64."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ..errors import NotConvergedError

SUFFICIENT = 1e-4  # share of the predicted decrease that the line search requires (Armijo)
ROUNDING = 1e-13  # relative error of an objective value; smaller decreases cannot be detected
MOST_STEPS = 100
MOST_HALVINGS = 40

Rows = Callable[[Tensor], Tensor]


def dot(a: Tensor, b: Tensor) -> Tensor:
    """Return the inner product of every row, summed in an order that does not depend on the other rows."""
    return (a * b).sum(-1)


@torch.no_grad()
def newton(
    value: Rows, gradient_of: Rows, hessian_at: Callable[[Tensor], Rows], start: Tensor, tolerance: float
) -> Tensor:
    """Minimise a stack of strongly convex functions, one per row, until every gradient norm is <= ``tolerance``.

    Newton's method with conjugate gradients and a backtracking line search. Each row's iterates depend only on its own
    data (finished rows are frozen), so that the composition of the stack does not change a number. Raises
    NotConvergedError if a row does not reach the tolerance. Dense factorisation in the coordinates of the samples took
    ten times as long on 50 clients with 20 to 40 samples.
    """
    w = start.clone()
    for _ in range(MOST_STEPS):
        gradient = gradient_of(w)
        norms = dot(gradient, gradient).sqrt()
        active = norms > tolerance
        if not active.any():
            return w
        rough = torch.clamp(torch.minimum(norms.new_tensor(0.1), norms.sqrt()) * norms, min=tolerance / 10)
        goal = torch.where(active, rough, torch.inf)
        step = _conjugate_gradients(hessian_at(w), -gradient, goal)
        w = _line_search(value, w, step, dot(gradient, step), active)
    raise NotConvergedError(f"gradient norm {float(norms.max()):.2g} > {tolerance:g} after {MOST_STEPS} Newton steps")


def _conjugate_gradients(hessian: Rows, right: Tensor, goal: Tensor) -> Tensor:
    """Solve ``hessian x = right`` in every row until the residual norm is <= ``goal`` (infinite: x stays zero)."""
    solution = torch.zeros_like(right)
    residual = right.clone()
    direction = residual.clone()
    size = dot(residual, residual)
    for _ in range(2 * right.shape[-1]):
        active = size > goal**2
        if not active.any():
            break
        image = hessian(direction)
        curve = torch.where(active, dot(direction, image), 1.0)
        length = torch.where(active, size / curve, 0.0).unsqueeze(-1)
        solution += length * direction
        residual -= length * image
        new = torch.where(active, dot(residual, residual), size)
        growth = torch.where(active, new / torch.where(active, size, 1.0), 0.0).unsqueeze(-1)
        direction = torch.where(active.unsqueeze(-1), residual + growth * direction, direction)
        size = new
    return solution


def _line_search(value: Rows, w: Tensor, step: Tensor, slope: Tensor, active: Tensor) -> Tensor:
    """Halve each active row's step until its function decreases by a sufficient share of what the slope predicts."""
    before = value(w)
    length = active.to(w.dtype)
    for _ in range(MOST_HALVINGS):
        trial = w + length.unsqueeze(-1) * step
        short = value(trial) > before + SUFFICIENT * length * slope + ROUNDING * before.abs()
        if not short.any():
            return trial
        length = torch.where(short, length / 2, length)
    raise NotConvergedError("the line search found no descent")
