"""Khaled et al. 2019, local SGD on one loss: the recursion, two theorems, and the printed power of L."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ..checkers import number, short
from ..claim import Book, Finding, finding
from .runs import bent, bent_loss, Case, coin_means, consensus, distance_after, mean

BEND, NOISE = 3, Fraction(7, 5)
"""The curvature of the one parabola of all clients, and the variance of every client's gradient."""


def _consensus(clients: int, steps: int, step: Fraction) -> list[Fraction]:
    """Return the consensus distance V, which is due to noise, before each local step of a round on the parabola."""
    distances = [Fraction(0)]
    for _ in range(steps - 1):
        distances.append((1 - step * BEND) ** 2 * distances[-1] + step**2 * NOISE * (1 - Fraction(1, clients)))
    return distances


def disagreement() -> Iterator[Case]:
    for clients, steps, step in ((2, 5, Fraction(1, 6)), (40, 30, Fraction(1, 50)), (3, 2, Fraction(1, 7))):
        yield max(_consensus(clients, steps, step)), {
            "local_steps": steps, "step_size": step, "gradient_variance": NOISE, "smoothness": BEND,
        }  # fmt: skip


def one_step() -> Iterator[Case]:
    """Cases of one step: on the parabola, and for two clients around the minimum of a loss of two curvatures."""
    for clients, step, start in ((2, Fraction(1, 6), Fraction(5)), (7, Fraction(1, 50), Fraction(0))):
        for spread in _consensus(clients, 6, step):
            yield distance_after((1 - step * BEND) ** 2, step**2 * NOISE / clients, start, 1), {
                "distance_sq": start, "clients": clients, "gradient_variance": NOISE, "consensus_distance": spread,
                "optimality_gap": start * BEND / 2, "smoothness": BEND, "strong_convexity": BEND,
                "step_size": step,
            }  # fmt: skip
    step, apart = Fraction(1, 6), (Fraction(-1), Fraction(1))
    yield mean([x - step * bent(Fraction(BEND))(x) for x in apart]) ** 2, {
        "distance_sq": 0, "clients": 2, "gradient_variance": 0, "consensus_distance": consensus(apart),
        "optimality_gap": 0, "smoothness": BEND, "strong_convexity": Fraction(BEND, 2), "step_size": step,
    }  # fmt: skip


def distances() -> Iterator[Case]:
    """Cases of runs on the parabola, and on a loss of two curvatures with coins as noise, where local steps drift."""
    for clients, steps, rounds, step, start in (
        (2, 5, 4, Fraction(1, 12), 6), (9, 1, 30, Fraction(1, 60), 6), (2, 1, 30, Fraction(1, 60), 0)
    ):  # fmt: skip
        yield distance_after((1 - step * BEND) ** 2, step**2 * NOISE / clients, Fraction(start), steps * rounds), {
            "initial_distance_sq": start, "clients": clients, "gradient_variance": NOISE, "smoothness": BEND,
            "strong_convexity": BEND, "step_size": step, "local_steps": steps, "iterations": steps * rounds,
        }  # fmt: skip
    yield coin_means(bent(Fraction(1)), Fraction(1, 4), 9)[-1] ** 2, {  # at least that, by Jensen
        "initial_distance_sq": 0, "clients": 10**6, "gradient_variance": 1, "smoothness": 1,
        "strong_convexity": Fraction(1, 2), "step_size": Fraction(1, 4), "local_steps": 8, "iterations": 8,
    }  # fmt: skip


def gaps() -> Iterator[Case]:
    """Cases of Theorem 2 on the parabola, by first and second moments, and on the loss of two curvatures with coins."""
    step, steps = Fraction(1, 600), 200
    factors = [(1 - step * BEND) ** k for k in range(steps)]  # of the start, in the models before every step
    noises = [step * sum(factors[: steps - 1 - k], Fraction(0)) / steps for k in range(steps - 1)]
    spread = NOISE / 2 * sum((factor**2 for factor in noises), Fraction(0))
    for start, variance in ((5, 0), (0, NOISE)):
        yield Fraction(BEND, 2) * (start * mean(factors) ** 2 + (spread if variance else 0)), {
            "initial_distance_sq": start, "clients": 2, "gradient_variance": variance, "smoothness": BEND,
            "step_size": step, "local_steps": 1, "iterations": steps,
        }  # fmt: skip
    yield bent_loss(Fraction(1), mean(coin_means(bent(Fraction(1)), Fraction(1, 4), 8))), {
        "initial_distance_sq": 0, "clients": 10**6, "gradient_variance": 1, "smoothness": 1,
        "step_size": Fraction(1, 4), "local_steps": 8, "iterations": 8,
    }  # fmt: skip


def one_bent_loss(book: Book) -> Finding:
    """The printed bound is at least the gap for one loss of curvature L below 0 and L/2 above, started at its minimum.

    The noise is a fair coin, sigma = 1. The expected mean of the averages is that of one client's models; since the
    loss is convex, its value there is at most the expected gap (Jensen).
    """
    curvature, clients, steps = Fraction(1, 10**6), 10**6, 8
    step = 1 / (4 * curvature)
    gap = bent_loss(curvature, mean(coin_means(bent(curvature), step, steps)))
    printed, repaired = (
        number(
            book, name, initial_distance_sq=0, clients=clients, gradient_variance=1, smoothness=curvature,
            step_size=step, local_steps=steps, iterations=steps,
        )
        for name in ("classics.local_sgd_theorem_2_printed", "classics.local_sgd_theorem_2")
    )  # fmt: skip
    witness = {
        "f": "L/2 x^2 for x < 0, L/4 x^2 for x > 0", "L": "1e-6", "noise": "1 or -1", "x_0": "0", "M": "1e6",
        "H = T": "8", "gamma": "1/(4L)",
    }  # fmt: skip
    evidence = f"the gap is at least {short(gap)} against {short(printed)} (repaired: {short(repaired)})"
    return finding(gap <= printed, evidence, witness, as_audited=gap <= repaired)


def one_iteration(book: Book) -> Finding:
    """The printed bound is at least the gap 225 for x^2, one noise-free client, one iteration of 1/8 from 20 to 15."""
    at = {"initial_distance_sq": 400, "clients": 1, "gradient_variance": 0, "smoothness": 2}
    bound = number(book, "classics.local_sgd_corollary_2_printed", **at, local_steps=1, iterations=1)
    witness = {"f": "x^2", "L": "2", "x_0": "20", "M = T = H": "1", "sigma": "0"}
    return finding(bound >= 225, f"the gap is 225 against {short(bound)}", witness, as_audited=bound == 160)
