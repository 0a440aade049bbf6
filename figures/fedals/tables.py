"""Tables 1 to 3: four methods, iid and not; several averaging periods alpha; and several splits of the network."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any

from bounds.catalog import get
from bounds.vocabulary import adaptation, extractor_size, head_size, iterations, local_steps
from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import by_place, judge, Judged, leads, Pair
from ..regimes import POINT, Regime
from ..run_description import beside, of
from ..runs import Runs
from ..sheets import comparison, entry
from .grid import ALPHA, in_paper, LOCAL_STEPS, PLANS, printed, seeds, SETS, TEXT, word
from .reading import caption, higher, label, place, TABLE_1, trained, usual

# ---- Table 1: four methods ----

AVG, ALS, SCAFFOLD, BOTH = "FedAvg", "FedALS", "SCAFFOLD", "FedALS+SCAFFOLD"


def _methods(runs: Runs, scale: str) -> Shown:
    rows = dict.fromkeys(method for method, _ in TABLE_1)
    split = {row: row.split(" ") for row in rows}
    used = {(c, row): seeds(scale, c, method, on) for row, (method, on) in split.items() for c in SETS}
    entries = [place(runs, scale, TABLE_1[row, c], row, c, cells) for (c, row), cells in used.items()]
    judged = [one for column in SETS if word(scale, column) for one in of_methods(runs, scale, column)]
    return comparison(f"Test accuracy (%), of {TEXT} test loss. {caption(scale, list(SETS), used)}", entries, judged)


def of_methods(runs: Runs, scale: str, column: str, wanted: str = "", together: bool = True) -> list[Judged]:
    """What the paper reads off its table or figure (``wanted``: of other data) on the data behind a column.

    ``together``: FedALS and SCAFFOLD have been run with each other as well.
    """
    delta, there = 0.0 if column == TEXT else POINT, wanted or column
    ran = of(seeds(scale, column, AVG, "non-iid"), in_paper(there))
    name = ran.data if ran else there

    def last(method: str, split: str = "non-iid") -> list[float]:
        return higher(runs, scale, column, method, split)

    def gain(split: str) -> list[float]:
        return [a - b for a, b in zip(last(ALS, split), last(AVG, split), strict=True)]

    def guards(*methods: str) -> list[Regime]:
        return usual(runs, scale, column, {m: seeds(scale, column, m, "non-iid") for m in methods}, there)

    def over(one: str, other: str, words: str) -> Judged:
        pair = Pair(f"{one} non-iid over {other} non-iid, {name}", last(one), last(other))
        return judge(f"{words}, {name}", [pair], delta, guards(one, other))

    iid = trained(runs, scale, column, {m: seeds(scale, column, m, "iid") for m in (ALS, AVG)}, there, "iid")
    apart = Pair(f"gain non-iid over gain iid, {name}", gain("non-iid"), gain("iid"))
    more = f"FedALS gains more over FedAvg for non-iid clients than for iid ones, where it gains little, {name}"
    found = [
        *(over(ALS, other, f"for non-iid clients FedALS does better than {other}") for other in (AVG, SCAFFOLD)),
        judge(more, [apart], delta, dict.fromkeys([*guards(ALS, AVG), *iid])),
    ]
    if together and column != "MNIST":  # there the paper's own table has it the other way
        found += [over(BOTH, SCAFFOLD, "SCAFFOLD does better with FedALS than alone")]
    if together:
        found += [over(BOTH, ALS, "SCAFFOLD adds to FedALS: together they do better than FedALS alone")]
    return found


# ---- Table 2: averaging periods ----

SENT, HERE = "ResNet-20: parameters sent and received (10^6)", "the same, counted in these runs"
MILLION = 1e6


@cache
def exchanged(alpha: int) -> float:
    """Parameters that a client sends and receives in the paper's run, by its network's layers and the schedule."""
    from empirics.models.networks import network

    net = network("resnet20")
    head = sum(c.stop - c.start for name, c in net.layers.items() if name.startswith("head"))
    values: dict[Any, int] = {head_size: head, extractor_size: net.dim - head, local_steps: LOCAL_STEPS}
    values |= {iterations: int(printed("iterations non-iid")), adaptation: alpha}
    return float(get("fedals.communicated_parameters_table_2").expr.subs(values))


def _periods(runs: Runs, scale: str) -> Shown:
    paper, columns = table("fedals", "Table 2", version="v2"), ("CIFAR-10", "SVHN")
    rows, first = {row: int(row.partition("=")[2]) for row, _ in paper}, columns[0]
    used = {(c, row): seeds(scale, c, row, "non-iid") for c in columns for row in rows}
    entries = []
    for row, alpha in rows.items():
        cells = used[first, row]
        counted = [runs.last(cell, "exchanged_parameters") / MILLION for cell in cells]
        sent = paper[row, "communicated parameters per client"]
        entries += [place(runs, scale, paper[row, c], row, c, used[c, row]) for c in columns]
        entries += [
            entry(sent, row, SENT, [exchanged(alpha) / MILLION], over=MILLION),
            entry(None, row, HERE, counted, ran=of(cells, in_paper(first))),
        ]
    at, accuracy, rounds = by_place(entries), label(scale, first), PLANS[scale].rounds
    alphas = [a for a in rows.values() if a <= rounds.get(word(scale, first), rounds[""])]

    def above(high: int, low: int, name: str = accuracy) -> Pair:
        return Pair(f"alpha={high} over alpha={low}", at[f"alpha={high}", name].ours, at[f"alpha={low}", name].ours)

    def guards(compared: list[int], cure: bool) -> list[Regime]:
        return usual(runs, scale, first, {row: used[first, row] for row in rows if rows[row] in compared}, cure=cure)

    falls = guards([a for a in alphas if a >= 10], False)
    late = [above(a, b) for a, b in pairwise(alphas) if a >= 10]
    less_often = "averaging the extractor less often (alpha = 5 or 10) raises accuracy"
    judged = [
        judge(less_often, [above(a, 1) for a in (5, 10)], POINT, guards([1, 5, 10], True)),
        judge("beyond alpha = 10 accuracy falls all the way", late, POINT, falls),
        judge(
            "the larger alpha, the fewer parameters are sent and received",
            [above(a, b, HERE) for a, b in pairwise(alphas)],
        ),
    ]
    shown = used | {(first, "FedAvg iid"): seeds(scale, first, "FedAvg", "iid")}
    said = (
        f"Test accuracy (%) for non-iid clients. The parameters are those of ResNet-20 with 3x3 shortcuts at the "
        f"paper's {printed('iterations non-iid')} iterations, by formula; beside them what a client of these runs, "
        f"with their network, sent and received. {caption(scale, columns, shown)}"
    )
    return comparison(said, entries, judged, ranked=[e for e in entries if e.column not in (SENT, HERE)])


# ---- Table 3: the first L layers are the extractor ----

BORDERS = table("fedals", "Table 3", version="v2")
LAYERS = tuple(int(row.partition("=")[2]) for row in dict.fromkeys(row for row, _ in BORDERS))
BEST = 16


def _split(scale: str, layers: int, column: str) -> list[Cell]:
    """Runs with as many layers of this scale's network as stand for the printed ones; none without such a border."""
    plan = PLANS[scale]
    border = dict(plan.axes["borders"]).get(layers)
    there = border is not None and column in plan.axes["splits"]
    return seeds(scale, column, "FedALS", "non-iid", border) if there else []


def _splits(runs: Runs, scale: str) -> Shown:
    plan, columns = PLANS[scale], ("CIFAR-10", "CIFAR-100", "SVHN")
    every, shown, borders = plan.counts["layers"], plan.axes["splits"], dict(plan.axes["borders"])
    stands_for = {n: beside(f"{borders[n]} of {every}", f"{n} of 20") if n in borders else n for n in LAYERS}
    used = {(c, n): _split(scale, n, c) for c in columns for n in LAYERS}
    here = [c for c in columns if any(used[c, n] for n in LAYERS)]
    entries = []
    for n in LAYERS:
        note = f"{borders[n]} of {every} layers" if n in borders else "no like in this network"
        entries += [
            place(runs, scale, BORDERS[f"L={n}", c], f"L={stands_for[n]}", c, used[c, n], note, shown) for c in columns
        ]
    judged = []
    for column in here:
        name = label(scale, column, shown)
        rows = {f"L={n}": used[column, n] for n in LAYERS if used[column, n]}
        words = f"the best split is after the first {stands_for[BEST]} layers, {name}"
        best = leads(entries, f"L={stands_for[BEST]}", columns=[name])
        judged.append(judge(words, best, POINT, usual(runs, scale, column, rows)))
    told = [c for c in columns if c in shown or not word(scale, c)]
    trained_too = {(c, f"L={stands_for[n]}"): cells for (c, n), cells in used.items()}
    for c in here:
        trained_too |= {(c, f"FedAvg {split}"): seeds(scale, c, "FedAvg", split) for split in ("iid", "non-iid")}
    pairs = ", ".join(f"{border} for L = {n}" for n, border in borders.items())
    alike = ", ".join(f"L = {n}" for n, border in borders.items() if border == min(borders.values()))
    stands = f" is that share of this network's {every}: {pairs}; L = 1 would be the run of {alike}"
    said = (
        f"Test accuracy (%), non-iid, alpha = {ALPHA}; L of the paper's 20 layers{'' if scale == 'paper' else stands}; "
        f"with all layers in the extractor it is FedAvg with {ALPHA * LOCAL_STEPS} local steps. "
        f"{caption(scale, told, trained_too)}"
    )
    return comparison(said, entries, judged)


ARTEFACTS = (
    Artefact("fedals.table_1", "four methods, iid and non-iid", _methods),
    Artefact("fedals.table_2", "accuracy and communication for several alpha", _periods),
    Artefact("fedals.table_3", "accuracy by the split into extractor and head", _splits),
)
