"""Methods on a network, one client after another: off switches to the last bit, PyTorch's steps, heads and features."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from empirics.algorithms import algorithm
from empirics.algorithms.state import own_rows
from empirics.federation.federation import Federation
from empirics.models.network import Network
from empirics.training.engines import ClientLoop
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

SIZES = (9, 14, 12, 7)
SETTING = Setting(rounds=4, cohort=3, batch=4, step_size=0.2, local_steps=3, momentum=0.5, weight_decay=0.01)


class Halves(nn.Module):
    """Five inputs, four features, three classes."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Linear(5, 4), nn.Tanh())
        self.head = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.features(x))


def problem(dtype: torch.dtype = torch.float32) -> tuple[Network, Federation]:
    rng = np.random.default_rng(6)
    inputs = torch.tensor(rng.normal(size=(sum(SIZES), 5)), dtype=dtype)
    targets = torch.tensor(rng.integers(0, 3, sum(SIZES)))
    parts = np.split(np.arange(sum(SIZES)), np.cumsum(SIZES)[:-1])
    return Network("halves", Halves, dtype=dtype), Federation.of(inputs, targets, parts)


def last(text: str, setting: Setting = SETTING):
    network, federation = problem()
    return list(rounds(network, federation, algorithm(text), setting, 8, engine=ClientLoop()))[-1]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "fedals(alpha=1)",
            "fedprox(mu=0)",
            "fedsam(rho=0)",
            "fedcm(alpha=1)",
            "fedinit(beta=0)",
            "ditto(weight=0.3)",
        ),
        *("finetuned()", "scheduled(fedavg(), 'k_eta_fixed')"),
    ],
)
def test_switched_off_methods_are_fedavg_to_the_last_bit(text):
    assert torch.equal(last(text).model, last("fedavg()").model)
    assert (last("fedprox(mu=0.5)").model - last("fedavg()").model).abs().max() > 1e-3


def test_local_steps_on_a_network_are_those_of_pytorch():
    network, federation = problem(torch.float64)
    setting = replace(SETTING, rounds=1, cohort=4, nesterov=True, clip=0.3)
    start, end = rounds(network, federation, algorithm("finetuned()"), setting, 8, engine=ClientLoop())
    module = Halves().double()
    for k in range(4):
        nn.utils.vector_to_parameters(start.model.clone(), module.parameters())
        sgd = torch.optim.SGD(module.parameters(), lr=0.2, momentum=0.5, nesterov=True, weight_decay=0.01)
        batches = federation.draw(8, 0, np.array([k]), np.array([3]), 4)
        for step in range(3):
            inputs, targets, weight = (x[0] for x in batches.at(1, step))
            sgd.zero_grad()
            (weight * nn.functional.cross_entropy(module(inputs), targets, reduction="none")).sum().backward()
            nn.utils.clip_grad_norm_(module.parameters(), 0.3)
            sgd.step()
        found, expected = end.memory["personal"][k], nn.utils.parameters_to_vector(module.parameters())
        torch.testing.assert_close(found, expected.detach(), rtol=0, atol=1e-12)


def test_heads_of_fedrep_are_private_and_its_features_shared():
    state, network = last("fedrep(head_steps=2)"), problem()[0]
    head = torch.zeros(network.dim, dtype=torch.bool)
    for name, columns in network.layers.items():
        head[columns] = name.startswith("head")
    own = own_rows(state, "personal")
    assert torch.equal(own[:, ~head], state.model[~head].expand(4, -1))
    assert (own[0, head] - own[1, head]).abs().max() > 1e-3
    assert int(head.sum()) == 15


def test_fedals_keeps_features_apart_between_averages():
    network, federation = problem()
    states = rounds(
        network, federation, algorithm("fedals(alpha=2)"), replace(SETTING, cohort=4), 8, engine=ClientLoop()
    )
    next(states)
    apart = [float((own_rows(s, "local") - own_rows(s, "local")[0]).abs().max()) for s in states]
    assert [a > 1e-3 for a in apart] == [True, False, True, False]
    assert apart[1] == apart[3] == 0
