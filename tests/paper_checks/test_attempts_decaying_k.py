"""Attempts to break the statements of Decaying-K that are called HOLDS, by a closed form apart from the engines.

Clients (x - m_i)^2/2 of equal curvature, N of C drawn without replacement and averaged, noise of variance sigma^2 a
step, K_r steps in round r. With q = (1 - eta)^K and v the variance that K steps add, a round makes of the server model

    E x' = q E x,   E x'^2 = q^2 E x^2 + v/C + (C - N)/(N(C - 1)) ((1 - q)^2 S + v(1 - 1/C)),   S = mean m_i^2

and the average of all clients after k of its steps has the mean square (1 - eta)^(2k) E x^2 + v_k/C. Here L = mu = 1,
x^* = 0, F = x^2/2 + S/2 + floor, Gamma = S/2; half the clients have m_i = sqrt(S), half -sqrt(S). G^2 is the largest
expected square of a client's stochastic gradient in the run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
import pytest

from bounds.catalog import BOUNDS
from paper_checks.falsifier.families import FAMILIES

QUADRATICS, CURVES = FAMILIES["quadratics"], FAMILIES["curves"]


@dataclass(frozen=True)
class Plan:
    """C (even), N, the local steps of every round; eta as a share of its cap, S, sigma^2 and the start."""

    clients: int
    cohort: int
    schedule: tuple[int, ...]
    speed: float = 1.0
    apart: float = 1.0
    noise: float = 1.0
    start: float = 3.0


FALLING = tuple(int(np.ceil(50 / r ** (1 / 3))) for r in range(1, 200))
ATTEMPTS = {
    "two clients, one drawn": Plan(2, 1, (4,) * 60),
    "two clients, both": Plan(2, 2, (4,) * 60),
    "one of a million": Plan(10**6, 1, (3,) * 100),
    "half of a million": Plan(10**6, 5 * 10**5, (3,) * 100, noise=0.2),
    "all but one of a thousand": Plan(1000, 999, (5,) * 100),
    "a million clients, all of them": Plan(10**6, 10**6, (2,) * 200),
    "one local step, for long": Plan(50, 10, (1,) * 1500),
    "ten thousand local steps, one round": Plan(50, 10, (10**4,), 0.01),
    "ten thousand local steps, three rounds": Plan(50, 5, (10**4,) * 3, 1e-4),
    "a schedule that falls by cube roots, as in Table 3": Plan(500, 25, FALLING, 0.04),
    "a schedule that grows, which Theorem 1 excludes and its proof does not": Plan(40, 4, tuple(range(1, 60)), 0.05),
    "rounds of 1 and of 300 steps in turn": Plan(40, 4, (1, 300) * 10, 0.1),
    "noise alone from the optimum, until it settles": Plan(20, 4, (6,) * 1500, 0.5, apart=0.0, start=0.0),
    "disagreement alone from the optimum, until it settles": Plan(20, 1, (6,) * 1500, 0.02, noise=0.0, start=0.0),
    "disagreement alone, all take part": Plan(20, 20, (6,) * 1500, 0.02, noise=0.0, start=0.0),
    "huge noise": Plan(20, 3, (5,) * 300, noise=1e12),
    "a start far away, neither noise nor disagreement": Plan(20, 3, (5,) * 300, apart=0.0, noise=0.0, start=1e6),
    "a tiny step size": Plan(20, 3, (5,) * 2000, 1e-5),
    "the stationary start of two opposed clients": Plan(2, 1, (20,) * 2500, 4 * 65e-6, noise=0.0, start=0.02550),
}  # fmt: skip

STATEMENTS = (
    "lemma_1", "lemma_1_sharp", "lemma_2_repaired", "theorem_1", "theorem_1_repaired", "theorem_1_appendix",
    "theorem_1_sharp",
)  # fmt: skip


@cache
def run(plan: Plan, step: float) -> dict[str, np.ndarray]:
    """At every iteration: the mean square of the average before and after it, K of its round, and the largest G^2."""
    c, n = plan.clients, plan.cohort
    draw = (c - n) / (n * (c - 1))
    mean, square, before, after, local = plan.start, plan.start**2, [], [], []
    cap = 0.0
    for steps in plan.schedule:
        decay = (1 - step) ** np.arange(steps + 1.0)
        added = step**2 * plan.noise * np.concatenate([[0], np.cumsum(decay[:-1] ** 2)])
        along = decay**2 * square + added / c
        away = square + plan.apart + 2 * sqrt(plan.apart) * abs(mean)  # of the client on the far side
        cap = max(cap, float(np.max(decay[:-1] ** 2 * away + added[:-1])) + plan.noise)
        q, v = decay[-1], added[-1]
        square = q**2 * square + v / c + draw * ((1 - q) ** 2 * plan.apart + v * (1 - 1 / c))
        mean *= q
        before.append(along[:-1])
        after.append(np.append(along[1:-1], square))
        local.append(np.full(steps, steps))
    told = {"before": before, "after": after, "local": local}
    return {name: np.concatenate(parts) for name, parts in told.items()} | {"cap": np.array(cap)}


def sides(name: str, plan: Plan, floor: float = 0.0, told: dict[str, float] | None = None) -> tuple[Any, Any]:
    """The exact value of what the statement is on, and the bound; NaN where its conditions are not met."""
    step = plan.speed * (1.0 if name == "theorem_1_sharp" else 0.25)
    seen, schedule = run(plan, step), np.array(plan.schedule, dtype=float)
    total, grad = schedule.sum(), seen["before"]
    exact = {
        "lemma_1": seen["after"], "lemma_1_sharp": seen["after"], "lemma_2_repaired": step * grad.sum(),
        "theorem_1": grad.min(), "theorem_1_repaired": grad.min(),
    }.get(name, grad.mean())  # fmt: skip
    known = {
        "clients": plan.clients, "cohort": plan.cohort, "iterations": total, "step_size": step, "smoothness": 1.0,
        "strong_convexity": 1.0, "heterogeneity": plan.apart / 2, "grad_cap_sq": seen["cap"],
        "optimal_loss": plan.apart / 2 + floor, "initial_loss": (plan.start**2 + plan.apart) / 2 + floor,
        "steps_cubed_ratio": (schedule**3).sum() / total, "squared_step_sizes": step**2 * total,
        "distance_sq": seen["before"], "local_steps": seen["local"] if name.startswith("lemma_1") else schedule.max(),
        "client_gradient_variance": plan.noise,
    } | (told or {})  # fmt: skip
    bound = BOUNDS[f"decaying_k.{name}"]
    if name == "theorem_1_appendix":  # it sums over those who take part, so that clients must be told apart
        known |= {
            "takes_part": (np.arange(plan.clients) < plan.cohort).astype(float),
            "client_weight": np.full(plan.clients, 1 / plan.clients),
        }
        known["client_gradient_variance"] = np.full(plan.clients, known["client_gradient_variance"])
    else:
        bound = bound.equal_clients()
    return exact, bound(**{q.name: known[q.name] for q in bound.quantities})


@pytest.mark.parametrize("attempt", ATTEMPTS)
@pytest.mark.parametrize("name", STATEMENTS)
def test_with_g_a_bound_on_the_clients_gradients_it_survives(name, attempt):
    exact, bound = sides(name, ATTEMPTS[attempt])
    assert not np.isnan(bound).any()
    assert (exact <= bound * (1 + 1e-9) + 1e-300).all()


@pytest.mark.parametrize("floor", [-1e6, 1e6])
@pytest.mark.parametrize("name", ["lemma_2_repaired", "theorem_1_repaired", "theorem_1_appendix", "theorem_1_sharp"])
def test_where_the_loss_has_its_zero_does_not_matter(name, floor):
    plan = ATTEMPTS["two clients, one drawn"]
    assert sides(name, plan, floor)[1] == pytest.approx(sides(name, plan)[1], rel=1e-6)


DENIED = {
    "client_gradient_variance": "noise alone from the optimum, until it settles",
    "grad_cap_sq": "disagreement alone from the optimum, until it settles",
    "initial_loss": "a start far away, neither noise nor disagreement",
}
"""Words, and an attempt at which a statement that is told as good as nothing for them is false."""


@pytest.mark.parametrize("word", DENIED)
def test_the_sharper_theorem_needs_all_it_is_told(word):
    plan = ATTEMPTS[DENIED[word]]
    if word != "grad_cap_sq":  # which else makes up for the others: of one step by all clients it says nothing
        plan = replace(plan, cohort=plan.clients, schedule=(1,) * 1500)
    exact, bound = sides("theorem_1_sharp", plan, told={word: plan.apart / 2 if word == "initial_loss" else 0.0})
    assert exact > bound * (1 + 1e-6)


@pytest.mark.parametrize("step", [0.05, 0.4, 0.999])
def test_the_noise_of_the_sharper_theorem_is_reached_at_its_largest_step(step):
    """One step a round, all clients, noise alone: E x^2 settles at the bound over 2 - eta."""
    exact, bound = sides("theorem_1_sharp", Plan(4, 4, (1,) * 2000, step, apart=0.0, start=0.0))
    assert exact / bound == pytest.approx(1 / (2 - step), rel=1e-2)


# ---- unlike clients, and losses that are not convex: the exact engines ----

UNLIKE = {
    "curvatures 1 and 1/100, minima far apart": ((1, 0.01), (1, -30), (50, 50), 5, {}),
    "one steep client among ten thousand flat ones": ((1, 0.1), (2, -1), (1, 9999), 100, {}),
    "one flat client among a hundred steep ones": ((0.05, 1), (3, -1), (1, 99), 10, {}),
    "one of a million": ((1, 0.3), (1, -1), (1, 999_999), 1, {}),
    "all but one of fifty": ((1, 0.2), (1, -1), (20, 30), 49, {}),
    "all clients, from the optimum, without noise": (
        (1, 0.2),
        (1, -4),
        (1, 1),
        2,
        {"noise": 0, "start": 2 / 3 - 4 / 3},
    ),
    "one step a round, huge noise": ((1, 0.5), (1, -1), (5, 5), 4, {"steps": 1, "noise": 1e8}),
    "a thousand local steps": ((1, 0.4), (1, -1), (10, 10), 4, {"steps": 1000, "rounds": 3}),
    "equal minima": ((1, 0.02), (0, 0), (5, 5), 3, {"noise": 0}),
    "a step size of a millionth of the cap": ((1, 0.4), (1, -1), (10, 10), 4, {"share": 1e-6}),
    "a round": ((1, 0.3), (1, -1), (2, 3), 2, {"rounds": 1}),
    "a far start": ((1, 0.3), (1, -1), (2, 3), 2, {"start": 1e5}),
}


@pytest.mark.parametrize("attempt", UNLIKE)
@pytest.mark.parametrize(
    "name", ["lemma_1", "lemma_1_sharp", "lemma_2_repaired", "theorem_1_repaired", "theorem_1_sharp"]
)
def test_with_unlike_clients_it_survives(name, attempt):
    bends, places, counts, cohort, more = UNLIKE[attempt]
    given = {"noise": 1.0, "start": 3.0, "steps": 6, "rounds": 12, "share": 1 - 1e-9} | more
    cap = 1.0 if name == "theorem_1_sharp" else 0.25
    table = {
        "clients": sum(counts), "kinds": 2, "dim": 1, "cohort": cohort, "with_replacement": 0, "floor": 0.0,
        "local_steps": given["steps"], "rounds": given["rounds"], "step_size": given["share"] * cap, "relaxation": 0.0,
        "start_0": float(given["start"]),
    }  # fmt: skip
    for k in range(2):
        table |= {f"count_{k}": counts[k], f"noise_{k}": float(given["noise"]), f"weight_{k}": 1.0}
        table |= {f"curvature_{k}_0": float(bends[k]), f"minimum_{k}_0": float(places[k])}
    found = QUADRATICS.evaluate(BOUNDS[f"decaying_k.{name}"], table)
    assert found.admissible, found.failed
    assert not found.violated, found.ratio


WEIGHED = {
    "two clients, one with a hundredth of the samples": ((1, 1), (4, -1), (0.01, 0.99), 2, 0, {}),
    "the steep client weighs little": ((1, 0.05), (4, -1), (0.02, 0.98), 2, 0, {}),
    "the flat client weighs little": ((0.05, 1), (40, -1), (0.02, 0.98), 2, 0, {}),
    "noise at the client that weighs most": ((1, 0.5), (1, -1), (0.1, 0.9), 2, 0, {"noises": (0, 1e4)}),
    "noise at the client that weighs least": ((1, 0.5), (1, -1), (0.1, 0.9), 2, 0, {"noises": (1e4, 0)}),
    "a thousand local steps": ((1, 0.5), (1, -1), (0.3, 0.7), 2, 0, {"steps": 1000, "rounds": 2}),
    "from the optimum": ((1, 1), (3, -1), (0.25, 0.75), 2, 0, {"noises": (0, 0), "start": 0.0}),
    "drawn by weight with replacement, once": ((1, 0.5), (1, -1), (0.2, 0.8), 1, 1, {}),
    "drawn by weight with replacement, twice": ((1, 0.5), (2, -1), (0.2, 0.8), 2, 1, {}),
    "drawn by weight, opposed, without noise": ((1, 1), (1, -9), (0.9, 0.1), 1, 1, {"noises": (0, 0), "start": 0.0}),
    "drawn by weight, one local step": ((1, 0.5), (2, -1), (0.2, 0.8), 1, 1, {"steps": 1}),
}
"""Where Theorem 1 as printed, losses of any client at least 0, allows unequal weights: all take part, or the draw is by
weight and the mean plain."""


@pytest.mark.parametrize("attempt", WEIGHED)
@pytest.mark.parametrize("name", ["theorem_1", "lemma_2"])
def test_with_unequal_weights_the_printed_form_survives(name, attempt):
    bends, places, weights, cohort, again, more = WEIGHED[attempt]
    given = {"noises": (1, 1), "start": 3.0, "steps": 6, "rounds": 12} | more
    table = {
        "clients": 2, "dim": 1, "cohort": cohort, "with_replacement": again, "floor": 0.0, "relaxation": 0.0,
        "local_steps": given["steps"], "rounds": given["rounds"], "step_size": 0.25 - 1e-9, "start_0": given["start"],
    }  # fmt: skip
    for k in range(2):
        table |= {f"noise_{k}": float(given["noises"][k]), f"weight_{k}": weights[k]}
        table |= {f"curvature_{k}_0": float(bends[k]), f"minimum_{k}_0": float(places[k])}
    found = QUADRATICS.evaluate(BOUNDS[f"decaying_k.{name}"], table)
    assert found.admissible, found.failed
    assert not found.violated, found.ratio


BENT = {
    "1 - cos x, from the top": (3, 3.0, (0.3, -0.3), 2),
    "1 - cos x, past the top": (3, 3.4, (0.1, -0.1), 2),
    "1 - cos x, one of three": (3, 2.0, (1, -0.5, -0.5), 1),
    "1 - cos x, two of three": (3, 1.6, (1, -0.5, -0.5), 2),
    "x^2/(1 + x^2), far out": (2, 4.0, (0.1, -0.1), 1),
    "x^2/(1 + x^2), where it bends most": (2, 1.0, (0.5, -0.5), 1),
    "pseudo-Huber, far out": (0, 5.0, (0.4, -0.4), 2),
    "pseudo-Huber, alike": (0, 5.0, (0, 0), 2),
    "log cosh, one of two": (1, -3.0, (0.9, -0.9), 1),
    "pseudo-Huber, large disagreement": (0, 0.0, (5, -5), 1),
}


@pytest.mark.parametrize("steps", [1, 2, 24])
@pytest.mark.parametrize("attempt", BENT)
def test_the_sharper_theorem_asks_for_no_convexity(attempt, steps):
    shape, start, tilts, cohort = BENT[attempt]
    table = {
        "clients": len(tilts), "cohort": cohort, "with_replacement": 0, "local_steps": steps, "shape": shape,
        "rounds": 30 if cohort == len(tilts) else 5, "height": 1.0, "bowl": 0.0, "start": start, "floor": 0.0,
        "relaxation": 0.0, "step_size": 1 - 1e-9,
        **{f"tilt_{k}": float(x) for k, x in enumerate(tilts)}, **{f"weight_{k}": 1.0 for k in range(len(tilts))},
    }  # fmt: skip
    found = CURVES.evaluate(BOUNDS["decaying_k.theorem_1_sharp"], table)
    assert found.admissible, found.failed
    assert not found.violated, found.ratio


# ---- what is refuted, again: formulas and numbers typed from the paper ----


def test_theorem_1_is_negative_at_an_optimum_where_the_loss_is_minus_one():
    """Curvatures 1 and 2, kappa = 2, F_0 = F^* = -1, G = 0 and no noise: only the first term is left."""
    kappa, step, total = 2, Fraction(1, 8), 4
    assert 2 * kappa * (kappa * -1 + 1) / (step * total) == -8


def test_theorem_1_with_its_own_g_fails_at_a_stationary_start():
    """Clients (x - 1)^2/2 and (x + 1)^2/2, one drawn, from sqrt(S): E x^2 stays S; a round ends next to it."""
    k, rounds, step = 20, 2500, 65e-6
    q = (1 - step) ** k
    square = (1 - q) / (1 + q)
    assert q**2 * square + (1 - q) ** 2 == pytest.approx(square, rel=1e-12)
    smallest = square * (1 - step) ** (2 * k)
    bound = square / (step * k * rounds) + step * (6 * 0.5 + (8 + 4) * square * k**2)
    assert smallest > 1.08 * bound


def test_theorem_1_with_its_own_g_fails_with_a_hundred_clients_too():
    """Half of them on either side, one drawn: the same two moments."""
    k, rounds, step = 20, 2500, 65e-6
    plan = Plan(100, 1, (k,) * rounds, 4 * step, noise=0.0, start=sqrt((1 - (1 - step) ** k) / (1 + (1 - step) ** k)))
    exact, bound = sides("theorem_1", plan, told={"grad_cap_sq": plan.start**2})
    assert exact > 1.08 * bound


def test_lemma_1_with_its_own_g_fails_at_the_minimiser():
    """Minima 1, -1, 1, -1, two drawn, ten steps of 1/20 from x^* = 0, where L ||x_1 - x^*|| = 0: the last step."""
    step, k = Fraction(1, 20), 10
    ends = [m * (1 - (1 - step) ** k) for m in (1, -1, 1, -1)]
    drawn = [(a + b) / 2 for i, a in enumerate(ends) for b in ends[i + 1 :]]
    after = sum(x**2 for x in drawn) / 6
    assert after == (1 - (1 - step) ** k) ** 2 / 3
    assert after > 7 * (step**2 * 6 * Fraction(1, 2))  # Gamma = 1/2, no noise, G = 0, and the average before is 0


def test_theorem_1_fails_where_unequal_clients_are_averaged_alike():
    """Minima 0 and 4, shares 1/4 and 3/4, both take part: line 11 rests at 2, F at 3; K = 1, eta = 1/1000, T = 10^6."""
    step, total = 1e-3, 1e6
    server = 2.0
    assert ((server - step * (server - 0)) + (server - step * (server - 4))) / 2 == server
    start, best = (1 * 2**2 + 3 * 2**2) / 8, (1 * 3**2 + 3 * 1**2) / 8
    bound = 2 * (start - best) / (step * total) + step * (
        6 * best + (8 + 4 / 2) * 2**2
    )  # kappa = 1, Gamma = F^*, G = 2
    assert bound < 0.06
    assert (server - 3) ** 2 > 15 * bound


@pytest.mark.parametrize("cap_sq", [0.04, 25.0])
def test_nine_is_no_minimum_of_eight(cap_sq):
    """kappa = 2, F = 3, F^* = 1, L = 1, N = 2, tau/W = 4, beta/W = 1/10, eta = 1/10."""
    step, tau, beta = 0.1, 4.0, 0.1

    def eight(k):
        return 2 * 2 * (2 * 3 - 1) / (step * k) * (tau + beta * k) + step * 2 * (8 + 4 / 2) * cap_sq * k**2

    printed = ((2 * 3 - 1) / (8 * step**2 * (1 + 1 / 4)) * tau) ** (1 / 3)
    best = printed / cap_sq ** (1 / 3)
    assert eight(best) < 0.8 * eight(printed)
    assert eight(best) < min(eight(0.99 * best), eight(1.01 * best))


@pytest.mark.parametrize("k", [4, 50])
def test_eleven_is_no_minimum_of_eight(k):
    tau, beta, z = 4.0, 0.1, 7.0

    def eight(step):
        return 2 * 2 * (2 * 3 - 1) / (step * k) * (tau + beta * k) + step * 2 * z

    printed = sqrt(2 * (2 * 3 - 1) / z * (tau + beta * k))
    best = printed / sqrt(k)
    assert eight(best) < 0.9 * eight(printed)
    assert eight(best) < min(eight(0.99 * best), eight(1.01 * best))


SHORT_RUNS = {
    "a long run": {"w": 1e9},
    "large steps": {"step": 0.25, "w": 50.0},
    "large gradients": {"cap": 1e4},
    "a badly conditioned loss": {"kappa": 1e4, "w": 1e5, "cap": 1e3},
    "a million participants": {"n": 1e6, "w": 1e4},
    "one participant": {"n": 1, "w": 1e4},
    "a start next to the optimum": {"gap": 1e-9},
    "free communication": {"tau": 1e-9},
    "slow clients": {"beta": 1e3, "w": 1e5},
    "free computation": {"beta": 0.0, "w": 1e4},
    "the minimiser next to 1": {"w": 40.0 * 1.0001},
}


@pytest.mark.parametrize("attempt", SHORT_RUNS)
def test_where_the_best_number_of_steps_is_below_one_a_single_one_is_best(attempt):
    at = {"kappa": 2.0, "gap": 5.0, "n": 2.0, "cap": 1.0, "step": 0.1, "tau": 1.0, "beta": 0.1, "w": 1e3} | SHORT_RUNS[
        attempt
    ]
    if attempt == "the minimiser next to 1":
        at["w"] = 1.0001 * at["gap"] * at["tau"] / (at["step"] ** 2 * (8 + 4 / at["n"]) * at["cap"])

    def eight(k):
        first = 2 * at["kappa"] * at["gap"] / (at["step"] * at["w"] * k) * (at["tau"] + at["beta"] * k)
        return first + at["step"] * at["kappa"] * (8 + 4 / at["n"]) * at["cap"] * k**2

    best = (at["gap"] * at["tau"] / (at["step"] ** 2 * (8 + 4 / at["n"]) * at["cap"] * at["w"])) ** (1 / 3)
    values = [eight(k) for k in (1, 2, 3, 10, 1000)]
    assert best < 1
    assert values == sorted(values)
