"""Table 10: seconds of a round by method, which Table 11 multiplies by rounds, and as ratios to FedAvg."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from statistics import median

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import by_place, Entry, judge, Judged, leads, Pair
from ..ran import of
from ..regimes import horizon
from ..runs import Runs
from ..sheets import comparison, entry
from .grid import clients_of, missing, PLANS, timing
from .reading import caption
from .settings import METHODS, Setup, SHARES

PRINTED = table("fedinit", "Table 10")
CHEAP = 1.06
"""FedInit's largest printed ratio is 1.05."""


Blocks = Mapping[str, list[float]]
"""By method, a value per block of rounds."""


def medians(runs: Runs, scale: str, share: str) -> Blocks:
    """Median seconds of a round by method, block by block; empty where it was not timed."""
    found: dict[str, dict[int, list[float]]] = {}
    for cell in timing(scale, share):
        names = dict(zip(cell.arguments["algorithms"], METHODS, strict=True))
        table = runs.columns(cell)
        for name, block, taken in zip(*(table.get(k, []) for k in ("algorithm", "block", "seconds")), strict=True):
            found.setdefault(names[name], {}).setdefault(block, []).append(taken)
    return {method: [median(taken) for taken in blocks.values()] for method, blocks in found.items()}


def ratios(seconds: Blocks) -> Blocks:
    """Over FedAvg's in the same block."""
    return {m: [a / b for a, b in zip(of, seconds["FedAvg"], strict=True)] for m, of in seconds.items()}


def cells(scale: str) -> list[Cell]:
    return [cell for share in SHARES for cell in timing(scale, share)]


def data(runs: Runs, scale: str) -> Shown:
    found = [place for share in SHARES for place in _entries(runs, scale, share)]
    plan = PLANS[scale]
    more = (
        "Reported / ours: seconds of a round and ratio to FedAvg. Ours: all methods take turns in one process, round "
        f"by round; medians of {plan.counts['laps']} rounds, ± over three such blocks, whose noise is not that of "
        "another day."
    )
    timed = [Setup(share=share) for share in SHARES]
    words = caption(scale, timed, more).replace(f", {plan.seeds} seeds", ", one seed")
    if ran := of(cells(scale)):
        words = words.replace(f"{plan.rounds[timed[0].data]} rounds of", f"{ran.ours.rounds} rounds of")
    rates = [e for e in found if e.column.endswith("ratio")]
    return comparison(words, found, conclusions(found, scale), digits=3, ranked=rates)


def _entries(runs: Runs, scale: str, share: str) -> list[Entry]:
    setup, seconds = Setup(share=share), medians(runs, scale, share)
    ran, note = of(timing(scale, share), replace(setup.in_paper, rounds="")), missing(scale, setup)
    columns = {"wall-clock": seconds, "ratio": ratios(seconds)}
    return [
        entry(PRINTED[m, f"{share}/{word}"], m, f"{clients_of(scale, setup)}, {word}", taken.get(m, []), note, ran)
        for word, taken in columns.items()
        for m in METHODS
    ]


def conclusions(entries: list[Entry], scale: str) -> list[Judged]:
    """What Appendix B.2.3 concludes."""
    at = by_place(entries)
    columns = list(dict.fromkeys(e.column for e in entries if e.column.endswith("ratio")))
    mine = {c: at["FedInit", c].ours for c in columns}
    others = [m for m in METHODS if m not in ("FedInit", "FedAvg")]
    whole = [horizon(of(timing(scale, s), Setup(share=s).lasting(1), 1)) for s in SHARES if timing(scale, s)]
    return [
        judge(
            "FedInit takes at most 6 % longer than FedAvg",
            [Pair(f"{CHEAP:g} over FedInit, {c}", [CHEAP] * len(mine[c]), mine[c]) for c in columns],
            regimes=whole,
        ),
        judge(
            "FedInit is faster per round than every method but FedAvg",
            [Pair(f"{m} over FedInit, {c}", at[m, c].ours, mine[c]) for c in columns for m in others],
            regimes=whole,
        ),
        judge(
            f"FedSAM is the slowest per round ({columns[0].rpartition(',')[0]})",
            leads(entries, "FedSAM", columns=columns[:1]),
            regimes=whole,
        ),
    ]


ARTEFACT = Artefact("fedinit.table_10", "seconds per round", cells, data)
