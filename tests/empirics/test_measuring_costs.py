"""Parameters, bytes and simulated seconds by the formulas of Decaying-K and FedALS, by hand; what measuring costs."""

import numpy as np
import pytest
from measuring_toys import ridge, rows_of, series
from network_toys import FEDERATION, NET

from bounds.catalog import get
from empirics.algorithms import algorithm
from empirics.measuring import measurement, Run
from empirics.measuring.costs import Devices
from empirics.problems.problem import FederatedProblem
from empirics.training.setting import Setting
from empirics.verbs import train

SETTING = Setting(rounds=4, cohort=2, batch=1, local_steps=2, step_size=0.05)


@pytest.mark.parametrize(
    ("method", "up", "down"), [("fedavg()", 1, 1), ("scaffold()", 2, 2), ("fedcm(alpha=0.1)", 1, 2)]
)
def test_parameters_bytes_and_seconds_are_summed_over_rounds(method, up, down):
    names = ["communicated_parameters", "exchanged_parameters", "communicated_bytes"]
    slow = "runtime(download_rate=17, upload_rate=3, minibatch_time=0.2)"
    rows = rows_of(ridge(), [*names, slow], SETTING, method=method)
    rounds = np.arange(1, 5)
    assert series(rows, "communicated_parameters") == list(2 * up * rounds)  # a model of two parameters
    assert series(rows, "exchanged_parameters") == list(2 * (up + down) * rounds)
    assert series(rows, "communicated_bytes") == list(16 * (up + down) * rounds)
    size = 32 * 2 / 1e6
    seconds = (down * size / 17 + up * size / 3 + 2 * 0.2) * rounds
    np.testing.assert_allclose(series(rows, "runtime"), seconds, rtol=1e-12)


def test_measurements_of_one_quantity_are_told_apart_by_their_arguments():
    """Five minibatches take .5 s, a model has .0208 Mbit, received at 20 Mbit/s."""
    texts = ["runtime(upload_rate=1)", "runtime(upload_rate=100)"]
    found = train("softmax(digits)", clients=4, rounds=2, measure=texts)
    (end,) = found.ends["fedavg()"]
    names = [measurement(text).name for text in texts]
    assert list(end) == names
    assert list(end.values()) == pytest.approx([2 * (0.0208 / 20 + 5 * 0.1 + 0.0208 / rate) for rate in (1, 100)])
    assert {row.quantity for row in found.rows} == set(names)


def test_simulated_time_by_hand():
    devices = Devices(download_rate=17.0, upload_rate=3.0, minibatch_time=0.2, spread=0.6, device_seed=4)
    down, up, beta = devices.of(np.arange(2))
    assert len(set(down)) == 2
    np.testing.assert_array_equal(devices.of(np.array([3, 1]))[:, 1], devices.of(np.arange(2))[:, 1])
    size = 32 * 2 / 1e6
    slowest = max(size / down[k] + 2 * beta[k] + size / up[k] for k in (0, 1))
    same = size / 17 + size / 3 + 2 * 0.2  # clients that are alike: (3) and (4) give what (5) gives, round by round
    usual = size / 20 + size / 5 + 2 * 0.1
    for text, seconds in (
        ("runtime(download_rate=17, upload_rate=3, minibatch_time=0.2, spread=0.6, device_seed=4)", slowest),
        ("runtime(download_rate=17, upload_rate=3, minibatch_time=0.2, alike=True)", same),
        ("runtime", usual),
    ):
        found = series(rows_of(ridge(), [text], SETTING), "runtime")
        np.testing.assert_allclose(found, seconds * np.arange(1, 5), rtol=1e-12)


def test_layerwise_averaging_sends_what_its_formula_says():
    """FedALS: the head every round, the extractor every alpha rounds, as the bound on its cost counts."""
    problem = FederatedProblem(NET, FEDERATION, name="net")
    setting = Setting(rounds=6, cohort=2, batch=2, local_steps=3)
    run = Run(problem, algorithm("fedals(alpha=2)"), setting, 1, [measurement("communicated_parameters")], every=1)
    sent = {r.round: r.value for r in run.rows()}
    formula = get("fedals.communicated_parameters")
    for rounds in (2, 4, 6):
        sizes = {"extractor_size": 16, "head_size": 15, "adaptation": 2}
        assert sent[rounds] == formula.formula(iterations=3 * rounds, local_steps=3, **sizes)


def test_seconds_are_those_of_training(monkeypatch):
    """By a clock that goes on by 0.3 s whenever it is looked at: twice for each state."""
    looks = iter(range(100))
    monkeypatch.setattr("empirics.measuring.record.time.perf_counter", lambda: 0.3 * next(looks))
    rows = rows_of(ridge(), ["training_seconds"], SETTING)
    assert series(rows, "training_seconds") == pytest.approx([0.3, 0.6, 0.9, 1.2, 1.5])
    assert rows[-1].exactness == "sampled"
