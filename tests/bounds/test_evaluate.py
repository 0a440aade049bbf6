"""Arguments of a call: what is taken as a number, what is refused by name, identical clients, and extremes."""

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import sympy as sp
import torch
from refusals import all_refused

from bounds import Bound, BOUNDS, ClientMean, Condition, get, quantity, Source, vocabulary
from bounds.domains import REAL
from bounds.errors import BoundsError, DomainError, OutsideConditionsWarning, SignWarning, UndefinedValueWarning
from bounds.numerics.evaluate import at_point

w, generalization_gap, Delta = vocabulary.client_weight, vocabulary.generalization_gap, vocabulary.local_gap
K, L, mu = vocabulary.local_steps, vocabulary.smoothness, vocabulary.strong_convexity

BOUND = Bound(
    name="own.bound",
    target=generalization_gap,
    terms={"spread": L / mu * ClientMean(w * Delta), "power": L**3 * K**2},
    source=Source("own notes", "line 3"),
    conditions=(Condition("few steps", sp.Le(K, 50)),),
)
VALUES = {
    "smoothness": 2.7,
    "strong_convexity": 0.3,
    "client_weight": [0.21, 0.34, 0.45],
    "local_gap": [0.051, 0.023, 0.087],
    "local_steps": 13,
}


def called(wrong):
    return BOUND(**{**VALUES, **wrong})


def test_nonsense_is_refused():
    all_refused(
        [
            ({"smoothness": -1.3}, "smoothness > 0 -1.3"),
            ({"smoothness": float("nan")}, "smoothness NaN"),
            ({"smoothness": [[1.2, 3.4], [5.6]]}, "smoothness"),
            ({"smoothness": 1.2 + 3.4j}, "smoothness (1.2+3.4j)"),
            ({"smoothness": np.datetime64("2021")}, "smoothness"),
            ({"smoothness": torch.tensor(0.003, requires_grad=True)}, "smoothness tensor.detach().numpy()"),
            ({"smoothness": Decimal("1e-400")}, "smoothness"),
            ({"smoothness": Fraction(2**60 + 1)}, "smoothness"),
            ({"smoothness": [Fraction(1, 3), True]}, "smoothness"),
            ({"client_weight": [0.33333333] * 3}, "client_weight 0.99999999"),
            ({"client_weight": 0.3}, "client_weight 0.9 3"),
            ({"local_gap": [0.1, 0.2]}, "client_weight: 3 local_gap: 2"),
            ({"clients": 5}, "clients 3 5"),
            ({"smoothness": pd.Series([2.1, 2.2], ["a", "b"]), "local_steps": pd.Series([5, 7])}, "smoothness Series"),
        ],
        called,
        kind=DomainError,
    )


def test_shapes_and_names_that_do_not_fit_are_refused():
    all_refused(
        [
            (lambda: called({"smoothness": [2.1, 2.2], "local_steps": [3, 4, 5]}), "smoothness: (2,)"),
            (lambda: BOUND.compile("numpi"), "'numpi' 'numpy'"),
            (lambda: called({"K": 3}), "'K' local_steps Decaying-K FedInit clients"),
            (lambda: get("fedals.one_round").solve("L", target=0.3), "'L' smoothness FedALS"),
            (lambda: BOUNDS["fedinit.theorem1"], "'fedinit.theorem1' 'fedinit.theorem_1'"),
            (lambda: BOUND.formula(**{**VALUES, "smoothness": -1.3}), "smoothness > 0"),
            (lambda: BOUND.failed(**{**VALUES, "smoothness": -1.3}), "smoothness > 0"),
        ]
    )


def test_results_are_plain_numbers_where_nothing_is_swept():
    assert type(BOUND(**VALUES)) is float
    assert type(BOUND.holds(**VALUES)) is bool
    assert called({"local_steps": [13]}).shape == (1,)
    with pytest.raises(DomainError, match="smoothness"):
        called({"smoothness": np.ma.array([1.3, 2.7], mask=[False, True])})


def test_numbers_of_other_kinds_are_taken_as_their_floats_and_series_keep_their_index():
    for value in (Fraction(3, 10), Decimal("0.3"), np.array(0.3), torch.tensor(0.3, dtype=torch.float64)):
        assert called({"strong_convexity": value}) == BOUND(**VALUES)
    mixed = called({"smoothness": [Fraction(10, 3), 4.2]})
    np.testing.assert_array_equal(mixed, called({"smoothness": [10 / 3, 4.2]}))
    steps = pd.Series([1.3, 2.7, 4.1], index=["a", "b", "d"])
    for ask in (BOUND, BOUND.formula, BOUND.holds, lambda **v: BOUND.parts(**v)["power"]):
        found = ask(**{**VALUES, "smoothness": steps})
        assert list(found.index) == ["a", "b", "d"]
        np.testing.assert_array_equal(found.to_numpy(), ask(**{**VALUES, "smoothness": steps.to_numpy()}))
    weights = pd.Series(VALUES["client_weight"], index=["u", "v", "w"])  # over the clients: no sweep
    assert called({"client_weight": weights}) == BOUND(**VALUES)
    assert list(called({"client_weight": weights, "smoothness": steps}).index) == list(steps.index)


@pytest.mark.parametrize("name", ["strong_convexity", "local_gap"])
@pytest.mark.parametrize("count", [{"client_weight": [0.3, 0.7]}, {"clients": 2, "client_weight": 0.5}])
def test_a_list_of_one_is_no_list_over_several_clients(name, count):
    """As typed; what is swept for all clients alike has an axis of its own for them."""
    bound = get("fedals.one_round")
    values = {"smoothness": 1.3, "strong_convexity": 0.1, "local_gap": 0.03, "non_iidness": 0.01, **count}
    number = values[name]
    if name == "strong_convexity":
        assert bound(**{**values, name: [number]}) == pytest.approx([bound(**values)])
        return
    for function in (bound, bound.formula, bound.parts, bound.holds, bound.compile()):
        with pytest.raises(DomainError, match=name):
            function(**{**values, name: [number]})
    assert bound(**{**values, name: [[number], [2 * number]]})[0] == bound(**values)


def test_a_number_for_each_client_is_not_one_number():
    each = get("fedals.gaussian_mean_local_gap")
    known = {"client_gradient_variance": [1.3, 2.1, 0.7], "samples": 9, "smoothness": 0.4}
    assert len(set(each(**known))) == 3
    with pytest.raises(BoundsError, match="local_gap"):
        at_point(each, known)


ONE = get("fedals.one_round")
SHARED = {"smoothness": 1.3, "strong_convexity": 0.4, "local_gap": 0.31, "non_iidness": 0.12}


def listing(count, **changes):
    everyone = {"client_weight": [1 / count] * count, "local_gap": [0.31] * count, "non_iidness": [0.12] * count}
    return {**SHARED, **everyone, **changes}


def counted(count, **changes):
    return {**SHARED, "clients": count, "client_weight": 1 / count, **changes}


def test_a_trillion_identical_clients_are_computed_by_their_count():
    # Both terms fall with the number of clients: the gap by its square, the non-iidness by its first power.
    few, huge = ONE.parts(**listing(10)), ONE.parts(**counted(1e12))
    assert huge["local generalization"] == pytest.approx(few["local generalization"] * 1e-22, rel=1e-12)
    assert ONE(**counted(1e12)) == pytest.approx(sum(huge.values()), rel=1e-14)
    assert ONE.formula(**counted(1e12)) == ONE.compile()(**counted(1e12)) == ONE(**counted(1e12))
    counts = np.array([5.0, 11.0, 300.0])
    found = ONE(**counted(counts, client_weight=1 / counts[:, None]))
    assert found == pytest.approx([ONE(**listing(int(n))) for n in counts], rel=1e-12)

    def wanted(numbers):
        left = {k: v for k, v in numbers.items() if k != "strong_convexity"}
        return ONE.solve("strong_convexity", target=0.05, side="smallest", **left).at

    assert wanted(counted(13)) == pytest.approx(wanted(listing(13)), rel=1e-9)
    assert 0 < wanted(counted(1e12)) < 1e-9 * wanted(counted(13))


@pytest.mark.parametrize("name", ["fedals.one_round", "fedals.rounds_v2", "fedals.participation_case2"])
def test_identical_clients_give_what_their_list_gives(name):
    bound = get(name)
    numbers = {q.name: 3 if q.card.domain.whole else 0.31 + 0.01 * i for i, q in enumerate(bound.quantities)}
    numbers |= {"smoothness": 1.3, "clients": 7}
    one = {**numbers, "client_weight": 1 / 7}
    full = {**numbers, **{q.name: [one[q.name]] * 7 for q in bound.quantities if q.card.axis}}
    assert bound(**one) == pytest.approx(bound(**full), rel=1e-12)
    assert bound.parts(**one) == pytest.approx(bound.parts(**full), rel=1e-12)
    assert bound.holds(**one) == bound.holds(**full)
    assert bound.failed(**one) == bound.failed(**full)
    ours, theirs = bound.sensitivity(**one), bound.sensitivity(**full)
    for word in {*ours, *theirs} - {"clients"}:  # weights stay in a list, and change with the number of clients
        assert ours[word] == pytest.approx(theirs[word], rel=1e-9)


partial, each_client = get("fedals.participation_case1"), get("decaying_k.client_round")
TWOS = {q.name: 2.0 for q in each_client.quantities}
BROAD = {"smoothness": np.broadcast_to(1.1, (2**16, 1)), "strong_convexity": np.broadcast_to(0.4, (1, 2**16))}


def test_what_does_not_fit_the_number_of_clients_is_refused():
    all_refused(
        [
            (lambda: ONE(**counted(1e12, clients=3e12)), "1 3 3e+12"),
            (lambda: ONE(**SHARED, clients=1e12), "client_weight"),
            (lambda: ONE(**counted(2.5)), "clients 2.5"),
            (lambda: each_client(clients=1e12, **TWOS), "1e+12 7.45e+03"),
            (lambda: ONE(**listing(3, **BROAD)), "4.29e+09 32"),
            (lambda: partial(**SHARED, cohort=50, client_weight=0.5, clients=2), "cohort clients 50 2"),
            (lambda: partial.fix(client_weight=[0.5, 0.5])(**SHARED, cohort=50), "cohort clients 50 2"),
        ]
    )


def test_fixed_weights_and_a_search_for_the_cohort_know_the_number_of_clients():
    fixed = ONE.fix(client_weight=[0.25] * 4)
    assert fixed(**{k: v for k, v in listing(4).items() if k != "client_weight"}) == pytest.approx(ONE(**listing(4)))
    assert each_client(clients=3, **TWOS).shape == (3,)
    for known in ({"client_weight": [0.5, 0.3, 0.2]}, {"client_weight": 1 / 3, "clients": 3}):
        found = partial.solve("cohort", target=100.0, **SHARED, **known)
        assert (found.at, found.binding) == (3, "cohort must be <= clients")


x = quantity("x", "x", "any number", domain=REAL)
y = quantity("y", "y", "any positive number")
RATIO = Bound(
    name="own.ratio", target=generalization_gap, terms={"tame": y, "lost": sp.exp(x) / (1 + sp.exp(x))},
    source=BOUND.source, conditions=(Condition("y is at most 7", sp.Le(y, 7)),)
)  # fmt: skip


def test_warnings_tell_no_real_number_negative_terms_and_failed_conditions_apart():
    root = replace(RATIO, name="own.root", terms={"tame": y, "lost": sp.sqrt(x)})
    with pytest.warns(UndefinedValueWarning, match="own.root.*'lost'"):
        assert np.isnan(root(x=[2.3, -0.3], y=[9.1, 0.7])).all()
    with pytest.warns(OutsideConditionsWarning, match=r"own.bound.*few steps"):
        assert np.isnan(called({"local_steps": 51}))
    own = Bound("own.falling", generalization_gap, {"tame": y, "lost": 0.7 - x**2}, BOUND.source,
                (Condition("x < 9", sp.Lt(x, 9)),))  # fmt: skip
    with pytest.warns(SignWarning, match=r"own.falling.*'lost'"):
        np.testing.assert_allclose(own(x=[0.3, 2.1, 11.3], y=1.9), [2.51, -1.81, np.nan])
    assert own(x=0.3, y=1.9) == pytest.approx(2.51)
    assert own.formula(x=11.3, y=1.9) < 0  # where the bound does not apply
    assert replace(own, signed=("lost",))(x=2.1, y=1.9) == pytest.approx(-1.81)


def test_compiled_code_does_not_check_but_keeps_points_without_a_value():
    fast = BOUND.compile()
    beyond = fast(**{**VALUES, "smoothness": 0.2})  # mu > L: nonsense to the call, numbers to the compiled code
    mean = 0.21**2 * 0.051 + 0.34**2 * 0.023 + 0.45**2 * 0.087
    assert beyond == pytest.approx(0.2 / 0.3 * mean + 0.2**3 * 13**2, rel=1e-13)
    swept = fast(**{**VALUES, "local_steps": np.array([3, 51, 50])})
    assert np.isnan(swept).tolist() == [False, True, False]
