"""The guards of findings, each with a planted case on both sides of its threshold."""

import math

import numpy as np
import pytest

from empirics.experiments import Cell
from figures.guards import above_guessing, coefficient_effect, drift, effect, Guard, horizon, level, treatment
from figures.run_description import describe, RunInfo, SettingText, work

NAN = math.nan
PAPER = SettingText("CIFAR-10", "ResNet-20", "5", "5", "4000", 20_000.0)


def info(steps=15_000.0, network="small CNN", data="CIFAR-10"):
    return RunInfo.of(SettingText(data, network, "5", "5", "900", steps), PAPER)


def curve(gains, seed, length=30):
    """Accuracies over rounds whose last third gains so many points, with a little noise."""
    noise = np.random.default_rng(seed).normal(0, 0.2, length)
    rise = np.concatenate([np.linspace(20, 50, length - 10), 50 + np.linspace(0, gains, 10)])
    return np.arange(length) * 7.0, rise + noise


def test_a_remedy_needs_the_problem_it_cures_significantly_and_half_as_large():
    for iid, apart, printed, missed in (
        ([70.5, 71.5, 70.9], [48.2, 50.1, 49.0], 41.0, False),  # 21.9 of 41 points
        ([70.5, 71.5, 70.9], [52.2, 54.1, 53.0], 41.0, True),  # 17.9 of 41
        ([70.5, 75.5, 60.9], [70.1, 60.2, 69.5], NAN, True),  # not significant
        ([70.5, 71.5, 70.9], [69.2, 70.1, 69.5], NAN, False),
        ([71.0], [20.0], 41.0, True),  # one seed tells no significance
        ([NAN, 36.5, NAN, 35.5], [36.25, 36.75, 36.0], 0.5, True),
    ):
        guard = drift("CIFAR-10", iid, apart, printed)
        assert guard.missed is missed, (iid, apart)
        assert guard.value == effect("", iid, apart, printed).value


def test_runs_are_half_as_long_as_the_papers_or_have_ended():
    assert not horizon(info(10_000.0)).missed
    assert horizon(info(9_990.0)).missed
    assert horizon(info(9_990.0)).value == pytest.approx(0.4995)
    rising = horizon(info(900.0), [curve(4.0, seed) for seed in range(5)])
    assert rising.missed
    assert rising.value == pytest.approx(0.045)
    assert "gains +3.8" in rising.detail
    flat = [curve(0.0, seed) for seed in range(5)]
    assert not horizon(info(900.0), flat).missed
    noisy = [(at, values + 9 * (-1) ** seed * np.linspace(-1, 1, len(at))) for seed, (at, values) in enumerate(flat)]
    assert horizon(info(900.0), noisy).missed  # no gain that differs from zero, nor one that is surely small
    assert horizon(info(900.0), flat[:1]).missed  # one seed cannot show that a curve has ended
    assert horizon(info(900.0), [(c[0][:6], c[1][:6]) for c in flat]).missed  # nor can two points
    assert not horizon(None).missed  # nothing ran: the comparison says so


def test_local_work_counts_steps_passes_and_simulated_time():
    steps = {"problem": "softmax(digits)", "clients": 40, "rounds": 30, "local_steps": 7}
    assert work(steps) == 210
    assert work(steps, 11) == 77
    assert work({"clients": 100, "batch": 50, "local_epochs": 5, "rounds": 30}) == 30 * 50
    assert work({"seconds": 77.5, "local_steps": 3}) == 77.5
    assert math.isnan(work({"problem": "softmax(digits)"}))
    assert describe([Cell("train", steps), Cell("train", {**steps, "rounds": 20})], PAPER).ours.work == 140


def test_sizes_need_the_papers_level_and_so_does_its_own_network():
    accuracies = [66.2, 67.1]
    assert level(info(), accuracies, 72.5) == []  # another network, which is named: an order can be judged
    (size,) = level(info(), accuracies, 72.5, size=True)
    assert size.missed
    assert size.value == pytest.approx(5.85)
    (own,) = level(info(network="ResNet-20"), accuracies, 71.0)
    assert not own.missed
    assert level(info(network="ResNet-20"), accuracies, NAN) == []


def test_methods_are_trained_equally_but_for_what_differs_in_the_paper():
    def cells(**given):
        return [Cell("train", {"batch": 20, "momentum": 0.9, "step_size": 0.1, **given})]

    equal = {"FedAvg": cells(), "FedALS": cells()}
    assert not treatment(equal).missed
    plain = {**equal, "SCAFFOLD": cells(momentum=0.0, step_size=0.05)}
    assert treatment(plain).value == 2
    assert "momentum" in treatment(plain).detail
    assert treatment(plain, papers=["momentum", "step_size"]).value == 0
    searched = treatment(plain, searched=["FedAvg", "SCAFFOLD"])
    assert searched.value == 2
    assert "step size of FedALS not searched" in searched.detail
    assert not treatment({"FedAvg": cells(), "FedCM": []}).missed


def test_training_has_begun_and_a_coefficient_moves_something():
    (plateau,) = above_guessing(RunInfo.of(SettingText("CIFAR-10")), [13.0, 16.0])
    assert (plateau.value, plateau.missed) == (pytest.approx(1.45), True)
    assert above_guessing(RunInfo.of(SettingText("Shakespeare")), [13.0]) == above_guessing(None, []) == []
    assert coefficient_effect("w", [[66.5, 66.25], [66.75, 66.5]]).missed
    assert not coefficient_effect("w", [[66.5, 66.25], [67.75, 66.5]]).missed
    assert not Guard("not measured", NAN, 1.0).missed
