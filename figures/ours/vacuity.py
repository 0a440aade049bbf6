"""Maps that show where each theorem does not apply, is vacuous, or is informative."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from string import ascii_lowercase
from typing import Any

import numpy as np

from bounds.catalog import get
from empirics.problems.quadratics import Quadratics, random_quadratics

from ..artefact import Content
from ..drawing import Axis, columns, legend_on_top, new_figure, set_panel_title, set_scales
from ..runs import Runs
from ..style import GREY, MEASURED, THEORY
from .grid import NOISE, QUADRATICS

FAILS, VACUOUS, INFORMATIVE = 0, 1, 2
WORDS = {FAILS: "does not apply", VACUOUS: "vacuous: above the trivial value", INFORMATIVE: "informative"}
FACES = {FAILS: "#f0f0f0", VACUOUS: "#fbeaec", INFORMATIVE: "#ffffff"}
HATCHES = {FAILS: "/////", VACUOUS: "\\\\\\\\", INFORMATIVE: ""}
LINES = 4
"""Decades below the trivial value with a contour line; the legend names them."""
POINTS = {"smoke": 12, "laptop": 41, "overnight": 61, "paper": 61}
LOCAL_STEPS, COHORT, BETA = 3, 2, 0.06
LAMBDAS = np.geomspace(1e-3, 0.99, 40)

Grid = np.ndarray[Any, Any]
Map = tuple[str, str, str, Grid, Grid, Callable[[Grid, Grid], tuple[Grid, float]]]


def data(runs: Runs, scale: str) -> Content:
    rows: list[dict[str, Any]] = []
    shares: list[str] = []
    for name, x_name, y_name, x, y, value in _maps(POINTS[scale]):
        across, up = np.meshgrid(x, y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            values, trivial = value(across, up)
        state = np.where(np.isnan(values), FAILS, np.where(values > trivial, VACUOUS, INFORMATIVE))
        shared = {"panel": name, "x_name": x_name, "y_name": y_name, "trivial": trivial}
        rows += [
            {**shared, "x": float(a), "y": float(b), "bound": float(v), "state": int(s)}
            for a, b, v, s in zip(across.flat, up.flat, values.flat, state.flat, strict=True)
        ]
        shares.append(f"{name.partition(',')[0]} {np.mean(state == INFORMATIVE):.0%}")
    return Content(_caption(shares), rows)


def _caption(shares: Sequence[str]) -> str:
    problem = _problem()
    condition = problem.smoothness / problem.strong_convexity
    return (
        "Formulas alone, nothing is run. FedALS: a client's own gap as the trivial value, non-iidness of identical "
        "clients "
        "that estimate a mean. The others: the constants of one federation of 4 quadratic clients (condition number "
        f"{condition:.2g}), {LOCAL_STEPS} local steps, {COHORT} clients a round (FedCOG: all); the trivial value is "
        f"the squared gradient at the start. FedInit: relaxation {BETA}, the best lambda. Decaying-K: G^2 the largest "
        f"squared client gradient at the start plus noise. Share of the map that is informative: {', '.join(shares)}."
    )


# ---- the maps ----


def _problem() -> Quadratics:
    return random_quadratics(0, noise=NOISE, **QUADRATICS)


def _maps(points: int) -> Sequence[Map]:
    rounds, counts = (np.unique(np.geomspace(1, most, points).round()) for most in (1e8, 1e4))
    sizes = np.geomspace(1e-6, 1, points)
    over_time = ("rounds", "step size times L", rounds, sizes)
    return (
        ("FedALS, Theorem 4.1", "clients K", "L / mu", counts, np.geomspace(1, 1e4, points), _fedals),
        ("FedInit, Theorem 1", *over_time, _fedinit),
        ("Decaying-K, Theorem 1", *over_time, _decaying_k),
        ("FedCOG, Theorem 5.6", *over_time, partial(_at, "fedcog.theorem")),
    )


def _fedals(clients: Grid, condition: Grid) -> tuple[Grid, float]:
    """Return the bound in units of a client's own gap, with the non-iidness of a mean, and the trivial value."""
    non_iidness = get("fedals.gaussian_mean_non_iidness").equal_clients()
    excess = non_iidness(clients=clients, local_gap=1.0, client_distance_sq=0.0, smoothness=1.0)
    bound = get("fedals.one_round").equal_clients()
    values = {"clients": clients, "smoothness": condition, "strong_convexity": 1.0, "local_gap": 1.0}
    return bound(**values, non_iidness=np.maximum(excess, 0.0)), 1.0


def _fedinit(rounds: Grid, sizes: Grid) -> tuple[Grid, float]:
    bounds = [_at("fedinit.theorem_1", rounds, sizes, contraction=x)[0] for x in LAMBDAS]
    return np.fmin.reduce(bounds), _at("fedinit.theorem_1", rounds, sizes, contraction=LAMBDAS[0])[1]


def _decaying_k(rounds: Grid, sizes: Grid) -> tuple[Grid, float]:
    problem = _problem()
    largest = (problem.client_gradients(problem.start) ** 2).sum(-1) + problem.client_gradient_variance
    more = {"grad_cap_sq": float(largest.max()), "current_loss": float(problem.loss(problem.start))}
    return _at("decaying_k.per_rounds", rounds, sizes, **more)


def _at(name: str, rounds: Grid, sizes: Grid, **more: float) -> tuple[Grid, float]:
    """Return the bound at the federation's constants (NaN where it does not apply) and the squared initial gradient."""
    problem, bound = _problem(), get(name)
    start = float(problem.loss(problem.start))
    known: dict[str, Any] = {q.name: getattr(problem, q.name) for q in bound.quantities if hasattr(problem, q.name)}
    known |= {"local_steps": LOCAL_STEPS, "cohort": COHORT, "relaxation": BETA, "client_weight": problem.weights}
    known |= {"initial_gap": start - problem.optimal_loss, "rounds": rounds, "step_size": sizes / problem.smoothness}
    values = {q.name: {**known, **more}[q.name] for q in bound.quantities}
    clients = {name for name, value in values.items() if bound.quantity(name).card.axis and np.ndim(value)}
    wide = {k: v if k in clients or np.ndim(v) == 0 else np.asarray(v) for k, v in values.items()}
    computed = np.asarray(np.broadcast_to(bound(**wide), rounds.shape))
    return computed, float((problem.gradient(problem.start) ** 2).sum())


# ---- drawing ----


def draw(content: Content) -> Any:
    """Draw one map per theorem, hatched by state, with lines at the trivial value, a tenth of it, ..."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    figure, axes = new_figure(2, 2, 2)
    names = list(dict.fromkeys(row["panel"] for row in content.rows))
    for ax, letter, name in zip(axes.flat, ascii_lowercase, names, strict=False):
        mine = [row for row in content.rows if row["panel"] == name]
        x, y = (np.array(sorted({row[k] for row in mine})) for k in ("x", "y"))
        (bound, trivial) = columns(mine, "bound", "trivial")
        share = np.ma.masked_invalid(np.log10(bound / trivial).reshape(len(y), len(x)))
        ax.set_facecolor(FACES[FAILS])
        ax.patch.set(hatch=HATCHES[FAILS], edgecolor=GREY)
        for state, ends in ((VACUOUS, (0.0, np.inf)), (INFORMATIVE, (-np.inf, 0.0))):
            levels = np.clip(ends, share.min() - 1, share.max() + 1)
            if levels[0] < levels[1]:
                filled = ax.contourf(x, y, share, levels=levels, colors=[FACES[state]], hatches=[HATCHES[state]])
                filled.set(edgecolor=MEASURED, linewidth=0)
        decades = np.arange(-LINES, 1)
        ax.contour(x, y, share, levels=decades, colors=THEORY, linestyles="-", linewidths=[0.5] * LINES + [1.3])
        set_scales(ax, Axis("", log=True), Axis("", log=True))
        set_panel_title(ax, f"({letter}) {name}", "")
        ax.set(xlabel=mine[0]["x_name"], ylabel=mine[0]["y_name"], xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    edges = {FAILS: GREY, VACUOUS: MEASURED, INFORMATIVE: GREY}
    handles: list[Any] = [
        Patch(facecolor=FACES[s], hatch=HATCHES[s], edgecolor=edges[s], lw=0.3, label=w) for s, w in WORDS.items()
    ]
    handles.append(Line2D([], [], color=THEORY, lw=0.5, label="1/10, ..., 1/10⁴ of the trivial value"))
    legend_on_top(figure, {handle.get_label(): handle for handle in handles}, 2)
    return figure
