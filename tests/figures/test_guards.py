"""Guards of findings where seeds, curves or numbers are missing; the rest is seen by the committed findings."""

import math

import numpy as np
import pytest

from empirics.experiments import Cell
from figures.comparing import Pair
from figures.decaying_k.findings import judge_by_task
from figures.guards import drift, effect, Guard, horizon, level
from figures.run_description import describe, RunInfo, SettingText

NAN = math.nan
PAPER = SettingText("CIFAR-10", "ResNet-20", "5", "5", "4000", 20_000.0)


def info(steps):
    return RunInfo.of(SettingText("CIFAR-10", "ResNet-20", "5", "5", "900", steps), PAPER)


def test_a_single_seed_and_missing_ones_show_no_effect():
    for iid, apart, printed in (([71.0], [20.0], 41.0), ([NAN, 36.5, NAN, 35.5], [36.25, 36.75, 36.0], 0.5)):
        guard = drift("CIFAR-10", iid, apart, printed)
        assert guard.missed, (iid, apart)
        assert guard.value == effect("", iid, apart, printed).value
    assert [guard.value for guard in level(info(9e3), [66.2, NAN, 67.1], 71.0)] == pytest.approx([4.35])
    assert level(info(9e3), [66.2, 67.1], NAN) == []
    assert not Guard("not measured", NAN, 1.0).missed


def curve(gains, seed, length=30):
    """Accuracies over rounds whose last third gains so many points, with a little noise."""
    noise = np.random.default_rng(seed).normal(0, 0.2, length)
    rise = np.concatenate([np.linspace(20, 50, length - 10), 50 + np.linspace(0, gains, 10)])
    return np.arange(length) * 7.0, rise + noise


def test_short_runs_have_ended_where_several_long_enough_curves_surely_gain_nothing():
    rising, flat = ([curve(gains, seed) for seed in range(5)] for gains in (4.0, 0.0))
    noisy = [(at, values + 9 * (-1) ** seed * np.linspace(-1, 1, len(at))) for seed, (at, values) in enumerate(flat)]
    burst = [(at, np.where(at > 190, NAN, values)) for at, values in flat]
    two_points = [(at[:6], values[:6]) for at, values in flat]
    assert horizon(info(9_990.0)).value == pytest.approx(0.4995)
    assert not horizon(info(900.0), flat).missed
    assert [horizon(info(900.0), curves).missed for curves in (rising, noisy, flat[:1], two_points, burst)] == [
        True
    ] * 5
    assert not horizon(None).missed  # nothing ran: the comparison says so


def test_the_shortest_of_several_runs_counts():
    steps = {"problem": "softmax(digits)", "clients": 40, "rounds": 30, "local_steps": 7}
    assert describe([Cell("train", steps), Cell("train", {**steps, "rounds": 20})], PAPER).ours.work == 140


def test_a_task_without_runs_is_not_judged_beside_one_with_them():
    values = {"Sent140": ([3.4, 3.6], [1.1, 1.2]), "FEMNIST": ([3.4, 3.6], [])}
    pairs = lambda task: [Pair(task, *values[task])]  # noqa: E731
    one, other = judge_by_task("a above b", "smoke", ("k_rounds",), pairs, lambda _: [], tuple(values))
    assert (one.verdict, other.verdict) == ("reproduced", "not judged")
    assert [guard.value for guard in other.missed] == [0]
