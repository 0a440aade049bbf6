"""Figures 1 to 7: accuracy against K and beta; loss, accuracy and divergence over rounds."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from empirics.experiments import Cell

from ..artefact import Artefact, figure, Shown
from ..comparing import judge, Judged, Pair
from ..drawing import Axis, curves, panels
from ..regimes import horizon, mean, POINT
from ..run_description import of
from ..runs import line, point, Runs
from . import findings, grid
from .findings import accuracies, caption, ends, guards, RELAXED, SPREAD, unavailable
from .grid import BETAS, column, HOME, length, METHODS, missing, PLANS, RELAXATIONS, ROUNDS, Setup, SETUPS

ACCURACY = "test accuracy (%)"
QUANTITIES = {
    "test_loss": ("test loss", 1.0),
    "test_accuracy": (ACCURACY, 100.0),
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
BARS = SPREAD.replace("±", "Bars")


def with_beta(scale: str, beta: float, method: str = "FedAvg") -> list[Cell]:
    """The runs of a method from the start relaxed by beta."""
    return grid.runs(scale, HOME, method, beta)


def _line(
    runs: Runs, scale: str, setup: Setup, cells: Sequence[Cell], quantity: str, panel: str, curve: str
) -> list[dict[str, Any]]:
    times, over = QUANTITIES[quantity][1], PLANS[scale].counts["smoothing"]
    return line(runs, cells, quantity, panel, curve, of(cells, setup.in_paper), times, over)


def _methods(data: str, quantity: str, runs: Runs, scale: str) -> Shown:
    """Figures 2 to 5: seven methods, one panel per setup; FedInit's end against FedAvg's in every one that is run."""
    setups, loss = [s for s in SETUPS if s.data == data], quantity == "test_loss"
    high, low, read = ("FedAvg", "FedInit", findings.losses) if loss else ("FedInit", "FedAvg", accuracies)
    used = {(s, m): grid.runs(scale, s, m) for s in setups for m in reversed(METHODS)}
    rows = [
        row for (s, m), cells in used.items() for row in _line(runs, scale, s, cells, quantity, column(scale, s), m)
    ]
    seen = [s for s in setups if not missing(scale, s)]
    end = {(s, m): read(runs, scale, grid.runs(scale, s, m)) for s in seen for m in (high, low)}
    pairs = [Pair(f"{high} over {low}, {column(scale, s)}", end[s, high], end[s, low]) for s in seen]
    words = f"FedInit ends at {'a lower test loss' if loss else 'a higher accuracy'} than FedAvg in every panel"
    judged = judge(words, pairs, 0.0 if loss else POINT, guards(runs, scale, seen, ("FedAvg", "FedInit")))
    more = (
        f"Means over seeds; bars: one standard error, of every curve at rounds of its own. {findings.smoothed(scale)}"
    )
    said = caption(scale, more, [(m, cells) for (_, m), cells in used.items()], RELAXED, findings.DIVERGED)
    return figure(said, rows, [judged], unavailable(scale, setups))


def _betas(method: str, runs: Runs, scale: str) -> Shown:
    """Figures 6 and 7: one curve per beta, panels of divergence and accuracy."""
    used = {f"beta = {b:g}": with_beta(scale, b, method) for b in SHOWN_BETAS}
    rows = [
        row
        for quantity in ("active_divergence", "test_accuracy")
        for name, cells in used.items()
        for row in _line(runs, scale, HOME, cells, quantity, QUANTITIES[quantity][0], name)
    ]
    more = f"{method} from the start relaxed by beta; divergence: of the participants, as the released code reports it."
    said = caption(scale, more, used.items(), findings.smoothed(scale), "Band: one standard error.", findings.DIVERGED)
    both = with_beta(scale, BEST, method), with_beta(scale, 0.0, method)
    (high, low), (near, far) = ([read(runs, scale, c) for c in both] for read in (accuracies, findings.divergences))
    words, sized = f"beta = {BEST:g} and 0", guards(runs, scale, [HOME], size=True)
    nearer, points = f"the relaxed start lowers the divergence of {method}", f"{POINTS:g} points or more"
    judged = [
        judge(nearer, [Pair(words, far, near)], regimes=guards(runs, scale, [HOME])),
        judge(f"the relaxed start gives {method} {points}", [Pair(words, high, low, POINTS)], POINT, sized),
    ]
    return figure(said, rows, judged, unavailable(scale, [HOME]))


def _over_intervals(runs: Runs, scale: str) -> Shown:
    """Figure 1a: accuracy of FedInit against the local interval K, and what the relaxed start adds at two of them."""
    found, plain = (
        {k: grid.runs(scale, HOME, method, steps=k) for k in PLANS[scale].axes["lengths"]}
        for method in ("FedInit", "FedAvg")
    )
    paper = ROUNDS[HOME.data]
    ours = {k: accuracies(runs, scale, cells) for k, cells in found.items()}
    ran = {k: of(cells, HOME.lasting(paper, k)) for k, cells in found.items()}
    curve = f"FedInit over {length(scale).removeprefix('local_')}"
    rows = [row for k, values in ours.items() for row in point(values, float(k), curve, ran[k])]
    best, least, most = PLANS[scale].setting[length(scale)], min(found), max(found)
    parts = []
    for k in dict.fromkeys((least, best)):
        gain, further = (
            mean(read(runs, scale, found[k])) - mean(read(runs, scale, plain[k]))
            for read in (accuracies, findings.divergences)
        )
        parts.append(f"{gain:+.1f} points and {further:+.2g} in divergence at K = {k}")
    more = "The number of rounds is the same for every K. The paper's K counts epochs, by its released code."
    more += f" FedInit over FedAvg: {', '.join(parts)}."

    def above(other: int, words: str) -> Judged:
        regimes = [horizon(ran[k], runs.percent(found[k])) for k in (best, other)]
        pair = Pair(f"K={best} over {other}", ours[best], ours[other])
        return judge(f"{words} (K = {best} over {other})", [pair], POINT, regimes)

    judged = [above(least, "accuracy rises with K at first"), above(most, "accuracy falls again when K is large")]
    said = caption(scale, more, ((f"K = {k}", cells) for k, cells in found.items()), ends(scale), BARS)
    return figure(said, rows, judged, unavailable(scale, [HOME]))


def _draw_intervals(shown: Shown) -> Any:
    unit = str(shown.rows[0]["curve"]).removeprefix("FedInit over ") if shown.rows else "steps"
    return panels(shown.rows, Axis(f"local {unit} a round", log=True), Axis(ACCURACY), points=True)


def _over_betas(runs: Runs, scale: str) -> Shown:
    """Figure 1b: accuracy of FedInit against beta."""
    found = {b: with_beta(scale, b) for b in BETAS}
    ours = {b: accuracies(runs, scale, cells) for b, cells in found.items()}
    rows = [row for b in BETAS for row in point(ours[b], b, "FedInit", of(found[b], HOME.in_paper))]

    def above(other: float, points: float = 0.0) -> Pair:
        return Pair(f"beta={BEST:g} over {other:g}", ours[BEST], ours[other], points)

    helps, sized = guards(runs, scale, [HOME]), guards(runs, scale, [HOME], remedy=False, size=True)
    collapse = f"beyond a threshold training breaks down: at {THRESHOLD:g} accuracy is {FALL:g} points lower"
    positive = [above(b) for b in BETAS if 0 < b < BEST]
    judged = [
        judge(collapse, [above(THRESHOLD, FALL)], POINT, sized),
        judge("the largest beta below it is the best positive one", positive, POINT, helps),
    ]
    used = ((f"beta = {b:g}", cells) for b, cells in found.items())
    said = caption(scale, "The runs are those of Table 3.", used, ends(scale), BARS)
    return figure(said, rows, judged, unavailable(scale, [HOME]))


def _of_methods(number: int, data: str, quantity: str) -> Artefact:
    words = QUANTITIES[quantity][0]
    title = f"{words.removesuffix(' (%)')} of seven methods over rounds, {data}"
    draw = curves(Axis("round"), Axis(words))
    return Artefact(f"fedinit.figure_{number}", title, partial(_methods, data, quantity), draw, "fedinit.table_1")


def _of_betas(number: int, method: str) -> Artefact:
    title = f"divergence and accuracy of {method} over rounds for several beta"
    draw = curves(Axis("round"), Axis(""))
    return Artefact(f"fedinit.figure_{number}", title, partial(_betas, method), draw)


ARTEFACTS = (
    Artefact("fedinit.figure_1a", "accuracy against the local interval K", _over_intervals, _draw_intervals),
    Artefact(
        "fedinit.figure_1b", "accuracy against the relaxation beta", _over_betas,
        curves(Axis("relaxation beta"), Axis(ACCURACY), points=True), "fedinit.table_3",
    ),
    _of_methods(2, "CIFAR-10", "test_loss"),
    _of_methods(3, "CIFAR-10", "test_accuracy"),
    _of_methods(4, "CIFAR-100", "test_loss"),
    _of_methods(5, "CIFAR-100", "test_accuracy"),
    _of_betas(6, "FedAvg"),
    _of_betas(7, "SCAFFOLD"),
)  # fmt: skip
