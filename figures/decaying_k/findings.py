"""The findings of Decaying-K, the guards that our runs must meet first, and values read off the runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import nan

import numpy as np

from empirics.experiments import Cell
from paper_checks.reported import table

from ..comparing import Finding, judge, Pair
from ..guards import above_guessing, effect, Guard, HALF, horizon, POINT, statistic, treatment
from ..runs import Curve, Runs
from . import grid
from .grid import CURVES, ETA_DECAYS, FIXED, GAIN, JOINT, K_DECAYS, OVERTAKEN, SMALLEST, STEPPED, TASKS, TITLES

LOSS, ACCURACY = "train_loss", "test_accuracy"
SECONDS = 60.0
"""Seconds of a minute."""
EARLY = 1 / 3
"""Early part of the run on the axis of square roots of time, that is a ninth of the time."""
SHARES = table("decaying_k", "Table 4")


def judge_by_task(
    words: str,
    scale: str,
    keys: Sequence[str],
    pairs: Callable[[str], Iterable[Pair]],
    guards: Callable[[str], list[Guard]],
    among: Sequence[str],
    delta: float = 0.0,
) -> list[Finding]:
    """Judge a finding on those tasks ``among`` the given ones that meet its guards, and separately on the others."""
    here = [task for task in grid.tasks(scale) if task in among and set(keys) <= set(grid.schedules_of(scale, task))]
    compared = {task: list(pairs(task)) for task in here}
    met = {task: [*_runs_there(scale, task, compared[task]), *guards(task)] for task in here}
    outside = [task for task in here if any(guard.missed for guard in met[task])]
    groups = [group for group in ([task for task in here if task not in outside], outside) if group]
    findings = []
    for group in groups or [[]]:
        names = ", ".join(grid.data_name(scale, task) for task in group)
        group_pairs = [pair for task in group for pair in compared[task]]
        group_guards = dict.fromkeys(guard for task in group for guard in met[task])
        text = words if len(group) == len(among) else f"{words} ({names})"
        findings.append(judge(text, group_pairs, delta, group_guards))
    return findings


def _runs_there(scale: str, task: str, pairs: Iterable[Pair]) -> list[Guard]:
    """Require runs on both sides of every comparison."""
    fewest = min((len(pair.differences) for pair in pairs), default=0)
    return [] if fewest else [Guard(f"seeds run on {grid.data_name(scale, task)}", 0, 1)]


def base_guards(runs: Runs, scale: str, quantity: str, keys: Sequence[str], task: str, part: float = 1) -> list[Guard]:
    """Return the guards of every finding on schedules: half of ``part`` of the paper's time, equal treatment, and the
    paper's plateau rule."""
    spans = []
    for key in keys if part else ():
        if (info := grid.info_of(scale, task, key)) is not None:
            info = replace(info, paper=replace(info.paper, work=part * info.paper.work))
            curves = []
            for cell in grid.cells(scale, task, key) if quantity else []:
                values = runs.curve(cell, quantity)[1]
                with np.errstate(divide="ignore"):  # losses in logarithms, so that a point is one percent of the loss
                    gained = 100 * (-np.log(values) if quantity == LOSS else values)
                curves.append((runs.curve(cell, "runtime")[1] / SECONDS, gained))
            guard = horizon(info, curves)
            subject, detail, name = guard.subject, guard.detail, f", {grid.data_name(scale, task)}"
            if quantity:
                detail += name
            else:  # the report lists every task, by its subject
                subject += name
            spans.append(replace(guard, subject=subject, detail=detail))
    required = sorted(spans, key=lambda guard: not guard.missed)[:1]
    required.append(treatment({CURVES[key]: grid.cells(scale, task, key) for key in keys}))
    stepped = [cell for key in keys if key in STEPPED for cell in grid.cells(scale, task, key)]
    if stepped:
        validated = all(cell.arguments.get("validated") for cell in stepped)
        rule = "plateau of the {}".format
        required.append(statistic(rule("validation error" if validated else "training loss"), rule("validation error")))
    return required


def overtaking(runs: Runs, scale: str, task: str) -> list[Guard]:
    """Require runs as long as the paper's dSGD takes to overtake."""
    info = grid.info_of(scale, task)
    minutes = info.ours.work / SECONDS if info else nan
    return [Guard("simulated minutes; dSGD's number in the paper", minutes, OVERTAKEN / SECONDS)]


def drifting(runs: Runs, scale: str, task: str) -> list[Guard]:
    """Require client drift: dSGD overtakes in accuracy, as in all tasks of the paper."""
    one, other = (values_at(runs, scale, task, key, ACCURACY) for key in (SMALLEST, FIXED))
    name = grid.data_name(scale, task)
    return [effect(f"accuracy that Kη-fixed loses to dSGD by the end on {name}", one, other, nan)]


def learning(runs: Runs, scale: str, task: str) -> list[Guard]:
    """Require that Kη-fixed trains better than guessing."""
    return above_guessing(grid.info_of(scale, task), values_at(runs, scale, task, FIXED, ACCURACY))


def same_data(runs: Runs, scale: str, task: str) -> list[Guard]:
    """Require the paper's own data, for findings that state a size."""
    info = grid.info_of(scale, task)
    if info is None:
        return []
    return [Guard("a size on other data", float(info.data != info.ours.data), 0, True, f": {info.data}")]


def decaying(key: str, runs: Runs, scale: str, task: str) -> list[Guard]:
    """Require that a decay of K saves at least half as many steps as in the paper's Table 4."""
    known = [1 - share for share in step_shares(runs, scale, task, key) if np.isfinite(share)]
    words = f"share of the steps that {TITLES[key]} saves on {grid.data_name(scale, task)}"
    printed = 1 - float(SHARES[task, TITLES[key]].value)
    return [Guard(words, float(np.mean(known)) if known else nan, HALF * printed)]


# ---- values read off the runs ----


def best_so_far(runs: Runs, cell: Cell, quantity: str) -> Curve:
    """Return simulated minutes, and the smallest loss or largest accuracy (%) up to each of them."""
    minutes = runs.curve(cell, "runtime")[1] / SECONDS
    values = runs.curve(cell, quantity)[1]
    if quantity == LOSS:
        return minutes, np.minimum.accumulate(values)
    return minutes, 100 * np.maximum.accumulate(values)


def values_at(runs: Runs, scale: str, task: str, schedule: str, quantity: str, place: float = 1.0) -> list[float]:
    """Return the best value up to the share ``place`` of the points, by seed; the initial loss or 0 if diverged."""
    best = []
    for cell in grid.cells(scale, task, schedule):
        values = best_so_far(runs, cell, quantity)[1]
        if runs.diverged(cell):
            best.append(float(values[0]) if quantity == LOSS and len(values) else 0.0)
        else:
            best.append(float(values[round(place * grid.PLANS[scale].counts["points"])]) if len(values) else nan)
    return best


def step_shares(runs: Runs, scale: str, task: str, key: str) -> list[float]:
    """Return the local steps of a schedule over those of Kη-fixed, by seed; NaN if either run is missing."""
    steps = [[runs.fact(c, "local_steps") for c in grid.cells(scale, task, k)] for k in (key, FIXED)]
    return [a / b if a and b else nan for a, b in zip(*steps, strict=True)] if all(steps) else []


def plateaus(runs: Runs, scale: str, task: str) -> list[float]:
    """Return the minutes after which K_r-step decayed, by seed that did; the round follows from its steps."""
    times = []
    for cell in grid.cells(scale, task, "k_step"):
        steps, rounds, most = runs.fact(cell, "local_steps"), runs.fact(cell, "rounds"), cell.arguments["local_steps"]
        least = -(-most // 10)
        if steps and rounds and steps < rounds * most:
            until = (steps - rounds * least) / (most - least)
            times.append(grid.PRINTED[task].seconds(1, most) * until / SECONDS)
    return times


# ---- the findings of the figures ----

Guards = Callable[[Runs, str, str], list[Guard]]
"""A function that returns guards for runs, scale and task."""


@dataclass(frozen=True)
class ScheduleFinding:
    """The claim that the first schedule of each pair is better in all tasks ``among``, by ``margin`` points.

    A task in braces in ``words`` is replaced by the data that are run. The curves are read at ``place``, a share of the
    square root of time. Runs need half of ``part`` of the paper's time, and to pass the ``guards``; ``delta`` as in
    ``comparing.judge``.
    """

    words: str
    compared: Sequence[tuple[str, str]]
    guards: Sequence[Guards] = ()
    among: Sequence[str] = TASKS
    part: float = 1.0
    place: float = 1.0
    margin: float = 0.0
    delta: float = POINT

    def judge(self, runs: Runs, scale: str, quantity: str) -> list[Finding]:
        """Judge the claim on the tasks that meet the guards, and separately on the others."""
        keys = list(dict.fromkeys(key for pair in self.compared for key in pair))
        words = self.words.format(**{task: grid.data_name(scale, task) for task in TASKS})
        less = quantity == LOSS

        def guards(task: str) -> list[Guard]:
            own = [guard for make in self.guards for guard in make(runs, scale, task)]
            return [*base_guards(runs, scale, quantity, keys, task, self.part), *own]

        def pair(task: str, one: str, other: str) -> Pair:
            keys = (other, one) if less else (one, other)
            high, low = (values_at(runs, scale, task, key, quantity, self.place) for key in keys)
            order = f"{CURVES[one]} {'below' if less else 'over'} {CURVES[other]}, {grid.data_name(scale, task)}"
            return Pair(order, high, low, self.margin)

        def pairs(task: str) -> list[Pair]:
            return [pair(task, *both) for both in self.compared]

        return judge_by_task(words, scale, keys, pairs, guards, self.among, 0.0 if less else self.delta)


TOLERANCE = POINT
"""Points of accuracy by which a schedule may fall short and still match another."""
K_ROUNDS, DECAYING = [("k_rounds", FIXED)], partial(decaying, "k_rounds")
LEARNING: list[Guards] = [learning, *(partial(decaying, key) for key in K_DECAYS)]
LESS = f"at most {TOLERANCE:g} point less accuracy"
FINDINGS = {
    LOSS: (
        ScheduleFinding(
            "Kη-fixed lowers the training loss faster than dSGD at first: it is lower after a ninth of the time",
            [(FIXED, SMALLEST)], part=EARLY**2, place=EARLY,
        ),
        ScheduleFinding(
            "on {Shakespeare} dSGD overtakes Kη-fixed within the time", [(SMALLEST, FIXED)], [overtaking],
            ["Shakespeare"], part=0,
        ),
        ScheduleFinding(
            "on {FEMNIST} and {CIFAR100} K_r-rounds ends with a lower training loss than Kη-fixed", K_ROUNDS,
            [drifting, DECAYING], ["FEMNIST", "CIFAR100"],
        ),
        ScheduleFinding(
            "on {CIFAR100} η_r-rounds ends with a lower training loss than Kη-fixed", [("eta_rounds", FIXED)],
            [drifting], ["CIFAR100"],
        ),
        ScheduleFinding(
            "decaying K and η together slows training: K_r-rounds alone ends with a lower training loss",
            [("k_rounds", JOINT)],
        ),
    ),
    ACCURACY: (
        ScheduleFinding(
            "Kη-fixed gains accuracy faster than dSGD at first: it is ahead after a ninth of the time",
            [(FIXED, SMALLEST)], [learning], part=EARLY**2, place=EARLY,
        ),
        ScheduleFinding("dSGD has overtaken Kη-fixed in accuracy by the end", [(SMALLEST, FIXED)], [learning]),
        ScheduleFinding(
            f"K_r-rounds matches or beats Kη-fixed: {LESS}", K_ROUNDS, [learning, DECAYING], margin=-TOLERANCE,
        ),
        ScheduleFinding(
            f"every decay of K matches or beats Kη-fixed: {LESS}", [(key, FIXED) for key in K_DECAYS], LEARNING,
            margin=-TOLERANCE,
        ),
        ScheduleFinding(
            f"every decay of K matches or beats the same decay of η: {LESS}",
            list(zip(K_DECAYS, ETA_DECAYS, strict=True)), LEARNING, margin=-TOLERANCE,
        ),
        ScheduleFinding(
            f"on {{CIFAR100}} K_r-rounds is ahead of Kη-fixed by {GAIN:g} points", K_ROUNDS, [drifting, same_data],
            ["CIFAR100"], margin=GAIN,
        ),
    ),
}  # fmt: skip
"""The findings of Figure 1, with the remark on decaying both, and of Figure 2."""
