"""Algorithms 1 and 4 as they are printed, and what the library trains, in fractions on two clients.

A model is (phi, h), one number each; client k's loss is ``1/2 (theta - c_k)^T H_k (theta - c_k)``, so gradients are
exact and no batch is drawn. Arrays of models have a row for each client.
"""

from __future__ import annotations

from fractions import Fraction as F
from functools import partial
from typing import Any, TYPE_CHECKING

import numpy as np

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
    """Every client's gradient at its own model."""
    return np.array([gradient(*client) for client in zip(CURVATURES, CENTRES, models, strict=True)])


def mean(models: Array) -> Array:
    return models.sum(0) / len(models)


def with_part(models: Array, part: int, values: Any) -> Array:
    """The models with one part replaced."""
    replaced = models.copy()
    replaced[:, part] = values
    return replaced


def trained(method: str, rounds: int, steps: int, one_hessian: bool = False) -> PlayedRound:
    """The end of a run of the library's method, both clients taking part; ``one_hessian``: the first's for both."""
    from empirics.exact import play

    losses = zip(CURVATURES[[0, 0]] if one_hessian else CURVATURES, CENTRES, strict=True)
    slopes = [partial(gradient, *loss) for loss in losses]
    layers = {"phi": slice(0, 1), "head": slice(1, 2)}
    return play(method, slopes, START, [(0, 1)] * rounds, local_steps=steps, step_size=STEP, layers=layers)[-1]


class Listing:
    """Algorithm 1, or with ``controls`` Algorithm 4: every iterate is kept under its printed index (r, t).

    Rounds count from ``first``. An average is written to the iterate that the step has just made, as in the released
    code, or ``to_the_letter`` to the one that the step has already used. ``else_if``: the extractor's test stands in
    the else branch of the head's (version 1). ``before``: lines 6 to 13 stand before line 5, so that a step starts at
    the averages. ``sent`` are the steps after which each part is averaged.
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
        """The mean of both models after some rounds."""
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
        """Lines 6 to 13."""
        count = r * self.tau + t
        head, extractor = count % self.tau == 0, count % (self.alpha * self.tau) == 0
        for part in [HEAD] * head + [PHI] * (extractor and not (self.else_if and head)):
            place = (r, t) if self.to_the_letter else (r, t + 1)
            models = self.iterates[place]
            if self.with_controls:  # a walk that begins before the first iterate begins at the start
                begun, steps = ((r, 0), self.tau) if part == HEAD else ((r - self.alpha, t), self.alpha * self.tau)
                walk = (self.iterates.get(begun, START) - models) / (STEP * steps)
                renewed = self.controls - mean(self.controls) + walk
                self.controls = with_part(self.controls, part, renewed[:, part])
            self.iterates[place] = with_part(models, part, mean(models)[part])
            self.sent[part].append((r - self.first) * self.tau + t + 1)


def intended_controls(rounds: int, tau: int, alpha: int) -> Array:
    """What Algorithm 4 is to do: a part's control variables are renewed from its walk since its last average."""
    models = begun = np.array([START, START])
    controls = np.full((2, 2), F(0))
    for step in range(1, rounds * tau + 1):
        models = models - STEP * (gradients(models) + mean(controls) - controls)
        for part, period in ((HEAD, tau), (PHI, alpha * tau)):
            if step % period == 0:
                renewed = controls - mean(controls) + (begun - models) / (STEP * period)
                controls = with_part(controls, part, renewed[:, part])
                models = with_part(models, part, mean(models)[part])
                begun = with_part(begun, part, models[:, part])
    return mean(models)
