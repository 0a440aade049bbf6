"""FedCOG, Theorem 5.6: summing the rounds, (58) to (64), what it asks for, and when it says something."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from bounds.fedcog.letters import beta_sq, eta, g, gap, kappa_sq, L, p, sigma_sq, T, tau
from bounds.operators import ClientSum
from bounds.quantities import quantities_of

from ..checkers import (
    All,
    At,
    Dominates,
    EdgeIs,
    ImpliedBy,
    Informative,
    Refuted,
    Same,
    Satisfies,
    TendsTo,
    term,
)
from ..claim import Book, Claim, Defect, Finding, Grade, judged, Kind, Repair
from ..softmax import bias_curvature, hidden_curvature
from . import at_rest, distilling
from .drift import A, FULL_LIMIT, SEVERAL

TRIVIAL = 2 * L * gap
"""A gradient of an L-smooth function is at most this, squared: true at the first model, without any training."""
KNOBS = ("disagreement_weight", "distillation_weight", "generated_samples", "generation_steps", "classes")
LABORATORY = {T: 70, tau: 400, eta: sp.Rational(1, 100)}
MILD = {sigma_sq: (1e-9, 1e-3), kappa_sq: (1e-9, 1e-3), beta_sq: (1.0, 1.05)}
"""Hardly any noise or heterogeneity: generous to the bound."""
SHARP_LIMIT = sp.Min(1 / (tau * L), 1 / (L * sp.sqrt(2 * tau * (tau - 1) * (1 + beta_sq))))
LEAST_SMOOTHNESS = Fraction(1, 4)
ODDS = {"ten classes": (4, 4, *[1] * 8), "a hundred classes": (49, 49, *[1] * 98)}
"""Outputs, up to a factor, that show it: output biases of ln 4 (ln 49) for two classes and 0 for the others."""
ALL_TRAIN = {f"{steps} steps": {"local_steps": steps, "step_size": "0.01", "smoothness": "0.25"} for steps in (
    200, 400, 600, 800
)}  # fmt: skip
"""The published numbers of local steps where all ten clients take part (Section 6.1 and Table 6)."""


def share_of(label: str) -> Callable[[Book], sp.Expr]:
    """A term of the sharper bound over the theorem's."""
    return lambda book: term("fedcog.theorem_sharp", label)(book) / term("fedcog.theorem", label)(book)


def summed(book: Book) -> sp.Expr:
    """(59) summed over the rounds, over T times what the squared gradient is multiplied with there."""
    parts = book["fedcog.descent_one_round"].spelled_terms
    share = -parts["global gradient"].diff(g)
    return (gap / T + sp.Add(*(parts[name] for name in parts if name != "global gradient"))) / share


def sharpened(book: Book) -> sp.Expr:
    """(20) with (23) and (53), the noise of T_2 weighed by 1/(1 - tau eta L), summed over the rounds."""
    noise = L * (tau * eta) ** 2 / 2 * sigma_sq / tau * ClientSum(p**2) / (1 - tau * eta * L)
    drift = sp.expand(tau * eta / 2 * book["fedcog.mean_gradient_drift"].expr)
    fed = drift.coeff(g)
    return (gap / T + noise + drift - fed * g) / (tau * eta / 2 - fed)


def without_knobs(book: Book) -> Finding:
    """Which settings of generation and distillation the theorem's value depends on."""
    found = {q.name for q in quantities_of([book["fedcog.theorem"].expr])} & set(KNOBS)
    said = f"it depends on {', '.join(sorted(found))}" if found else f"none of {', '.join(KNOBS)} stands in it"
    return judged(not found, said, grade=Grade.PROVED)


def curvature_of_biases(book: Book) -> Finding:
    """How curved a softmax cross-entropy is in its output biases, whatever the data."""
    found = {name: bias_curvature(odds) for name, odds in ODDS.items()}
    said = ", ".join(f"{name}: {number}" for name, number in found.items())
    return judged(min(found.values()) >= LEAST_SMOOTHNESS, f"curvature along opposite biases of two classes, {said}")


def hidden_layer(book: Book) -> Finding:
    """How curved a network of one hidden unit is in its output weight, for ever larger hidden biases."""
    found = {unit: hidden_curvature(unit) for unit in (1, 10, 100)}
    said = ", ".join(f"{number} at h = {unit}" for unit, number in found.items())
    witness = {"loss": "log(1 + exp(-u max(h, 0)))", "u": "0"}
    return judged(len(set(found.values())) == 1, f"its curvature in u is {said}", witness, found[100] == 2500)


PER_DATA = distilling.scaled

CLAIMS: tuple[Claim, ...] = (
    Claim(
        "fedcog.eq_61",
        "Summed over all rounds, with the objective bounded below, (59) becomes the theorem.",
        Kind.THEOREM.at("eq. (58) to (61), Theorem 5.6, eq. (5) = (13)"),
        Same("fedcog.theorem", summed),
        note="(61) prints the start with another index than (5) and without its data; the same number is meant.",
    ),
    Claim(
        "fedcog.eq_64",
        "(62) and (63) together say the same as (64), the step sizes that the theorem and (57) admit.",
        Kind.PROOF.at("eq. (62) to (64) and Theorem 5.6"),
        {
            "the theorem": EdgeIs("fedcog.theorem", eta, FULL_LIMIT, where=SEVERAL),
            "(57)": EdgeIs("fedcog.descent_one_round", eta, FULL_LIMIT, where=SEVERAL),
            "one step, the theorem": EdgeIs("fedcog.theorem", eta, 1 / (2 * L), where=(sp.Lt(tau, 2),)),
            "one step, (57)": EdgeIs("fedcog.descent_one_round", eta, 1 / (2 * L), where=(sp.Lt(tau, 2),)),
            "A at the limit of (62)": Same(At(lambda book: A, {eta: 1 / (2 * tau * L)}), (tau - 1) / (2 * tau)),
            "(63) for A < 1": Same(
                1 + 1 / (2 * beta_sq) - 1 / (1 - A), (1 - A * (2 * beta_sq + 1)) / (2 * beta_sq * (1 - A))
            ),
            "(63) for A > 1": ImpliedBy(1 / (1 - A), 1 + 1 / (2 * beta_sq), where=(sp.Gt(A, 1),)),
        },
        note="(63) alone would not: it holds for every A > 1, where its left side is negative. (62) keeps A below "
        "1/2, so that A < 1, which (51) needs and the theorem does not list, costs nothing. The second entry of (64) "
        "divides by zero for tau = 1; read as no limit.",
    ),
    Claim(
        "fedcog.theorem.sharp",
        "The paper's proof gives more than Theorem 5.6: a bound that is never larger, and 2 to 4 times smaller for "
        "small steps.",
        Kind.THEOREM.at("Theorem 5.6 and its proof, sharpened"),
        {
            "from (20), (23) and (53)": Same("fedcog.theorem_sharp", sharpened),
            "path gradients cancel": Same(L * (tau * eta) ** 2 / 2 / (tau * eta * L), tau * eta / 2),
            "never larger": ImpliedBy("fedcog.theorem_sharp", "fedcog.theorem", under=("fedcog.theorem",)),
            "half the first term": TendsTo(share_of("optimisation"), eta, 0, sp.Rational(1, 2)),
            "a quarter of the noise": TendsTo(share_of("gradient noise"), eta, 0, sp.Rational(1, 4)),
            "one round of one longest step": Same(
                At(term("fedcog.theorem_sharp", "optimisation"), {T: 1, tau: 1, eta: 1 / L}), TRIVIAL
            ),
            "limit": EdgeIs("fedcog.theorem_sharp", eta, SHARP_LIMIT, closed=False, where=SEVERAL),
            "a search": Dominates("fedcog.theorem_sharp", family="quadratics"),
        },
        note="(25) with weights 1 + c and 1 + 1/c = 1/(tau eta L) for 2 and 2, and (55) kept in place of (57). "
        "The first constant is the best one: from L/2 ||theta||^2 one step near 1/L comes as near to it as one likes.",
        ours=True,
    ),
    Claim(
        "fedcog.theorem.fresh_batches",
        "Assumption 5.3, gradients unbiased with variance sigma^2 at every model, is all that Theorem 5.6 needs of the "
        "noise.",
        Kind.ASSUMPTION.at("Assumption 5.3 with Theorem 5.6"),
        All(
            {
                "one coin for all clients": at_rest.coin_of_all_clients,
                "one coin for all steps of a round": at_rest.coin_of_a_round,
            },
            wrong=("one coin for all clients", "one coin for all steps of a round"),
        ),
        note="It fails if read without independence, over the clients, which the proof names at (26), and over the "
        "local steps, which (28) and (40) take from Wang et al.; it is not refuted with them. A batch kept for the "
        "400 steps of a round exceeds the theorem up to 38 times at its largest step size.",
        repair=Repair(
            "with batches that are fresh at every step and independent over the clients",
            Dominates("fedcog.theorem", family="quadratics"),
            "fedcog.theorem",
        ),
        defect=Defect.READING,
    ),
    Claim(
        "fedcog.theorem.momentum",
        "Theorem 5.6 covers the local steps of the released code, SGD with momentum 0.9.",
        Kind.SETTING.at("Section 4.2, Theorem 5.6 and the released code"),
        lambda book: at_rest.local_momentum(book, Fraction(9, 10)),
        note="The text says standard SGD. With momentum a client goes up to ten times as far in a round: without "
        "noise, at a step size that the theorem admits, the server comes to rest where the squared gradient is 1.26 "
        "times the bound.",
        repair=Repair(
            "with the standard SGD of the text the same clients stay below a hundredth of the bound",
            lambda book: at_rest.local_momentum(book, Fraction(0)),
        ),
        about=("fedcog.theorem",),
        defect=Defect.SETTINGS,
        ours=True,
    ),
    Claim(
        "fedcog.theorem.participation",
        "The theorem speaks of the experiments on FLAIR, where 10 of 200 clients take part, and of Table 7.",
        Kind.SETTING.at("eq. (18), Theorem 5.6, Section 6.1 and Table 7"),
        at_rest.one_of_two,
        note="All clients stand in the update (18), and none of its terms is the variance of drawing some: with one of "
        "two clients a round it is violated. So it says nothing of Table 2, of the FLAIR columns of Table 3, and of "
        "Table 7.",
        defect=Defect.SETTINGS,
        about=("fedcog.theorem",),
        ours=True,
    ),
    Claim(
        "fedcog.theorem.constant",
        "For a fixed step size and ever more rounds the bound tends to a constant, not to zero.",
        Kind.REMARK.at("text after Theorem 5.6"),
        TendsTo(
            "fedcog.theorem",
            T,
            sp.oo,
            term("fedcog.theorem", "gradient noise", "drift by noise", "drift by heterogeneity"),
        ),
    ),
    Claim(
        "fedcog.theorem.gradient",
        "What the theorem bounds is the gradient of the task loss alone, and no setting of generation or distillation "
        "stands in it: it is FedAvg's on the same constants.",
        Kind.REMARK.at("eq. (4), (10) and Theorem 5.6"),
        {
            "at the teacher": distilling.gradient_at_teacher,
            "settings": without_knobs,
        },
        note="So it says that FedCOG converges in the loss one wants, and nothing of what it gains over FedAvg; the "
        "distillation enters through the constants L and sigma^2. The proof uses beta^2 and kappa^2 at the models that "
        "open a round alone, where the distillation has no gradient: they are FedAvg's, and no reduction of "
        "heterogeneity can show. The weights of A.2.2 make it the gradient of another loss, fedcog.weights.objective.",
        ours=True,
    ),
    Claim(
        "fedcog.assumption_5_1",
        "One smoothness constant, as the theorem needs it, serves the experiments' objectives in all rounds.",
        Kind.ASSUMPTION.at("Assumption 5.1 = A.1 and Section 6.1"),
        All(
            {"a hidden layer": hidden_layer, "generated data": PER_DATA},
            wrong=("a hidden layer", "generated data"),
        ),
        note="The cross-entropy of a network with a hidden layer is not smooth on the whole space: its curvature in an "
        "output weight grows with that unit's square. That of the distillation loss grows with the square of the "
        "generated inputs, which the method does not bound. On a bounded set these two curvatures are bounded; the "
        "kinks of ReLU and pooling leave no L even there.",
        defect=Defect.SETTINGS,
        ours=True,
    ),
    Claim(
        "fedcog.assumption_5_4",
        "Bounded dissimilarity can hold beside the other assumptions for every choice of the weights; beta^2 >= 1 is "
        "no restriction.",
        Kind.ASSUMPTION.at("Assumptions 5.1 to 5.4"),
        {
            "formula": Same(term("fedcog.dissimilarity", "global gradient", "heterogeneity"), beta_sq * g + kappa_sq),
            "parabolas": distilling.together,
            "least factor": distilling.least_factor,
        },
        note="Noise of a fixed variance added to the parabolas' gradients meets Assumption 5.3.",
    ),
    Claim(
        "fedcog.theorem.settings",
        "The published step size meets the theorem's conditions where all clients take part.",
        Kind.SETTING.at("Theorem 5.6, Section 6.1 and Table 6"),
        All(
            {
                "L >= 1/4": curvature_of_biases,
                "limits": Satisfies(
                    "fedcog.theorem",
                    ALL_TRAIN,
                    breaks=(
                        "eta L <= 1/(2 tau)",
                        "eta L <= 1/sqrt(2 tau (tau-1) (2 beta^2 + 1)), no limit for tau = 1",
                    ),
                ),
            },
            wrong=("limits",),
        ),
        note="400 steps of 0.01 need L <= 0.102. Output biases of ln 4 for two of ten classes, the weights beside them "
        "0, have curvature 1/4 on any data, in the task loss and in the distillation loss alike; the limit is 1/2. The "
        "69,380 parameters of A.4.3 contain output biases.",
        repair=Repair(
            "a fifth of it can: 400 steps of 0.002 need L <= 0.51",
            Informative(
                "fedcog.theorem",
                TRIVIAL,
                {**LABORATORY, eta: sp.Rational(1, 500), L: sp.Rational(1, 2)},
                under=("fedcog.theorem",),
                within=MILD,
            ),
        ),
        defect=Defect.SETTINGS,
        ours=True,
    ),
    Claim(
        "fedcog.theorem.informative",
        "At the published 70 rounds of 400 steps of size 0.01 the theorem can say more than smoothness alone says of "
        "the first model.",
        Kind.SETTING.at("Theorem 5.6 and Section 6.1"),
        Informative(
            "fedcog.theorem",
            TRIVIAL,
            {**LABORATORY, L: sp.Rational(1, 4)},
            under=("fedcog.theorem",),
            within={**MILD, beta_sq: (1.0, 3.0)},
        ),
        note="Its conditions ask for L <= 0.102 there, while fedcog.theorem.settings shows L >= 1/4: the theorem is "
        "silent. With a fifth of the step size it could speak.",
        defect=Defect.SETTINGS,
        ours=True,
    ),
    Claim(
        "fedcog.theorem.vacuous",
        "Up to four rounds, as in Table 3, the theorem never says more than smoothness says of the first model.",
        Kind.REMARK.at("Theorem 5.6 and Table 3"),
        {
            "in general": ImpliedBy(TRIVIAL, "fedcog.theorem", under=("fedcog.theorem",), within={T: (1, 4)}),
            "one round of 400 steps": Refuted(
                Informative("fedcog.theorem", TRIVIAL, {T: 1, tau: 400}, under=("fedcog.theorem",), within=MILD)
            ),
            "three rounds of 10 steps": Refuted(
                Informative("fedcog.theorem", TRIVIAL, {T: 3, tau: 10}, under=("fedcog.theorem",), within=MILD)
            ),
        },
        note="Its first term alone is at least 8 L gap / T within the admitted step sizes, against 2 L gap.",
        ours=True,
    ),
)
