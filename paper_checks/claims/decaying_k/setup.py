"""Sections 3.1 to 3.3: the problem (1), Algorithm 1, the runtime (3) to (7), Assumptions 1 to 3, G and Gamma."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from itertools import accumulate, pairwise, product

import sympy as sp

from bounds.decaying_k.letters import beta, D, K, R, T, U
from bounds.operators import equal_clients

from ..checkers import number, short
from ..checkers.numbers import near, value
from ..checkers.points import points
from ..claim import Book, Finding, finding, Grade, holds
from ..parabolas import Parabolas
from .experiments import TASKS

SAMPLES = ((0,), (4, 4, 4))
"""Two clients with one and three samples of the loss (x - sample)^2 / 2."""
DIFFERENT = Parabolas.of((0, 1, -2), (1, 3, 2))
"""Three clients with other minima and curvatures."""
STEP = Fraction(1, 8)


def objective(book: Book, per_sample: bool) -> Finding:
    """(1) is smallest where the loss over all samples is, with sums or (``per_sample``) means over clients' samples."""
    weighed = [(sample, 1 if per_sample else len(own)) for own in SAMPLES for sample in own]  # p_c is len(own) / 4
    minimiser = Fraction(sum(z * weight for z, weight in weighed), sum(weight for _, weight in weighed))
    mean = Fraction(sum(z for z, _ in weighed), len(weighed))
    evidence = f"minimised at {minimiser}, the loss over all samples at {mean}"
    return finding(minimiser == mean, evidence, {"samples": "0 | 4, 4, 4"}, as_audited=minimiser == Fraction(18, 5))


def line_7(book: Book) -> Finding:
    """Line 7 as printed is SGD, although every step starts at the round's model with the last local gradient."""
    listed, sgd = [], [DIFFERENT.local(c, Fraction(1), 3, STEP)[-1] for c in range(3)]
    for client in range(3):
        x = Fraction(1)
        for _ in range(3):
            x = 1 - STEP * DIFFERENT.gradient(client, x)
        listed.append(x)
    evidence = f"after 3 steps of 1/8 from 1: printed {', '.join(map(str, listed))}; SGD {', '.join(map(str, sgd))}"
    return finding(listed == sgd, evidence, {"f_1": "x^2/2", "f_2": "3 (x - 1)^2/2", "f_3": "(x + 2)^2"})


def as_trained(book: Book) -> Finding:
    """Two rounds of the library's FedAvg with all three clients equal the reference implementation."""
    from empirics.exact import play

    slopes = [partial(DIFFERENT.gradient, c) for c in range(3)]
    trained = play("fedavg()", slopes, 1, [(0, 1, 2)] * 2, local_steps=3, step_size=STEP)[-1].model[0]
    server = DIFFERENT.average(DIFFERENT.average(Fraction(1), 3, STEP), 3, STEP)
    squared = float(DIFFERENT.global_gradient(server) ** 2)
    return finding(trained == server, f"squared gradient after two rounds {squared:.9g}, both ways")


def two_clients(*parts: int) -> Parabolas:
    """Return two clients of curvature 1 with minima 0 and 4 whose weights are in the ratio of ``parts``."""
    weights = tuple(Fraction(part, sum(parts)) for part in parts)
    return Parabolas((Fraction(0), Fraction(4)), (Fraction(1),) * 2, weights=weights)


REST = Fraction(2)
"""The mean of the minima, where the unweighted mean of both clients' steps vanishes (their curvatures are equal)."""


def rests_at(book: Book, *parts: int) -> Finding:
    """Line 11 with K = 1 and all clients rests at the minimiser of F."""
    problem = two_clients(*parts)
    still = problem.round_ends(REST, 2, 1, STEP)[0][1] == REST
    evidence = f"Algorithm 1 rests at {REST}, F is smallest at {problem.minimiser}"
    witness = {"p": ", ".join(map(str, problem.weights)), "minima": "0, 4"}
    return finding(still and problem.minimiser == REST, evidence, witness, as_audited=still)


def beside_theorem_1(book: Book, *parts: int) -> Finding:
    """(6) with a true G is at least the squared gradient at the rest point; K = 1, a million steps of 1/1000."""
    problem = two_clients(*parts)
    exact, cap = problem.global_gradient(REST) ** 2, max(problem.gradient(c, REST) ** 2 for c in range(2))
    bound = number(
        book, "decaying_k.theorem_1", **problem.values(), initial_loss=problem.loss(REST), cohort=2,
        grad_cap_sq=cap, steps_cubed_ratio=1, step_size=Fraction(1, 1000), iterations=10**6,
    )  # fmt: skip
    evidence = f"squared gradient {exact} at every iteration, (6) with G^2 = {cap}: {float(bound):.6g}"
    witness = {"p": ", ".join(map(str, problem.weights)), "minima": "0, 4"}
    return finding(exact <= bound, evidence, {**witness, "start": "2", "eta": "1/1000", "T": "10^6"})


def _by_iterations(cohorts: Sequence[tuple[int, ...]], steps: Sequence[int], divide: bool) -> list[Fraction]:
    """Return the server models by (2); rounds end with sum_c p_c y_c over the cohort, or its mean (``divide``)."""
    models, ends, server_models = [Fraction(1)] * 3, list(accumulate(steps)), []
    for t in range(1, sum(steps) + 1):
        models = [x - STEP * DIFFERENT.gradient(c, x) for c, x in enumerate(models)]
        if t in ends:
            chosen = cohorts[ends.index(t)]
            shares = [Fraction(1, len(chosen)) if divide else DIFFERENT.shares[c] for c in chosen]
            models = [sum((s * models[c] for s, c in zip(shares, chosen, strict=True)), Fraction(0))] * 3
            server_models.append(models[0])
    return server_models


def equivalent(book: Book, divide: bool) -> Finding:
    cohorts, steps, server, listed = ((0, 1), (1, 2), (0, 2)), (3, 2, 1), Fraction(1), []
    for chosen, count in zip(cohorts, steps, strict=True):
        ends = [DIFFERENT.local(c, server, count, STEP)[-1] for c in chosen]
        server = sum(ends, Fraction(0)) / len(chosen)
        listed.append(server)
    by_2 = _by_iterations(cohorts, steps, divide)
    evidence = "; ".join(f"{short(a)} against {short(b)}" for a, b in zip(by_2, listed, strict=True))
    return finding(by_2 == listed, f"server models by (2) and by Algorithm 1: {evidence}", {"K_r": "3, 2, 1", "N": "2"})


def stays_away(book: Book) -> Finding:
    """The limit of the run differs from x^* with two local steps, with one of two clients drawn, and with noise."""
    eta, moment = sp.symbols("eta moment", positive=True)
    pulls = [1 - (1 - eta * h) ** 2 for h in DIFFERENT.curvatures]
    rest = sp.Add(*(a * b for a, b in zip(pulls, DIFFERENT.minima, strict=True))) / sp.Add(*pulls)
    distance = sp.cancel(DIFFERENT.minimiser - rest)
    (drawn,) = sp.solve((1 - eta) ** 2 * moment + eta**2 - moment, moment)
    (noisy,) = sp.solve((1 - eta) ** 2 * moment + eta**2 / 2 - moment, moment)
    cases = {
        "two local steps rest from x^* by": (distance, 5 * eta / (18 - 21 * eta)),
        "E x^2 stays with a draw at": (drawn, eta / (2 - eta)),
        "with noise at": (noisy, eta / (4 - 2 * eta)),
    }
    equal = all(sp.cancel(derived - closed) == 0 for derived, closed in cases.values())
    evidence = ", ".join(f"{case} {closed}" for case, (_, closed) in cases.items())
    return finding(equal, f"{evidence}: above 0 for every eta <= 1/(4L)", grade=Grade.PROVED)


def falls_to_one(book: Book) -> Finding:
    """With rounds of 3, 2, 2 and then 1 step of all clients the run converges to x^*."""
    server, distances = Fraction(1), []
    for steps in (3, 2, 2, *(1,) * 60):
        server = DIFFERENT.average(server, steps, STEP)
        distances.append(abs(server - DIFFERENT.minimiser))
    falls = all(b == (1 - STEP * DIFFERENT.curvature) * a for a, b in pairwise(distances[2:]))
    return finding(falls and distances[-1] < Fraction(1, 10**6), f"with K_r = 3, 2, 2, 1, .. {short(distances[-1])}")


# ---- the runtime model ----


def alike_rounds(book: Book) -> Finding:
    """(4) for equal clients, summed over rounds of 7, 4, 4 and 2 steps, is (5) with R = 4 and T = 17."""
    by_name = {"client_download_rate": D, "client_upload_rate": U, "client_minibatch_time": beta}
    time = equal_clients(book["decaying_k.round_time"].expr)
    time = time.subs({s: by_name[s.name] for s in time.free_symbols if s.name in by_name}, simultaneous=True)
    summed = sp.Add(*(time.subs(K, k) for k in (7, 4, 4, 2)))
    stated = book["decaying_k.runtime"].expr.subs({R: 4, T: 17})
    for point in points((summed, stated), 4):
        if not near(value(summed, point), value(stated, point)):
            return finding(False, f"(4) sums to {value(summed, point)}, (5) says {value(stated, point)}")
    return finding(True, "four rounds of unequal length sum to it at 4 generic points")


def communication_dominates(book: Book) -> Finding:
    ratios = {n: t.communication / t.computation(t.first_steps) for n, t in TASKS.items()}
    failing = {n: f"{float(r):.3g}" for n, r in ratios.items() if r < 10}
    evidence = "tau over beta K at K = K_0: " + "; ".join(f"{n}: {float(r):.3g}" for n, r in ratios.items())
    return finding(not failing, evidence, failing, as_audited=len(failing) == len(TASKS))


# ---- Assumptions 1 to 3, G and Gamma ----

OPPOSED = Parabolas.of((1, -1))


def passes_on(book: Book) -> Finding:
    """F satisfies A1 and A2 with the clients' constants, at all pairs of seven points."""
    problem = Parabolas(
        tuple(map(Fraction, (3, -1, 2))),
        tuple(map(Fraction, (1, 4, 2))),
        weights=(Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)),
    )
    for a, b in product(map(Fraction, range(-3, 4)), repeat=2):
        excess = problem.loss(a) - problem.loss(b) - (a - b) * problem.global_gradient(b)
        if not problem.strong_convexity * (a - b) ** 2 / 2 <= excess <= problem.smoothness * (a - b) ** 2 / 2:
            return finding(False, f"fails between {a} and {b}", {"x": str(a), "y": str(b)})
    between = problem.strong_convexity < problem.curvature < problem.smoothness
    return finding(between, "clients of curvature 1, 4 and 2", grade=Grade.SEARCHED)


def federated(book: Book) -> Finding:
    """G^2 by its formula bounds the squared gradients of opposed clients: one drawn, four steps of 1/20 from 1/100."""
    start = Fraction(1, 100)
    cap = number(book, "decaying_k.gradient_cap", smoothness=1, initial_distance_sq=start**2)
    server = sum(p * OPPOSED.global_gradient(x) ** 2 for p, x in OPPOSED.round_ends(start, 1, 4, Fraction(1, 20)))
    client = max(OPPOSED.gradient(c, start) ** 2 for c in range(2))
    evidence = f"G^2 = {cap}; E||grad F||^2 after one round {short(server)}; a client's first gradient {short(client)}"
    witness = {"clients": "(x - 1)^2/2, (x + 1)^2/2", "x_1": "1/100", "N": "1", "K": "4", "eta": "1/20"}
    audited = server > 300 * cap and client > 10**4 * cap
    return finding(max(server, client) <= cap, evidence, witness, as_audited=audited)


def hull(book: Book) -> Finding:
    models = [x for c in range(2) for x in OPPOSED.local(c, Fraction(1, 100), 4, Fraction(1, 20))]
    largest = max(OPPOSED.gradient(c, x) ** 2 for c in range(2) for x in models)
    return finding(largest <= 4, f"largest squared client gradient {short(largest)} against 4")


def gamma_nonzero(book: Book) -> Finding:
    """Gamma is nonzero where x^* is not the mean of the minima, over pairs of minima and curvatures."""
    problems = [Parabolas.of(*pair) for pair in product(product((-1, 0, 1), repeat=2), ((1, 1), (1, 3)))]
    converse = 0
    for problem in problems:
        mean = sum(p * b for p, b in zip(problem.shares, problem.minima, strict=True))
        if problem.minimiser != mean and problem.heterogeneity == 0:
            return finding(False, f"Gamma = 0 for minima {problem.minima}")
        converse += problem.minimiser == mean and problem.heterogeneity > 0
    evidence = f"no exception in {len(problems)}; {converse} of them have Gamma > 0 although x^* is the mean of the "
    return holds(f"{evidence}minima", Grade.SEARCHED)


def _mean_gamma(samples: int) -> Fraction:
    """Return E Gamma for two clients with ``samples`` fair signs each and the loss (x - sign)^2 / 2."""
    draws = list(product((-1, 1), repeat=samples))
    means = [Fraction(sum(d), samples) for d in draws]
    pairs = [((a - b) / 2) ** 2 / 2 for a, b in product(means, repeat=2)]
    return sum(pairs, Fraction(0)) / len(pairs)


def gamma_iid(book: Book) -> Finding:
    gammas = {n: _mean_gamma(n) for n in (1, 2, 4)}
    evidence = "; ".join(f"{n} samples: {v}" for n, v in gammas.items())
    audited = all(v == Fraction(1, 4 * n) for n, v in gammas.items())
    return finding(all(v == 0 for v in gammas.values()), f"E Gamma of two iid clients, {evidence}", as_audited=audited)


def gamma_of_samples(book: Book) -> Finding:
    return finding(all(4 * n * _mean_gamma(n) == 1 for n in (1, 2, 4, 6)), "4 n E Gamma = 1 for n = 1, 2, 4, 6")


# ---- the loss along the run ----


def descends(book: Book) -> Finding:
    """F falls in one step of three different clients at the largest step size of Theorem 1, from nine starts."""
    problem = Parabolas.of((3, -1, 2), (1, 4, 2))
    starts = [Fraction(k, 2) for k in range(-4, 5)]
    ends = [problem.average(x, 1, 1 / (4 * problem.smoothness)) for x in starts]
    falls = [problem.loss(x) - problem.loss(y) for x, y in zip(starts, ends, strict=True)]
    return finding(min(falls) >= 0, f"it falls from nine starts, by {short(min(falls))} at least")


def loss_never_rises(book: Book) -> Finding:
    """E F does not rise in one step of one of two opposed clients from x^* = 0, for three step sizes."""
    rises = {}
    for step_size in (Fraction(1, 4), Fraction(1, 40), Fraction(1, 4000)):
        ends = OPPOSED.round_ends(Fraction(0), 1, 1, step_size)
        rises[step_size] = sum(p * OPPOSED.loss(x) for p, x in ends) - OPPOSED.optimal_loss
    evidence = "the expected loss rises, " + "; ".join(f"step size {s}: by {r}" for s, r in rises.items())
    audited = all(r == s**2 / 2 for s, r in rises.items())
    witness = {"clients": "(x - 1)^2/2, (x + 1)^2/2", "x_0": "x^* = 0", "N": "1", "K": "1"}
    return finding(all(r <= 0 for r in rises.values()), evidence, witness, as_audited=audited)
