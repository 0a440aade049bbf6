"""Tables 1 to 4: tasks and settings, seconds of an SGD step, the schedules, and steps relative to Kη-fixed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp

from bounds.decaying_k.schedules import SCHEDULES
from bounds.vocabulary import current_loss, initial_local_steps, initial_loss, initial_step_size, plateau, round_index
from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Content
from ..comparing import exact_finding, Finding, judge, Pair
from ..run_description import network_title, partition_words, problem_words, RunInfo, SettingText
from ..runs import Runs
from ..sheets import by_position, comparison, entry, entry_rows, text_table
from . import grid
from .figures import caption
from .findings import base_guards, judge_by_task, SHARES, step_shares
from .grid import data_name, DOWNLOAD, FIXED, K_DECAYS, NETWORKS, PLANS, PRINTED, ROUNDS, TASKS, tasks, TITLES, UPLOAD

# ---- Table 1: settings as printed and as run ----

COLUMNS = {"clients in all": "clients", "per round": "cohort", "batch": "batch", "K0": "local_steps", "η0": "step_size"}
"""The arguments of a run by column."""


def settings(runs: Runs, scale: str) -> Content:
    return text_table(
        f"Printed / ours at the {scale} scale. The model size in megabit and the rates, "
        f"{DOWNLOAD:g} Mbit/s down and {UPLOAD:g} up, enter the simulated time as printed at every scale. The paper "
        "states no batch size for CIFAR100. All: every client with samples enough for a batch.",
        [_setting(scale, task) for task in TASKS],
    )


def _setting(scale: str, task: str) -> dict[str, Any]:
    one, plan = PRINTED[task], PLANS[scale]
    (text, partition), own = grid.data_and_partition(scale, task), plan.own[task]
    info = {key: f"{own[key]:g}" if key in own else "all" for key in COLUMNS.values()}
    return {
        "task": data_name(scale, task),
        "ours": problem_words(plan.networks[task].format(data=text)) if text else "data not available",
        "partition": partition_words(partition) if partition else "–",
        "size (Mbit)": f"{one.model_size:g}",
        **{words: f"{getattr(one, key):g} / {info[key]}" for words, key in COLUMNS.items()},
        "samples per client": f"{one.samples}",
        "rounds of Kη-fixed": f"{PLANS['paper'].rounds[task]} / {plan.rounds[task]}",
        "ran": grid.info_of(scale, task),
    }


# ---- Table 2: seconds of a step, on this machine beside the paper's device ----

MILLISECONDS, RATIO = "milliseconds per step", "relative to the first"
FIRST = TASKS[0]


def times(runs: Runs, scale: str) -> Content:
    """Return Table 2; findings are on logarithms, so that the noise of all tasks is about equal."""
    printed, cells, entries = table("decaying_k", "Table 2"), grid.step_times(scale), []
    firsts = [_milliseconds(runs, cell, FIRST) for cell in cells]
    for task in TASKS:
        network = network_title(NETWORKS[task])
        row, info = f"{network} of {task}", RunInfo.of(SettingText(network=network))
        one, taken = printed[task, "beta"], [_milliseconds(runs, cell, task) for cell in cells]
        ratios = [a / b for a, b in zip(taken, firsts, strict=True)]
        entries += [
            entry(one, row, MILLISECONDS, list(filter(np.isfinite, taken)), info=info, times=1e3),
            entry(
                replace(one, std=""), row, RATIO, list(filter(np.isfinite, ratios)), info=info,
                over=PRINTED[FIRST].minibatch_time,
            ),
        ]  # fmt: skip
    logs = {e.row: [float(np.log(value)) for value in e.ours] for e in entries if e.column == MILLISECONDS}
    longer = [Pair(f"log {b} over {a}", logs[b], logs[a]) for a, b in pairwise(logs)]
    summary = (
        "The paper's networks, without its data, on one thread of this machine; batches as printed, 32 for CIFAR100. "
        "All four in turn within one run, medians; ± standard error over three runs. The paper's device is a Raspberry "
        "Pi 3B+, so that the ratios are what can be compared."
    )
    finding = judge(f"a step takes longer from network to network, on one core: {', '.join(logs)}", longer)
    return comparison(summary, entries, [finding], "printed / ours")


def _milliseconds(runs: Runs, cell: Cell, task: str) -> float:
    return 1e3 * float(dict(runs.rows(cell, "network", "seconds")).get(NETWORKS[task], np.nan))


# ---- Table 3: the eight schedules, by the code that trains with them and by the catalogue's formulas ----

REPORTED = table("decaying_k", "Table 3")
LATER = (1, 8, 64, 512)
STEPS, SIZE = PRINTED["FEMNIST"].local_steps, PRINTED["FEMNIST"].step_size
LOSSES = {1: 1.0, 8: 0.5, 64: 0.25, 512: 0.125}
"""Example: the loss in these rounds relative to the first."""
MANY = 10**9
"""A K_0 so large that rounding up does not hide an exponent."""
LETTERS = {
    initial_local_steps: "K0", initial_step_size: "eta0", current_loss: "Fr", initial_loss: "F0", round_index: "r",
    plateau: "plateau",
}  # fmt: skip


def trained_plan(key: str, round_: int, steps: int = STEPS, size: float = SIZE, loss: float = 1.0) -> tuple[int, float]:
    """Return K and eta of a round as the training code chooses them, at ``loss`` times the first loss."""
    import torch

    from empirics.algorithms.scheduled import ScheduledSteps
    from empirics.algorithms.state import State

    rule = ScheduledSteps(key, window=1, plateau_round=LATER[-1])
    losses = (1.0, loss) if round_ > 1 else ()
    return rule(State(round_ - 1, torch.zeros(1), {}, {}, losses), steps, size)


def schedules(runs: Runs, scale: str) -> Content:
    entries = [entry(REPORTED[place], *place, [number()]) for place, number in NUMBERS.items()]
    exact = [math.isclose(e.mean, e.reported, rel_tol=1e-6) for e in entries]
    agree = f"{sum(exact)} of {len(exact)} agree"
    return Content(
        f"K and η as the training code takes them, with K0 {STEPS} and η0 {SIZE:g} (FEMNIST), for a loss that is "
        f"{', '.join(f'{LOSSES[r]:g}' for r in LATER)} of the first in rounds {', '.join(map(str, LATER))} and an "
        f"error that has stalled from round {LATER[-1]} on (plateau 1). No training: the same at every scale.",
        entry_rows(entries),
        [["schedule", "K", "η", *(f"round {r}" for r in LATER)], *(_line(key) for key in TITLES)],
        [exact_finding("the training code's exponents and divisors are those printed", all(exact), agree)],
    )


def _line(key: str) -> list[str]:
    letters = {quantity: sp.Symbol(letter) for quantity, letter in LETTERS.items()}
    formulas = (of.subs(letters) for of in (SCHEDULES[key].local_steps, SCHEDULES[key].step_size))
    numbers = (trained_plan(key, r, loss=LOSSES[r]) for r in LATER)
    texts = (str(sp.sstr(formula)).replace("RoundUp", "ceil") for formula in formulas)
    return [TITLES[key], *texts, *(f"{steps}, {size:.4g}" for steps, size in numbers)]


# ---- the printed numbers, read off the training code ----


def _exponent(key: str, which: int, of_loss: bool) -> float:
    """Return the power of the round, or of the loss, that K (``which`` 0) or eta (1) follows."""
    base = 0.4 if of_loss else 256.0
    late = trained_plan(key, 2 if of_loss else 256, MANY, 1.0, 0.4 if of_loss else 1.0)[which]
    return math.log(late / (MANY, 1.0)[which]) / math.log(base)


NUMBERS = {
    ("dSGD", "K_r"): lambda: float(trained_plan("dsgd", 5)[0]),
    ("K_r-step", "divisor of K_0"): lambda: STEPS / trained_plan("k_step", LATER[-1])[0],
    ("eta_r-step", "divisor of eta_0"): lambda: SIZE / trained_plan("eta_step", LATER[-1])[1],
    ("K_r-rounds", "exponent of r"): lambda: _exponent("k_rounds", 0, False),
    ("K_r-error", "exponent of F_r/F_0"): lambda: _exponent("k_error", 0, True),
    ("eta_r-rounds", "exponent of r"): lambda: _exponent("eta_rounds", 1, False),
    ("eta_r-error", "exponent of F_r/F_0"): lambda: _exponent("eta_error", 1, True),
}


# ---- Table 4: steps of the decays of K relative to Kη-fixed, all for the same simulated time ----

FEWEST_FIRST = ("k_rounds", "k_step", "k_error")
"""The order of the printed shares in every task."""


@cache
def share_by_formula(task: str) -> float:
    """Return the share of steps of K_r-rounds at the paper's setting, by the schedule and eq. (5) alone."""
    one = PRINTED[task]
    sending = one.model_size / DOWNLOAD + one.model_size / UPLOAD
    seconds = ROUNDS * (sending + one.minibatch_time * one.local_steps)
    most = int(seconds / (sending + one.minibatch_time))
    plan = SCHEDULES["k_rounds"].plan(rounds=most, initial_local_steps=one.local_steps, initial_step_size=one.step_size)
    steps = plan.local_steps[np.cumsum(sending + one.minibatch_time * plan.local_steps) <= seconds]
    return float(steps.sum()) / (ROUNDS * one.local_steps)


def steps(runs: Runs, scale: str) -> Content:
    entries = []
    for task in TASKS:
        for key in K_DECAYS:
            there = bool(grid.cells(scale, task, key))
            note = "" if there else "not run" if task in tasks(scale) else "data not available"
            ours, info = step_shares(runs, scale, task, key), grid.info_of(scale, task, key)
            entries.append(entry(SHARES[task, TITLES[key]], data_name(scale, task), TITLES[key], ours, note, info))
    at, keys = by_position(entries), (FIXED, *K_DECAYS)

    def share(task: str, key: str) -> Sequence[float]:
        return (1.0,) * PLANS[scale].seeds if key == FIXED else at[data_name(scale, task), TITLES[key]].ours

    def finding(words: str, *order: tuple[str, str]) -> list[Finding]:
        def pairs(task: str) -> list[Pair]:
            where = data_name(scale, task)
            return [Pair(f"{TITLES[a]} over {TITLES[b]}, {where}", share(task, a), share(task, b)) for a, b in order]

        return judge_by_task(words, scale, keys, pairs, lambda task: base_guards(runs, scale, "", keys, task), TASKS)

    fewest = "K_r-rounds takes the fewest steps, then K_r-step, then K_r-error"
    findings = [
        *finding("every decay of K takes fewer steps than Kη-fixed", *((FIXED, key) for key in K_DECAYS)),
        *finding(fewest, *((b, a) for a, b in pairwise(FEWEST_FIRST))),
    ]
    formula = ", ".join(f"{task} {share_by_formula(task):.3f}" for task in TASKS)
    summary = caption(
        runs,
        scale,
        keys,
        "Steps within the same simulated time. K_r-rounds at the paper's setting, by its formula and eq. (5): "
        f"{formula}.",
        "±: standard error over seeds. A run that diverged has no share.",
    )
    return comparison(summary, entries, findings, "printed / ours")
