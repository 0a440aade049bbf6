"""Check proofs: ``python verify.py FILE ...`` needs Python's standard library, and nothing of fedbounds.

The ``kind`` of a file says what it proves; a file without one is of a worst case. In both the method is played in
fractions and inequalities that every federation of the class meets are added up, with multipliers >= 0; what is then
left above the claim must be a sum of squares, ``S = D (T T' / 4^bits + E) D`` with integers T, powers of two D and E
diagonally dominant.

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
from collections.abc import Iterable, Iterator
from fractions import Fraction as Q
from functools import cache, partial
from itertools import permutations
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
    WORST_CASE: {"claim", "bound", "change", "near", "weights", "unit", "multipliers", "blocks"},
    RATE: {"claim", "statement", "change", "rest", "potential", "means", "apart", "multipliers", "noises", "unheard",
           "above_distance", "above_nothing", "blocks"},
}  # fmt: skip
"""The names in a file: one that is not read would claim something that is not checked."""
CLAIM = {
    WORST_CASE: {"method", "parameter", "local_steps", "step_size", "smoothness", "strong_convexity", "given", "metric",
                 "statistic", "over"},
    RATE: {"method", "parameter", "local_steps", "step_size", "smoothness", "strong_convexity", "clients", "cohort",
           "contraction", "start_distance", "start_dissimilarity", "floor", "noise_floor"},
}  # fmt: skip
ATTAINED = {"value", "bits", "dimensions", "vectors", "values"}
BLOCK = {"vectors", "scale", "factor", "bits"}
BEGUN = ("initial_distance_sq", "optimum_dissimilarity", "gradient_variance")
"""What a start is described by, where a rate is stated for a number of rounds."""

METHODS = {
    WORST_CASE: ["fedavg", "fedprox", "fedinit", "scaffold"],
    RATE: ["fedavg", "fedprox", "fedinit", "scaffold", "fedavgm", "fedcm"],
}
GIVEN = {
    "pl_constant": True, "initial_distance_sq": False, "initial_gap": False, "optimum_dissimilarity": False,
    "heterogeneity": False, "dissimilarity_offset": True, "dissimilarity_factor": True, "uniform_dissimilarity": True,
    "grad_cap_sq": False, "grad_norm_sq": False, "distance_sq": False, "divergence": False,
}  # fmt: skip
"""What may be assumed, and whether of all models: a federation that attains a value meets that at those visited."""
LATE = dict.fromkeys(("grad_norm_sq", "divergence"), " as the last round begins")
LATE["distance_sq"] = " before the last local step"
"""When what is assumed holds, where that is not from the start on."""
OF_A_MINIMISER = {"initial_distance_sq", "distance_sq", "optimum_dissimilarity", "heterogeneity"}
EVERYWHERE = {"dissimilarity_offset", "uniform_dissimilarity", "pl_constant"}
PLACES = {"class": 2} | dict.fromkeys((*EVERYWHERE, "lower", "grad_cap_sq"), 1)
"""How many models an inequality is about, where it is about any."""
OF_A_ROUND = {"local_drift", "global_step", "loss_change", "mean_gradient_drift"}
OF_A_RUN = {"mean_gap", "average_gap", "weighted_grad_norm_sq"}
"""Metrics that have one number for every round, for the whole run."""


class Refused(Exception):
    """Why a file does not prove what it claims."""


KNOWN = (Refused, ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RecursionError,
         StopIteration, TypeError, ValueError, lzma.LZMAError)  # fmt: skip
"""What a file that is no proof may raise."""


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


def named(item: Any, names: set[str], what: str, perhaps: Iterable[str] = ()) -> Any:
    """An object of these names, and of nothing else."""
    need(isinstance(item, dict) and names <= set(item), f"{what} says {', '.join(sorted(names))}, each of them")
    unknown = ", ".join(sorted(set(item) - names - set(perhaps)))
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


def whole(parts: list[Part]) -> tuple[list[dict[str, int]], int]:
    """Whole numbers over one denominator, and that: their products take a twentieth of the time of fractions."""
    d = lcm(*(x.denominator for part in parts for x in part.values()))
    return [{name: int(x * d) for name, x in part.items()} for part in parts], d


class Sums:
    """Inequalities added up: inner products of named vectors, and function values by the name of their point."""

    def __init__(self, smoothness: Q, strong_convexity: Q) -> None:
        self.L, self.mu = smoothness, strong_convexity
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
    need({a for (a, _), x in matrix.items() if x} == set(names), "the factor is of other vectors")
    need(len(names) == len(scale) == len(factor) == len(set(names)), "the factor has another size")
    need(all(len(row) <= i for i, row in enumerate(factor, 1)), "the factor is no lower triangle")
    integers = all(type(x) is int for x in (bits, *scale, *(x for row in factor for x in row)))
    need(integers and bits >= 0, "the factor is not of integers")
    need(max(bits, *map(abs, scale), 0) <= MOST_BITS, f"a power of two here has at most {MOST_BITS} binary digits")
    for i, a in enumerate(names):
        apart = []
        for j, b in enumerate(names):
            both = sum(x * y for x, y in zip(factor[i], factor[j], strict=False))
            apart.append(matrix.get((a, b), Q(0)) / Q(2) ** (scale[i] + scale[j]) - Q(both, 4**bits))
        need(apart[i] >= sum(abs(x) for x in apart[:i] + apart[i + 1 :]), f"no sum of squares: row {a}")


# ---- methods ----


def step_sizes(claim: Any, local_steps: list[int]) -> list[Q]:
    """Of every local step of the run: one number for all, or one for each; refused where the run is too long."""
    count(len(local_steps), 1, MOST_STEPS, "rounds")
    for steps in local_steps:
        count(steps, 1, MOST_STEPS, "local steps of a round")
    steps, said = count(sum(local_steps), 1, MOST_STEPS, "local steps"), claim["step_size"]
    need(isinstance(said, (str, list)), "a step size is a text, those of all local steps are a list")
    each = [said] * steps if isinstance(said, str) else said
    digits = sum(len(str(x)) + len(str(claim["parameter"])) for x in each)
    need(steps * digits <= MOST_WORK, "the numbers of so many local steps are too long")
    sizes = [number(x) for x in each]
    need(len(sizes) == steps and all(x > 0 for x in sizes), "every local step needs a step size > 0")
    return sizes


def parameter(claim: Any, kind: str) -> Q:
    method, p = claim["method"], number(claim["parameter"])
    need(method in METHODS[kind], f"the method {method!r:.60} is not known here")
    need(p >= 0 and (p == 0 or method not in ("fedavg", "scaffold")), f"{method} has no parameter {p}")
    return p


def local(method: str, p: Q, sizes: Iterable[Q], x: Vector, w: Vector, held: Vector, gradient: Any) -> list[Vector]:
    """A client's models, before every local step and after the last one, from x on in a round that begins at w.

    ``held``: the correction of SCAFFOLD, the direction of FedCM.
    """
    path = [x]
    for eta in sizes:
        way = [(p if method == "fedcm" else 1, gradient(path[-1]))]
        if method == "fedprox":
            way += [(p, path[-1]), (-p, w)]
        elif method == "scaffold":
            way.append((1, held))
        elif method == "fedcm":
            way.append((1 - p, held))
        path.append(combine((1, path[-1]), *((-eta * c, v) for c, v in way)))
    return path


# ---- worst cases ----


class Run(Sums):
    """The claim's run. The minimiser is the origin and values are 0 there; without one, that is the start.

    A gradient is the first one plus changes, each a new unknown vector; at other models it is one of these plus a
    change, as the file says.
    """

    def __init__(self, certificate: Any) -> None:
        claim = named(certificate["claim"], CLAIM[WORST_CASE], "a claim")
        self.claim, self.step, self.near = claim, number(certificate["change"]), certificate["near"]
        self.convex = claim["strong_convexity"] is not None
        L = number(claim["smoothness"])
        super().__init__(L, number(claim["strong_convexity"]) if self.convex else -L)
        need(L > 0 and self.mu < L and (self.mu >= 0 or not self.convex), "there are no such functions")
        need(self.step != 0, "gradients that do not change are not all there are")
        self.given = {word: number(x) for word, x in named(claim["given"], set(), "what is assumed", GIVEN).items()}
        low = sorted(word for word, x in self.given.items() if x < (word == "dissimilarity_factor"))
        need(not low, f"cannot be so small: {', '.join(low)}")
        need(self.given.get("pl_constant", L) <= L, "the constant of Polyak and Lojasiewicz is at most the smoothness")
        without = sorted(OF_A_MINIMISER & set(self.given)) if not self.convex else []
        need(not without, f"without convexity there is no minimiser for {', '.join(without)} to speak of")
        needs_offset = "dissimilarity_factor" in self.given and "dissimilarity_offset" not in self.given
        need(not needs_offset, "a factor of dissimilarity needs its offset")
        over, metric = claim["over"], claim["metric"]
        need(over in ("rounds", "iterations"), "the metric is over rounds or iterations")
        need(over == "rounds" or metric not in OF_A_ROUND | {"divergence"}, f"{metric} is over rounds")
        need(over == "iterations" or metric != "consensus_distance", f"{metric} is over iterations")
        if self.convex:
            self.place("*", ZERO, REST)
        self.sizes = step_sizes(claim, claim["local_steps"])
        self.paths: list[list[Vector]] = []
        self.servers: list[Vector] = [({"start": Q(1)}, {}) if self.convex else ZERO]
        self.play(claim["method"], parameter(claim, WORST_CASE))
        self.averages = [average(x) for path in self.paths for x in path[:-1]] + [self.servers[-1]]
        self.models = {f"w{i}": x for i, x in enumerate(self.servers)}
        self.models |= {f"v{i}": x for i, x in enumerate(self.averages)}
        self.models["mean"] = combine(*((Q(1, len(self.averages) - 1), x) for x in self.averages[:-1]))
        named(self.near, set(), "near", self.models)

    def play(self, method: str, p: Q) -> None:
        last, own, shared, sizes = self.servers[0], ZERO, ZERO, iter(self.sizes)
        for steps in self.claim["local_steps"]:
            w, now = self.servers[-1], [next(sizes) for _ in range(steps)]
            first = combine((1 + p, w), (-p, last)) if method == "fedinit" else w
            path = local(method, p, now, first, w, combine((-1, own), (1, shared)), self.ask)
            if method == "scaffold":
                change = combine((1 / sum(now), path[0]), (-1 / sum(now), path[-1]), (-1, shared))
                own, shared = combine((1, own), (1, change)), combine((1, shared), (1, average(change)))
            last = path[-1]
            self.paths.append(path)
            self.servers.append(average(last))

    def place(self, name: str, point: Vector, gradient: Vector) -> Vector:
        self.points[name], self.gradients[name] = point, gradient
        return gradient

    def ask(self, point: Vector) -> Vector:
        """The gradient at a model of the run; where the model is known, the one there."""
        same = next((name for name in self.points if name != "*" and self.points[name] == point), None)
        number = 1 + sum(name[0] == "g" for name in self.points)
        own = {f"g{i}": self.step if i > 1 else Q(1) for i in range(1, number + 1)}
        return self.gradients[same] if same else self.place(f"g{number}", point, (own, own))

    def at(self, name: str) -> str:
        """The functions at a model, at the minimiser of all (``*``) or at their own (``own``)."""
        if name == "own" and self.convex and name not in self.points:
            self.place(name, ({"own": Q(1)}, {"own": Q(1)}), ZERO)
        need(name in self.points or name in self.models, f"{name} is no model of this run")
        if name not in self.points:
            name = next(n for n, x in self.models.items() if x == self.models[name])
        if name not in self.points:
            apart = ("*", "own")
            same = next((n for n in self.points if n not in apart and self.points[n] == self.models[name]), None)
            if same:
                return same
            own = ({name: Q(1)}, {name: Q(1)})
            other = self.gradients[self.near[name]]
            self.place(name, self.models[name], combine((1, other), (self.step, own)))
        return name

    def shared(self, name: str) -> str:
        need(self.points[self.at(name)][1] == {} and name != "own", f"at {name} clients are at models of their own")
        return self.at(name)

    def value(self, c: Q, name: str) -> None:
        """Adds ``c (F(name) - F*)``."""
        self.values[self.at(name)] += c
        self.values["floor"] -= Q(0) if self.convex else c

    def vector(self, kind: str, name: Any) -> Vector:
        """Also ``p``: the clients' local models, by round and step."""
        return self.paths[name[0]][name[1]] if kind == "p" else super().vector(kind, name)

    def inequality(self, c: Q, kind: str, names: Any) -> Q:
        """Adds c times the left side of ``left side <= right side``, and returns c times the right side."""
        need(len(names) == PLACES.get(kind, 0), f"{kind} is about another number of models")
        if kind == "class":
            self.smooth(c, *map(self.at, names))
            return Q(0)
        if kind == "lower":  # inf F is below what a step of 1/L from a model reaches
            need(not self.convex, "F has a minimiser: nothing else is below it")
            self.square(c / (2 * self.L), (1, ("G", self.shared(names[0]))))
            self.value(-c, names[0])
            return Q(0)
        need(kind in self.given, f"nothing is assumed of {kind}")
        last, place = len(self.servers) - 2, self.shared(names[0]) if kind in EVERYWHERE else ""
        if kind == "pl_constant":
            self.square(-c, (1, ("G", place)))
            self.value(2 * c * self.given[kind], place)
            return Q(0)
        if kind == "initial_distance_sq":
            self.square(c, (1, ("m", "w0")))
        elif kind == "initial_gap":
            self.value(c, "w0")
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
        elif kind == "grad_norm_sq":  # this and the next two: where the last round, or iteration, begins
            self.square(c, (1, ("G", self.at(f"w{last}"))))
        elif kind == "distance_sq":
            self.square(c, (1, ("m", f"v{len(self.averages) - 2}")))
        elif kind == "divergence":
            self.apart(c, last)
        else:  # a factor, which counts with its offset
            raise Refused(f"{kind} is no inequality")
        return c * self.given[kind]

    def apart(self, c: Q, i: int) -> None:
        """Adds c times the clients' divergence after i rounds."""
        if i:
            self.square(c, (1, ("p", (i - 1, -1))), (-1, ("m", f"w{i}")))

    def counted(self) -> list[int]:
        """The server models, rounds or iterations that the claim's statistic looks at."""
        metric, kind, iterated = self.claim["metric"], self.claim["statistic"], self.claim["over"] == "iterations"
        rounds, steps = len(self.servers) - 1, len(self.averages) - 1
        if metric in OF_A_RUN:
            need(kind == "whole", f"{metric} is one number of a whole run")
            return [0]
        if metric in OF_A_ROUND:
            every = list(range(1, rounds + 1))
        elif metric == "consensus_distance":
            every = list(range(steps))
        else:
            last = steps if iterated else rounds
            every = list(range(last + 1)) if kind == "last" or (kind == "min" and iterated) else list(range(last))
        need(kind in ("last", "min", "mean"), f"the statistic {kind} is not known here")
        return every[-1:] if kind == "last" else every

    def metric(self, c: Q, i: int) -> None:
        """Adds c times the metric at server model, round or iteration i."""
        word = self.claim["metric"]
        model = f"{'v' if self.claim['over'] == 'iterations' else 'w'}{i}"
        if word == "distance_sq":
            need(self.convex, "without convexity there is no minimiser to be away from")
            self.square(c, (1, ("m", model)))
        elif word == "optimality_gap":
            self.value(c, model)
        elif word == "grad_norm_sq":
            self.square(c, (1, ("G", self.at(model))))
        elif word == "divergence":
            self.apart(c, i)
        elif word == "average_gap":
            self.value(c, "mean")
        elif word == "mean_gap":
            for j in range(1, len(self.averages)):
                self.value(c / (len(self.averages) - 1), f"v{j}")
        elif word == "weighted_grad_norm_sq":
            for j in range(len(self.averages) - 1):
                self.square(c * self.sizes[j], (1, ("G", self.at(f"v{j}"))))
        elif word == "global_step":
            self.square(c, (1, ("m", f"w{i}")), (-1, ("m", f"w{i - 1}")))
        elif word == "loss_change":
            self.values[self.at(f"w{i}")] += c
            self.values[self.at(f"w{i - 1}")] -= c
        elif word == "local_drift":
            for j in range(len(self.paths[i - 1]) - 1):
                self.square(c, (1, ("p", (i - 1, j))), (-1, ("m", f"w{i - 1}")))
        elif word == "consensus_distance":
            steps = [(r, j) for r, path in enumerate(self.paths) for j in range(len(path) - 1)]
            self.square(c, (1, ("p", steps[i])), (-1, ("m", f"v{i}")))
        elif word == "mean_gradient_drift":
            walked = [next(n for n in self.points if n != "*" and self.points[n] == x) for x in self.paths[i - 1][:-1]]
            begin = self.at(f"w{i - 1}")
            self.square(c, (1, ("g", begin)), *((Q(-1, len(walked)), ("g", name)) for name in walked))
        else:
            raise Refused(f"the metric {word!r:.60} is not known here")


def check_worst_case(certificate: Any) -> None:
    """``Refused`` unless the multipliers prove the bound, and the federation attains what is said of it."""
    run = Run(certificate)
    bound, unit = Q(0), number(certificate["unit"])
    for kind, *names, said in certificate["multipliers"]:
        multiplier = number(said) * (unit if isinstance(said, int) else 1)
        need(multiplier >= 0, f"the multiplier of {kind} {names} is negative")
        bound += run.inequality(multiplier, kind, names)
    need(bound <= number(certificate["bound"]), f"the multipliers prove {float(bound):.12g} only")

    counted, weights = run.counted(), certificate["weights"]
    places = {str(i): i for i in counted}
    need(set(weights) <= set(places), "the metric is taken where the claim does not speak of it")
    weights = {places[i]: number(x) for i, x in weights.items()}
    need(sum(weights.values()) == 1 and min(weights.values()) >= 0, "the weights of the metric are no average")
    if run.claim["statistic"] == "mean":
        need(all(weights.get(i) == Q(1, len(counted)) for i in counted), "a mean has equal weights")
    for i, weight in weights.items():
        run.metric(-weight, i)

    zero = "*" if run.convex else run.at("w0")
    left = [name for name, x in run.values.items() if x and name != zero]
    need(not left, f"function values are left over: {', '.join(left)}")
    for which, block in zip((0, 1), certificate["blocks"], strict=True):
        squares(block, run.matrix(which))
    if "attained" in certificate:
        value = number(certificate["attained"]["value"])
        need(reached(certificate) >= value, "the federation does not attain what is said")


def reached(certificate: Any) -> Q:
    """The metric of the certificate's federation; ``Refused`` unless it meets every inequality of the claim.

    Its points, gradients and values are numbers: those of two clients, at their mean plus and minus the deviation.
    """
    run = Run(certificate)
    held = named(certificate["attained"], ATTAINED, "what is attained")
    unit, vectors = Q(1, 2 ** count(held["bits"], 0, MOST_BITS, "bits")), held["vectors"]
    sizes = [count(n, 0, min(len(vectors), MOST_VECTORS), "dimensions") for n in held["dimensions"]]
    need(len(sizes) == 2, "dimensions are those of the means and of the deviations")
    whole_ones = all(type(x) is int for parts in vectors.values() for part in parts for x in part)
    need(whole_ones and all(len(parts) == 2 for parts in vectors.values()), "a vector is two lists of whole numbers")
    values = {name: number(x) for name, x in held["values"].items()} | {"*" if run.convex else run.at("w0"): Q(0)}
    numbers: dict[Any, tuple[list[list[int]], int]] = {}

    def coordinates(key: Any) -> tuple[list[list[int]], int]:
        if key not in numbers:
            parts, denominator = whole(list(run.vector(*key)))
            found = []
            for b, part in enumerate(parts):
                rows = [(x, vectors[name][b]) for name, x in part.items() if name in vectors]
                found.append([sum(x * row[d] for x, row in rows if d < len(row)) for d in range(sizes[b])])
            numbers[key] = found, denominator
        return numbers[key]

    @cache
    def inner(u: Any, v: Any) -> Q:
        (one, m), (other, n) = coordinates(u), coordinates(v)
        return Q(sum(sum(map(mul, a, b)) for a, b in zip(one, other, strict=True)), m * n) * unit**2

    def total() -> Q:
        """What has been added up, at the federation's numbers; and from 0 on."""
        missing = [name for name, c in run.values.items() if c and name not in values]
        need(not missing, f"the federation has no value at {', '.join(missing)}")
        found = sum((c * values[name] for name, c in run.values.items() if c), Q(0))
        found += sum((c * inner(u, v) for (u, v), c in run.products.items() if c), Q(0))
        run.clear()
        return found

    read = []
    for i in run.counted():
        run.metric(Q(1), i)
        read.append(total())
    if EVERYWHERE & set(run.given) or "floor" in values:
        for i in range(len(run.servers)):
            run.at(f"w{i}")
    common = [(n,) for n, x in run.points.items() if x[1] == {} and n != "own"]
    capped = [(n,) for n in run.points if n[0] == "g"]
    required: list[tuple[str, tuple[str, ...]]] = []
    for word in run.given:
        if word != "dissimilarity_factor":
            places = common if word in EVERYWHERE else capped if word == "grad_cap_sq" else [()]
            required += [(word, names) for names in places]
    required += [("lower", n) for n in common] if "floor" in values else []
    for kind, names in required:
        limit = run.inequality(Q(1), kind, names)
        need(total() <= limit, f"the federation breaks {kind} {' '.join(names)}")
    for pair in permutations(list(run.points), 2):
        run.smooth(Q(1), *pair)
        need(total() <= 0, f"the federation is not of the class: {' '.join(pair)}")
    known = {*run.points, *run.models, "start", "*", "own", "floor"}
    need(set(values) | set(vectors) <= known, "the federation has more than the run")
    kind = run.claim["statistic"]
    return min(read) if kind == "min" else sum(read, Q(0)) / len(read)


# ---- rates ----

KEPT = {
    "fedavg": (["model"], []), "fedprox": (["model"], []), "fedinit": (["model"], ["last"]),
    "scaffold": (["model"], ["control"]), "fedavgm": (["model", "velocity"], []), "fedcm": (["model", "direction"], []),
}  # fmt: skip
"""What means and deviations keep from round to round. SCAFFOLD's controls count relative to ``REST``. What clients keep
while others are drawn has a mean over all clients that counts too."""


def drawn(claim: Any) -> bool:
    """Whether clients that keep something rest while others are drawn."""
    return claim["cohort"] is not None and bool(KEPT[claim["method"]][1])


def play(claim: Any, gradients: Iterator[Vector]) -> tuple[list[Vector], dict[str, Vector], dict[str, Vector]]:
    """The models that gradients are asked at, and what is kept before and after the round.

    Of what means keep afterwards, the deviations are what every client adds to it.
    """
    method, p, sizes = claim["method"], parameter(claim, RATE), step_sizes(claim, [claim["local_steps"]])
    means, apart = KEPT[method]
    before: dict[str, Vector] = {name: ({name: Q(1)}, {}) for name in means}
    before |= {name: ({}, {name: Q(1)}) for name in apart}
    own: Vector = ({name: Q(1) for name in apart if drawn(claim)}, {name: Q(1) for name in apart})
    w = first = before["model"]
    if method == "fedinit":  # when all take part, the mean of the last models is w
        first = combine((1 + p * drawn(claim), w), (-p, own))
    held = combine((-1, before["control"]), (-1, REST)) if method == "scaffold" else before.get("direction", ZERO)
    path = local(method, p, sizes, first, w, held, lambda _: next(gradients))
    x, moved = path[-1], combine((1, path[-1]), (-1, first))
    slope = combine((-1 / sum(sizes), moved))
    after: dict[str, Vector] = {"model": x, "last": ({}, x[1]), "direction": slope}
    if method == "scaffold":
        after["control"] = combine((1, before["control"]), (1, ({}, slope[1])))
    elif method == "fedavgm":
        after["velocity"] = combine((p, before["velocity"]), (-1, moved))
        after["model"] = combine((1, w), (-1, after["velocity"]))
    if drawn(claim):  # how far a client that is drawn moves what it keeps
        after["moved"] = combine((1, slope), (-1, average(own))) if method == "scaffold" else combine((1, x), (-1, own))
    return path[:-1], before, after


def check_rate(proof: Any) -> None:
    """``Refused`` unless V contracts as the claim says, from the start that it says."""
    claim, rest = named(proof["claim"], CLAIM[RATE], "a claim"), proof["rest"]
    texts = ("smoothness", "strong_convexity", "contraction", "start_distance", "start_dissimilarity", "floor")
    L, mu, rho, start_distance, start_dissimilarity, floor = (number(claim[word]) for word in texts)
    potential, change, gamma = number(proof["potential"]), number(proof["change"]), floor * (1 - rho)
    N, C, noisy, spread = claim["clients"], claim["cohort"], claim["noise_floor"] is not None, Q(0)
    noise_floor, steps = number(claim["noise_floor"]) if noisy else Q(0), claim["local_steps"]
    need(0 <= mu < L, "there are no such functions")
    need(0 < rho < 1, "a contraction is between 0 and 1")
    need(min(start_distance, start_dissimilarity, floor, noise_floor, potential) >= 0, "a weight is negative")
    need(change != 0, "gradients that do not change are not all there are")
    need(isinstance(claim["step_size"], str), "a round has one step size")
    need(type(rest) is bool, "gradients are relative to something else")  # or to those at the minimiser
    need(N is None or (type(N) is int and N > 0), "clients are a whole number")
    if C is not None:  # the mean of so many, drawn without replacement: what deviations add to squares of it
        need(type(C) is int and N is not None and 0 < C <= N and not noisy, "a cohort is of so many clients, no noise")
        spread = Q(N - C, C * (N - 1)) if N > 1 else Q(0)
    need(not noisy or N is not None, "noise is that of so many clients")
    if "after" in proof:
        remains = remaining(claim, named(proof["after"], {*BEGUN, "rounds", "bound"}, "what is left after rounds"))
        need(remains <= number(proof["after"]["bound"]), "after these rounds more is left than is claimed")

    def gradient(j: int) -> Vector:
        own = {f"v{i}": change if i > 1 else Q(1) for i in range(1, j + 1)}
        return own, dict(own)

    def heard() -> Iterator[Vector]:
        for j in range(1, steps + 1):
            own = {f"n{j}": Q(noisy)}
            yield combine((1, gradient(j)), (1 * rest, REST), (1, (own, own)))

    asked, before, after = play(claim, heard())
    need(proof["statement"] == said(proof), "the statement in words is another one")
    # relative to their gradients at the minimiser clients have other values, but the same mean at the server model
    sums = Sums(L, mu)
    sums.points = dict(enumerate([ZERO, *asked]))
    sums.gradients = {0: ZERO if rest else REST} | {j: gradient(j) for j in range(1, len(asked) + 1)}
    if asked[0] == before["model"]:
        sums.points[steps + 1], sums.gradients[steps + 1] = average(after["model"]), gradient(steps + 1)
    need(potential == 0 or asked[0] == before["model"], "the first gradient is not that of the server model")
    need(potential == 0 or spread == 0, "the model of a cohort is no point of the proof")
    sums.values[1] += rho * potential
    sums.values[len(sums.points) - 1] -= potential

    def both(c: Q, one: Vector, other: Vector) -> None:
        """Adds ``c <one, other>``."""
        place = len(sums.models)
        sums.models |= {place: one, place + 1: other}
        sums.product(c, [(1, ("m", place))], [(1, ("m", place + 1))])

    means, apart = KEPT[claim["method"]]
    ends: dict[str, Vector] = {name: ({}, after[name][1]) for name in means}
    kept_apart: Vector = ZERO
    renewed: list[tuple[Q, Vector]] = []
    if drawn(claim):
        kept, share, moved = apart[0], Q(C, N), after["moved"]
        means, kept_apart = [*means, kept], ({}, {kept: Q(1)})
        ends[kept] = ({}, combine((share, moved))[1])
        before |= {name: ({name: Q(1)}, {}) for name in means}
        after[kept] = combine((1, before[kept]), (share, average(moved)))
        away: Vector = ({}, moved[1])
        renewed = [(share * (1 - share), average(moved)), (1 - share, kept_apart),
                   (share, combine((1, kept_apart), (1, away))), (-(share**2) * spread, away)]  # fmt: skip
    after |= {name: average(after[name]) for name in means}
    for names, rows, least in ((means, proof["means"], "above_distance"), (apart, proof["apart"], "above_nothing")):
        P = [[number(x) for x in row] for row in rows]
        need(len(P) == len(names) and all(len(row) == len(P) for row in P), "the quadratic has another size")
        need(all(P[i][j] == P[j][i] for i in range(len(P)) for j in range(i)), "the quadratic is not symmetric")
        if drawn(claim) and names is apart:
            both(rho * P[0][0], kept_apart, kept_apart)
            for c, vector in renewed:
                both(-c * P[0][0], vector, vector)
        else:
            for i, a in enumerate(names):
                for j, b in enumerate(names):
                    both(rho * P[i][j], before[a], before[b])
                    both(-P[i][j], after[a], after[b])
                    if names is means:
                        both(-P[i][j] * spread, ends[a], ends[b])
        own = {(a, b): P[i][j] - (a == b == "model") for i, a in enumerate(names) for j, b in enumerate(names)}
        squares(proof[least], own)
    for a, b, multiplier in proof["multipliers"]:
        c = number(multiplier)
        need(c >= 0, f"the multiplier of {a}, {b} is negative")
        need(type(a) is int and type(b) is int and {a, b} <= set(sums.points), "there is no such point")
        sums.smooth(c, a, b)
    need(not any(x for name, x in sums.values.items() if name), "function values are left over")
    forms = [sums.matrix(0), sums.matrix(1)]
    forms[1]["*", "*"] += gamma
    noises = [[number(x) for x in row] for row in proof["noises"]]
    need([len(row) for row in noises] == [steps * noisy] * 2, "noise counts once for every step, in both blocks")
    need(all(x >= 0 for row in noises for x in row), "noise has a negative weight")
    for form, row, unheard in zip(forms, noises, proof["unheard"], strict=True):
        for j, cost in enumerate(row, 1):
            mine, later = f"n{j}", {f"v{i}" for i in range(j + 1, steps + 2)}
            alone = {(u, v) for u, v in form if mine in (u, v) and not later & {u, v}} - {(mine, mine)}
            form.update(dict.fromkeys(alone, Q(0)))  # in the mean nothing but later gradients goes along with it
            form[mine, mine] += cost
        for u, v, value in unheard:
            early, late = (int(x[1:]) if re.fullmatch("[vn][0-9]{1,6}", x) else 0 for x in (u, v))
            of_it = v in {f"n{j + 1}" for j in range(len(row))} and u != v and (u[0] == "n" or early <= late)
            need(of_it, f"{v!r:.60} goes along with {u!r:.60}")
            form[u, v] = form[v, u] = number(value)
    if noisy:
        added = sum(noises[0], Q(0)) / N + sum(noises[1], Q(0)) * Q(N - 1, N)
        need(added <= noise_floor * (1 - rho), "noise leaves more than is claimed")
    for block, form in zip(proof["blocks"], forms, strict=True):
        squares(block, form)
    begun = 2 if drawn(claim) and claim["method"] == "fedinit" else 1  # the last models are the first one
    distance = sum((number(x) for row in proof["means"][:begun] for x in row[:begun]), potential * L / 2)
    dissimilarity = number(proof["apart"][0][0]) if claim["method"] == "scaffold" else Q(0)  # controls begin with 0
    need(distance <= start_distance, "the start counts for more than is claimed")
    need(dissimilarity <= start_dissimilarity, "heterogeneity at the start counts for more than is claimed")


def remaining(claim: Any, after: Any) -> Q:
    """What ``V_next <= contraction V + (1 - contraction) floors`` leaves after so many rounds from such a start."""
    rounds, begun = after["rounds"], [number(after[word]) for word in BEGUN]
    need(type(rounds) is int and rounds >= 0, "rounds are a whole number")
    need(min(begun) >= 0, "a squared length is negative")
    need(claim["noise_floor"] is not None or begun[2] == 0, "nothing is proved of noise")
    rho = Q(claim["contraction"])
    many = min(20_000, 2**20 // rho.denominator.bit_length())  # fewer rounds leave more of the start
    past = rho ** min(rounds, many)
    first = Q(claim["start_distance"]) * begun[0] + Q(claim["start_dissimilarity"]) * begun[1]
    last = Q(claim["floor"]) * begun[1] + Q(claim["noise_floor"] or 0) * begun[2]
    return past * first + (1 if rounds > many else 1 - past) * last


# ---- in words ----


def rounded(text: str, digits: int = 10, *, up: bool = True) -> str:
    """A number in so many digits, rounded to the side on which what is said stays true."""
    x = Q(text)
    unit = Q(10) ** (int(f"{float(x):.{digits - 1}e}".partition("e")[2]) - digits + 1)  # of the last digit
    return f"{float((-(-x // unit) if up else x // unit) * unit):.{digits}g}"


def said(proof: Any) -> str:
    """The claim in words."""
    return _rate_in_words(proof) if proof.get("kind") == RATE else _worst_case_in_words(proof)


def _worst_case_in_words(certificate: Any) -> str:
    claim = certificate["claim"]
    p = f" with {claim['parameter']}" if claim["method"] in ("fedprox", "fedinit") else ""
    mu, size = claim["strong_convexity"], claim["step_size"]
    kind = f"{claim['smoothness']}-smooth" + ("" if mu is None else f", {mu}-strongly convex")
    given = ", ".join(f"{word} {x}{LATE.get(word, '')}" for word, x in claim["given"].items())
    of = size if isinstance(size, str) else ", ".join(map(str, size))
    begin = {"scaffold": ", controls that begin with 0", "fedinit": ", clients that begin at the server's model"}
    lower = ""
    if "attained" in certificate:
        visited = any(GIVEN[word] for word in claim["given"]) or mu is None
        held = ", what is assumed of all models being met at those visited" if visited else ""
        lower = f"; attained by two clients{held}: {rounded(certificate['attained']['value'], up=False)}"
    return (
        f"{claim['metric']} ({claim['statistic']} over {claim['over']}) <= {rounded(certificate['bound'])} after "
        f"rounds of {claim['local_steps']} steps of {of} by {claim['method']}{p}, any number of {kind} "
        f"clients of the same weight that all take part{begin.get(claim['method'], '')}, {given}{lower}"
    )


def _rate_in_words(proof: Any) -> str:
    c, above = proof["claim"], partial(rounded, digits=6)
    p = f" with {c['parameter']}" if Q(c["parameter"]) else ""
    bound = f"{above(c['contraction'])}^T ({above(c['start_distance'])} |w_0 - w*|^2"
    bound += f" + {above(c['start_dissimilarity'])} zeta^2)" if Q(c["start_dissimilarity"]) else ")"
    bound += f" + {above(c['floor'])} zeta^2" if Q(c["floor"]) else ""
    noisy, mean = c["noise_floor"] is not None, c["noise_floor"] is not None or c["cohort"]
    who = f"{c['cohort']} drawn every round" if c["cohort"] else "all taking part"
    bound += f" + {above(c['noise_floor'])} sigma^2" if noisy and Q(c["noise_floor"]) else ""
    gradients = "gradients with independent noise of mean 0 and variance at most sigma^2" if noisy else "full gradients"
    begin = {"scaffold": ", controls that begin with 0", "fedinit": ", clients that begin at w_0",
             "fedavgm": ", no velocity before", "fedcm": ", no direction before"}  # fmt: skip
    return (
        f"{'E' if mean else ''}|w_T - w*|^2 <= {bound} after every number T of rounds of {c['local_steps']} steps of "
        f"{c['step_size']} by {c['method']}{p}, {c['clients'] or 'any number of'} {c['smoothness']}-smooth, "
        f"{c['strong_convexity']}-strongly convex clients, {who} and weighing the same, "
        f"{gradients}{begin.get(c['method'], '')}; w* minimises the mean of their losses, "
        f"zeta^2 is their mean squared gradient there{_later(proof)}"
    )


def _later(proof: Any) -> str:
    """What is claimed of a number of rounds, in words."""
    if "after" not in proof:
        return ""
    after = proof["after"]
    noise = f", sigma^2 {after['gradient_variance']}" if Q(after["gradient_variance"]) else ""
    return (
        f"; from |w_0 - w*|^2 {after['initial_distance_sq']}, zeta^2 {after['optimum_dissimilarity']}{noise} at most "
        f"{rounded(after['bound'], 6)} after {after['rounds']} rounds"
    )


# ---- files ----


def check(proof: Any) -> None:
    """Raise ``Refused`` unless the file proves what it claims."""
    kind = proof.get("kind", WORST_CASE)
    need(kind in (WORST_CASE, RATE), f"a proof is of the kind {WORST_CASE} or {RATE}; got {kind!r:.60}")
    named(proof, FILE[kind], f"a proof of a {kind}", ("kind", "attained" if kind == WORST_CASE else "after"))
    above_them = [proof[word] for word in ("above_distance", "above_nothing") if kind == RATE]
    largest = max(len(block[word]) for block in (*proof["blocks"], *above_them) for word in BLOCK - {"bits"})
    need(largest <= MOST_VECTORS, f"a factor is of at most {MOST_VECTORS} vectors")
    if kind == RATE:
        check_rate(proof)
    else:
        check_worst_case(proof)


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
    need(data.count(b"\n") <= MOST_PROOFS, f"a file has at most {MOST_PROOFS} lines")
    return data.splitlines() if file.endswith(".xz") else [data]


def read(file: str) -> list[Any]:
    """The proofs of a file."""
    return [loads(line) for line in lines(file)]


def judged(line: bytes) -> str:
    """The proof in words; raises one of ``KNOWN`` where it is none."""
    proof = loads(line)
    check(proof)
    return said(proof)


def main(files: list[str]) -> int:
    tried = accepted = 0
    begun = time.perf_counter()
    for file in files:
        try:
            found: list[Any] = lines(file) or [Refused("no proofs")]
        except KNOWN as error:
            found = [error]
        for place, line in enumerate(found, 1):
            tried += 1
            name = f"{file}:{place}" if isinstance(line, bytes) and file.endswith(".xz") else file
            try:
                if not isinstance(line, bytes):
                    raise line
                verdict = f"proved: {judged(line)}"
                accepted += 1
            except KNOWN as error:
                why = str(error) if isinstance(error, (Refused, OSError)) else f"{type(error).__name__}: {error}"
                verdict = f"REFUSED: {why}"
            one_line = "".join(c if c.isprintable() else "?" for c in f"{name}: {verdict}")
            print(one_line.encode("ascii", "backslashreplace").decode(), flush=True)
    if not files:
        print("REFUSED: no files: python verify.py FILE ...")
    elif tried > 1:
        print(f"{tried} proofs, {accepted} accepted, {time.perf_counter() - begun:.0f} seconds")
    return 0 if tried == accepted > 0 else 1


if __name__ == "__main__":
    if hasattr(signal, "SIGPIPE"):  # who reads the first lines alone (| head) has read enough
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
