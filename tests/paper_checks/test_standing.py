"""The claim that a bound stands by is about that bound: its check reads it, and refuses one that is too small."""

from dataclasses import replace

import pytest
import sympy as sp
from loops import cases

from bounds import BOUNDS
from bounds.vocabulary import current_loss, initial_loss, iterations, local_steps, rounds, runtime, steps_cubed_ratio
from paper_checks.audit.running import CLAIMS
from paper_checks.claims.claim import Book, Status
from paper_checks.comparing.audit_status import AUDIT_STATUS, FAILS, REPAIR

SAME_AS = {"decaying_k.per_rounds": "decaying_k.theorem_1", "decaying_k.per_second": "decaying_k.theorem_1"}
"""Bounds that are the formula of another one, by whose claim they stand."""
SOUND = [name for name, standing in AUDIT_STATUS.items() if standing.verdict != FAILS]


def deciding(name):
    """The check that decides: that of the claim, or of its repair."""
    known, word = AUDIT_STATUS[name]
    found = CLAIMS[known]
    return found.repair.check if word == REPAIR else found.check


@pytest.mark.slow
@cases("name", SOUND)
def test_the_check_does_not_let_a_bound_pass_that_is_fifty_times_too_small(name):
    bound = BOUNDS[name]
    small = replace(bound, terms={label: term / 50 for label, term in bound.terms.items()})
    assert deciding(name)(Book({name: small})).status is not Status.HOLDS


@cases("name", [name for name in AUDIT_STATUS if name not in (*SOUND, *SAME_AS)])
def test_the_check_of_a_bound_that_fails_reads_it(name):
    book = Book()
    deciding(name)(book)
    assert name in book.requested


@cases("name other", SAME_AS.items())
def test_what_stands_by_the_claim_of_another_bound_is_its_formula(name, other):
    """With K R iterations, K local steps in every round, the run's own start, and R rounds in the runtime."""
    one, same = BOUNDS[name], BOUNDS[other]
    fields = ("target", "relation", "statistic", "about")
    assert [getattr(one, f) for f in fields] == [getattr(same, f) for f in fields]
    plan = {iterations: local_steps * rounds, steps_cubed_ratio: local_steps**2, initial_loss: current_loss}
    a, b = one.expr, same.expr.subs(plan)
    if a.has(runtime):
        words = {q.name: q for q in one.quantities}
        each = words["model_size"] / words["download_rate"] + words["model_size"] / words["upload_rate"]
        a = a.subs(runtime, rounds * (each + local_steps * words["minibatch_time"]))
    assert sp.simplify(a - b) == 0
    assert sp.simplify(a - b.subs(rounds, 2 * rounds)) != 0


@cases("name", [name for name in AUDIT_STATUS if AUDIT_STATUS[name].verdict == REPAIR])
def test_a_repair_is_of_the_same_number_as_what_is_printed(name):
    printed = [other for other, s in AUDIT_STATUS.items() if s.claim == AUDIT_STATUS[name].claim and s.verdict == FAILS]
    for other in printed:
        one, same = BOUNDS[name], BOUNDS[other]
        for field in ("target", "relation", "statistic", "about"):
            assert getattr(one, field) == getattr(same, field)
