"""What the first page on Decaying-K says, and the counterexamples behind it, by arithmetic of its own."""

from fractions import Fraction

import numpy as np
import pytest

from paper_checks.claims.claim import Book
from paper_checks.claims.decaying_k import CLAIMS, REVIEW

BY_NAME = {c.name: c for c in CLAIMS}
PRINTED = {"Sent140": 0.32, "FEMNIST": 6.71, "Shakespeare": 5.21}


@pytest.mark.parametrize("name", ["theorem_2_decay", "corollary_2_1_decay"])
def test_the_run_of_a_witness_holds_a_round_and_its_gradients_may_stay_below_g(name):
    found = {k: Fraction(v) for k, v in BY_NAME[f"decaying_k.{name}"].check(Book()).witness.items() if "," not in v}
    sending = found["model_size"] / found["download_rate"] + found["model_size"] / found["upload_rate"]
    computing = found.get("minibatch_time", 0) * found.get("local_steps", 0)
    assert sending + computing < abs(found["initial_runtime"] - found["runtime"])  # the time left
    gap = found["current_loss"] - found["optimal_loss"]
    assert 0 <= 2 * found["strong_convexity"] * gap <= found["grad_cap_sq"]


def test_the_sizes_of_three_models_follow_from_their_description():
    gru = 79 * 8 + sum(3 * 128 * (inputs + 128 + 2) for inputs in (8, 128)) + 128 * 79 + 79
    dense = 785 * 200 + 201 * 200 + 201 * 62
    sizes = {"Sent140": 5001 * 2, "FEMNIST": dense, "Shakespeare": gru}
    assert all(abs(32e-6 * sizes[name] - printed) < 0.005 for name, printed in PRINTED.items())
    assert abs(32e-6 * 5001 - PRINTED["Sent140"]) > 0.1  # with one output
    assert BY_NAME["decaying_k.table_1_sizes"].check(Book()).evidence.startswith("3 printed numbers")


def test_the_ratio_to_the_worst_case_is_rounded_down():
    """450.75 / 0.97149783 = 463.974... and 1.008125 / 0.997501564 = 1.01065... in the tables."""
    for name, ratio in (("theorem_1", "463.9"), ("lemma_1_sharp", "1.01")):
        said = BY_NAME[f"decaying_k.{name}.worst_case"].check(Book()).evidence
        assert said.startswith(f"bound / exact worst case >= {ratio} at ")


def test_with_k_r_rounds_the_drift_of_theorem_1_is_above_g_squared_in_every_task():
    drift = {}  # with L = mu = 1/2
    for name, first, step, cohort in (
        ("Sent140", 60, 3, 50), ("FEMNIST", 80, 0.3, 60), ("CIFAR100", 50, 0.01, 25), ("Shakespeare", 80, 0.1, 10)
    ):  # fmt: skip
        steps = np.ceil(first / np.cbrt(np.arange(1, 10_001)) - 1e-9)
        drift[name] = step / 2 * (8 + 4 / cohort) * (steps**3).sum() / steps.sum()
    assert min(drift.values()) == drift["CIFAR100"] == pytest.approx(1.528, abs=1e-3)
    assert max(drift.values()) == drift["Sent140"] == pytest.approx(645.96, abs=0.01)


def test_lemma_2_is_refuted_by_a_negative_loss_and_not_by_its_g():
    witness = BY_NAME["decaying_k.lemma_2"].check(Book()).witness
    assert (witness["floor"], witness["start_0"]) == ("-1", "0")
    assert REVIEW.theorems["Lemma 2"]["as printed, losses of any sign"] == "decaying_k.lemma_2"
