"""Table 6: the hyperparameters that all methods share, and what is run of them here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..artefact import Artefact, no_runs, Shown
from ..runs import Runs
from .grid import PLANS
from .settings import DATA, PRINTED, RELAXATIONS

WORDS = {
    "local interval K": ("local_epochs", "local_steps"),
    "minibatch": ("batch",),
    "weight decay": ("weight_decay",),
    "local learning rate": ("step_size",),
    "learning rate decay": ("step_size_decay",),
}
"""The arguments of a run that a row of the table speaks of."""
BETA = "relaxed coefficient beta"


def ours(scale: str, data: str, name: str) -> str:
    """What the grid takes at a scale for a row of the table."""
    plan = PLANS[scale]
    if data not in plan.rounds:
        return "not run"
    if name.startswith("communication"):
        return str(plan.rounds[data])
    if name.startswith("global"):
        return "1 (FedAdam 0.1)"
    if name == BETA:
        return " / ".join(f"{beta:g} ({share})" for share, beta in RELAXATIONS.items())
    given: Mapping[str, Any] = plan.setting
    word = next(w for w in WORDS[name] if w in given)
    unit = f" {word.removeprefix('local_')}" if name.startswith("local interval") else ""
    return f"{given[word]:g}{unit}"


def data(runs: Runs, scale: str) -> Shown:
    names = [
        (d, row.partition("/")[2])
        for d in DATA
        for row in dict.fromkeys(r for r, _ in PRINTED if r.startswith(f"{d}/"))
    ]
    here = list(dict.fromkeys(("paper", scale)))
    found = [
        {
            "row": f"{d}, {name}",
            "tried": PRINTED[f"{d}/{name}", "selection"].value,
            "best": PRINTED[f"{d}/{name}", "best"].value,
            **{f"ours, {s}": ours(s, d, name) for s in here},
        }
        for d, name in names
    ]
    caption = (
        "Printed: the values tried, and the best one. Ours: what the grid runs at the paper's scale and at this one. "
        "Section 5 and Table 11 run 800 rounds on CIFAR-100, where this table prints 500; FedDyn's step size decays by "
        f"0.999 a round. Gradients are clipped to norm {PLANS['paper'].setting['clip']:g}, as in the released code."
    )
    sheet = [list(found[0]), *([str(v) for v in row.values()] for row in found)]
    return Shown(caption, found, sheet)


ARTEFACT = Artefact("fedinit.table_6", "shared hyperparameters", no_runs, data)
