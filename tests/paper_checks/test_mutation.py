"""Planted errors: that they are errors, that a check which pins a formula notices all of them, a weak one does not."""

import json
from dataclasses import replace

from tools.mutation import attack_bounds, command, mutants
from tools.mutation.expressions import errors

from bounds.catalog import get
from bounds.core import Condition
from bounds.vocabulary import cohort, local_steps, runtime, smoothness
from paper_checks.claims.checkers import MonotoneIn, Same
from paper_checks.claims.claim import Claim, Defect, Kind, Status

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
    assert sum("replaced by" in words for words in found) == 3
    moved = dict(errors(runtime * (cohort + smoothness)))
    assert [e for words, e in moved.items() if words.startswith("parenthesis")] == [runtime * cohort + smoothness]


def test_every_mutant_is_a_bound_that_says_something_else():
    original = get(NAME)
    found = list(mutants(original))
    assert len({m.name for m in found}) == len(found) > 12
    assert all(m.bound.terms != original.terms or m.bound.conditions != original.conditions for m in found)
    capped = replace(get("fedcog.uniform_labels"), conditions=(Condition("few", cohort <= 3 * runtime),))
    errors_of = {m.error: m.bound.conditions for m in mutants(capped) if m.place == "condition 'few'"}
    assert errors_of.pop("dropped") == ()
    relations = {error: [c.relation for c in conditions] for error, conditions in errors_of.items()}
    assert relations == {"turned around": [cohort >= 3 * runtime], "right side doubled": [cohort <= 6 * runtime]}


def test_a_claim_that_pins_the_formula_notices_every_error_and_a_weak_one_leaves_survivors():
    pinning, weak = claim(Same(NAME, get(NAME).expr)), claim(MonotoneIn(NAME, local_steps, up=False))
    (tally,) = attack_bounds([NAME], [pinning], workers=1)
    assert tally.caught > 10
    assert all("| condition " in survivor.name for survivor in tally.survivors)
    (tally,) = attack_bounds([NAME], [weak], workers=1)
    assert 0 < tally.caught < tally.planted
    assert any("doubled" in s.name for s in tally.survivors)
    (unasked,) = attack_bounds([NAME], [claim(Same(NAME, 2 * get(NAME).expr))], workers=1)
    assert unasked.caught == 0  # a claim whose verdict is not the audited one notices nothing


def test_the_command_gives_score_and_survivors(capsys, monkeypatch):
    weak = claim(MonotoneIn(NAME, local_steps, up=False), name="decaying_k.b")
    monkeypatch.setattr(command, "CLAIMS", {c.name: c for c in (weak, claim(Same(NAME, get(NAME).expr)))})
    status = command.main([NAME, "--workers", "1", "--json"])
    (found,) = json.loads(capsys.readouterr().out)["bounds"]
    assert found["name"] == NAME
    assert found["planted"] == found["caught"] + len(found["survivors"])
    assert status == int(any(not s["reason"] for s in found["survivors"]))
