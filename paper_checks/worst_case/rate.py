"""The verb ``rate``: the smallest certified contraction per round, in words or as a table, with files of proofs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import product
from math import isfinite
from pathlib import Path
from typing import Any

from bounds.errors import BoundsError, unknown
from bounds.showing.files import refuse_foreign, whole
from bounds.showing.tables import aligned
from bounds.showing.tabular import Tabular
from bounds.showing.usage import UsageError, writable_file
from bounds.showing.values import read
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import Algorithm
from empirics.progress import progress

from .after_rounds import After, after
from .lyapunov import NotCertified, solver
from .rate_case import Case
from .rate_search import above, Begun, certified, Rate, Statement
from .theorem_rates import Published, published

WORDS = ("local_steps", "step_size", "smoothness", "strong_convexity", "clients", "cohort", "gradient_variance",
         "rounds", "initial_distance_sq", "optimum_dissimilarity")  # fmt: skip
"""The quantities of a rate; the first four are needed."""
NEEDED = WORDS[:4]
INTEGERS = ("local_steps", "clients", "cohort", "rounds")
MOST = 1000
"""Points of one table."""
FILES = ("", "-least", "-rounds")
"""What is added to the name that was typed: the fastest rate, the one of the least floor, the bound after rounds."""
STATED = ("start_distance", "start_dissimilarity", "floor", "noise_floor", "half")
SHOWN = (
    "contraction", "quadratics", "floor", "noise_floor", "least_floor", "half", "bound", "worst_case", "instance",
)  # fmt: skip
PROOF_BEGINS = '{"kind":"rate"'
"""How the files begin that are written."""
METHODS = """\
METHOD adds and scales its gradients: fedavg(), fedprox(mu=0.1), fedinit(beta=0.1), scaffold(), fedavgm(momentum=0.3),
fedcm(alpha=0.5), relaxed(scaffold(), beta=0.05), your own; others are refused.
quantity=value: local_steps, step_size, smoothness and strong_convexity; gradient_variance and clients for noise;
cohort and clients where some clients are drawn a round (methods whose clients keep nothing, scaffold(), fedinit());
rounds, initial_distance_sq and optimum_dissimilarity (zeta^2) for what is proved after that many rounds, beside the
exact
worst case without noise and what quadratics reach. Ranges, lists: a table."""
RATE_JSON = """\
--json prints a list, one object for every place: method, local_steps, step_size, smoothness, strong_convexity, clients,
cohort, gradient_variance, rounds, initial_distance_sq, optimum_dissimilarity; contraction (the smallest certified),
quadratics (no method's certificate can be below: two quadratics); stated, start_distance, start_dissimilarity, floor,
noise_floor, half (rounds), proved: |w_T - w*|^2 <= stated^T (start_distance |w_0 - w*|^2 + start_dissimilarity zeta^2)
+ floor zeta^2 + noise_floor sigma^2; least_stated, least_floor, least_noise_floor: the same where the floor is least;
bound (after rounds), bound_proved, worst_case (the exact one after them, full gradients), instance (what quadratics
reach then), why (nothing is certified, or proved). What is not requested, or not there, is null."""


def rate(
    method: str | Algorithm, *words: str, output: Path | str | None = None, **quantities: float | Sequence[float]
) -> Rates:
    """Certify the smallest contraction per round of a method, and what is left after many rounds.

    Args:
        method: The algorithm, such as "fedinit(beta=0.1)" or path/file.py:variable; one that adds and scales its
            gradients.
        words: Numbers, ranges a:b:n, lists, @file.json.
        output: Write the proofs: FILE.json, FILE-least.json, FILE-rounds.json.
        quantities: ``local_steps, step_size, smoothness, strong_convexity``; ``gradient_variance`` with ``clients`` for
            noisy gradients; ``cohort`` with ``clients`` where some are drawn a round; ``rounds, initial_distance_sq,
            optimum_dissimilarity`` for a number after a number of rounds. A list asks for several points, each with
            each.

    Raises:
        BoundsError: for values that are not allowed, and for a method that is not a linear map of its gradients.

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
    values = _values(words, quantities)
    solver()
    at = [dict(zip(values, numbers, strict=True)) for numbers in product(*values.values())]
    if len(at) > MOST:
        raise BoundsError(f"{len(at)} places are too many for one table: at most {MOST}")
    for named in file_names(path, len(at)) if path is not None else ():
        for file in named.values():
            writable_file("-o", file)
            if file != path:  # nobody typed this name
                refuse_foreign(file, PROOF_BEGINS)
    found = _rates(chosen, at)
    return found if path is None else replace(found, wrote=tuple(found.write(path)))


def _rates(chosen: Algorithm, at: Sequence[dict[str, float]]) -> Rates:
    """The rates at these points."""
    cases = []
    for asked in at:
        clients, cohort = (None if asked.get(w) is None else int(asked[w]) for w in ("clients", "cohort"))
        steps, (size, L, mu) = int(asked["local_steps"]), (asked[word] for word in NEEDED[1:])
        cases.append(Case(chosen, steps, size, L, mu, clients, cohort, bool(asked.get("gradient_variance"))))
    with progress(f"rates of {chosen.name}", brief=len(at) == 1) as bar:
        bar.start(len(at))
        found = []
        for case, asked in zip(cases, at, strict=True):
            found.append(_rated(case, asked, bar.doing))
            bar.step()
    return Rates(tuple(found))


def _values(texts: Sequence[str], words: Mapping[str, Any]) -> dict[str, list[float]]:
    typed = dict.fromkeys(word.partition("=")[0] for word in texts if "=" in word)
    given: dict[str, list[float]] = {}
    for name, value in read(list(texts)).items():
        if name in WORDS:
            if value.kind not in ("number", "range", "list"):
                raise BoundsError(f"{name} must be a number, a range or a list")
            given[name] = [float(x) for x in value.numbers.ravel()]
        elif name in typed:  # a file of constants holds more
            raise unknown("quantity of a rate", name, WORDS)
    for name, value in words.items():
        if name not in WORDS:
            raise unknown("quantity of a rate", name, WORDS)
        given[name] = [float(x) for x in value] if isinstance(value, Sequence) else [float(value)]
    if missing := [name for name in NEEDED if name not in given]:
        raise BoundsError(f"a rate needs {', '.join(missing)}: give {missing[0]}=...")
    for name, numbers in given.items():
        for x in numbers:
            if not isfinite(x) or x < 0 or (name in INTEGERS and x != int(x)):
                kind = "an integer >= 0" if name in INTEGERS else "a finite number >= 0"
                raise BoundsError(f"{name} must be {kind}; got {x:g}")
    return {name: list(dict.fromkeys(given[name])) for name in WORDS if name in given}


def _rated(case: Case, asked: dict[str, float], step: Callable[[str], None]) -> Rated:
    """The rate of a case, or why there is none; and after rounds, where all is given that this needs."""
    try:
        rate = certified(case, step)
    except NotCertified as error:
        return Rated(case.algorithm.name, asked, None, str(error))
    # the best rate that a theorem of the catalogue states here, of methods in which all clients take part
    theorem = None if case.program.cohort is not None else next(iter(published(case)), None)
    found = Rated(case.algorithm.name, asked, rate, theorem=theorem)
    needs = any(s.floor or s.start_dissimilarity for s in rate.statements)
    if not {"rounds", "initial_distance_sq"} <= set(asked) or (needs and "optimum_dissimilarity" not in asked):
        return found
    facts = (asked.get(w, 0.0) for w in ("initial_distance_sq", "optimum_dissimilarity", "gradient_variance"))
    return Rated(found.method, asked, rate, "", after(rate, Begun(int(asked["rounds"]), *facts), step), found.theorem)


@dataclass(frozen=True, eq=False)
class Rated:
    """One point of a table: the quantities it was given, and its rate, or why there is none.

    ``after`` is what is left after the rounds asked for, where all it needs is given.
    """

    method: str
    asked: dict[str, float]
    rate: Rate | None
    why: str = ""
    after: After | None = None
    theorem: Published | None = field(default=None, repr=False)

    def record(self) -> dict[str, Any]:
        fastest, least = (self.rate.fastest, self.rate.least) if self.rate else (None, None)
        row: dict[str, Any] = {"method": self.method} | {word: self.asked.get(word) for word in WORDS}
        row = {word: int(x) if isinstance(x, float) and x.is_integer() else x for word, x in row.items()}
        row |= {"contraction": self.rate and self.rate.contraction, "quadratics": self.rate and self.rate.slowest}
        row |= {"stated": fastest and fastest.contraction}
        row |= {word: None if fastest is None else getattr(fastest, word) for word in STATED}
        row |= {"proved": fastest and fastest.proof is not None, "least_stated": least and least.contraction}
        row |= {f"least_{word}": None if least is None else getattr(least, word) for word in ("floor", "noise_floor")}
        row |= {"theorem": self.theorem and self.theorem.bound}
        row |= {"theorem_contraction": self.theorem and self.theorem.contraction}
        row |= {word: self.after and getattr(self.after, word) for word in ("bound", "worst_case", "instance")}
        row |= {"bound_proved": self.after and self.after.proved}
        return row | {"why": self.why or (fastest.why if fastest else "") or None}

    def statements(self) -> Iterator[tuple[str, Statement]]:
        """What is stated, and what is added to its file's name."""
        if self.rate is not None:
            yield from zip(FILES, self.rate.statements, strict=False)
        if self.after is not None:
            yield FILES[2], self.after.statement

    def lines(self) -> Iterator[str]:
        """The point in words."""
        asked, rate = self.asked, self.rate
        yield (
            f"{self.method}, {asked['local_steps']:g} local steps of {asked['step_size']:g}; "
            f"{asked['smoothness']:g}-smooth, {asked['strong_convexity']:g}-strongly convex losses"
        )
        if rate is None:
            yield self.why
            return
        noisy, case = bool(asked.get("gradient_variance")), rate.case
        many = f"{case.clients} clients" if case.clients and (noisy or not case.plain) else "any number of clients"
        part = "all take part" if case.program.cohort is None else f"{case.cohort} of them drawn a round"
        kind = "gradients with noise of variance sigma^2" if noisy else "full gradients"
        yield f"{many}, {part}, {kind}, every number T of rounds:"
        left = "|w_T - w*|^2" if case.plain else "E|w_T - w*|^2"  # an expectation where anything is drawn
        for one in rate.statements:
            yield f"  {left} <= {_in_words(one)}   {'proved in fractions' if one.proof else 'in floats'}"
        yield f"above its floor the bound halves every {rate.fastest.half} rounds"
        yield (
            f"smallest contraction certified, in floats: {rate.contraction:.6f}; "
            f"two quadratics contract by no less than {rate.slowest:.6f}"
        )
        if self.theorem is not None:
            yield f"the best theorem that applies here states {self.theorem.contraction:.6f}: {self.theorem.bound}"
        if not case.program.floored:
            yield "no floor: heterogeneity alone keeps no distance from the minimiser"
        if self.after is not None:
            how = "proved in fractions" if self.after.proved else "in floats"
            yield f"after {asked['rounds']:g} rounds {left} <= {self.after.bound:.6g}   {how}"
            if self.after.worst_case is not None:
                yield f"  exact worst case{' without noise' if noisy else ''}: {self.after.worst_case:.6g}"
            if self.after.instance is not None:
                yield f"  reached by clients with quadratics on a line: {self.after.instance:.6g}"
        elif "rounds" in asked:
            needed = [w for w in ("initial_distance_sq", "optimum_dissimilarity") if w not in asked]
            yield f"after {asked['rounds']:g} rounds: give {', '.join(f'{w}=...' for w in needed)} too"
        yield "w*: the minimiser of the mean loss; zeta^2: the clients' mean squared gradient there"
        if rate.fastest.why:
            yield f"not proved in fractions: {rate.fastest.why}"


def _in_words(one: Statement) -> str:
    start = "|w_0 - w*|^2" if one.start_distance == 1 else f"{one.start_distance:.6g} |w_0 - w*|^2"
    if one.start_dissimilarity:
        start = f"({start} + {above(one.start_dissimilarity, 4):.4g} zeta^2)"
    more = f" + {above(one.floor, 4):.4g} zeta^2" if one.floor else ""
    more += f" + {above(one.noise_floor, 4):.4g} sigma^2" if one.noise_floor else ""
    return f"{one.contraction!r}^T {start}{more}"


@dataclass(frozen=True, eq=False)
class Rates(Tabular):
    """The points asked for, in order; ``str`` is what the shell prints."""

    points: tuple[Rated, ...]
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
        """One point in words, several as a table."""
        if len(self.points) == 1:
            yield from self.points[0].lines()
            return
        rows = self.records()
        varied = [w for w in WORDS if len({row[w] for row in rows}) > 1]
        head = [*varied, *(w for w in SHOWN if any(row[w] for row in rows)), "proved"]
        yield self.points[0].method
        yield from aligned([head, *([_short(row[w]) for w in head] for row in rows)])
        yield from dict.fromkeys(point.why for point in self.points if point.why)

    def write(self, path: Path) -> list[Path]:
        """The proofs, in the files that ``file_names`` says: all of them, or none and nothing is changed."""
        proofs: dict[Path, dict[str, Any]] = {}
        for at, point in zip(file_names(path, len(self.points)), self.points, strict=True):
            proofs |= {at[which]: one.proof for which, one in point.statements() if one.proof is not None}
        with ExitStack() as all_of_them:
            for file, proof in proofs.items():
                beside = all_of_them.enter_context(whole(file))
                beside.write_text(json.dumps(proof, separators=(",", ":")) + "\n", encoding="utf-8")
        return list(proofs)


def file_names(path: Path, several: int) -> list[dict[str, Path]]:
    """The files of the proofs of each of a number of points, by ``FILES``; those of several points are numbered."""
    stems = [path.stem + (f"-{number}" if several > 1 else "") for number in range(1, several + 1)]
    return [{w: path.with_name(stem + w + (path.suffix or ".json")) for w in FILES} for stem in stems]


def _short(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "-", True: "yes", False: "no"}[value]
    return f"{value:.6g}" if isinstance(value, float) else str(value)
