"""Check proofs: ``python -I verify.py FILE ...`` needs Python's standard library, and nothing of fedbounds.

The ``kind`` of a file says what it proves. In both kinds the method is played in fractions and inequalities that every
federation of the class meets are added up, with multipliers >= 0; what is then left above the claim must be a sum of
squares, ``S = D (T T' / 4^bits + E) D`` with integers T, powers of two D and E diagonally dominant.

*worst case*: ``metric <= bound`` for every federation of the class: any number of clients that all take part, with full
gradients. A federation that attains a value may stand beside it.

*rate*: for every number T of rounds and any number of clients that all take part with full gradients of smooth,
strongly convex losses, w* being the minimiser of their mean and zeta^2 the clients' mean squared gradient there,

    |w_T - w*|^2 <= contraction^T (start_distance |w_0 - w*|^2 + start_dissimilarity zeta^2) + floor zeta^2

or, with ``+ noise_floor sigma^2``, the mean of that where gradients have independent noise of variance sigma^2 and mean
0, or where some of the clients are drawn every round, each set of them being as likely. The file holds a quadratic V of
what a round keeps; the sum of squares is ``contraction V + gamma zeta^2 - V_next`` plus inequalities. A product of
noise and of what does not depend on it is 0 in the mean, so it may count for anything. What clients keep while others
are drawn is renewed for cohort/clients of them in the mean: its mean square follows from that, and the square of its
mean from drawing without replacement.

A vector that every client has is a pair: its mean over the clients and each client's deviation from the mean, as sums
of unknown vectors. The mean over clients of ``<u, v>`` is that of the means plus the mean of that of the deviations.
"""

import json
import lzma
import re
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction as Q
from functools import cache, partial
from itertools import islice, permutations
from math import lcm
from operator import mul
from pathlib import Path
from typing import Any

Part = dict[str, Q]
Vector = tuple[Part, Part]
Matrix = dict[tuple[str, str], Q]
ZERO: Vector = ({}, {})
REST: Vector = ({}, {"*": Q(1)})
"""A client's gradient at the minimiser."""

MOST_BYTES, MOST_OF_ONE, MOST_PROOFS = 2**26, 2**23, 10_000
"""Bytes of a file, unpacked, and of one proof; proofs of a file."""
MOST_STEPS, MOST_VECTORS, MOST_BITS = 200, 500, 10_000
"""Local steps of a run, unknown vectors, binary digits of a power of two."""
LONGEST, MOST_WORK = 1000, 400_000
"""Characters of a number; local steps times the characters of the numbers of all of them: some seconds."""

WORST_CASE, RATE = "worst case", "rate"
FILE = {
    WORST_CASE: {"kind", "claim", "bound", "change", "near", "weights", "unit", "multipliers", "blocks"},
    RATE: {"kind", "claim", "change", "rest", "potential", "means", "apart", "multipliers", "noises", "unheard",
           "above_distance", "above_nothing", "blocks"},
}  # fmt: skip
"""The names in a file: one that is not read would claim something that is not checked."""
PLAN = ("method", "parameter", "local_steps", "step_size", "smoothness", "strong_convexity")
RATE_NUMBERS = ("contraction", "start_distance", "start_dissimilarity", "floor", "noise_floor")
CLAIM = {
    WORST_CASE: (*PLAN, "given", "metric", "statistic", "over"),
    RATE: (*PLAN, *RATE_NUMBERS, "clients", "cohort"),
}
ATTAINED = {"value", "bits", "dimensions", "vectors", "values"}
BLOCK = {"vectors", "scale", "factor", "bits"}
START = ("initial_distance_sq", "optimum_dissimilarity", "gradient_variance")
"""What a start is described by, where a rate is stated for a number of rounds."""

METHODS = {
    "fedavg": ([], []),
    "fedprox": ([], []),
    "fedinit": ([], ["last"]),
    "scaffold": ([], ["control"]),
    "fedavgm": (["velocity"], []),
    "fedcm": (["direction"], []),
}
"""What the server and what every client keeps from round to round beside the model: 0 at first, ``last`` the model."""
EVERYWHERE = ("dissimilarity_offset", "dissimilarity_factor", "uniform_dissimilarity", "pl_constant")
"""What is assumed of all models: a federation that attains a value meets that at those visited."""
OF_A_MINIMISER = ("initial_distance_sq", "distance_sq", "optimum_dissimilarity", "heterogeneity")
OF_A_MODEL = {
    "initial_distance_sq": ("distance_sq", "w", "first"),
    "initial_gap": ("optimality_gap", "w", "first"),
    "grad_norm_sq": ("grad_norm_sq", "w", "late"),
    "divergence": ("divergence", "w", "late"),
    "distance_sq": ("distance_sq", "v", "late"),
}
"""What is assumed of one model: a metric there, of the first server model, of the one before the last round, or of the
virtual average before the last step."""
GIVEN = {*EVERYWHERE, *OF_A_MINIMISER, *OF_A_MODEL, "grad_cap_sq"}
"""What may be assumed."""
OF_A_ROUND = ("local_drift", "global_step", "loss_change", "mean_gradient_drift")
OF_A_RUN = ("mean_gap", "average_gap", "weighted_grad_norm_sq")
"""Metrics that have one number for every round, for the whole run."""


class Refused(Exception):
    """Why a file does not prove what it claims."""


KNOWN = (Refused, ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RecursionError,
         TypeError, ValueError, lzma.LZMAError)  # fmt: skip
"""What a file that is not a proof may raise."""


def need(truth: bool, why: str) -> None:
    if not truth:
        raise Refused(why)


def number(said: Any) -> Q:
    """A whole number, or a fraction that is written out: a float is another number than the one it is printed as."""
    text = isinstance(said, str) and len(said) <= LONGEST and re.fullmatch(r"-?[0-9]+(/0*[1-9][0-9]*)?", said)
    need(type(said) is int or bool(text), f"a number is a whole one or a text such as 3/10; got {said!r:.60}")
    return Q(said)


def count(said: Any, least: int, most: int, what: str) -> int:
    need(type(said) is int and least <= said <= most, f"{what}: a whole number from {least} to {most}")
    return int(said)


def named(item: Any, names: Iterable[str], what: str, perhaps: Iterable[str] = ()) -> Any:
    """An object of these names, and of nothing else."""
    need(isinstance(item, dict) and set(names) <= set(item), f"{what} says {', '.join(sorted(names))}, each of them")
    unknown = ", ".join(sorted(set(item) - set(names) - set(perhaps)))
    need(not unknown, f"{what} has names that are not read: {unknown:.60}")
    return item


# ---- vectors, and sums of inequalities ----


def combine(*terms: tuple[Any, Vector]) -> Vector:
    """The sum of ``coefficient * vector``."""
    total: tuple[Any, Any] = (defaultdict(Q), defaultdict(Q))
    for c, vector in terms:
        for part, given in zip(total, vector, strict=True):
            for name, x in given.items():
                part[name] += c * x
    mean, apart = ({name: x for name, x in part.items() if x} for part in total)
    return mean, apart


def average(vector: Vector) -> Vector:
    return (vector[0], {})


def apart(vector: Vector) -> Vector:
    """The deviations alone."""
    return ({}, vector[1])


def gradient(letter: str, number: int, change: Q) -> Vector:
    """The first gradient plus changes, each a new unknown vector."""
    own = {f"{letter}{i}": change if i > 1 else Q(1) for i in range(1, number + 1)}
    return own, own


def whole(parts: list[Part]) -> tuple[list[dict[str, int]], int]:
    """Whole numbers over one denominator, and that: their products take a twentieth of the time of fractions."""
    d = lcm(*(x.denominator for part in parts for x in part.values()))
    return [{name: int(x * d) for name, x in part.items()} for part in parts], d


class Sums:
    """Inequalities added up: inner products of named vectors, and function values by the name of their point."""

    def __init__(self, proof: Any) -> None:
        claim = named(proof["claim"], CLAIM[proof["kind"]], "a claim")
        self.claim, self.change, self.convex = claim, number(proof["change"]), claim["strong_convexity"] is not None
        self.L = number(claim["smoothness"])
        self.mu = number(claim["strong_convexity"]) if self.convex else -self.L
        need(self.L > 0 and self.mu < self.L and (self.mu >= 0 or not self.convex), "there are no such functions")
        need(self.change != 0, "the change of gradients is 0, and gradients that do not change are not all there are")
        self.points: dict[Any, Vector] = {}
        self.gradients: dict[Any, Vector] = {}
        self.models: dict[Any, Vector] = {}
        self.clear()

    def clear(self) -> None:
        self.values: dict[Any, Q] = defaultdict(Q)
        self.products: dict[Any, Q] = defaultdict(Q)

    def vector(self, kind: str, name: Any) -> Vector:
        """``x``: where functions are evaluated, ``g``: their gradients there, ``G``: the mean of them; ``m``: a model
        or another vector of the run."""
        found = {"x": self.points, "g": self.gradients, "G": self.gradients, "m": self.models}[kind][name]
        return average(found) if kind == "G" else found

    def product(self, c: Q, left: Any, right: Any) -> None:
        """Adds ``c <left, right>``, both sums of coefficients times vectors ``(kind, name)``."""
        for a, u in left:
            for b, v in right:
                self.products[u, v] += c * a * b

    def square(self, c: Q, *terms: Any) -> None:
        self.product(c, terms, terms)

    def smooth(self, c: Q, a: Any, b: Any) -> None:
        """Adds c times the class's inequality of two points: Taylor, Hendrickx and Glineur 2017, Theorem 4."""
        (x, y), (g, h), mu = (("x", a), ("x", b)), (("g", a), ("g", b)), self.mu
        self.values[b] += c
        self.values[a] -= c
        self.product(c, [(1, h)], [(1, x), (-1, y)])
        self.square(c * mu / 2, (1, x), (-1, y))
        self.square(c / (2 * (self.L - mu)), (1, g), (-1, h), (-mu, x), (mu, y))

    def matrix(self, block: int) -> Matrix:
        """Of the means (0) or of the deviations (1): coefficients of unknown vectors' inner products by their names."""
        found: Matrix = defaultdict(Q)
        beside: Any = defaultdict(lambda: defaultdict(Q))
        for (u, v), c in self.products.items():
            for name, x in self.vector(*v)[block].items():
                beside[u][name] += c * x
        (left, d), (right, e) = whole([self.vector(*u)[block] for u in beside]), whole(list(beside.values()))
        summed: dict[tuple[str, str], int] = defaultdict(int)
        for ours, others in zip(left, right, strict=True):
            for one, m in ours.items():
                for other, n in others.items():
                    summed[one, other] += m * n
        for (one, other), z in summed.items():
            found[one, other] += Q(z, 2 * d * e)
            found[other, one] += Q(z, 2 * d * e)
        return found


def squares(block: Any, matrix: Matrix) -> None:
    """Whether a symmetric matrix is a sum of squares, by its integer factor."""
    named(block, BLOCK, "a factor")
    names, scale, factor, bits = (block[word] for word in ("vectors", "scale", "factor", "bits"))
    need(max(map(len, (names, scale, factor))) <= MOST_VECTORS, f"a factor is of at most {MOST_VECTORS} vectors")
    need({a for (a, _), x in matrix.items() if x} == set(names), "the factor is of other vectors")
    need(len(names) == len(scale) == len(factor) == len(set(names)), "the factor has another size")
    need(all(len(row) <= i for i, row in enumerate(factor, 1)), "the factor is not a lower triangle")
    integers = all(type(x) is int for x in (bits, *scale, *(x for row in factor for x in row)))
    need(integers and bits >= 0, "the factor is not of integers")
    need(max(bits, *map(abs, scale), 0) <= MOST_BITS, f"a power of two here has at most {MOST_BITS} binary digits")
    for i, a in enumerate(names):
        left = []
        for j, b in enumerate(names):
            products = sum(map(mul, factor[i], factor[j]))
            left.append(matrix.get((a, b), Q(0)) / Q(2) ** (scale[i] + scale[j]) - Q(products, 4**bits))
        need(left[i] >= sum(abs(x) for x in left[:i] + left[i + 1 :]), f"no sum of squares: row {a}")


# ---- methods ----


def checked_plan(claim: Any, local_steps: list[int]) -> tuple[Q, list[Q]]:
    """The method's parameter and the step size of every local step, which may be one text for all of them.

    A run that is too long is refused.
    """
    method, p, said = claim["method"], number(claim["parameter"]), claim["step_size"]
    need(method in METHODS, f"the method {method!r:.60} is not known here")
    need(p >= 0 and (p == 0 or method not in ("fedavg", "scaffold")), f"{method} has no parameter {p}")
    for steps in (*local_steps, sum(local_steps)):
        count(steps, 1, MOST_STEPS, "local steps of a round and of all rounds")
    need(isinstance(said, (str, list)), "a step size is a text, those of all local steps are a list")
    each = [said] * sum(local_steps) if isinstance(said, str) else said
    digits = sum(len(str(x)) + len(str(claim["parameter"])) for x in each)
    need(sum(local_steps) * digits <= MOST_WORK, "the numbers of that many local steps are too long")
    sizes = [number(x) for x in each]
    need(len(sizes) == sum(local_steps) and min(sizes) > 0, "every local step needs a step size > 0")
    return p, sizes


def one_round(
    method: str, p: Q, sizes: Sequence[Q], before: dict[str, Vector], ask: Callable[[Vector], Vector]
) -> tuple[list[Vector], dict[str, Vector]]:
    """A client's models before every local step and after the last one, and what is kept after the round.

    Of what the server keeps, the means count; deviations are what a single client adds to it.
    """
    w, control = before["model"], before.get("control", ZERO)
    path = [combine((1 + p, w), (-p, before["last"])) if method == "fedinit" else w]
    for eta in sizes:
        x = path[-1]
        way = [(p if method == "fedcm" else Q(1), ask(x))]
        if method == "fedprox":
            way += [(p, x), (-p, w)]
        elif method == "scaffold":
            way += [(Q(1), average(control)), (Q(-1), control)]
        elif method == "fedcm":
            way.append((1 - p, before["direction"]))
        path.append(combine((1, x), *((-eta * c, v) for c, v in way)))
    moved = combine((1, path[0]), (-1, path[-1]))
    slope = combine((1 / sum(sizes), moved))
    after = {"model": path[-1], "last": path[-1], "direction": slope}
    if method == "scaffold":
        after["control"] = combine((1, control), (1, slope), (-1, average(control)))
    elif method == "fedavgm":
        after["velocity"] = combine((p, before["velocity"]), (1, moved))
        after["model"] = combine((1, w), (-1, after["velocity"]))
    return path, after


# ---- worst cases ----


class Run(Sums):
    """The claim's run. The minimiser is the origin and values are 0 there; without one, that is the start.

    A gradient is the first one plus changes, each a new unknown vector; at other models it is one of these plus a
    change, as the file says.
    """

    def __init__(self, proof: Any) -> None:
        super().__init__(proof)
        claim, self.near = self.claim, proof["near"]
        self.given = {word: number(x) for word, x in named(claim["given"], (), "what is assumed", GIVEN).items()}
        for word, x in self.given.items():
            need(x >= (word == "dissimilarity_factor"), f"{word} cannot be so small")
            minimiser = self.convex or word not in OF_A_MINIMISER
            need(minimiser, f"without convexity {word} cannot be given: there may be no minimiser")
        need(self.given.get("pl_constant", 0) <= self.L, "the constant of Polyak and Lojasiewicz exceeds smoothness")
        offset = "dissimilarity_offset" in self.given or "dissimilarity_factor" not in self.given
        need(offset, "a factor of dissimilarity needs its offset")
        over, metric = claim["over"], claim["metric"]
        need(over in ("rounds", "iterations"), "the metric is over rounds or iterations")
        need(over == "rounds" or metric not in (*OF_A_ROUND, "divergence"), f"{metric} is over rounds")
        need(over == "iterations" or metric != "consensus_distance", f"{metric} is over iterations")
        if self.convex:
            self.place("*", ZERO, REST)
        p, self.sizes = checked_plan(claim, claim["local_steps"])
        start: Vector = ({"start": Q(1)}, {}) if self.convex else ZERO
        state = {"model": start, "last": start, "control": ZERO, "velocity": ZERO, "direction": ZERO}
        self.paths, self.servers, sizes = list[list[Vector]](), [start], iter(self.sizes)
        for steps in claim["local_steps"]:
            path, after = one_round(claim["method"], p, [*islice(sizes, steps)], state, self.ask)
            state |= {name: x if name in ("last", "control") else average(x) for name, x in after.items()}
            self.paths.append(path)
            self.servers.append(state["model"])
        self.averages = [average(x) for path in self.paths for x in path[:-1]] + [self.servers[-1]]
        self.models = {f"w{i}": x for i, x in enumerate(self.servers)}
        self.models |= {f"v{i}": x for i, x in enumerate(self.averages)}
        self.models |= {(r, j): x for r, path in enumerate(self.paths) for j, x in enumerate(path)}
        self.models["mean"] = combine(*((Q(1, len(self.averages) - 1), x) for x in self.averages[:-1]))
        named(self.near, (), "near", self.models)

    def place(self, name: str, point: Vector, gradient: Vector) -> str:
        self.points[name], self.gradients[name] = point, gradient
        return name

    def known(self, point: Vector) -> str:
        """Where functions were evaluated at a model; empty where they were not."""
        return next((name for name, x in self.points.items() if name not in ("*", "own") and x == point), "")

    def ask(self, point: Vector) -> Vector:
        """The gradient at a model of the run; where the model is known, the one there."""
        number = 1 + sum(name[0] == "g" for name in self.points)
        name = self.known(point) or self.place(f"g{number}", point, gradient("g", number, self.change))
        return self.gradients[name]

    def at(self, name: str) -> str:
        """The functions at a model, at the minimiser of all (``*``) or at their own (``own``)."""
        if name in self.points:
            return name
        own: Part = {name: Q(1)}
        if name == "own" and self.convex:
            return self.place(name, (own, own), ZERO)
        need(name in self.models, f"{name} is not a model of this run")
        point = self.models[name]
        if found := self.known(point):
            return found
        name = next(n for n, x in self.models.items() if x == point)
        own, near = {name: Q(1)}, self.gradients[self.near[name]]
        return self.place(name, point, combine((1, near), (self.change, (own, own))))

    def shared(self, name: str) -> str:
        need(self.points[self.at(name)][1] == {} and name != "own", f"at {name} clients are at models of their own")
        return self.at(name)

    def value(self, c: Q, name: str) -> None:
        """Adds ``c (F(name) - F*)``."""
        self.values[self.at(name)] += c
        self.values["floor"] -= Q(0) if self.convex else c

    def inequality(self, c: Q, kind: str, names: Any) -> Q:
        """Adds c times the left side of ``left side <= right side``, and returns c times the right side."""
        everywhere = kind in (*EVERYWHERE, "lower")
        several = 2 if kind == "class" else int(everywhere or kind == "grad_cap_sq")
        need(len(names) == several, f"{kind} is about another number of models")
        need(kind in (*self.given, "class", "lower"), f"nothing is assumed of {kind}")
        place = self.shared(names[0]) if everywhere else ""
        if kind == "class":
            self.smooth(c, *map(self.at, names))
        elif kind == "lower":  # inf F is below what a step of 1/L from a model reaches
            need(not self.convex, "F has a minimiser: nothing else is below it")
            self.square(c / (2 * self.L), (1, ("G", place)))
            self.value(-c, place)
        elif kind == "pl_constant":
            self.square(-c, (1, ("G", place)))
            self.value(2 * c * self.given[kind], place)
        elif kind == "optimum_dissimilarity":
            self.square(c, (1, ("g", "*")))
        elif kind == "heterogeneity":
            self.value(-c, "own")
        elif kind == "dissimilarity_offset":
            self.square(c, (1, ("g", place)))
            self.square(-c * self.given.get("dissimilarity_factor", Q(1)), (1, ("G", place)))
        elif kind == "uniform_dissimilarity":
            self.square(c, (1, ("g", place)), (-1, ("G", place)))
        elif kind == "grad_cap_sq":
            need(names[0][0] == "g", "only gradients of local steps are capped")
            self.square(c, (1, ("g", self.at(names[0]))))
        else:  # not a factor, which counts with its offset
            word, letter, when = OF_A_MODEL[kind]
            late = len(self.servers if letter == "w" else self.averages) - 2
            self.of_model(c, word, letter, late if when == "late" else 0)
        return Q(0) if kind in ("class", "lower", "pl_constant") else c * self.given[kind]

    def of_model(self, c: Q, word: str, letter: str, i: int) -> None:
        """Adds c times a metric at the i-th server model (w) or virtual average (v)."""
        model = f"{letter}{i}"
        if word == "distance_sq":
            need(self.convex, "without convexity there is no minimiser to be away from")
            self.square(c, (1, ("m", model)))
        elif word == "optimality_gap":
            self.value(c, model)
        elif word == "grad_norm_sq":
            self.square(c, (1, ("G", self.at(model))))
        elif i:  # divergence: of the clients after i rounds
            self.square(c, (1, ("m", (i - 1, len(self.paths[i - 1]) - 1))), (-1, ("m", model)))

    def counted(self) -> list[int]:
        """The server models, rounds or iterations that the claim's statistic uses."""
        metric, kind, iterated = self.claim["metric"], self.claim["statistic"], self.claim["over"] == "iterations"
        last = len(self.averages if iterated else self.servers) - 1
        if metric in OF_A_RUN:
            need(kind == "whole", f"{metric} is one number of a whole run")
            return [0]
        need(kind in ("last", "min", "mean"), f"the statistic {kind} is not known here")
        if metric in OF_A_ROUND:
            every = range(1, last + 1)
        elif metric == "consensus_distance":
            every = range(last)
        else:
            every = range(last + (kind == "last" or (kind == "min" and iterated)))
        return [*every][-1:] if kind == "last" else [*every]

    def metric(self, c: Q, i: int) -> None:
        """Adds c times the metric at server model, round or iteration i."""
        word, before, letter = self.claim["metric"], f"w{i - 1}", "v" if self.claim["over"] == "iterations" else "w"
        model = f"{letter}{i}"
        if word in ("distance_sq", "optimality_gap", "grad_norm_sq", "divergence"):
            self.of_model(c, word, letter, i)
        elif word == "average_gap":
            self.value(c, "mean")
        elif word == "mean_gap":
            for j in range(1, len(self.averages)):
                self.value(c / (len(self.averages) - 1), f"v{j}")
        elif word == "weighted_grad_norm_sq":
            for j, size in enumerate(self.sizes):
                self.of_model(c * size, "grad_norm_sq", "v", j)
        elif word == "global_step":
            self.square(c, (1, ("m", model)), (-1, ("m", before)))
        elif word == "loss_change":
            self.values[self.at(model)] += c
            self.values[self.at(before)] -= c
        elif word == "local_drift":
            for j in range(len(self.paths[i - 1]) - 1):
                self.square(c, (1, ("m", (i - 1, j))), (-1, ("m", before)))
        elif word == "consensus_distance":
            steps = [(r, j) for r, path in enumerate(self.paths) for j in range(len(path) - 1)]
            self.square(c, (1, ("m", steps[i])), (-1, ("m", model)))
        else:
            need(word == "mean_gradient_drift", f"the metric {word!r:.60} is not known here")
            walked = [self.known(x) for x in self.paths[i - 1][:-1]]
            self.square(c, (1, ("g", self.at(before))), *((Q(-1, len(walked)), ("g", name)) for name in walked))


def check_worst_case(proof: Any) -> None:
    """``Refused`` unless the multipliers prove the bound, and the federation attains what is said of it."""
    run = Run(proof)
    bound, unit = Q(0), number(proof["unit"])
    for kind, *names, said in proof["multipliers"]:
        multiplier = number(said) * (unit if isinstance(said, int) else 1)
        need(multiplier >= 0, f"the multiplier of {kind} {names} is negative")
        bound += run.inequality(multiplier, kind, names)
    need(bound <= number(proof["bound"]), f"the multipliers prove {float(bound):.12g} only")

    places = {str(i): i for i in run.counted()}
    weights = {i: number(x) for i, x in named(proof["weights"], (), "the metric", places).items()}
    need(sum(weights.values()) == 1 and min(weights.values()) >= 0, "the weights of the metric are not an average")
    if run.claim["statistic"] == "mean":
        need(len(weights) == len(places) and len(set(weights.values())) == 1, "a mean has equal weights")
    for i, weight in weights.items():
        run.metric(-weight, places[i])

    left = [name for name, x in run.values.items() if x and name != ("*" if run.convex else run.at("w0"))]
    need(not left, f"function values are left over: {', '.join(left)}")
    for which, block in zip((0, 1), proof["blocks"], strict=True):
        squares(block, run.matrix(which))
    if "attained" in proof:
        need(reached(proof) >= number(proof["attained"]["value"]), "the federation does not attain what is said")


class Numbers:
    """The vectors of a run as those of two clients in coordinates: at their mean plus and minus the deviation."""

    def __init__(self, run: Run, held: Any) -> None:
        self.run, self.vectors = run, held["vectors"]
        self.unit = Q(1, 4 ** count(held["bits"], 0, MOST_BITS, "bits"))
        self.sizes = [count(n, 0, min(len(self.vectors), MOST_VECTORS), "dimensions") for n in held["dimensions"]]
        need(len(self.sizes) == 2, "dimensions are those of the means and of the deviations")
        for parts in self.vectors.values():
            integers = all(type(x) is int for part in parts for x in part)
            need(integers and len(parts) == 2, "a vector is two lists of whole numbers")
        self.inner, self.coordinates = cache(self._inner), cache(self._coordinates)
        zero = "*" if run.convex else run.at("w0")
        self.values = {name: number(x) for name, x in held["values"].items()} | {zero: Q(0)}

    def _coordinates(self, key: Any) -> tuple[list[list[int]], int]:
        parts, denominator = whole(list(self.run.vector(*key)))
        found = []
        for b, part in enumerate(parts):
            rows = [(x, self.vectors[name][b]) for name, x in part.items() if name in self.vectors]
            found.append([sum(x * row[d] for x, row in rows if d < len(row)) for d in range(self.sizes[b])])
        return found, denominator

    def _inner(self, u: Any, v: Any) -> Q:
        (one, m), (other, n) = self.coordinates(u), self.coordinates(v)
        return Q(sum(sum(map(mul, a, b)) for a, b in zip(one, other, strict=True)), m * n) * self.unit

    def total(self) -> Q:
        """What the run has added up, in these numbers; then it adds up from 0 on."""
        values, products = ([(x, c) for x, c in sums.items() if c] for sums in (self.run.values, self.run.products))
        missing = [name for name, _ in values if name not in self.values]
        need(not missing, f"the federation has no value at {', '.join(missing)}")
        self.run.clear()
        return sum((c * self.values[name] for name, c in values), Q(0)) + sum(c * self.inner(*x) for x, c in products)


def reached(proof: Any) -> Q:
    """The metric of the proof's federation; ``Refused`` unless it meets every inequality of the claim."""
    run = Run(proof)
    numbers = Numbers(run, named(proof["attained"], ATTAINED, "what is attained"))
    read = []
    for i in run.counted():
        run.metric(Q(1), i)
        read.append(numbers.total())
    words = [word for word in run.given if word != "dissimilarity_factor"] + ["lower"] * ("floor" in numbers.values)
    if {*EVERYWHERE, "lower"} & {*words}:
        for i in range(len(run.servers)):
            run.at(f"w{i}")
    common = [(n,) for n, x in run.points.items() if x[1] == {} and n != "own"]
    places = dict.fromkeys((*EVERYWHERE, "lower"), common) | {"grad_cap_sq": [(n,) for n in run.points if n[0] == "g"]}
    for kind, names in [(word, names) for word in words for names in places.get(word, [()])]:
        limit = run.inequality(Q(1), kind, names)
        need(numbers.total() <= limit, f"the federation breaks {kind} {' '.join(names)}")
    for pair in permutations(list(run.points), 2):
        run.smooth(Q(1), *pair)
        need(numbers.total() <= 0, f"the federation is not of the class: {' '.join(pair)}")
    known = {*run.points, *run.models, "start", "*", "own", "floor"}
    need(set(numbers.values) | set(numbers.vectors) <= known, "the federation has more than the run")
    return min(read) if run.claim["statistic"] == "min" else sum(read, Q(0)) / len(read)


# ---- rates ----


class Rate(Sums):
    """The claim's round and its quadratic V; adds up ``contraction V - V_next``, to which inequalities are added."""

    def __init__(self, proof: Any) -> None:
        super().__init__(proof)
        claim, rest, self.potential = self.claim, bool(proof["rest"]), number(proof["potential"])
        self.rho, *counts = (number(claim[word]) for word in RATE_NUMBERS[:4])
        N, C, self.noisy = claim["clients"], claim["cohort"], claim["noise_floor"] is not None
        self.floor, self.noise_floor = counts[2], number(claim["noise_floor"]) if self.noisy else Q(0)
        need(self.convex, "without convexity there is no minimiser")
        need(0 < self.rho < 1, "a contraction is between 0 and 1")
        need(min(*counts, self.noise_floor, self.potential) >= 0, "a weight is negative")
        need(isinstance(claim["step_size"], str), "a round has one step size")
        need(N is None or count(N, 1, 10**LONGEST, "clients") > 0, "clients")
        need(C is None or count(C, 1, N or 0, "clients of a cohort") > 0, "a cohort")
        need(not self.noisy or (N and not C), "noise is for a given number of clients, all of which take part")
        spread = Q(N - C, C * (N - 1)) if C and N > 1 else Q(0)
        """What the deviations add to squares of the mean of so many, drawn without replacement."""
        p, sizes = checked_plan(claim, [claim["local_steps"]])
        self.steps, asked = len(sizes), list[Vector]()
        names, self.clients = METHODS[claim["method"]]
        self.drawn = bool(C and self.clients)
        self.means = ["model", *names]

        def ask(model: Vector) -> Vector:
            asked.append(model)
            heard = {f"n{len(asked)}": Q(self.noisy)}
            return combine((1, gradient("v", len(asked), self.change)), (int(rest), REST), (1, (heard, heard)))

        now: list[list[Vector]] = [[({name: Q(1)}, {}) for name in self.means], [({}, {n: Q(1)}) for n in self.clients]]
        state = dict(zip(self.means, now[0], strict=True))
        for name, own in zip(self.clients, now[1], strict=True):
            # when all take part the mean of the last models is w; controls count relative to REST
            mean = name if self.drawn else "model" if name == "last" else ""
            state[name] = combine((1, ({mean: Q(bool(mean))}, own[1])), (int(name == "control"), REST))
        _, after = one_round(claim["method"], p, sizes, state, ask)
        # relative to their gradients at the minimiser clients have other values, but the same mean at the server model
        self.points = dict(enumerate([ZERO, *asked]))
        self.gradients = {j: gradient("v", j, self.change) for j in self.points} | {0: ZERO if rest else REST}
        at_server = asked[0] == state["model"]
        if at_server:
            last = len(self.points)
            self.points[last], self.gradients[last] = average(after["model"]), gradient("v", last, self.change)
        exact = self.potential == 0 or (at_server and spread == 0)
        need(exact, "the loss of a server model that is not a point of the proof")
        self.values[1] += self.rho * self.potential
        self.values[len(self.points) - 1] -= self.potential

        then, ends = ([part(after[name]) for name in self.means] for part in (average, apart))
        kept = [combine((1, apart(after[name])), (-int(name == "control"), REST)) for name in self.clients]
        later: list[tuple[int, Q, list[Vector]]] = [(1, Q(1), kept)]
        """By whose quadratic it counts, the factor and the vectors."""
        if self.drawn:  # what clients keep has a mean of its own that counts too, and moves for some of them alone
            name, share = self.clients[0], Q(C, N)
            moved = combine((1, after[name]), (-1, state[name]))
            self.means.append(name)
            now[0].append(({name: Q(1)}, {}))
            then.append(combine((1, now[0][-1]), (share, average(moved))))
            ends.append(combine((share, apart(moved))))
            later = [
                (1, share * (1 - share), [average(moved)]),
                (1, 1 - share, now[1]),
                (1, share, [combine((1, now[1][0]), (1, apart(moved)))]),
                (1, -(share**2) * spread, [apart(moved)]),
            ]
        later += [(0, Q(1), then), (0, spread, ends)]
        self.P = quadratic(proof["means"], self.means), quadratic(proof["apart"], self.clients)
        for whose, c, vectors in [(0, -self.rho, now[0]), (1, -self.rho, now[1]), *later]:
            place = len(self.models)
            self.models |= {place + i: vector for i, vector in enumerate(vectors)}
            for i, row in enumerate(self.P[whose]):
                for j, x in enumerate(row):
                    self.product(-c * x, [(1, ("m", place + i))], [(1, ("m", place + j))])

    def forms(self, proof: Any) -> tuple[list[Matrix], list[Q]]:
        """What is left by means and by deviations, heterogeneity and noise counted, and what noise costs."""
        forms = [self.matrix(0), self.matrix(1)]
        forms[1]["*", "*"] += self.floor * (1 - self.rho)
        return forms, [count_noise(form, proof, which, self.steps * self.noisy) for which, form in enumerate(forms)]

    def start(self) -> tuple[Q, Q]:
        """What V is at first, per squared distance and per zeta^2."""
        first = 2 if self.drawn and self.clients == ["last"] else 1  # the last models are the first one
        distance = sum((x for row in self.P[0][:first] for x in row[:first]), self.potential * self.L / 2)
        return distance, self.P[1][0][0] if self.clients == ["control"] else Q(0)  # controls begin with 0


def check_rate(proof: Any) -> None:
    """``Refused`` unless V contracts as the claim says, from the start that it says."""
    rate = Rate(proof)
    claim, N = rate.claim, rate.claim["clients"]
    for P, names, above in zip(rate.P, (rate.means, rate.clients), ("above_distance", "above_nothing"), strict=True):
        places = [(i, j) for i in range(len(P)) for j in range(len(P))]  # V is at least the model's squared distance
        squares(proof[above], {(names[i], names[j]): P[i][j] - (names[i] == names[j] == "model") for i, j in places})
    for a, b, multiplier in proof["multipliers"]:
        c = number(multiplier)
        need(c >= 0, f"the multiplier of {a}, {b} is negative")
        need(type(a) is int and type(b) is int and {a, b} <= set(rate.points), "there is no such point")
        rate.smooth(c, a, b)
    need(not any(x for name, x in rate.values.items() if name), "function values are left over")
    forms, noise = rate.forms(proof)
    added = noise[0] / N + noise[1] * Q(N - 1, N) if rate.noisy else Q(0)
    need(added <= rate.noise_floor * (1 - rate.rho), "noise leaves more than is claimed")
    for block, form in zip(proof["blocks"], forms, strict=True):
        squares(block, form)
    for word, start in zip(RATE_NUMBERS[1:3], rate.start(), strict=True):
        need(start <= number(claim[word]), f"the start counts for more than is claimed as {word}")
    if "after" in proof:
        remains = remaining(claim, named(proof["after"], {*START, "rounds", "bound"}, "what is left after rounds"))
        need(remains <= number(proof["after"]["bound"]), "after these rounds more is left than is claimed")


def quadratic(rows: Any, names: list[str]) -> list[list[Q]]:
    """A symmetric matrix over these names."""
    P = [[number(x) for x in row] for row in rows]
    need([len(row) for row in P] == [len(names)] * len(names), "the quadratic has another size")
    need(all(P[i][j] == P[j][i] for i in range(len(P)) for j in range(i)), "the quadratic is not symmetric")
    return P


def count_noise(form: Matrix, proof: Any, which: int, steps: int) -> Q:
    """Counts every step's noise in means (0) or deviations (1) for what the proof says, and returns the sum of that.

    In the mean nothing but later gradients goes along with it: products with the rest count for what the proof says.
    """
    costs = [number(x) for x in proof["noises"][which]]
    need(len(costs) == steps, "noise counts once for every step, in both blocks")
    need(all(x >= 0 for x in costs), "noise has a negative weight")
    for j, cost in enumerate(costs, 1):
        mine, later = f"n{j}", {f"v{i}" for i in range(j + 1, steps + 2)}
        alone = {(u, v) for u, v in form if mine in (u, v) and not later & {u, v}} - {(mine, mine)}
        form.update(dict.fromkeys(alone, Q(0)))
        form[mine, mine] += cost
    for u, v, value in proof["unheard"][which]:
        early, late = (int(x[1:]) if re.fullmatch("[vn][0-9]{1,6}", x) else 0 for x in (u, v))
        of_it = v in {f"n{j + 1}" for j in range(steps)} and u != v and (u[0] == "n" or early <= late)
        need(of_it, f"{v!r:.60} goes along with {u!r:.60}")
        form[u, v] = form[v, u] = number(value)
    return sum(costs, Q(0))


def remaining(claim: Any, after: Any) -> Q:
    """What ``V_next <= contraction V + (1 - contraction) floors`` leaves after a number of rounds from such a start."""
    rounds, start = after["rounds"], [number(after[word]) for word in START]
    need(type(rounds) is int and rounds >= 0, "rounds are a whole number")
    need(min(start) >= 0, "a squared length is negative")
    need(claim["noise_floor"] is not None or start[2] == 0, "nothing is proved of noise")
    rho = Q(claim["contraction"])
    many = min(20_000, 2**20 // rho.denominator.bit_length())  # fewer rounds leave more of the start
    past = rho ** min(rounds, many)
    first = Q(claim["start_distance"]) * start[0] + Q(claim["start_dissimilarity"]) * start[1]
    last = Q(claim["floor"]) * start[1] + Q(claim["noise_floor"] or 0) * start[2]
    return past * first + (1 if rounds > many else 1 - past) * last


# ---- in words ----


def rounded(text: str, digits: int = 10, *, up: bool = True) -> str:
    """A number in a number of digits, rounded to the side on which what is said stays true."""
    x = Q(text)
    unit = Q(10) ** (int(f"{float(x):.{digits - 1}e}".partition("e")[2]) - digits + 1)  # of the last digit
    return f"{float((-(-x // unit) if up else x // unit) * unit):.{digits}g}"


def said(proof: Any) -> str:
    """The claim in words."""
    claim, up = proof["claim"], partial(rounded, digits=6)
    if proof["kind"] == WORST_CASE:
        words = f"{claim['metric']} ({claim['statistic']} over {claim['over']}) <= {rounded(proof['bound'])}"
        if "attained" in proof:
            words += f", attained by two clients: {rounded(proof['attained']['value'], up=False)}"
        words += ", any number of clients"
    else:
        rho, start, more, floor, noise = (up(claim[word] or "0") for word in RATE_NUMBERS)
        words = f"{'E' if claim['noise_floor'] or claim['cohort'] else ''}|w_T - w*|^2 <= {rho}^T ({start} |w_0 - w*|^2"
        words += f" + {more} zeta^2)" * (more != "0") + ")" * (more == "0")
        words += f" + {floor} zeta^2" * (floor != "0") + f" + {noise} sigma^2" * (noise != "0")
        words += f" after every number T of rounds, {claim['clients'] or 'any number of'} clients"
    plan = {word: claim[word] for word in (*PLAN, "cohort", "given") if claim.get(word) is not None}
    later = f"; after {proof['after']['rounds']} rounds <= {up(proof['after']['bound'])}" if "after" in proof else ""
    told = plan | {word: x for word, x in proof.get("after", {}).items() if word in START}
    return f"{words}{later}: {', '.join(f'{word}={x}' for word, x in told.items())}".replace("'", "")


# ---- files ----


def check(proof: Any) -> None:
    """Raise ``Refused`` unless the file proves what it claims."""
    kind = proof["kind"]
    need(kind in (WORST_CASE, RATE), f"a proof is of the kind {WORST_CASE} or {RATE}; got {kind!r:.60}")
    named(proof, FILE[kind], f"a proof of a {kind}", ["attained" if kind == WORST_CASE else "after"])
    (check_rate if kind == RATE else check_worst_case)(proof)


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a file: whoever reads it sees the same one."""
    need(len(dict(pairs)) == len(pairs), "an object has a name twice")
    return dict(pairs)


def inexact(text: str) -> Any:
    raise Refused(f"{text:.60} is a float: write it as text")


def loads(line: bytes) -> Any:
    need(len(line) <= MOST_OF_ONE, f"a proof has at most {MOST_OF_ONE} bytes")
    return json.loads(line.decode("utf-8"), object_pairs_hook=once, parse_float=inexact, parse_constant=inexact)


def lines(file: str) -> list[bytes]:
    """The proofs of a file as they are written: one, or those of an archive (``.xz``), line by line."""
    need(not Path(file).exists() or Path(file).is_file(), "not a regular file")
    with Path(file).open("rb") as opened:
        data = opened.read(MOST_BYTES + 1)
    if file.endswith(".xz"):
        stream = lzma.LZMADecompressor(memlimit=2 * MOST_BYTES)
        data = stream.decompress(data, MOST_BYTES + 1)
        need(len(data) > MOST_BYTES or (stream.eof and not stream.unused_data), "the archive is torn, or goes on")
    need(len(data) <= MOST_BYTES, f"a file has at most {MOST_BYTES} bytes, unpacked")
    found = data.splitlines() if file.endswith(".xz") else [data]
    need(0 < len(found) <= MOST_PROOFS, f"a file has from 1 to {MOST_PROOFS} lines")
    return found


def read(file: str) -> list[Any]:
    """The proofs of a file."""
    return [loads(line) for line in lines(file)]


def verdicts(file: str) -> Iterable[tuple[str, bool, str]]:
    """Of every proof of a file its name, whether it is accepted, and it in words or why not."""
    try:
        for place, line in enumerate(lines(file), 1):
            name = f"{file}:{place}" if file.endswith(".xz") else file
            try:
                check(proof := loads(line))
                yield name, True, f"proved: {said(proof)}"
            except KNOWN as error:
                yield name, False, refusal(error)
    except KNOWN as error:
        yield file, False, refusal(error)


def refusal(error: Exception) -> str:
    return f"REFUSED: {'' if isinstance(error, (Refused, OSError)) else f'{type(error).__name__}: '}{error}"


def main(files: list[str]) -> int:
    accepted, begun = list[bool](), time.perf_counter()
    for name, fine, verdict in (one for file in files for one in verdicts(file)):
        accepted.append(fine)
        one_line = "".join(c if c.isprintable() else "?" for c in f"{name}: {verdict}")
        print(one_line.encode("ascii", "backslashreplace").decode(), flush=True)
    if not files:
        print("REFUSED: no files: python verify.py FILE ...")
    elif len(accepted) > 1:
        seconds = time.perf_counter() - begun
        print(f"{len(accepted)} proofs, {sum(accepted)} accepted, {seconds:.0f} seconds")
    return 0 if accepted and all(accepted) else 1


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # who reads the first lines alone (| head) has read enough
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
