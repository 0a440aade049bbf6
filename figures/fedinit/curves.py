"""Figures 1 to 7: accuracy against K and beta; loss, accuracy and divergence over rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, Shown
from ..comparing import judge, Judged, Pair
from ..drawing import Axis, panels
from ..regimes import horizon, mean, POINT, Regime
from ..run_description import of
from ..runs import Runs
from ..specification import figure, Line, over_rounds, Point
from .grid import column, length, missing, PLANS, runs as grid_runs
from .reading import (
    accuracies,
    apart,
    caption,
    DIVERGED,
    divergences,
    ends,
    guards,
    losses,
    PERCENT,
    percent,
    read_with,
    RELAXED,
    smoothed,
    SPREAD,
    unavailable,
)
from .settings import BETAS, HOME, METHODS, of as setups_of, RELAXATIONS, ROUNDS, Setup

ACCURACY = "test accuracy (%)"
QUANTITIES = {
    "test_loss": ("test loss", 1.0),
    "test_accuracy": (ACCURACY, PERCENT),
    "active_divergence": ("divergence (parameters²)", 1.0),
}
"""In which words, times what."""
BEST = RELAXATIONS[HOME.share]
SHOWN_BETAS = (0.0, 0.02, 0.05, 0.1)
"""The curves of Figures 6 and 7 here; the paper's own are not readable."""
POINTS = 2.0
"""Of accuracy, which the relaxed start is to add."""
THRESHOLD, FALL = 0.15, 10.0
"""Above which beta training is said to diverge, and by how many points of accuracy we call that a collapse."""


def with_beta(scale: str, beta: float, method: str = "FedAvg") -> list[Cell]:
    """The runs of a method from the start relaxed by beta."""
    return grid_runs(scale, HOME, method, beta)


def _line(scale: str, setup: Setup, cells: Sequence[Cell], quantity: str, panel: str, curve: str) -> Line:
    times, over = QUANTITIES[quantity][1], PLANS[scale].counts["smoothing"]
    return Line(panel, curve, cells, quantity, of(cells, setup.in_paper), times, over)


# ---- Figures 2 to 5: seven methods, one panel per setup ----


def _methods(number: int, data: str, quantity: str) -> Artefact:
    setups, words, loss = setups_of(data), QUANTITIES[quantity][0], quantity == "test_loss"
    high, low = ("FedAvg", "FedInit") if loss else ("FedInit", "FedAvg")

    def lines(scale: str) -> list[Line]:
        return [
            _line(scale, s, grid_runs(scale, s, m), quantity, column(scale, s), m)
            for s in setups
            for m in reversed(METHODS)
        ]

    def said(runs: Runs, scale: str) -> str:
        more = f"Means over seeds; bars: one standard error, of every curve at rounds of its own. {smoothed(scale)}"
        return caption(scale, setups, more, RELAXED, DIVERGED)

    def findings(runs: Runs, scale: str) -> list[Judged]:
        """FedInit's end against FedAvg's, in every setup that is run."""
        seen, read = [s for s in setups if not missing(scale, s)], losses if loss else accuracies
        end = {(s, m): read(runs, scale, grid_runs(scale, s, m)) for s in seen for m in (high, low)}
        pairs = [Pair(f"{high} over {low}, {column(scale, s)}", end[s, high], end[s, low]) for s in seen]
        better = "a lower test loss" if loss else "a higher accuracy"
        regimes = guards(runs, scale, seen, ("FedAvg", "FedInit"))
        return [judge(f"FedInit ends at {better} than FedAvg in every panel", pairs, 0.0 if loss else POINT, regimes)]

    return figure(
        f"fedinit.figure_{number}", f"{words.removesuffix(' (%)')} of seven methods over rounds, {data}", lines, said,
        findings, over_rounds(words), unavailable=lambda scale: unavailable(scale, setups), pack="fedinit.table_1",
    )  # fmt: skip


# ---- Figures 6 and 7: one curve per beta, panels of divergence and accuracy ----


def _betas(number: int, method: str) -> Artefact:
    def lines(scale: str) -> list[Line]:
        return [
            _line(scale, HOME, with_beta(scale, b, method), quantity, QUANTITIES[quantity][0], f"beta = {b:g}")
            for quantity in ("active_divergence", "test_accuracy")
            for b in SHOWN_BETAS
        ]

    def said(runs: Runs, scale: str) -> str:
        more = f"{method} from the start relaxed by beta; divergence: of the participants, as the released code reports"
        return caption(scale, [HOME], f"{more} it.", smoothed(scale), "Band: one standard error.", DIVERGED)

    def findings(runs: Runs, scale: str) -> list[Judged]:
        mine, plain = with_beta(scale, BEST, method), with_beta(scale, 0.0, method)
        high, low = (accuracies(runs, scale, cells) for cells in (mine, plain))
        far, near = (divergences(runs, scale, cells) for cells in (plain, mine))
        words, sized = f"beta = {BEST:g} and 0", guards(runs, scale, [HOME], size=True)
        nearer, more = f"the relaxed start lowers the divergence of {method}", f"{POINTS:g} points or more"
        return [
            judge(nearer, [Pair(words, far, near)], regimes=guards(runs, scale, [HOME])),
            judge(f"the relaxed start gives {method} {more}", [Pair(words, high, low, POINTS)], POINT, sized),
        ]

    return figure(
        f"fedinit.figure_{number}", f"divergence and accuracy of {method} over rounds for several beta", lines, said,
        findings, over_rounds(""), more=apart, unavailable=lambda scale: unavailable(scale, [HOME]),
    )  # fmt: skip


# ---- Figures 1a and 1b: accuracy of FedInit against the local interval K and against beta ----


def intervals(scale: str, method: str = "FedInit") -> dict[int, list[Cell]]:
    """Runs by local interval; the paper's own is the run of the other tables."""
    return {k: grid_runs(scale, HOME, method, steps=k) for k in PLANS[scale].axes["lengths"]}


def plain_intervals(scale: str) -> dict[int, list[Cell]]:
    """FedAvg's at the shortest interval and at the paper's, for what the relaxed start adds at each."""
    plain = intervals(scale, "FedAvg")
    return {k: plain[k] for k in (min(plain), PLANS[scale].setting[length(scale)])}


def _interval_points(scale: str) -> list[Point]:
    curve = f"FedInit over {length(scale).removeprefix('local_')}"
    return [
        Point("", curve, float(k), cells, read_with(accuracies, scale), of(cells, HOME.lasting(ROUNDS[HOME.data], k)))
        for k, cells in intervals(scale).items()
    ]


def _interval_caption(runs: Runs, scale: str) -> str:
    relaxed, parts = intervals(scale), []
    for k, plain in plain_intervals(scale).items():
        gain, further = (
            mean(read(runs, scale, relaxed[k])) - mean(read(runs, scale, plain)) for read in (accuracies, divergences)
        )
        parts.append(f"{gain:+.1f} points and {further:+.2g} in divergence at K = {k}")
    more = "The number of rounds is the same for every K. The paper's K counts epochs, by its released code."
    more += f" FedInit over FedAvg: {', '.join(parts)}."
    return caption(scale, [HOME], more, ends(scale), SPREAD.replace("±", "Bars"))


def _of_intervals(runs: Runs, scale: str) -> list[Judged]:
    found = intervals(scale)
    ours = {k: accuracies(runs, scale, cells) for k, cells in found.items()}
    best, least, most = PLANS[scale].setting[length(scale)], min(found), max(found)

    def above(other: int, words: str) -> Judged:
        regimes: list[Regime] = [
            horizon(of(found[k], HOME.lasting(ROUNDS[HOME.data], k)), percent(runs, found[k])) for k in (best, other)
        ]
        pair = Pair(f"K={best} over {other}", ours[best], ours[other])
        return judge(f"{words} (K = {best} over {other})", [pair], POINT, regimes)

    return [above(least, "accuracy rises with K at first"), above(most, "accuracy falls again when K is large")]


def _over_intervals(shown: Shown) -> Any:
    unit = str(shown.rows[0]["curve"]).removeprefix("FedInit over ") if shown.rows else "steps"
    return panels(shown.rows, Axis(f"local {unit} a round", log=True), Axis(ACCURACY), points=True)


def _beta_points(scale: str) -> list[Point]:
    found: Mapping[float, list[Cell]] = {b: with_beta(scale, b) for b in BETAS}
    read = read_with(accuracies, scale)
    return [Point("", "FedInit", b, cells, read, of(cells, HOME.in_paper)) for b, cells in found.items()]


def _beta_caption(runs: Runs, scale: str) -> str:
    return caption(scale, [HOME], "The runs are those of Table 3.", ends(scale), SPREAD.replace("±", "Bars"))


def _of_betas(runs: Runs, scale: str) -> list[Judged]:
    ours = {b: accuracies(runs, scale, with_beta(scale, b)) for b in BETAS}

    def above(other: float, points: float = 0.0) -> Pair:
        return Pair(f"beta={BEST:g} over {other:g}", ours[BEST], ours[other], points)

    helps, sized = guards(runs, scale, [HOME]), guards(runs, scale, [HOME], remedy=False, size=True)
    collapse = f"beyond a threshold training breaks down: at {THRESHOLD:g} accuracy is {FALL:g} points lower"
    positive = [above(b) for b in BETAS if 0 < b < BEST]
    return [
        judge(collapse, [above(THRESHOLD, FALL)], POINT, sized),
        judge("the largest beta below it is the best positive one", positive, POINT, helps),
    ]


ARTEFACTS = {
    "figure_1a": figure(
        "fedinit.figure_1a", "accuracy against the local interval K", _interval_points, _interval_caption,
        _of_intervals,
        _over_intervals,
        more=lambda scale: [cell for cells in plain_intervals(scale).values() for cell in cells],
        unavailable=lambda scale: unavailable(scale, [HOME]),
    ),
    "figure_1b": figure(
        "fedinit.figure_1b", "accuracy against the relaxation beta", _beta_points, _beta_caption, _of_betas,
        lambda shown: panels(shown.rows, Axis("relaxation beta"), Axis(ACCURACY), points=True),
        more=apart, unavailable=lambda scale: unavailable(scale, [HOME]), pack="fedinit.table_3",
    ),
    "figure_2": _methods(2, "CIFAR-10", "test_loss"),
    "figure_3": _methods(3, "CIFAR-10", "test_accuracy"),
    "figure_4": _methods(4, "CIFAR-100", "test_loss"),
    "figure_5": _methods(5, "CIFAR-100", "test_accuracy"),
    "figure_6": _betas(6, "FedAvg"),
    "figure_7": _betas(7, "SCAFFOLD"),
}  # fmt: skip
