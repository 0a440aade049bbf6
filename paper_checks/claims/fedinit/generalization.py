"""Section 4.3.2: the choice of t_0, Theorem 3 and what its discussion says of samples, local steps and drift."""

import sympy as sp

from bounds.fedinit.letters import beta, c, K, L, L_G, mu_0, S, s, sigma_l, T, t_0, U
from bounds.units import LOSS

from ..checkers import At, ImpliedBy, MeasuredIn, requires, Same, term, Total
from ..claim import Claim, Defect, Kind, Repair

CENTRAL = 2 * (L_G**2 + S * L_G * sigma_l) / L
SHARE = 1 / (1 + c * L)
BY_BUDGET = {c: mu_0 / K}
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
        {
                "both ends": requires(
                    {
                        "fedinit.theorem_3": (
                            S >= 2, beta > 0, beta < sp.sqrt(2) / 12, K >= 2, beta * c * L <= 1,
                            (CENTRAL / U * (T * K) ** (c * L)) ** SHARE <= S,
                            (CENTRAL / U * (T * K) ** (c * L)) ** SHARE >= 1,
                        )
                    }
                )
            },
        bound="fedinit.theorem_3",
    ), defect=Defect.GAP)  # fmt: skip


WITHOUT_DRIFT = ("sample met early", "stochastic gradients")
LOST_FACTOR = Claim(
    "fedinit.theorem_3.first_term",
    "(14)'s first term is what Lemma 5 and the separation give with t_0 put in.",
    Kind.THEOREM.at("Theorem 3, eq. (14), first term"),
    Same(FIRST, term("fedinit.theorem_3", *WITHOUT_DRIFT), ratio=S / (2 * S - 1)),
    note="Two balanced parts are summed to one: the factor 2 - 1/S is lost.",
    repair=Repair(
        "2 - 1/S times the printed term",
        Same(term("fedinit.theorem_3", *WITHOUT_DRIFT), Total(((2 - 1 / S, FIRST),))),
        bound="fedinit.theorem_3",
    ),
    defect=Defect.GAP,
)

LOST_LIPSCHITZ = Claim(
    "fedinit.theorem_3.drift_term",
    "(14)'s second term is what Lemma 5 and the separation give with t_0 put in.",
    Kind.THEOREM.at("Theorem 3, eq. (14), second term"),
    Same(DRIFT, term("fedinit.theorem_3", "client drift"), ratio=1 / L_G),
    note="Lemma 5's factor L_G is lost: the term is a distance in parameters, added to a loss. For losses measured in "
    "small units (L_G > 1) the printed bound is too small.",
    damaged="all exponents, rebuilt from t_0",
    repair=Repair(
        "L_G times the printed term, which is a loss then as the first term is",
        {
            "factor": Same(term("fedinit.theorem_3", "client drift"), Total(((L_G, DRIFT),))),
            "its unit": MeasuredIn(term("fedinit.theorem_3", "client drift"), LOSS),
            "the first term's": MeasuredIn(FIRST, LOSS),
        },
        bound="fedinit.theorem_3",
    ),
    defect=Defect.GAP,
)
