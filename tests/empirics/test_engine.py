"""The local loop: the same bits whatever the chunk, cohort and threads; PyTorch's optimisers; per-client steps."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from training_toys import many_classes, SplitLogistic, two_classes

from empirics.algorithms import algorithm
from empirics.errors import EmpiricsError
from empirics.models.linear import LeastSquares, Logistic, SquaredHinge
from empirics.training.engines import ClientLoop, Stacked
from empirics.training.rounds import plan, play, rounds
from empirics.training.setting import Setting

RAGGED = (7, 9, 12, 5, 10, 8, 23)
EVEN = (12,) * 7
SETTING = Setting(rounds=3, cohort=7, batch=4, step_size=0.3, local_steps=4)


def problem(kind: str, sizes: tuple[int, ...], dtype: torch.dtype):
    """A model of the kind and a federation of clients of these sizes."""
    if kind == "softmax":
        return many_classes(sizes, dtype=dtype)
    models = {"logistic": Logistic, "hinge": SquaredHinge, "least squares": LeastSquares}
    return models[kind](4, 1, 0.02, dtype), two_classes(sizes, dtype=dtype)


def start(model, federation, built, seed=3):
    """The first state, at a model that is not zero."""
    draws = np.random.default_rng(seed).normal(size=model.dim)
    return built.begin(torch.tensor(draws, dtype=model.dtype), federation.clients)


def ends(model, federation, built, setting, state, clients, engine) -> torch.Tensor:
    """The local models after one round's work of ``clients``."""
    drawn = np.array(clients), np.ones(len(clients))
    work = plan(model, federation, built, setting, 8, state, drawn)
    return engine.local(model, federation, built, setting, work)[0]


@pytest.mark.parametrize("sizes", [RAGGED, EVEN], ids=["ragged", "even"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("kind", ["softmax", "logistic", "hinge", "least squares"])
@pytest.mark.parametrize("length", [{}, {"local_steps": None, "local_epochs": 2}], ids=["steps", "epochs"])
def test_bits_do_not_depend_on_chunk_or_cohort(kind, dtype, sizes, length):
    model, federation = problem(kind, sizes, dtype)
    setting = replace(SETTING, **length, momentum=0.5, clip=1.5)
    built = algorithm("fedsam(rho=0.1)")
    state = start(model, federation, built)
    whole = ends(model, federation, built, setting, state, range(7), Stacked())
    assert (whole - state.model).abs().max() > 0.01
    for chunk in (1, 2, 3, 5):
        assert torch.equal(ends(model, federation, built, setting, state, range(7), Stacked(chunk)), whole)
    for clients in ([3], [0, 6], [1, 2, 5], [6, 2, 0, 4]):
        assert torch.equal(ends(model, federation, built, setting, state, clients, Stacked()), whole[clients])


@pytest.mark.parametrize("features", [3, 8, 17, 65])
@pytest.mark.parametrize("classes", [2, 10])
@pytest.mark.parametrize("batch", [1, 5, 16, 33])
def test_bits_do_not_depend_on_chunk_or_threads_for_products_of_many_shapes(features, classes, batch):
    model, federation = many_classes((40,) * 9, features, classes, torch.float32)
    setting = replace(SETTING, batch=batch, cohort=9)
    built = algorithm("scaffold()")
    state = start(model, federation, built)
    whole = ends(model, federation, built, setting, state, range(9), Stacked())
    for chunk in (1, 4):
        assert torch.equal(ends(model, federation, built, setting, state, range(9), Stacked(chunk)), whole)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        for chunk in (3, 256):
            assert torch.equal(ends(model, federation, built, setting, state, range(9), Stacked(chunk)), whole)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("kind", ["softmax", "logistic", "hinge", "least squares"])
@pytest.mark.parametrize("text", ["fedavg()", "scaffold()", "fedsam(rho=0.1)"])
def test_the_stacked_and_the_plain_loop_agree(kind, text):
    model, federation = problem(kind, RAGGED, torch.float64)
    setting, built = replace(SETTING, local_steps=None, local_epochs=2, momentum=0.5), algorithm(text)
    one, other = start(model, federation, built), start(model, federation, built)
    for _ in range(3):
        one = play(model, federation, built, setting, 8, Stacked(3), one)
        other = play(model, federation, built, setting, 8, ClientLoop(), other)
    torch.testing.assert_close(one.model, other.model, rtol=0, atol=1e-12)


def test_losses_that_schedules_read_do_not_depend_on_the_chunk():
    model, federation = problem("logistic", RAGGED, torch.float32)
    built = algorithm("scheduled(fedavg(), 'eta_error', window=1)")
    found = [
        play(model, federation, built, SETTING, 8, Stacked(chunk), start(model, federation, built)).losses
        for chunk in (1, 2, 256)
    ]
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == 1


def test_reported_losses_are_the_weighted_mean_on_the_first_batches():
    model, federation = problem("softmax", RAGGED, torch.float64)
    built = algorithm("scheduled(fedavg(), 'eta_error', window=1)")
    setting = replace(SETTING, cohort=3, client_weight="samples", average="unbiased")
    state = start(model, federation, built)
    drawn = np.array([0, 2, 6]), np.ones(3)
    reported = play(model, federation, built, setting, 8, Stacked(), state, cohort=drawn).losses[0]
    total = 0.0
    for k, weight in ((0, 7), (2, 12), (6, 23)):
        index = federation.draw(8, 0, np.array([k]), np.array([4]), 4).index[0, 0]
        scores = federation.inputs[index] @ state.model.view(3, 7).T
        losses = torch.logsumexp(scores, 1) - scores[torch.arange(4), federation.targets[index]]
        total += weight / 42 * float(losses.mean() + 0.015 * (state.model**2).sum())
    assert reported == pytest.approx(total, rel=1e-12)


# ---- the local optimiser against PyTorch's, on one client ----

OPTIMISERS = {
    "plain": ({}, {}),
    "momentum": ({"momentum": 0.8}, {"momentum": 0.8}),
    "nesterov": ({"momentum": 0.8, "nesterov": True}, {"momentum": 0.8, "nesterov": True}),
    "weight decay": ({"weight_decay": 0.3}, {"weight_decay": 0.3}),
    "all": (
        {"momentum": 0.8, "nesterov": True, "weight_decay": 0.3, "clip": 0.4},
        {"momentum": 0.8, "nesterov": True, "weight_decay": 0.3},
    ),
    "clip": ({"clip": 0.4}, {}),
    "adamw": ({"optimizer": "adamw", "weight_decay": 0.3}, {"weight_decay": 0.3}),
    "adamw, all": (
        {"optimizer": "adamw", "beta1": 0.7, "beta2": 0.95, "epsilon": 1e-3, "weight_decay": 0.3, "clip": 0.4},
        {"betas": (0.7, 0.95), "eps": 1e-3, "weight_decay": 0.3},
    ),
}


@pytest.mark.parametrize("name", OPTIMISERS)
@pytest.mark.parametrize("engine", [Stacked(), ClientLoop()], ids=["stacked", "loop"])
def test_local_steps_are_those_of_pytorch(name, engine):
    ours, theirs = OPTIMISERS[name]
    model, federation = problem("logistic", RAGGED, torch.float64)
    setting = replace(SETTING, local_steps=9, step_size=0.11, **ours)
    built = algorithm("fedavg()")
    state = start(model, federation, built)
    found = ends(model, federation, built, setting, state, [4], engine)[0]
    w = torch.nn.Parameter(state.model.clone())
    optimiser = (torch.optim.AdamW if "adamw" in name else torch.optim.SGD)([w], lr=0.11, **theirs)
    batches = federation.draw(8, 0, np.array([4]), np.array([9]), 4)
    for step in range(9):
        inputs, labels, weight = (x[0] for x in batches.at(1, step))
        optimiser.zero_grad()
        loss = (weight * torch.nn.functional.softplus(-labels * (inputs @ w))).sum() + 0.01 * (w**2).sum()
        loss.backward()
        if "clip" in ours:
            assert torch.nn.utils.clip_grad_norm_([w], ours["clip"]) > 0
        optimiser.step()
    assert (found - state.model).norm() > 0.1
    torch.testing.assert_close(found, w.detach(), rtol=0, atol=1e-12)


def test_the_harmonic_rule_divides_the_step_size_by_local_time():
    """FedALS's language model: eta/(t/100 + 10), t counting on over rounds."""
    model, federation = problem("least squares", EVEN, torch.float64)
    built = algorithm("fedavg()")
    setting = replace(SETTING, local_steps=3, step_size=2.0, step_size_rule="harmonic")
    state = start(model, federation, built)._replace(round=40)
    found = ends(model, federation, built, setting, state, [2, 5], Stacked())[0]
    w, batches = state.model.clone(), federation.draw(8, 40, np.array([2]), np.array([3]), 4)
    for step in range(3):
        inputs, targets, _ = batches.at(1, step)
        gradient = ((inputs[0] @ w - targets[0]) @ inputs[0]) / 4 + 0.02 * w
        w = w - 2.0 / ((40 * 3 + step) / 100 + 10) * gradient
    torch.testing.assert_close(found, w, rtol=0, atol=1e-12)


def test_scaffolds_controls_divide_by_the_length_of_the_walk():
    """With one client the control is its mean direction, whatever the step sizes were."""
    model, federation = problem("least squares", EVEN, torch.float64)
    built = algorithm("scaffold()")
    setting = replace(SETTING, cohort=7, local_steps=3, step_size=2.0, step_size_rule="harmonic")
    state = start(model, federation, built)
    after = play(model, federation, built, setting, 8, Stacked(), state)
    length = sum(2.0 / (t / 100 + 10) for t in range(3))
    local = ends(
        model, federation, algorithm("fedavg()"), setting, start(model, federation, built), range(7), Stacked()
    )
    torch.testing.assert_close(after.memory["control"], (state.model - local) / length, rtol=0, atol=1e-12)


def test_epochs_give_every_client_its_own_number_of_steps():
    model, federation = problem("softmax", RAGGED, torch.float64)
    built, setting = algorithm("fedavg()"), replace(SETTING, local_steps=None, local_epochs=2)
    state = start(model, federation, built)
    drawn = np.arange(7), np.ones(7)
    assert plan(model, federation, built, setting, 8, state, drawn).steps.tolist() == [4, 6, 6, 4, 6, 4, 12]
    by_epochs = ends(model, federation, built, setting, state, range(7), Stacked())
    for k, steps in enumerate([4, 6, 6, 4, 6, 4, 12]):
        alone = ends(model, federation, built, replace(SETTING, local_steps=steps), state, [k], Stacked())
        assert torch.equal(alone[0], by_epochs[k])


@pytest.mark.parametrize(("text", "steps"), [("dsgd()", 1), ("scheduled(fedavg(), 'k_step', plateau_round=1)", 1)])
def test_methods_that_change_the_steps_change_epochs_too(text, steps):
    model, federation = problem("softmax", RAGGED, torch.float64)
    built = algorithm(text)
    work = plan(
        model,
        federation,
        built,
        replace(SETTING, local_steps=None, local_epochs=2),
        8,
        start(model, federation, built),
        (np.array([0, 6]), np.ones(2)),
    )
    assert work.steps.tolist() == [steps, 2 if "k_step" in text else steps]


def test_a_chunk_has_at_least_one_row():
    with pytest.raises(EmpiricsError, match=r"^chunk must be >= 1; got 0$"):
        Stacked(0)


def test_personal_models_and_phases_work_chunk_by_chunk():
    model = SplitLogistic(features=4, regularisation=0.07, begin=(0.9, -1.5, 0.8, -1.2), body=3)
    federation = two_classes(RAGGED)
    setting = replace(SETTING, local_steps=None, momentum=0.6, local_epochs=1)
    for text in ("fedrep(head_steps=2)", "ditto(scaffold(), weight=0.3)", "layerwise(scaffold(), alpha=2)"):
        built = algorithm(text)
        last = [list(rounds(model, federation, built, setting, 8, engine=Stacked(chunk)))[-1] for chunk in (1, 256)]
        assert torch.equal(last[0].model, last[1].model)
        assert torch.equal(built.own_models(last[0]), built.own_models(last[1]))
