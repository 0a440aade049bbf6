"""Compiled gradients of linear models beside float64 autograd, and training with them beside torch."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from hypothesis import given, settings, strategies as st
from loops import cases
from refusals import all_refused

from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import fedavg, renamed
from empirics.federation.federation import Batches, Federation
from empirics.models.compiled import compiled, engine_of, ENGINES, NotServed
from empirics.models.linear import LeastSquares, Linear, Logistic, Softmax, SquaredHinge
from empirics.training.engines import choose, Stacked
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

CLOSE = {torch.float32: 1e-6, torch.float64: 1e-12}


def targets_of(kind, shape, outputs, dtype, draws, numbers=False):
    """Targets of samples as the model takes them; of least squares numbers where ``numbers``, else classes."""
    classes = torch.randint(0, max(outputs, 2), (shape,), generator=draws)
    if kind in (Logistic, SquaredHinge):
        return (2 * classes - 1).to(dtype)
    if kind is LeastSquares and (numbers or outputs == 1):
        wanted = torch.randn(shape, outputs, dtype=dtype, generator=draws)
        return wanted if numbers else wanted[:, 0]
    return classes


@st.composite
def linear(draw):
    """A linear model, its rows, and batches out of a pool of samples, weighted or not."""
    kind, dtype = (
        draw(st.sampled_from([Softmax, Logistic, SquaredHinge, LeastSquares])),
        draw(st.sampled_from([*CLOSE])),
    )
    outputs = draw(st.integers(2, 21)) if kind in (Softmax, LeastSquares) else 1
    outputs = 1 if kind is LeastSquares and draw(st.booleans()) else outputs
    features, rows, batch, steps = (draw(st.integers(1, most)) for most in (70, 5, 40, 3))
    draws = torch.Generator().manual_seed(draw(st.integers(0, 2**20)))
    model = kind(features, outputs, draw(st.sampled_from([0.0, 0.37])), dtype)
    w = draw(st.sampled_from([0.3, 3.0, 60.0])) * torch.randn(rows, model.dim, dtype=dtype, generator=draws)
    pool = torch.randn(57, features, dtype=dtype, generator=draws)
    targets = targets_of(kind, 57, outputs, dtype, draws, numbers=draw(st.booleans()))
    index = torch.randint(0, 57, (rows, steps, batch), generator=draws)
    weight = torch.rand(rows, steps, batch, dtype=dtype, generator=draws) if draw(st.booleans()) else None
    return model, w, Batches(pool, targets, index, weight), draw(st.integers(0, steps - 1))


def distance(found, exact):
    """Of the row that is farthest, relative to its norm."""
    return float(((found.double() - exact).norm(dim=1) / exact.norm(dim=1).clamp(min=1e-9)).max())


@settings(max_examples=30)
@given(linear(), st.integers(1, 4))
def test_gradients_are_those_of_float64_autograd_and_a_rows_do_not_depend_on_the_others(made, chosen):
    model, w, batches, step = made
    row = w.to(torch.float64, copy=True).requires_grad_()
    inputs, targets, weight = batches.at(len(w), step)
    batch = inputs.double(), targets if targets.dtype is torch.int64 else targets.double(), weight
    if weight is not None:
        batch = (*batch[:2], weight.double())
    (exact,) = torch.autograd.grad(replace(model, dtype=torch.float64).task_loss(row, batch).sum(), row)
    together, part = compiled(model).gradient_in(w, batches, step), slice(0, min(chosen, len(w)))
    assert torch.equal(compiled(model).gradient_in(w[part], batches, step), together[part])
    assert torch.equal(compiled(model).gradient_in(w[part], batches.part(part), step), together[part])
    ours = distance(together, exact)
    terms = model.output(w.abs(), inputs.abs()).max()  # of outputs that are sums of such size, the last digits are lost
    allowed = CLOSE[w.dtype] * max(1, float(terms))
    assert ours <= max(allowed, 2 * distance(model.gradient(w, (inputs, targets, weight)), exact))


def dealt(model, sizes=(32, 48, 64, 32, 80, 48, 32), seed=6):
    draws = torch.Generator().manual_seed(seed)
    inputs = torch.randn(sum(sizes), model.features, dtype=model.dtype, generator=draws)
    targets = targets_of(type(model), sum(sizes), model.outputs, model.dtype, draws)
    return Federation.of(inputs, targets, np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1]))


SETTING = Setting(rounds=3, cohort=5, batch=16, local_epochs=2, step_size=0.07)
FORTY_FIVE = Softmax(9, 5, 0.02, torch.float32)
MODELS = [FORTY_FIVE, Logistic(31, 1, 0.1, torch.float64), SquaredHinge(7, 1, 0.0, torch.float32),
          LeastSquares(12, 1, 0.3, torch.float64)]  # fmt: skip


def trained(model, method, engine=None, setting=SETTING, plain=None):
    """The end of a run on the data of ``plain``, the model that torch computes."""
    method = algorithm(method) if isinstance(method, str) else method
    return list(rounds(model, dealt(plain or model), method, setting, 4, engine))[-1].model


@dataclass(frozen=True)
class Same:
    """The gradient, by a hook that no engine knows."""

    def __call__(self, work, w, gradient, gradient_at):
        return gradient


MOMENTUM = {"momentum": 0.6, "clip": 0.9}
ADAMW = {"optimizer": "adamw", "weight_decay": 0.02}
RUNS = {"fedavg": {}, "fedsam": MOMENTUM, "scaffold": ADAMW, "fedprox(mu=0.1)": MOMENTUM, "feddyn": {}}


@cases("model", MODELS)
def test_training_ends_where_that_on_torch_does_whether_steps_are_taken_in_one_call_or_one_by_one(model):
    ours = compiled(model)
    assert isinstance(ours, type(model))
    assert compiled(ours) is ours
    assert engine_of(ours) == ENGINES[-1]
    assert isinstance(choose(ours), Stacked)
    at_once = trained(ours, "fedavg", plain=model)
    for one_by_one in (renamed(fedavg, "same()", direction=Same()), "fedprox(mu=0)"):
        assert torch.equal(at_once, trained(ours, one_by_one, plain=model))
    assert not torch.equal(at_once, trained(model, "fedavg"))
    for method, options in RUNS.items():
        setting = replace(SETTING, **options)
        found, theirs = (trained(each, method, setting=setting, plain=model) for each in (ours, model))
        assert float((found - theirs).norm() / theirs.norm()) < 100 * CLOSE[model.dtype]


def test_a_subclass_is_not_served():
    class Other(Softmax):
        pass

    wrong = {kind: kind.__name__ for kind in (Other, Linear)}
    all_refused(wrong, lambda kind: compiled(kind(3, 2)), NotServed)
