"""Decaying-K's figures and tables: settings and shares by plain arithmetic, findings in their regime alone."""

import math
from dataclasses import replace

import pytest
from figure_toys import outcome, places, verdicts, YES

from figures.catalogue import artefact
from figures.comparing import Reproduction
from figures.decaying_k import findings, grid, tables
from figures.decaying_k.grid import CURVES, in_paper, PRINTED, TASKS, TITLES
from figures.runs import Runs
from figures.substitutes import CLASSES

POINTS = grid.PLANS["smoke"].counts["points"]
FIGURE_1, FIGURE_2 = artefact("decaying_k.figure_1"), artefact("decaying_k.figure_2")


def _outcome(at, losses, accuracies, facts=None, status="done"):
    """A timed run that is looked at at ``at`` seconds."""
    return outcome({"runtime": at, "train_loss": losses, "test_accuracy": accuracies}, status, facts)


def _fill(store, losses, accuracies=None, status="done"):
    """One run of every schedule, task and seed; ``losses(task, key, seed)`` gives its curve."""
    at = [float(10 * j) for j in range(POINTS + 1)]
    for task in TASKS:
        for key in CURVES:
            for seed in range(2):
                loss = losses(task, key, seed)
                right = accuracies(task, key, seed) if accuracies else [0.5] * len(loss)
                store.keep(grid.runs("smoke", task, key)[seed], _outcome(at, loss, right, status=status), 0.1)


@pytest.fixture
def within(monkeypatch):
    """Runs that count as long enough and as decayed by the paper's rule."""
    unmeasured = lambda task: replace(in_paper(task), work=math.nan)  # noqa: E731
    monkeypatch.setattr(grid, "in_paper", unmeasured)
    monkeypatch.setattr(findings, "OVERTAKEN", 6.0)
    counts = {**grid.PLANS["smoke"].counts, "validations": 3}
    monkeypatch.setitem(grid.PLANS, "smoke", replace(grid.PLANS["smoke"], counts=counts))
    monkeypatch.setitem(CLASSES, "digits", 0)


# ---- when a finding is judged ----


def _planted(store, dsgd=0.6):
    """Losses and accuracies with a little noise, in which all that the paper finds is so."""
    ends = {"dsgd": dsgd, "k_eta_fixed": 0.5, "eta_rounds": 0.52}

    def accuracies(task, key, seed):
        noise = 1e-3 * seed * (1 + list(CURVES).index(key))
        return [0.1, 0.2, *([0.3 if key == "dsgd" else 0.4] * 2), *([ends.get(key, 0.55) + noise] * 3)]

    _fill(store, lambda *which: [1.0 - a for a in accuracies(*which)], accuracies)
    return {name: FIGURES[name].data(Runs(store), "smoke") for name in FIGURES}


FIGURES = {"loss": FIGURE_1, "accuracy": FIGURE_2}


def _missed(shown, *words):
    """The guards that the finding with these words misses."""
    (found,) = (j for j in shown.conclusions if all(word in j.words for word in words))
    assert (found.verdict == Reproduction.REGIME) == any(guard.missed for guard in found.regimes)
    return " ".join(guard.words for guard in found.regimes if guard.missed)


def test_within_the_regime_nothing_is_missed_but_the_size(within, store):
    shown = _planted(store)
    missed = [j.words for one in shown.values() for j in one.conclusions if j.verdict == Reproduction.REGIME]
    assert len(missed) == 1
    assert "other data: digits for CIFAR100" in _missed(shown["accuracy"], "18 points")


def test_the_share_of_k_rounds_step_by_step():
    for task, printed in PRINTED.items():
        sending = printed.model_size / 20 + printed.model_size / 5
        left = 10_000 * (sending + printed.minibatch_time * printed.local_steps)
        total, round_, steps = 0, 0, printed.local_steps
        while True:
            round_ += 1
            while steps > 1 and (steps - 1) ** 3 * round_ >= printed.local_steps**3:
                steps -= 1
            left -= sending + printed.minibatch_time * steps
            if left < 0:
                break
            total += steps
        assert tables.by_schedule(task) == pytest.approx(total / (10_000 * printed.local_steps), abs=1e-5), task


def test_table_3_by_plain_arithmetic():
    shown = tables.schedules(None, "laptop")
    assert set(verdicts(shown)) == {YES}
    lines = {row[0]: row[3:] for row in shown.sheet[1:]}
    assert list(lines) == list(TITLES.values())
    assert lines["K_r-rounds"] == [f"{math.ceil(80 / s)}, 0.3" for s in (1, 2, 4, 8)]
    assert lines["η_r-error"][2] == f"80, {0.3 * math.sqrt(0.25):.4g}"
    assert lines["K_r-error"][1] == f"{math.ceil(80 * 0.5 ** (1 / 3))}, 0.3"
    assert lines["K_r-step"] == [*["80, 0.3"] * 3, "8, 0.3"]
    exponents = places(shown)
    assert exponents["K_r-rounds", "exponent of r"]["ours"] == pytest.approx(-1 / 3, abs=1e-8)
    assert exponents["eta_r-error", "exponent of F_r/F_0"]["ours"] == pytest.approx(0.5)
