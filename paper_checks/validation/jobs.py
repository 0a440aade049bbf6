"""Comparisons of bounds with runs, as cells of a store: real data, exact moments beside sampled runs, one round.

Every table has one row per number; ``outside`` marks rows about which the theorem says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bounds.catalog import get
from bounds.core import Bound
from bounds.errors import NoMinimumError, NoSolutionError
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import Algorithm
from empirics.exact import exact_run
from empirics.exact.sampled import sampled, SampledRun
from empirics.experiments import Outcome
from empirics.experiments.registry import job
from empirics.measuring.estimates import jackknife
from empirics.problems.quadratics import Quadratics, random_quadratics
from empirics.problems.quadratics.gaussian import GaussianMean
from empirics.problems.tasks import task
from empirics.progress import Silent
from empirics.training.setting import Setting

from ..runs import readings
from ..runs.words import WORDS
from .exact import about, Compared, inside, quietly
from .one_round import CLAIMED, compare as compare_round, controlled_gap, drawn as draws_of, NAME
from .options import EXACT, Options, RUNS
from .planned import planned
from .trained import judged

Columns = dict[str, list[Any]]


@job("validate_trained", version=2)
def trained(bound: str, problem: str, seeds: int, ends: Sequence[int], **options: Any) -> Outcome:
    """A bound beside training on real data after every one of ``ends`` rounds; ``options`` are those of ``validate``.

    The facts hold the constants that were put in, why no verdict is given, and the standing of every condition.
    """
    chosen = get(bound)
    told = Options.of(RUNS, problem=problem, seeds=seeds, rounds=max(ends), **options)
    training = planned(chosen, told, {})
    found = judged(training, Silent(), ends)
    table: Columns = {
        "rounds": [line.place[0] for line in found.lines],
        "measured": [float(line.measured.value) for line in found.lines],
        "error": [float(line.measured.error) for line in found.lines],
        "bound": [line.bound for line in found.lines],
        "outside": [line.outside for line in found.lines],
        "verdict": [str(line.verdict) for line in found.lines],
    }
    constants = {name: float(np.mean(held.value)) for name, held in training.values.items()}
    about = {"method": str(training.method), "samples": training.samples, "step_size": training.setting.step_size}
    return Outcome(table, {"constants": constants, "standing": list(found.standing), **about})


# ---- quadratics: exact moments and sampled runs ----


@job("validate_exact", version=1)
def exact(
    bound: str,
    instance: int,
    ends: Sequence[int],
    clients: int = 4,
    dim: int = 2,
    noise: float = 0.3,
    local_steps: int = 3,
    relaxation: float = 0.06,
    step_size: float | None = None,
    runs: int = 0,
) -> Outcome:
    """A bound beside its target's exact value on random quadratics and the mean of ``runs`` sampled runs.

    The step size is the largest that meets the conditions at the most rounds, unless it is given. A target of every
    round gives one row per round of the longest run.
    """
    chosen, problem = get(bound), random_quadratics(instance, clients, dim, noise=noise)
    told = {"local_steps": local_steps, "step_size": step_size, "clients": clients, "relaxation": relaxation}
    setting, longest = inside(chosen, problem, Options.of(EXACT, rounds=max(ends), **told))
    drawn = [sampled(problem, _drawn(chosen, relaxation), setting, seed) for seed in range(runs)]
    rows: list[list[Any]] = []
    for end in [max(ends)] if len(longest.exact) > 1 else ends:
        found = longest if end == max(ends) else quietly(chosen, problem, replace(setting, rounds=end), relaxation)
        rows += _rows(end, found, *_target(chosen, [run.first(end) for run in drawn], found))
    names = ("rounds", "exact", "bound", "outside", "measured", "error")
    table = {name: [_plain(row[i]) for row in rows] for i, name in enumerate(names)}
    return Outcome(table, {"step_size": setting.step_size, "cohort": setting.cohort})


def _rows(end: int, found: Compared, mean: np.ndarray, error: np.ndarray) -> list[list[Any]]:
    """A row per round where every one has its line, else one for all ``end`` of them."""
    places = range(1, end + 1) if len(found.exact) > 1 else [end]
    silent = found.outside | np.isnan(found.bound)
    return [list(row) for row in zip(places, found.exact, found.formula, silent, mean, error, strict=True)]


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _drawn(bound: Bound, relaxation: float) -> Algorithm:
    """What the bound is about; where absent clients leave nothing behind they train as well, and are not averaged."""
    made = about(bound, relaxation)
    return made if made.remember else replace(made, everyone=True)


def _target(bound: Bound, runs: Sequence[SampledRun], beside: Compared) -> tuple[np.ndarray, np.ndarray]:
    """The target's mean and standard error over sampled runs; a least value is that of the means."""
    if not runs:
        return np.full(len(beside.exact), np.nan), np.full(len(beside.exact), np.nan)
    at = bound.statistic
    assert at is not None
    if at.kind == "min":
        over = [run.iterations("grad_norm_sq") if at.over == "iterations" else _served(bound, run) for run in runs]
        values = np.stack(over)
        values = values[:, [int(values.mean(0).argmin())]]
    else:
        values = np.stack([np.atleast_1d(readings.target(bound, run, None, beside.values)) for run in runs])
    return values.mean(0), values.std(0, ddof=1) / len(runs) ** 0.5


def _served(bound: Bound, run: SampledRun) -> np.ndarray:
    return np.asarray(run.server[WORDS[bound.target.name].of or bound.target.name][:-1])


# ---- what the relaxation does, and how many local steps are best ----


@job("validate_relaxed", version=1)
def relaxed(
    instance: int, betas: Sequence[float], bounds: Sequence[str], clients: int, dim: int, rounds: int, step: float
) -> Outcome:
    """Exact mean and last divergence for every relaxation, and what ``bounds`` say of their own target there.

    ``step`` is the step size times L K. The facts hold the numbers of the run with the last relaxation.
    """
    problem = random_quadratics(instance, clients, dim)
    steps = 3
    setting = Setting(rounds, max(1, clients // 2), local_steps=steps, step_size=step / (problem.smoothness * steps))
    table: Columns = {"beta": [], "quantity": [], "value": [], "outside": []}
    for beta in betas:
        run = exact_run(problem, algorithm(f"fedinit(beta={beta!r}, reading='proof')"), setting)
        values = readings.values(problem, setting, beta, run)
        found = {"mean_divergence": values["mean_divergence"], "final_divergence": values["final_divergence"]}
        rows = [(name, float(value), False) for name, value in found.items()]
        rows += [_row(get(name), problem, setting, beta) for name in bounds]
        for name, value, outside in rows:
            for column, cell in zip(table, (beta, name, value, outside), strict=True):
                table[column].append(cell)
    constants = {name: float(x) for name, x in values.items() if np.ndim(x) == 0}
    return Outcome(table, {"constants": constants})


def _row(bound: Bound, problem: Quadratics, setting: Setting, beta: float) -> tuple[str, float, bool]:
    try:
        found = quietly(bound, problem, setting, beta)
    except (NoSolutionError, NoMinimumError):  # no constant of the proof exists: the theorem is silent
        return bound.name, float("nan"), True
    return bound.name, float(found.formula[-1]), bool(np.isnan(found.bound[-1]) or found.outside)


@job("validate_best_steps", version=1)
def best_steps(
    instance: int, steps: Sequence[int], ends: Sequence[int], clients: int, dim: int, noise: float, scale: float = 1.0
) -> Outcome:
    """The exact target of Decaying-K's Theorem 1 for every number of local steps and of rounds, at step size 1/(4L).

    ``scale`` multiplies every loss, and divides the step size: the models stay the same. G^2 of the facts serves all.
    """
    problem = scaled(random_quadratics(instance, clients, dim, noise=noise), scale)
    step_size = 1 / (4 * problem.smoothness)
    table: Columns = {"local_steps": [], "rounds": [], "value": []}
    cap = 0.0
    for count in steps:
        setting = Setting(max(ends), max(1, clients // 2), local_steps=count, step_size=step_size)
        run = exact_run(problem, algorithm("fedavg()"), setting)
        cap = max(cap, float(run.rounds["grad_cap_sq"].max()))
        series = run.iterations("grad_norm_sq")
        for end in ends:
            for column, cell in zip(table, (count, end, float(series[: end * count + 1].min())), strict=True):
                table[column].append(cell)
    names = ("smoothness", "strong_convexity", "optimal_loss", "heterogeneity")
    facts = {name: getattr(problem, name) for name in names}
    facts |= {"current_loss": float(problem.loss(problem.start)), "grad_cap_sq": cap, "step_size": step_size}
    facts |= {"cohort": setting.cohort, "client_gradient_variance": problem.client_gradient_variance.tolist()}
    return Outcome(table, facts)


def scaled(problem: Quadratics, scale: float) -> Quadratics:
    """The same problem with every loss multiplied by ``scale``, noise of its gradients included."""
    return replace(
        problem,
        curvatures=scale * problem.curvatures,
        noise=scale**2 * problem.noise,
        floors=scale * problem.floors,
    )


# ---- one averaging round ----


@job("validate_one_round", version=1)
def one_round(problem: str, counts: Sequence[int], seeds: int, samples: int, partition: str = "iid") -> Outcome:
    """Theorem 4.1 of FedALS at every number of clients: draws of the gap, and the comparison of their means.

    ``partition`` says what every client draws from the data of ``problem``; by default they are alike.
    """
    pool = task(problem).pool(partition, max(counts), samples)
    stacked = draws_of(pool, counts, range(seeds), 1)
    gaps = controlled_gap(stacked)
    rows: list[tuple[Any, ...]] = []
    for i, count in enumerate(counts):
        rows += [("generalization_gap", count, seed, float(gaps[seed, i]), None, "") for seed in range(seeds)]
    for name, words in ((NAME, "bound"), (CLAIMED, "first term")):
        for c in compare_round(pool, tuple(counts), stacked, get(name), len(counts)):
            for quantity, *found in ((words, c.bound, c.error), (f"measured for the {words}", *map(float, c.measured))):
                rows.append((quantity, c.place[2], None, *found, str(c.verdict)))
    names = ("quantity", "clients", "seed", "value", "error", "verdict")
    table = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Outcome(table, {"smoothness": pool.sample_smoothness, "strong_convexity": pool.strong_convexity})


@job("validate_gaussian_mean", version=1)
def gaussian_mean(counts: Sequence[int], seeds: int, samples: int, dim: int, variance: float) -> Outcome:
    """One averaging round of sample means for squared distances: the measured gap, whose exact value is known.

    The gap of the true mean, which is zero in expectation, is subtracted.
    """
    table: Columns = {"clients": [], "value": [], "error": []}
    for count in counts:
        mean = GaussianMean(np.zeros((count, dim)), variance, samples)
        drawn = (mean.draw(seed) for seed in range(seeds))
        true = np.zeros(dim)
        gaps = np.array([mean.generalization_gap(z.mean((0, 1)), z) - mean.generalization_gap(true, z) for z in drawn])
        found = jackknife(lambda x: x, gaps)
        for column, cell in zip(table, (count, float(found.value), float(found.error)), strict=True):
            table[column].append(cell)
    return Outcome(table)
