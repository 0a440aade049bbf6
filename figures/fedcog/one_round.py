"""Figure 2 and Table 4: one more round from one state by one method or another; local models, time and accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import by_place, Entry, judge, Pair
from ..drawing import above, canvas
from ..ran import Ran
from ..regimes import POINT, Regime
from ..runs import point, Runs
from ..sheets import comparison, entry, number
from ..style import line
from . import grid, guards
from .grid import chosen, PLANS, problem
from .guards import Compared, printed
from .reading import ABSENT, caption, each, ERROR, mean_over_clients, one_more
from .settings import COMPARED, FEDCOG, METHODS

OTHERS = ("FedAvg", "FedProx")
DRAWN = (*OTHERS, FEDCOG)
TIME, ACCURACY = "local time (FedAvg's = 1)", "test accuracy (%)"
MEASURES = {
    "client_distance_sq": "distance of local models",
    "local_accuracy_common": "local accuracy, all classes (%)",
    "local_accuracy_own": "local accuracy, own classes (%)",
}
"""What the panels of Figure 2 show."""


def runs_of(scale: str, method: str) -> list[Cell]:
    """Rounds of FedAvg, then at least one of the method."""
    if method in (FEDCOG, "FedAvg"):  # longer runs that were looked at here too
        return grid.runs(scale, method)
    return grid.runs(scale, method, first="FedAvg", rounds=PLANS[scale].counts["first"] + 1)


def measured(runs: Runs, scale: str, method: str, quantity: str) -> list[float]:
    """A number per seed: the mean over clients after that round, accuracies in percent; the distance is no square."""
    at = PLANS[scale].counts["first"] + 1
    means = [mean_over_clients(runs, cell, quantity, at) for cell in runs_of(scale, method)]
    return [mean**0.5 if quantity == "client_distance_sq" else 100 * mean for mean in means]


def _ran(scale: str, method: str) -> Ran | None:
    """What is read off these runs, one round after the change."""
    return grid.what_ran(runs_of(scale, method), later=1)


def times(scale: str, methods: Sequence[str]) -> list[Cell]:
    """The cell in which these methods take turns."""
    counts = PLANS[scale].counts
    after = counts.get("timed", counts["first"])
    texts = {m: grid.consensus(scale, after=after) if m == FEDCOG else METHODS[m] for m in methods}
    return grid.generation(scale, "generation_round_seconds", after=after, algorithms=texts, repeats=counts["repeats"])


def ahead(runs: Runs, scale: str, quantity: str, others: Sequence[str], lower: bool = False) -> list[Pair]:
    """The claims that FedCOG has more of a quantity than each other method (``lower``: less)."""
    ours = measured(runs, scale, FEDCOG, quantity)
    pairs = []
    for other in others:
        both = (ours, measured(runs, scale, other, quantity))
        high, low = reversed(both) if lower else both
        pairs.append(Pair(f"{other} over FedCOG" if lower else f"FedCOG over {other}", high, low))
    return pairs


# ---- Figure 2 ----


def _figure_cells(scale: str) -> list[Cell]:
    methods = chosen(scale, "compared", COMPARED)
    return [*(c for m in DRAWN if m in methods for c in runs_of(scale, m)), *guards.harm_cells(scale)]


def _guards(runs: Runs, scale: str, methods: Sequence[str]) -> list[Regime]:
    """Those of a finding on local models and accuracy one round after the change."""
    place = Compared({m: runs_of(scale, m) for m in methods}, printed("4", "FedAvg", "Acc"))
    return guards.usual(runs, scale, place, later=1)


def figure(runs: Runs, scale: str) -> Shown:
    rows = [
        row
        for quantity, words in MEASURES.items()
        for x, method in enumerate(DRAWN)
        for row in point(measured(runs, scale, method, quantity), x, method, _ran(scale, method), words)
    ]
    distance, common, own = MEASURES
    regimes = _guards(runs, scale, DRAWN)
    return Shown(
        caption(
            scale,
            "one round after FedAvg's, mean over clients (the paper shows each)",
            "bars: one standard error over seeds",
        ),
        rows,
        conclusions=[
            judge(
                "FedCOG's local models are nearest to the global one",
                ahead(runs, scale, distance, OTHERS, True),
                regimes=regimes,
            ),
            *(
                judge(
                    f"FedCOG's local models are the most accurate on {where}",
                    ahead(runs, scale, q, OTHERS),
                    POINT,
                    regimes,
                )
                for q, where in ((common, "all classes"), (own, "their own classes"))
            ),
        ],
        unavailable="" if problem(scale) else "data not available",
    )


def draw(shown: Shown) -> Any:
    made, axes = canvas(1, len(MEASURES), 0)
    above(made, shown.rows)
    for ax, words in zip(axes[0], MEASURES.values(), strict=True):
        points = [r for r in shown.rows if r["panel"] == words]
        for place, r in enumerate(points):
            look = line(r["curve"], place)
            ax.errorbar(r["x"], r["y"], r["error"], color=look.colour, marker=look.mark, ms=4, elinewidth=0.8)
        ax.set_xlim(-0.5, len(DRAWN) - 0.5)
        ax.set_xticks(range(len(DRAWN)), DRAWN, rotation=60, fontsize="small")
        ax.set_ylabel(words.replace(", ", ",\n").replace("distance of ", "distance of\n"), fontsize="small")
    return made


# ---- Table 4 ----


def _table_cells(scale: str) -> list[Cell]:
    methods = chosen(scale, "compared", COMPARED)
    return [*(c for m in methods for c in runs_of(scale, m)), *times(scale, COMPARED), *guards.harm_cells(scale)]


def table_4(runs: Runs, scale: str) -> Shown:
    found = [e for row in COMPARED for e in _row(runs, scale, row)]
    at = by_place(found)
    others = [m for m in chosen(scale, "compared", COMPARED) if m != FEDCOG]
    accurate = [Pair(f"FedCOG over {m}", at[FEDCOG, ACCURACY].ours, at[m, ACCURACY].ours) for m in others]
    faster = [Pair(f"{m} over FedCOG", at[m, TIME].ours, at[FEDCOG, TIME].ours) for m in ("FedProx", "MOON")]
    rounds, timed = PLANS[scale].counts["first"] + 1, times(scale, COMPARED)
    return comparison(
        caption(
            scale,
            f"accuracy and local models: {rounds - 1} rounds of FedAvg, then one of the method; time: {rounds} rounds "
            "of the method, for FedCOG one after FedAvg's, in seconds of one core, taken in turns, ± over repetitions",
            ERROR,
        ),
        found,
        [
            judge(
                "FedCOG is the most accurate after one round", accurate, POINT, _guards(runs, scale, [*others, FEDCOG])
            ),
            judge("FedCOG takes less local time than FedProx and MOON", faster, regimes=guards.seconds(timed)),
        ],
    )


def _row(runs: Runs, scale: str, row: str) -> list[Entry]:
    """Time, accuracy, and the three numbers of Figure 2, which the paper prints nowhere."""
    here = row in chosen(scale, "compared", COMPARED)
    own, ran = runs_of(scale, row) if here else [], _ran(scale, row) if here else None
    accuracies, note = each(one_more)(runs, own), "" if own else ABSENT
    accuracy = entry(table("fedcog", "4")[row, "Acc"], row, ACCURACY, accuracies, note, ran)
    local = [
        entry(None, row, words, measured(runs, scale, row, q) if here else (), ran=ran) for q, words in MEASURES.items()
    ]
    return [_time(runs, scale, row), accuracy, *local]


def _time(runs: Runs, scale: str, row: str) -> Entry:
    printed, plain = (table("fedcog", "4")[m, "Local Time"] for m in (row, "FedAvg"))
    reported, std = (number(text) / number(plain.value) for text in (printed.value, printed.std))
    ran = grid.what_ran(times(scale, COMPARED), later=1)
    return Entry(row, TIME, reported, std, tuple(ratios(runs, scale, row)), "the paper prints seconds", ran)


def ratios(runs: Runs, scale: str, method: str) -> Sequence[float]:
    """Local time of all rounds over FedAvg's, one per repetition; of FedCOG's only the last is its own."""
    rounds = PLANS[scale].counts["first"] + 1
    each = [s / plain for s, plain in zip(*(seconds(runs, scale, m) for m in (method, "FedAvg")), strict=False)]
    return [(rounds - 1 + r) / rounds for r in each] if method == FEDCOG else each


def seconds(runs: Runs, scale: str, method: str) -> list[float]:
    """Of one round, one per repetition; none where they were not taken."""
    columns = [runs.columns(cell) for cell in times(scale, COMPARED)]
    return [s for c in columns if c for job, s in zip(c["job"], c["seconds"], strict=True) if job == method]


ARTEFACTS = {
    "figure_2": Artefact("fedcog.figure_2", "local models after one round", _figure_cells, figure, draw),
    "table_4": Artefact("fedcog.table_4", "cost and effect of one round", _table_cells, table_4),
}
