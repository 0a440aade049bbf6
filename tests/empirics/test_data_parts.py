"""Sets made of another one: who is kept out, always the same, and never twice."""

import numpy as np
import pytest

from empirics.data.catalogue import dataset
from empirics.data.dataset import Dataset
from empirics.data.parts import fewer, held_out
from empirics.errors import EmpiricsError
from empirics.problems.tasks import task


@pytest.fixture
def numbers():
    """Sample i is the number i, of user i % 7."""
    order = np.arange(53)
    return Dataset("numbers", order[:, None] / 1.0, order % 3, 3, groups=order % 7, group_names=tuple("abcdefg"))


def test_a_test_set_is_kept_out_of_the_training_samples(numbers):
    made = held_out(numbers, share=0.3)
    assert (len(made), len(made.test)) == (37, 16)
    together = np.sort(np.concatenate([made.inputs, made.test.inputs]).ravel())
    np.testing.assert_array_equal(together, np.arange(53))
    for part in (made, made.test):
        np.testing.assert_array_equal(part.targets, part.inputs.ravel() % 3)
        np.testing.assert_array_equal(part.groups, part.inputs.ravel() % 7)
    np.testing.assert_array_equal(held_out(numbers, share=0.3).inputs, made.inputs)


def test_fewer_keeps_some_of_both_parts(numbers):
    made = fewer(held_out(numbers, share=0.3), train=11, test=5)
    assert (len(made), len(made.test)) == (11, 5)
    assert not set(made.inputs.ravel()) & set(made.test.inputs.ravel())
    assert made.name == "fewer(held_out(numbers, share=0.3), train=11, test=5)"
    assert len(fewer(numbers, train=400)) == 53


def test_they_are_written_like_any_other_set():
    made = dataset("fewer(held_out(digits), test=100)")
    assert len(made.test) == 100
    assert task("softmax(held_out(digits, share=0.1))").data.test is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("held_out(held_out(digits))", "has a test set already"),
        ("held_out(digits, share=1.5)", "share must be between 0 and 1; got 1.5"),
        ("held_out(digits, share=0.0001)", "leaves one part empty"),
        ("fewer(digits, train=0)", "train must be a whole number >= 1; got 0"),
        ("fewer(digits, train=2.5)", "train must be a whole number >= 1; got 2.5"),
        ("held_out(3)", "held_out needs a data set"),
    ],
)
def test_mistakes_are_said(text, words):
    with pytest.raises(EmpiricsError, match=words.replace("(", r"\(")):
        dataset(text)
