"""Table 7: the methods' own coefficients, and those that are run here."""

from __future__ import annotations

from paper_checks.reported import table

from ..artefact import Artefact, no_runs, Shown
from ..runs import Runs
from .settings import coefficient, SETUPS, TABLE_7

PRINTED = table("fedinit", "Table 7")


def ours(method: str) -> str:
    """The coefficients that the grid takes, and where, if not everywhere."""
    found: dict[float, list[str]] = {}
    for setup in SETUPS:
        found.setdefault(coefficient(method, setup), []).append(f"{setup.data} {setup.share}")
    if len(found) == 1:
        return f"{next(iter(found)):g}"
    return "; ".join(f"{value:g} ({', '.join(dict.fromkeys(where))})" for value, where in found.items())


def data(runs: Runs, scale: str) -> Shown:
    found = [
        {
            "row": row.replace("/", ", "),
            "tried": PRINTED[row, "selection"].value,
            "best": PRINTED[row, "best"].value,
            "ours": ours(method),
        }
        for method, (_, row) in TABLE_7.items()
    ]
    caption = (
        "Printed: the values tried, and the best one (*: it depends on the setup). Ours, at every scale: the best one, "
        "with the exceptions that the text names: FedSAM with few participants, FedDyn on CIFAR-100."
    )
    return Shown(caption, found, [list(found[0]), *(list(row.values()) for row in found)])


ARTEFACT = Artefact("fedinit.table_7", "coefficients of single methods", no_runs, data)
