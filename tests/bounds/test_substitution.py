"""The quick share of ``tests/benchmarks/substitution.py``: derived words keep bounds valid, wrong ties are caught."""

from dataclasses import replace

import pytest
from substitution import many

from bounds import resolving
from bounds.errors import BoundsError
from bounds.ties import TIES

DRAWS = 40


def test_derived_words_keep_every_bound_valid():
    tally = many(DRAWS)
    assert not tally.faults
    assert tally.words > 3 * DRAWS
    assert tally.rows > 6 * DRAWS
    assert len(tally.spoken) >= 6
    assert 0.5 < tally.share <= 1


@pytest.mark.slow
def test_so_do_hundreds_of_draws():
    tally = many(400, first=DRAWS)
    assert not tally.faults
    assert len(tally.spoken) >= 8


WRONG = {
    "heterogeneity": lambda right: right / 9,
    "iterations": lambda right: right + 1,
    "condition_number": lambda right: right * 1.3,
    "initial_gap": lambda right: right / 4,
}


@pytest.mark.parametrize("word", WRONG)
def test_a_wrong_tie_is_caught(word, monkeypatch):
    """A factor that is off, in each row that gives the word."""
    ties = tuple(replace(tie, right=WRONG[word](tie.right)) if tie.left.name == word else tie for tie in TIES)
    assert ties != TIES
    monkeypatch.setattr(resolving, "TIES", ties)
    for first in range(0, DRAWS, 4):
        try:
            faults = many(4, first, words_alone=True).faults
        except BoundsError as error:
            faults = [str(error)] if "disagree" in str(error) else []
        if faults:
            return
    pytest.fail(f"no draw catches {word}")
