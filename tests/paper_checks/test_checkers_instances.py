"""Dominates and Broken: a bound that an exact search cannot break, one that it breaks, and stored witnesses."""

from dataclasses import replace

import pytest
from loops import cases

from bounds.catalog import get
from paper_checks.claims.checkers import Broken, Dominates, instances
from paper_checks.claims.claim import Book, ClaimError, Status

NAME = "fedals.one_round"


def scaled(factor):
    """The bound's twin with every term times a factor."""
    bound = get(NAME)
    return Book({NAME: replace(bound, terms={n: t * factor for n, t in bound.terms.items()})})


@cases("evaluations", [0, -5, 2.5, True])
def test_a_search_looks_somewhere(evaluations):
    with pytest.raises(ClaimError, match=f"evaluations must be a whole number >= 1; got {evaluations}"):
        Dominates(NAME, evaluations=evaluations)


def test_a_bound_that_holds_is_not_broken_and_its_tightness_is_audited():
    found = Dominates(NAME, evaluations=30)(Book())
    assert found.status is Status.HOLDS
    least = float(found.evidence.split(">= ")[1].split()[0])
    assert least >= 1
    assert Dominates(NAME, evaluations=30, least=least)(Book()).as_audited
    assert not Dominates(NAME, evaluations=30, least=least)(scaled(3)).as_audited


def test_a_bound_cut_to_pieces_is_broken_and_its_witness_replays(tmp_path, monkeypatch):
    from paper_checks.falsifier import falsify

    cut = scaled(10**-6)
    found = Dominates(NAME, evaluations=40)(cut)
    assert found.status is Status.FAILS
    assert found.witness
    witness = falsify(cut[NAME], evaluations=40).witness
    witness.save(tmp_path / "cut.json")
    monkeypatch.setattr(instances, "COUNTEREXAMPLES", tmp_path)
    assert Broken(NAME, "cut.json")(cut).status is Status.FAILS
    ratio = float(witness.measured) / float(witness.value)
    assert Broken(NAME, "cut.json", ratio=ratio)(cut).as_audited
    assert not Broken(NAME, "cut.json", ratio=2 * ratio)(cut).as_audited


def test_a_witness_of_another_formula_is_refused(tmp_path, monkeypatch):
    from paper_checks.falsifier import falsify, WitnessError

    cut = scaled(10**-6)
    falsify(cut[NAME], evaluations=40).witness.save(tmp_path / "cut.json")
    monkeypatch.setattr(instances, "COUNTEREXAMPLES", tmp_path)
    with pytest.raises(WitnessError, match="search again"):
        Broken(NAME, "cut.json")(Book())
    with pytest.raises(WitnessError, match="no_such"):
        Broken(NAME, "no_such.json")(Book())


@cases(
    "measured bound said",
    [
        ("25/4", "-25/4", "exact value 6.25 against bound -6.25"),
        ("771367000001", "771367000000", "exact value 771367000001 against bound 771367000000"),
        ("1.00000000000000000001", "1", "exact value 1 against bound 1 (+1e-20)"),
        ("0.5000", "1/2", "exact value 0.5 against bound 0.5"),
    ],
)
def test_both_sides_are_shown_in_digits_that_tell_them_apart(measured, bound, said):
    assert instances._beside(measured, bound) == said
