"""Rates of cohorts of clients that keep something: the prototype's numbers, exact worst cases, moments, verifier."""

import copy
import json
from dataclasses import replace
from fractions import Fraction

import pytest

from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import renamed
from paper_checks.rates.lyapunov import Lyapunov
from paper_checks.rates.one_round import Cohort
from paper_checks.rates.rounds import after, Begun, quadratics
from paper_checks.rates.search import Case, certified
from paper_checks.worst_cases import WorstCaseError
from paper_checks.worst_cases.certificates import verify

KNOWN = {(2, 2, 1): 0.9037, (2, 10, 5): 0.9037, (2, 10, 1): 0.9425, (2, 1000, 10): 0.9904, (5, 10, 1): 0.9350}
"""SCAFFOLD's contractions by local steps, clients and cohort, of an independent prototype at eta = 1/(2K), mu = 0.1."""
BEGUN = {1: Begun(1, 1.9, 0.8), 2: Begun(2, 1.9, 0.8), 30: Begun(30, 1.9, 0.8)}
METHODS = ("scaffold()", "fedinit(beta=0.15)")


@pytest.fixture(scope="module")
def rates():
    return {m: certified(Case(algorithm(m), 2, 0.21, 1.3, 0.2, clients=3, cohort=1)) for m in METHODS}


@pytest.mark.parametrize("place", KNOWN)
def test_the_prototype_says_the_same_and_all_is_proved(place):
    steps, clients, cohort = place
    found = certified(Case(algorithm("scaffold()"), steps, 0.5 / steps, 1.0, 0.1, clients, cohort))
    assert found.contraction == pytest.approx(KNOWN[place], abs=6e-5)
    assert found.fastest.proof is not None
    assert not found.fastest.floor
    assert found.least is None


def test_drawing_everybody_is_what_all_do():
    for method in METHODS:
        everyone = certified(Case(algorithm(method), 2, 0.21, 1.3, 0.2))
        drawn = certified(Case(algorithm(method), 2, 0.21, 1.3, 0.2, clients=4, cohort=4))
        assert drawn.contraction == pytest.approx(everyone.contraction, rel=1e-7)
        nearly = certified(Case(algorithm(method), 2, 0.21, 1.3, 0.2, clients=5000, cohort=4999))
        assert nearly.contraction == pytest.approx(everyone.contraction, rel=3e-4)


@pytest.mark.parametrize("method", METHODS)
def test_exact_worst_cases_and_moments_stay_below(rates, method):
    for rounds in (1, 2):
        said = after(rates[method], BEGUN[rounds])
        assert said.proved
        assert said.instance <= said.worst_case * (1 + 1e-6)
        assert said.worst_case < said.bound < 1.4 * said.worst_case
    late = after(rates[method], BEGUN[30])
    assert late.worst_case is None
    assert 0 < late.instance < late.bound


@pytest.mark.parametrize("method", METHODS)
def test_without_the_spread_of_who_is_drawn_it_is_exceeded(rates, method, monkeypatch):
    """Planted: cohorts whose mean is that of all clients."""
    monkeypatch.setattr(Cohort, "spread", property(lambda self: Fraction(0)))
    case = replace(rates[method].case)
    found = Lyapunov(case.round, 1.3, 0.2, None, Cohort(1, 3)).solve(rates[method].fastest.contraction, case.weights)
    two = found.rho**2
    bound = two * (found.start_distance * 1.9 + found.start_dissimilarity * 0.8) + (1 - two) * found.floor * 0.8
    assert bound < quadratics(case, BEGUN[2])


def test_every_smaller_claim_and_other_cohorts_are_refused(rates):
    for rate in rates.values():
        proof = json.loads(json.dumps(rate.fastest.proof))
        verify.check(proof)
        assert "1 drawn every round" in verify.said(proof)
        changes = {word: "98/100" for word in ("contraction", "start_distance", "start_dissimilarity", "floor")}
        for word, factor in (changes | {"parameter": "5/4", "clients": 2, "step_size": "3/2"}).items():
            was = proof["claim"][word]
            if not Fraction(was):
                continue
            other = copy.deepcopy(proof)
            other["claim"][word] = was * factor if isinstance(was, int) else str(Fraction(was) * Fraction(factor))
            with pytest.raises(verify.Refused):
                verify.check(other | {"statement": verify.said(other)})


class Late:
    """Half of the correction."""

    def __call__(self, work, w, gradient, gradient_at):
        return gradient - 0.5 * work.recall("control") + 0.5 * work.state.server["control"]


def test_a_method_that_does_something_else_is_not_taken_for_its_listing():
    scaffold = algorithm("scaffold()")
    with pytest.raises(WorstCaseError):
        certified(Case(renamed(scaffold, "scaffold()", direction=Late()), 2, 0.21, 1.3, 0.2, clients=3, cohort=1))
    twice = renamed(scaffold, "scaffold()", remember=(*scaffold.remember, *algorithm("fedinit()").remember))
    with pytest.raises(WorstCaseError):
        certified(Case(twice, 2, 0.21, 1.3, 0.2, clients=3, cohort=1))
