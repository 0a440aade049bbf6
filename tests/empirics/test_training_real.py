"""One training run on real data per family of networks, as the command runs it: the loss falls."""

import csv
import math

import numpy as np
import pytest

from empirics.data.catalogue import dataset
from fedbounds import main

data = pytest.mark.data


def trained(words, table):
    """First and last value of every quantity of a command line's run."""
    assert main(["train", *words, "-o", str(table)]) == 0
    found: dict[str, list[float]] = {}
    for row in csv.DictReader(table.read_text().splitlines()):
        found.setdefault(row["quantity"], []).append(float(row["value"]))
    assert "diverged" not in found
    return {name: (values[0], values[-1]) for name, values in found.items()}


@data("fashion_mnist")
def test_a_convolutional_network_on_fashion_mnist(tmp_path):
    problem = "fedcog_cnn(fewer(fashion_mnist, train=9000, test=1000), channels=1, side=28)"
    words = ["--problem", problem, "--partition", "classes_per_client(2)"]
    plan = ["--clients", "10", "--rounds", "3", "--local-steps", "20", "--step-size", "0.05", "--every", "3"]
    ends = trained([*words, *plan, "--measure", "test_loss", "test_accuracy"], tmp_path / "runs.csv")
    assert ends["test_loss"][0] == pytest.approx(2.303, abs=0.02)
    assert ends["test_loss"][1] < 2.15
    assert ends["test_accuracy"][1] > ends["test_accuracy"][0] + 0.1


SOME_OF_CIFAR = """
from dataclasses import replace

import numpy as np

from empirics.data.catalogue import dataset
from empirics.problems.tasks import TASKS

data = dataset("cifar10")
some = replace(data.part(np.arange(2000)), test=data.test.part(np.arange(200)))
problem = TASKS["resnet20"](some)
"""


@pytest.mark.slow
@data("cifar10")
def test_resnet_20_on_cifar_10(tmp_path):
    """2,000 images for training and 200 for the test: a pass over all of them would take minutes on one core."""
    (tmp_path / "some.py").write_text(SOME_OF_CIFAR)
    words = ["--problem", f"{tmp_path}/some.py:problem", "--clients", "10", "--cohort", "2", "--rounds", "2"]
    plan = ["--local-steps", "15", "--batch", "12", "--step-size", "0.05", "--every", "2"]
    ends = trained([*words, *plan, "--measure", "test_loss"], tmp_path / "runs.csv")
    assert ends["test_loss"][1] < ends["test_loss"][0] - 0.03


@data("tiny_shakespeare")
def test_a_small_decoder_on_tiny_shakespeare_beats_guessing(tmp_path):
    """Guessing by how frequent characters are: their entropy, 3.15 nats, and 16 % right by spaces alone."""
    text = "tiny_shakespeare(task='next', length=32, stride=700)"
    codes = np.bincount(dataset(text).targets.ravel())
    share = codes[codes > 0] / codes.sum()
    guessed, frequent = float(-(share * np.log(share)).sum()), float(share.max())
    problem = f"opt({text}, classes=65, width=24, depth=2, heads=3, hidden=48, positions=32, head_layers=1)"
    words = ["--problem", problem, "--clients", "6", "--cohort", "2", "--rounds", "4", "--local-steps", "25"]
    plan = ["--batch", "12", "--optimizer", "adamw", "--step-size", "0.015", "--every", "4"]
    ends = trained([*words, *plan, "--measure", "train_loss", "train_accuracy"], tmp_path / "runs.csv")
    assert ends["train_loss"][0] == pytest.approx(math.log(65), abs=0.05)
    assert ends["train_loss"][1] < guessed - 0.2
    assert ends["train_accuracy"][1] > frequent + 0.03


@pytest.mark.slow
@data("shakespeare")
def test_a_recurrent_network_on_shakespeare(tmp_path):
    words = ["--problem", "shakespeare_gru(shakespeare(stride=80))", "--partition", "by_group(least=50)"]
    plan = ["--clients", "10", "--cohort", "5", "--rounds", "3", "--local-steps", "10", "--step-size", "1"]
    watch = ["--every", "3", "--measure", "train_loss", "train_accuracy"]
    ends = trained([*words, *plan, *watch], tmp_path / "runs.csv")
    assert ends["train_loss"][0] == pytest.approx(4.37, abs=0.1)  # the logarithm of 79 letters
    assert ends["train_loss"][1] < 3.4
    assert ends["train_accuracy"][1] > 0.15  # as often as the commonest letter, the space
