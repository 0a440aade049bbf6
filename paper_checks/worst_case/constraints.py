"""The constraints that a theorem's assumptions make, beyond those of the function class, by the assumed quantity.

Most are exact. Assumptions about all models are relaxed to the models of the run that are evaluated: this admits more
federations than the theorem covers, so the worst case is then an upper estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from .gram import Gram, PointEvaluation
from .program import Array, Constraint

Values = Mapping[str, float]
Row = tuple[Array, tuple[str, ...]]
"""The form that is limited, and the names of the evaluations that it is about."""
Inequalities = Callable[[Gram, Values], Iterable[Row]]


class Limit(NamedTuple):
    """What the assumed limit of a quantity means for the program."""

    inequalities: Inequalities
    """The forms that are at most the limit."""
    power: int | None
    """The limit is a squared length times this power of L. None: it is a factor within the inequality."""
    convex: bool = False
    """Whether the assumption needs convex functions."""
    late: bool = False
    """Whether it is about the model before the last round or iteration."""
    relaxed: str = ""
    """How the inequalities are weaker than the assumption; empty if they are exact."""


def common(gram: Gram) -> list[PointEvaluation]:
    """Return the evaluations with all clients at one model: the server models, added if new, and the metric's."""
    for round_ in range(len(gram.run.server)):
        gram.server(round_)
    return [e for e in gram.evaluations if e.shared]


def _single(row: Callable[[Gram], Array]) -> Inequalities:
    return lambda gram, values: [(row(gram), ())]


def _divergence(gram: Gram, values: Values) -> Iterable[Row]:
    """Limit the divergence before the last round; it is 0 before the first one."""
    if len(gram.run.paths) > 1:
        yield gram.square(gram.points(gram.run.paths[-2][:, -1] - gram.run.server[-2])), ()


def _dissimilarity(gram: Gram, values: Values) -> Iterable[Row]:
    factor = values.get("dissimilarity_factor", 1.0)
    return [(gram.square(e.gradients) - factor * gram.global_gradient_sq(e), (e.name,)) for e in common(gram)]


def _uniform(gram: Gram, values: Values) -> Iterable[Row]:
    for e in common(gram):
        for g, mean in zip(e.gradients, gram.mean(e.gradients), strict=True):
            yield gram.inner(g - mean, g - mean), (e.name,)


def _gradients(gram: Gram, values: Values) -> Iterable[Row]:
    return [(gram.inner(g, g), (e.name,)) for e in gram.along_run for g in e.gradients]


def _polyak(gram: Gram, values: Values) -> Iterable[Row]:
    return [(2 * values["pl_constant"] * gram.gap(e) - gram.global_gradient_sq(e), (e.name,)) for e in common(gram)]


def lower_bounded(gram: Gram) -> list[Constraint]:
    """Return the constraints that inf F is at most what a step of 1/L from any visited model reaches."""
    rows = [(gram.global_gradient_sq(e) / (2 * gram.smoothness) - gram.gap(e), e.name) for e in common(gram)]
    return [Constraint("lower", row, points=(name,)) for row, name in rows]


VISITED = "holds at the visited models, not at all"
LIMITS = {
    "initial_distance_sq": Limit(_single(lambda gram: gram.square(gram.server(0).points)), 0, convex=True),
    "initial_gap": Limit(_single(lambda gram: gram.gap(gram.server(0))), 1),
    "grad_norm_sq": Limit(
        _single(lambda gram: gram.global_gradient_sq(gram.server(len(gram.run.paths) - 1))), 2, late=True
    ),
    "divergence": Limit(_divergence, 0, late=True),
    "distance_sq": Limit(_single(lambda gram: gram.square(gram.points(gram.averages[-2]))), 0, convex=True, late=True),
    "optimum_dissimilarity": Limit(_single(lambda gram: gram.square(gram.optimum.gradients)), 2, convex=True),
    "heterogeneity": Limit(_single(lambda gram: -gram.loss(gram.own_minima)), 1, convex=True),  # F* is 0
    "dissimilarity_offset": Limit(_dissimilarity, 2, relaxed=f"gradient dissimilarity {VISITED}"),
    "uniform_dissimilarity": Limit(_uniform, 2, relaxed=f"uniform gradient dissimilarity {VISITED}"),
    "grad_cap_sq": Limit(_gradients, 2),
    "pl_constant": Limit(_polyak, None, relaxed=f"the Polyak-Lojasiewicz inequality {VISITED}"),
}
"""Quantities that a problem may limit, besides those of the function class."""


def constraints_on(quantity: str, gram: Gram, values: Values) -> list[Constraint]:
    """Return the constraints of the assumed limit of a quantity."""
    limit = LIMITS[quantity]
    most = values[quantity] if limit.power is not None else 0.0
    return [Constraint(quantity, row, most, points) for row, points in limit.inequalities(gram, values)]


def length_sq(values: Values) -> float:
    """Return the largest squared length that the assumptions bound, in the units of L."""
    L, powers = values["smoothness"], {quantity: LIMITS[quantity].power for quantity in values if quantity in LIMITS}
    lengths = [values[name] / L**power for name, power in powers.items() if power is not None and values[name] > 0]
    return max(lengths, default=1.0)
