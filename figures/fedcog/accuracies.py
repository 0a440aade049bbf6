"""Tables 5 to 10: accuracy by parts of the method, local steps, participation, clients, and steps of generation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, no_runs, Shown
from ..comparing import by_place, Entry, judge, Judged, leads, Pair
from ..ran import beside
from ..regimes import moved, POINT, Regime
from ..runs import Runs
from ..sheets import comparison
from . import grid, guards
from .grid import BASE, chosen, left_out, PLANS, Setup
from .guards import Place, printed
from .reading import caption, cells_of, entries, ERROR, final, mean_over_clients, over, Places, Reader, rising, turned
from .settings import columns, COMPARED, FEDCOG, KINDS, LOCAL_STEPS, MAIN, MANY, rows, STEPS

TUNED, DEFAULT = "FedCOG+FT", str(STEPS)


def accuracies(
    number: str,
    title: str,
    places: Callable[[str], Places],
    words: Sequence[str],
    judged: Callable[[Runs, str, list[Entry]], list[Judged]],
    *,
    corner: str = "test accuracy (%)",
    read: Reader | None = None,
    across: bool = False,
    more: Callable[[str], Sequence[Cell]] = no_runs,
    setup: Callable[[str], Setup] = lambda column: BASE,
    named: Callable[[str, str], str] = lambda scale, column: column,
    axes: Sequence[tuple[str, tuple[str, ...]]] = (),
) -> Artefact:
    """The artefact of a printed table of accuracies with its runs by place, of some ``axes`` perhaps not all.

    ``words`` go into the caption; ``read`` gives a run's number in percent (None: its final accuracy); ``across``: its
    one row becomes a column; ``more`` are runs that the conclusions (``judged``) need besides; ``setup`` is that of a
    column, ``named`` says what is run there.
    """

    def cells(scale: str) -> list[Cell]:
        return [*cells_of(places(scale)), *more(scale), *guards.harm_cells(scale)]

    def data(runs: Runs, scale: str) -> Shown:
        found = entries(
            runs, number, places(scale), read or final(scale),
            setup=lambda row, column: setup(column), named=lambda row, column: (row, named(scale, column)),
        )  # fmt: skip
        shown = turned(found) if across else found
        said = caption(scale, *words, *(() if read else over(scale)), left_out(scale, *axes))
        return comparison(said, shown, judged(runs, scale, shown), corner)

    return Artefact(f"fedcog.table_{number}", title, cells, data)


# ---- Table 5: parts of the method ----

NOISE, GLOBAL, HARD, FULL = rows("5")
VARIANTS: dict[str, dict[str, Any]] = {
    NOISE: {"steps": 0},
    GLOBAL: {"disagreement": 0.0},
    HARD: {"supervision": "predicted"},
    FULL: {},
}
"""What each row changes; which label the hard one is, is not stated: the released code takes the server's guess."""


def parts(scale: str) -> Places:
    return {
        (row, kind): grid.runs(scale, FEDCOG, Setup(kind=kind), **changes)
        for kind in KINDS
        for row, changes in VARIANTS.items()
    }


def plain(scale: str) -> dict[str, list[Cell]]:
    """FedAvg in both splits, of the same length."""
    return {kind: grid.runs(scale, "FedAvg", Setup(kind=kind)) for kind in KINDS}


def of_parts(runs: Runs, scale: str, found: list[Entry]) -> list[Judged]:
    at = by_place(found)
    full = [
        Pair(f"full over {row}, {kind}", at[FULL, kind].ours, at[row, kind].ours)
        for kind in KINDS
        for row in VARIANTS
        if row != FULL
    ]
    noise = [
        Pair(f"FedAvg over noise, {kind}", [final(scale)(runs, c) for c in each], at[NOISE, kind].ours)
        for kind, each in plain(scale).items()
    ]
    ran, without = parts(scale), plain(scale)
    every = [
        Place(
            {guards.PLAIN: without[kind], FEDCOG: ran[FULL, kind], **{row: ran[row, kind] for row in VARIANTS}},
            printed("1", "FedAvg", f"{MAIN} {kind}"),
            Setup(kind=kind),
        )
        for kind in KINDS
    ]
    regimes = guards.usual(runs, scale, *every)
    return [
        judge(
            "The full method beats noise, the global model alone and hard labels in both splits", full, POINT, regimes
        ),
        judge(
            "Distilling on noise is worse than FedAvg", noise, POINT, guards.usual(runs, scale, *every, remedy=False)
        ),
    ]


# ---- Tables 6 to 8: what is swept ----

Conclusions = Callable[[Sequence[Entry], Sequence[str], Mapping[str, str], list[Regime]], list[Judged]]
"""From the entries, the methods and the columns that were run, which are what is run there by what is printed."""


def sweep(
    number: str,
    axis: str,
    column: str,
    words: str,
    setup: Callable[[str], Setup],
    more: Conclusions | None = None,
    named: Callable[[str, str], str] = lambda scale, column: column,
) -> Artefact:
    """The artefact of one of these tables.

    ``axis`` is the plan's, ``column`` says what a column is, ``words`` what the columns are, ``setup`` how one is run.
    """

    def places(scale: str) -> Places:
        return {
            (method, value): grid.runs(scale, method, setup(value))
            for value in chosen(scale, axis, columns(number))
            for method in chosen(scale, "swept", COMPARED)
        }

    def judged(runs: Runs, scale: str, found: list[Entry]) -> list[Judged]:
        shown = {value: named(scale, value) for value in chosen(scale, axis, columns(number))}
        methods, ran = chosen(scale, "swept", COMPARED), places(scale)
        every = [
            Place({m: ran[m, value] for m in methods}, printed(number, guards.PLAIN, value), setup(value))
            for value in shown
        ]
        best = judge(
            f"FedCOG is the most accurate for every {column}",
            leads(found, FEDCOG, columns=shown.values()),
            POINT,
            guards.usual(runs, scale, *every),
        )
        rest = guards.usual(runs, scale, *every, remedy=False, ended=False) if more else []
        return [best, *(more(found, methods, shown, rest) if more else [])]

    title = "participation" if axis == "rates" else column
    axes = [("swept", COMPARED), (axis, columns(number))]
    return accuracies(number, title, places, (words, ERROR), judged, setup=setup, named=named, axes=axes)


def steps_of(scale: str, column: str) -> str:
    """The local steps that are run beside the printed ones."""
    cells = grid.runs(scale, "FedAvg", stretched(column)) if column in chosen(scale, "taus", columns("6")) else []
    return beside(str(cells[0].arguments["local_steps"]), column) if cells else column


def stretched(column: str) -> Setup:
    """As many times the default number of local steps as the paper takes there."""
    return Setup(stretch=int(column) / LOCAL_STEPS)


def local_steps(
    found: Sequence[Entry], methods: Sequence[str], shown: Mapping[str, str], regimes: list[Regime]
) -> list[Judged]:
    """What the paper reads off Table 6."""
    at = by_place(found)
    rise = [rising(at, m, shown["200"], shown["400"]) for m in methods]
    fall = [rising(at, m, shown["800"], shown["400"]) for m in methods] if "800" in shown else []
    return [
        judge("All methods gain from half the default number of local steps to the default", rise, POINT, regimes),
        judge("With twice the default number of local steps all methods lose", fall, POINT, regimes),
    ]


def participation(
    found: Sequence[Entry], methods: Sequence[str], shown: Mapping[str, str], regimes: list[Regime]
) -> list[Judged]:
    """What the paper reads off Table 7; off Table 8 it reads nothing else."""
    at = by_place(found)
    rise = [rising(at, m, low, high) for m in methods for low, high in pairwise(shown.values())]
    return [judge("All methods gain with every step of the participation rate", rise, POINT, regimes)]


# ---- Table 9: own models ----


def method(scale: str, column: str) -> str:
    """The method of a column; FT's models are those of local training, before they are averaged.

    FedRep's head takes as many steps as its body; Ditto's personal models take as many as the others.
    """
    if column == "FedRep":
        return f"fedrep(head_steps={grid.own_steps(scale, 'fedrep')})"
    return "ditto(fedavg())" if column == "Ditto" else column.removesuffix("+FT")


def personal(scale: str) -> Places:
    return {("Acc %", c): grid.runs(scale, method(scale, c)) for c in columns("9")}


def own_accuracy(runs: Runs, cell: Cell) -> float:
    """Mean over clients in percent after the last round; 0 for a run that diverged."""
    if runs.diverged(cell):
        return 0.0
    return 100 * mean_over_clients(runs, cell, "local_accuracy_own", cell.arguments["rounds"])


def of_personal(runs: Runs, scale: str, found: list[Entry]) -> list[Judged]:
    ran = {c: cells for (_, c), cells in personal(scale).items()}
    place = Place({guards.PLAIN: ran["FedAvg+FT"], FEDCOG: ran[TUNED], **ran}, printed("9", "Acc %", "FedAvg+FT"))
    regimes = guards.usual(runs, scale, place, read=own_accuracy, ended=False)
    times = 2 * grid.own_steps(scale, "fedrep") / PLANS[scale].setting["local_steps"] if ran["FedRep"] else math.nan
    regimes.append(Regime("local steps of FedRep, head and body, over those of the others", times, 1, at_most=True))
    return [judge("FedCOG, fine-tuned, personalises best", leads(found, TUNED), POINT, regimes)]


# ---- Table 10: steps of generation ----


def changes(scale: str, column: str) -> dict[str, Any]:
    """As many times the default number of steps as in the paper."""
    return {} if column == DEFAULT else {"steps": PLANS[scale].counts["steps"] * int(column) // STEPS}


def generated(scale: str) -> Places:
    shown = chosen(scale, "steps", columns("10"))
    return {("Accuracy", c): grid.runs(scale, FEDCOG, **changes(scale, c)) for c in shown}


def of_generated(runs: Runs, scale: str, found: list[Entry]) -> list[Judged]:
    default, *others = (
        generation_steps(scale, c)
        for c in sorted(chosen(scale, "steps", columns("10")), key=lambda column: column != DEFAULT)
    )
    ran = {c: cells for (_, c), cells in generated(scale).items()}
    told = {c: [final(scale)(runs, cell) for cell in cells] for c, cells in ran.items()}
    place = Place({guards.PLAIN: grid.runs(scale, guards.PLAIN), FEDCOG: ran[DEFAULT], **ran})
    regimes = [*guards.usual(runs, scale, place), moved("accuracy by the number of generation steps", told.values())]
    regimes.append(guards.as_in_paper(ran[DEFAULT]))
    words = "The default number of generation steps beats fewer and more"
    return [judge(words, leads(found, default, others), POINT, regimes)]


def generation_steps(scale: str, column: str) -> str:
    """The steps that are run beside the printed ones."""
    if column not in chosen(scale, "steps", columns("10")):
        return column
    return beside(str(PLANS[scale].counts["steps"] * int(column) // STEPS), column)


ARTEFACTS = {
    "table_5": accuracies(
        "5", "parts of the method", parts, (ERROR, "hard labels are those that the server's model predicts"), of_parts,
        more=lambda scale: cells_of(plain(scale)),
    ),
    "table_6": sweep(
        "6", "taus", "number of local steps",
        "columns are the paper's numbers of local steps; here as many times the default as 400 there",
        stretched, local_steps, steps_of,
    ),
    "table_7": sweep(
        "7", "rates", "participation rate", f"{MANY} clients, columns are the part that trains in a round",
        lambda rate: Setup(clients=MANY, cohort=round(float(rate) * MANY)), participation,
    ),
    "table_8": sweep(
        "8", "clients", "number of clients", "columns are the number of clients",
        lambda clients: Setup(clients=int(clients)),
    ),
    "table_9": accuracies(
        "9", "personalised models", personal,
        ("mean over clients, each on test samples with the class shares of its own; FT is the model after local "
         "training; coefficients of FedRep and Ditto are not stated (here as many steps for FedRep's head as its body, "
         "weight 0.1)", ERROR),
        of_personal, corner="reported / ours (%)", read=own_accuracy, across=True,
    ),
    "table_10": accuracies(
        "10", "number of generation steps", generated,
        ("rows are the paper's numbers of steps; here as many times the default as 100 there; the paper does not state "
         "its split, here NIID-1", ERROR),
        of_generated, corner="steps: reported / ours (%)", across=True, named=generation_steps,
        more=lambda scale: grid.runs(scale, guards.PLAIN), axes=[("steps", columns("10"))],
    ),
}  # fmt: skip
