"""Table 2: accuracy for several averaging periods alpha of the extractor, and what they save in communication."""

from __future__ import annotations

import math
from functools import cache
from itertools import pairwise
from typing import Any

from bounds.catalog import get
from bounds.vocabulary import adaptation, extractor_size, head_size, iterations, local_steps
from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import by_place, Entry, judge, Judged, Pair
from ..ran import of
from ..regimes import POINT, Regime
from ..runs import Runs
from ..sheets import comparison, entry, number
from .beside import caption, compared, labelled
from .grid import PLANS, seeds, word
from .guards import plain, usual
from .settings import in_paper, LOCAL_STEPS, printed

PRINTED = table("fedals", "Table 2", version="v2")
ROWS = tuple(dict.fromkeys(row for row, _ in PRINTED))
COLUMNS = ("CIFAR-10", "SVHN")
SENT, HERE = "ResNet-20: parameters sent and received (10^6)", "the same, counted in these runs"
MILLION = 1e6


def cells(scale: str) -> list[Cell]:
    shown = [cell for column in COLUMNS for row in ROWS for cell in seeds(scale, column, row, "non-iid")]
    return [*shown, *plain(scale, COLUMNS[0])]


@cache
def exchanged(alpha: int) -> float:
    """Parameters that a client sends and receives in the paper's run, by its network's layers and the schedule."""
    from empirics.models.networks import network

    net = network("resnet20")
    head = sum(c.stop - c.start for name, c in net.layers.items() if name.startswith("head"))
    values: dict[Any, int] = {head_size: head, extractor_size: net.dim - head, local_steps: LOCAL_STEPS}
    values |= {iterations: int(printed("iterations non-iid")), adaptation: alpha}
    return float(get("fedals.communicated_parameters_table_2").expr.subs(values))


def data(runs: Runs, scale: str) -> Shown:
    found = [place for row in ROWS for place in _entries(runs, scale, row)]
    used = {(column, row): seeds(scale, column, row, "non-iid") for column in COLUMNS for row in ROWS}
    used[COLUMNS[0], "FedAvg iid"] = seeds(scale, COLUMNS[0], "FedAvg", "iid")
    shown = labelled(scale, found)
    return comparison(
        f"Test accuracy (%) for non-iid clients. The parameters are those of ResNet-20 with 3x3 shortcuts at the "
        f"paper's {printed('iterations non-iid')} iterations, by formula; beside them what a client of these runs, "
        f"with their network, sent and received. {caption(scale, COLUMNS, used)}",
        shown,
        _conclusions(runs, found, scale),
        ranked=[e for e in shown if e.column not in (SENT, HERE)],
    )


def _entries(runs: Runs, scale: str, row: str) -> list[Entry]:
    total = PRINTED[row, "communicated parameters per client"]
    cells = seeds(scale, COLUMNS[0], row, "non-iid")
    counted = [runs.last(cell, "exchanged_parameters") / MILLION for cell in cells]
    return [
        *(
            compared(runs, scale, PRINTED[row, column], row, column, seeds(scale, column, row, "non-iid"))
            for column in COLUMNS
        ),
        Entry(row, SENT, number(total.value) / MILLION, math.nan, (exchanged(_alpha(row)) / MILLION,)),
        entry(None, row, HERE, counted, ran=of(cells, in_paper(COLUMNS[0]))),
    ]


def _alpha(row: str) -> int:
    return int(row.partition("=")[2])


def _conclusions(runs: Runs, found: list[Entry], scale: str) -> list[Judged]:
    at, column = by_place(found), COLUMNS[0]

    def above(name: str, high: int, low: int) -> Pair:
        return Pair(f"alpha={high} over alpha={low}", at[f"alpha={high}", name].ours, at[f"alpha={low}", name].ours)

    def guards(*alphas: int, cure: bool) -> list[Regime]:
        rows = {f"alpha={a}": seeds(scale, column, f"alpha={a}", "non-iid") for a in alphas}
        return usual(runs, scale, column, rows, cure=cure)

    rounds = PLANS[scale].rounds
    longest = rounds.get(word(scale, COLUMNS[0]), rounds[""])
    alphas = [a for a in map(_alpha, ROWS) if a <= longest]
    return [
        judge(
            "averaging the extractor less often (alpha = 5 or 10) raises accuracy",
            [above(column, a, 1) for a in (5, 10)],
            POINT,
            guards(1, 5, 10, cure=True),
        ),
        judge(
            "beyond alpha = 10 accuracy falls all the way",
            [above(column, a, b) for a, b in pairwise(alphas) if a >= 10],
            POINT,
            guards(*(a for a in alphas if a >= 10), cure=False),
        ),
        judge(
            "the larger alpha, the fewer parameters are sent and received",
            [above(HERE, a, b) for a, b in pairwise(alphas)],
        ),
    ]


ARTEFACT = Artefact("fedals.table_2", "accuracy and communication for several alpha", cells, data)
