"""Any bound on a run, held against exact expectations: quadratic clients, every cohort and all noise averaged out.

Nothing here knows a bound's name: the target's word and the statistic say what to read off the run, conditions choose
the step size, and constants that only the proof speaks of are chosen so that the bound is smallest.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bounds.core import Bound
from bounds.errors import NoMinimumError, NoSolutionError, OutsideConditionsWarning
from bounds.showing.usage import Parser, writable_folder
from empirics.algorithms.algorithm import Algorithm
from empirics.errors import EmpiricsError
from empirics.exact import ExactRun
from empirics.numbers import check_words, real_word, whole_word
from empirics.problems.quadratics import Quadratics, random_quadratics
from empirics.progress import progress
from empirics.sizes import NUMBER, refuse_beyond_memory, ROW
from empirics.training.setting import Setting

from ..runs import readings
from ..runs.methods import method
from ..runs.readings import facts
from ..runs.words import free
from .core import standing, Verdict

ROUNDING = 1e-9
"""Relative difference that floating-point arithmetic may make in an exact comparison."""


@dataclass(frozen=True)
class Compared:
    """Bound and exact value, one per round or a single one; NaN where the theorem is silent."""

    bound: np.ndarray
    formula: np.ndarray
    exact: np.ndarray
    values: Mapping[str, Any]
    outside: bool
    """Whether the run breaks an assumption, so that it says nothing about the statement."""

    @property
    def verdicts(self) -> list[Verdict]:
        """Exact values leave no doubt but rounding; where the theorem is silent nothing is decided."""
        return [self._verdict(b, e) for b, e in zip(self.bound, self.exact, strict=True)]

    def _verdict(self, bound: float, exact: float) -> Verdict:
        if self.outside or np.isnan(bound):
            return Verdict.UNDECIDED
        return Verdict.HOLDS_HERE if exact <= bound * (1 + ROUNDING) else Verdict.VIOLATED


def compare(bound: Bound, problem: Quadratics, setting: Setting, beta: float) -> Compared:
    """Run what the bound is about and put the bound beside the exact value of its target."""
    made = about(bound, beta)
    trajectory = ExactRun(problem, made, setting).run()
    values = readings.values(problem, setting, beta, trajectory)
    values |= _best(bound, values)
    used = {q.name: values[q.name] for q in bound.quantities}
    exact = np.atleast_1d(readings.target(bound, trajectory, setting.step_size))
    at = np.broadcast_to(np.atleast_1d(bound(**used)), exact.shape)
    formula = np.broadcast_to(np.atleast_1d(bound.formula(**used)), exact.shape)
    return Compared(at, formula, exact, values, breaks(bound, problem, made, setting))


def breaks(bound: Bound, problem: Quadratics, made: Algorithm, setting: Setting) -> bool:
    """Whether a predicate says that an assumption of the bound is not met."""
    known = facts(problem, setting)
    assumed = (c.assumption for c in bound.conditions if c.assumption is not None)
    return any(a.holds(problem, made, known) is False for a in assumed)


def about(bound: Bound, relaxation: float) -> Algorithm:
    """What the bound is about, on losses that no samples make."""
    return method(bound.about, data=False, relaxation=relaxation)


def _best(bound: Bound, values: Mapping[str, Any]) -> dict[str, float]:
    """The proof's own constants where they make the bound smallest."""
    for name in free(bound):
        scalars = {q.name: values[q.name] for q in bound.quantities if q.name != name}
        worst = {k: np.max(v) if np.ndim(v) and k != "client_weight" else v for k, v in scalars.items()}
        return {name: float(np.asarray(bound.minimize(name, **worst).at))}
    return {}


@dataclass(frozen=True)
class ExactValidation:
    """``fedbounds validate NAME`` for a bound on a run: random quadratics inside its conditions."""

    bound: Bound

    @property
    def words(self) -> str:
        return "exact expectations on random quadratic clients, inside the conditions"

    def main(self, arguments: list[str], draw: Any = None) -> int:
        """Run from command-line arguments, print a table and write a CSV; 0 holds, 1 violated."""
        options = _options(self.bound, arguments)
        if options is None:
            return 0
        lines: list[list[str]] = []
        found: list[Verdict] = []
        assumed: tuple[str, ...] = ()
        _refuse_sizes(options)
        writable_folder("--out", options.out)
        with progress() as bar:
            bar.start(options.instances)
            for seed in range(options.instances):
                bar.doing(f"instance {seed}")
                problem = random_quadratics(seed, options.clients, options.dim, noise=options.noise)
                setting, compared = self.inside(problem, options)
                made = about(self.bound, options.relaxation)
                assumed = standing(self.bound, problem, made, facts(problem, setting))
                found += compared.verdicts
                lines += _lines(seed, setting, compared)
                bar.step()
        _show(self.bound, lines, found, assumed)
        path = options.out / f"{self.bound.name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([COLUMNS, *lines])
        print(f"wrote {path}")
        return int(Verdict.VIOLATED in found)

    def inside(self, problem: Quadratics, options: argparse.Namespace) -> tuple[Setting, Compared]:
        """The comparison at the largest step size of a geometric sequence at which no condition fails."""
        given = options.step_size is not None
        step_size = options.step_size if given else 1 / problem.smoothness
        cohort = self._cohort(problem, options) if options.cohort is None else options.cohort
        while True:
            setting = Setting(options.rounds, cohort, local_steps=options.local_steps, step_size=step_size)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", OutsideConditionsWarning)
                    compared = compare(self.bound, problem, setting, options.relaxation)
            except (NoSolutionError, NoMinimumError):
                compared = None
            if compared is not None and (given or not np.isnan(compared.bound).any()):
                return setting, compared
            if given or step_size < 1e-9 / problem.smoothness:
                raise EmpiricsError(f"{self.bound.name} is silent at step size {step_size:g}: its conditions fail")
            step_size /= 2

    def _cohort(self, problem: Quadratics, options: argparse.Namespace) -> int:
        """Half of the clients, or all of them where an assumption asks for it."""
        half = max(1, options.clients // 2)
        part = Setting(options.rounds, half, local_steps=options.local_steps)
        return options.clients if breaks(self.bound, problem, about(self.bound, 0.0), part) else half


COLUMNS = ["instance", "step_size", "round", "exact", "bound", "ratio", "verdict"]


def _lines(seed: int, setting: Setting, compared: Compared) -> list[list[str]]:
    per_round = len(compared.exact) > 1
    return [
        [
            str(seed),
            f"{setting.step_size:.3g}",
            str(i + 1) if per_round else "all",
            f"{e:.6g}",
            f"{b:.6g}" if np.isfinite(b) else f"OUTSIDE {f:.6g}",
            f"{(b if np.isfinite(b) else f) / e:.4g}" if e else "-",
            str(verdict),
        ]
        for i, (e, b, f, verdict) in enumerate(
            zip(compared.exact, compared.bound, compared.formula, compared.verdicts, strict=True)
        )
    ]


def _refuse_sizes(options: argparse.Namespace) -> None:
    """Refuse what cannot be held: matrices of all clients, the means of every round, a line per instance."""
    matrices = f"quadratics of {options.clients} clients with {options.dim} parameters"
    refuse_beyond_memory(3 * NUMBER * options.clients * options.dim**2, matrices, "take smaller --clients or --dim")
    rounds = f"following {options.rounds} rounds"
    refuse_beyond_memory(NUMBER * options.rounds * (options.dim + 20), rounds, "take fewer --rounds")
    refuse_beyond_memory(ROW * options.instances, f"{options.instances} instances", "take fewer --instances")


def _show(bound: Bound, lines: list[list[str]], found: list[Verdict], assumed: tuple[str, ...]) -> None:
    from bounds.showing.tables import aligned

    print(f"{bound.name}: {bound.target.name} {bound.relation} bound; {bound.statistic}; {bound.source}")
    for line in assumed:
        print(f"  {line}")
    for text in aligned(lines, COLUMNS):
        print(text)
    count = {v: found.count(v) for v in Verdict if v in found}
    said = ", ".join(f"{n} x {v}" for v, n in count.items())
    print(f"{said}. Exact expectations, no sampling; they speak of these instances only and prove nothing beyond them.")


def _options(bound: Bound, arguments: list[str]) -> argparse.Namespace | None:
    parser = Parser(prog=f"fedbounds validate {bound.name}", description=ExactValidation(bound).words)
    add = parser.add_argument
    add("--instances", type=whole_word, default=3, help="random problems (3)")
    add("--clients", type=whole_word, default=4, help="quadratic clients (4)")
    add("--cohort", type=whole_word, help="clients per round (half, or all where the theorem asks for it)")
    add("--dim", type=whole_word, default=2, help="parameters (2)")
    add("--noise", type=real_word, default=0.3, help="size of the gradient noise (0.3)")
    add("--rounds", type=whole_word, default=5, help="rounds (5)")
    add("--local-steps", type=whole_word, default=3, help="local steps (3)")
    add("--relaxation", type=real_word, default=0.06, help="FedInit's beta (0.06)")
    add("--step-size", type=real_word, help="step size (the largest that meets the conditions, halved from 1/L)")
    add("--out", type=Path, default=Path("out"), metavar="DIR", help="folder of the CSV (./out)")
    try:
        options = parser.parse_args(arguments)
    except SystemExit:
        return None
    check_words(options)
    return options
