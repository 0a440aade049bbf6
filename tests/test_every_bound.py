"""The contract: what every bound of the catalogue must do, whatever its paper says."""

import pickle
import re

import numpy as np
import pytest
from loops import cases
from matplotlib.mathtext import MathTextParser
from twins import TWINS

from bounds import BOUNDS, PAPERS
from bounds.domains import FLAG
from bounds.errors import DomainError
from bounds.numerics.evaluate import evaluator_of
from bounds.operators import AxisReduction
from bounds.points import POINTS
from bounds.quantities import quantities_of
from bounds.showing.cards import letters_of
from bounds.showing.prose import typeset
from paper_checks.audit import contract


def draws():
    return np.random.default_rng(20_409)


LETTER = re.compile(r"\\[A-Za-z]+|[A-Za-z]")
OPERATIONS = [r"\cdot", r"\exp", r"\frac", r"\ge", r"\le", r"\log", r"\max", r"\min", r"\sqrt"]

every_bound = cases("name bound point", [(name, BOUNDS[name], POINTS[name]) for name in BOUNDS])


def inside(bound, point):
    """Whether every value is in its domain and below its upper limit."""
    try:
        evaluator_of(bound).inputs(point)
    except DomainError:
        return False
    return True


def around(bound, point, count, spread, rng):
    """Random points in the domain, every quantity scaled by its own log-normal factor (``spread``)."""
    found = []
    for _ in range(20 * count):
        moved = {q.name: _moved(bound, q, point[q.name], spread, rng) for q in bound.quantities}
        if inside(bound, moved):
            found.append(moved)
        if len(found) == count:
            return found
    raise AssertionError(f"{bound.name}: too few random points are in the domain")


def _moved(bound, q, value, spread, rng):
    values = np.asarray(value, dtype=float)
    domain = q.card.domain
    if contract.counts_lists(bound, q) or (domain.simplex and rng.random() < 0.5):  # some statements want equal weights
        return value
    noise = rng.standard_normal(values.shape)
    # Real numbers change sign as they like: nothing else shows a term that can be negative.
    moved = values * (1 + 2 * noise) if domain.low == -np.inf else values * np.exp(spread * noise)
    if domain.whole:
        moved = np.maximum(np.rint(moved), domain.low)
    if domain.simplex:
        moved = moved / moved.sum()
    moved = np.where(domain.contains(moved), moved, values)
    return (moved.astype(int) if domain.whole else moved).tolist()


def neighbours(bound, point, count, rng):
    """A sweep of points near this one, further off, and far off, ``count`` of each."""
    return stack([p for spread in (0.1, 1.0, 3.0) for p in around(bound, point, count, spread, rng)])


def stack(points):
    """Many points as one sweep: scalars become arrays, lists over an axis become rows."""
    return {name: np.array([p[name] for p in points], dtype=float) for name in points[0]}


def close(value, expected, rel=1e-12):
    np.testing.assert_allclose(value, expected, rtol=rel, atol=0)


def test_every_bound_has_a_point_and_a_twin_and_nothing_else_has():
    assert len(BOUNDS) > 50
    assert set(BOUNDS) == set(POINTS) == set(TWINS)


@every_bound
def test_it_is_declared_whole(bound):
    assert bound.source.paper in PAPERS
    assert bound.name.startswith(f"{bound.source.paper}.")
    assert not contract.missing_declarations(bound)  # which number of which algorithm's run it bounds


@every_bound
def test_no_two_quantities_share_a_letter(bound):
    assert not contract.shared_letters(bound)


@every_bound
def test_its_point_is_generic(bound, point):
    assert set(point) == {q.name for q in bound.quantities}
    assert inside(bound, point)
    flags = {q.name for q in bound.quantities if q.card.domain == FLAG}  # can only be 0 or 1
    values = [value for name, value in point.items() if name not in flags]
    numbers = [v for value in values for v in (value if isinstance(value, list) else [value])]
    assert not {0, 1} & set(numbers)
    assert len(set(numbers)) == len(numbers)


AT_ITS_POINT = {
    "fedals.communicated_parameters": "counts whole periods",
    "fedals.communicated_parameters_table_2": "counts whole periods",
    "fedals.participation_gap_quadratic": "places clients in a plane, where some distances do not exist",
}
"""References that are compared at the point of the bound alone."""


@every_bound
def test_it_equals_its_slow_twin_at_its_point_and_around(name, bound, point):
    assert bound.holds(**point)
    found = contract.wrong_values(bound, TWINS[name], [point])
    if name not in AT_ITS_POINT:
        with contract.quiet():
            others = [p for spread in (0.3, 1.0) for p in around(bound, point, 4, spread, draws()) if bound.holds(**p)]
            found += contract.wrong_values(bound, TWINS[name], others, close=1e-10)
    assert not found, found


@every_bound
def test_its_terms_add_up(bound, point):
    close(sum(bound.parts(**point).values()), bound(**point))


@every_bound
def test_its_terms_are_nonnegative_where_it_holds_unless_signed(bound, point):
    count = 200 if bound.signed else 20  # what is declared signed must be seen negative somewhere
    found = contract.wrong_signs(bound, [neighbours(bound, point, count, draws())])
    assert not found, found


@every_bound
def test_every_term_carries_the_unit_of_the_target(bound):
    found = contract.wrong_units(bound)
    assert not found, found


@every_bound
def test_a_sweep_over_one_quantity_or_all_equals_a_loop(bound, point):
    drawn = around(bound, point, 4, 0.3, draws())
    free = [q.name for q in bound.quantities if not contract.counts_lists(bound, q)]
    for names in filter(None, (free, free[:1], free[len(free) // 2 :][:1], free[-1:])):
        line = [{**point, **{name: p[name] for name in names}} for p in drawn]
        line = [p for p in line if inside(bound, p)]
        if not line:
            continue
        with contract.quiet():
            swept = bound(**{**point, **{name: np.array([p[name] for p in line]) for name in names}})
            looped = np.array([bound(**p) for p in line])
        close(np.broadcast_to(swept, looped.shape), looped)


@every_bound
def test_relabelling_the_clients_changes_nothing(bound, point):
    turned = {n: v[1:] + v[:1] if isinstance(v, list) else v for n, v in point.items()}
    value = bound(**point)
    close(bound(**turned), np.roll(value, -1) if np.ndim(value) else value)


@every_bound
def test_equal_clients_are_a_special_case(bound, point):
    if bound.axis != "clients":
        assert bound.axis or bound.equal_clients()(**point) == bound(**point)
        return
    count = next(len(v) for v in point.values() if isinstance(v, list))
    alike = {n: v[1] if isinstance(v, list) else v for n, v in point.items()}
    lists = {q.name: [alike[q.name]] * count for q in bound.quantities if q.card.axis}
    if "client_weight" in lists:
        lists["client_weight"] = [1 / count] * count
    special = bound.equal_clients()
    values = {**alike, "clients": count}
    with contract.quiet():
        general = bound(**{**point, **lists})
        close(special(**{q.name: values[q.name] for q in special.quantities}), np.max(general))


@every_bound
def test_it_survives_pickling(bound, point):
    again = pickle.loads(pickle.dumps(bound))
    assert again.terms == bound.terms
    np.testing.assert_array_equal(again(**point), bound(**point))


@every_bound
def test_every_numeric_condition_can_fail(bound, point):
    assert bound.failed(**point) == ()
    found = contract.idle_conditions(bound)
    assert not found, found


@pytest.mark.slow
@every_bound
def test_its_formula_renders(bound):
    MathTextParser("path").parse(bound._repr_latex_())


@every_bound
def test_its_latex_defines_every_letter(bound):
    """Formula and conditions consist of letters that the list below them explains; an index occurs in its summand."""
    formula, _, listed = bound.latex().partition("Its letters:")
    symbols = letters_of(bound)
    assert all(listed.count(rf"\item ${letter}$: ") == 1 for letter in symbols.values())
    assert {*symbols} >= {*quantities_of([*bound.terms.values(), *(c.relation for c in bound.numeric_conditions)])}
    for condition in bound.conditions:
        introduced = re.findall(r"(\w+) = [01], ", condition.words)  # t = 0, 1, ..
        letters = LETTER.findall(" ".join(re.findall(r"\$(.*?)\$", typeset(condition.words))))
        assert {*letters} <= {*LETTER.findall(" ".join(symbols.values())), *OPERATIONS, *introduced}, condition.words
    for sum_ in set().union(*(e.atoms(AxisReduction) for e in (*bound.spelled_terms.values(), *bound.relations))):
        varying = [symbols[q] for q in quantities_of([sum_.args[0]]) if q.card.axis == sum_.axis]
        assert all(sum_.symbol[-2] in LETTER.findall(letter) for letter in varying), sum_  # k of \sum_{k}
    assert (r"\mathbb{E}_{k}\left[" in formula) <= (r"$\mathbb{E}_{k}[x] = \sum_{k} " in listed)


@every_bound
def test_its_cards_tell_what_it_is(bound):
    for card in (str(bound), bound._repr_html_()):
        for needed in (bound.name, bound.target.name, *(q.name for q in bound.quantities)):
            assert needed in card
    for term in bound.terms:
        assert term in str(bound)
    assert "<code>" not in bound._repr_html_()  # what could not be read as a formula


@every_bound
def test_the_compiled_function_equals_the_call(bound, point):
    rng = draws()
    sweep = stack([*around(bound, point, 20, 0.2, rng), *around(bound, point, 20, 2.0, rng)])
    with contract.quiet():
        close(bound.compile()(**sweep), bound(**sweep), rel=1e-11)
        np.testing.assert_array_equal(bound.compile()(**point), bound(**point))


@pytest.mark.slow
@every_bound
def test_torch_agrees_with_numpy(bound, point):
    rng = draws()
    sweep = stack([*around(bound, point, 10, 0.2, rng), *around(bound, point, 10, 1.5, rng)])
    with contract.quiet():
        close(bound.compile("torch")(**sweep).numpy(), bound(**sweep))
