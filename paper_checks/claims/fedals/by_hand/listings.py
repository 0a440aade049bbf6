"""The paper's algorithms line by line, in fractions, on two clients with quadratic losses: Algorithms 1 to 4.

A model is (phi, h), one number each; client k's loss is ``1/2 (theta - c_k)^T H_k (theta - c_k)``, so gradients are
exact and no batch is drawn. Every iterate is kept under its printed index, so that an assignment to one can be told
from an assignment to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as F

Vector = tuple[F, F]
PHI, HEAD = 0, 1
CLIENTS = (0, 1)
CENTRES: tuple[Vector, ...] = ((F(2), F(-1)), (F(-1), F(3)))
CURVATURES = (((F(3), F(1)), (F(1), F(2))), ((F(1), F(-1, 2)), (F(-1, 2), F(4))))
START: Vector = (F(5), F(7, 2))
STEP = F(1, 8)
ZERO: Vector = (F(0), F(0))


def gradient(k: int, theta: Vector, alike: bool = False) -> Vector:
    """Of client k's loss, or of that of its centre and the first one's Hessian."""
    x, y = theta[0] - CENTRES[k][0], theta[1] - CENTRES[k][1]
    (a, b), (c, d) = CURVATURES[0 if alike else k]
    return a * x + b * y, c * x + d * y


def stepped(k: int, theta: Vector, correction: Vector = ZERO, alike: bool = False) -> Vector:
    """One local step (5); ``correction`` is added to the gradient."""
    g = gradient(k, theta, alike)
    return theta[0] - STEP * (g[0] + correction[0]), theta[1] - STEP * (g[1] + correction[1])


def mean(models: list[Vector]) -> Vector:
    return sum((m[0] for m in models), F(0)) / len(models), sum((m[1] for m in models), F(0)) / len(models)


def with_part(theta: Vector, part: int, value: F) -> Vector:
    return (value, theta[1]) if part == PHI else (theta[0], value)


def fedavg(rounds: int, tau: int) -> Vector:
    """Algorithm 2."""
    start = [START for _ in CLIENTS]
    for _ in range(rounds):
        ends = []
        for k in CLIENTS:
            theta = start[k]
            for _ in range(tau):
                theta = stepped(k, theta)
            ends.append(theta)
        start = [mean(ends) for _ in CLIENTS]
    return mean(ends)


Iterates = dict[tuple[int, int, int], Vector]
Place = Callable[[int, int], tuple[int, int]]
"""Where an average goes: given r and t, the index of the iterate whose part is replaced."""


def to_the_letter(r: int, t: int) -> tuple[int, int]:
    """The listing's left-hand side: the iterate that the step has already used."""
    return r, t


def current(r: int, t: int) -> tuple[int, int]:
    """The iterate that the step has just made, as the released code has it."""
    return r, t + 1


class FedAls:
    """Algorithm 1 with what readings and two versions differ in; ``sent`` counts the averages of every part.

    ``before``: lines 6 to 13 stand before line 5, so that a step starts at the averages.
    """

    def __init__(self, tau: int, alpha: int, first: int, assign: Place, else_if: bool, before: bool = False):
        self.tau, self.alpha, self.first, self.assign, self.else_if = tau, alpha, first, assign, else_if
        self.before = before
        self.iterates: Iterates = {(k, first, 0): START for k in CLIENTS}
        self.sent: dict[int, list[int]] = {PHI: [], HEAD: []}

    def due(self, count: int) -> list[int]:
        """The parts that lines 6 and 10 send at this counter."""
        head, body = count % self.tau == 0, count % (self.alpha * self.tau) == 0
        return [part for part, yes in ((HEAD, head), (PHI, body and not (self.else_if and head))) if yes]

    def run(self, rounds: int) -> Vector:
        theta = self.iterates
        for r in range(self.first, self.first + rounds):
            for t in range(self.tau):
                if self.before:
                    self._exchange(r, t)
                pulls = [self.pull(k) for k in CLIENTS]
                for k in CLIENTS:
                    theta[k, r, t + 1] = stepped(k, theta[k, r, t], pulls[k])
                if not self.before:
                    self._exchange(r, t)
            for k in CLIENTS:
                theta[k, r + 1, 0] = theta[k, r, self.tau]
        return mean([theta[k, self.first + rounds, 0] for k in CLIENTS])

    def pull(self, k: int) -> Vector:
        """What a client adds to its gradient: nothing without control variables."""
        return ZERO

    def _exchange(self, r: int, t: int) -> None:
        for part in self.due(r * self.tau + t):
            self._average(part, r, t)

    def _average(self, part: int, r: int, t: int) -> None:
        place = self.assign(r, t)
        value = sum((self.iterates[k, *place][part] for k in CLIENTS), F(0)) / len(CLIENTS)
        for k in CLIENTS:
            self.iterates[k, *place] = with_part(self.iterates[k, *place], part, value)
        self.sent[part].append((r - self.first) * self.tau + t + 1)


class WithControls(FedAls):
    """Algorithm 4: before a part is averaged, its control variables are renewed from a walk of that part.

    A walk that begins before the first iterate begins at the start (v2's first one asks for round 0).
    """

    def __init__(self, tau: int, alpha: int, assign: Place, else_if: bool, before: bool = False):
        super().__init__(tau, alpha, 1, assign, else_if, before)
        self.controls = [ZERO for _ in CLIENTS]

    def pull(self, k: int) -> Vector:
        shared, own = mean(self.controls), self.controls[k]
        return shared[0] - own[0], shared[1] - own[1]

    def _average(self, part: int, r: int, t: int) -> None:
        here, shared = self.assign(r, t), mean(self.controls)[part]
        rounds = self.alpha if part == PHI else 0
        for k in CLIENTS:
            begun = self.iterates.get((k, r - rounds, t if rounds else 0), START)
            steps = self.tau * (self.alpha if part == PHI else 1)
            walk = (begun[part] - self.iterates[k, *here][part]) / (STEP * steps)
            own = self.controls[k]
            self.controls[k] = with_part(own, part, own[part] - shared + walk)
        super()._average(part, r, t)


def intended_controls(rounds: int, tau: int, alpha: int) -> Vector:
    """What Algorithm 4 is to do: a part's control variables are renewed from its walk since its last average."""
    models, begun, controls = [START for _ in CLIENTS], START, [ZERO for _ in CLIENTS]
    for step in range(1, rounds * tau + 1):
        shared = mean(controls)
        models = [stepped(k, models[k], (shared[0] - controls[k][0], shared[1] - controls[k][1])) for k in CLIENTS]
        for part, period in ((HEAD, tau), (PHI, alpha * tau)):
            if step % period == 0:
                walks = [(begun[part] - models[k][part]) / (STEP * period) for k in CLIENTS]
                controls = [
                    with_part(c, part, c[part] - shared[part] + walk) for c, walk in zip(controls, walks, strict=True)
                ]
                value = mean(models)[part]
                models, begun = [with_part(m, part, value) for m in models], with_part(begun, part, value)
    return mean(models)


def intended(rounds: int, tau: int, alpha: int, alike: bool = False) -> Vector:
    """What the text describes: the head is averaged after every tau steps, the extractor after every alpha tau.

    ``alike``: the clients share the first one's Hessian.
    """
    models = [START for _ in CLIENTS]
    for step in range(1, rounds * tau + 1):
        models = [stepped(k, models[k], alike=alike) for k in CLIENTS]
        for part, period in ((HEAD, tau), (PHI, alpha * tau)):
            if step % period == 0:
                value = mean(models)[part]
                models = [with_part(m, part, value) for m in models]
    return mean(models)


def alone(rounds: int, tau: int) -> Vector:
    """Local steps without any exchange; one average at the very end."""
    models = [START for _ in CLIENTS]
    for _ in range(rounds * tau):
        models = [stepped(k, models[k]) for k in CLIENTS]
    return mean(models)


@dataclass(frozen=True)
class Momentum:
    """PyTorch's momentum in the steps of a client; the velocity is zero at the start of a round unless it is kept."""

    beta: F = F(0)
    nesterov: bool = False
    kept: bool = False

    def step(self, velocity: Vector, gradient: Vector) -> tuple[Vector, Vector]:
        """The new velocity, and the direction of the step."""
        v = self.beta * velocity[0] + gradient[0], self.beta * velocity[1] + gradient[1]
        ahead = gradient[0] + self.beta * v[0], gradient[1] + self.beta * v[1]
        return v, ahead if self.nesterov else v


def scaffold(
    rounds: int, tau: int, learn: bool = True, size: F = STEP, momentum: Momentum = Momentum()
) -> tuple[Vector, list[Vector]]:
    """Algorithm 3 with steps of ``size``, and its control variables, which stay at zero unless they ``learn`` (line "
    "7)."""
    start, controls, velocities = [START for _ in CLIENTS], [ZERO for _ in CLIENTS], [ZERO for _ in CLIENTS]
    for _ in range(rounds):
        shared, ends, renewed = mean(controls), [], []
        for k in CLIENTS:
            theta, c, v = start[k], controls[k], velocities[k] if momentum.kept else ZERO
            for _ in range(tau):
                g = gradient(k, theta)
                v, d = momentum.step(v, (g[0] + shared[0] - c[0], g[1] + shared[1] - c[1]))
                theta = theta[0] - size * d[0], theta[1] - size * d[1]
            walk = [(start[k][i] - theta[i]) / (size * tau) for i in (0, 1)]
            renewed.append((c[0] - shared[0] + walk[0], c[1] - shared[1] + walk[1]))
            ends.append(theta)
            velocities[k] = v
        controls = renewed if learn else controls
        start = [mean(ends) for _ in CLIENTS]
    return mean(ends), controls


def optimum() -> Vector:
    """The minimiser of the sum of both losses."""
    a = [[sum((H[i][j] for H in CURVATURES), F(0)) for j in (0, 1)] for i in (0, 1)]
    b = [
        sum((sum((H[i][j] * c[j] for j in (0, 1)), F(0)) for H, c in zip(CURVATURES, CENTRES, strict=True)), F(0))
        for i in (0, 1)
    ]
    determinant = a[0][0] * a[1][1] - a[0][1] * a[1][0]
    return (b[0] * a[1][1] - b[1] * a[0][1]) / determinant, (a[0][0] * b[1] - a[1][0] * b[0]) / determinant
