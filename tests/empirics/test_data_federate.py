"""From a data set and a partition to what a run takes: the same samples, model-ready, with the tests asked for."""

import numpy as np
import pytest
import torch
from refusals import all_refused
from torch import nn

from empirics.algorithms.algorithm import fedavg
from empirics.data.conversion import Codes, Pixels
from empirics.data.dataset import Dataset
from empirics.federation.augment import CropFlip
from empirics.federation.federation import federate, held_out, matched
from empirics.federation.partitions import ByGroup, Dirichlet, Sorted
from empirics.models.network import Network
from empirics.training.engines.graphs import Graphs
from empirics.training.engines.loop import ClientLoop
from empirics.training.rounds import rounds
from empirics.training.setting import Setting

PIXELS = Pixels((0.3,), (0.4,))


def images(samples=60, test=40, side=6, groups=4, seed=0):
    rng = np.random.default_rng(seed)

    def part(n, held_out=None):
        labels = rng.integers(0, 3, n)
        return Dataset(
            "pictures",
            rng.integers(0, 256, (n, 1, side, side), np.uint8),
            labels,
            3,
            groups=np.arange(n) % groups,
            group_names=tuple("abcd"),
            group_word="painter",
            test=held_out,
            prepare=PIXELS,
        )

    return part(samples, part(test))


def table(samples=50, kind="regression", classes=0):
    rng = np.random.default_rng(3)
    targets = rng.normal(size=samples) if kind == "regression" else np.where(rng.random(samples) < 0.5, -1.0, 1.0)
    inputs = rng.normal(3, 2, size=(samples, 4))
    return Dataset("table", inputs, targets, classes, kind, groups=rng.integers(0, 3, samples))


def small_network():
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(64, 3))


@pytest.mark.parametrize("augment", [None, CropFlip(2)], ids=["plain", "augmented"])
def test_engines_that_keep_batches_in_buffers_prepare_them_too(augment):
    train = federate(images(120), "log_normal_sizes(0.5, least=9)", 6, augment=augment).train
    setting = Setting(rounds=4, cohort=4, batch=8, local_steps=3)
    ends = []
    for engine in (ClientLoop(), Graphs(), Graphs(together=1)):
        *_, last = rounds(Network("small", small_network), train, fedavg, setting, seed=0, engine=engine)
        ends.append(last.model)
    assert engine.replays > 0
    for other in ends[1:]:
        torch.testing.assert_close(other, ends[0], rtol=1e-4, atol=1e-6)


def test_augmented_batches_of_clients_that_cannot_fill_one_are_all_they_hold():
    train = federate(images(20), "iid", 4, augment=CropFlip(2)).train
    inputs, targets, _ = train.draw(1, 0, np.arange(4), np.full(4, 2), 32).at(4, 1)
    assert (inputs.shape, targets.shape) == ((4, 5, 1, 6, 6), (4, 5))


def test_held_out_samples_are_not_trained_on():
    data = images()
    built = federate(data, Dirichlet(1.0, least=3), 5, seed=4, local_test="held_out", test_share=0.3)
    parts = Dirichlet(1.0, least=3)(data, 5, 4)
    for k, part in enumerate(parts):
        own = slice(*built.train.offsets[k : k + 2])
        test = slice(*built.local_test.offsets[k : k + 2])
        train, test = built.train.members[own].tolist(), built.local_test.members[test].tolist()
        assert sorted(train + test) == sorted(part.tolist())
        assert len(test) == max(1, round(0.3 * len(part)))
        np.testing.assert_allclose(
            built.local_test.samples(k)[0], PIXELS(torch.from_numpy(data.inputs[test])), rtol=1e-6
        )
    (train,), (test,) = held_out(data, [np.arange(3)], 0.2, seed=0)
    assert (len(train), len(test)) == (2, 1)
    again = federate(data, Dirichlet(1.0, least=3), 5, seed=4, local_test="held_out", test_share=0.3)
    np.testing.assert_array_equal(again.local_test.members, built.local_test.members)


def test_held_out_windows_of_a_text_do_not_reach_into_training():
    text = np.arange(100, dtype=np.uint8)
    length, stride = 7, 2
    windows = np.lib.stride_tricks.sliding_window_view(text, length + 1)[::stride]
    pool, following = windows[:, :-1].copy(), windows[:, -1].astype(np.int64)
    data = Dataset("text", pool, following, 100, "sequence", prepare=Codes(), overlap=length // stride)
    (train,), (test,) = held_out(data, [np.random.default_rng(0).permutation(len(pool))], 0.25, seed=0)
    assert len(test) == round(0.25 * len(pool))
    trained_on = {int(c) for i in train for c in (*pool[i], following[i])}
    tested_on = {int(c) for i in test for c in (*pool[i], following[i])}
    assert not trained_on & tested_on
    assert min(tested_on) - max(trained_on) <= stride  # and no window is dropped in vain
    built = federate(data, "iid", 1, local_test="held_out")
    assert built.train.samples(0)[0].dtype == torch.int64


def test_matched_tests_have_the_clients_label_shares():
    labels = np.repeat([0, 1, 2, 3], [40, 40, 20, 40])
    chosen = matched(labels, np.array([30, 10, 0, 0]), seed=1, client=0)
    assert np.bincount(labels[chosen], minlength=4).tolist() == [40, 13, 0, 0]
    assert len(set(chosen.tolist())) == len(chosen)
    data = images()
    built = federate(data, Sorted(), 3, seed=1, local_test="matched")
    for k in range(3):
        trained = np.bincount(built.train.samples(k)[1], minlength=3) / len(built.train.samples(k)[1])
        tested = np.bincount(built.local_test.samples(k)[1], minlength=3)
        np.testing.assert_allclose(tested / tested.sum(), trained, atol=3 / tested.sum())


def test_a_group_is_tested_on_its_own_samples():
    data = images()
    split = ByGroup()
    built = federate(data, split, 3, seed=5, local_test="groups")
    for k, group in enumerate(split.client_groups(data, 3, 5)):
        own = data.test.inputs[data.test.groups == group]
        np.testing.assert_allclose(built.local_test.samples(k)[0], PIXELS(torch.from_numpy(own)), rtol=1e-6)
    assert federate(data, split).train.clients == 4


def test_small_sets_can_be_named_and_mistakes_are_one_clear_line():
    built = federate("iris", "classes_per_client(1)", 3, seed=1, local_test="held_out")
    assert [set(built.train.samples(k)[1].tolist()) for k in range(3)] == [{0}, {1}, {2}]
    rows, pictures, held = table(), images(), {"local_test": "held_out"}
    all_refused(
        [
            (lambda: federate(rows, "iid"), "iid() by_group()"),
            (lambda: federate(rows, "dirichlet(0.1)", 4), "table regression"),
            (lambda: federate(rows, "iid", 4, local_test="own"), "none held_out matched groups 'own'"),
            (lambda: federate(rows, "iid", 4, local_test="matched"), "table matched local_test='held_out'"),
            (lambda: federate(rows, "iid", 4, test_share=0.0, **held), "test_share 0 1"),
            (lambda: federate(rows, "iid", 50, **held), "0 1 0.2"),
            (lambda: federate(rows, "iid", 4, augment=CropFlip()), "table (4,)"),
            (lambda: federate(pictures, "iid", 4, augment="flips"), "'flips'"),
            (lambda: federate(pictures, "iid", 4, local_test="groups"), "by_group() iid()"),
            (lambda: federate(pictures, "iid", 4, standardise=True), "pictures uint8"),
            (lambda: federate(images(test=2), "by_group", 4, local_test="groups"), "2 pictures"),
            (lambda: federate(images(test=1), "iid", 4, local_test="matched"), "pictures class"),
        ]
    )
