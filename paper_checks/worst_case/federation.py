"""The federation that attains a worst case: in few dimensions, in plain numbers, as a file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from bounds.core import Statistic
from bounds.errors import BoundsError
from bounds.showing.files import write_whole
from bounds.weights import Weights
from empirics.algorithms import algorithm
from empirics.errors import EmpiricsError
from empirics.training.setting import Setting

from .coordinates import Array
from .formulation import Formulation
from .interpolants import Interpolant
from .low_rank import Factors, lowered
from .program import Program, WorstCaseError
from .solve import Question, spoken, WorstCase


@dataclass(frozen=True, eq=False)
class Instance:
    """Clients of which values ``(N, m)`` and gradients are known at points, ``(N, m, d)`` each; ``start (d,)``.

    ``value`` is the worst case of the question that they attain. The minimiser of F is the origin and F* is 0 where the
    clients are convex; others have ``floor``, what the program took for inf F (None: the question does not ask for it).
    """

    question: Question
    value: float
    start: Array
    points: Array
    gradients: Array
    values: Array
    floor: float | None = 0.0

    def __post_init__(self) -> None:
        clients, known, dim = self.points.shape
        wanted = {"start": (dim,), "gradients": (clients, known, dim), "values": (clients, known)}
        for name, shape in wanted.items():
            if getattr(self, name).shape != shape:
                raise WorstCaseError(f"{name} must have shape {shape}; got {getattr(self, name).shape}")
        asked = self.question.clients or self.question.setting.cohort
        if clients != asked:
            raise WorstCaseError(f"the question is about {asked} clients; got {clients}")
        numbers = (self.value, self.floor or 0.0, self.start, self.points, self.gradients, self.values)
        if not all(np.isfinite(given).all() for given in numbers):
            raise WorstCaseError("every number of an instance must be finite")

    @property
    def clients(self) -> int:
        return int(self.points.shape[0])

    @property
    def dim(self) -> int:
        return int(self.points.shape[2])

    @cached_property
    def functions(self) -> tuple[Interpolant, ...]:
        """The clients' losses."""
        mu, smoothness = self.question.lower, self.question.assumptions["smoothness"]
        given = zip(self.points, self.gradients, self.values, strict=True)
        return tuple(Interpolant(mu, smoothness, *numbers) for numbers in given)

    @property
    def broken(self) -> float:
        """By how much the numbers break the interpolation conditions at most, relative to the largest in them.

        Above 0 the losses, which are of the class in any case, pass beside some of the numbers.
        """
        return max(_excess(f) for f in self.functions)

    # ---- as a file ----

    def save(self, path: Path | str) -> None:
        """Write a file that ``load`` reads; a method that no text names is refused."""
        held = {
            "question": question_to_json(self.question),
            "value": self.value,
            "floor": self.floor,
            "start": self.start.tolist(),
            "points": self.points.tolist(),
            "gradients": self.gradients.tolist(),
            "values": self.values.tolist(),
        }
        lines = [f" {json.dumps(name)}: {json.dumps(number, allow_nan=False)}" for name, number in held.items()]
        write_whole(Path(path), "{\n" + ",\n".join(lines) + "\n}\n")

    @classmethod
    def load(cls, path: Path | str) -> Instance:
        """Read a file; anything that is none is refused in one line."""
        try:
            held = json.loads(Path(path).read_text(encoding="utf-8"))
            arrays = {name: np.array(held[name], dtype=float) for name in ("start", "points", "gradients", "values")}
            floor = None if held["floor"] is None else float(held["floor"])
            return cls(question=question_of_json(held["question"]), value=float(held["value"]), floor=floor, **arrays)
        except OSError as error:
            raise WorstCaseError(f"{path}: {error.strerror}") from None
        except (BoundsError, EmpiricsError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise WorstCaseError(f"{path} is no worst-case instance: {type(error).__name__}: {error}") from None


def _excess(f: Interpolant) -> float:
    """The largest amount by which a pair of points breaks the interpolation condition, relative to its terms."""
    excess, size = 0.0, 1e-300
    for i, j in permutations(range(len(f.values)), 2):
        x, bent = f.points[i] - f.points[j], f.gradients[i] - f.gradients[j]
        bent = bent - f.mu * x
        least = f.gradients[j] @ x + f.mu / 2 * x @ x + bent @ bent / (2 * f.curvature)
        excess = max(excess, float(f.values[j] - f.values[i] + least))
        size = max(size, abs(float(f.values[j])), abs(float(f.gradients[j] @ x)), float(x @ x) * f.smoothness)
    return excess / size


def question_to_json(question: Question) -> dict[str, Any]:
    """A question as JSON."""
    written = str(question.algorithm)
    try:
        known = algorithm(written) == question.algorithm
    except (BoundsError, EmpiricsError):
        known = False
    if not known:
        raise WorstCaseError(f"{written} is a method that no text names: nothing of it can be read from a file")
    return {
        "algorithm": written,
        "setting": asdict(question.setting),
        "assumptions": dict(question.assumptions),
        "metric": question.metric,
        "statistic": {n: x for n, x in asdict(question.statistic).items() if x is not None},
        "steps": question.steps,
        "symmetric": question.symmetric,
        **({} if question.step_sizes is None else {"step_sizes": list(question.step_sizes)}),
        **({} if question.clients is None else {"clients": question.clients}),
    }


def question_of_json(held: Mapping[str, Any]) -> Question:
    given = {word: float(number) for word, number in held["assumptions"].items()}
    if ".py" in held["algorithm"]:  # a file of data must not run code
        raise EmpiricsError(f"a method must be a call of the list; got {held['algorithm']!r}")
    return Question(
        algorithm(held["algorithm"]),
        Setting(**held["setting"]),
        given,
        str(held["metric"]),
        _statistic(held["statistic"]),
        None if held["steps"] is None else tuple(int(k) for k in held["steps"]),
        bool(held["symmetric"]),
        None if held.get("step_sizes") is None else tuple(float(size) for size in held["step_sizes"]),
        clients=None if held.get("clients") is None else int(held["clients"]),
    )


def _statistic(held: Mapping[str, Any]) -> Statistic:
    weights = held.get("weights")
    told = None if weights is None else Weights(**{name: float(x) for name, x in weights.items()})
    return Statistic(held["kind"], held["over"], held["at"], told)


# ---- from a worst case ----


def attaining(worst: WorstCase) -> Iterator[Instance]:
    """Federations that attain a worst case, those in few dimensions first."""
    formulation, whole = worst.question.stated()
    for factors in lowered(worst.program, worst.solved):
        yield _placed(worst, formulation, whole, factors)


def _placed(worst: WorstCase, formulation: Formulation, whole: Program, factors: Factors) -> Instance:
    """The federation whose vectors and values solve the program."""
    columns, known = spoken(whole)
    rest = iter(factors.vectors)
    blocks = [_spread_out(next(rest), alive) if alive.any() else np.zeros((0, len(alive))) for alive in columns]
    values = np.zeros(len(known))
    values[known] = factors.values
    at = _Coordinates(formulation, tuple(blocks))
    here = formulation.evaluations
    floor = None
    if worst.question.convex:
        floor = 0.0
    elif worst.question.floored:
        floor = float(values[formulation.floor])
    return Instance(
        worst.question,
        worst.value,
        at.vectors(formulation.points(formulation.recorded.server[0]))[0],
        np.stack([at.vectors(e.points) for e in here], axis=1),
        np.stack([at.vectors(e.gradients) for e in here], axis=1),
        np.stack([at.values(e.values, values) for e in here], axis=1),
        floor,
    )


def _spread_out(vectors: Array, alive: Array) -> Array:
    """Vectors ``(r, kept)`` in the columns they came from ``(r, n)``; the others are zero."""
    wide = np.zeros((len(vectors), len(alive)))
    wide[:, alive] = vectors
    return wide


@dataclass(frozen=True, eq=False)
class _Coordinates:
    """What turns a formulation's rows into vectors: the unknown vectors ``(r_b, n_b)`` of every block."""

    formulation: Formulation
    blocks: tuple[Array, ...]

    def vectors(self, rows: list[Array]) -> Array:
        """The clients' vectors ``(N, d)`` of the members' rows.

        In symmetric coordinates client i's deviation goes along vertex i of a simplex around 0: its square is that of
        the member, and between two clients it is -1/(N - 1) of it.
        """
        space = self.formulation.space
        if not space.symmetric:
            found: Array = np.array(rows) @ self.blocks[0].T
            return found
        mean, deviation = self.blocks
        cut = mean.shape[1]
        middle, aside = mean @ rows[0][:cut], deviation @ rows[0][cut:]
        return np.array([np.concatenate([middle, np.kron(aside, s)]) for s in simplex(space.clients)])

    def values(self, places: tuple[int | None, ...], values: Array) -> Array:
        """The clients' values ``(N,)``."""
        each = np.array([0.0 if place is None else values[place] for place in places])
        return np.broadcast_to(each, (self.formulation.space.clients,))


def simplex(clients: int) -> Array:
    """Unit vectors ``(N, N - 1)`` with inner products -1/(N - 1), summing to zero."""
    centred = np.eye(clients) - 1 / clients
    vertices: Array = np.linalg.eigh(centred)[1][:, 1:] * (clients / max(clients - 1, 1)) ** 0.5
    return vertices
