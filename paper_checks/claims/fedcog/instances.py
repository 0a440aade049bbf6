"""FedCOG's inequalities on quadratic federations, all expectations exact: searched for an instance that breaks them."""

from __future__ import annotations

from ..checkers import Dominates
from ..claim import Claim, Kind

LOOSE = "The search comes no nearer than a factor of four: so loose is the bound there at least."
CLAIMS = tuple(
    Claim(
        f"fedcog.{name}.instances",
        f"{words} holds on every quadratic federation that a search visits.",
        kind.at(place),
        Dominates(f"fedcog.{bound}", evaluations, family="quadratics"),
        note=note,
    )
    for name, kind, words, place, bound, evaluations, note in (
        ("eq_29", Kind.PROOF, "(29)", "eq. (29)", "mean_update", 100, ""),
        ("eq_30", Kind.PROOF, "(30)", "eq. (30)", "descent", 100, ""),
        ("eq_51", Kind.PROOF, "(51)", "eq. (51)", "gradient_drift", 100, ""),
        ("eq_57", Kind.PROOF, "(57)", "eq. (57)", "descent_one_round", 100, ""),
        ("theorem", Kind.THEOREM, "Theorem 5.6", "Theorem 5.6 = A.6, eq. (5) = (13)", "theorem", 200, LOOSE),
    )
)
