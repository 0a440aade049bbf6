"""Problems as text: a model of a data set, dealt to clients."""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from refusals import all_refused, refusal

from empirics.algorithms.algorithm import fedavg
from empirics.data.dataset import Dataset
from empirics.federation.federate import federate
from empirics.federation.partitions import Split
from empirics.models.networks import network
from empirics.problems.tasks import task, TASKS
from empirics.training.rounds import rounds
from empirics.training.setting import Setting


def test_a_linear_task_has_an_intercept_its_penalty_as_strong_convexity_and_targets_that_fit():
    problem = task("softmax(digits, regularisation=0.03)").deal("dirichlet(0.7)", 6, seed=3)
    assert (problem.model.features, problem.model.outputs) == (65, 10)
    assert problem.strong_convexity == pytest.approx(0.03)
    assert sum(problem.client_sizes) == 1797
    signs = task("svm(breast_cancer)").deal("iid", 3, seed=2).federation.targets
    assert set(signs.tolist()) == {-1, 1}
    assert task("ridge(diabetes)").deal("iid", 3, seed=2).model.outputs == 1
    assert task("ridge(iris)").deal("iid", 3, seed=2).model.outputs == 3


def test_features_beyond_one_are_standardised_and_pixels_are_left_alone():
    x = task("logistic(breast_cancer)").deal("iid", 3, seed=2).federation.inputs[:, :-1].numpy()
    np.testing.assert_allclose(x.mean(0), 0, atol=1e-12)
    np.testing.assert_allclose(x.std(0), 1, rtol=1e-12)
    pixels = task("softmax(digits)").deal("iid", 3, seed=2).federation.inputs[:, :-1]
    assert float(pixels.min()) == 0
    assert float(pixels.max()) == 1


@pytest.mark.parametrize("size", [0.2, 1.5])
def test_what_is_held_out_of_clients_moves_no_training_input(size):
    rng = np.random.default_rng(3)
    inputs, groups = size * rng.uniform(-1, 1, (40, 2)), np.arange(40) % 4

    def dealt(inputs):
        data = Dataset("own", inputs, (inputs[:, 0] > 0).astype(int), 2, groups=groups)
        return TASKS["softmax"](data).deal("by_group()", None, 0, local_test="held_out")

    before = dealt(inputs)
    held = before.local_test.members.numpy()
    moved = inputs.copy()
    moved[held] *= 100.0
    after = dealt(moved)
    for k in range(4):
        assert torch.equal(after.federation.samples(k)[0], before.federation.samples(k)[0])
    train = before.federation.inputs[before.federation.members, :2].numpy()
    wanted = inputs[before.federation.members.numpy()]
    wanted = (wanted - wanted.mean(0)) / wanted.std(0) if size > 1 else wanted
    np.testing.assert_allclose(train, wanted, rtol=1e-12)


@dataclass(frozen=True)
class Half(Split):
    """The first half, client after client."""

    def deal(self, data, clients, seed):
        return np.array_split(np.arange(len(data) // 2), clients)


def test_samples_that_nobody_is_dealt_move_no_training_input():
    inputs = 3.0 * np.random.default_rng(5).uniform(-1, 1, (60, 2))

    def dealt(inputs):
        data = Dataset("own", inputs, (np.arange(60) % 3 > 0).astype(int), 2)
        return TASKS["softmax"](data).deal(Half(), 4, 0).federation

    moved = inputs.copy()
    moved[30:] += 50.0
    for k in range(4):
        assert torch.equal(dealt(inputs).samples(k)[0], dealt(moved).samples(k)[0])


def test_its_name_reads_back_to_itself():
    written = str(task("softmax(wine)"))
    assert written == str(task(written)) == "softmax(wine, regularisation=0.001)"


def test_a_network_takes_shape_and_classes_from_the_data_unless_told():
    assert str(task("femnist_dnn(digits)")) == str(task("femnist_dnn(digits, classes=10, pixels=64)"))
    assert "classes=12" in str(task("femnist_dnn(digits, classes=12)"))
    assert task("femnist_dnn(iris)").deal("iid", 3, seed=1).model.input_shape == (4,)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_network_trains_on_data_of_another_precision(precision):
    setting = Setting(rounds=2, cohort=3, batch=7, local_steps=2)
    dealt = task(f"femnist_dnn(wine, precision='{precision}')").deal("iid", 4, seed=1)
    plain = federate("wine", "iid", 4, seed=1)
    assert plain.train.inputs.dtype == torch.float64
    built = network("femnist_dnn", classes=3, pixels=13, precision=precision)
    ends = [list(rounds(built, held, fedavg, setting, 5))[-1].model for held in (dealt.federation, plain.train)]
    assert ends[0].dtype == getattr(torch, precision)
    assert torch.equal(*ends)
    assert not torch.equal(ends[0], built.start(5))


def test_what_makes_no_sense_is_refused_in_one_line():
    wrong = {
        "digits": "model",
        "softmax(iris(), regularisation=-1)": "softmax regularisation 0 -1",
        "softmax(0.3)": "softmax",
        "svm(digits)": "digits 10",
        "softmax(iris, wrong=2)": "'wrong'",
        "resnet20(iris, wrong=2)": "'wrong'",
        "opt(digits)": "digits target",
        "shakespeare_gru(digits, loss='next_token')": "digits target",
    }
    all_refused(wrong, lambda text: refusal(task, text))
