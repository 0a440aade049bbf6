"""Runs under observation: when rows come, what they say, what stops them; estimates made of them; simulated costs."""

import time
from dataclasses import replace

import numpy as np
import pytest
from measuring_toys import PARTS, read, ridge, rows_of, series, SETTING
from network_toys import FEDERATION, NET

from bounds.catalog import get
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import fedavg
from empirics.errors import EmpiricsError
from empirics.federation.federation import Federation
from empirics.measuring import measurement, Row, Run, write
from empirics.measuring.costs import Devices
from empirics.measuring.estimates import jackknife
from empirics.measuring.record import MOST_PATH
from empirics.problems.problem import FederatedProblem
from empirics.training.setting import Setting
from empirics.training.threads import over_seeds
from empirics.verbs import train


def test_rows_say_where_they_come_from_and_start_and_last_round_are_always_measured():
    run = Run(ridge(), fedavg, SETTING, 7, [measurement("non_iidness")], every=2, experiment="first try")
    rows = run.rows()
    assert [(r.round, r.client) for r in rows] == [(2, 0), (2, 1), (3, 0), (3, 1)]
    assert {r[:3] for r in rows} == {("first try", "fedavg()", 7)}
    assert {(r.step, r.layer, r.quantity, r.exactness) for r in rows} == {(None, "", "non_iidness", "exact")}
    rows = rows_of(ridge(), ["train_loss"], replace(SETTING, rounds=7), every=3)
    assert [r.round for r in rows] == [0, 3, 6, 7]


def test_the_table_keeps_every_digit(tmp_path):
    rows = rows_of(ridge(), ["local_drift", "non_iidness", "consensus_distance"])
    rows.append(Row("a, b", "fedavg()", 1, 2, None, None, "layer.0", "train_loss", float("nan"), "proxy"))
    again = read(write(rows, tmp_path / "rows.csv"))
    assert again[:-1] == rows[:-1]
    assert np.isnan(again[-1].value)
    assert again[-1]._replace(value=0) == rows[-1]._replace(value=0)


class Huge:
    """A model whose path takes too much memory."""

    dim, stacked = MOST_PATH, True


def test_what_does_not_fit_together_is_refused():
    whole = ridge().federation
    huge = FederatedProblem(Huge(), whole, name="huge")
    passes = replace(SETTING, local_steps=None, local_epochs=7)
    steps = 7 * -(-max(map(len, PARTS)) // SETTING.batch)
    fewer = Federation.of(whole.inputs, whole.targets, PARTS[:1])
    for call, named in (
        (lambda: rows_of(ridge(client_weight="samples"), []), "'uniform'.*'samples'"),
        (lambda: ridge(client_weight="equal"), "client_weight .*'equal'"),
        (lambda: rows_of(ridge(), [], every=0), "every .*0"),
        (lambda: rows_of(huge, ["local_drift"]), r" 2 local .*68\.7 GB.* local_drift"),
        (lambda: rows_of(huge, ["local_drift"], passes), f" {steps} local"),
        (lambda: FederatedProblem(ridge().model, whole, local_test=fewer), "local_test .*2 .*1"),
    ):
        with pytest.raises(EmpiricsError, match=named):
            call()


def test_the_jackknife_is_the_textbook_standard_error_of_a_mean_and_plain_loops_of_a_product():
    rng = np.random.default_rng(5)
    x, y = rng.gamma(2.3, size=(13, 4)), rng.gamma(1.7, size=13)
    for samples in (x, x[:3]):
        found = jackknife(lambda mean: mean, samples)
        np.testing.assert_allclose(found.value, samples.mean(0))
        np.testing.assert_allclose(found.error, samples.std(0, ddof=1) / np.sqrt(len(samples)))
    found = jackknife(lambda a, b: np.sqrt(a * b), x[:, 0], y)
    without = [np.sqrt(np.delete(x[:, 0], s).mean() * np.delete(y, s).mean()) for s in range(13)]
    assert found.error == pytest.approx(np.sqrt(12 / 13 * sum((w - np.mean(without)) ** 2 for w in without)))
    with pytest.raises(EmpiricsError, match=r"3 seeds.*2"):
        jackknife(lambda mean: mean, np.array([0.3, 0.7]))


def test_sweeps_keep_the_order_count_every_seed_and_end_with_one_that_fails():
    done, ran = [], []
    assert over_seeds(lambda s: s**2, range(3, 30), 3, lambda: done.append(1)) == [s**2 for s in range(3, 30)]
    assert len(done) == 27

    def measure(seed):
        ran.append(seed)
        time.sleep(1e-3)
        if seed == 2:
            raise ValueError("seed 2")

    with pytest.raises(ValueError, match="seed 2"):
        over_seeds(measure, range(5000), 1)
    assert len(ran) < 5000


PLAN = Setting(rounds=4, cohort=2, batch=1, local_steps=2, step_size=0.05)


@pytest.mark.parametrize(
    ("method", "up", "down"), [("fedavg()", 1, 1), ("scaffold()", 2, 2), ("fedcm(alpha=0.1)", 1, 2)]
)
def test_parameters_bytes_and_seconds_are_summed_over_rounds(method, up, down):
    names = ["communicated_parameters", "exchanged_parameters", "communicated_bytes", "runtime"]
    rows = rows_of(ridge(), names, PLAN, method=method)
    rounds = np.arange(1, 5)
    assert series(rows, "communicated_parameters") == list(2 * up * rounds)  # a model of two parameters
    assert series(rows, "exchanged_parameters") == list(2 * (up + down) * rounds)
    assert series(rows, "communicated_bytes") == list(16 * (up + down) * rounds)
    size = 32 * 2 / 1e6
    seconds = (down * size / 20 + up * size / 5 + 2 * 0.1) * rounds
    np.testing.assert_allclose(series(rows, "runtime"), seconds, rtol=1e-12)


def test_measurements_of_one_quantity_are_told_apart_by_their_arguments():
    """Five minibatches take .5 s, a model has .0208 Mbit, received at 20 Mbit/s."""
    texts = ["runtime(upload_rate=1)", "runtime(upload_rate=100)"]
    found = train("softmax(digits)", clients=4, rounds=2, measure=texts)
    (one,) = found.runs
    names = [measurement(text).name for text in texts]
    assert list(one.last) == names
    assert list(one.last.values()) == pytest.approx([2 * (0.0208 / 20 + 5 * 0.1 + 0.0208 / rate) for rate in (1, 100)])
    assert {row.quantity for row in found.rows} == set(names)


def test_simulated_time_by_hand():
    devices = Devices(download_rate=17.0, upload_rate=3.0, minibatch_time=0.2, spread=0.6, device_seed=4)
    down, up, beta = devices.of(np.arange(2))
    assert len(set(down)) == 2
    np.testing.assert_array_equal(devices.of(np.array([3, 1]))[:, 1], devices.of(np.arange(2))[:, 1])
    size = 32 * 2 / 1e6
    slowest = max(size / down[k] + 2 * beta[k] + size / up[k] for k in (0, 1))
    same = size / 17 + size / 3 + 2 * 0.2  # clients that are alike: (3) and (4) give what (5) gives, round by round
    for text, seconds in (
        ("runtime(download_rate=17, upload_rate=3, minibatch_time=0.2, spread=0.6, device_seed=4)", slowest),
        ("runtime(download_rate=17, upload_rate=3, minibatch_time=0.2, alike=True)", same),
    ):
        found = series(rows_of(ridge(), [text], PLAN), "runtime")
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
