"""The verbs ``train`` and ``constants``.

Problems, partitions, algorithms and measurements are passed as text, as on the command line, or as objects.
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from bounds.showing.files import write_whole
from bounds.showing.process import remark
from bounds.showing.usage import writable_file

from .algorithms import algorithm as algorithm_named
from .algorithms.algorithm import Algorithm
from .experiments.machine import computing
from .experiments.sources import digests
from .federation.partitions import Split
from .measuring import Measurement, measurement, Row, Run, write
from .measuring.constants import constants as estimate_constants
from .measuring.constants.core import Constants
from .measuring.kept import Keeper
from .measuring.trained import Trained
from .models.compiled import compiled, engine_of, NotServed, prepare
from .models.linear import LeastSquares
from .numbers import check_choice, check_options
from .problems.own_problem import resolve_problem
from .problems.problem import FederatedProblem
from .problems.tasks import deal, describe_problem, Task, task
from .progress import Progress, progress, Silent
from .spec_strings import refuse_twice
from .training.engines import device_named
from .training.setting import refuse_both, Setting

OWN = ("csv", "frame", "target", "group", "leave_out", "kind", "model", "regularisation")
"""The options that describe data of the user's own."""
Problem = str | Task | FederatedProblem
DEFAULT_MEASUREMENTS = ("train_loss", "train_accuracy", "test_loss", "test_accuracy")
"""The default measurements."""

DIVERGING = 10.0
"""A run counts as diverging if its last training loss is more than this factor times the first."""
COMPILING = "fedbounds: compiling the passes of models, once on this machine: 10 to 20 seconds"
STEPS_WORTH_COMPILING = 1_000_000
"""The clients' local steps in a run from which compiling pays for linear models: it saves about three microseconds a
step, and loading the compiled code takes a second."""

PROBLEM = """a problem is a model of a data set: softmax(digits, regularisation=0.01), logistic(a9a), ridge(school),
fedcog_cnn(fashion_mnist, channels=1, side=28); algorithms, partitions and measurements are calls too:
relaxed(scaffold(), beta=0.05), dirichlet(0.1), runtime(upload_rate=2);
a problem, an algorithm or a partition of your own is path/file.py:variable"""


TRAIN_JSON = """\
--json prints a list of objects, one per method: algorithm; seeds, for each seed what was measured last by quantity
(null where the run left the finite numbers); diverges, for each seed whether it did or ended far above its first
loss."""


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
    output: Path | str | None = None,
    csv: str | PathLike[str] | None = None,
    frame: Any = None,
    target: str = "",
    group: str = "",
    leave_out: str | Sequence[str] = (),
    kind: str = "",
    model: str = "",
    regularisation: float | None = None,
    report: Callable[[str], object] = str,
) -> Trained:
    """Train every algorithm on every seed and measure loss, accuracy or other quantities.

    Args:
        problem: A model of a data set, as described below; in Python also a Task, or a FederatedProblem. Without one,
            data of your own: csv (in Python also a data frame) and target.
        clients: Number of clients (default: one per group, with by_group()).
        partition: How the data are split over the clients (iid).
        client_weight: Weights of the clients in the average: uniform or samples (uniform).
        batch: Minibatch size (32).
        algorithm: The method (fedavg).
        compare: Further methods on the same seeds.
        cohort: Clients per round (all).
        rounds: Communication rounds (20).
        local_steps: Local steps per round (5).
        local_epochs: Epochs over the client's samples, in place of steps.
        step_size: Step size of local SGD (0.05).
        step_size_decay: Factor of the step size per round (1).
        step_offset: Multiply the step size by G/(G + t) in step t, counted from 0 (constant).
        step_size_rule: constant, or harmonic: divided by t/100 + 10 in step t, counted from 0 (constant).
        optimizer: sgd or adamw takes the local steps (sgd).
        momentum: Momentum of local SGD, restarted every round (0).
        nesterov: Use Nesterov's momentum.
        beta1: adamw: decay of the mean gradient (0.9).
        beta2: adamw: decay of the mean square (0.999).
        epsilon: adamw: added to the root of the mean square (1e-08).
        weight_decay: Weight decay: added to the direction of SGD, decoupled in AdamW (0).
        clip: Gradient clipping threshold (none).
        augment: Random crops and mirror images: crop_flip, decaying_k or fedinit (none).
        sampling: without_replacement, with_replacement or bernoulli (without_replacement).
        average: Weights of a cohort: renormalised or unbiased (renormalised).
        seeds: Number of seeds (1).
        engine: torch, compiled (several times as fast for small networks), or auto: compiled where it pays (auto).
        device: cpu, cuda, cuda:NUMBER, or auto: the GPU where there is one (cpu).
        measure: Measurements, such as "runtime(upload_rate=2)" (train_loss train_accuracy test_loss test_accuracy).
        every: Rounds between two measurements (chosen to keep their cost low).
        keep_state: Store the runs after their last round in this file; with more rounds they go on from there.
        output: Write one row per measured number to this CSV file.
        csv: A CSV file of your own with a header, in place of a problem; a fifth of its lines is held out for tests.
        frame: a pandas DataFrame, in place of ``csv``.
        target: The column to predict; all others are features and hold numbers.
        group: The column whose values are the clients, in place of partition.
        leave_out: Columns that are not features, separated by commas.
        kind: What the target holds: numbers or classes (numbers with ridge; else text and few integers are classes).
        model: ridge, logistic, softmax, svm or a network (ridge for numbers, logistic for two classes, else softmax).
        regularisation: L2 penalty of a linear model of your own data (0.01).
        report: called with a line for every run as it ends.

    Returns:
        The measured rows, the last numbers of every run and their means over seeds.

    Raises:
        BoundsError: if an option is invalid or conflicts with another.
    """
    args = _with_own_data(Namespace(**locals()))
    args.compare, args.measure = _as_tuple(compare), None if measure is None else _as_tuple(measure)
    args.keep_state, args.output = (path and Path(path) for path in (keep_state, output))
    check_options(vars(args))
    if args.keep_state is not None:
        writable_file("--keep-state", args.keep_state, ".pt")
    if args.output is not None:
        writable_file("-o", args.output, ".csv")
    return _trained(args)


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
    """Estimate the constants of a problem (smoothness, noise, ...), with the method and uncertainty of each.

    Args:
        problem: A model of a data set, as described below; in Python also a Task, or a FederatedProblem. Without one,
            data of your own: csv (in Python also a data frame) and target.
        clients: Number of clients (default: one per group, with by_group()).
        partition: How the data are split over the clients (iid).
        client_weight: Weights of the clients in the global loss: uniform or samples (uniform).
        batch: Minibatch size (32).
        seed: Seed of the partition (0).
        quick: Networks: estimate curvature from some steps of Lanczos on some samples.
        csv: A CSV file of your own with a header, in place of a problem; a fifth of its lines is held out for tests.
        frame: a pandas DataFrame, in place of ``csv``.
        target: The column to predict; all others are features and hold numbers.
        group: The column whose values are the clients, in place of partition.
        leave_out: Columns that are not features, separated by commas.
        kind: What the target holds: numbers or classes (numbers with ridge; else text and few integers are classes).
        model: ridge, logistic, softmax, svm or a network (ridge for numbers, logistic for two classes, else softmax).
        regularisation: L2 penalty of a linear model of your own data (0.01).

    Returns:
        A mapping from quantity to value that prints as a table; ``compare``, ``advise`` and ``Scenario.of`` accept it.
    """
    args = _with_own_data(Namespace(**locals()))
    check_options(vars(args))
    with progress() as bar:
        bar.doing(f"reading {args.problem}")
        source = _object(args.problem, task)
        problem = deal(source, args.partition, args.clients, args.seed, args.client_weight)
        bar.doing("constants")
        estimates = estimate_constants(problem, args.batch, bar=bar, quick=args.quick)
    remark(describe_problem(source, problem, args.batch))
    return Constants(estimates)


def save(estimates: Constants, path: Path, command: str) -> list[Path]:
    """Write constants as the JSON file that other verbs read; return its path."""
    return [write_whole(path, f"{estimates}\n")]


def plain(estimates: Constants, command: str) -> Any:
    """The data that ``constants --json`` prints."""
    return json.loads(str(estimates))


def _with_own_data(args: Namespace) -> Namespace:
    """Replace the options of the user's own data by the problem and the partition made of them."""
    own = {name: vars(args).pop(name) for name in OWN}
    args.problem, args.partition = resolve_problem(args.problem, args.partition, needed=True, **own)
    return args


def _trained(args: Namespace) -> Trained:
    """Train every method on every seed with checked options; write the rows and the kept states, however it ends."""
    refuse_both(args.local_steps, args.local_epochs)
    check_choice("--engine", args.engine, ("auto", "torch", "compiled"))
    device = device_named(args.device)
    methods = [_object(text, algorithm_named) for text in (args.algorithm, *args.compare)]
    measurements = None if args.measure is None else [_object(text, measurement) for text in args.measure]
    refuse_twice(method.name for method in methods)
    refuse_twice(each.name for each in measurements or ())
    rows, lines = list[Row](), list[str]()
    ends: dict[str, list[dict[str, float] | None]] = {}
    keeper = None if args.keep_state is None else _keeper(args)
    try:
        with progress() as bar:
            bar.doing(f"reading {args.problem}")
            source = _object(args.problem, task)
            bar.start(len(methods) * args.seeds * args.rounds)
            for seed in range(args.seeds):
                problem = deal(source, args.partition, args.clients, seed, args.client_weight, args.augment).to(device)
                cohort = problem.clients if args.cohort is None else args.cohort
                setting = Setting(**{**{name: getattr(args, name) for name in SETTING_FIELDS}, "cohort": cohort})
                problem = replace(problem, model=_with_engine(problem, setting, args, bar, first=not seed))
                if not seed:
                    remark(describe_problem(source, problem, args.batch))
                for method in methods:
                    measured = _default_measurements(problem) if measurements is None else measurements
                    run = Run(problem, method, setting, seed, measured, args.every, experiment=str(source))
                    run, earlier = (run, []) if keeper is None else keeper.resumed(run)
                    begin = len(rows)
                    end, line = _finish(run, bar, rows, earlier)
                    ends.setdefault(str(method), []).append(end)
                    lines.append(line)
                    args.report(line)
                    if keeper is not None:
                        keeper.add(run, rows[begin:])
                    if end is not None:  # after keeper.add: a continued run may converge again
                        rows += _diverging(rows[begin:])
    except BaseException:  # interrupted, or a later method failed: write the rows so far, without replacing the output
        _write(rows, args.output and args.output.with_suffix(f".partial{args.output.suffix}"))
        raise
    finally:
        if keeper is not None:
            keeper.write()
    return Trained(rows, ends, lines, engine_of(problem.model), _write(rows, args.output))


def _as_tuple(value: Any) -> tuple[Any, ...]:
    """A list or tuple as a tuple; another value as a tuple of one."""
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _object(value: Any, read: Callable[[str], Any]) -> Any:
    """The object that a text names; other values are returned unchanged."""
    return read(value) if isinstance(value, str) else value


SETTING_FIELDS = tuple(field.name for field in fields(Setting))
SHARED = (
    *("problem", "clients", "partition", "augment", "measure", "every", "device"),
    *(name for name in SETTING_FIELDS if name != "rounds"),
)
"""The options that a kept run depends on; the number of rounds is not one of them, as no step depends on it."""


def _keeper(args: Namespace) -> Keeper:
    """The kept runs of this command line."""
    options = {name: _storable(getattr(args, name)) for name in SHARED}
    files = digests([args.problem, args.partition, args.algorithm, *args.compare])
    keeper = Keeper(args.keep_state, {**options, "files": files}, computing())
    if packages := ", ".join(keeper.changed_packages):
        remark([f"{args.keep_state} was kept with other versions of {packages}: last bits may differ"])
    return keeper


def _storable(value: Any) -> Any:
    """An option as it is stored in a file; objects are replaced by the text that names them."""
    if isinstance(value, (list, tuple)):
        return [_storable(each) for each in value]
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _default_measurements(problem: FederatedProblem) -> list[Measurement]:
    """Training loss and accuracy, and those on test samples if there are any; least squares has no accuracy."""
    names = [name for name in DEFAULT_MEASUREMENTS if problem.test is not None or not name.startswith("test")]
    if isinstance(problem.model, LeastSquares):
        names = [name for name in names if not name.endswith("accuracy")]
    return [measurement(name) for name in names]


def _finish(run: Run, bar: Progress, rows: list[Row], earlier: Sequence[Row]) -> tuple[dict[str, float] | None, str]:
    """Add the rows of a run as they are measured; return its last numbers (None if it diverged) and a line on them.

    ``earlier`` are the rows before the round from which the run is continued.
    """
    begin = len(rows)
    rows += earlier
    who = f"{run.algorithm}, seed {run.seed}"
    bar.doing(who)
    for state, measured in run:
        rows += measured
        if state.round:
            bar.step()
    end = rows[-1] if len(rows) > begin else None
    if end is not None and end.quantity == "diverged":
        return None, f"{who}: diverged in round {end.round}, norms up to {end.value:.4g} before"
    last = _last(rows[begin:])
    line = f"{who}, round {run.setting.rounds}: {', '.join(f'{n} {v:.4g}' for n, v in last.items())}"
    for row in _diverging(rows[begin:]):
        line += f"; the run diverges: train_loss was {row.value:.4g} at the start"
    return last, line


def _diverging(rows: Sequence[Row]) -> list[Row]:
    """A row ``diverges`` with the first loss of a run, if its last loss is far above it; else no row."""
    losses = [row for row in rows if row.quantity == "train_loss" and row.client is None]
    if len(losses) < 2 or not losses[-1].value > DIVERGING * losses[0].value > 0:
        return []
    return [losses[-1]._replace(quantity="diverges", value=losses[0].value)]


def _last(rows: Sequence[Row]) -> dict[str, float]:
    """Quantities of the last measured round: means over clients, after the last local step, over all layers."""
    values: dict[str, list[float]] = {}
    last = max((row.round for row in rows), default=0)
    steps = {row.quantity: row.step for row in rows if row.step is not None}
    for row in rows:
        if row.round == last and not row.layer and row.step == steps.get(row.quantity):
            suffix = "" if row.client is None else " (mean over clients)"
            values.setdefault(row.quantity + suffix, []).append(row.value)
    return {name: float(np.mean(each)) for name, each in values.items()}


def last_numbers(trained: Trained, command: str) -> list[dict[str, Any]]:
    """The data that ``train --json`` prints: by method the last numbers of every seed, null where it diverged."""
    diverging = {(row.algorithm, row.seed) for row in trained.rows if row.quantity in ("diverged", "diverges")}
    return [
        {"algorithm": method, "seeds": list(runs), "diverges": [(method, s) in diverging for s in range(len(runs))]}
        for method, runs in trained.ends.items()
    ]


def _write(rows: Sequence[Row], path: Path | None) -> tuple[Path, ...]:
    """Write the table, if there is a path and a row; return the paths written."""
    return (write(rows, path),) if path is not None and rows else ()


def _with_engine(problem: FederatedProblem, setting: Setting, args: Namespace, bar: Progress, first: bool) -> Any:
    """The problem's model, computed by the engine that ``--engine`` asks for; by torch, with a message, if it cannot.

    Messages are printed for the ``first`` seed alone.
    """
    model: Any = problem.model
    steps = float(setting.planned(problem.federation.client_sizes).mean())
    steps *= min(setting.cohort, problem.clients) * setting.rounds  # expected local steps of all clients in the run
    pays = not model.stacked or (problem.convex and steps >= STEPS_WORTH_COMPILING)
    if args.engine == "compiled" or (args.engine == "auto" and pays and problem.device.type == "cpu"):
        try:
            if problem.device.type != "cpu":
                raise NotServed(f"it lies on {problem.device}")
            model = compiled(model)
            if first:
                bar.doing("loading compiled passes")
                prepare(model, lambda: isinstance(bar, Silent) or print(COMPILING, file=sys.stderr, flush=True))
        except NotServed as reason:
            if first:
                print(f"fedbounds: {reason}", file=sys.stderr, flush=True)
    return model
