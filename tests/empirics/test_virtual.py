"""VHL: the alignment by hand, plain loops, which samples are virtual, and when there is alignment."""

from dataclasses import replace

import pytest
import torch
from network_toys import (
    agree,
    CLASSES,
    cross_entropy,
    FEATURES,
    FEDERATION,
    head,
    hidden,
    mean,
    models,
    SEED,
    SETTING,
    Step,
    Twin,
    work_of,
)

from empirics.algorithms import algorithm
from empirics.algorithms.virtual import virtual_samples
from empirics.errors import EmpiricsError
from empirics.streams import stream


def test_virtual_samples_are_gaussian_around_a_mean_of_their_class():
    pool = virtual_samples(3, 4, 500, (6,)).view(4, 500, 6)
    means = pool.mean(1)
    assert (pool.std(1) - 0.5).abs().max() < 0.08
    assert (means[0] - means[1]).abs().max() > 0.3
    assert torch.equal(virtual_samples(3, 4, 500, (6,)).view(4, 500, 6), pool)
    assert not torch.equal(virtual_samples(4, 4, 500, (6,)).view(4, 500, 6), pool)


def test_images_are_enlarged_from_a_coarse_grid():
    assert virtual_samples(3, 2, 5, (3, 32, 32)).shape == (10, 3, 8, 8)
    assert virtual_samples(3, 2, 5, (1, 4, 6)).shape == (10, 1, 4, 6)
    work = work_of("vhl()").part(slice(2, 3))
    objective = algorithm("vhl(batch=7)").objective
    objective.prepare(None, (torch.zeros(1, 2, 3, 16, 16), None, None), work)
    made, labels = objective.drawn(work, (3, 16, 16))
    assert made.shape == (1, 7, 3, 16, 16)
    assert labels.shape == (1, 7)
    assert made.std() > 0.3


def vhl_loss(alpha, weight, epochs, size, per_class):
    def loss(w, now: Step):
        pool = virtual_samples(SEED, CLASSES, per_class, (FEATURES,)).double()
        places = stream(SEED, "virtual batches", round=now.round, client=now.client).integers(
            CLASSES * per_class, size=(SETTING.local_steps, size)
        )[now.step]
        made = [(pool[i], int(i) // per_class) for i in places]
        both = [(hidden(w, x), y) for x, y in (*now.batch, *made)]
        own = [cross_entropy(head(w, z), y) for z, y in both]
        total = mean(own[: len(now.batch)]) + alpha * mean(own[len(now.batch) :])
        if now.step < epochs * -(-sum(now.counts) // SETTING.batch):
            total = total + weight * alignment(both)
        return total

    return loss


def alignment(samples):
    unit = [(z / (z * z).sum() ** 0.5, y) for z, y in samples]
    total = 0.0
    for i, (z, y) in enumerate(unit):
        others = [(torch.exp((z * o).sum() / 0.07), label) for j, (o, label) in enumerate(unit) if j != i]
        same = [-torch.log(e / sum(e for e, _ in others)) for e, label in others if label == y]
        total = total + (mean(same) if same else 0.0)
    return total / len(unit)


@pytest.mark.parametrize("epochs", [0, 1, 5])
def test_vhl_equals_plain_loops(epochs):
    """One pass is two or three of the four steps: clients leave the alignment at times of their own."""
    agree(f"vhl(alpha=0.6, weight=0.3, epochs={epochs}, batch=3, per_class=2)", Twin(vhl_loss(0.6, 0.3, epochs, 3, 2)))


def test_switched_off_vhl_is_fedavg():
    assert (models("vhl(alpha=0, weight=0, batch=3)") - models("fedavg()")).abs().max() < 1e-12


def test_tokens_are_one_clear_line():
    data = replace(FEDERATION, inputs=FEDERATION.inputs.long())
    with pytest.raises(EmpiricsError, match=r"^vhl makes inputs by gradients and needs real numbers; got torch.int64"):
        models("vhl()", data=data)
