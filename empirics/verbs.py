"""The verbs ``train`` and ``constants``.

Problems, partitions, algorithms and measurements are passed as text, as on the command line, or as objects.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

from bounds.showing.files import write_whole
from bounds.showing.process import remark
from bounds.showing.usage import writable_file

from .algorithms import algorithm as algorithm_named
from .algorithms.algorithm import Algorithm
from .errors import EmpiricsError
from .experiments.cells import call
from .experiments.machine import computing
from .experiments.sources import digests
from .federation.partitions import Split
from .measuring import Measurement, measurement, Row, Run, write
from .measuring.constants import constants as estimate_constants
from .measuring.constants.core import Constants
from .measuring.kept import Keeper, rounds_of
from .measuring.trained import Trained, TrainedRun
from .models.compiled import engine_of, NotServed, prepare
from .models.linear import LeastSquares
from .numbers import check_choice, check_options, seed_list, Seeds
from .problems.own_problem import OWN_DATA, resolve_problem
from .problems.problem import FederatedProblem
from .problems.tasks import deal, describe_problem, Task, task
from .progress import Progress, progress, Silent
from .spec_strings import refuse_twice
from .training.engines import device_named
from .training.setting import refuse_both, Setting

Problem = str | Task | FederatedProblem
DEFAULT_MEASUREMENTS = ("train_loss", "train_accuracy", "test_loss", "test_accuracy")
"""The default measurements."""

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
(null where the numbers are not finite); diverged, for each seed whether it did: numbers that are not finite, or a last
training loss of more than 10 times the first."""


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
    seeds: Seeds = 1,
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
        seeds: Number of seeds (1), or other seeds such as 5,6,7 or 5..9.
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
    args.seeds = seed_list(seeds)
    check_options(vars(args) | {"seeds": len(args.seeds)})
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


def _with_own_data(args: Namespace) -> Namespace:
    """Replace the options of the user's own data by the problem and the partition made of them."""
    own = {name: vars(args).pop(name) for name in OWN_DATA}
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
    rows, runs = list[Row](), list[TrainedRun]()
    keeper = None if args.keep_state is None else _keeper(args)
    try:
        with progress() as bar:
            bar.doing(f"reading {args.problem}")
            source = _object(args.problem, task)
            bar.start(len(methods) * len(args.seeds) * args.rounds)
            for seed in args.seeds:
                first = not runs
                problem = deal(source, args.partition, args.clients, seed, args.client_weight, args.augment)
                setting = Setting.among(problem.clients, **{name: getattr(args, name) for name in SETTING_FIELDS})
                problem = _with_engine(problem.to(device), setting, args.engine, bar, first)
                if first:
                    remark(describe_problem(source, problem, args.batch))
                for method in methods:
                    measured = _default_measurements(problem) if measurements is None else measurements
                    run = Run(problem, method, setting, seed, measured, args.every, experiment=str(source))
                    bar.doing(f"{method}, seed {seed}")
                    begin = len(rows)
                    for at, new in rounds_of(run, keeper):
                        rows += new
                        if at:
                            bar.step()
                    runs.append(TrainedRun.of(run, rows[begin:]))
                    args.report(runs[-1].line)
    except BaseException:  # interrupted, or a later method failed: write the rows so far, without replacing the output
        _write(rows, args.output and args.output.with_suffix(f".partial{args.output.suffix}"))
        raise
    finally:
        if keeper is not None:
            keeper.write()
    return Trained(rows, runs, engine_of(problem.model), _write(rows, args.output))


def _as_tuple(value: Any) -> tuple[Any, ...]:
    """A list or tuple as a tuple; another value as a tuple of one."""
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def _object(value: Any, read: Callable[[str], Any]) -> Any:
    """The object that a text names; other values are returned unchanged."""
    return read(value) if isinstance(value, str) else value


SETTING_FIELDS = tuple(field.name for field in fields(Setting))
KEPT_OPTIONS = (
    *("problem", "clients", "partition", "augment", "measure", "every", "device"),
    *(name for name in SETTING_FIELDS if name != "rounds"),
)
"""The options that a kept run depends on; the number of rounds is not one of them, as no step depends on it."""


def _keeper(args: Namespace) -> Keeper:
    """The kept runs of this command line; a problem is recognised by its text and the files that it names."""
    if not isinstance(args.problem, str):
        raise EmpiricsError("keep_state= recognises runs by the text of their problem: give that text, or csv=FILE")
    options = {name: _storable(getattr(args, name)) for name in KEPT_OPTIONS}
    files = digests([args.problem, args.partition, args.algorithm, *args.compare])
    keeper = Keeper(args.keep_state, {**options, "files": files}, computing())
    if packages := ", ".join(keeper.changed_packages):
        remark([f"{args.keep_state} was kept with other versions of {packages}: last bits may differ"])
    return keeper


def _storable(value: Any) -> Any:
    """An option as it is stored in a file: a call in canonical form, an object as the text that names it."""
    if isinstance(value, (list, tuple)):
        return [_storable(each) for each in value]
    return value if value is None or isinstance(value, (int, float)) else call(str(value))


def _default_measurements(problem: FederatedProblem) -> list[Measurement]:
    """Training loss and accuracy, and those on test samples if there are any; least squares has no accuracy."""
    named = [measurement(name) for name in DEFAULT_MEASUREMENTS]
    measured = [each for each in named if problem.tests is not None or not each.tests]
    return [each for each in measured if not (isinstance(problem.model, LeastSquares) and "accuracy" in each.name)]


def _write(rows: Sequence[Row], path: Path | None) -> tuple[Path, ...]:
    """Write the table, if there is a path and a row; return the paths written."""
    return (write(rows, path),) if path is not None and rows else ()


def _with_engine(
    problem: FederatedProblem, setting: Setting, engine: str, bar: Progress, first: bool
) -> FederatedProblem:
    """The problem, computed by the ``engine`` that is asked for; by torch, with a message, if that one cannot.

    Messages are printed for the ``first`` seed alone.
    """
    steps = float(setting.planned(problem.federation.client_sizes).mean())
    steps *= min(setting.cohort, problem.clients) * setting.rounds  # expected local steps of all clients in the run
    pays = not problem.model.stacked or (problem.convex and steps >= STEPS_WORTH_COMPILING)
    if engine != "compiled" and not (engine == "auto" and pays and problem.device.type == "cpu"):
        return problem
    try:
        problem = problem.compiled()
        if first:
            bar.doing("loading compiled passes")
            prepare(problem.model, lambda: isinstance(bar, Silent) or print(COMPILING, file=sys.stderr, flush=True))
    except NotServed as reason:
        if first:
            print(f"fedbounds: {reason}", file=sys.stderr, flush=True)
    return problem
