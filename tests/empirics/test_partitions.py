"""Splits deal samples as they say: sizes, classes, groups, distributions, the same again for the same seed."""

from dataclasses import replace

import numpy as np
import pytest
from loops import cases
from refusals import all_refused, refusal

from empirics.data.catalogue import digits
from empirics.data.dataset import Dataset
from empirics.federation.partitions import coarse, Dirichlet, Pachinko, partition, PARTITIONS
from empirics.problems.tasks import task

SAMPLES, CLASSES = 1237, 10


def pool(samples=SAMPLES, classes=CLASSES, groups=23):
    """Samples with classes and groups."""
    rng = np.random.default_rng(12)
    labels = np.concatenate([np.arange(classes), rng.integers(0, classes, samples - classes)])
    return Dataset("pool", rng.normal(size=(samples, 2)), labels, classes, groups=rng.integers(0, groups, samples))


POOL = pool()
NESTED = replace(POOL, groups=POOL.labels // 3, group_word="coarse class")
"""Coarse classes 0-2, 3-5, 6-8 and 9."""
NOBODY = replace(POOL, name="nobody", groups=None)
SPLITS = (
    *("by_group", "classes_per_client(2)", "classes_per_client(3, 'random')", "dirichlet(0.3)", "iid", "shards(2)"),
    *("dirichlet_replaced(0.3)", "log_normal_sizes(1.3)", "pachinko(0.3, 2)", "power_law_sizes(1.1)", "sorted"),
    "sorted('group')",
)


def deal(text, clients, seed, data=POOL):
    return partition(text)(data, clients, seed)


def counts_of(text, clients, seed, data=POOL):
    """Samples of every class of every client."""
    return np.stack([np.bincount(data.labels[p], minlength=data.classes) for p in deal(text, clients, seed, data)])


def unlabelled(samples):
    return Dataset("own", np.zeros((samples, 1), np.float32), np.arange(samples) % 10, 10)


@cases("text", SPLITS)
def test_a_split_deals_to_every_client_and_no_sample_twice_and_repeats_itself(text):
    split, data = partition(text), NESTED if text.startswith("pachinko") else POOL
    assert partition(str(split)) == split
    for clients in (1, 7, 20):
        parts = split(data, clients, seed=5)
        assert len(parts) == clients
        assert min(map(len, parts)) >= 1
        dealt = np.concatenate(parts)
        assert dealt.min() >= 0
        assert dealt.max() < SAMPLES
        assert not split.disjoint or len(set(dealt.tolist())) == len(dealt)
        if text in ("iid", "sorted"):
            assert len(dealt) == SAMPLES
            assert max(map(len, parts)) - min(map(len, parts)) <= 1
    first, again, other = ([part.tolist() for part in split(data, 6, seed=s)] for s in (3, 3, 4))
    assert first == again != other
    few = POOL.part(np.arange(12))
    if text != "by_group":
        wrong = {13: "clients 12 13", 0: "clients 1 0", -3: "clients 1 -3"}
        all_refused(wrong, lambda clients: refusal(split, few, clients, seed=0))


LIMITS = {
    "dirichlet({})": ([1e-9, 1e100], [0, -0.1, 1.01e100]),
    "dirichlet_replaced({})": ([1e-9, 1e100], [0, -0.1, 1.01e100]),
    "pachinko({})": ([1e-9, 1e100], [0, -0.1, 1.01e100]),
    "pachinko(0.1, beta={})": ([1e-9, 1e100], [0, -2, 1.01e100]),
    "log_normal_sizes({})": ([0, 49.9], [-1e-9, 50]),
    "power_law_sizes({})": ([0, 49.9], [-1e-9, 50]),
    "dirichlet(0.1, least={})": ([1], [0]),
    "log_normal_sizes(1, least={})": ([1], [0]),
    "power_law_sizes(1, least={})": ([1], [0]),
    "by_group({})": ([1], [0]),
    "classes_per_client({})": ([1], [0]),
    "shards({})": ([1], [0]),
}


def test_shards_hold_few_classes():
    """A shard of 31 samples of classes of 120 touches at most two classes."""
    counts = counts_of("shards(2)", 20, 3)
    assert (counts > 0).sum(1).max() <= 4
    assert set(counts.sum(1).tolist()) <= {60, 61, 62}


def test_arguments_are_taken_up_to_their_limits_and_refused_from_there():
    assert {text.partition("(")[0] for text in SPLITS} == set(PARTITIONS)
    for text, (taken, _) in LIMITS.items():
        for number in taken:
            partition(text.format(number))
    refused = {text.format(number): f"{number:g}" for text, (_, numbers) in LIMITS.items() for number in numbers}
    refused |= {
        "dirichlet(1e999)": "'1e999'",
        "classes_per_client(2, layout='rows')": "layout blocks random 'rows'",
        "sorted('size')": "label group 'size'",
        "dirichlet()": "alpha",
        "dirichlet(0.1": "name(option=0.1)",
        "dirichlett(0.1)": "'dirichlet'",
    }
    all_refused(refused, lambda text: refusal(partition, text))


def test_what_a_split_cannot_deal_of_its_data_is_refused():
    small = Dataset("small", np.zeros((7, 1)), np.array([0, 1, 1, 1, 1, 1, 1]), 2)
    gap = POOL.part(np.flatnonzero(POOL.labels != 4))
    wrong = {
        ("log_normal_sizes(40, least=3)", 500, POOL): "500 3 1237 pool",
        ("sorted('group')", 5, NOBODY): "nobody groups",
        ("classes_per_client(11)", 4, POOL): "10 pool 11",
        ("classes_per_client(3)", 4, POOL): "10 3",
        ("classes_per_client(2)", 3, small): "0 small 1 3",
        ("classes_per_client(10)", 5, gap): "4 pool 0 5",
        ("shards(130)", 10, POOL): "1237 pool 1300",
        ("dirichlet(0.1)", 124, POOL): "1237 pool 1240",
        ("dirichlet(1e-6)", 20, POOL): "pool 20 Dirichlet(1e-06)",
        ("by_group", 2, NOBODY): "nobody",
        ("by_group", 24, POOL): "clients 23 pool 24",
        ("pachinko", 5, POOL): "pool class 0",
        ("pachinko", 5, NOBODY): "nobody dirichlet",
    }
    all_refused(wrong, lambda case: refusal(deal, *case[:2], 0, case[2]))
    all_refused([(lambda: partition("shards(3)").shares(POOL.labels, 4, seed=1), "shards(per_client=3)")])


def test_sorted_cuts_the_labels_or_groups_in_order():
    for text, keys in (("sorted", POOL.labels), ("sorted('group')", POOL.groups)):
        parts = deal(text, 5, 2)
        np.testing.assert_array_equal(np.concatenate([keys[p] for p in parts]), np.sort(keys))
        assert {len(p) for p in parts} == {247, 248}


def test_blocks_are_fedcogs_niid_2():
    # Ten balanced classes and ten clients: two clients share a block of two classes, half of each class to either.
    labels = np.repeat(np.arange(10), 60)
    data = Dataset("balanced", labels[:, None].astype(float), labels, 10)
    expected = np.zeros((10, 10), int)
    for i in range(10):
        expected[i, [2 * (i % 5), 2 * (i % 5) + 1]] = 30
    np.testing.assert_array_equal(counts_of("classes_per_client(2)", 10, 7, data), expected)


def test_random_classes_are_held_equally_often():
    for clients, per_client in ((20, 3), (7, 4), (3, 2)):
        counts = counts_of(f"classes_per_client({per_client}, 'random')", clients, 1)
        assert ((counts > 0).sum(1) == per_client).all()
        held = (counts > 0).sum(0)
        assert held.max() - held.min() <= 1
        total = np.bincount(POOL.labels)
        for c in np.flatnonzero(held):
            assert counts[:, c].sum() == total[c]
            assert np.ptp(counts[counts[:, c] > 0, c]) <= 1


def test_dirichlet_draws_again_until_everyone_has_the_least_or_it_is_hopeless():
    """Of 2,000 clients with five samples each some always have none; of 30 with thirty each some draws do not."""
    sizes = [len(p) for seed in range(6) for p in Dirichlet(0.2, least=45)(POOL, 10, seed)]
    assert min(sizes) >= 45
    assert min(len(p) for seed in range(6) for p in Dirichlet(0.2, least=1)(POOL, 10, seed)) < 45
    all_refused([(lambda: Dirichlet(0.2, least=1)(unlabelled(10_000), 2000, 3), "2000 Dirichlet(0.2)")])
    parts = Dirichlet(0.2, least=12)(unlabelled(900), 30, 3)
    assert sorted(np.concatenate(parts).tolist()) == list(range(900))
    assert min(map(len, parts)) >= 12


def test_replaced_dirichlet_has_equal_sizes_and_starts_a_class_again():
    parts = deal("dirichlet_replaced(0.1)", 9, 4)
    assert {len(p) for p in parts} == {SAMPLES // 9}
    dealt = np.bincount(np.concatenate(parts), minlength=SAMPLES)
    for c in range(CLASSES):
        assert np.ptp(dealt[POOL.labels == c]) <= 1  # no sample a third time before all have been dealt twice
    assert dealt.max() >= 2
    assert dealt.min() == 0


def test_replaced_dirichlet_follows_the_priors_of_its_law():
    # Shares of a class under a symmetric Dirichlet law: mean 1/C, variance (1/C)(1 - 1/C)/(C alpha + 1).
    alpha, seeds = 0.6, range(60)
    shares = np.concatenate([counts_of(f"dirichlet_replaced({alpha})", 12, s) for s in seeds]) / (SAMPLES // 12)
    variance = 0.1 * 0.9 / (10 * alpha + 1) + 0.1 * 0.9 / (SAMPLES // 12)
    assert shares.mean() == pytest.approx(0.1)
    assert shares.var() == pytest.approx(variance, rel=0.15)
    one_class = counts_of("dirichlet_replaced(1e-9)", 6, 1)
    assert ((one_class > 0).sum(1) == 1).all()
    even = counts_of("dirichlet_replaced(1e9)", 2, 1)
    assert (np.abs(even - SAMPLES / 20) < 5 * np.sqrt(SAMPLES / 20)).all()


def test_a_client_is_a_group_and_few_clients_are_drawn_groups_with_enough_samples():
    counts = np.bincount(POOL.groups)
    least = int(np.sort(counts)[10])
    split, many = partition(f"by_group({least})"), int((counts >= least).sum())
    assert len(split.large_groups(POOL)) == many
    parts, chosen = split(POOL, 5, seed=9), split.client_groups(POOL, 5, seed=9)
    assert len(set(chosen.tolist())) == 5
    for g, part in zip(chosen, parts, strict=True):
        np.testing.assert_array_equal(part, np.flatnonzero(POOL.groups == g))
        assert len(part) >= least
    assert len({tuple(split.client_groups(POOL, 5, seed=s)) for s in range(5)}) > 1
    all_refused([(lambda: split(POOL, many + 1, seed=0), f"clients {many} pool {least}")])


def cifar(per_class=80, classes=24, wide=4):
    """``classes`` classes in groups of ``wide``, as CIFAR-100 has 100 in groups of 5."""
    labels = np.random.default_rng(3).permutation(np.repeat(np.arange(classes), per_class))
    inputs = np.zeros((len(labels), 1))
    return Dataset("small", inputs, labels, classes, groups=labels // wide, group_word="coarse class")


def test_pachinko_deals_equally_many_samples_none_twice_and_all_where_clients_divide_them():
    data = cifar()
    parts = Pachinko()(data, 50, seed=2)
    assert {len(part) for part in parts} == {24 * 80 // 50}
    dealt = np.concatenate(parts)
    assert len(set(dealt.tolist())) == len(dealt) == 1900
    assert sorted(np.concatenate(Pachinko()(data, 48, seed=2)).tolist()) == list(range(24 * 80))
    assert coarse(NESTED) == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]


@pytest.mark.parametrize(
    ("classes", "split", "concentration"),
    [(24, Pachinko(a), a) for a in (0.1, 1.0, 20.0)] + [(4, Pachinko(0.1, b), b) for b in (0.5, 10.0)],
)
def test_coarse_classes_and_classes_within_one_are_as_concentrated_as_alpha_and_beta_say(classes, split, concentration):
    """The mean square of a Dirichlet share is (alpha + 1)/(n (n alpha + 1)); samples add (1 - that)/size.

    Of 24 classes the six coarse ones are looked at; four classes are one coarse class, and all concentration is beta's.
    """
    data, clients = cifar(classes=classes), 200  # a client takes 80: nothing runs out

    def pools():
        return [np.flatnonzero(data.labels == c).tolist() for c in range(classes)]

    own = [np.array(each) for each in coarse(data)]
    keys, count = (data.groups, 6) if classes == 24 else (data.labels, 4)
    few = [split._client(pools(), list(own), 80, np.random.default_rng(k)) for k in range(clients)]
    found = (np.stack([np.bincount(keys[part], minlength=count) / 80 for part in few]) ** 2).sum(1)
    square = (concentration + 1) / (count * concentration + 1)
    assert found.mean() == pytest.approx(square + (1 - square) / 80, abs=4 * found.std() / clients**0.5 + 1e-3)


digit_labels = digits().labels


def test_draws_follow_the_shares_and_are_keyed_by_seed_purpose_and_client():
    problem = task("ridge(digits)").pool("dirichlet_replaced(0.3)", clients=3, samples=20_000)
    drawn = problem.draw(11)
    for k in range(3):
        counts = np.bincount(digit_labels[drawn[k]], minlength=10) / 20_000
        prior = np.bincount(digit_labels, weights=problem.shares[k], minlength=10)
        assert (np.abs(counts - prior) <= 5 * np.sqrt(prior * (1 - prior) / 20_000) + 1e-12).all()
    few, many = (task("ridge(digits)").pool("iid", clients=k, samples=8) for k in (2, 5))
    np.testing.assert_array_equal(few.draw(3), many.draw(3)[:2])
    different = [many.draw(3)[0], many.draw(3)[1], many.draw(4)[0], many.draw(3, "pilot")[0]]
    assert len({tuple(row) for row in different}) == 4
