"""Runs on a shape in which all states of the server are followed; the only randomness is the draw of cohorts.

``number`` is the number type: ``float``, or a function that returns numbers with 60 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from bounds.weights import Weights
from empirics.exact import cohorts
from empirics.training.step_sizes import falling

from ...runs.statistics import weighted_mean
from .shapes import SHAPES

Array = np.ndarray[Any, Any]
Number = Callable[[Any], Any]


@lru_cache(maxsize=512)
def drawn(cohort: int, again: bool, shares: tuple[Any, ...]) -> tuple[tuple[Any, Array], ...]:
    """Return all cohorts of a round: the probability, and the weights of all clients in the average (0: not drawn)."""
    if cohort == len(shares) and not again:
        return ((0 * shares[0] + 1, np.array(shares)),)
    weighted = []
    for one in cohorts("with_replacement" if again else "without_replacement", cohort, shares):
        weights = 0 * np.array(shares)
        weights[list(one.clients)] = [count + 0 * shares[0] for count in one.counts]
        weighted.append((one.probability, weights / cohort))
    return tuple(weighted)


def weights(table: Mapping[str, Any], number: Number = float) -> Array:
    """Return the clients' weights, which sum to 1."""
    raw = np.array([number(table[f"weight_{k}"]) for k in range(table["clients"])])
    return raw / raw.sum()


def tilts(table: Mapping[str, Any], shares: Array, number: Number = float) -> Array:
    """Return the clients' tilts, shifted so that their weighted sum is 0."""
    raw = np.array([number(table[f"tilt_{k}"]) for k in range(table["clients"])])
    return np.asarray(raw - shares @ raw)


class CurveRun:
    """The metrics of a run, as expectations over the cohorts."""

    def __init__(self, table: Mapping[str, Any], beta: Any, reading: str, number: Number = float) -> None:
        self.table, self.beta, self.reading, self.number = table, beta, reading, number
        shape = SHAPES[int(table["shape"])]
        self._value, self._slope = shape.value, shape.slope
        if number is not float:
            self._value, self._slope = np.frompyfunc(shape.exact_value, 1, 1), np.frompyfunc(shape.exact_slope, 1, 1)
        self.height, self.bowl, self.eta = (number(table[n]) for n in ("height", "bowl", "step_size"))
        self.shares = weights(table, number)
        self.tilts = tilts(table, self.shares, number)
        self._server: dict[str, list[Any]] = {}
        self._rounds: dict[str, list[Any]] = {}
        self._along: dict[str, list[Any]] = {}
        self._steps, self._averages = 0, list[Array]()
        self._play()

    def value(self, x: Any) -> Any:
        return self.height**2 * self._value(x / self.height) + self.bowl / 2 * x**2

    def slope(self, x: Any) -> Any:
        return self.height * self._slope(x / self.height) + self.bowl * x

    @cached_property
    def server(self) -> dict[str, Array]:
        return {name: np.array(values) for name, values in self._server.items()}

    @cached_property
    def rounds(self) -> dict[str, Array]:
        gap = self.server["optimality_gap"]
        rounds = {name: np.array(values) for name, values in self._rounds.items()}
        return {**rounds, "loss_change": np.diff(gap), "loss_decrease": -np.diff(gap)}

    def iterations(self, name: str) -> Array:
        return np.array(self._along[name])

    def average_gap(self, weights: Weights | None = None) -> Any:
        """Return the loss gap at the mean of the virtual averages before every local step, under full participation."""
        return self.value(weighted_mean(self._averages, weights))[0]

    @property
    def _size(self) -> Any:
        """The size of the next local step."""
        offset = self.table.get("step_offset")
        return self.eta if offset is None else falling(self.eta, self.number(offset), self._steps)

    def _play(self) -> None:
        clients = len(self.shares)
        chance, model = np.ones(1), np.array([self.number(self.table["start"])])
        last = np.tile(model[:, None], (1, clients))
        for _ in range(self.table["rounds"]):
            self._at_server(chance, model, last)
            chance, model, last = self._round(chance, model, last)
        self._at_server(chance, model, last)
        self._virtual(chance, model)

    def _round(self, chance: Array, model: Array, last: Array) -> tuple[Array, Array, Array]:
        begin = model[:, None] + self.beta * (model[:, None] - last)
        at, walked, drift, cap = begin.copy(), np.zeros_like(begin), 0.0, 0.0
        for _ in range(self.table["local_steps"]):
            gradient = self.slope(at) + self.tilts
            drift += chance @ ((at - model[:, None]) ** 2).mean(1)
            cap = max(cap, (chance @ gradient**2).max())
            average = at @ self.shares
            self._virtual(chance, average)
            if len(average) == 1:
                self._averages.append(average)
            walked += gradient
            at = at - self._size * gradient
            self._steps += 1
        self._of_round(chance, model, walked, drift, cap)
        return self._combine(chance, model, last, begin, at)

    def _combine(
        self, chance: Array, model: Array, last: Array, begin: Array, ends: Array
    ) -> tuple[Array, Array, Array]:
        chances, models, lasts, divergence = [], [], [], 0.0
        cohorts = drawn(self.table["cohort"], bool(self.table["with_replacement"]), tuple(self.shares))
        for likely, share in cohorts:
            moved = model + (ends - begin) @ share if self.reading == "code" else ends @ share
            kept = ends if self.reading == "proof" else np.where(share > 0, ends, last)
            own = np.full(len(share), self.number(1) / len(share)) if len(cohorts) == 1 else share
            divergence += likely * (chance @ (((kept - moved[:, None]) ** 2) @ own))
            chances.append(likely * chance)
            models.append(moved)
            lasts.append(kept)
        step = sum(c @ (m - model) ** 2 for c, m in zip(chances, models, strict=True))
        aligned = sum(c @ (self.slope(model) * (m - model)) for c, m in zip(chances, models, strict=True))
        mean = step / (self.eta * self.table["local_steps"]) ** 2 if self.beta == 0 and len(cohorts) == 1 else np.nan
        for name, value in (("global_step", step), ("step_alignment", aligned), ("mean_update_sq", mean),
                            ("active_divergence", divergence)):  # fmt: skip
            self._rounds.setdefault(name, []).append(value)
        return np.concatenate(chances), np.concatenate(models), np.concatenate(lasts)

    def _of_round(self, chance: Array, model: Array, walked: Array, drift: float, cap: float) -> None:
        steps = self.table["local_steps"]
        drifts = chance @ (self.slope(model)[:, None] + self.tilts - walked / steps) ** 2
        readings = {
            "local_drift": drift, "grad_cap_sq": cap, "summed_grad_norm_sq": chance @ walked.sum(1) ** 2,
            "mean_path_gradient_sq": chance @ (walked @ self.shares / steps) ** 2, "gradient_drift": drifts,
            "mean_gradient_drift": drifts @ self.shares,
        }  # fmt: skip
        for name, value in readings.items():
            self._rounds.setdefault(name, []).append(value)

    def _at_server(self, chance: Array, model: Array, last: Array) -> None:
        slope = self.slope(model)
        clients = chance @ (slope[:, None] + self.tilts) ** 2
        readings = {
            "grad_norm_sq": chance @ slope**2, "optimality_gap": chance @ self.value(model),
            "distance_sq": chance @ model**2, "client_grad_norm_sq": clients,
            "mean_client_grad_sq": clients @ self.shares, "divergence": chance @ ((last - model[:, None]) ** 2).mean(1),
        }  # fmt: skip
        for name, value in readings.items():
            self._server.setdefault(name, []).append(value)

    def _virtual(self, chance: Array, average: Array) -> None:
        self._along.setdefault("grad_norm_sq", []).append(chance @ self.slope(average) ** 2)
        self._along.setdefault("distance_sq", []).append(chance @ average**2)
        self._along.setdefault("optimality_gap", []).append(chance @ self.value(average))
