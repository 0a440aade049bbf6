"""Section 4.3.2 and Appendix A.3: uniform stability, from one local step to the separation of two runs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import sympy as sp

from bounds.fedinit.letters import (
    beta,
    C,
    c,
    Delta,
    eta,
    K,
    L,
    L_G,
    mu_0,
    root_sum,
    S,
    s,
    sigma2,
    sigma_l,
    T,
    t_0,
    tau,
    U,
)
from bounds.vocabulary import stability

from ..checkers import At, ImpliedBy, OrderIs, requires, resolve, Same, TendsTo, term, Total
from ..claim import Book, Check, Claim, Defect, fails, Finding, Grade, holds, judged, Kind, Repair

GROWTH = (T * K / t_0) ** (c * L)
COINS = tuple(product((0, 1), repeat=4))
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
    said = f"generalisation error {gap} against stability {worst}, all data sets enumerated"
    return judged(gap <= bound, said, grade=Grade.SEARCHED)


LEMMA_1 = Claim(
    "fedinit.lemma_1",
    "(13): the generalisation error is at most the uniform stability.",
    Kind.THEOREM.at("Lemma 1, eq. (13)"),
    {"statement": Same(Total(((1, "fedinit.lemma_1"), (1, s))), stability + s), "on coins": _coins},
    note="With the largest change over pairs of data sets. Were the data averaged before the supremum over an "
    "independent sample, the change would be 0 by symmetry.",
)


def _lipschitz_clients(book: Book) -> Finding:
    """f_1 = a w, f_2 = -a w: the global loss is constant, the losses of samples are not."""
    bound = At("fedinit.lemma_7", {s: 0, sigma2: 0, eta: 1, L_G: 1})(book)
    apart = 10  # one step of size 1 on two different samples, of slope a = 5 and -5
    said = f"one step separates the runs by {apart}, Lemma 7 allows {bound}"
    return judged(apart <= bound, said, {"f_1": "5w and -5w on two samples", "f": "0", "L_G": 1}, bound == 2)


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
        "a step": Same("fedinit.stability_step", Total(((1 - 1 / S, "fedinit.lemma_6"), (1 / S, "fedinit.lemma_7")))),
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
    at = {"last models": f"{one}, {two}", "client": 3, "beta": b}
    return judged(first == second, f"the moves are {first} and {second}", at, first - second == Fraction(22, 15))


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
            lengths.append(resolve("fedinit.stability_round", book).subs({Delta: apart, beta: sp.Rational(b)}))
            moved = sp.sqrt(sp.Rational(sum((x - w) ** 2 for x, w in zip(start, run, strict=True)), 3))
            if lengths[-1] != moved:
                return fails(f"a move of {moved} is said to be {lengths[-1]} long", {"last models": run})
        if sp.Rational(found) > min(own, before + max(lengths)):
            return fails(f"{found} > {min(own, before + max(lengths))}", {"last models": (one, two)})
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

# ---- the separation of two runs, summed over steps and rounds ----

LEFT_OVER: sp.Expr = (1 - 1 / S) * c * L
"""Exponent of the growth with the chance of the same sample."""


def _step_adds(book: Book) -> sp.Expr:
    """What a step adds to the separation at Theorem 3's step size with mu_0 = cK, times the number of the step."""
    step_size = At("fedinit.step_size_theorem_3", {mu_0: c * K})
    return sp.expand(tau * At("fedinit.stability_step", {s: 0, eta: step_size})(book))


def _summed(start: int) -> Check:
    """The exact recursion d <- (1 + a/tau) d + b/tau from step t_0 + start on, against the closed form."""

    def run(book: Book) -> Finding:
        at = {c: 1, L: sp.Rational(1, 2), S: 10**6, L_G: 1, sigma2: 1, K: 1, t_0: 1}
        growth, added = float(LEFT_OVER.subs(at)), float(_step_adds(book).subs(at))
        closed = sp.lambdify(T, term("fedinit.stability_separation", "stochastic gradients")(book).subs(at))
        distance = 0.0
        for step in range(1 + start, 400):
            distance = (1 + growth / step) * distance + added / step
            if distance > closed(step):
                said = f"after step {step} the recursion is at {distance:.6g}, the closed form at {closed(step):.6g}"
                return fails(said, {**{q.name: v for q, v in at.items()}, "first step": 1 + start}, step > 50)
        return holds("below the closed form for 400 steps")

    return run


SUMMED = Claim(
    "fedinit.stability.sum",
    "The steps from t_0 on add up to at most 2(L_G + S sigma_l)/((S-1)L) (TK/t_0)^{cL}.",
    Kind.PROOF.at("Appendix A.3.2, last display, first term"),
    _summed(0),
    note="A slip of an index: the sums begin at t_0, the integrals that bound them would have to begin at t_0 - 1. "
    "When the runs first differ in step t_0 + 1 the display holds.",
    repair=Repair("from tau = t_0 + 1 on", _summed(1)),
    defect=Defect.SLIP,
)

SUM_CONSTANTS = Claim(
    "fedinit.stability.separation",
    "The first term is what a step adds, 2c(L_G/S + sigma_l), over its growth (1 - 1/S)cL, times (TK/t_0)^{cL}; the "
    "second is the drift's factor times the same growth and the sum of sqrt(Delta^t).",
    Kind.PROOF.at("Appendix A.3.2, last display"),
    {
        "steps": Same(
            term("fedinit.stability_separation", "stochastic gradients"), Total(((GROWTH / LEFT_OVER, _step_adds),))
        ),
        "drift": Same(
            term("fedinit.stability_separation", "client drift"), (1 + beta) ** (1 / (beta * c * L)) * GROWTH * root_sum
        ),
    },
    damaged="the exponent 1/(beta c L); the base TK/t_0 of the second growth",
)

EXPONENT = Claim(
    "fedinit.stability.exponent",
    "The factor (1 + beta)^{1/(beta c L)} covers the 1 + beta of a round.",
    Kind.PROOF.at("Appendix A.3.2, last display"),
    ImpliedBy(1 + beta, (1 + beta) ** (1 / (beta * c * L)), where=(beta > 0,)),
    note="Only while beta c L <= 1, which the small mu_0 L of the text gives. Where it does, it overshoots without "
    "bound: with c = mu_0/K it is (1 + beta)^{K/(beta mu_0 L)}.",
    repair=Repair(
        "while beta c L <= 1",
        ImpliedBy(1 + beta, (1 + beta) ** (1 / (beta * c * L)), where=(beta > 0, beta * c * L <= 1)),
        bound="fedinit.theorem_3",
    ),
    defect=Defect.GAP,
)
