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


def test_measurements_are_words_of_the_vocabulary():
    for name in MEASUREMENTS:
        made = measurement(name)
        word = getattr(vocabulary, made.word)
        assert isinstance(word, Quantity)
        assert word.card.per_client == made.by_client
        assert made.name.split("(")[0] == name


def test_every_exact_measurement_reads_a_finite_number():
    names = [n for n in MEASUREMENTS if n not in ("test_accuracy", "train_accuracy") and "accuracy" not in n]
    rows = rows_of(logistic(population=True, tests=True), [*names, "train_accuracy", "local_accuracy_common"])
    assert {measurement(n).word for n in names} <= {r.quantity for r in rows}
    assert all(np.isfinite(r.value) for r in rows)


def test_rows_say_where_they_come_from():
    problem = ridge()
    run = Run(problem, fedavg, SETTING, 7, [measurement("non_iidness")], every=2, experiment="first try")
    rows = run.rows()
    assert [(r.round, r.client) for r in rows] == [(2, 0), (2, 1), (3, 0), (3, 1)]
    assert {r[:3] for r in rows} == {("first try", "fedavg()", 7)}
    assert {(r.step, r.layer, r.quantity, r.exactness) for r in rows} == {(None, "", "non_iidness", "exact")}


def test_start_and_last_round_are_always_measured():
    rows = rows_of(ridge(), ["train_loss"], replace(SETTING, rounds=7), every=3)
    assert [r.round for r in rows] == [0, 3, 6, 7]


def test_the_table_keeps_every_digit(tmp_path):
    rows = rows_of(ridge(), ["local_drift", "non_iidness", "consensus_distance"])
    rows.append(Row("a, b", "fedavg()", 1, 2, None, None, "layer.0", "train_loss", float("nan"), "proxy"))
    again = read(write(rows, tmp_path / "rows.csv"))
    assert again[:-1] == rows[:-1]
    assert np.isnan(again[-1].value)
    assert again[-1]._replace(value=0) == rows[-1]._replace(value=0)


def test_weights_of_the_average_and_of_the_loss_must_agree():
    with pytest.raises(
        EmpiricsError, match="averages by client_weight='uniform', the global loss of tiny by 'samples'"
    ):
        Run(ridge(client_weight="samples"), fedavg, SETTING, 1, [])
    with pytest.raises(EmpiricsError, match="client_weight must be one of uniform, samples; got 'equal'"):
        ridge(client_weight="equal")
    with pytest.raises(EmpiricsError, match="every must be a whole number >= 1; got 0"):
        Run(ridge(), fedavg, SETTING, 1, [], every=0)


def test_paths_too_large_to_keep_are_refused():
    class Huge:
        dim, stacked = MOST_PATH, True

    problem = FederatedProblem(Huge(), ridge().federation, name="huge")
    with pytest.raises(EmpiricsError, match=r"after each of 2 local steps takes 68\.7 GB; leave out local_drift"):
        Run(problem, fedavg, SETTING, 1, [measurement("local_drift")], every=1).rows()
    passes = replace(SETTING, local_steps=None, local_epochs=7)
    with pytest.raises(EmpiricsError, match=rf"after each of {7 * -(-max(map(len, PARTS)) // SETTING.batch)} local"):
        Run(problem, fedavg, passes, 1, [measurement("local_drift")], every=1).rows()


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


def test_parts_must_fit_together():
    whole = ridge().federation
    with pytest.raises(EmpiricsError, match="local_test must have the 2 clients of the federation; got 1"):
        FederatedProblem(ridge().model, whole, local_test=Federation.of(whole.inputs, whole.targets, PARTS[:1]))


# ---- estimates ----


def test_jackknife_of_a_mean_is_the_textbook_standard_error():
    x = np.random.default_rng(3).gamma(2.3, size=(17, 4))
    found = jackknife(lambda mean: mean, x)
    np.testing.assert_allclose(found.value, x.mean(0))
    np.testing.assert_allclose(found.error, x.std(0, ddof=1) / np.sqrt(17))


def test_jackknife_of_a_product_equals_plain_loops():
    rng = np.random.default_rng(5)
    x, y = rng.gamma(2.3, size=13), rng.gamma(1.7, size=13)
    found = jackknife(lambda a, b: np.sqrt(a * b), x, y)
    without = [np.sqrt(np.delete(x, s).mean() * np.delete(y, s).mean()) for s in range(13)]
    assert found.error == pytest.approx(np.sqrt(12 / 13 * sum((w - np.mean(without)) ** 2 for w in without)))


def test_an_error_needs_three_seeds():
    with pytest.raises(EmpiricsError, match="at least 3 seeds; got 2"):
        jackknife(lambda mean: mean, np.array([0.3, 0.7]))
    three = np.array([0.3, 0.7, 1.9])
    assert jackknife(lambda mean: mean, three).error == pytest.approx(three.std(ddof=1) / np.sqrt(3))


def test_power_law_finds_the_exponent_and_weighs():
    x = np.array([1.0, 2.0, 5.0, 30.0])
    assert power_law(x, 3.7 * x**-1.3, np.array([2.0, 0.4, 1.1, 5.0])) == pytest.approx(-1.3)
    bent = 3.7 * x**-1.3
    bent[0] *= 1.9
    assert power_law(x, bent, np.array([1e-9, 1, 1, 1])) == pytest.approx(-1.3, abs=1e-6)
    plain = np.polyfit(np.log(x), np.log(bent), 1, w=np.sqrt([0.3, 1.0, 2.0, 0.7]))[0]
    assert power_law(x, bent, np.array([0.3, 1.0, 2.0, 0.7])) == pytest.approx(plain)
    assert np.isnan(power_law(x, -bent, np.ones(4)))


def test_two_powers_finds_both_coefficients():
    x = np.array([1.0, 2.0, 5.0, 30.0])
    y = np.stack([0.31 / x - 0.12 / x**2, 2.2 / x + 0.7 / x**2])
    found = two_powers(x, y, np.array([0.4, 0.1, 0.2, 0.05]))
    np.testing.assert_allclose(found, [[0.31, -0.12], [2.2, 0.7]])


def test_sweeps_keep_the_order_and_count_every_seed():
    done = []
    assert over_seeds(lambda s: s**2, range(3, 30), 3, lambda: done.append(1)) == [s**2 for s in range(3, 30)]
    assert len(done) == 27


def test_a_failing_seed_ends_the_sweep():
    ran = []

    def measure(seed):
        ran.append(seed)
        if seed == 2:
            raise ValueError("seed 2")

    with pytest.raises(ValueError, match="seed 2"):
        over_seeds(measure, range(10_000), 1)
    assert len(ran) < 10_000
