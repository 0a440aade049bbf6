"""``fedbounds validate NAME --problem ...``: compare a bound with training on real data.

Expectations are means over seeds, and a statistic is one of these means: the smallest squared gradient norm is the
smallest over time of the means over seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from bounds.core import Bound
from bounds.errors import BoundsError
from bounds.showing.values import read
from empirics.algorithms.algorithm import fedavg
from empirics.errors import Diverged, EmpiricsError
from empirics.federation.federation import short_of
from empirics.measuring import of_pairs, PAIRED, Row, Run
from empirics.progress import Progress

from ..runs import schedules
from ..runs.methods import other
from ..runs.words import free
from .comparison import Comparison, standing, TESTS
from .judging import Data, evaluate, lines, settled, trend
from .options import Options
from .planned import facts, of_rounds, planned, Training
from .reading import Array, collect, MeasurementPlan, plan

MOST_TREND = 60
"""Numbers of rounds at which a trend is evaluated."""


def found(bound: Bound, told: Options, bar: Progress) -> Comparison:
    """Train the algorithm that the bound covers, by the plan, and judge."""
    given = {}
    if files := [word for word in told.words if word.startswith("@")]:
        raise BoundsError(
            f"the constants of a problem are computed from it: leave out {files[0]}, type what is missing"
        )
    for name, value in read(told.words).items():
        bound.quantity(name).card.domain.check(name, value.numbers)
        if value.kind != "number":
            raise BoundsError(f"{name} must be a number here")
        given[name] = float(value.numbers)
    try:
        return judged(planned(bound, told, given, bar), bar)
    except Diverged as stop:
        raise EmpiricsError(f"{stop}; take a smaller --step-size") from None


def judged(training: Training, bar: Progress, ends: Sequence[int] = ()) -> Comparison:
    """Run every seed and judge; with ``ends``, a line for that many first rounds of the same runs each.

    A bound on every round has a line for each round anyway. The verdicts of ``ends`` are those of each line alone.
    """
    bound, base, total = training.bound, training.base, training.setting.rounds
    told = {name: held.value for name, held in training.values.items()}
    chosen = plan(bound, schedules.weights(bound.statistic, told))
    runs = _runs(training, chosen, bar)
    raw = collect(runs, chosen.measurements, base.clients)
    doubt, broken, said = _doubts(training, runs, chosen, raw)

    def of(rounds: int) -> Data:
        return _data(training, chosen, raw, rounds)

    if chosen.fold == "every":
        found = lines(of(total), [str(end) for end in range(1, total + 1)], doubt, broken)
    else:
        cut = [(str(end), end) for end in ends] or [("all", total)]
        found = [line for place, end in cut for line in lines(of(end), [place], doubt, broken)]
    trends = []
    if not ends and (doubt or broken or any(line.outside for line in found)):
        if chosen.fold == "every":
            formula, measured = [line.bound for line in found], [float(line.measured.value) for line in found]
        else:  # over longer and longer runs
            some = np.unique(np.linspace(1, total, min(total, MOST_TREND)).round().astype(int))
            means = [(data, *data.means()) for data in map(of, map(int, some))]
            formula = [float(evaluate(data, moving, True)[0]) for data, _, moving in means]
            measured = [float(target.min()) for _, target, _ in means]
        trends = [trend(formula, measured)]
    return Comparison(
        bound,
        tuple(found),
        f" ({training.seeds} seeds; {TESTS} these runs only).",
        about=tuple(_about(training)),
        standing=settled(of(total), said),
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
            "values": {name: held._asdict() for name, held in training.values.items()},
        },
    )


# ---- the runs ----


def _runs(training: Training, chosen: MeasurementPlan, bar: Progress) -> list[list[Row]]:
    bar.start(training.seeds * training.setting.rounds)
    runs = []
    single = [m for m in chosen.measurements if m.name not in PAIRED]
    compared = [m.name for m in chosen.measurements if m.name in PAIRED]
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
        runs.append(rows + of_pairs(problem, training.method, training.setting, seed, compared))
    return runs


def _data(training: Training, chosen: MeasurementPlan, raw: Mapping[str, Array], rounds: int) -> Data:
    """The values of the first ``rounds`` rounds of the runs."""
    bound, values = training.bound, training.values
    spoken = {q.name for q in bound.quantities}
    ends = {name: held.interval for name, held in values.items() if held.doubt and name in spoken}
    known = of_rounds({name: held.value for name, held in values.items()}, training.setting, rounds)
    return Data(
        bound=bound,
        target=chosen.target_of(raw, rounds, schedules.weights(bound.statistic, known)),
        moving=chosen.moving_of(raw, rounds),
        fixed={name: value for name, value in known.items() if name in spoken},
        uncertain={name: end for name, end in ends.items() if end is not None},
        chosen=free(bound),
        fold=chosen.fold,
        drawn=True,
    )


# ---- what keeps a verdict open ----


def _doubts(
    training: Training, runs: Sequence[Sequence[Row]], chosen: MeasurementPlan, raw: Mapping[str, Array]
) -> tuple[str, bool, tuple[str, ...]]:
    """Why no verdict is possible (empty if one is), whether conditions fail, and the status of every condition."""
    for source in chosen.moving.values():
        values = raw[source.key]
        each = np.isfinite(values).any(1).sum(0) if values.ndim == 3 else np.array([len(values)])
        if each.min() < min(2, len(values)):  # a mean with an error needs two runs of every client
            raise EmpiricsError(
                f"{source.key} is needed of every client; client {int(each.argmin())} took part in {each.min()} of the "
                f"{len(values)} runs: more --seeds or a larger --cohort"
            )
    said = standing(training.bound, *facts(training), training.told)
    reasons = [f"{name} {held.doubt}" for name, held in training.values.items() if held.doubt]
    proxies = sorted({r.quantity for rows in runs for r in rows if r.exactness == "proxy"})
    reasons += [f"{word} is measured by a proxy" for word in proxies]
    if training.bound.relation == "<~":
        reasons.append("the bound hides a constant")
    objective = training.method.objective
    if objective != fedavg.objective and getattr(objective, "after", 0) < training.setting.rounds:
        reasons.append("clients minimise another objective than the loss that is measured")
    broken = any(line.startswith("NOT met") for line in said)
    if unlike := other(training.bound.about, training.method):
        said = (*said, f"NOT met: the bound is about {training.bound.about}")
    return "; ".join(reasons), broken or unlike, said


def _about(training: Training) -> list[str]:
    """The run in words, and the constants with their sources."""
    setting, base = training.setting, training.base
    falls = "" if setting.step_offset is None else f", falling with the offset {setting.step_offset:.3g}"
    drawn = "" if training.samples is None else f", {training.samples} samples drawn by every client"
    short = short_of(setting.batch, base.client_sizes) if training.samples is None else []
    constants = []
    for name, held in training.values.items():
        if held.how not in ("the setting", "counted"):
            ends = dict.fromkeys(f"{end:.4g}" for end in (np.min(held.value), np.max(held.value)))
            constants.append(f"{name} = {' .. '.join(ends)}: {held.how}")
    return [
        f"{training.method} on {base}{drawn}",
        f"{setting.cohort} of {base.clients} clients, {setting.sampling}; {setting.rounds} rounds of "
        f"{setting.steps} steps of size {setting.step_size:.3g}{falls}, batch {setting.batch}; {training.seeds} seeds",
        *(f"  {line}" for line in (*short, *constants)),
    ]
