"""Figures 1a and 1b: accuracy of FedInit against the local interval K and against the relaxation beta."""

from __future__ import annotations

from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import judge, Judged, Pair
from ..drawing import Axis, panels
from ..runs import Runs
from . import beta
from .grid import PLANS, runs as grid_runs
from .reading import accuracies, ends, point, SPREAD, told, unavailable
from .settings import HOME

ACCURACY = "test accuracy (%)"
THRESHOLD, FALL = 0.15, 10.0
"""Above which beta training is said to diverge, and by how many points of accuracy we call that a collapse."""


def _length(scale: str, length: int) -> list[Cell]:
    """FedInit's runs with that local interval; the paper's own is the run of the other tables."""
    return grid_runs(scale, HOME, "FedInit", length=length)


def interval() -> Artefact:
    """Figure 1a."""
    return Artefact(
        "fedinit.figure_1a",
        "accuracy against the local interval K",
        "FedInit, Figure 1a",
        lambda scale: [c for k in PLANS[scale].lengths for c in _length(scale, k)],
        _over_intervals,
        lambda shown: panels(shown.rows, Axis(f"local {_unit(shown)} a round", log=True), Axis(ACCURACY), points=True),
    )


def _unit(shown: Shown) -> str:
    return str(shown.rows[0]["curve"]).removeprefix("FedInit over ") if shown.rows else "steps"


def _over_intervals(runs: Runs, scale: str) -> Shown:
    plan = PLANS[scale]
    unit = plan.length.removeprefix("local_")
    values = {k: accuracies(runs, scale, _length(scale, k)) for k in plan.lengths}
    rows = [row for k, of in values.items() for row in point(of, float(k), f"FedInit over {unit}")]
    told_more = "The number of rounds is the same for every K. The paper's K counts epochs, by its released code."
    return _shown(scale, rows, told_more, _rises_and_falls(values, plan.interval))


def _rises_and_falls(values: dict[int, list[float]], chosen: int) -> list[Judged]:
    least, most = min(values), max(values)
    rises = [Pair(f"K={chosen} over {least}", values[chosen], values[least])]
    falls = [Pair(f"K={chosen} over {most}", values[chosen], values[most])]
    return [
        judge(f"accuracy rises with K at first (K = {chosen} over {least})", rises),
        judge(f"accuracy falls again when K is large (K = {chosen} over {most})", falls),
    ]


def relaxation() -> Artefact:
    """Figure 1b."""
    return Artefact(
        "fedinit.figure_1b",
        "accuracy against the relaxation beta",
        "FedInit, Figure 1b",
        beta.cells,
        _over_betas,
        lambda shown: panels(shown.rows, Axis("relaxation beta"), Axis(ACCURACY), points=True),
    )


def _over_betas(runs: Runs, scale: str) -> Shown:
    values = {b: accuracies(runs, scale, beta.seeds(scale, b)) for b in beta.BETAS}
    rows: list[dict[str, Any]] = [row for b, of in values.items() for row in point(of, b, "FedInit")]
    fallen = Pair(f"beta={beta.BEST:g} over {THRESHOLD:g}", values[beta.BEST], values[THRESHOLD], FALL)
    judged = [
        judge(f"beyond a threshold training breaks down: at {THRESHOLD:g} accuracy is {FALL:g} points lower", [fallen]),
        judge(
            "the largest beta below it is the best positive one",
            [
                Pair(f"beta={beta.BEST:g} over {b:g}", values[beta.BEST], values[b])
                for b in beta.BETAS
                if 0 < b < beta.BEST
            ],
        ),
    ]
    return _shown(scale, rows, "The runs are those of Table 3.", judged)


def _shown(scale: str, rows: list[dict[str, Any]], more: str, judged: list[Judged]) -> Shown:
    told_all = told(scale, [HOME], more, ends(scale), SPREAD.replace("±", "Bars"))
    reason = unavailable(scale, [HOME])
    return Shown(told_all, rows, (), [] if reason else judged, (), reason)
