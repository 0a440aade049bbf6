"""Tables 6, 7 and 9: hyperparameters, coefficients and hardware, as printed and as they are here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, no_runs, Shown
from ..runs import Runs
from ..sheets import listing
from .grid import clients_of, PLANS, runs as grid_runs
from .settings import coefficient, DATA, HOME, PARTS, PRINTED, RELAXATIONS, SETUPS, TABLE_7

COEFFICIENTS, HARDWARE = table("fedinit", "Table 7"), table("fedinit", "Table 9")
NOTHING = "not measured"
WORDS = {
    "local interval K": ("local_epochs", "local_steps"),
    "minibatch": ("batch",),
    "weight decay": ("weight_decay",),
    "local learning rate": ("step_size",),
    "learning rate decay": ("step_size_decay",),
}
"""The arguments of a run that a row of the table is about."""
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
        return " / ".join(f"{beta:g} ({PARTS[share]})" for share, beta in RELAXATIONS.items())
    given: Mapping[str, Any] = plan.setting
    word = next(w for w in WORDS[name] if w in given)
    unit = f" {word.removeprefix('local_')}" if name.startswith("local interval") else ""
    return f"{given[word]:g}{unit}"


def hyperparameters(runs: Runs, scale: str) -> Shown:
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
    return listing(caption, found)


def own(method: str) -> str:
    """The coefficients that the grid takes, and where, if not everywhere."""
    found: dict[float, list[str]] = {}
    for setup in SETUPS:
        found.setdefault(coefficient(method, setup), []).append(f"{setup.data}, {PARTS[setup.share]}")
    if len(found) == 1:
        return f"{next(iter(found)):g}"
    return "; ".join(f"{value:g} ({' and '.join(dict.fromkeys(where))})" for value, where in found.items())


def coefficients(runs: Runs, scale: str) -> Shown:
    found = [
        {
            "row": row.replace("/", ", "),
            "tried": COEFFICIENTS[row, "selection"].value,
            "best": COEFFICIENTS[row, "best"].value,
            "ours": own(method),
        }
        for method, (_, row) in TABLE_7.items()
    ]
    caption = (
        "Printed: the values tried, and the best one (*: it depends on the setup). Ours, at every scale: the best one, "
        "with the exceptions that the text names: FedSAM with few participants, FedDyn on CIFAR-100."
    )
    return listing(caption, found)


def cells(scale: str) -> list[Cell]:
    return grid_runs(scale, HOME, "FedAvg")


def hardware(runs: Runs, scale: str) -> Shown:
    cards = [kept.card for c in cells(scale) if (kept := runs.kept(c)) is not None]
    ours = {
        "GPU": _seen("none" if c["device"] == "cpu" else c["device"] for c in cards),
        "Processor": _seen(c["processor"] for c in cards),
        "Platform": _seen(f"PyTorch-{c['versions'].get('torch', '?')}, Python {c['python']}" for c in cards),
    }
    names = dict.fromkeys([*(row for row, _ in HARDWARE), *ours])
    found: list[dict[str, Any]] = [
        {
            "row": name,
            "reported": HARDWARE[name, "value"].value if (name, "value") in HARDWARE else "",
            "ours": ours.get(name, ""),
        }
        for name in names
    ]
    caption = f"Where the paper's experiments were made, and where our runs of FedAvg ({clients_of(scale, HOME)}) were."
    return listing(caption, found, ["", "reported", "ours"])


def _seen(values: Iterable[str]) -> str:
    return "; ".join(sorted({v for v in values if v})) or NOTHING


ARTEFACTS = {
    "table_6": Artefact("fedinit.table_6", "shared hyperparameters", no_runs, hyperparameters),
    "table_7": Artefact("fedinit.table_7", "coefficients of single methods", no_runs, coefficients),
    "table_9": Artefact("fedinit.table_9", "hardware", cells, hardware),
}
