"""Planted errors: that they are errors, that a check which pins a formula notices all of them, a weak one does not."""

import json
import time
from dataclasses import replace

import sympy as sp
from loops import cases
from tools.mutation import (
    attack_bounds,
    attack_checks,
    command,
    Kept,
    mutants,
    patience,
    runs,
)
from tools.mutation.expressions import errors
from tools.mutation.patience import judged_within

from bounds.catalog import get
from bounds.core import Condition
from bounds.vocabulary import cohort, local_steps, runtime, smoothness, step_size
from paper_checks.claims.checkers import MonotoneIn, Prints, Same
from paper_checks.claims.claim import Claim, Defect, holds, Kind, Status

NAME = "decaying_k.runtime_fixed"


def claim(check, known=Status.HOLDS, name="decaying_k.toy"):
    defect = Defect.SLIP if known is Status.FAILS else None
    return Claim(name, "A toy.", Kind.EQUATION.at("nowhere"), check, known, defect=defect)


def test_an_expression_gets_every_sort_of_error():
    found = dict(errors(3 * runtime * (cohort + 2) ** 2 + smoothness))
    assert found["doubled"] == 6 * runtime * (cohort + 2) ** 2 + 2 * smoothness
    assert found["constant 3 made 4"] == 4 * runtime * (cohort + 2) ** 2 + smoothness
    assert found["exponent of (cohort + 2)**2 raised by 1"] == 3 * runtime * (cohort + 2) ** 3 + smoothness
    assert found["smoothness lost"] == 3 * runtime * (cohort + 2) ** 2 + 1
    assert found["2 dropped from cohort + 2"] == 3 * runtime * cohort**2 + smoothness
    moved = dict(errors(runtime * (cohort + smoothness)))
    assert [e for words, e in moved.items() if words.startswith("parenthesis")] == [runtime * cohort + smoothness]
    swapped = [words for words in found if "replaced by" in words]
    assert len(swapped) == 3


def test_every_mutant_is_a_bound_that_says_something_else():
    original = get(NAME)
    found = list(mutants(original))
    assert len(found) > 12
    assert len({m.name for m in found}) == len(found)
    for m in found:
        assert m.bound.terms != original.terms or m.bound.conditions != original.conditions


def test_a_condition_is_dropped_turned_around_and_weakened():
    bound = get("fedcog.uniform_labels")
    capped = replace(bound, conditions=(Condition("few", cohort <= 3 * runtime),))
    found = {m.error: m.bound.conditions for m in mutants(capped) if m.place == "condition 'few'"}
    assert found["dropped"] == ()
    assert [c.relation for c in found["turned around"]] == [cohort >= 3 * runtime]
    assert [c.relation for c in found["right side doubled"]] == [cohort <= 6 * runtime]
    assert len(found) == 3


def test_a_claim_that_pins_the_formula_notices_every_error_in_its_terms():
    pinning = claim(Same(NAME, get(NAME).expr))
    (tally,) = attack_bounds([NAME], [pinning], workers=1)
    left = [s.name for s in tally.survivors]
    assert tally.caught > 10
    assert all("| condition " in name for name in left), left


def test_a_weak_claim_leaves_survivors_and_an_unexpected_one_is_not_asked():
    weak = claim(MonotoneIn(NAME, local_steps, up=False))
    (tally,) = attack_bounds([NAME], [weak], workers=1)
    assert 0 < tally.caught < tally.planted
    assert any("doubled" in s.name for s in tally.survivors)
    wrong = claim(Same(NAME, 2 * get(NAME).expr))
    (unasked,) = attack_bounds([NAME], [wrong], workers=1)
    assert unasked.caught == 0


def test_errors_in_checks_are_noticed():
    sized = claim(Prints({"a": "0.33", "b": "0.20"}, {"a": 1 / 3, "b": 1 / 5}))
    factor = claim(Same(2 * smoothness, smoothness, ratio=sp.Integer(2) * step_size / step_size), Status.FAILS)
    turned = claim(MonotoneIn(step_size * local_steps, step_size, up=True), name="decaying_k.up")
    for found in (sized, factor):
        (tally,) = attack_checks([found], workers=1)
        assert tally.planted > 1
        assert not tally.survivors
    (tally,) = attack_checks([turned], workers=1)
    assert "decaying_k.up | MonotoneIn.up: turned" not in [s.name for s in tally.survivors]


def working(seconds):
    """A check that takes so many seconds of CPU, and holds."""

    def run(book):
        until = time.process_time() + seconds
        while time.process_time() < until:
            pass
        return holds("worked")

    return run


def test_a_judgement_that_takes_too_long_is_given_up_and_the_next_one_is_not():
    began = time.process_time()
    assert judged_within(0.2, claim(working(60))) is None
    assert 0.1 < time.process_time() - began < 10  # a timer may ring a tick early
    assert judged_within(0.5, claim(working(0.01))).expected
    assert claim(working(1)).check(None).status is Status.HOLDS  # nothing rings any more


@cases("notices", ["another claim", "another check", "nobody"])
def test_what_takes_too_long_is_counted_apart_unless_another_notices(notices, monkeypatch, tmp_path):
    monkeypatch.setattr(patience, "LEAST", 0.1)
    original = get(NAME).expr

    def stuck(book):
        return working(0.0 if book[NAME].expr == original else 60)(book)

    seeing, blind = Same(NAME, original), Same(NAME, NAME)
    both = {"slow": stuck, "quick": seeing if notices == "another check" else blind}
    claims = [claim(both, name="decaying_k.a"), claim(seeing if notices == "another claim" else blind)]
    kept = Kept(tmp_path / "kept.jsonl")
    monkeypatch.setattr(runs, "mutants", lambda bound: [m for m in mutants(bound) if m.place.startswith("term")][:2])
    (tally,) = attack_bounds([NAME], claims, workers=1, kept=kept)
    assert not tally.survivors
    assert (tally.caught, len(tally.undecided)) == ((0, 2) if notices == "nobody" else (2, 0))
    assert Kept(kept.path).get("formulas", NAME) == tally


def test_the_command_tells_score_and_survivors(capsys, monkeypatch):
    pinning, weak = (
        claim(Same(NAME, get(NAME).expr)),
        claim(MonotoneIn(NAME, local_steps, up=False), name="decaying_k.b"),
    )
    monkeypatch.setattr(command, "CLAIMS", {c.name: c for c in (weak, pinning)})
    status = command.main([NAME, "--workers", "1", "--json"])
    told = json.loads(capsys.readouterr().out)
    (found,) = told["bounds"]
    assert found["name"] == NAME
    assert found["planted"] == found["caught"] + len(found["survivors"])
    assert status == int(any(not s["reason"] for s in found["survivors"]))
    assert told["checks"] == []
