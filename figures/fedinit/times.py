"""Tables 10 and 11: seconds of a round by method, and rounds and seconds until a target accuracy is reached."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from statistics import median

import numpy as np

from paper_checks.reported import table

from ..artefact import Content
from ..comparing import judge, Pair
from ..guards import gpu_times, horizon
from ..run_description import describe, ours_for_theirs
from ..runs import Runs
from ..sheets import by_position, comparison, Entry, entry, leads
from . import grid
from .findings import caption, end_note, guards, RELAXED
from .grid import absence, client_text, HOME, info_of, METHODS, PLANS, Setup, SHARES, timing

CHEAP = 1.06
"""Bound on FedInit's ratio of seconds to FedAvg's, whose largest printed value is 1.05."""
TARGETS = {"CIFAR-10": 70.0, "CIFAR-100": 30.0}
"""Target accuracies in percent at the paper's scale."""
SETUPS = tuple(Setup(data=data) for data in TARGETS)
ROUNDING = 1e-9
"""Percentage points by which two ways to compute the same mean may differ."""
FASTER = ("SCAFFOLD", "FedDyn")


# ---- Table 10: seconds of a round ----


def seconds(runs: Runs, scale: str, share: str, method: str) -> list[float]:
    """Return the median seconds of a round of a method for each block of rounds; empty if it was not timed."""
    blocks: dict[int, list[float]] = {}
    for cell in timing(scale, share):
        names = dict(zip(cell.arguments["algorithms"], METHODS, strict=True))
        for name, block, each in runs.rows(cell, "algorithm", "block", "seconds"):
            if names[name] == method:
                blocks.setdefault(block, []).append(each)
    return [median(taken) for taken in blocks.values()]


def seconds_per_round(runs: Runs, scale: str) -> Content:
    """Return Table 10 and the findings of Appendix B.2.3."""
    printed, entries = table("fedinit", "Table 10"), []
    for share, word, m in product(SHARES, ("wall-clock", "ratio"), METHODS):
        setup, (taken, plain) = Setup(share=share), (seconds(runs, scale, share, each) for each in (m, "FedAvg"))
        ours = taken if word == "wall-clock" else [a / b for a, b in zip(taken, plain, strict=True)]
        column, info = (
            f"{client_text(scale, setup)}, {word}",
            describe(timing(scale, share), replace(setup.paper_setting(), rounds="")),
        )
        entries.append(entry(printed[m, f"{share}/{word}"], m, column, ours, absence(scale, setup), info))
    ratios = [e for e in entries if e.column.endswith("ratio")]
    at, columns = by_position(entries), list(dict.fromkeys(e.column for e in ratios))
    mine = {c: at["FedInit", c].ours for c in columns}
    others = [m for m in METHODS if m not in ("FedInit", "FedAvg")]
    timed = {share: timing(scale, share) for share in SHARES}
    whole = [horizon(describe(c, Setup(share=s).paper_setting(1), 1)) for s, c in timed.items() if c]
    cheap = [Pair(f"{CHEAP:g} over FedInit, {c}", [CHEAP] * len(mine[c]), mine[c]) for c in columns]
    faster = [Pair(f"{m} over FedInit, {c}", at[m, c].ours, mine[c]) for c in columns for m in others]
    slowest = f"FedSAM is the slowest per round ({columns[0].rpartition(',')[0]}, on one core)"
    on_gpu = [*whole, *gpu_times([cell for cells in timed.values() for cell in cells])]
    findings = [
        judge("FedInit takes at most 6 % longer than FedAvg", cheap, guards=on_gpu),
        judge("FedInit is faster per round than every method but FedAvg", faster, guards=on_gpu),
        judge(slowest, leads(entries, "FedSAM", columns=columns[:1]), guards=whole),
    ]
    more = (
        "Reported / ours: seconds of a round and ratio to FedAvg. All methods take turns in one process, round by "
        f"round; medians of {PLANS[scale].counts['laps']} rounds, ± over three such blocks, whose noise is not that of "
        "another day."
    )
    used = [("", cells) for cells in timed.values()]
    return comparison(caption(scale, more, used), entries, findings, digits=3, ranked=ratios)


# ---- Table 11: until a target accuracy ----


def first_round_at(at: np.ndarray, accuracy: np.ndarray, target: float, window: int) -> float:
    """Return the first round at which the mean of the last ``window`` accuracies (without the start) is the target."""
    for i in range(window + 1, len(at) + 1):
        if float(np.mean(accuracy[i - window : i])) >= target - ROUNDING:
            return float(at[i - 1])
    return math.inf


def rounds_to_target(runs: Runs, scale: str, setup: Setup, method: str) -> list[float]:
    """Return the rounds to the target by seed: infinite if it is not reached, NaN if the run or FedAvg's is missing.

    The target is the paper's at the paper's scale, else the final accuracy of FedAvg's run with that seed.
    """
    window, mine = PLANS[scale].window, grid.cells(scale, setup, method)
    reached = []
    for cell, plain in zip(mine, grid.cells(scale, setup, "FedAvg"), strict=True):
        fixed = TARGETS[setup.data] if scale == "paper" else 100 * runs.last(plain, "test_accuracy", window)
        (curve,) = runs.percent([cell])
        reached.append(first_round_at(*curve, fixed, window) if runs.result(cell) and fixed > 0 else math.nan)
    return reached


def _until(runs: Runs, scale: str, setup: Setup, method: str, word: str, speed: bool) -> Entry:
    """Return the entry of rounds or seconds to the target, or with ``speed`` of FedAvg's over the method's."""
    ending = f"{word} speed ratio" if speed else word
    printed = table("fedinit", "Table 11")[method, f"{setup.data} (>{TARGETS[setup.data]:g}%)/{ending}"]

    def known(of_method: str) -> list[float]:
        taken = seconds(runs, scale, setup.share, of_method) if word == "time" else [1.0]
        each = float(np.mean(taken)) if taken else math.nan
        return [r * each for r in rounds_to_target(runs, scale, setup, of_method)]

    until, plain = known(method), known("FedAvg")
    times = [(of, of / own if speed else own) for own, of in zip(until, plain if speed else until, strict=True)]
    ours = [value if math.isfinite(of) else math.nan for of, value in times]
    there = [own for own in until if not math.isnan(own)]
    reason = f"reached by {sum(map(math.isfinite, there))} of {len(there)}" if there else ""
    column = f"{_name(scale, setup)}, {ending}"
    info = describe(grid.cells(scale, setup, method), setup.paper_setting())
    return entry(printed, method, column, ours, absence(scale, setup) or reason, info)


def _name(scale: str, setup: Setup) -> str:
    """Return data and target as they are run."""
    info, printed = info_of(scale, setup), f">{TARGETS[setup.data]:g}%"
    ours = printed if scale == "paper" else "the end of FedAvg"
    return f"{info.data}, {ours_for_theirs(ours, printed)}" if info else f"{setup.data} ({printed})"


def until_target(runs: Runs, scale: str) -> Content:
    """Return Table 11 and the findings of Appendix B.2.4 on the data sets that are run."""
    entries = [
        _until(runs, scale, setup, method, word, speed)
        for setup in SETUPS
        for method in METHODS
        for word in ("rounds", "time")
        for speed in (False, True)
    ]
    run_here = [s for s in SETUPS if not absence(scale, s)]
    ten = [_name(scale, s) for s in run_here if s.data == "CIFAR-10"]
    on = ten[0].rpartition(",")[0] if ten else "CIFAR-10"

    def fastest(row: str, others: Sequence[str], word: str) -> list[Pair]:
        return [p for c in ten for p in leads(entries, row, others, [f"{c}, {word} speed ratio"])]

    others = [m for m in METHODS if m != "FedInit"]
    every, some = (guards(runs, scale, run_here, methods) for methods in (METHODS, ("FedAvg", *FASTER)))
    target = "the target" if scale == "paper" else "the accuracy at which FedAvg ends"
    in_seconds = [*every, *(gpu_times(timing(scale, HOME.share)) if run_here else [])]
    findings = [
        judge(f"on {on} FedInit needs the fewest {what} to {target}", fastest("FedInit", others, word), 0.0, required)
        for word, what, required in (("rounds", "rounds", every), ("time", "seconds", in_seconds))
    ]
    fewer = [pair for method in FASTER for pair in fastest(method, ["FedAvg"], "rounds")]
    findings.append(judge(f"SCAFFOLD and FedDyn need fewer rounds than FedAvg to {target}", fewer, guards=some))
    rule = (
        "Target: 70 % on CIFAR-10, 30 % on CIFAR-100, as in the paper."
        if scale == "paper"
        else "Target, seed by seed: the accuracy that FedAvg ends at, both as means of the last measurements."
    )
    more = (
        f"{rule} Seconds: rounds times our Table 10's seconds of a round, as in the paper. Speed: FedAvg's "
        "over the method's, 0 for a run that never gets there; rounds and seconds are means over the runs that do (how "
        f"many: in the CSV). {RELAXED}"
    )
    used = [(m, grid.cells(scale, s, m)) for s in SETUPS for m in METHODS]
    return comparison(caption(scale, end_note(scale), used, more), entries, findings)
