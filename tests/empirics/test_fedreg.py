"""FedReg: both stages by hand, plain loops, and what its readings do."""

from dataclasses import replace

import pytest
import torch
from network_toys import (
    agree,
    cross_entropy,
    kl,
    logits,
    mean,
    models,
    plain_loss,
    SETTING,
    slope,
    softmax,
    Step,
    Twin,
    work_of,
)

from empirics.algorithms import algorithm


def test_nothing_goes_back_down():
    """Moved along (-1, 0), where both losses fall: the step stays what it was."""
    work = work_of("fedreg()").part(slice(0, 1))
    work = work._replace(state=work.state._replace(model=torch.zeros(2)), sizes=[0.5], step=0)

    def gradient_at(point, objective=None):
        return torch.tensor([[2.0, 0.0]]) if objective is None else torch.tensor([[3.0, 1.0]])

    direction = algorithm("fedreg(gamma=0.3)").direction(work, torch.zeros(1, 2), torch.zeros(1, 2), gradient_at)
    assert direction[0].tolist() == [2.0, 0.0]


def fedreg_step(gamma, iterations, size, code):
    def take(_, w, now: Step, eta):
        low = min(float(x.min()) for x, _ in now.batch)
        high = max(float(x.max()) for x, _ in now.batch)

        def made(x, y, step):
            for _ in range(iterations):
                g = slope(lambda p: cross_entropy(logits(now.start, p), y), x)
                x = x + step * g.sign() if code else torch.clamp(x - step * g.sign(), low, high)
            return x

        pseudo = [made(x, y, size) for x, y in now.batch]
        soft = [(x, softmax(logits(now.start, x)).detach()) for x in pseudo]
        perturbed = [(made(x, y, size / 100), y) for x, y in now.batch]
        first = w - eta * slope(lambda p: plain_loss(p, now), gamma * w + (1 - gamma) * now.start)
        near = (first + now.start) / 2
        g2 = slope(lambda p: mean([kl(t, softmax(logits(p, x))) for x, t in soft]), near)  # an entropy away from CE
        g3 = slope(lambda p: mean([cross_entropy(logits(p, x), y) for x, y in perturbed]), near)
        delta = first - now.start
        a = max(0.0, float((delta * g2).sum() / (g2 * g2).sum()))
        b = max(0.0, float(((delta - a * g2) * g3).sum() / (g3 * g3).sum()))
        return first - a * g2 - b * g3

    return take


@pytest.mark.parametrize(
    ("gamma", "reading", "size"), [(0.5, "intended", 0.3), (0.7, "code", 0.3), (1.0, "intended", 0.05)]
)
def test_fedreg_equals_plain_loops(gamma, reading, size):
    """Three signed steps of 0.3 reach the range's limits; a batch's range leaves out its padding."""
    text = f"fedreg(gamma={gamma}, iterations=3, made_step_size={size}, reading='{reading}')"
    agree(text, Twin(take=fedreg_step(gamma, 3, size, reading == "code")))


def test_an_uneven_step_size_is_divided_out():
    """The second stage has no step size: under the harmonic rule the direction is divided by that of its own step."""
    setting = replace(SETTING, step_size=3.0, step_size_rule="harmonic", rounds=2)
    constant = replace(SETTING, step_size=0.3, rounds=2)
    text = "fedreg(iterations=2, made_step_size=0.1)"
    assert (models(text, setting) - models(text, constant)).abs().max() < 0.01
