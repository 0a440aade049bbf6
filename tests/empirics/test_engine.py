"""Local steps and rounds: the same bits whatever the chunk, PyTorch's optimisers, who is drawn and weighs what."""

import pickle
import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from empirics_toys import directed, ragged, small
from hypothesis import given, settings, strategies as st
from loops import cases
from refusals import all_refused
from training_toys import many_classes, SplitLogistic, two_classes

from empirics.algorithms import algorithm
from empirics.errors import Diverged, EmpiricsError
from empirics.models.linear import LeastSquares, Logistic, SquaredHinge
from empirics.sizes import cores
from empirics.training.engines import choose, ClientLoop, device_named, Stacked
from empirics.training.rounds import draw_cohort, plan_round, rounds, train_round
from empirics.training.setting import Setting

RAGGED = (7, 9, 12, 5, 10, 8, 23)
EVEN = (12,) * 7
WORK = Setting(rounds=3, cohort=7, batch=4, step_size=0.3, local_steps=4)


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
    """The local models after a round's work of ``clients``, beside the first losses if the method asks for them."""
    drawn = np.array(clients), np.ones(len(clients))
    work = plan_round(model, federation, built, setting, 8, state, drawn)
    found, losses = engine.local(model, federation, built, setting, work)
    return found if losses is None else torch.cat([found, losses[:, None]], 1)


EARLY = "scheduled(fedavg(), 'eta_error', window=1)"
"""It asks for losses."""


@st.composite
def local_work(draw):
    """A model of many shapes, clients of unlike or like sizes, a method and the length of a round."""
    kind, features = draw(st.sampled_from(["softmax", "logistic", "hinge", "least squares"])), draw(st.integers(2, 65))
    dtype, sizes = draw(st.sampled_from([torch.float32, torch.float64])), draw(st.sampled_from([RAGGED, EVEN]))
    model, federation = problem(kind, sizes, dtype, features, draw(st.sampled_from([2, 3, 10])))
    length = draw(st.sampled_from([{}, {"local_steps": None, "local_epochs": 2}]))
    optimiser = draw(st.sampled_from([{}, {"momentum": 0.5}, {"momentum": 0.5, "clip": 1.5}]))
    setting = replace(WORK, batch=draw(st.integers(1, 33)), step_size=0.05, **length, **optimiser)
    built = algorithm(draw(st.sampled_from(["fedavg()", "fedsam(rho=0.1)", "scaffold()", EARLY])))
    return model, federation, built, setting, start(model, federation, built)


@settings(max_examples=60)
@given(local_work(), st.integers(1, 5), st.lists(st.integers(0, 6), min_size=1, max_size=5, unique=True))
def test_bits_do_not_depend_on_chunk_cohort_or_threads_and_the_plain_loop_agrees(made, chunk, clients):
    *made, state = made
    whole = ends(*made, state, range(7), Stacked())
    assert (whole[:, : len(state.model)] - state.model).abs().max() > 1e-4
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


OPTIMISERS = {
    "all": (
        {"momentum": 0.8, "nesterov": True, "weight_decay": 0.3, "clip": 0.4},
        {"momentum": 0.8, "nesterov": True, "weight_decay": 0.3},
    ),
    "adamw, all": (
        {"optimizer": "adamw", "beta1": 0.7, "beta2": 0.95, "epsilon": 1e-3, "weight_decay": 0.3, "clip": 0.4},
        {"betas": (0.7, 0.95), "eps": 1e-3, "weight_decay": 0.3},
    ),
}


@cases("name", OPTIMISERS)
def test_local_steps_are_those_of_pytorch(name):
    ours, theirs = OPTIMISERS[name]
    model, federation = problem("logistic", RAGGED)
    setting = replace(WORK, local_steps=9, step_size=0.11, **ours)
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


def test_epochs_give_every_client_its_own_number_of_steps_which_methods_may_change():
    model, federation = problem("softmax", RAGGED)
    setting = replace(WORK, local_steps=None, local_epochs=2)

    def steps(text):
        built = algorithm(text)
        everyone = np.arange(7), np.ones(7)
        work = plan_round(model, federation, built, setting, 8, start(model, federation, built), everyone)
        return work.steps.tolist()

    assert steps("dsgd()") == [1] * 7
    assert steps("scheduled(fedavg(), 'k_step', plateau_round=1)") == [1, 1, 1, 1, 1, 1, 2]
    assert steps("fedavg()") == [4, 6, 6, 4, 6, 4, 12]
    built = algorithm("fedavg()")
    state = start(model, federation, built)
    by_epochs = ends(model, federation, built, setting, state, range(7), Stacked())
    for k, count in enumerate(steps("fedavg()")):
        alone = ends(model, federation, built, replace(WORK, local_steps=count), state, [k], Stacked())
        assert torch.equal(alone[0], by_epochs[k])


SIZES = (7, 9, 12, 5, 10)
SETTING = Setting(rounds=4, cohort=3, batch=4, step_size=0.3, local_steps=3)
MODEL = SplitLogistic(features=4, regularisation=0.07, begin=(0.9, -1.5, 0.8, -1.2), body=3)
FEDERATION = two_classes(SIZES)
FEDAVG = algorithm("fedavg()")


def local_ends(clients) -> torch.Tensor:
    """FedAvg's local models of these clients after the first round's work."""
    drawn = np.array(clients), np.ones(len(clients))
    work = plan_round(MODEL, FEDERATION, FEDAVG, SETTING, 8, FEDAVG.begin(MODEL.start(0), 5), drawn)
    return Stacked().local(MODEL, FEDERATION, FEDAVG, SETTING, work)[0]


@pytest.mark.parametrize("sampling", ["without_replacement", "with_replacement", "bernoulli"])
@pytest.mark.parametrize("weight", ["uniform", "samples"])
def test_everyone_is_drawn_as_often_as_the_sampling_says(sampling, weight):
    """Mean counts over 2,000 rounds within 4.5 standard errors: cohort/clients, or cohort times the weight (Case I)."""
    setting = replace(SETTING, sampling=sampling, client_weight=weight)
    total = np.zeros((2000, 5))
    for r in range(2000):
        clients, counts = draw_cohort(setting, FEDERATION, 3, r)
        assert (np.diff(clients) > 0).all()
        assert (counts >= 1).all()
        total[r, clients] = counts
    shares = np.full(5, 0.2) if weight == "uniform" else np.array(SIZES) / sum(SIZES)
    expected = 3 * shares if sampling == "with_replacement" else np.full(5, 0.6)
    if sampling == "bernoulli":
        expected = expected / (1 - 0.4**5)  # given that somebody came
        assert len(np.unique(total.sum(1))) == 5
    else:
        assert (total.sum(1) == 3).all()
        assert total.max() == (3 if sampling == "with_replacement" else 1)
    assert (np.abs(total.mean(0) - expected) < 4.5 * total.std(0) / np.sqrt(2000)).all()


@pytest.mark.parametrize("average", ["renormalised", "unbiased"])
@pytest.mark.parametrize("weight", ["uniform", "samples"])
def test_weights_of_cases_ii_and_of_bernoulli_draws(average, weight):
    """Renormalised over the cohort, or weight times clients over the (expected) cohort as printed."""
    shares = [0.2] * 5 if weight == "uniform" else [size / 43 for size in SIZES]
    weights = np.array([shares[k] for k in (0, 2)])
    weights = weights / weights.sum() if average == "renormalised" else weights * 5 / 3
    assert (abs(weights.sum() - 1) < 1e-12) == (average == "renormalised")
    for sampling in ("without_replacement", "bernoulli"):
        setting = replace(SETTING, sampling=sampling, average=average, client_weight=weight)
        begun, drawn = FEDAVG.begin(MODEL.start(0), 5), (np.array([0, 2]), np.ones(2))
        found = train_round(MODEL, FEDERATION, FEDAVG, setting, 8, Stacked(), begun, cohort=drawn).model
        torch.testing.assert_close(found, torch.tensor(weights) @ local_ends([0, 2]), rtol=0, atol=1e-14)


def test_a_diverging_run_says_when_who_and_how_large():
    setting = replace(SETTING, step_size=1e60, rounds=9, local_steps=2)
    model, federation = many_classes(SIZES)
    seen: list[float] = []
    with pytest.raises(Diverged) as raised:
        seen.extend(float(s.model.norm()) for s in rounds(model, federation, algorithm("scaffold()"), setting, 8))
    problem = raised.value
    assert (problem.algorithm, problem.round) == ("scaffold()", len(seen))
    assert problem.largest == max(seen) > 1e50
    assert str(pickle.loads(pickle.dumps(problem))) == str(problem)


MISTAKES = [
    *({"step_size": value} for value in (0, -0.1, float("nan"), "big")),
    *({"rounds": value} for value in (0, 2.5)),
    *({"cohort": True}, {"batch": -4}, {"local_steps": 0}, {"local_epochs": 0}, {"step_size_decay": 0}),
    *({"momentum": 1}, {"weight_decay": -1}, {"clip": 0}, {"nesterov": "no", "momentum": 0.5}),
    *({"sampling": "all"}, {"client_weight": "equal"}, {"average": "mean"}, {"optimizer": "adam"}),
    *({"step_size_rule": "cosine"}, {"beta1": 0.7, "epsilon": 1e-5}, {"nesterov": True}),
    *({"momentum": 0.5, "optimizer": "adamw"}, {"local_epochs": 2}, {"step_offset": 2.0, "step_size_rule": "harmonic"}),
    {"step_size_rule": "harmonic", "local_steps": None, "local_epochs": 2},
    {"step_offset": 2.0, "local_steps": None, "local_epochs": 2},
]


@cases("options", MISTAKES)
def test_a_setting_that_makes_no_sense_names_the_first_of_its_options(options):
    with pytest.raises(EmpiricsError, match=next(iter(options))):
        replace(SETTING, **options)


def test_what_is_chosen_by_model_and_device():
    assert choose(MODEL) == Stacked()
    assert choose(small()) == ClientLoop(threads=cores())
    assert type(choose(small(), "cuda")).__name__ == "Graphs"


def test_clients_under_way_stop_soon_when_another_fails():
    taken, plan = [], Setting(rounds=1, cohort=6, batch=8, local_steps=200)

    def direction(work, w, gradient, gradient_at):
        taken.append(time.sleep(0.002))
        return gradient * (1 // int(work.clients[0] != 2))

    with pytest.raises(ZeroDivisionError):
        list(rounds(small(), ragged(), directed(direction), plan, 3, ClientLoop(threads=6)))
    time.sleep(2)
    assert len(taken) < 600


def test_devices_by_name(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device_named("auto") == device_named("cpu") == torch.device("cpu")
    all_refused([(lambda: device_named("cuda"), "cuda GPU"), (lambda: device_named("coda"), "auto cpu 'coda'")])
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert device_named("auto") == torch.device("cuda")
