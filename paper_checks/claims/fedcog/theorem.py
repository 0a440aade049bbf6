"""FedCOG, Theorem 5.6: summing the rounds, (58) to (64), its conditions, and when it is informative."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.fedcog.letters import beta_sq, eta, g, gap, kappa_sq, L, p, sigma_sq, T, tau
from bounds.operators import ClientSum
from bounds.quantities import quantities_of

from ..checkers import (
    agreed,
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
from ..checkers.formulas import relations
from ..checkers.points import true_at, value
from ..claim import Book, Claim, Defect, Finding, Grade, judged, Kind, Repair
from ..softmax import bias_curvature, hidden_curvature
from ..worst_cases import above
from .generation import Data, distillation, FIRST_DATA, FLAT, Model, NEW, OLD
from .proofs import A, FULL_LIMIT, SEVERAL

TRIVIAL = 2 * L * gap
"""A gradient of an L-smooth function is at most this, squared: true at the first model, without any training."""
LABORATORY = {T: 70, tau: 400, eta: sp.Rational(1, 100)}
MILD = {sigma_sq: (1e-9, 1e-3), kappa_sq: (1e-9, 1e-3), beta_sq: (1.0, 1.05)}
"""Hardly any noise or heterogeneity: generous to the bound."""
SHARP_LIMIT = sp.Min(1 / (tau * L), 1 / (L * sp.sqrt(2 * tau * (tau - 1) * (1 + beta_sq))))
LEAST_SMOOTHNESS = Fraction(1, 4)
ODDS = {"ten classes": (4, 4, *[1] * 8), "a hundred classes": (49, 49, *[1] * 98)}
"""Outputs, up to a factor, that show it: output biases of ln 4 (ln 49) for two classes and 0 for the others."""
ALL_TRAIN = {
    f"{steps} steps": {"local_steps": steps, "step_size": "0.01", "smoothness": "0.25"}
    for steps in (200, 400, 600, 800)
}
"""The published numbers of local steps where all ten clients take part (Section 6.1 and Table 6)."""


def share_of(label: str) -> Callable[[Book], sp.Expr]:
    """A term of the improved bound over the theorem's."""
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
    knobs = ("disagreement_weight", "distillation_weight", "generated_samples", "generation_steps", "classes")
    found = {q.name for q in quantities_of([book["fedcog.theorem"].expr])} & set(knobs)
    said = f"it depends on {', '.join(sorted(found))}" if found else f"none of {', '.join(knobs)} stands in it"
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


def gradient_at_teacher(book: Book) -> Finding:
    """Autograd of the distillation loss at the teacher (zero) and away from it (not zero)."""
    import torch

    def slope(student: Model) -> float:
        weights = torch.tensor(student, dtype=torch.float64, requires_grad=True)
        x = torch.tensor(FIRST_DATA, dtype=torch.float64)
        teacher = torch.softmax(x @ torch.tensor(OLD, dtype=torch.float64).T, -1)
        loss = (teacher * (teacher.log() - torch.log_softmax(x @ weights.T, -1))).sum(-1).mean()
        (gradient,) = torch.autograd.grad(loss, weights)
        return float(gradient.norm())

    there, away = slope(OLD), slope(NEW)
    said = f"its gradient is {there:.1e} at the teacher, {away:.3g} at another model"
    return judged(there < 1e-14 < away, said, grade=Grade.SEARCHED)


def least_factor(book: Book) -> Finding:
    """Assumption 5.4 without offset, equal gradients of all clients: the squared mean is the mean of the squares."""
    shares, gradient = (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)), Fraction(7, 3)
    mean_square = sum((w * gradient**2 for w in shares), Fraction(0))
    needed = mean_square / sum((w * gradient for w in shares), Fraction(0)) ** 2
    return agreed({"least factor of clients that agree": (needed, 1)})


def scaled(book: Book) -> Finding:
    """Second differences of the distillation loss at the teacher, along one direction of the weights."""
    step = 1e-3

    def curvature(data: Data) -> float:
        there, back = ([[sign * step * w for w in row] for row in NEW] for sign in (1, -1))
        return (distillation(FLAT, there, data) + distillation(FLAT, back, data)) / step**2

    small, large = curvature(FIRST_DATA), curvature([[3 * v for v in x] for x in FIRST_DATA])
    said = f"curvature {small:.4g} on data, {large:.4g} on data three times as large"
    witness = {"teacher": FLAT, "data": FIRST_DATA}
    return judged(large <= small * (1 + 1e-6), said, witness, abs(large / small - 9) < 1e-3)


def together(book: Book) -> Finding:
    """Clients a/2 (x - m_k)^2: the mean of squared gradients less the squared mean does not change with the model."""
    curvature, x, *minima = sp.symbols("a x m1:4", real=True)
    shares = sp.symbols("p1:4", positive=True)
    mean = sum(p * curvature * (x - m) for p, m in zip(shares, minima, strict=True))
    squares = sum(p * (curvature * (x - m)) ** 2 for p, m in zip(shares, minima, strict=True))
    change = sp.diff(squares - mean**2, x).subs(shares[-1], 1 - sum(shares[:-1]))
    same = sp.expand(change) == 0
    said = "the same offset at every model, for three clients of any weights, as polynomials"
    return judged(same, said if same else "the offset changes with the model", grade=Grade.PROVED)


# ---- at rest: parabolas whose noise, drawing of clients, or local momentum the theorem does not see ----

# Every run starts where a round leaves it, at the square to which E x^2 returns or at the model itself, so that the
# squared gradient is the same in all rounds. L = 1, and no client's loss falls below 0, which is Phi_inf.


def _bound(book: Book, at: dict[sp.Symbol, Any]) -> sp.Expr:
    """Theorem 5.6 at exact numbers; without noise, offset and other clients unless given."""
    known = {L: 1, sigma_sq: 0, kappa_sq: 0, p: (1,), **at}
    exact = {q: tuple(map(sp.Rational, v)) if isinstance(v, tuple) else sp.Rational(v) for q, v in known.items()}
    return value(book["fedcog.theorem"].expr, exact)


def _at_rest(book: Book, rest: Any, at: dict[sp.Symbol, Any], instance: str, stays: bool) -> Finding:
    """The squared gradient ``rest`` against the bound; whether it ``stays`` the same was checked."""
    bound = _bound(book, at)
    said = f"the squared gradient is {float(rest):.4g} in every round, the bound {float(bound):.4g}"
    return judged(bool(rest <= bound), said, {"instance": instance}, as_audited=stays)


def coin_of_a_round(book: Book) -> Finding:
    """One client x^2/2, one coin of +-1 for all steps of a round: 20 of 1/100 in 100 rounds; 400 of 1/979 in many more.

    A round takes x to q x - (1 - q) coin, q = (1 - eta)^tau, so that E x^2 rests at (1 - q)/(1 + q). The second step
    size is the largest admitted.
    """

    def rests(steps: int, size: Fraction, rounds: int) -> tuple[Fraction, Fraction, dict[sp.Symbol, Any]]:
        q = (1 - size) ** steps
        rest = (1 - q) / (1 + q)
        return rest, q**2 * rest + (1 - q) ** 2, {gap: rest / 2, tau: steps, eta: size, T: rounds, sigma_sq: 1}

    rest, _, longest = rests(400, Fraction(1, 979), 10**6)
    ratio = float(rest / _bound(book, longest))
    rest, after, at = rests(20, Fraction(1, 100), 100)
    witness = "x^2/2, one coin of +-1 a round, tau = 20, eta = 1/100, T = 100"
    found = _at_rest(book, rest, at, witness, after == rest and 37 < ratio < 38)
    return replace(found, evidence=f"{found.evidence}; with 400 steps of 1/979 {ratio:.3g} times the bound")


def coin_of_all_clients(book: Book) -> Finding:
    """16 clients x^2/2 with one coin, one step of 1/4: x becomes 3/4 x - coin/4, and E x^2 rests at 1/7."""
    size, rest = Fraction(1, 4), Fraction(1, 7)
    at = {gap: rest / 2, tau: 1, eta: size, T: 100, sigma_sq: 1, p: (Fraction(1, 16),) * 16}
    instance = "16 clients x^2/2, one coin of +-1 for all, tau = 1, eta = 1/4, T = 100"
    return _at_rest(book, rest, at, instance, (1 - size) ** 2 * rest + size**2 == rest)


def one_of_two(book: Book) -> Finding:
    """Clients (x -+ 1)^2/2, one drawn a round, one step of 1/2: x becomes (x +- 1)/2, and E x^2 rests at 1/3."""
    rest, half = Fraction(1, 3), Fraction(1, 2)
    at = {gap: (rest + 1) / 2, tau: 1, eta: half, T: 20, kappa_sq: 1, p: (half, half)}
    instance = "(x - 1)^2/2 and (x + 1)^2/2, one a round, tau = 1, eta = 1/2, T = 20"
    return _at_rest(book, rest, at, instance, (rest + 1) / 4 == rest)


def local_momentum(book: Book, momentum: Fraction) -> Finding:
    """The squared gradient at the model that a round leaves where it is, against the theorem.

    Two clients h/2 (x - c)^2 of unequal weights, beta^2 = 5; the published number of local steps, a step size that (5)
    admits for it, and rounds enough for its start.
    """
    clients = ((sp.Rational(3, 5), sp.S.One, 0), (sp.Rational(2, 5), sp.Rational(1, 100), 1))  # weight, h, c
    steps, size, factor, rounds = 400, sp.Rational(1, 1900), 5, 10**6

    def travelled(curvature: sp.Rational) -> sp.Rational:
        """The share of the way to its minimiser that a client goes in a round; the buffer starts empty."""
        apart, buffer = Fraction(1), Fraction(0)
        for _ in range(steps):
            buffer = momentum * buffer + Fraction(curvature.p, curvature.q) * apart
            apart -= Fraction(1, 1900) * buffer
        return sp.Rational(1 - apart)

    x = sp.Symbol("x", real=True)
    loss = sum(w * h * (x - c) ** 2 / 2 for w, h, c in clients)
    gradient = sp.diff(loss, x)
    apart = sum(w * (h * (x - c)) ** 2 for w, h, c in clients) - factor * gradient**2
    offset = apart.subs(x, *sp.solve(sp.diff(apart, x), x))  # a parabola that opens downwards
    pulls = [(w * travelled(h), c) for w, h, c in clients]
    rest = sum(pull * c for pull, c in pulls) / sum(pull for pull, _ in pulls)
    at = {
        gap: loss.subs(x, rest), L: 1, tau: steps, eta: size, T: rounds, sigma_sq: 0, kappa_sq: offset,
        beta_sq: factor, p: tuple(w for w, _, _ in clients),
    }  # fmt: skip
    inside = sp.diff(apart, x, 2) < 0 and all(true_at(relation, at) for relation in relations(book["fedcog.theorem"]))
    instance = f"3/5 of x^2/2, 2/5 of (x - 1)^2/200, momentum {momentum}, tau = {steps}, eta = {size}, T = {rounds}"
    return _at_rest(book, gradient.subs(x, rest) ** 2, at, instance, bool(inside))


STEPS = {"(29)": "mean_update", "(30)": "descent", "(51)": "gradient_drift", "(57)": "descent_one_round"}

# ---- the claims ----

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
            {"one coin for all clients": coin_of_all_clients, "one coin for all steps of a round": coin_of_a_round},
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
        lambda book: local_momentum(book, Fraction(9, 10)),
        note="The text says standard SGD. With momentum a client goes up to ten times as far in a round: without "
        "noise, at a step size that the theorem admits, the server comes to rest where the squared gradient is 1.26 "
        "times the bound.",
        repair=Repair(
            "with the standard SGD of the text the same clients stay below a hundredth of the bound",
            lambda book: local_momentum(book, Fraction(0)),
        ),
        about=("fedcog.theorem",),
        defect=Defect.SETTINGS,
        ours=True,
    ),
    Claim(
        "fedcog.theorem.participation",
        "The theorem speaks of the experiments on FLAIR, where 10 of 200 clients take part, and of Table 7.",
        Kind.SETTING.at("eq. (18), Theorem 5.6, Section 6.1 and Table 7"),
        one_of_two,
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
        {"at the teacher": gradient_at_teacher, "settings": without_knobs},
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
        All({"a hidden layer": hidden_layer, "generated data": scaled}, wrong=("a hidden layer", "generated data")),
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
            "parabolas": together,
            "least factor": least_factor,
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
    Claim(
        "fedcog.theorem.instances",
        "Theorem 5.6 holds on every quadratic federation that a search visits.",
        Kind.THEOREM.at("Theorem 5.6 = A.6, eq. (5) = (13)"),
        Dominates("fedcog.theorem", family="quadratics"),
        note="The search comes no nearer than a factor of four: so loose is the bound there at least.",
        ours=True,
    ),
    Claim(
        "fedcog.proof.instances",
        "(29), (30), (51) and (57) hold on every quadratic federation that a search visits.",
        Kind.PROOF.at("eq. (29), (30), (51) and (57)"),
        {place: Dominates(f"fedcog.{bound}", family="quadratics") for place, bound in STEPS.items()},
        ours=True,
    ),
    *above(
        {"fedcog.theorem": 3.7468, "fedcog.mean_gradient_drift": 10.07}, "Two clients, beta^2 = 2, 1 to 8 local steps."
    ),
)
