"""The local loop: the same bits whatever the chunk, cohort and threads; PyTorch's optimisers; per-client steps."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies as st
from loops import each
from training_toys import many_classes, two_classes

from empirics.algorithms import algorithm
from empirics.models.linear import LeastSquares, Logistic, SquaredHinge
from empirics.training.engines import ClientLoop, Stacked
from empirics.training.rounds import plan, play
from empirics.training.setting import Setting

RAGGED = (7, 9, 12, 5, 10, 8, 23)
EVEN = (12,) * 7
SETTING = Setting(rounds=3, cohort=7, batch=4, step_size=0.3, local_steps=4)


def problem(kind: str, sizes: tuple[int, ...], dtype: torch.dtype = torch.float64, features: int = 4, classes: int = 3):
    """A model of the kind and a federation of clients of these sizes."""
    if kind == "softmax":
        return many_classes(sizes, features, classes, dtype)
    models = {"logistic": Logistic, "hinge": SquaredHinge, "least squares": LeastSquares}
    return models[kind](features, 1, 0.02, dtype), two_classes(sizes, features, dtype)


def start(model, federation, built, seed=3):
    """The first state, at a model that is not zero."""
    draws = np.random.default_rng(seed).normal(size=model.dim)
    return built.begin(torch.tensor(draws, dtype=model.dtype), federation.clients)


def ends(model, federation, built, setting, state, clients, engine) -> torch.Tensor:
    """The local models after one round's work of ``clients``."""
    drawn = np.array(clients), np.ones(len(clients))
    work = plan(model, federation, built, setting, 8, state, drawn)
    return engine.local(model, federation, built, setting, work)[0]


@st.composite
def local_work(draw):
    """A model of many shapes, clients of unlike or like sizes, a method and the length of a round."""
    kind, features = draw(st.sampled_from(["softmax", "logistic", "hinge", "least squares"])), draw(st.integers(2, 65))
    dtype, sizes = draw(st.sampled_from([torch.float32, torch.float64])), draw(st.sampled_from([RAGGED, EVEN]))
    model, federation = problem(kind, sizes, dtype, features, draw(st.sampled_from([2, 3, 10])))
    length = draw(st.sampled_from([{}, {"local_steps": None, "local_epochs": 2}]))
    optimiser = draw(st.sampled_from([{}, {"momentum": 0.5}, {"momentum": 0.5, "clip": 1.5}]))
    setting = replace(SETTING, batch=draw(st.integers(1, 33)), step_size=0.05, **length, **optimiser)
    built = algorithm(draw(st.sampled_from(["fedavg()", "fedsam(rho=0.1)", "scaffold()"])))
    return model, federation, built, setting, start(model, federation, built)


@settings(max_examples=60)
@given(local_work(), st.integers(1, 5), st.lists(st.integers(0, 6), min_size=1, max_size=5, unique=True))
def test_bits_do_not_depend_on_chunk_cohort_or_threads_and_the_plain_loop_agrees(made, chunk, clients):
    *made, state = made
    whole = ends(*made, state, range(7), Stacked())
    assert (whole - state.model).abs().max() > 1e-4
    assert torch.equal(ends(*made, state, range(7), Stacked(chunk)), whole)
    assert torch.equal(ends(*made, state, clients, Stacked()), whole[clients])
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        assert torch.equal(ends(*made, state, range(7), Stacked(chunk + 1)), whole)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    plain = ends(*made, state, range(7), ClientLoop())
    exact = 1e-11 if whole.dtype is torch.float64 else 2e-4
    torch.testing.assert_close(plain, whole, rtol=exact, atol=exact)


def test_reported_losses_are_the_weighted_mean_on_the_first_batches_whatever_the_chunk():
    model, federation = problem("softmax", RAGGED, features=7)
    built = algorithm("scheduled(fedavg(), 'eta_error', window=1)")
    setting = replace(SETTING, cohort=3, client_weight="samples", average="unbiased")
    state = start(model, federation, built)
    drawn = np.array([0, 2, 6]), np.ones(3)
    engines = [Stacked(chunk) for chunk in (1, 2, 256)]
    found = [play(model, federation, built, setting, 8, engine, state, cohort=drawn).losses for engine in engines]
    assert found[0] == found[1] == found[2]
    total = 0.0
    for k, weight in ((0, 7), (2, 12), (6, 23)):
        index = federation.draw(8, 0, np.array([k]), np.array([4]), 4).index[0, 0]
        scores = federation.inputs[index] @ state.model.view(3, 7).T
        losses = torch.logsumexp(scores, 1) - scores[torch.arange(4), federation.targets[index]]
        total += weight / 42 * float(losses.mean() + 0.015 * (state.model**2).sum())
    assert list(found[0]) == [pytest.approx(total, rel=1e-12)]


# ---- the local optimiser against PyTorch's, on one client ----

OPTIMISERS = {
    "momentum": ({"momentum": 0.8, "weight_decay": 0.3}, {"momentum": 0.8, "weight_decay": 0.3}),
    "clip": ({"clip": 0.4}, {}),
    "all": (
        {"momentum": 0.8, "nesterov": True, "weight_decay": 0.3, "clip": 0.4},
        {"momentum": 0.8, "nesterov": True, "weight_decay": 0.3},
    ),
    "adamw": ({"optimizer": "adamw", "weight_decay": 0.3}, {"weight_decay": 0.3}),
    "adamw, all": (
        {"optimizer": "adamw", "beta1": 0.7, "beta2": 0.95, "epsilon": 1e-3, "weight_decay": 0.3, "clip": 0.4},
        {"betas": (0.7, 0.95), "eps": 1e-3, "weight_decay": 0.3},
    ),
}


@each(OPTIMISERS, lambda name: {"name": name})
def test_local_steps_are_those_of_pytorch(name):
    ours, theirs = OPTIMISERS[name]
    model, federation = problem("logistic", RAGGED)
    setting = replace(SETTING, local_steps=9, step_size=0.11, **ours)
    built = algorithm("fedavg()")
    state = start(model, federation, built)
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
    for engine in (Stacked(), ClientLoop()):
        found = ends(model, federation, built, setting, state, [4], engine)[0]
        assert (found - state.model).norm() > 0.1
        torch.testing.assert_close(found, w.detach(), rtol=0, atol=1e-12)


def test_the_harmonic_rule_divides_the_step_size_by_local_time():
    """FedALS's language model: eta/(t/100 + 10), t counting on over rounds."""
    model, federation = problem("least squares", EVEN)
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
    """In the first round the control is a client's mean direction, whatever the step sizes were."""
    model, federation = problem("least squares", EVEN)
    built = algorithm("scaffold()")
    setting = replace(SETTING, local_steps=3, step_size=2.0, step_size_rule="harmonic")
    state = start(model, federation, built)
    after = play(model, federation, built, setting, 8, Stacked(), state)
    length = sum(2.0 / (t / 100 + 10) for t in range(3))
    first = start(model, federation, algorithm("fedavg()"))
    local = ends(model, federation, algorithm("fedavg()"), setting, first, range(7), Stacked())
    torch.testing.assert_close(after.memory["control"], (state.model - local) / length, rtol=0, atol=1e-12)


def test_epochs_give_every_client_its_own_number_of_steps_which_methods_may_change():
    model, federation = problem("softmax", RAGGED)
    setting = replace(SETTING, local_steps=None, local_epochs=2)

    def steps(text):
        built = algorithm(text)
        everyone = np.arange(7), np.ones(7)
        work = plan(model, federation, built, setting, 8, start(model, federation, built), everyone)
        return work.steps.tolist()

    assert steps("dsgd()") == [1] * 7
    assert steps("scheduled(fedavg(), 'k_step', plateau_round=1)") == [1, 1, 1, 1, 1, 1, 2]
    assert steps("fedavg()") == [4, 6, 6, 4, 6, 4, 12]
    built = algorithm("fedavg()")
    state = start(model, federation, built)
    by_epochs = ends(model, federation, built, setting, state, range(7), Stacked())
    for k, count in enumerate(steps("fedavg()")):
        alone = ends(model, federation, built, replace(SETTING, local_steps=count), state, [k], Stacked())
        assert torch.equal(alone[0], by_epochs[k])
