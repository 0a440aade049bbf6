"""CONTRIBUTING's recipe for a method: one short file, and it is trained, followed exactly, searched and bounded."""

from pathlib import Path

import numpy as np
import pytest

import fedbounds
from bounds import About, Bound, Source, Statistic
from bounds.vocabulary import initial_gap, optimality_gap, rounds, smoothness, step_size
from empirics.algorithms import algorithm, ALGORITHMS
from empirics.exact import exact_run
from empirics.exact.sampled import sampled
from empirics.problems.quadratics import random_quadratics
from empirics.training.setting import Setting
from paper_checks.falsifier import falsify
from paper_checks.worst_case.solve import worst_case

FILE = Path(__file__).parents[2] / "examples" / "my_momentum.py"
WRITTEN = f"{FILE}:my_momentum"


def test_a_method_written_once_is_trained_followed_exactly_and_bounded():
    assert len(FILE.read_text(encoding="utf-8").splitlines()) <= 40
    mine, curvature, size = algorithm(WRITTEN), np.array([0.4, 1.3]), 0.21
    problem = random_quadratics(5, 4, 2, noise=0.0)
    plan = Setting(rounds=5, cohort=4, local_steps=2, step_size=0.1)
    expected = exact_run(problem, mine, plan).server["optimality_gap"]
    assert sampled(problem, mine, plan, 0).server["optimality_gap"] == pytest.approx(expected, rel=1e-9)
    some = Setting(rounds=2, cohort=2, local_steps=2, step_size=0.1)
    runs = [sampled(problem, mine, some, seed).server["optimality_gap"][-1] for seed in range(120)]
    assert exact_run(problem, mine, some).server["optimality_gap"][-1] == pytest.approx(np.mean(runs), rel=0.15)
    # In one dimension with two clients at one minimiser, by hand: the worst case and the rate are no smaller.
    w, v, factor = 1.0, 0.0, ((1 - size * curvature) ** 2).mean() - 1
    for _ in range(3):
        v = 0.4 * v + factor * w
        w += v
    given = {"smoothness": 1.3, "strong_convexity": 0.4, "initial_distance_sq": 1.0, "optimum_dissimilarity": 0.0}
    plan = Setting(rounds=3, cohort=2, local_steps=2, step_size=size)
    worst = worst_case(WRITTEN, plan, given, "distance_sq").value
    rate = fedbounds.rate(WRITTEN, local_steps=2, step_size=size, smoothness=1.3, strong_convexity=0.4).points[0].rate
    assert w**2 <= worst <= rate.bounds[0].contraction ** 3 * rate.bounds[0].start_distance
    assert rate.contraction < 1


def test_a_statement_on_it_is_searched(monkeypatch):
    monkeypatch.setitem(ALGORITHMS, "heavy", lambda: algorithm(WRITTEN))

    terms = {"start": initial_gap * (1 - step_size * smoothness / 2) ** rounds}
    claim = Bound(
        "mine.heavy", optimality_gap, terms, source=Source("nobody", "Conjecture 1"), about=About("heavy"),
        statistic=Statistic("last", "rounds"),
    )  # fmt: skip
    found = falsify(claim, 60, family="quadratics")
    assert found.violated
    assert found.witness.arithmetic.startswith(("rational", "60"))
