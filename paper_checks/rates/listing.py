"""A round in fractions, from the method's listing: what a proof is about, held against the hooks that train."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

import numpy as np
import torch

from empirics.algorithms.algorithm import Algorithm, Average, Gradient, ServerStart
from empirics.algorithms.local import ClientMomentum, Controlled
from empirics.algorithms.server import ServerMomentum
from empirics.algorithms.state import State
from empirics.errors import EmpiricsError
from empirics.exact import Tracing
from empirics.training.rounds import play
from empirics.training.setting import Setting

from ..worst_cases.certificates.exact import AGREE, declared, fraction
from ..worst_cases.program import WorstCaseError
from ..worst_cases.recording import Members, Oracle
from .one_round import Array, Cohort, OneRound, Renewed

KEPT: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "fedavg": (("model",), ()),
    "fedprox": (("model",), ()),
    "fedinit": (("model",), ("last",)),
    "scaffold": (("model",), ("control",)),
    "fedavgm": (("model", "velocity"), ()),
    "fedcm": (("model", "direction"), ()),
}
"""What the means and the deviations keep from round to round, by method."""


class NoListing(WorstCaseError):
    """No listing of the method is played in fractions."""


def named(algorithm: Algorithm, local_steps: int) -> tuple[str, Fraction]:
    """The method by name and its one number; ``NoListing`` where no listing of it is played here."""
    name, combine, direction = algorithm.name.partition("(")[0], algorithm.combine, algorithm.direction
    if local_steps == 1 and isinstance(direction, Controlled) and algorithm.start == ServerStart():
        return "fedavg", Fraction(0)  # the mean of the controls is the server's
    if name == "fedavgm" and isinstance(combine, ServerMomentum) and not combine.divide:
        return name, fraction(combine.momentum)
    if name == "fedcm" and isinstance(direction, ClientMomentum):
        return name, fraction(direction.alpha)
    if (algorithm.start, direction, combine) == (ServerStart(), Gradient(), Average()) and not algorithm.remember:
        return "fedavg", Fraction(0)  # dsgd too
    try:
        return declared(algorithm)
    except WorstCaseError:
        known = ", ".join(KEPT)
        raise NoListing(f"{algorithm.name} has no listing in fractions: proved are {known}") from None


def listed(algorithm: Algorithm, like: OneRound, step_size: float) -> OneRound:
    """The round in fractions; ``WorstCaseError`` where there is no listing, or it is not what the hooks do."""
    name, parameter = named(algorithm, like.gradients)
    found = _played(name, parameter, fraction(step_size), like.gradients)
    pairs = list(zip(found.arrays(), like.arrays(), strict=True))
    if (found.means, found.apart) != (like.means, like.apart) or any(
        a.shape != b.shape or np.abs(a.astype(float) - b).max(initial=0) > AGREE * (1 + np.abs(b).max(initial=0))
        for a, b in pairs
    ):
        raise WorstCaseError(f"{algorithm.name} makes other steps than its listing: no proof")
    return found


def drawn(algorithm: Algorithm, local_steps: int, step_size: float, cohort: Cohort) -> OneRound:
    """A round of a cohort of clients that keep something, in fractions; ``NoListing`` where there is none of it.

    Means are those over all draws. SCAFFOLD's server control is the mean of the clients' controls; FedInit's clients
    start from models that are as old as they are, and the server averages those of the drawn ones.
    """
    name, p = declared_alone(algorithm)
    steps, eta, share = local_steps, fraction(step_size), Fraction(cohort.cohort, cohort.clients)
    n, k = 2, 1
    size = n + steps + k + steps
    units = np.array([[Fraction(i == j) for j in range(size)] for i in range(size)], dtype=object)
    w, shared, own = units[0], units[1], units[1] + units[n + steps]
    x = first = (1 + p) * w - p * own if name == "fedinit" else w
    asked = []
    for j in range(steps):
        asked.append(x)
        way = units[n + j] + units[n + steps + k + j]
        x = x - eta * (way - own + shared if name == "scaffold" else way)
    moved = x - own if name == "fedinit" else (first - x) / (steps * eta) - shared
    cut, points = n + steps, np.array(asked, dtype=object)
    kept = "last" if name == "fedinit" else "control"
    start = np.array([Fraction(1), Fraction(name == "fedinit")], dtype=object)
    renewed = Renewed(share, np.array([x[cut:], share * moved[cut:]]), np.array([moved[:cut]]), np.array([moved[cut:]]))
    found = OneRound(
        ("model", kept), (kept,), start, np.array([x[:cut], (shared + share * moved)[:cut]]), points[:, :cut],
        np.array([(own + moved)[cut:]]), points[:, cut:], (kept,), renewed,
    )  # fmt: skip
    _check_drawn(found, algorithm, step_size)
    return found


def declared_alone(algorithm: Algorithm) -> tuple[str, Fraction]:
    """SCAFFOLD, or FedInit whose server averages the models of the drawn clients and nobody else trains."""
    name, parameter = algorithm.name.partition("(")[0], Fraction(0)
    plain = algorithm.combine == Average() and not algorithm.everyone
    if plain and name in ("scaffold", "fedinit"):
        name, parameter = declared(algorithm)
        return name, parameter
    raise NoListing(f"{algorithm.name} has no listing for cohorts in fractions: they are of scaffold and fedinit")


def in_floats(round_: OneRound) -> OneRound:
    """The same round in floats."""
    r = round_.renewed
    renewed = None if r is None else Renewed(float(r.share), *(a.astype(float) for a in r.arrays()))
    start, means, points, apart, away = (a.astype(float) for a in round_.arrays())
    return OneRound(
        round_.means, round_.apart, start, means, points, apart, away, round_.memory, renewed
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
    """Hold the listing against the hooks: one round of two of three clients, from any state, with any gradients."""
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
    exact = in_floats(found)
    r = exact.renewed
    assert r is not None
    mean = np.concatenate([w, own.mean(0), gradients.mean(0)])
    apart = np.concatenate([own - own.mean(0), gradients - gradients.mean(0)], axis=1)
    ends = exact.mean_next[0] @ mean + (apart @ r.ends[0])[chosen].mean()
    memory = own[:, 0] + np.isin(np.arange(clients), chosen) * (r.means[0] @ mean + apart @ r.apart[0])
    points = exact.mean_points @ mean + apart @ exact.apart_points.T
    seen = [float(after.model), *after.memory[kept][:, 0].tolist(), *np.array(oracle.seen).ravel()]
    said = [ends, *memory, *points[chosen].T.ravel()]
    if np.abs(np.array(seen) - np.array(said)).max() > AGREE * (1 + np.abs(said).max()):
        raise WorstCaseError(f"{algorithm.name} makes other steps than its listing: no rate with cohorts")


def check_averaged(found: OneRound, algorithm: Algorithm, step_size: float) -> None:
    """Hold a round whose clients keep nothing against the hooks: a cohort counts by the mean of its clients alone."""
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


def _played(name: str, p: Fraction, eta: Fraction, steps: int) -> OneRound:
    """A vector is one row: its mean over state and gradients, then its deviation over state and gradients."""
    means, apart = KEPT[name]
    n, k = len(means), len(apart)
    size = n + steps + k + steps
    units = np.array([[Fraction(i == j) for j in range(size)] for i in range(size)], dtype=object).reshape(size, size)

    def averaged(row: Array) -> Array:
        return np.concatenate([row[: n + steps], 0 * row[n + steps :]])

    w = units[0]
    kept = units[1] if n > 1 else 0 * w
    own = units[n + steps] if k else 0 * w
    x = first = w - p * own if name == "fedinit" else w  # the deviation of w + p (w - last)
    asked = []
    for j in range(steps):
        asked.append(x)
        way = units[n + j] + units[n + steps + k + j]
        if name == "fedprox":
            way = way + p * (x - w)
        elif name == "scaffold":
            way = way - own
        elif name == "fedcm":
            way = p * way + (1 - p) * kept
        x = x - eta * way
    after, moved = averaged(x), averaged(x - first)
    away = x - averaged(x)
    if name == "fedavgm":
        kept = p * kept - moved
        after = w - kept
    elif name == "fedcm":
        kept = -moved / (steps * eta)
    elif name == "scaffold":
        away = own + (first - x - averaged(first - x)) / (steps * eta)
    mean_rows = np.array([after, kept][:n], dtype=object)
    apart_rows = np.array([away][:k], dtype=object).reshape(k, size)
    points = np.array(asked, dtype=object)
    start = np.array([Fraction(1), Fraction(0)][:n], dtype=object)
    return OneRound(
        means, apart, start, mean_rows[:, : n + steps], points[:, : n + steps],
        apart_rows[:, n + steps :], points[:, n + steps :], apart,
    )  # fmt: skip
