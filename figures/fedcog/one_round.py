"""Figure 2, Tables 4 and 11: one more round from one state by one method or another; local models, time, accuracy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from empirics.experiments import Cell
from paper_checks.reported import table as reported

from ..artefact import Shown
from ..comparing import by_place, Entry, judge, Judged, Pair
from ..drawing import canvas, note, ran_words
from ..regimes import POINT, Regime
from ..run_description import problem_words, Ran
from ..runs import Runs
from ..sheets import number
from ..specification import figure, Place, Point, Reader, table
from ..style import line
from . import grid, guards
from .grid import chosen, PLANS, problem
from .guards import Compared, printed
from .reading import ABSENT, caption, each, ERROR, mean_over_clients, one_more
from .settings import columns, COMPARED, FEDCOG, METHODS

OTHERS = ("FedAvg", "FedProx")
DRAWN = (*OTHERS, FEDCOG)
TIME, ACCURACY = "local time (FedAvg's = 1)", "test accuracy (%)"
IN_SECONDS = "the paper prints seconds"
MEASURES = {
    "client_distance_sq": "distance of local models",
    "local_accuracy_common": "local accuracy, all classes (%)",
    "local_accuracy_own": "local accuracy, own classes (%)",
}
"""What the panels of Figure 2 show."""


def runs_of(scale: str, method: str) -> list[Cell]:
    """Rounds of FedAvg, then at least one of the method."""
    if method in (FEDCOG, "FedAvg"):  # longer runs that were measured here too
        return grid.runs(scale, method)
    return grid.runs(scale, method, first="FedAvg", rounds=PLANS[scale].counts["first"] + 1)


def measured(scale: str, quantity: str) -> Reader:
    """A number per seed: the mean over clients after that round, accuracies in percent; the distance is not squared."""
    at = PLANS[scale].counts["first"] + 1

    def read(runs: Runs, cells: Sequence[Cell]) -> list[float]:
        means = [mean_over_clients(runs, cell, quantity, at) for cell in cells]
        return [mean**0.5 if quantity == "client_distance_sq" else 100 * mean for mean in means]

    return read


def _ran(scale: str, method: str) -> Ran | None:
    """What is read off these runs, one round after the change."""
    return grid.what_ran(runs_of(scale, method), later=1)


def times(scale: str, methods: Sequence[str]) -> list[Cell]:
    """The cell in which these methods take turns."""
    counts = PLANS[scale].counts
    after = counts.get("timed", counts["first"])
    texts = {m: grid.consensus(scale, after=after) if m == FEDCOG else METHODS[m] for m in methods}
    return grid.generation(scale, "generation_round_seconds", after=after, algorithms=texts, repeats=counts["repeats"])


# ---- Figure 2 ----


def _guards(runs: Runs, scale: str, methods: Sequence[str]) -> list[Regime]:
    """Those of a finding on local models and accuracy one round after the change."""
    place = Compared({m: runs_of(scale, m) for m in methods}, printed("4", "FedAvg", "Acc"))
    return guards.usual(runs, scale, place, later=1)


def _points(scale: str) -> list[Point]:
    here = [m for m in DRAWN if m in chosen(scale, "compared", COMPARED)]
    return [
        Point(words, m, DRAWN.index(m), runs_of(scale, m), measured(scale, quantity), _ran(scale, m))
        for quantity, words in MEASURES.items()
        for m in here
    ]


def _points_caption(runs: Runs, scale: str) -> str:
    more = "one round after FedAvg's, mean over clients (the paper shows each)"
    return caption(scale, more, "bars: one standard error over seeds")


def _of_points(runs: Runs, scale: str) -> list[Judged]:
    regimes = _guards(runs, scale, DRAWN)

    def most(words: str, quantity: str) -> Judged:
        read = measured(scale, quantity)
        ours, theirs = read(runs, runs_of(scale, FEDCOG)), {m: read(runs, runs_of(scale, m)) for m in OTHERS}
        if quantity == "client_distance_sq":
            return judge(words, [Pair(f"{m} over FedCOG", far, ours) for m, far in theirs.items()], 0.0, regimes)
        return judge(words, [Pair(f"FedCOG over {m}", ours, low) for m, low in theirs.items()], POINT, regimes)

    distance, common, own = MEASURES
    return [
        most("FedCOG's local models are nearest to the global one", distance),
        most("FedCOG's local models are the most accurate on all classes", common),
        most("FedCOG's local models are the most accurate on their own classes", own),
    ]


def draw(shown: Shown) -> Any:
    made, axes = canvas(1, len(MEASURES), 0)
    note(made, ran_words(shown.rows))
    for ax, words in zip(axes[0], MEASURES.values(), strict=True):
        points = [r for r in shown.rows if r["panel"] == words]
        for place, r in enumerate(points):
            look = line(r["curve"], place)
            ax.errorbar(r["x"], r["y"], r["error"], color=look.colour, marker=look.mark, ms=4, elinewidth=0.8)
        ax.set_xlim(-0.5, len(DRAWN) - 0.5)
        ax.set_xticks(range(len(DRAWN)), DRAWN, rotation=90)
        ax.set_ylabel(words.replace(", ", ",\n").replace("distance of ", "distance of\n"))
    return made


# ---- Table 4 ----


def _places(scale: str) -> list[Place]:
    """Time, accuracy, and the three numbers of Figure 2, which the paper prints nowhere."""
    printed, timed, found = reported("fedcog", "4"), times(scale, COMPARED), []
    unit = number(printed["FedAvg", "Local Time"].value)
    for row in COMPARED:
        here = row in chosen(scale, "compared", COMPARED)
        own, ran, note = (runs_of(scale, row), _ran(scale, row), "") if here else ([], None, ABSENT)
        taken = grid.what_ran(timed, later=1)
        found += [
            Place(printed[row, "Local Time"], row, TIME, timed, ratios(scale, row), IN_SECONDS, taken, over=unit),
            Place(printed[row, "Acc"], row, ACCURACY, own, each(one_more), note, ran),
            *(Place(None, row, words, own, measured(scale, q), ran=ran) for q, words in MEASURES.items()),
        ]
    return found


def _places_caption(scale: str) -> str:
    rounds = PLANS[scale].counts["first"] + 1
    more = (
        f"accuracy and local models: {rounds - 1} rounds of FedAvg, then one of the method; time: {rounds} rounds "
        "of the method, for FedCOG one after FedAvg's, in seconds of one core, taken in turns, ± over repetitions"
    )
    return caption(scale, more, ERROR)


def _of_places(runs: Runs, scale: str, entries: list[Entry]) -> list[Judged]:
    at = by_place(entries)
    others = [m for m in chosen(scale, "compared", COMPARED) if m != FEDCOG]
    accurate = [Pair(f"FedCOG over {m}", at[FEDCOG, ACCURACY].ours, at[m, ACCURACY].ours) for m in others]
    faster = [Pair(f"{m} over FedCOG", at[m, TIME].ours, at[FEDCOG, TIME].ours) for m in ("FedProx", "MOON")]
    regimes, timed = _guards(runs, scale, [*others, FEDCOG]), guards.seconds(times(scale, COMPARED))
    return [
        judge("FedCOG is the most accurate after one round", accurate, POINT, regimes),
        judge("FedCOG takes less local time than FedProx and MOON", faster, regimes=timed),
    ]


def ratios(scale: str, method: str) -> Reader:
    """Local time of all rounds over FedAvg's, one per repetition; of FedCOG's only the last is its own."""
    rounds = PLANS[scale].counts["first"] + 1

    def read(runs: Runs, cells: Sequence[Cell]) -> list[float]:
        taken = [s / plain for s, plain in zip(*(seconds(runs, cells, m) for m in (method, "FedAvg")), strict=False)]
        return [(rounds - 1 + r) / rounds for r in taken] if method == FEDCOG else taken

    return read


def seconds(runs: Runs, cells: Iterable[Cell], job: str) -> list[float]:
    """Of one job of a timing, one per repetition; none where they were not taken."""
    columns = [runs.columns(cell) for cell in cells]
    return [s for c in columns if c for name, s in zip(c["job"], c["seconds"], strict=True) if name == job]


# ---- Table 11: the time of generation by the number of samples ----

SAMPLES = columns("11")
LEAST, MOST = SAMPLES[0], SAMPLES[-1]
GENERATED = "time (16 samples = 1)"


def _generated(scale: str) -> list[Cell]:
    counts = PLANS[scale].counts
    arguments = {"samples": [int(n) for n in SAMPLES], "steps": counts["steps"], "repeats": counts["repeats"]}
    return grid.generation(scale, "generation_seconds", after=counts.get("timed", counts["first"]), **arguments)


def _by_samples(scale: str) -> list[Place]:
    printed, cells = reported("fedcog", "11"), _generated(scale)
    unit, ran = number(printed["Time", LEAST].value), grid.what_ran(cells, later=0)

    def over_least(samples: str) -> Reader:
        def read(runs: Runs, cells: Sequence[Cell]) -> list[float]:
            taken, least = (seconds(runs, cells, n) for n in (samples, LEAST))
            return [s / one for s, one in zip(taken, least, strict=True)]

        return read

    return [
        Place(printed["Time", n], n, GENERATED, cells, over_least(n), IN_SECONDS, ran, over=unit) for n in SAMPLES
    ]  # fmt: skip


def _samples_caption(scale: str) -> str:
    counts, words = PLANS[scale].counts, problem_words(problem(scale)) or "data that are not here"
    return (
        f"One client of {words} ({grid.named(scale)}) generates in {counts['steps']} steps, on one core, not on a GPU; "
        f"seconds taken in turns, over those of {LEAST} samples; ± one standard error over {counts['repeats']} "
        "repetitions."
    )


def _of_samples(runs: Runs, scale: str, entries: list[Entry]) -> list[Judged]:
    logs = {e.row: [math.log(x) for x in e.ours] for e in entries}  # the noise of a time grows with it
    longer = [Pair(f"logarithm of {b} over {a} samples", logs[b], logs[a]) for a, b in pairwise(SAMPLES)]
    cheap = [Pair(f"logarithm of twice {LEAST} over {MOST} samples", [math.log(2.0)] * len(logs[MOST]), logs[MOST])]
    timed = guards.seconds(_generated(scale))
    return [
        judge("More samples take longer", longer),
        judge(f"{MOST} samples take less than twice as long as {LEAST}", cheap, regimes=timed),
    ]


ARTEFACTS = {
    "figure_2": figure(
        "fedcog.figure_2", "local models after one round", _points, _points_caption, _of_points, draw,
        more=guards.harm_cells, unavailable=lambda scale: "" if problem(scale) else "data not available",
    ),
    "table_4": table(
        "fedcog.table_4", "cost and effect of one round", _places, _places_caption, _of_places, more=guards.harm_cells
    ),
    "table_11": table(
        "fedcog.table_11", "time of generation", _by_samples, _samples_caption, _of_samples,
        corner="samples: reported / ours",
    ),
}  # fmt: skip
