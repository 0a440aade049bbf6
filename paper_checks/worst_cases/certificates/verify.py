"""Check certificates: ``python verify.py FILE ...`` needs Python's standard library, and nothing of fedbounds.

A certificate proves ``metric <= bound`` for every federation of its class: any number of clients that all take part,
with full gradients. It holds multipliers >= 0 of inequalities that every such federation meets. Here the method is
played in fractions and the inequalities are added up; what is then left above the metric must be a sum of squares,
``S = D (T T' / 4^bits + E) D`` with integers T, powers of two D and E diagonally dominant.

A vector that every client has is a pair: its mean over the clients and each client's deviation from the mean, as sums
of unknown vectors. The mean over clients of ``<u, v>`` is that of the means plus the mean of that of the deviations.
"""

import json
import sys
from collections import defaultdict
from fractions import Fraction as Q
from pathlib import Path
from typing import Any

Part = dict[str, Q]
Vector = tuple[Part, Part]
ZERO: Vector = ({}, {})


class Refused(Exception):
    """Why a file does not prove what it claims."""


def need(truth: bool, why: str) -> None:
    if not truth:
        raise Refused(why)


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


def play(claim: Any, w: Vector, gradient: Any) -> tuple[list[list[Vector]], list[Vector]]:
    """Round by round, the clients' models before every local step and after the last one, and the server models."""
    method, p, eta = claim["method"], Q(claim["parameter"]), Q(claim["step_size"])
    need(method in ("fedavg", "fedprox", "fedinit", "scaffold"), f"the method {method} is not known here")
    last, own, shared = w, ZERO, ZERO
    paths: list[list[Vector]] = []
    servers = [w]
    for steps in claim["local_steps"]:
        path = [combine((1 + p, w), (-p, last)) if method == "fedinit" else w]
        for _ in range(steps):
            way: list[tuple[Any, Vector]] = [(1, gradient(path[-1]))]
            way += [(p, path[-1]), (-p, w)] if method == "fedprox" else []
            way += [(-1, own), (1, shared)] if method == "scaffold" else []
            path.append(combine((1, path[-1]), *((-eta * c, v) for c, v in way)))
        if method == "scaffold":
            change = combine((1 / (steps * eta), path[0]), (-1 / (steps * eta), path[-1]), (-1, shared))
            own, shared = combine((1, own), (1, change)), combine((1, shared), (1, average(change)))
        last, w = path[-1], average(path[-1])
        paths.append(path)
        servers.append(w)
    return paths, servers


def check(certificate: Any) -> None:
    """Raise ``Refused`` unless the certificate proves its claim."""
    claim, given = certificate["claim"], {word: Q(x) for word, x in certificate["claim"]["given"].items()}
    L, convex = Q(claim["smoothness"]), claim["strong_convexity"] is not None
    mu, step = Q(claim["strong_convexity"]) if convex else -L, Q(certificate["change"])
    need(L > 0 and mu < L and (mu >= 0 or not convex), "there are no such functions")
    points: dict[str, Vector] = {}
    gradients: dict[str, Vector] = {}
    values: dict[str, Q] = defaultdict(Q)
    products: dict[Any, Q] = defaultdict(Q)

    def place(name: str, point: Vector, gradient: Vector) -> Vector:
        points[name], gradients[name] = point, gradient
        return gradient

    def ask(point: Vector) -> Vector:
        """A gradient as the first one plus changes; where the point is known, the gradient there."""
        same = next((name for name in points if name != "*" and points[name] == point), None)
        number = 1 + sum(name[0] == "g" for name in points)
        own = {f"g{i}": step if i > 1 else Q(1) for i in range(1, number + 1)}
        return gradients[same] if same else place(f"g{number}", point, (own, own))

    # the minimiser is the origin and values are 0 there; without one, that is the start
    start = ({"start": Q(1)}, {}) if convex else ZERO
    if convex:
        place("*", ZERO, ({}, {"*": Q(1)}))
    paths, servers = play(claim, start, ask)
    averages = [average(x) for path in paths for x in path[:-1]] + [servers[-1]]
    models = {f"w{i}": x for i, x in enumerate(servers)} | {f"v{i}": x for i, x in enumerate(averages)}
    models["mean"] = combine(*((Q(1, len(averages) - 1), x) for x in averages[:-1]))

    def at(name: str) -> str:
        """The functions at a model, at the minimiser of all (``*``) or at their own (``own``)."""
        if name == "own" and convex and name not in points:
            place(name, ({"own": Q(1)}, {"own": Q(1)}), ZERO)
        need(name in points or name in models, f"{name} is no model of this run")
        if name not in points:
            same = next((n for n in points if n not in ("*", "own") and points[n] == models[name]), None)
            if same:
                return same
            place(name, models[name], ({name: Q(1)}, {name: Q(1)}))
        return name

    def shared(name: str) -> str:
        need(points[at(name)][1] == {} and name != "own", f"at {name} clients are at models of their own")
        return at(name)

    def product(c: Q, left: Any, right: Any) -> None:
        """Adds ``c <left, right>``, both sums of coefficients times vectors ``(kind, name)``."""
        for a, u in left:
            for b, v in right:
                products[u, v] += c * a * b

    def square(c: Q, *terms: Any) -> None:
        product(c, terms, terms)

    def value(c: Q, name: str) -> None:
        """Adds ``c (F(name) - F*)``."""
        values[at(name)] += c
        values["floor"] -= Q(0) if convex else c

    def the_metric(c: Q, word: str, i: int) -> None:
        """Adds c times the metric at server model, round or iteration i (by its statistic)."""
        model = f"{'v' if claim['over'] == 'iterations' else 'w'}{i}"
        if word == "distance_sq":
            need(convex, "without convexity there is no minimiser to be away from")
            square(c, (1, ("m", model)))
        elif word == "optimality_gap":
            value(c, model)
        elif word == "grad_norm_sq":
            square(c, (1, ("G", at(model))))
        elif word == "divergence":
            square(c, (1, ("end", i - 1)), (-1, ("m", f"w{i}")))
        elif word == "average_gap":
            value(c, "mean")
        elif word == "mean_gap":
            for j in range(1, len(averages)):
                value(c / (len(averages) - 1), f"v{j}")
        elif word == "global_step":
            square(c, (1, ("m", f"w{i}")), (-1, ("m", f"w{i - 1}")))
        elif word == "loss_change":
            value(c, f"w{i}")
            value(-c, f"w{i - 1}")
        else:
            raise Refused(f"the metric {word} is not known here")

    # ---- what is added up: multiplier times (left side <= right side) ----

    bound = Q(0)
    for kind, *names, multiplier in certificate["multipliers"]:
        c = Q(multiplier)
        need(c >= 0, f"the multiplier of {kind} {names} is negative")
        if kind == "class":  # smooth, of curvature at least mu: Taylor, Hendrickx and Glineur 2017, Theorem 4
            a, b = map(at, names)
            (x, y), (g, h) = (("x", a), ("x", b)), (("g", a), ("g", b))
            values[b] += c
            values[a] -= c
            product(c, [(1, h)], [(1, x), (-1, y)])
            square(c * mu / 2, (1, x), (-1, y))
            square(c / (2 * (L - mu)), (1, g), (-1, h), (-mu, x), (mu, y))
            continue
        if kind == "lower":  # inf F is below what a step of 1/L from a model reaches
            need(not convex, "F has a minimiser: nothing else is below it")
            square(c / (2 * L), (1, ("G", shared(names[0]))))
            value(-c, names[0])
            continue
        need(kind in given, f"nothing is assumed of {kind}")
        if kind == "initial_distance_sq":
            square(c, (1, ("m", "w0")))
        elif kind == "initial_gap":
            value(c, "w0")
        elif kind == "optimum_dissimilarity":
            square(c, (1, ("g", "*")))
        elif kind == "heterogeneity":
            value(-c, "own")
        elif kind == "dissimilarity_offset":
            name = shared(names[0])
            square(c, (1, ("g", name)))
            square(-c * given.get("dissimilarity_factor", Q(1)), (1, ("G", name)))
        elif kind == "uniform_dissimilarity":
            square(c, (1, ("g", shared(names[0]))), (-1, ("G", shared(names[0]))))
        elif kind == "grad_cap_sq":
            need(names[0][0] == "g", "only gradients of local steps are capped")
            square(c, (1, ("g", at(names[0]))))
        elif kind == "pl_constant":
            square(-c, (1, ("G", shared(names[0]))))
            value(2 * c * given[kind], names[0])
            continue
        elif kind in ("grad_norm_sq", "divergence", "distance_sq"):  # where the last round, or iteration, begins
            last = len(servers) - 2
            if kind == "grad_norm_sq":
                square(c, (1, ("G", at(f"w{last}"))))
            elif kind == "distance_sq":
                square(c, (1, ("m", f"v{len(averages) - 2}")))
            elif last:
                square(c, (1, ("end", last - 1)), (-1, ("m", f"w{last}")))
        else:
            raise Refused(f"the assumption {kind} is not known here")
        bound += c * given[kind]
    need(bound <= Q(certificate["bound"]), f"the multipliers prove {float(bound):.12g} only")

    several = averages if claim["over"] == "iterations" else servers
    many = len(several) - (0 if claim["statistic"] == "min" and claim["over"] == "iterations" else 1)
    weights = {int(i): Q(x) for i, x in certificate["weights"].items()}
    counted = [len(several) - 1] if claim["statistic"] == "last" else list(range(many))
    if claim["metric"] in ("mean_gap", "average_gap"):  # one number of a whole run
        counted = [0]
    need(sum(weights.values()) == 1 and min(weights.values()) >= 0, "the weights of the metric are no average")
    need(set(weights) <= set(counted), "the metric is taken where the claim does not speak of it")
    if claim["statistic"] == "mean":
        need(all(weights.get(i) == Q(1, many) for i in counted), "a mean has equal weights")
    for i, weight in weights.items():
        the_metric(-weight, claim["metric"], i)

    zero = "*" if convex else at("w0")
    left = [name for name, x in values.items() if x and name != zero]
    need(not left, f"function values are left over: {', '.join(left)}")
    for block in (0, 1):
        squares(certificate["blocks"][block], summed(products, points, gradients, models, paths, block))


def summed(products: Any, points: Any, gradients: Any, models: Any, paths: Any, block: int) -> dict[tuple[str, str], Q]:
    """The matrix of a block: unknown vectors' inner products by their names."""
    means = {name: average(g) for name, g in gradients.items()}
    of = {"x": points, "g": gradients, "G": means, "m": models, "end": {i: path[-1] for i, path in enumerate(paths)}}
    found: dict[tuple[str, str], Q] = defaultdict(Q)
    right: Any = defaultdict(lambda: defaultdict(Q))
    for (u, v), c in products.items():
        for name, x in of[v[0]][v[1]][block].items():
            right[u][name] += c * x
    for u, row in right.items():
        for one, x in of[u[0]][u[1]][block].items():
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
    mu = claim["strong_convexity"]
    kind = f"{claim['smoothness']}-smooth" + ("" if mu is None else f", {mu}-strongly convex")
    given = ", ".join(f"{word} {x}" for word, x in claim["given"].items())
    return (
        f"{claim['metric']} ({claim['statistic']} over {claim['over']}) <= {float(Q(certificate['bound'])):.10g} after "
        f"rounds of {claim['local_steps']} steps of {claim['step_size']} by {claim['method']}{p}, any number of {kind} "
        f"clients, {given}"
    )


def main(files: list[str]) -> int:
    failed = 0
    for file in files:
        try:
            certificate = json.loads(Path(file).read_text(encoding="utf-8"))
            check(certificate)
        except (Refused, ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError) as error:
            failed += 1
            print(f"{file}: REFUSED: {error or type(error).__name__}")
        else:
            print(f"{file}: proved: {said(certificate)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
