"""Tables 1 to 3: four methods, iid and not; several averaging periods alpha; and several splits of the network."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from bounds.catalog import get
from bounds.vocabulary import adaptation, extractor_size, head_size, iterations, local_steps
from empirics.experiments import Cell
from paper_checks.reported import table as reported

from ..comparing import by_place, Entry, judge, Judged, leads, Pair
from ..regimes import POINT, Regime
from ..run_description import beside, of
from ..runs import Runs
from ..specification import Place, Reader, table
from .grid import PLANS, seeds, word
from .guards import plain, TABLE_1, trained, usual
from .reported_vs_ours import caption, label, place, results
from .settings import ALPHA, in_paper, LOCAL_STEPS, printed, SETS, TEXT

# ---- Table 1: four methods ----

ROWS = tuple(dict.fromkeys(method for method, _ in TABLE_1))
AVG, ALS, SCAFFOLD, BOTH = "FedAvg", "FedALS", "SCAFFOLD", "FedALS+SCAFFOLD"


def _methods(scale: str) -> dict[tuple[str, str], list[Cell]]:
    split = {row: row.split(" ") for row in ROWS}
    return {(c, row): seeds(scale, c, method, on) for row, (method, on) in split.items() for c in SETS}


def _of_methods(runs: Runs, scale: str, entries: list[Entry]) -> list[Judged]:
    return [judged for column in SETS if word(scale, column) for judged in of_methods(runs, scale, column)]


def of_methods(runs: Runs, scale: str, column: str, wanted: str = "", together: bool = True) -> list[Judged]:
    """What the paper reads off its table or figure (``wanted``: of other data) on the data behind a column.

    ``together``: FedALS and SCAFFOLD have been run with each other as well.
    """
    delta, there = 0.0 if column == TEXT else POINT, wanted or column
    ran = of(seeds(scale, column, AVG, "non-iid"), in_paper(there))
    name = ran.data if ran else there

    def last(method: str, split: str = "non-iid") -> list[float]:
        sign = -1.0 if column == TEXT else 1.0
        return [sign * value for value in results(runs, scale, column, seeds(scale, column, method, split))]

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

PERIODS = reported("fedals", "Table 2", version="v2")
ALPHAS = tuple(int(row.partition("=")[2]) for row in dict.fromkeys(row for row, _ in PERIODS))
PERIOD_COLUMNS = ("CIFAR-10", "SVHN")
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


def _with_alpha(scale: str, column: str, alpha: int) -> list[Cell]:
    return seeds(scale, column, f"alpha={alpha}", "non-iid")


def _counted(runs: Runs, cells: Sequence[Cell]) -> list[float]:
    return [runs.last(cell, "exchanged_parameters") / MILLION for cell in cells]


def _in_paper(alpha: int) -> Reader:
    return lambda runs, cells: [exchanged(alpha) / MILLION]


def _periods(scale: str) -> list[Place]:
    found = []
    for alpha in ALPHAS:
        row, first = f"alpha={alpha}", _with_alpha(scale, PERIOD_COLUMNS[0], alpha)
        sent, ran = PERIODS[row, "communicated parameters per client"], of(first, in_paper(PERIOD_COLUMNS[0]))
        found += [place(scale, PERIODS[row, c], row, c, _with_alpha(scale, c, alpha)) for c in PERIOD_COLUMNS]
        found += [
            Place(sent, row, SENT, (), _in_paper(alpha), over=MILLION),
            Place(None, row, HERE, first, _counted, ran=ran),
        ]
    return found


def _periods_caption(scale: str) -> str:
    used = {(c, f"alpha={a}"): _with_alpha(scale, c, a) for c in PERIOD_COLUMNS for a in ALPHAS}
    used[PERIOD_COLUMNS[0], "FedAvg iid"] = seeds(scale, PERIOD_COLUMNS[0], "FedAvg", "iid")
    return (
        f"Test accuracy (%) for non-iid clients. The parameters are those of ResNet-20 with 3x3 shortcuts at the "
        f"paper's {printed('iterations non-iid')} iterations, by formula; beside them what a client of these runs, "
        f"with their network, sent and received. {caption(scale, PERIOD_COLUMNS, used)}"
    )


def _of_periods(runs: Runs, scale: str, entries: list[Entry]) -> list[Judged]:
    at, column = by_place(entries), PERIOD_COLUMNS[0]
    accuracy, rounds = label(scale, column), PLANS[scale].rounds
    alphas = [a for a in ALPHAS if a <= rounds.get(word(scale, column), rounds[""])]

    def above(high: int, low: int, name: str = accuracy) -> Pair:
        return Pair(f"alpha={high} over alpha={low}", at[f"alpha={high}", name].ours, at[f"alpha={low}", name].ours)

    def guards(compared: list[int], cure: bool) -> list[Regime]:
        rows = {f"alpha={a}": _with_alpha(scale, column, a) for a in compared}
        return usual(runs, scale, column, rows, cure=cure)

    rises, falls = guards([1, 5, 10], True), guards([a for a in alphas if a >= 10], False)
    late = [above(a, b) for a, b in pairwise(alphas) if a >= 10]
    fewer = [above(a, b, HERE) for a, b in pairwise(alphas)]
    less_often = "averaging the extractor less often (alpha = 5 or 10) raises accuracy"
    return [
        judge(less_often, [above(a, 1) for a in (5, 10)], POINT, rises),
        judge("beyond alpha = 10 accuracy falls all the way", late, POINT, falls),
        judge("the larger alpha, the fewer parameters are sent and received", fewer),
    ]


# ---- Table 3: the first L layers are the extractor ----

BORDERS = reported("fedals", "Table 3", version="v2")
LAYERS = tuple(int(row.partition("=")[2]) for row in dict.fromkeys(row for row, _ in BORDERS))
SPLIT_COLUMNS = ("CIFAR-10", "CIFAR-100", "SVHN")
BEST = 16


def _border(scale: str, layers: int) -> int | None:
    """Layers of this scale's network that stand for the printed ones; None where there is no such border."""
    return dict(PLANS[scale].axes["borders"]).get(layers)


def _split(scale: str, layers: int, column: str) -> list[Cell]:
    border = _border(scale, layers)
    there = border is not None and column in PLANS[scale].axes["splits"]
    return seeds(scale, column, "FedALS", "non-iid", border) if there else []


def _split_columns(scale: str) -> list[str]:
    """Those that are run."""
    return [c for c in SPLIT_COLUMNS if any(_split(scale, layers, c) for layers in LAYERS)]


def _split_row(scale: str, layers: int) -> str:
    """A row with as many of this network's layers as stand for the printed ones."""
    border, every = _border(scale, layers), PLANS[scale].counts["layers"]
    return f"L={beside(f'{border} of {every}', f'{layers} of 20') if border else layers}"


def _splits(scale: str) -> list[Place]:
    every, shown, found = PLANS[scale].counts["layers"], PLANS[scale].axes["splits"], []
    for layers in LAYERS:
        border, row = _border(scale, layers), _split_row(scale, layers)
        note = f"{border} of {every} layers" if border else "no like in this network"
        for c in SPLIT_COLUMNS:
            found.append(place(scale, BORDERS[f"L={layers}", c], row, c, _split(scale, layers, c), note, shown))
    return found


def _splits_caption(scale: str) -> str:
    plan = PLANS[scale]
    told = [c for c in SPLIT_COLUMNS if c in plan.axes["splits"] or not word(scale, c)]
    used = {(c, _split_row(scale, layers)): _split(scale, layers, c) for c in SPLIT_COLUMNS for layers in LAYERS}
    for c in _split_columns(scale):
        used |= {(c, f"FedAvg {split}"): seeds(scale, c, "FedAvg", split) for split in ("iid", "non-iid")}
    pairs = ", ".join(f"{border} for L = {layers}" for layers, border in plan.axes["borders"])
    first = min(border for _, border in plan.axes["borders"])
    alike = ", ".join(f"L = {layers}" for layers, border in plan.axes["borders"] if border == first)
    stands = f" is that share of this network's {plan.counts['layers']}: {pairs}; L = 1 would be the run of {alike}"
    stands = "" if scale == "paper" else stands
    return (
        f"Test accuracy (%), non-iid, alpha = {ALPHA}; L of the paper's 20 layers{stands}; with all layers in the "
        f"extractor it is FedAvg with {ALPHA * LOCAL_STEPS} local steps. {caption(scale, told, used)}"
    )


def _of_splits(runs: Runs, scale: str, entries: list[Entry]) -> list[Judged]:
    best, found = _split_row(scale, BEST), []
    for column in _split_columns(scale):
        name = label(scale, column, PLANS[scale].axes["splits"])
        rows = {f"L={layers}": cells for layers in LAYERS if (cells := _split(scale, layers, column))}
        words = f"the best split is after the first {best.removeprefix('L=')} layers, {name}"
        guards = usual(runs, scale, column, rows)
        found.append(judge(words, leads(entries, best, columns=[name]), POINT, guards))
    return found


ARTEFACTS = {
    "table_1": table(
        "fedals.table_1", "four methods, iid and non-iid",
        lambda scale: [place(scale, TABLE_1[row, c], row, c, cells) for (c, row), cells in _methods(scale).items()],
        lambda scale: f"Test accuracy (%), of {TEXT} test loss. {caption(scale, list(SETS), _methods(scale))}",
        _of_methods,
    ),
    "table_2": table(
        "fedals.table_2", "accuracy and communication for several alpha", _periods, _periods_caption, _of_periods,
        more=lambda scale: plain(scale, PERIOD_COLUMNS[0]), ranked=lambda entry: entry.column not in (SENT, HERE),
    ),
    "table_3": table(
        "fedals.table_3", "accuracy by the split into extractor and head", _splits, _splits_caption, _of_splits,
        more=lambda scale: [cell for c in _split_columns(scale) for cell in plain(scale, c)],
    ),
}  # fmt: skip
