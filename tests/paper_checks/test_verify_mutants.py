"""A thousand altered proofs: what the verifier accepts is still true, by federations played in plain loops."""

import copy
import random
from contextlib import suppress
from fractions import Fraction
from itertools import product

import pytest

from empirics.algorithms import algorithm
from paper_checks.worst_case import verify
from paper_checks.worst_case.after_rounds import bound_after, Horizon
from paper_checks.worst_case.rate_case import Case
from paper_checks.worst_case.rate_search import certify_rate
from paper_checks.worst_case.tightness_table import FOLDER

MUTANTS = 1000
ARCHIVES = (
    "fedinit.theorem_5", "fedcog.theorem_sharp", "decaying_k.per_rounds", "fedinit.theorem_2", "decaying_k.lemma_1"
)  # fmt: skip
RATES = (
    Case(algorithm("fedavg()"), 2, 0.23, 1.3, 0.4),
    Case(algorithm("scaffold()"), 2, 0.23, 1.3, 0.4),
    Case(algorithm("fedinit(beta=0.15)"), 2, 0.23, 1.3, 0.4),
    Case(algorithm("fedavg()"), 2, 0.23, 1.3, 0.4, 2, noisy=True),
    Case(algorithm("fedavg()"), 2, 0.23, 1.3, 0.4, 2, cohort=1),
)
FACTORS = [Fraction(x) for x in ("0", "-1", "1/2", "2", "97/100", "103/100", "1000000")]
WORDS = [None, True, "", "0", "1", "-1", [], {}, 7, "1e-3", "fedavg", "fedprox", "scaffold", "last", "min", "mean"]


def played(claim, rounds, sizes, curvatures, minima, start, noise=None, cohorts=None):
    """Server models, the clients' models before every step round by round and after the last one."""
    method, p, n = claim["method"], float(Fraction(claim["parameter"])), len(curvatures)
    w, last, own, shared, kept = start, [start] * n, [0.0] * n, 0.0, 0.0
    servers, paths, sizes, step = [w], [], iter(sizes), 0
    for r, steps in enumerate(rounds):
        etas, ends, path = [next(sizes) for _ in range(steps)], {}, []
        for i in cohorts[r] if cohorts else range(n):
            x = w + p * (w - last[i]) if method == "fedinit" else w
            walk = [x]
            for j, eta in enumerate(etas):
                g = curvatures[i] * (x - minima[i]) + (noise[i][step + j] if noise else 0.0)
                if method == "fedprox":
                    g += p * (x - w)
                elif method == "scaffold":
                    g += shared - own[i]
                elif method == "fedcm":
                    g = p * g + (1 - p) * kept
                x -= eta * g
                walk.append(x)
            ends[i] = x
            path.append(walk)
        mean, spent = sum(ends.values()) / len(ends), sum(etas)
        if method == "scaffold":
            for i, x in ends.items():
                now = own[i] - shared + (w - x) / spent
                shared, own[i] = shared, now
            shared = sum(own) / n
        elif method == "fedcm":
            kept = (w - mean) / spent
        elif method == "fedavgm":
            kept = p * kept + w - mean
            mean = w - kept
        for i, x in ends.items():
            last[i] = x
        w, step = mean, step + steps
        servers.append(w)
        paths.append(path)
    return servers, paths


def federations(mu, L):
    ends = (mu, (mu + 2 * L) / 3, L)
    for (a, b), apart in product(product(ends, ends), (0.0, 0.6, -0.6, 3.1)):
        if b or not apart:
            yield (a, b), (apart, -apart * a / b if b else 0.0)  # the minimiser of the mean is 0


def largest(claim):
    """The largest metric that some federation of the claim's class reaches, about."""
    L, mu = (float(Fraction(claim[word] or 0)) for word in ("smoothness", "strong_convexity"))
    steps, said = claim["local_steps"], claim["step_size"]
    sizes = [float(Fraction(x)) for x in (said if isinstance(said, list) else [said] * sum(steps))]
    given = {word: float(Fraction(x)) for word, x in claim["given"].items()}
    found = 0.0
    for (a, b), minima in federations(mu, L):
        if (a + b) / 2 < given.get("pl_constant", 0.0) or a + b == 0:
            continue
        servers, paths = played(claim, steps, sizes, (a, b), minima, 1.0)
        walked = [walk[j] for path in paths for walk in path for j in range(len(walk) - 1)]
        averages = [sum(walk[j] for walk in path) / 2 for path in paths for j in range(len(path[0]) - 1)] + servers[-1:]

        def each(x, a=a, b=b, minima=minima):
            return a * (x - minima[0]), b * (x - minima[1])

        def mean(x, each=each):
            return sum(each(x)) / 2

        def gap(x, a=a, b=b):
            return (a + b) / 4 * x**2

        def apart(r, paths=paths, servers=servers):
            return sum((walk[-1] - servers[r]) ** 2 for walk in paths[r - 1]) / 2 if r else 0.0

        factor, last, common = given.get("dissimilarity_factor", 1.0), len(servers) - 2, [0.0, *servers, *averages]
        is_ = {
            "initial_distance_sq": 1.0,
            "initial_gap": gap(1.0),
            "optimum_dissimilarity": sum(g**2 for g in each(0.0)) / 2,
            "heterogeneity": (a * minima[0] ** 2 + b * minima[1] ** 2) / 4,
            "dissimilarity_offset": max(sum(g**2 for g in each(x)) / 2 - factor * mean(x) ** 2 for x in common),
            "uniform_dissimilarity": max(((each(x)[0] - each(x)[1]) / 2) ** 2 for x in common),
            "grad_cap_sq": max(max(g**2 for g in each(x)) for x in walked),
            "grad_norm_sq": mean(servers[last]) ** 2,
            "distance_sq": averages[-2] ** 2,
            "divergence": apart(last),
        }
        if "dissimilarity_offset" in given and factor < 1 + ((a - b) / (a + b)) ** 2:
            continue  # beyond every bound far away
        scale = min((given[word] / is_[word] for word in is_ if word in given and is_[word] > 0), default=0.0)
        iterated, kind = claim["over"] == "iterations", claim["statistic"]
        models = averages if iterated else servers
        series = {
            "distance_sq": [x**2 for x in models],
            "optimality_gap": [gap(x) for x in models],
            "grad_norm_sq": [mean(x) ** 2 for x in models],
            "divergence": [apart(r) for r in range(len(servers))],
        }[claim["metric"]]
        if kind == "mean" or (kind == "min" and not iterated):
            series = series[:-1]
        value = {"last": series[-1], "min": min(series), "mean": sum(series) / len(series)}[kind]
        found = max(found, scale * value)
    return found


def true_worst_case(proof, base):
    claim, bound, old = proof["claim"], Fraction(proof["bound"]), base["claim"]
    wider = all(claim[word] == old[word] for word in claim if word != "given")
    wider = wider and claim["given"].keys() == old["given"].keys()
    wider = wider and all(Fraction(x) >= Fraction(old["given"][word]) for word, x in claim["given"].items())
    if wider and bound < Fraction(base["attained"]["value"]):
        return False
    attained = Fraction(proof.get("attained", {"value": 0})["value"])
    return attained <= bound and largest(claim) <= float(bound) * (1 + 1e-9) + 1e-12


def true_rate(proof):
    c = proof["claim"]
    L, mu, rho, size = (
        float(Fraction(c[word])) for word in ("smoothness", "strong_convexity", "contraction", "step_size")
    )
    distance, more, floor = (float(Fraction(c[word])) for word in ("start_distance", "start_dissimilarity", "floor"))
    steps, clients, cohort, noise = c["local_steps"], c["clients"] or 2, c["cohort"], c["noise_floor"]
    assert cohort in (None, 1, clients), "two kinds of clients stand for all of them"
    later = proof.get("after", {"rounds": 0, "initial_distance_sq": 0, "optimum_dissimilarity": 0, "bound": 0})
    for (a, b), minima in federations(mu, L):
        if clients == 1 and (a != b or minima[0]):
            continue
        zeta = ((a * minima[0]) ** 2 + (b * minima[1]) ** 2) / 2
        for T, begun in product(sorted({1, 2, 5, min(later["rounds"], 8)} - {0}), (1.0, -4.0)):
            sizes = [size] * (T * steps)
            draws = [None] if cohort in (None, clients) else list(product([(0,), (1,)], repeat=T))
            ends = [played(c, [steps] * T, sizes, (a, b), minima, begun, cohorts=d)[0][-1] ** 2 for d in draws]
            reached = sum(ends) / len(ends)
            bound = rho**T * (distance * begun**2 + more * zeta) + floor * zeta
            if noise is not None:
                for i, j in product(range(2), range(T * steps)):
                    unit = [[float((i, j) == (k, s)) for s in range(T * steps)] for k in range(2)]
                    reached += played(c, [steps] * T, sizes, (a, b), (0.0, 0.0), 0.0, unit)[0][-1] ** 2 * 2 / clients
                bound += float(Fraction(noise))
            if reached > bound * (1 + 1e-9):
                return False
            quiet = not Fraction(later.get("gradient_variance", 0))
            if later["rounds"] == T and quiet and noise is None:
                scale = [float(Fraction(later["initial_distance_sq"])) / begun**2]
                scale += [float(Fraction(later["optimum_dissimilarity"])) / zeta] if zeta else []
                if min(scale) * reached > float(Fraction(later["bound"])) * (1 + 1e-9):
                    return False
    return True


@pytest.fixture(scope="module")
def proofs():
    found = []
    for name in ARCHIVES:
        for content in verify.read(str(FOLDER / f"{name}.proofs.xz")):
            short = sum(content["claim"]["local_steps"]) == 2
            known = content["claim"]["metric"] in ("optimality_gap", "divergence", "grad_norm_sq", "distance_sq")
            if short and known and content["attained"]["value"] != "0":
                found.append(content)
                break
    rates = [certify_rate(case) for case in RATES]
    found += [rate.fastest.proof for rate in rates]
    found += [bound_after(rates[0], Horizon(3, 2.1, 0.6)).statement.proof]
    return found


def leaves(item, path=()):
    """Every place of a file, as a path of names and numbers."""
    if path:
        yield path
    if isinstance(item, dict | list):
        for key, value in item.items() if isinstance(item, dict) else enumerate(item):
            yield from leaves(value, (*path, key))


def altered(proof, draws):
    other = copy.deepcopy(proof)
    for _ in range(draws.choice((1, 1, 2, 3))):
        places = list(leaves(other))
        claims = [p for p in places if p[0] in ("claim", "bound", "attained", "after", "weights")]
        path = draws.choice(draws.choice((places, claims or places)))
        inner = other
        for key in path[:-1]:
            inner = inner[key]
        how, key, old = draws.randrange(8), path[-1], inner[path[-1]]
        if how < 4 and (type(old) is int or isinstance(old, str)):
            factor = draws.choice(FACTORS)
            with suppress(ValueError):
                inner[key] = int(old * factor) if isinstance(old, int) else str(Fraction(old) * factor)
        elif how == 4:
            inner[key] = draws.choice(WORDS)
        elif how == 5:
            del inner[key]
        elif how == 6 and isinstance(inner, list):
            draws.shuffle(inner)
        elif isinstance(inner, dict):
            inner[draws.choice(("holds", "clients", "pl_constant", "grad_cap_sq", "attained", "after"))] = (
                copy.deepcopy(old)
            )
    return other


def test_a_mutant_that_is_accepted_states_something_true(proofs):
    assert len(proofs) == len(ARCHIVES) + len(RATES) + 1
    draws, accepted, refused = random.Random(20), [], 0
    for number in range(MUTANTS):
        base = proofs[number % len(proofs)]
        other = altered(base, draws)
        try:
            verify.check(other)
        except verify.INVALID_FILE:
            refused += 1
            continue
        rate = other.get("kind") == verify.RATE
        accepted.append((other, true_rate(other) if rate else true_worst_case(other, base)))
    assert [other["claim"] for other, true in accepted if not true] == []
    assert len(accepted) > MUTANTS / 40
    assert refused > MUTANTS / 2


def test_the_players_tell_true_from_false(proofs):
    """The original statements are true; half of what a worst case attains, or half of a floor, is not."""
    for proof in proofs:
        if proof["kind"] == verify.RATE:
            assert true_rate(proof)
            assert not true_rate({**proof, "claim": {**proof["claim"], "contraction": "1/20", "floor": "0"}})
        else:
            assert true_worst_case(proof, proof)
            assert largest(proof["claim"]) > 0
            half = str(Fraction(proof["attained"]["value"]) / 2)
            assert not true_worst_case({**proof, "bound": half}, proof)
