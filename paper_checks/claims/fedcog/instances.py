"""FedCOG's inequalities on quadratic federations: searched for one that breaks them, and against exact worst cases."""

from __future__ import annotations

from ..checkers import Dominates
from ..claim import Claim, Kind
from ..worst_cases import above

STEPS = {"(29)": "mean_update", "(30)": "descent", "(51)": "gradient_drift", "(57)": "descent_one_round"}
CLAIMS: tuple[Claim, ...] = (
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
