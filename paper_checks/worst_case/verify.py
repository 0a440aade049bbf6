"""Check proof files: ``python -I verify.py FILE ...``. It uses Python's standard library and nothing of fedbounds.

The method is run in exact fractions on unknown vectors, and inequalities that hold for every federation of the class
are added up with multipliers >= 0. What remains between their sum and the claim must be a sum of squares:
``S = D (T T' / 4^bits + E) D`` with an integer matrix T, a diagonal matrix D of powers of two, and a diagonally
dominant E. The key ``kind`` of a file says which of two claims it proves; ``FILE_KEYS`` explains the other keys.

*worst case*: ``metric <= bound`` for every federation of the class, with any number of clients that all take part and
use full gradients. The file may also contain a federation that attains a value.

*rate*: for every number T of rounds and any number of clients that all take part with full gradients of smooth,
strongly convex losses, where w* is the minimiser of their mean and zeta^2 the mean squared client gradient at w*,

    |w_T - w*|^2 <= contraction^T (start_distance |w_0 - w*|^2 + start_dissimilarity zeta^2) + floor zeta^2

With stochastic gradients (independent noise of mean 0 and variance sigma^2) the right side gains ``+ noise_floor
sigma^2``; then, and when every round draws a uniformly random cohort, the inequality holds in expectation. The file
contains a quadratic form V of the state between rounds, and the sum of squares is
``contraction V + gamma zeta^2 - V_next`` plus inequalities. When a cohort is drawn, the vector that a client stores is
replaced with probability cohort/clients: this gives its mean square, and drawing without replacement gives the
expected square of its mean.
"""

from __future__ import annotations

import json
import lzma
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction as Q
from functools import cache, cached_property, partial
from itertools import islice, permutations, zip_longest
from math import lcm
from operator import mul
from typing import Any

Part = dict[str, Q]
"""A linear combination: coefficients by the names of unknown vectors."""
Matrix = dict[tuple[str, str], Q]

MAX_FILE_BYTES, MAX_CHARACTERS = 2**26, 1000
"""Limits on the unpacked bytes of a file and on the characters of a number."""
MAX_STEPS, MAX_VECTORS, MAX_BITS = 200, 500, 10_000
"""Limits on the local steps of a run, the unknown vectors, and the binary digits of a power of two."""

WORST_CASE, RATE = "worst case", "rate"
FILE, QUADRATIC_FORM = ("kind", "claim", "change", "multipliers", "blocks"), ("means", "deviations", "potential")
FILE_KEYS = {
    WORST_CASE: {*FILE, "bound", "near", "weights", "unit"},
    RATE: {*FILE, *QUADRATIC_FORM, "relative", "noise_weights", "noise_products", "means_factor", "deviations_factor"},
}
"""The required keys of a file. Unknown keys are refused, since they could claim something that is not checked.
``change``: factor of the new unknown vectors in gradients; ``near``: for each model outside the local steps, the local
step whose gradient plus a change is its gradient; ``weights``: of the metric at each model, round or iteration;
``multipliers``: inequalities and their factors, where integers are multiples of ``unit``; ``blocks``: sums of squares
of means and of deviations; ``relative``: whether gradients are relative to those at the minimiser. The quadratic form V
has the matrices ``means`` and ``deviations`` and the factor ``potential`` of the loss gap; ``means_factor`` and
``deviations_factor`` show that they are at least the squared distance and 0. ``noise_weights``: of every step's noise,
by block; ``noise_products``: chosen coefficients of products with expectation 0."""
PLAN = ("method", "parameter", "local_steps", "step_size", "smoothness", "strong_convexity")
RATE_NUMBERS = ("contraction", "start_distance", "start_dissimilarity", "floor", "noise_floor")
CLAIM_KEYS = {
    WORST_CASE: (*PLAN, "given", "metric", "statistic", "over"),
    RATE: (*PLAN, *RATE_NUMBERS, "clients", "cohort"),
}
ATTAINED_KEYS = ("value", "bits", "dimensions", "vectors", "values")
BLOCK_KEYS = ("vectors", "scale", "factor", "bits")
"""The keys of a federation that attains ``value``: coordinates of ``vectors`` in units of 2^-bits, function ``values``
by point; and of a sum of squares: the ``vectors`` of its rows, the exponents of D (``scale``) and T (``factor``)."""
START_KEYS = ("initial_distance_sq", "optimum_dissimilarity", "gradient_variance")
"""What a rate that states a bound after a number of rounds assumes about the start."""

SERVER_VECTORS = {"fedavgm": "velocity", "fedcm": "direction"}
CLIENT_VECTORS = {"fedinit": "last", "scaffold": "control"}
"""The vector that the server, or every client, stores between rounds besides the model. It starts at 0, except ``last``
(a client's last local model), which starts at the model."""
METHODS = ("fedavg", "fedprox", "fedinit", "scaffold", "fedavgm", "fedcm")
AT_ALL_MODELS = ("dissimilarity_offset", "dissimilarity_factor", "uniform_dissimilarity", "pl_constant")
"""Assumptions about all models. A federation that attains a value is checked at the models its run visits."""
NEEDS_MINIMISER = ("initial_distance_sq", "distance_sq", "optimum_dissimilarity", "heterogeneity")
AT_ONE_MODEL = ("initial_distance_sq", "initial_gap", "grad_norm_sq", "divergence", "distance_sq")
"""Assumptions about the initial server model, or about the model before the last round or iteration."""
ASSUMPTIONS = {*AT_ALL_MODELS, *NEEDS_MINIMISER, *AT_ONE_MODEL, "grad_cap_sq"}
OF_A_MODEL = ("distance_sq", "optimality_gap", "grad_norm_sq", "divergence")
OF_A_ROUND = ("local_drift", "global_step", "loss_change", "mean_gradient_drift")
OF_A_RUN = ("mean_gap", "average_gap", "weighted_grad_norm_sq")
"""Metrics with one number for every model, for every round, and for the whole run."""


class Refused(Exception):
    """The reason why a file does not prove its claim."""


INVALID_FILE = (
    *(Refused, ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RecursionError),
    *(TypeError, ValueError, lzma.LZMAError),
)
"""Exceptions that reading or checking a file that is not a proof may raise."""


def require(condition: bool, message: str) -> None:
    """Raise ``Refused`` with this message unless the condition holds."""
    if not condition:
        raise Refused(message)


def parse_number(value: Any) -> Q:
    """Return an integer, or a text such as ``3/10``, as a fraction. Floats are refused: they print inexactly."""
    is_text = isinstance(value, str) and len(value) <= MAX_CHARACTERS
    exact = type(value) is int or (is_text and bool(re.fullmatch(r"-?[0-9]+(/0*[1-9][0-9]*)?", value)))
    require(exact, f"a number is an integer or a text such as 3/10; got {value!r:.60}")
    return Q(value)


def parse_count(value: Any, smallest: int, largest: int, name: str) -> int:
    """Return an integer; raise ``Refused`` unless it is one between these limits."""
    require(type(value) is int and smallest <= value <= largest, f"{name}: an integer from {smallest} to {largest}")
    return int(value)


def check_keys(item: Any, required: Iterable[str], name: str, optional: Iterable[str] = ()) -> Any:
    """Return an object; raise ``Refused`` unless it has all required keys and no others but the optional ones."""
    complete = isinstance(item, dict) and set(required) <= set(item)
    require(complete, f"{name} is an object with the names {', '.join(sorted(required))}")
    unknown_keys = ", ".join(sorted(set(item) - set(required) - set(optional)))
    require(not unknown_keys, f"{name} has names that are not read: {unknown_keys:.60}")
    return item


# ---- vectors, and sums of inequalities ----


class Vector:
    """A vector of every client: the mean over the clients and a client's deviation from it, as linear combinations.

    The mean over the clients of ``<u, v>`` is the inner product of the means plus the mean inner product of the
    deviations.
    """

    def __init__(self, mean: Part, deviation: Part) -> None:
        self.parts = tuple({name: x for name, x in part.items() if x} for part in (mean, deviation))

    def __add__(self, other: Vector) -> Vector:
        pairs = zip(self.parts, other.parts, strict=True)
        return Vector(*({name: a.get(name, Q(0)) + b.get(name, Q(0)) for name in {**a, **b}} for a, b in pairs))

    def __sub__(self, other: Vector) -> Vector:
        return self + (-1) * other

    def __rmul__(self, c: Q | int) -> Vector:
        return Vector(*({name: c * x for name, x in part.items()} for part in self.parts))

    def equals(self, other: Vector) -> bool:
        return self.parts == other.parts

    @cached_property
    def mean(self) -> Vector:
        """The mean over the clients, as a vector that is the same for all of them."""
        return Vector(self.parts[0], {})

    @cached_property
    def deviation(self) -> Vector:
        """The deviations from the mean, as a vector with mean 0."""
        return Vector({}, self.parts[1])


ZERO = Vector({}, {})
MINIMISER_GRADIENT = Vector({}, {"*": Q(1)})
"""A client's gradient at the minimiser of the mean loss, where the gradients of the clients sum to 0."""


def unknown(name: str, factor: Q | int = 1) -> Vector:
    """Return a factor times the unknown vector of this name."""
    return Vector({name: Q(factor)}, {name: Q(factor)})


def new_gradient(letter: str, number: int, change: Q) -> Vector:
    """Return the unknown gradient of this number: the first one plus ``change`` times new unknown vectors."""
    part = {f"{letter}{i}": change if i > 1 else Q(1) for i in range(1, number + 1)}
    return Vector(part, part)


def to_integers(parts: Sequence[Part]) -> tuple[list[dict[str, int]], int]:
    """Return numerators over a common denominator, and it; integers multiply twenty times faster than fractions."""
    d = lcm(*(x.denominator for part in parts for x in part.values()))
    return [{name: int(x * d) for name, x in part.items()} for part in parts], d


class InequalitySum:
    """A sum of inequalities: coefficients of inner products of vectors, and of function values by point name.

    Smooth, strongly convex functions satisfy the inequalities with these ``L`` and ``mu``; ``mu = -L`` where the claim
    assumes no convexity.
    """

    def __init__(self, proof: Any) -> None:
        claim = check_keys(proof["claim"], CLAIM_KEYS[proof["kind"]], "a claim")
        self.claim, self.change = claim, parse_number(proof["change"])
        self.convex = claim["strong_convexity"] is not None
        self.L = parse_number(claim["smoothness"])
        self.mu = parse_number(claim["strong_convexity"]) if self.convex else -self.L
        require(self.L > 0 and self.mu < self.L and (self.mu >= 0 or not self.convex), "there are no such functions")
        require(self.change != 0, "the change of gradients must not be 0: it would make all gradients equal")
        self.points: dict[Any, tuple[Vector, Vector]] = {}
        """The points where functions are evaluated, and the clients' gradients there, by name."""
        self.clear()

    def clear(self) -> None:
        """Set the sum to 0."""
        self.values: dict[Any, Q] = defaultdict(Q)
        self.products: dict[tuple[Vector, Vector], Q] = defaultdict(Q)

    def add_product(self, c: Q, left: Sequence[tuple[Any, Vector]], right: Sequence[tuple[Any, Vector]]) -> None:
        """Add ``c <left, right>``; both are lists of coefficients and vectors."""
        for a, u in left:
            for b, v in right:
                self.products[u, v] += c * a * b

    def add_square(self, c: Q, *terms: tuple[Any, Vector]) -> None:
        """Add c times the squared norm of a sum of coefficients times vectors."""
        self.add_product(c, terms, terms)

    def add_smoothness(self, c: Q, a: Any, b: Any) -> None:
        """Add c times the inequality of the class for two points (Taylor, Hendrickx and Glineur 2017, Theorem 4)."""
        (x, g), (y, h), mu = self.points[a], self.points[b], self.mu
        self.values[b] += c
        self.values[a] -= c
        self.add_product(c, [(1, h)], [(1, x), (-1, y)])
        self.add_square(c * mu / 2, (1, x), (-1, y))
        self.add_square(c / (2 * (self.L - mu)), (1, g), (-1, h), (-mu, x), (mu, y))

    def matrix(self, block: int) -> Matrix:
        """Return the sum's coefficients of inner products of unknown vectors: of means (0) or of deviations (1)."""
        partners: dict[Vector, Part] = defaultdict(lambda: defaultdict(Q))
        for (u, v), c in self.products.items():
            for name, x in v.parts[block].items():
                partners[u][name] += c * x
        left, d = to_integers([u.parts[block] for u in partners])
        right, e = to_integers(list(partners.values()))
        numerators: dict[tuple[str, str], int] = defaultdict(int)
        for u_part, v_part in zip(left, right, strict=True):
            for one, m in u_part.items():
                for other, n in v_part.items():
                    numerators[one, other] += m * n
        symmetric: Matrix = defaultdict(Q)
        for (one, other), numerator in numerators.items():
            symmetric[one, other] += Q(numerator, 2 * d * e)
            symmetric[other, one] += Q(numerator, 2 * d * e)
        return symmetric


def check_sum_of_squares(block: Any, matrix: Matrix) -> None:
    """Raise ``Refused`` unless the integer factor of a block shows that a symmetric matrix is a sum of squares.

    With the scale and factor of the block, D^-1 S D^-1 - T T' / 4^bits must be diagonally dominant.
    """
    check_keys(block, BLOCK_KEYS, "a factor")
    names, scale, factor, bits = (block[key] for key in BLOCK_KEYS)
    require(max(map(len, (names, scale, factor))) <= MAX_VECTORS, f"a factor is of at most {MAX_VECTORS} vectors")
    require({a for (a, _), x in matrix.items() if x} == set(names), "the factor is of other vectors")
    require(len(names) == len(scale) == len(factor) == len(set(names)), "the factor has another size")
    require(all(len(row) <= i for i, row in enumerate(factor, 1)), "the factor is not a lower triangle")
    integers = all(type(x) is int for x in (bits, *scale, *(x for row in factor for x in row)))
    require(integers and bits >= 0, "the factor is not of integers")
    require(max(bits, *map(abs, scale), 0) <= MAX_BITS, f"a power of two here has at most {MAX_BITS} binary digits")
    for i, a in enumerate(names):
        residual = []
        for j, b in enumerate(names):
            products = sum(map(mul, factor[i], factor[j]))
            residual.append(matrix.get((a, b), Q(0)) / Q(2) ** (scale[i] + scale[j]) - Q(products, 4**bits))
        off_diagonal = sum(abs(x) for x in residual[:i] + residual[i + 1 :])
        require(residual[i] >= off_diagonal, f"not a sum of squares: row {a}")


# ---- methods ----


def parse_plan(claim: Any, local_steps: list[int]) -> tuple[Q, list[Q]]:
    """Return the method's parameter and the step size of every local step of all rounds.

    The claim gives one step size as a text, or a list of all of them.
    """
    method, p, step_size = claim["method"], parse_number(claim["parameter"]), claim["step_size"]
    require(method in METHODS, f"the method {method!r:.60} is not known here")
    require(p >= 0 and (p == 0 or method not in ("fedavg", "scaffold")), f"{method} does not take the parameter {p}")
    for steps in (*local_steps, sum(local_steps)):
        parse_count(steps, 1, MAX_STEPS, "local steps of a round and of all rounds")
    require(isinstance(step_size, (str, list)), "a step size is a text; step sizes of all local steps are a list")
    sizes = [parse_number(x) for x in ([step_size] * sum(local_steps) if isinstance(step_size, str) else step_size)]
    require(len(sizes) == sum(local_steps) and min(sizes) > 0, "every local step needs a step size > 0")
    return p, sizes


def one_round(
    method: str, p: Q, sizes: Sequence[Q], state: dict[str, Vector], gradient_at: Callable[[Vector], Vector]
) -> tuple[list[Vector], dict[str, Vector]]:
    """Return a client's models before every local step and after the last one, and the state after the round.

    The new state is what a single client contributes. Vectors that the server stores are the means of it.
    """
    w = state["model"]
    path = [w + p * (w - state["last"]) if method == "fedinit" else w]
    for eta in sizes:
        x = path[-1]
        direction = gradient_at(x)
        if method == "fedprox":
            direction += p * (x - w)
        elif method == "scaffold":
            direction += state["control"].mean - state["control"]
        elif method == "fedcm":
            direction = p * direction + (1 - p) * state["direction"]
        path.append(x - eta * direction)
    moved = path[0] - path[-1]
    mean_direction = (1 / sum(sizes, Q(0))) * moved
    after = {"model": path[-1], "last": path[-1], "direction": mean_direction}
    if method == "scaffold":
        after["control"] = state["control"] - state["control"].mean + mean_direction
    elif method == "fedavgm":
        after["velocity"] = p * state["velocity"] + moved
        after["model"] = w - after["velocity"]
    return path, after


# ---- worst cases ----


class Run(InequalitySum):
    """The run of a worst-case claim, and sums of inequalities about it.

    The origin, where function values are 0, is the minimiser with convexity and the start without. Each gradient of a
    local step is the first one plus changes, each change a new unknown vector. At other models the gradient is that of
    a local step, which the file names, plus a change. ``servers`` are the server models and ``averages`` the means of
    the clients' models before every local step; a file names them w0, w1, ... and v0, v1, ...
    """

    def __init__(self, proof: Any) -> None:
        super().__init__(proof)
        claim, self.near = self.claim, proof["near"]
        assumptions = check_keys(claim["given"], (), "what is assumed", ASSUMPTIONS)
        self.given = {name: parse_number(x) for name, x in assumptions.items()}
        for name, x in self.given.items():
            require(x >= (1 if name == "dissimilarity_factor" else 0), f"{name} cannot be so small")
            message = f"without convexity {name} cannot be given: there may be no minimiser"
            require(self.convex or name not in NEEDS_MINIMISER, message)
        require(self.given.get("pl_constant", 0) <= self.L, "the Polyak-Lojasiewicz constant exceeds smoothness")
        has_offset = "dissimilarity_offset" in self.given or "dissimilarity_factor" not in self.given
        require(has_offset, "a factor of dissimilarity needs its offset")
        over, metric = claim["over"], claim["metric"]
        require(over in ("rounds", "iterations"), "the metric is over rounds or iterations")
        require(over == "rounds" or metric not in (*OF_A_ROUND, "divergence"), f"{metric} is over rounds")
        require(over == "iterations" or metric != "consensus_distance", f"{metric} is over iterations")
        if self.convex:
            self.points["*"] = ZERO, MINIMISER_GRADIENT
        p, self.sizes = parse_plan(claim, claim["local_steps"])
        start = Vector({"start": Q(1)}, {}) if self.convex else ZERO
        state = {"model": start, "last": start, "control": ZERO, "velocity": ZERO, "direction": ZERO}
        self.paths, self.servers, sizes = list[list[Vector]](), [start], iter(self.sizes)
        for steps in claim["local_steps"]:
            path, after = one_round(claim["method"], p, [*islice(sizes, steps)], state, self.gradient_at)
            state |= {name: x if name in ("last", "control") else x.mean for name, x in after.items()}
            self.paths.append(path)
            self.servers.append(state["model"])
        self.averages = [x.mean for path in self.paths for x in path[:-1]] + [self.servers[-1]]
        self.models = {f"w{i}": x for i, x in enumerate(self.servers)}
        self.models |= {f"v{i}": x for i, x in enumerate(self.averages)}
        self.models["mean"] = Q(1, len(self.averages) - 1) * sum(self.averages[:-1], ZERO)
        check_keys(self.near, (), "near", self.models)

    def evaluated(self, point: Vector) -> str:
        """Return the name under which functions were evaluated at a point, or an empty string."""
        names = (name for name, (x, _) in self.points.items() if name not in ("*", "own") and x.equals(point))
        return next(names, "")

    def gradient_at(self, point: Vector) -> Vector:
        """Return the gradients at a client's model; they are new unless this model was visited before."""
        name = self.evaluated(point)
        if not name:
            number = 1 + sum(name[0] == "g" for name in self.points)
            name = f"g{number}"
            self.points[name] = point, new_gradient("g", number, self.change)
        return self.points[name][1]

    def point_at(self, name: str) -> str:
        """Return the name of the evaluation point at a model, adding the point if needed.

        The name may also be ``*``, the minimiser of the mean loss, or ``own``, the clients' own minimisers.
        """
        if name in self.points:
            return name
        if name == "own" and self.convex:
            self.points[name] = unknown(name), ZERO
            return name
        require(name in self.models, f"{name} is not a model of this run")
        return self.evaluate(self.models[name])

    def evaluate(self, model: Vector) -> str:
        """Return the name of the evaluation point at a model of the run, adding the point if needed."""
        if existing := self.evaluated(model):
            return existing
        name = next(n for n, x in self.models.items() if x.equals(model))
        self.points[name] = model, self.points[self.near[name]][1] + unknown(name, self.change)
        return name

    def gradient(self, model: Vector) -> Vector:
        """Return the clients' gradients at a model."""
        return self.points[self.evaluate(model)][1]

    def add_gap(self, c: Q, point: str) -> None:
        """Add ``c (F - F*)`` at an evaluation point."""
        self.values[point] += c
        if not self.convex:
            self.values["floor"] -= c

    def add_inequality(self, c: Q, kind: str, names: Any) -> Q:
        """Add c times the left side of ``left side <= right side``; return c times the right side.

        The kind is ``class`` (two points), ``lower`` (F* is below what a gradient step reaches) or an assumption.
        """
        at_all_models = kind in (*AT_ALL_MODELS, "lower")
        models = 2 if kind == "class" else int(at_all_models or kind == "grad_cap_sq")
        require(len(names) == models, f"{kind} is about another number of models")
        require(kind in (*self.given, "class", "lower"), f"{kind} is not assumed")
        point = self.point_at(names[0]) if models else ""
        gradient = self.points[point][1] if models else ZERO
        if at_all_models:
            same_model = self.points[point][0].parts[1] == {} and point != "own"
            require(same_model, f"at {point} clients are at models of their own")
        if kind == "class":
            self.add_smoothness(c, point, self.point_at(names[1]))
        elif kind == "lower":  # a step of 1/L from a model decreases F by at least |grad F|^2 / (2 L)
            require(not self.convex, "F has a minimiser: lower applies only without convexity")
            self.add_square(c / (2 * self.L), (1, gradient.mean))
            self.add_gap(-c, point)
        elif kind == "pl_constant":
            self.add_square(-c, (1, gradient.mean))
            self.add_gap(2 * c * self.given[kind], point)
        elif kind == "heterogeneity":
            self.add_gap(-c, self.point_at("own"))
        elif kind == "dissimilarity_offset":
            self.add_square(c, (1, gradient))
            self.add_square(-c * self.given.get("dissimilarity_factor", Q(1)), (1, gradient.mean))
        elif kind == "uniform_dissimilarity":
            self.add_square(c, (1, gradient), (-1, gradient.mean))
        elif kind == "grad_cap_sq":
            require(names[0][0] == "g", "only gradients of local steps are capped")
            self.add_square(c, (1, gradient))
        elif kind == "optimum_dissimilarity":
            self.add_square(c, (1, MINIMISER_GRADIENT))
        elif kind == "initial_distance_sq":
            self.add_model_metric(c, "distance_sq", self.servers, 0)
        elif kind == "initial_gap":
            self.add_model_metric(c, "optimality_gap", self.servers, 0)
        else:  # dissimilarity_factor is refused here: it belongs to the inequality of its offset
            require(kind in AT_ONE_MODEL, f"{kind} is not an inequality")
            models_of_run = self.averages if kind == "distance_sq" else self.servers
            self.add_model_metric(c, kind, models_of_run, len(models_of_run) - 2)
        return Q(0) if kind in ("class", "lower", "pl_constant") else c * self.given[kind]

    def add_model_metric(self, c: Q, metric: str, models: Sequence[Vector], i: int) -> None:
        """Add c times a metric at the i-th of the server models or averages."""
        model = models[i]
        if metric == "distance_sq":
            require(self.convex, "without convexity there is no minimiser, and no distance from it")
            self.add_square(c, (1, model))
        elif metric == "optimality_gap":
            self.add_gap(c, self.evaluate(model))
        elif metric == "grad_norm_sq":
            self.add_square(c, (1, self.gradient(model).mean))
        elif i:  # divergence of the clients after i rounds; it is 0 at the start
            self.add_square(c, (1, self.paths[i - 1][-1]), (-1, model))

    def metric_indices(self) -> list[int]:
        """Return the indices of the server models, rounds or iterations that the claim's statistic is over."""
        metric, statistic, iterated = self.claim["metric"], self.claim["statistic"], self.claim["over"] == "iterations"
        last = len(self.averages if iterated else self.servers) - 1
        if metric in OF_A_RUN:
            require(statistic == "whole", f"{metric} is one number of a whole run")
            return [0]
        require(statistic in ("last", "min", "mean"), f"the statistic {statistic} is not known here")
        if metric in OF_A_ROUND:
            indices = [*range(1, last + 1)]
        elif metric == "consensus_distance":
            indices = [*range(last)]
        else:  # as in the papers, means and minima over rounds leave out the last model; minima over iterations do not
            indices = [*range(last + (statistic == "last" or (statistic == "min" and iterated)))]
        return indices[-1:] if statistic == "last" else indices

    def add_metric(self, c: Q, i: int) -> None:
        """Add c times the claim's metric at server model, round or iteration i."""
        metric, path = self.claim["metric"], self.paths[i - 1] if i <= len(self.paths) else []
        if metric in OF_A_MODEL:
            self.add_model_metric(c, metric, self.averages if self.claim["over"] == "iterations" else self.servers, i)
        elif metric == "average_gap":
            self.add_gap(c, self.point_at("mean"))
        elif metric == "mean_gap":
            for model in self.averages[1:]:
                self.add_gap(c / (len(self.averages) - 1), self.evaluate(model))
        elif metric == "weighted_grad_norm_sq":
            for j, size in enumerate(self.sizes):
                self.add_model_metric(c * size, "grad_norm_sq", self.averages, j)
        elif metric == "consensus_distance":
            local_models = [x for path in self.paths for x in path[:-1]]
            self.add_square(c, (1, local_models[i]), (-1, self.averages[i]))
        elif metric == "global_step":
            self.add_square(c, (1, self.servers[i]), (-1, self.servers[i - 1]))
        elif metric == "loss_change":
            self.values[self.evaluate(self.servers[i])] += c
            self.values[self.evaluate(self.servers[i - 1])] -= c
        elif metric == "local_drift":
            for x in path[:-1]:
                self.add_square(c, (1, x), (-1, self.servers[i - 1]))
        else:
            require(metric == "mean_gradient_drift", f"the metric {metric!r:.60} is not known here")
            mean_gradient = [(Q(1, 1 - len(path)), self.gradient(x)) for x in path[:-1]]
            self.add_square(c, (1, self.gradient(self.servers[i - 1])), *mean_gradient)


def check_worst_case(proof: Any) -> None:
    """Raise ``Refused`` unless the multipliers prove the bound and the federation, if any, attains its value."""
    run = Run(proof)
    bound, unit = Q(0), parse_number(proof["unit"])
    for kind, *names, value in proof["multipliers"]:
        multiplier = parse_number(value) * (unit if isinstance(value, int) else 1)
        require(multiplier >= 0, f"the multiplier of {kind} {names} is negative")
        bound += run.add_inequality(multiplier, kind, names)
    require(bound <= parse_number(proof["bound"]), f"the multipliers prove {float(bound):.12g} only")

    indices = {str(i): i for i in run.metric_indices()}
    weights = {i: parse_number(x) for i, x in check_keys(proof["weights"], (), "the metric", indices).items()}
    require(sum(weights.values()) == 1 and min(weights.values()) >= 0, "the weights of the metric are not an average")
    if run.claim["statistic"] == "mean":
        require(len(weights) == len(indices) and len(set(weights.values())) == 1, "a mean has equal weights")
    for i, weight in weights.items():
        run.add_metric(-weight, indices[i])

    origin = "*" if run.convex else run.point_at("w0")  # where function values are 0
    uncancelled = [name for name, x in run.values.items() if x and name != origin]
    require(not uncancelled, f"function values are left over: {', '.join(uncancelled)}")
    for which, block in zip((0, 1), proof["blocks"], strict=True):
        check_sum_of_squares(block, run.matrix(which))
    if "attained" in proof:
        attains = attained_value(proof) >= parse_number(proof["attained"]["value"])
        require(attains, "the federation does not attain its value")


class Federation:
    """The vectors of a run in the coordinates of two clients, which are at mean plus and minus deviation."""

    def __init__(self, run: Run, entry: Any) -> None:
        self.run, self.vectors = run, entry["vectors"]
        self.unit = Q(1, 4 ** parse_count(entry["bits"], 0, MAX_BITS, "bits"))
        sizes = entry["dimensions"]
        require(len(sizes) == 2, "dimensions are those of the means and of the deviations")
        for parts in self.vectors.values():
            require(len(parts) == 2, "a vector is two lists of integers")
            for part, size in zip(parts, sizes, strict=True):
                require(all(type(x) is int for x in part), "a vector is two lists of integers")
                parse_count(size, len(part), len(self.vectors), "dimensions")
        self.inner, self.coordinates = cache(self._inner), cache(self._coordinates)
        origin = "*" if run.convex else run.point_at("w0")
        self.values = {name: parse_number(x) for name, x in entry["values"].items()} | {origin: Q(0)}

    def _coordinates(self, vector: Vector) -> tuple[list[list[int]], int]:
        """Return the integer coordinates of a vector's mean and deviation, and their denominator."""
        parts, denominator = to_integers(vector.parts)
        coordinates = []
        for which, part in enumerate(parts):
            rows = [[x * y for y in self.vectors[name][which]] for name, x in part.items() if name in self.vectors]
            coordinates.append([sum(column) for column in zip_longest(*rows, fillvalue=0)])
        return coordinates, denominator

    def _inner(self, u: Vector, v: Vector) -> Q:
        """Return the mean over the clients of an inner product."""
        (one, m), (other, n) = self.coordinates(u), self.coordinates(v)
        return Q(sum(sum(map(mul, a, b)) for a, b in zip(one, other, strict=True)), m * n) * self.unit

    def take_sum(self) -> Q:
        """Return what the run has added up, evaluated for this federation, and clear the sum of the run."""
        values = {name: c for name, c in self.run.values.items() if c}
        total = sum((c * self.inner(*pair) for pair, c in self.run.products.items() if c), Q(0))
        missing = values.keys() - self.values.keys()
        require(not missing, f"the federation has no value at {', '.join(sorted(missing))}")
        self.run.clear()
        return total + sum(c * self.values[name] for name, c in values.items())


def attained_value(proof: Any) -> Q:
    """Return the metric of the proof's federation; raise ``Refused`` unless it meets every inequality of the claim."""
    run = Run(proof)
    federation = Federation(run, check_keys(proof["attained"], ATTAINED_KEYS, "what is attained"))
    metrics = []
    for i in run.metric_indices():
        run.add_metric(Q(1), i)
        metrics.append(federation.take_sum())

    kinds = [name for name in run.given if name != "dissimilarity_factor"]
    if "floor" in federation.values:
        kinds.append("lower")
    if {*AT_ALL_MODELS, "lower"} & {*kinds}:
        for model in run.servers:
            run.evaluate(model)
    common = [(name,) for name, (x, _) in run.points.items() if x.parts[1] == {} and name != "own"]
    places = dict.fromkeys((*AT_ALL_MODELS, "lower"), common)
    places["grad_cap_sq"] = [(name,) for name in run.points if name[0] == "g"]
    for kind in kinds:
        for names in places.get(kind, [()]):
            limit = run.add_inequality(Q(1), kind, names)
            require(federation.take_sum() <= limit, f"the federation breaks {kind} {' '.join(names)}")
    for pair in permutations(list(run.points), 2):
        run.add_smoothness(Q(1), *pair)
        require(federation.take_sum() <= 0, f"the federation is not of the class: {' '.join(pair)}")

    allowed = {*run.points, *run.models, "start", "*", "own", "floor"}
    require(set(federation.values) | set(federation.vectors) <= allowed, "the federation has more than the run")
    return min(metrics) if run.claim["statistic"] == "min" else sum(metrics, Q(0)) / len(metrics)


# ---- rates ----


class Rate(InequalitySum):
    """One round of a rate claim, and the sum ``contraction V - V_next``, to which inequalities are added.

    ``V = means' P[0] means + mean over clients of clients' P[1] clients + potential (F(w) - F*)``, where ``means`` and
    ``clients`` list the vectors of the state. Vectors are relative to their values at the minimiser.
    """

    def __init__(self, proof: Any) -> None:
        super().__init__(proof)
        claim, self.potential = self.claim, parse_number(proof["potential"])
        self.relative = int(bool(proof["relative"]))  # whether gradients are relative to those at the minimiser
        self.contraction, distance, dissimilarity, self.floor = (parse_number(claim[key]) for key in RATE_NUMBERS[:4])
        self.noisy = claim["noise_floor"] is not None
        self.noise_floor = parse_number(claim["noise_floor"]) if self.noisy else Q(0)
        require(self.convex, "without convexity there is no minimiser")
        require(0 < self.contraction < 1, "a contraction is between 0 and 1")
        numbers = (distance, dissimilarity, self.floor, self.noise_floor, self.potential)
        require(min(numbers) >= 0, "a weight is negative")
        require(isinstance(claim["step_size"], str), "a round has one step size")
        N, C = claim["clients"], claim["cohort"]
        if N is not None:
            parse_count(N, 1, 10**MAX_CHARACTERS, "clients")
        if C is not None:
            parse_count(C, 1, N or 0, "clients of a cohort")
        require(not self.noisy or (N and not C), "noise is for a given number of clients, all of which take part")
        self.share = Q(C, N) if C else Q(1)
        self.spread = Q(N - C, C * (N - 1)) if C and N > 1 else Q(0)
        """Expected square of a cohort's mean deviation, relative to the mean square of the clients' deviations."""
        p, sizes = parse_plan(claim, [claim["local_steps"]])
        self.steps, method = len(sizes), claim["method"]
        self.means = ["model", *([SERVER_VECTORS[method]] if method in SERVER_VECTORS else [])]
        self.clients = [CLIENT_VECTORS[method]] if method in CLIENT_VECTORS else []
        self.drawn = bool(C and self.clients)
        state, after = self._play(p, sizes)
        self._add_decrease(proof, state, after)

    def _play(self, p: Q, sizes: list[Q]) -> tuple[dict[str, Vector], dict[str, Vector]]:
        """Run a round from an unknown state and add the change of the potential; return the state before and after."""
        visited = list[Vector]()

        def gradient_at(model: Vector) -> Vector:
            visited.append(model)
            gradient = new_gradient("v", len(visited), self.change) + unknown(f"n{len(visited)}", int(self.noisy))
            return gradient + self.relative * MINIMISER_GRADIENT

        state = {name: unknown(name).mean for name in self.means}
        # when all take part, the mean of the last models is the server model and that of controls is 0
        full_means: dict[str, Part] = {"last": {"model": Q(1)}, "control": {}}
        for name in self.clients:
            # controls are stored relative to the gradients at the minimiser
            stored = Vector({name: Q(1)} if self.drawn else full_means[name], {name: Q(1)})
            state[name] = stored + int(name == "control") * MINIMISER_GRADIENT
        _, after = one_round(self.claim["method"], p, sizes, state, gradient_at)

        self.points = {0: (ZERO, ZERO if self.relative else MINIMISER_GRADIENT)}
        # subtracting the gradients at the minimiser changes the clients' losses, but not their mean at a server model
        at_server = visited[0].equals(state["model"])
        for j, model in enumerate([*visited, *([after["model"].mean] if at_server else [])], 1):
            self.points[j] = model, new_gradient("v", j, self.change)
        exact = self.potential == 0 or (at_server and self.spread == 0)
        require(exact, "the loss is needed at a server model that is not a point of the proof")
        self.values[1] += self.contraction * self.potential
        self.values[len(self.points) - 1] -= self.potential
        return state, after

    def _add_decrease(self, proof: Any, state: dict[str, Vector], after: dict[str, Vector]) -> None:
        """Add ``contraction V - V_next``, in expectation over the cohort, except for the potential."""
        means = [state[name] for name in self.means]
        deviations = [unknown(name).deviation for name in self.clients]
        next_means = [after[name].mean for name in self.means]
        next_spread = [after[name].deviation for name in self.means]
        if self.drawn:  # the mean of what clients store is part of V, and only the cohort's vectors are replaced
            name = self.clients[0]
            change = after[name] - state[name]
            self.means.append(name)
            means.append(unknown(name).mean)
            next_means.append(means[-1] + self.share * change.mean)
            next_spread.append(self.share * change.deviation)
            next_clients = [
                (self.share * (1 - self.share), [change.mean]),
                (1 - self.share, deviations),
                (self.share, [deviations[0] + change.deviation]),
                (-(self.share**2) * self.spread, [change.deviation]),
            ]
        else:
            relative = {name: int(name == "control") * MINIMISER_GRADIENT for name in self.clients}
            next_clients = [(Q(1), [after[name].deviation - relative[name] for name in self.clients])]

        self.P = symmetric(proof["means"], self.means), symmetric(proof["deviations"], self.clients)
        self._add_quadratic(self.contraction, 0, means)
        self._add_quadratic(self.contraction, 1, deviations)
        self._add_quadratic(Q(-1), 0, next_means)
        self._add_quadratic(-self.spread, 0, next_spread)
        for c, vectors in next_clients:
            self._add_quadratic(-c, 1, vectors)

    def _add_quadratic(self, c: Q, which: int, vectors: list[Vector]) -> None:
        """Add c times the quadratic form P[which] of these vectors."""
        for u, row in zip(vectors, self.P[which], strict=True):
            for v, x in zip(vectors, row, strict=True):
                self.products[u, v] += c * x

    def residuals(self, proof: Any) -> tuple[list[Matrix], list[Q]]:
        """Return what must be sums of squares, and the total weights of noise, for means and for deviations."""
        forms = [self.matrix(0), self.matrix(1)]
        forms[1]["*", "*"] += self.floor * (1 - self.contraction)
        weights = [count_noise(form, proof, which, self.steps * self.noisy) for which, form in enumerate(forms)]
        return forms, weights

    def start(self) -> tuple[Q, Q]:
        """Return the factors of the squared distance and of zeta^2 in an upper bound on V before training."""
        at_model = 2 if self.drawn and self.clients == ["last"] else 1  # the last models start at the model
        distance = sum((x for row in self.P[0][:at_model] for x in row[:at_model]), self.potential * self.L / 2)
        # controls start at 0, which is minus the gradient at the minimiser
        return distance, self.P[1][0][0] if self.clients == ["control"] else Q(0)


def check_rate(proof: Any) -> None:
    """Raise ``Refused`` unless V contracts as claimed, starts below what is claimed and bounds the distance."""
    rate = Rate(proof)
    claim, N = rate.claim, rate.claim["clients"]
    for P, names, key in zip(rate.P, (rate.means, rate.clients), ("means_factor", "deviations_factor"), strict=True):
        form = {(a, b): P[i][j] for i, a in enumerate(names) for j, b in enumerate(names)}
        if "model" in names:  # V is at least the squared distance of the model
            form["model", "model"] -= 1
        check_sum_of_squares(proof[key], form)
    for a, b, value in proof["multipliers"]:
        multiplier = parse_number(value)
        require(multiplier >= 0, f"the multiplier of {a}, {b} is negative")
        require(type(a) is int and type(b) is int and {a, b} <= set(rate.points), "there is no such point")
        rate.add_smoothness(multiplier, a, b)
    require(not any(x for name, x in rate.values.items() if name), "function values are left over")
    forms, weights = rate.residuals(proof)
    noise = weights[0] / N + weights[1] * Q(N - 1, N) if rate.noisy else Q(0)
    require(noise <= rate.noise_floor * (1 - rate.contraction), "noise leaves more than is claimed")
    for block, form in zip(proof["blocks"], forms, strict=True):
        check_sum_of_squares(block, form)
    for key, start in zip(RATE_NUMBERS[1:3], rate.start(), strict=True):
        require(start <= parse_number(claim[key]), f"the start counts for more than is claimed as {key}")
    if "after" in proof:
        after = check_keys(proof["after"], {*START_KEYS, "rounds", "bound"}, "the bound after rounds")
        require(remaining(claim, after) <= parse_number(after["bound"]), "after these rounds more is left than claimed")


def symmetric(rows: Any, names: list[str]) -> list[list[Q]]:
    """Return a matrix over these names in fractions; raise ``Refused`` unless it is symmetric."""
    P = [[parse_number(x) for x in row] for row in rows]
    require([len(row) for row in P] == [len(names)] * len(names), "the quadratic has another size")
    require(all(P[i][j] == P[j][i] for i in range(len(P)) for j in range(i)), "the quadratic is not symmetric")
    return P


def count_noise(form: Matrix, proof: Any, which: int, steps: int) -> Q:
    """Add the proof's weights of noise to a form of means (0) or deviations (1), in place; return their sum.

    The noise of a step is independent of all vectors but later gradients. Its products with others have expectation 0,
    so their coefficients are replaced by those that the proof chooses (``noise_products``), and by 0 otherwise.
    """
    weights = [parse_number(x) for x in proof["noise_weights"][which]]
    require(len(weights) == steps, "noise counts once for every step, in both blocks")
    require(all(x >= 0 for x in weights), "noise has a negative weight")
    for j, weight in enumerate(weights, 1):
        noise, later = f"n{j}", {f"v{i}" for i in range(j + 1, steps + 2)}
        independent = {(u, v) for u, v in form if noise in (u, v) and not later & {u, v}} - {(noise, noise)}
        form.update(dict.fromkeys(independent, Q(0)))
        form[noise, noise] += weight
    for u, v, value in proof["noise_products"][which]:
        early, late = (int(x[1:]) if re.fullmatch("[vn][0-9]{1,6}", x) else 0 for x in (u, v))
        is_noise = v in {f"n{j}" for j in range(1, steps + 1)}
        require(
            is_noise and u != v and (u[0] == "n" or early <= late),
            f"{v!r:.60} is not noise that is independent of {u!r:.60}",
        )
        form[u, v] = form[v, u] = parse_number(value)
    return sum(weights, Q(0))


def remaining(claim: Any, after: Any) -> Q:
    """Return the bound on V that ``V_next <= contraction V + (1 - contraction) floors`` gives after some rounds."""
    rounds, start = after["rounds"], [parse_number(after[key]) for key in START_KEYS]
    require(type(rounds) is int and rounds >= 0, "rounds are an integer >= 0")
    require(min(start) >= 0, "a squared length is negative")
    require(claim["noise_floor"] is not None or start[2] == 0, "nothing is proved of noise")
    contraction = Q(claim["contraction"])
    counted = min(20_000, 2**20 // contraction.denominator.bit_length())  # limits the digits; the bound stays valid
    decay = contraction ** min(rounds, counted)
    initial = Q(claim["start_distance"]) * start[0] + Q(claim["start_dissimilarity"]) * start[1]
    floors = Q(claim["floor"]) * start[1] + Q(claim["noise_floor"] or 0) * start[2]
    return decay * initial + (1 if rounds > counted else 1 - decay) * floors


# ---- claims as text ----


def rounded(text: str, digits: int = 10, *, up: bool = True) -> str:
    """Return a number in this many significant digits, rounded up or down."""
    x = Q(text)
    last_digit = Q(10) ** (int(f"{float(x):.{digits - 1}e}".partition("e")[2]) - digits + 1)
    return f"{float((-(-x // last_digit) if up else x // last_digit) * last_digit):.{digits}g}"


def describe(proof: Any) -> str:
    """Return the claim of a proof as a line of text, its numbers rounded so that it stays true."""
    claim, up = proof["claim"], partial(rounded, digits=6)
    if proof["kind"] == WORST_CASE:
        text = f"{claim['metric']} ({claim['statistic']} over {claim['over']}) <= {rounded(proof['bound'])}"
        if "attained" in proof:
            text += f", attained by two clients: {rounded(proof['attained']['value'], up=False)}"
        text += ", any number of clients"
    else:
        rho, *factors = (up(claim[key] or "0") for key in RATE_NUMBERS)
        lengths = ("|w_0 - w*|^2", "zeta^2", "zeta^2", "sigma^2")
        terms = [f"{x} {length}" for x, length in zip(factors, lengths, strict=True)]
        text = "E" if claim["noise_floor"] or claim["cohort"] else ""
        text += f"|w_T - w*|^2 <= {rho}^T ({' + '.join(t for t in terms[:2] if t[:2] != '0 ')})"
        text += "".join(f" + {t}" for t in terms[2:] if t[:2] != "0 ")
        text += f" after every number T of rounds, {claim['clients'] or 'any number of'} clients"
    setting = {key: claim[key] for key in (*PLAN, "cohort", "given") if claim.get(key) is not None}
    if after := proof.get("after"):
        text += f"; after {after['rounds']} rounds <= {up(after['bound'])}"
        setting |= {key: x for key, x in after.items() if key in START_KEYS}
    return f"{text}: {', '.join(f'{key}={x}' for key, x in setting.items())}".replace("'", "")


# ---- files ----


def check(proof: Any) -> None:
    """Raise ``Refused``, or another exception of ``INVALID_FILE``, unless the file proves its claim."""
    kind = proof["kind"]
    require(kind in (WORST_CASE, RATE), f"a proof is of the kind {WORST_CASE} or {RATE}; got {kind!r:.60}")
    check_keys(proof, FILE_KEYS[kind], f"a proof of a {kind}", ["attained" if kind == WORST_CASE else "after"])
    (check_rate if kind == RATE else check_worst_case)(proof)


def read_lines(file: str) -> list[bytes]:
    """Return the unparsed proofs of a file: the whole file, or the lines of an archive (``.xz``)."""
    archive = file.endswith(".xz")
    with (lzma.open if archive else open)(file, "rb") as opened:
        data = opened.read(MAX_FILE_BYTES + 1)
    require(0 < len(data) <= MAX_FILE_BYTES, f"a file has at most {MAX_FILE_BYTES} bytes, unpacked, and is not empty")
    return data.splitlines() if archive else [data]


def parse_proof(line: bytes) -> Any:
    """Return the object of a proof in JSON; floats and repeated names are refused: readers could differ on them."""

    def without_repeated_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        require(len(dict(pairs)) == len(pairs), "an object has a name twice")
        return dict(pairs)

    def refuse_float(text: str) -> None:
        raise Refused(f"{text:.60} is a float: write it as text")

    text = line.decode("utf-8")
    hooks: Any = {"parse_float": refuse_float, "parse_constant": refuse_float}
    return json.loads(text, object_pairs_hook=without_repeated_names, **hooks)


def read(file: str) -> list[Any]:
    """Return the proofs of a file, parsed but not checked."""
    return [parse_proof(line) for line in read_lines(file)]


def verdicts(file: str) -> Iterator[tuple[bool, str]]:
    """Yield whether each proof of a file is accepted, and a line with its name and its claim or the reason."""
    lines: list[Any]
    try:
        lines = read_lines(file)
    except INVALID_FILE as error:
        lines = [error]
    for position, line in enumerate(lines, 1):
        name = f"{file}:{position}" if file.endswith(".xz") and isinstance(line, bytes) else file
        try:
            if isinstance(line, Exception):
                raise line
            check(proof := parse_proof(line))
            yield True, f"{name}: proved: {describe(proof)}"
        except INVALID_FILE as error:
            kind = "" if isinstance(error, (Refused, OSError)) else f"{type(error).__name__}: "
            yield False, f"{name}: REFUSED: {kind}{error}"


def main(files: list[str]) -> int:
    """Print a line for every proof; return exit status 0 if there are proofs and all are accepted, else 1."""
    accepted, begin = list[bool](), time.perf_counter()
    for valid, text in (one for file in files for one in verdicts(file)):
        accepted.append(valid)
        one_line = "".join(c if c.isprintable() else "?" for c in text)
        print(one_line.encode("ascii", "backslashreplace").decode(), flush=True)
    if not files:
        print("REFUSED: no files: python verify.py FILE ...")
    elif len(accepted) > 1:
        seconds = time.perf_counter() - begin
        print(f"{len(accepted)} proofs, {sum(accepted)} accepted, {seconds:.0f} seconds")
    return 0 if accepted and all(accepted) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
