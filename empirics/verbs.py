"""``train`` and ``constants`` as Python functions, with the options of the verbs as keyword arguments.

A problem, a partition, an algorithm or a measurement is a text, as on the command line, or the object itself.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from .algorithms.algorithm import Algorithm
from .command import measured_constants, trained
from .federation.split import Split
from .measuring import Measurement
from .measuring.constants.core import Constants
from .measuring.trained import Trained
from .numbers import check_words
from .problems.own_problem import given_or_own
from .problems.problem import FederatedProblem
from .problems.tasks import Task

OWN = ("csv", "frame", "target", "group", "leave_out", "kind", "model", "regularisation")
Problem = str | Task | FederatedProblem


def train(
    problem: Problem | None = None,
    *,
    clients: int | None = None,
    partition: str | Split = "iid",
    client_weight: str = "uniform",
    batch: int = 32,
    algorithm: str | Algorithm = "fedavg",
    compare: Sequence[str | Algorithm] = (),
    cohort: int | None = None,
    rounds: int = 20,
    local_steps: int | None = None,
    local_epochs: int | None = None,
    step_size: float = 0.05,
    step_size_decay: float = 1.0,
    step_offset: float | None = None,
    step_size_rule: str = "constant",
    optimizer: str = "sgd",
    momentum: float = 0.0,
    nesterov: bool = False,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    weight_decay: float = 0.0,
    clip: float | None = None,
    augment: str | None = None,
    sampling: str = "without_replacement",
    average: str = "renormalised",
    seeds: int = 1,
    engine: str = "auto",
    device: str = "cpu",
    measure: Sequence[str | Measurement] | None = None,
    every: int | None = None,
    keep_state: Path | str | None = None,
    verbose: bool = False,
    csv: str | PathLike[str] | None = None,
    frame: Any = None,
    target: str = "",
    group: str = "",
    leave_out: str | Sequence[str] = (),
    kind: str = "",
    model: str = "",
    regularisation: float | None = None,
) -> Trained:
    """Train every algorithm on every seed, and measure: the verb ``fedbounds train``.

    Args:
        problem: a model of a data set (``"softmax(digits)"``, ``"my.py:problem"``), a ``Task``, or a
            ``FederatedProblem`` that is dealt already. With none, data of your own: ``csv`` or ``frame``, ``target``.
        clients: their number (None: one per group, with ``by_group()``).
        partition: how the data are split.
        client_weight: weights of the clients in the average, ``uniform`` or ``samples``.
        batch: samples of a minibatch (at most all of a client).
        algorithm: the method.
        compare: further methods on the same seeds.
        cohort: clients per round (None: all).
        rounds: number of rounds.
        local_steps: SGD steps of a client in a round (None: 5).
        local_epochs: epochs over the own samples, in place of steps.
        step_size: of local SGD.
        step_size_decay: factor of the step size per round.
        step_offset: G of a step size ``step_size * G/(G + t)`` in iteration t (None: constant).
        step_size_rule: ``constant``, or ``harmonic``: divided by ``t/100 + 10`` (FedALS's language model).
        optimizer: ``sgd`` or ``adamw`` takes the local steps.
        momentum: of local SGD, restarted every round.
        nesterov: whether the momentum is Nesterov's.
        beta1: of AdamW, for the mean gradient.
        beta2: of AdamW, for the mean square.
        epsilon: of AdamW, added to the root of the mean square.
        weight_decay: added to the direction of SGD, decoupled in AdamW.
        clip: gradient clipping threshold (None: no clipping).
        augment: random crops and mirror images, ``crop_flip``, ``decaying_k`` or ``fedinit`` (None: as they are).
        sampling: ``without_replacement``, ``with_replacement`` or ``bernoulli``.
        average: ``renormalised`` or ``unbiased``, the weights of a cohort.
        seeds: how many, from 0 on.
        engine: ``auto``, ``torch`` or ``compiled``.
        device: ``cpu``, ``cuda``, ``cuda:NUMBER``, or ``auto``: the GPU where there is one.
        measure: the measurements, such as ``"runtime(upload_rate=2)"`` (None: loss and accuracy).
        every: rounds between two measurements (None: chosen to keep their cost low).
        keep_state: a file in which runs are stored, to go on from there with more rounds.
        verbose: print the engine.
        csv: a CSV file of your own, in place of ``problem``.
        frame: a pandas DataFrame, in place of ``csv``.
        target: the column to predict.
        group: the column whose values make the clients, in place of ``partition``.
        leave_out: columns that are no features.
        kind: what the target holds, ``numbers`` or ``classes`` ("": as its values are, numbers with ``ridge``).
        model: ``ridge``, ``logistic``, ``softmax``, ``svm`` or a network (by the kind of the target).
        regularisation: L2 penalty of a linear model of your own data (None: 0.01).

    Raises:
        BoundsError: in one line, where something is not what it must be, or does not go with something else.
    """
    args = _own(Namespace(**locals()))
    args.keep_state = keep_state and Path(keep_state)
    check_words(args)
    return trained(args)


def constants(
    problem: Problem | None = None,
    *,
    clients: int | None = None,
    partition: str | Split = "iid",
    client_weight: str = "uniform",
    batch: int = 32,
    seed: int = 0,
    quick: bool = False,
    csv: str | PathLike[str] | None = None,
    frame: Any = None,
    target: str = "",
    group: str = "",
    leave_out: str | Sequence[str] = (),
    kind: str = "",
    model: str = "",
    regularisation: float | None = None,
) -> Constants:
    """The constants of a problem, how each was obtained and how uncertain it is: the verb ``fedbounds constants``.

    Args:
        problem: as in ``train``, and so are the arguments that are not named here.
        clients: their number (None: one per group, with ``by_group()``).
        partition: how the data are split.
        client_weight: weights of the clients in the global loss, ``uniform`` or ``samples``.
        batch: samples of a minibatch.
        seed: of the partition.
        quick: for networks, curvature from some steps of Lanczos on some samples.
        csv: a CSV file of your own, in place of ``problem``.
        frame: a pandas DataFrame, in place of ``csv``.
        target: the column to predict.
        group: the column whose values make the clients.
        leave_out: columns that are no features.
        kind: what the target holds, ``numbers`` or ``classes`` ("": as its values are, numbers with ``ridge``).
        model: of your own data (by the kind of the target).
        regularisation: L2 penalty of a linear model of your own data (None: 0.01).

    Returns:
        A mapping that ``compare``, ``advise`` and ``Scenario.of`` take, and a table.
    """
    args = _own(Namespace(**locals()))
    check_words(args)
    return measured_constants(args)


def _own(args: Namespace) -> Namespace:
    """The arguments with the problem and the partition of data of one's own in their places, which is said."""
    own = {name: vars(args).pop(name) for name in OWN}
    args.problem, args.partition = given_or_own(args.problem, args.partition, needed=True, **own)
    return args
