"""Theorem 4.3: many rounds, in both versions, what is wrong with it, its proof, (54) to (58), and local steps."""

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
from ..claim import Book, fails, Finding, Grade, holds, judged, Status
from . import enumerated as tiny
from .algorithms import trained
from .common import SAMPLES, with_equal_clients
from .enumerated import Walk, weights

PRINTED, REPAIRED = "fedals.rounds_v2", "fedals.rounds_inexact"


def stated(book: Book, name: str, walk: Walk, size: int = 1) -> sp.Expr:
    """A bound at a walk on coins of +-size, hidden constants and complexity one; not real where B is negative."""
    here = {K: walk.clients, tau: walk.steps, L: 1, mu: 1, sigma_sq: size**2, C: 1, shared(Z): walk.steps}
    measured = {Delta: walk.local_gap, delta: walk.non_iidness, epsilon: walk.suboptimality}
    numbers = {shared(q): size**2 * sp.Rational(v.numerator, v.denominator) for q, v in measured.items()}
    return resolve(with_equal_clients(name), book).subs({**here, **numbers})


def squared_distances(book: Book) -> Finding:
    walks = Walk.of(32, 4, F(1)), Walk.of(5, 175, F(1, 20))
    (gap, bound), (slow, slow_bound) = ((100 * float(w.gap), float(stated(book, PRINTED, w, 10))) for w in walks)
    said = (
        f"a fresh coin of 10 or -10 in each step: gap {gap:.4g}, (9) {bound:.4g} for 32 clients and 4 steps of 1/L; "
        f"gap {slow:.4g}, (9) {slow_bound:.4g} for 5 clients and 175 steps of 1/(20 L)"
    )
    return judged(gap <= bound or slow <= slow_bound, said, as_audited=f"{bound:.6f}" == "0.444317")


def never_negative(book: Book) -> Finding:
    sums = [
        (walk := Walk.of(clients, steps, pull)).non_iidness + walk.suboptimality
        for clients in (2, 5, 32)
        for steps in (1, 4, 7, 30)
        for pull in (F(1, 20), F(1, 2), F(1))
    ]
    return judged(min(sums) >= 0, f"least sum {float(min(sums)):.3g} over {len(sums)} settings")


def conditions(book: Book) -> Finding:
    walk = Walk.of(2, 7, F(1))
    under = walk.non_iidness + F(1, 7)
    said = f"two clients, fresh fair coins, 7 steps of 1/L: non-iidness {walk.non_iidness}, noise 1/7, so B = {under}"
    return holds(said) if stated(book, PRINTED, walk).is_real else fails(said, as_audited=under == F(-1, 28))


c1, c2, c3, c4, c5 = sp.symbols("c1:6", positive=True)
BESIDE = {"model class": c1, "local optimization": c2, "condition number": c5}
"""Any constants that the O may hide: of the parts of A, and ``c3`` and ``c4`` of non-iidness and noise in B."""
n = sp.Symbol("n", positive=True)


def any_constants(book: Book, name: str) -> Finding:
    """n clients take n steps of 1/L on fresh coins of n and -n: the closed forms are compared with walks first."""
    drift = -n * (n - 1) * (1 - 2 / n) / 2
    here = {K: n, tau: n, shared(Z): n, mu: 1, sigma_sq: n**2}
    for size in (2, 3, 8):
        walk = Walk.of(size, size, F(1))
        if walk.gap != F(1, size**2) or size**2 * walk.non_iidness != F(str(drift.subs(n, size))):
            return fails(f"closed form at n = {size}", as_audited=False)
    parts = [part for part in BESIDE if part in book[name].terms]
    beside = sum(BESIDE[part] * resolve(with_equal_clients(term(name, part)), book) for part in parts)
    share = sp.limit(sp.expand(beside.subs({**here, L: 1})), n, sp.oo)
    ((root, _),) = (shared(relation).args for relation in relations(book[name]))
    # With mu = 1 an L in B is its condition number.
    under = root.xreplace({shared(delta): c3 * drift, sigma_sq: c4 * sigma_sq}).subs({**here, L: c5})
    least = sp.limit(under / n**2, n, sp.oo)
    at_16 = resolve(with_equal_clients(term(name, *parts)), book).subs({**here, L: 1, C: 1}).subs(n, 16)
    said = (
        f"n clients take n steps of 1/L on fresh coins of n and -n: gap 1; as n grows B/n^2 tends to {least} and "
        f"the terms beside the root to {share} (at n = 16, all constants and the complexity one, {at_16})"
    )
    status = Status.FAILS if (least, share) == (-c3 / 2, 0) else Status.OPEN
    return Finding(status, Grade.PROVED, said)


def repaired(book: Book) -> Finding:
    walks = [Walk.of(size, size, F(1)) for size in (2, 3, 8, 16)]
    closest = max(float(walk.gap) / float(stated(book, REPAIRED, walk)) for walk in walks)
    return judged(closest <= 1, f"gap at most {closest:.3g} of it for n = 2, 3, 8, 16")


# ---- The proof of Theorem 4.3, (54) to (58) ----


def after_round(book: Book) -> Finding:
    measured, swapped = tiny.gap("few steps"), sum(c.weight * c.swap for c in tiny.clients("few steps"))
    said = f"one round ends with a gap of {measured:.6g}, which (10) gives as {swapped:.6g}"
    return judged(abs(measured - swapped) < tiny.TOLERANCE, said)


def shift(book: Book) -> Finding:
    """(55) and (56) for one round of the enumerated problem: the model before its steps (5), the average after them."""
    start = np.array(tiny.START)
    before = sum(
        weight * float(np.mean(tiny.risk(start, pool[None]) - tiny.risk(start, sets)))
        for weight, pool, sets in zip(tiny.WEIGHTS, tiny.POOLS, tiny.SETS, strict=True)
    )
    after = tiny.gap("few steps")
    said = f"mean gap of the model the round starts from {before:.3g}, of the model it ends with {after:.6g}"
    return holds(said) if abs(before - after) <= tiny.TOLERANCE else fails(said, as_audited=abs(before) < 1e-12 < after)


def cautious(book: Book, fresh: bool) -> Finding:
    """(8) at the models that rounds end with, and the end-to-end gap: covariances of model and sample means.

    Squared distances, one client, four rounds that go a third of the way to the mean of the round's samples; all rounds
    have the same samples unless ``fresh``.
    """
    rounds, pull = 4, F(1, 3)
    walk = [weights([pull] * r) for r in range(1, rounds + 1)]
    per_round = sum((shares[-1] if fresh else sum(shares, F(0)) for shares in walk), F(0)) / rounds
    end = sum(walk[-1], F(0)) / (rounds if fresh else 1)
    said = f"four rounds, a third of the way in each: (8) is {per_round}, the end-to-end gap {end} local gaps"
    return judged(per_round >= end, said)


def curvatures(book: Book) -> Finding:
    """One client, a fresh sample (h, y) of h/2 (theta - y)^2 and one step of 1/10 in each of three rounds, from 2."""
    per_round = end = F(0)
    for drawn in product(SAMPLES, repeat=3):
        theta = F(2)
        for h, y in drawn:
            theta -= F(h, 10) * (theta - y)
            per_round += (_risk(theta, SAMPLES) - _risk(theta, ((h, y),))) / 24
        end += (_risk(theta, SAMPLES) - _risk(theta, drawn)) / 8
    said = f"fresh samples of curvature 3 or 1 in three rounds: (8) is {per_round}, the end-to-end gap {end}"
    return judged(per_round >= end, said)


def _risk(theta: F, samples: tuple[tuple[int, int], ...]) -> F:
    return sum((F(h, 2) * (theta - y) ** 2 for h, y in samples), F(0)) / len(samples)


# ---- local steps: (58) and Section 5 ----


def _left_of_start(steps: int) -> F:
    """Suboptimality after gradient steps 1/4 on ``(x^2 + 3 y^2)/2`` from (2, 1): no noise at all."""
    x, y = F(2) * (1 - F(1, 4)) ** steps, F(1) * (1 - F(3, 4)) ** steps
    return (x**2 + 3 * y**2) / 2


def with_start(book: Book) -> Finding:
    """Strong convexity with constant 1 and step 1/4: every step leaves at most 1 - 1/4 of the way."""
    for steps in range(1, 9):
        if _left_of_start(steps) > (1 - F(1, 4)) ** (2 * steps) * _left_of_start(0):
            return fails(f"{steps} steps")
    return holds("at most (1 - eta mu)^(2 tau) of the start's suboptimality is left after 1 to 8 noise-free steps")


def forgotten(book: Book) -> Finding:
    left = float(_left_of_start(5))
    return fails(f"no noise, five steps: suboptimality {left:.4g}, sigma^2/(mu tau) = 0", as_audited=left > 0)


def times_steps(book: Book, decaying: bool) -> Finding:
    """Whether tau times the suboptimality stays bounded, from 5 to 80 steps of 1/2 or of 1, 1/2, 1/3, ..."""
    pulls = [tuple(F(1, t + 1) if decaying else F(1, 2) for t in range(steps)) for steps in (5, 20, 80)]
    found = [len(p) * Walk(1, p).suboptimality for p in pulls]
    said = f"tau times suboptimality at 5, 20, 80 steps: {', '.join(f'{float(v):.4g}' for v in found)} variances"
    return judged(found[-1] <= 2 * found[0], said)


def far_client(book: Book) -> Finding:
    """Noise-free clients with means 1 and 3, gradient steps 1/10 from zero, half squared distances: the first one's."""
    values = []
    for steps in (0, 1, 2):
        done = 1 - (1 - F(1, 10)) ** steps
        values.append(((2 * done - 1) ** 2 - (done - 1) ** 2) / 2)
    said = f"no noise, means 1 and 3, steps of 1/10 from 0: non-iidness of the first {', '.join(map(str, values))}"
    return holds(said) if values[0] <= values[1] <= values[2] else fails(said, as_audited=values[1] < 0)


def mean_of_alike(book: Book) -> Finding:
    values = [Walk.of(2, steps, F(1, 2)).non_iidness for steps in (1, 2, 3, 4)]
    said = f"two clients, a fresh fair coin in each of 1 to 4 steps of 1/2: {', '.join(map(str, values))}"
    rising = [a <= b for a, b in pairwise(values)]
    return holds(said) if all(rising) else fails(said, as_audited=not any(rising))


def two_curvatures(book: Book) -> Finding:
    """Two identical clients, a fresh sample (h, y) = (3, 1) or (1, -1) of h/2 (x - y)^2 in each step of 1/3 from 5."""
    values = []
    for steps in (1, 2, 3):
        sets = list(product(((3, 1), (1, -1)), repeat=steps))
        models = [reduce(lambda x, z: x - F(z[0], 3) * (x - z[1]), own, F(5)) for own in sets]
        pairs = product(zip(sets, models, strict=True), models)
        drift = sum(h * (((x + other) / 2 - y) ** 2 - (x - y) ** 2) for (own, x), other in pairs for h, y in own)
        values.append(drift / (2 * steps * len(sets) ** 2))
    said = f"fresh samples of curvature 3 or 1 in 1 to 3 steps of 1/3 from 5: {', '.join(map(str, values))}"
    return judged(values == sorted(values), said)


def without_noise(book: Book) -> Finding:
    """Mean non-iidness of noise-free clients with the share ``left`` of the way to their minima before them."""
    for clients in (2, 3):
        start, left, *minima = sp.symbols(f"start left m1:{clients + 1}", real=True)
        models = [m + left * (start - m) for m in minima]
        average, centre = sum(models) / clients, sum(minima) / clients
        found = sum((average - m) ** 2 - (x - m) ** 2 for m, x in zip(minima, models, strict=True)) / clients
        if sp.expand(found - (1 - left**2) * sum((m - centre) ** 2 for m in minima) / clients):
            return fails(f"{clients} clients")
    return holds("equal for two and three clients, symbolically", Grade.PROVED)


PERIODS = ((1, 1), (1, 12), (3, 2), (4, 3), (12, 1))
"""Local steps and adaptation coefficients whose periods all end with the twelfth step."""


def same_model(book: Book) -> Finding:
    """FedALS on two clients of one Hessian, and (8) of identical clients on fresh coins in steps of 1/4."""
    models = {
        tuple(trained(f"fedals(alpha={alpha})", 12 // tau, tau, one_hessian=True).model) for tau, alpha in PERIODS
    }
    per_round = [Walk.of(2, tau, F(1, 4)).gap for tau in (1, 3, 12)]
    said = (
        f"12 steps, clients of one Hessian: {len(models)} returned model for (tau, alpha) = "
        f"{', '.join(map(str, PERIODS))}; (8) for tau = 1, 3, 12: {', '.join(f'{float(v):.4g}' for v in per_round)}"
    )
    if len(models) == 1:
        return fails(said, as_audited=per_round[0] > per_round[1] > per_round[2])
    return holds(said)
