"""Cases that meet every stated hypothesis but for one that a proof uses: what fails there, and by how much."""

from fractions import Fraction

import pytest

from bounds.catalog import get
from paper_checks.falsifier.fringe import FRINGES, fringes


def at(name, words):
    (seen,) = [each for each in fringes(get(name)) if words in each.without]
    return seen


def test_theorem_4_1_needs_convexity_in_the_parameters():
    seen = at("fedals.one_round", "convexity in the parameters")
    assert seen.violated
    assert seen.ratio == pytest.approx(1.35, abs=0.05)
    assert "FAILS" in seen.words


def test_theorem_4_1_needs_clients_with_samples_of_their_own():
    seen = at("fedals.one_round", "independent over clients (all hold the same)")
    assert seen.case.startswith("100 clients")
    assert seen.ratio == pytest.approx(100**2, rel=1e-12)


def test_lemma_1_of_decaying_k_needs_noise_that_is_independent_over_clients():
    seen = at("decaying_k.lemma_1", "common")
    assert seen.ratio == pytest.approx(1000, rel=1e-12)


def test_lemma_2_of_fedinit_needs_a_mini_batch_for_every_step():
    """About K/12; at five steps nothing shows."""
    seen = at("fedinit.lemma_2", "one mini-batch")
    assert seen.case.startswith("200 steps")
    assert seen.ratio == pytest.approx(200 / 11.5, rel=0.05)
    assert at("fedcog.mean_update", "one mini-batch").violated


def test_clipped_means_of_coins_have_the_gaps_counted_by_hand():
    (case,) = [values for words, values in FRINGES[1].cases() if words.startswith("3 clients")]
    assert case["generalization_gap"] == Fraction(1, 16)
    assert case["local_gap"] == [Fraction(3, 16)]


def test_a_statement_that_speaks_of_other_words_is_not_read_there():
    assert fringes(get("fedinit.theorem_1")) == []
