"""Domains: one declaration, and the three readings of it agree."""

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, strategies as st

from bounds import domains
from bounds.domains import COUNT, Domain, WEIGHTS
from bounds.errors import DomainError

DOMAINS = [d for d in vars(domains).values() if isinstance(d, Domain)]
edges = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0, np.nan, np.inf, -np.inf])
arrays = st.lists(edges | st.floats(-3, 3) | st.integers(-3, 3).map(float), min_size=1, max_size=6).map(np.array)


@given(st.sampled_from([d for d in DOMAINS if not d.simplex]), arrays)
def test_check_raises_exactly_where_contains_says_no(domain, values):
    if domain.contains(values).all():
        domain.check("thing", values)
        return
    with pytest.raises(DomainError, match=r"^thing must be ") as error:
        domain.check("thing", values)
    first = values[~domain.contains(values)][0]
    rule = domain.words if np.isfinite(first) else "finite"
    said = str(error.value).removeprefix(f"thing must be {rule}; got ")
    assert float(said) == first


def test_a_number_that_is_nearly_whole_is_shown_with_the_digits_that_tell_it_apart():
    with pytest.raises(DomainError, match=r"thing must be a whole number >= 1; got 2\.0000000001"):
        COUNT.check("thing", np.array([3.0, 2.0000000001]))
    with pytest.raises(DomainError, match=r"got -3$"):
        COUNT.check("thing", np.array([-3.0]))


@given(st.sampled_from(DOMAINS), st.floats(-3, 3) | edges)
def test_what_sympy_assumes_is_true_of_every_value_inside(domain, value):
    if not domain.contains(np.array([value]))[0]:
        return
    assumed = domain.assumptions
    assert np.isfinite(value)
    assert value > 0 or "positive" not in assumed
    assert value >= 0 or "nonnegative" not in assumed
    assert sp.Symbol("x", **assumed).is_real


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=6), st.floats(-0.9, 0.9))
def test_weights_must_sum_to_one(raw, off):
    weights = np.array(raw) / np.sum(raw)
    WEIGHTS.check("share", weights)
    if abs(off) > 1e-6:
        wrong = weights * (1 + off)
        with pytest.raises(DomainError, match=r"^share must "):
            WEIGHTS.check("share", wrong)
    rows = np.array([[0.3, 0.7], [0.4, 0.7]])  # every row is checked
    with pytest.raises(DomainError, match=r"share .*1.1 over 2"):
        WEIGHTS.check("share", rows)


def test_the_words_of_a_domain_say_its_limits():
    for domain in DOMAINS:
        limits = [f"{limit:g}" for limit in (domain.low, domain.high) if np.isfinite(limit)]
        assert all(limit in domain.words for limit in limits)
