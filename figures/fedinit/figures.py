"""Figures 1 to 7: accuracy against K and beta; loss, accuracy and divergence over rounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from empirics.experiments import Cell

from ..artefact import Content, figure_content
from ..comparing import Finding, judge, Pair
from ..drawing import ACCURACY, Axis, draw_panels
from ..guards import horizon, known_mean, POINT, statistic
from ..run_description import describe
from ..runs import curve_rows, point_rows, Runs
from . import findings, grid
from .findings import (
    ABOVE_FEDAVG,
    accuracies,
    caption,
    DIVERGENCES,
    end_note,
    guards,
    in_each_setup,
    RELAXED,
    SPREAD,
    unavailable,
)
from .grid import absence, BETAS, column, HOME, interval_argument, METHODS, PLANS, RELAXATIONS, ROUNDS, Setup, SETUPS

QUANTITIES = {
    "test_loss": ("test loss", 1.0),
    "test_accuracy": (ACCURACY, 100.0),
    "active_divergence": ("divergence (parameters²)", 1.0),
}
"""Title and factor of each quantity."""
BEST = RELAXATIONS[HOME.share]
SHOWN_BETAS = (0.0, 0.02, 0.05, 0.1)
"""The curves of Figures 6 and 7 here; the paper's are not legible."""
POINTS = 2.0
"""Points of accuracy that the relaxed start should add."""
THRESHOLD = 0.15
"""The beta at which training is said to collapse."""
BARS = SPREAD.replace("±", "Bars")


def with_beta(scale: str, beta: float, method: str = "FedAvg") -> list[Cell]:
    """Return the runs of a method from the start relaxed by beta."""
    return grid.cells(scale, HOME, method, beta)


def _rows(
    runs: Runs, scale: str, setup: Setup, cells: Sequence[Cell], quantity: str, panel: str, curve: str
) -> list[dict[str, Any]]:
    """Return the rows of one curve, a running mean over as many rounds as the scale's plan sets."""
    factor, window = QUANTITIES[quantity][1], PLANS[scale].counts["smoothing"]
    return curve_rows(runs, cells, quantity, panel, curve, describe(cells, setup.paper_setting()), factor, window)


def methods(data: str, quantity: str, runs: Runs, scale: str) -> Content:
    """Return Figures 2 to 5: seven methods, one panel per setup; a finding compares FedInit with FedAvg at the end."""
    setups, loss = [s for s in SETUPS if s.data == data], quantity == "test_loss"
    high, low, read = ("FedAvg", "FedInit", findings.losses) if loss else ("FedInit", "FedAvg", accuracies)
    used = {(s, m): grid.cells(scale, s, m) for s in setups for m in reversed(METHODS)}
    rows = [
        row for (s, m), cells in used.items() for row in _rows(runs, scale, s, cells, quantity, column(scale, s), m)
    ]
    run_here = [s for s in setups if not absence(scale, s)]
    end = {(s, m): read(runs, scale, used[s, m]) for s in run_here for m in (high, low)}
    pairs = [Pair(f"{high} over {low}, {column(scale, s)}", end[s, high], end[s, low]) for s in run_here]
    required = guards(runs, scale, run_here, ("FedAvg", "FedInit"))
    if loss:  # the paper does not say of which samples
        words = f"FedInit ends at a lower loss than FedAvg {in_each_setup(scale, setups)}"
        judged = judge(words, pairs, guards=[*required, statistic("test loss", "loss")])
    else:
        judged = judge(f"{ABOVE_FEDAVG} {in_each_setup(scale, setups)}", pairs, POINT, required)
    smoothing = findings.smoothing_note(scale)
    more = f"Means over seeds; bars: one standard error, of every curve at rounds of its own. {smoothing}"
    text = caption(scale, more, [(m, cells) for (_, m), cells in used.items()], RELAXED, findings.DIVERGED)
    return figure_content(text, rows, [judged], unavailable(scale, setups))


def several_betas(method: str, runs: Runs, scale: str) -> Content:
    """Return Figures 6 and 7: one curve per beta, panels of divergence and accuracy."""
    used = {f"beta = {b:g}": with_beta(scale, b, method) for b in SHOWN_BETAS}
    rows = [
        row
        for quantity in ("active_divergence", "test_accuracy")
        for name, cells in used.items()
        for row in _rows(runs, scale, HOME, cells, quantity, QUANTITIES[quantity][0], name)
    ]
    more = f"{method} from the start relaxed by beta; divergence: of the participants, as the released code reports it."
    text = caption(
        scale, more, used.items(), findings.smoothing_note(scale), "Band: one standard error.", findings.DIVERGED
    )
    relaxed, plain = with_beta(scale, BEST, method), with_beta(scale, 0.0, method)
    name, sized = f"beta = {BEST:g} and 0", guards(runs, scale, [HOME], size=True)
    judged = []
    for clients, quantity in DIVERGENCES.items():
        near, far = (findings.divergences(runs, scale, cells, quantity) for cells in (relaxed, plain))
        words = f"beta = {BEST:g} lowers the divergence of {method} over {clients}"
        judged.append(judge(words, [Pair(name, far, near)], guards=guards(runs, scale, [HOME])))
    high, low = (accuracies(runs, scale, cells) for cells in (relaxed, plain))
    words = f"the relaxed start gives {method} {POINTS:g} points or more"
    judged.append(judge(words, [Pair(name, high, low, POINTS)], delta=POINT, guards=sized))
    return figure_content(text, rows, judged, unavailable(scale, [HOME]))


def over_intervals(runs: Runs, scale: str) -> Content:
    """Return Figure 1a: accuracy of FedInit against the local interval K, and its gain over FedAvg at two of them."""
    used, plain = (
        {k: grid.cells(scale, HOME, method, steps=k) for k in PLANS[scale].axes["lengths"]}
        for method in ("FedInit", "FedAvg")
    )
    paper = ROUNDS[HOME.data]
    ours = {k: accuracies(runs, scale, cells) for k, cells in used.items()}
    info = {k: describe(cells, HOME.paper_setting(paper, k)) for k, cells in used.items()}
    curve = f"FedInit over {interval_argument(scale).removeprefix('local_')}"
    rows = [row for k, values in ours.items() for row in point_rows(values, float(k), curve, info[k])]
    best, least, most = PLANS[scale].setting[interval_argument(scale)], min(used), max(used)
    parts = []
    for k in dict.fromkeys((least, best)):
        gain, further = (
            known_mean(read(runs, scale, used[k])) - known_mean(read(runs, scale, plain[k]))
            for read in (accuracies, findings.divergences)
        )
        parts.append(f"{gain:+.1f} points and {further:+.2g} in divergence at K = {k}")
    more = "The number of rounds is the same for every K. The paper's K counts epochs, by its released code."
    more += f" FedInit over FedAvg: {', '.join(parts)}."

    def above(other: int, words: str) -> Finding:
        long_enough = [horizon(info[k], runs.percent(used[k])) for k in (best, other)]
        pair = Pair(f"K={best} over {other}", ours[best], ours[other])
        return judge(f"{words} (K = {best} over {other})", [pair], delta=POINT, guards=long_enough)

    judged = [above(least, "accuracy rises with K at first"), above(most, "accuracy falls again when K is large")]
    text = caption(scale, more, ((f"K = {k}", cells) for k, cells in used.items()), end_note(scale), BARS)
    return figure_content(text, rows, judged, unavailable(scale, [HOME]))


def draw_intervals(content: Content) -> Any:
    unit = str(content.rows[0]["curve"]).removeprefix("FedInit over ") if content.rows else "steps"
    return draw_panels(content.rows, Axis(f"local {unit} a round", log=True), Axis(ACCURACY), points=True)


def over_betas(runs: Runs, scale: str) -> Content:
    """Return Figure 1b: accuracy of FedInit against beta."""
    cells_at = {b: with_beta(scale, b) for b in BETAS}
    ours = {b: accuracies(runs, scale, cells) for b, cells in cells_at.items()}
    info = {b: describe(cells, HOME.paper_setting()) for b, cells in cells_at.items()}
    rows = [row for b in BETAS for row in point_rows(ours[b], b, "FedInit", info[b])]

    used = ((f"beta = {b:g}", cells) for b, cells in cells_at.items())
    text = caption(scale, "The runs are those of Table 3.", used, end_note(scale), BARS)
    return figure_content(text, rows, [beyond_threshold(runs, scale)], unavailable(scale, [HOME]))


def beyond_threshold(runs: Runs, scale: str) -> Finding:
    """Judge whether training breaks down when beta exceeds a threshold (Section 5.2)."""
    ours = {b: accuracies(runs, scale, with_beta(scale, b)) for b in (0.0, THRESHOLD)}
    pair = Pair(f"beta=0 over {THRESHOLD:g}", ours[0.0], ours[THRESHOLD])
    words = f"beta = {THRESHOLD:g} is less accurate than none"
    return judge(words, [pair], POINT, guards(runs, scale, [HOME], remedy=False))
