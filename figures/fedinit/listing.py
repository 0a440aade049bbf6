"""Tables 6 to 9: hyperparameters, coefficients, costs of a round and hardware, as printed and as they are here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bounds.catalog import get
from paper_checks.reported import table

from ..artefact import Content
from ..comparing import exact_finding
from ..runs import Runs
from ..sheets import text_table
from . import grid
from .grid import client_text, coefficient, DATA, HOME, METHODS, PARTS, PLANS, RELAXATIONS, SETUPS, SHARES, TABLE_6

# ---- Tables 6 and 7 ----

ARGUMENTS = {
    "local interval K": ("local_epochs", "local_steps"),
    "minibatch": ("batch",),
    "weight decay": ("weight_decay",),
    "local learning rate": ("step_size",),
    "learning rate decay": ("step_size_decay",),
}
"""The arguments of a run that a row of the table sets."""


def _ours(scale: str, data: str, name: str) -> str:
    """Return the value of a row of the table in our plan for a scale."""
    plan = PLANS[scale]
    if data not in plan.rounds:
        return "not run"
    if name.startswith("communication"):
        return str(plan.rounds[data])
    if name.startswith("global"):
        return "1 (FedAdam 0.1)"
    if name == "relaxed coefficient beta":
        return " / ".join(f"{beta:g} ({PARTS[share]})" for share, beta in RELAXATIONS.items())
    word = next(w for w in ARGUMENTS[name] if w in plan.setting)
    unit = f" {word.removeprefix('local_')}" if name.startswith("local interval") else ""
    return f"{plan.setting[word]:g}{unit}"


def hyperparameters(runs: Runs, scale: str) -> Content:
    rows = dict.fromkeys(row for d in DATA for row, _ in TABLE_6 if row.startswith(f"{d}/"))
    listed = [
        {
            "row": row.replace("/", ", ", 1),
            "tried": TABLE_6[row, "selection"].value,
            "best": TABLE_6[row, "best"].value,
            **{f"ours, {s}": _ours(s, *row.split("/", 1)) for s in ("paper", scale)},
        }
        for row in rows
    ]
    return text_table(
        "Printed: the values tried, and the best one. Ours: what the grid runs at the paper's scale and at this one. "
        "Section 5 and Table 11 run 800 rounds on CIFAR-100, where this table prints 500; FedDyn's step size decays by "
        f"0.999 a round. Gradients are clipped to norm {PLANS['paper'].setting['clip']:g}, as in the released code.",
        listed,
    )


def coefficients(runs: Runs, scale: str) -> Content:
    """Return Table 7 beside our coefficients, with the setups in which they are used if not in all."""
    printed, listed = table("fedinit", "Table 7"), []
    for method, (_, row) in grid.TABLE_7.items():
        where: dict[float, dict[str, None]] = {}
        for setup in SETUPS:
            where.setdefault(coefficient(method, setup), {})[f"{setup.data}, {PARTS[setup.share]}"] = None
        alone = len(where) == 1
        ours = "; ".join(f"{value:g}" + ("" if alone else f" ({' and '.join(at)})") for value, at in where.items())
        tried, best = (printed[row, column].value for column in ("selection", "best"))
        listed.append({"row": row.replace("/", ", "), "tried": tried, "best": best, "ours": ours})
    return text_table(
        "Printed: the values tried, and the best one (*: it depends on the setup). Ours, at every scale: the best one, "
        "with the exceptions that the text names: FedSAM with few participants, FedDyn on CIFAR-100.",
        listed,
    )


# ---- Table 8: as printed, by the cost model, and counted from our methods ----

COLUMNS = {
    "communication": "communication per round",
    "gradients": "gradient calculation per round",
    "storage": "total storage",
}


def cost_model_multiple(method: str, cost: str) -> float:
    """Return the multiple of FedAvg's cost by the printed expressions; numbers of parameters and steps cancel."""
    clients, cohort = SHARES[HOME.share]
    known = {"clients": clients, "cohort": cohort, "local_steps": 50, "parameters": 1000}

    def value(method: str) -> float:
        bound = get(f"fedinit.cost_{cost}_{method.lower()}")
        return float(bound.formula(**{q.name: known[q.name] for q in bound.quantities}))

    return value(method) / value("FedAvg")


TOY, TOY_CLIENTS, COHORT = "softmax(iris)", 4, 2
"""A problem that is small enough to run one round; the multiples do not depend on it."""


@dataclass(frozen=True)
class Costs:
    """Costs of a round: ``communication`` in N d (mean of both directions), of it ``received`` by a participant,
    ``gradients`` in N K d, and in C d the ``storage``: what a client keeps between rounds, its model, and what else it
    receives.
    """

    communication: float
    received: float
    gradients: int
    storage: int


def count_costs(text: str) -> Costs:
    """Return the costs of the method called ``text``, counted in one round on a toy problem."""
    from empirics.algorithms import algorithm as read_algorithm  # brings torch, which listing the figures does without
    from empirics.problems.tasks import task
    from empirics.training.rounds import plan_round
    from empirics.training.setting import Setting

    algorithm = read_algorithm(text)
    dealt = task(TOY).deal("iid", TOY_CLIENTS, 0)
    state = algorithm.begin(dealt.model.start(0), TOY_CLIENTS)
    cohort = np.arange(COHORT), np.ones(COHORT)
    work = plan_round(dealt.model, dealt.federation, algorithm, Setting(1, COHORT), 0, state, cohort)
    starts, calls = work.starts.clone(), []

    def gradient(point: Any, objective: object = None) -> Any:
        calls.append(point)
        return work.starts.clone()  # its value does not matter here

    algorithm.direction(work, starts, gradient(starts), gradient)
    kept = sum(tensor.shape == (TOY_CLIENTS, dealt.model.dim) for tensor in state.memory.values())
    sent, received = algorithm.uploads, algorithm.downloads  # models or vectors of their size
    return Costs((sent + received) / 2, received, len(calls), int(kept + received))


def costs_of_a_round(runs: Runs, scale: str) -> Content:
    """Return Table 8 and the findings of Appendix B.2.3, which do not depend on any run."""
    ours = {method: count_costs(grid.algorithm_text(method, HOME)) for method in METHODS}
    printed = table("fedinit", "Table 8")
    listed: list[dict[str, Any]] = [
        {
            "row": method,
            "column": cost,
            "printed": printed[method, words].value,
            "cost model": cost_model_multiple(method, cost),
            "ours": float(getattr(ours[method], cost)),
        }
        for method in METHODS
        for cost, words in COLUMNS.items()
    ]
    sheet = [["printed / cost model / ours", *COLUMNS]]
    for method in METHODS:
        places = (row for row in listed if row["row"] == method)
        sheet.append([method, *(f"{p['printed']} / {p['cost model']:g}x / {p['ours']:g}x" for p in places)])
    summary = (
        "N participants, K local steps, C clients, d parameters; multiples of FedAvg's cost. Cost model: the printed "
        "expressions over FedAvg's. Ours, counted off the methods as they are run here: communication is the mean of "
        "what a participant sends and receives; storage counts a client's model, what it keeps between rounds and what "
        "else it receives, not the vectors that a local step needs for a moment (FedSAM's perturbed model, FedDyn's "
        "start). FedInit's clients keep their last local model, which the printed count takes for the model they train "
        "on."
    )
    mine, plain, sam = ours["FedInit"], ours["FedAvg"], ours["FedSAM"]
    double = ours["SCAFFOLD"], ours["FedCM"]
    sent = mine.communication == plain.communication and mine.gradients == plain.gradients
    twice = all(own.received == 2 * plain.received for own in double)
    one_way = " and ".join(f"{own.received / plain.received:g}x" for own in double)
    both_ways = " and ".join(f"{own.communication:g}x" for own in double)
    why = f"{one_way}; in both directions together {both_ways}"
    findings = [
        exact_finding(words, holds, seen)
        for words, holds, seen in (
            ("FedInit sends and computes no more than FedAvg", sent, f"{mine.communication:g}x, {mine.gradients}x"),
            ("a participant receives twice as much with SCAFFOLD and FedCM as with FedAvg", twice, why),
            ("FedSAM needs twice the gradients", sam.gradients == 2, f"{sam.gradients}x"),
        )
    ]
    return Content(summary, listed, sheet, findings)


# ---- Table 9 ----


def hardware(runs: Runs, scale: str) -> Content:
    cards = [kept.card for c in grid.cells(scale, HOME, "FedAvg") if (kept := runs.result(c)) is not None]
    printed = table("fedinit", "Table 9")
    ours = {
        "GPU": _seen("none" if c["device"] == "cpu" else c["device"] for c in cards),
        "Processor": _seen(c["processor"] for c in cards),
        "Platform": _seen(f"PyTorch-{c['versions'].get('torch', '?')}, Python {c['python']}" for c in cards),
    }
    listed = [
        {
            "row": name,
            "reported": printed[name, "value"].value if (name, "value") in printed else "",
            "ours": ours.get(name, ""),
        }
        for name in dict.fromkeys([*(row for row, _ in printed), *ours])
    ]
    summary = (
        f"Where the paper's experiments were made, and where our runs of FedAvg ({client_text(scale, HOME)}) were."
    )
    return text_table(summary, listed, ["", "reported", "ours"])


def _seen(values: Iterable[str]) -> str:
    return "; ".join(sorted({v for v in values if v})) or "not measured"
