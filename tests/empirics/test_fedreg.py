"""FedReg: both stages by hand, plain loops, and what its readings do."""

from dataclasses import replace

import pytest
import torch
from network_toys import (
    agree,
    CLASSES,
    cross_entropy,
    FEDERATION,
    kl,
    logits,
    mean,
    models,
    NET,
    plain_loss,
    SETTING,
    slope,
    softmax,
    Step,
    Twin,
    work_of,
)

from empirics.algorithms import algorithm


def test_a_step_by_hand():
    """From (0, 0), now at (2, 0): the gradient at (1, 0) is (1, 1), so with step 1 first comes (1, -1).

    Halfway, at (1/2, -1/2), the pseudo data have the gradient (2, 0): 1/2 of it goes back, (1, 0). Left is (0, -1), and
    of the perturbed data's (1, -2) it holds 2/5: (2/5, -4/5) goes back. New: (-2/5, -1/5).
    """
    asked = []

    def gradient_at(point, objective=None):
        asked.append(point[0].tolist())
        if objective is None:
            return torch.tensor([[1.0, 1.0]])
        return torch.tensor([[2.0, 0.0]]) if objective.soft else torch.tensor([[1.0, -2.0]])

    work = work_of("fedreg()").part(slice(0, 1))
    work = work._replace(state=work.state._replace(model=torch.zeros(2)), sizes=[9.0, 1.0], step=1)
    direction = algorithm("fedreg()").direction(work, torch.tensor([[2.0, 0.0]]), torch.full((1, 2), 7.0), gradient_at)
    assert asked == [[1.0, 0.0], [0.5, -0.5], [0.5, -0.5]]
    assert direction[0].tolist() == pytest.approx([2.4, 0.2])


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


def test_readings_go_opposite_ways():
    """Up the server model's loss the code's data, down the others, which stay in the batch's range."""
    work = work_of("fedreg()").part(slice(2, 3))
    inputs, labels = FEDERATION.samples(2)
    batch = inputs.unsqueeze(0), labels.unsqueeze(0), None
    theirs = work.state.model.unsqueeze(0)
    losses = {}
    for reading in ("intended", "code"):
        stage = algorithm(f"fedreg(made_step_size=0.2, reading='{reading}')").direction.pseudo
        made = stage.made(NET, theirs, batch)
        losses[reading] = float(NET.task_loss(theirs, (made, labels.unsqueeze(0), None)).detach())
        assert (made.abs().max() > inputs.abs().max()) == (reading == "code")
    plain = float(NET.task_loss(theirs, batch).detach())
    assert losses["intended"] < plain - 0.1
    assert losses["code"] > plain + 0.1
    assert NET.output(theirs, inputs.unsqueeze(0)).shape[-1] == CLASSES


def test_there_is_no_switch_that_makes_it_fedavg():
    """Even on the data as they are (no iterations) and at the model itself (gamma 1), what was moved goes back."""
    assert (models("fedreg(gamma=1, iterations=0)") - models("fedavg()")).abs().max() > 1e-3


def test_an_uneven_step_size_is_divided_out():
    """The second stage has no step size: under the harmonic rule the direction is divided by that of its own step."""
    setting = replace(SETTING, step_size=3.0, step_size_rule="harmonic", rounds=2)
    constant = replace(SETTING, step_size=0.3, rounds=2)
    text = "fedreg(iterations=2, made_step_size=0.1)"
    assert (models(text, setting) - models(text, constant)).abs().max() < 0.01
