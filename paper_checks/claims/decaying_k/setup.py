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
from ..checkers.points import near, points, value
from ..claim import Book, Finding, Grade, holds, judged
from ..parabolas import Scalars
from .experiments import TASKS

SAMPLES = ((0,), (4, 4, 4))
"""Two clients with one and three samples of the loss (x - sample)^2 / 2."""
UNLIKE = Scalars.of((0, 1, -2), (1, 3, 2))
STEP = Fraction(1, 8)


def objective(book: Book, per_sample: bool) -> Finding:
    """Where (1) is smallest as printed, with a sum over the samples of a client, or with the mean over them."""
    weighed = [(sample, 1 if per_sample else len(own)) for own in SAMPLES for sample in own]  # p_c is len(own) / 4
    found = Fraction(sum(z * weight for z, weight in weighed), sum(weight for _, weight in weighed))
    wanted = Fraction(sum(z for z, _ in weighed), len(weighed))
    said = f"minimised at {found}, the loss over all samples at {wanted}"
    return judged(found == wanted, said, {"samples": "0 | 4, 4, 4"}, found == Fraction(18, 5))


def line_7(book: Book) -> Finding:
    """Line 7 as printed: every step begins at the round's model, with the gradient at the last local one."""
    listed, meant = [], [UNLIKE.local(c, Fraction(1), 3, STEP)[-1] for c in range(3)]
    for client in range(3):
        x = Fraction(1)
        for _ in range(3):
            x = 1 - STEP * UNLIKE.gradient(client, x)
        listed.append(x)
    said = f"after 3 steps of 1/8 from 1: printed {', '.join(map(str, listed))}; SGD {', '.join(map(str, meant))}"
    return judged(listed == meant, said, {"f_1": "x^2/2", "f_2": "3 (x - 1)^2/2", "f_3": "(x + 2)^2"})


def as_trained(book: Book) -> Finding:
    """Two rounds of the library's FedAvg, all three clients taking part, against the reference implementation."""
    from empirics.exact import play

    slopes = [partial(UNLIKE.gradient, c) for c in range(3)]
    trained = play("fedavg()", slopes, 1, [(0, 1, 2)] * 2, local_steps=3, step_size=STEP)[-1].model[0]
    server = UNLIKE.average(UNLIKE.average(Fraction(1), 3, STEP), 3, STEP)
    wanted = float(UNLIKE.global_gradient(server) ** 2)
    return judged(trained == server, f"squared gradient after two rounds {wanted:.9g}, both ways")


def shared(*parts: int) -> Scalars:
    """Two clients of curvature 1 with minima 0 and 4, whose shares of the samples are as these parts."""
    weights = tuple(Fraction(part, sum(parts)) for part in parts)
    return Scalars((Fraction(0), Fraction(4)), (Fraction(1),) * 2, weights=weights)


REST = Fraction(2)
"""Equal curvatures: the mean of both clients' steps vanishes at the mean of their minima, whatever their shares."""


def rests_at(book: Book, *parts: int) -> Finding:
    """Where line 11 rests with K = 1 and everybody present, against the minimiser of F."""
    problem = shared(*parts)
    still = problem.round_ends(REST, 2, 1, STEP)[0][1] == REST
    said = f"Algorithm 1 rests at {REST}, F is smallest at {problem.minimiser}"
    witness = {"p": ", ".join(map(str, problem.weights)), "minima": "0, 4"}
    return judged(still and problem.minimiser == REST, said, witness, still)


def beside_theorem_1(book: Book, *parts: int) -> Finding:
    """The same rest against (6) with a true G: nothing moves there; K = 1, a million steps of 1/1000."""
    problem = shared(*parts)
    exact, cap = problem.global_gradient(REST) ** 2, max(problem.gradient(c, REST) ** 2 for c in range(2))
    bound = number(
        book, "decaying_k.theorem_1", **problem.values(), initial_loss=problem.loss(REST), cohort=2,
        grad_cap_sq=cap, steps_cubed_ratio=1, step_size=Fraction(1, 1000), iterations=10**6,
    )  # fmt: skip
    said = f"squared gradient {exact} at every iteration, (6) with G^2 = {cap}: {float(bound):.6g}"
    witness = {"p": ", ".join(map(str, problem.weights)), "minima": "0, 4"}
    return judged(exact <= bound, said, {**witness, "start": "2", "eta": "1/1000", "T": "10^6"})


def _by_iterations(cohorts: Sequence[tuple[int, ...]], steps: Sequence[int], divide: bool) -> list[Fraction]:
    """(2): every client steps; at the iterations of I all get sum_c p_c y_c over the cohort (or its mean)."""
    models, met, found = [Fraction(1)] * 3, list(accumulate(steps)), []
    for t in range(1, sum(steps) + 1):
        models = [x - STEP * UNLIKE.gradient(c, x) for c, x in enumerate(models)]
        if t in met:
            chosen = cohorts[met.index(t)]
            shares = [Fraction(1, len(chosen)) if divide else UNLIKE.shares[c] for c in chosen]
            models = [sum((s * models[c] for s, c in zip(shares, chosen, strict=True)), Fraction(0))] * 3
            found.append(models[0])
    return found


def equivalent(book: Book, divide: bool) -> Finding:
    cohorts, steps, server, listed = ((0, 1), (1, 2), (0, 2)), (3, 2, 1), Fraction(1), []
    for chosen, count in zip(cohorts, steps, strict=True):
        ends = [UNLIKE.local(c, server, count, STEP)[-1] for c in chosen]
        server = sum(ends, Fraction(0)) / len(chosen)
        listed.append(server)
    found = _by_iterations(cohorts, steps, divide)
    said = "; ".join(f"{short(a)} against {short(b)}" for a, b in zip(found, listed, strict=True))
    return judged(found == listed, f"server models by (2) and by Algorithm 1: {said}", {"K_r": "3, 2, 1", "N": "2"})


def stays_away(book: Book) -> Finding:
    """Rounds of two steps of all clients; one of two opposed clients drawn; a coin of +-1 for each of two clients."""
    eta, moment = sp.symbols("eta moment", positive=True)
    pulls = [1 - (1 - eta * h) ** 2 for h in UNLIKE.curvatures]
    rest = sp.Add(*(a * b for a, b in zip(pulls, UNLIKE.minima, strict=True))) / sp.Add(*pulls)
    distance = sp.cancel(UNLIKE.minimiser - rest)
    (drawn,) = sp.solve((1 - eta) ** 2 * moment + eta**2 - moment, moment)
    (noisy,) = sp.solve((1 - eta) ** 2 * moment + eta**2 / 2 - moment, moment)
    wanted = {
        "two local steps rest from x^* by": (distance, 5 * eta / (18 - 21 * eta)),
        "E x^2 stays with a draw at": (drawn, eta / (2 - eta)),
        "with noise at": (noisy, eta / (4 - 2 * eta)),
    }
    away = all(sp.cancel(found - closed) == 0 for found, closed in wanted.values())
    said = ", ".join(f"{where} {closed}" for where, (_, closed) in wanted.items())
    return judged(away, f"{said}: above 0 for every eta <= 1/(4L)", grade=Grade.PROVED)


def falls_to_one(book: Book) -> Finding:
    """Rounds of 3, 2, 2 and then 1 step of all clients with a fixed step size."""
    server, distances = Fraction(1), []
    for steps in (3, 2, 2, *(1,) * 60):
        server = UNLIKE.average(server, steps, STEP)
        distances.append(abs(server - UNLIKE.minimiser))
    falls = all(b == (1 - STEP * UNLIKE.curvature) * a for a, b in pairwise(distances[2:]))
    return judged(falls and distances[-1] < Fraction(1, 10**6), f"with K_r = 3, 2, 2, 1, .. {short(distances[-1])}")


# ---- the runtime model ----


def alike_rounds(book: Book) -> Finding:
    """(4) for equal clients, summed over rounds of 7, 4, 4 and 2 steps, against (5) with R = 4 and T = 17."""
    by_name = {"client_download_rate": D, "client_upload_rate": U, "client_minibatch_time": beta}
    one = equal_clients(book["decaying_k.round_time"].expr)
    one = one.subs({s: by_name[s.name] for s in one.free_symbols if s.name in by_name}, simultaneous=True)
    summed = sp.Add(*(one.subs(K, k) for k in (7, 4, 4, 2)))
    stated = book["decaying_k.runtime"].expr.subs({R: 4, T: 17})
    for point in points((summed, stated), 4):
        if not near(value(summed, point), value(stated, point)):
            return judged(False, f"(4) sums to {value(summed, point)}, (5) says {value(stated, point)}")
    return judged(True, "four rounds of unequal length sum to it at 4 generic points")


def communication_dominates(book: Book) -> Finding:
    ratios = {n: t.communication / t.computation(t.first_steps) for n, t in TASKS.items()}
    broken = {n: f"{float(r):.3g}" for n, r in ratios.items() if r < 10}
    said = "; ".join(f"{n}: {float(r):.3g}" for n, r in ratios.items())
    return judged(not broken, f"tau over beta K at K = K_0: {said}", broken, len(broken) == len(TASKS))


# ---- Assumptions 1 to 3, G and Gamma ----

OPPOSED = Scalars.of((1, -1))


def passes_on(book: Book) -> Finding:
    """The inequalities of A1 and A2 for F, with the clients' constants, at all pairs of seven points."""
    problem = Scalars(
        tuple(map(Fraction, (3, -1, 2))),
        tuple(map(Fraction, (1, 4, 2))),
        weights=(Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)),
    )
    for a, b in product(map(Fraction, range(-3, 4)), repeat=2):
        excess = problem.loss(a) - problem.loss(b) - (a - b) * problem.global_gradient(b)
        if not problem.strong_convexity * (a - b) ** 2 / 2 <= excess <= problem.smoothness * (a - b) ** 2 / 2:
            return judged(False, f"fails between {a} and {b}", {"x": str(a), "y": str(b)})
    bends = problem.strong_convexity < problem.curvature < problem.smoothness
    return judged(bends, "clients of curvature 1, 4 and 2", grade=Grade.SEARCHED)


def federated(book: Book) -> Finding:
    """Opposed clients, one drawn, four steps of 1/20 from 1/100."""
    start = Fraction(1, 100)
    cap = number(book, "decaying_k.gradient_cap", smoothness=1, initial_distance_sq=start**2)
    server = sum(p * OPPOSED.global_gradient(x) ** 2 for p, x in OPPOSED.round_ends(start, 1, 4, Fraction(1, 20)))
    client = max(OPPOSED.gradient(c, start) ** 2 for c in range(2))
    said = f"G^2 = {cap}; E||grad F||^2 after one round {short(server)}; a client's first gradient {short(client)}"
    witness = {"clients": "(x - 1)^2/2, (x + 1)^2/2", "x_1": "1/100", "N": "1", "K": "4", "eta": "1/20"}
    return judged(max(server, client) <= cap, said, witness, server > 300 * cap and client > 10**4 * cap)


def hull(book: Book) -> Finding:
    models = [x for c in range(2) for x in OPPOSED.local(c, Fraction(1, 100), 4, Fraction(1, 20))]
    largest = max(OPPOSED.gradient(c, x) ** 2 for c in range(2) for x in models)
    return judged(largest <= 4, f"largest squared client gradient {short(largest)} against 4")


def gamma_nonzero(book: Book) -> Finding:
    """Gamma over pairs of minima and curvatures: zero only where both minima agree."""
    seen = []
    for minima in product((-1, 0, 1), repeat=2):
        for bends in ((1, 1), (1, 3)):
            problem = Scalars.of(minima, bends)
            centre = sum(p * b for p, b in zip(problem.shares, problem.minima, strict=True))
            if problem.minimiser != centre and problem.heterogeneity == 0:
                return judged(False, f"Gamma = 0 for minima {minima}")
            seen.append((problem.minimiser == centre, problem.heterogeneity > 0))
    converse = sum(1 for centred, positive in seen if centred and positive)
    said = f"no exception in {len(seen)}; {converse} of them have Gamma > 0 though x^* is the mean of the minima"
    return holds(said, Grade.SEARCHED)


def _iid(samples: int) -> Fraction:
    """E Gamma for two clients with ``samples`` fair signs each and the loss (x - sign)^2 / 2."""
    draws = list(product((-1, 1), repeat=samples))
    means = [Fraction(sum(d), samples) for d in draws]
    pairs = [((a - b) / 2) ** 2 / 2 for a, b in product(means, repeat=2)]
    return sum(pairs, Fraction(0)) / len(pairs)


def gamma_iid(book: Book) -> Finding:
    found = {n: _iid(n) for n in (1, 2, 4)}
    said = "; ".join(f"{n} samples: {v}" for n, v in found.items())
    audited = all(v == Fraction(1, 4 * n) for n, v in found.items())
    return judged(all(v == 0 for v in found.values()), f"E Gamma of two iid clients, {said}", {}, audited)


def gamma_of_samples(book: Book) -> Finding:
    return judged(all(4 * n * _iid(n) == 1 for n in (1, 2, 4, 6)), "4 n E Gamma = 1 for n = 1, 2, 4, 6")


# ---- the loss along the run ----


def descends(book: Book) -> Finding:
    """F after one step of all of three different clients, from nine starts, at the largest step size of Theorem 1."""
    problem = Scalars.of((3, -1, 2), (1, 4, 2))
    starts = [Fraction(k, 2) for k in range(-4, 5)]
    ends = [problem.average(x, 1, 1 / (4 * problem.smoothness)) for x in starts]
    falls = [problem.loss(x) - problem.loss(y) for x, y in zip(starts, ends, strict=True)]
    return judged(min(falls) >= 0, f"it falls from nine starts, by {short(min(falls))} at least")


def loss_never_rises(book: Book) -> Finding:
    """E F after one step of one of two opposed clients from x^* = 0, for ever smaller steps."""
    rises = {}
    for step_size in (Fraction(1, 4), Fraction(1, 40), Fraction(1, 4000)):
        ends = OPPOSED.round_ends(Fraction(0), 1, 1, step_size)
        rises[step_size] = sum(p * OPPOSED.loss(x) for p, x in ends) - OPPOSED.optimal_loss
    said = "; ".join(f"step size {s}: by {r}" for s, r in rises.items())
    audited = all(r == s**2 / 2 for s, r in rises.items())
    witness = {"clients": "(x - 1)^2/2, (x + 1)^2/2", "x_0": "x^* = 0", "N": "1", "K": "1"}
    return judged(all(r <= 0 for r in rises.values()), f"the expected loss rises, {said}", witness, audited)
