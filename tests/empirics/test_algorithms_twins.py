"""Every method against its slow twin in plain loops: five rounds, three of five ragged clients, momentum off and on."""

from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
from loops import each
from training_toys import SplitLogistic, two_classes
from twins import training as slow, training_layers as layers

from empirics.algorithms import algorithm
from empirics.training.rounds import draw_cohort, rounds, shares
from empirics.training.setting import Setting

SIZES, BODY, STEPS, ETA = (7, 9, 12, 5, 10), 3, 5, 0.23
START = (0.91, -1.47, 0.83, -1.19)
MODEL = SplitLogistic(features=4, regularisation=0.07, begin=START, body=BODY)
FEDERATION = two_classes(SIZES)
PLAIN = Setting(rounds=5, cohort=3, batch=4, step_size=ETA, local_steps=STEPS)
SETTINGS = {
    "plain": PLAIN,
    "momentum, decay, sample weights": replace(
        PLAIN, momentum=0.7, nesterov=True, weight_decay=0.03, client_weight="samples"
    ),
}
SEED = 4

TWINS = {
    "fedavg()": slow.fedavg,
    "dsgd()": slow.dsgd,
    "fedprox(mu=0.4)": lambda run: slow.fedprox(run, 0.4),
    "fedsam(rho=0.3, epsilon=0.01)": lambda run: slow.fedsam(run, 0.3, 0.01),
    "fedavgm(momentum=0.6)": lambda run: slow.fedavgm(run, 0.6),
    "fedavgm(momentum=0.6, reading='code')": lambda run: slow.fedavgm(run, 0.6, divide=True),
    "fedadam(server_step_size=0.2, beta1=0.8, beta2=0.95, epsilon=0.05)": lambda run: slow.fedadam(
        run, 0.2, 0.8, 0.95, 0.05
    ),
    "fedexp(epsilon=0.002)": lambda run: slow.fedexp(run, 0.002),
    "scaffold()": slow.scaffold,
    "scaffold(reading='printed')": lambda run: slow.scaffold(run, uniform=True),
    "scaffold(reading='code')": lambda run: slow.scaffold(run, uniform=True, past=True),
    "feddyn(alpha=0.3)": lambda run: slow.feddyn(run, 0.3),
    "fedcm(alpha=0.4)": lambda run: slow.fedcm(run, 0.4),
    "fedinit(beta=0.2)": lambda run: slow.fedinit(run, 0.2, "alg1"),
    "fedinit(beta=0.2, reading='printed')": lambda run: slow.fedinit(run, 0.2, "alg1"),
    "fedinit(beta=0.2, reading='code')": lambda run: slow.fedinit(run, 0.2, "code"),
    "fedinit(beta=0.2, reading='proof')": lambda run: slow.fedinit(run, 0.2, "virtual"),
    "relaxed(fedavg(), beta=-0.15)": lambda run: slow.fedinit(run, -0.15, "alg1"),
    "relaxed(scaffold(), beta=0.2)": lambda run: slow.scaffold(run, 0.2),
    "fedals(alpha=2)": lambda run: layers.fedals(run, 2, BODY),
    "fedals(alpha=3)": lambda run: layers.fedals(run, 3, BODY),
    "fedals(alpha=2, reading='code')": lambda run: layers.fedals(run, 2, BODY, early=True),
    "fedals(alpha=2, reading='printed')": lambda run: layers.fedals(run, 2, BODY, early=True),
    "fedals(alpha=2, reading='printed_v1')": lambda run: layers.fedals(run, 2, BODY, early=True, else_if=True),
    "layerwise(fedprox(mu=0.4), alpha=3)": lambda run: layers.fedals(run, 3, BODY, mu=0.4),
    "layerwise(scaffold(), alpha=2)": lambda run: layers.fedals_scaffold(run, 2, BODY),
    "layerwise(scaffold(), alpha=3)": lambda run: layers.fedals_scaffold(run, 3, BODY),
    "scheduled(fedavg(), 'k_eta_fixed')": slow.fedavg,
    "scheduled(fedavg(), 'dsgd')": slow.dsgd,
    "scheduled(fedavg(), 'k_rounds')": lambda run: slow.scheduled(run, lambda r, _: (up(STEPS / r ** (1 / 3)), ETA)),
    "scheduled(fedavg(), 'k_error', window=1)": lambda run: slow.scheduled(
        run, lambda r, losses: (max(1, up(STEPS * ratio(losses, 1) ** (1 / 3))), ETA)
    ),
    "scheduled(fedavg(), 'k_step', plateau_round=3)": lambda run: slow.scheduled(
        run, lambda r, _: (STEPS if r < 3 else up(STEPS / 10), ETA)
    ),
    "scheduled(fedavg(), 'eta_rounds')": lambda run: slow.scheduled(run, lambda r, _: (STEPS, ETA / r**0.5)),
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
SAME = [
    {"fedavg()", "scheduled(fedavg(), 'k_eta_fixed')"},
    *map(set, combinations(["scaffold()", "scaffold(reading='printed')", "scaffold(reading='code')"], 2)),
    {"dsgd()", "scheduled(fedavg(), 'dsgd')"},
    {"fedinit(beta=0.2)", "fedinit(beta=0.2, reading='printed')"},
    {"fedals(alpha=2, reading='code')", "fedals(alpha=2, reading='printed')"},
]
"""Methods that are one: asked for by different names."""


def up(steps: float) -> int:
    """Rounded up, whole numbers staying what they are whatever the last bit."""
    return int(np.ceil(steps - 1e-12))


def ratio(losses: list[float], window: int) -> float:
    """The loss of (15), now over at first: 1 until there are more reports than the window takes."""
    return sum(losses[-window:]) / sum(losses[:window]) if len(losses) > window else 1.0


def plain_run(setting: Setting) -> slow.Plain:
    """The same work as numbers and lists."""
    data = []
    for k in range(FEDERATION.clients):
        inputs, labels = FEDERATION.samples(k)
        data.append(list(zip(inputs.tolist(), labels.tolist(), strict=True)))
    return slow.Plain(
        data=data,
        cohorts=[draw_cohort(setting, FEDERATION, SEED, r)[0].tolist() for r in range(setting.rounds)],
        weights=shares(setting, FEDERATION).tolist(),
        start=list(START),
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


@each(TWINS, lambda text: {"text": text})
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


@each(PERSONAL, lambda text: {"text": text})
def test_server_and_personal_models_equal_those_of_plain_loops(text):
    for setting in SETTINGS.values():
        found, last = trained(text, setting)
        expected, own = PERSONAL[text](plain_run(setting))
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)
        np.testing.assert_allclose(algorithm(text).own_models(last), own, rtol=0, atol=1e-10)


def test_no_two_methods_are_the_same_here():
    """Else a twin would pass for a method it is not: every pair differs, but for those that are one."""
    run = plain_run(PLAIN)
    ends = {text: np.array(twin(run)) for text, twin in TWINS.items()}
    for one, other in combinations(TWINS, 2):
        apart = np.abs(ends[one] - ends[other]).max()
        assert (apart < 1e-12) if {one, other} in SAME else (apart > 1e-4), (one, other)


def test_every_client_is_drawn_and_most_sit_out_between_two_rounds_of_theirs():
    """Stale memories are tested only where a client was away."""
    cohorts = plain_run(PLAIN).cohorts
    away = set()
    for k in range(5):
        rounds_in = [r for r, cohort in enumerate(cohorts) if k in cohort]
        assert rounds_in
        if any(later - earlier > 1 for earlier, later in pairwise(rounds_in)):
            away.add(k)
    assert len(away) >= 3
