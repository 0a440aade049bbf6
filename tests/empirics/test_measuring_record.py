"""Runs under observation: when rows come, what they say, what stops them; estimates made of them."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from measuring_toys import logistic, PARTS, ridge, rows_of, SETTING

from bounds import vocabulary
from bounds.quantities import Quantity
from empirics.algorithms.algorithm import fedavg
from empirics.errors import EmpiricsError
from empirics.federation.federation import Federation
from empirics.measuring import default_every, measurement, MEASUREMENTS, read, Row, Run, write
from empirics.measuring.estimates import jackknife, power_law, two_powers
from empirics.measuring.record import MOST_PATH, OVERHEAD, SHARE
from empirics.models.linear import LeastSquares
from empirics.problems.problem import FederatedProblem
from empirics.training.seeds import over_seeds
from empirics.training.setting import Setting


def test_measurements_are_words_of_the_vocabulary_and_read_finite_numbers():
    for name in MEASUREMENTS:
        made = measurement(name)
        word = getattr(vocabulary, made.word)
        assert isinstance(word, Quantity)
        assert word.card.per_client == made.by_client
        assert made.name.split("(")[0] == name
    names = [n for n in MEASUREMENTS if "accuracy" not in n]
    rows = rows_of(logistic(population=True, tests=True), [*names, "train_accuracy", "local_accuracy_common"])
    assert {measurement(n).word for n in names} <= {r.quantity for r in rows}
    assert all(np.isfinite(r.value) for r in rows)


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


def run_of(problem, names=(), setting=SETTING, every=1):
    return Run(problem, fedavg, setting, 1, [measurement(name) for name in names], every=every).rows()


def test_what_does_not_fit_together_is_refused():
    whole = ridge().federation
    huge = FederatedProblem(Huge(), whole, name="huge")
    passes = replace(SETTING, local_steps=None, local_epochs=7)
    steps = 7 * -(-max(map(len, PARTS)) // SETTING.batch)
    fewer = Federation.of(whole.inputs, whole.targets, PARTS[:1])
    for call, named in (
        (lambda: run_of(ridge(client_weight="samples")), "'uniform'.*'samples'"),
        (lambda: ridge(client_weight="equal"), "client_weight .*'equal'"),
        (lambda: run_of(ridge(), every=0), "every .*0"),
        (lambda: run_of(huge, ["local_drift"]), r" 2 local .*68\.7 GB.* local_drift"),
        (lambda: run_of(huge, ["local_drift"], passes), f" {steps} local"),
        (lambda: FederatedProblem(ridge().model, whole, local_test=fewer), "local_test .*2 .*1"),
    ):
        with pytest.raises(EmpiricsError, match=named):
            call()


def test_the_default_cadence_counts_the_work():
    x = torch.zeros(4000, 2, dtype=torch.float64)
    federation = Federation.of(x, torch.zeros(4000, dtype=torch.float64), [np.arange(1000), np.arange(1000, 4000)])
    problem = replace(ridge(), federation=federation)
    setting = Setting(rounds=9, cohort=2, batch=50, local_steps=4)
    every = default_every(problem, setting, [measurement("train_loss"), measurement("grad_norm_sq")])
    trained, measured = 3 * 2 * 4 * 50, OVERHEAD + (1 + 2) * 4000
    assert (every - 1) * trained * SHARE < measured <= every * trained * SHARE
    epochs = replace(setting, local_steps=None, local_epochs=2, cohort=1)
    assert default_every(problem, epochs, [measurement("train_loss")]) == -(-(OVERHEAD + 4000) // (3 * 4000 * SHARE))


def test_the_cost_of_a_measurement_is_what_it_evaluates(monkeypatch):
    """Ten clients of 5 samples and tests of a fifth of these: passes over the 50, a gradient being two."""
    seen = []

    def counted(name, passes):
        true = getattr(LeastSquares, name)

        def call(model, w, inputs, *more):
            samples = inputs if isinstance(inputs, torch.Tensor) else inputs[0]
            seen.append(passes * len(w) * samples.shape[1] / 50)
            return true(model, w, inputs, *more)

        monkeypatch.setattr(LeastSquares, name, call)

    x = torch.linspace(-1.3, 0.9, 120, dtype=torch.float64).view(60, 2)
    y = torch.sin(3 * x[:, 0])
    parts = [np.arange(k, 50, 10) for k in range(10)]
    shared = Federation.of(x, y, parts)
    own = Federation.of(x, y, [[50 + k] for k in range(10)])
    problem = FederatedProblem(LeastSquares(2, 1, 0.35), shared, Federation.of(x, y, [np.arange(50, 60)]), own)
    problem.local_minimisers, problem.minimiser, problem.optimal_loss  # noqa: B018 - once, whatever is measured
    setting = Setting(rounds=1, cohort=10, batch=2, local_steps=5, step_size=0.05)
    counted("evaluate", 1)
    counted("gradient", 2)

    def passes(*names):
        seen.clear()
        Run(problem, fedavg, setting, 3, [measurement(name) for name in names], every=1).rows()
        return sum(seen)

    training = passes()
    for name in MEASUREMENTS:
        m = measurement(name)
        taken = (passes(name) - training) / (1 if m.local else 2)  # the start is measured too
        if m.over or name in ("train_accuracy", "test_accuracy"):  # read when they must be, or with the loss
            assert m.cost == 0
        else:
            assert abs(m.cost - taken) < 0.85, name


# ---- estimates ----


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


def test_power_laws_find_exponent_and_coefficients_and_weigh():
    x = np.array([1.0, 2.0, 5.0, 30.0])
    assert power_law(x, 3.7 * x**-1.3, np.array([2.0, 0.4, 1.1, 5.0])) == pytest.approx(-1.3)
    bent = 3.7 * x**-1.3
    bent[0] *= 1.9
    assert power_law(x, bent, np.array([1e-9, 1, 1, 1])) == pytest.approx(-1.3, abs=1e-6)
    plain = np.polyfit(np.log(x), np.log(bent), 1, w=np.sqrt([0.3, 1.0, 2.0, 0.7]))[0]
    assert power_law(x, bent, np.array([0.3, 1.0, 2.0, 0.7])) == pytest.approx(plain)
    assert np.isnan(power_law(x, -bent, np.ones(4)))
    y = np.stack([0.31 / x - 0.12 / x**2, 2.2 / x + 0.7 / x**2])
    found = two_powers(x, y, np.array([0.4, 0.1, 0.2, 0.05]))
    np.testing.assert_allclose(found, [[0.31, -0.12], [2.2, 0.7]])


def test_sweeps_keep_the_order_count_every_seed_and_end_with_one_that_fails():
    done, ran = [], []
    assert over_seeds(lambda s: s**2, range(3, 30), 3, lambda: done.append(1)) == [s**2 for s in range(3, 30)]
    assert len(done) == 27

    def measure(seed):
        ran.append(seed)
        if seed == 2:
            raise ValueError("seed 2")

    with pytest.raises(ValueError, match="seed 2"):
        over_seeds(measure, range(10_000), 1)
    assert len(ran) < 10_000
