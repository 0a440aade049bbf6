"""(58) and Section 5: what local steps leave of a client's suboptimality, and what they do to its non-iidness."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import pairwise

import sympy as sp

from bounds.vocabulary import samples as n

from ..checkers import Computed, OrderIs, undecided
from ..claim import Book, Claim, fails, Finding, holds, judged, Kind, Repair, Status


def _left_of_start(steps: int) -> F:
    """Suboptimality after gradient steps 1/4 on ``(x^2 + 3 y^2)/2`` from (2, 1): no noise at all."""
    x, y = F(2) * (1 - F(1, 4)) ** steps, F(1) * (1 - F(3, 4)) ** steps
    return (x**2 + 3 * y**2) / 2


def _noise_free(book: Book) -> Finding:
    left = _left_of_start(5)
    return fails(
        f"no gradient noise, five steps: suboptimality {float(left):.4g}, sigma^2/(mu tau) = 0", as_audited=left > 0
    )


def _with_start(book: Book) -> Finding:
    """Strong convexity with constant 1 and step 1/4: every step leaves at most 1 - 1/4 of the way."""
    for steps in range(1, 9):
        if _left_of_start(steps) > (1 - F(1, 4)) ** (2 * steps) * _left_of_start(0):
            return fails(f"{steps} steps")
    return holds("at most (1 - eta mu)^(2 tau) of the start's suboptimality is left after 1 to 8 noise-free steps")


FORGOTTEN = Claim(
    "fedals.eq_58.local_steps",
    "After tau local steps the suboptimality is at most of the order sigma^2/(mu tau).",
    Kind.PROOF.at("proof of Theorem C.2, eq. (58)"),
    Computed("noise-free gradient steps in fractions", _noise_free),
    Status.FAILS,
    note="What is left of the start is dropped, which rates for SGD on strongly convex losses have as a term beside "
    "the noise: it does not vanish with the noise, and for non-iid clients every round starts away from the local "
    "minimum.",
    repair=Repair("plus what is left of the start", Computed("noise-free steps against the contraction", _with_start)),
)


def _left_of_noise(steps: int, decaying: bool) -> F:
    """Mean suboptimality, in sample variances, of one step per sample from the mean: half squared distances.

    The model is a weighted mean of the samples; its suboptimality is half its squared distance to their plain mean.
    """
    weights: list[F] = []
    for t in range(steps):
        rate = F(1, t + 1) if decaying else F(1, 2)
        weights = [(1 - rate) * x for x in weights] + [rate]
    return sum(((x - F(1, steps)) ** 2 for x in weights), F(0)) / 2


def _times_steps(decaying: bool) -> Computed:
    """Whether tau times the suboptimality stays bounded, from 5 to 80 steps."""

    def run(book: Book) -> Finding:
        found = [steps * _left_of_noise(steps, decaying) for steps in (5, 20, 80)]
        said = f"tau times suboptimality at 5, 20, 80 steps: {', '.join(f'{float(v):.4g}' for v in found)} variances"
        return judged(found[-1] <= 2 * found[0], said)

    return Computed("stochastic gradient steps on fresh samples, in fractions", run)


CONSTANT = Claim(
    "fedals.eq_58.constant_step",
    "Whatever the constant step size of (5), the suboptimality falls like one over the number of local steps.",
    Kind.PROOF.at("proof of Theorem C.2, eq. (58); eq. (5)"),
    _times_steps(decaying=False),
    Status.FAILS,
    note="The theorem asks nothing of the step size. A fixed one leaves a floor; the rate is that of step sizes which "
    "fall, or are chosen for the number of steps, as in the work that is cited.",
    repair=Repair("with step sizes that fall like 1/t", _times_steps(decaying=True)),
)

RATE = Claim(
    "fedals.eq_58.samples",
    "The local gap falls at least like the inverse root of the number of samples.",
    Kind.PROOF.at("proof of Theorem C.2, eq. (58)"),
    {
        "at least": OrderIs("fedals.gaussian_mean_local_gap", n, n ** -sp.Rational(1, 2), at_most=True),
        "like 1/n": OrderIs("fedals.gaussian_mean_local_gap", n, 1 / n),
    },
    note="Under the theorem's own assumptions it falls like 1/n: the complexity term is not tight. It comes from "
    "bounds for bounded losses, and a strongly convex loss on all of parameter space is unbounded.",
)


def _non_iidness(steps: int) -> tuple[F, F]:
    """delta of two noise-free clients with means 1 and 3 after gradient steps 1/10 from zero, squared distances."""
    left = (1 - F(1, 10)) ** steps
    models = [m * (1 - left) for m in (F(1), F(3))]
    average = sum(models, F(0)) / 2
    first, second = (((average - m) ** 2 - (x - m) ** 2) / 2 for m, x in zip((F(1), F(3)), models, strict=True))
    return first, second


def _each_rises(book: Book) -> Finding:
    values = [_non_iidness(steps)[0] for steps in (0, 1, 2)]
    said = f"means 1 and 3, steps of 1/10 from 0: delta of the first client {', '.join(str(v) for v in values)}"
    return holds(said) if values[0] <= values[1] <= values[2] else fails(said, as_audited=values[1] < 0)


def _mean_rises(book: Book) -> Finding:
    values = [sum(_non_iidness(steps), F(0)) / 2 for steps in range(40)]
    rising = all(a < b for a, b in pairwise(values))
    return holds(f"rises with each of 39 steps to {float(values[-1]):.4g}") if rising else fails("falls somewhere")


RISES = Claim(
    "fedals.section_5.local_steps",
    "More local steps raise the non-iidness of every client, since its own model comes closer to its own minimum.",
    Kind.REMARK.at("Section 5", "v2"),
    Computed("two clients, squared distances, in fractions", _each_rises),
    Status.FAILS,
    note="Read client by client, as non-iidness is defined. The averaged model comes closer to that minimum too, and "
    "sometimes faster: the non-iidness of the client that needs the shorter way falls below zero first.",
    repair=Repair("their mean over the clients rises", Computed("the same clients", _mean_rises)),
)

UNDECIDED = undecided(
    "fedals.theorem_4_3.constants",
    "Theorem 4.3 holds.",
    Kind.THEOREM.at("Theorem 4.3, eq. (9)"),
    "its constants are hidden and the complexity of a model class is not defined, so that no instance can refute "
    "it; its proof does not stand: see fedals.eq_56, fedals.eq_58.local_steps and fedals.eq_58.constant_step",
)
