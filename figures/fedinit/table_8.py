"""Table 8: communication, gradients and storage of a round, as printed, by the cost model and by our methods."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bounds.catalog import get
from paper_checks.reported import table

from ..artefact import Artefact, no_runs, Shown
from ..comparing import Judged, Reproduction
from ..runs import Runs
from .settings import HOME, METHODS, SHARES, written

if TYPE_CHECKING:
    from .costs import Costs

PRINTED = table("fedinit", "Table 8")
COLUMNS = {
    "communication": "communication per round",
    "gradients": "gradient calculation per round",
    "storage": "total storage",
}
DIMENSION, STEPS = 1000, 50
"""A model and a local interval to evaluate the cost model at; the multiples do not depend on them."""


def modelled(method: str, cost: str) -> float:
    """The multiple of FedAvg's cost by the bounds that hold the printed expressions."""
    clients, cohort = SHARES[HOME.share]
    names = {
        "communication": {"cohort": cohort, "parameters": DIMENSION},
        "gradients": {"cohort": cohort, "local_steps": STEPS, "parameters": DIMENSION},
        "storage": {"clients": clients, "parameters": DIMENSION},
    }[cost]
    return float(_value(method, cost, names) / _value("FedAvg", cost, names))


def _value(method: str, cost: str, given: dict[str, int]) -> float:
    return float(get(f"fedinit.cost_{cost}_{method.lower()}").formula(**given))


def data(runs: Runs, scale: str) -> Shown:
    from .costs import costs  # brings torch, which listing the figures does without

    ours = {method: costs(written(method, HOME)) for method in METHODS}
    found = [
        {
            "row": method,
            "column": cost,
            "printed": PRINTED[method, words].value,
            "cost model": modelled(method, cost),
            "ours": counted(ours[method], cost),
        }
        for method in METHODS
        for cost, words in COLUMNS.items()
    ]
    at = {(row["row"], row["column"]): row for row in found}
    sheet = [["printed / cost model / ours", *COLUMNS]]
    for method in METHODS:
        places = [at[method, cost] for cost in COLUMNS]
        sheet.append([method, *(f"{p['printed']} / {p['cost model']:g}x / {p['ours']:g}x" for p in places)])
    return Shown(CAPTION, found, sheet, conclusions(ours))


CAPTION = (
    "N participants, K local steps, C clients, d parameters; multiples of FedAvg's cost. Cost model: the printed "
    "expressions over FedAvg's. Ours, counted off the methods as they are run here: communication is the mean of what "
    "a participant sends and receives; storage counts a client's model, what it keeps between rounds and what else it "
    "receives, not the vectors that a local step needs for a moment (FedSAM's perturbed model, FedDyn's start). "
    "FedInit's clients keep their last local model, which the printed count takes for the model they train on."
)


def counted(of: Costs, cost: str) -> float:
    """Our own multiple for a column of the table."""
    return float({"communication": of.communication, "gradients": of.gradients, "storage": of.vectors}[cost])


def conclusions(ours: dict[str, Costs]) -> list[Judged]:
    """What Appendix B.2.3 concludes; nothing is random here."""
    mine, plain = ours["FedInit"], ours["FedAvg"]
    double = {m: ours[m].communication for m in ("SCAFFOLD", "FedCM")}
    sent = mine.communication == plain.communication and mine.gradients == plain.gradients
    return [
        _certain("FedInit sends and computes no more than FedAvg", sent, f"{mine.communication:g}x, {mine.gradients}x"),
        _certain(
            "SCAFFOLD and FedCM need twice FedAvg's communication",
            all(math.isclose(v, 2.0) for v in double.values()),
            ", ".join(f"{m} {v:g}x over both directions" for m, v in double.items()),
        ),
        _certain("FedSAM needs twice the gradients", ours["FedSAM"].gradients == 2, f"{ours['FedSAM'].gradients}x"),
        _certain("FedInit stores no more than FedAvg", mine.kept == plain.kept, f"{mine.kept} more vector per client"),
    ]


def _certain(words: str, so: bool, why: str) -> Judged:
    return Judged(words, Reproduction.REPRODUCED if so else Reproduction.CONTRADICTED, why)


ARTEFACTS = {"table_8": Artefact("fedinit.table_8", "costs of a round", no_runs, data)}
