"""Table 11: how the time of generation grows with the number of samples."""

from __future__ import annotations

import math
from itertools import pairwise

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import by_place, Entry, judge, Pair
from ..ran import problem_words
from ..runs import Runs
from ..sheets import comparison, number
from . import guards
from .grid import generation, named, PLANS, problem, what_ran
from .settings import columns

ROW, TIME = "Time", "time (16 samples = 1)"
NUMBERS = columns("11")
LEAST, MOST = NUMBERS[0], NUMBERS[-1]


def cells(scale: str) -> list[Cell]:
    counts = PLANS[scale].counts
    arguments = {"samples": [int(n) for n in NUMBERS], "steps": counts["steps"], "repeats": counts["repeats"]}
    return generation(scale, "generation_seconds", after=counts.get("timed", counts["first"]), **arguments)


def ratios(runs: Runs, scale: str) -> dict[str, tuple[float, ...]]:
    """Time by the number of samples over that of the fewest, one per repetition."""
    taken: dict[str, list[float]] = {n: [] for n in NUMBERS}
    for columns_ in map(runs.columns, cells(scale)):
        for job, seconds in zip(columns_.get("job", ()), columns_.get("seconds", ()), strict=True):
            taken[job].append(seconds)
    return {n: tuple(s / least for s, least in zip(taken[n], taken[LEAST], strict=True)) for n in NUMBERS}


def data(runs: Runs, scale: str) -> Shown:
    printed, ours, counts = table("fedcog", "11"), ratios(runs, scale), PLANS[scale].counts
    least = number(printed[ROW, LEAST].value)
    found = [
        Entry(
            n,
            TIME,
            number(printed[ROW, n].value) / least,
            float("nan"),
            ours[n],
            "the paper prints seconds",
            what_ran(cells(scale), later=0),
        )
        for n in NUMBERS
    ]
    at = by_place(found)
    logs = {n: [math.log(x) for x in at[n, TIME].ours] for n in NUMBERS}  # the noise of a time grows with it
    steps = [Pair(f"logarithm of {b} over {a} samples", logs[b], logs[a]) for a, b in pairwise(NUMBERS)]
    cheap = [Pair(f"logarithm of twice {LEAST} over {MOST} samples", [math.log(2.0)] * len(logs[MOST]), logs[MOST])]
    return comparison(
        f"One client of {problem_words(problem(scale)) if problem(scale) else 'data that are not here'} "
        f"({named(scale)}) generates in {counts['steps']} steps, on one core, not on a GPU; seconds "
        f"taken in turns, over those of {LEAST} samples; ± one standard error over {counts['repeats']} repetitions.",
        found,
        [
            judge("More samples take longer", steps),
            judge(
                f"{MOST} samples take less than twice as long as {LEAST}", cheap, regimes=guards.seconds(cells(scale))
            ),
        ],
        "samples: reported / ours",
    )


ARTEFACT = Artefact("fedcog.table_11", "time of generation", cells, data)
