"""Linear models over stacked flat weights ``(rows, dim)``, with losses and gradients in closed form.

Inputs are ``(rows, batch, features)``. For an intercept, append a constant feature (``with_intercept``); its weight is
regularised like the others, so that the strong convexity is exactly the regularisation. Every loss is the mean over the
batch plus ``regularisation/2 ||w||^2``. A batch is ``(inputs, targets, weight)``; ``weight (rows, batch)`` sums to 1
over the batch (None: equal weights). Inputs and targets of a single row are used for all models, by one matrix product.
The last axis of outputs is the batch: a softmax over the short class axis is many times faster if samples are adjacent
in memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from ..errors import EmpiricsError, NotConvergedError
from .model import Batch

Product = Callable[[Tensor], Tensor]
SUFFICIENT = 1e-4  # share of the predicted decrease that the line search requires (Armijo)
ROUNDING = 1e-13  # relative error of an objective value; smaller decreases cannot be detected
MOST_STEPS = 100
MOST_HALVINGS = 40

EXACT = 1e-10
"""Largest gradient norm of a minimiser."""


def with_intercept(inputs: Tensor) -> Tensor:
    """Return inputs ``(n, features)`` with a constant last feature of 1."""
    return torch.cat([inputs, inputs.new_ones(*inputs.shape[:-1], 1)], dim=-1)


@dataclass(frozen=True)
class Linear:
    """A linear map from ``features`` inputs to ``outputs`` numbers; subclasses define the loss."""

    features: int
    outputs: int = 1
    regularisation: float = 0.0
    dtype: torch.dtype = torch.float64

    stacked: ClassVar[bool] = True
    class_axis: ClassVar[int] = 1
    curvature: ClassVar[float] = 1.0
    """Supremum over outputs of the largest eigenvalue of the loss's second derivative in the outputs."""
    slope: ClassVar[float] = math.inf
    """Supremum over outputs of the norm of the loss's derivative in the outputs."""

    @property
    def dim(self) -> int:
        return self.features * self.outputs

    @property
    def layers(self) -> Mapping[str, slice]:
        return {"linear": slice(0, self.dim)}

    def start(self, seed: int) -> Tensor:
        """Return the initial model, zero."""
        return torch.zeros(self.dim, dtype=self.dtype)

    def output(self, w: Tensor, inputs: Tensor) -> Tensor:
        """Return the outputs ``(rows, outputs, batch)`` of the models ``w (rows, dim)``."""
        if inputs.shape[0] == w.shape[0]:  # len() is slow for tensors
            return torch.bmm(w.view(-1, self.outputs, self.features), inputs.transpose(1, 2))
        return (w.reshape(-1, self.features) @ inputs[0].T).view(len(w), self.outputs, -1)

    # ---- the loss as a function of the outputs ----

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        """Return the loss of every sample ``(rows, batch)``, without regularisation."""
        raise NotImplementedError

    def output_gradient(self, output: Tensor, targets: Tensor) -> Tensor:
        """Return the gradient of every sample's loss in the outputs; may overwrite ``output``."""
        raise NotImplementedError

    def output_hessian(self, output: Tensor, targets: Tensor) -> Product:
        """Return the second derivative of every sample's loss in the outputs, as a map on changes of the outputs."""
        raise NotImplementedError

    def correct(self, output: Tensor, targets: Tensor) -> Tensor:
        """Return which samples are predicted correctly ``(rows, batch)``; the first of equal outputs counts."""
        return output.max(1).indices == targets  # five times as fast here as argmax

    # ---- means over batches ----

    def task_loss(self, w: Tensor, batch: Batch) -> Tensor:
        """Return the regularised loss of every row on its batch ``(rows,)``."""
        inputs, targets, weight = batch
        losses = self.losses(self.output(w, inputs), _for_all(w, targets))
        mean = losses.mean(-1) if weight is None else (losses * weight).sum(-1)
        return mean + self.penalty(w)

    def penalty(self, w: Tensor) -> Tensor:
        """``regularisation/2 ||w||^2`` of every row."""
        return 0.5 * self.regularisation * (w * w).sum(-1)

    def gradient(self, w: Tensor, batch: Batch) -> Tensor:
        """Return the gradient of ``task_loss`` for every row ``(rows, dim)``."""
        inputs, targets, weight = batch
        return self._backward(w, self.output_gradient(self.output(w, inputs), _for_all(w, targets)), inputs, weight)

    def hessian(self, w: Tensor, batch: Batch) -> Product:
        """Return the Hessian of ``task_loss`` for every row, as a map on directions ``(rows, dim)``."""
        inputs, targets, weight = batch
        product = self.output_hessian(self.output(w, inputs), _for_all(w, targets))
        return lambda direction: self._backward(direction, product(self.output(direction, inputs)), inputs, weight)

    def _backward(self, w: Tensor, d: Tensor, inputs: Tensor, weight: Tensor | None) -> Tensor:
        """Return the mean of ``d x^T`` over the batch plus ``regularisation w``; d are derivatives in the outputs."""
        share = 1.0
        if weight is None:
            share = 1.0 / inputs.shape[1]
        else:
            d = d * weight.unsqueeze(1)
        if inputs.shape[0] == w.shape[0]:
            weights = w.view(-1, self.outputs, self.features)
            gradient = torch.baddbmm(weights, d, inputs, beta=self.regularisation, alpha=share)
        else:
            flat = d.reshape(-1, inputs.shape[1])
            gradient = torch.addmm(w.view(-1, self.features), flat, inputs[0], beta=self.regularisation, alpha=share)
        return gradient.view(w.shape[0], self.dim)

    @torch.no_grad()
    def evaluate(self, w: Tensor, inputs: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss, including regularisation, and the correctness of every sample, both ``(rows, batch)``."""
        output, targets = self.output(w, inputs), _for_all(w, targets)
        return self.losses(output, targets) + self.penalty(w).unsqueeze(-1), self.correct(output, targets)

    # ---- constants and minimisers ----

    def smoothness(self, inputs: Tensor) -> float:
        """Return the smallest L for which the loss of every sample in ``inputs (n, features)`` is L-smooth."""
        # A sample's Hessian is the Kronecker product of x x^T and the second derivative in the outputs, plus penalty.
        return self.curvature * float((inputs * inputs).sum(-1).max()) + self.regularisation

    @property
    def strong_convexity(self) -> float:
        """Exact mu of a sample's loss: that of the penalty, since ``x x^T`` has rank one (beyond one feature)."""
        return self.regularisation

    def minimise(self, batch: Batch, tolerance: float) -> Tensor:
        """Return every row's minimiser of ``task_loss``, to gradient norm ``tolerance``; shared inputs need weights."""
        inputs, _, weight = batch
        rows = len(inputs) if weight is None else len(weight)
        value, gradient = partial(self.task_loss, batch=batch), partial(self.gradient, batch=batch)
        start = inputs.new_zeros(rows, self.dim)
        return newton(value, gradient, partial(self.hessian, batch=batch), start, tolerance)


def minimisers(model: Linear, inputs: Tensor, targets: Tensor, weights: Tensor, first: int = 0) -> Tensor:
    """Return the minimiser of every row's weighted mean loss ``(rows, dim)``.

    Raises NotConvergedError if a gradient norm exceeds ``EXACT``, with client numbers from ``first``.
    """
    batch = (inputs, targets, weights)
    solution = model.minimise(batch, EXACT / 10)
    norms = model.gradient(solution, batch).norm(dim=-1)
    if not (norms <= EXACT).all():  # also catches NaN
        worst = int(norms.nan_to_num(torch.inf).argmax())
        norm = float(norms[worst])
        raise NotConvergedError(f"client {first + worst}: gradient norm {norm:.2g} > {EXACT:g} at its minimiser")
    return solution


def _for_all(w: Tensor, targets: Tensor) -> Tensor:
    """Return the targets, repeated for every model if they are those of a single row."""
    return targets if targets.shape[0] == w.shape[0] else targets.expand(len(w), *targets.shape[1:])


@dataclass(frozen=True)
class Softmax(Linear):
    """Multi-class logistic regression: cross-entropy (nats) of ``outputs`` logits; targets are class numbers.

    The second derivative ``diag(p) - p p^T`` has eigenvalues up to 1/2 (Gershgorin: row i sums in absolute value to
    ``2 p_i (1 - p_i)``), attained if two classes share all probability; with more than two classes 1/2 is only
    approached, since p has full support at finite outputs. Likewise, the derivative ``p - e_y`` is below ``sqrt(2)``.
    """

    curvature: ClassVar[float] = 0.5
    slope: ClassVar[float] = math.sqrt(2)

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        return F.cross_entropy(output, targets, reduction="none")

    def output_gradient(self, output: Tensor, targets: Tensor) -> Tensor:
        return _minus_one_hot(torch.softmax(output, dim=1), targets)

    def output_hessian(self, output: Tensor, targets: Tensor) -> Product:
        p = torch.softmax(output, dim=1)

        def product(change: Tensor) -> Tensor:
            part = p * change
            return part - p * part.sum(1, keepdim=True)

        return product


@dataclass(frozen=True)
class Margin(Linear):
    """A model for two classes -1 and 1 whose loss is a function of the margin ``target * output``."""

    def margin(self, output: Tensor, targets: Tensor) -> Tensor:
        return targets * output.squeeze(1)

    def correct(self, output: Tensor, targets: Tensor) -> Tensor:
        return self.margin(output, targets) > 0


def elementwise(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return ``function`` of every entry, with last bits that do not depend on the entry's position in the tensor.

    PyTorch processes the last few entries of a tensor by another routine than full vectors. The tensor is therefore
    padded with zeros to a multiple of the longest vectors in use.
    """
    rest = -x.numel() % 64
    if not rest or x.requires_grad:
        return function(x)
    padded = x.new_zeros(x.numel() + rest)
    padded[: x.numel()].view(x.shape).copy_(x)
    return function(padded)[: x.numel()].view(x.shape)


@dataclass(frozen=True)
class Logistic(Margin):
    """Two-class logistic regression: ``log(1 + exp(-margin))``."""

    curvature: ClassVar[float] = 0.25
    slope: ClassVar[float] = 1.0

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        return elementwise(F.softplus, -self.margin(output, targets))

    def output_gradient(self, output: Tensor, targets: Tensor) -> Tensor:
        return (-targets * elementwise(torch.sigmoid, -self.margin(output, targets))).unsqueeze(1)

    def output_hessian(self, output: Tensor, targets: Tensor) -> Product:
        p = elementwise(torch.sigmoid, output)
        return lambda change: p * (1 - p) * change


@dataclass(frozen=True)
class SquaredHinge(Margin):
    """Support vector machine with the squared hinge ``1/2 max(0, 1 - margin)^2``.

    Its second derivative is 1 for margins below 1, else 0: a generalised derivative at the kink.
    """

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        return 0.5 * torch.clamp(1 - self.margin(output, targets), min=0) ** 2

    def output_gradient(self, output: Tensor, targets: Tensor) -> Tensor:
        return (-targets * torch.clamp(1 - self.margin(output, targets), min=0)).unsqueeze(1)

    def output_hessian(self, output: Tensor, targets: Tensor) -> Product:
        active = (self.margin(output, targets) < 1).to(output.dtype).unsqueeze(1)
        return lambda change: active * change


@dataclass(frozen=True)
class LeastSquares(Linear):
    """Linear regression with ``1/2 ||x w - y||^2``.

    Targets are numbers ``(rows, batch, outputs)`` (for one output also ``(rows, batch)``) or, for several outputs,
    class numbers ``(rows, batch)``, which mean one-hot vectors. The Hessian is the same for every output, so that L and
    mu are those of a scalar target.
    """

    def _residual(self, output: Tensor, targets: Tensor) -> Tensor:
        if targets.ndim == 3:
            return output - targets.transpose(1, 2)
        if self.outputs == 1:
            return output - targets.unsqueeze(1)
        return _minus_one_hot(output.clone(), targets)

    def losses(self, output: Tensor, targets: Tensor) -> Tensor:
        return 0.5 * (self._residual(output, targets) ** 2).sum(1)

    def output_gradient(self, output: Tensor, targets: Tensor) -> Tensor:
        return self._residual(output, targets)

    def output_hessian(self, output: Tensor, targets: Tensor) -> Product:
        return lambda change: change

    def correct(self, output: Tensor, targets: Tensor) -> Tensor:
        """Return which samples have the largest output for their class; NaN if there are no classes."""
        if self.outputs == 1 or targets.ndim == 3:
            return output.new_full((len(output), output.shape[-1]), math.nan)
        return super().correct(output, targets)

    def minimise(self, batch: Batch, tolerance: float) -> Tensor:
        """As ``Linear.minimise``, by one linear solve per row in the space of samples (dual) or features (primal)."""
        inputs, targets, weight = batch
        if weight is None:
            weight = inputs.new_full((len(inputs), inputs.shape[1]), 1 / inputs.shape[1])
        root = weight.sqrt()
        scaled = root.unsqueeze(-1) * inputs
        zero = inputs.new_zeros(len(weight), self.outputs, inputs.shape[1])
        scaled_targets = -self._residual(zero, _for_all(weight, targets)) * root.unsqueeze(1)
        dual = inputs.shape[1] < inputs.shape[2]
        gram = scaled @ scaled.mT if dual else scaled.mT @ scaled
        gram.diagonal(dim1=-2, dim2=-1).add_(self.regularisation)
        try:
            solution = torch.linalg.solve(gram, scaled_targets.mT if dual else (scaled_targets @ scaled).mT).mT
        except torch.linalg.LinAlgError:
            rule = "the penalty of least squares must be large enough for a single minimiser"
            raise EmpiricsError(f"{rule}; got {self.regularisation:g}") from None
        return (solution @ scaled if dual else solution).reshape(len(weight), self.dim)


def _minus_one_hot(x: Tensor, targets: Tensor) -> Tensor:
    """Subtract the one-hot vectors of the class numbers ``targets`` from ``x (rows, outputs, batch)`` in place."""
    return x.scatter_add_(1, targets.unsqueeze(1), x.new_full((1, 1, 1), -1.0).expand(len(x), 1, x.shape[-1]))


# ---- Newton's method for many small strongly convex problems at once, with models as rows in float64 ----


def dot(a: Tensor, b: Tensor) -> Tensor:
    """Return the inner product of every row, summed in an order that does not depend on the other rows."""
    return (a * b).sum(-1)


@torch.no_grad()
def newton(
    value: Product, gradient_of: Product, hessian_at: Callable[[Tensor], Product], start: Tensor, tolerance: float
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


def _conjugate_gradients(hessian: Product, right: Tensor, goal: Tensor) -> Tensor:
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


def _line_search(value: Product, w: Tensor, step: Tensor, slope: Tensor, active: Tensor) -> Tensor:
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
