"""VHL: the alignment by hand, plain loops, which samples are virtual, and when there is alignment."""

import math
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
from empirics.algorithms.virtual import contrast, virtual_samples
from empirics.errors import EmpiricsError
from empirics.streams import stream


def test_the_alignment_by_hand():
    """Cosines 3/5 of the two alike, 4/5 and 24/25 to the third, alone of its class; a fourth does not count."""
    z = torch.tensor([[[2.0, 0.0], [3.0, 4.0], [8.0, 6.0], [1.0, 7.0]]], dtype=torch.float64)
    labels, counts = torch.tensor([[1, 1, 2, 2]]), torch.tensor([[True, True, True, False]])
    first, second = math.log(1 + math.exp(0.2 / 0.07)), math.log(1 + math.exp(0.36 / 0.07))
    assert contrast(z, labels, counts).item() == pytest.approx((first + second) / 3, rel=1e-12)


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
    made, labels = algorithm("vhl(batch=7)").objective.drawn(work, torch.zeros(1, 2, 3, 16, 16))
    assert made.shape == (1, 7, 3, 16, 16)
    assert labels.shape == (1, 7)
    assert made.std() > 0.3


def test_all_clients_have_the_same_virtual_samples_but_batches_of_their_own():
    built = algorithm("vhl(batch=4, per_class=2)")
    work = work_of("vhl()").part(slice(2, 3))
    pool = virtual_samples(SEED, CLASSES, 2, (FEATURES,)).double()
    made, labels = built.objective.drawn(work._replace(step=1), torch.zeros(1, 3, FEATURES, dtype=torch.float64))
    for sample, label in zip(made[0], labels[0], strict=True):
        place = int((pool == sample).all(-1).nonzero())
        assert place // 2 == label
    again, _ = built.objective.drawn(work._replace(step=2), torch.zeros(1, 3, FEATURES, dtype=torch.float64))
    assert not torch.equal(made, again)


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


def test_numbers_of_passes_differ():
    few, more = (models(f"vhl(batch=3, epochs={e})", replace(SETTING, local_steps=4)) for e in (0, 1))
    all_steps = models("vhl(batch=3, epochs=5)")
    assert (few - more).abs().max() > 1e-3
    assert (all_steps - more).abs().max() > 1e-3


def test_switched_off_vhl_is_fedavg():
    assert (models("vhl(alpha=0, weight=0, batch=3)") - models("fedavg()")).abs().max() < 1e-12


def test_tokens_are_one_clear_line():
    data = replace(FEDERATION, inputs=FEDERATION.inputs.long())
    with pytest.raises(EmpiricsError, match=r"^vhl makes inputs by gradients and needs real numbers; got torch.int64"):
        models("vhl()", data=data)
