"""Off switches, readings and compositions: where methods are one, and where they part."""

from dataclasses import replace

import numpy as np
import pytest
import torch
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
FULL = replace(PARTIAL, cohort=5)


def models(text: str, setting: Setting = PARTIAL) -> torch.Tensor:
    """The server's models after every round ``(rounds, dim)``."""
    return torch.stack([s.model for s in rounds(MODEL, FEDERATION, algorithm(text), setting, seed=4)][1:])


@pytest.mark.parametrize("cohort", [4, 3])
@pytest.mark.parametrize("text", ["scaffold()", "feddyn(alpha=0.3)", "relaxed(scaffold(), beta=0.1)"])
def test_with_unequal_weights_drift_correction_ends_at_the_minimiser_of_the_weighted_loss(text, cohort):
    dealt = task("ridge(diabetes, regularisation=0.3)").deal("power_law_sizes(2)", 4, 0, client_weight="samples")
    samples = [[part.numpy() for part in dealt.federation.samples(k)] for k in range(4)]
    sizes = np.array([len(x) for x, _ in samples])
    assert sizes.max() > 10 * sizes.min()
    weighted = _ridge(samples, sizes / sizes.sum())
    setting = Setting(rounds=700, cohort=cohort, batch=442, local_steps=3, step_size=0.1, client_weight="samples")
    *_, last = rounds(dealt.model, dealt.federation, algorithm(text), setting, seed=1)
    far = np.linalg.norm(weighted - _ridge(samples, np.full(4, 0.25)))
    assert far > 3
    assert np.linalg.norm(last.model.numpy() - weighted) < 1e-5 * far


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
    "fedexp": ("fedexp(epsilon=1e300)", 1e-12),  # never extrapolates; adds a mean of moves
    "fedinit": ("fedinit(beta=0)", 0.0),
    "fedprox": ("fedprox(mu=0)", 0.0),
    "fedsam": ("fedsam(rho=0)", 0.0),
    "finetuned": ("finetuned(fedavg())", 0.0),  # the own models are the ends FedAvg averages
    "layerwise": ("layerwise(fedavg(), alpha=1)", 0.0),
    "relaxed": ("relaxed(fedavg(), beta=0)", 0.0),
    "scheduled": ("scheduled(fedavg(), 'k_eta_fixed')", 0.0),
}
"""How each method is switched off and how far it is from FedAvg then: not at all where the server's formula is its."""

NO_SWITCH = {
    "dsgd": "has no option; its twin is FedAvg with one local step",
    "fedadam": "divides by the root of the second moment whatever its options",
    "feddyn": "its server adds the mean of the duals, which alpha does not scale",
    "fedrep": "heads are never averaged",
    "scaffold": "its reading decides who weighs how much; its twin begins with all controls zero",
}


def test_every_method_says_how_it_is_switched_off_or_why_not():
    assert set(OFF) | set(NO_SWITCH) >= {name for name in ALGORITHMS if name in LOCAL}
    assert not set(OFF) & set(NO_SWITCH)


LOCAL = {
    *("ditto", "dsgd", "fedadam", "fedals", "fedavg", "fedavgm", "fedcm", "feddyn", "fedexp", "fedinit", "fedprox"),
    *("fedrep", "fedsam", "finetuned", "layerwise", "relaxed", "scaffold", "scheduled"),
}
"""Methods for any model; those for networks have tests of their own."""


@pytest.mark.parametrize("name", OFF)
def test_switched_off_a_method_is_fedavg(name):
    text, off = OFF[name]
    assert (models(text) - models("fedavg()")).abs().max() <= off


# ---- readings ----


@pytest.mark.parametrize("beta", [0.3, -0.2])
def test_fedinits_readings_agree_when_everyone_takes_part(beta):
    intended = models(f"fedinit(beta={beta})", FULL)
    for reading in ("printed", "code", "proof"):
        torch.testing.assert_close(
            models(f"fedinit(beta={beta}, reading='{reading}')", FULL), intended, rtol=0, atol=1e-12
        )


def test_the_code_reading_of_a_method_with_server_updates_changes_nothing():
    assert torch.equal(models("relaxed(fedavgm(), reading='code')"), models("relaxed(fedavgm())"))


@pytest.mark.parametrize("reading", ["intended", "printed", "printed_v1", "code"])
def test_fedals_extractors_agree_exactly_when_they_were_averaged(reading):
    due = {"intended": {3}, "printed": {1, 4}, "printed_v1": set(), "code": {1, 4}}[reading]
    states = rounds(MODEL, FEDERATION, algorithm(f"fedals(alpha=3, reading='{reading}')"), FULL, seed=4)
    next(states)
    for state in states:
        local = own_rows(state, "local")
        assert torch.equal(local[:, 3:], local[:1, 3:].expand(5, 1))
        same = torch.equal(local[:, :3], local[:1, :3].expand(5, 3))
        assert same == (state.round in due)


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
    "relaxed(scaffold(), beta=0.05)": ("scaffold()", "relaxed(fedavg(), beta=0.05)"),
    "relaxed(feddyn(alpha=0.2), beta=0.05)": ("feddyn(alpha=0.2)", "relaxed(fedavg(), beta=0.05)"),
    "layerwise(scaffold(), alpha=2)": ("scaffold()", "fedals(alpha=2)"),
    "layerwise(fedprox(mu=0.3), alpha=2)": ("fedprox(mu=0.3)", "fedals(alpha=2)"),
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
"""Compositions, each with what is left when one of its parts is taken away."""


@pytest.mark.parametrize("text", COMPOSED)
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


def test_ditto_leaves_its_servers_method_alone():
    assert torch.equal(models("ditto(scaffold(), weight=0.3)"), models("scaffold()"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "relaxed(fedals(alpha=2))",
            "relaxed needs a method whose clients start at the server model; got fedals(alpha=2",
        ),
        (
            "relaxed(relaxed(fedavg()))",
            "relaxed needs a method whose clients start at the server model; got relaxed(fed",
        ),
        (
            "layerwise(fedinit())",
            "layerwise needs a method that averages models from a common start; got fedinit(beta=0.1",
        ),
        (
            "layerwise(feddyn())",
            "layerwise needs a method that averages models from a common start; got feddyn(alpha=0.1)",
        ),
        ("scheduled(dsgd())", "scheduled needs a method that takes the planned steps; got dsgd()"),
        (
            "scheduled(fedrep())",
            "scheduled needs a method that takes the planned steps; got fedrep(head='head', head_st",
        ),
        ("ditto(finetuned())", "ditto needs a method without personal models; got finetuned(fedavg())"),
    ],
)
def test_what_does_not_compose_says_so(text, said):
    with pytest.raises(EmpiricsError, match="^" + "".join(f"[{c}]" if c in "()=." else c for c in said)):
        algorithm(text)


def test_a_head_that_no_layer_has_is_one_clear_line():
    with pytest.raises(EmpiricsError, match=r"^head must begin a layer's name; got 'classifier'; layers: body, head$"):
        models("fedals(head='classifier')")


def test_a_constant_schedule_on_epochs_is_the_epochs():
    by_epochs = replace(PARTIAL, local_steps=None, local_epochs=2, momentum=0.0)
    assert torch.equal(models("scheduled(fedavg(), 'k_eta_fixed')", by_epochs), models("fedavg()", by_epochs))
    assert (
        np.ptp(
            models("scheduled(fedavg(), 'k_rounds')", by_epochs)[1].numpy() - models("fedavg()", by_epochs)[1].numpy()
        )
        > 0
    )
