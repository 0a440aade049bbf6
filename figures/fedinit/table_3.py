"""Table 3: test accuracy and divergence for several relaxations beta."""

from __future__ import annotations

import math
from itertools import pairwise

from ..artefact import Artefact, Shown
from ..comparing import by_place, Entry, judge, Judged, Pair
from ..ran import of
from ..regimes import POINT
from ..runs import Runs
from ..sheets import comparison, entry
from .beta import BEST, BETAS, cells, label, PRINTED, seeds
from .grid import missing
from .reading import accuracies, caption, divergences, ends, guards, SPREAD
from .settings import HOME

COLLAPSED = 0.15
ACCURACY, DIVERGENCE, ALL = "accuracy", "Delta^T", "Delta^T, all clients"
CLOSER = (0.02, 0.05, 0.1)
"""Positive relaxations that lower the printed divergence."""


def data(runs: Runs, scale: str) -> Shown:
    found = [place for beta in BETAS for place in _entries(runs, scale, beta)]
    more = (
        "FedInit; accuracy in percent; Delta^T: mean squared distance of the participants' models to the new server "
        "model, as the released code reports it, and over all clients' last models, as the text defines it."
    )
    words = caption(scale, [HOME], more, ends(scale), SPREAD)
    return comparison(words, found, conclusions(runs, scale, found), digits=3)


def _entries(runs: Runs, scale: str, beta: float) -> list[Entry]:
    row, cells, note = label(beta), seeds(scale, beta), missing(scale, HOME)
    ran = of(cells, HOME.in_paper)
    return [
        entry(PRINTED[row, ACCURACY], row, ACCURACY, accuracies(runs, scale, cells), note, ran),
        entry(PRINTED[row, DIVERGENCE], row, DIVERGENCE, _mean(divergences(runs, scale, cells)), note, ran),
        entry(None, row, ALL, _mean(divergences(runs, scale, cells, "divergence")), note, ran),
    ]


def _mean(values: list[float]) -> list[float]:
    """Infinite as soon as one run diverged: then there is no spread to give."""
    return [math.inf] if math.inf in values else values


def conclusions(runs: Runs, scale: str, entries: list[Entry]) -> list[Judged]:
    """What Section 5.2 concludes."""
    at = by_place(entries)

    def above(column: str, high: float, low: float) -> Pair:
        return Pair(f"beta={high:g} over {low:g}", at[label(high), column].ours, at[label(low), column].ours)

    helps, harms = (guards(runs, scale, [HOME], remedy=remedy) for remedy in (True, False))
    rising = [above(ACCURACY, high, low) for low, high in pairwise(b for b in BETAS if b <= BEST)]
    best = [above(ACCURACY, BEST, b) for b in BETAS if b != BEST]
    negative = [above(ACCURACY, 0.0, b) for b in BETAS if b < 0]
    collapse = [above(ACCURACY, 0.0, COLLAPSED)]
    nearer = [above(DIVERGENCE, 0.0, b) for b in CLOSER]
    return [
        judge(f"beta = {BEST:g} has the highest accuracy", best, POINT, helps),
        judge(f"accuracy rises with every step of beta from -0.2 to {BEST:g}", rising, POINT, helps),
        judge("a negative relaxation is less accurate than none", negative, POINT, harms),
        judge("beta = 0.15 is less accurate than none: training collapses", collapse, POINT, harms),
        judge("beta from 0.02 to 0.1 lowers the divergence", nearer, 0.0, helps),
    ]


ARTEFACT = Artefact("fedinit.table_3", "accuracy and divergence for several beta", cells, data)
