"""The objects: declarations are checked, and every method speaks of the same formula."""

import numpy as np
import pytest
import sympy as sp
from refusals import all_refused

from bounds import About, Bound, ClassSum, ClientMean, Condition, quantity, Source, Statistic, vocabulary
from bounds.assumptions import SMOOTH
from bounds.core import spell
from bounds.errors import BoundsError, DeclarationError, DomainError, UnknownNameError
from bounds.units import LOSS

class_count, w, clients = vocabulary.class_count, vocabulary.client_weight, vocabulary.clients
generalization_gap, Delta, K = vocabulary.generalization_gap, vocabulary.local_gap, vocabulary.local_steps
L, eta, mu = vocabulary.smoothness, vocabulary.step_size, vocabulary.strong_convexity

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


def reference(smoothness, strong_convexity, step_size, client_weight, local_gap, local_steps):
    spread = sum(p * p * g for p, g in zip(client_weight, local_gap, strict=True))
    mean = sum(p * g for p, g in zip(client_weight, local_gap, strict=True))
    return {"spread": smoothness / strong_convexity * spread, "steps": local_steps * mean}


def test_an_inconsistent_declaration_is_refused():
    all_refused(
        [
            ({"name": "Own Bound"}, "Own"),
            ({"relation": "<"}, "relation"),
            ({"terms": {}}, "term"),
            ({"signed": ("drift",)}, "'drift' spread steps"),
            ({"off_by": {"drift": LOSS}}, "'drift'"),
            ({"terms": {"spread": 3.7}}, "'spread' 3.7"),
            ({"terms": [L]}, "terms [smoothness]"),
            ({"target": sp.Symbol("gap")}, "target gap"),
            ({"source": "own notes"}, "Source("),
            ({"conditions": ("L <= 1",)}, "conditions Condition 'L"),
            ({"conditions": (Condition("few", K <= 3), Condition("few", K <= 5))}, "two 'few'"),
            ({"terms": {"spread": sp.Symbol("q") * L}}, "q quantity("),
            ({"terms": {"spread": L * quantity("smoothness", "M", "another one")}}, "smoothness"),
            ({"terms": {"spread": ClientMean(Delta) + ClassSum(class_count)}}, "axis"),
            ({"terms": {"spread": w * Delta}}, "'spread' clients"),
            ({"where": {ratio: L * Delta}}, "ratio clients"),
            ({"terms": {1: K * eta}}, "terms 1"),
            ({"where": {"ratio": L / mu}}, "where {'ratio'"),
            ({"statistic": "min"}, "Statistic 'min'"),
            ({"about": "fedavg"}, "About 'fedavg'"),
            ({"given": {"smothness": 2.5}}, "smothness"),
        ],
        lambda changes: make(**changes),
        kind=DeclarationError,
    )


index = sp.Symbol("i", integer=True)
harmonic = sp.Sum(1 / index, (index, 1, K))


def test_a_term_that_no_array_function_computes_is_refused_when_it_is_declared():
    all_refused(
        [
            (sp.Sum(L / index, (index, 1, K)), "'odd' Sum( ClientSum ClientMean"),
            (2 * sp.Function("h")(L), "'odd' h(smoothness)"),
            (sp.Piecewise((L, L < 2), (sp.Sum(L / index, (index, 1, K)), True)), "'odd' Sum("),
            (L * sp.CRootOf(index**5 - index + 3, 0), "'odd' CRootOf("),
            (L + 3 * sp.I, "'odd' I, real"),
            (sp.Piecewise((sp.nan, L < 2), (L, True)), "'odd' nan"),
            (L * sp.EulerGamma, "'odd' EulerGamma"),
            (sp.Le(L, 2 * mu), "'odd'"),
        ],
        lambda term: make(terms={"steps": K * ClientMean(Delta), "odd": term}),
        kind=DeclarationError,
    )


def test_nor_may_it_hide_elsewhere_and_a_condition_says_one_thing_that_numbers_can_change():
    all_refused(
        [
            (lambda: make(conditions=(Condition("few steps", L * eta * harmonic <= 1),)), "'few Sum("),
            (lambda: make(where={ratio: L * harmonic}), "ratio Sum("),
            (lambda: make(conditions=(Condition("far", sp.gamma(L * eta) <= 3),)), "'far' gamma"),
            (lambda: make(terms={"a": 3 / ratio}, where={ratio: sp.S.Zero}, conditions=())(), "'a' zoo"),
            (lambda: Condition("words", sp.Le(mu, L), SMOOTH), "both"),
            (lambda: Condition("words", sp.Ge(L, 0)), "numbers"),
            (lambda: Condition("words", eta), "step_size"),  # which SymPy takes for something true or false
            (lambda: Condition.assume("convexish"), "'convex'"),
            (lambda: Statistic("median"), "'last' 'min' 'median'"),
            (lambda: Statistic("min", over="rounds", at="nowhere"), "'nowhere'"),
            (lambda: About("fedinit", "x"), "'intended' 'x'"),
        ],
        kind=DeclarationError,
    )


def test_an_inconsistent_quantity_is_refused():
    all_refused(
        [
            ({"name": "target"}, "target"),
            ({"domain": (0, 1)}, "own domain Domain (0, 1)"),
            ({"unit": "loss"}, "own unit Unit 'loss'"),
            ({"at_most": 3.7}, "own at_most 3.7"),
        ],
        lambda declared: quantity(**{"name": "own", "letter": "o", "meaning": "a quantity of one's own", **declared}),
        kind=DeclarationError,
    )


def test_declarations_read_as_words():
    assert str(Statistic("min", over="rounds", at="server model")) == "min over rounds at the server model"
    assert [str(About("fedavg")), str(About("fedinit", "code"))] == ["fedavg", "fedinit (reading: code)"]
    assert Condition("words", sp.Or(eta < 2, L < 3)).kind == "numeric"
    assert [c.kind for c in make().conditions] == ["numeric", "numeric", "assumption", "words"]
    outer = quantity("outer", "B", "an abbreviation of an abbreviation")
    assert spell(outer + 1, {outer: ratio**2, ratio: L / mu}) == (L / mu) ** 2 + 1
    assert [q.name for q in make().quantities] == sorted(VALUES)
    assert make().axis == "clients"
    with pytest.raises(UnknownNameError, match="'step_size'"):
        make().quantity("stepsize")


def test_value_and_parts_equal_an_independent_computation():
    parts = reference(**VALUES)
    assert make()(**VALUES) == pytest.approx(sum(parts.values()), rel=1e-14)
    assert make().parts(**VALUES) == pytest.approx(parts, rel=1e-14)
    one = make(terms={"pieces": sp.Piecewise((L, L < 2), (L**2, True))}, where={})
    pieces = one.formula(smoothness=[1.3, 2.7], step_size=0.01, local_gap=0.3)
    np.testing.assert_allclose(pieces, [1.3, 2.7**2])
    assert make(terms={"all": L / clients}, where={}, conditions=(), given={"clients": 4})(smoothness=2.5) == 0.625


def test_outside_the_conditions_a_bound_has_no_value_and_its_formula_has():
    outside = {**VALUES, "step_size": [0.04, 0.4]}
    value, formula = make()(**outside), make().formula(**outside)
    assert np.isnan(value).tolist() == [False, True]
    assert formula[0] == value[0] == formula[1]
    assert make().holds(**outside).tolist() == [True, False]
    assert [c.words for c in make().failed(**outside)] == ["small steps"]
    assert np.isnan(make().parts(**outside)["spread"]).tolist() == [False, True]
    assert make().parts(outside=True, **outside)["spread"] == pytest.approx([reference(**VALUES)["spread"]] * 2)
    assert not make().holds(**{**VALUES, "local_gap": [0.05, -0.01, 0.09]})  # one client breaks a condition
    free = make(conditions=())
    values = {n: v for n, v in VALUES.items() if n != "step_size"}
    assert free.holds(**values) is True
    assert free.holds(**{**values, "local_steps": [3, 4]}).tolist() == [True, True]
    assert free.failed(**values) == ()


def test_what_is_fixed_is_neither_needed_nor_accepted_again_and_enters_exactly():
    fixed = make().fix(local_steps=13, smoothness=2.7)
    rest = {n: v for n, v in VALUES.items() if n not in ("local_steps", "smoothness")}
    assert fixed(**rest) == make()(**VALUES)
    assert fixed.given == {"local_steps": 13, "smoothness": 2.7}
    with pytest.raises(BoundsError, match=r"smoothness .*2.7"):
        fixed(**VALUES)
    with pytest.raises(UnknownNameError, match="'local_steps'"):
        make().fix(local_step=3)
    with pytest.raises(DomainError, match=r"local_steps .*2\.5"):
        make().fix(local_steps=2.5)
    assert make().fix(strong_convexity=0.1).expr.coeff(ClientMean(w * Delta)) == 10 * L
