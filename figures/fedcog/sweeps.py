"""Tables 6 to 8: accuracy for several numbers of local steps, participation rates and numbers of clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from ..artefact import Artefact
from ..comparing import by_place, Entry, judge, Judged, leads
from ..runs import Runs
from . import grid
from .grid import chosen, Setup
from .reading import accuracies, ERROR, Places, rising
from .settings import columns, COMPARED, FEDCOG, LOCAL_STEPS, MANY

Conclusions = Callable[[Sequence[Entry], Sequence[str], Sequence[str]], list[Judged]]
"""From the entries, the methods and the columns that were run."""


def sweep(
    number: str, axis: str, column: str, words: str, setup: Callable[[str], Setup], more: Conclusions | None = None
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
        shown, methods = chosen(scale, axis, columns(number)), chosen(scale, "swept", COMPARED)
        best = judge(f"FedCOG is the most accurate for every {column}", leads(found, FEDCOG, columns=shown))
        return [best, *(more(found, methods, shown) if more else [])]

    title = "participation" if axis == "rates" else column
    return accuracies(number, title, places, (words, ERROR), judged)


def local_steps(found: Sequence[Entry], methods: Sequence[str], shown: Sequence[str]) -> list[Judged]:
    """What the paper reads off Table 6."""
    at = by_place(found)
    rise = [rising(at, m, "200", "400") for m in methods]
    fall = [rising(at, m, "800", "400") for m in methods] if "800" in shown else []
    return [
        judge("All methods gain from half the default number of local steps to the default", rise),
        judge("With twice the default number of local steps all methods lose", fall),
    ]


def participation(found: Sequence[Entry], methods: Sequence[str], shown: Sequence[str]) -> list[Judged]:
    """What the paper reads off Table 7; off Table 8 it reads nothing else."""
    at = by_place(found)
    rise = [rising(at, m, low, high) for m in methods for low, high in pairwise(shown)]
    return [judge("All methods gain with every step of the participation rate", rise)]


ARTEFACTS = {
    "table_6": sweep(
        "6",
        "taus",
        "number of local steps",
        "columns are the paper's numbers of local steps; here as many times the default as 400 there",
        lambda steps: Setup(stretch=int(steps) / LOCAL_STEPS),
        local_steps,
    ),
    "table_7": sweep(
        "7",
        "rates",
        "participation rate",
        f"{MANY} clients, columns are the part that trains in a round",
        lambda rate: Setup(clients=MANY, cohort=round(float(rate) * MANY)),
        participation,
    ),
    "table_8": sweep(
        "8",
        "clients",
        "number of clients",
        "columns are the number of clients",
        lambda clients: Setup(clients=int(clients)),
    ),
}
