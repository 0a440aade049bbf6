"""Section 4.3.2, Theorem 3: the choice of t_0, (14), and the remarks on samples, local steps and the step size."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from bounds.fedinit.letters import beta, c, K, L, L_G, mu_0, root_sum, S, s, sigma2, sigma_l, T, t_0, U
from bounds.units import LOSS

from ..checkers import (
    At,
    Formula,
    ImpliedBy,
    MeasuredIn,
    MonotoneIn,
    Readings,
    requires,
    resolve,
    Same,
    SlopeIs,
    term,
    Total,
)
from ..checkers.points import value
from ..checkers.trends import Curve
from ..claim import Book, Claim, Defect, Finding, judged, Kind, Repair

CENTRAL = 2 * (L_G**2 + S * L_G * sigma_l) / L
SHARE = 1 / (1 + c * L)
T_0 = (CENTRAL / U * (T * K) ** (c * L)) ** SHARE
BY_BUDGET = {c: mu_0 / K}
RANGE = (S >= 2, beta > 0, beta < sp.sqrt(2) / 12, K >= 2)
FIRST = term("fedinit.theorem_3_printed", "stochastic gradients")
DRIFT = term("fedinit.theorem_3_printed", "client drift")

BEFORE = Claim(
    "fedinit.theorem_3.inserted",
    "Lemma 5 with the separation of Appendix A.3.2 put in.",
    Kind.PROOF.at("Appendix A.3.3, before t_0 is chosen"),
    Same("fedinit.stability_before_t_0", At("fedinit.lemma_5", {s: "fedinit.stability_separation"})),
)

BALANCE = Claim(
    "fedinit.t_0.balance",
    "t_0 makes the two parts without the divergence equal but for 1 - 1/S: U t_0/S and the gradients' part.",
    Kind.PROOF.at("Appendix A.3.3, choice of t_0"),
    Same(
        At(U * t_0 / (S - 1), {t_0: "fedinit.t_0"}),
        At(term("fedinit.stability_before_t_0", "stochastic gradients"), {t_0: "fedinit.t_0"}),
    ),
    note="The choice is not explained. The minimiser of the two parts is (c L S/(S-1))^{1/(1+cL)} times as large; any "
    "t_0 from 1 to S is allowed by Lemma 5.",
    damaged="t_0 is rebuilt from both displays, which agree",
)

ADMISSIBLE = Claim(
    "fedinit.t_0.admissible",
    "The chosen t_0 lies among 1..S, for which Lemma 5 is stated.",
    Kind.PROOF.at("Appendix A.3.3, choice of t_0; Lemma 5"),
    ImpliedBy("fedinit.t_0", S, where=(S >= 2,)),
    note="It grows with TK without limit: for long runs it exceeds S. Nor is it a whole number, which costs little.",
    repair=Repair(
        "as conditions of the theorem",
        {"both ends": requires({"fedinit.theorem_3": (*RANGE, beta * c * L <= 1, T_0 <= S, T_0 >= 1)})},
        bound="fedinit.theorem_3",
    ),
    defect=Defect.GAP,
)

WITHOUT_DRIFT = term("fedinit.theorem_3", "sample met early", "stochastic gradients")
LOST_FACTOR = Claim(
    "fedinit.theorem_3.first_term",
    "(14)'s first term is what Lemma 5 and the separation give with t_0 put in.",
    Kind.THEOREM.at("Theorem 3, eq. (14), first term"),
    Same(FIRST, WITHOUT_DRIFT, ratio=S / (2 * S - 1)),
    note="Two balanced parts are summed to one: the factor 2 - 1/S is lost.",
    repair=Repair(
        "2 - 1/S times the printed term", Same(WITHOUT_DRIFT, Total(((2 - 1 / S, FIRST),))), bound="fedinit.theorem_3"
    ),
    defect=Defect.GAP,
)

FULL_DRIFT = term("fedinit.theorem_3", "client drift")
LOST_LIPSCHITZ = Claim(
    "fedinit.theorem_3.drift_term",
    "(14)'s second term is what Lemma 5 and the separation give with t_0 put in.",
    Kind.THEOREM.at("Theorem 3, eq. (14), second term"),
    Same(DRIFT, FULL_DRIFT, ratio=1 / L_G),
    note="Lemma 5's factor L_G is lost: the term is a distance in parameters, added to a loss. For losses measured in "
    "small units (L_G > 1) the printed bound is too small.",
    damaged="all exponents, rebuilt from t_0",
    repair=Repair(
        "L_G times the printed term, which is a loss then as the first term is",
        {
            "factor": Same(FULL_DRIFT, Total(((L_G, DRIFT),))),
            "its unit": MeasuredIn(FULL_DRIFT, LOSS),
            "the first term's": MeasuredIn(FIRST, LOSS),
        },
        bound="fedinit.theorem_3",
    ),
    defect=Defect.GAP,
)


SAMPLES = tuple(10.0**power for power in range(4, 19, 2))
AT_HALF = {c: sp.Rational(1, 2), L: 1, L_G: 1, sigma_l: 1, U: 1, T: 20, K: 5, beta: sp.Rational(1, 10), root_sum: 1}
"""A point with cL = 1/2, for slopes in the number of samples."""


def _against_samples(of: Formula, **changed: int) -> Callable[[Book], Curve]:
    """A part of Theorem 3 against the number of samples, all else held."""

    def curve(book: Book) -> Curve:
        at = {q: changed.get(q.name, v) for q, v in AT_HALF.items() if q != sigma_l}
        plain = resolve(of, book).subs({**at, sigma2: changed.get("gradient_variance", 1)})
        return SAMPLES, [float(plain.subs(S, int(n))) for n in SAMPLES]

    return curve


ORDER_S = Claim(
    "fedinit.theorem_3.order_in_samples",
    "The first term of (14) falls like 1/S with the number of samples, as for centralised training.",
    Kind.REMARK.at("Discussion of Theorem 3; Theorem 6, stability term"),
    SlopeIs(_against_samples(FIRST), -1),
    note="S sigma_l stands inside the power 1/(1+cL): the term falls like S^{-cL/(1+cL)}, hardly at all for the small "
    "c = mu_0/K of the theorem. The S is from Lemma 6's noise, which both runs share.",
    repair=Repair(
        "like S^{-cL/(1+cL)}, here S^{-1/3}, and like 1/S where sigma_l = 0",
        {
            "with noise": SlopeIs(_against_samples(FIRST), -1 / 3, 0.01),
            "without": SlopeIs(_against_samples(FIRST, gradient_variance=0), -1, 0.01),
        },
    ),
    defect=Defect.REFUTED,
)

NOT_BY_SAMPLES = Claim(
    "fedinit.theorem_3.divergence_and_samples",
    "The divergence term is not affected by the number of samples S.",
    Kind.REMARK.at("Discussion of Theorem 3"),
    Same(At(DRIFT, {S: 2 * S}), DRIFT, where=RANGE),
    note="Read as Delta^t, whose bounds (16) and (17) hold no S, it is so. The part of (14) that is said to come from "
    "it has S in its factor, and U, L_G and sigma_l, which belong to neither method nor heterogeneity: with noise it "
    "falls like S^{-cL/(1+cL)}, as slowly as the first part.",
    repair=Repair(
        "(14)'s second part falls with S, here like S^{-1/3}, and does not depend on it where sigma_l = 0",
        {
            "falls": MonotoneIn(DRIFT, S, up=False, where=(sigma2 > 0,)),
            "with noise": SlopeIs(_against_samples(DRIFT), -1 / 3, 0.01),
            "without": Same(At(DRIFT, {sigma2: 0, S: 2 * S}), At(DRIFT, {sigma2: 0})),
        },
    ),
    defect=Defect.READING,
)

ORDER_TK = Claim(
    "fedinit.theorem_3.order",
    "The first term of (14) grows like (TK)^{cL/(1+cL)} with the total number of local steps; with c = mu_0/K the "
    "exponent, mu_0 L/(K + mu_0 L), falls as K grows.",
    Kind.REMARK.at("Discussion of Theorem 3"),
    {
        "order": Same("fedinit.theorem_3_order", (T * K) ** (c * L / (1 + c * L)) / S),
        "power of T": Same(At(FIRST, {T: 3 * T}), Total(((3 ** (c * L / (1 + c * L)), FIRST),))),
        "exponent": Same(At(c * L / (1 + c * L), BY_BUDGET), mu_0 * L / (K + mu_0 * L)),
        "falls": MonotoneIn(At(c * L / (1 + c * L), BY_BUDGET), K, up=False),
        "power of K": Same(At(FIRST, {K: 5 * K}), Total(((5 ** (c * L / (1 + c * L)), FIRST),))),
    },
)


def _first_in_the_limit(book: Book) -> Finding:
    """The first term with c = mu_0/K at K = 10^40, to 30 digits, against its limit."""
    at = {mu_0: sp.Rational(3, 7), L: 2, S: 50, L_G: 3, sigma2: 4, U: 5, T: 11}
    far = value(At(FIRST, BY_BUDGET)(book).subs(at), {K: sp.Integer(10) ** 40})
    limit = value((CENTRAL / (S - 1)).subs(at), {})
    same = abs(far / limit - 1) <= 1e-30
    return judged(same, f"{float(far):.6g} at K = 1e40: {'the limit to 30 digits' if same else float(limit)}")


MANY_STEPS = Claim(
    "fedinit.theorem_3.many_local_steps",
    "With c = mu_0/K a larger K is always preferred for generalisation: twice as many local steps lower (14).",
    Kind.REMARK.at("Discussion of Theorem 3"),
    ImpliedBy(
        At("fedinit.theorem_3_printed", {c: mu_0 / (2 * K), K: 2 * K, beta: sp.Rational(1, 10)}),
        At("fedinit.theorem_3_printed", {**BY_BUDGET, beta: sp.Rational(1, 10)}),
        where=(S >= 2, mu_0 * L < 1),
    ),
    note="In the witness beta = 0.1. The text argues from the first term alone, for which it is right in long runs. "
    "The factor of the second term is (1+beta)^{K/(beta mu_0 L)}: 2e41 at beta = 0.1, mu_0 L = 0.5, K = 50. For K "
    "without limit the first term tends to 2(L_G^2 + S L_G sigma_l)/((S-1)L), neither to 0 nor to order 1/S.",
    damaged="the exponent of T that the text gives for K without limit",
    repair=Repair(
        "the second term's factor grows exponentially in K; the first term has a positive limit",
        {
            "factor": Same(
                At(DRIFT, {**BY_BUDGET, root_sum: 1, U: 2 * (L_G**2 + S * L_G * sigma_l) / (L * T * K)}),
                (1 + beta) ** (K / (beta * mu_0 * L)),
            ),
            "first term": _first_in_the_limit,
        },
    ),
    defect=Defect.REFUTED,
)


FIRST_STEP = Claim(
    "fedinit.theorem_3.first_step_size",
    "The step size c/(tK+k) is defined for all rounds and steps, which are counted from 0.",
    Kind.SETTING.at("Theorem 3, step size; Algorithm 1"),
    Readings(
        {
            counter: ImpliedBy(1, value, where=(T >= 1,), within={T: (1, 3)})
            for counter, value in (("tK+k", (T - 1) * K), ("tK", (T - 1) * K), ("t", T - 1))
        }
    ),
    note="A slip of an index: the counter is 0 in the first step, whichever it is; it has to begin at 1.",
    damaged="the counter: t, tK or tK+k",
    about=("fedinit.step_size_theorem_3",),
    defect=Defect.SLIP,
)
