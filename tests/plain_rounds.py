"""Federated methods on quadratics once more, by plain loops in fractions: every cohort listed, every noise kept apart.

A number is an array: what it is without noise, then its factors on independent noises of mean 0 and variance 1. Nothing
is taken from the product: each method is written as its paper lists it.
"""

from dataclasses import dataclass, field
from fractions import Fraction as Q
from itertools import combinations, product
from typing import Any

import numpy as np


@dataclass
class Client:
    """Curvature as a list of rows, the minimum, the standard deviation of the noise in every coordinate."""

    curvature: list
    minimum: list
    deviation: Any = 0
    weight: Any = 1


@dataclass
class State:
    chance: Any
    model: list
    last: list
    extra: dict = field(default_factory=dict)


class PlainRun:
    """``method`` is one of those of ``_directions``; ``knob`` its number; ``readings`` has lists by round or state."""

    def __init__(self, method, clients, start, *, cohort, rounds, steps, sizes, knob=Q(0), again=False, shares=None):
        self.method, self.clients, self.steps, self.knob, self.again = method, clients, steps, knob, again
        self.sizes = [sizes] * (rounds * steps) if isinstance(sizes, Q) else sizes
        self.count, self.dim, self.cohort = len(clients), len(start), cohort
        self.sources = self.count * steps * rounds * self.dim
        total = sum(c.weight for c in clients)
        self.weights = [Q(c.weight) / total for c in clients]
        self.best = self._minimiser()
        begun = [self._certain(x) for x in start]
        zero = [self._certain(0) for _ in start]
        everyone = [begun for _ in clients]
        extra = {"own": [zero for _ in clients], "shared": zero}
        states, self.readings, self.along = [State(Q(1), begun, everyone, extra)], {}, {}
        shared = shares or [Q(1, rounds * steps)] * (rounds * steps)
        sums = [[self._certain(0)] * self.dim]
        for r in range(rounds):
            self._server(states)
            states, sums = self._round(r, states, sums, shared)
        self._server(states)
        self.average_gap = sum(
            s.chance * self._gap(self._less(x, self.best)) for s, x in zip(states, sums, strict=True)
        )
        for name in ("grad_norm_sq", "distance_sq", "optimality_gap"):
            self.along[name].append(self.readings[name][-1])

    # ---- numbers ----

    def _certain(self, x):
        return np.array([Q(x)] + [Q(0)] * self.sources, dtype=object)

    @staticmethod
    def _less(x, place):
        moved = [value.copy() for value in x]
        for value, y in zip(moved, place, strict=True):
            value[0] -= y
        return moved

    @staticmethod
    def _square(x, y=None):
        return sum(((a * b).sum() for a, b in zip(x, x if y is None else y, strict=True)), Q(0))

    def _times(self, matrix, x):
        return [sum((m * value for m, value in zip(row, x, strict=True)), self._certain(0)) for row in matrix]

    def _gradient(self, client, x):
        return self._times(client.curvature, self._less(x, client.minimum))

    @property
    def _hessian(self):
        axes = range(self.dim)
        return [
            [sum(p * c.curvature[i][j] for p, c in zip(self.weights, self.clients, strict=True)) for j in axes]
            for i in axes
        ]

    def _minimiser(self):
        axes = range(self.dim)
        pull = [
            sum(
                p * c.curvature[i][j] * c.minimum[j]
                for p, c in zip(self.weights, self.clients, strict=True)
                for j in axes
            )
            for i in axes
        ]
        h = self._hessian
        if self.dim == 1:
            return [pull[0] / h[0][0]]
        area = h[0][0] * h[1][1] - h[0][1] * h[1][0]
        return [(h[1][1] * pull[0] - h[0][1] * pull[1]) / area, (h[0][0] * pull[1] - h[1][0] * pull[0]) / area]

    def _gap(self, away):
        return self._square(away, self._times(self._hessian, away)) / 2

    # ---- the methods ----

    def _start(self, s, k):
        if not self.method.startswith("fedinit"):
            return s.model
        return [w + self.knob * (w - y) for w, y in zip(s.model, s.last[k], strict=True)]

    def _direction(self, s, k, x, begun, g):
        own, shared, knob = s.extra["own"][k], s.extra["shared"], self.knob
        if self.method == "scaffold":
            return [a - b + c for a, b, c in zip(g, own, shared, strict=True)]
        if self.method == "fedprox":
            return [a + knob * (b - c) for a, b, c in zip(g, x, s.model, strict=True)]
        if self.method == "feddyn":
            return [a + knob * (b - c + d) for a, b, c, d in zip(g, x, begun, own, strict=True)]
        if self.method == "fedcm":
            return [knob * a + (1 - knob) * b for a, b in zip(g, shared, strict=True)]
        return g

    def _cohorts(self):
        """Chance, weights in the average and who works."""
        every = range(self.count)
        if self.again:
            for drawn in product(every, repeat=self.cohort):
                chance = np.prod([self.weights[k] for k in drawn])
                yield chance, [Q(drawn.count(k), self.cohort) for k in every]
        elif self.cohort == self.count:
            yield Q(1), self.weights
        else:
            listed = list(combinations(every, self.cohort))
            for drawn in listed:
                yield Q(1, len(listed)), [Q(int(k in drawn), self.cohort) for k in every]

    def _combined(self, s, weights, begun, ends, length):
        """The next server model, memory and what the server shares."""

        def mean(rows):
            return [
                sum((w * row[i] for w, row in zip(weights, rows, strict=True)), self._certain(0))
                for i in range(self.dim)
            ]

        works = [self.method == "fedinit proof" or w > 0 for w in weights]
        moves = [[e - b for e, b in zip(end, start, strict=True)] for end, start in zip(ends, begun, strict=True)]
        model, own, shared = mean(ends), list(s.extra["own"]), s.extra["shared"]
        if self.method == "fedinit code":
            model = [w + m for w, m in zip(s.model, mean(moves), strict=True)]
        if self.method == "scaffold":
            change = [[-m / length - c for m, c in zip(move, shared, strict=True)] for move in moves]
            for k in range(self.count):
                if works[k]:
                    own[k] = [a + b for a, b in zip(own[k], change[k], strict=True)]
            worked = [[p * w * x for x in row] for p, w, row in zip(self.weights, works, change, strict=True)]
            shared = [c + sum((row[i] for row in worked), self._certain(0)) for i, c in enumerate(shared)]
        if self.method == "feddyn":
            for k in range(self.count):
                if works[k]:
                    own[k] = [a + b for a, b in zip(own[k], moves[k], strict=True)]
            worked = [[p * w * x for x in row] for p, w, row in zip(self.weights, works, moves, strict=True)]
            shared = [c + sum((row[i] for row in worked), self._certain(0)) for i, c in enumerate(shared)]
            model = [a + b for a, b in zip(model, shared, strict=True)]
        if self.method == "fedcm":
            shared = [-m / length for m in mean(moves)]
        if self.method == "fedavgm":
            shared = [self.knob * v - m for v, m in zip(shared, mean(moves), strict=True)]
            model = [w - v for w, v in zip(s.model, shared, strict=True)]
        last = [end if w else old for end, old, w in zip(ends, s.last, works, strict=True)]
        return State(s.chance, model, last, {"own": own, "shared": shared})

    # ---- a round ----

    def _round(self, r, states, sums, shares):
        sums_of, per, virtual, after, moved = {}, [Q(0)] * self.count, [[Q(0)] * 3 for _ in range(self.steps)], [], []
        caps = [[Q(0)] * self.count for _ in range(self.steps)]

        def add(name, value):
            sums_of[name] = sums_of.get(name, Q(0)) + value

        h = self._hessian
        for s, total in zip(states, sums, strict=True):
            begun = [self._start(s, k) for k in range(self.count)]
            at, walked = list(begun), [[self._certain(0)] * self.dim for _ in self.clients]
            for j in range(self.steps):
                average = [
                    sum((p * x[i] for p, x in zip(self.weights, at, strict=True)), self._certain(0))
                    for i in range(self.dim)
                ]
                away = self._less(average, self.best)
                for i, value in enumerate((self._square(self._times(h, away)), self._square(away), self._gap(away))):
                    virtual[j][i] += s.chance * value
                total = [a + shares[r * self.steps + j] * b for a, b in zip(total, average, strict=True)]
                for k, client in enumerate(self.clients):
                    mean = self._gradient(client, at[k])
                    slope = [x.copy() for x in mean]
                    for i in range(self.dim):
                        slope[i][1 + ((r * self.steps + j) * self.count + k) * self.dim + i] += Q(client.deviation)
                    add(
                        "local_drift",
                        s.chance * self._square([x - w for x, w in zip(at[k], s.model, strict=True)]) / self.count,
                    )
                    caps[j][k] += s.chance * self._square(slope)
                    walked[k] = [a + b for a, b in zip(walked[k], mean, strict=True)]
                    direction = self._direction(s, k, at[k], begun[k], slope)
                    at[k] = [x - self.sizes[r * self.steps + j] * v for x, v in zip(at[k], direction, strict=True)]
            add("summed_grad_norm_sq", s.chance * self._square([sum(w[i] for w in walked) for i in range(self.dim)]))
            path = [
                sum(p * w[i] for p, w in zip(self.weights, walked, strict=True)) / self.steps for i in range(self.dim)
            ]
            add("mean_path_gradient_sq", s.chance * self._square(path))
            for k, client in enumerate(self.clients):
                apart = [a - b / self.steps for a, b in zip(self._gradient(client, s.model), walked[k], strict=True)]
                per[k] += s.chance * self._square(apart)
            slope = self._times(h, self._less(s.model, self.best))
            cohorts = list(self._cohorts())
            for chance, weights in cohorts:
                end = self._combined(s, weights, begun, at, sum(self.sizes[r * self.steps : (r + 1) * self.steps]))
                end.chance = s.chance * chance
                step = [a - b for a, b in zip(end.model, s.model, strict=True)]
                own = [Q(1, self.count)] * self.count if len(cohorts) == 1 else weights
                add("global_step", end.chance * self._square(step))
                add("step_alignment", end.chance * self._square(slope, step))
                add(
                    "active_divergence",
                    end.chance
                    * sum(
                        o * self._square([a - b for a, b in zip(y, end.model, strict=True)])
                        for o, y in zip(own, end.last, strict=True)
                    ),
                )
                after.append(end)
                moved.append(total)
        sums_of |= {"gradient_drift": per, "grad_cap_sq": max(map(max, caps))}
        sums_of["mean_gradient_drift"] = sum(p * d for p, d in zip(self.weights, per, strict=True))
        for name, value in sums_of.items():
            self.readings.setdefault(name, []).append(value)
        for row in virtual:
            for name, value in zip(("grad_norm_sq", "distance_sq", "optimality_gap"), row, strict=True):
                self.along.setdefault(name, []).append(value)
        return after, moved

    def _server(self, states):
        found = dict.fromkeys(
            ("grad_norm_sq", "distance_sq", "optimality_gap", "divergence", "mean_client_grad_sq"), Q(0)
        )
        for s in states:
            away = self._less(s.model, self.best)
            found["grad_norm_sq"] += s.chance * self._square(self._times(self._hessian, away))
            found["distance_sq"] += s.chance * self._square(away)
            found["optimality_gap"] += s.chance * self._gap(away)
            for k, client in enumerate(self.clients):
                found["divergence"] += (
                    s.chance * self._square([a - b for a, b in zip(s.last[k], s.model, strict=True)]) / self.count
                )
                found["mean_client_grad_sq"] += (
                    s.chance * self.weights[k] * self._square(self._gradient(client, s.model))
                )
        for name, value in found.items():
            self.readings.setdefault(name, []).append(value)
