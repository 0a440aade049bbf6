"""FedCOG's inequalities on quadratic federations, all expectations exact: searched for an instance that breaks them."""

from __future__ import annotations

from ..checkers import Dominates
from ..claim import Claim, Kind


def searched(bound: str, evaluations: int) -> Dominates:
    return Dominates(f"fedcog.{bound}", evaluations, family="quadratics")


CLAIMS: tuple[Claim, ...] = (
    *(
        Claim(
            f"fedcog.{name}.instances",
            f"{words} holds on every quadratic federation that a search visits.",
            (Kind.THEOREM if bound == "theorem" else Kind.PROOF).at(place),
            searched(bound, evaluations),
            note=note,
        )
        for name, words, place, bound, evaluations, note in (
            ("eq_29", "(29)", "eq. (29)", "mean_update", 100, ""),
            ("eq_30", "(30)", "eq. (30)", "descent", 100, ""),
            ("eq_51", "(51)", "eq. (51)", "gradient_drift", 100, ""),
            ("eq_57", "(57)", "eq. (57)", "descent_one_round", 100, ""),
            (
                "theorem",
                "Theorem 5.6",
                "Theorem 5.6 = A.6, eq. (5) = (13)",
                "theorem",
                200,
                "The search comes no nearer than a factor of four: so loose is the bound there at least.",
            ),
        )
    ),
)
