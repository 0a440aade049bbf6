"""Figures 1a and 1b: accuracy of FedInit against the local interval K and against the relaxation beta."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import judge, Judged, Pair
from ..drawing import Axis, panels
from ..ran import of, Ran
from ..regimes import horizon, mean, POINT, Regime
from ..runs import point, Runs
from . import beta
from .grid import length, PLANS, runs as grid_runs
from .reading import accuracies, caption, divergences, ends, guards, percent, SPREAD, unavailable
from .settings import HOME, ROUNDS

ACCURACY = "test accuracy (%)"
THRESHOLD, FALL = 0.15, 10.0
"""Above which beta training is said to diverge, and by how many points of accuracy we call that a collapse."""


def intervals(scale: str, method: str = "FedInit") -> dict[int, list[Cell]]:
    """Runs by local interval; the paper's own is the run of the other tables."""
    return {k: grid_runs(scale, HOME, method, steps=k) for k in PLANS[scale].axes["lengths"]}


def both(scale: str) -> dict[int, list[Cell]]:
    """FedAvg's at the shortest interval and at the paper's, for what the relaxed start adds at each."""
    plain = intervals(scale, "FedAvg")
    return {k: plain[k] for k in (min(plain), PLANS[scale].setting[length(scale)])}


def over_intervals(runs: Runs, scale: str) -> Shown:
    """Figure 1a's numbers."""
    unit = length(scale)
    values = {k: accuracies(runs, scale, cells) for k, cells in intervals(scale).items()}
    chosen, least, most = PLANS[scale].setting[unit], min(values), max(values)

    def above(other: int) -> list[Pair]:
        return [Pair(f"K={chosen} over {other}", values[chosen], values[other])]

    more = "The number of rounds is the same for every K. The paper's K counts epochs, by its released code."
    ran = {k: of(each, HOME.lasting(ROUNDS[HOME.data], k)) for k, each in intervals(scale).items()}

    def regimes(*lengths: int) -> list[Regime]:
        return [horizon(ran[k], percent(runs, intervals(scale)[k])) for k in lengths]

    judged = [
        judge(
            f"accuracy rises with K at first (K = {chosen} over {least})", above(least), POINT, regimes(chosen, least)
        ),
        judge(
            f"accuracy falls again when K is large (K = {chosen} over {most})",
            above(most),
            POINT,
            regimes(chosen, most),
        ),
    ]
    more += f" {_gains(runs, scale)}"
    return _shown(scale, values, ran, f"FedInit over {unit.removeprefix('local_')}", more, judged)


def _gains(runs: Runs, scale: str) -> str:
    """What the relaxed start adds to FedAvg's accuracy and divergence at both intervals."""
    relaxed, parts = intervals(scale), []
    for k, plain in both(scale).items():
        gain, apart = (
            mean(read(runs, scale, relaxed[k])) - mean(read(runs, scale, plain)) for read in (accuracies, divergences)
        )
        parts.append(f"{gain:+.1f} points and {apart:+.2g} in divergence at K = {k}")
    return f"FedInit over FedAvg: {', '.join(parts)}."


def over_betas(runs: Runs, scale: str) -> Shown:
    """Figure 1b's numbers."""
    values, best = {b: accuracies(runs, scale, beta.seeds(scale, b)) for b in beta.BETAS}, beta.BEST

    def above(other: float, points: float = 0.0) -> Pair:
        return Pair(f"beta={best:g} over {other:g}", values[best], values[other], points)

    helps = guards(runs, scale, [HOME])
    collapse = f"beyond a threshold training breaks down: at {THRESHOLD:g} accuracy is {FALL:g} points lower"
    judged = [
        judge(collapse, [above(THRESHOLD, FALL)], POINT, guards(runs, scale, [HOME], remedy=False, size=True)),
        judge(
            "the largest beta below it is the best positive one",
            [above(b) for b in beta.BETAS if 0 < b < best],
            POINT,
            helps,
        ),
    ]
    ran = {b: of(beta.seeds(scale, b), HOME.in_paper) for b in values}
    return _shown(scale, values, ran, "FedInit", "The runs are those of Table 3.", judged)


def _shown(
    scale: str,
    values: Mapping[Any, list[float]],
    ran: Mapping[Any, Ran | None],
    curve: str,
    more: str,
    judged: list[Judged],
) -> Shown:
    rows = [row for x, each in values.items() for row in point(each, float(x), curve, ran[x])]
    words = caption(scale, [HOME], more, ends(scale), SPREAD.replace("±", "Bars"))
    reason = unavailable(scale, [HOME])
    return Shown(words, rows, (), [] if reason else judged, (), reason)


def _unit(shown: Shown) -> str:
    return str(shown.rows[0]["curve"]).removeprefix("FedInit over ") if shown.rows else "steps"


ARTEFACTS = {
    "figure_1a": Artefact(
        "fedinit.figure_1a",
        "accuracy against the local interval K",
        lambda scale: [cell for cells in (*intervals(scale).values(), *both(scale).values()) for cell in cells],
        over_intervals,
        lambda shown: panels(shown.rows, Axis(f"local {_unit(shown)} a round", log=True), Axis(ACCURACY), points=True),
    ),
    "figure_1b": Artefact(
        "fedinit.figure_1b",
        "accuracy against the relaxation beta",
        beta.cells,
        over_betas,
        lambda shown: panels(shown.rows, Axis("relaxation beta"), Axis(ACCURACY), points=True),
    ),
}
