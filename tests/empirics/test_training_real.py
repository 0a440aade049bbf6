"""One training run on real data per family of networks, as the command runs it: the loss falls."""

import csv
import math

import numpy as np
import pytest

from empirics.data.catalogue import dataset

data = pytest.mark.data


@pytest.fixture
def trained(run, tmp_path):
    """First and last value of every quantity of a command line's run."""

    def command(problem, words):
        table = tmp_path / "runs.csv"
        assert run("train", "--problem", problem, *words.split(), "-o", table)[0] == 0
        found: dict[str, list[float]] = {}
        for row in csv.DictReader(table.read_text().splitlines()):
            found.setdefault(row["quantity"], []).append(float(row["value"]))
        assert "diverged" not in found
        return {name: (values[0], values[-1]) for name, values in found.items()}

    return command


@data("fashion_mnist")
def test_a_convolutional_network_on_fashion_mnist(trained):
    ends = trained(
        "fedcog_cnn(fewer(fashion_mnist, train=9000, test=1000), channels=1, side=28)",
        "--partition classes_per_client(2) --clients 10 --rounds 3 --local-steps 20 --step-size 0.05 --every 3 "
        "--measure test_loss test_accuracy",
    )
    assert ends["test_loss"][0] == pytest.approx(2.303, abs=0.02)
    assert ends["test_loss"][1] < 2.15
    assert ends["test_accuracy"][1] > ends["test_accuracy"][0] + 0.1


@data("tiny_shakespeare")
def test_a_small_decoder_on_tiny_shakespeare_beats_guessing(trained):
    """Guessing by how frequent characters are: their entropy, 3.15 nats, and 16 % right by spaces alone."""
    text = "tiny_shakespeare(task='next', length=32, stride=700)"
    codes = np.bincount(dataset(text).targets.ravel())
    share = codes[codes > 0] / codes.sum()
    guessed, frequent = float(-(share * np.log(share)).sum()), float(share.max())
    ends = trained(
        f"opt({text}, classes=65, width=24, depth=2, heads=3, hidden=48, positions=32, head_layers=1)",
        "--clients 6 --cohort 2 --rounds 4 --local-steps 25 --batch 12 --optimizer adamw --step-size 0.015 --every 4 "
        "--measure train_loss train_accuracy",
    )
    assert ends["train_loss"][0] == pytest.approx(math.log(65), abs=0.05)
    assert ends["train_loss"][1] < guessed - 0.2
    assert ends["train_accuracy"][1] > frequent + 0.03
