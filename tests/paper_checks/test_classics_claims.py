"""What the audit of the classic theorems found, once more by arithmetic of its own."""

import math

import numpy as np
import pytest

from bounds import BOUNDS
from paper_checks.audit.running import claim, judge
from paper_checks.claims.claim import Book, Status
from paper_checks.claims.classics import CLAIMS


def test_a_bent_loss_of_small_curvature_breaks_theorem_2_as_printed():
    # In units of sigma gamma: a step shrinks what is below 0 by 3/4, what is above by 7/8, and adds a coin.
    chains, middle = np.zeros(1), 0.0
    for _ in range(8):
        middle += chains.mean() / 8
        shrunk = np.where(chains < 0, 0.75, 0.875) * chains
        chains = np.concatenate([shrunk + 1, shrunk - 1])
    curved, step = 1e-6, 0.25e6
    gap = curved / 4 * (step * middle) ** 2
    assert middle > 0.1
    assert gap > 2 * step / 1e6 + 4 * step**2 * curved**2 * 8  # the noise and the drift; the start is the minimiser
    assert gap < 2 * step / 1e6 + 4 * step**2 * curved * 8


def test_a_planted_smaller_constant_is_caught():
    """The checks see a constant that is off, in the direction in which the theorem would be false."""
    from dataclasses import replace

    planted = {
        "classics.field_guide_theorem_1": "noise",
        "classics.local_gd_theorem_1": "heterogeneity",
        "classics.local_sgd_theorem_1": "drift",
        "classics.bottou_4_6": "noise",
    }
    for name, label in planted.items():
        bound = BOUNDS[name]
        smaller = replace(bound, terms={**bound.terms, label: bound.terms[label] * 0.9})
        assert judge(claim(name), Book({name: smaller})).finding.status is not Status.HOLDS, name


@pytest.mark.parametrize("first", [0, 1])
def test_the_falling_step_keeps_the_stated_rate_from_either_first_step(first):
    offset, noise = 12.5, 0.37
    here = 2.9
    for t in range(first, first + 299):
        step = 2 / (offset + t)
        here = (1 - step) * here + step**2 * noise
        assert here <= (4 * noise + offset * 2.9) / (offset + t - first + 1)


def test_three_halves_leave_half_of_the_gaps_and_two_do_not():
    reach = 1 / 16  # (gamma L H)^2 at the longest step
    assert 1.5 * 5 * reach <= 0.5 < 2 * 5 * reach


def test_the_smallest_number_of_local_steps_is_below_one():
    smoothness, sigma, epsilon = 1.3, 0.7, 0.2
    steps = 1 / (4 * max(smoothness, sigma * math.sqrt(3 * smoothness / epsilon)) / (4 * smoothness))
    assert steps == pytest.approx(math.sqrt(epsilon * smoothness / 3) / sigma)
    assert steps < 1


def test_every_source_has_claims_and_the_failing_ones_are_repaired():
    assert {c.source.version for c in CLAIMS} == {
        "Field Guide", "Li et al. 2020", "Local GD", "Local SGD", "Bottou et al. 2018", "Needell et al. 2014",
        "Hardt et al. 2016", "FedProx", "SCAFFOLD",
        "FedNova", "ProxSkip",
    }  # fmt: skip
    assert all(c.repair is not None for c in CLAIMS if c.known is Status.FAILS)


def test_half_of_the_last_models_stability_gives_the_printed_risk_of_the_average():
    distance, steep, samples, steps = 1.7, 2.3, 41.0, 97.0
    size = distance / (steep * math.sqrt(samples)) * samples / steps * math.sqrt(steps / (samples + 2 * steps))
    optimised = distance**2 / (2 * steps * size) + steep**2 * size / 2
    stable = 2 * steep**2 / samples * size * steps
    printed = distance * steep / math.sqrt(samples) * math.sqrt((samples + 2 * steps) / steps)
    assert optimised + stable / 2 == pytest.approx(printed)
    assert optimised + stable > 1.2 * printed


def test_sampling_takes_more_of_the_descent_of_fedprox_than_the_corollary_leaves():
    participants, weight = 1e8, 6 * 0.25e8  # B = sqrt(K)/2, L = 1, mu = 6 B^2
    left = 1 - 0.5 * math.sqrt(2) - 1 / 12
    exact = BOUNDS["classics.fedprox_rho"].formula(
        cohort=participants, inexactness=0.0, proximal_weight=weight, weak_convexity=1e-9, smoothness=1.0,
        dissimilarity_factor=0.25 * participants,
    )  # fmt: skip
    assert exact * weight == pytest.approx(left, rel=1e-3)
    assert left < 6 / 24
