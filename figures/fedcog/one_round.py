"""Figure 2, Tables 4 and 11: one more round from one state by one method or another; local models, time, accuracy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, figure, Shown
from ..comparing import by_place, judge, Pair
from ..drawing import canvas, note, ran_words
from ..regimes import POINT, Regime
from ..run_description import problem_words
from ..runs import point, Runs
from ..sheets import comparison, entry, number
from ..style import line
from . import grid
from .grid import chosen, columns, COMPARED, FEDCOG, METHODS, PLANS, problem, unavailable, what_ran
from .reading import ABSENT, BARS, caption, Compared, ERROR, mean_over_clients, one_more, PLAIN, printed, seconds, usual

DRAWN = ("FedAvg", "FedProx", FEDCOG)
TIME, ACCURACY = "local time (FedAvg's = 1)", "test accuracy (%)"
IN_SECONDS = "the paper prints seconds"
DISTANCE, COMMON, OWN = "client_distance_sq", "local_accuracy_common", "local_accuracy_own"
MEASURES = {
    DISTANCE: "distance of local models",
    COMMON: "local accuracy, all classes (%)",
    OWN: "local accuracy, own classes (%)",
}
"""What the panels of Figure 2 show."""


def runs_of(scale: str, method: str) -> list[Cell]:
    """Rounds of FedAvg, then at least one of the method."""
    if method in (FEDCOG, PLAIN):  # longer runs that were measured here too
        return grid.runs(scale, method)
    return grid.runs(scale, method, first=PLAIN, rounds=PLANS[scale].counts["first"] + 1)


def measured(runs: Runs, scale: str, method: str, quantity: str) -> list[float]:
    """A number per seed: the mean over clients after that round, accuracies in percent; the distance is not squared."""
    at = PLANS[scale].counts["first"] + 1
    means = [mean_over_clients(runs, cell, quantity, at) for cell in runs_of(scale, method)]
    return [mean**0.5 if quantity == DISTANCE else 100 * mean for mean in means]


def guards(runs: Runs, scale: str, methods: Sequence[str]) -> list[Regime]:
    """Those of a finding on local models and accuracy one round after the change."""
    place = Compared({m: runs_of(scale, m) for m in methods}, printed("4", PLAIN, "Acc"))
    return usual(runs, scale, place, later=1)


# ---- Figure 2 ----


def local_models(runs: Runs, scale: str) -> Shown:
    here = [m for m in DRAWN if m in chosen(scale, "compared", COMPARED)]
    found = {(quantity, m): measured(runs, scale, m, quantity) for quantity in MEASURES for m in DRAWN}
    rows = [
        row
        for quantity, words in MEASURES.items()
        for m in here
        for row in point(found[quantity, m], DRAWN.index(m), m, what_ran(runs_of(scale, m), later=1), words)
    ]
    findings = {DISTANCE: "nearest to the global one", COMMON: "the most accurate on all classes"}
    findings[OWN] = "the most accurate on their own classes"
    regimes, judged = guards(runs, scale, DRAWN), []
    for quantity, words in findings.items():
        far = quantity == DISTANCE
        sides = [(m, FEDCOG) if far else (FEDCOG, m) for m in DRAWN if m != FEDCOG]
        pairs = [Pair(f"{a} over {b}", found[quantity, a], found[quantity, b]) for a, b in sides]
        judged.append(judge(f"FedCOG's local models are {words}", pairs, 0.0 if far else POINT, regimes))
    more = "one round after FedAvg's, mean over clients (the paper shows each)"
    return figure(caption(scale, more, BARS), rows, judged, unavailable(scale))


def _draw(shown: Shown) -> Any:
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


def cost_and_effect(runs: Runs, scale: str) -> Shown:
    """Time, accuracy, and the three numbers of Figure 2, which the paper prints nowhere."""
    paper, entries, methods, counts = table("fedcog", "4"), [], chosen(scale, "compared", COMPARED), PLANS[scale].counts
    rounds, after = counts["first"] + 1, counts.get("timed", counts["first"])
    texts = {m: grid.consensus(scale, after=after) if m == FEDCOG else METHODS[m] for m in COMPARED}
    turns = {"after": after, "algorithms": texts, "repeats": counts["repeats"]}
    timed = grid.generation(scale, "generation_round_seconds", **turns)
    unit, taken = number(paper[PLAIN, "Local Time"].value), what_ran(timed, later=1)
    plain = _seconds(runs, timed, PLAIN)
    for row in COMPARED:
        here = row in methods
        cells = runs_of(scale, row) if here else []
        times = [s / one for s, one in zip(_seconds(runs, timed, row), plain, strict=False)]
        if row == FEDCOG:  # only its last round is its own
            times = [(rounds - 1 + ratio) / rounds for ratio in times]
        ran, note = what_ran(cells, later=1) if here else None, "" if here else ABSENT
        entries += [
            entry(paper[row, "Local Time"], row, TIME, times, IN_SECONDS, taken, over=unit),
            entry(paper[row, "Acc"], row, ACCURACY, one_more(runs, cells), note, ran),
            *(entry(None, row, words, measured(runs, scale, row, q) if here else [], ran=ran)
              for q, words in MEASURES.items()),
        ]  # fmt: skip
    at, others = by_place(entries), [m for m in methods if m != FEDCOG]
    accurate = [Pair(f"FedCOG over {m}", at[FEDCOG, ACCURACY].ours, at[m, ACCURACY].ours) for m in others]
    faster = [Pair(f"{m} over FedCOG", at[m, TIME].ours, at[FEDCOG, TIME].ours) for m in ("FedProx", "MOON")]
    judged = [
        judge("FedCOG is the most accurate after one round", accurate, POINT, guards(runs, scale, [*others, FEDCOG])),
        judge("FedCOG takes less local time than FedProx and MOON", faster, regimes=seconds(timed)),
    ]
    more = (
        f"accuracy and local models: {rounds - 1} rounds of FedAvg, then one of the method; time: {rounds} rounds "
        "of the method, for FedCOG one after FedAvg's, in seconds of one core, taken in turns, ± over repetitions"
    )
    return comparison(caption(scale, more, ERROR), entries, judged)


def _seconds(runs: Runs, cells: Iterable[Cell], job: str) -> list[float]:
    """Of one job of a timing, one per repetition; none where they were not taken."""
    tables = [runs.columns(cell) for cell in cells]
    return [s for c in tables if c for name, s in zip(c["job"], c["seconds"], strict=True) if name == job]


# ---- Table 11: the time of generation by the number of samples ----


def time_of_generation(runs: Runs, scale: str) -> Shown:
    samples, counts = columns("11"), PLANS[scale].counts
    least, most = samples[0], samples[-1]
    asked = {"samples": [int(n) for n in samples], "steps": counts["steps"], "repeats": counts["repeats"]}
    cells = grid.generation(scale, "generation_seconds", after=counts.get("timed", counts["first"]), **asked)
    paper, first = table("fedcog", "11"), _seconds(runs, cells, least)
    unit, ran = number(paper["Time", least].value), what_ran(cells, later=0)
    ratios = {n: [s / one for s, one in zip(_seconds(runs, cells, n), first, strict=True)] for n in samples}
    entries = [
        entry(paper["Time", n], n, "time (16 samples = 1)", ratios[n], IN_SECONDS, ran, over=unit) for n in samples
    ]  # fmt: skip
    logs = {n: [math.log(x) for x in of] for n, of in ratios.items()}  # the noise of a time grows with it
    longer = [Pair(f"logarithm of {b} over {a} samples", logs[b], logs[a]) for a, b in pairwise(samples)]
    cheap = [Pair(f"logarithm of twice {least} over {most} samples", [math.log(2.0)] * len(logs[most]), logs[most])]
    judged = [
        judge("More samples take longer", longer),
        judge(f"{most} samples take less than twice as long as {least}", cheap, regimes=seconds(cells)),
    ]
    words = problem_words(problem(scale)) or "data that are not here"
    said = (
        f"One client of {words} ({grid.named(scale)}) generates in {counts['steps']} steps, on one core, not on a GPU; "
        f"seconds taken in turns, over those of {least} samples; ± one standard error over {counts['repeats']} "
        "repetitions."
    )
    return comparison(said, entries, judged, "samples: reported / ours")


ARTEFACTS = (
    Artefact("fedcog.figure_2", "local models after one round", local_models, _draw),
    Artefact("fedcog.table_4", "cost and effect of one round", cost_and_effect),
    Artefact("fedcog.table_11", "time of generation", time_of_generation),
)
