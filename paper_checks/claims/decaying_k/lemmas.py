"""Lemmas 1 and 2 (Appendix A.1): their premises and counterexamples."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.decaying_k.letters import C, eta, G2, K, N

from ..checkers import number, rational, short, term
from ..claim import Book, Finding, finding
from ..parabolas import Parabolas

PRINTED, REPAIRED = "decaying_k.lemma_1_printed", "decaying_k.lemma_1"


def _sixteen(book: Book, name: str, problem: Parabolas, **values: Any) -> Fraction:
    """Evaluate (16), or its repair, on parabolas; full participation, one local step and G = 1 unless given."""
    defaults: dict[str, Any] = {**problem.values(), "cohort": problem.clients, "local_steps": 1, "grad_cap_sq": 1}
    return number(book, name, **(defaults | values))


def jump(book: Book) -> Finding:
    """(16) bounds the last step of a round of ten from x^*, for four opposed clients of which two are drawn."""
    problem, step_size, steps = Parabolas.of((1, -1, 1, -1)), Fraction(1, 20), 10
    before = problem.average(Fraction(0), steps - 1, step_size) ** 2
    after = sum(chance * x**2 for chance, x in problem.round_ends(Fraction(0), 2, steps, step_size))
    cap = number(book, "decaying_k.gradient_cap", smoothness=1, initial_distance_sq=0)
    bound = _sixteen(
        book, PRINTED, problem, cohort=2, local_steps=steps, step_size=step_size, distance_sq=before, grad_cap_sq=cap
    )
    evidence = f"E||x_(t+1) - x^*||^2 = {short(after)} against {short(bound)}"
    witness = {"clients": "(x - b)^2/2, b = 1, -1, 1, -1", "N": "2", "K": "10", "eta": "1/20", "x_1": "x^* = 0"}
    return finding(after <= bound, evidence, witness, as_audited=bound == Fraction(3, 400))


def long_step(book: Book) -> Finding:
    """(16) bounds one step of 3/2 from 1 to -1/2, for two equal clients x^2/2 that both take part."""
    problem, step_size = Parabolas.of((0, 0)), Fraction(3, 2)
    after = problem.average(Fraction(1), 1, step_size) ** 2
    bound = _sixteen(book, PRINTED, problem, step_size=step_size, distance_sq=1)
    witness = {"clients": "x^2/2 twice", "eta": "3/2", "x_1": "1", "N": "2", "K": "1"}
    return finding(after <= bound, f"{after} against {bound}", witness, as_audited=bound == Fraction(-1, 2))


def shared_coin(book: Book) -> Finding:
    """(16) bounds one step from x^* = 0 of C equal clients x^2/2 whose noise is one common coin of +-1."""
    step_size, ratios = Fraction(1, 4), {}
    for size in (2, 10, 1000):
        problem = replace(Parabolas.of((0,) * size), variance=Fraction(1))
        ratios[size] = step_size**2 / _sixteen(book, REPAIRED, problem, step_size=step_size, distance_sq=0)
    evidence = ", ".join(f"{ratio} for C = {size}" for size, ratio in ratios.items())
    witness = {"clients": "x^2/2, C of them", "x_1": "x^* = 0", "K": "1", "N": "C", "eta": "1/4"}
    audited = all(ratio == size for size, ratio in ratios.items())
    return finding(max(ratios.values()) <= 1, f"squared distance over (16): {evidence}", witness, as_audited=audited)


def kept_batch(book: Book) -> Finding:
    """(16) bounds E x^2 = 1/2 at the rest point of two clients x^2/2 that keep one coin of +-1 each for ever."""
    problem, rest = replace(Parabolas.of((0, 0)), variance=Fraction(1)), Fraction(1, 2)
    bound = _sixteen(book, REPAIRED, problem, step_size=Fraction(1, 4), distance_sq=rest)
    evidence = f"a squared distance of {rest} at rest against {bound}"
    return finding(rest <= bound, evidence, {"clients": "x^2/2 twice", "K": "1", "eta": "1/4"})


def sampling_factor(book: Book, cohort: int, clients: int) -> Fraction:
    """Return the factor in front of 4/N K^2 G^2 eta^2 in (16)."""
    factor = term(PRINTED, "partial participation")(book) / (4 / N * K**2 * G2 * eta**2)
    return rational(sp.simplify(factor).subs({N: cohort, C: clients}))


def finite_population(book: Book) -> Finding:
    """The printed factor is the variance of the mean of N of C numbers over that of N draws with replacement."""
    minima = tuple(map(Fraction, (3, -1, 4, 1, -5)))
    problem = Parabolas(minima, (Fraction(1),) * 5)
    mean = problem.minimiser
    spread = sum((b - mean) ** 2 for b in minima) / 5
    exact = {}
    for size in (2, 3, 4):
        cohorts = problem.cohorts(size)
        exact[size] = sum(p * (sum(minima[c] for c in c_) / size - mean) ** 2 for p, c_ in cohorts) * size / spread
    printed = {n: sampling_factor(book, n, 5) for n in exact}
    evidence = "; ".join(f"N = {n}: {exact[n]}, printed {printed[n]}" for n in exact)
    audited = all(v == Fraction(5 - n, 4) for n, v in exact.items())
    return finding(exact == printed, f"five clients, {evidence}", {"C": "5"}, as_audited=audited)


def sum_at_optimum(book: Book) -> Finding:
    bound = number(
        book, "decaying_k.lemma_2", initial_loss=-1, optimal_loss=-1, smoothness=2, strong_convexity=1,
        heterogeneity=0, grad_cap_sq=0, client_weight=(Fraction(1, 2),) * 2, client_gradient_variance=(0, 0), cohort=2,
        local_steps=1, squared_step_sizes=Fraction(4, 64),
    )  # fmt: skip
    witness = {"F": "x^2 + y^2/2 - 1 for both clients", "start": "0, 0", "L": "2", "mu": "1"}
    return finding(bound >= 0, f"a sum of zeros against {bound}", witness, as_audited=bound == -4)
