"""A federation's batches: whole passes, short last batches with weights, the same whoever else is asked for."""

import numpy as np
import pytest
import torch

from empirics.errors import EmpiricsError
from empirics.federation.federation import Federation


def ragged(sizes=(7, 9, 12, 5, 10)) -> Federation:
    """Every sample's input is its own number; members are scattered over the pool."""
    total = sum(sizes)
    parts = np.split(np.random.default_rng(3).permutation(total), np.cumsum(sizes)[:-1])
    inputs = torch.arange(total, dtype=torch.float64)
    return Federation.of(inputs, 10 * inputs, parts)


def test_a_pass_takes_every_sample_of_the_client_once():
    federation = ragged()
    steps = np.array([4, 6, 6, 4, 6])  # two passes each at batch 4
    batches = federation.draw(1, 2, np.arange(5), steps, 4)
    for k, size in enumerate(federation.client_sizes):
        per_pass = -(-size // 4)
        own = sorted(federation.samples(k)[0].tolist())
        for start in (0, per_pass):
            seen = []
            for step in range(start, start + per_pass):
                inputs, targets, weight = batches.at(5, step)
                real = weight[k] > 0
                seen += inputs[k][real].tolist()
                assert torch.equal(targets[k][real], 10 * inputs[k][real])
            assert sorted(seen) == own


def test_short_batches_weigh_their_samples_equally():
    """Client 0 has 7 samples: batches of 4 and 3; client 2 has 12: all of 4."""
    batches = ragged().draw(1, 0, np.array([0, 2]), np.array([2, 2]), 4)
    assert batches.at(2, 0)[2].tolist() == [[0.25] * 4, [0.25] * 4]
    assert batches.at(2, 1)[2].tolist() == [[1 / 3] * 3 + [0.0], [0.25] * 4]


@pytest.mark.parametrize("sizes", [(7, 9, 12, 5, 10), (8, 8, 8), (8, 8, 12), (7, 7, 7)])
def test_a_clients_batches_do_not_depend_on_who_else_is_drawn(sizes):
    federation = ragged(sizes)
    everyone = np.arange(len(sizes))
    together = federation.draw(5, 1, everyone, np.arange(len(sizes)) + 3, 4)
    for k in everyone:
        alone = federation.draw(5, 1, np.array([k]), np.array([k + 3]), 4)
        assert (together.weight is None) == (alone.weight is None)
        assert torch.equal(together.index[k, : k + 3], alone.index[0])
        if alone.weight is not None:
            assert torch.equal(together.weight[k, : k + 3], alone.weight[0])


def test_batches_without_short_ones_carry_no_weights():
    assert ragged((8, 8)).draw(5, 1, np.arange(2), np.array([3, 3]), 4).weight is None
    assert ragged((7, 7)).draw(5, 1, np.arange(2), np.array([3, 3]), 4).weight is not None
    assert ragged((8, 12)).draw(5, 1, np.array([0]), np.array([3]), 4).weight is not None


@pytest.mark.parametrize("changed", [(6, 1), (5, 2)])
def test_seed_and_round_give_other_batches(changed):
    federation, clients, steps = ragged((40, 40)), np.arange(2), np.array([5, 5])
    assert not torch.equal(
        federation.draw(5, 1, clients, steps, 8).index, federation.draw(*changed, clients, steps, 8).index
    )


def test_parts_and_prefixes_are_those_of_the_whole():
    batches = ragged().draw(1, 0, np.arange(5), np.full(5, 2), 4)
    part = batches.part(slice(1, 3))
    for mine, whole in zip(part.at(2, 1), batches.at(3, 1), strict=True):
        assert torch.equal(mine, whole[1:3])


def test_a_client_without_samples_is_one_clear_line():
    with pytest.raises(EmpiricsError, match=r"^every client must hold a sample; client 1 of 3 is empty$"):
        Federation.of(torch.zeros(4), torch.zeros(4), [np.array([0]), np.array([], dtype=int), np.array([1])])


def test_the_batch_of_a_client_with_fewer_samples_is_all_it_holds():
    sizes = (3, 7, 5)
    federation = ragged(sizes)
    drawn = federation.draw(5, 2, np.arange(3), np.array([2, 2, 2]), 6)
    alone = federation.draw(5, 2, np.array([0]), np.array([2]), 6)
    assert torch.equal(drawn.index[0], alone.index[0])
    for step in range(2):
        for k, size in ((0, 3), (2, 5)):
            real = drawn.weight[k, step] > 0
            held = federation.members[federation.offsets[k] : federation.offsets[k + 1]]
            assert sorted(drawn.index[k, step][real].tolist()) == sorted(held.tolist())
            torch.testing.assert_close(drawn.weight[k, step][real], torch.full((size,), 1 / size).to(drawn.weight))
    assert [int((w > 0).sum()) for w in drawn.weight[1]] == [6, 1]  # a pass of seven: six and the last one
    assert federation.draw(5, 2, np.arange(3), np.array([2, 2, 2]), 10**9).index.shape == (3, 2, 7)
