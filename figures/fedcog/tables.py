"""Tables 1 to 3 and 5 to 10: all methods, FedCOG on top of others, its parts, and what the paper sweeps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, no_runs, Shown
from ..comparing import by_place, Entry, judge, Judged, leads, Pair
from ..regimes import effect, moved, POINT, Regime
from ..run_description import beside
from ..runs import Runs
from ..sheets import comparison, tidy
from ..substitutes import remark
from . import grid, reading
from .grid import chosen, columns, COMPARED, FEDCOG, KINDS, left_out, MANY, METHODS, PLANS, PLUGGED, rows, Setup, STEPS
from .reading import as_in_paper, caption, Compared, entries, ERROR, final, over, Places, PLAIN, printed, turned, usual

CORNER = "test accuracy (%)"

# ---- Table 1: all methods on three data sets, split in two ways ----

AVERAGE = "Avg."
SETTINGS = tuple(c for c in columns("1") if c != AVERAGE)


def setup_of(column: str) -> Setup:
    """Data and split of a column; of the average those of the first."""
    data, _, kind = (column if column != AVERAGE else SETTINGS[0]).rpartition(" ")
    return Setup(data, kind)


def methods_of(scale: str, column: str) -> tuple[str, ...]:
    """Those that run in a column; none where its own data are not run (their substitute is another column)."""
    setup = setup_of(column)
    if setup.data not in PLANS[scale].networks or not grid.problem(scale, setup.data):
        return ()
    return (*chosen(scale, f"methods {setup.kind}", chosen(scale, "methods", tuple(METHODS))), FEDCOG)


def all_methods(runs: Runs, scale: str) -> Shown:
    """And what the paper reads off the table, of the columns that were run."""
    ran = {(m, c): grid.runs(scale, m, setup_of(c)) for c in SETTINGS for m in methods_of(scale, c)}
    names = {
        c: f"{grid.named(scale, setup_of(c).data)} {setup_of(c).kind}" if methods_of(scale, c) else c for c in SETTINGS
    }
    here = {c: name for c, name in names.items() if methods_of(scale, c)}
    found = [
        replace(e, ours=_average(runs, scale, ran, e.row)) if e.column == AVERAGE else e
        for e in entries(runs, scale, "1", ran, setup=setup_of, named=lambda column: names.get(column, column))
    ]
    at = {place: entry.ours for place, entry in by_place(found).items()}
    two, one = (f" {kind}" for kind in reversed(KINDS))
    data_sets = [d for d in grid.DATA if {d + one, d + two} <= set(here)]

    def guards(columns_: Iterable[str], *compared: str, remedy: bool = True) -> list[Regime]:
        each = {c: {m: ran[m, c] for m in compared or methods_of(scale, c)} for c in columns_}
        told = [Compared(those, printed("1", PLAIN, c), setup_of(c)) for c, those in each.items()]
        return usual(runs, scale, *told, remedy=remedy)

    def gain(column: str) -> list[float]:
        pairs = zip(at[FEDCOG, here[column]], at[PLAIN, here[column]], strict=False)
        return [ours - plain for ours, plain in pairs]

    best = [
        pair
        for c, name in here.items()
        for pair in leads(found, FEDCOG, [m for m in methods_of(scale, c) if m != FEDCOG], [name])
    ]
    worse = [d + two for d in data_sets if d != "CIFAR-100" and ("SCAFFOLD", d + two) in ran]
    below = [Pair(f"FedAvg over SCAFFOLD, {here[c]}", at[PLAIN, here[c]], at["SCAFFOLD", here[c]]) for c in worse]
    more = [
        Pair(f"gain in NIID-2 over NIID-1, {here[d + two].removesuffix(two)}", gain(d + two), gain(d + one))
        for d in data_sets
    ]
    apart = [
        effect(
            f"accuracy that FedAvg loses from NIID-1 to NIID-2 on {here[d + one].removesuffix(one)}",
            at[PLAIN, here[d + one]],
            at[PLAIN, here[d + two]],
            printed("1", PLAIN, d + one) - printed("1", PLAIN, d + two),
        )
        for d in data_sets
    ]
    both = guards([d + k for d in data_sets for k in (one, two)], PLAIN, FEDCOG)
    alone = guards(worse, PLAIN, "SCAFFOLD", remedy=False)
    judged = [
        judge("FedCOG is the most accurate in every setting that is run", best, POINT, guards(here)),
        judge("SCAFFOLD is less accurate than FedAvg in NIID-2", below, POINT, alone),
        judge("FedCOG gains more over FedAvg in NIID-2 than in NIID-1", more, POINT, [*both, *apart]),
    ]
    first = next(iter(here), SETTINGS[0])
    said = caption(
        scale, ERROR, over(scale), grid.tuned({m: cells for (m, c), cells in ran.items() if c == first}),
        left_out(scale, ("methods", tuple(METHODS))), "FedReg's and FedGen's coefficients are not stated",
        setup=setup_of(first),
    )  # fmt: skip
    return comparison(said, found, judged, CORNER)


def _average(runs: Runs, scale: str, ran: Places, method: str) -> tuple[float, ...]:
    """Ours only where all six settings are."""
    every = [final(runs, scale, ran.get((method, c), ())) for c in SETTINGS]
    return tuple(sum(v) / len(v) for v in zip(*every, strict=True)) if all(every) else ()


# ---- Table 2: FLAIR, whose pictures are not here, without a substitute: the reported numbers alone ----

FLAIR = remark("flair", "")


def flair(runs: Runs, scale: str) -> Shown:
    words = (
        "Precision, recall and F1 by label and F1 by picture in percent, as reported: photographs of 200 users, 405 "
        "rounds, the last 5 of them FedCOG's in its row. Nothing is run: FLAIR is not here, and no other set of "
        "photographs has several labels each and users."
    )
    found = entries(runs, scale, "2", {}, absent=FLAIR)
    return replace(comparison(words, found, [], "reported / ours (%)"), unavailable=FLAIR)


# ---- Table 3: one round of a method with FedCOG on top of it against one more round without ----

WITH, WITHOUT = "with FedCOG", "without FedCOG"
SPLITS = {f"CIFAR-10-{kind[-1]}": kind for kind in KINDS}
"""By printed row."""


def _plugged(scale: str, method: str, word: str, setup: Setup) -> list[Cell]:
    if word == WITHOUT:
        return grid.runs(scale, method, setup)
    if method == PLAIN:
        return grid.runs(scale, FEDCOG, setup)
    text = grid.consensus(scale, grid.call(scale, method))
    return grid.runs(scale, text, setup, first=method, rounds=PLANS[scale].counts["first"] + 1)


def plugged(runs: Runs, scale: str) -> Shown:
    """A method is compared with itself: it alone must be trained equally, with FedCOG and without."""
    methods = chosen(scale, "plugged", PLUGGED)
    ran = {
        (row, f"{m} {word}"): _plugged(scale, m, word, Setup(kind=kind))
        for row, kind in SPLITS.items()
        for m in methods
        for word in (WITHOUT, WITH)
    }
    found = entries(runs, scale, "3", ran, reading.one_more, later=1)
    at, pairs, compared = by_place(found), [], []
    for row, kind in SPLITS.items():
        for m in methods:
            both = {word: ran[row, f"{m} {word}"] for word in (WITHOUT, WITH)}
            reported = printed("3", row, f"FedAvg {WITHOUT}")
            compared.append(Compared({**both, FEDCOG: both[WITH]}, reported, Setup(kind=kind)))
            pairs.append(Pair(f"{m} gains, {kind}", at[row, f"{m} {WITH}"].ours, at[row, f"{m} {WITHOUT}"].ours))
    words = "Every method gains by one round with FedCOG, in both splits"
    judged = judge(words, pairs, POINT, usual(runs, scale, *compared, later=1))
    said = caption(
        scale, "here after the first round of either", ERROR,
        grid.tuned({m: _plugged(scale, m, WITHOUT, Setup()) for m in methods}), left_out(scale, ("plugged", PLUGGED)),
        FLAIR,
    )  # fmt: skip
    named = {row: f"{grid.named(scale)}, {kind}" for row, kind in SPLITS.items()}
    found = [replace(e, row=named.get(e.row, e.row)) for e in found]
    return replace(comparison(said, turned(found), [judged], CORNER), rows=tidy(found))


# ---- Table 5: parts of the method ----

NOISE, GLOBAL, HARD, FULL = rows("5")
VARIANTS: dict[str, dict[str, Any]] = {
    NOISE: {"steps": 0},
    GLOBAL: {"disagreement": 0.0},
    HARD: {"supervision": "predicted"},
    FULL: {},
}
"""What each row changes; which label the hard one is, is not stated: the released code takes the server's guess."""


def parts(runs: Runs, scale: str) -> Shown:
    ran = {
        (row, kind): grid.runs(scale, FEDCOG, Setup(kind=kind), **changes)
        for kind in KINDS
        for row, changes in VARIANTS.items()
    }
    plain = {kind: grid.runs(scale, PLAIN, Setup(kind=kind)) for kind in KINDS}
    found = entries(runs, scale, "5", ran)
    at = by_place(found)
    full = [
        Pair(f"full over {row}, {kind}", at[FULL, kind].ours, at[row, kind].ours)
        for kind in KINDS
        for row in VARIANTS
        if row != FULL
    ]
    noise = [
        Pair(f"FedAvg over noise, {kind}", final(runs, scale, cells), at[NOISE, kind].ours)
        for kind, cells in plain.items()
    ]
    every = [
        Compared(
            {PLAIN: plain[kind], FEDCOG: ran[FULL, kind], **{row: ran[row, kind] for row in VARIANTS}},
            printed("1", PLAIN, f"{grid.MAIN} {kind}"),
            Setup(kind=kind),
        )
        for kind in KINDS
    ]
    words = "The full method beats noise, the global model alone and hard labels in both splits"
    judged = [
        judge(words, full, POINT, usual(runs, scale, *every)),
        judge("Distilling on noise is worse than FedAvg", noise, POINT, usual(runs, scale, *every, remedy=False)),
    ]
    hard = "hard labels are those that the server's model predicts"
    return comparison(caption(scale, ERROR, hard, over(scale)), found, judged, CORNER)


# ---- Tables 6 to 8: what is swept ----

Conclusions = Callable[[Mapping[tuple[str, str], Entry], Sequence[str], Mapping[str, str], list[Regime]], list[Judged]]
"""From the entries, the methods and the columns that were run, which are what is run there by what is printed."""


def swept(
    number: str,
    axis: str,
    column: str,
    words: str,
    setup: Callable[[str], Setup],
    more: Conclusions | None,
    runs: Runs,
    scale: str,
) -> Shown:
    """``axis`` is the plan's, ``column`` says what a column is, ``words`` what they are, ``setup`` how one is run."""
    every, methods = columns(number), chosen(scale, "swept", COMPARED)
    ran = {(m, c): grid.runs(scale, m, setup(c)) for c in chosen(scale, axis, every) for m in methods}
    shown = {c: c for c in chosen(scale, axis, every)}
    for c in shown if axis == "taus" else ():
        cells = grid.runs(scale, PLAIN, setup(c))
        shown[c] = beside(str(cells[0].arguments["local_steps"]), c) if cells else c
    found = entries(runs, scale, number, ran, setup=setup, named=lambda column: shown.get(column, column))
    compared = [Compared({m: ran[m, c] for m in methods}, printed(number, PLAIN, c), setup(c)) for c in shown]
    best = leads(found, FEDCOG, columns=shown.values())
    judged = [judge(f"FedCOG is the most accurate for every {column}", best, POINT, usual(runs, scale, *compared))]
    if more:
        judged += more(by_place(found), methods, shown, usual(runs, scale, *compared, remedy=False, ended=False))
    left = left_out(scale, ("swept", COMPARED), (axis, every))
    return comparison(caption(scale, words, ERROR, over(scale), left), found, judged, CORNER)


def _rising(found: Mapping[tuple[str, str], Entry], row: str, low: str, high: str) -> Pair:
    """The claim that a row has more at column ``high`` than at ``low``."""
    return Pair(f"{row}, {high} over {low}", found[row, high].ours, found[row, low].ours)


def of_local_steps(
    found: Mapping[tuple[str, str], Entry], methods: Sequence[str], shown: Mapping[str, str], regimes: list[Regime]
) -> list[Judged]:
    """What the paper reads off Table 6."""
    rise = [_rising(found, m, shown["200"], shown["400"]) for m in methods]
    fall = [_rising(found, m, shown["800"], shown["400"]) for m in methods] if "800" in shown else []
    return [
        judge("All methods gain from half the default number of local steps to the default", rise, POINT, regimes),
        judge("With twice the default number of local steps all methods lose", fall, POINT, regimes),
    ]


def of_participation(
    found: Mapping[tuple[str, str], Entry], methods: Sequence[str], shown: Mapping[str, str], regimes: list[Regime]
) -> list[Judged]:
    """What the paper reads off Table 7; off Table 8 it reads the same."""
    rise = [_rising(found, m, low, high) for m in methods for low, high in pairwise(shown.values())]
    return [judge("All methods gain with every step of the participation rate", rise, POINT, regimes)]


# ---- Table 9: own models ----


def _method(scale: str, column: str) -> str:
    """The method of a column; FT's models are those of local training, before they are averaged.

    FedRep's head takes as many steps as its body; Ditto's personal models take as many as the others.
    """
    if column == "FedRep":
        return f"fedrep(head_steps={grid.own_steps(scale, 'fedrep')})"
    return "ditto(fedavg())" if column == "Ditto" else column.removesuffix("+FT")


def own_accuracy(runs: Runs, cells: Sequence[Cell]) -> list[float]:
    """Mean over clients in percent after the last round; 0 for a run that diverged."""
    means = [reading.mean_over_clients(runs, cell, "local_accuracy_own", cell.arguments["rounds"]) for cell in cells]
    return [0.0 if runs.diverged(cell) else 100 * mean for cell, mean in zip(cells, means, strict=True)]


def personal(runs: Runs, scale: str) -> Shown:
    ran, best = {c: grid.runs(scale, _method(scale, c)) for c in columns("9")}, f"{FEDCOG}+FT"
    found = turned(entries(runs, scale, "9", {("Acc %", c): cells for c, cells in ran.items()}, own_accuracy))
    place = Compared({PLAIN: ran["FedAvg+FT"], FEDCOG: ran[best], **ran}, printed("9", "Acc %", "FedAvg+FT"))
    regimes = usual(runs, scale, place, read=own_accuracy, ended=False)
    times = 2 * grid.own_steps(scale, "fedrep") / PLANS[scale].setting["local_steps"] if ran["FedRep"] else math.nan
    regimes.append(Regime("local steps of FedRep, head and body, over those of the others", times, 1, at_most=True))
    judged = judge("FedCOG, fine-tuned, personalises best", leads(found, best), POINT, regimes)
    words = (
        "mean over clients, each on test samples with the class shares of its own; FT is the model after local "
        "training; coefficients of FedRep and Ditto are not stated (here as many steps for FedRep's head as its body, "
        "weight 0.1)"
    )
    return comparison(caption(scale, words, ERROR), found, [judged], "reported / ours (%)")


# ---- Table 10: steps of generation ----


def generated(runs: Runs, scale: str) -> Shown:
    """As many times the default number of steps as in the paper."""
    every, usual_steps, default = columns("10"), PLANS[scale].counts["steps"], str(STEPS)
    steps = {c: usual_steps * int(c) // STEPS for c in chosen(scale, "steps", every)}
    changes: dict[str, dict[str, Any]] = {c: {} if c == default else {"steps": n} for c, n in steps.items()}
    ran = {c: grid.runs(scale, FEDCOG, **changes[c]) for c in steps}
    names = {c: beside(str(n), c) for c, n in steps.items()}
    at = {("Accuracy", c): cells for c, cells in ran.items()}
    found = turned(entries(runs, scale, "10", at, named=lambda column: names.get(column, column)))
    place = Compared({PLAIN: grid.runs(scale, PLAIN), FEDCOG: ran[default], **ran})
    told = [final(runs, scale, cells) for cells in ran.values()]
    regimes = [*usual(runs, scale, place), moved("accuracy by the number of generation steps", told)]
    regimes.append(as_in_paper(ran[default]))
    best = leads(found, names[default], [name for c, name in names.items() if c != default])
    judged = judge("The default number of generation steps beats fewer and more", best, POINT, regimes)
    words = (
        "rows are the paper's numbers of steps; here as many times the default as 100 there; the paper does not state "
        "its split, here NIID-1"
    )
    said = caption(scale, words, ERROR, over(scale), left_out(scale, ("steps", every)))
    return comparison(said, found, [judged], "steps: reported / ours (%)")


ARTEFACTS = (
    Artefact("fedcog.table_1", "test accuracy of all methods", all_methods),
    Artefact("fedcog.table_2", "multi-label scores on FLAIR", flair, reads=no_runs),
    Artefact("fedcog.table_3", "methods with FedCOG on top", plugged),
    Artefact("fedcog.table_5", "parts of the method", parts),
    Artefact(
        "fedcog.table_6", "number of local steps",
        partial(
            swept, "6", "taus", "number of local steps",
            "columns are the paper's numbers of local steps; here as many times the default as 400 there",
            lambda column: Setup(stretch=int(column) / grid.LOCAL_STEPS), of_local_steps,
        ),
    ),
    Artefact(
        "fedcog.table_7", "participation",
        partial(
            swept, "7", "rates", "participation rate", f"{MANY} clients, columns are the part that trains in a round",
            lambda rate: Setup(clients=MANY, cohort=round(float(rate) * MANY)), of_participation,
        ),
    ),
    Artefact(
        "fedcog.table_8", "number of clients",
        partial(
            swept, "8", "clients", "number of clients", "columns are the number of clients",
            lambda clients: Setup(clients=int(clients)), None,
        ),
    ),
    Artefact("fedcog.table_9", "personalised models", personal),
    Artefact("fedcog.table_10", "number of generation steps", generated),
)  # fmt: skip
