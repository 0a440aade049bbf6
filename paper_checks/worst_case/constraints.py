"""What a theorem assumes besides the class, by the vocabulary's words: one or more named constraints each.

Exact ones say all there is to say. Relaxations hold an assumption made at every model to the models that are visited:
they let in more federations than the theorem does, so that a worst case under them is an upper estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from .coordinates import Array
from .formulation import Formulation, PointEvaluation
from .program import Constraint

Values = Mapping[str, float]
Row = tuple[Array, tuple[str, ...]]
"""What is limited, and the models that it speaks of."""


class AssumptionWord(NamedTuple):
    """What a quantity limits; ``relaxed`` says in words what is lost, empty if nothing."""

    rows: Callable[[Formulation, Values], Iterable[Row]]
    relaxed: str = ""
    convex: bool | None = None
    """Whether it needs convex functions (True), others (False) or either (None)."""
    power: int | None = None
    """It limits a squared length times this power of L; None where it is no such size."""


def limits(word: str, f: Formulation, values: Values) -> list[Constraint]:
    """The constraints that an assumption makes."""
    most = values[word] if WORDS[word].power is not None else 0.0
    return [Constraint(word, row, most, of) for row, of in WORDS[word].rows(f, values)]


def common(f: Formulation) -> list[PointEvaluation]:
    """The models that all clients are evaluated at: every server model, and what else the metric evaluates."""
    for round_ in range(len(f.recorded.server)):
        f.server(round_)
    return [e for e in f.evaluations if e.shared]


def _alone(row: Callable[[Formulation], Array]) -> Callable[[Formulation, Values], Iterable[Row]]:
    return lambda f, values: [(row(f), ())]


def _divergence(f: Formulation, values: Values) -> Iterable[Row]:
    """How far the clients' last local models are from the server model; before the first round they are not."""
    if len(f.recorded.path) > 1:
        yield f.square(f.points(f.recorded.path[-2][:, -1] - f.recorded.server[-2])), ()


def _dissimilarity(f: Formulation, values: Values) -> Iterable[Row]:
    factor = values.get("dissimilarity_factor", 1.0)
    return [(f.square(e.gradients) - factor * f.global_gradient(e), (e.name,)) for e in common(f)]


def _uniform(f: Formulation, values: Values) -> Iterable[Row]:
    """Every client's gradient beside the global one, where all are at one model."""
    for e in common(f):
        apart = [g - mean for g, mean in zip(e.gradients, f.mean(e.gradients), strict=True)]
        yield from ((f.of_member(k, g, g), (e.name,)) for k, g in enumerate(apart))


def _gradients(f: Formulation, values: Values) -> Iterable[Row]:
    """Every client's gradients along its own run."""
    return [(f.of_member(k, g, g), (e.name,)) for e in f.walked for k, g in enumerate(e.gradients)]


def _polyak(f: Formulation, values: Values) -> Iterable[Row]:
    return [(2 * values["pl_constant"] * f.gap(e) - f.global_gradient(e), (e.name,)) for e in common(f)]


def lower_bounded(f: Formulation) -> list[Constraint]:
    """inf F is below what a step of 1/L from any visited model reaches."""
    rows = [(f.global_gradient(e) / (2 * f.smoothness) - f.gap(e), e.name) for e in common(f)]
    return [Constraint("class", row, of=(name,)) for row, name in rows]


VISITED = "holds at the visited models, not at all"

WORDS: dict[str, AssumptionWord] = {
    "initial_distance_sq": AssumptionWord(_alone(lambda f: f.square(f.server(0).points)), convex=True, power=0),
    "initial_gap": AssumptionWord(_alone(lambda f: f.gap(f.server(0))), power=1),
    "grad_norm_sq": AssumptionWord(_alone(lambda f: f.global_gradient(f.server(len(f.recorded.path) - 1))), power=2),
    "divergence": AssumptionWord(_divergence, power=0),
    "distance_sq": AssumptionWord(_alone(lambda f: f.square(f.points(f.averages[-2]))), convex=True, power=0),
    "optimum_dissimilarity": AssumptionWord(_alone(lambda f: f.square(f.optimum.gradients)), convex=True, power=2),
    "heterogeneity": AssumptionWord(_alone(lambda f: -f.loss(f.own_minima)), convex=True, power=1),  # F* is 0
    "dissimilarity_offset": AssumptionWord(_dissimilarity, f"gradient dissimilarity {VISITED}", power=2),
    "uniform_dissimilarity": AssumptionWord(_uniform, f"uniform gradient dissimilarity {VISITED}", power=2),
    "grad_cap_sq": AssumptionWord(_gradients, power=2),
    "pl_constant": AssumptionWord(_polyak, f"the Polyak-Lojasiewicz inequality {VISITED}"),
}
LATE = ("grad_norm_sq", "divergence", "distance_sq")
"""Words for where the last round, or iteration, begins."""
LOWER = "F stays above inf F where a step of 1/L from a visited model leads, not everywhere"


def length_sq(values: Values) -> float:
    """The largest squared length that the assumptions bound, in units in which L is what it is."""
    L = values["smoothness"]
    told = [v / L**p for w, v in values.items() if w in WORDS and (p := WORDS[w].power) is not None and v > 0]
    return max(told, default=1.0)


ALSO = ("smoothness", "strong_convexity", "dissimilarity_factor")
