"""The same worst cases stated a second time, by hand and in another's words: PEPit's points, functions and classes.

PEPit (Goujaud et al. 2024) knows the function classes and builds the program; the methods are loops over clients and
steps, assumptions and metrics are sums over clients. Nothing is shared with the statement that is to be checked.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import PEPit
import PEPit.functions

from paper_checks.worst_case.problem import WorstCaseProblem
from paper_checks.worst_case.program import WorstCaseError

Models = list[Any]
"""One PEPit point per client."""

TOLERANCE = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
GOOD = ("optimal", "optimal_inaccurate")


@dataclass(frozen=True)
class _Method:
    """What sets the methods apart: FedProx's mu, FedInit's beta and reading, whether SCAFFOLD's controls are kept."""

    mu: float = 0.0
    beta: float = 0.0
    adds: bool = False
    controls: bool = False


@dataclass
class _Run:
    """Server models, and by round the clients' models ``[step][client]`` and the gradients they were given."""

    servers: Models
    locals: list[list[Models]] = field(default_factory=list)
    gradients: list[list[Models]] = field(default_factory=list)


def by_pepit(question: WorstCaseProblem) -> float:
    """The worst case that a question asks for, by PEPit, of the methods, metrics and assumptions stated here."""
    problem, stated = PEPit.PEP(), _Stated(question)
    stated.state(problem)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # cvxpy's, on accuracy: the status says it too
        value = problem.solve(solver="CLARABEL", verbose=0, **TOLERANCE)
    status = problem.wrapper.prob.status
    if status not in GOOD or value is None:
        raise WorstCaseError(f"PEPit found no optimum (status {status}): no number is given")
    return float(value)


# ---- the methods ----


DIFFERENCES: Mapping[str, Callable[[Any], _Method]] = {
    "fedavg": lambda own: _Method(),
    "fedprox": lambda own: _Method(mu=own.direction.mu),
    "scaffold": lambda own: _Method(controls=True),
    "fedinit": lambda own: _Method(beta=own.start.beta, adds=own.reading == "code"),
}


def _play(question: WorstCaseProblem, clients: list[Any], start: Any) -> _Run:
    setting, own = question.plan, question.algorithm
    method = DIFFERENCES[own.name.partition("(")[0]](own)
    run, everyone = _Run([start]), range(len(clients))
    last, controls, control = [start] * len(clients), [0 * start] * len(clients), 0 * start
    for r in range(setting.rounds):
        steps = setting.steps if question.steps is None else question.steps[min(r, len(question.steps) - 1)]
        eta, server = setting.step_size * setting.step_size_decay**r, run.servers[-1]
        begins = [server + method.beta * (server - last[i]) for i in everyone]
        walks = []
        for i in everyone:
            corrected = control - controls[i] if method.controls else 0 * start
            walks.append(_walk(clients[i], begins[i], server, eta, steps, method.mu, corrected, setting.momentum))
        run.locals.append([[models[k] for models, _ in walks] for k in range(steps + 1)])
        run.gradients.append([[gradients[k] for _, gradients in walks] for k in range(steps)])
        last = run.locals[-1][-1]
        moved = [last[i] - begins[i] for i in everyone]
        controls = [controls[i] - control - moved[i] / (steps * eta) for i in everyone]
        control = _mean(controls)
        run.servers.append(server + _mean(moved) if method.adds else _mean(last))
    return run


def _walk(
    client: Any, begin: Any, server: Any, eta: float, steps: int, mu: float, corrected: Any, momentum: float
) -> tuple[Models, Models]:
    """The models of a client's local steps and the gradients on the way."""
    models, gradients, velocity = [begin], [], 0 * begin
    for _ in range(steps):
        here = models[-1]
        gradients.append(client.gradient(here))
        velocity = momentum * velocity + gradients[-1] + mu * (here - server) + corrected
        models.append(here - eta * velocity)
    return models, gradients


def _mean(things: Any) -> Any:
    """The average of points, functions or expressions; of points the coefficients rounded, so that equal ones match."""
    listed = list(things)
    found = sum(listed[1:], start=listed[0]) / len(listed)
    rounded = {key: round(weight, 14) for key, weight in found.decomposition_dict.items()}
    found.decomposition_dict = {key: weight for key, weight in rounded.items() if weight}
    return found


# ---- what is assumed ----


class _Stated:
    """A question about to be written into a PEPit problem."""

    def __init__(self, question: WorstCaseProblem) -> None:
        self.question = question
        self.given = dict(question.assumptions)

    def state(self, problem: Any) -> None:
        self.problem = problem
        self.clients = [self._client() for _ in range(self.question.setting.cohort)]
        self.loss = _mean(self.clients)
        if self.question.convex:
            self.optimum = self.loss.stationary_point()
            self.smallest = self.loss(self.optimum)
        else:
            self.smallest = PEPit.Expression(is_leaf=True)
        self.run = _play(self.question, self.clients, problem.set_initial_point())
        self.visited = list(self.run.servers)
        for expression in self._metric():
            problem.set_performance_metric(expression)
        for word in self.given:
            self._assume(word)
        if not self.question.convex:
            self._bounded_below()

    def _client(self) -> Any:
        kinds, L = PEPit.functions, self.given["smoothness"]
        if not self.question.convex:
            return self.problem.declare_function(kinds.SmoothFunction, L=L)
        if not self.given["strong_convexity"]:
            return self.problem.declare_function(kinds.SmoothConvexFunction, L=L)
        mu = self.given["strong_convexity"]
        return self.problem.declare_function(kinds.SmoothStronglyConvexFunction, mu=mu, L=L)

    def _below(self, expression: Any, limit: float = 0.0) -> None:
        self.problem.add_constraint(expression <= limit)

    def _gap(self, point: Any) -> Any:
        return self.loss(point) - self.smallest

    def _gradient(self, point: Any) -> Any:
        """The global gradient as the mean of the clients'."""
        return _mean(f.gradient(point) for f in self.clients)

    def _unlike(self, point: Any) -> Any:
        return _mean(f.gradient(point) ** 2 for f in self.clients)

    def _averages(self) -> Models:
        """The averages of all clients' models, iteration by iteration, and the last server model."""
        met = [_mean(models) for path in self.run.locals for models in path[:-1]] + [self.run.servers[-1]]
        known = {str(m.decomposition_dict): m for m in self.run.servers}
        return [known.get(str(m.decomposition_dict), m) for m in met]

    def _assume(self, word: str) -> None:
        limit, start = self.given[word], self.run.servers[0]
        if word == "initial_distance_sq":
            self._below((start - self.optimum) ** 2, limit)
        elif word == "initial_gap":
            self._below(self._gap(start), limit)
        elif word == "grad_norm_sq":
            self._below(self._gradient(self.run.servers[-2]) ** 2, limit)
        elif word == "divergence":
            if len(self.run.locals) > 1:
                self._below(_mean((m - self.run.servers[-2]) ** 2 for m in self.run.locals[-2][-1]), limit)
        elif word == "distance_sq":
            self._below((self._averages()[-2] - self.optimum) ** 2, limit)
        elif word == "optimum_dissimilarity":
            self._below(self._unlike(self.optimum), limit)
        elif word == "heterogeneity":
            self._below(self.smallest - _mean(f(f.stationary_point()) for f in self.clients), limit)
        else:
            self._assume_along(word, limit)

    def _assume_along(self, word: str, limit: float) -> None:
        """What is assumed at every visited model."""
        if word == "grad_cap_sq":
            for gradient in (g for steps in self.run.gradients for models in steps for g in models):
                self._below(gradient**2, limit)
        elif word == "dissimilarity_offset":
            factor = self.given.get("dissimilarity_factor", 1.0)
            at_rest = [self.optimum] if self.question.convex else []
            for point in self.visited + at_rest:
                self._below(self._unlike(point) - factor * self._gradient(point) ** 2, limit)
        elif word == "pl_constant":
            for point in self.visited:
                self._below(2 * limit * self._gap(point) - self._gradient(point) ** 2)

    def _bounded_below(self) -> None:
        for point in self.visited:
            reached = self.loss(point) - self._gradient(point) ** 2 / (2 * self.given["smoothness"])
            self._below(self.smallest - reached)

    # ---- what is measured ----

    def _metric(self) -> list[Any]:
        """The expressions whose smallest is maximised."""
        kind, over = self.question.statistic.kind, self.question.statistic.over
        series, counts_last = self._iterations() if over == "iterations" else self._rounds()
        if kind == "min":
            return series if counts_last or over == "iterations" else series[:-1]
        if kind == "mean":
            entries = series if counts_last else series[:-1]
            if (weights := self.question.statistic.weights) is None:
                return [_mean(entries)]
            return [sum(w * entry for w, entry in zip(weights.shares(len(entries)), entries, strict=True))]
        return series[-1:]

    def _models(self, word: str, models: Models) -> list[Any]:
        if word == "distance_sq":
            return [(m - self.optimum) ** 2 for m in models]
        self.visited += [m for m in models if not any(m is other for other in self.visited)]
        if word == "optimality_gap":
            return [self._gap(m) for m in models]
        return [self._gradient(m) ** 2 for m in models]

    def _iterations(self) -> tuple[list[Any], bool]:
        word = self.question.metric
        if word in ("distance_sq", "optimality_gap", "grad_norm_sq"):
            return self._models(word, self._averages()), False
        steps = [models for path in self.run.locals for models in path[:-1]]  # consensus_distance
        return [_mean((m - _mean(models)) ** 2 for m in models) for models in steps], True

    def _rounds(self) -> tuple[list[Any], bool]:
        """The metric's values in order, and whether each belongs to a round instead of a model."""
        word, run = self.question.metric, self.run
        pairs = list(zip(run.servers, run.servers[1:], run.locals, run.gradients, strict=False))
        if word in ("distance_sq", "optimality_gap", "grad_norm_sq", "mean_grad_norm_sq"):
            return self._models(word, run.servers), False
        if word in ("divergence", "mean_divergence", "final_divergence", "next_divergence"):
            zero = 0 * run.servers[0] ** 2
            return [zero] + [_mean((m - after) ** 2 for m in path[-1]) for _, after, path, _ in pairs], False
        if word == "local_drift":
            return [sum(_mean((m - w) ** 2 for m in models) for models in path[:-1]) for w, _, path, _ in pairs], True
        if word == "global_step":
            return [(after - w) ** 2 for w, after, _, _ in pairs], True
        if word == "loss_change":
            return [self.loss(after) - self.loss(w) for w, after, _, _ in pairs], True
        if word == "weighted_grad_norm_sq":
            return [self._weighted()], True
        return [self._path_drift(w, steps) for w, _, _, steps in pairs], True  # mean_gradient_drift

    def _weighted(self) -> Any:
        """The squared gradients at the averages times the step sizes, summed over all iterations."""
        setting = self.question.setting
        rounds = [r for r, path in enumerate(self.run.locals) for _ in path[:-1]]
        norms = self._models("grad_norm_sq", self._averages()[:-1])
        return sum(setting.step_size * setting.step_size_decay**r * g for r, g in zip(rounds, norms, strict=True))

    def _path_drift(self, server: Any, steps: list[Models]) -> Any:
        means = [_mean(step[i] for step in steps) for i in range(len(self.clients))]
        return _mean((f.gradient(server) - g) ** 2 for f, g in zip(self.clients, means, strict=True))
