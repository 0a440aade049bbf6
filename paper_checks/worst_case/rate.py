"""The command ``rate``: the smallest certified contraction per round, as text or as a table, with proof files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import isfinite
from pathlib import Path
from typing import Any

from bounds.errors import BoundsError
from bounds.letters import unknown_quantity
from bounds.showing.files import refuse_foreign, write_whole
from bounds.showing.reading import as_words, read
from bounds.showing.tables import aligned, Tabular
from bounds.showing.usage import UsageError, writable_file
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import Algorithm
from empirics.progress import progress

from .after_rounds import bound_after, Horizon, RoundsBound
from .exact import round_up
from .lyapunov import import_clarabel, NotCertified
from .rate_problem import RateProblem
from .rate_search import certify_rate, Rate, RateBound
from .theorem_rates import theorem_rates, TheoremRate

REQUIRED = ("local_steps", "step_size", "smoothness", "strong_convexity")
START = ("rounds", "initial_distance_sq", "optimum_dissimilarity")
QUANTITIES = (*REQUIRED, "clients", "cohort", "gradient_variance", *START)
"""The quantities of a rate; ``START`` are those of the bound after a number of rounds."""
INTEGERS = ("local_steps", "clients", "cohort", "rounds")
MAX_POINTS = 1000
"""Limit on the points of one table."""
FILES = ("", "-least", "-rounds")
"""Suffixes of the file names of proofs: the fastest rate, the smallest floor, the bound after rounds."""
STATED = ("start_distance", "start_dissimilarity", "floor", "noise_floor", "half")
COLUMNS = ("contraction", "quadratics", "floor", "noise_floor", "least_floor", "half")
COLUMNS_AFTER = ("bound", "worst_case", "instance")
"""The columns of a table, and those about the bound after a number of rounds."""
PROOF_BEGINS = '{"kind":"rate"'
"""How proof files begin; other existing files are not overwritten."""
METHODS = """\
METHOD is a method that only adds and scales gradients: fedavg(), fedprox(mu=0.1), fedinit(beta=0.1), scaffold(),
fedavgm(momentum=0.3), fedcm(alpha=0.5), relaxed(scaffold(), beta=0.05), or your own. Proofs in fractions
cover those with the names fedavg, fedprox, fedinit, scaffold, fedavgm and fedcm.
quantity=value: local_steps, step_size, smoothness and strong_convexity; gradient_variance and clients for noise;
cohort and clients to draw a cohort every round (for methods without client memory, scaffold() and fedinit()); rounds,
initial_distance_sq and optimum_dissimilarity (zeta^2) for the bound after that many rounds, with the exact worst case
without noise and a value that quadratics attain. Ranges and lists give a table."""
RATE_JSON = """\
--json prints a list, one object for every point: method, local_steps, step_size, smoothness, strong_convexity, clients,
cohort, gradient_variance, rounds, initial_distance_sq, optimum_dissimilarity; contraction (the smallest certified),
quadratics (the contraction of two quadratics, a lower limit); stated, start_distance, start_dissimilarity, floor,
noise_floor, half (rounds), proved: |w_T - w*|^2 <= stated^T (start_distance |w_0 - w*|^2 + start_dissimilarity zeta^2)
+ floor zeta^2 + noise_floor sigma^2; least_stated, least_floor, least_noise_floor: the same with the smallest floor;
theorem and theorem_contraction (the best theorem that applies); bound (after rounds), bound_proved, worst_case (the
exact one after them, full gradients), instance (attained by quadratics then), why (nothing is certified, or proved).
What is not requested or not available is null."""


def rate(
    method: str | Algorithm, *words: str, output: Path | str | None = None, **quantities: float | Sequence[float]
) -> Rates:
    """Certify the smallest contraction per round of a method, and its floor after many rounds.

    Args:
        method: The algorithm, such as "fedinit(beta=0.1)" or path/file.py:variable; it must only add and scale
            gradients.
        words: Numbers, ranges a:b:n, lists, @file.json.
        output: Write the proofs: FILE.json, FILE-least.json, FILE-rounds.json.
        quantities: ``local_steps, step_size, smoothness, strong_convexity``; ``gradient_variance`` with ``clients`` for
            noisy gradients; ``cohort`` with ``clients`` to draw a cohort every round; ``rounds, initial_distance_sq,
            optimum_dissimilarity`` for the bound after a number of rounds. Lists give all combinations.

    Raises:
        BoundsError: For values that are not allowed, and for a method that is not a linear map of its gradients.

    >>> found = rate("fedavg()", local_steps=2, step_size=0.25, smoothness=1, strong_convexity=0.1)
    >>> found.records()[0]["stated"]
    0.9037
    """
    if isinstance(method, str) and ("=" in method.partition("(")[0] or method.startswith("@")):
        raise UsageError(f'rate needs a method, such as "scaffold()", before the values; got {method!r}')
    path = None if output is None else Path(output)
    if path is not None:
        writable_file("-o", path, ".json")
    chosen = method if isinstance(method, Algorithm) else algorithm(method)
    values = _values([*words, *as_words(quantities)])
    import_clarabel()
    points = [dict(zip(values, numbers, strict=True)) for numbers in product(*values.values())]
    if len(points) > MAX_POINTS:
        raise BoundsError(f"{len(points)} points are too many for one table: at most {MAX_POINTS}")
    for names in file_names(path, len(points)) if path is not None else ():
        for file in names.values():
            writable_file("-o", file)
            if file != path:  # the user did not choose this name
                refuse_foreign(file, PROOF_BEGINS)
    rates = _rates(chosen, points)
    return rates if path is None else replace(rates, wrote=tuple(rates.write(path)))


def _rates(chosen: Algorithm, points: Sequence[dict[str, float]]) -> Rates:
    """Return the rates at these values of the quantities."""
    problems = []
    for given in points:
        clients, cohort = (None if given.get(name) is None else int(given[name]) for name in ("clients", "cohort"))
        steps, (size, L, mu) = int(given["local_steps"]), (given[name] for name in REQUIRED[1:])
        problems.append(RateProblem(chosen, steps, size, L, mu, clients, cohort, bool(given.get("gradient_variance"))))
    with progress(f"rates of {chosen.name}", brief=len(points) == 1) as bar:
        bar.start(len(points))
        rates = []
        for problem, given in zip(problems, points, strict=True):
            rates.append(_rate_point(problem, given, bar.doing))
            bar.step()
    return Rates(tuple(rates))


def _values(words: Sequence[str]) -> dict[str, list[float]]:
    """Return the values of all quantities, in the order of ``QUANTITIES``."""
    given: dict[str, list[float]] = {}
    for name, value in read(words).items():
        if name not in QUANTITIES:
            if value.optional:
                continue
            raise unknown_quantity("quantity of a rate", name, QUANTITIES)
        if value.kind not in ("number", "range", "list"):
            raise BoundsError(f"{name} must be a number, a range or a list")
        given[name] = value.numbers.ravel().astype(float).tolist()
        for x in given[name]:
            if not isfinite(x) or x < 0 or (name in INTEGERS and x != int(x)):
                kind = "an integer >= 0" if name in INTEGERS else "a finite number >= 0"
                raise BoundsError(f"{name} must be {kind}; got {x:g}")
    if missing := [name for name in REQUIRED if name not in given]:
        raise BoundsError(f"a rate needs {', '.join(missing)}: give {missing[0]}=...")
    return {name: list(dict.fromkeys(given[name])) for name in QUANTITIES if name in given}


def _rate_point(problem: RateProblem, given: dict[str, float], report: Callable[[str], None]) -> RatePoint:
    """Return the rate of a problem or why there is none, and the bound after rounds if all it needs is given."""
    name = problem.algorithm.name
    try:
        rate = certify_rate(problem, report)
    except NotCertified as error:
        return RatePoint(name, given, None, str(error))
    theorem = next(iter(theorem_rates(problem)), None) if problem.partial_cohort is None else None
    if _missing(rate, given):
        return RatePoint(name, given, rate, theorem=theorem)
    dissimilarity, variance = (given.get(q, 0.0) for q in ("optimum_dissimilarity", "gradient_variance"))
    horizon = Horizon(int(given["rounds"]), given["initial_distance_sq"], dissimilarity, variance)
    return RatePoint(name, given, rate, after=bound_after(rate, horizon, report), theorem=theorem)


def _missing(rate: Rate, given: dict[str, float]) -> list[str]:
    """Return the quantities that the bound after a number of rounds needs and that are not given."""
    heterogeneous = any(bound.floor or bound.start_dissimilarity for bound in rate.bounds)
    needed = START if heterogeneous else ("rounds", "initial_distance_sq")
    return [name for name in needed if name not in given]


@dataclass(frozen=True, eq=False)
class RatePoint:
    """One point of a table: the given quantities and the rate, or the reason ``why`` there is none.

    ``after`` is the bound after the given rounds, and ``theorem`` the best theorem that applies, if there are any.
    """

    method: str
    given: dict[str, float]
    rate: Rate | None
    why: str = ""
    after: RoundsBound | None = None
    theorem: TheoremRate | None = field(default=None, repr=False)

    def record(self) -> dict[str, Any]:
        """Return the point as a row, with the keys of ``RATE_JSON``."""
        fastest, least = (self.rate.fastest, self.rate.least) if self.rate else (None, None)
        given = {name: self.given.get(name) for name in QUANTITIES}
        return {
            "method": self.method,
            **{name: int(x) if x is not None and x.is_integer() else x for name, x in given.items()},
            **_attributes(self.rate, ("contraction", "quadratics")),
            "stated": fastest and fastest.contraction,
            **_attributes(fastest, STATED),
            "proved": fastest and fastest.proof is not None,
            "least_stated": least and least.contraction,
            **{f"least_{name}": x for name, x in _attributes(least, ("floor", "noise_floor")).items()},
            "theorem": self.theorem and self.theorem.bound,
            "theorem_contraction": self.theorem and self.theorem.contraction,
            **_attributes(self.after, COLUMNS_AFTER),
            "bound_proved": self.after and self.after.proved,
            "why": self.why or (fastest and fastest.why) or None,
        }

    def bounds(self) -> Iterator[tuple[str, RateBound]]:
        """Yield the suffix of the file name and the bound, for all certified bounds."""
        if self.rate is not None:
            yield from zip(FILES, self.rate.bounds, strict=False)
        if self.after is not None:
            yield FILES[2], self.after.rate_bound

    def lines(self) -> Iterator[str]:
        """Yield the lines of text that describe the point."""
        given, rate = self.given, self.rate
        yield (
            f"{self.method}, {given['local_steps']:g} local steps of {given['step_size']:g}; "
            f"{given['smoothness']:g}-smooth, {given['strong_convexity']:g}-strongly convex losses"
        )
        if rate is None:
            yield self.why
            return
        noisy, drawn = rate.problem.noisy, rate.problem.partial_cohort
        random = noisy or drawn is not None
        clients = f"{rate.problem.clients} clients" if rate.problem.clients and random else "any number of clients"
        part = "all take part" if drawn is None else f"{drawn.cohort} of them drawn a round"
        kind = "gradients with noise of variance sigma^2" if noisy else "full gradients"
        yield f"{clients}, {part}, {kind}, every number T of rounds:"
        distance = "E|w_T - w*|^2" if random else "|w_T - w*|^2"
        for one in rate.bounds:
            yield f"  {distance} <= {_formula(one)}   {'proved in fractions' if one.proof else 'in floats'}"
        yield f"above its floor the bound halves every {rate.fastest.half} rounds"
        yield (
            f"smallest contraction certified, in floats: {rate.contraction:.6f}; "
            f"two quadratics contract by no less than {rate.quadratics:.6f}"
        )
        if self.theorem is not None:
            yield f"the best theorem that applies here states {self.theorem.contraction:.6f}: {self.theorem.bound}"
        if not rate.problem.program.has_floor:
            yield "no floor: heterogeneity alone keeps no distance from the minimiser"
        if self.after is not None:
            how = "proved in fractions" if self.after.proved else "in floats"
            yield f"after {given['rounds']:g} rounds {distance} <= {self.after.bound:.6g}   {how}"
            if self.after.worst_case is not None:
                yield f"  exact worst case{' without noise' if noisy else ''}: {self.after.worst_case:.6g}"
            if self.after.instance is not None:
                yield f"  reached by clients with quadratics on a line: {self.after.instance:.6g}"
        elif "rounds" in given:
            missing = ", ".join(f"{name}=..." for name in _missing(rate, given))
            yield f"after {given['rounds']:g} rounds: give {missing} too"
        yield "w*: the minimiser of the mean loss; zeta^2: the clients' mean squared gradient there"
        if rate.fastest.why:
            yield f"not proved in fractions: {rate.fastest.why}"


def _attributes(item: Any, names: Sequence[str]) -> dict[str, Any]:
    return {name: None if item is None else getattr(item, name) for name in names}


def _formula(one: RateBound) -> str:
    """Return the right side of a certified bound as text."""
    start = "|w_0 - w*|^2" if one.start_distance == 1 else f"{one.start_distance:.6g} |w_0 - w*|^2"
    if one.start_dissimilarity:
        start = f"({start} + {round_up(one.start_dissimilarity, 4):.4g} zeta^2)"
    floors = f" + {round_up(one.floor, 4):.4g} zeta^2" if one.floor else ""
    floors += f" + {round_up(one.noise_floor, 4):.4g} sigma^2" if one.noise_floor else ""
    return f"{one.contraction!r}^T {start}{floors}"


@dataclass(frozen=True, eq=False)
class Rates(Tabular):
    """The rates at all points, in order; ``str`` gives the text that the command prints."""

    points: tuple[RatePoint, ...]
    wrote: tuple[Path, ...] = ()

    @property
    def found(self) -> bool:
        """Whether every point has a rate."""
        return all(point.rate is not None for point in self.points)

    def records(self) -> list[dict[str, Any]]:
        return [point.record() for point in self.points]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Yield the text of a single point, or a table of several."""
        if len(self.points) == 1:
            yield from self.points[0].lines()
            return
        rows = self.records()
        varied = [name for name in QUANTITIES if len({row[name] for row in rows}) > 1]
        head = [*varied, *(name for name in (*COLUMNS, *COLUMNS_AFTER) if any(row[name] for row in rows)), "proved"]
        yield self.points[0].method
        yield from aligned([head, *([_cell(row[name]) for name in head] for row in rows)])
        yield from dict.fromkeys(point.why for point in self.points if point.why)

    def write(self, path: Path) -> list[Path]:
        """Write the proofs to the files of ``file_names``; return the files."""
        files = []
        for names, point in zip(file_names(path, len(self.points)), self.points, strict=True):
            for suffix, one in point.bounds():
                if one.proof is not None:
                    files.append(write_whole(names[suffix], json.dumps(one.proof, separators=(",", ":")) + "\n"))
        return files


def file_names(path: Path, count: int) -> list[dict[str, Path]]:
    """Return, for each of ``count`` points, the files of its proofs by suffix; several points are numbered."""
    stems = [path.stem + (f"-{number}" if count > 1 else "") for number in range(1, count + 1)]
    return [{w: path.with_name(stem + w + (path.suffix or ".json")) for w in FILES} for stem in stems]


def _cell(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "no"}[value]
    return f"{value:.6g}" if isinstance(value, float) else str(value)
