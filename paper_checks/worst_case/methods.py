"""Methods in fractions: a round of each, listed once for worst cases and for rates, and compared with its hooks.

Recorded runs and rounds come from the hooks that train, in floats. A proof needs fractions, so the methods of
``METHODS`` are played once more from their listing; a listing counts only where it is what the hooks do, to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast, NamedTuple

import numpy as np
import torch

from empirics.algorithms.algorithm import Algorithm, Average, Gradient, ServerStart
from empirics.algorithms.local import ClientMomentum, Controlled, Proximal
from empirics.algorithms.relaxed import RelaxedStart
from empirics.algorithms.server import ServerMomentum
from empirics.algorithms.state import State
from empirics.errors import EmpiricsError
from empirics.exact import Tracing
from empirics.training.rounds import play
from empirics.training.setting import Setting

from .one_round import Cohort, OneRound, Renewed
from .program import WorstCaseError
from .symbolic_run import Array, Members, Oracle, Recorded

DENOMINATORS = (10**3, 10**6, 10**9)
"""Tried for a number typed as a decimal."""
CLOSE = 1e-15
AGREE = 1e-11
"""How far hooks may be from a listing, relative to its largest number."""


class NoListing(WorstCaseError):
    """No listing of the method is played in fractions."""


def fraction(x: float) -> Fraction:
    """The short fraction that a float was typed as, such as 1/10 for 0.1; else the float itself."""
    for most in DENOMINATORS:
        near = Fraction(x).limit_denominator(most)
        if abs(near - Fraction(x)) <= CLOSE * abs(x):
            return near
    return Fraction(x)


# ---- the methods ----


class Method(NamedTuple):
    """What the server and what every client keeps beside the model, and the method's one number (None: another one)."""

    server: tuple[str, ...]
    clients: tuple[str, ...]
    number: Callable[[Algorithm], float | None]


def _of(part: str, kind: Any, name: str) -> Callable[[Algorithm], float | None]:
    """Reads a number of the algorithm's part where that is of this kind."""
    return lambda a: getattr(getattr(a, part), name) if isinstance(getattr(a, part), kind) else None


METHODS: dict[str, Method] = {
    "fedavg": Method((), (), lambda a: 0),
    "fedprox": Method((), (), _of("direction", Proximal, "mu")),
    "fedinit": Method((), ("last",), _of("start", RelaxedStart, "beta")),
    "scaffold": Method((), ("control",), lambda a: 0 if isinstance(a.direction, Controlled) else None),
    "fedavgm": Method(
        ("velocity",),
        (),
        lambda a: a.combine.momentum if isinstance(a.combine, ServerMomentum) and not a.combine.divide else None,
    ),
    "fedcm": Method(("direction",), (), _of("direction", ClientMomentum, "alpha")),
}


def named(algorithm: Algorithm) -> tuple[str, Fraction]:
    """The method by name and its one number; ``NoListing`` where there is none of it."""
    name = algorithm.name.partition("(")[0]
    number = METHODS[name].number(algorithm) if name in METHODS else None
    if number is not None:
        return name, fraction(number)
    if (algorithm.start, algorithm.direction, algorithm.combine) == (ServerStart(), Gradient(), Average()):
        return "fedavg", Fraction(0)  # dsgd too
    raise NoListing(f"{algorithm.name} has no listing in fractions; there is one of {', '.join(METHODS)}")


@dataclass(frozen=True, eq=False)
class Vector:
    """A vector of every client: coefficients of its mean over the clients, and of each client's deviation from it."""

    mean: Array
    apart: Array

    def __add__(self, other: Vector) -> Vector:
        return Vector(self.mean + other.mean, self.apart + other.apart)

    def __sub__(self, other: Vector) -> Vector:
        return Vector(self.mean - other.mean, self.apart - other.apart)

    def __rmul__(self, factor: Fraction) -> Vector:
        return Vector(factor * self.mean, factor * self.apart)

    @property
    def averaged(self) -> Vector:
        return Vector(self.mean, 0 * self.apart)

    def same(self, other: Vector) -> bool:
        return bool(np.all(self.mean == other.mean) and np.all(self.apart == other.apart))


def play_round(
    method: str, p: Fraction, sizes: Sequence[Fraction], state: Mapping[str, Vector], ask: Callable[[Vector], Vector]
) -> tuple[list[Vector], dict[str, Vector]]:
    """A client's models before every local step and after the last one, and what is kept after the round.

    ``state``: the server's ``model``, its ``velocity`` or ``direction``, the clients' ``last`` models or ``control``.
    All clients take part; deviations of what the server keeps are what a single client adds to it.
    """
    w = state["model"]
    path = [w + p * (w - state["last"]) if method == "fedinit" else w]
    for eta in sizes:
        x = path[-1]
        way = ask(x)
        if method == "fedprox":
            way = way + p * (x - w)
        elif method == "scaffold":
            way = way + state["control"].averaged - state["control"]
        elif method == "fedcm":
            way = p * way + (1 - p) * state["direction"]
        path.append(x - eta * way)
    moved = path[0] - path[-1]
    slope = 1 / sum(sizes, Fraction(0)) * moved
    after = {"model": path[-1], "last": path[-1], "direction": slope}
    if method == "scaffold":
        after["control"] = state["control"] + slope - state["control"].averaged
    elif method == "fedavgm":
        after["velocity"] = p * state["velocity"] + moved
        after["model"] = w - after["velocity"]
    kept = METHODS[method]
    return path, {name: after[name] for name in ("model", *kept.server, *kept.clients)}


def _units(size: int) -> Array:
    units = np.full((size, size), Fraction(0), dtype=object)
    units[range(size), range(size)] = Fraction(1)
    return units


# ---- runs of all clients ----


@dataclass(frozen=True, eq=False)
class RationalRun:
    """A run in fractions in the recorder's form, of the method of this name with this number."""

    method: str
    parameter: Fraction
    steps: tuple[int, ...]
    recorded: Recorded


def rational_run(algorithm: Algorithm, like: Recorded) -> RationalRun:
    """The recorded run in fractions; ``WorstCaseError`` where the listing does something else."""
    name, p = named(algorithm)
    m, steps = like.gradients, tuple(path.shape[1] - 1 for path in like.path)
    sizes = tuple(fraction(size) for size in like.step_sizes)
    units, asked = _units(1 + m), list[Vector]()

    def ask(x: Vector) -> Vector:
        at = next((j for j, before in enumerate(asked) if before.same(x)), len(asked))
        if at == len(asked):
            asked.append(x)
        if at == m:
            raise WorstCaseError("the run in fractions asks for more gradients than the recorded one")
        return Vector(units[1 + at], units[1 + at])

    w = Vector(units[0], 0 * units[0])
    state = dict.fromkeys((*METHODS[name].server, *METHODS[name].clients), Fraction(0) * w) | {"model": w}
    if "last" in state:
        state["last"] = w
    servers, paths, begin = [w], [], 0
    for count in steps:
        path, after = play_round(name, p, sizes[begin : begin + count], state, ask)
        state = {n: x if n in METHODS[name].clients else x.averaged for n, x in after.items()}
        begin += count
        servers.append(state["model"])
        paths.append(path)
    clients = like.clients

    def rows(vectors: Sequence[Vector]) -> Array:
        """All clients' rows over the start and all clients' gradients ``(clients, vectors, 1 + clients m)``."""
        found = np.full((clients, len(vectors), 1 + clients * m), Fraction(0), dtype=object)
        for j, x in enumerate(vectors):
            found[:, j, 0] = x.mean[0]
            for i in range(clients):
                mine = slice(1 + i * m, 1 + (i + 1) * m)
                found[:, j, mine] = (x.mean[1:] - x.apart[1:]) / clients
                found[i, j, mine] += x.apart[1:]
        return found

    exact = Recorded(rows(asked), rows(servers)[0], tuple(map(rows, paths)), cast(Any, sizes))
    pairs = [(exact.asked, like.asked), (exact.server, like.server), *zip(exact.path, like.path, strict=True)]
    _check_same(algorithm, pairs, "certificate")
    return RationalRun(name, p, steps, exact)


def _check_same(algorithm: Algorithm, pairs: Sequence[tuple[Array, Array]], what: str) -> None:
    """Refuse a method whose hooks do something else than its listing."""
    for exact, seen in pairs:
        listed = exact.astype(float)
        if listed.shape != seen.shape or np.abs(listed - seen).max(initial=0) > AGREE * (
            1 + np.abs(listed).max(initial=0)
        ):
            raise WorstCaseError(f"{algorithm.name} makes other steps than its listing: no {what}")


# ---- one round from any state ----


def rational_round(algorithm: Algorithm, like: OneRound, step_size: float, cohort: Cohort | None) -> OneRound:
    """The round in fractions: that of all clients, or of a ``cohort`` of clients that keep something.

    ``WorstCaseError`` where there is no listing, or it is not what the hooks do.
    """
    if cohort is not None:
        return drawn_round(algorithm, like.gradients, step_size, cohort)
    name, parameter = named_round(algorithm, like.gradients)
    found = _listed(name, parameter, fraction(step_size), like.gradients, None)
    if (found.means, found.apart) != (like.means, like.apart):
        raise WorstCaseError(f"{algorithm.name} makes other steps than its listing: no proof")
    _check_same(algorithm, list(zip(found.arrays(), like.arrays(), strict=True)), "proof")
    return found


def named_round(algorithm: Algorithm, local_steps: int) -> tuple[str, Fraction]:
    """The method whose round it is when all clients take part."""
    if local_steps == 1 and isinstance(algorithm.direction, Controlled) and algorithm.start == ServerStart():
        return "fedavg", Fraction(0)  # the mean of the controls is the server's
    return named(algorithm)


def drawn_round(algorithm: Algorithm, local_steps: int, step_size: float, cohort: Cohort) -> OneRound:
    """A round of a cohort of clients that keep something, in fractions; ``NoListing`` where there is none of it.

    Means are those over all draws. SCAFFOLD's server control is the mean of the clients' controls; FedInit's clients
    start from models that are as old as they are, and the server averages those of the drawn ones.
    """
    name, parameter = named(algorithm)
    if name not in ("scaffold", "fedinit") or algorithm.combine != Average() or algorithm.everyone:
        raise NoListing(f"{algorithm.name} has no listing for cohorts in fractions: they are of scaffold and fedinit")
    found = _listed(name, parameter, fraction(step_size), local_steps, cohort)
    _check_drawn(found, algorithm, step_size)
    return found


def _listed(name: str, p: Fraction, eta: Fraction, steps: int, cohort: Cohort | None) -> OneRound:
    """With a cohort the means of what clients keep count too."""
    kept = METHODS[name]
    means, apart = ("model", *kept.server, *(kept.clients if cohort else ())), kept.clients
    n, k = len(means), len(apart)
    of_mean, of_apart = _units(n + steps), _units(k + steps)
    state = {name: Vector(of_mean[i], 0 * of_apart[0]) for i, name in enumerate(means)}
    for i, word in enumerate(apart):  # when all take part the mean of the last models is the server's
        mean = state[word].mean if cohort else of_mean[0] if word == "last" else 0 * of_mean[0]
        state[word] = Vector(mean, of_apart[i])
    asked: list[Vector] = []

    def ask(x: Vector) -> Vector:
        asked.append(x)
        return Vector(of_mean[n + len(asked) - 1], of_apart[k + len(asked) - 1])

    path, after = play_round(name, p, [eta] * steps, state, ask)
    start = np.array([Fraction(word in ("model", "last")) for word in means], dtype=object)
    mean_next, renewed = [after[word].mean for word in means], None
    if cohort:
        (word,), share = apart, Fraction(cohort.cohort, cohort.clients)
        moved = after[word] - state[word]
        mean_next[-1] = state[word].mean + share * moved.mean
        ends = np.array([path[-1].apart, share * moved.apart])
        renewed = Renewed(share, ends, np.array([moved.mean]), np.array([moved.apart]))
        after[word] = Vector(0 * moved.mean, of_apart[0] + moved.apart)
    return OneRound(
        means, apart, start, np.array(mean_next, dtype=object), np.array([x.mean for x in asked], dtype=object),
        np.array([after[word].apart for word in apart], dtype=object).reshape(k, k + steps),
        np.array([x.apart for x in asked], dtype=object), apart, renewed,
    )  # fmt: skip


class _Given(Oracle):
    """Answers with gradients ``(clients, steps)`` that were chosen before, and notes the models they were asked at."""

    def __init__(self, gradients: Array) -> None:
        super().__init__(len(gradients), torch.zeros(1, 1, dtype=torch.float64), 0)
        self.given, self.seen = torch.from_numpy(gradients), list[Array]()

    def gradient(self, w: torch.Tensor, batch: torch.Tensor) -> torch.Tensor:
        self.seen.append(w[:, 0].numpy().copy())
        return self.given[batch, len(self.seen) - 1][:, None]


def _check_drawn(found: OneRound, algorithm: Algorithm, step_size: float) -> None:
    """Compare the listing with the hooks: one round of two of three clients, from any state, with any gradients."""
    clients, chosen, m = 3, np.array([0, 2]), found.gradients
    draws, kept = np.random.default_rng(31), found.memory[0]
    w, own, gradients = draws.standard_normal(1), draws.standard_normal((clients, 1)), draws.standard_normal((3, m))
    state = algorithm.begin(torch.from_numpy(w), clients)
    if set(state.memory) != {kept}:
        raise NoListing(f"{algorithm.name} keeps {', '.join(state.memory)}: it has no listing for cohorts in fractions")
    server = {name: torch.from_numpy(own.mean(0)) for name in state.server}
    state = State(2, torch.from_numpy(w), {kept: torch.from_numpy(own.copy())}, server)
    oracle: Any = _Given(gradients)
    federation: Any = Members(clients)
    plan = Setting(rounds=9, cohort=2, local_steps=m, step_size=step_size)
    after = play(oracle, federation, algorithm, plan, 0, Tracing(), state, cohort=(chosen, np.ones(2)))
    exact = found.in_floats()
    r = exact.renewed
    assert r is not None
    mean = np.concatenate([w, own.mean(0), gradients.mean(0)])
    apart = np.concatenate([own - own.mean(0), gradients - gradients.mean(0)], axis=1)
    ends = exact.mean_next[0] @ mean + (apart @ r.ends[0])[chosen].mean()
    memory = own[:, 0] + np.isin(np.arange(clients), chosen) * (r.means[0] @ mean + apart @ r.apart[0])
    points = exact.mean_points @ mean + apart @ exact.apart_points.T
    seen = np.array([float(after.model), *after.memory[kept][:, 0].tolist(), *np.array(oracle.seen).ravel()])
    _check_same(algorithm, [(np.array([ends, *memory, *points[chosen].T.ravel()]), seen)], "rate with cohorts")


def check_averaged(found: OneRound, algorithm: Algorithm, step_size: float) -> None:
    """Compare a round whose clients keep nothing with the hooks: a cohort counts by the mean of its clients alone."""
    m, draws = found.gradients, np.random.default_rng(37)
    plan, members = Setting(rounds=9, cohort=2, local_steps=m, step_size=step_size), cast(Any, Members(3))
    begun = draws.standard_normal(1)
    state, means = algorithm.begin(torch.from_numpy(begun), 3), found.start * begun
    for chosen in ([0, 2], [1, 2], [0, 1]):
        gradients = draws.standard_normal((3, m))
        oracle: Any = Oracle(3, torch.from_numpy(np.append(state.model.numpy(), gradients)[:, None]), m)
        state = play(oracle, members, algorithm, plan, 0, Tracing(), state, cohort=(np.array(chosen), np.ones(2)))
        means = found.mean_next @ np.append(means, gradients[chosen].mean(0))
        if abs(float(state.model) - means[0]) > AGREE * (1 + abs(means[0])):
            raise EmpiricsError(f"{algorithm}: its round depends on how many take part: no rate with cohorts")
