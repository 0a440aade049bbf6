"""``fedbounds validate NAME --problem ...``: compare a bound with training on real data.

Expectations are estimated by means over seeds, and statistics are taken of these means: the smallest squared gradient
norm is the smallest over time of the mean over seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.showing.reading import read
from empirics.algorithms.algorithm import fedavg
from empirics.errors import Diverged, EmpiricsError
from empirics.federation.federation import short_batch_note
from empirics.measuring import pair_rows, PAIRED, Row, Run
from empirics.progress import Progress

from ..runs import schedules
from ..runs.methods import differs
from ..runs.origins import free_constants
from .comparison import Comparison, condition_status, TESTS
from .measurement_plan import Array, collect, MeasurementPlan, plan
from .options import Options
from .training_plan import facts, of_rounds, plan_training, Training
from .verdicts import Data, decide_conditions, evaluate, lines, trend

MOST_TREND = 60
"""Numbers of rounds at which a trend is evaluated."""


def make_comparison(bound: Bound, options: Options, bar: Progress) -> Comparison:
    """Train the algorithm that the bound covers and compare the measurements with the bound."""
    given = {}
    if files := [word for word in options.words if word.startswith("@")]:
        raise BoundsError(
            f"the constants of a problem are computed from it: leave out {files[0]}, type what is missing"
        )
    for name, value in read(options.words).items():
        bound.quantity(name).card.domain.check(name, value.numbers)
        if value.kind != "number":
            raise BoundsError(f"{name} must be a single number here")
        given[name] = float(value.numbers)
    try:
        return compare_training(plan_training(bound, options, given, bar), bar)
    except Diverged as stop:
        raise EmpiricsError(f"{stop}; take a smaller --step-size") from None


def compare_training(training: Training, bar: Progress, ends: Sequence[int] = ()) -> Comparison:
    """Run every seed and compare with the bound.

    A bound on every round has one line per round. For other bounds, ``ends`` asks for one line per entry: the same runs
    cut after that many rounds, each line with an error rate of its own.
    """
    bound, base, total = training.bound, training.base, training.setting.rounds
    values = {name: known.value for name, known in training.values.items()}
    measuring = plan(bound, schedules.weights(bound.statistic, values))
    runs = _runs(training, measuring, bar)
    raw = collect(runs, measuring.measurements, base.clients)
    doubt, broken, conditions = _doubts(training, runs, measuring, raw)

    def first(rounds: int) -> Data:
        return _data(training, measuring, raw, rounds)

    if measuring.fold == "every":
        rows = lines(first(total), [str(end) for end in range(1, total + 1)], doubt, broken)
    else:
        cuts = [(str(end), end) for end in ends] or [("all", total)]
        rows = [line for place, end in cuts for line in lines(first(end), [place], doubt, broken)]
    trends = []
    if not ends and (doubt or broken or any(line.outside for line in rows)):
        if measuring.fold == "every":
            formula, measured = [line.bound for line in rows], [float(line.measured.value) for line in rows]
        else:  # over longer and longer runs
            lengths = np.unique(np.linspace(1, total, min(total, MOST_TREND)).round().astype(int))
            means = [(data, *data.means()) for data in map(first, map(int, lengths))]
            formula = [float(evaluate(data, moving, True)[0]) for data, _, moving in means]
            measured = [float(target.min()) for _, target, _ in means]
        trends = [trend(formula, measured)]
    return Comparison(
        bound,
        tuple(rows),
        f" ({training.seeds} seeds; {TESTS} these runs only).",
        about=tuple(_about(training)),
        conditions=decide_conditions(first(total), conditions),
        findings=tuple(trends),
        card={
            "seeds": training.seeds,
            "problem": str(base),
            "algorithm": training.method.name,
            "clients": base.clients,
            "client_sizes": list(base.client_sizes),
            "samples_drawn": training.samples,
            "setting": asdict(training.setting),
            "seed_range": [0, training.seeds - 1],
            "values": {name: known._asdict() for name, known in training.values.items()},
        },
    )


def _runs(training: Training, measuring: MeasurementPlan, bar: Progress) -> list[list[Row]]:
    """The rows that every seed measures, of single runs and of pairs of runs."""
    bar.start(training.seeds * training.setting.rounds)
    runs = []
    single = [m for m in measuring.measurements if m.name not in PAIRED]
    paired = [m.name for m in measuring.measurements if m.name in PAIRED]
    for seed in range(training.seeds):
        bar.doing(f"{training.method}, seed {seed}")
        problem = training.problem(seed)
        run = Run(problem, training.method, training.setting, seed, single, every=1)
        rows: list[Row] = []
        for state, measured in run if single else ():
            rows += measured
            if state.round:
                bar.step()
        if rows and rows[-1].quantity == "diverged":
            raise Diverged(rows[-1].round, f"{training.method} with seed {seed}", rows[-1].value)
        runs.append(rows + pair_rows(problem, training.method, training.setting, seed, paired))
    return runs


def _data(training: Training, measuring: MeasurementPlan, raw: Mapping[str, Array], rounds: int) -> Data:
    """The values of the first ``rounds`` rounds of the runs."""
    bound, known = training.bound, training.values
    names = {q.name for q in bound.quantities}
    ends = {name: one.interval for name, one in known.items() if one.doubt and name in names}
    values = of_rounds({name: one.value for name, one in known.items()}, training.setting, rounds)
    return Data(
        bound=bound,
        target=measuring.target_of(raw, rounds, schedules.weights(bound.statistic, values)),
        moving=measuring.moving_of(raw, rounds),
        fixed={name: value for name, value in values.items() if name in names},
        uncertain={name: end for name, end in ends.items() if end is not None},
        chosen=free_constants(bound),
        fold=measuring.fold,
        drawn=True,
    )


def _doubts(
    training: Training, runs: Sequence[Sequence[Row]], measuring: MeasurementPlan, raw: Mapping[str, Array]
) -> tuple[str, bool, tuple[str, ...]]:
    """Why no verdict is possible (empty if one is), whether conditions fail, and the status of every condition."""
    for source in measuring.moving.values():
        values = raw[source.key]
        runs_of_client = np.isfinite(values).any(1).sum(0) if values.ndim == 3 else np.array([len(values)])
        if (fewest := runs_of_client.min()) < min(2, len(values)):  # a standard error needs two runs of every client
            raise EmpiricsError(
                f"{source.key} is needed of every client; client {int(runs_of_client.argmin())} took part in {fewest} "
                f"of the {len(values)} runs: use more --seeds or a larger --cohort"
            )
    status = condition_status(training.bound, *facts(training), training.condition_values)
    reasons = [f"{name} {known.doubt}" for name, known in training.values.items() if known.doubt]
    proxies = sorted({r.quantity for rows in runs for r in rows if r.exactness == "proxy"})
    reasons += [f"{name} is measured by a proxy" for name in proxies]
    if training.bound.relation == "<~":
        reasons.append("the bound hides a constant")
    objective = training.method.objective
    if objective != fedavg.objective and getattr(objective, "after", 0) < training.setting.rounds:
        reasons.append("clients minimise another objective than the loss that is measured")
    if differs(training.bound.about, training.method):
        status = (*status, f"NOT met: the bound is about {training.bound.about}")
    return "; ".join(reasons), any(line.startswith("NOT met") for line in status), status


def _about(training: Training) -> list[str]:
    """Lines that describe the run, and the constants with their sources."""
    setting, base = training.setting, training.base
    decay = "" if setting.step_offset is None else f", falling with the offset {setting.step_offset:.3g}"
    drawn = "" if training.samples is None else f", {training.samples} samples drawn by every client"
    short = short_batch_note(setting.batch, base.client_sizes) if training.samples is None else []
    constants = []
    for name, known in training.values.items():
        if known.how not in ("the setting", "counted"):
            ends = dict.fromkeys(f"{end:.4g}" for end in (np.min(known.value), np.max(known.value)))
            constants.append(f"{name} = {' .. '.join(ends)}: {known.how}")
    return [
        f"{training.method} on {base}{drawn}",
        f"{setting.described(base.clients)} of size {setting.step_size:.3g}{decay}, batch {setting.batch}; "
        f"{training.seeds} seeds",
        *(f"  {line}" for line in (*short, *constants)),
    ]
