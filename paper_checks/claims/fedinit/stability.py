"""Section 4.3.2 and Appendix A.3: uniform stability, from one local step to Theorem 3."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import sympy as sp

from bounds.fedinit.letters import beta, C, c, Delta, eta, K, L, L_G, S, s, sigma2, sigma_l, T, t_0, U
from bounds.vocabulary import stability

from ..checkers import At, ImpliedBy, OrderIs, requires, Same, TendsTo, Total
from ..checkers.formulas import resolve
from ..claim import Book, Claim, Defect, fails, Finding, Grade, holds, Kind, Repair

SAME, OTHER = 1 - 1 / S, 1 / S
CENTRAL = 2 * (L_G**2 + S * L_G * sigma_l) / L
GROWTH = (T * K / t_0) ** (c * L)


COINS = list(product((0, 1), repeat=4))
"""All data of two clients of two coins each; the loss of a coin z is (w - z)^2/2."""


def minimiser(coins: tuple[int, ...]) -> Fraction:
    return Fraction(sum(coins), len(coins))


def risk(model: Fraction, coins: tuple[int, ...] = (0, 1)) -> Fraction:
    """Mean loss of the model on these coins; on the two sides of one it is the population's."""
    return sum(((model - z) ** 2 / 2 for z in coins), Fraction(0)) / len(coins)


def over_coins(measured: Callable[[tuple[int, ...]], Fraction]) -> sp.Rational:
    """The expectation over the data."""
    return sp.Rational(sum(map(measured, COINS), Fraction(0)) / len(COINS))


def _coins(book: Book) -> Finding:
    """Generalisation error and stability of the mean of all coins, by enumeration."""
    gap = over_coins(lambda d: risk(minimiser(d)) - risk(minimiser(d), d))
    pairs = [(minimiser(d), minimiser((1 - d[0], *d[1:]))) for d in COINS]
    worst = max(risk(one, (z,)) - risk(other, (z,)) for one, other in pairs for z in (0, 1))
    bound = resolve("fedinit.lemma_1", book).subs(stability, sp.Rational(worst))
    if gap > bound:
        return fails(f"generalisation error {gap} > {bound}", {"samples": "4 coins"})
    return holds(f"generalisation error {gap} against stability {worst}, all data sets enumerated", Grade.SEARCHED)


LEMMA_1 = Claim(
    "fedinit.lemma_1",
    "(13): the generalisation error is at most the uniform stability.",
    Kind.THEOREM.at("Lemma 1, eq. (13)"),
    {
        "statement": Same(Total(((1, "fedinit.lemma_1"), (1, s))), stability + s),
        "on coins": _coins,
    },
    note="With the largest change over pairs of data sets. Were the data averaged before the supremum over an "
    "independent sample, the change would be 0 by symmetry.",
)


def _lipschitz_clients(book: Book) -> Finding:
    """f_1 = a w, f_2 = -a w: the global loss is constant, the losses of samples are not."""
    slope, cap = Fraction(5), Fraction(1)
    bound = At("fedinit.lemma_7", {s: 0, sigma2: 0, eta: 1, L_G: cap})(book)
    apart = 2 * slope  # one step of size 1 on two different samples, of slope a and -a
    at = {"f_1": "5w and -5w on two samples", "f": "0", "L_G": cap}
    if sp.Rational(apart) > bound:
        return fails(f"one step separates the runs by {apart}, Lemma 7 allows {bound}", at, bound == 2)
    return holds("covered")


GLOBAL_LIPSCHITZ = Claim(
    "fedinit.assumption_4.global",
    "Assumption 4, that the global loss is Lipschitz, is what Lemmas 5 and 7 need.",
    Kind.ASSUMPTION.at("Assumption 4, eq. (7); Lemmas 5 and 7, proofs"),
    _lipschitz_clients,
    note="Both proofs use the constant for the loss of a single sample: that every sample's loss is L_G-Lipschitz has "
    "to be assumed.",
    repair=Repair(
        "with every sample's loss Lipschitz, gradients of two samples differ by at most 2 L_G",
        Same(At("fedinit.lemma_7", {sigma2: 0}), s + eta * (L_G + L_G)),
    ),
    defect=Defect.GAP,
)


VANISHING = Claim(
    "fedinit.lemma_6.noise",
    "What a step adds to the separation by Lemmas 6 and 7 vanishes as the number of samples grows.",
    Kind.REMARK.at("Discussion of Theorems 3 and 6: 'of the order ... /S'"),
    TendsTo(At("fedinit.stability_step", {s: 0}), S, sp.oo, 0),
    note="It would have to for the bound to be of order 1/S. 2 eta sigma_l is added in every step, whether or "
    "not the runs differ. On the same sample both runs see the same noise, so that (1 + eta L) times the separation "
    "would do if the loss of each sample is L-smooth, for which Assumption 1 does not ask: see the repair.",
    repair=Repair(
        "without the noise that both runs share what a step adds is of order 1/S",
        OrderIs(At("fedinit.stability_step", {s: 0, sigma2: 0}), S, 1 / S),
    ),
    defect=Defect.REFUTED,
    ours=True,
)


STEP = Claim(
    "fedinit.stability.step",
    "Lemmas 5 to 7, and the last two with the chances 1 - 1/S and 1/S: growth 1 + (1 - 1/S) eta L, plus "
    "2 eta (L_G/S + sigma_l).",
    Kind.PROOF.at("Lemmas 5 to 7, eqs. (33) to (35); Appendix A.3.2, one local step"),
    {
        "(33)": Same("fedinit.lemma_5", U * t_0 / S + L_G * s),
        "(34)": Same("fedinit.lemma_6", (1 + eta * L) * s + 2 * eta * sigma_l),
        "(35)": Same("fedinit.lemma_7", s + 2 * eta * (sigma_l + L_G)),
        "a step": Same("fedinit.stability_step", Total(((SAME, "fedinit.lemma_6"), (OTHER, "fedinit.lemma_7")))),
    },
)

EVERY_CLIENT = Claim(
    "fedinit.stability.every_client",
    "That bound on a step holds for every client, so also for the mean over clients.",
    Kind.PROOF.at("Appendix A.3.2, one local step and its mean over clients"),
    ImpliedBy("fedinit.lemma_6", "fedinit.stability_step", where=(S >= 2,)),
    note="Only one client holds the sample that differs; the C - 1 others follow Lemma 6 with certainty and stretch by "
    "1 + eta L. Counting samples over all clients mends it.",
    repair=Repair(
        "the mean over clients: S replaced by C S",
        Same(
            "fedinit.stability_step_clients",
            Total((((C - 1) / C, "fedinit.lemma_6"), (1 / C, "fedinit.stability_step"))),
        ),
        bound="fedinit.stability_step_clients",
    ),
    defect=Defect.GAP,
)


RUNS = (([0, 3, 7], [1, -2, 7]), ([1, 1, 1], [2, 0, 5]), ([4, 0, -4], [-4, 0, 4]))
"""Last local models of three clients in two runs."""


def _moves(book: Book) -> Finding:
    """The move of a client whose last models agree in two runs, the other clients' models being different."""
    b, (one, two) = Fraction(1, 10), RUNS[0]
    first, second = ((1 + b) * (Fraction(sum(run), 3) - run[2]) for run in (one, two))
    if first != second:
        at = {"last models": f"{one}, {two}", "client": 3, "beta": b}
        return fails(f"the moves are {first} and {second}", at, first - second == Fraction(22, 15))
    return holds("the moves are equal")


def _starts(book: Book) -> Finding:
    """Exact mean separation of relaxed starts under full participation against the repaired and the printed bound.

    The printed one adds a length, which must be the root mean square of the moves: no other may be taken.
    """
    b = Fraction(1, 8)
    for one, two in RUNS:
        means = [Fraction(sum(w), 3) for w in (one, two)]
        starts = [[m + b * (m - w) for w in run] for m, run in zip(means, (one, two), strict=True)]
        found = sum((abs(x - y) for x, y in zip(*starts, strict=True)), Fraction(0)) / 3
        before = sp.Rational(sum(abs(x - y) for x, y in zip(one, two, strict=True)), 3)
        own = At("fedinit.stability_start", {})(book).subs({s: before, beta: sp.Rational(b)})
        lengths = []
        for mean, run, start in zip(means, (one, two), starts, strict=True):
            apart = sp.Rational(sum((mean - w) ** 2 for w in run), 3)
            length = resolve("fedinit.stability_round", book).subs({Delta: apart, beta: sp.Rational(b)})
            moved = sp.Rational(sum((x - w) ** 2 for x, w in zip(start, run, strict=True)), 3)
            if length != sp.sqrt(moved):
                return fails(f"a move of {sp.sqrt(moved)} is said to be {length} long", {"last models": run})
            lengths.append(length)
        if sp.Rational(found) > min(own, before + max(lengths)):
            return fails(f"{found} > {min(own, before + length)}", {"last models": (one, two)})
    return holds("covered in three pairs of runs, by separation plus one length too")


VIRTUAL = Claim(
    "fedinit.stability.virtual_step",
    "The move to the next start does not depend on the data, so its length may be added to the separation once.",
    Kind.PROOF.at("Appendix A.3.2, 'virtual update'"),
    _moves,
    note="The move contains the server model, which depends on all data; were it the same in both runs it would not "
    "separate them at all. What is added is enough for another reason: server models are means of local ones, so the "
    "mean separation grows at most by the factor 1 + 2 beta, and no divergence is needed. With beta = 0 the whole "
    "second part of Theorem 3 can be dropped.",
    repair=Repair(
        "the separation after the relaxed start, without any divergence",
        {
            "three pairs of runs": _starts,
            "factor 1 + 2 beta": Same("fedinit.stability_start", s + 2 * beta * s),
            "its range": requires({"fedinit.stability_start": (beta >= 0,)}),
        },
        bound="fedinit.stability_start",
    ),
    defect=Defect.GAP,
)
