"""Batch norm: torch's own in training and evaluation, and whose running statistics a federated run keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from loops import cases
from refusals import all_refused
from torch import nn

from empirics.algorithms import algorithm
from empirics.algorithms.state import STATISTICS as OWN
from empirics.federation.federation import Federation
from empirics.models.compiled import compiled, NotServed
from empirics.models.network import Network, STATISTICS
from empirics.models.networks import network
from empirics.models.networks.blocks import Split
from empirics.problems.problem import FederatedProblem
from empirics.problems.tasks import describe_problem
from empirics.training.engines import ClientLoop
from empirics.training.engines.stacking import StackedNetwork
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

SIZES = (11, 6, 3, 10)
SETTING = Setting(4, 2, batch=4, local_steps=3, step_size=0.07, client_weight="samples", weight_decay=0.03)


def small(statistics: str = "averaged") -> Network:
    def build() -> nn.Module:
        features = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3, momentum=0.3), nn.ReLU(), nn.Flatten())
        return Split(features, nn.Sequential(nn.Linear(48, 5), nn.BatchNorm1d(5), nn.Linear(5, 3)))

    return Network("small", build, dtype=torch.float64, statistics=statistics)


def federation(side: int = 6, channels: int = 2) -> Federation:
    generator = torch.Generator().manual_seed(3)
    count = sum(SIZES)
    x = 1.7 + 0.6 * torch.randn(count, channels, side, side, generator=generator, dtype=torch.float64)
    y = torch.randint(0, 3, (count,), generator=generator)
    return Federation.of(x, y, np.split(np.arange(count), np.cumsum(SIZES)[:-1]))


def module_of(net: Network, row: torch.Tensor) -> nn.Module:
    """A module of its own with the numbers of a row, by torch's names."""
    module = net.build().double()
    named = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    with torch.no_grad():
        for name, columns in net.parameters.items():
            named[name].copy_(row[columns].view(named[name].shape))
    return module


def row_of(net: Network, module: nn.Module) -> torch.Tensor:
    named = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    return torch.cat([named[name].detach().flatten() for name in net.parameters])


@pytest.mark.parametrize(
    "net", [small(), network("resnet20(norm='batch', channels=2, side=8, classes=3, precision='float64')")]
)
def test_local_steps_and_evaluation_are_those_of_torch(net):
    held = federation(side=6 if net.name == "small" else 8)
    setting = replace(SETTING, momentum=0.8, nesterov=True, clip=0.9)
    states, seen = [], []
    for state in rounds(net, held, algorithm("fedavg"), setting, 5, ClientLoop(), lambda *told: seen.append(told)):
        states.append(state)
    assert net.trained < net.dim == len(states[0].model)
    for round_, (work, ends, _) in enumerate(seen):
        drawn = held.draw(5, round_, work.clients, work.steps, setting.batch)
        for place in range(len(work.clients)):
            module = module_of(net, work.starts[place]).train()
            sgd = torch.optim.SGD(module.parameters(), 0.07, 0.8, nesterov=True, weight_decay=0.03)
            for step in range(3):
                x, y, weight = drawn.part(slice(place, place + 1)).at(1, step)
                real = slice(None) if weight is None else weight[0] > 0
                sgd.zero_grad()
                F.cross_entropy(module(x[0][real]), y[0][real]).backward()
                nn.utils.clip_grad_norm_(module.parameters(), 0.9)
                sgd.step()
            torch.testing.assert_close(ends[place], row_of(net, module), rtol=1e-10, atol=1e-12)
    assert {SIZES[k] for work, *_ in seen for k in work.clients} >= {3, 10}, "some batches are short"
    last = states[-1].model
    module, problem = module_of(net, last).eval(), FederatedProblem(net, held, client_weight="samples")
    x, y = held.inputs, held.targets
    whole = F.cross_entropy(module(x), y)
    assert problem.loss(last) == pytest.approx(float(whole.detach()), rel=1e-12)
    slopes = torch.autograd.grad(whole, list(module.parameters()))
    found = net.gradient(last.unsqueeze(0), (x.unsqueeze(0), y.unsqueeze(0), None))[0]
    flat = torch.cat([slope.flatten() for slope in slopes])
    torch.testing.assert_close(found[: net.trained], flat, rtol=1e-9, atol=1e-12)
    assert not found[net.trained :].any()


RUNS = [
    *((name, "averaged") for name in ("scaffold", "fedinit(beta=0.3)", "fedsam", "fedreg", "fedadam", "ditto")),
    *((name, kept) for name in ("fedavg", "fedals(alpha=2)", "moon") for kept in ("averaged", "local", "frozen")),
]


@cases("name kept", RUNS)
def test_whose_statistics_a_round_begins_with_and_where_they_end(name, kept):
    net, held, method = small(kept), federation(), algorithm(name)
    states, seen = [], []
    for state in rounds(net, held, method, SETTING, 2, ClientLoop(), lambda *told: seen.append(told)):
        states.append(state._replace(model=state.model.clone()))
    at, first = net.trained, states[0].model[net.trained :]
    own = first.expand(len(SIZES), -1).clone()
    for before, after, (work, ends, _) in zip(states, states[1:], seen, strict=False):
        began, ended, share = work.starts[:, at:], ends[:, at:], work.weights / work.weights.sum()
        whose = {"averaged": before.model[at:].expand_as(began), "local": own[work.client_index]}
        assert torch.equal(began, whose.get(kept, first.expand_as(began)))
        assert torch.equal(work.state.model, before.model), "local work leaves the server's model as it is"
        own[work.client_index] = ended
        if kept == "frozen":
            assert torch.equal(ended, began)
            assert torch.equal(after.model[at:], first)
        else:
            assert ((ended - began).abs() > 0).all()
            torch.testing.assert_close(after.model[at:], share @ ended, rtol=1e-13, atol=1e-15)
            assert float((ended[0] - ended[1]).norm()) > 0.01
    assert (OWN in states[-1].memory) == (kept == "local")
    if kept == "local":
        assert torch.equal(states[-1].memory[OWN], own)
        assert torch.equal(method.own_models(states[-1])[:, at:], own)


def test_what_cannot_serve_batch_norm_says_so():
    net, held = small(), federation()
    with pytest.raises(NotServed):
        compiled(replace(net, dtype=torch.float32))
    all_refused(
        [
            (lambda: StackedNetwork(net), "batch norm"),
            (lambda: list(rounds(net, held, algorithm("fedavg"), replace(SETTING, batch=1), 2)), "1 sample"),
            (lambda: small("mean").start(0), "statistics averaged"),
        ]
    )
    for kept in STATISTICS:  # a run says by which statistics the server's model is evaluated
        assert STATISTICS[kept] in describe_problem("own", FederatedProblem(small(kept), held))[-1]
