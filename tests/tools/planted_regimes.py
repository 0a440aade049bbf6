"""Statements that are false in one regime only: which of them a search finds says what it can see.

A plant multiplies a statement that is not refuted by ``min(1, (r0 / r)^a)`` for one variable r of the regime, or takes
a needed term away beyond some r0: it is as true as the statement up to r0, and false far beyond.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import isqrt, prod

import sympy as sp

from bounds.assumptions import FULL_PARTICIPATION
from bounds.catalog import get
from bounds.core import About, Bound, Condition
from bounds.fedinit.common import ALL_TRAIN, PROOF
from bounds.operators import ClientSum
from bounds.vocabulary import (
    client_weight as p_k,
    clients as C,
    cohort as N,
    contraction as lam,
    dissimilarity_offset as G2,
    gradient_variance as s2,
    iterations as T_steps,
    local_steps as K,
    pl_constant as mu,
    relaxation as beta,
    rounds as T,
    samples as n,
    smoothness as L,
    step_size as eta,
)
from paper_checks.falsifier.falsify import serving

Terms = Mapping[str, sp.Expr]


def times(bound: Bound, factor: sp.Expr, *conditions: Condition) -> Bound:
    """The bound with all nonnegative terms times a factor, under further conditions."""
    terms = {n: t if n in bound.signed else t * factor for n, t in bound.terms.items()}
    further = [condition for condition in conditions if condition not in bound.conditions]
    return replace(bound, terms=terms, conditions=(*bound.conditions, *further), off_by={})


def changed(bound: Bound, term: str, change: Callable[[sp.Expr, Terms], sp.Expr], *conditions: Condition) -> Bound:
    """The bound with one term changed; ``change`` is told it and all terms, abbreviations written out."""
    spelled = bound.spelled_terms
    terms = {**spelled, term: change(spelled[term], spelled)}
    return replace(bound, terms=terms, where={}, conditions=(*bound.conditions, *conditions), off_by={})


def at_most(factor: sp.Expr) -> sp.Expr:
    return sp.Min(1, factor)


FULL = Condition.assume(FULL_PARTICIPATION)


def regimes() -> dict[str, Bound]:
    """Eighteen plants by what they take away, each beyond the reach of a few clients, rounds and local steps."""
    one = get("fedinit.theorem_1")
    lemma, lemma_2 = get("decaying_k.lemma_1"), get("fedinit.lemma_2")
    stale = get("fedinit.lemma_4_recursion")
    return {
        "1 lemma_1, many clients": times(lemma, at_most(16 / C)),
        "2 lemma_3, few of many": times(get("fedinit.lemma_3"), at_most(16 * N / C)),
        "3 lemma_2, many steps": times(lemma_2, at_most((64 / K) ** 2)),
        "4 mean_update, many steps": times(get("fedcog.mean_update"), at_most(64 / K)),
        "5 theorem_1, many rounds": times(one, at_most(300 / T), FULL),
        "6 fedcog.theorem, many rounds": times(get("fedcog.theorem"), at_most(1000 / T)),
        "7 theorem_1_repaired, many steps": times(get("decaying_k.theorem_1_repaired"), at_most(10**6 / T_steps)),
        "8 theorem_2_potential, stiff": times(get("fedinit.theorem_2_potential"), at_most(10**4 * mu / L), FULL),
        "9 theorem_1, small lambda": times(one, at_most((100 * lam) ** 2), FULL),
        "10 dissimilarity, far start": changed(
            get("fedcog.dissimilarity"), "global gradient", lambda t, _: sp.Min(t, 10**14 * G2)
        ),
        "11 lemma_2, noise below G": changed(
            lemma_2, "dissimilarity", lambda t, _: t.xreplace({G2: sp.Min(G2, 10**4 * s2)})
        ),
        "12 theorem_1, G below noise": changed(
            one, "gradient noise", lambda t, all_: sp.Min(t, 10**6 * all_["dissimilarity"]), FULL
        ),
        "13 theorem_4_recursion, edge of beta": times(
            get("fedinit.theorem_4_recursion"), at_most(1000 * (1 - 96 * beta**2))
        ),
        "14 lemma_1, edge of eta": times(lemma, at_most(10**4 * (sp.Rational(1, 4) - eta * L) + sp.Rational(1, 100))),
        "15 descent, unequal weights": changed(
            get("fedcog.descent"),
            "gradient noise",
            lambda t, _: t.xreplace({ClientSum(p_k**2): sp.Min(ClientSum(p_k**2), sp.Rational(1, 4))}),
        ),
        "16 gaussian_mean_bound, many clients": times(get("fedals.gaussian_mean_bound"), at_most(16 / C)),
        "17 theorem_1, start at the optimum": changed(
            one, "dissimilarity", lambda t, all_: sp.Min(t, 10**8 * all_["initial loss"]), FULL
        ),
        "18 lemma_4_recursion, stale models": replace(
            stale,
            about=About("fedinit"),
            conditions=tuple(c for c in stale.conditions if "all clients run their local steps" not in c.words),
        ),
    }


SEARCHED = (
    "decaying_k.lemma_1", "decaying_k.lemma_1_sharp", "decaying_k.lemma_2_repaired", "decaying_k.theorem_1_repaired",
    "decaying_k.theorem_1_sharp",
    "fedals.one_round", "fedals.one_round_sharp", "fedals.one_round_inexact_joined", "fedals.one_round_inexact_sharp",
    "fedals.rounds_inexact", "fedals.participation_case1_counted",
    "fedcog.mean_update", "fedcog.descent", "fedcog.gradient_drift", "fedcog.descent_one_round",
    "fedcog.smoothness_step", "fedcog.theorem", "fedcog.theorem_sharp",
    "fedinit.lemma_2", "fedinit.lemma_3", "fedinit.lemma_4_recursion", "fedinit.descent",
    "fedinit.theorem_1", "fedinit.theorem_1_sharp", "fedinit.theorem_2", "fedinit.theorem_4_recursion",
    "fedinit.theorem_4_recursion_sharp", "fedinit.theorem_4", "fedinit.theorem_5", "fedinit.theorem_2_potential",
    "fedinit.theorem_5_geometric",
    "classics.field_guide_theorem_1", "classics.li_theorem_1", "classics.li_theorem_2", "classics.li_theorem_3",
    "classics.local_gd_theorem_1", "classics.local_sgd_theorem_1", "classics.local_sgd_theorem_2",
    "classics.bottou_4_6", "classics.bottou_4_7", "classics.bottou_4_8", "classics.needell_2_1",
    "classics.scaffold_convex",
)  # fmt: skip
"""Statements whose verdict, or that of a repair or a reading of theirs, is a search's."""
REFUTED = ("fedinit.theorem_1", "fedinit.theorem_2")
"""False of Algorithm 1 itself, where a search finds that and not the plant: planted where all clients train."""
SIZES = {C: ("clients",), K: ("local_steps",), T: ("rounds",), T_steps: ("rounds", "local_steps"), n: ("samples",)}
"""The numbers of an instance whose product a variable of the regime is."""


@dataclass(frozen=True)
class Planted:
    """A statement multiplied by ``min(1, (r0/r)^2)``, and the far end of the axis of r.

    Whether it is false there is not known of itself: a statement may be looser than that. ``far`` are the numbers to
    hold for who is told where to look.
    """

    bound: Bound
    far: Mapping[str, float]


def mechanical() -> dict[str, Planted]:
    """In every searched statement a plant for each of clients, samples, local steps and rounds, with everybody there.

    r0 lies in the middle of the axis by its logarithm, whose ends are those of the first family that serves. A size
    that the statement does not name counts where the family's instances differ in it and the statement is on learning.
    """
    found = {}
    for name in SEARCHED:
        bound = get(name)
        if name in REFUTED:
            bound = replace(bound, about=PROOF, conditions=(*bound.conditions, ALL_TRAIN))
        family = serving(bound)[0][0]
        ranges = {p.name: p for p in family.box(bound).parameters}
        learned = family.name == "atoms"
        about_all = () if learned or C in bound.quantities or bound.about is None else (FULL,)
        for variable, words in SIZES.items():
            asked = variable in bound.quantities or (learned and variable in (C, n))
            if not asked or any(word not in ranges for word in words):
                continue
            ends = [ranges[word] for word in words]
            middle = isqrt(int(prod(end.low * end.high for end in ends)))
            planted = times(bound, at_most((sp.Integer(middle) / variable) ** 2), *about_all)
            found[f"{name}, large {variable.name}"] = Planted(planted, {end.name: end.high for end in ends})
    return found
