"""The constraints that a theorem's assumptions make, beyond those of the function class, by the assumed quantity.

Most are exact. Assumptions about all models are relaxed to the models of the run that are evaluated: this admits more
federations than the theorem covers, so the worst case is then an upper estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from .gram import Gram, PointEvaluation
from .problem import ASSUMPTIONS
from .program import Array, Constraint

Values = Mapping[str, float]
Row = tuple[Array, tuple[str, ...]]
"""The form that is limited, and the names of the evaluations that it is about."""


Inequalities = Callable[[Gram, Values], Iterable[Row]]


def limits(quantity: str, gram: Gram, values: Values) -> list[Constraint]:
    """Return the constraints of the assumption on a quantity."""
    limit = values[quantity] if ASSUMPTIONS[quantity].power is not None else 0.0
    return [Constraint(quantity, row, limit, points) for row, points in INEQUALITIES[quantity](gram, values)]


def common(gram: Gram) -> list[PointEvaluation]:
    """Return the evaluations with all clients at the same model: the server models and those that the metric needs."""
    for round_ in range(len(gram.run.server)):
        gram.server(round_)
    return [e for e in gram.evaluations if e.shared]


def _single(row: Callable[[Gram], Array]) -> Inequalities:
    return lambda gram, values: [(row(gram), ())]


def _divergence(gram: Gram, values: Values) -> Iterable[Row]:
    """Limit the divergence before the last round; it is 0 before the first one."""
    if len(gram.run.path) > 1:
        yield gram.square(gram.points(gram.run.path[-2][:, -1] - gram.run.server[-2])), ()


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
    return [Constraint("class", row, points=(name,)) for row, name in rows]


INEQUALITIES: dict[str, Inequalities] = {
    "initial_distance_sq": _single(lambda gram: gram.square(gram.server(0).points)),
    "initial_gap": _single(lambda gram: gram.gap(gram.server(0))),
    "grad_norm_sq": _single(lambda gram: gram.global_gradient_sq(gram.server(len(gram.run.path) - 1))),
    "divergence": _divergence,
    "distance_sq": _single(lambda gram: gram.square(gram.points(gram.averages[-2]))),
    "optimum_dissimilarity": _single(lambda gram: gram.square(gram.optimum.gradients)),
    "heterogeneity": _single(lambda gram: -gram.loss(gram.own_minima)),  # F* is 0
    "dissimilarity_offset": _dissimilarity,
    "uniform_dissimilarity": _uniform,
    "grad_cap_sq": _gradients,
    "pl_constant": _polyak,
}
"""By assumed quantity, the forms that are at most its limit."""


def length_sq(values: Values) -> float:
    """Return the largest squared length that the assumptions bound, in the units of L."""
    L, lengths = values["smoothness"], []
    for quantity, value in values.items():
        power = ASSUMPTIONS[quantity].power if quantity in ASSUMPTIONS else None
        if power is not None and value > 0:
            lengths.append(value / L**power)
    return max(lengths, default=1.0)
