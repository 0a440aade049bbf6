"""Figures 6 and 7, and the runs over the relaxation beta, which Table 3 and Figure 1b read as well."""

from __future__ import annotations

from typing import Any

from empirics.experiments import Cell
from paper_checks.reported import table

from ..artefact import Artefact, Shown
from ..comparing import judge, Judged, Pair
from ..drawing import Axis, panels
from ..regimes import POINT
from ..runs import Runs
from .grid import runs as grid_runs
from .reading import accuracies, apart, caption, DIVERGED, divergences, guards, PERCENT, rows, smoothed, unavailable
from .settings import HOME, RELAXATIONS

PRINTED = table("fedinit", "Table 3")
BETAS = tuple(float(row.partition("=")[2]) for row in dict.fromkeys(row for row, _ in PRINTED))
BEST = RELAXATIONS[HOME.share]
CURVES = (0.0, 0.02, 0.05, 0.1)
"""Those of Figures 6 and 7 here; the paper's own are not readable."""
POINTS = 2.0
"""Of accuracy, which the relaxed start is to add."""
QUANTITIES = {"active_divergence": ("divergence (parameters²)", 1.0), "test_accuracy": ("test accuracy (%)", PERCENT)}
"""What Figures 6 and 7 show, in which words, times what."""


def label(beta: float) -> str:
    """A row of Table 3."""
    return f"beta={beta:g}"


def seeds(scale: str, beta: float, method: str = "FedAvg") -> list[Cell]:
    """The runs of a method from the start relaxed by beta."""
    return grid_runs(scale, HOME, method, beta)


def cells(scale: str, method: str = "FedAvg", betas: tuple[float, ...] = BETAS) -> list[Cell]:
    return [*(c for beta in betas for c in seeds(scale, beta, method)), *apart(scale)]


def _figure(number: int, method: str) -> Artefact:
    """Divergence and accuracy of a method over rounds, one curve per beta."""
    title = f"divergence and accuracy of {method} over rounds for several beta"
    return Artefact(
        f"fedinit.figure_{number}",
        title,
        lambda scale: cells(scale, method, CURVES),
        lambda runs, scale: _shown(runs, scale, method),
        lambda shown: panels(shown.rows, Axis("round"), Axis("")),
    )


def _shown(runs: Runs, scale: str, method: str) -> Shown:
    found: list[dict[str, Any]] = [
        row
        for quantity, (words, scaled) in QUANTITIES.items()
        for beta in CURVES
        for row in rows(runs, scale, HOME, seeds(scale, beta, method), quantity, words, f"beta = {beta:g}", scaled)
    ]
    more = f"{method} from the start relaxed by beta; divergence: of the participants, as the released code reports it."
    reason = unavailable(scale, [HOME])
    judged = [] if reason else _conclusions(runs, scale, method)
    words = caption(scale, [HOME], more, smoothed(scale), "Band: one standard error.", DIVERGED)
    return Shown(words, found, (), judged, (), reason)


def _conclusions(runs: Runs, scale: str, method: str) -> list[Judged]:
    mine, plain = seeds(scale, BEST, method), seeds(scale, 0.0, method)
    high, low = (accuracies(runs, scale, s) for s in (mine, plain))
    far, near = (divergences(runs, scale, s) for s in (plain, mine))
    words = f"beta = {BEST:g} and 0"
    return [
        judge(
            f"the relaxed start lowers the divergence of {method}",
            [Pair(words, far, near)],
            regimes=guards(runs, scale, [HOME]),
        ),
        judge(
            f"the relaxed start gives {method} {POINTS:g} points or more",
            [Pair(words, high, low, POINTS)],
            POINT,
            guards(runs, scale, [HOME], size=True),
        ),
    ]


ARTEFACTS = {"figure_6": _figure(6, "FedAvg"), "figure_7": _figure(7, "SCAFFOLD")}
