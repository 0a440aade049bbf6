"""The objects: declarations are checked, and every method speaks of the same formula."""

import numpy as np
import pytest
import sympy as sp

from bounds import About, Bound, ClassSum, ClientMean, Condition, quantity, Source, Statistic
from bounds.assumptions import CONVEX, SMOOTH
from bounds.core import spell
from bounds.errors import BoundsError, DeclarationError, DomainError, MissingQuantityError, UnknownNameError
from bounds.units import LOSS
from bounds.vocabulary import (
    class_count,
    client_weight as w,
    generalization_gap,
    local_gap as Delta,
    local_steps as K,
    smoothness as L,
    step_size as eta,
    strong_convexity as mu,
)

SOURCE = Source("own notes", "line 3")
ratio = quantity("ratio", "A", "an abbreviation")
VALUES = {
    "smoothness": 2.7,
    "strong_convexity": 0.3,
    "step_size": 0.04,
    "client_weight": [0.21, 0.34, 0.45],
    "local_gap": [0.051, 0.023, 0.087],
    "local_steps": 13,
}


def make(**changes):
    declared = {
        "name": "own.bound",
        "target": generalization_gap,
        "terms": {"spread": ratio * ClientMean(w * Delta), "steps": K * ClientMean(Delta)},
        "source": SOURCE,
        "where": {ratio: L / mu},
        "conditions": (
            Condition("small steps", sp.Le(eta, 1 / (4 * L))),
            Condition("nonnegative gaps", sp.Ge(Delta, 0)),
            Condition.assume(SMOOTH),
            Condition("a reader decides"),
        ),
    }
    return Bound(**{**declared, **changes})


def by_hand(smoothness, strong_convexity, step_size, client_weight, local_gap, local_steps):
    spread = sum(p * p * g for p, g in zip(client_weight, local_gap, strict=True))
    mean = sum(p * g for p, g in zip(client_weight, local_gap, strict=True))
    return {"spread": smoothness / strong_convexity * spread, "steps": local_steps * mean}


# ---- declarations ----


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"name": "Own Bound"}, "a name is lower-case words"),
        ({"relation": "<"}, "relation must be one of"),
        ({"terms": {}}, "needs at least one named term"),
        ({"signed": ("drift",)}, "there is no term 'drift'; terms: spread, steps"),
        ({"off_by": {"drift": LOSS}}, "there is no term 'drift'"),
        ({"terms": {"spread": 3.7}}, "must be an expression of quantities; got 3.7"),
        ({"terms": {"spread": L / sp.S.Zero}}, "term 'spread' is zoo whatever the numbers"),
        ({"terms": [L]}, r"terms must be a dict of expressions by name; got \[smoothness\]"),
        ({"target": sp.Symbol("gap")}, "target must be a quantity; got gap"),
        ({"source": "own notes"}, r"source must be a Source, such as Source\(.*; got 'own notes'"),
        ({"conditions": ("L <= 1",)}, "conditions must be Condition objects; got 'L <= 1'"),
        ({"terms": {"spread": sp.Symbol("q") * L}}, r"q must be declared with quantity\(...\)"),
        ({"terms": {"spread": L * quantity("smoothness", "M", "another one")}}, "two quantities share the name"),
        ({"terms": {"spread": ClientMean(Delta) + ClassSum(class_count)}}, "vary over more than one axis"),
        ({"terms": {"spread": w * Delta}}, "term 'spread' is a number for every one of the clients"),
        ({"where": {ratio: L * Delta}}, "abbreviation ratio is a number for every one of the clients"),
        ({"terms": {1: K * eta}}, "terms must be named by words; got 1"),
        ({"terms": {"": K * eta}}, "terms must be named by words; got ''"),
        ({"where": {"ratio": L / mu}}, "where must be a dict by quantity; got {'ratio'"),
        ({"statistic": "min"}, r"statistic must be a Statistic, such as .*; got 'min'"),
        ({"about": "fedavg"}, r"about must be an About, such as .*; got 'fedavg'"),
    ],
)
def test_an_inconsistent_declaration_is_refused(changes, reason):
    with pytest.raises(DeclarationError, match=reason):
        make(**changes)


index = sp.Symbol("i", integer=True)


@pytest.mark.parametrize(
    ("term", "said"),
    [
        (sp.Sum(L / index, (index, 1, K)), r"Sum\(.*ClientSum\(\.\.\.\) or ClientMean"),
        (L + mu * sp.Product(1 + L / index, (index, 1, K)), r"Product\(.*exp of a sum of logarithms"),
        (sp.Integral(sp.exp(-(index**2)), (index, 0, L)), r"Integral\(.*work it out, such as with \.doit\(\)"),
        (sp.Derivative(sp.exp(L), L), r"Derivative\(.*\.doit\(\)"),
        (sp.Limit(sp.exp(-L * index), index, sp.oo), r"Limit\(.*\.doit\(\)"),
        (2 * sp.Function("h")(L), r"h\(smoothness\), which is not computed: write out what it is"),
        (sp.Piecewise((L, L < 2), (sp.Sum(L / index, (index, 1, K)), True)), r"Sum\("),
        (L * sp.CRootOf(index**5 - index + 3, 0), r"CRootOf\(.*radicals or as a number"),
        (L + 3 * sp.I, "holds I, which is not computed: bounds are real"),
        (sp.Mul(sp.zoo, L - 1), "holds zoo, which is not computed: something is divided by zero"),
        (sp.Piecewise((sp.nan, L < 2), (L, True)), "holds nan, which is not computed: something is undefined"),
        (L + sp.Piecewise((sp.oo, L < 2), (L, True)), "holds oo, which is not computed: write a large number"),
        (
            L + sp.factorial(K),
            r"holds factorial\(local_steps\), which is not computed: NumPy has no function factorial",
        ),
        (L * sp.erf(eta), r"holds erf\(step_size\), which is not computed: NumPy has no function erf"),
        (sp.Le(L, 2 * mu), "must be an expression of quantities; got "),
    ],
)
def test_a_term_that_no_array_function_computes_is_refused_when_it_is_declared(term, said):
    with pytest.raises(DeclarationError, match=rf"^bound 'own\.bound': term 'odd' .*{said}"):
        make(terms={"steps": K * ClientMean(Delta), "odd": term})


def test_nor_may_it_hide_in_a_condition_or_an_abbreviation():
    harmonic = sp.Sum(1 / index, (index, 1, K))
    with pytest.raises(DeclarationError, match=r"condition 'few steps' holds Sum\("):
        make(conditions=(Condition("few steps", L * eta * harmonic <= 1),))
    with pytest.raises(DeclarationError, match=r"abbreviation ratio holds Sum\("):
        make(where={ratio: L * harmonic})
    with pytest.raises(DeclarationError, match=r"condition 'far' holds gamma.*NumPy has no function gamma"):
        make(conditions=(Condition("far", sp.gamma(L * eta) <= 3),))


def test_an_abbreviation_for_zero_divides_no_term():
    bound = make(terms={"spread": 3 / ratio}, where={ratio: sp.S.Zero}, conditions=())
    with pytest.raises(DeclarationError, match=r"term 'spread', written out, holds zoo.*divided by zero"):
        bound()


def test_pieces_are_computed():
    one = make(terms={"pieces": sp.Piecewise((L, L < 2), (L**2, True))}, where={})
    np.testing.assert_allclose(one.formula(smoothness=[1.3, 2.7], step_size=0.01, local_gap=0.3),
                               [1.3, 2.7**2])  # fmt: skip


def test_a_condition_says_one_thing_that_numbers_can_change():
    with pytest.raises(DeclarationError, match="not both"):
        Condition("words", sp.Le(mu, L), SMOOTH)
    with pytest.raises(DeclarationError, match="whatever the numbers"):
        Condition("words", sp.Ge(L, 0))
    with pytest.raises(DeclarationError, match="needs a relation such as x <= 1; got smoothness - 1"):
        Condition("words", L - 1)
    with pytest.raises(DeclarationError, match="needs a relation such as x <= 1; got step_size"):
        Condition("words", eta)  # which SymPy takes for something true or false
    assert Condition("words", sp.Or(eta < 2, L < 3)).kind == "numeric"
    assert [c.kind for c in make().conditions] == ["numeric", "numeric", "assumption", "words"]


def test_a_statistic_is_of_a_known_kind_and_reads_as_words():
    assert str(Statistic("min", over="rounds", at="server model")) == "min over rounds at the server model"
    with pytest.raises(DeclarationError, match=r"a statistic must be one of 'last', 'min', .*; got 'median'"):
        Statistic("median")
    with pytest.raises(DeclarationError, match=r"what a statistic is over must be one of .*; got 'iteration'"):
        Statistic("min", over="iteration")
    with pytest.raises(DeclarationError, match=r"the model that a statistic is at must be one of .*; got 'nowhere'"):
        Statistic("min", over="rounds", at="nowhere")


def test_about_names_the_reading_only_when_it_is_not_the_intended_one():
    assert str(About("fedavg")) == "fedavg"
    assert str(About("fedinit", "code")) == "fedinit (reading: code)"
    with pytest.raises(DeclarationError, match=r"the reading of an algorithm must be one of 'intended', .*; got 'x'"):
        About("fedinit", "x")


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        ({"name": "target"}, "target is a word of the methods of a bound"),
        ({"domain": (0, 1)}, r"own: domain must be a Domain; got \(0, 1\)"),
        ({"unit": "loss"}, "own: unit must be a Unit; got 'loss'"),
        ({"at_most": 3.7}, "own: at_most must be a quantity; got 3.7"),
    ],
)
def test_an_inconsistent_quantity_is_refused(declared, reason):
    with pytest.raises(DeclarationError, match=reason):
        quantity(**{"name": "own", "letter": "o", "meaning": "a quantity of one's own", **declared})


def test_abbreviations_may_stand_for_one_another():
    outer = quantity("outer", "B", "an abbreviation of an abbreviation")
    assert spell(outer + 1, {outer: ratio**2, ratio: L / mu}) == (L / mu) ** 2 + 1


def test_quantities_are_those_of_terms_and_conditions_without_abbreviations():
    assert [q.name for q in make().quantities] == sorted(VALUES)
    assert make().axis == "clients"
    with pytest.raises(UnknownNameError, match="did you mean 'step_size'"):
        make().quantity("stepsize")


# ---- values ----


def test_value_and_parts_equal_the_formula_by_hand():
    parts = by_hand(**VALUES)
    assert make()(**VALUES) == pytest.approx(sum(parts.values()), rel=1e-14)
    assert make().parts(**VALUES) == pytest.approx(parts, rel=1e-14)


def test_sweeps_broadcast_and_keep_the_client_axis_last():
    steps, gaps = np.array([[3], [7]]), [[0.05, 0.02, 0.09], [0.04, 0.06, 0.01], [0.03, 0.08, 0.07]]
    swept = make()(**{**VALUES, "local_steps": steps, "local_gap": gaps})
    assert swept.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        one = {**VALUES, "local_steps": int(steps[i, 0]), "local_gap": gaps[j]}
        assert swept[i, j] == pytest.approx(sum(by_hand(**one).values()), rel=1e-14)


def test_outside_the_conditions_a_bound_is_silent_and_its_formula_is_not():
    outside = {**VALUES, "step_size": [0.04, 0.4]}
    value, formula = make()(**outside), make().formula(**outside)
    assert np.isnan(value).tolist() == [False, True]
    assert formula[0] == value[0] == formula[1]
    assert make().holds(**outside).tolist() == [True, False]
    assert [c.words for c in make().failed(**outside)] == ["small steps"]
    assert np.isnan(make().parts(**outside)["spread"]).tolist() == [False, True]
    assert make().parts(outside=True, **outside)["spread"] == pytest.approx([by_hand(**VALUES)["spread"]] * 2)


def test_one_client_that_breaks_a_condition_silences_the_bound():
    assert not make().holds(**{**VALUES, "local_gap": [0.05, -0.01, 0.09]})


def test_a_bound_without_conditions_holds_everywhere():
    free = make(conditions=())
    values = {n: v for n, v in VALUES.items() if n != "step_size"}
    assert free.holds(**values) is True
    assert free.holds(**{**values, "local_steps": [3, 4]}).tolist() == [True, True]
    assert free.failed(**values) == ()


# ---- fixing ----


def test_fixing_checks_names_and_values():
    with pytest.raises(UnknownNameError, match="did you mean 'local_steps'"):
        make().fix(local_step=3)
    with pytest.raises(DomainError, match=r"local_steps must be a whole number >= 1; got 2.5"):
        make().fix(local_steps=2.5)


def test_what_is_fixed_is_neither_needed_nor_accepted_again():
    fixed = make().fix(local_steps=13, smoothness=2.7)
    rest = {n: v for n, v in VALUES.items() if n not in ("local_steps", "smoothness")}
    assert fixed(**rest) == make()(**VALUES)
    assert fixed.given == {"local_steps": 13, "smoothness": 2.7}
    with pytest.raises(MissingQuantityError, match="needs client_weight, local_gap, step_size, strong_convexity"):
        fixed()
    with pytest.raises(BoundsError, match=r"smoothness is fixed at 2.7 here; leave it out"):
        fixed(**VALUES)


def test_fixed_numbers_enter_the_expression_exactly():
    assert make().fix(local_steps=13).expr.coeff(ClientMean(Delta)) == 13
    assert make().fix(strong_convexity=0.1).expr.coeff(ClientMean(w * Delta)) == 10 * L


def test_the_name_of_an_assumption_is_not_the_assumption():
    with pytest.raises(DeclarationError, match=r"assume takes an assumption, such as .*; got 'convex'"):
        Condition.assume("convex")
    assert Condition.assume(CONVEX).kind == "assumption"
