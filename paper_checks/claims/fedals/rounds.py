"""Theorem 4.3 on many rounds, in both versions: counterexamples, its proof (54) to (58), and local steps."""

from __future__ import annotations

from fractions import Fraction as F
from functools import reduce
from itertools import pairwise, product

import numpy as np
import sympy as sp

from bounds.fedals.letters import C, Delta, delta, epsilon, K, L, mu, sigma_sq, tau, Z
from bounds.operators import equal_clients as shared

from ..checkers import resolve, term
from ..checkers.formulas import relations
from ..claim import Book, fails, Finding, finding, Grade, holds, Status
from . import enumerated as tiny
from .algorithms import trained
from .common import SAMPLES, with_equal_clients
from .enumerated import Walk, weights

PRINTED, REPAIRED = "fedals.rounds_v2", "fedals.rounds_inexact"


def stated(book: Book, name: str, walk: Walk, size: int = 1) -> sp.Expr:
    """Evaluate a bound at a walk on coins of +-size, hidden constants and complexity 1; not real if B is negative."""
    constants = {K: walk.clients, tau: walk.steps, L: 1, mu: 1, sigma_sq: size**2, C: 1, shared(Z): walk.steps}
    measured = {Delta: walk.local_gap, delta: walk.non_iidness, epsilon: walk.suboptimality}
    numbers = {shared(q): size**2 * sp.Rational(v.numerator, v.denominator) for q, v in measured.items()}
    return resolve(with_equal_clients(name), book).subs({**constants, **numbers})


def squared_distances(book: Book) -> Finding:
    """(9), all constants 1, is at least the gap in two federations of identical clients on fresh coins."""
    walks = Walk.of(32, 4, F(1)), Walk.of(5, 175, F(1, 20))
    (gap, bound), (slow, slow_bound) = ((100 * float(w.gap), float(stated(book, PRINTED, w, 10))) for w in walks)
    evidence = (
        f"a fresh coin of 10 or -10 in each step: gap {gap:.4g}, (9) {bound:.4g} for 32 clients and 4 steps of 1/L; "
        f"gap {slow:.4g}, (9) {slow_bound:.4g} for 5 clients and 175 steps of 1/(20 L)"
    )
    return finding(gap <= bound or slow <= slow_bound, evidence, as_audited=f"{bound:.6f}" == "0.444317")


def never_negative(book: Book) -> Finding:
    walks = [Walk.of(*setting) for setting in product((2, 5, 32), (1, 4, 7, 30), (F(1, 20), F(1, 2), F(1)))]
    sums = [walk.non_iidness + walk.suboptimality for walk in walks]
    return finding(min(sums) >= 0, f"least sum {float(min(sums)):.3g} over {len(sums)} settings")


def conditions(book: Book) -> Finding:
    """The number B under the root of (9) is not negative for two clients that take 7 steps on fresh coins."""
    walk = Walk.of(2, 7, F(1))
    b = walk.non_iidness + F(1, 7)
    evidence = f"two clients, fresh fair coins, 7 steps of 1/L: non-iidness {walk.non_iidness}, noise 1/7, so B = {b}"
    return holds(evidence) if stated(book, PRINTED, walk).is_real else fails(evidence, as_audited=b == F(-1, 28))


c1, c2, c3, c4, c5 = sp.symbols("c1:6", positive=True)
BESIDE = {"model class": c1, "local optimization": c2, "condition number": c5}
"""Arbitrary constants hidden by the O of the parts of A; ``c3`` and ``c4`` are those of non-iidness and noise in B."""
n = sp.Symbol("n", positive=True)


def any_constants(book: Book, name: str) -> Finding:
    """The bound is at least the gap as n grows, for some constants; n clients, n steps of 1/L, coins of n and -n."""
    drift = -n * (n - 1) * (1 - 2 / n) / 2
    values = {K: n, tau: n, shared(Z): n, mu: 1, sigma_sq: n**2}
    for size in (2, 3, 8):
        walk = Walk.of(size, size, F(1))
        if walk.gap != F(1, size**2) or size**2 * walk.non_iidness != F(str(drift.subs(n, size))):
            return fails(f"closed form at n = {size}", as_audited=False)
    parts = [part for part in BESIDE if part in book[name].terms]
    beside = sum(BESIDE[part] * resolve(with_equal_clients(term(name, part)), book) for part in parts)
    rest = sp.limit(sp.expand(beside.subs({**values, L: 1})), n, sp.oo)
    ((b, _),) = (shared(relation).args for relation in relations(book[name]))
    # With mu = 1 an L in B is its condition number.
    b = b.xreplace({shared(delta): c3 * drift, sigma_sq: c4 * sigma_sq}).subs({**values, L: c5})
    b_limit = sp.limit(b / n**2, n, sp.oo)
    at_16 = resolve(with_equal_clients(term(name, *parts)), book).subs({**values, L: 1, C: 1}).subs(n, 16)
    evidence = (
        f"n clients take n steps of 1/L on fresh coins of n and -n: gap 1; as n grows B/n^2 tends to {b_limit} and "
        f"the terms beside the root to {rest} (at n = 16, all constants and the complexity one, {at_16})"
    )
    status = Status.FAILS if (b_limit, rest) == (-c3 / 2, 0) else Status.OPEN
    return Finding(status, Grade.PROVED, evidence)


def repaired(book: Book) -> Finding:
    walks = [Walk.of(size, size, F(1)) for size in (2, 3, 8, 16)]
    closest = max(float(walk.gap) / float(stated(book, REPAIRED, walk)) for walk in walks)
    return finding(closest <= 1, f"gap at most {closest:.3g} of it for n = 2, 3, 8, 16")


# ---- The proof of Theorem 4.3, (54) to (58) ----


def after_round(book: Book) -> Finding:
    measured, swapped = tiny.gap("few steps"), sum(c.weight * c.swap for c in tiny.clients("few steps"))
    evidence = f"one round ends with a gap of {measured:.6g}, which (10) gives as {swapped:.6g}"
    return finding(abs(measured - swapped) < tiny.TOLERANCE, evidence)


def shift(book: Book) -> Finding:
    """The model before a round's steps has the mean gap of the model after them, (55) and (56), enumerated problem."""
    start = np.array(tiny.START)
    before = sum(
        weight * float(np.mean(tiny.risk(start, pool[None]) - tiny.risk(start, sets)))
        for weight, pool, sets in zip(tiny.WEIGHTS, tiny.POOLS, tiny.SETS, strict=True)
    )
    after = tiny.gap("few steps")
    evidence = f"mean gap of the model the round starts from {before:.3g}, of the model it ends with {after:.6g}"
    return finding(abs(before - after) <= tiny.TOLERANCE, evidence, as_audited=abs(before) < 1e-12 < after)


def cautious(book: Book, fresh: bool) -> Finding:
    """(8) at the models at the end of rounds is at least the end-to-end gap.

    Both are covariances of model and sample means, for squared distances, one client and four rounds, each a third of
    the way to the mean of the round's samples. All rounds have the same samples unless ``fresh``.
    """
    rounds, pull = 4, F(1, 3)
    walk = [weights([pull] * r) for r in range(1, rounds + 1)]
    per_round = sum((shares[-1] if fresh else sum(shares, F(0)) for shares in walk), F(0)) / rounds
    end = sum(walk[-1], F(0)) / (rounds if fresh else 1)
    evidence = f"four rounds, a third of the way in each: (8) is {per_round}, the end-to-end gap {end} local gaps"
    return finding(per_round >= end, evidence)


def curvatures(book: Book) -> Finding:
    """(8) is at least the end-to-end gap: one client, a fresh (h, y) and a step of 1/10 a round from 2."""
    per_round = end = F(0)
    for drawn in product(SAMPLES, repeat=3):
        theta = F(2)
        for h, y in drawn:
            theta -= F(h, 10) * (theta - y)
            per_round += (_risk(theta, SAMPLES) - _risk(theta, ((h, y),))) / 24
        end += (_risk(theta, SAMPLES) - _risk(theta, drawn)) / 8
    evidence = f"fresh samples of curvature 3 or 1 in three rounds: (8) is {per_round}, the end-to-end gap {end}"
    return finding(per_round >= end, evidence)


def _risk(theta: F, samples: tuple[tuple[int, int], ...]) -> F:
    return sum((F(h, 2) * (theta - y) ** 2 for h, y in samples), F(0)) / len(samples)


# ---- local steps: (58) and Section 5 ----


def _suboptimality(steps: int) -> F:
    """Return the suboptimality after noise-free gradient steps of 1/4 on ``(x^2 + 3 y^2)/2`` from (2, 1)."""
    x, y = F(2) * (1 - F(1, 4)) ** steps, F(1) * (1 - F(3, 4)) ** steps
    return (x**2 + 3 * y**2) / 2


def with_start(book: Book) -> Finding:
    """After tau steps at most (1 - eta mu)^(2 tau) of the initial suboptimality is left, for mu = 1, eta = 1/4."""
    for steps in range(1, 9):
        if _suboptimality(steps) > (1 - F(1, 4)) ** (2 * steps) * _suboptimality(0):
            return fails(f"{steps} steps")
    return holds("at most (1 - eta mu)^(2 tau) of the start's suboptimality is left after 1 to 8 noise-free steps")


def forgotten(book: Book) -> Finding:
    rest = float(_suboptimality(5))
    return fails(f"no noise, five steps: suboptimality {rest:.4g}, sigma^2/(mu tau) = 0", as_audited=rest > 0)


def times_steps(book: Book, decaying: bool) -> Finding:
    """The suboptimality times tau stays bounded from 5 to 80 steps, of 1/2 or (``decaying``) of 1, 1/2, 1/3, ..."""
    pulls = [tuple(F(1, t + 1) if decaying else F(1, 2) for t in range(steps)) for steps in (5, 20, 80)]
    products = [len(p) * Walk(1, p).suboptimality for p in pulls]
    values = ", ".join(f"{float(v):.4g}" for v in products)
    return finding(products[-1] <= 2 * products[0], f"tau times suboptimality at 5, 20, 80 steps: {values} variances")


def far_client(book: Book) -> Finding:
    """The first client's non-iidness grows with steps of 1/10 from 0; means 1, 3, no noise, half squared distances."""
    values = []
    for steps in (0, 1, 2):
        share = 1 - (1 - F(1, 10)) ** steps  # of the way to each client's mean
        values.append(((2 * share - 1) ** 2 - (share - 1) ** 2) / 2)
    evidence = f"no noise, means 1 and 3, steps of 1/10 from 0: non-iidness of the first {', '.join(map(str, values))}"
    return holds(evidence) if values[0] <= values[1] <= values[2] else fails(evidence, as_audited=values[1] < 0)


def mean_of_alike(book: Book) -> Finding:
    values = [Walk.of(2, steps, F(1, 2)).non_iidness for steps in (1, 2, 3, 4)]
    evidence = f"two clients, a fresh fair coin in each of 1 to 4 steps of 1/2: {', '.join(map(str, values))}"
    rising = [a <= b for a, b in pairwise(values)]
    return holds(evidence) if all(rising) else fails(evidence, as_audited=not any(rising))


def two_curvatures(book: Book) -> Finding:
    """The non-iidness of two identical clients grows with steps of 1/3 from 5 on samples (h, y) of h/2 (x - y)^2."""
    values = []
    for steps in (1, 2, 3):
        sets = list(product(SAMPLES, repeat=steps))
        models = [reduce(lambda x, z: x - F(z[0], 3) * (x - z[1]), own, F(5)) for own in sets]
        pairs = product(zip(sets, models, strict=True), models)
        drift = sum(h * (((x + other) / 2 - y) ** 2 - (x - y) ** 2) for (own, x), other in pairs for h, y in own)
        values.append(drift / (2 * steps * len(sets) ** 2))
    evidence = f"fresh samples of curvature 3 or 1 in 1 to 3 steps of 1/3 from 5: {', '.join(map(str, values))}"
    return finding(values == sorted(values), evidence)


def without_noise(book: Book) -> Finding:
    """Mean non-iidness without noise is (1 - left^2) times the minima's spread; ``left``: share of the way left."""
    for clients in (2, 3):
        start, left, *minima = sp.symbols(f"start left m1:{clients + 1}", real=True)
        models = [m + left * (start - m) for m in minima]
        average, centre = sum(models) / clients, sum(minima) / clients
        drift = sum((average - m) ** 2 - (x - m) ** 2 for m, x in zip(minima, models, strict=True)) / clients
        if sp.expand(drift - (1 - left**2) * sum((m - centre) ** 2 for m in minima) / clients):
            return fails(f"{clients} clients")
    return holds("equal for two and three clients, symbolically", Grade.PROVED)


PERIODS = ((1, 1), (1, 12), (3, 2), (4, 3), (12, 1))
"""Local steps and adaptation coefficients whose periods all end with the twelfth step."""


def same_model(book: Book) -> Finding:
    """FedALS returns another model for other periods on two clients of one Hessian; (8) changes with tau."""
    models = {
        tuple(trained(f"fedals(alpha={alpha})", 12 // tau, tau, one_hessian=True).model) for tau, alpha in PERIODS
    }
    per_round = [Walk.of(2, tau, F(1, 4)).gap for tau in (1, 3, 12)]
    evidence = (
        f"12 steps, clients of one Hessian: {len(models)} returned model for (tau, alpha) = "
        f"{', '.join(map(str, PERIODS))}; (8) for tau = 1, 3, 12: {', '.join(f'{float(v):.4g}' for v in per_round)}"
    )
    return finding(len(models) > 1, evidence, as_audited=per_round[0] > per_round[1] > per_round[2])
