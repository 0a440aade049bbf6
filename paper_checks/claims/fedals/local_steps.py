"""(58) and Section 5: what local steps leave of a client's suboptimality, and what longer local phases do."""

from __future__ import annotations

from fractions import Fraction as F
from functools import reduce
from itertools import pairwise, product

import sympy as sp

from bounds.fedals.letters import K, Z
from bounds.vocabulary import samples

from ..checkers import All, At, OrderIs
from ..claim import Book, Check, Claim, Defect, fails, Finding, Grade, holds, judged, Kind, Repair
from .common import alike, shared
from .listings import trained
from .noise import CONSTANTS, ROUNDS
from .walks import Walk


def _left_of_start(steps: int) -> F:
    """Suboptimality after gradient steps 1/4 on ``(x^2 + 3 y^2)/2`` from (2, 1): no noise at all."""
    x, y = F(2) * (1 - F(1, 4)) ** steps, F(1) * (1 - F(3, 4)) ** steps
    return (x**2 + 3 * y**2) / 2


def _noise_free(book: Book) -> Finding:
    left = float(_left_of_start(5))
    return fails(f"no noise, five steps: suboptimality {left:.4g}, sigma^2/(mu tau) = 0", as_audited=left > 0)


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
    _noise_free,
    note="What is left of the start is dropped, which rates for SGD on strongly convex losses have as a term beside "
    "the noise: it does not vanish with the noise, and for non-iid clients every round starts away from the local "
    "minimum.",
    repair=Repair("plus what is left of the start", _with_start),
    defect=Defect.GAP,
)


def _times_steps(decaying: bool) -> Check:
    """Whether tau times the suboptimality stays bounded, from 5 to 80 steps of 1/2 or of 1, 1/2, 1/3, ..."""

    def run(book: Book) -> Finding:
        pulls = [tuple(F(1, t + 1) if decaying else F(1, 2) for t in range(steps)) for steps in (5, 20, 80)]
        found = [len(p) * Walk(1, p).suboptimality for p in pulls]
        said = f"tau times suboptimality at 5, 20, 80 steps: {', '.join(f'{float(v):.4g}' for v in found)} variances"
        return judged(found[-1] <= 2 * found[0], said)

    return run


CONSTANT = Claim(
    "fedals.eq_58.constant_step",
    "Whatever the constant step size of (5), the suboptimality falls like one over the number of local steps.",
    Kind.PROOF.at("proof of Theorem C.2, eq. (58); eq. (5)"),
    _times_steps(decaying=False),
    note="The theorem asks nothing of the step size. A fixed one leaves a floor; the rate is that of step sizes which "
    "fall, or are chosen for the number of steps, as in the work that is cited. The theorem falls with it: "
    "fedals.theorem_4_3.constants.",
    repair=Repair("for squared distances, with step sizes that fall like 1/t", _times_steps(decaying=True)),
    defect=Defect.GAP,
)

RATE = Claim(
    "fedals.eq_58.samples",
    "Where the variance of a sample's gradient is bounded, the local gap of exact minimisers, and of a given number of "
    "steps of at most 2/(L + mu), falls at least like the inverse root of the number of samples.",
    Kind.PROOF.at("proof of Theorem C.2, eq. (58)"),
    {
        "exact minimisers": OrderIs(At(alike(CONSTANTS), {K: 1}), samples, 1 / sp.sqrt(samples), at_most=True),
        "a given number of steps": OrderIs(At(alike(ROUNDS), {K: 1}), shared(Z), 1 / sp.sqrt(shared(Z)), at_most=True),
        "squared distances": OrderIs("fedals.gaussian_mean_local_gap", samples, 1 / samples),
    },
    note="The two bounds by constants (fedals.theorem_4_1.noise, fedals.theorem_4_3.noise) for one client are of the "
    "order 1/n, so that the complexity term is not tight. It comes from bounds for bounded losses, and a strongly "
    "convex loss on all of parameter space is unbounded. (58) asks for neither condition on the steps: it is "
    "not decided for longer ones, nor where their number grows with that of the samples.",
)


def _far_client(book: Book) -> Finding:
    """Noise-free clients with means 1 and 3, gradient steps 1/10 from zero, half squared distances: the first one's."""
    values = []
    for steps in (0, 1, 2):
        done = 1 - (1 - F(1, 10)) ** steps
        values.append(((2 * done - 1) ** 2 - (done - 1) ** 2) / 2)
    said = f"no noise, means 1 and 3, steps of 1/10 from 0: non-iidness of the first {', '.join(map(str, values))}"
    return holds(said) if values[0] <= values[1] <= values[2] else fails(said, as_audited=values[1] < 0)


def _mean_of_alike(book: Book) -> Finding:
    values = [Walk.of(2, steps, F(1, 2)).non_iidness for steps in (1, 2, 3, 4)]
    said = f"two clients, a fresh fair coin in each of 1 to 4 steps of 1/2: {', '.join(map(str, values))}"
    rising = [a <= b for a, b in pairwise(values)]
    return holds(said) if all(rising) else fails(said, as_audited=not any(rising))


def _two_curvatures(book: Book) -> Finding:
    """Two identical clients, a fresh sample (h, y) = (3, 1) or (1, -1) of h/2 (x - y)^2 in each step of 1/3 from 5."""
    values = []
    for steps in (1, 2, 3):
        sets = list(product(((3, 1), (1, -1)), repeat=steps))
        models = [reduce(lambda x, z: x - F(z[0], 3) * (x - z[1]), own, F(5)) for own in sets]
        pairs = product(zip(sets, models, strict=True), models)
        drift = sum(h * (((x + other) / 2 - y) ** 2 - (x - y) ** 2) for (own, x), other in pairs for h, y in own)
        values.append(drift / (2 * steps * len(sets) ** 2))
    said = f"fresh samples of curvature 3 or 1 in 1 to 3 steps of 1/3 from 5: {', '.join(map(str, values))}"
    return judged(values == sorted(values), said)


def _without_noise(book: Book) -> Finding:
    """Mean non-iidness of noise-free clients with the share ``left`` of the way to their minima before them."""
    for clients in (2, 3):
        start, left, *minima = sp.symbols(f"start left m1:{clients + 1}", real=True)
        models = [m + left * (start - m) for m in minima]
        average, centre = sum(models) / clients, sum(minima) / clients
        found = sum((average - m) ** 2 - (x - m) ** 2 for m, x in zip(minima, models, strict=True)) / clients
        if sp.expand(found - (1 - left**2) * sum((m - centre) ** 2 for m in minima) / clients):
            return fails(f"{clients} clients")
    return holds("equal for two and three clients, symbolically", Grade.PROVED)


RISES = Claim(
    "fedals.section_5.local_steps",
    "More local steps raise the non-iidness of clients, since their own models come closer to their own minima.",
    Kind.REMARK.at("Section 5", "v2"),
    All(
        {
            "of every client": _far_client,
            "of their mean": _mean_of_alike,
            "where curvatures differ it can rise": _two_curvatures,
        },
        wrong=("of every client", "of their mean"),
    ),
    note="The averaged model comes closer to a client's minimum too, and sometimes faster. With noise the mean over "
    "the clients can fall as well: a local model has forgotten more of its samples and ends farther from their mean, "
    "and averaging takes out part of that. On fresh samples, for squared distances and iid clients of equal weight, it "
    "falls with every step, whatever the step size up to 1/L; where the curvature differs from sample to sample it can "
    "rise.",
    repair=Repair(
        "without noise, for clients of one curvature, their mean is half the spread of their minima, less the squared "
        "share of the way that is left",
        _without_noise,
    ),
    defect=Defect.REFUTED,
)

PERIODS = ((1, 1), (1, 12), (3, 2), (4, 3), (12, 1))
"""Local steps and adaptation coefficients whose periods all end with the twelfth step."""


def _returned(book: Book) -> Finding:
    """FedALS on two clients of one Hessian, and (8) of identical clients on fresh coins in steps of 1/4."""
    models = {
        tuple(trained(f"fedals(alpha={alpha})", 12 // tau, tau, one_hessian=True).model) for tau, alpha in PERIODS
    }
    per_round = [Walk.of(2, tau, F(1, 4)).gap for tau in (1, 3, 12)]
    said = (
        f"12 steps, clients of one Hessian: {len(models)} returned model for (tau, alpha) = "
        f"{', '.join(map(str, PERIODS))}; (8) for tau = 1, 3, 12: {', '.join(f'{float(v):.4g}' for v in per_round)}"
    )
    if len(models) == 1:
        return fails(said, as_audited=per_round[0] > per_round[1] > per_round[2])
    return holds(said)


SAME_MODEL = Claim(
    "fedals.section_5.same_model",
    "Averaging all of the model, or its extractor, less often makes the returned model generalise better.",
    Kind.REMARK.at("Abstract; Sections 5, 6.1 and 7"),
    _returned,
    note="Where every sample's loss has one and the same constant Hessian, local steps and averages commute: at a "
    "given number of steps the returned model, and with it its gap, is the same for every tau and alpha, while (8) "
    "falls with tau, which measures after every round on that round's samples. What FedALS gains has to come from "
    "curvatures that differ between clients, samples or models.",
    defect=Defect.READING,
)
