"""What our runs must meet before a finding of Decaying-K is judged, and findings task by task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import nan

import numpy as np

from empirics.experiments import Cell
from paper_checks.reported import table

from ..comparing import judge, Judged, Pair
from ..regimes import effect, HALF, horizon, learnt, POINT, Regime, statistic, treatment
from ..runs import Curve, Runs
from . import grid
from .grid import CURVES, ETA_DECAYS, FIXED, GAIN, JOINT, K_DECAYS, OVERTAKEN, SMALLEST, STEPPED, TASKS, TITLES

LOSS, ACCURACY = "train_loss", "test_accuracy"
SECONDS = 60.0
"""Of a minute."""
EARLY = 1 / 3
"""Of the axis of square roots of time: a ninth of the time is early."""
SHARES = table("decaying_k", "Table 4")


def by_task(
    words: str,
    scale: str,
    keys: Sequence[str],
    pairs: Callable[[str], Iterable[Pair]],
    guards: Callable[[str], list[Regime]],
    among: Sequence[str],
    delta: float = 0.0,
) -> list[Judged]:
    """The finding on the tasks where ``keys`` are run and it meets its guards, and once more on those where not."""
    here = [task for task in grid.tasks(scale) if task in among and set(keys) <= set(grid.planned(scale, task))]
    met = {task: guards(task) for task in here}
    outside = [task for task in here if any(guard.missed for guard in met[task])]
    groups = [group for group in ([task for task in here if task not in outside], outside) if group]
    return [
        judge(
            words if len(group) == len(among) else f"{words} ({', '.join(grid.name(scale, task) for task in group)})",
            [pair for task in group for pair in pairs(task)],
            delta,
            dict.fromkeys(guard for task in group for guard in met[task]),
        )
        for group in groups or [[]]
    ]


def usual(runs: Runs, scale: str, quantity: str, keys: Sequence[str], task: str, part: float = 1.0) -> list[Regime]:
    """What every finding on schedules needs: half of ``part`` of the paper's time, one treatment, its plateau rule."""
    spans = []
    for key in keys if part else ():
        if (ran := grid.what_ran(scale, task, key)) is not None:
            ran = replace(ran, paper=replace(ran.paper, work=part * ran.paper.work))
            curves = []
            for cell in grid.runs(scale, task, key) if quantity else []:
                values = runs.curve(cell, quantity)[1]
                with np.errstate(divide="ignore"):  # of a loss its logarithm: less than one percent more is none
                    gained = 100 * (-np.log(values) if quantity == LOSS else values)
                curves.append((runs.curve(cell, "runtime")[1] / SECONDS, gained))
            guard = horizon(ran, curves)
            spans.append(replace(guard, words=f"{guard.words}, {grid.name(scale, task)}"))
    found = sorted(spans, key=lambda guard: not guard.missed)[:1]
    found.append(treatment({CURVES[key]: grid.runs(scale, task, key) for key in keys}))
    stepped = [cell for key in keys if key in STEPPED for cell in grid.runs(scale, task, key)]
    if stepped:
        validated = all(cell.arguments.get("validated") for cell in stepped)
        rule = "plateau of the {}".format
        found.append(statistic(rule("validation error" if validated else "training loss"), rule("validation error")))
    return found


def overtaking(runs: Runs, scale: str, task: str) -> list[Regime]:
    """That runs last as long as the paper's dSGD takes to overtake."""
    ran = grid.what_ran(scale, task)
    minutes = ran.ours.work / SECONDS if ran else nan
    return [Regime("simulated minutes; dSGD's number in the paper", minutes, OVERTAKEN / SECONDS)]


def drifting(runs: Runs, scale: str, task: str) -> list[Regime]:
    """That there is client drift to cure: dSGD overtakes in accuracy, as in all tasks of the paper."""
    one, other = (at(runs, scale, task, key, ACCURACY) for key in (SMALLEST, FIXED))
    return [effect(f"accuracy that Kη-fixed loses to dSGD by the end on {grid.name(scale, task)}", one, other, nan)]


def learning(runs: Runs, scale: str, task: str) -> list[Regime]:
    """That Kη-fixed learns anything."""
    return learnt(grid.what_ran(scale, task), at(runs, scale, task, FIXED, ACCURACY))


def own_data(runs: Runs, scale: str, task: str) -> list[Regime]:
    """That a size is measured on the paper's own data."""
    ran = grid.what_ran(scale, task)
    return [Regime(f"a size on other data: {ran.data}", float(" for " in ran.data), 0, True)] if ran else []


def decaying(key: str, runs: Runs, scale: str, task: str) -> list[Regime]:
    """That a decay of K saves half as many steps as the paper's Table 4 says."""
    known = [1 - share for share in shares(runs, scale, task, key) if np.isfinite(share)]
    words = f"share of the steps that {TITLES[key]} saves on {grid.name(scale, task)}"
    printed = 1 - float(SHARES[task, TITLES[key]].value)
    return [Regime(words, float(np.mean(known)) if known else nan, HALF * printed)]


# ---- what a run was worth ----


def best(runs: Runs, cell: Cell, quantity: str) -> Curve:
    """Minutes, and the smallest loss or the largest accuracy (%) up to then."""
    minutes = runs.curve(cell, "runtime")[1] / SECONDS
    values = runs.curve(cell, quantity)[1]
    if quantity == LOSS:
        return minutes, np.minimum.accumulate(values)
    return minutes, 100 * np.maximum.accumulate(values)


def at(runs: Runs, scale: str, task: str, schedule: str, quantity: str, place: float = 1.0) -> list[float]:
    """The best value by then, seed by seed; NaN where missing, the start's loss or accuracy 0 of a diverged run."""
    found = []
    for cell in grid.runs(scale, task, schedule):
        values = best(runs, cell, quantity)[1]
        if runs.diverged(cell):
            found.append(float(values[0]) if quantity == LOSS and len(values) else 0.0)
        else:
            found.append(float(values[round(place * grid.PLANS[scale].counts["points"])]) if len(values) else nan)
    return found


def shares(runs: Runs, scale: str, task: str, key: str) -> list[float]:
    """Local steps of a schedule over those of Kη-fixed, seed by seed; NaN where one is missing."""
    steps = [[runs.fact(c, "local_steps") for c in grid.runs(scale, task, k)] for k in (key, FIXED)]
    return [a / b if a and b else nan for a, b in zip(*steps, strict=True)] if all(steps) else []


def plateaus(runs: Runs, scale: str, task: str) -> list[float]:
    """Minutes after which K_r-step decayed, of the seeds in which it did: its steps tell the round."""
    found = []
    for cell in grid.runs(scale, task, "k_step"):
        steps, rounds, most = runs.fact(cell, "local_steps"), runs.fact(cell, "rounds"), cell.arguments["local_steps"]
        least = -(-most // 10)
        if steps and rounds and steps < rounds * most:
            until = (steps - rounds * least) / (most - least)
            found.append(grid.PRINTED[task].seconds(1, most) * until / SECONDS)
    return found


# ---- what the paper sees in its figures ----


Guards = Callable[[Runs, str, str], list[Regime]]
"""Of a task at a scale."""


@dataclass(frozen=True)
class Finding:
    """That the first schedule of each pair is better in every task ``among`` them, by ``margin`` points of accuracy.

    ``{Shakespeare}`` in ``words`` is the name of the data that are run. It is read at ``place``, a share of the time's
    square root; runs need half of ``part`` of the paper's time, and to pass the ``guards``. ``delta`` as in ``judge``.
    """

    words: str
    compared: Sequence[tuple[str, str]]
    guards: Sequence[Guards] = ()
    among: Sequence[str] = TASKS
    part: float = 1.0
    place: float = 1.0
    margin: float = 0.0
    delta: float = POINT

    def judged(self, runs: Runs, scale: str, quantity: str) -> list[Judged]:
        """In the tasks that meet the guards, and once more in the others."""
        keys = list(dict.fromkeys(key for pair in self.compared for key in pair))
        words = self.words.format(**{task: grid.name(scale, task) for task in TASKS})
        less = quantity == LOSS

        def guards(task: str) -> list[Regime]:
            found = usual(runs, scale, quantity, keys, task, self.part)
            return [*found, *(guard for of in self.guards for guard in of(runs, scale, task))]

        def pair(task: str, one: str, other: str) -> Pair:
            keys = (other, one) if less else (one, other)
            high, low = (at(runs, scale, task, key, quantity, self.place) for key in keys)
            order = f"{CURVES[one]} {'below' if less else 'over'} {CURVES[other]}, {grid.name(scale, task)}"
            return Pair(order, high, low, self.margin)

        def pairs(task: str) -> list[Pair]:
            return [pair(task, *both) for both in self.compared]

        return by_task(words, scale, keys, pairs, guards, self.among, 0.0 if less else self.delta)


TOLERANCE = POINT
"""Points of accuracy by which a schedule may fall short and still match another."""
K_ROUNDS, DECAYING = [("k_rounds", FIXED)], partial(decaying, "k_rounds")
LEARNING: list[Guards] = [learning, *(partial(decaying, key) for key in K_DECAYS)]
LESS = f"at most {TOLERANCE:g} point less accuracy"
FINDINGS = {
    LOSS: (
        Finding(
            "Kη-fixed lowers the training loss faster than dSGD at first: it is lower after a ninth of the time",
            [(FIXED, SMALLEST)], part=EARLY**2, place=EARLY,
        ),
        Finding(
            "on {Shakespeare} dSGD overtakes Kη-fixed within the time", [(SMALLEST, FIXED)], [overtaking],
            ["Shakespeare"], part=0,
        ),
        Finding(
            "on {FEMNIST} and {CIFAR100} K_r-rounds ends with a lower training loss than Kη-fixed", K_ROUNDS,
            [drifting, DECAYING], ["FEMNIST", "CIFAR100"],
        ),
        Finding(
            "on {CIFAR100} η_r-rounds ends with a lower training loss than Kη-fixed", [("eta_rounds", FIXED)],
            [drifting], ["CIFAR100"],
        ),
        Finding(
            "decaying K and η together slows training: K_r-rounds alone ends with a lower training loss",
            [("k_rounds", JOINT)],
        ),
    ),
    ACCURACY: (
        Finding(
            "Kη-fixed gains accuracy faster than dSGD at first: it is ahead after a ninth of the time",
            [(FIXED, SMALLEST)], [learning], part=EARLY**2, place=EARLY,
        ),
        Finding("dSGD has overtaken Kη-fixed in accuracy by the end", [(SMALLEST, FIXED)], [learning]),
        Finding(
            f"K_r-rounds matches or beats Kη-fixed: {LESS}", K_ROUNDS, [learning, DECAYING], margin=-TOLERANCE,
        ),
        Finding(
            f"every decay of K matches or beats Kη-fixed: {LESS}", [(key, FIXED) for key in K_DECAYS], LEARNING,
            margin=-TOLERANCE,
        ),
        Finding(
            f"every decay of K matches or beats the same decay of η: {LESS}",
            list(zip(K_DECAYS, ETA_DECAYS, strict=True)), LEARNING, margin=-TOLERANCE,
        ),
        Finding(
            f"on {{CIFAR100}} K_r-rounds is ahead of Kη-fixed by {GAIN:g} points", K_ROUNDS, [drifting, own_data],
            ["CIFAR100"], margin=GAIN,
        ),
    ),
}  # fmt: skip
"""In Figure 1, with the remark on decaying both, and in Figure 2."""
