"""Theorem 5.6: the sum over the rounds, (58) to (64), its conditions, and when it is informative."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.fedcog.letters import beta_sq, eta, g, gap, kappa_sq, L, p, sigma_sq, T, tau
from bounds.operators import ClientSum
from bounds.quantities import quantities_of

from ..checkers import agree
from ..checkers.formulas import relations
from ..checkers.numbers import true_at, value
from ..claim import Book, Finding, finding, Grade
from ..softmax import bias_curvature, hidden_curvature
from .generation import Data, distillation, FIRST_DATA, FLAT, Model, NEW, OLD

LEAST_SMOOTHNESS = Fraction(1, 4)
ODDS = {"ten classes": (4, 4, *[1] * 8), "a hundred classes": (49, 49, *[1] * 98)}
"""Outputs, up to a factor, with at least this curvature: output biases of ln 4 (ln 49) for two classes, else 0."""


def summed(book: Book) -> sp.Expr:
    """Return (59) summed over the rounds, divided by T and by the coefficient of the squared gradient."""
    parts = book["fedcog.descent_one_round"].spelled_terms
    share = -parts["global gradient"].diff(g)
    return (gap / T + sp.Add(*(parts[name] for name in parts if name != "global gradient"))) / share


def sharpened(book: Book) -> sp.Expr:
    """Return (20) with (23) and (53), the noise of T_2 weighted by 1/(1 - tau eta L), summed over the rounds."""
    noise = L * (tau * eta) ** 2 / 2 * sigma_sq / tau * ClientSum(p**2) / (1 - tau * eta * L)
    drift = sp.expand(tau * eta / 2 * book["fedcog.mean_gradient_drift"].expr)
    coefficient = drift.coeff(g)
    return (gap / T + noise + drift - coefficient * g) / (tau * eta / 2 - coefficient)


def without_knobs(book: Book) -> Finding:
    """The theorem's value depends on no setting of generation and distillation."""
    knobs = ("disagreement_weight", "distillation_weight", "generated_samples", "generation_steps", "classes")
    used = {q.name for q in quantities_of([book["fedcog.theorem"].expr])} & set(knobs)
    evidence = f"it depends on {', '.join(sorted(used))}" if used else f"none of {', '.join(knobs)} stands in it"
    return finding(not used, evidence, grade=Grade.PROVED)


def curvature_of_biases(book: Book) -> Finding:
    """A softmax cross-entropy has a curvature of at least 1/4 in its output biases, for any data."""
    curvatures = {name: bias_curvature(odds) for name, odds in ODDS.items()}
    evidence = ", ".join(f"{name}: {number}" for name, number in curvatures.items())
    evidence = f"curvature along opposite biases of two classes, {evidence}"
    return finding(min(curvatures.values()) >= LEAST_SMOOTHNESS, evidence)


def hidden_layer(book: Book) -> Finding:
    """The curvature of a network of one hidden unit in its output weight does not grow with the hidden bias."""
    curvatures = {unit: hidden_curvature(unit) for unit in (1, 10, 100)}
    evidence = "its curvature in u is " + ", ".join(f"{number} at h = {unit}" for unit, number in curvatures.items())
    witness = {"loss": "log(1 + exp(-u max(h, 0)))", "u": "0"}
    return finding(len(set(curvatures.values())) == 1, evidence, witness, as_audited=curvatures[100] == 2500)


def gradient_at_teacher(book: Book) -> Finding:
    """The gradient of the distillation loss is zero at the teacher and not zero at another model, by autograd."""
    import torch

    def slope(student: Model) -> float:
        weights = torch.tensor(student, dtype=torch.float64, requires_grad=True)
        x = torch.tensor(FIRST_DATA, dtype=torch.float64)
        teacher = torch.softmax(x @ torch.tensor(OLD, dtype=torch.float64).T, -1)
        loss = (teacher * (teacher.log() - torch.log_softmax(x @ weights.T, -1))).sum(-1).mean()
        (gradient,) = torch.autograd.grad(loss, weights)
        return float(gradient.norm())

    teacher, other = slope(OLD), slope(NEW)
    evidence = f"its gradient is {teacher:.1e} at the teacher, {other:.3g} at another model"
    return finding(teacher < 1e-14 < other, evidence, grade=Grade.SEARCHED)


def least_factor(book: Book) -> Finding:
    """Assumption 5.4 without offset needs the factor 1 for equal gradients of all clients."""
    shares, gradient = (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)), Fraction(7, 3)
    mean_square = sum((w * gradient**2 for w in shares), Fraction(0))
    needed = mean_square / sum((w * gradient for w in shares), Fraction(0)) ** 2
    return agree({"least factor of clients that agree": (needed, 1)})


def scaled(book: Book) -> Finding:
    """The distillation loss has no larger curvature at the teacher on three times larger data (second differences)."""
    step = 1e-3

    def curvature(data: Data) -> float:
        ahead, back = ([[sign * step * w for w in row] for row in NEW] for sign in (1, -1))
        return (distillation(FLAT, ahead, data) + distillation(FLAT, back, data)) / step**2

    small, large = curvature(FIRST_DATA), curvature([[3 * v for v in x] for x in FIRST_DATA])
    evidence = f"curvature {small:.4g} on data, {large:.4g} on data three times as large"
    witness = {"teacher": FLAT, "data": FIRST_DATA}
    return finding(large <= small * (1 + 1e-6), evidence, witness, as_audited=abs(large / small - 9) < 1e-3)


def together(book: Book) -> Finding:
    """The mean of squared gradients minus the squared mean does not depend on x, for clients a/2 (x - m_k)^2."""
    curvature, x, *minima = sp.symbols("a x m1:4", real=True)
    shares = sp.symbols("p1:4", positive=True)
    mean = sum(p * curvature * (x - m) for p, m in zip(shares, minima, strict=True))
    squares = sum(p * (curvature * (x - m)) ** 2 for p, m in zip(shares, minima, strict=True))
    change = sp.diff(squares - mean**2, x).subs(shares[-1], 1 - sum(shares[:-1]))
    same = sp.expand(change) == 0
    evidence = "the same offset at every model, for three clients of any weights, as polynomials"
    return finding(same, evidence if same else "the offset changes with the model", grade=Grade.PROVED)


# ---- runs at rest: parabolas with noise, sampling of clients or local momentum that the theorem does not cover ----

# Every run starts at a fixed point of a round (of E x^2, or of the model itself), so that the squared gradient is the
# same in all rounds. L = 1, and the infimum Phi_inf of the losses is 0.


def _bound(book: Book, at: dict[sp.Symbol, Any]) -> sp.Expr:
    """Evaluate Theorem 5.6 at exact numbers; one client without noise and offset unless given."""
    values = {L: 1, sigma_sq: 0, kappa_sq: 0, p: (1,), **at}
    exact = {q: tuple(map(sp.Rational, v)) if isinstance(v, tuple) else sp.Rational(v) for q, v in values.items()}
    return value(book["fedcog.theorem"].expr, exact)


def _at_rest(book: Book, rest: Any, at: dict[sp.Symbol, Any], instance: str, stays: bool) -> Finding:
    """The bound is at least the squared gradient ``rest``; ``stays``: whether that was found equal in all rounds."""
    bound = _bound(book, at)
    evidence = f"the squared gradient is {float(rest):.4g} in every round, the bound {float(bound):.4g}"
    return finding(bool(rest <= bound), evidence, {"instance": instance}, as_audited=stays)


def coin_of_a_round(book: Book) -> Finding:
    """The bound holds for one client x^2/2 with one coin of +-1 for all steps of a round: 20 of 1/100, 100 rounds.

    The evidence also has 400 steps of 1/979, the largest admitted step size, in a million rounds. A round takes x to
    q x - (1 - q) coin with q = (1 - eta)^tau, so that E x^2 rests at (1 - q)/(1 + q).
    """

    def at_rest(steps: int, size: Fraction, rounds: int) -> tuple[Fraction, Fraction, dict[sp.Symbol, Any]]:
        q = (1 - size) ** steps
        rest = (1 - q) / (1 + q)
        return rest, q**2 * rest + (1 - q) ** 2, {gap: rest / 2, tau: steps, eta: size, T: rounds, sigma_sq: 1}

    rest, _, longest = at_rest(400, Fraction(1, 979), 10**6)
    ratio = float(rest / _bound(book, longest))
    rest, after, at = at_rest(20, Fraction(1, 100), 100)
    witness = "x^2/2, one coin of +-1 a round, tau = 20, eta = 1/100, T = 100"
    resting = _at_rest(book, rest, at, witness, after == rest and 37 < ratio < 38)
    return replace(resting, evidence=f"{resting.evidence}; with 400 steps of 1/979 {ratio:.3g} times the bound")


def coin_of_all_clients(book: Book) -> Finding:
    """The bound holds for 16 clients x^2/2 with one common coin and one step of 1/4: E x^2 rests at 1/7."""
    size, rest = Fraction(1, 4), Fraction(1, 7)
    at = {gap: rest / 2, tau: 1, eta: size, T: 100, sigma_sq: 1, p: (Fraction(1, 16),) * 16}
    instance = "16 clients x^2/2, one coin of +-1 for all, tau = 1, eta = 1/4, T = 100"
    return _at_rest(book, rest, at, instance, (1 - size) ** 2 * rest + size**2 == rest)


def one_of_two(book: Book) -> Finding:
    """The bound holds for clients (x -+ 1)^2/2, one drawn per round, and one step of 1/2: E x^2 rests at 1/3."""
    rest, half = Fraction(1, 3), Fraction(1, 2)
    at = {gap: (rest + 1) / 2, tau: 1, eta: half, T: 20, kappa_sq: 1, p: (half, half)}
    instance = "(x - 1)^2/2 and (x + 1)^2/2, one a round, tau = 1, eta = 1/2, T = 20"
    return _at_rest(book, rest, at, instance, (rest + 1) / 4 == rest)


def local_momentum(book: Book, share: str) -> Finding:
    """The bound holds with local momentum of ``share`` at the fixed point of a round.

    Two clients h/2 (x - c)^2 of unequal weights, beta^2 = 5, the published number of local steps, a step size that (5)
    admits, and many rounds.
    """
    momentum = Fraction(share)
    clients = ((sp.Rational(3, 5), sp.S.One, 0), (sp.Rational(2, 5), sp.Rational(1, 100), 1))  # weight, h, c
    steps, size, factor, rounds = 400, sp.Rational(1, 1900), 5, 10**6

    def moved_share(curvature: sp.Rational) -> sp.Rational:
        """Return the share of the way to its minimiser that a client moves in a round; the buffer starts at 0."""
        rest, buffer = Fraction(1), Fraction(0)
        for _ in range(steps):
            buffer = momentum * buffer + Fraction(curvature.p, curvature.q) * rest
            rest -= Fraction(1, 1900) * buffer
        return sp.Rational(1 - rest)

    x = sp.Symbol("x", real=True)
    loss = sum(w * h * (x - c) ** 2 / 2 for w, h, c in clients)
    gradient = sp.diff(loss, x)
    dissimilarity = sum(w * (h * (x - c)) ** 2 for w, h, c in clients) - factor * gradient**2
    offset = dissimilarity.subs(x, *sp.solve(sp.diff(dissimilarity, x), x))  # the maximum of a parabola
    pulls = [(w * moved_share(h), c) for w, h, c in clients]
    rest = sum(pull * c for pull, c in pulls) / sum(pull for pull, _ in pulls)
    at = {
        gap: loss.subs(x, rest), L: 1, tau: steps, eta: size, T: rounds, sigma_sq: 0, kappa_sq: offset,
        beta_sq: factor, p: tuple(w for w, _, _ in clients),
    }  # fmt: skip
    met = all(true_at(relation, at) for relation in relations(book["fedcog.theorem"]))
    inside = sp.diff(dissimilarity, x, 2) < 0 and met
    instance = f"3/5 of x^2/2, 2/5 of (x - 1)^2/200, momentum {momentum}, tau = {steps}, eta = {size}, T = {rounds}"
    return _at_rest(book, gradient.subs(x, rest) ** 2, at, instance, bool(inside))
