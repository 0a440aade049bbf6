"""Weakened assumptions: exact instances that meet all hypotheses of a statement but one.

Proofs use hypotheses that statements may leave implicit. A statement that fails under a weakened assumption is not
refuted: it fails *if read without* the hypothesis, and the case shows where the proof uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

from bounds.core import Bound

from .client_groups import by_group, of_groups
from .exact import evaluate_exactly, Exactly, RATIONAL

Values = Mapping[str, Any]
ONE = Fraction(1)


@dataclass(frozen=True)
class WeakenedAssumption:
    """Instances without one hypothesis; ``cases`` yields a description and the values by quantity of each."""

    without: str
    cases: Callable[[], Iterator[tuple[str, Values]]]


@dataclass(frozen=True)
class Case:
    """A statement at the case of a weakened assumption where it is violated most, in exact arithmetic."""

    without: str
    words: str
    exact: Exactly

    @property
    def text(self) -> str:
        """A line of text."""
        result = "FAILS" if self.exact.violated else "not refuted either"
        return f"read without {self.without}: {result}, measured/bound {self.exact.ratio:.3g} ({self.words})"


def _learned(clients: int, gap: Any, local: Any, apart: Any) -> Values:
    """Return the quantities of one round of learning with equal clients."""
    kinds = of_groups([clients], [ONE])
    return {**kinds, "generalization_gap": gap, "local_gap": [local], "non_iidness": [apart], "smoothness": ONE,
            "strong_convexity": ONE}  # fmt: skip


def _predictions() -> Iterator[tuple[str, Values]]:
    """Prediction theta^2, loss half its squared distance to a label 1 with probability m, else 0; one sample each."""
    for clients, m in ((2, Fraction(9, 10)), (5, Fraction(49, 50)), (100, Fraction(999, 1000))):
        law = [(Fraction(s, clients), comb(clients, s) * m**s * (1 - m) ** (clients - s)) for s in range(clients + 1)]
        gap = sum(p * x * x * (x - m) for x, p in law)
        apart = sum(p * (x * (x * x - 1) ** 2 + (1 - x) * x**4) for x, p in law) / 2
        yield f"{clients} clients, one label each, 1 with probability {m}", _learned(clients, gap, m * (1 - m), apart)


def _boundary() -> Iterator[tuple[str, Values]]:
    """The mean of n fair coins, clipped to [-r, r]: the minimiser of half the squared distance lies on the boundary."""
    for clients, n, r in ((2, 2, Fraction(1, 4)), (3, 4, Fraction(1, 2))):
        law = [(Fraction(2 * s - n, n), Fraction(comb(n, s), 2**n)) for s in range(n + 1)]
        clipped = [(x, max(-r, min(r, x)), p) for x, p in law]
        local, square = sum(p * w * x for x, w, p in clipped), sum(p * w * w for _, w, p in clipped)
        apart = (1 - Fraction(1, clients)) * (local - square / 2)
        yield f"{clients} clients, {n} fair coins +-1, |w| <= {r}", _learned(clients, local / clients, local, apart)


def _copied() -> Iterator[tuple[str, Values]]:
    """All clients hold the same n samples of variance 1."""
    for clients, n in ((2, 1), (10, 3), (100, 1)):
        local = Fraction(1, n)
        yield f"{clients} clients with the same {n} samples of variance 1", _learned(clients, local, local, 0 * ONE)


def _common() -> Iterator[tuple[str, Values]]:
    """One step of all clients w^2/2 from the minimum, with the same noise of variance 1 for all."""
    step = Fraction(1, 4)
    for clients in (2, 10, 1000):
        run = {"next_distance_sq": step**2, "distance_sq": 0 * ONE, "step_size": step, "local_steps": 1}
        yield f"{clients} clients, one step of 1/4, one noise of variance 1 for all", {
            **of_groups([clients], [ONE]), **run, "cohort": clients, "smoothness": ONE, "strong_convexity": ONE,
            "client_gradient_variance": [ONE], "grad_cap_sq": ONE, "heterogeneity": 0 * ONE,
        }  # fmt: skip


def _one_batch() -> Iterator[tuple[str, Values]]:
    """K steps of a client w^2/2 from the minimum, the noise of variance 1 drawn once for all of them."""
    for steps in (2, 5, 50, 200):
        eta = Fraction(35, 99 * steps)  # just below 1/(2 sqrt(2) K)
        left = [(1 - eta) ** j for j in range(steps)]
        drift = sum((1 - a) ** 2 for a in left)
        mean, path = sum(left) / steps, sum(1 - a for a in left) / steps
        yield f"{steps} steps of 35/{99 * steps} with one mini-batch of variance 1", {
            **of_groups([1], [ONE]), "cohort": 1, "local_steps": steps, "step_size": eta, "relaxation": 0 * ONE,
            "smoothness": ONE, "gradient_variance": ONE, "client_gradient_variance": [ONE], "divergence": 0 * ONE,
            "grad_norm_sq": 0 * ONE, "dissimilarity_offset": 0 * ONE, "dissimilarity_factor": ONE,
            "local_drift": drift, "mean_update_sq": mean**2, "mean_path_gradient_sq": path**2,
        }  # fmt: skip


WEAKENED_ASSUMPTIONS = (
    WeakenedAssumption("convexity in the parameters (convex in the prediction only)", _predictions),
    WeakenedAssumption("minimisers that are stationary points (theirs lie on a boundary)", _boundary),
    WeakenedAssumption("samples that are independent over clients (all hold the same)", _copied),
    WeakenedAssumption("noise that is independent over clients (theirs is common)", _common),
    WeakenedAssumption("noise that is independent over local steps (one mini-batch serves all)", _one_batch),
)


def weakened(bound: Bound) -> list[Case]:
    """Return the worst case of the bound under every weakened assumption whose instances have its quantities."""
    if bound.relation != "<=" or bound.given:
        return []
    grouped = by_group(bound)
    names = {q.name for q in grouped.quantities} | {bound.target.name}
    worst_cases = []
    for weaker in WEAKENED_ASSUMPTIONS:
        cases = []
        for words, values in weaker.cases():
            if names <= {*values}:
                exact = evaluate_exactly(grouped, values, values[bound.target.name], (), RATIONAL)
                cases.append(Case(weaker.without, words, exact))
        if admissible := [case for case in cases if not case.exact.failed]:
            worst_cases.append(max(admissible, key=lambda case: case.exact.ratio))
    return worst_cases
