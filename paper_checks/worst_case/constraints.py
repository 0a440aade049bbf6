"""What a theorem assumes besides the class, by the vocabulary's words: one or more named constraints each.

Exact ones say all there is to say. Relaxations hold an assumption made at every model to the models that are visited:
they let in more federations than the theorem does, so that a worst case under them is an upper estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from .coordinates import Array
from .formulation import Formulation, PointEvaluation
from .program import Constraint

Values = Mapping[str, float]


class AssumptionWord(NamedTuple):
    """How a quantity limits a federation; ``relaxed`` says in words what is lost, empty if nothing."""

    constraints: Callable[[Formulation, Values], list[Constraint]]
    relaxed: str = ""
    convex: bool | None = None
    """Whether it needs convex functions (True), others (False) or either (None)."""
    power: int | None = None
    """It limits a squared length times this power of L; None where it is no such size."""


def common(f: Formulation) -> list[PointEvaluation]:
    """The models that all clients are evaluated at: every server model, and what else the metric looks at."""
    for round_ in range(len(f.recorded.server)):
        f.server(round_)
    return [e for e in f.evaluations if e.shared]


# ---- where the run begins ----


def _distance(f: Formulation, values: Values) -> list[Constraint]:
    start = f.server(0)
    return [Constraint("initial_distance_sq", f.square(start.points), values["initial_distance_sq"])]


def _initial_gap(f: Formulation, values: Values) -> list[Constraint]:
    return [Constraint("initial_gap", f.gap(f.server(0)), values["initial_gap"])]


# ---- where its last round (or last iteration) begins: statements about any round, or any iteration ----


def _grad_norm(f: Formulation, values: Values) -> list[Constraint]:
    at = f.server(len(f.recorded.path) - 1)
    return [Constraint("grad_norm_sq", f.global_gradient(at), values["grad_norm_sq"])]


def _divergence(f: Formulation, values: Values) -> list[Constraint]:
    """How far the clients' last local models are from the server model; before the first round they are not."""
    if len(f.recorded.path) < 2:
        return []
    apart = f.points(f.recorded.path[-2][:, -1] - f.recorded.server[-2])
    return [Constraint("divergence", f.square(apart), values["divergence"])]


def _before_last(f: Formulation, values: Values) -> list[Constraint]:
    place = f.points(f.averages[-2])
    return [Constraint("distance_sq", f.square(place), values["distance_sq"])]


# ---- how unlike the clients are ----


def _optimum(f: Formulation, values: Values) -> list[Constraint]:
    return [Constraint("optimum_dissimilarity", f.square(f.optimum.gradients), values["optimum_dissimilarity"])]


def _heterogeneity(f: Formulation, values: Values) -> list[Constraint]:
    """``F* - mean min f_i <= Gamma``; F* is 0."""
    return [Constraint("heterogeneity", -f.loss(f.own_minima), values["heterogeneity"])]


def _dissimilarity(f: Formulation, values: Values) -> list[Constraint]:
    factor, offset = values.get("dissimilarity_factor", 1.0), values["dissimilarity_offset"]
    rows = [(e.name, f.square(e.gradients) - factor * f.global_gradient(e)) for e in common(f)]
    return [Constraint("dissimilarity_offset", row, offset, of=(name,)) for name, row in rows]


def _uniform(f: Formulation, values: Values) -> list[Constraint]:
    """Every client's gradient beside the global one, where all are at one model."""
    found = []
    for e in common(f):
        apart = [g - mean for g, mean in zip(e.gradients, f.mean(e.gradients), strict=True)]
        found += [
            Constraint("uniform_dissimilarity", f.of_member(k, g, g), values["uniform_dissimilarity"], of=(e.name,))
            for k, g in enumerate(apart)
        ]
    return found


def _gradients(f: Formulation, values: Values) -> list[Constraint]:
    """Every client's gradients along its own run."""
    found = []
    for e in f.walked:
        found += [
            Constraint("grad_cap_sq", f.of_member(k, g, g), values["grad_cap_sq"], of=(e.name,))
            for k, g in enumerate(e.gradients)
        ]
    return found


# ---- F ----


def _polyak(f: Formulation, values: Values) -> list[Constraint]:
    mu = values["pl_constant"]
    return [Constraint("pl_constant", 2 * mu * f.gap(e) - f.global_gradient(e), of=(e.name,)) for e in common(f)]


def lower_bounded(f: Formulation) -> list[Constraint]:
    """inf F is below what a step of 1/L from any visited model reaches."""

    def row(e: PointEvaluation) -> Array:
        found: Array = f.global_gradient(e) / (2 * f.smoothness) - f.gap(e)
        return found

    return [Constraint("class", row(e), of=(e.name,)) for e in common(f)]


VISITED = "holds at the visited models, not at all"

WORDS: dict[str, AssumptionWord] = {
    "initial_distance_sq": AssumptionWord(_distance, convex=True, power=0),
    "initial_gap": AssumptionWord(_initial_gap, power=1),
    "grad_norm_sq": AssumptionWord(_grad_norm, power=2),
    "divergence": AssumptionWord(_divergence, power=0),
    "distance_sq": AssumptionWord(_before_last, convex=True, power=0),
    "optimum_dissimilarity": AssumptionWord(_optimum, convex=True, power=2),
    "heterogeneity": AssumptionWord(_heterogeneity, convex=True, power=1),
    "dissimilarity_offset": AssumptionWord(_dissimilarity, f"gradient dissimilarity {VISITED}", power=2),
    "uniform_dissimilarity": AssumptionWord(_uniform, f"uniform gradient dissimilarity {VISITED}", power=2),
    "grad_cap_sq": AssumptionWord(_gradients, power=2),
    "pl_constant": AssumptionWord(_polyak, f"the Polyak-Lojasiewicz inequality {VISITED}"),
}
LATE = ("grad_norm_sq", "divergence", "distance_sq")
"""Words that speak of where the last round, or iteration, begins."""
LOWER = "F stays above inf F where a step of 1/L from a visited model leads, not everywhere"


def length_sq(values: Values) -> float:
    """The largest squared length that the assumptions speak of, in units in which L is what it is."""
    L = values["smoothness"]
    told = [v / L**p for w, v in values.items() if w in WORDS and (p := WORDS[w].power) is not None and v > 0]
    return max(told, default=1.0)


ALSO = ("smoothness", "strong_convexity", "dissimilarity_factor")
