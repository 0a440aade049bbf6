"""FedCOG, Corollary 5.7: the theorem at step size 1/sqrt(tau T), its rate, its unit, and the conditions it dropped."""

from __future__ import annotations

import sympy as sp

from bounds.fedcog.letters import beta_sq, c, eta, g, gap, kappa_sq, L, p, sigma_sq, T, tau
from bounds.operators import ClientSum
from bounds.units import LOSS, PARAMETER
from bounds.vocabulary import clients

from ..checkers import All, At, EdgeIs, ImpliedBy, MeasuredIn, OrderIs, Same, TendsTo, term
from ..checkers.points import value
from ..claim import Book, Claim, Defect, Finding, judged, Kind, Repair

PRINTED = "fedcog.corollary_printed"
STEP = 1 / sp.sqrt(tau * T)
HIDDEN = PARAMETER**2 / LOSS
OFF_BY = {
    "optimisation": HIDDEN,
    "gradient noise": HIDDEN**-1,
    "drift by noise": HIDDEN**-2,
    "drift by heterogeneity": HIDDEN**-2,
}
ORDERS = {
    "1/sqrt(tau T)": ("optimisation", "gradient noise"),
    "1/T": ("drift by noise",),
    "tau/T": ("drift by heterogeneity",),
}
"""The terms of (6) that stand behind each order of (7)."""
ENOUGH = sp.Max(4 * tau * L**2, 2 * (tau - 1) * (2 * beta_sq + 1) * L**2)
# Both of the theorem's conditions read load <= 1; the first is squared so that both fall like 1/T.
LOADS = sp.Max((2 * tau * STEP * L) ** 2, 2 * tau * (tau - 1) * (2 * beta_sq + 1) * STEP**2 * L**2)
ONE_STEP = (4 * gap + 4 * L * sigma_sq * ClientSum(p**2)) / sp.sqrt(T)
LOUD = 3 * sigma_sq * L**2 / T
"""(6) without heterogeneity: at one local step, and its limit for ever more."""


def too_few_rounds(book: Book) -> Finding:
    """Gradient descent on L/2 x^2, L = 9, four rounds of one step 1/sqrt(4): x -> -7/2 x, the first model is best."""
    curvature, start, rounds = sp.Integer(9), sp.Rational(2, 3), 4
    x, seen = start, []
    for _ in range(rounds):
        seen.append((curvature * x) ** 2)
        x -= curvature * x / sp.sqrt(rounds)
    at_run = {
        gap: curvature * start**2 / 2, L: curvature, sigma_sq: sp.S.Zero, kappa_sq: sp.S.Zero,
        tau: sp.S.One, T: sp.Integer(rounds), p: (sp.Rational(1, 2), sp.Rational(1, 3), sp.Rational(1, 6)),
    }  # fmt: skip
    bound = value(book[PRINTED].expr, at_run)
    said = f"smallest squared gradient {min(seen)} against the bound {float(bound):.6g}"
    witness = {q.name: str(v) for q, v in at_run.items()}
    return judged(min(seen) <= bound, said, witness)


def falls_for_ever(book: Book) -> Finding:
    """(6) at gap 1, T = 1 without noise or heterogeneity: 4/sqrt(tau), never smallest."""
    given = {gap: 1, T: 1, L: 1, sigma_sq: 0, kappa_sq: 0, p: (sp.S.One,)}
    at = {steps: float(value(book[PRINTED].expr, {**given, tau: sp.Integer(steps)})) for steps in (1, 4, 16, 64)}
    said = ", ".join(f"{number:g} at tau = {steps}" for steps, number in at.items())
    witness = {"kappa^2": "0", "sigma^2": "0", "gap": "1", "T": "1"}
    return judged(min(at.values()) < at[64], f"(6) is {said}", witness, [*at.values()] == [4, 2, 1, 0.5])


def order_of(label: str) -> All:
    """The terms behind one order of (7) are of that order in T and in tau."""
    order = term("fedcog.corollary_order", label)
    of = term(PRINTED, *ORDERS[label])
    return All({f"in {q.name}": OrderIs(of, q, order, where=(sp.Gt(tau, 1),)) for q in (T, tau)})


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "fedcog.eq_6",
        "The theorem at step size 1/sqrt(tau T) is (6).",
        Kind.THEOREM.at("Corollary 5.7, eq. (6) = (14)"),
        Same(PRINTED, At("fedcog.theorem", {eta: STEP})),
    ),
    Claim(
        "fedcog.eq_65",
        "The line (65) of its proof is the same as (6).",
        Kind.PROOF.at("proof of Corollary A.7, eq. (65)"),
        Same(
            "fedcog.corollary_appendix",
            PRINTED,
            difference=4 * (L**2 - L) * sigma_sq * ClientSum(p**2) / sp.sqrt(tau * T),
            where=(4 * tau * L**2 <= T,),
        ),
        note="L^2 for L in the noise term; from (61) it is L, as (6) has it.",
        repair=Repair(
            "with L, which the theorem gives",
            Same("fedcog.corollary", At("fedcog.theorem", {eta: STEP})),
            "fedcog.corollary",
        ),
        defect=Defect.SLIP,
    ),
    Claim(
        "fedcog.corollary.rounds",
        "(6) holds for every number of rounds, as the corollary, which repeats no condition, has it.",
        Kind.THEOREM.at("Corollary 5.7"),
        too_few_rounds,
        note="Step 1/sqrt(tau T) meets the theorem's condition only for enough rounds, which it does not say. Its "
        "limit for ever more rounds is not touched.",
        repair=Repair(
            "for T >= max{4 tau L^2, 2 (tau - 1)(2 beta^2 + 1) L^2}, with batches that are fresh at every step and "
            "independent over the clients",
            {
                "where it holds": EdgeIs("fedcog.corollary", T, ENOUGH, below=False),
                "with one local step": EdgeIs("fedcog.corollary", T, 4 * L**2, below=False, where=(sp.Lt(tau, 2),)),
                "the stricter condition is reached": Same(At(lambda book: LOADS, {T: ENOUGH}), 1),
                "what it says": Same("fedcog.corollary", PRINTED),
            },
            "fedcog.corollary",
        ),
        defect=Defect.REFUTED,
    ),
    Claim(
        "fedcog.corollary.unit",
        "(6) is measured as a squared gradient.",
        Kind.THEOREM.at("Corollary 5.7, eq. (6)"),
        {name: MeasuredIn(term(PRINTED, name), g, off_by=unit) for name, unit in OFF_BY.items()},
        note="Common in such statements: a step size set to a pure number hides a unit; rescaling the loss changes "
        "which tau and T look good.",
        repair=Repair(
            "with step size c/sqrt(tau T), c carrying the unit",
            {
                "unit": MeasuredIn("fedcog.corollary_scaled", g),
                "value": Same("fedcog.corollary_scaled", At("fedcog.theorem", {eta: c * STEP})),
                "rounds": EdgeIs("fedcog.corollary_scaled", T, c**2 * ENOUGH, below=False),
                "rounds of one local step": EdgeIs(
                    "fedcog.corollary_scaled", T, 4 * (c * L) ** 2, below=False, where=(sp.Lt(tau, 2),)
                ),
            },
            "fedcog.corollary_scaled",
        ),
        defect=Defect.SLIP,
        ours=True,
    ),
    Claim(
        "fedcog.eq_7",
        "(6) is O(1/sqrt(tau T)) + O(1/T) + O(tau/T): it falls like 1/sqrt(T), to zero.",
        Kind.THEOREM.at("Corollary 5.7, eq. (7) = (15) = (66), and the text after it"),
        {
            **{label: order_of(label) for label in ORDERS},
            "nothing else": Same(
                "fedcog.corollary_order", (T ** sp.Rational(-1, 2)) * tau ** sp.Rational(-1, 2) + (1 + tau) / T
            ),
            "rate": OrderIs(PRINTED, T, 1 / sp.sqrt(tau * T)),
            "limit": TendsTo(PRINTED, T, sp.oo, 0),
        },
        note="The rate in tau T of FedAvg's non-convex analyses; that of Li et al., whom the text names too, is 1/T, "
        "for strong convexity. Of the smallest expected squared gradient; a stationary point need not exist, and no "
        "single run is meant since the step size changes with T.",
    ),
    Claim(
        "fedcog.corollary.more_clients",
        "With equal weights 1/K the noise term alone vanishes as clients are added.",
        Kind.REMARK.at("Corollary 5.7, eq. (6)"),
        TendsTo(
            lambda book: book[PRINTED].equal_clients().expr,
            clients,
            sp.oo,
            term(PRINTED, "optimisation", "drift by noise", "drift by heterogeneity"),
        ),
        note="So (6) has no speed-up by clients as it stands; a step size of sqrt(K/(tau T)) would give it.",
        ours=True,
    ),
    Claim(
        "fedcog.corollary.best_steps",
        "For finitely many rounds some number of local steps makes (6) smallest.",
        Kind.REMARK.at("text after Corollary A.7"),
        falls_for_ever,
        note="Said in the appendix alone. For kappa^2 = 0, which Assumption 5.4 admits, (6) falls without noise as "
        "long as local steps are added, and with little noise to a constant that it does not reach; what limits "
        "them is then the theorem's condition, which the corollary does not repeat.",
        repair=Repair(
            "where kappa^2 > 0; for kappa^2 = 0 where 3 sigma^2 L^2/T is at least (4 gap + 4 L sigma^2 sum "
            "p_k^2)/sqrt(T), and then it is one step",
            {
                "kappa^2 > 0": TendsTo(PRINTED, tau, sp.oo, sp.oo),
                "kappa^2 = 0": ImpliedBy(ONE_STEP, At(PRINTED, {kappa_sq: 0}), where=(LOUD >= ONE_STEP,)),
            },
        ),
        defect=Defect.REFUTED,
    ),
)
