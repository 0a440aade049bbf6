"""Algorithms 1 to 4 of both versions: what their lines do, and what the text says they do.

Algorithms 1 and 4 as printed and the library's algorithms are run in fractions on two clients. A model is (phi, h), one
number each; client k's loss is ``1/2 (theta - c_k)^T H_k (theta - c_k)``, and gradients are exact, without batches.
Arrays of models have a row for each client.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction as F
from functools import partial
from itertools import product
from typing import Any, TYPE_CHECKING

import numpy as np

from ..claim import Book, fails, Finding, finding, Grade, holds
from .common import CNN, STEPS

if TYPE_CHECKING:
    from empirics.exact import PlayedRound

Array = np.ndarray[Any, np.dtype[Any]]

PHI, HEAD = 0, 1
CENTRES = np.array([[F(2), F(-1)], [F(-1), F(3)]])
CURVATURES = np.array([[[F(3), F(1)], [F(1), F(2)]], [[F(1), F(-1, 2)], [F(-1, 2), F(4)]]])
START = np.array([F(5), F(7, 2)])
STEP = F(1, 8)
ROUNDS, TAU, ALPHA = 6, 3, 2
OPTIMUM = np.array([F(7, 19), F(39, 19)])
"""The minimiser of the sum of both losses."""


def gradient(curvature: Array, centre: Array, model: Array) -> Array:
    return curvature @ (model - centre)


def gradients(models: Array) -> Array:
    """Return every client's gradient at its own model."""
    return np.array([gradient(*client) for client in zip(CURVATURES, CENTRES, models, strict=True)])


def mean(models: Array) -> Array:
    return models.sum(0) / len(models)


def with_part(models: Array, part: int, values: Any) -> Array:
    """Return the models with one part (PHI or HEAD) replaced."""
    replaced = models.copy()
    replaced[:, part] = values
    return replaced


def trained(method: str, rounds: int, steps: int, one_hessian: bool = False) -> PlayedRound:
    """Return the last round of a run of the library's method; ``one_hessian``: both clients have the first's."""
    from empirics.exact import play

    losses = zip(CURVATURES[[0, 0]] if one_hessian else CURVATURES, CENTRES, strict=True)
    slopes = [partial(gradient, *loss) for loss in losses]
    layers = {"phi": slice(0, 1), "head": slice(1, 2)}
    return play(method, slopes, START, [(0, 1)] * rounds, local_steps=steps, step_size=STEP, layers=layers)[-1]


class Listing:
    """Algorithm 1 as printed, or with ``controls`` Algorithm 4; ``iterates`` has all models by their index (r, t).

    ``sent`` lists the steps after which each part is averaged. Rounds count from ``first``. ``to_the_letter``: averages
    are written to the iterate that the step has already used, as printed, and not to the one that it has just made, as
    in the released code. ``else_if``: the extractor is tested in the else branch of the head's test (version 1).
    ``before``: lines 6 to 13 are run before line 5, so that a step starts at the averages.
    """

    def __init__(
        self, tau: int = TAU, alpha: int = ALPHA, first: int = 0, to_the_letter: bool = False, else_if: bool = False,
        before: bool = False, controls: bool = False,
    ):  # fmt: skip
        self.tau, self.alpha, self.first, self.to_the_letter, self.else_if = tau, alpha, first, to_the_letter, else_if
        self.before, self.with_controls = before, controls
        self.controls = np.full((2, 2), F(0))
        self.iterates = {(first, 0): np.array([START, START])}
        self.sent: dict[int, list[int]] = {PHI: [], HEAD: []}

    def run(self, rounds: int) -> Array:
        """Run some rounds and return the mean of both models."""
        theta = self.iterates
        for r in range(self.first, self.first + rounds):
            for t in range(self.tau):
                if self.before:
                    self._exchange(r, t)
                corrected = gradients(theta[r, t]) + mean(self.controls) - self.controls
                theta[r, t + 1] = theta[r, t] - STEP * corrected
                if not self.before:
                    self._exchange(r, t)
            theta[r + 1, 0] = theta[r, self.tau]
        return mean(theta[self.first + rounds, 0])

    def _exchange(self, r: int, t: int) -> None:
        """Lines 6 to 13: average the parts that are due, and renew their control variables."""
        count = r * self.tau + t
        head, extractor = count % self.tau == 0, count % (self.alpha * self.tau) == 0
        for part in [HEAD] * head + [PHI] * (extractor and not (self.else_if and head)):
            place = (r, t) if self.to_the_letter else (r, t + 1)
            models = self.iterates[place]
            if self.with_controls:
                last, steps = ((r, 0), self.tau) if part == HEAD else ((r - self.alpha, t), self.alpha * self.tau)
                # An index before the first iterate refers to the start.
                direction = (self.iterates.get(last, START) - models) / (STEP * steps)
                controls = self.controls - mean(self.controls) + direction
                self.controls = with_part(self.controls, part, controls[:, part])
            self.iterates[place] = with_part(models, part, mean(models)[part])
            self.sent[part].append((r - self.first) * self.tau + t + 1)


def intended_controls(rounds: int = ROUNDS, alpha: int = 1) -> Array:
    """Return the model of Algorithm 4 as intended: a part's control variables use its move since its last average."""
    models = averaged = np.array([START, START])
    controls = np.full((2, 2), F(0))
    for step in range(1, rounds * TAU + 1):
        models = models - STEP * (gradients(models) + mean(controls) - controls)
        for part, period in ((HEAD, TAU), (PHI, alpha * TAU)):
            if step % period == 0:
                renewed = controls - mean(controls) + (averaged - models) / (STEP * period)
                controls = with_part(controls, part, renewed[:, part])
                models = with_part(models, part, mean(models)[part])
                averaged = with_part(averaged, part, models[:, part])
    return mean(models)


# ---- Algorithm 1 ----

EXCHANGED_FIRST = {"to_the_letter": True, "before": True}
"""Version 2 with the exchange before the step: its left-hand sides are then right as printed."""


def shown(model: Array) -> str:
    return f"({float(model[0]):.5g}, {float(model[1]):.5g})"


def listed(**reading: Any) -> Callable[[], Array]:
    """Return a function that runs the listing in this reading."""
    return lambda: Listing(**reading).run(ROUNDS)


def by(method: str) -> Callable[[], Array]:
    """Return a function that runs the library's method."""
    return lambda: trained(method, ROUNDS, TAU).model


def same(book: Book, left: Callable[[], Array], right: Callable[[], Array]) -> Finding:
    """Whether two runs end with the same model, in fractions."""
    a, b = left(), right()
    return holds(f"both end at {shown(a)}") if (a == b).all() else fails(f"{shown(a)} against {shown(b)}")


def period(book: Book) -> Finding:
    for tau in range(1, 6):
        for alpha in (*range(1, 6), 10):
            run = Listing(tau, alpha)
            run.run(4 * alpha)
            if run.sent[PHI] != [1 + i * alpha * tau for i in range(4)]:
                return fails(f"tau = {tau}, alpha = {alpha}: after steps {run.sent[PHI]}")
            if run.sent[HEAD] != [1 + i * tau for i in range(4 * alpha)]:
                return fails(f"tau = {tau}: head after steps {run.sent[HEAD]}")
    return holds("head after steps 1, tau + 1, 2 tau + 1, ..., extractor after 1, alpha tau + 1, ...")


def else_if(book: Book, controls: bool = False) -> Finding:
    """The extractor is ever averaged with version 1's else-if, which tests for it only if the head's test fails."""
    for tau, alpha in product(range(1, 6), repeat=2):
        run = Listing(tau, alpha, first=1, else_if=True, controls=controls)
        run.run(4)
        if run.sent[PHI] or run.controls[:, PHI].any():
            return holds(f"tau = {tau}, alpha = {alpha}: sent after steps {run.sent[PHI]}")
        if not run.sent[HEAD]:
            return fails(f"tau = {tau}: not even the head is sent", as_audited=False)
    zero = ", its control variables zero as at the start" * controls
    return fails(f"never sent for any tau, alpha from 1 to 5{zero}: a multiple of alpha tau is one of tau")


def letter(book: Book) -> Finding:
    """The listing as printed equals the listing that writes averages to the new iterate; else clients train alone."""
    letter, current = (Listing(to_the_letter=yes).run(ROUNDS) for yes in (True, False))
    alone = trained("fedavg()", 1, ROUNDS * TAU).model
    evidence = f"to the letter {shown(letter)}, from the averages {shown(current)}, each client alone {shown(alone)}"
    return holds(evidence) if (letter == current).all() else fails(evidence, as_audited=bool((letter == alone).all()))


def common_start(book: Book) -> Finding:
    """Both clients have the same model after the exchange of every round, for alpha = 2 (and for alpha = 1)."""
    different = {}
    for alpha in (1, ALPHA):
        run = Listing(alpha=alpha)
        run.run(ROUNDS)
        different[alpha] = [r for r in range(ROUNDS) if (run.iterates[r, 1][0] != run.iterates[r, 1][1]).any()]
    evidence = f"clients differ after the exchange of rounds {different[ALPHA]} for alpha = {ALPHA}, "
    evidence += f"{different[1]} for alpha = 1"
    return fails(evidence, as_audited=not different[1]) if different[ALPHA] else holds(evidence)


# ---- Algorithms 3 and 4, with control variables ----


def _distance(model: Array) -> float:
    """Return the larger of the distances of both parts from the global optimum."""
    return float(max(abs(model - OPTIMUM)))


def drift_free(book: Book) -> Finding:
    plain, corrected = (_distance(trained(method, 25, TAU).model) for method in ("fedavg()", "scaffold()"))
    evidence = f"after 25 rounds FedAvg is {plain:.2g} from the optimum, SCAFFOLD {corrected:.2g}"
    return finding(corrected < 1e-3 < 1e-1 < plain, evidence, grade=Grade.SEARCHED)


MOMENTA: dict[str, dict[str, Any]] = {
    "no momentum": {"beta": F(0)},
    "heavy ball": {},
    "heavy ball, velocity kept": {"kept": True},
    "Nesterov": {"nesterov": True},
    "Nesterov, velocity kept": {"nesterov": True, "kept": True},
}
"""Table 4 says Nesterov, the released code uses a heavy ball; whether rounds share the velocity is not stated."""


def _with_momentum(
    rounds: int, beta: F = CNN["momentum"], nesterov: bool = False, kept: bool = False, size: F = F(1, 80)
) -> Array:
    """Run Algorithm 3 with PyTorch's momentum and the experiments' number of local steps; ``kept``: across rounds."""
    model, controls, velocity = START, np.full((2, 2), F(0)), np.full((2, 2), F(0))
    for _ in range(rounds):
        models, velocity = np.array([model, model]), velocity if kept else 0 * velocity
        for _ in range(STEPS):
            corrected = gradients(models) + mean(controls) - controls
            velocity = beta * velocity + corrected
            models = models - size * (corrected + beta * velocity if nesterov else velocity)
        controls = controls - mean(controls) + (model - models) / (size * STEPS)
        model = mean(models)
    return model


def momentum(book: Book) -> Finding:
    distances = {name: [_distance(_with_momentum(r, **kind)) for r in (30, 60)] for name, kind in MOMENTA.items()}
    diverging = [name for name, (early, late) in distances.items() if late > early]
    evidence = "; ".join(f"{name} {early:.2g}, {late:.2g}" for name, (early, late) in distances.items())
    evidence = f"steps of 1/80, distance from the optimum after 30 and 60 rounds: {evidence}"
    return finding(not diverging, evidence, as_audited=diverging == list(MOMENTA)[1:])


def head_control(book: Book) -> Finding:
    """The head's control variables become nonzero, as mean gradients are, in every reading of the listing."""
    readings: dict[str, dict[str, bool]] = {
        "to the letter": {"to_the_letter": True},
        "exchange in front of the step": EXCHANGED_FIRST,
        "written to the new iterate": {},
    }
    controls = {}
    for name, reading in readings.items():
        run = Listing(first=1, controls=True, **reading)
        run.run(ROUNDS)
        controls[name] = run.controls[0, HEAD]
    values = ", ".join(f"{float(c):.4g} ({name})" for name, c in controls.items())
    evidence = f"first client's after {ROUNDS} rounds: {values}"
    nonzero = [bool(c) for c in controls.values()]
    return finding(all(nonzero), evidence, as_audited=nonzero == [False, False, True])


def extractor_control(book: Book) -> Finding:
    for r, t in product(range(1, ROUNDS + 1), range(TAU)):
        count = r * TAU + t
        q, s = divmod(count - ALPHA * TAU, TAU)
        if count % (ALPHA * TAU) == 0 and q < 1:
            return fails(f"tau = {TAU}, alpha = {ALPHA}: in round {r}, step {t}, it refers to round {q}, step {s}")
    return holds("every iterate that is referred to exists")
