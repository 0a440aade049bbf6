"""Problems as text: a model of a data set, dealt to clients."""

import numpy as np
import pytest
import torch

from empirics.data.dataset import Dataset
from empirics.problems.tasks import task, TASKS


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


def test_its_name_reads_back_to_itself():
    written = str(task("softmax(wine)"))
    assert written == str(task(written)) == "softmax(wine, regularisation=0.001)"


def test_a_network_takes_shape_and_classes_from_the_data_unless_told():
    assert str(task("femnist_dnn(digits)")) == str(task("femnist_dnn(digits, classes=10, pixels=64)"))
    assert "classes=12" in str(task("femnist_dnn(digits, classes=12)"))
    assert task("femnist_dnn(iris)").deal("iid", 3, seed=1).model.input_shape == (4,)
