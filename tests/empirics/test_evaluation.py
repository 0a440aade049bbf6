"""One model on everybody's samples, many models on their own: networks, chunks and prepared pools give equal means."""

import numpy as np
import pytest
import torch
from measuring_toys import INPUTS, PARTS
from torch import nn

from empirics.federation.federation import Federation
from empirics.federation.prepared import PreparedFederation, Recipe
from empirics.models.linear import Softmax
from empirics.models.network import Network
from empirics.problems import evaluation
from empirics.problems.evaluation import Samples

LABELS = torch.tensor([0, 1, 2, 1, 0, 2])
ROWS = torch.randn(2, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(5))
LINEAR = Softmax(2, 3)
NETWORK = Network("flat", lambda: nn.Linear(2, 3, bias=False), dtype=torch.float64)
WEIGHTS = torch.tensor([0.3, 0.7], dtype=torch.float64)


def samples():
    return Samples(Federation.of(INPUTS, LABELS, PARTS))


def everything(model, held):
    """All that is evaluated, in one list of tensors."""
    clients = np.array([1, 0])
    return [
        *evaluation.shared(model, ROWS[0], held),
        *evaluation.own(model, ROWS, clients, held),
        *evaluation.each(model, ROWS, held),
        evaluation.client_gradients(model, ROWS[0], held),
        evaluation.gradient(model, ROWS, held, WEIGHTS),
        *evaluation.per_sample(model, ROWS[1], held),
    ]


def alike(model, held, other, other_held, rtol=0.0, atol=0.0):
    for a, b in zip(everything(model, held), everything(other, other_held), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol, atol=atol)


def test_means_by_plain_sums_and_networks_like_closed_forms():
    held = samples()
    alike(LINEAR, held, NETWORK, samples(), rtol=1e-12, atol=1e-15)
    loss, right = evaluation.shared(LINEAR, ROWS[0], held)
    scores = INPUTS.numpy() @ ROWS[0].numpy().reshape(3, 2).T
    for k, part in enumerate(PARTS):
        losses = [np.log(np.exp(scores[j]).sum()) - scores[j, LABELS[j]] for j in part]
        assert float(loss[k]) == pytest.approx(np.mean(losses))
        assert float(right[k]) == np.mean([scores[j].argmax() == LABELS[j] for j in part])


@pytest.mark.parametrize("model", [LINEAR, NETWORK], ids=["stacked", "network"])
def test_chunks_and_forgetting_change_nothing(model, monkeypatch):
    whole = everything(model, samples())
    monkeypatch.setattr(evaluation, "CHUNK", 2)
    monkeypatch.setattr(evaluation, "KEPT", 8)  # nothing is kept, and every group of clients has one
    assert samples()._kept is None
    for a, b in zip(whole, everything(model, samples()), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-15)


def halved(batch):
    return batch.double() / 2


def test_a_prepared_pool_is_evaluated_on_model_inputs_and_samples_in_another_precision_on_the_models():
    whole = torch.round(2 * INPUTS).to(torch.int8)
    plain = Federation.of(whole.double() / 2, LABELS, PARTS)
    raw = Federation.of(whole, LABELS, PARTS)
    prepared = PreparedFederation(raw.inputs, raw.targets, raw.members, raw.offsets, Recipe(convert=halved))
    alike(LINEAR, Samples(plain), LINEAR, Samples(prepared))
    single = Samples(Federation.of(INPUTS.float(), LABELS, PARTS))
    alike(LINEAR, single, LINEAR, Samples(Federation.of(INPUTS.float().double(), LABELS, PARTS)))
    assert single.like(ROWS) is single.like(ROWS)
