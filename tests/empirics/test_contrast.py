"""MOON and FedDecorr: pencil and paper, plain loops, what does not count."""

from dataclasses import replace

import pytest
import torch
from network_toys import agree, cross_entropy, head, hidden, mean, models, SETTING, Step, Twin
from training_toys import many_classes

from empirics.algorithms import algorithm
from empirics.algorithms.contrast import Decorrelated
from empirics.errors import EmpiricsError
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

# ---- MOON ----


def cosine(a, b):
    return (a * b).sum() / ((a * a).sum() * (b * b).sum()) ** 0.5


def moon_loss(mu, temperature):
    def loss(w, now: Step):
        terms = []
        for x, y in now.batch:
            z = hidden(w, x)
            near = torch.exp(cosine(z, hidden(now.start, x)) / temperature)
            far = torch.exp(cosine(z, hidden(now.last, x)) / temperature)
            terms.append(cross_entropy(head(w, z), y) - mu * torch.log(near / (near + far)))
        return mean(terms)

    return loss


def test_moon_equals_plain_loops():
    agree("moon(mu=0.7, temperature=0.4)", Twin(moon_loss(0.7, 0.4)))


def test_moons_contrast_is_without_force_in_a_clients_first_round():
    """Both other models are the same then: FedAvg to the last bits; later it is not."""
    full = replace(SETTING, cohort=5)
    apart = (models("moon(mu=0.9)", full) - models("fedavg()", full)).abs().amax(-1)
    assert apart[0] < 1e-14
    assert apart[1] > 1e-4


# ---- FedDecorr ----


@pytest.mark.parametrize("reading", ["intended", "code"])
@pytest.mark.parametrize("width", [2, 7])
def test_padding_correlates_with_nothing(reading, width):
    """Batches of 4 and 5 samples of which 3 count, wider and narrower than they are many."""
    measure = Decorrelated(1.0, reading).correlation
    z = torch.randn(2, 5, width, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    weight = torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], dtype=torch.float64)
    weight /= weight.sum(-1, keepdim=True)
    both = measure(z, weight)
    torch.testing.assert_close(both[0], measure(z[:1, :3], None)[0])
    torch.testing.assert_close(both[1], measure(z[1:], None)[0])
    assert abs(both[0] - both[1]) > 1e-3


@pytest.mark.parametrize("reading", ["intended", "code"])
def test_a_batch_of_one_sample_and_dead_columns_correlate_with_nothing(reading):
    z = torch.tensor([[[0.5, 0.0], [0.7, 0.0]]], requires_grad=True)
    alone = Decorrelated(1.0, reading).correlation(z[:, :1], None)
    dead = Decorrelated(1.0, reading).correlation(z, None)
    assert alone.item() == 0
    assert dead.item() == pytest.approx(0.25 if reading == "intended" else 0.0, abs=1e-6)
    (slope,) = torch.autograd.grad((alone + dead).sum(), z)
    assert slope.isfinite().all()


def decorr_loss(beta, code):
    def loss(w, now: Step):
        z = [hidden(w, x) for x, _ in now.batch]
        n, d = len(z), len(z[0])
        penalty = 0.0
        if n > 1:
            middle = mean(z)
            spread = [sum((one[i] - middle[i]) ** 2 for one in z) / (n - 1) + 1e-8 for i in range(d)]
            for i in range(d):
                for j in range(d):
                    covariance = sum((one[i] - middle[i]) * (one[j] - middle[j]) for one in z)
                    r = covariance / (spread[i] * spread[j]) ** 0.5
                    if not code:
                        penalty = penalty + (r / (n - 1)) ** 2 / d**2
                    elif i != j:
                        penalty = penalty + r**2 / (d * (d - 1)) / n
        return mean([cross_entropy(head(w, one), y) for one, (_, y) in zip(z, now.batch, strict=True)]) + beta * penalty

    return loss


@pytest.mark.parametrize("reading", ["intended", "code"])
def test_feddecorr_equals_plain_loops(reading):
    agree(f"feddecorr(beta=0.3, reading='{reading}')", Twin(decorr_loss(0.3, reading == "code")))


# ---- both ----


@pytest.mark.parametrize("text", ["moon(mu=0)", "feddecorr(beta=0)", "feddecorr(beta=0, reading='code')"])
def test_switched_off_they_are_fedavg(text):
    assert (models(text) - models("fedavg()")).abs().max() < 1e-12


@pytest.mark.parametrize("name", ["moon", "feddecorr"])
def test_a_model_without_halves_is_one_clear_line(name):
    model, federation = many_classes((5, 6))
    with pytest.raises(EmpiricsError, match=rf"^{name} needs a network made of features and head; got Softmax$"):
        list(rounds(model, federation, algorithm(name), Setting(rounds=1, cohort=2, batch=2), 1))
