"""What FedInit's claims share: the paper's letters, its places, findings of own computations, printed conditions."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from bounds.papers import Source
from bounds.vocabulary import (
    clients as C,
    cohort as N,
    contraction as lam,
    dissimilarity_factor as B2,
    dissimilarity_offset as G2,
    divergence as Delta,
    grad_norm_sq as g2,
    gradient_variance as sigma2,
    initial_gap as D,
    lipschitz as L_G,
    local_steps as K,
    loss_cap as U,
    next_divergence as Delta_next,
    pl_constant as mu,
    relaxation as beta,
    rounds as T,
    samples as S,
    smoothness as L,
    step_size as eta,
    step_size_scale as c,
    summed_divergence_root as root_sum,
    summed_grad_norm_sq as path2,
    untouched_steps as t_0,
)

from ..checkers import Computed
from ..checkers.formulas import relations
from ..claim import Book, Finding, Grade, Status

__all__ = [
    "B2",
    "G2",
    "L_G",
    "C",
    "D",
    "Delta",
    "Delta_next",
    "K",
    "L",
    "N",
    "S",
    "T",
    "U",
    "beta",
    "c",
    "eta",
    "fails",
    "g2",
    "holds",
    "lam",
    "mu",
    "path2",
    "place",
    "requires",
    "root_sum",
    "sigma2",
    "sigma_l",
    "t_0",
]  # fmt: skip

sigma_l = sp.sqrt(sigma2)


def place(where: str) -> Source:
    """A place of the paper."""
    return Source("fedinit", where)


def holds(evidence: str, grade: Grade = Grade.EXACT) -> Finding:
    return Finding(Status.HOLDS, grade, evidence)


def fails(evidence: str, witness: Mapping[str, object], as_audited: bool = True) -> Finding:
    """A failure with the instance that shows it; ``as_audited`` is False when it fails in another way than known."""
    return Finding(Status.FAILS, Grade.EXACT, evidence, {k: str(v) for k, v in witness.items()}, as_audited)


def requires(asked: Mapping[str, tuple[sp.Basic, ...]]) -> Computed:
    """The numeric conditions of each bound are exactly these relations, whatever their order."""

    def compare(book: Book) -> Finding:
        for name, wanted in asked.items():
            has = set(map(_plain, relations(book[name])))
            if has != set(map(_plain, wanted)):
                odd = has.symmetric_difference(map(_plain, wanted))
                return fails(f"{name} differs in {'; '.join(sorted(map(str, odd)))}", {"bound": name})
        return holds(f"the numeric conditions of {', '.join(asked)} are those of the text, written out again")

    return Computed("compares the numeric conditions with those read from the text", compare)


def _plain(relation: sp.Basic) -> tuple[str, sp.Basic, sp.Basic]:
    """A relation as (kind, left, right) with sums expanded, so that equal ones compare equal."""
    left, right = (sp.factor(side) if not side.has(sp.Min, sp.exp) else side for side in relation.args)
    return type(relation).__name__, left, right
