"""Every explicit bound compared with exact runs, for each variant of FedInit, and with exact worst cases.

The variants are Algorithm 1 as listed (``dominates``: an absent client keeps its last local model), the released code
(``code``: moves are averaged instead of models), and the algorithm of the proofs (``all_train``: all clients train, N
of them are averaged). A theorem is about Algorithm 1, and is true or refuted there. Steps of the proofs average over
all clients a quantity that Algorithm 1 defines for participants alone: an absent client counts with its value if it
were drawn. Where the variants differ, a step of a proof fails by its reading.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TYPE_CHECKING

import sympy as sp

from bounds.core import About
from bounds.fedinit.common import ALL_TRAIN
from bounds.fedinit.letters import B2, beta, C, D, Delta, Delta_next, eta, G2, g2, K, L, lam, mu, N, path2, sigma2, T
from bounds.vocabulary import final_divergence, initial_divergence, loss_decrease

from ..checkers import Dominates, resolve
from ..claim import Book, fails, Finding, holds

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


def last_gradient(plan: EqualParabolas) -> Any:
    return plan.run.server["grad_norm_sq"][-2]


def mean_gradient(plan: EqualParabolas) -> Any:
    return plan.run.server["grad_norm_sq"][:-1].mean()


def last_gap(plan: EqualParabolas) -> Any:
    return plan.run.server["optimality_gap"][-1]


def last_step(plan: EqualParabolas) -> Any:
    return plan.run.rounds["global_step"][-1]


def last_divergence(plan: EqualParabolas) -> Any:
    return plan.run.server["divergence"][-1]


def mean_divergence(plan: EqualParabolas) -> Any:
    return plan.run.server["divergence"][:-1].mean()


def limit_divergence(plan: EqualParabolas) -> Any:
    """Return 2v(1 - 1/C)/((1 + a)(1 - (1 - 1/C)a)), the limit of Delta^T at beta = 0 with N = 1 and noise alone."""
    keep, step = 1 - Fraction(1, plan.clients), plan.speed / plan.local_steps
    added = step**2 * sum((1 - step) ** (2 * k) for k in range(plan.local_steps))
    shrink = (1 - step) ** plan.local_steps
    return 2 * added * keep / ((1 + shrink) * (1 - keep * shrink))


def exceeds(book: Book, name: str, plan: EqualParabolas, measured: Callable[[EqualParabolas], Any]) -> Finding:
    """The bound holds in a run that meets its conditions; it fails if ``measured`` exceeds it."""
    bound = book[name]
    at = plan.quantities | (plan.last_round if Delta in bound.quantities else {})
    unmet = [c.words for c, r in zip(bound.numeric_conditions, bound.relations, strict=True) if not r.subs(at)]
    if unmet:
        return fails(f"the witness breaks {'; '.join(unmet)}", as_audited=False)
    exact, limit = sp.Rational(measured(plan)), resolve(name, book).subs(at)
    if not exact > limit:
        return holds(f"{float(exact):.4g} is at most {float(limit):.4g}")
    witness = {"f_i": "w^2/2", "C": plan.clients, "N": plan.cohort, "K": plan.local_steps, "eta K L": plan.speed}
    witness |= {"beta": plan.relaxation, "lambda": plan.contraction} | ({} if plan.noise else {"T": plan.rounds})
    witness |= {"sigma_l^2": plan.noise, "start": "minimiser"} if plan.noise else {"w^0": 1}
    return fails(f"{float(exact):.4g} against {float(limit):.4g}", witness)


def searched(book: Book, name: str, variant: str) -> Finding:
    """A search finds no violation of the bound if it is taken to cover one variant of FedInit."""
    bound = book[name]
    conditions = tuple(c for c in bound.conditions if c is not ALL_TRAIN or variant == "proof")
    of_variant = replace(bound, conditions=conditions, about=About("fedinit", variant))
    return Dominates(name)(Book({name: of_variant}))
