"""What a table's run says, by ``plain`` arithmetic: every reading, and the statement where it does worst."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from bounds.core import Bound

from ...runs.methods import knob
from ..collected import Collected
from ..exact import decimal, RATIONAL, WORKING
from .constants import constants
from .plain import Form, Law, mixed, Number, Table

RATIONAL_STEPS = 60
"""Local steps of all clients and rounds up to which numbers stay rational; beyond, 60 digits are carried."""


class PlainRun(Collected):
    """The readings of a run, collected round by round."""

    def __init__(self, table: Table, beta: Number, reading: str) -> None:
        super().__init__()
        self.table, self.beta, self.reading = table, beta, reading
        self.clients, self.dim = table.clients, table.dim
        law = self._first()
        for _ in range(int(table.raw["rounds"])):
            law = self._round(law)
        self._read_server(law)
        self._read_along(law, [self._at("model")])

    # ---- variables ----

    def _index(self, kind: str, client: int = 0, axis: int = 0) -> int:
        block = {"model": 0, "last": 1, "local": 1 + self.clients, "sum": 1 + 2 * self.clients}[kind]
        return (block + client) * self.dim + axis

    def _first(self) -> Law:
        size = (1 + 3 * self.clients) * self.dim
        zero = 0 * self.table.step_size
        mean = [self.table.start[i % self.dim] for i in range(size)]
        return Law(mean, [[zero] * size for _ in range(size)])

    def _at(self, kind: str, client: int = 0, weight: Number = 1) -> list[dict[int, Number]]:
        return [{self._index(kind, client, i): weight} for i in range(self.dim)]

    # ---- a round ----

    def _round(self, law: Law) -> Law:
        self._read_server(law)
        before = law.copy()
        drift, largest = 0 * self.table.step_size, 0 * self.table.step_size
        self._begin(law)
        for _ in range(int(self.table.raw["local_steps"])):
            drift += sum(law.square(self._apart("local", k, "model")) for k in range(self.clients)) / self.clients
            norms = [law.square(self._gradient(k, "local")) + self.table.noise[k] for k in range(self.clients)]
            largest = max(largest, *norms)
            self._read_along(law, [self._at("local", k, self.table.weights[k]) for k in range(self.clients)])
            self._step(law)
        self._note(self._rounds, "local_drift", drift)
        self._note(self._rounds, "grad_cap_sq", largest)
        self._read_sums(law)
        return self._combine(before, law)

    def _begin(self, law: Law) -> None:
        forms: dict[int, tuple[Form, Number]] = {}
        for k in range(self.clients):
            for i in range(self.dim):
                relaxed = {self._index("model", 0, i): 1 + self.beta, self._index("last", k, i): -self.beta}
                forms[self._index("local", k, i)] = (relaxed, 0 * self.beta)
                forms[self._index("sum", k, i)] = ({}, 0 * self.beta)
        law.replace(forms, {})

    def _gradient(self, client: int, kind: str, weight: Number = 1) -> list[tuple[Form, Number]]:
        """The client's gradient at one of its models, as forms plus constants."""
        matrix, minimum = self.table.curvatures[client], self.table.minima[client]
        at = client if kind != "model" else 0
        return [
            (
                {self._index(kind, at, j): weight * matrix[i][j] for j in range(self.dim)},
                -weight * sum(matrix[i][j] * minimum[j] for j in range(self.dim)),
            )
            for i in range(self.dim)
        ]

    def _step(self, law: Law) -> None:
        """One SGD step of every client; the gradients at the models before it are added up."""
        eta, table = self.table.step_size, self.table
        for k in range(self.clients):
            forms: dict[int, tuple[Form, Number]] = {}
            for i, (form, constant) in enumerate(self._gradient(k, "local")):
                own, total = self._index("local", k, i), self._index("sum", k, i)
                forms[own] = (_plus({own: eta / eta}, form, -eta), -eta * constant)
                forms[total] = (_plus({total: eta / eta}, form, eta / eta), constant)
            noise = {self._index("local", k, i): eta * eta * table.noise[k] / self.dim for i in range(self.dim)}
            law.replace(forms, noise)

    def _combine(self, before: Law, law: Law) -> Law:
        """The server's average over every cohort, and who remembers which last model."""
        parts = []
        step, aligned, apart = (0 * self.table.step_size for _ in range(3))
        cohorts = list(self.table.cohorts())
        for chance, weights in cohorts:
            after = law.copy()
            everyone = self.reading == "proof"
            forms: dict[int, tuple[Form, Number]] = {}
            for i in range(self.dim):
                average = {self._index("local", k, i): weights[k] for k in range(self.clients) if weights[k]}
                if self.reading == "code":
                    model = self._index("model", 0, i)
                    average[model] = -self.beta * sum(weights)
                    for k in range(self.clients):
                        if weights[k]:
                            average[self._index("last", k, i)] = self.beta * weights[k]
                forms[self._index("model", 0, i)] = (average, 0 * chance)
                for k in range(self.clients):
                    if everyone or weights[k]:
                        forms[self._index("last", k, i)] = (
                            {self._index("local", k, i): chance / chance},
                            0 * chance,
                        )
            step += chance * law.square(
                [(_plus(forms[i][0], {i: chance / chance}, -1), 0 * chance) for i in range(self.dim)]
            )
            aligned += chance * self._aligned(law, [forms[i][0] for i in range(self.dim)])
            after.replace(forms, {})
            drawn = weights if len(cohorts) > 1 else [chance / self.clients] * self.clients
            apart += chance * sum(drawn[k] * after.square(self._apart("last", k, "model")) for k in range(self.clients))
            parts.append((chance, after))
        self._note(self._rounds, "global_step", step)
        self._note(self._rounds, "active_divergence", apart)
        self._note(self._rounds, "step_alignment", aligned)
        steps = self.table.step_size * int(self.table.raw["local_steps"])
        self._note(self._rounds, "mean_update_sq", step / (steps * steps))
        return mixed(parts)

    def _aligned(self, law: Law, ends: list[Form]) -> Number:
        """The expected product of the global gradient and the server's move."""
        total = 0 * self.table.step_size
        for i in range(self.dim):
            gradient = {self._index("model", 0, j): self.table.curvature[i][j] for j in range(self.dim)}
            constant = -sum(self.table.curvature[i][j] * self.table.minimiser[j] for j in range(self.dim))
            move = _plus(ends[i], {self._index("model", 0, i): self.table.kind(1)}, -1)
            means = [sum(c * law.mean[a] for a, c in form.items()) for form in (gradient, move)]
            spread = sum(a * b * law.spread[x][y] for x, a in gradient.items() for y, b in move.items())
            total += (means[0] + constant) * means[1] + spread
        return total

    # ---- readings ----

    def _note(self, kind: dict[str, list[Any]], name: str, value: Any) -> None:
        kind.setdefault(name, []).append(value)

    def _apart(self, kind: str, client: int, other: str) -> list[tuple[Form, Number]]:
        zero = 0 * self.table.step_size
        return [
            ({self._index(kind, client, i): 1 + zero, self._index(other, 0, i): -1 + zero}, zero)
            for i in range(self.dim)
        ]

    def _global(self, parts: list[list[dict[int, Number]]]) -> tuple[list[tuple[Form, Number]], list[Form]]:
        """Distance to the minimiser of a sum of models, as forms plus constants."""
        forms: list[Form] = []
        for i in range(self.dim):
            joined: dict[int, Number] = {}
            for part in parts:
                joined.update(part[i])
            forms.append(joined)
        return [(form, -self.table.minimiser[i]) for i, form in enumerate(forms)], forms

    def _read_along(self, law: Law, parts: list[list[dict[int, Number]]]) -> None:
        """Distance and gradient at an average of models."""
        away, _ = self._global(parts)
        self._note(self._along, "distance_sq", law.square(away))
        self._note(self._along, "grad_norm_sq", law.square(self._times_curvature(away)))

    def _times_curvature(self, away: list[tuple[Form, Number]]) -> list[tuple[Form, Number]]:
        found: list[tuple[Form, Number]] = []
        for row in self.table.curvature:
            joined: dict[int, Number] = {}
            for coefficient, (form, _) in zip(row, away, strict=True):
                joined = _plus(joined, form, coefficient)
            found.append((joined, sum(c * constant for c, (_, constant) in zip(row, away, strict=True))))
        return found

    def _read_server(self, law: Law) -> None:
        away, _ = self._global([self._at("model")])
        self._note(self._server, "grad_norm_sq", law.square(self._times_curvature(away)))
        gap = 0 * self.table.step_size
        for i, (form, constant) in enumerate(away):
            for j, (other, shift) in enumerate(away):
                means = [sum(c * law.mean[a] for a, c in f.items()) + s for f, s in ((form, constant), (other, shift))]
                spread = sum(a * b * law.spread[x][y] for x, a in form.items() for y, b in other.items())
                gap += self.table.curvature[i][j] * (means[0] * means[1] + spread) / 2
        self._note(self._server, "optimality_gap", gap)
        clients = [law.square(self._gradient(k, "model")) for k in range(self.clients)]
        self._note(self._server, "client_grad_norm_sq", clients)
        self._note(
            self._server, "mean_client_grad_sq", sum(p * g for p, g in zip(self.table.weights, clients, strict=True))
        )
        apart = [law.square(self._apart("last", k, "model")) for k in range(self.clients)]
        self._note(self._server, "divergence", sum(apart) / self.clients)

    def _read_sums(self, law: Law) -> None:
        """Gradients added up along the paths."""
        steps, weights = int(self.table.raw["local_steps"]), self.table.weights
        zero = 0 * self.table.step_size
        whole = [({self._index("sum", k, i): 1 + zero for k in range(self.clients)}, zero) for i in range(self.dim)]
        mean = [
            ({self._index("sum", k, i): weights[k] / steps for k in range(self.clients)}, zero) for i in range(self.dim)
        ]
        drift = []
        for k in range(self.clients):
            start = self._gradient(k, "model")
            forms = [
                (_plus(form, {self._index("sum", k, i): 1 + zero}, -(1 + zero) / steps), constant)
                for i, (form, constant) in enumerate(start)
            ]
            drift.append(law.square(forms))
        self._note(self._rounds, "summed_grad_norm_sq", law.square(whole))
        self._note(self._rounds, "mean_path_gradient_sq", law.square(mean))
        self._note(self._rounds, "gradient_drift", drift)
        self._note(self._rounds, "mean_gradient_drift", sum(p * d for p, d in zip(weights, drift, strict=True)))


def _plus(form: Form, other: Form, factor: Number) -> dict[int, Number]:
    """A form plus another one times a factor."""
    joined = dict(form)
    for i, c in other.items():
        joined[i] = joined.get(i, 0) + factor * c
    return joined


def told(bound: Bound, instance: Mapping[str, Any]) -> tuple[dict[str, Any], PlainRun, str]:
    """The constants of an instance, its run, and the arithmetic they were done in."""
    steps = instance["clients"] * instance["local_steps"] * instance["rounds"]
    rationally = steps <= RATIONAL_STEPS
    table = Table(instance, Fraction if rationally else decimal)
    run = PlainRun(table, *knob(bound.about, "relaxation", table.beta))
    return constants(table), run, RATIONAL if rationally else f"{WORKING} digits"
