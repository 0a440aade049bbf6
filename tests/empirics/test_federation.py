"""A federation's batches: whole passes, short last batches with weights, the same whoever else is asked for.

They are drawn by shuffles of counters: permutations, keyed by (seed, round, client) alone, and as random as they
should be.
"""

import numpy as np
import pytest
import torch
from refusals import all_refused

from empirics.federation.federation import Federation
from empirics.federation.shuffles import orders
from empirics.training.step_sizes import geometric, harmonic


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


def test_short_batches_weigh_their_samples_equally_and_others_carry_no_weights():
    """Client 0 has 7 samples: batches of 4 and 3; client 2 has 12: all of 4."""
    batches = ragged().draw(1, 0, np.array([0, 2]), np.array([2, 2]), 4)
    assert batches.at(2, 0)[2].tolist() == [[0.25] * 4, [0.25] * 4]
    assert batches.at(2, 1)[2].tolist() == [[1 / 3] * 3 + [0.0], [0.25] * 4]
    assert ragged((8, 8)).draw(5, 1, np.arange(2), np.array([3, 3]), 4).weight is None
    assert ragged((7, 7)).draw(5, 1, np.arange(2), np.array([3, 3]), 4).weight is not None
    assert ragged((8, 12)).draw(5, 1, np.array([0]), np.array([3]), 4).weight is not None


@pytest.mark.parametrize("sizes", [(7, 9, 12, 5, 10), (8, 8, 8), (8, 8, 12), (7, 7, 7)])
def test_a_clients_batches_do_not_depend_on_who_else_is_drawn_but_on_seed_and_round(sizes):
    federation = ragged(sizes)
    everyone = np.arange(len(sizes))
    together = federation.draw(5, 1, everyone, np.arange(len(sizes)) + 3, 4)
    for k in everyone:
        alone = federation.draw(5, 1, np.array([k]), np.array([k + 3]), 4)
        assert (together.weight is None) == (alone.weight is None)
        assert torch.equal(together.index[k, : k + 3], alone.index[0])
        if alone.weight is not None:
            assert torch.equal(together.weight[k, : k + 3], alone.weight[0])
        for changed in ((6, 1), (5, 2)):
            assert not torch.equal(alone.index, federation.draw(*changed, np.array([k]), np.array([k + 3]), 4).index)
    part = together.part(slice(1, 3))  # parts and prefixes are those of the whole
    for mine, whole in zip(part.at(2, 1), together.at(3, 1), strict=True):
        assert (mine is None and whole is None) or torch.equal(mine, whole[1:3])


def test_the_batch_of_a_client_with_fewer_samples_is_all_it_holds_and_none_has_no_sample():
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
    parts = [np.array([0]), np.array([], dtype=int), np.array([1])]
    all_refused([(lambda: Federation.of(torch.zeros(4), torch.zeros(4), parts), "client 1 3")])


def test_every_part_of_the_key_enters_by_a_place_of_its_own():
    """No sum of seed, round, client and pass is hashed."""

    def order(seed, round_, client):
        return orders(seed, round_, np.array([client]), np.array([60]), 2)[0]

    one, another = order(3, 7, 5)
    others = [another]
    for key in ((4, 7, 5), (3, 8, 5), (3, 7, 6), (7, 3, 5), (5, 7, 3), (3, 5, 7), (4, 6, 5), (3, 8, 4)):
        others.append(order(*key)[0])
    assert all((one != other).mean() > 0.8 for other in others)


def test_the_papers_rules_over_time():
    assert harmonic(3.0, 250) == pytest.approx(3 / 12.5)
    assert harmonic(3.0, np.array([0, 1000])) == pytest.approx([0.3, 0.15])
    assert geometric(0.1, 0.998, 3) == pytest.approx(0.1 * 0.998 * 0.998 * 0.998)
    assert geometric(0.1, 0.5, np.array([0, 2])) == pytest.approx([0.1, 0.025])
