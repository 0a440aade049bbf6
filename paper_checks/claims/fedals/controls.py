"""Algorithms 3 and 4, with control variables: what their lines do, against what the text says they do."""

from __future__ import annotations

from fractions import Fraction as F
from typing import Any

import numpy as np

from ..claim import Book, Claim, Defect, fails, Finding, Grade, holds, judged, Kind, Repair
from .algorithms import EXCHANGED_FIRST, same
from .listings import (
    ALPHA,
    Array,
    gradients,
    HEAD,
    intended_controls,
    Listing,
    mean,
    OPTIMUM,
    PHI,
    ROUNDS,
    START,
    TAU,
    trained,
)  # fmt: skip
from .settings import CNN, STEPS


def _never_sent(book: Book) -> Finding:
    for tau in range(1, 6):
        for alpha in range(1, 6):
            run = Listing(tau, alpha, first=1, else_if=True, controls=True)
            run.run(4)
            if run.sent[PHI] or run.controls[:, PHI].any():
                return holds(f"tau = {tau}, alpha = {alpha}: sent after steps {run.sent[PHI]}")
    return fails("extractors never sent, their control variables zero as at the start, for any tau, alpha from 1 to 5")


ELSE_IF_4 = Claim(
    "fedals.algorithm_4.else_if",
    "Algorithm 4 of v1 averages the extractor, and renews its control variables, every alpha tau steps.",
    Kind.ALGORITHM.at("Algorithm 4", "v1"),
    _never_sent,
    note="The same slip as in Algorithm 1 (fedals.algorithm_1.else_if), mended in v2 too. With the head's walk "
    "(fedals.algorithm_4.head) nothing is left of SCAFFOLD if control variables start at zero: v1's Algorithm 4 is "
    "then its Algorithm 1 to the letter.",
    defect=Defect.SLIP,
)


def _off(model: Array) -> float:
    """The larger of the distances of both parts from the global optimum."""
    return float(max(abs(model - OPTIMUM)))


def _drift_free(book: Book) -> Finding:
    plain, corrected = (_off(trained(method, 25, TAU).model) for method in ("fedavg()", "scaffold()"))
    said = f"after 25 rounds FedAvg is {plain:.2g} from the optimum, SCAFFOLD {corrected:.2g}"
    return judged(corrected < 1e-3 < 1e-1 < plain, said, grade=Grade.SEARCHED)


DRIFT_FREE = Claim(
    "fedals.algorithm_3.drift",
    "On two heterogeneous quadratics SCAFFOLD as listed converges to the global optimum, FedAvg to another point.",
    Kind.ALGORITHM.at("Sections 2 and 6.3; Algorithm 3"),
    _drift_free,
)


MOMENTA: dict[str, dict[str, Any]] = {
    "no momentum": {"beta": F(0)},
    "heavy ball": {},
    "heavy ball, velocity kept": {"kept": True},
    "Nesterov": {"nesterov": True},
    "Nesterov, velocity kept": {"nesterov": True, "kept": True},
}
"""Table 4 says Nesterov, the released code has a heavy ball; whether the velocity outlives a round is not said."""


def _with_momentum(
    rounds: int, beta: F = CNN["momentum"], nesterov: bool = False, kept: bool = False, size: F = F(1, 80)
) -> Array:
    """Algorithm 3 with PyTorch's momentum in the experiments' number of local steps."""
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


def _converges(book: Book) -> Finding:
    off = {name: [_off(_with_momentum(r, **momentum)) for r in (30, 60)] for name, momentum in MOMENTA.items()}
    away = [name for name, (near, far) in off.items() if far > near]
    said = "; ".join(f"{name} {near:.2g}, {far:.2g}" for name, (near, far) in off.items())
    said = f"steps of 1/80, distance from the optimum after 30 and 60 rounds: {said}"
    return judged(not away, said, as_audited=away == list(MOMENTA)[1:])


MOMENTUM = Claim(
    "fedals.algorithm_3.momentum",
    "With the momentum of the experiments in its corrected steps Algorithm 3 converges, as it does without.",
    Kind.SETTING.at("Algorithm 3; Table 4"),
    _converges,
    note="Listing against experiment. Line 7 divides a walk by the steps and their size, as if every gradient moved "
    "the model once; momentum makes the walk longer by a factor. If short steps begin with a velocity of zero, the "
    "deviation of the control variables from the gradients is multiplied by one minus that factor in every round: by "
    "-1.63 for a heavy ball, -2.37 for Nesterov's momentum. At steps of 1/8 the curvature of these losses damps all "
    "four. How the experiments combine momentum and correction is not described.",
    defect=Defect.SETTINGS,
    ours=True,
)


def _head_walk(book: Book) -> Finding:
    """The head's control variables after some rounds, by reading, against the mean gradient that they stand for."""
    readings: dict[str, dict[str, bool]] = {
        "to the letter": {"to_the_letter": True},
        "exchange in front of the step": EXCHANGED_FIRST,
        "written to the new iterate": {},
    }
    kept = {}
    for name, reading in readings.items():
        run = Listing(first=1, controls=True, **reading)
        run.run(ROUNDS)
        kept[name] = run.controls[0, HEAD]
    said = f"first client's after {ROUNDS} rounds: {', '.join(f'{float(c):.4g} ({name})' for name, c in kept.items())}"
    if all(kept.values()):
        return holds(said)
    return fails(said, as_audited=[bool(c) for c in kept.values()] == [False, False, True])


HEAD_CONTROL = Claim(
    "fedals.algorithm_4.head",
    "Line 7 of Algorithm 4 renews the head's control variables from the walk of the local steps.",
    Kind.ALGORITHM.at("Algorithm 4"),
    _head_walk,
    note="A slip of an index: the walk is measured from t = 0 to t, and the line is reached at t = 0 only. Control "
    "variables that start at zero stay there, and the head is trained without SCAFFOLD; written to the new iterate, it "
    "is the walk of one step divided by tau.",
    repair=Repair(
        "the walk since the last average, measured when tau steps are done: for alpha = 1 it is then Algorithm 3",
        same(lambda: intended_controls(ROUNDS, TAU, 1), lambda: trained("scaffold()", ROUNDS, TAU).model),
    ),
    defect=Defect.SLIP,
)


def _early_index(book: Book) -> Finding:
    missing = []
    for r in range(1, ROUNDS + 1):
        for t in range(TAU):
            count = r * TAU + t
            back = count - ALPHA * TAU
            if count % (ALPHA * TAU) == 0 and back // TAU < 1:
                missing.append((r, t, back // TAU, back % TAU))
    if not missing:
        return holds("every iterate that is referred to exists")
    r, t, q, s = missing[0]
    return fails(f"tau = {TAU}, alpha = {ALPHA}: in round {r}, step {t}, it refers to round {q}, step {s}")


EXTRACTOR_CONTROL = Claim(
    "fedals.algorithm_4.extractor",
    "The extractor of alpha tau steps ago, which Algorithm 4 refers to, exists whenever it is asked for.",
    Kind.ALGORITHM.at("Algorithm 4", "v2"),
    _early_index,
    note="A slip of an index: rounds are counted from 1, and the first time the line is reached it asks for an iterate "
    "of round 0.",
    defect=Defect.SLIP,
)
