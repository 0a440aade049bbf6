"""Clients that are all alike are counted, not listed; what many clients would not fit is refused with its size."""

import numpy as np
import pytest

from bounds import get
from bounds.errors import BoundsError, DomainError, MissingQuantityError

ONE = get("fedals.one_round")
SHARED = {"smoothness": 1.3, "strong_convexity": 0.4, "local_gap": 0.31, "non_iidness": 0.12}


def listed(count, **changes):
    everyone = {"client_weight": [1 / count] * count, "local_gap": [0.31] * count, "non_iidness": [0.12] * count}
    return {**SHARED, **everyone, **changes}


def alike(count, **changes):
    return {**SHARED, "clients": count, "client_weight": 1 / count, **changes}


def test_a_trillion_alike_clients_are_computed_by_their_count():
    # Both terms fall with the number of clients: the gap by its square, the non-iidness by its first power.
    few, many = ONE.parts(**listed(10)), ONE.parts(**alike(1e12))
    assert many["local generalization"] == pytest.approx(few["local generalization"] * 1e-22, rel=1e-12)
    assert ONE(**alike(1e12)) == pytest.approx(sum(many.values()), rel=1e-14)
    assert ONE.formula(**alike(1e12)) == ONE.compile()(**alike(1e12)) == ONE(**alike(1e12))


@pytest.mark.parametrize("name", ["fedals.one_round", "fedals.rounds_v2", "fedals.participation_case2"])
def test_alike_clients_give_what_their_list_gives(name):
    bound = get(name)
    numbers = {q.name: 3 if q.card.domain.whole else 0.31 + 0.01 * i for i, q in enumerate(bound.quantities)}
    numbers |= {"smoothness": 1.3, "clients": 7}
    one = {**numbers, "client_weight": 1 / 7}
    everyone = {q.name: [one[q.name]] * 7 for q in bound.quantities if q.card.axis}
    full = {**numbers, **everyone}
    assert bound(**one) == pytest.approx(bound(**full), rel=1e-12)
    assert bound.parts(**one) == pytest.approx(bound.parts(**full), rel=1e-12)
    assert bound.holds(**one) == bound.holds(**full)
    assert bound.failed(**one) == bound.failed(**full)
    ours, theirs = bound.sensitivity(**one), bound.sensitivity(**full)
    for name in {*ours, *theirs} - {"clients"}:  # weights stay in a list, and change with the number of alike clients
        assert ours[name] == pytest.approx(theirs[name], rel=1e-9)


def test_alike_clients_may_be_swept_with_their_number():
    counts = np.array([5.0, 11.0, 300.0])
    found = ONE(**alike(counts, client_weight=1 / counts[:, None]))
    assert found == pytest.approx([ONE(**listed(int(n))) for n in counts], rel=1e-12)


def test_solve_and_minimize_count_alike_clients_too():
    def wanted(numbers):
        left = {k: v for k, v in numbers.items() if k != "strong_convexity"}
        return ONE.solve("strong_convexity", target=0.05, side="smallest", **left).at

    assert wanted(alike(13)) == pytest.approx(wanted(listed(13)), rel=1e-9)
    assert 0 < wanted(alike(1e12)) < 1e-9 * wanted(alike(13))


def test_weights_fixed_beforehand_are_checked_against_the_count():
    fixed = ONE.fix(client_weight=[0.25] * 4)
    assert fixed(**{k: v for k, v in listed(4).items() if k != "client_weight"}) == pytest.approx(ONE(**listed(4)))
    with pytest.raises(DomainError, match="must sum to 1 over the clients; got a sum of 3 over 3e\\+12 clients"):
        ONE(**alike(1e12, clients=3e12))
    with pytest.raises(MissingQuantityError, match="client_weight"):
        ONE(**SHARED, clients=1e12)
    with pytest.raises(DomainError, match=r"clients must be a whole number >= 1; got 2\.5"):
        ONE(**alike(2.5))


def test_one_number_for_each_of_too_many_clients_is_refused_with_its_size():
    each = get("decaying_k.client_round")
    numbers = {q.name: 2.0 for q in each.quantities}
    with pytest.raises(BoundsError, match=r"an answer of 1e\+12 numbers takes 7\.45e\+03 GiB; give fewer"):
        each(clients=1e12, **numbers)
    assert each(clients=3, **numbers).shape == (3,)
    rows = np.broadcast_to(1.1, (2**16, 1)), np.broadcast_to(0.4, (1, 2**16))
    with pytest.raises(BoundsError, match=r"answer of 4\.29e\+09 numbers takes 32 GiB"):
        ONE(**listed(3, smoothness=rows[0], strong_convexity=rows[1]))


def test_a_cohort_is_held_against_the_number_of_clients_however_it_is_known():
    partial = get("fedals.participation_case1")
    rule = "cohort must be <= clients; got 50 > 2"
    for known in ({"client_weight": [0.5, 0.5]}, {"client_weight": 0.5, "clients": 2},
                  {"client_weight": 0.5, "local_gap": [0.3, 0.4]}):  # fmt: skip
        with pytest.raises(DomainError, match=rule):
            partial(**{**SHARED, "cohort": 50, **known})
    with pytest.raises(DomainError, match=rule):
        partial.fix(client_weight=[0.5, 0.5])(**SHARED, cohort=50)


def test_a_search_for_the_cohort_ends_at_the_number_of_clients():
    partial = get("fedals.participation_case1")
    for known in ({"client_weight": [0.5, 0.3, 0.2]}, {"client_weight": 1 / 3, "clients": 3}):
        found = partial.solve("cohort", target=100.0, **SHARED, **known)
        assert (found.at, found.binding) == (3, "cohort must be <= clients")
