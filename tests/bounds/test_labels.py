"""Values of a call beyond floats and arrays: exact numbers, pandas Series, tensors; and letters typed for words."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from bounds import BOUNDS
from bounds.errors import DomainError, UnknownNameError
from bounds.letters import letters, meaning
from bounds.points import POINTS

ROUNDS = BOUNDS["decaying_k.per_rounds"]
AT = POINTS[ROUNDS.name]
ONE_ROUND = BOUNDS["fedals.one_round"]
STEPS = pd.Series([0.0013, 0.0027, 0.0041], index=["a", "b", "d"])


@pytest.mark.parametrize("value", [Fraction(3, 1000), Decimal("0.003"), np.float64(0.003), np.array(0.003)])
def test_exact_numbers_are_taken_as_their_floats(value):
    assert ROUNDS(**AT | {"step_size": value}) == ROUNDS(**AT | {"step_size": 0.003})
    mixed = ROUNDS(**AT | {"step_size": [Fraction(1, 300), 0.0042]})
    np.testing.assert_array_equal(mixed, ROUNDS(**AT | {"step_size": [1 / 300, 0.0042]}))


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (Decimal("1e-400"), "of a size that a floating-point number can have"),
        (Fraction(1, 10**400), "of a size that a floating-point number can have"),
        (Fraction(2**60 + 1), "a whole number that a float holds"),
        (Decimal("Infinity"), "finite"),
        (Decimal("NaN"), "a number; got NaN"),
        ([Fraction(1, 3), True], "a number or a rectangular list"),
    ],
)
def test_exact_numbers_that_no_float_holds_are_refused(value, rule):
    with pytest.raises(DomainError, match=f"^step_size must be {rule}"):
        ROUNDS(**AT | {"step_size": value})


def test_an_answer_along_a_series_keeps_its_index():
    plain = AT | {"step_size": STEPS.to_numpy()}
    for ask in (ROUNDS, ROUNDS.formula, ROUNDS.holds):
        found = ask(**AT | {"step_size": STEPS})
        assert list(found.index) == ["a", "b", "d"]
        np.testing.assert_array_equal(found.to_numpy(), ask(**plain))
    parts = ROUNDS.parts(**AT | {"step_size": STEPS})
    assert all(part.index.equals(STEPS.index) for part in parts.values())
    other = pd.Series([5, 7, 11])
    with pytest.raises(DomainError, match="local_steps and step_size are Series with different indexes"):
        ROUNDS(**AT | {"step_size": STEPS, "local_steps": other})


def test_a_series_over_the_clients_is_no_sweep():
    point = POINTS[ONE_ROUND.name]
    weights = pd.Series(point["client_weight"], index=["u", "v", "w"])
    assert ONE_ROUND(**point | {"client_weight": weights}) == ONE_ROUND(**point)
    swept = ONE_ROUND(**point | {"client_weight": weights, "smoothness": STEPS * 2000})
    assert list(swept.index) == list(STEPS.index)


def test_a_tensor_that_needs_gradients_is_told_what_to_do():
    torch = pytest.importorskip("torch")
    with pytest.raises(DomainError, match=r"step_size.detach\(\).numpy\(\)"):
        ROUNDS(**AT | {"step_size": torch.tensor(0.003, requires_grad=True)})
    assert ROUNDS(**AT | {"step_size": torch.tensor(0.003, dtype=torch.float64)}) == ROUNDS(**AT | {"step_size": 0.003})


# ---- names ----


def test_an_unknown_bound_is_a_key_error_with_the_near_name():
    with pytest.raises(KeyError, match=r"'fedinit.theorem1'; did you mean 'fedinit.theorem_1'"):
        BOUNDS["fedinit.theorem1"]
    assert "fedinit.theorem1" not in BOUNDS
    assert BOUNDS.get("fedinit.theorem1") is None


def test_a_letter_is_the_word_that_the_papers_import_under_it():
    assert letters()["fedals"]["K"] == ("clients",)
    assert letters()["decaying_k"]["K"] == ("local_steps",)
    with pytest.raises(UnknownNameError, match="'K'; K is local_steps in Decaying-K and FedInit, clients in"):
        ROUNDS(**AT, K=3)
    with pytest.raises(UnknownNameError, match="'L'; L is smoothness in FedALS, "):
        ONE_ROUND.solve("L", target=0.3)
    assert meaning("no_letter", ()) == ""
