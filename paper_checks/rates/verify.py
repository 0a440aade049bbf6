"""Check rates: ``python verify.py FILE ...`` needs Python's standard library, and nothing of fedbounds.

A file proves, for every number T of rounds and any number of clients that all take part with full gradients of smooth,
strongly convex losses, w* being the minimiser of their mean and zeta^2 the clients' mean squared gradient there:

    |w_T - w*|^2 <= contraction^T (start_distance |w_0 - w*|^2 + start_dissimilarity zeta^2) + floor zeta^2

or, with ``+ noise_floor sigma^2``, the mean of that where gradients have independent noise of variance sigma^2 and mean
0, or where some of the clients are drawn every round, each set of them being as likely. It holds a quadratic V of what
a round keeps. One round is played in fractions. Of contraction V + gamma zeta^2 - V_next plus multipliers >= 0 times
inequalities of the class (each <= 0) a sum of squares must be left: ``D (T T' / 4^bits + E) D`` with integers T, powers
of two D and E diagonally dominant. A product of noise and of what knows nothing of it is 0 in the mean: it may count
for anything. What clients keep while others are drawn is renewed for cohort/clients of them in the mean: its mean
square follows from that, and the square of its mean from drawing without replacement. A vector that every client has is
a pair: its mean over the clients and each client's deviation from it;
squares of both are looked at apart.
"""

import json
import re
import sys
from collections import defaultdict
from fractions import Fraction as Q
from math import lcm
from pathlib import Path
from typing import Any

Part = dict[str, Q]
Vector = tuple[Part, Part]
KEPT = {
    "fedavg": (["model"], []), "fedprox": (["model"], []), "fedinit": (["model"], ["last"]),
    "scaffold": (["model"], ["control"]), "fedavgm": (["model", "velocity"], []), "fedcm": (["model", "direction"], []),
}  # fmt: skip
"""What means and deviations keep from round to round."""
WHILE_DRAWN = {"scaffold": "control", "fedinit": "last"}
"""What clients keep while others are drawn: its mean over all clients then counts too."""


REST: Vector = ({}, {"*": Q(1)})
"""A client's gradient at the minimiser. SCAFFOLD's controls count relative to it, which is what they are at rest."""


BEGINNING = {
    "scaffold": ", controls that begin with 0", "fedinit": ", clients that begin at w_0",
    "fedavgm": ", no velocity before", "fedcm": ", no direction before",
}  # fmt: skip
"""What a run begins with besides its model."""
NUMBERS = ("parameter", "step_size", "smoothness", "strong_convexity", "contraction", "start_distance",
           "start_dissimilarity", "floor")  # fmt: skip
BEGUN = ("initial_distance_sq", "optimum_dissimilarity", "gradient_variance")
"""Numbers of every claim, and of a start."""
LARGEST = 10**5
"""The largest power of two in a factor: beyond, numbers do not fit into memory."""


class Refused(Exception):
    """Why a file does not prove what it claims."""


KNOWN = (Refused, ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RecursionError, TypeError,
         ValueError)  # fmt: skip
"""What a file that is no proof may raise."""


def need(truth: bool, why: str) -> None:
    if not truth:
        raise Refused(why)


def number(text: Any) -> Q:
    """A fraction that is written out, p/q: a float is another number than the one it is printed as."""
    need(type(text) is str and re.fullmatch(r"-?[0-9]+(/[0-9]+)?", text) is not None, f"{text!r} is no fraction p/q")
    return Q(text)


def total(*terms: tuple[Any, Vector]) -> Vector:
    """The sum of ``coefficient * vector``."""
    parts: tuple[Any, Any] = (defaultdict(Q), defaultdict(Q))
    for c, vector in terms:
        for part, given in zip(parts, vector, strict=True):
            for name, x in given.items():
                part[name] += c * x
    return parts


def whole(parts: list[Part]) -> tuple[list[dict[str, int]], int]:
    """Whole numbers over one denominator, and that: their products take a twentieth of the time of fractions."""
    d = lcm(*(x.denominator for part in parts for x in part.values()))
    return [{name: int(x * d) for name, x in part.items()} for part in parts], d


def same(u: Vector, v: Vector) -> bool:
    return not any(x for part in total((1, u), (-1, v)) for x in part.values())


def drawn(claim: Any) -> bool:
    """Whether clients that keep something rest while others are drawn."""
    return claim["cohort"] is not None and claim["method"] in WHILE_DRAWN


def play(claim: Any, gradient: Any) -> tuple[list[Vector], dict[str, Vector], dict[str, Vector]]:
    """The models that gradients are asked at, and what is kept before and after the round.

    Of what means keep afterwards, the deviations are what every client adds to it.
    """
    method, steps = claim["method"], claim["local_steps"]
    p, eta = number(claim["parameter"]), number(claim["step_size"])
    need(method in KEPT, f"the method {method} is not known here")
    need(p == 0 or method not in ("fedavg", "scaffold"), f"{method} has no parameter")
    need(type(steps) is int and steps > 0 and eta > 0, "a round has steps of a positive size")
    before: dict[str, Vector] = {name: ({name: Q(1)}, {}) for name in KEPT[method][0]}
    before |= {name: ({}, {name: Q(1)}) for name in KEPT[method][1]}
    if method == "scaffold":
        before["control"] = total((1, before["control"]), (1, REST))
    w, asked = before["model"], []
    if drawn(claim):
        own = (dict.fromkeys([WHILE_DRAWN[method]], Q(1)), before[WHILE_DRAWN[method]][1])
        x = total((1 + p, w), (-p, own)) if method == "fedinit" else w
    else:
        x = total((1, w), (-p, before["last"])) if method == "fedinit" else w
    first = x
    for j in range(steps):
        asked.append(x)
        way = [(Q(1), gradient(j + 1))]
        if method == "fedprox":
            way += [(p, x), (-p, w)]
        elif method == "scaffold":
            way.append((Q(-1), before["control"]))
        elif method == "fedcm":
            way = [(p, way[0][1]), (1 - p, before["direction"])]
        x = total((1, x), *((-eta * c, v) for c, v in way))
    moved = total((1, x), (-1, first))
    after: dict[str, Vector] = {"model": x, "last": ({}, x[1])}
    if method == "scaffold":
        after["control"] = total((1, before["control"]), (-1 / (steps * eta), ({}, moved[1])))
    elif method == "fedavgm":
        after["velocity"] = total((p, before["velocity"]), (-1, moved))
        after["model"] = total((1, w), (-1, after["velocity"]))
    elif method == "fedcm":
        after["direction"] = total((-1 / (steps * eta), moved))
    if drawn(claim):  # how far a client that is drawn moves what it keeps
        rest = (-1, (own[0], {})) if method == "scaffold" else (-1, own)
        walk = (-1 / (steps * eta), moved) if method == "scaffold" else (Q(1), x)
        after["moved"] = total(walk, rest)
    if method == "scaffold":
        before["control"], after["control"] = (total((1, kept["control"]), (-1, REST)) for kept in (before, after))
    return asked, before, after


def check(proof: Any) -> None:
    """Raise ``Refused`` unless the file proves its claim."""
    claim, rest = proof["claim"], proof["rest"]  # rest: gradients count relative to those at the minimiser
    L, mu, rho, change = (number(x) for x in (claim["smoothness"], claim["strong_convexity"], claim["contraction"],
                                              proof["change"]))  # fmt: skip
    after_it = [proof["after"][word] for word in (*BEGUN, "bound")] if "after" in proof else []
    noise_floor = [] if claim["noise_floor"] is None else [claim["noise_floor"]]
    for text in (*(claim[word] for word in NUMBERS), *noise_floor, *after_it):
        number(text)  # before they become words
    need(0 <= mu < L, "there are no such functions")
    need(0 < rho < 1, "a contraction is between 0 and 1")
    need(proof["statement"] == said(proof), "the statement in words is another one")
    potential, gamma = number(proof["potential"]), Q(claim["floor"]) * (1 - rho)
    need(type(rest) is bool, "gradients are relative to something else")
    need(potential >= 0 and gamma >= 0 and change != 0, "a weight is negative")

    def gradient(j: int) -> Vector:
        own = {f"v{i}": change if i > 1 else Q(1) for i in range(1, j + 1)}
        return own, dict(own)

    N, C, steps = claim["clients"], claim["cohort"], claim["local_steps"]
    noisy, spread = claim["noise_floor"] is not None, Q(0)
    need(N is None or (type(N) is int and N > 0), "clients are a whole number")
    if C is not None:  # the mean of so many, drawn without replacement: what deviations add to squares of it
        need(type(C) is int and N is not None and 0 < C <= N and not noisy, "a cohort is of so many clients, no noise")
        spread = Q(N - C, C * (N - 1)) if N > 1 else Q(0)

    def heard(j: int) -> Vector:
        own = {f"n{j}": Q(noisy)}
        return total((1, gradient(j)), (1 * rest, REST), (1, (own, own)))

    need(type(steps) is not int or steps <= len(proof["blocks"][0]["vectors"]), "a gradient is missing from the factor")
    asked, before, after = play(claim, heard)
    forms: list[dict[tuple[str, str], Q]] = [defaultdict(Q), defaultdict(Q)]

    def square(c: Q, u: Vector, v: Vector) -> None:
        """Adds ``c <u, v>`` to both blocks."""
        for form, one, other in zip(forms, u, v, strict=True):
            for a, x in one.items():
                for b, y in other.items():
                    form[a, b] += c * x * y / 2
                    form[b, a] += c * x * y / 2

    means, apart = KEPT[claim["method"]]
    if drawn(claim):
        means, share, moved = [*means, *apart], Q(C, N), after["moved"]
        ends: dict[str, Vector] = {"model": ({}, after["model"][1]), apart[0]: ({}, total((share, moved))[1])}
        before |= {name: ({name: Q(1)}, {}) for name in means}
        after |= {"model": (after["model"][0], {}), apart[0]: total((1, before[apart[0]]), (share, (moved[0], {})))}
        kept: Vector = ({}, {apart[0]: Q(1)})
        renewed = [(share * (1 - share), (moved[0], {})), (1 - share, kept),
                   (share, total((1, kept), (1, ({}, moved[1])))), (-(share**2) * spread, ({}, moved[1]))]  # fmt: skip
    else:
        ends = {name: ({}, after[name][1]) for name in means}
        after |= {name: (after[name][0], {}) for name in means}
    for names, rows, least in ((means, proof["means"], "above_distance"), (apart, proof["apart"], "above_nothing")):
        P = [[number(x) for x in row] for row in rows]
        need(len(P) == len(names) and all(len(row) == len(P) for row in P), "the quadratic has another size")
        need(all(P[i][j] == P[j][i] for i in range(len(P)) for j in range(i)), "the quadratic is not symmetric")
        for i, a in enumerate(names):
            if drawn(claim) and rows is proof["apart"]:
                square(rho * P[i][i], kept, kept)
                for c, vector in renewed:
                    square(-c * P[i][i], vector, vector)
                continue
            for j, b in enumerate(names):
                square(rho * P[i][j], before[a], before[b])
                square(-P[i][j], after[a], after[b])
                if rows is proof["means"] and spread:
                    square(-P[i][j] * spread, ends[a], ends[b])
        own = {(a, b): P[i][j] - (a == b == "model") for i, a in enumerate(names) for j, b in enumerate(names)}
        squares(proof[least], own)

    # relative to their gradients at the minimiser clients have other values, but the same mean at the server model
    points: list[Vector] = [({}, {}), *asked]
    gradients = [({}, {}) if rest else REST, *(gradient(j + 1) for j in range(len(asked)))]
    if same(points[1], before["model"]):
        points.append(after["model"])
        gradients.append(gradient(len(asked) + 1))
    need(potential == 0 or len(points) > len(asked) + 1, "the first gradient is not that of the server model")
    need(potential == 0 or spread == 0, "the model of a cohort is no point of the proof")
    values = [Q(0)] * len(points)
    values[1] += rho * potential
    values[-1] -= potential
    vectors = {("x", a): x for a, x in enumerate(points)} | {("g", a): g for a, g in enumerate(gradients)}
    products: Any = defaultdict(lambda: defaultdict(Q))

    def product(c: Q, left: Any, right: Any) -> None:
        """Adds ``c <left, right>``, both sums of coefficients times points (x) and gradients (g) by their numbers."""
        for x, u in left:
            for y, v in right:
                products[u][v] += c * x * y

    for a, b, multiplier in proof["multipliers"]:
        c = number(multiplier)
        need(c >= 0, f"the multiplier of {a}, {b} is negative")
        need(0 <= a < len(points) and 0 <= b < len(points), "there is no such point")
        values[b] += c
        values[a] -= c
        apart_ = [(1, ("x", a)), (-1, ("x", b))]
        bent = [(1, ("g", a)), (-1, ("g", b)), *((-mu * x, v) for x, v in apart_)]
        product(c, [(1, ("g", b))], apart_)  # Taylor, Hendrickx and Glineur 2017, Theorem 4
        product(c * mu / 2, apart_, apart_)
        product(c / (2 * (L - mu)), bent, bent)
    beside = {u: total(*((c, vectors[v]) for v, c in row.items())) for u, row in products.items()}
    for part, form in enumerate(forms):
        (left, d), (right, e) = whole([vectors[u][part] for u in beside]), whole([v[part] for v in beside.values()])
        summed: dict[tuple[str, str], int] = defaultdict(int)
        for one, other in zip(left, right, strict=True):
            for u, x in one.items():
                for v, y in other.items():
                    summed[u, v] += x * y
        for (u, v), z in summed.items():
            form[u, v] += Q(z, 2 * d * e)
            form[v, u] += Q(z, 2 * d * e)
    need(not any(values[1:]), "function values are left over")
    if gamma:
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
            early, late = int(u[1:]) if u[0] == "v" and u[1:].isdigit() else 0, int(v[1:])
            need(v in {f"n{j + 1}" for j in range(len(row))} and u != v and early <= late, f"{v} goes along with {u}")
            form[u, v] = form[v, u] = number(value)
    if noisy:
        need(N is not None, "noise is that of so many clients")
        added = sum(noises[0], Q(0)) / N + sum(noises[1], Q(0)) * Q(N - 1, N)
        need(added <= Q(claim["noise_floor"]) * (1 - rho), "noise leaves more than is claimed")
    for block, form in zip(proof["blocks"], forms, strict=True):
        squares(block, form)
    begun = 2 if drawn(claim) and claim["method"] == "fedinit" else 1  # the last models are the first one
    distance = sum((Q(x) for row in proof["means"][:begun] for x in row[:begun]), potential * L / 2)
    dissimilarity = Q(proof["apart"][0][0]) if claim["method"] == "scaffold" else Q(0)  # controls begin with 0
    need(distance <= Q(claim["start_distance"]), "the start counts for more than is claimed")
    need(dissimilarity <= Q(claim["start_dissimilarity"]), "heterogeneity at the start counts for more than is claimed")
    if "after" in proof:
        need(
            remaining(claim, proof["after"]) <= Q(proof["after"]["bound"]),
            "after these rounds more is left than is claimed",
        )


def remaining(claim: Any, after: Any) -> Q:
    """What ``V_next <= contraction V + (1 - contraction) floors`` leaves after so many rounds from such a start."""
    rounds, many = after["rounds"], 20_000
    need(type(rounds) is int and rounds >= 0, "rounds are a whole number")
    past = Q(claim["contraction"]) ** min(rounds, many)
    begun = [Q(after[word]) for word in BEGUN]
    need(min(begun) >= 0, "a squared length is negative")
    need(claim["noise_floor"] is not None or begun[2] == 0, "nothing is proved of noise")
    first = Q(claim["start_distance"]) * begun[0] + Q(claim["start_dissimilarity"]) * begun[1]
    last = Q(claim["floor"]) * begun[1] + Q(claim["noise_floor"] or 0) * begun[2]
    return past * first + (1 if rounds > many else 1 - past) * last


def squares(block: Any, matrix: dict[tuple[str, str], Q]) -> None:
    """Whether a symmetric matrix is a sum of squares, by its integer factor."""
    names, scale, factor, bits = block["vectors"], block["scale"], block["factor"], block["bits"]
    place = {name: i for i, name in enumerate(names)}
    need(all(a in place for (a, _), x in matrix.items() if x), "a vector is missing from the factor")
    need(len(names) == len(scale) == len(factor) == len(place), "the factor has another size")
    integers = all(type(x) is int for x in (bits, *scale, *(x for row in factor for x in row)))
    need(integers and bits >= 0, "the factor is not of integers")
    need(max(map(abs, (bits, *scale))) <= LARGEST, "the factor has powers of two that are too large")
    for i, a in enumerate(names):
        apart = []
        for j, b in enumerate(names):
            both = sum(x * y for x, y in zip(factor[i], factor[j], strict=False))
            apart.append(matrix.get((a, b), Q(0)) / Q(2) ** (scale[i] + scale[j]) - Q(both) / Q(4) ** bits)
        need(apart[i] >= sum(abs(x) for x in apart[:i] + apart[i + 1 :]), f"no sum of squares: row {a}")


def above(text: str) -> str:
    """A number in six digits, rounded up."""
    x = Q(text)
    unit = Q(10) ** (int(f"{float(x):.5e}".partition("e")[2]) - 5)  # of the sixth digit
    return f"{float(-(-x // unit) * unit):.6g}"


def said(proof: Any) -> str:
    """The claim in words."""
    c = proof["claim"]
    p = f" with {c['parameter']}" if Q(c["parameter"]) else ""
    bound = f"{above(c['contraction'])}^T ({above(c['start_distance'])} |w_0 - w*|^2"
    bound += f" + {above(c['start_dissimilarity'])} zeta^2)" if Q(c["start_dissimilarity"]) else ")"
    bound += f" + {above(c['floor'])} zeta^2" if Q(c["floor"]) else ""
    noisy, mean = c["noise_floor"] is not None, c["noise_floor"] or c["cohort"]
    who = f"{c['cohort']} drawn every round" if c["cohort"] else "all taking part"
    bound += f" + {above(c['noise_floor'])} sigma^2" if noisy and Q(c["noise_floor"]) else ""
    gradients = "gradients with independent noise of mean 0 and variance at most sigma^2" if noisy else "full gradients"
    return (
        f"{'E' if mean else ''}|w_T - w*|^2 <= {bound} after every number T of rounds of {c['local_steps']} steps of "
        f"{c['step_size']} by {c['method']}{p}, {c['clients'] or 'any number of'} {c['smoothness']}-smooth, "
        f"{c['strong_convexity']}-strongly convex clients, {who} and weighing the same, "
        f"{gradients}{BEGINNING.get(c['method'], '')}; w* minimises the mean of their losses, "
        f"zeta^2 is their mean squared gradient there{later(proof)}"
    )


def later(proof: Any) -> str:
    """What is claimed of a number of rounds, in words."""
    if "after" not in proof:
        return ""
    after = proof["after"]
    noise = f", sigma^2 {after['gradient_variance']}" if Q(after["gradient_variance"]) else ""
    return (
        f"; from |w_0 - w*|^2 {after['initial_distance_sq']}, zeta^2 {after['optimum_dissimilarity']}{noise} at most "
        f"{above(after['bound'])} after {after['rounds']} rounds"
    )


def main(files: list[str]) -> int:
    failed = 0
    for file in files:
        try:
            proof = json.loads(Path(file).read_text(encoding="utf-8"))
            check(proof)
        except KNOWN as error:
            failed += 1
            why = ascii(str(error) or type(error).__name__)[1:-1]  # one line, whatever words of the file it quotes
            print(f"{file}: REFUSED: {why}")
        else:
            print(f"{file}: proved: {said(proof)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
