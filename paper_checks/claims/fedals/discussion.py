"""Section 4.1, discussion: 1/K^2 for iid clients, non-iidness as what hurts; what Theorem 4.1 needs, stated or not."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction as F
from itertools import product

import sympy as sp

from bounds.fedals.letters import Delta, K, L, mu, n, sigma_k_sq, w
from bounds.operators import ClientMean as E_k
from bounds.vocabulary import client_distance_sq

from ..checkers import At, Broken, ImpliedBy, Informative, MonotoneIn, OrderIs, requires, Same
from ..checkers.formulas import resolve
from ..claim import Book, Check, Claim, claimed, Defect, fails, Finding, Grade, holds, judged, Kind, Repair, Status
from .common import alike, NONNEGATIVE, shared
from .one_round import CLOSED, D, d, DISCUSSION, DRIFT, GAP, IID, LOCAL, LOCAL_GAP, NON_IIDNESS, r

SAMPLES = ((3, 1), (1, -1))
"""The equally likely samples (h, y) of the first client, for the loss ``h/2 (theta - y)^2``: mu = 1 and L = 3."""
PLACES = (0, -10, -100, -1000)
FACTOR = 1 / K + sp.sqrt(2 * (1 - 1 / K))
"""(6) over a local gap over K, for squared distances and identical clients."""


def _distant(book: Book) -> Finding:
    """Two clients of equal weight with one sample each, which their models fit; client 2, always at D, adds no gap."""
    place, gap, local = sp.Symbol("D"), sp.S.Zero, sp.S.Zero
    for (own, at), (h, y) in product(SAMPLES, repeat=2):
        average = (at + place) / 2
        gap += sp.expand(h * (average - y) ** 2 - own * (average - at) ** 2) / 16
        local += sp.Rational(h * (at - y) ** 2, 8)
    at_places = ", ".join(str(gap.subs(place, here)) for here in PLACES)
    said = f"local gaps {local} and 0, gap {gap}: {at_places} at D = {', '.join(map(str, PLACES))}"
    return judged(gap == (4 - place) / 8 and local == 2, said, grade=Grade.PROVED)


HURTS = Claim(
    "fedals.discussion.non_iid_hurts",
    "Within the assumptions of Theorem 4.1 the gap itself can grow with the distance of the clients without limit, at "
    "unchanged local gaps; for squared distances it does not change with it.",
    Kind.REMARK.at(DISCUSSION),
    {
        "h/2 (theta - y)^2, client 1 draws (h, y) = (3, 1) or (1, -1), client 2 is at D": _distant,
        "squared distances": Same(lambda book: resolve(GAP, book).diff(client_distance_sq), 0),
    },
    note="Of the order of the second term of (6). The gradients of client 1 have the variance (theta - 2)^2: the "
    "farther away client 2 is, the more noise the averaged model meets. A bound without non-iidness has to exclude "
    "this: fedals.theorem_4_1.noise does so by a variance bound for all models, which least squares with different "
    "inputs "
    "does not meet (fedals.theorem_4_3.regression).",
    ours=True,
)

SOLE_TERM = Claim(
    "fedals.discussion.iid_non_iidness",
    "In the iid setting the first term is the only one: the non-iidness of identically distributed clients vanishes.",
    Kind.REMARK.at(DISCUSSION),
    Same(At(alike(NON_IIDNESS), {r: 0}), 0, difference=(1 - 1 / K) * D / 2, where=(sp.Gt(D, 0), sp.Gt(K, 1))),
    note="It is a difference of training risks on finite samples. For squared distances and iid clients of equal "
    "weight and sample count it is half the local gap times 1 - 1/K, and the second term of (6) is then the larger "
    "one: fedals.discussion.iid_second_term.",
    defect=Defect.REFUTED,
)


def _unequal(book: Book) -> Finding:
    """Two iid clients of unequal weight, or with 1 and 100 samples, squared distances."""
    ratios = []
    for weights, gaps in (([0.99, 0.01], [1, 1]), ([0.5, 0.5], [1, 0.01])):
        parts = book[CLOSED].parts(client_weight=weights, local_gap=gaps, client_distance_sq=[0, 0], smoothness=1)
        ratios.append(float(parts["non-iidness"] / parts["local generalization"]))
    said = "the second term is {:.3g} of the first at weights 0.99 and 0.01, {:.3g} for 1 and 100 samples"
    return judged(max(ratios) < 2, said.format(*ratios))


SECOND_TERM = Claim(
    "fedals.discussion.iid_second_term",
    "For squared distances and iid clients of equal weight and sample count the second term of (6) is at least twice "
    "the first, from two clients on.",
    Kind.REMARK.at(DISCUSSION),
    {
        "equal weights": ImpliedBy(
            lambda book: 2 * resolve(At(alike(LOCAL), {mu: L}), book),
            At(alike(DRIFT), {mu: L, d: At(alike(NON_IIDNESS), {r: 0})}),
            where=(sp.Gt(D, 0), sp.Ge(K, 2)),
        ),
        "equal weights and sample counts are needed": _unequal,
    },
    note="Their ratio is sqrt(2 K (K - 1)): 2 for two clients, and larger for more. With nearly all weight on one "
    "client the first term is the larger one; at equal weights and unequal sample counts of two clients the ratio is "
    "above sqrt(2). Where curvatures differ the first can be the larger one too: one sample of h/2 (theta - y)^2, "
    "(h, y) = (9, 1) or (1, -1), leaves two clients a ratio of 2/3.",
    ours=True,
)

IID_BOUND = Claim(
    "fedals.discussion.one_over_k_squared",
    "For iid clients the gap of the averaged model is at most L/mu of a local gap times a squared weight, or over K^2.",
    Kind.REMARK.at("Sections 2 and 4.1, Discussion"),
    {
        "weights squared (v1)": Same(
            At(GAP, {Delta: D}), At(IID, {mu: L, Delta: D}), difference=E_k(w * (1 - w)) * D, where=(sp.Gt(D, 0),)
        ),
        "uniform weights": Same(alike(GAP), At(alike(IID), {mu: L}), ratio=K, where=(sp.Gt(K, 1),)),
        "found by search": Broken(IID, f"{IID}.json"),
        "signs": requires({IID: NONNEGATIVE[:1]}),
    },
    wrong=("weights squared (v1)", "uniform weights", "found by search"),
    note="A bound of this size would be false: for l = L/2 |theta - z|^2, where L = mu, the gap of iid clients of "
    "equal weight and sample count is exactly a local gap over K, which is K times the claimed bound. No bound that "
    "holds for all of them falls faster than 1/K, the order of earlier bounds: there is no improvement over them.",
    repair=Repair(
        "(6) itself: for iid clients of equal weight and sample count the non-iidness is at most L/(2 mu) (1 - 1/K) "
        "local gaps, and (6) at most L/mu (1/K + sqrt(2 (1 - 1/K))) times a local gap over K",
        {
            # Non-iidness: L/2 times the squared distance of average and own model, of variance at most Delta/mu.
            "any loss": Same(
                At(alike("fedals.one_round"), {d: L / (2 * mu) * (1 - 1 / K) * D}),
                L / mu * FACTOR * D / K,
                where=(sp.Gt(D, 0), sp.Ge(K, 1)),
            ),
            "above the gap": ImpliedBy(alike(GAP), At(alike(CLOSED), {r: 0}), where=(sp.Ge(D, 0), sp.Ge(K, 1))),
            "squared distances": Same(At(alike(CLOSED), {r: 0}), FACTOR * D / K, where=(sp.Gt(D, 0), sp.Ge(K, 1))),
        },
        "fedals.gaussian_mean_bound",
    ),
    about=("fedals.one_round",),
    defect=Defect.REFUTED,
)

POOLED_GAP = 2 * sp.Rational(1, 2) * sigma_k_sq / (L * n * K)
"""One model fitted to the K n samples of all: twice the excess of a mean of K n samples over the population's."""

ADDITIONAL = Claim(
    "fedals.discussion.additional_factor",
    "Averaging local models improves on the 1/K that the larger pooled data set brings by a further 1/K.",
    Kind.REMARK.at("Section 4.1, Discussion", "v2"),
    Same(alike(At(GAP, {Delta: LOCAL_GAP})), shared(POOLED_GAP) / K, ratio=K, where=(sp.Gt(K, 1),)),
    note="For squared distances, equal weights and equal numbers of samples the average of the local models is the "
    "model fitted to all data: their gaps are the same number. Only v2 makes this remark, which follows from "
    "fedals.discussion.one_over_k_squared.",
    defect=Defect.REFUTED,
)


@claimed(
    "fedals.discussion.need_not_fall",
    "For non-iid clients the bound need not decrease with averaging.",
    Kind.REMARK.at(DISCUSSION),
    note="Nor need the gap itself: fedals.discussion.non_iid_hurts.",
)
def need_not_fall(book: Book) -> Finding:
    bound = resolve(alike(CLOSED), book)
    here = {L: sp.Integer(1), D: sp.Rational(3, 10), r: sp.Integer(50)}
    alone = bound.subs({**here, K: 1, r: 0})
    two = bound.subs({**here, K: 2})
    said = (
        f"squared distances, local gap 3/10: {float(alone):.4g} alone, {float(two):.4g} for two clients whose squared "
        "distance from their mean is 50"
    )
    return judged(two > alone, said)


@claimed(
    "fedals.discussion.contrast",
    "In the number of clients the bound falls in another order for iid clients than for non-iid ones, which shows why "
    "FedAvg works for the former and need not for the latter.",
    Kind.REMARK.at(DISCUSSION),
    note="For squared distances and equal weights: at any fixed distance of the clients the bound falls like 1/K, and "
    "so it does at distance zero. Only the constant in front differs. (Adding a client that is far off may raise it: "
    "fedals.discussion.need_not_fall.)",
    defect=Defect.REFUTED,
)
def contrast(book: Book) -> Finding:
    apart, iid = alike(CLOSED), At(alike(CLOSED), {r: 0})
    orders = {
        "non-iid": OrderIs(apart, K, 1 / K, where=(sp.Gt(D, 0), sp.Gt(r, 0)))(book),
        "iid": OrderIs(iid, K, 1 / K, where=(sp.Gt(D, 0),))(book),
    }
    if all(f.status is Status.HOLDS for f in orders.values()):
        return fails(f"both are of the order 1/K: {orders['iid'].evidence}")
    return holds("; ".join(f"{name}: {f.evidence}" for name, f in orders.items()))


PRIOR = Claim(
    "fedals.related.tighter",
    "For iid clients (6) is tighter than the bounds of Barnes et al., Yagli et al. and Sun et al., which are local "
    "gaps over the number of clients.",
    Kind.REMARK.at("Section 1, Contribution I; Section 2"),
    Same(At(alike(CLOSED), {r: 0}), D / K, ratio=FACTOR, where=(sp.Gt(D, 0), sp.Ge(K, 2))),
    note="Read as Section 2 describes those bounds. For squared distances and iid clients of equal weight and sample "
    "count a local gap over K is the gap itself; (6) is 1.5 times as large for two clients, sqrt(2) times in the "
    "limit. The theorems themselves, which the paper does not restate, are not decided.",
    defect=Defect.READING,
)

# ---- what Theorem 4.1 needs, stated or not, and where it says something ----

ONE_ROUND = "fedals.one_round"
COIN = (F(-1), F(1))
"""Every sample is one of these with equal odds; a client has one sample, the loss is half the squared distance."""
CLIENTS = 2
Solver = Callable[[F], F]
Data = list[tuple[F, ...]]


def risk(theta: F, points: tuple[F, ...]) -> F:
    return sum(((theta - z) ** 2 / 2 for z in points), F(0)) / len(points)


def measured(data: Data, solve: Solver) -> tuple[F, F, F]:
    """Expected gap, local gap and non-iidness (of the first client) over equally likely data sets of two clients."""
    gap = local = drift = F(0)
    for z in data:
        models = [solve(x) for x in z]
        theta = sum(models, F(0)) / CLIENTS
        gap += risk(theta, COIN) - sum((risk(theta, (x,)) for x in z), F(0)) / CLIENTS
        local += risk(models[0], COIN) - risk(models[0], (z[0],))
        drift += risk(theta, (z[0],)) - risk(models[0], (z[0],))
    return gap / len(data), local / len(data), drift / len(data)


def breaks(book: Book, data: Data, solve: Solver) -> Finding:
    """HOLDS where the instance has a larger gap than the bound: the condition it lacks is needed."""
    gap, local, drift = measured(data, solve)
    given = {"local_gap": float(local), "non_iidness": float(drift), "smoothness": 1.0, "strong_convexity": 1.0}
    stated = book[ONE_ROUND](client_weight=[1 / CLIENTS] * CLIENTS, **given)
    said = f"gap {gap}, local gap {local}, non-iidness {drift}, bound {float(stated):.4g}"
    return judged(float(gap) > float(stated), said)


INDEPENDENT: Data = list(product(COIN, repeat=CLIENTS))
COPIES: Data = [(z, z) for z in COIN]

EXACT = Claim(
    "fedals.theorem_4_1.exact_needed",
    "Theorem 4.1 needs exact local minimisers: one local step that is twice too long breaks its bound.",
    Kind.ASSUMPTION.at("Theorem 4.1, eq. (6)"),
    lambda book: breaks(book, INDEPENDENT, lambda z: 2 * z),
    note="From zero, a step of 2/L ends as far beyond the minimum as it began: the training risk of the averaged "
    "model is then that of the local ones, and the non-iidness zero.",
    ours=True,
)


def searched(evaluations: int = 1000, seed: int = 0, **opened: bool) -> Check:
    """Finite distributions beyond what the proof covers: FAILS with the first instance found, made simple and exact."""

    def run(book: Book) -> Finding:
        from ...falsifier.atoms.bent import BentAtoms, shown  # the falsifier needs torch
        from ...falsifier.core import MARGIN
        from ...falsifier.search import Searcher
        from ...falsifier.shrink import Shrinker

        bound, family = book[ONE_ROUND], BentAtoms(**opened)
        found = Searcher(bound, family, evaluations, seed).run()
        if found.score <= MARGIN:
            return holds(
                f"bound / exact value >= {1 / found.best.ratio:.4g} on {found.admissible} instances", Grade.SEARCHED
            )
        simple = Shrinker(bound, family, found.instance).run()
        seen = family.exactly(bound, simple)
        said = f"gap {float(seen.measured):.4g}, bound {float(seen.bound):.4g}: {shown(simple)}"
        return judged(not seen.violated, said, simple)

    return run


PREDICTION = Claim(
    "fedals.theorem_4_1.conditions",
    "Theorem 4.1 holds as it is worded, for losses that are strongly convex and smooth in the model's prediction.",
    Kind.ASSUMPTION.at("Theorem 4.1, eq. (6)"),
    searched(bend=True),
    note="FAILS if read without convexity in the parameters, not refuted with it: (22) takes what is averaged for what "
    "the loss is convex in. Small: two clients of equal weight, one draws 0 or 1 with even odds, the other always 0, "
    "predictions 3w/(1 + 2|w|), half squared errors: gap 3/32, bound 1/16. The ratio has no bound: it tends to K^2 "
    "for ever steeper predictions. Averaging predictions in place of parameters would mend it too.",
    repair=Repair("in the parameters that are averaged", searched()),
    defect=Defect.READING,
)

BOUNDARY = Claim(
    "fedals.theorem_4_1.boundary",
    "Theorem 4.1 holds wherever the local minimisers lie, at the boundary of the allowed parameters too.",
    Kind.ASSUMPTION.at("Theorem 4.1, eq. (6)"),
    searched(ceiling=True),
    note="FAILS if read with constrained minimisers, not refuted where minimisers have no gradient, which (28) uses. "
    "Small: two clients of equal weight and parameters of at most 1, one draws 0 or 16 with even odds, the other "
    "always 1, half squared distances: gap 1, bound 3/4. The ratio has no bound either.",
    repair=Repair("where the gradient vanishes at the minimisers", searched()),
    defect=Defect.READING,
)

APART = Claim(
    "fedals.theorem_4_1.independence_needed",
    "Theorem 4.1 needs clients whose samples are independent of one another's: copies of one data set break its bound.",
    Kind.ASSUMPTION.at("Theorem 4.1, eq. (6)"),
    lambda book: breaks(book, COPIES, lambda z: z),
    note="The paper draws all S_k independently without naming it a condition.",
    ours=True,
)

FAR = D * ((K - 1 / K) ** 2 / 2 - (1 - 1 / K)) / L
"""Squared distance of equal clients up to which (6) is below a local gap, for squared distances: solved for."""

SAYS = Claim(
    "fedals.eq_6.informative",
    "The one-round bound can be below the clients' mean local gap, so that it shows averaging to help.",
    Kind.REMARK.at("Theorem 4.1, eq. (6)"),
    {
        "somewhere": Informative(alike(CLOSED), D, where=(sp.Gt(D, 0), sp.Ge(K, 2))),
        "up to this distance": Same(At(alike(CLOSED), {r: FAR}), D, where=(sp.Gt(D, 0), sp.Gt(K, 1))),
        "not beyond": MonotoneIn(alike(CLOSED), r, up=True, where=(sp.Gt(D, 0), sp.Gt(r, 0))),
        "signs": requires(
            {f"fedals.gaussian_mean_{name}": NONNEGATIVE[:1] for name in ("bound", "gap", "non_iidness")}
        ),
    },
    note="For squared distances and clients of equal weight, equally far from their mean: as long as L times the "
    "squared distance is at most ((K - 1/K)^2 / 2 - (1 - 1/K)) local gaps; beyond that each client's own model has "
    "the smaller guarantee.",
    ours=True,
)
