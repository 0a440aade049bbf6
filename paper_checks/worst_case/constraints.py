"""The constraints that a theorem's assumptions make, beyond those of the function class, by the assumed quantity.

Most are exact. Assumptions about all models are relaxed to the models of the run that are evaluated: this admits more
federations than the theorem covers, so the worst case is then an upper estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from .formulation import Formulation, PointEvaluation
from .packed import Array
from .program import Constraint

Values = Mapping[str, float]
Row = tuple[Array, tuple[str, ...]]
"""The form that is limited, and the names of the evaluations that it is about."""


class Assumption(NamedTuple):
    """The forms that a quantity limits."""

    rows: Callable[[Formulation, Values], Iterable[Row]]
    relaxed: str = ""
    """How the constraints are weaker than the assumption; empty if they are exact."""
    convex: bool = False
    """Whether the assumption needs convex functions."""
    power: int | None = None
    """The limit is a squared length times this power of L. None: the limit is 0, and the quantity is in the form."""


def limits(quantity: str, f: Formulation, values: Values) -> list[Constraint]:
    """Return the constraints of the assumption on a quantity."""
    limit = values[quantity] if ASSUMPTIONS[quantity].power is not None else 0.0
    return [Constraint(quantity, row, limit, points) for row, points in ASSUMPTIONS[quantity].rows(f, values)]


def common(f: Formulation) -> list[PointEvaluation]:
    """Return the evaluations with all clients at the same model: the server models and those that the metric needs."""
    for round_ in range(len(f.run.server)):
        f.server(round_)
    return [e for e in f.evaluations if e.shared]


def _single(row: Callable[[Formulation], Array]) -> Callable[[Formulation, Values], Iterable[Row]]:
    return lambda f, values: [(row(f), ())]


def _divergence(f: Formulation, values: Values) -> Iterable[Row]:
    """Limit the divergence before the last round; it is 0 before the first one."""
    if len(f.run.path) > 1:
        yield f.square(f.points(f.run.path[-2][:, -1] - f.run.server[-2])), ()


def _dissimilarity(f: Formulation, values: Values) -> Iterable[Row]:
    factor = values.get("dissimilarity_factor", 1.0)
    return [(f.square(e.gradients) - factor * f.global_gradient_sq(e), (e.name,)) for e in common(f)]


def _uniform(f: Formulation, values: Values) -> Iterable[Row]:
    for e in common(f):
        for g, mean in zip(e.gradients, f.mean(e.gradients), strict=True):
            yield f.inner(g - mean, g - mean), (e.name,)


def _gradients(f: Formulation, values: Values) -> Iterable[Row]:
    return [(f.inner(g, g), (e.name,)) for e in f.along_run for g in e.gradients]


def _polyak(f: Formulation, values: Values) -> Iterable[Row]:
    return [(2 * values["pl_constant"] * f.gap(e) - f.global_gradient_sq(e), (e.name,)) for e in common(f)]


def lower_bounded(f: Formulation) -> list[Constraint]:
    """Return the constraints that inf F is at most what a step of 1/L from any visited model reaches."""
    rows = [(f.global_gradient_sq(e) / (2 * f.smoothness) - f.gap(e), e.name) for e in common(f)]
    return [Constraint("class", row, points=(name,)) for row, name in rows]


VISITED = "holds at the visited models, not at all"

ASSUMPTIONS: dict[str, Assumption] = {
    "initial_distance_sq": Assumption(_single(lambda f: f.square(f.server(0).points)), convex=True, power=0),
    "initial_gap": Assumption(_single(lambda f: f.gap(f.server(0))), power=1),
    "grad_norm_sq": Assumption(_single(lambda f: f.global_gradient_sq(f.server(len(f.run.path) - 1))), power=2),
    "divergence": Assumption(_divergence, power=0),
    "distance_sq": Assumption(_single(lambda f: f.square(f.points(f.averages[-2]))), convex=True, power=0),
    "optimum_dissimilarity": Assumption(_single(lambda f: f.square(f.optimum.gradients)), convex=True, power=2),
    "heterogeneity": Assumption(_single(lambda f: -f.loss(f.own_minima)), convex=True, power=1),  # F* is 0
    "dissimilarity_offset": Assumption(_dissimilarity, f"gradient dissimilarity {VISITED}", power=2),
    "uniform_dissimilarity": Assumption(_uniform, f"uniform gradient dissimilarity {VISITED}", power=2),
    "grad_cap_sq": Assumption(_gradients, power=2),
    "pl_constant": Assumption(_polyak, f"the Polyak-Lojasiewicz inequality {VISITED}"),
}
LATE = ("grad_norm_sq", "divergence", "distance_sq")
"""Assumptions about the model before the last round or iteration."""
LOWER = "F stays above inf F where a step of 1/L from a visited model leads, not everywhere"
OTHER_QUANTITIES = ("smoothness", "strong_convexity", "dissimilarity_factor")
"""Assumed quantities that belong to the function class or to another assumption."""


def length_sq(values: Values) -> float:
    """Return the largest squared length that the assumptions bound, in the units of L."""
    L, lengths = values["smoothness"], []
    for quantity, value in values.items():
        power = ASSUMPTIONS[quantity].power if quantity in ASSUMPTIONS else None
        if power is not None and value > 0:
            lengths.append(value / L**power)
    return max(lengths, default=1.0)
