"""Every method against its slow twin in plain loops, off switches, readings and compositions."""

from dataclasses import replace

import network_toys as networks
import numpy as np
import pytest
import torch
from loops import cases
from training_toys import SplitLogistic, two_classes
from twins import training as slow, training_layers as layers

from empirics.algorithms import algorithm, ALGORITHMS
from empirics.errors import EmpiricsError
from empirics.training.rounds import draw_cohort, rounds, shares
from empirics.training.setting import Setting

BODY, STEPS, ETA, SEED = 3, 5, 0.23, 4
START = (0.91, -1.47, 0.83, -1.19)
MODEL = SplitLogistic(features=4, regularisation=0.07, begin=START, body=BODY)
FEDERATION = two_classes((7, 9, 12, 5, 10))
PLAIN = Setting(rounds=5, cohort=3, batch=4, step_size=ETA, local_steps=STEPS)
PARTIAL = replace(PLAIN, momentum=0.4, client_weight="samples")


def models(text: str, setting: Setting = PARTIAL) -> torch.Tensor:
    """The server's models after every round ``(rounds, dim)``."""
    return torch.stack([s.model for s in rounds(MODEL, FEDERATION, algorithm(text), setting, seed=4)][1:])


OFF = {
    "ditto": ("ditto(weight=0.7)", 0.0),  # at any weight: personal models never reach the server
    "fedals": ("fedals(alpha=1)", 0.0),
    "fedavg": ("fedavg()", 0.0),
    "fedavgm": ("fedavgm(momentum=0)", 1e-12),  # the server adds a mean of moves
    "fedcm": ("fedcm(alpha=1)", 0.0),
    "fedcog": ("fedcog(distillation=0, after=0)", 0.0),
    "feddecorr": ("feddecorr(beta=0)", 1e-12),  # adds nothing to a loss of its own
    "fedexp": ("fedexp(epsilon=1e300)", 1e-12),  # never extrapolates; adds a mean of moves
    "fedgen": ("fedgen(weight=0, batch=3, noise=2, hidden=5, generator_steps=2)", 1e-12),
    "fedinit": ("fedinit(beta=0)", 0.0),
    "fedprox": ("fedprox(mu=0)", 0.0),
    "fedsam": ("fedsam(rho=0)", 0.0),
    "finetuned": ("finetuned(fedavg())", 0.0),  # the own models are the ends FedAvg averages
    "layerwise": ("layerwise(fedavg(), alpha=1)", 0.0),
    "moon": ("moon(mu=0)", 1e-12),
    "relaxed": ("relaxed(fedavg(), beta=0)", 0.0),
    "scheduled": ("scheduled(fedavg(), 'k_eta_fixed')", 0.0),
    "vhl": ("vhl(alpha=0, weight=0, batch=3)", 1e-12),
    "with_consensus_data": ("with_consensus_data(fedavg(), distillation=0)", 0.0),
}
"""How each method is switched off and how far it is from FedAvg then: not at all where the server's formula is its."""

NO_SWITCH = {
    "dsgd": "has no option; its twin is FedAvg with one local step",
    "fedadam": "divides by the root of the second moment whatever its options",
    "feddyn": "its server adds the mean of the duals, which alpha does not scale",
    "fedreg": "its second stage walks back along gradients that no option scales",
    "fedrep": "heads are never averaged",
    "scaffold": "its reading decides who weighs how much; its twin begins with all controls zero",
}


def test_every_method_says_how_it_is_switched_off_or_why_not():
    assert set(OFF) | set(NO_SWITCH) == set(ALGORITHMS)
    assert not set(OFF) & set(NO_SWITCH)


ONE = {
    **{text: ("fedavg()", off) for text, off in OFF.values()},
    "feddecorr(beta=0, reading='code')": ("fedavg()", 1e-12),
    "fedcog(disagreement=0.4, samples=5, steps=2, after=50)": ("fedavg()", 0.0),  # not yet due
    "fedinit(beta=0.2, reading='printed')": ("fedinit(beta=0.2)", 0.0),
    "relaxed(fedavg(), beta=0.2)": ("fedinit(beta=0.2)", 0.0),
    "scheduled(fedavg(), 'dsgd')": ("dsgd()", 0.0),
    "relaxed(fedavgm(), reading='code')": ("relaxed(fedavgm())", 0.0),  # the server adds updates in both readings
    "ditto(scaffold(), weight=0.3)": ("scaffold()", 0.0),
    **{
        f"with_consensus_data({inner}, distillation=0)": (inner, 0.0)
        for inner in ("fedprox(mu=0.5)", "scaffold()", "moon(mu=0.8)", "fedavgm(momentum=0.5)")
    },
}
"""Methods that are one, and how far apart they may be."""


@cases("text other off", [(text, ONE[text][0], ONE[text][1]) for text in ONE])
def test_a_method_that_is_switched_off_is_the_other_method(text, other, off):
    """On a linear model where the method takes one, else on a network."""
    train = networks.models if needs_a_network(text) else models
    assert (train(text) - train(other)).abs().max() <= off


def needs_a_network(text: str) -> bool:
    return any(word in text for word in ("fedcog", "feddecorr", "fedgen", "moon", "vhl", "with_consensus_data"))


REFUSED = {
    "relaxed(fedals(alpha=2))": "relaxed .*fedals",
    "layerwise(fedinit())": "layerwise .*fedinit",
    "scheduled(dsgd())": "scheduled .*dsgd",
    "ditto(finetuned())": "ditto .*finetuned",
    "fedals(head='classifier')": "'classifier'.* body, head",
}


@cases("text", REFUSED)
def test_what_does_not_compose_says_so(text):
    with pytest.raises(EmpiricsError, match=REFUSED[text]):
        models(text)


SETTINGS = {
    "plain": PLAIN,
    "momentum, decay, sample weights": replace(
        PLAIN, momentum=0.7, nesterov=True, weight_decay=0.03, client_weight="samples"
    ),
}

TWINS = {  # the others are followed exactly, and compared in ``test_exact.py``
    "fedavg()": slow.fedavg,
    "dsgd()": lambda run: slow.fedavg(run, steps=1),
    "fedsam(rho=0.3, epsilon=0.01)": lambda run: slow.fedsam(run, 0.3, 0.01),
    "fedavgm(momentum=0.6, reading='code')": lambda run: slow.fedavgm(run, 0.6, divide=True),
    "fedadam(server_step_size=0.2, beta1=0.8, beta2=0.95, epsilon=0.05)": lambda run: slow.fedadam(
        run, 0.2, 0.8, 0.95, 0.05
    ),
    "fedexp(epsilon=0.002)": lambda run: slow.fedexp(run, 0.002),
    "scaffold()": slow.scaffold,
    "scaffold(reading='printed')": lambda run: slow.scaffold(run, uniform=True),
    "scaffold(reading='code')": lambda run: slow.scaffold(run, uniform=True, past=True),
    "relaxed(scaffold(), beta=0.2)": lambda run: slow.scaffold(run, 0.2),
    "fedals(alpha=2)": lambda run: layers.fedals(run, 2, BODY),
    "fedals(alpha=3)": lambda run: layers.fedals(run, 3, BODY),
    "fedals(alpha=2, reading='code')": lambda run: layers.fedals(run, 2, BODY, early=True),
    "fedals(alpha=2, reading='printed')": lambda run: layers.fedals(run, 2, BODY, early=True),
    "fedals(alpha=2, reading='printed_v1')": lambda run: layers.fedals(run, 2, BODY, early=True, else_if=True),
    "layerwise(fedprox(mu=0.4), alpha=3)": lambda run: layers.fedals(run, 3, BODY, mu=0.4),
    "layerwise(scaffold(), alpha=3)": lambda run: layers.fedals_scaffold(run, 3, BODY),
    "scheduled(fedavg(), 'k_error', window=1)": lambda run: slow.scheduled(
        run, lambda r, losses: (max(1, up(STEPS * ratio(losses, 1) ** (1 / 3))), ETA)
    ),
    "scheduled(fedavg(), 'k_step', plateau_round=3)": lambda run: slow.scheduled(
        run, lambda r, _: (STEPS if r < 3 else up(STEPS / 10), ETA)
    ),
    "scheduled(fedavg(), 'k_rounds', step_size='eta_rounds')": lambda run: slow.scheduled(
        run, lambda r, _: (up(STEPS / r ** (1 / 3)), ETA / r**0.5)
    ),
    "scheduled(fedavg(), 'eta_error', window=2)": lambda run: slow.scheduled(
        run, lambda r, losses: (STEPS, ETA * ratio(losses, 2) ** 0.5)
    ),
    "scheduled(fedavg(), 'eta_step', plateau_round=4)": lambda run: slow.scheduled(
        run, lambda r, _: (STEPS, ETA if r < 4 else ETA / 10)
    ),
}


def up(steps: float) -> int:
    """Rounded up, whole numbers staying what they are whatever the last bit."""
    return int(np.ceil(steps - 1e-12))


def ratio(losses: list[float], window: int) -> float:
    """The loss of (15), now over at first: 1 until there are more reports than the window takes."""
    return sum(losses[-window:]) / sum(losses[:window]) if len(losses) > window else 1.0


def plain_run(setting: Setting) -> slow.Plain:
    """The same work as lists of samples."""
    data = []
    for k in range(FEDERATION.clients):
        inputs, labels = FEDERATION.samples(k)
        data.append(list(zip(inputs.numpy(), labels.tolist(), strict=True)))
    return slow.Plain(
        data=data,
        cohorts=[draw_cohort(setting, FEDERATION, SEED, r)[0].tolist() for r in range(setting.rounds)],
        weights=shares(setting, FEDERATION).tolist(),
        start=np.array(START),
        eta=setting.step_size,
        steps=setting.steps,
        batch=setting.batch,
        seed=SEED,
        regularisation=MODEL.regularisation,
        momentum=setting.momentum,
        nesterov=setting.nesterov,
        weight_decay=setting.weight_decay,
    )


def trained(text: str, setting: Setting):
    """The server's models after every round, and the last state."""
    states = list(rounds(MODEL, FEDERATION, algorithm(text), setting, SEED))
    return np.array([state.model.tolist() for state in states[1:]]), states[-1]


@cases("text", TWINS)
def test_server_models_equal_those_of_plain_loops(text):
    for setting in SETTINGS.values():
        found, _ = trained(text, setting)
        expected = np.array(TWINS[text](plain_run(setting)))
        assert np.ptp(expected, axis=0).min() > 1e-3  # every column moves
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


PERSONAL = {
    "finetuned(fedavg())": layers.finetuned,
    "ditto(weight=0.6)": lambda run: layers.ditto(run, 0.6, STEPS),
    "ditto(weight=0.6, local_steps=2)": lambda run: layers.ditto(run, 0.6, 2),
    "fedrep(head_steps=2)": lambda run: layers.fedrep(run, BODY, 2),
}


@cases("text", PERSONAL)
def test_server_and_personal_models_equal_those_of_plain_loops(text):
    for setting in SETTINGS.values():
        found, last = trained(text, setting)
        expected, own = PERSONAL[text](plain_run(setting))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
        np.testing.assert_allclose(algorithm(text).own_models(last), own, rtol=0, atol=1e-10)
