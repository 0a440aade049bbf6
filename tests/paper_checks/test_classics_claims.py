"""What the audit of the classic theorems found, once more by arithmetic of its own."""

from dataclasses import replace
from fractions import Fraction

import pytest
from loops import cases

from bounds import BOUNDS
from bounds.core import Bound, Condition
from bounds.papers import Source
from bounds.vocabulary import distance_sq, gradient_variance, optimality_gap, smoothness, step_size
from paper_checks.audit.running import CLAIMS
from paper_checks.claims.claim import Book, ClaimError, Status
from paper_checks.claims.classics.runs import compared

RUNS = {
    "field_guide_lemma_1": (), "field_guide_lemma_2": (), "field_guide_theorem_1": (),
    "li_theorem_1": ("heterogeneity", "drift"), "li_theorem_2": ("heterogeneity", "drift"),
    "li_theorem_3": ("heterogeneity", "drift"),
    "local_gd_lemma_1": (), "local_gd_lemma_1_short_step": (), "local_gd_lemma_2": (), "local_gd_theorem_1": (),
    "local_sgd_lemma_1": (), "local_sgd_recursion": (), "local_sgd_theorem_1": (), "local_sgd_theorem_2": (),
    "bottou_4_6": (), "fedprox_theorem_4": ("sampling", "curvature and sampling"),
    "scaffold_convex": (), "scaffold_nonconvex": (), "fednova_theorem_2": (), "proxskip_5_5": (),
}  # fmt: skip
"""Theorems whose runs are by hand, each with the terms that no run needs."""


@cases("name", RUNS)
def test_without_a_term_that_a_run_needs_the_bound_is_violated_by_a_run(name):
    declared = CLAIMS[f"classics.{name.replace('5_5', '3_6')}"]
    decided = declared if declared.repair is None else declared.repair
    runs = [
        check
        for how, check in decided.check.checks.items()
        if how.startswith(("exact r", "exact s", "exact e", "at points"))
    ]
    bound = BOUNDS[f"classics.{name}"]
    for term in bound.terms:
        if term in bound.signed:
            continue
        less = replace(bound, terms={**bound.terms, term: bound.terms[term] / 10**9})
        found = {run(Book({bound.name: less})).status for run in runs}
        assert (Status.FAILS in found) == (term not in RUNS[name]), term


def test_runs_by_hand_say_what_share_of_each_term_they_need_and_keep_to_the_conditions():
    """gamma sigma^2 + L D^2: two runs, 4.2 and 3.1, beside terms of 2.0 and 3.0."""
    terms = {"noise": step_size * gradient_variance, "start": smoothness * distance_sq}
    short = Condition("short steps", step_size <= 1 / smoothness)
    bound = Bound("own.two_terms", optimality_gap, terms, Source("own notes", "line 3"), (short,))
    values = {"step_size": Fraction(1, 5), "gradient_variance": 10, "smoothness": 2, "distance_sq": Fraction(3, 2)}
    cases = [(Fraction(42, 10), values), (Fraction(31, 10), values)]
    found = compared(Book({bound.name: bound}), bound.name, lambda: cases)
    assert found.status is Status.HOLDS
    assert "noise 0.6, start 0.73" in found.evidence
    assert "0.84" in found.evidence
    with pytest.raises(ClaimError, match="breaks"):
        compared(
            Book({bound.name: bound}), bound.name, lambda: [(Fraction(1), {**values, "step_size": Fraction(3, 5)})]
        )
