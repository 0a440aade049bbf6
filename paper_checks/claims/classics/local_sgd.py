"""Khaled et al. 2019, local SGD on one loss: the recursion, its two theorems, and the printed power of L."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from ..checkers import number, short
from ..claim import Book, Finding, judged
from .runs import bent, bent_loss, Case, coin_means, consensus, distance_after, mean

BEND, NOISE = 3, Fraction(7, 5)
"""One parabola for all: its curvature, and the variance of every client's gradient."""


def _spread(clients: int, steps: int, step: Fraction) -> list[Fraction]:
    """V before each local step of a round on the parabola: the noise that the clients do not share."""
    found = [Fraction(0)]
    for _ in range(steps - 1):
        found.append((1 - step * BEND) ** 2 * found[-1] + step**2 * NOISE * (1 - Fraction(1, clients)))
    return found


def disagreement() -> Iterator[Case]:
    for clients, steps, step in ((2, 5, Fraction(1, 6)), (40, 30, Fraction(1, 50)), (3, 2, Fraction(1, 7))):
        yield max(_spread(clients, steps, step)), {
            "local_steps": steps, "step_size": step, "gradient_variance": NOISE, "smoothness": BEND,
        }  # fmt: skip


def one_step() -> Iterator[Case]:
    """Steps on the parabola, and one of two clients on either side of the minimum of a bent loss."""
    for clients, step, start in ((2, Fraction(1, 6), Fraction(5)), (7, Fraction(1, 50), Fraction(0))):
        for spread in _spread(clients, 6, step):
            yield distance_after((1 - step * BEND) ** 2, step**2 * NOISE / clients, start, 1), {
                "distance_sq": start, "clients": clients, "gradient_variance": NOISE, "consensus_distance": spread,
                "optimality_gap": start * BEND / 2, "smoothness": BEND, "strong_convexity": BEND, "step_size": step,
            }  # fmt: skip
    step, apart = Fraction(1, 6), (Fraction(-1), Fraction(1))
    yield mean([x - step * bent(Fraction(BEND))(x) for x in apart]) ** 2, {
        "distance_sq": 0, "clients": 2, "gradient_variance": 0, "consensus_distance": consensus(apart),
        "optimality_gap": 0, "smoothness": BEND, "strong_convexity": Fraction(BEND, 2), "step_size": step,
    }  # fmt: skip


def distances() -> Iterator[Case]:
    """Runs on the parabola, and on a bent loss with coins for noise, where local steps move the average."""
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
    """Theorem 2 on the parabola, where the models' mean is Gaussian in its moments, and on the bent loss with coins."""
    step, steps = Fraction(1, 600), 200
    left = [(1 - step * BEND) ** k for k in range(steps)]  # of the start, in the models before every step
    noises = [step * sum(left[: steps - 1 - k], Fraction(0)) / steps for k in range(steps - 1)]
    spread = NOISE / 2 * sum((factor**2 for factor in noises), Fraction(0))
    for start, variance in ((5, 0), (0, NOISE)):
        yield Fraction(BEND, 2) * (start * mean(left) ** 2 + (spread if variance else 0)), {
            "initial_distance_sq": start, "clients": 2, "gradient_variance": variance, "smoothness": BEND,
            "step_size": step, "local_steps": 1, "iterations": steps,
        }  # fmt: skip
    yield bent_loss(Fraction(1), mean(coin_means(bent(Fraction(1)), Fraction(1, 4), 8))), {
        "initial_distance_sq": 0, "clients": 10**6, "gradient_variance": 1, "smoothness": 1,
        "step_size": Fraction(1, 4), "local_steps": 8, "iterations": 8,
    }  # fmt: skip


def one_bent_loss(book: Book) -> Finding:
    """One loss with curvature L below 0 and L/2 above, started at its minimiser 0; the noise is a fair coin, sigma = 1.

    The expected mean of the averages is that of one client's models, and the loss is convex: Jensen's inequality.
    """
    curved, clients, steps = Fraction(1, 10**6), 10**6, 8
    step = 1 / (4 * curved)
    gap = bent_loss(curved, mean(coin_means(bent(curved), step, steps)))
    printed, repaired = (
        number(
            book, name, initial_distance_sq=0, clients=clients, gradient_variance=1, smoothness=curved, step_size=step,
            local_steps=steps, iterations=steps,
        )
        for name in ("classics.local_sgd_theorem_2_printed", "classics.local_sgd_theorem_2")
    )  # fmt: skip
    witness = {
        "f": "L/2 x^2 for x < 0, L/4 x^2 for x > 0", "L": "1e-6", "noise": "1 or -1", "x_0": "0", "M": "1e6",
        "H = T": "8", "gamma": "1/(4L)",
    }  # fmt: skip
    said = f"the gap is at least {short(gap)} against {short(printed)} (repaired: {short(repaired)})"
    return judged(gap <= printed, said, witness, as_audited=gap <= repaired)


def one_iteration(book: Book) -> Finding:
    """One client, x^2, no noise, one iteration of 1/8 from 20 to 15, the model that the print averages."""
    at = {"initial_distance_sq": 400, "clients": 1, "gradient_variance": 0, "smoothness": 2}
    bound = number(book, "classics.local_sgd_corollary_2_printed", **at, local_steps=1, iterations=1)
    witness = {"f": "x^2", "L": "2", "x_0": "20", "M = T = H": "1", "sigma": "0"}
    return judged(bound >= 225, f"the gap is 225 against {short(bound)}", witness, bound == 160)
