"""``loops.cases`` and ``refusals.all_refused`` report every row that fails, and no other."""

import pytest
from loops import cases
from refusals import all_refused


def test_every_row_that_fails_is_reported():
    with pytest.raises(AssertionError, match=r"2 of 3 fail:\n.*'a'.*ZeroDivisionError.*\n.*'c'.*ZeroDivisionError"):
        cases("name unused", [("a", 1), ("b", 1), ("c", 1)])(lambda name: 1 / (name == "b"))()

    def refuse(case):
        if case == 2:
            raise ValueError("said something else")
        if case == 3:
            raise TypeError("of another kind")
        if case == 4:
            raise ValueError("it is 4 words")
        if case == 5:
            raise ValueError("it is 44")

    wrong = [(1, "a"), (2, "b"), (3, ""), (4, "4"), (5, "4")]
    with pytest.raises(AssertionError, match=r"4 fail:\ncase 0.*\ncase 1.*\ncase 2.*\ncase 4"):
        all_refused(wrong, refuse, kind=ValueError)
