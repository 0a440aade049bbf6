"""The verbs ``train`` and ``constants``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TYPE_CHECKING

import numpy as np

from bounds.showing.files import write_whole
from bounds.showing.loading import loading
from bounds.showing.numbers import real_word, whole_word
from bounds.showing.process import remark
from bounds.showing.tables import to_json
from bounds.showing.terminal import print_lines
from bounds.showing.usage import bare_parser, Parser, writable_file

from .numbers import check_words
from .problems.own_problem import OWN, spelled_out
from .progress import Progress, progress, Silent
from .sizes import refuse_beyond_memory, ROW
from .spec_strings import chosen, refuse_twice
from .training.setting import refuse_both, Setting

if TYPE_CHECKING:  # they load torch, which --help does without
    from .measuring import Measurement, Row, Run
    from .measuring.constants.core import Constants
    from .measuring.kept import Keeper
    from .measuring.trained import Trained
    from .problems.problem import FederatedProblem

Tell = Callable[[str], object]
End = tuple[dict[str, float] | None, str]
"""The last numbers of a run (None: it diverged), and the line that says them."""

FINE, FINDING = 0, 1
DEFAULT = ("train_loss", "train_accuracy", "test_loss", "test_accuracy")
"""What is measured by default."""

DIVERGING = 10.0
"""A run diverges whose loss ends above this many times that at the start."""
COMPILING = "fedbounds: compiling the passes of models, once on this machine: 10 to 20 seconds"
WORTH = 1_000_000
"""Local steps of clients in a run of a linear model from which on compiled passes surely save more than loading them
takes: three microseconds a step where rounds were timed, against a second."""

PROBLEM = """a problem is a model of a data set: softmax(digits, regularisation=0.01), logistic(a9a), ridge(school),
fedcog_cnn(fashion_mnist, channels=1, side=28); algorithms, partitions and measurements are calls too:
relaxed(scaffold(), beta=0.05), dirichlet(0.1), runtime(upload_rate=2);
a problem, an algorithm or a partition of your own is path/file.py:variable"""


TRAIN_JSON = """\
--json prints a list of objects, one per method: algorithm; seeds, for each seed what was measured last by quantity
(null where the run left the finite numbers); diverges, for each seed whether it did or ended far above its first
loss."""


def _shared(parser: Parser) -> None:
    add = parser.add_argument
    add("--problem", required=True, metavar="MODEL(DATA)", help="the model to train and its data")
    add("--clients", type=whole_word, metavar="N", help="number of clients (none: one per group, with by_group())")
    add("--partition", default="iid", metavar="CALL", help="how the data are split (iid)")
    add(
        "--client-weight", default="uniform", help="weights of the clients in the average: uniform or samples (uniform)"
    )
    add("--batch", type=whole_word, default=32, metavar="N", help="minibatch size (32)")


def _training(parser: Parser) -> None:
    add = parser.add_argument
    add("--algorithm", default="fedavg", metavar="CALL", help="the method (fedavg)")
    add("--compare", nargs="+", default=[], metavar="CALL", help="further methods on the same seeds")
    add("--cohort", type=whole_word, metavar="N", help="clients per round (all)")
    add("--rounds", type=whole_word, default=20, metavar="N", help="communication rounds (20)")
    add("--local-steps", type=whole_word, metavar="N", help=f"local steps per round ({Setting.USUAL['local_steps']})")
    add("--local-epochs", type=whole_word, metavar="N", help="epochs over the own samples, in place of steps")
    add("--step-size", type=real_word, default=0.05, metavar="X", help="step size of local SGD (0.05)")
    add("--step-size-decay", type=real_word, default=1.0, metavar="X", help="factor per round (1)")
    falls = "multiply the step size by G/(G + t) in step t from 0 (constant)"
    add("--step-offset", type=real_word, metavar="G", help=falls)
    harmonic = "constant, or harmonic: divided by t/100 + 10 in step t from 0 (constant)"
    add("--step-size-rule", default="constant", help=harmonic)
    add("--optimizer", default="sgd", help="sgd or adamw: takes the local steps (sgd)")
    add("--momentum", type=real_word, default=0.0, metavar="X", help="momentum of local SGD (0)")
    add("--nesterov", action="store_true", help="the momentum is Nesterov's")
    for name, what in (("beta1", "mean gradient"), ("beta2", "mean square"), ("epsilon", "root's summand")):
        usual = getattr(Setting, name)
        add(f"--{name}", type=real_word, default=usual, metavar="X", help=f"adamw: {what} ({usual:g})")
    add("--weight-decay", type=real_word, default=0.0, metavar="X", help="weight decay (0)")
    add("--clip", type=real_word, metavar="X", help="gradient clipping threshold (none)")
    add("--augment", metavar="NAME", help="random crops and mirror images: crop_flip, decaying_k or fedinit (none)")
    add("--sampling", default="without_replacement", help="without_replacement, with_replacement or bernoulli")
    add("--average", default="renormalised", help="renormalised or unbiased: the weights of a cohort (renormalised)")
    add("--seeds", type=whole_word, default=1, metavar="N", help="number of seeds (1)")
    known = "torch, compiled (several times as fast for small networks), or auto: compiled where it pays (auto)"
    add("--engine", default="auto", help=known)
    add("--device", default="cpu", help="cpu, cuda, cuda:NUMBER, or auto: the GPU where there is one (cpu)")
    add(
        "--measure",
        nargs="+",
        metavar="CALL",
        help=f"measurements ({' '.join(DEFAULT)}, those of tests if there are test samples)",
    )
    add("--every", type=whole_word, metavar="N", help="rounds between two measurements (chosen to keep their cost low)")
    add("-o", dest="output", type=Path, metavar="FILE", help="CSV with one row per number")
    more = "store the runs after their last round; with more --rounds they go on from there"
    add("--keep-state", type=Path, metavar="FILE", help=more)
    add("--json", action="store_true", help="print the last numbers of every seed as JSON, described below")
    add("-v", "--verbose", action="store_true", help="print the engine and the place of its code")


def readers() -> dict[str, Callable[[str], Any]]:
    """The readers of the values of ``train``'s options, by their names in a sweep's file."""
    parser = bare_parser("train")
    _shared(parser)
    _training(parser)
    single = [action for action in parser._actions if action.nargs is None]
    return {action.dest: action.type if callable(action.type) else str for action in single}


def train(arguments: Sequence[str]) -> int:
    """Train every algorithm on every seed; print a line per finished seed, then the means of the last values."""
    parser = bare_parser("train", below=[PROBLEM, OWN, TRAIN_JSON])
    _shared(parser)
    _training(parser)
    args = _parsed(parser, spelled_out("train", arguments))
    if args is None:
        return FINE
    if args.output is not None:
        writable_file("-o", args.output, ".csv")
    tell: Tell = str if args.json else print_now
    found = trained(args, tell, lambda rows: _keep(rows, _partial(args.output), aside=args.json))
    if args.json:
        print(to_json(_ends(found)))
    else:
        print_lines(found.summary())
    _keep(found.rows, args.output, found.engine, args.json)
    return FINE


def print_now(line: str) -> None:
    print_lines([line], flush=True)


def trained(args: argparse.Namespace, tell: Tell = str, save: Callable[[Sequence[Row]], object] = list) -> Trained:
    """Train by the options of the verb; a problem, an algorithm or a measurement may be the object that a text names.

    ``tell`` gets the line of every run as it ends; ``save`` gets the rows measured so far if training is interrupted.
    """
    if args.keep_state is not None:
        writable_file("--keep-state", args.keep_state, ".pt")
    refuse_both(args.local_steps, args.local_epochs)
    with loading():
        from .algorithms import algorithm
        from .measuring import measurement, Run
        from .measuring.trained import Trained
        from .models.compiled import engine_of
        from .problems.tasks import described
        from .training.engines import device_named
    chosen("--engine", args.engine, ("auto", "torch", "compiled"))
    device = device_named(args.device)
    methods = [_object(text, algorithm) for text in (args.algorithm, *args.compare)]
    watched = None if args.measure is None else [_object(text, measurement) for text in args.measure]
    refuse_twice(method.name for method in methods)
    refuse_twice(seen.name for seen in watched or ())
    rows: list[Row] = []
    said: list[str] = []
    ends: dict[str, list[dict[str, float] | None]] = {}
    keeper = None if args.keep_state is None else _keeper(args)
    try:
        with progress() as bar:
            bar.doing(f"reading {args.problem}")
            what = _task(args.problem)
            bar.start(len(methods) * args.seeds * args.rounds)
            for seed in range(args.seeds):
                problem = _problem(args, what, seed, args.augment).to(device)
                setting = _setting(args, problem)
                problem = replace(problem, model=_fitting(problem, setting, args, bar, first=not seed))
                if not seed:
                    remark(described(what, problem, args.batch))
                for method in methods:
                    seen = _usual(problem) if watched is None else watched
                    run = Run(problem, method, setting, seed, seen, args.every, experiment=str(what))
                    if not ends:
                        _refuse_long(run, len(methods) * args.seeds)
                    run, earlier = (run, []) if keeper is None else keeper.resumed(run)
                    begin = len(rows)
                    end, line = _finish(run, bar, rows, earlier)
                    ends.setdefault(str(method), []).append(end)
                    said.append(line)
                    tell(line)
                    if keeper is not None:
                        keeper.add(run, rows[begin:])
                    if end is not None:  # not kept: a run that goes on from here may come back
                        rows += _diverging(rows[begin:])
    except BaseException:  # interrupted, or a later method went wrong: what was measured stays, beside what was there
        save(rows)
        raise
    finally:
        if keeper is not None:
            keeper.write()
    return Trained(rows, ends, said, engine_of(problem.model))


def _object(given: Any, read: Callable[[str], Any]) -> Any:
    """The object that a text names; other values are returned as they are."""
    return read(given) if isinstance(given, str) else given


def _task(given: Any) -> Any:
    from .problems.tasks import task

    return _object(given, task)


def _partial(path: Path | None) -> Path | None:
    """The file for the rows of interrupted training."""
    return path and path.with_suffix(f".partial{path.suffix}")


SETTING = (
    "batch", "local_steps", "local_epochs", "step_size", "step_size_decay", "step_offset", "momentum", "weight_decay",
    "clip", "sampling",
)  # fmt: skip
SHARED = ("problem", "clients", "partition", "client_weight", "cohort", *SETTING, "measure", "every")
"""Options that a kept run depends on; its number of rounds is not among them, for no step depends on it."""
LATER = ("step_size_rule", "optimizer", "nesterov", "beta1", "beta2", "epsilon", "average")
"""Fields of a setting that files of kept runs name only where they differ from the defaults."""
USUAL = {**{name: getattr(Setting, name) for name in LATER}, "augment": None, "device": "cpu"}


def _keeper(args: argparse.Namespace) -> Keeper:
    """The kept runs of this command line."""
    from .experiments.machine import computing
    from .experiments.sources import digests
    from .measuring.kept import Keeper

    words = {name: _word(getattr(args, name)) for name in SHARED}
    words |= {name: getattr(args, name) for name, usual in USUAL.items() if getattr(args, name) != usual}
    files = digests([args.problem, args.partition, args.algorithm, *args.compare])
    keeper = Keeper(args.keep_state, {**words, "files": files}, computing())
    if keeper.others:
        told = f"{args.keep_state} was kept with other versions of {', '.join(keeper.others)}: last bits may differ"
        print(f"fedbounds: {told}", file=sys.stderr)
    return keeper


def _word(value: Any) -> Any:
    """An option as it is stored: an object by the text that names it."""
    if isinstance(value, (list, tuple)):
        return [_word(each) for each in value]
    return value if value is None or isinstance(value, (str, int, float)) else str(value)


def _refuse_long(run: Run, runs: int) -> None:
    """Refuse a table that memory cannot hold, before the first run."""
    what = f"the table of {runs} runs of {run.setting.rounds} rounds"
    refuse_beyond_memory(ROW * runs * run.least_rows, what, "take fewer --seeds or --rounds, or a larger --every")


def _usual(problem: FederatedProblem) -> list[Measurement]:
    """Loss and accuracy, on test samples too where the data set has them; least squares has no accuracy."""
    from .measuring import measurement
    from .models.linear import LeastSquares

    names = [name for name in DEFAULT if problem.test is not None or not name.startswith("test")]
    counted = not isinstance(problem.model, LeastSquares)
    return [measurement(name) for name in names if counted or not name.endswith("accuracy")]


def _finish(run: Run, bar: Progress, rows: list[Row], earlier: Sequence[Row] = ()) -> End:
    """Add all rows of a run as they come; return its last numbers (None if it diverged) and its line.

    ``earlier`` are the rows before the round at which it goes on.
    """
    begin = len(rows)
    rows += earlier
    bar.doing(f"{run.algorithm}, seed {run.seed}")
    for state, found in run:
        rows += found
        if state.round:
            bar.step()
    who, end = f"{run.algorithm}, seed {run.seed}", rows[-1] if len(rows) > begin else None
    if end is not None and end.quantity == "diverged":
        return None, f"{who}: diverged in round {end.round}, norms up to {end.value:.4g} before"
    last = _last(rows[begin:])
    numbers = ", ".join(f"{n} {v:.4g}" for n, v in last.items())
    told = [f"; the run diverges: train_loss was {row.value:.4g} at the start" for row in _diverging(rows[begin:])]
    return last, f"{who}, round {run.setting.rounds}: {numbers}{''.join(told)}"


def _diverging(rows: Sequence[Row]) -> list[Row]:
    """A row with the first loss of a run whose loss ends far above it; else none."""
    losses = [row for row in rows if row.quantity == "train_loss" and row.client is None]
    if len(losses) < 2 or not losses[-1].value > DIVERGING * losses[0].value > 0:
        return []
    return [losses[-1]._replace(quantity="diverges", value=losses[0].value)]


def _last(rows: Sequence[Row]) -> dict[str, float]:
    """Every quantity of the last measured round: clients' means, after the last local step, all layers."""
    found: dict[str, list[float]] = {}
    last = max((row.round for row in rows), default=0)
    steps = {row.quantity: row.step for row in rows if row.step is not None}
    for row in rows:
        if row.round == last and not row.layer and row.step == steps.get(row.quantity):
            over = "" if row.client is None else " (mean over clients)"
            found.setdefault(row.quantity + over, []).append(row.value)
    return {words: float(np.mean(values)) for words, values in found.items()}


def _ends(found: Trained) -> list[dict[str, Any]]:
    """What ``train --json`` prints: by method the last numbers of every seed, null where it diverged."""
    wild = {(row.algorithm, row.seed) for row in found.rows if row.quantity in ("diverged", "diverges")}
    return [
        {"algorithm": method, "seeds": list(runs), "diverges": [(method, seed) in wild for seed in range(len(runs))]}
        for method, runs in found.ends.items()
    ]


def _keep(rows: Sequence[Row], path: Path | None, engine: str = "torch", aside: bool = False) -> None:
    """Write the table and report it, on standard error (``aside``) where standard output is JSON."""
    if path is not None and rows:
        from .measuring import write

        told = f"wrote {write(rows, path)}{'' if engine == 'torch' else f', numbers by {engine}'}"
        print(told, file=sys.stderr if aside else sys.stdout)


def constants_(arguments: Sequence[str]) -> int:
    """Estimate the constants of a problem: how each was obtained and how uncertain it is."""
    parser = bare_parser("constants", below=[PROBLEM, OWN])
    _shared(parser)
    parser.add_argument("--seed", type=whole_word, default=0, metavar="N", help="seed of the partition (0)")
    parser.add_argument("--json", action="store_true", help="print JSON also where -o writes it (without -o it does)")
    quick = "networks: curvature from some steps of Lanczos on some samples, not to the end on every client's"
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument(
        "-o",
        dest="output",
        type=Path,
        metavar="FILE",
        help="JSON; eval, minimize, solve, plot and validate --measured take it as @FILE",
    )
    args = _parsed(parser, spelled_out("constants", arguments))
    if args is None:
        return FINE
    if args.output is not None:
        writable_file("-o", args.output, ".json")
    found = measured_constants(args)
    if args.output is not None:
        write_whole(args.output, f"{found}\n")
    print(found if args.json or args.output is None else f"wrote {args.output}")
    return FINE


def measured_constants(args: argparse.Namespace) -> Constants:
    """The constants by the options of the verb; a problem or a partition may be the object that a text names."""
    with loading():
        from .measuring.constants import constants
        from .measuring.constants.core import Constants
        from .problems.tasks import described
    with progress() as bar:
        bar.doing(f"reading {args.problem}")
        what = _task(args.problem)
        problem = _problem(args, what, args.seed)
        bar.doing("constants")
        found = constants(problem, args.batch, bar=bar, quick=args.quick)
    remark(described(what, problem, args.batch))
    return Constants(found)


def _problem(args: argparse.Namespace, what: Any, seed: int, augment: str | None = None) -> FederatedProblem:
    from .problems.tasks import dealt

    return dealt(what, args.partition, args.clients, seed, args.client_weight, augment)


def _fitting(problem: FederatedProblem, setting: Setting, args: argparse.Namespace, bar: Progress, first: bool) -> Any:
    """The model by the engine of ``--engine``, or by torch, with a line that says so, where that cannot compute it."""
    from .models.compiled import compiled, engine_of, kept, NotServed, prepare

    model: Any = problem.model
    lines = []
    pays = problem.convex and _client_steps(problem, setting) >= WORTH if model.stacked else True
    if args.engine == "compiled" or (args.engine == "auto" and pays and problem.device.type == "cpu"):
        try:
            if problem.device.type != "cpu":
                raise NotServed(f"it lies on {problem.device}")
            with loading():
                model = compiled(model)
            if first:
                bar.doing("loading compiled passes")
                prepare(model, lambda: isinstance(bar, Silent) or print(COMPILING, file=sys.stderr, flush=True))
        except NotServed as reason:
            lines.append(str(reason))
    if args.verbose:
        place = f", whose code is {kept()}" if engine_of(model) != "torch" else ""
        lines.append(f"the engine is {engine_of(model)}{place}")
    if first and lines:
        print("\n".join(f"fedbounds: {line}" for line in lines), file=sys.stderr, flush=True)
    return model


def _client_steps(problem: FederatedProblem, setting: Setting) -> float:
    """How many local steps clients are expected to take in a run."""
    planned = setting.planned(problem.federation.client_sizes).mean()
    return float(planned) * min(setting.cohort, problem.clients) * setting.rounds


def _setting(args: argparse.Namespace, problem: FederatedProblem) -> Setting:
    return Setting(
        cohort=problem.clients if args.cohort is None else args.cohort,
        client_weight=args.client_weight,
        **{name: getattr(args, name) for name in (*SETTING, "rounds", *LATER)},
    )


def _parsed(parser: Parser, arguments: Sequence[str]) -> argparse.Namespace | None:
    """The options, or None after --help."""
    try:
        args = parser.parse_args(list(arguments))
    except SystemExit:
        return None
    check_words(args)
    return args
