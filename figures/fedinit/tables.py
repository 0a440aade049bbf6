"""Tables 1 to 3: test accuracy of the methods, with the relaxed start (RI) and without, and for several beta."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Content
from ..comparing import Finding, judge, Pair
from ..guards import POINT
from ..run_description import describe
from ..runs import Runs
from ..sheets import by_position, comparison, Entry, entry, leads
from . import grid
from .figures import BEST, beyond_threshold, with_beta
from .findings import (
    ABOVE_FEDAVG,
    accuracies,
    caption,
    DIVERGENCES,
    divergences,
    end_note,
    guards,
    in_each_setup,
    RELAXED,
    SPREAD,
)
from .grid import absence, BASELINES, BETAS, CIFAR10, column, HOME, METHODS, network, PLANS, RESNET, Setup, SETUPS, VGG

ACCURACIES = "Test accuracy (%): reported / ours."


def _accuracy(
    runs: Runs, scale: str, name: str, key: tuple[str, str], row: str, setup: Setup, cells: Sequence[Cell]
) -> Entry:
    """Return the entry of a printed accuracy and the runs of a setup."""
    ours, info = accuracies(runs, scale, cells), describe(cells, setup.paper_setting())
    return entry(table("fedinit", name)[key], row, column(scale, setup), ours, absence(scale, setup), info)


# ---- Table 1: seven methods in sixteen columns, two networks one below the other ----

FEW = Setup(share="5%-200")


def methods(runs: Runs, scale: str) -> Content:
    """Return Table 1 and the findings of Section 5.1 on the ResNet-18-GN rows on CIFAR-10."""
    names = {name: network(scale, name) for name in (RESNET, VGG)}
    used = {
        (m, setup := replace(s, network=name)): grid.cells(scale, setup, m)
        for name in names
        for m in METHODS
        for s in SETUPS
    }
    entries = [
        _accuracy(runs, scale, "Table 1", (f"{s.network}/{m}", s.column), f"{names[s.network]}, {m}", s, cells)
        for (m, s), cells in used.items()
    ]
    setups = [s for s in CIFAR10 if not absence(scale, s)]
    shown, at = [column(scale, s) for s in setups], by_position(entries)
    mine, plain, *others = (f"{names[RESNET]}, {m}" for m in ("FedInit", *BASELINES))
    others.insert(0, plain)
    whole = [c for c in shown if all(at[other, c].ours for other in others)]
    best, both = leads(entries, mine, others, whole) if whole else [], ("FedAvg", "FedInit")
    every = f"in each setup of CIFAR-10 in which all seven ran ({len(whole)} of {len(CIFAR10)})"
    lost = []  # accuracy lost with fewer participants, seed by seed
    for row in (plain, mine):
        sides = (at[row, column(scale, setup)].ours for setup in (HOME, FEW))
        lost.append([many - few for many, few in zip(*sides, strict=False)])
    steadier = Pair("FedAvg's loss over FedInit's", lost[0], lost[1])
    half = f"{grid.client_text(scale, FEW)}, Dirichlet 0.1, beta {grid.RELAXATIONS[FEW.share]:g} for {BEST:g}"
    fewer = f"fewer participants ({half}) cost FedInit less accuracy than FedAvg"
    above = leads(entries, mine, [plain], shown) if shown else []
    all_methods, two = (guards(runs, scale, setups, methods) for methods in (METHODS, both))
    findings = [
        judge(f"FedInit is more accurate than every other method {every}", best, POINT, all_methods),
        judge(f"{ABOVE_FEDAVG} {in_each_setup(scale, CIFAR10)}", above, POINT, two),
        judge(fewer, [steadier], guards=guards(runs, scale, (HOME, FEW), both)),
    ]
    dash = "" if VGG in PLANS[scale].networks else "A dash: not run at this scale."
    summary = caption(
        scale, ACCURACIES, [(m, cells) for (m, _), cells in used.items()], end_note(scale), SPREAD, RELAXED, dash
    )
    return comparison(summary, entries, findings, ranked=[e for e in entries if RESNET in e.row])


# ---- Table 2: six methods as they are and from the relaxed start ----

HELPED = BASELINES[:4]
"""Methods whose printed accuracy rises with RI in all four columns; FedDyn's and FedCM's fall in two each."""


def starts(runs: Runs, scale: str) -> Content:
    """Return Table 2 and the findings of Section 5.1 and Appendix B.2.2, on the columns with all runs of RI."""
    planned, used = PLANS[scale].axes["with_ri"], {}
    for m in BASELINES:
        for start in ("vanilla", "+RI"):
            for s in CIFAR10:
                beta, there = grid.RELAXATIONS[s.share] if start == "+RI" else 0.0, m == "FedAvg" or s in planned
                used[f"{m}/{start}", s] = grid.cells(scale, s, m, beta) if there or not beta else []
    entries = [
        _accuracy(runs, scale, "Table 2", (row, s.column.replace("/", " ResNet-18-GN/", 1)), row, s, cells)
        for (row, s), cells in used.items()
    ]
    setups, at = [s for s in planned if not absence(scale, s)], by_position(entries)

    def gains(words: str, methods: Sequence[str], points: float = 0.0, beside: Iterable[str] = ()) -> Finding:
        """Judge whether runs with RI are above those without by more than ``points``."""
        pairs = [
            Pair(f"{m} +RI over vanilla, {c}", at[f"{m}/+RI", c].ours, at[f"{m}/vanilla", c].ours, points)
            for m in methods
            for c in (column(scale, s) for s in setups)
        ]
        return judge(words, pairs, POINT, guards(runs, scale, setups, [*beside, *methods], size=points > 0))

    findings = [
        gains("RI makes every one of the six methods more accurate in every setup", BASELINES),
        gains("RI makes FedAvg, FedAdam, FedSAM and SCAFFOLD more accurate", HELPED),
        gains("RI gives FedAvg over 3 points in every setup", ["FedAvg"], 3.0),
        gains("RI gives SCAFFOLD about 2 points (1.5 or more) in every setup", ["SCAFFOLD"], 1.5, ["FedAvg"]),
    ]
    shown = f"RI: from the relaxed start. {ACCURACIES}"
    summary = caption(
        scale, shown, [(row, cells) for (row, _), cells in used.items()], end_note(scale), RELAXED, SPREAD
    )
    return comparison(summary, entries, findings)


# ---- Table 3: accuracy and divergence for several beta ----

CLOSER = (0.02, 0.05, 0.1)
"""Positive relaxations that lower the printed divergence."""
ACCURACY = "accuracy"
COLUMNS = {ACCURACY: "test_accuracy", "Delta^T": "active_divergence", "Delta^T, all clients": "divergence"}


def betas(runs: Runs, scale: str) -> Content:
    """Return Table 3 and the findings of Section 5.2."""
    printed, entries = table("fedinit", "Table 3"), []
    used = {f"beta={beta:g}": with_beta(scale, beta) for beta in BETAS}
    for row, cells in used.items():
        for name, quantity in COLUMNS.items():
            far = divergences(runs, scale, cells, quantity) if name != ACCURACY else accuracies(runs, scale, cells)
            ours = [math.inf] if math.inf in far else far  # one run that diverged leaves no spread to give
            info, note = describe(cells, HOME.paper_setting()), absence(scale, HOME)
            entries.append(entry(printed.get((row, name)), row, name, ours, note, info))
    at = by_position(entries)

    def above(high: float, low: float, column: str = ACCURACY) -> Pair:
        return Pair(f"beta={high:g} over {low:g}", at[f"beta={high:g}", column].ours, at[f"beta={low:g}", column].ours)

    helps, harms = (guards(runs, scale, [HOME], remedy=remedy) for remedy in (True, False))
    best = [above(BEST, b) for b in BETAS if b != BEST]
    rising = [above(high, low) for low, high in pairwise(b for b in BETAS if b <= BEST)]
    negative = [above(0.0, b) for b in BETAS if b < 0]
    findings = [
        judge(f"beta = {BEST:g} has the highest accuracy", best, POINT, helps),
        judge(f"accuracy rises with every step of beta from -0.2 to {BEST:g}", rising, POINT, helps),
        judge("a negative relaxation is less accurate than none", negative, POINT, harms),
        beyond_threshold(runs, scale),
    ]
    for clients, quantity in DIVERGENCES.items():
        name = next(column for column, measured in COLUMNS.items() if measured == quantity)
        nearer = [above(0.0, b, name) for b in CLOSER]
        findings.append(judge(f"beta from 0.02 to 0.1 lowers the divergence over {clients}", nearer, 0.0, helps))
    more = (
        "FedInit; accuracy in percent; Delta^T: mean squared distance of the participants' models to the new server "
        "model, as the released code reports it, and over all clients' last models, as the text defines it."
    )
    return comparison(caption(scale, more, used.items(), end_note(scale), SPREAD), entries, findings, digits=3)
