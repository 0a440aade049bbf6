"""Check certificates: ``python verify.py FILE ...`` needs Python's standard library, and nothing of fedbounds.

A certificate proves ``metric <= bound`` for every federation of its class: any number of clients that all take part,
with full gradients. It holds multipliers >= 0 of inequalities that every such federation meets. Here the method is
played in fractions and the inequalities are added up; what is then left above the metric must be a sum of squares,
``S = D (T T' / 4^bits + E) D`` with integers T, powers of two D and E diagonally dominant.

A vector that every client has is a pair: its mean over the clients and each client's deviation from the mean, as sums
of unknown vectors. The mean over clients of ``<u, v>`` is that of the means plus the mean of that of the deviations.
"""

import json
import lzma
import re
import sys
from collections import defaultdict
from fractions import Fraction as Q
from functools import cache
from itertools import permutations
from math import lcm
from operator import mul
from pathlib import Path
from typing import Any

Part = dict[str, Q]
Vector = tuple[Part, Part]
ZERO: Vector = ({}, {})
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
IN_ROUNDS = {"divergence", "local_drift", "global_step", "loss_change", "mean_gradient_drift"}
"""Metrics that have one number in every round."""
CLAIM = {"method", "parameter", "local_steps", "step_size", "smoothness", "strong_convexity", "given", "metric",
         "statistic", "over"}  # fmt: skip
FILE = {"claim", "bound", "change", "near", "weights", "unit", "multipliers", "blocks", "attained"}
"""The names in a file: what nobody reads would claim something that nobody checks."""
NUMBER = re.compile(r"[+-]?[0-9]+(/[0-9]+|(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?)")
MOST = 10_000
"""Binary digits of a power of two, and local steps of a run: beyond it nothing is computed."""


class Refused(Exception):
    """Why a file does not prove what it claims."""


def need(truth: bool, why: str) -> None:
    if not truth:
        raise Refused(why)


def number(said: Any) -> Q:
    """A whole number, or one that is written as text: a float is not what is written."""
    if type(said) is not int and not (isinstance(said, str) and NUMBER.fullmatch(said)):
        raise Refused(f"a number is a whole one or a text such as 3/10; got {said!r:.60}")
    return Q(said)


def power(said: Any) -> int:
    """The number of binary digits of a unit."""
    need(type(said) is int and 0 <= said <= MOST, f"bits must be a whole number from 0 to {MOST}")
    return 2 ** int(said)


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


def step_sizes(claim: Any) -> list[Q]:
    """Of every local step of the run: one number for all, or one for each."""
    said, count = claim["step_size"], sum(claim["local_steps"])
    need(isinstance(said, (str, list)), "a step size is a text, those of all local steps are a list")
    sizes = [number(said)] * count if isinstance(said, str) else [number(x) for x in said]
    need(len(sizes) == count and all(x > 0 for x in sizes), "every local step needs a step size > 0")
    return sizes


def play(claim: Any, w: Vector, gradient: Any) -> tuple[list[list[Vector]], list[Vector]]:
    """Round by round, the clients' models before every local step and after the last one, and the server models."""
    rounds = claim["local_steps"]
    need(isinstance(rounds, list) and len(rounds) > 0, "local steps are a list, a whole number for every round")
    need(all(type(steps) is int and steps > 0 for steps in rounds), "every round has local steps")
    need(sum(rounds) <= MOST, f"a run has at most {MOST} local steps")
    method, p, sizes = claim["method"], number(claim["parameter"]), iter(step_sizes(claim))
    need(method in ("fedavg", "fedprox", "fedinit", "scaffold"), f"the method {method} is not known here")
    need(p >= 0 and (p == 0 or method in ("fedprox", "fedinit")), f"{method} has no parameter {p}")
    last, own, shared = w, ZERO, ZERO
    paths: list[list[Vector]] = []
    servers = [w]
    for steps in rounds:
        path, length = [combine((1 + p, w), (-p, last)) if method == "fedinit" else w], Q(0)
        for _ in range(steps):
            eta = next(sizes)
            length += eta
            way: list[tuple[Any, Vector]] = [(1, gradient(path[-1]))]
            way += [(p, path[-1]), (-p, w)] if method == "fedprox" else []
            way += [(-1, own), (1, shared)] if method == "scaffold" else []
            path.append(combine((1, path[-1]), *((-eta * c, v) for c, v in way)))
        if method == "scaffold":
            change = combine((1 / length, path[0]), (-1 / length, path[-1]), (-1, shared))
            own, shared = combine((1, own), (1, change)), combine((1, shared), (1, average(change)))
        last, w = path[-1], average(path[-1])
        paths.append(path)
        servers.append(w)
    return paths, servers


class Game:
    """The claim's run, and sums of inequalities over it: inner products of named vectors, function values by place.

    The minimiser is the origin and values are 0 there; without one, that is the start. A gradient is the first one plus
    changes, each a new unknown vector; at other models it is one of these plus a change, as the file says.
    """

    def __init__(self, certificate: Any) -> None:
        claim = certificate["claim"]
        need(set(claim) == CLAIM, f"a claim says {', '.join(sorted(CLAIM))}, each and nothing else")
        self.claim, self.step, self.near = claim, number(certificate["change"]), certificate["near"]
        self.given = {word: number(x) for word, x in claim["given"].items()}
        self.convex = claim["strong_convexity"] is not None
        self.L = number(claim["smoothness"])
        self.mu = number(claim["strong_convexity"]) if self.convex else -self.L
        need(self.step != 0, "gradients that do not change are not all there are")
        need(set(self.given) <= set(GIVEN), f"not known here: {', '.join(sorted(set(self.given) - set(GIVEN)))}")
        without = sorted(OF_A_MINIMISER & set(self.given)) if not self.convex else []
        need(not without, f"without convexity there is no minimiser for {', '.join(without)} to speak of")
        needs_offset = "dissimilarity_factor" in self.given and "dissimilarity_offset" not in self.given
        need(not needs_offset, "a factor of dissimilarity needs its offset")
        over = claim["over"]
        need(over in ("rounds", "iterations"), "the metric is over rounds or iterations")
        need(over == "rounds" or claim["metric"] not in IN_ROUNDS, f"{claim['metric']} is over rounds")
        need(over == "iterations" or claim["metric"] != "consensus_distance", "consensus_distance is over iterations")
        need(self.L > 0 and self.mu < self.L and (self.mu >= 0 or not self.convex), "there are no such functions")
        self.points: dict[str, Vector] = {}
        self.gradients: dict[str, Vector] = {}
        self.clear()
        if self.convex:
            self.place("*", ZERO, ({}, {"*": Q(1)}))
        start = ({"start": Q(1)}, {}) if self.convex else ZERO
        self.paths, self.servers = play(claim, start, self.ask)
        self.averages = [average(x) for path in self.paths for x in path[:-1]] + [self.servers[-1]]
        self.models = {f"w{i}": x for i, x in enumerate(self.servers)}
        self.models |= {f"v{i}": x for i, x in enumerate(self.averages)}
        self.models["mean"] = combine(*((Q(1, len(self.averages) - 1), x) for x in self.averages[:-1]))

    def clear(self) -> None:
        self.values: dict[str, Q] = defaultdict(Q)
        self.products: dict[Any, Q] = defaultdict(Q)

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

    # ---- what is added up ----

    def product(self, c: Q, left: Any, right: Any) -> None:
        """Adds ``c <left, right>``, both sums of coefficients times vectors ``(kind, name)``."""
        for a, u in left:
            for b, v in right:
                self.products[u, v] += c * a * b

    def square(self, c: Q, *terms: Any) -> None:
        self.product(c, terms, terms)

    def value(self, c: Q, name: str) -> None:
        """Adds ``c (F(name) - F*)``."""
        self.values[self.at(name)] += c
        self.values["floor"] -= Q(0) if self.convex else c

    def vector(self, kind: str, name: Any) -> Vector:
        """``x``: where functions are evaluated, ``g``: their gradients there, ``G``: the mean of them; ``m``: a model,
        ``p``: the clients' local models."""
        if kind == "p":
            return self.paths[name[0]][name[1]]
        found = {"x": self.points, "g": self.gradients, "G": self.gradients, "m": self.models}[kind][name]
        return average(found) if kind == "G" else found

    def inequality(self, c: Q, kind: str, names: Any) -> Q:
        """Adds c times the left side of ``left side <= right side``, and returns c times the right side."""
        L, mu, given, last = self.L, self.mu, self.given, len(self.servers) - 2
        if kind == "class":  # smooth, of curvature at least mu: Taylor, Hendrickx and Glineur 2017, Theorem 4
            a, b = map(self.at, names)
            (x, y), (g, h) = (("x", a), ("x", b)), (("g", a), ("g", b))
            self.values[b] += c
            self.values[a] -= c
            self.product(c, [(1, h)], [(1, x), (-1, y)])
            self.square(c * mu / 2, (1, x), (-1, y))
            self.square(c / (2 * (L - mu)), (1, g), (-1, h), (-mu, x), (mu, y))
            return Q(0)
        if kind == "lower":  # inf F is below what a step of 1/L from a model reaches
            need(not self.convex, "F has a minimiser: nothing else is below it")
            self.square(c / (2 * L), (1, ("G", self.shared(names[0]))))
            self.value(-c, names[0])
            return Q(0)
        need(kind in given, f"nothing is assumed of {kind}")
        if kind == "pl_constant":
            self.square(-c, (1, ("G", self.shared(names[0]))))
            self.value(2 * c * given[kind], names[0])
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
            name = self.shared(names[0])
            self.square(c, (1, ("g", name)))
            self.square(-c * given.get("dissimilarity_factor", Q(1)), (1, ("G", name)))
        elif kind == "uniform_dissimilarity":
            self.square(c, (1, ("g", self.shared(names[0]))), (-1, ("G", self.shared(names[0]))))
        elif kind == "grad_cap_sq":
            need(names[0][0] == "g", "only gradients of local steps are capped")
            self.square(c, (1, ("g", self.at(names[0]))))
        elif kind == "grad_norm_sq":  # this and the next two: where the last round, or iteration, begins
            self.square(c, (1, ("G", self.at(f"w{last}"))))
        elif kind == "distance_sq":
            self.square(c, (1, ("m", f"v{len(self.averages) - 2}")))
        elif kind == "divergence":
            self.apart(c, last)
        else:
            raise Refused(f"the assumption {kind} is not known here")
        return c * given[kind]

    def apart(self, c: Q, i: int) -> None:
        """Adds c times the clients' divergence after i rounds."""
        if i:
            self.square(c, (1, ("p", (i - 1, -1))), (-1, ("m", f"w{i}")))

    # ---- the metric ----

    def counted(self) -> list[int]:
        """The server models, rounds or iterations that the claim's statistic looks at."""
        metric, kind, iterated = self.claim["metric"], self.claim["statistic"], self.claim["over"] == "iterations"
        rounds, steps = len(self.servers) - 1, len(self.averages) - 1
        if metric in ("mean_gap", "average_gap", "weighted_grad_norm_sq"):  # one number of a whole run
            need(kind == "whole", f"{metric} is one number of a whole run")
            return [0]
        if metric in ("local_drift", "global_step", "loss_change", "mean_gradient_drift"):  # one of every round
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
        word, sizes = self.claim["metric"], step_sizes(self.claim)
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
                self.square(c * sizes[j], (1, ("G", self.at(f"v{j}"))))
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
            raise Refused(f"the metric {word} is not known here")


def check(certificate: Any) -> None:
    """Raise ``Refused`` unless the certificate proves its claim, and its federation attains what it says."""
    unknown = sorted(set(certificate) - FILE)
    need(not unknown, f"what nobody reads: {', '.join(unknown)}")
    game = Game(certificate)
    bound, unit = Q(0), number(certificate["unit"])
    for kind, *names, said in certificate["multipliers"]:
        multiplier = number(said) * (unit if isinstance(said, int) else 1)
        need(multiplier >= 0, f"the multiplier of {kind} {names} is negative")
        bound += game.inequality(multiplier, kind, names)
    need(bound <= number(certificate["bound"]), f"the multipliers prove {float(bound):.12g} only")

    weights = {int(i): number(x) for i, x in certificate["weights"].items()}
    counted = game.counted()
    need(sum(weights.values()) == 1 and min(weights.values()) >= 0, "the weights of the metric are no average")
    need(set(weights) <= set(counted), "the metric is taken where the claim does not speak of it")
    if game.claim["statistic"] == "mean":
        need(all(weights.get(i) == Q(1, len(counted)) for i in counted), "a mean has equal weights")
    for i, weight in weights.items():
        game.metric(-weight, i)

    zero = "*" if game.convex else game.at("w0")
    left = [name for name, x in game.values.items() if x and name != zero]
    need(not left, f"function values are left over: {', '.join(left)}")
    for block in (0, 1):
        squares(certificate["blocks"][block], summed(game, block))
    if "attained" in certificate:
        attained = certificate["attained"]
        need(reached(certificate) >= number(attained["value"]), "the federation does not attain what is said")


def reached(certificate: Any) -> Q:
    """The metric of the certificate's federation; ``Refused`` unless it meets every inequality of the claim.

    Its points, gradients and values are numbers: those of two clients, at their mean plus and minus the deviation.
    """
    game = Game(certificate)
    held = certificate["attained"]
    unit, vectors = Q(1, power(held["bits"])), held["vectors"]
    sizes = held["dimensions"]
    need(all(type(n) is int and 0 <= n <= len(vectors) for n in sizes), "there are no more dimensions than vectors")
    values = {name: number(x) for name, x in held["values"].items()} | {"*" if game.convex else game.at("w0"): Q(0)}
    numbers: dict[Any, tuple[list[list[int]], int]] = {}

    def coordinates(key: Any) -> tuple[list[list[int]], int]:
        if key not in numbers:
            parts = game.vector(*key)
            whole = lcm(*(x.denominator for part in parts for x in part.values()))
            found = []
            for b, part in enumerate(parts):
                rows = [(int(x * whole), vectors[name][b]) for name, x in part.items() if name in vectors]
                found.append([sum(x * row[d] for x, row in rows if d < len(row)) for d in range(sizes[b])])
            numbers[key] = found, whole
        return numbers[key]

    @cache
    def inner(u: Any, v: Any) -> Q:
        (one, m), (other, n) = coordinates(u), coordinates(v)
        return Q(sum(sum(map(mul, a, b)) for a, b in zip(one, other, strict=True)), m * n) * unit**2

    def total() -> Q:
        """What has been added up, at the federation's numbers; and from 0 on."""
        missing = [name for name, c in game.values.items() if c and name not in values]
        need(not missing, f"the federation has no value at {', '.join(missing)}")
        found = sum((c * values[name] for name, c in game.values.items() if c), Q(0))
        found += sum((c * inner(u, v) for (u, v), c in game.products.items() if c), Q(0))
        game.clear()
        return found

    read = []
    for i in game.counted():
        game.metric(Q(1), i)
        read.append(total())
    required: list[tuple[str, tuple[str, ...]]] = []
    everywhere = {"dissimilarity_offset", "uniform_dissimilarity", "pl_constant"}
    if everywhere & set(game.given) or "floor" in values:
        for i in range(len(game.servers)):
            game.at(f"w{i}")
    for word in game.given:
        if word in everywhere:
            required += [(word, (n,)) for n, x in game.points.items() if x[1] == {} and n != "own"]
        elif word == "grad_cap_sq":
            required += [(word, (n,)) for n in game.points if n[0] == "g"]
        elif word != "dissimilarity_factor":
            required.append((word, ()))
    if "floor" in values:
        required += [("lower", (n,)) for n, x in game.points.items() if x[1] == {}]
    for kind, names in required:
        limit = game.inequality(Q(1), kind, names)
        need(total() <= limit, f"the federation breaks {kind} {' '.join(names)}")
    for pair in permutations(list(game.points), 2):
        game.inequality(Q(1), "class", pair)
        need(total() <= 0, f"the federation is not of the class: {' '.join(pair)}")
    kind = game.claim["statistic"]
    return min(read) if kind == "min" else sum(read, Q(0)) / len(read)


def summed(game: Game, block: int) -> dict[tuple[str, str], Q]:
    """The matrix of a block: unknown vectors' inner products by their names."""
    found: dict[tuple[str, str], Q] = defaultdict(Q)
    right: Any = defaultdict(lambda: defaultdict(Q))
    for (u, v), c in game.products.items():
        for name, x in game.vector(*v)[block].items():
            right[u][name] += c * x
    for u, row in right.items():
        for one, x in game.vector(*u)[block].items():
            for other, y in row.items():
                found[one, other] += x * y / 2
                found[other, one] += x * y / 2
    return found


def squares(block: Any, matrix: dict[tuple[str, str], Q]) -> None:
    """Whether a symmetric matrix is a sum of squares, by its integer factor."""
    names, scale, factor, bits = block["vectors"], block["scale"], block["factor"], block["bits"]
    place = {name: i for i, name in enumerate(names)}
    need(all(a in place for (a, _), x in matrix.items() if x), "a vector is missing from the factor")
    need(len(names) == len(scale) == len(factor) == len(place), "the factor has another size")
    whole = all(type(x) is int for x in (bits, *scale, *(x for row in factor for x in row)))
    need(whole and bits >= 0, "the factor is not of integers")
    need(max(bits, *map(abs, scale), 0) <= MOST, f"no power of two here has more than {MOST} binary digits")
    for i, a in enumerate(names):
        apart = []
        for j, b in enumerate(names):
            both = sum(x * y for x, y in zip(factor[i], factor[j], strict=False))
            apart.append(matrix.get((a, b), Q(0)) / Q(2) ** (scale[i] + scale[j]) - Q(both, 4**bits))
        need(apart[i] >= sum(abs(x) for x in apart[:i] + apart[i + 1 :]), f"no sum of squares: row {a}")


def said(certificate: Any) -> str:
    """The claim in words."""
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


def rounded(text: str, up: bool = True) -> str:
    """A number in ten digits, rounded to the side on which what is said stays true."""
    x = Q(text)
    unit = Q(10) ** (int(f"{float(x):.9e}".partition("e")[2]) - 9)  # of the tenth digit
    return f"{float((-(-x // unit) if up else x // unit) * unit):.10g}"


def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of a file: whoever reads it sees the same one."""
    need(len(dict(pairs)) == len(pairs), "an object has a name twice")
    return dict(pairs)


def inexact(text: str) -> Any:
    raise Refused(f"{text:.60} is a float: write it as text")


def loads(text: str) -> Any:
    return json.loads(text, object_pairs_hook=once, parse_float=inexact, parse_constant=inexact)


def read(file: str) -> list[Any]:
    """The certificates of a file: one, or those of an archive (``.xz``), line by line."""
    if not file.endswith(".xz"):
        return [loads(Path(file).read_text(encoding="utf-8"))]
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        return [loads(line) for line in lines]


def why(error: BaseException) -> str:
    """A refusal in one line; what is no certificate at all has the words of what Python stumbled over."""
    said = str(error) if isinstance(error, (Refused, OSError)) else f"{type(error).__name__}: {error}"
    return "".join(c if c.isprintable() else "?" for c in said)


def main(files: list[str]) -> int:
    failed = 0
    known = (Refused, ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError, RecursionError,
             StopIteration, TypeError, ValueError, lzma.LZMAError)  # fmt: skip
    if not files:
        print("REFUSED: no files: python verify.py FILE ...")
        return 1
    for file in files:
        try:
            certificates = read(file)
            need(bool(certificates), "no certificates")
        except known as error:
            failed += 1
            print(f"{file}: REFUSED: {why(error)}")
            continue
        for place, certificate in enumerate(certificates, 1):
            name = f"{file}:{place}" if file.endswith(".xz") else file
            try:
                check(certificate)
                proved = said(certificate)
            except known as error:
                failed += 1
                print(f"{name}: REFUSED: {why(error)}")
            else:
                print(f"{name}: proved: {proved}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
