"""The real sets, where they are on this machine: published counts, a sanity accuracy, federations of each family."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from empirics.data.catalogue import dataset
from empirics.federation.federate import federate
from empirics.federation.prepared import PreparedFederation

data = pytest.mark.data


def accuracy(train, test, **options):
    """Of scikit-learn's logistic regression."""
    model = LogisticRegression(max_iter=300, **options).fit(*train)
    return model.score(*test)


@data("fashion_mnist")
def test_fashion_mnist():
    fashion = dataset("fashion_mnist")
    assert np.bincount(fashion.targets).tolist() == [6000] * 10
    assert np.bincount(fashion.test.targets).tolist() == [1000] * 10
    train = fashion.inputs[:3000].reshape(3000, -1) / 255, fashion.targets[:3000]
    test = fashion.test.inputs[:4000].reshape(4000, -1) / 255, fashion.test.targets[:4000]
    assert accuracy(train, test, C=0.1) > 0.8


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
        assert float(inputs.min()) == -1
        assert float(inputs.max()) == 1


@data("mnist")
def test_mnist_and_its_writers():
    mnist = dataset("mnist")
    assert (len(mnist), len(mnist.test)) == (60_000, 10_000)
    sizes = np.bincount(mnist.groups)
    assert (sizes > 0).sum() == 539
    assert (sizes[sizes > 0].min(), np.median(sizes[sizes > 0]), sizes.max()) == (19, 116, 131)
    assert len(set(mnist.test.groups.tolist())) == 297
    assert not set(mnist.groups.tolist()) & set(mnist.test.groups.tolist())
    built = federate(mnist, "by_group(least=100)", 20, seed=1)
    assert built.train.client_sizes.min() >= 100


@pytest.mark.slow
@data("cifar10")
def test_cifar10():
    cifar = dataset("cifar10")
    assert np.bincount(cifar.targets).tolist() == [5000] * 10
    assert np.bincount(cifar.test.targets).tolist() == [1000] * 10
    channels = cifar.inputs[::10].mean((0, 2, 3)) / 255
    np.testing.assert_allclose(channels, cifar.prepare.mean, atol=4e-3)
    built = federate(cifar, "dirichlet_replaced(0.1)", 100, seed=0, augment="fedinit")
    assert set(built.train.client_sizes.tolist()) == {500}
    batch, _, weight = built.train.draw(0, 0, np.arange(10), np.full(10, 2), 50).at(10, 1)
    assert batch.shape == (10, 50, 3, 32, 32)
    assert weight is None


@pytest.mark.parametrize(
    ("name", "samples", "features", "nonzero", "positive"),
    [
        pytest.param("a9a", 32_561, 123, 451_592, 7_841, marks=data("a9a")),
        pytest.param("w8a", 49_749, 300, 579_586, 1_479, marks=data("w8a")),
        pytest.param("mushrooms", 8_124, 112, None, 4_208, marks=data("mushrooms")),
        pytest.param("phishing", 11_055, 68, None, 6_157, marks=data("phishing")),
        pytest.param("german", 1_000, 24, None, 700, marks=data("german")),
    ],
)
def test_libsvm_sets(name, samples, features, nonzero, positive):
    found = dataset(name)
    assert found.inputs.shape == (samples, features)
    if nonzero:
        assert np.count_nonzero(found.inputs) == nonzero
    assert {int((found.targets == 1).sum()), int((found.targets == -1).sum())} == {positive, samples - positive}


@data("a9a")
def test_a9a_is_learnt():
    a9a = dataset("a9a")
    assert (len(a9a.test), np.count_nonzero(a9a.test.inputs)) == (16_281, 225_731)
    assert (a9a.test.targets == 1).sum() == 3_846
    assert accuracy((a9a.inputs, a9a.targets), (a9a.test.inputs, a9a.test.targets)) == pytest.approx(0.8495, abs=2e-3)


@data("school", "landmine", "parkinson", "heart_disease")
def test_natural_federations():
    school, landmine, parkinson, heart = map(dataset, ("school", "landmine", "parkinson", "heart_disease"))
    assert (len(school.group_names), school.inputs.shape) == (139, (15_362, 28))
    assert (len(landmine.group_names), landmine.inputs.shape) == (29, (14_820, 9))
    assert (landmine.targets == 1).mean() == pytest.approx(0.061, abs=5e-4)
    assert (len(parkinson.group_names), parkinson.inputs.shape) == (42, (5_875, 19))
    assert np.bincount(heart.groups).tolist() == [303, 294, 123, 200]
    assert [int((heart.targets[heart.groups == g] == 1).sum()) for g in range(4)] == [139, 106, 115, 149]
    built = federate(heart, "by_group", seed=0, standardise=True, intercept=True, local_test="held_out")
    train, test = (
        [np.concatenate(both) for both in zip(*map(f.samples, range(4)), strict=True)]
        for f in (built.train, built.local_test)
    )
    assert accuracy(train, test) > 0.75


@data("shakespeare", "tiny_shakespeare")
def test_shakespeare():
    plays = dataset("shakespeare(stride=40)")
    assert plays.classes == 79
    assert 1_100 < len(plays.group_names) < 1_245
    text = dataset("tiny_shakespeare(stride=80)")
    assert text.classes == 65
    roles = federate(plays, "by_group(least=50)", 10, seed=2, local_test="held_out")
    inputs, targets = roles.train.samples(0)
    assert inputs.shape[1:] == (80,)
    assert int(inputs.max()) < 79
    assert targets.shape == inputs.shape[:1]


@data("sent140_users", "sent140_sample")
def test_tweets():
    users, sample = dataset("sent140_users"), dataset("sent140_sample")
    assert len(users.group_names) == 2_875
    assert 15_800 < len(users) <= 16_025  # without those that hold no frequent word
    assert 19_700 < len(sample) <= 20_000
    few = federate(dataset("sent140_sample(words=600)"), "iid", 4, seed=0).train
    train, test = few.samples(0), few.samples(1)
    np.testing.assert_allclose(train[0].sum(-1), 1, rtol=1e-5)
    assert accuracy(train, test, C=30) > 0.68


@data("airline")
def test_airline():
    airline = dataset("airline")
    assert len(airline.group_names) == 7_701
    moods = np.bincount(airline.targets)
    assert (np.abs(moods - [9_178, 3_099, 2_363]) <= 5).all()
    assert (np.bincount(airline.groups) >= 5).sum() in range(465, 475)


@pytest.mark.slow
@data("omniglot")
def test_omniglot():
    omniglot = dataset("omniglot")
    assert np.bincount(omniglot.targets).tolist() == [20] * omniglot.classes
    assert len(omniglot.group_names) == 20 * len({name.split("/")[0] for name in omniglot.group_names})
    assert omniglot.inputs.shape[1:] == (1, 28, 28)
    assert omniglot.inputs.mean() < 60  # ink is bright and rare


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "train", "test", "classes"),
    [
        pytest.param("cifar100", 50_000, 10_000, 100, marks=data("cifar100")),
        pytest.param("svhn", 73_257, 26_032, 10, marks=data("svhn")),
        pytest.param("multinli", 392_702, 9_815, 3, marks=data("multinli")),
    ],
)
def test_sets_with_published_sizes(name, train, test, classes):
    found = dataset(name)
    assert (len(found), len(found.test), found.classes) == (train, test, classes)


@pytest.mark.slow
@data("femnist")
def test_femnist():
    femnist = dataset("femnist")
    assert femnist.classes == 62
    assert set(femnist.test.groups.tolist()) <= set(femnist.groups.tolist())


@pytest.mark.slow
@data("flair")
def test_flair():
    flair = dataset("flair(users=20, test_users=10, size=64)")
    assert flair.classes == 17
    assert len(set(flair.groups.tolist())) == 20
