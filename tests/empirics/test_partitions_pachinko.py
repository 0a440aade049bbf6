"""Pachinko allocation: sizes, both concentrations against the Dirichlet law, what happens when classes run out."""

import numpy as np
import pytest
from partition_toys import NESTED, POOL

from empirics.data.dataset import Dataset
from empirics.errors import EmpiricsError
from empirics.federation.pachinko import coarse
from empirics.federation.partitions import Pachinko


def cifar(per_class=80, classes=24, wide=4):
    """``classes`` classes in groups of ``wide``, as CIFAR-100 has 100 in groups of 5."""
    labels = np.random.default_rng(3).permutation(np.repeat(np.arange(classes), per_class))
    return Dataset(
        "small", np.zeros((len(labels), 1)), labels, classes, groups=labels // wide, group_word="coarse class"
    )


def shares(keys, parts, count):
    return np.stack([np.bincount(keys[part], minlength=count) for part in parts]) / len(parts[0])


def test_clients_hold_equally_many_samples_and_none_twice():
    data = cifar()
    parts = Pachinko()(data, 50, seed=2)
    assert {len(part) for part in parts} == {24 * 80 // 50}
    dealt = np.concatenate(parts)
    assert len(set(dealt.tolist())) == len(dealt) == 1900


def test_all_samples_are_dealt_where_clients_divide_them():
    parts = Pachinko()(cifar(), 48, seed=2)
    assert sorted(np.concatenate(parts).tolist()) == list(range(24 * 80))


@pytest.mark.parametrize("alpha", [0.1, 1.0, 20.0])
def test_coarse_classes_are_as_concentrated_as_alpha_says(alpha):
    """The mean square of a Dirichlet share is (alpha + 1)/(n (n alpha + 1)); samples add (1 - that)/size."""
    data, clients = cifar(), 200  # a client takes 80: nothing runs out
    few = [Pachinko(alpha)._client(*fresh(data), 80, np.random.default_rng(k)) for k in range(clients)]
    found = (shares(data.groups, few, 6) ** 2).sum(1)
    square = (alpha + 1) / (6 * alpha + 1)
    wanted = square + (1 - square) / 80
    assert found.mean() == pytest.approx(wanted, abs=4 * found.std() / clients**0.5 + 1e-3)


def fresh(data):
    pools = [np.flatnonzero(data.labels == c).tolist() for c in range(data.classes)]
    return pools, [np.array(own) for own in coarse(data)]


@pytest.mark.parametrize("beta", [0.5, 10.0])
def test_classes_within_a_coarse_one_are_as_concentrated_as_beta_says(beta):
    data = cifar(classes=4)  # one coarse class: all concentration is beta's
    few = [Pachinko(0.1, beta)._client(*fresh(data), 80, np.random.default_rng(k)) for k in range(200)]
    found = (shares(data.labels, few, 4) ** 2).sum(1)
    square = (beta + 1) / (4 * beta + 1)
    assert found.mean() == pytest.approx(square + (1 - square) / 80, abs=4 * found.std() / 200**0.5 + 1e-3)


def test_a_used_up_class_is_left_out_and_the_others_take_its_share():
    """Two coarse classes of two classes each, 1, 3, 5 and 7 samples; the only client takes them all."""
    labels = np.repeat(np.arange(4), [1, 3, 5, 7])
    data = Dataset("few", np.zeros((16, 1)), labels, 4, groups=labels // 2)
    (part,) = Pachinko(0.01, 0.01)(data, 1, seed=0)
    assert sorted(part.tolist()) == list(range(16))


def test_what_has_no_coarse_classes_is_refused():
    with pytest.raises(EmpiricsError, match=r"^the groups of pool are no coarse classes: class 0 lies in several$"):
        Pachinko()(POOL, 5, seed=0)
    alone = Dataset("alone", POOL.inputs, POOL.labels, 10)
    with pytest.raises(EmpiricsError, match=r"^alone has no coarse classes: choose another partition, such as dirich"):
        Pachinko()(alone, 5, seed=0)
    assert coarse(NESTED) == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]
