"""Federated methods on quadratics once more, by plain loops in fractions: every cohort listed, every noise kept apart.

A coordinate is a row of fractions: what it is without noise, then its factors on independent noises of mean 0 and
variance 1. Nothing is taken from the product: each method is written as its paper lists it.
"""

from dataclasses import dataclass
from fractions import Fraction as Q
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np


@dataclass
class Client:
    """Curvature as a list of rows, the minimum, the standard deviation of the noise in every coordinate."""

    curvature: Any
    minimum: Any
    deviation: Any = 0
    weight: Any = 1


@dataclass
class State:
    """The server's model, every client's last one, what each client and the server remember besides."""

    chance: Any
    model: Any
    last: Any
    own: Any
    shared: Any


def mixed(weights, rows):
    return sum(w * row for w, row in zip(weights, rows, strict=True))


def square(x, y=None):
    """The expectation of an inner product, or of a squared norm."""
    return (x * (x if y is None else y)).sum()


class PlainRun:
    """``method`` is one of those of ``_direction``; ``knob`` its number; ``readings`` has lists by round or state."""

    def __init__(self, method, clients, start, *, cohort, rounds, steps, sizes, knob=Q(0), again=False, shares=None):
        self.method, self.clients, self.steps, self.knob, self.again = method, clients, steps, knob, again
        self.sizes = [sizes] * (rounds * steps) if isinstance(sizes, Q) else sizes
        self.count, self.dim, self.cohort = len(clients), len(start), cohort
        self.sources = self.count * steps * rounds * self.dim
        self.weights = np.array([Q(c.weight) for c in clients]) / sum(c.weight for c in clients)
        self.curvatures = [np.array(c.curvature, dtype=object) for c in clients]
        self.hessian = mixed(self.weights, self.curvatures)
        self.best = self._minimiser()
        begun = self._certain(start)
        none = np.stack([0 * begun] * self.count)
        states = [State(Q(1), begun, np.stack([begun] * self.count), none, 0 * begun)]
        self.readings, self.along, sums = {}, {}, [0 * begun]
        shared = shares or [Q(1, rounds * steps)] * (rounds * steps)
        for r in range(rounds):
            self._server(states)
            states, sums = self._round(r, states, sums, shared)
        self._server(states)
        gaps = [self._at(x)["optimality_gap"] for x in sums]
        self.average_gap = mixed([s.chance for s in states], gaps)
        for name in self._at(begun):
            self.along[name].append(self.readings[name][-1])
        self.along["consensus_distance"].append(Q(0))

    def _certain(self, place):
        found = np.full((self.dim, 1 + self.sources), Q(0))
        found[:, 0] = place
        return found

    def _gradient(self, k, x):
        return self.curvatures[k] @ (x - self._certain(self.clients[k].minimum))

    def _minimiser(self):
        pull = mixed(self.weights, [a @ c.minimum for a, c in zip(self.curvatures, self.clients, strict=True)])
        if self.dim == 1:
            return pull / self.hessian[0, 0]
        (a, b), (c, d) = self.hessian
        return np.array([d * pull[0] - b * pull[1], a * pull[1] - c * pull[0]]) / (a * d - b * c)

    def _at(self, model):
        away = model - self._certain(self.best)
        slope = self.hessian @ away
        return {"grad_norm_sq": square(slope), "distance_sq": square(away), "optimality_gap": square(away, slope) / 2}

    def _add(self, found, name, value):
        found[name] = found.get(name, Q(0)) + value

    # ---- the methods ----

    def _direction(self, s, k, x, begun, g):
        if self.method == "scaffold":
            return g - s.own[k] + s.shared
        if self.method == "fedprox":
            return g + self.knob * (x - s.model)
        if self.method == "feddyn":
            return g + self.knob * (x - begun + s.own[k])
        if self.method == "fedcm":
            return self.knob * g + (1 - self.knob) * s.shared
        return g

    def _cohorts(self):
        """Chance, weights in the average and who works."""
        every = range(self.count)
        if self.again:
            for drawn in product(every, repeat=self.cohort):
                yield prod(self.weights[k] for k in drawn), [Q(drawn.count(k), self.cohort) for k in every]
        elif self.cohort == self.count:
            yield Q(1), self.weights
        else:
            listed = list(combinations(every, self.cohort))
            for drawn in listed:
                yield Q(1, len(listed)), [Q(int(k in drawn), self.cohort) for k in every]

    def _combined(self, s, chance, weights, begun, ends, length):
        """The state that a cohort's ends make."""
        works = np.array([self.method == "fedinit proof" or w > 0 for w in weights])
        moves = ends - begun
        model, own, shared, last = mixed(weights, ends), s.own.copy(), s.shared, s.last.copy()
        if self.method == "fedinit code":
            model = s.model + mixed(weights, moves)
        if self.method == "scaffold":
            change = -moves / length - shared
            own[works] += change[works]
            shared = shared + mixed(self.weights * works, change)
        if self.method == "feddyn":
            own[works] += moves[works]
            shared = shared + mixed(self.weights * works, moves)
            model = model + shared
        if self.method == "fedcm":
            shared = -mixed(weights, moves) / length
        if self.method == "fedavgm":
            shared = self.knob * shared - mixed(weights, moves)
            model = s.model - shared
        last[works] = ends[works]
        return State(s.chance * chance, model, last, own, shared)

    # ---- a round ----

    def _round(self, r, states, sums, shares):
        found, per, after, moved = {}, [Q(0)] * self.count, [], []
        virtual, caps = [{} for _ in range(self.steps)], [[Q(0)] * self.count for _ in range(self.steps)]
        times = range(r * self.steps, (r + 1) * self.steps)
        length = sum(self.sizes[t] for t in times)
        for s, total in zip(states, sums, strict=True):
            relax = self.knob if self.method.startswith("fedinit") else 0
            begun = s.model + relax * (s.model - s.last)
            at, walked = begun.copy(), 0 * begun
            for j, t in enumerate(times):
                average = mixed(self.weights, at)
                for name, value in self._at(average).items():
                    self._add(virtual[j], name, s.chance * value)
                apart = mixed(self.weights, [square(x - average) for x in at])
                self._add(virtual[j], "consensus_distance", s.chance * apart)
                total = total + shares[t] * average
                for k, client in enumerate(self.clients):
                    mean = self._gradient(k, at[k])
                    slope = mean.copy()
                    for i in range(self.dim):
                        slope[i, 1 + (t * self.count + k) * self.dim + i] += Q(client.deviation)
                    self._add(found, "local_drift", s.chance * square(at[k] - s.model) / self.count)
                    caps[j][k] += s.chance * square(slope)
                    walked[k] += mean
                    at[k] = at[k] - self.sizes[t] * self._direction(s, k, at[k], begun[k], slope)
            self._add(found, "summed_grad_norm_sq", s.chance * square(walked.sum(0)))
            self._add(found, "mean_path_gradient_sq", s.chance * square(mixed(self.weights, walked) / self.steps))
            for k in range(self.count):
                per[k] += s.chance * square(self._gradient(k, s.model) - walked[k] / self.steps)
            slope = mixed(self.weights, [self._gradient(k, s.model) for k in range(self.count)])
            cohorts = list(self._cohorts())
            for chance, weights in cohorts:
                end = self._combined(s, chance, weights, begun, at, length)
                step = end.model - s.model
                own = [Q(1, self.count)] * self.count if len(cohorts) == 1 else weights
                self._add(found, "global_step", end.chance * square(step))
                self._add(found, "step_alignment", end.chance * square(slope, step))
                apart = mixed(own, [square(y - end.model) for y in end.last])
                self._add(found, "active_divergence", end.chance * apart)
                after.append(end)
                moved.append(total)
        found |= {"gradient_drift": per, "grad_cap_sq": max(map(max, caps))}
        found["mean_gradient_drift"] = mixed(self.weights, per)
        for name, value in found.items():
            self.readings.setdefault(name, []).append(value)
        for row in virtual:
            for name, value in row.items():
                self.along.setdefault(name, []).append(value)
        return after, moved

    def _server(self, states):
        found = {}
        for s in states:
            for name, value in self._at(s.model).items():
                self._add(found, name, s.chance * value)
            self._add(found, "divergence", s.chance * square(s.last - s.model) / self.count)
            each = [square(self._gradient(k, s.model)) for k in range(self.count)]
            self._add(found, "mean_client_grad_sq", s.chance * mixed(self.weights, each))
        for name, value in found.items():
            self.readings.setdefault(name, []).append(value)
