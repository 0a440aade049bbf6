"""Proofs of worst cases from both sides: a bound for every federation, and a federation that nearly attains it.

The bound: the solver's multipliers are rounded, function values are made to cancel exactly, and what the inequalities
leave is shown to be a sum of squares in integers. Rounding keeps it definite, as the multipliers are from the interior
of the dual.

The federation: a solver's solution slightly violates its inequalities, and so do fractions close to it. It is therefore
mixed with a point strictly inside the class, an early one of the solver's path, in the smallest share that satisfies
them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import floor, frexp, log2
from typing import Any

import numpy as np

from empirics.exact.numbers import fraction

from ..runs.origins import ITERATION
from . import verify
from .exact import BITS, square_factor
from .formulation import formulate
from .interior_point import follow_path, optimum
from .methods import check_steps, method_and_parameter
from .objectives import metric_series
from .problem import WorstCaseProblem
from .program import Array, pack, Program, Solution, trim, unpack_blocks, used_unknowns, WorstCaseError

GAPS = (3e-8, 1e-6, 1e-5)
"""Relative duality gaps that are tried in turn until a proof is accepted."""
DIGITS = 60
"""Binary digits of a multiplier, relative to the largest."""
FEW = 38
"""Binary digits of a factor that are tried first."""
ROUNDING = 4e-15
"""Allowance for rounding errors in an inequality, relative to the sum of its terms' absolute values."""
MORE = (1e-9, 1e-8, 1e-7)
"""Shares of the inner point that are added in turn while the fractions still violate an inequality."""
COORDINATE_DIGITS = 54
"""Binary digits of the coordinates of the shortest vector."""


@dataclass(frozen=True, eq=False)
class Certificate:
    """A proved ``bound`` for every federation of a problem's class.

    ``value`` is the worst case in floats, ``content`` the proof file. ``open_below`` is the reason why the file
    contains no federation that nearly attains the bound, or an empty string.
    """

    value: float
    bound: Fraction
    content: dict[str, Any]
    open_below: str = ""

    @property
    def attained(self) -> Fraction | None:
        """The value that the federation of the proof attains; None if it contains none."""
        return Fraction(self.content["attained"]["value"]) if "attained" in self.content else None

    @property
    def width(self) -> float:
        """The length of the proved interval relative to its upper end; 1 if only that end is proved."""
        if not self.bound:
            return 0.0
        return float(1 - (self.attained or Fraction(0)) / self.bound)


def certify(problem: WorstCaseProblem, value: float) -> Certificate:
    """Return a proof of the worst case, whose value in floats is given; it has been accepted by the verifier.

    Raises ``WorstCaseError`` with the reason if there is no proof.
    """
    if problem.draws_cohort:
        raise WorstCaseError("certificates need all clients in every round, not drawn cohorts")
    if not problem.symmetric:
        raise WorstCaseError("certificates are made in symmetric coordinates: they hold for any number of clients")
    if problem.statistic.weights is not None:
        raise WorstCaseError("certificates cover means with equal weights, not weighted means")
    if problem.setting.cohort == 1:
        raise WorstCaseError("a single client has no certificate: ask for two, whose mean is any such loss")
    exact = ExactProgram(problem)
    last_error: Exception | None = None
    # an objective that vanishes is solved by ``optimum`` alone
    for solve in (*(() if value else (optimum,)), *(partial(follow_path, gap=gap) for gap in GAPS)):
        try:
            solution = solve(exact.floats)
            certificate = exact.certificate(value, solution)
            verify.check(certificate.content)
        except (WorstCaseError, verify.Refused, ArithmeticError, LookupError, ValueError) as error:
            last_error = error
            continue
        try:
            entry = attained_entry(exact, solution, certificate.content)
        except (WorstCaseError, ArithmeticError, LookupError, ValueError) as error:
            return replace(certificate, open_below=str(error))
        return replace(certificate, content={**certificate.content, "attained": entry})
    raise WorstCaseError(f"no certificate within {GAPS[-1]:g} of the worst case: {last_error}")


class ExactProgram:
    """A problem's program in floats for the solver, and its inequalities in fractions, as the verifier's ``Run``."""

    def __init__(self, problem: WorstCaseProblem) -> None:
        self.gram, whole = formulate(problem)
        columns, values = used_unknowns(whole)
        self.floats = trim(whole)
        own = [f"g{j + 1}" for j in range(self.gram.run.gradients)] + self.gram.labels
        self.vectors = ["start", *own], own
        """The unknown vectors of both blocks, in the order of their columns."""
        self.names = tuple(
            [n for n, used in zip(vectors, mask, strict=True) if used]
            for vectors, mask in zip(self.vectors, columns, strict=True)
        )
        """The unknown vectors of both blocks that the program in floats contains."""
        indices = {e.name: e.value_indices[0] for e in self.gram.evaluations}
        if problem.has_infimum:
            indices["floor"] = self.gram.infimum
        trimmed = {int(v): k for k, v in enumerate(np.flatnonzero(values))}
        self.values = {name: trimmed[v] for name, v in indices.items() if v is not None and v in trimmed}
        self.inequalities = [(c.kind, c.points) for c in self.floats.constraints]
        """The kind and the points of every constraint, as the verifier names them."""
        self.content: dict[str, Any] = {
            "kind": verify.WORST_CASE,
            "claim": claim_of(problem),
            "change": str(Fraction(self.gram.change)),
            "near": self.gram.bases,
        }
        self.run = verify.Run(self.content)
        check_steps(problem.run, self.content["claim"])

    def certificate(self, value: float, solution: Solution) -> Certificate:
        """Return the certificate from the multipliers of a solution, not yet checked."""
        run, indices = self.run, self.run.metric_indices()
        if run.claim["statistic"] == "mean":
            weights = [Fraction(1, len(indices))] * len(indices)
        else:
            weights = [Fraction(max(0, round(float(w) * 2**40)), 2**40) for w in solution.weights]
            weights[int(np.argmax(solution.weights))] += 1 - sum(weights)
        unit = Fraction(2) ** (round(np.log2(max(float(solution.multipliers.max()), 1e-300))) - DIGITS)
        multipliers = [unit * max(0, round(Fraction(float(x)) / unit)) for x in solution.multipliers]
        run.clear()
        for i, weight in zip(indices, weights, strict=True):
            run.add_metric(-weight, i)
        values, products = dict(run.values), dict(run.products)
        self._repair(multipliers, values)
        run.clear()
        run.products |= products
        used = [(m, kind, points) for m, (kind, points) in zip(multipliers, self.inequalities, strict=True) if m]
        bound = sum((run.add_inequality(m, kind, points) for m, kind, points in used), Fraction(0))
        content = self.content | {
            "bound": str(bound),
            "unit": str(unit),
            # integer multiples of the unit, except for those that were repaired
            "multipliers": [[kind, *points, str(m) if m % unit else int(m / unit)] for m, kind, points in used],
            "blocks": [square_factor(run.matrix(block), names, FEW, BITS) for block, names in enumerate(self.vectors)],
            "weights": {str(i): str(weight) for i, weight in zip(indices, weights, strict=True)},
        }
        return Certificate(value, bound, content)

    def _repair(self, multipliers: list[Fraction], goal: Mapping[str, Fraction]) -> None:
        """Change multipliers so that function values cancel exactly, using the point where values are 0."""
        zero = "*" if self.run.convex else self.run.point_at("w0")
        self.run.clear()
        self.run.values |= goal
        for m, inequality in zip(multipliers, self.inequalities, strict=True):
            self.run.add_inequality(m, *inequality)
        residual = {name: x for name, x in self.run.values.items() if x and name != zero}
        if floor := residual.pop("floor", None):  # inf F occurs together with a model: change the largest multiplier
            lower = [i for i, (kind, _) in enumerate(self.inequalities) if kind == "lower"]
            largest = max(lower, key=lambda i: multipliers[i])
            multipliers[largest] -= floor
            name = self.run.point_at(self.inequalities[largest][1][0])
            residual[name] = residual.get(name, Fraction(0)) + floor
            if multipliers[largest] < 0:
                raise WorstCaseError("repairing the function values made a multiplier negative")
        for name, x in residual.items():
            if name != zero:
                multipliers[self.inequalities.index(("class", (name, zero) if x > 0 else (zero, name)))] += abs(x)


def claim_of(problem: WorstCaseProblem) -> dict[str, Any]:
    """Return the claim of a proof of a problem, as the verifier reads it."""
    metric, per = metric_series(problem.metric, problem.statistic)
    method, parameter = method_and_parameter(problem.method)
    given = {name: str(fraction(x)) for name, x in problem.assumptions.items()}
    sizes = [str(fraction(size)) for size in problem.run.step_sizes]
    kind = "last" if problem.statistic.kind == "every" else problem.statistic.kind
    return {
        "method": method,
        "parameter": str(parameter),
        "local_steps": [path.shape[1] - 1 for path in problem.run.paths],
        "step_size": sizes[0] if len(set(sizes)) == 1 else sizes,
        "smoothness": given["smoothness"],
        "strong_convexity": given["strong_convexity"] if problem.convex else None,
        "given": {name: x for name, x in given.items() if name not in ("smoothness", "strong_convexity")},
        "metric": metric,
        "statistic": "whole" if metric in verify.OF_A_RUN else kind,
        "over": "iterations" if per == ITERATION or metric == "consensus_distance" else "rounds",
    }


# ---- the federation ----


def attained_entry(exact: ExactProgram, solution: Solution, content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entry ``attained`` of a proof file with this content, for a federation close to a solution.

    Raises ``WorstCaseError`` if the verifier accepts no federation in fractions.
    """
    program = exact.floats
    rows = np.array([c.row for c in program.constraints])
    limits = np.array([float(c.limit) for c in program.constraints])

    def slack(x: Array) -> Array:
        """Return the slack of every inequality, less the allowance for rounding."""
        slacks: Array = limits - rows @ x - ROUNDING * (np.abs(rows) @ np.abs(x))
        return slacks

    inner, mixture = _semidefinite(program, solution.interior), _semidefinite(program, solution.last_interior)
    inner_slack, violation, reason = slack(inner), -slack(mixture), ""
    violated = violation > 0
    if (inner_slack[violated] <= 0).any():
        raise WorstCaseError("no federation was found strictly inside the class")
    shares = violation[violated] / (violation[violated] + inner_slack[violated])
    for share in (float(shares.max(initial=0.0)), *MORE):
        mixture = (1 - share) * mixture + share * inner
        entry = _in_fractions(exact, mixture)
        try:
            value = verify.attained_value({**content, "attained": entry})
        except verify.Refused as error:
            reason = str(error)
            continue
        return entry | {"value": str(_round_down(value))}
    raise WorstCaseError(f"no federation in fractions: {reason}")


def _semidefinite(program: Program, x: Array) -> Array:
    """Return x with its matrices projected to positive semidefinite ones."""
    spectra = [np.linalg.eigh(gram) for gram in unpack_blocks(x, program.blocks)]
    grams = [pack((axes * np.maximum(spectrum, 0.0)) @ axes.T) for spectrum, axes in spectra]
    return np.concatenate([*grams, x[program.packed :]])


def _in_fractions(exact: ExactProgram, x: Array) -> dict[str, Any]:
    """Return the entry of a point, whose vectors have coordinates that are integer multiples of ``2^-bits``."""
    program, names = exact.floats, exact.names
    spectra = [np.linalg.eigh(gram) for gram in unpack_blocks(x, program.blocks)]
    roots = [np.linalg.qr((axes * np.sqrt(np.maximum(spectrum, 0.0))).T)[1].T for spectrum, axes in spectra]
    lengths = [float(np.linalg.norm(row)) for root in roots for row in root]
    largest = max([*lengths, 0.0])
    shortest = min((x for x in lengths if x > 1e-9 * largest), default=1.0)
    bits = max(0, COORDINATE_DIGITS - floor(log2(shortest)))
    vectors: dict[str, list[list[int]]] = {name: [[], []] for own in names for name in own}
    parts = [part for part, own in enumerate(names) if own]
    for part, root in zip(parts, roots, strict=True):
        for i, (name, row) in enumerate(zip(names[part], root, strict=True)):
            vectors[name][part] = [round(Fraction(float(y)) * 2**bits) for y in row[: i + 1]]
    return {
        "value": "0",
        "bits": bits,
        "dimensions": [len(own) for own in names],
        "vectors": vectors,
        "values": {name: str(Fraction(float(x[program.packed + index]))) for name, index in exact.values.items()},
    }


def _round_down(x: Fraction) -> Fraction:
    """Return a short fraction that is at most x."""
    unit = Fraction(2) ** (frexp(float(x))[1] - 60) if x else Fraction(1)
    return unit * floor(x / unit)
