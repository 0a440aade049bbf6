"""Splits deal samples as they say: sizes, classes, groups, distributions, the same again for the same seed."""

import numpy as np
import pytest
from partition_toys import CLASSES, NESTED, POOL, SAMPLES

from bounds.errors import BoundsError
from empirics.data.catalogue import digits
from empirics.data.dataset import Dataset
from empirics.errors import EmpiricsError
from empirics.federation.partitions import (
    ByGroup,
    ClassesPerClient,
    Dirichlet,
    DirichletReplaced,
    Iid,
    LogNormalSizes,
    Pachinko,
    partition,
    PARTITIONS,
    PowerLawSizes,
    Shards,
    Sorted,
    Split,
)
from empirics.federation.split import apportioned
from empirics.problems.tasks import task
from empirics.streams import stream

SPLITS = (
    ByGroup(),
    ClassesPerClient(2),
    ClassesPerClient(3, "random"),
    Dirichlet(0.3),
    DirichletReplaced(0.3),
    Iid(),
    LogNormalSizes(1.3),
    Pachinko(0.3, 2.0),
    PowerLawSizes(1.1),
    Shards(2),
    Sorted(),
    Sorted("group"),
)


def by_name(split):
    return str(split)


def pool_of(split):
    """What it can deal: some want groups that hold whole classes."""
    return NESTED if isinstance(split, Pachinko) else POOL


def counts_of(parts, data=POOL):
    """Samples of every class of every client."""
    return np.stack([np.bincount(data.labels[p], minlength=data.classes) for p in parts])


# ---- every split ----


def test_every_split_is_tried_here():
    assert {type(s) for s in SPLITS} == set(PARTITIONS.values())


@pytest.mark.parametrize("split", SPLITS, ids=by_name)
@pytest.mark.parametrize("clients", [1, 7, 20])
def test_every_client_gets_samples_and_none_is_dealt_twice(split, clients):
    parts = split(pool_of(split), clients, seed=5)
    assert len(parts) == clients
    assert min(map(len, parts)) >= 1
    dealt = np.concatenate(parts)
    assert dealt.min() >= 0
    assert dealt.max() < SAMPLES
    if split.disjoint:
        assert len(set(dealt.tolist())) == len(dealt)


@pytest.mark.parametrize("split", SPLITS, ids=by_name)
def test_the_same_seed_deals_the_same_and_another_does_not(split):
    first, again, other = (split(pool_of(split), 6, seed=s) for s in (3, 3, 4))
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert any(len(a) != len(b) or (a != b).any() for a, b in zip(first, other, strict=True))


@pytest.mark.parametrize("split", SPLITS, ids=by_name)
def test_text_makes_the_split(split):
    assert partition(str(split)) == split
    assert isinstance(split, Split)


@pytest.mark.parametrize("split", [s for s in SPLITS if not isinstance(s, ByGroup)], ids=by_name)
def test_more_clients_than_samples_and_none_are_refused(split):
    few = POOL.part(np.arange(12))
    with pytest.raises(EmpiricsError, match=r"^clients must be at most the number of samples, 12 in pool; got 13$"):
        split(few, 13, seed=0)
    for none in (0, -3):
        with pytest.raises(EmpiricsError, match=f"clients must be a whole number >= 1; got {none}"):
            split(few, none, seed=0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("dirichlet(0)", "alpha of a Dirichlet split must be positive; got 0"),
        ("dirichlet(-0.1)", "must be positive; got -0.1"),
        ("dirichlet(1e999)", "of a size that a floating-point number can have"),
        ("dirichlet(1e308)", "alpha of a Dirichlet split must be at most 1e.100; got 1e.308"),
        ("pachinko(0.1, beta=1e308)", "beta of a Pachinko split must be at most 1e.100; got 1e.308"),
        ("dirichlet(0.1, least=0)", "least must be at least 1; got 0"),
        ("dirichlet_replaced(-1)", "must be positive; got -1"),
        ("classes_per_client(0)", "classes must be at least 1; got 0"),
        ("classes_per_client(2, layout='rows')", "layout must be 'blocks' or 'random'; got 'rows'"),
        ("shards(0)", "shards per client must be at least 1; got 0"),
        ("sorted('size')", "by must be 'label' or 'group'; got 'size'"),
        ("log_normal_sizes(-1)", "sigma must be at least 0 and below 50; got -1"),
        ("power_law_sizes(-1)", "exponent must be at least 0 and below 50; got -1"),
        ("log_normal_sizes(1, least=0)", "least must be at least 1; got 0"),
        ("power_law_sizes(1, least=0)", "least must be at least 1; got 0"),
        ("pachinko(0)", "alpha of a Pachinko split must be positive; got 0"),
        ("pachinko(0.1, beta=-2)", "beta of a Pachinko split must be positive; got -2"),
        ("by_group(0)", "least must be at least 1; got 0"),
        ("dirichlet()", "alpha"),
        ("dirichlet(0.1", "must be a name or a call"),
        ("dirichlett(0.1)", "did you mean 'dirichlet'"),
    ],
)
def test_wrong_arguments_are_one_clear_line(text, words):
    with pytest.raises((EmpiricsError, BoundsError), match=words) as caught:
        partition(text)
    assert "\n" not in str(caught.value)


# ---- sizes ----


def test_iid_covers_everything_in_even_sizes_and_mixes_classes():
    parts = Iid()(POOL, 8, seed=2)
    assert sorted(np.concatenate(parts).tolist()) == list(range(SAMPLES))
    assert {len(p) for p in parts} == {SAMPLES // 8, SAMPLES // 8 + 1}
    usual = np.array_split(stream(2, "iid split").permutation(SAMPLES), 8)
    assert [p.tolist() for p in parts] == [p.tolist() for p in usual]
    expected = np.bincount(POOL.labels) / 8
    assert (np.abs(counts_of(parts) - expected) < 5 * np.sqrt(expected)).all()


def test_apportioned_sizes_are_near_their_weights():
    for least in (0, 3):
        weights = np.array([0.2, 5.0, 1.7, 0.01])
        sizes = apportioned(101, weights, least)
        assert sizes.sum() == 101
        assert (np.abs(sizes - least - (101 - 4 * least) * weights / weights.sum()) < 1).all()
        assert sizes.min() >= least
    assert apportioned(11, np.array([3.4, 2.1, 5.5])).tolist() == [3, 2, 6]  # the largest remainder gets the last one
    assert apportioned(11, np.array([3.6, 2.1, 5.3])).tolist() == [4, 2, 5]


def test_power_law_sizes_follow_their_ranks():
    sizes = sorted((len(p) for p in PowerLawSizes(1.3)(POOL, 9, seed=1)), reverse=True)
    ranks = np.arange(1, 10) ** -1.3
    np.testing.assert_allclose(sizes, 1 + (SAMPLES - 9) * ranks / ranks.sum(), atol=1)
    order = [np.argsort([len(p) for p in PowerLawSizes(1.3)(POOL, 9, seed=s)]).tolist() for s in range(4)]
    assert len({tuple(o) for o in order}) > 1


def test_log_normal_sizes_spread_as_sigma_says():
    spreads = []
    for sigma in (0.4, 1.6):
        sizes = np.concatenate([[len(p) for p in LogNormalSizes(sigma)(POOL, 12, seed=s)] for s in range(40)])
        spreads.append(np.log(sizes - 0.5).std())
    assert spreads == pytest.approx([0.4, 1.6], rel=0.2)


def test_without_skew_sizes_are_even():
    for split in (LogNormalSizes(0.0), PowerLawSizes(0.0)):
        assert {len(p) for p in split(POOL, 8, seed=2)} == {SAMPLES // 8, SAMPLES // 8 + 1}


def test_extreme_skew_still_leaves_everyone_something():
    for split in (LogNormalSizes(40.0, least=3), PowerLawSizes(45.0, least=3)):
        sizes = sorted(len(p) for p in split(POOL, 30, seed=0))
        assert sizes[0] == 3
        assert sum(sizes) == SAMPLES
        assert sizes[-1] > SAMPLES / 2
        with pytest.raises(EmpiricsError, match="500 clients with at least 3 samples need more than the 1237 of pool"):
            split(POOL, 500, seed=0)


# ---- classes ----


def test_sorted_cuts_the_labels_in_order():
    parts = Sorted()(POOL, 5, seed=2)
    dealt = np.concatenate([POOL.labels[p] for p in parts])
    np.testing.assert_array_equal(dealt, np.sort(POOL.labels))
    assert {len(p) for p in parts} == {247, 248}
    by_group = np.concatenate([POOL.groups[p] for p in Sorted("group")(POOL, 5, seed=2)])
    np.testing.assert_array_equal(by_group, np.sort(POOL.groups))
    with pytest.raises(EmpiricsError, match="nobody has no groups to sort by"):
        Sorted("group")(Dataset("nobody", POOL.inputs, POOL.targets, 10), 5, seed=2)


def test_blocks_are_fedcogs_niid_2():
    # Ten balanced classes and ten clients: two clients share a block of two classes, half of each class to either.
    labels = np.repeat(np.arange(10), 60)
    data = Dataset("balanced", labels[:, None].astype(float), labels, 10)
    counts = counts_of(ClassesPerClient(2)(data, 10, seed=7), data)
    expected = np.zeros((10, 10), int)
    for i in range(10):
        expected[i, [2 * (i % 5), 2 * (i % 5) + 1]] = 30
    np.testing.assert_array_equal(counts, expected)


def test_random_classes_are_held_equally_often():
    for clients, per_client in ((20, 3), (7, 4), (3, 2)):
        counts = counts_of(ClassesPerClient(per_client, "random")(POOL, clients, seed=1))
        assert ((counts > 0).sum(1) == per_client).all()
        held = (counts > 0).sum(0)
        assert held.max() - held.min() <= 1
        total = np.bincount(POOL.labels)
        for c in np.flatnonzero(held):
            assert counts[:, c].sum() == total[c]
            assert np.ptp(counts[counts[:, c] > 0, c]) <= 1


def test_too_many_classes_per_client_are_refused():
    with pytest.raises(EmpiricsError, match="classes per client must be at most 10 in pool; got 11"):
        ClassesPerClient(11)(POOL, 4, seed=0)
    with pytest.raises(EmpiricsError, match="blocks need classes per client to divide 10; got 3"):
        ClassesPerClient(3)(POOL, 4, seed=0)
    small = Dataset("small", np.zeros((7, 1)), np.array([0, 1, 1, 1, 1, 1, 1]), 2)
    with pytest.raises(EmpiricsError, match="class 0 of small has 1 samples for 3 clients"):
        ClassesPerClient(2)(small, 3, seed=0)


def test_shards_hold_few_classes():
    parts = Shards(2)(POOL, 20, seed=3)
    assert sorted(np.concatenate(parts).tolist()) == list(range(SAMPLES))
    # A shard of 31 samples of classes of 120 touches at most two classes.
    assert (counts_of(parts) > 0).sum(1).max() <= 4
    assert {len(p) for p in parts} <= {60, 61, 62}
    assert (counts_of(Shards(60)(POOL, 20, seed=3)) > 0).sum(1).min() == 10
    with pytest.raises(EmpiricsError, match="clients times shards per client must be at most 1237 in pool; got 1300"):
        Shards(130)(POOL, 10, seed=0)


# ---- Dirichlet ----


def test_dirichlet_draws_again_until_everyone_has_the_least():
    sizes = [len(p) for seed in range(6) for p in Dirichlet(0.2, least=45)(POOL, 10, seed)]
    assert min(sizes) >= 45
    assert min(len(p) for seed in range(6) for p in Dirichlet(0.2, least=1)(POOL, 10, seed)) < 45


def test_dirichlet_becomes_even_as_alpha_grows():
    spread = [counts_of(Dirichlet(a)(POOL, 10, seed=4)).std(0).mean() for a in (0.05, 1.0, 1e6)]
    assert spread[0] > 1.5 * spread[1] > 10 * spread[2]
    assert np.ptp(counts_of(Dirichlet(1e7)(POOL, 5, seed=4)), axis=0).max() <= 2


def test_a_client_that_holds_its_share_gets_no_further_class():
    # Once a client holds samples/clients, all later classes pass it by: at most one class carries it beyond.
    for seed in range(8):
        parts = Dirichlet(0.1)(POOL, 10, seed)
        for counts in counts_of(parts):
            before_last = counts.cumsum()[np.flatnonzero(counts)[-1] - 1] if np.flatnonzero(counts)[-1] else 0
            assert before_last < SAMPLES / 10


def test_impossible_dirichlet_splits_are_refused():
    with pytest.raises(EmpiricsError, match="clients times least must be at most 1237 in pool; got 124"):
        Dirichlet(0.1)(POOL, 124, seed=0)
    with pytest.raises(EmpiricsError, match=r"no split of pool over 20 clients .* Dirichlet\(1e-06\): raise alpha"):
        Dirichlet(1e-6)(POOL, 20, seed=0)


def test_replaced_dirichlet_has_equal_sizes_and_starts_a_class_again():
    parts = DirichletReplaced(0.1)(POOL, 9, seed=4)
    assert {len(p) for p in parts} == {SAMPLES // 9}
    dealt = np.bincount(np.concatenate(parts), minlength=SAMPLES)
    for c in range(CLASSES):
        uses = dealt[POOL.labels == c]
        assert np.ptp(uses) <= 1  # nobody is dealt a sample a third time before all have been dealt twice
    assert dealt.max() >= 2
    assert dealt.min() == 0


def test_replaced_dirichlet_follows_the_priors_of_its_law():
    # Shares of a class under a symmetric Dirichlet law: mean 1/C, variance (1/C)(1 - 1/C)/(C alpha + 1).
    alpha, seeds = 0.6, range(60)
    shares = np.concatenate([counts_of(DirichletReplaced(alpha)(POOL, 12, s)) for s in seeds]) / (SAMPLES // 12)
    variance = 0.1 * 0.9 / (10 * alpha + 1) + 0.1 * 0.9 / (SAMPLES // 12)
    assert shares.mean() == pytest.approx(0.1)
    assert shares.var() == pytest.approx(variance, rel=0.15)


def test_replaced_dirichlet_at_its_extremes():
    one_class = counts_of(DirichletReplaced(1e-9)(POOL, 6, seed=1))
    assert ((one_class > 0).sum(1) == 1).all()
    even = counts_of(DirichletReplaced(1e9)(POOL, 2, seed=1))
    assert (np.abs(even - SAMPLES / 20) < 5 * np.sqrt(SAMPLES / 20)).all()


def test_absent_classes_are_dealt_to_nobody():
    gap = POOL.part(np.flatnonzero(POOL.labels != 4))
    for split in (DirichletReplaced(0.5), Dirichlet(0.5), Shards(2), Sorted()):
        counts = counts_of(split(gap, 5, seed=2), gap)
        assert counts[:, 4].sum() == 0
        assert counts.sum() >= len(gap) - 4
    with pytest.raises(EmpiricsError, match="class 4 of pool has 0 samples for 5 clients"):
        ClassesPerClient(10)(gap, 5, seed=2)


# ---- a client is a group ----


def test_a_client_is_a_group():
    split = ByGroup()
    parts = split(POOL, 23, seed=9)
    for g, part in enumerate(parts):
        np.testing.assert_array_equal(part, np.flatnonzero(POOL.groups == g))


def test_few_clients_are_drawn_groups_with_enough_samples():
    counts = np.bincount(POOL.groups)
    least = int(np.sort(counts)[10])
    split = ByGroup(least)
    assert len(split.everyone(POOL)) == (counts >= least).sum()
    parts, chosen = split(POOL, 5, seed=9), split.chosen(POOL, 5, seed=9)
    assert len(set(chosen.tolist())) == 5
    for g, part in zip(chosen, parts, strict=True):
        np.testing.assert_array_equal(part, np.flatnonzero(POOL.groups == g))
        assert len(part) >= least
    drawn = {tuple(split.chosen(POOL, 5, seed=s)) for s in range(5)}
    assert len(drawn) > 1
    many = (counts >= least).sum() + 1
    with pytest.raises(EmpiricsError, match=f"clients must be at most the {many - 1} groups of pool with {least}"):
        split(POOL, int(many), seed=0)


def test_data_without_groups_have_no_natural_clients():
    with pytest.raises(EmpiricsError, match="nobody does not say whose its samples are"):
        ByGroup()(Dataset("nobody", POOL.inputs, POOL.targets, 10), 2, seed=0)


# ---- distributions of their own ----

digit_labels = digits().labels


@pytest.mark.parametrize("partition", [Iid(), DirichletReplaced(0.3)], ids=str)
def test_rows_are_distributions_and_do_not_depend_on_the_number_of_clients(partition):
    shares = partition.shares(digit_labels, 9, seed=4)
    assert shares.shape == (9, len(digit_labels))
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(1), 1)
    np.testing.assert_array_equal(partition.shares(digit_labels, 3, seed=4), shares[:3])


def test_dirichlet_shares_are_a_class_prior_spread_evenly_over_the_class():
    shares = DirichletReplaced(0.3).shares(digit_labels, 6, seed=4)
    for k, row in enumerate(shares):
        prior = [row[digit_labels == c].sum() for c in range(10)]
        np.testing.assert_allclose(prior, stream(4, "class prior", client=k).dirichlet(np.full(10, 0.3)), rtol=1e-10)
        for c in range(10):
            assert np.ptp(row[digit_labels == c]) == 0
    assert np.abs(shares[0] - shares[1]).sum() > 0.1
    assert np.abs(DirichletReplaced(0.3).shares(digit_labels, 6, seed=5) - shares).sum() > 0.1


def test_a_large_parameter_makes_clients_alike():
    spread = [DirichletReplaced(a).shares(digit_labels, 8, seed=1).std(0).sum() for a in (0.1, 3.0, 1e4)]
    assert spread[0] > 2 * spread[1] > 20 * spread[2]


def test_draws_follow_the_shares():
    problem = task("ridge(digits)").pool("dirichlet_replaced(0.3)", clients=3, samples=20_000)
    drawn = problem.draw(11)
    for k in range(3):
        counts = np.bincount(digit_labels[drawn[k]], minlength=10) / 20_000
        prior = np.bincount(digit_labels, weights=problem.shares[k], minlength=10)
        assert (np.abs(counts - prior) <= 5 * np.sqrt(prior * (1 - prior) / 20_000) + 1e-12).all()


def test_draws_are_keyed_by_seed_purpose_and_client():
    few, many = (task("ridge(digits)").pool("iid", clients=k, samples=8) for k in (2, 5))
    np.testing.assert_array_equal(few.draw(3), many.draw(3)[:2])
    different = [many.draw(3)[0], many.draw(3)[1], many.draw(4)[0], many.draw(3, "pilot")[0]]
    assert len({tuple(row) for row in different}) == 4


def test_a_split_that_hands_out_samples_gives_no_distribution():
    with pytest.raises(EmpiricsError, match=r"shards\(per_client=3\) gives clients no distribution"):
        Shards(3).shares(digit_labels, 4, seed=1)


def test_a_dirichlet_split_that_cannot_be_is_refused_after_a_few_draws(monkeypatch):
    """Of 2,000 clients with five samples each some always have none; of 30 with thirty each some draws do not."""
    drawn = []
    plain = Dirichlet._try
    monkeypatch.setattr(Dirichlet, "_try", lambda *given: drawn.append(1) or plain(*given))
    many = Dataset("own", np.zeros((10_000, 1), np.float32), np.arange(10_000) % 10, 10, source="none", licence="none")
    with pytest.raises(EmpiricsError, match="Dirichlet"):
        Dirichlet(0.2, least=1)(many, 2000, 3)
    assert len(drawn) <= 5
    few = Dataset("own", np.zeros((900, 1), np.float32), np.arange(900) % 10, 10, source="none", licence="none")
    drawn.clear()
    parts = Dirichlet(0.2, least=12)(few, 30, 3)
    assert len(drawn) > 5
    assert sorted(np.concatenate(parts).tolist()) == list(range(900))
    assert min(map(len, parts)) >= 12
