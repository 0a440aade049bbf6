"""The real sets, where they are on this machine: published counts, federations of each family."""

import numpy as np
import pytest

from empirics.data.catalogue import dataset
from empirics.federation.federate import federate
from empirics.federation.prepared import PreparedFederation

data = pytest.mark.data


def told(name, *expected, slow=False):
    return pytest.param(name, *expected, marks=[data(name.partition("(")[0]), *([pytest.mark.slow] if slow else [])])


FREQUENT = {
    "fashion_mnist": ([6000] * 10, [1000] * 10),
    "cifar10": ([5000] * 10, [1000] * 10),
    "airline": ([9_178, 3_099, 2_363], None),
}
"""Samples of each class, for training and for the test."""


@pytest.mark.parametrize(
    ("name", "samples", "tests", "classes", "groups"),
    [
        told("fashion_mnist", 60_000, 10_000, 10, 0),
        told("mnist", 60_000, 10_000, 10, None),
        told("cifar10", 50_000, 10_000, 10, 0, slow=True),
        told("cifar100", 50_000, 10_000, 100, 20, slow=True),
        told("svhn", 73_257, 26_032, 10, 0, slow=True),
        told("multinli", 392_702, 9_815, 3, None, slow=True),
        told("femnist", None, None, 62, None, slow=True),
        told("flair(users=20, test_users=10, size=64)", None, None, 17, 20, slow=True),
        told("school", 15_362, 0, 0, 139),
        told("landmine", 14_820, 0, 2, 29),
        told("parkinson", 5_875, 0, 0, 42),
        told("heart_disease", 920, 0, 2, 4),
        told("shakespeare(stride=40)", None, 0, 79, None),
        told("tiny_shakespeare(stride=80)", None, 0, 65, None),
        told("sent140_users", None, 0, 2, 2_875),
        told("airline", None, 0, 3, 7_701),
    ],
)
def test_sets_have_their_published_sizes_and_classes(name, samples, tests, classes, groups):
    found = dataset(name)
    assert found.classes == classes
    assert samples in (None, len(found))
    assert tests in (None, len(found.test) if found.test is not None else 0)
    assert groups in (None, len(found.group_names))
    train, test = FREQUENT.get(name, (None, None))
    if train:
        assert (np.abs(np.bincount(found.targets) - train) <= (5 if name == "airline" else 0)).all()
    if test:
        assert np.bincount(found.test.targets).tolist() == test
    if name == "cifar10":
        np.testing.assert_allclose(found.inputs[::10].mean((0, 2, 3)) / 255, found.prepare.mean, atol=4e-3)


@data("fashion_mnist")
def test_fedcogs_clients_of_fashion_mnist():
    built = federate("fashion_mnist", "classes_per_client(2)", 10, seed=0, local_test="matched")
    assert isinstance(built.train, PreparedFederation)
    for k in range(10):
        inputs, targets = built.train.samples(k)
        assert np.bincount(targets, minlength=10).nonzero()[0].tolist() == [2 * (k % 5), 2 * (k % 5) + 1]
        assert np.bincount(targets).max() == 3000
        assert inputs.shape == (6000, 1, 28, 28)
        assert np.bincount(built.local_test.samples(k)[1], minlength=10)[2 * (k % 5) :][:2].tolist() == [1000, 1000]
        assert (float(inputs.min()), float(inputs.max())) == (-1, 1)


@data("mnist")
def test_the_writers_of_mnist():
    mnist = dataset("mnist")
    sizes = np.bincount(mnist.groups)
    assert (sizes > 0).sum() == 539
    assert (sizes[sizes > 0].min(), np.median(sizes[sizes > 0]), sizes.max()) == (19, 116, 131)
    assert len(set(mnist.test.groups.tolist())) == 297
    assert not set(mnist.groups.tolist()) & set(mnist.test.groups.tolist())


@pytest.mark.parametrize(
    ("name", "samples", "features", "nonzero", "positive"),
    [
        told("a9a", 32_561, 123, 451_592, 7_841),
        told("w8a", 49_749, 300, 579_586, 1_479),
        told("mushrooms", 8_124, 112, None, 4_208),
        told("phishing", 11_055, 68, None, 6_157),
        told("german", 1_000, 24, None, 700),
    ],
)
def test_libsvm_sets(name, samples, features, nonzero, positive):
    found = dataset(name)
    assert found.inputs.shape == (samples, features)
    assert nonzero in (None, np.count_nonzero(found.inputs))
    assert {int((found.targets == 1).sum()), int((found.targets == -1).sum())} == {positive, samples - positive}
    if name == "a9a":
        assert (len(found.test), np.count_nonzero(found.test.inputs)) == (16_281, 225_731)
        assert (found.test.targets == 1).sum() == 3_846


@data("heart_disease")
def test_hospitals_and_their_diagnoses():
    heart = dataset("heart_disease")
    assert np.bincount(heart.groups).tolist() == [303, 294, 123, 200]
    assert [int((heart.targets[heart.groups == g] == 1).sum()) for g in range(4)] == [139, 106, 115, 149]


@pytest.mark.slow
@data("omniglot")
def test_omniglot():
    omniglot = dataset("omniglot")
    assert np.bincount(omniglot.targets).tolist() == [20] * omniglot.classes
    assert len(omniglot.group_names) == 20 * len({name.split("/")[0] for name in omniglot.group_names})
    assert omniglot.inputs.shape[1:] == (1, 28, 28)
    assert omniglot.inputs.mean() < 60  # ink is bright and rare
