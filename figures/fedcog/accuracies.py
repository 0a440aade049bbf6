"""Tables 2, 3 and 5 to 10: FedCOG on top of other methods, its parts, and local steps, clients, steps of generation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, no_runs, Shown
from ..comparing import by_place, Entry, judge, Judged, leads, Pair
from ..regimes import moved, POINT, Regime
from ..run_description import beside
from ..runs import Runs
from ..sheets import comparison, tidy
from ..specification import Place, table
from ..substitutes import remark
from . import grid, guards
from .grid import BASE, chosen, left_out, PLANS, Setup
from .guards import Compared, printed
from .reading import (
    caption,
    cells_of,
    ERROR,
    final,
    mean_over_clients,
    one_more,
    over,
    Places,
    places,
    Reader,
    rising,
    turned,
)
from .settings import columns, COMPARED, FEDCOG, KINDS, LOCAL_STEPS, MAIN, MANY, PLUGGED, rows, STEPS

TUNED, DEFAULT = "FedCOG+FT", str(STEPS)
FLAIR = remark("flair", "")


def accuracies(
    number: str,
    title: str,
    ran: Callable[[str], Places],
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

    def listed(scale: str) -> list[Place]:
        found = places(
            number, ran(scale), read or final(scale),
            setup=lambda row, column: setup(column), named=lambda row, column: (row, named(scale, column)),
        )  # fmt: skip
        return turned(found) if across else found

    def said(scale: str) -> str:
        return caption(scale, *words, *(() if read else over(scale)), left_out(scale, *axes))

    def rest(scale: str) -> list[Cell]:
        return [*more(scale), *guards.harm_cells(scale)]

    return table(f"fedcog.table_{number}", title, listed, said, judged, more=rest, corner=corner)


# ---- Table 2: FLAIR, whose pictures are not here, without a substitute: the reported numbers alone ----


def _flair(runs: Runs, scale: str) -> Shown:
    found = [place.entry(runs) for place in places("2", {}, final(scale), absent=FLAIR)]
    words = (
        "Precision, recall and F1 by label and F1 by picture in percent, as reported: photographs of 200 users, 405 "
        "rounds, the last 5 of them FedCOG's in its row. Nothing is run: FLAIR is not here, and no other set of "
        "photographs has several labels each and users."
    )
    return replace(comparison(words, found, [], "reported / ours (%)"), unavailable=FLAIR)


# ---- Table 3: one round of a method with FedCOG on top of it against one more round without ----

WITH, WITHOUT = "with FedCOG", "without FedCOG"
SPLITS = {f"CIFAR-10-{kind[-1]}": kind for kind in KINDS}
"""By printed row."""


def plugged(scale: str) -> Places:
    """By split and method with or without FedCOG."""
    return {
        (row, f"{method} {word}"): _plugged(scale, method, word, Setup(kind=kind))
        for row, kind in SPLITS.items()
        for method in chosen(scale, "plugged", PLUGGED)
        for word in (WITHOUT, WITH)
    }


def _plugged(scale: str, method: str, word: str, setup: Setup) -> list[Cell]:
    if word == WITHOUT:
        return grid.runs(scale, method, setup)
    if method == "FedAvg":
        return grid.runs(scale, FEDCOG, setup)
    text = grid.consensus(scale, grid.call(scale, method))
    return grid.runs(scale, text, setup, first=method, rounds=PLANS[scale].counts["first"] + 1)


def _of_plugged(runs: Runs, scale: str, at: Mapping[tuple[str, str], Entry]) -> list[Judged]:
    """A method is compared with itself: it alone must be trained equally, with FedCOG and without."""
    ran, pairs, compared = plugged(scale), [], []
    for row, kind in SPLITS.items():
        for m in chosen(scale, "plugged", PLUGGED):
            both = {word: ran[row, f"{m} {word}"] for word in (WITHOUT, WITH)}
            setup = Setup(kind=kind)
            compared.append(Compared({**both, FEDCOG: both[WITH]}, printed("3", row, f"FedAvg {WITHOUT}"), setup))
            pairs.append(Pair(f"{m} gains, {kind}", at[row, f"{m} {WITH}"].ours, at[row, f"{m} {WITHOUT}"].ours))
    words = "Every method gains by one round with FedCOG, in both splits"
    return [judge(words, pairs, POINT, guards.usual(runs, scale, *compared, later=1))]


def _table_3(runs: Runs, scale: str) -> Shown:
    listed = places("3", plugged(scale), one_more, later=1)
    at = by_place(place.entry(runs) for place in listed)
    named = {row: f"{grid.named(scale)}, {kind}" for row, kind in SPLITS.items()}
    listed = [replace(one, row=named.get(one.row, one.row)) for one in listed]
    methods = {m: _plugged(scale, m, WITHOUT, Setup()) for m in chosen(scale, "plugged", PLUGGED)}
    said = caption(
        scale, "here after the first round of either", ERROR, grid.tuned(methods),
        grid.left_out(scale, ("plugged", PLUGGED)), FLAIR,
    )  # fmt: skip
    found, shown = ([one.entry(runs) for one in each] for each in (listed, turned(listed)))
    return replace(
        comparison(said, shown, _of_plugged(runs, scale, at), "test accuracy (%)"), rows=tidy(found)
    )  # fmt: skip


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
        Compared(
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

    def ran(scale: str) -> Places:
        return {
            (method, value): grid.runs(scale, method, setup(value))
            for value in chosen(scale, axis, columns(number))
            for method in chosen(scale, "swept", COMPARED)
        }

    def judged(runs: Runs, scale: str, found: list[Entry]) -> list[Judged]:
        shown = {value: named(scale, value) for value in chosen(scale, axis, columns(number))}
        methods, at = chosen(scale, "swept", COMPARED), ran(scale)
        every = [
            Compared({m: at[m, value] for m in methods}, printed(number, guards.PLAIN, value), setup(value))
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
    return accuracies(number, title, ran, (words, ERROR), judged, setup=setup, named=named, axes=axes)


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
    """What the paper reads off Table 7; off Table 8 it reads the same."""
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
    place = Compared({guards.PLAIN: ran["FedAvg+FT"], FEDCOG: ran[TUNED], **ran}, printed("9", "Acc %", "FedAvg+FT"))
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
    place = Compared({guards.PLAIN: grid.runs(scale, guards.PLAIN), FEDCOG: ran[DEFAULT], **ran})
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
    "table_2": Artefact("fedcog.table_2", "multi-label scores on FLAIR", no_runs, _flair),
    "table_3": Artefact(
        "fedcog.table_3", "methods with FedCOG on top",
        lambda scale: [*cells_of(plugged(scale)), *guards.harm_cells(scale)], _table_3,
    ),
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
