"""Jobs whose results figures store: bounds compared with training, exact moments, sampled runs, one averaging round.

Every table has one row per number; ``outside`` marks rows to which the theorem does not apply.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bounds.catalog import get
from bounds.core import Bound
from bounds.errors import NoMinimumError, NoSolutionError
from empirics.algorithms import algorithm
from empirics.exact import exact_run
from empirics.exact.sampled import sampled, SampledRun
from empirics.experiments import Outcome
from empirics.experiments.registry import job
from empirics.measuring.estimates import jackknife
from empirics.problems.quadratics import random_quadratics
from empirics.problems.quadratics.gaussian import GaussianMean
from empirics.problems.tasks import task
from empirics.progress import Silent
from empirics.training.setting import Setting

from ..runs import readings
from ..runs.methods import method
from ..runs.origins import EXACT, ORIGINS, RUNS
from .exact import compare, compare_inside, Compared
from .one_round import CLAIMED, compare as compare_round, controlled_gap, drawn as draws_of, NAME
from .options import Options
from .trained import compare_training
from .training_plan import plan_training


def _columns(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """The rows of a table as columns of plain values."""
    plain = [[x.item() if isinstance(x, np.generic | np.ndarray) else x for x in row] for row in rows]
    return {name: [row[i] for row in plain] for i, name in enumerate(names)}


@job("validate_trained", version=2)
def trained(bound: str, problem: str, seeds: int, ends: Sequence[int], **options: Any) -> Outcome:
    """Compare a bound with training on real data after each number of rounds in ``ends``.

    ``options`` are those of ``validate``. The facts are the constants and the status of every condition.
    """
    options = {"problem": problem, "seeds": seeds, "rounds": max(ends), **options}
    training = plan_training(get(bound), Options.of(RUNS, **options), {})
    comparison = compare_training(training, Silent(), ends)
    rows = [(line.place[0], *line.measured, line.bound, line.outside, str(line.verdict)) for line in comparison.rows]
    constants = {name: float(np.mean(known.value)) for name, known in training.values.items()}
    about = {"method": str(training.method), "samples": training.samples, "step_size": training.setting.step_size}
    return Outcome(_columns(("rounds", "measured", "error", "bound", "outside", "verdict"), rows),
                   {"constants": constants, "standing": list(comparison.conditions), **about})  # fmt: skip


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
    """Compare a bound with its target's exact value on random quadratics and with the mean of ``runs`` sampled runs.

    Unless given, the step size is the largest that meets the conditions in the longest run. A bound on every round has
    one row per round of that run.
    """
    tested, problem = get(bound), random_quadratics(instance, clients, dim, noise=noise)
    plan = {"local_steps": local_steps, "step_size": step_size, "clients": clients, "relaxation": relaxation}
    setting, longest = compare_inside(tested, problem, Options.of(EXACT, rounds=max(ends), **plan))
    covered = method(tested.about, data=False, relaxation=relaxation)
    if not covered.remember:  # clients keep no state, so absent ones may train too without changing anything
        covered = replace(covered, everyone=True)
    samples = [sampled(problem, covered, setting, seed) for seed in range(runs)]
    several = len(longest.exact) > 1
    rows: list[Sequence[Any]] = []
    for end in [max(ends)] if several else ends:
        compared = longest if end == max(ends) else compare(tested, problem, replace(setting, rounds=end), relaxation)
        mean, error = _over_runs(tested, [run.first(end) for run in samples], compared)
        outside = compared.outside | np.isnan(compared.bound)
        places = range(1, end + 1) if several else [end]
        rows += zip(places, compared.exact, compared.formula, outside, mean, error, strict=True)
    names = ("rounds", "exact", "bound", "outside", "measured", "error")
    return Outcome(_columns(names, rows), {"step_size": setting.step_size, "cohort": setting.cohort})


def _over_runs(bound: Bound, runs: Sequence[SampledRun], compared: Compared) -> tuple[np.ndarray, np.ndarray]:
    """The target's mean and standard error over sampled runs; a minimum is taken of the means."""
    if not runs:
        return np.full(len(compared.exact), np.nan), np.full(len(compared.exact), np.nan)
    at = bound.statistic
    assert at is not None
    if at.kind == "min" and at.over == "iterations":
        values = np.stack([run.iterations("grad_norm_sq") for run in runs])
    elif at.kind == "min":
        values = np.stack([run.server[ORIGINS[bound.target.name].of or bound.target.name][:-1] for run in runs])
    else:
        values = np.stack([np.atleast_1d(readings.target(bound, run, None, compared.values)) for run in runs])
    values = values[:, [int(values.mean(0).argmin())]] if at.kind == "min" else values
    return values.mean(0), values.std(0, ddof=1) / len(runs) ** 0.5


@job("validate_relaxed", version=1)
def relaxed(
    instance: int, betas: Sequence[float], bounds: Sequence[str], clients: int, dim: int, rounds: int, step: float
) -> Outcome:
    """The exact mean and last divergence for every relaxation beta, and the values of ``bounds`` there.

    ``step`` is the step size times L K. The facts are the quantities of the run with the last relaxation.
    """
    problem, steps = random_quadratics(instance, clients, dim), 3
    setting = Setting(rounds, max(1, clients // 2), local_steps=steps, step_size=step / (problem.smoothness * steps))
    rows: list[Sequence[Any]] = []
    for beta in betas:
        run = exact_run(problem, algorithm(f"fedinit(beta={beta!r}, reading='proof')"), setting)
        values = readings.values(problem, setting, beta, run)
        rows += [(beta, name, float(values[name]), False) for name in ("mean_divergence", "final_divergence")]
        for name in bounds:
            try:
                compared = compare(get(name), problem, setting, beta)
            except (NoSolutionError, NoMinimumError):  # the theorem does not apply: its proof has no constant here
                rows.append((beta, name, float("nan"), True))
            else:
                outside = bool(np.isnan(compared.bound[-1]) or compared.outside)
                rows.append((beta, name, float(compared.formula[-1]), outside))
    constants = {name: float(x) for name, x in values.items() if np.ndim(x) == 0}
    return Outcome(_columns(("beta", "quantity", "value", "outside"), rows), {"constants": constants})


@job("validate_best_steps", version=1)
def best_steps(
    instance: int, steps: Sequence[int], ends: Sequence[int], clients: int, dim: int, noise: float, scale: float = 1.0
) -> Outcome:
    """The exact target of Decaying-K's Theorem 1 for every number of local steps and of rounds, at step size 1/(4L).

    ``scale`` multiplies every loss and gradient and divides the step size, so the models stay the same. G^2 in the
    facts is the largest over all runs.
    """
    problem = random_quadratics(instance, clients, dim, noise=noise)
    problem = replace(
        problem,
        curvatures=scale * problem.curvatures,
        noise=scale**2 * problem.noise,
        floors=scale * problem.floors,
    )
    step_size, cap = 1 / (4 * problem.smoothness), 0.0
    rows: list[Sequence[Any]] = []
    for count in steps:
        setting = Setting(max(ends), max(1, clients // 2), local_steps=count, step_size=step_size)
        run = exact_run(problem, algorithm("fedavg()"), setting)
        cap = max(cap, float(run.rounds["grad_cap_sq"].max()))
        series = run.iterations("grad_norm_sq")
        rows += [(count, end, float(series[: end * count + 1].min())) for end in ends]
    names = ("smoothness", "strong_convexity", "optimal_loss", "heterogeneity")
    facts = {name: getattr(problem, name) for name in names}
    facts |= {"current_loss": float(problem.loss(problem.start)), "grad_cap_sq": cap, "step_size": step_size}
    facts |= {"cohort": setting.cohort, "client_gradient_variance": problem.client_gradient_variance.tolist()}
    return Outcome(_columns(("local_steps", "rounds", "value"), rows), facts)


@job("validate_one_round", version=1)
def one_round(problem: str, counts: Sequence[int], seeds: int, samples: int, partition: str = "iid") -> Outcome:
    """Theorem 4.1 of FedALS at every number of clients: draws of the gap, and the comparison of their means.

    By default all clients draw from the same distribution; see ``partition``.
    """
    pool = task(problem).pool(partition, max(counts), samples)
    stacked = draws_of(pool, counts, range(seeds), 1)
    gaps = controlled_gap(stacked)
    rows: list[Sequence[Any]] = []
    for i, count in enumerate(counts):
        rows += [("generalization_gap", count, seed, float(gaps[seed, i]), None, "") for seed in range(seeds)]
    for name, words in ((NAME, "bound"), (CLAIMED, "first term")):
        for c in compare_round(pool, tuple(counts), stacked, get(name), len(counts)):
            rows.append((words, c.place[2], None, c.bound, c.error, str(c.verdict)))
            rows.append((f"measured for the {words}", c.place[2], None, *map(float, c.measured), str(c.verdict)))
    table = _columns(("quantity", "clients", "seed", "value", "error", "verdict"), rows)
    return Outcome(table, {"smoothness": pool.sample_smoothness, "strong_convexity": pool.strong_convexity})


@job("validate_gaussian_mean", version=1)
def gaussian_mean(counts: Sequence[int], seeds: int, samples: int, dim: int, variance: float) -> Outcome:
    """The measured gap of one averaging round for squared distances, where the exact value is known.

    The gap of the true mean, which is zero in expectation, is subtracted as a control variate.
    """
    rows, true = [], np.zeros(dim)
    for count in counts:
        mean = GaussianMean(np.zeros((count, dim)), variance, samples)
        draws = (mean.draw(seed) for seed in range(seeds))
        gaps = np.array([mean.generalization_gap(z.mean((0, 1)), z) - mean.generalization_gap(true, z) for z in draws])
        rows.append((count, *map(float, jackknife(lambda x: x, gaps))))
    return Outcome(_columns(("clients", "value", "error"), rows))
