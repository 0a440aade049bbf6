"""Plan the training that tests a bound: its algorithm, a plan that meets its conditions, samples, and constants.

A theorem holds with every constant that meets its assumption, so an upper bound on a constant that is valid at every
model supports a verdict. A maximum along a run is only a lower estimate, and a constant that the user gives is not
checked: with these the bound is shown without a verdict.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from bounds.assumptions import FULL_PARTICIPATION, SHARED_GENERATED_DATA
from bounds.core import Bound
from bounds.errors import MissingQuantityError
from bounds.scenario_values import Provenance
from bounds.showing.process import remark
from empirics.algorithms import algorithm
from empirics.algorithms.algorithm import Algorithm
from empirics.errors import EmpiricsError
from empirics.federation.federation import Federation, Fresh
from empirics.measuring.constants import closed_forms, constants, DECIDING, path_of_run
from empirics.measuring.costs import Devices
from empirics.models.linear import Linear
from empirics.problems.problem import FederatedProblem, Population
from empirics.problems.tasks import deal, describe_problem, task
from empirics.progress import Progress
from empirics.sizes import NUMBER, refuse_beyond_memory, ROW
from empirics.streams import stream
from empirics.training.setting import Setting

from ..runs import schedules
from ..runs.methods import demands, method as named
from ..runs.origins import free_constants, origin, PLAN, PROBLEM, RUNS
from ..runs.readings import of_plan, PlanFacts, setting_facts, UNBIASED
from ..runs.schedules import counted_from_one, FIRST, harmonic, OFFSET as KNOB_OFFSET, prescribed, SCALE, step_plan
from .exact import assumed_sampling, OFFSET
from .measurement_plan import fresh, needs_population, one_round, plan
from .options import Options

HALVINGS = 30
"""How often the largest step size, 1/L, is halved."""
LONGER = (10.0, 10.0, 10.0)
"""Factors by which the offset of a decreasing step size grows, one by one, if no scale meets the conditions."""


class KnownValue(NamedTuple):
    """A value with its source, its interval, and why it supports no verdict (empty if it does)."""

    value: Any
    how: str
    low: Any
    high: Any
    doubt: str = ""

    @classmethod
    def sure(cls, value: Any, how: str) -> KnownValue:
        return cls(value, how, value, value)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of a single uncertain number; None if it is certain or a list."""
        if np.ndim(self.value) or self.low == self.high:
            return None
        return float(self.low), float(self.high)


@dataclass(frozen=True, eq=False)
class Training:
    """All choices that are made before the first run."""

    bound: Bound
    method: Algorithm
    setting: Setting
    base: FederatedProblem
    seeds: int
    values: dict[str, KnownValue]
    everyone: bool
    samples: int | None = None
    fresh: bool = False

    @property
    def condition_values(self) -> dict[str, Any]:
        """The values that decide conditions in words: the plan, the federation, and constants without doubt."""
        s, constants = self.setting, {name: known.value for name, known in self.values.items() if not known.doubt}
        plan = of_plan(s.cohort, s.steps, s.rounds, s.step_size, None, s.step_offset)
        federation = {"clients": self.base.clients, "client_weight": self.base.weights.tolist()}
        if s.step_offset is not None:  # not a single number
            del plan["step_size"]
        return {**constants, **federation, **plan, "initial_divergence": 0.0}

    def problem(self, seed: int) -> FederatedProblem:
        """The problem of a seed: the same for all seeds, or with samples drawn anew from each client's data."""
        if self.samples is None:
            return self.base
        return redrawn(self.base, self.samples, seed, self.samples // self.setting.rounds if self.fresh else None)


def redrawn(base: FederatedProblem, samples: int, seed: int, per_round: int | None) -> FederatedProblem:
    """Let every client draw ``samples`` independently from its data, which then are its distribution.

    Population risks are exact. With ``per_round``, every round uses this many samples, none of them twice.
    """
    data = base.federation
    if type(data) is not Federation:
        raise EmpiricsError(f"population risks need samples in memory; {base} prepares its own")
    shares = torch.zeros(data.clients, len(data.inputs), dtype=torch.float64)
    parts = []
    for k in range(data.clients):
        own = data.members[int(data.offsets[k]) : int(data.offsets[k + 1])].numpy()
        np.add.at(shares[k].numpy(), own, 1 / len(own))
        parts.append(own[stream(seed, "redrawn samples", client=k).integers(len(own), size=samples)])
    federation = Federation.of(data.inputs, data.targets, parts)
    return replace(
        base,
        federation=federation if per_round is None else Fresh.from_(federation, per_round),
        population=Population(data.inputs, data.targets, shares),
        independent_samples=True,
    )


def plan_training(bound: Bound, options: Options, given: Mapping[str, float], bar: Progress | None = None) -> Training:
    """Plan the training for a bound; what the options leave open is chosen so that the bound's conditions hold."""
    method = about(bound) if options.algorithm is None else algorithm(options.algorithm)
    options = replace(options, **demands(bound).plan)
    if options.clients is not None:
        _setting(bound, options, options.clients)  # before any data are read
    problem = task(options.problem) if isinstance(options.problem, str) else options.problem
    base = deal(problem, options.partition, options.clients, options.seed, options.client_weight)
    remark(describe_problem(problem, base))
    if base is not problem:
        base = replace(base, name=f"{problem}, {options.partition}, {base.clients} clients")
    everyone = "all clients" in str(bound.statistic) and not method.everyone
    method = replace(method, everyone=method.everyone or everyone)
    setting, seeds = _setting(bound, options, base.clients), options.seeds or 1
    if demands(bound).quiet:
        if len(sizes := set(base.client_sizes)) > 1:
            raise EmpiricsError(
                f"{bound.name} is on exact gradients, so a batch is all samples of a client, and all clients need "
                f"equally many; they have {min(sizes)} to {max(sizes)}: change --clients or --partition"
            )
        setting = replace(setting, batch=base.client_sizes[0])
    rows = seeds * setting.rounds * len(plan(bound).measurements)
    runs = f"measuring {seeds} runs of {setting.rounds} rounds"
    refuse_beyond_memory(ROW * rows, runs, "take fewer --seeds or --rounds")
    counts, samples = {}, options.samples if needs_population(bound) else None
    if fresh(bound):
        counts["samples_per_round"] = setting.steps * setting.batch
        samples = setting.rounds * setting.steps * setting.batch
    if samples is not None:
        counts["samples"] = samples
        draws = f"drawing {samples} samples for each of {base.clients} clients"
        what = "take fewer --samples, --rounds or --local-steps"
        refuse_beyond_memory(NUMBER * samples * base.clients, draws, what)
    weights = None if bound.statistic is None else bound.statistic.weights
    used = {q.name for q in bound.quantities} | {*(weights.words if weights is not None else ())}
    names = [name for name in sorted(used) if origin(name, RUNS) in (PROBLEM, PLAN)]

    def at(setting: Setting, names: Iterable[str] = names, walk: bool = True) -> dict[str, KnownValue]:
        words = {name: bound.word_of(name) for name in names}
        return known_values(words, base, method, setting, given, counts, walk, bar)

    if options.step_size is None:
        at_start = partial(at, names={*names, "smoothness"}, walk=False)
        setting = _stepped(bound, names, at_start, setting, LONGER if options.step_offset is None else ())
    return Training(bound, method, setting, base, seeds, at(setting), everyone, samples, fresh(bound))


def about(bound: Bound) -> Algorithm:
    """The algorithm that the bound covers, with shared data where that is assumed."""
    shared = {"shared": True} if any(c.assumption is SHARED_GENERATED_DATA for c in bound.conditions) else {}
    return named(bound.about, **shared)


def _setting(bound: Bound, options: Options, clients: int) -> Setting:
    """The plan of a run; refuses a cohort that exceeds the number of clients."""
    if one_round(bound) and options.rounds not in (None, 1):
        raise EmpiricsError(f"{bound.name} is about one averaging round; got --rounds {options.rounds}")
    full = any(c.assumption is FULL_PARTICIPATION for c in bound.conditions)
    usual = 1.0 if any(map(counted_from_one, bound.conditions)) else OFFSET
    plan: dict[str, Any] = {
        "rounds": 1 if one_round(bound) else 10,
        "cohort": clients if full else max(1, clients // 2),
        "step_size": 0.05,
        "step_offset": usual if harmonic(bound) else None,
        "sampling": assumed_sampling(bound),
    }
    plan |= {name: getattr(options, name) for name in plan if getattr(options, name) is not None}
    setting = Setting(batch=options.batch, local_steps=options.local_steps, client_weight=options.client_weight, **plan)
    setting.check_cohort(clients)
    return setting


def _stepped(
    bound: Bound,
    names: Sequence[str],
    known_at: Callable[[Setting], Mapping[str, KnownValue]],
    setting: Setting,
    longer: Sequence[float],
) -> Setting:
    """The plan with the step sizes that the bound prescribes, or the largest of 1/L, 1/(2L), 1/(4L), ... it allows.

    ``known_at`` gives the constants before a run. All numeric conditions hold at the step size, except those on
    quantities of a run. If one fails at all step sizes, the offset of a decreasing one is multiplied by ``longer``.
    """
    values = {name: known.value for name, known in known_at(setting).items()}
    largest, fixed = 1 / values["smoothness"], prescribed(bound)
    if fixed:
        planned = of_plan(setting.cohort, setting.steps, setting.rounds, largest, 0.0, setting.step_offset)
        knobs = step_plan(bound, {**values, **planned})
        setting = replace(setting, step_size=knobs[FIRST], step_offset=knobs.get(KNOB_OFFSET))
        if {SCALE, FIRST} & set(fixed):
            return setting
    free_words = {FIRST, SCALE} & set(names)
    if not free_words:
        return replace(setting, step_size=largest)
    others = {**{q.name: 1.0 for q in bound.quantities}, **dict.fromkeys(free_constants(bound), 1e-6), **values}
    put = {q.name: others[q.name] for q in bound.quantities}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(HALVINGS):
            size, offset = largest / 2**i, setting.step_offset
            steps = {FIRST: size} | ({} if offset is None else {SCALE: size * offset, KNOB_OFFSET: offset})
            put |= {name: value for name, value in steps.items() if name in put}
            if np.all(bound.holds(**put)):
                return replace(setting, step_size=size)
        failed = bound.failed(**put)
    if setting.step_offset is not None and longer and KNOB_OFFSET not in fixed:
        slower = replace(setting, step_offset=setting.step_offset * longer[0])
        return _stepped(bound, names, known_at, slower, longer[1:])
    mends = any(c.relation is not None and free_words & {q.name for q in c.relation.free_symbols} for c in failed)
    what = "give --step-size to train outside them" if mends else "change --cohort or the plan, not the step size"
    words = "; ".join(c.words for c in failed)
    raise EmpiricsError(f"the conditions of {bound.name} fail at every step size tried ({words}): {what}")


def facts(training: Training) -> tuple[SimpleNamespace, SimpleNamespace, PlanFacts]:
    """Problem, algorithm and setting with the attributes that assumptions check; None if unknown."""
    base, method, setting, own = training.base, training.method, training.setting, training.problem(0)
    problem = SimpleNamespace(**{name: getattr(base, name) for name in FACTS})
    problem.client_sizes = own.client_sizes
    problem.strong_convexity = base.strong_convexity if base.convex else 0.0
    for name in ("gradient_variance", "grad_cap_sq"):
        known = training.values.get(name)
        sure = known is not None and not known.doubt and math.isfinite(known.value)
        setattr(problem, name, known.value if known is not None and sure else None)
    if problem.gradient_variance is None and base.gradient_variance is not None:
        problem.gradient_variance = base.gradient_variance if math.isfinite(base.gradient_variance) else None
    if setting.batch >= max(own.client_sizes):
        problem.gradient_variance = 0.0
    problem.independent_noise = True  # every client draws batches of its own
    problem.independent_samples = own.independent_samples
    generate = getattr(method.objective, "generate", None)
    method_facts = SimpleNamespace(
        local_sgd=method.local_sgd,
        exact_local_solver=not method.local_sgd,
        relaxed_start=hasattr(method.start, "beta"),
        shared_generated_data=getattr(generate, "shared", None),
    )
    return problem, method_facts, replace(setting_facts(base, setting), fresh_samples=training.fresh)


FACTS = (
    "smoothness", "sample_smoothness", "pl_constant", "lipschitz", "dissimilarity_offset", "loss_cap", "lower_bound",
    "convex", "nonnegative_loss",
)  # fmt: skip


def known_values(
    names: Mapping[str, str],
    problem: FederatedProblem,
    method: Algorithm,
    setting: Setting,
    given: Mapping[str, float],
    sizes: Mapping[str, int],
    walk: bool = True,
    bar: Progress | None = None,
) -> dict[str, KnownValue]:
    """The values of quantities that are not measured.

    ``names`` maps each quantity to the constant of the problem that gives its value; ``sizes`` are numbers of samples.
    With ``walk``, estimates are made along a run, not only at the start.

    Raises:
        MissingQuantityError: if a value is unknown.
    """
    devices = Devices()
    plan = {
        **of_plan(setting.cohort, setting.steps, setting.rounds, setting.step_size, None, setting.step_offset),
        **{name: getattr(devices, name) for name in ("download_rate", "upload_rate", "minibatch_time")},
        "relaxation": getattr(method.start, "beta", None),
        "untouched_steps": 1,  # two runs on neighbouring data sets agree before the first step
    }
    known = {name: KnownValue.sure(value, "the setting") for name, value in plan.items() if value is not None}
    known |= {name: KnownValue.sure(value, "as drawn") for name, value in sizes.items()}
    for name in given.keys() & known.keys():  # the bound would be about another plan than the runs
        raise EmpiricsError(f"{name} is {known[name].value:g} in these runs: leave {name}= out")
    if not names.keys() <= {*known, *given}:
        constant = _of_problem(problem, method, setting, walk, bar)
        known = {**{name: constant[word] for name, word in names.items() if word in constant}, **known}
    known |= {name: KnownValue(x, "given", x, x, "is given, not proved") for name, x in given.items()}
    if missing := [name for name in names if name not in known]:
        needed = " ".join(f"{name}=NUMBER" for name in missing)
        raise MissingQuantityError(f"{', '.join(missing)} is unknown for {problem}: give {needed} to see the formula")
    return {name: known[name] for name in names}


def of_rounds(values: Mapping[str, Any], setting: Setting, rounds: int) -> dict[str, Any]:
    """The values for the first ``rounds`` rounds of a run."""
    iterations = rounds * setting.steps
    summed = sum(schedules.step_sizes(setting.step_size, setting.step_offset, iterations))
    changed = {"rounds": rounds, "iterations": iterations, "summed_step_sizes": summed}
    return {name: changed.get(name, value) for name, value in values.items()}


def _of_problem(
    problem: FederatedProblem, method: Algorithm, setting: Setting, walk: bool, bar: Progress | None
) -> dict[str, KnownValue]:
    """The constants of a problem: closed forms for this algorithm and plan, else estimates along a run of seed 0.

    The quick estimates are used: for a network even expensive ones are only lower estimates, which decide nothing.
    """
    most = 20 if problem.convex else 2
    path = path_of_run(problem, method, setting, 0, most) if walk else None
    closed = closed_forms(problem, setting.batch, method, setting.step_size)
    estimates = constants(problem, setting.batch, path, quick=True, bar=bar, closed=closed)
    known = {}
    for name, one in estimates.items():
        doubt = "is a lower estimate" if one.provenance == Provenance.LOWER else "is an interval"
        doubt = "" if one.provenance in DECIDING else doubt
        known[name] = KnownValue(one.value, one.how, one.low, one.high, doubt)
    if "initial_loss" in known:
        known["current_loss"] = known["initial_loss"]._replace(how="at the start")
    if "optimum_dissimilarity" in known:
        known["control_error"] = known["optimum_dissimilarity"]._replace(how="controls start at zero")
    known |= {word: KnownValue.sure(value, "gradients of samples are unbiased") for word, value in UNBIASED.items()}
    if isinstance(problem.model, Linear):
        known |= _largest(problem, problem.model, problem.model.start(0).unsqueeze(0) if path is None else path)
    parameters = problem.model.dim
    known["complexity"] = KnownValue.sure(parameters, "replaced by the number of parameters")
    return known


def _largest(problem: FederatedProblem, model: Linear, path: Tensor) -> dict[str, KnownValue]:
    """The largest loss and gradient norm of a single sample, at the models of a run or, if known, at all models."""
    loss = slope = 0.0
    for w in path:
        norm = model.regularisation * float(w.norm())
        for _, x, y in problem.samples.like(w).chunks(1 << 15):
            loss = max(loss, float(model.evaluate(w.unsqueeze(0), x, y)[0].max()))
            pull = model.output_gradient(model.output(w.unsqueeze(0), x), y)[0]
            slope = max(slope, float((pull.norm(dim=0) * x[0].norm(dim=-1)).max()) + norm)
    known = {
        word: KnownValue(seen, "the largest at models of a run", seen, math.inf, "is a lower estimate")
        for word, seen in (("loss_cap", loss), ("lipschitz", slope))
    }
    if problem.lipschitz is not None and math.isfinite(problem.lipschitz):
        known["lipschitz"] = KnownValue.sure(problem.lipschitz, "at every model")
    return known
