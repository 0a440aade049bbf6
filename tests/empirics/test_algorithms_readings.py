"""Off switches, readings and compositions: where methods are one, and where they part."""

from dataclasses import replace

import network_toys as networks
import numpy as np
import pytest
import torch
from loops import each
from training_toys import SplitLogistic, two_classes

from empirics.algorithms import algorithm, ALGORITHMS
from empirics.algorithms.state import own_rows
from empirics.errors import EmpiricsError
from empirics.problems.tasks import task
from empirics.training.rounds import draw_cohort, rounds
from empirics.training.setting import Setting

MODEL = SplitLogistic(features=4, regularisation=0.07, begin=(0.91, -1.47, 0.83, -1.19), body=3)
FEDERATION = two_classes((7, 9, 12, 5, 10))
PARTIAL = Setting(rounds=5, cohort=3, batch=4, step_size=0.23, local_steps=5, momentum=0.4, client_weight="samples")


def models(text: str, setting: Setting = PARTIAL) -> torch.Tensor:
    """The server's models after every round ``(rounds, dim)``."""
    return torch.stack([s.model for s in rounds(MODEL, FEDERATION, algorithm(text), setting, seed=4)][1:])


def test_with_unequal_weights_drift_correction_ends_at_the_minimiser_of_the_weighted_loss():
    dealt = task("ridge(diabetes, regularisation=0.3)").deal("power_law_sizes(2)", 4, 0, client_weight="samples")
    samples = [[part.numpy() for part in dealt.federation.samples(k)] for k in range(4)]
    sizes = np.array([len(x) for x, _ in samples])
    assert sizes.max() > 10 * sizes.min()
    weighted = _ridge(samples, sizes / sizes.sum())
    far = np.linalg.norm(weighted - _ridge(samples, np.full(4, 0.25)))
    assert far > 3
    setting = Setting(rounds=700, cohort=3, batch=442, local_steps=3, step_size=0.1, client_weight="samples")
    for text in ("scaffold()", "feddyn(alpha=0.3)", "relaxed(scaffold(), beta=0.1)"):
        *_, last = rounds(dealt.model, dealt.federation, algorithm(text), setting, seed=1)
        assert np.linalg.norm(last.model.numpy() - weighted) < 1e-5 * far, text


def _ridge(samples, weights):
    """The minimiser of the clients' mean squares with a penalty of 0.3, by the normal equations."""
    left = sum(p * x.T @ x / len(x) for p, (x, _) in zip(weights, samples, strict=True))
    right = sum(p * x.T @ y / len(y) for p, (x, y) in zip(weights, samples, strict=True))
    return np.linalg.solve(left + 0.3 * np.eye(len(left)), right)


def test_clients_of_one_size_weigh_alike_to_the_last_bit():
    even = two_classes((9, 9, 9, 9, 9))
    for text in ("scaffold()", "feddyn(alpha=0.3)", "layerwise(scaffold(), alpha=2)"):
        by_weight = [replace(PARTIAL, client_weight=word) for word in ("uniform", "samples")]
        alike = [[s.model for s in rounds(MODEL, even, algorithm(text), how, seed=4)] for how in by_weight]
        assert all(map(torch.equal, *alike))


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


SAME = {
    **{text: ("fedavg()", off) for text, off in OFF.values()},
    "feddecorr(beta=0, reading='code')": ("fedavg()", 1e-12),
    "fedcog(disagreement=0.4, samples=5, steps=2, after=50)": ("fedavg()", 0.0),  # not yet due
    "relaxed(fedavgm(), reading='code')": ("relaxed(fedavgm())", 0.0),  # the server adds updates in both readings
    "ditto(scaffold(), weight=0.3)": ("scaffold()", 0.0),
    **{
        f"with_consensus_data({inner}, distillation=0)": (inner, 0.0)
        for inner in ("fedprox(mu=0.5)", "scaffold()", "moon(mu=0.8)", "fedavgm(momentum=0.5)")
    },
}
"""Methods that are one, and how far apart they may be."""


@each(SAME, lambda text: {"text": text, "other": SAME[text][0], "off": SAME[text][1]})
def test_a_method_that_is_switched_off_is_the_other_method(text, other, off):
    """On a linear model where the method takes one, else on a network."""
    train = networks.models if needs_a_network(text) else models
    assert (train(text) - train(other)).abs().max() <= off


def needs_a_network(text: str) -> bool:
    return any(word in text for word in ("fedcog", "feddecorr", "fedgen", "moon", "vhl", "with_consensus_data"))


# ---- readings ----


def test_clients_not_drawn_take_over_the_averaged_layers_and_keep_the_others():
    played = rounds(MODEL, FEDERATION, algorithm("fedals(alpha=2)"), PARTIAL, seed=4)
    begin = next(played).model.clone()
    drawn, first = draw_cohort(PARTIAL, FEDERATION, 4, 0)[0], next(played)
    for k in range(5):
        assert torch.equal(own_rows(first, "local")[k, 3:], first.model[3:])
        assert torch.equal(own_rows(first, "local")[k, :3], begin[:3]) == (k not in drawn)
    second = next(played)
    assert torch.equal(own_rows(second, "local"), second.model.expand(5, 4))


# ---- compositions ----

COMPOSED = {
    "relaxed(feddyn(alpha=0.2), beta=0.05)": ("feddyn(alpha=0.2)", "relaxed(fedavg(), beta=0.05)"),
    "layerwise(scheduled(fedavg(), 'k_rounds'), alpha=2, reading='code')": (
        "scheduled(fedavg(), 'k_rounds')",
        "fedals(alpha=2, reading='code')",
        "layerwise(scheduled(fedavg(), 'k_rounds'), alpha=2)",
    ),
    "scheduled(relaxed(fedprox(mu=0.3), beta=0.1), 'k_rounds')": (
        "relaxed(fedprox(mu=0.3), beta=0.1)",
        "scheduled(fedprox(mu=0.3), 'k_rounds')",
        "scheduled(relaxed(fedavg(), beta=0.1), 'k_rounds')",
    ),
    "scheduled(layerwise(scaffold(), alpha=2), 'eta_rounds')": (
        "layerwise(scaffold(), alpha=2)",
        "scheduled(scaffold(), 'eta_rounds')",
        "scheduled(fedals(alpha=2), 'eta_rounds')",
    ),
    "finetuned(layerwise(scaffold(), alpha=2))": ("finetuned(scaffold())", "finetuned(fedals(alpha=2))"),
    "ditto(relaxed(fedprox(mu=0.3), beta=0.1))": ("ditto(relaxed(fedavg(), beta=0.1))", "ditto(fedprox(mu=0.3))"),
}
"""Compositions without a twin in plain loops, each with what is left when one of its parts is taken away."""


@each(COMPOSED, lambda text: {"text": text})
def test_every_part_of_a_composition_does_something(text):
    found = models(text)
    assert torch.isfinite(found).all()
    for left in COMPOSED[text]:
        assert (found - models(left)).abs().max() > 1e-4, left


def test_own_models_of_plug_ins_depend_on_the_method_they_plug_into():
    def own(text):
        built = algorithm(text)
        return built.own_models(list(rounds(MODEL, FEDERATION, built, PARTIAL, seed=4))[-1])

    for one, other in (("ditto(scaffold())", "ditto(fedavg())"), ("finetuned(scaffold())", "finetuned(fedavg())")):
        assert (own(one) - own(other)).abs().max() > 1e-4
    assert own("scaffold()").shape == (1, 4)


REFUSED = {
    "relaxed(fedals(alpha=2))": "relaxed .*fedals",
    "relaxed(relaxed(fedavg()))": "relaxed .*relaxed",
    "layerwise(fedinit())": "layerwise .*fedinit",
    "layerwise(feddyn())": "layerwise .*feddyn",
    "scheduled(dsgd())": "scheduled .*dsgd",
    "scheduled(fedrep())": "scheduled .*fedrep",
    "ditto(finetuned())": "ditto .*finetuned",
    "fedals(head='classifier')": "'classifier'.* body, head",
}


@each(REFUSED, lambda text: {"text": text})
def test_what_does_not_compose_says_so(text):
    with pytest.raises(EmpiricsError, match=REFUSED[text]):
        models(text)


def test_a_constant_schedule_on_epochs_is_the_epochs():
    by_epochs = replace(PARTIAL, local_steps=None, local_epochs=2, momentum=0.0)
    plain = models("fedavg()", by_epochs)
    assert torch.equal(models("scheduled(fedavg(), 'k_eta_fixed')", by_epochs), plain)
    assert not torch.equal(models("scheduled(fedavg(), 'k_rounds')", by_epochs)[1], plain[1])
