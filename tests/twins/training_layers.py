"""Plain loops for methods that treat head and body, or the clients' own models, apart; see ``twins.training``.

The listings of FedALS count local iterations ``it``; clients who are not drawn stand still and receive averages.
"""

from __future__ import annotations

from .training import GradientAt, mean, minus, Plain, plus, times, Vector


def _rounds(run: Plain, early: bool) -> list[int]:
    """Local iterations of every round, which ends with an average of the heads."""
    return [1 if early and r == 0 else run.steps for r in range(len(run.cohorts))]


def _due(it: int, period: int, early: bool) -> bool:
    """Whether a layer of this period is averaged after iteration ``it``: the counter is tested before it grows."""
    return (it if early else it + 1) % period == 0


def fedals(
    run: Plain, alpha: int, body: int, early: bool = False, else_if: bool = False, mu: float = 0.0
) -> list[Vector]:
    """FedALS by iterations; columns below ``body`` have period ``alpha tau``, the others ``tau``.

    With ``mu`` every step is drawn to what was last received, layer by layer.
    """
    local, received, path, it = [run.start] * run.clients, run.start, [], 0
    for r, count in enumerate(_rounds(run, early)):
        cohort, shares = run.cohorts[r], run.shares(r)

        def drawn(w: Vector, g: Vector, at: GradientAt, centre: Vector = received) -> Vector:
            return plus(g, minus(w, centre), mu)

        for k in cohort:
            local[k] = run.train(k, r, local[k], drawn, count)  # the iterations between two averages
        it += count
        average = mean([local[k] for k in cohort], shares)
        head, extractor = _due(it - 1, run.steps, early), _due(it - 1, alpha * run.steps, early)
        if head:
            local = [[*own[:body], *average[body:]] for own in local]
            received = [*received[:body], *average[body:]]
        if extractor and not (else_if and head):
            local = [[*average[:body], *own[body:]] for own in local]
            received = [*average[:body], *received[body:]]
        path.append(average)
    return path


def fedals_scaffold(run: Plain, alpha: int, body: int) -> list[Vector]:
    """FedALS with SCAFFOLD: a layer's control is renewed when it is averaged, from the walk since the last time."""
    zero, tau = times(0.0, run.start), run.steps
    local, own, c, sent = [run.start] * run.clients, [zero] * run.clients, zero, run.start
    walked, path, it = [0] * run.clients, [], 0
    for r, cohort in enumerate(run.cohorts):
        for k in cohort:
            local[k] = run.train(k, r, local[k], lambda _, g, at, k=k, c=c: plus(minus(g, own[k]), c))
            walked[k] += tau
        it += tau
        average = mean([local[k] for k in cohort], run.shares(r))
        columns = range(0 if it % (alpha * tau) == 0 else body, len(average))
        before = [list(one) for one in own]
        for k in cohort:
            new = list(own[k])
            for i in columns:
                steps = tau if i >= body else walked[k]
                new[i] = own[k][i] - c[i] + (sent[i] - local[k][i]) / (run.eta * steps)
            own[k] = new
        for share, new, old in zip(run.weights, own, before, strict=True):
            c = plus(c, minus(new, old), share)
        for i in columns:
            sent = [*sent[:i], average[i], *sent[i + 1 :]]
            local = [[*one[:i], average[i], *one[i + 1 :]] for one in local]
        if columns.start == 0:
            walked = [0] * run.clients
        path.append(average)
    return path


def finetuned(run: Plain) -> tuple[list[Vector], list[Vector]]:
    """FedAvg, and every client's model after its last local training."""
    w, own, path = run.start, [run.start] * run.clients, []
    for r, cohort in enumerate(run.cohorts):
        for k in cohort:
            own[k] = run.train(k, r, w)
        w = mean([own[k] for k in cohort], run.shares(r))
        path.append(w)
    return path, own


def ditto(run: Plain, lam: float, steps: int) -> tuple[list[Vector], list[Vector]]:
    """FedAvg, and personal models drawn to the server's model of the round's start."""
    w, own, path = run.start, [run.start] * run.clients, []
    for r, cohort in enumerate(run.cohorts):
        for k in cohort:
            own[k] = run.train(k, r, own[k], lambda v, g, at, w=w: plus(g, minus(v, w), lam), steps)
        w = mean([run.train(k, r, w) for k in cohort], run.shares(r))
        path.append(w)
    return path, own


def fedrep(run: Plain, body: int, head_steps: int) -> tuple[list[Vector], list[Vector]]:
    """Heads on a fixed body, then bodies on fixed heads; bodies are averaged, heads stay."""
    w, heads, path = run.start, [run.start[body:]] * run.clients, []
    for r, cohort in enumerate(run.cohorts):
        ends = []
        for k in cohort:
            batches = run.batches(k, r, head_steps + run.steps)
            start = [*w[:body], *heads[k]]
            head = _partly(run, start, batches[:head_steps], range(body, len(w)))
            ends.append(_partly(run, head, batches[head_steps:], range(body)))
            heads[k] = ends[-1][body:]
        w = mean(ends, run.shares(r))
        path.append(w)
    return path, [[*w[:body], *head] for head in heads]


def _partly(run: Plain, w: Vector, batches: list, columns: range) -> Vector:
    """SGD that moves these columns only, its momentum starting at zero."""
    velocity = times(0.0, w)
    for batch in batches:
        w, g = list(w), plus(run.gradient(w, batch), w, run.weight_decay)
        for i in columns:
            velocity[i] = run.momentum * velocity[i] + g[i]
            w[i] -= run.eta * (g[i] + run.momentum * velocity[i] if run.nesterov else velocity[i])
    return w
