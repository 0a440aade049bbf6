"""Table 4: one more round by four methods: local time against FedAvg's, and accuracy; the local models beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import by_place, Entry, judge, Pair
from ..runs import Runs
from ..sheets import comparison, entry, number
from .grid import chosen, PLANS
from .one_round import measured, MEASURES, runs_of, times
from .reading import caption, entries, ERROR, one_more
from .settings import COMPARED, FEDCOG

TIME = "local time (FedAvg's = 1)"
ACCURACY = "test accuracy (%)"


def cells(scale: str) -> list[Cell]:
    methods = chosen(scale, "compared", COMPARED)
    return [*(cell for m in methods for cell in runs_of(scale, m)), *times(scale, COMPARED)]


def data(runs: Runs, scale: str) -> Shown:
    found = [e for row in COMPARED for e in _row(runs, scale, row)]
    at = by_place(found)
    others = [m for m in chosen(scale, "compared", COMPARED) if m != FEDCOG]
    accurate = [Pair(f"FedCOG over {m}", at[FEDCOG, ACCURACY].ours, at[m, ACCURACY].ours) for m in others]
    faster = [Pair(f"{m} over FedCOG", at[m, TIME].ours, at[FEDCOG, TIME].ours) for m in ("FedProx", "MOON")]
    rounds = PLANS[scale].counts["first"] + 1
    return comparison(
        caption(
            scale,
            f"accuracy and local models: {rounds - 1} rounds of FedAvg, then one of the method; time: {rounds} rounds "
            "of the method, for FedCOG one after FedAvg's, in seconds of one core, taken in turns, ± over repetitions",
            ERROR,
        ),
        found,
        [
            judge("FedCOG is the most accurate after one round", accurate),
            judge("FedCOG takes less local time than FedProx and MOON", faster),
        ],
    )


def _row(runs: Runs, scale: str, row: str) -> list[Entry]:
    """Time, accuracy, and the three numbers of Figure 2, which the paper prints nowhere."""
    here = row in chosen(scale, "compared", COMPARED)
    own = {(row, "Acc"): runs_of(scale, row)} if here else {}
    printed = [e for e in entries(runs, "4", own, one_more) if (e.row, e.column) == (row, "Acc")]
    accuracy = [replace(e, column=ACCURACY) for e in printed]
    local = [entry(None, row, words, measured(runs, scale, row, q) if here else ()) for q, words in MEASURES.items()]
    return [_time(runs, scale, row), *accuracy, *local]


def _time(runs: Runs, scale: str, row: str) -> Entry:
    printed, plain = (table("fedcog", "4")[m, "Local Time"] for m in (row, "FedAvg"))
    reported, std = (number(text) / number(plain.value) for text in (printed.value, printed.std))
    return Entry(row, TIME, reported, std, tuple(ratios(runs, scale, row)), "the paper prints seconds")


def ratios(runs: Runs, scale: str, method: str) -> Sequence[float]:
    """Local time of all rounds over FedAvg's, one per repetition; of FedCOG's only the last is its own."""
    rounds = PLANS[scale].counts["first"] + 1
    each = [s / plain for s, plain in zip(*(seconds(runs, scale, m) for m in (method, "FedAvg")), strict=False)]
    return [(rounds - 1 + r) / rounds for r in each] if method == FEDCOG else each


def seconds(runs: Runs, scale: str, method: str) -> list[float]:
    """Of one round, one per repetition; none where they were not taken."""
    columns = [runs.columns(cell) for cell in times(scale, COMPARED)]
    return [s for c in columns if c for job, s in zip(c["job"], c["seconds"], strict=True) if job == method]


ARTEFACT = Artefact("fedcog.table_4", "cost and effect of one round", cells, data)
