"""Figure of certified rates of six methods against step size and local steps: rounds to halve, and floors."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from bounds.errors import BoundsError
from empirics.algorithms import algorithm
from paper_checks.worst_case.rate_problem import RateProblem
from paper_checks.worst_case.rate_search import certify_rate
from paper_checks.worst_case.theorem_rates import theorem_rates

from ..artefact import Content
from ..comparing import exact_finding
from ..drawing import Axis, meaning_drawing
from ..runs import Runs
from ..style import line_style, LineStyle

METHODS = {
    "FedAvg": "fedavg()",
    "FedProx 0.5": "fedprox(mu=0.5)",
    "FedInit 0.1": "fedinit(beta=0.1)",
    "SCAFFOLD": "scaffold()",
    "FedAvgM 0.3": "fedavgm(momentum=0.3)",
    "FedCM 0.5": "fedcm(alpha=0.5)",
}
"""Algorithms by label."""
STRONG_CONVEXITY, STEPS, WALK = 0.1, 5, 0.5
"""Strong convexity for L = 1; local steps while step sizes vary; eta L K while local steps vary."""
SIZES = {
    "smoke": (0.1,),
    "laptop": tuple(np.geomspace(0.001, 1.6, 14)),
    "overnight": tuple(np.geomspace(0.001, 1.6, 22)),
}
COUNTS = {"smoke": (1, 2), "laptop": (1, 2, 3, 5, 8), "overnight": (1, 2, 3, 5, 8, 12, 16)}
PANELS = ("rounds to halve", "floor / zeta^2")
THEOREM = ", by a theorem"
FLOORS_FROM = 0.01
"""Below this step size the solver does not resolve floors: certified values are valid but far too large."""
SAME = 2e-4
"""Distance of a contraction from that of quadratics, relative to its distance from 1, that counts as best possible."""


def data(runs: Runs, scale: str) -> Content:
    many = "overnight" if scale == "paper" else scale
    rows: list[dict[str, Any]] = []
    for label, text in METHODS.items():
        sizes = [(f"{STEPS} local steps", "step size times L", size, STEPS, size) for size in SIZES[many]]
        counts = [(f"step size 1/({1 / WALK:g} K L)", "local steps K", k, k, WALK / k) for k in COUNTS[many]]
        for title, x_name, x, steps, size in (*sizes, *counts):
            try:
                certified = certify_rate(
                    case := RateProblem(algorithm(text), steps, float(size), 1.0, STRONG_CONVEXITY)
                )
            except BoundsError:  # too large a step
                continue
            floor, place = certified.bounds[-1].floor, (title, x_name, float(x))
            proved = all(s.proof is not None for s in certified.bounds)
            more: dict[str, Any] = {"quadratics": certified.quadratics, "floor": floor, "proved": proved}
            rows.append(_row(label, *place, PANELS[0], _halving(certified.contraction), certified.contraction, **more))
            if floor > 0 and ("local steps" in x_name or x >= FLOORS_FROM):
                rows.append(_row(label, *place, PANELS[1], floor, certified.contraction, **more))
            for best in theorem_rates(case)[:1]:
                rate = best.contraction
                rows.append(_row(f"{label}{THEOREM}", *place, PANELS[0], _halving(rate), rate, best.bound))
    order = sorted({row["panel"] for row in rows}, key=lambda name: (PANELS[0] not in name, "local steps" not in name))
    rows.sort(key=lambda row: order.index(row["panel"]))
    caption = (
        "No runs: the smallest contraction of the squared distance to the minimiser that is certified over all smooth, "
        f"strongly convex clients (L = 1, mu = {STRONG_CONVEXITY:g}), any number of them, full gradients, all taking "
        "part, for every number of rounds; and the least certified floor, by the clients' mean squared gradient at the "
        "minimiser (SCAFFOLD has none). Curves end where nothing is certified; floors begin at step sizes of "
        f"{FLOORS_FROM:g}/L, below which the solver finds none that are tight. Dots: the best rate that a published "
        "theorem states of the method, where its conditions allow the step size (FedInit's count clients: at two); "
        "there is none for FedProx, FedAvgM and FedCM."
    )
    places = [row for row in rows if row["y_name"] == PANELS[0] and not row["bound"]]
    met = [row for row in places if row["contraction"] - row["quadratics"] <= SAME * (1 - row["quadratics"])]
    others = ", ".join(sorted({str(row["curve"]) for row in places if row not in met}))
    why = f"so at {len(met)} of {len(places)} places{f'; above: {others}' if others else ''}"
    words = "every certified contraction is the best possible: two quadratics contract no faster"
    return Content(caption, rows, findings=[exact_finding(words, len(met) == len(places), why, False)])


def _row(
    curve: str, title: str, x_name: str, x: float, y_name: str, y: float, contraction: float,
    bound: str = "", **certificate: Any,
) -> dict[str, Any]:  # fmt: skip
    """Return a point of one panel: a certified rate with its ``certificate``, or that of the published ``bound``."""
    shared = {"x_name": x_name, "curve": curve, "x": x, "error": math.nan, "contraction": contraction, "bound": bound}
    shared |= {"quadratics": math.nan, "floor": math.nan, "proved": False, **certificate}
    return {**shared, "panel": f"{y_name}, {title}", "y_name": y_name, "y": y}


def _halving(contraction: float) -> float:
    return math.log(2) / -math.log(contraction)


def _look(label: str) -> LineStyle:
    """Return the style of a method's curve, or of the dots of the theorems on it."""
    method = label.removesuffix(THEOREM)
    own = line_style(method.partition(" ")[0], list(METHODS).index(method))
    return replace(own, mark="") if method == label else LineStyle(own.colour, ":", ".", 1)


draw = meaning_drawing(_look, Axis("", log=True), Axis("", log=True), legend_lines=2)
