"""Plain loops for methods that treat head and body, or the clients' own models, apart; see ``twins.training``.

The listings of FedALS count local iterations ``it``; clients who are not drawn stand still and receive averages.
"""

from __future__ import annotations

import numpy as np

from .training import mean, Plain, Vector


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
        for k in run.cohorts[r]:  # the iterations between two averages
            local[k] = run.train(k, r, local[k], lambda w, g, at, centre=received: g + mu * (w - centre), count)
        it += count
        average = mean([local[k] for k in run.cohorts[r]], run.shares(r))
        head, extractor = _due(it - 1, run.steps, early), _due(it - 1, alpha * run.steps, early)
        averaged = np.zeros(len(average), dtype=bool)
        averaged[body:] = head
        averaged[:body] = extractor and not (else_if and head)
        local = [np.where(averaged, average, own) for own in local]
        received = np.where(averaged, average, received)
        path.append(average)
    return path


def fedals_scaffold(run: Plain, alpha: int, body: int) -> list[Vector]:
    """FedALS with SCAFFOLD: a layer's control is renewed when it is averaged, from the walk since the last time."""
    zero, tau = 0 * run.start, run.steps
    local, own, c, sent = [run.start] * run.clients, [zero] * run.clients, zero, run.start
    walked, path, it = [0] * run.clients, [], 0
    for r, cohort in enumerate(run.cohorts):
        it += tau
        columns = slice(0 if it % (alpha * tau) == 0 else body, None)
        steps, change = np.full(len(zero), tau), 0 * zero
        for k in cohort:
            local[k] = run.train(k, r, local[k], lambda _, g, at, correction=c - own[k]: g + correction)
            walked[k] += tau
        average = mean([local[k] for k in cohort], run.shares(r))
        for k in cohort:
            steps[:body], new = walked[k], own[k].copy()
            new[columns] = (own[k] - c + (sent - local[k]) / (run.eta * steps))[columns]
            change, own[k] = change + run.weights[k] * (new - own[k]), new
        c = c + change
        local, sent = [one.copy() for one in local], sent.copy()
        for one in (*local, sent):
            one[columns] = average[columns]
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
            own[k] = run.train(k, r, own[k], lambda v, g, at, w=w: g + lam * (v - w), steps)
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
            start = np.concatenate([w[:body], heads[k]])
            head = _partly(run, start, batches[:head_steps], slice(body, None))
            ends.append(_partly(run, head, batches[head_steps:], slice(body)))
            heads[k] = ends[-1][body:]
        w = mean(ends, run.shares(r))
        path.append(w)
    return path, [np.concatenate([w[:body], head]) for head in heads]


def _partly(run: Plain, w: Vector, batches: list, columns: slice) -> Vector:
    """SGD that moves these columns only, its momentum starting at zero."""
    velocity, moved = 0 * w, 0 * w
    moved[columns] = 1
    for batch in batches:
        g = moved * (run.gradient(w, batch) + run.weight_decay * w)
        velocity = run.momentum * velocity + g
        w = w - run.eta * (g + run.momentum * velocity if run.nesterov else velocity)
    return w
