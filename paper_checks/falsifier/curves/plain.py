"""The same run in 60-digit numbers: one state of the server after another, clients and cohorts in plain loops."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product
from typing import Any

import mpmath

from bounds.weights import Weights

from ...runs.statistics import weighed
from ..collected import Collected
from ..exact import decimal
from .shapes import SHAPES

State = tuple[Any, Any, tuple[Any, ...]]
"""Chance, server model, last local models."""


class PlainCurve(Collected):
    """The readings and constants of a table."""

    def __init__(self, raw: Mapping[str, Any], beta: Any, reading: str) -> None:
        super().__init__()
        self.raw, self.beta, self.reading = raw, beta, reading
        self.shape = SHAPES[int(raw["shape"])]
        self.clients, self.steps = int(raw["clients"]), int(raw["local_steps"])
        self.table = {name: decimal(value) for name, value in raw.items()}
        total = sum(self.table[f"weight_{k}"] for k in range(self.clients))
        self.shares = [self.table[f"weight_{k}"] / total for k in range(self.clients)]
        centre = sum(p * self.table[f"tilt_{k}"] for k, p in enumerate(self.shares))
        self.tilts = [self.table[f"tilt_{k}"] - centre for k in range(self.clients)]
        self.taken, self.averages = 0, list[Any]()
        start = self.table["start"]
        states: list[State] = [(mpmath.mpf(1), start, (start,) * self.clients)]
        for _ in range(int(raw["rounds"])):
            states = self._round(states)
        self._finish(states)

    def average_gap(self, weights: Weights | None = None) -> Any:
        """The loss gap at the mean of the averages before every local step, where all clients take part."""
        return self.value(weighed(self.averages, weights))

    def value(self, x: Any) -> Any:
        height = self.table["height"]
        return height**2 * self.shape.exact_value(x / height) + self.table["bowl"] / 2 * x * x

    def slope(self, x: Any) -> Any:
        return self.table["height"] * self.shape.exact_slope(x / self.table["height"]) + self.table["bowl"] * x

    def cohorts(self) -> list[tuple[Any, list[Any]]]:
        """Chance and weights of every ordered draw."""
        cohort, clients = int(self.raw["cohort"]), range(self.clients)
        if self.raw["with_replacement"]:
            listed = list(product(clients, repeat=cohort))
            return [
                (mpmath.fprod(self.shares[k] for k in draw), [mpmath.mpf(draw.count(k)) / cohort for k in clients])
                for draw in listed
            ]
        if cohort == self.clients:
            return [(mpmath.mpf(1), self.shares)]
        subsets = list(combinations(clients, cohort))
        return [
            (mpmath.mpf(1) / len(subsets), [mpmath.mpf(k in subset) / cohort for k in clients]) for subset in subsets
        ]

    def _round(self, states: list[State]) -> list[State]:
        self._read_server(states)
        sums: dict[str, Any] = {}
        per_client = [mpmath.mpf(0)] * self.clients
        caps = [[mpmath.mpf(0)] * self.clients for _ in range(self.steps)]
        virtual = [[mpmath.mpf(0)] * 3 for _ in range(self.steps)]
        offset, first = self.table.get("step_offset"), self.table["step_size"]
        sizes = [first if offset is None else first * offset / (offset + self.taken + j) for j in range(self.steps)]
        after: list[State] = []

        def add(name: str, value: Any) -> None:
            sums[name] = sums.get(name, 0) + value

        for chance, model, last in states:
            begin = [model + self.beta * (model - own) for own in last]
            at, walked = list(begin), [mpmath.mpf(0)] * self.clients
            for j in range(self.steps):
                average = sum(p * x for p, x in zip(self.shares, at, strict=True))
                virtual[j][0] += chance * self.slope(average) ** 2
                virtual[j][1] += chance * average**2
                virtual[j][2] += chance * self.value(average)
                if len(states) == 1:  # as there is where all clients take part in every round
                    self.averages.append(average)
                for k in range(self.clients):
                    gradient = self.slope(at[k]) + self.tilts[k]
                    add("local_drift", chance * (at[k] - model) ** 2 / self.clients)
                    caps[j][k] += chance * gradient**2
                    walked[k] += gradient
                    at[k] -= sizes[j] * gradient
            add("summed_grad_norm_sq", chance * sum(walked) ** 2)
            path = sum(p * x for p, x in zip(self.shares, walked, strict=True)) / self.steps
            add("mean_path_gradient_sq", chance * path**2)
            for k in range(self.clients):
                apart = self.slope(model) + self.tilts[k] - walked[k] / self.steps
                per_client[k] += chance * apart**2
            after += self._drawn(chance, model, last, begin, at, add)
        self._note(self._rounds, sums)
        mean = sum(p * d for p, d in zip(self.shares, per_client, strict=True))
        update = sums["global_step"] / (self.table["step_size"] * self.steps) ** 2
        largest = max(max(row) for row in caps)
        self._note(self._rounds, {"gradient_drift": per_client, "mean_gradient_drift": mean, "grad_cap_sq": largest,
                                  "mean_update_sq": update})  # fmt: skip
        for slope, distance, gap in virtual:
            self._note(self._along, {"grad_norm_sq": slope, "distance_sq": distance, "optimality_gap": gap})
        self.taken += self.steps
        return after

    def _drawn(self, chance: Any, model: Any, last: Any, begin: list[Any], ends: list[Any], add: Any) -> list[State]:
        found: list[State] = []
        cohorts = self.cohorts()
        for likely, share in cohorts:
            moved = sum(s * e for s, e in zip(share, ends, strict=True))
            if self.reading == "code":
                moved = model + sum(s * (e - b) for s, e, b in zip(share, ends, begin, strict=True))
            kept = tuple(ends[k] if self.reading == "proof" or share[k] > 0 else last[k] for k in range(self.clients))
            own = share if len(cohorts) > 1 else [mpmath.mpf(1) / self.clients] * self.clients
            add(
                "active_divergence", chance * likely * sum(o * (x - moved) ** 2 for o, x in zip(own, kept, strict=True))
            )
            add("global_step", chance * likely * (moved - model) ** 2)
            add("step_alignment", chance * likely * self.slope(model) * (moved - model))
            found.append((chance * likely, moved, kept))
        return found

    def _read_server(self, states: list[State]) -> None:
        clients = [sum(c * (self.slope(m) + tilt) ** 2 for c, m, _ in states) for tilt in self.tilts]
        self._note(self._server, {
            "grad_norm_sq": sum(c * self.slope(m) ** 2 for c, m, _ in states),
            "optimality_gap": sum(c * self.value(m) for c, m, _ in states),
            "distance_sq": sum(c * m**2 for c, m, _ in states),
            "client_grad_norm_sq": clients,
            "mean_client_grad_sq": sum(p * g for p, g in zip(self.shares, clients, strict=True)),
            "divergence": sum(c * sum((x - m) ** 2 for x in last) / self.clients for c, m, last in states),
        })  # fmt: skip

    def _finish(self, states: list[State]) -> None:
        self._read_server(states)
        words = ("grad_norm_sq", "distance_sq", "optimality_gap")
        self._note(self._along, {name: self._server[name][-1] for name in words})

    def _note(self, kind: dict[str, list[Any]], values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            kind.setdefault(name, []).append(value)
