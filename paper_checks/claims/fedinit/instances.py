"""Claims that compare every explicit bound with exact runs, for each variant of FedInit, and with exact worst cases.

The variants are Algorithm 1 as listed (``dominates``: an absent client keeps its last local model), the released code
(``code``: moves are averaged instead of models), and the algorithm of the proofs (``all_train``: all clients train, N
of them are averaged). A theorem is about Algorithm 1, and is true or refuted there. Steps of the proofs average over
all clients a quantity that Algorithm 1 defines for participants alone: an absent client counts with its value if it
were drawn. Where the variants differ, a step of a proof fails by its reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, TYPE_CHECKING

import sympy as sp

from bounds.core import About
from bounds.fedinit.common import ALL_TRAIN
from bounds.fedinit.letters import B2, beta, C, D, Delta, Delta_next, eta, G2, g2, K, L, lam, mu, N, path2, sigma2, T
from bounds.vocabulary import final_divergence, initial_divergence, loss_decrease

from ..checkers import Dominates, resolve
from ..claim import Book, Check, Checks, Claim, Defect, fails, Finding, holds, Kind, Repair

if TYPE_CHECKING:
    from empirics.exact import Run

# ---- Algorithm 1 on equal parabolas w^2/2, where absent clients keep their local models: exact expectations ----


@dataclass(frozen=True)
class EqualParabolas:
    """A run of FedInit on clients that all have the loss w^2/2: C, N, K, eta K L, beta (a decimal), T and lambda.

    ``code``: moves are averaged, as in the released code. ``noise`` is the variance of a gradient; the start is w = 1
    without it, the minimiser with it.
    """

    clients: int
    cohort: int
    local_steps: int
    speed: Fraction
    relaxation: Fraction
    rounds: int
    contraction: Fraction
    code: bool = False
    noise: int = 0

    @cached_property
    def run(self) -> Run:
        from empirics.exact import expected, Group
        from empirics.training.setting import Setting

        step_size: Any = self.speed / self.local_steps
        return expected(
            f"fedinit(beta={float(self.relaxation)}, reading={'code' if self.code else 'intended'!r})",
            [Group(1, 0, self.noise, self.clients)],
            0 if self.noise else 1,
            Setting(self.rounds, self.cohort, local_steps=self.local_steps, step_size=step_size),
        )

    @property
    def quantities(self) -> dict[sp.Symbol, Any]:
        """The quantities of the bounds on a whole run."""
        values = {
            C: self.clients, N: self.cohort, K: self.local_steps, eta: self.speed / self.local_steps, beta:
            self.relaxation, T: self.rounds, lam: self.contraction, L: 1, mu: 1, B2: 1, G2: 0, sigma2: self.noise,
            D: 0 if self.noise else Fraction(1, 2), initial_divergence: 0, final_divergence: 0,
        }  # fmt: skip
        return {quantity: sp.Rational(value) for quantity, value in values.items()}

    @property
    def last_round(self) -> dict[sp.Symbol, Any]:
        """The quantities of the bounds on one round, for the last round."""
        server, rounds = self.run.server, self.run.rounds
        values = {
            Delta: server["divergence"][-2], Delta_next: server["divergence"][-1], g2: server["grad_norm_sq"][-2],
            path2: rounds["summed_grad_norm_sq"][-1], loss_decrease: rounds["loss_decrease"][-1],
        }  # fmt: skip
        return {quantity: sp.Rational(value) for quantity, value in values.items()}

    @property
    def limit_divergence(self) -> Fraction:
        """The limit 2v(1 - 1/C)/((1 + a)(1 - (1 - 1/C)a)) of Delta^T at beta = 0 with N = 1 and noise of variance 1."""
        keep, step = 1 - Fraction(1, self.clients), self.speed / self.local_steps
        added = step**2 * sum((1 - step) ** (2 * k) for k in range(self.local_steps))
        shrink = (1 - step) ** self.local_steps
        return 2 * added * keep / ((1 + shrink) * (1 - keep * shrink))


FEW = EqualParabolas(100, 1, 2, Fraction(1, 400), Fraction(1, 10), 100, Fraction(1, 2))
"""One of 100 clients takes part, beta = 1/10: the models grow."""
PLAIN = EqualParabolas(100, 1, 2, Fraction(1, 200), Fraction(0), 400, Fraction(4, 5))
"""FedAvg: absent clients keep models of earlier rounds."""
OLD = EqualParabolas(10, 1, 4, Fraction(1, 20), Fraction(0), 20, Fraction(1, 2))
"""FedAvg, one of ten clients: round 20 is the first in which Lemma 4's recursion fails."""
SWINGS = EqualParabolas(400, 40, 5, Fraction(1, 200), Fraction(1, 10), 61, Fraction(1, 2))
"""40 of 400 clients: in round 61 the server model passes the minimiser, moved more by old models than by gradients."""
TENTH = EqualParabolas(100, 10, 5, Fraction(1, 100), Fraction(1, 10), 60, Fraction(1, 2))
"""Ten of 100 clients, as in the experiments: round 60 is one of those in which the loss rises."""
MOVES = EqualParabolas(1000, 1, 2, Fraction(1, 10_000), Fraction(47, 400), 300, Fraction(1, 20), code=True)
"""The released code, one of 1000 clients: the divergence rises faster than the loss falls."""
NOISY = EqualParabolas(100_000, 1, 2, Fraction(1, 200_000), Fraction(0), 1, Fraction(1, 2), noise=1)
"""FedAvg from the minimiser with noise; the number of rounds does not matter."""


def exceeds(name: str, plan: EqualParabolas, measured: Callable[[EqualParabolas], Fraction]) -> Check:
    """Return the check that a bound holds in a run that meets its conditions; it fails if ``measured`` exceeds it."""

    def check(book: Book) -> Finding:
        bound = book[f"fedinit.{name}"]
        at = plan.quantities | (plan.last_round if Delta in bound.quantities else {})
        unmet = [c.words for c, r in zip(bound.numeric_conditions, bound.relations, strict=True) if not r.subs(at)]
        if unmet:
            return fails(f"the witness breaks {'; '.join(unmet)}", as_audited=False)
        exact, limit = sp.Rational(measured(plan)), resolve(bound.name, book).subs(at)
        if not exact > limit:
            return holds(f"{float(exact):.4g} is at most {float(limit):.4g}")
        witness = {"f_i": "w^2/2", "C": plan.clients, "N": plan.cohort, "K": plan.local_steps, "eta K L": plan.speed}
        witness |= {"beta": plan.relaxation, "lambda": plan.contraction} | ({} if plan.noise else {"T": plan.rounds})
        witness |= {"sigma_l^2": plan.noise, "start": "minimiser"} if plan.noise else {"w^0": 1}
        return fails(f"{float(exact):.4g} against {float(limit):.4g}", witness)

    return check


# ---- the statements ----


def _searched(name: str, reading: str) -> Check:
    """Return the check ``Dominates`` of a bound that is taken to cover one variant of FedInit."""

    def check(book: Book) -> Finding:
        bound = book[f"fedinit.{name}"]
        conditions = tuple(c for c in bound.conditions if c is not ALL_TRAIN or reading == "proof")
        of_variant = replace(bound, conditions=conditions, about=About("fedinit", reading))
        return Dominates(bound.name)(Book({bound.name: of_variant}))

    return check


def _last_divergence(plan: EqualParabolas) -> Fraction:
    return Fraction(plan.run.server["divergence"][-1])


def _mean_divergence(plan: EqualParabolas) -> Fraction:
    return Fraction(plan.run.server["divergence"][:-1].mean())


class Statement(NamedTuple):
    """A bound: name, words and place; the checks that refute it as listed and in the code, if any; notes by variant."""

    name: str
    words: str
    place: str
    listed: Checks | None = None
    code: Checks | None = None
    note: str = ""
    of_code: str = ""
    of_all: str = ""


EVERY_ROUND = "where all clients train in every round and N of them are averaged, as the proof assumes"
GROWS = (
    "A participant starts beyond the server model, away from its own model, which is C/N rounds old on average; its "
    "offset is averaged into the next server model. Without noise and with equal clients the expected models grow once "
    "a(1 + beta)(1 - N/C) > 1, where a = (1 - eta L)^K: for small steps from beta = N/(C - N) on "
    "(fedinit.start.threshold). All printed conditions are met, including Theorem 1's cap on the step size and the one "
    "that its bracket needs."
)
STALE = (
    "beta = 0, FedAvg, suffices: w^t = a^t while absent clients stay about C/N rounds behind, which the bound does not "
    "account for. At beta = 0 the verdict depends only on the meaning of w_{i,K}^{t-1} for absent clients."
)
SAME = "At beta = 0 the listing and the code are the same method, FedAvg."
WEAK = (
    "A weak search: in this variant it finds none of the violations of the descent inequality and of Theorems 4 and 5; "
    "exact runs with at least 100 clients, of which one takes part per round, show them."
)
OLD_RECURSION = exceeds("lemma_4_recursion", OLD, _last_divergence)
OLD_THEOREM_4 = exceeds("theorem_4", PLAIN, _mean_divergence)
OLD_BOTH = exceeds("theorem_4_recursion", PLAIN, _last_divergence)
LIMIT = exceeds("theorem_5", NOISY, lambda plan: plan.limit_divergence)

STATEMENTS = (
    Statement(
        "lemma_2",
        "With the proof's cap eta <= 1/(2 sqrt(2) K L), Lemma 2 bounds the exact local drift",
        "Lemma 2, eq. (24)",
        note="It is about one client's steps from its relaxed start, which the variants share, so that every client "
        "may be treated as if it were drawn. If absent clients counted with the models they keep, even FedAvg would "
        "break it: V_1 would contain their distance to the server model, and the bound does not.",
    ),
    Statement(
        "lemma_3",
        "Lemma 3 bounds the exact step of the server model",
        "Lemma 3, eq. (25)",
        exceeds("lemma_3", SWINGS, lambda plan: plan.run.rounds["global_step"][-1]),
        note="Averaged starts move the server model by beta times its distance to the mean of the clients' models, "
        "whatever N is, where the bound has 15 beta^2/N times the divergence: 1.4 times the bound there, 30 times with "
        "1000 of 10,000 clients.",
        of_code="Moves are averaged: the relaxed starts enter through the gradients alone.",
    ),
    Statement(
        "lemma_4_recursion",
        "Lemma 4's recursion bounds the exact divergence",
        "Lemma 4, proof; Table 4",
        OLD_RECURSION,
        OLD_RECURSION,
        "beta = 0, FedAvg, suffices: absent clients stay behind while the bound shrinks with the gradient.",
        SAME,
    ),
    Statement(
        "descent",
        "The descent inequality holds in every round",
        "Appendix A.2.2, last display",
        exceeds("descent", TENTH, lambda plan: plan.run.server["grad_norm_sq"][-2]),
        exceeds("descent", MOVES, lambda plan: plan.run.server["grad_norm_sq"][-2]),
        "The loss rises where old models carry the server model past the minimiser. The repair's search is weak: it "
        "finds none of the violations planted in it.",
        "The distance of the server model from the initial models of clients not yet drawn grows faster than the loss "
        "falls. The step size meets the printed caps, but not the one that the bracket needs "
        "(fedinit.step_size_cap_descent).",
        "A weak search: it finds none of the violations planted in it.",
    ),
    Statement(
        "theorem_4_recursion",
        "Theorem 4's recursion bounds the exact divergence",
        "Appendix A.2.5",
        OLD_BOTH,
        OLD_BOTH,
        STALE,
        SAME,
    ),
    Statement(
        "theorem_1",
        "Theorem 1 bounds the exact mean squared gradient",
        "Theorem 1, eq. (9)",
        exceeds("theorem_1", FEW, lambda plan: plan.run.server["grad_norm_sq"][:-1].mean()),
        note=GROWS,
        of_code=WEAK,
    ),
    Statement(
        "theorem_2",
        "Theorem 2 bounds the exact loss gap",
        "Theorem 2, eq. (11)",
        exceeds("theorem_2", FEW, lambda plan: plan.run.server["optimality_gap"][-1]),
        note=f"{GROWS} If all clients train, both sides tend to D as the step size vanishes.",
        of_code=WEAK,
    ),
    Statement(
        "theorem_4",
        "Theorem 4 bounds the exact mean divergence",
        "Theorem 4, eq. (16)",
        {"a relaxed start": exceeds("theorem_4", FEW, _mean_divergence), "FedAvg": OLD_THEOREM_4},
        OLD_THEOREM_4,
        f"{STALE} With beta > N/(C - N) the models themselves grow.",
        SAME,
    ),
    Statement(
        "theorem_5",
        "Theorem 5 bounds the exact last divergence",
        "Theorem 5, eq. (17)",
        {"noise alone, as T grows": LIMIT, "a relaxed start": exceeds("theorem_5", FEW, _last_divergence)},
        LIMIT,
        "beta = 0, FedAvg from the minimiser, suffices: with noise alone Delta^T converges to "
        "2v(1 - 1/C)/((1 + a)(1 - (1 - 1/C)a)) for N = 1, where v is the variance that a round adds: about C rounds of "
        "noise, while the bound has a number of rounds that does not depend on C. With beta > N/(C - N) the divergence "
        "grows without limit.",
        SAME,
    ),
)


def _variants(each: Statement) -> Iterator[Claim]:
    """Yield the claims that the statement holds in Algorithm 1 as listed, in the code, and if all clients train."""
    where, everyone = Kind.THEOREM.at(each.place), _searched(each.name, "proof")
    step_of_proof = not each.name.removeprefix("theorem_").isdigit()
    about = (f"fedinit.{each.name}",)
    defect = Defect.READING if step_of_proof else Defect.REFUTED
    yield Claim(
        f"fedinit.{each.name}.dominates",
        f"{each.words} in Algorithm 1 as listed, where an absent client keeps its last local model.",
        where,
        each.listed or _searched(each.name, "intended"),
        note=f"{each.note} See fedinit.{each.name}.code, fedinit.{each.name}.all_train.",
        about=about,
        repair=Repair(EVERY_ROUND, everyone) if each.listed else None,
        defect=defect if each.listed else None,
    )
    yield Claim(
        f"fedinit.{each.name}.code",
        f"{each.words} in the released code, which averages moves instead of models.",
        where,
        each.code or _searched(each.name, "code"),
        note=each.of_code,
        defect=Defect.READING if each.code else None,
        about=about,
        ours=True,
    )
    words = f"{each.words} {EVERY_ROUND}."
    yield Claim(f"fedinit.{each.name}.all_train", words, where, everyone, note=each.of_all, about=about, ours=True)


CLAIMS = tuple(claim for each in STATEMENTS for claim in _variants(each))
