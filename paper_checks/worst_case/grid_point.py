"""One point of a tightness table: how a bound's quantities and the federations it covers are set there.

Everything is measured in units in which L = 1; the start is a unit away (initial loss or squared distance), so that
``heterogeneity`` says how large the quantity is by which the bound's clients may differ (G^2, Gamma), relative to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from bounds.assumptions import (
    CONVEX,
    DISSIMILARITY,
    FIXED_STEP_SIZE,
    GLOBALLY_STRONGLY_CONVEX,
    POLYAK_LOJASIEWICZ,
    SAMPLED_WITHOUT_REPLACEMENT,
    STRONGLY_CONVEX,
)
from bounds.core import Bound, Statistic
from bounds.errors import BoundsError
from empirics.training.setting import Setting

from ..falsifier.deciding import inside, largest
from ..runs import schedules
from ..runs.methods import demands, method
from ..runs.obstacles import obstacle
from ..runs.origins import ITERATION, SOURCES as READ, WORST
from ..runs.readings import of_losses, of_plan, UNBIASED
from .constraints import WORDS
from .objectives import DRAWN, looked_at
from .program import WorstCaseError
from .question import each, Question

FREE = 10.0
"""A step size, in units of 1/L, no bound of the catalogue allows."""
TINY = 1e-6
OFFSETS = (10.0, 100.0, 1e3, 1e4)
"""What is added to the iteration in a step size that falls, where nothing says it: the least that leaves a scale."""
LARGEST = 1e9
"""Sizes beyond this, where L and the start are 1, are nothing that floating-point numbers resolve."""
CLIENTS = 100
"""Two stand for any number of identical clients; more are for those who want to see it."""


@dataclass(frozen=True)
class GridPoint:
    """Clients, rounds, local steps; the step size as a share of the largest that the bound's conditions allow.

    A positive ``fixed_step_size`` (in units of 1/L) takes the place of the share, a positive ``step_offset`` that of
    ``OFFSETS``, for a step size that falls with an offset that the bound leaves open. A bound that says what its step
    size is asks for none of them. ``step_sizes`` are those of every round or of every local step, for bounds that
    have no single one; as text their numbers are apart by spaces. ``cohort`` clients are drawn in every round; 0:
    all of them take part.
    """

    clients: int = 2
    rounds: int = 2
    local_steps: int = 2
    step_share: float = 0.5
    fixed_step_size: float = 0.0
    condition_number: float = 10.0
    heterogeneity: float = 0.1
    grad_cap_sq: float = 4.0
    dissimilarity_factor: float = 2.0
    relaxation: float = 0.05
    divergence: float = 0.1
    grad_norm_sq: float = 1.0
    step_offset: float = 0.0
    initial_distance_sq: float = 1.0
    step_sizes: tuple[float, ...] = ()
    cohort: int = 0

    def __post_init__(self) -> None:
        sizes = self.step_sizes.split() if isinstance(self.step_sizes, str) else self.step_sizes
        object.__setattr__(self, "step_sizes", tuple(map(float, sizes)))
        for size in self.step_sizes:
            _rule("step_sizes", size, f"> 0 and <= {LARGEST:g}", lambda x: 0 < x <= LARGEST)
        for name, most in (("clients", CLIENTS), ("rounds", LARGEST), ("local_steps", LARGEST)):
            rule = f"a whole number >= 1 and <= {most:g}"
            _rule(name, getattr(self, name), rule, lambda x, most=most: 1 <= x <= most and x == int(x))
        rule = f"a whole number from 1 to the {self.clients:g} clients (0: all of them)"
        _rule("cohort", self.cohort, rule, lambda x: 0 <= x <= self.clients and x == int(x))
        object.__setattr__(self, "cohort", int(self.cohort) if self.cohort < self.clients else 0)
        below = f"and <= {LARGEST:g}"
        _rule("step_share", self.step_share, f"> 0 {below}", lambda x: 0 < x <= LARGEST)
        _rule("condition_number", self.condition_number, f"> 1 {below}", lambda x: 1 < x <= LARGEST)
        _rule("dissimilarity_factor", self.dissimilarity_factor, f">= 1 {below}", lambda x: 1 <= x <= LARGEST)
        for name in (
            "fixed_step_size", "heterogeneity", "grad_cap_sq", "relaxation", "divergence", "grad_norm_sq",
            "step_offset", "initial_distance_sq",
        ):  # fmt: skip
            _rule(name, getattr(self, name), f">= 0 {below}", lambda x: 0 <= x <= LARGEST)

    @property
    def work(self) -> int:
        """Gradients of all clients in all rounds."""
        return self.clients * self.rounds * self.local_steps

    def as_row(self) -> dict[str, Any]:
        """By name; step sizes as text."""
        return {name: getattr(self, name) for name in NAMES} | {"step_sizes": " ".join(map(repr, self.step_sizes))}

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> GridPoint:
        """The point of a row of a table."""
        return cls(**{name: row[name] for name in NAMES})


NAMES = tuple(field.name for field in fields(GridPoint))
"""What may vary in a table of worst cases."""


def _rule(name: str, value: float, rule: str, good: Any) -> None:
    if not good(value):  # NaN is in no range
        raise WorstCaseError(f"{name} must be {rule}; got {value:g}")


def _known(point: GridPoint, step_size: float, offset: float | None = None) -> dict[str, Any]:
    """Every quantity a point gives a value to, by word."""
    n, mu = point.clients, 1 / point.condition_number
    cohort = point.cohort or n
    plan = of_plan(cohort, point.local_steps, point.rounds, step_size, point.relaxation, offset)
    return {
        **plan, **of_losses(1.0, 0.0), **UNBIASED, "initial_distance_sq": point.initial_distance_sq,
        "clients": n, "client_weight": [1 / n] * n, "takes_part": [cohort / n] * n,
        "smoothness": 1.0, "strong_convexity": mu, "pl_constant": mu, "condition_number": point.condition_number,
        "gradient_variance": 0.0, "client_gradient_variance": [0.0] * n, "distance_sq": 1.0,
        "grad_cap_sq": point.grad_cap_sq, "heterogeneity": point.heterogeneity,
        "optimum_dissimilarity": point.heterogeneity, "control_error": point.heterogeneity,
        "uniform_dissimilarity": point.heterogeneity,
        "dissimilarity_offset": point.heterogeneity, "dissimilarity_factor": point.dissimilarity_factor,
        "contraction": TINY, "divergence": point.divergence if point.rounds > 1 else 0.0, "initial_divergence": 0.0,
        "final_divergence": 0.0, "grad_norm_sq": point.grad_norm_sq,
        **({"squared_step_sizes": sum(size**2 for size in _each(point))} if point.step_sizes else {}),
    }  # fmt: skip


def _each(point: GridPoint) -> tuple[float, ...]:
    """The step size of every local step."""
    return each(point.step_sizes, (point.local_steps,) * point.rounds)


def values(bound: Bound, point: GridPoint) -> dict[str, Any]:
    """The bound's quantities at a point: the share of the largest allowed step size, then the best contraction."""
    asked = [q.name for q in bound.quantities]
    if point.step_sizes:
        return at_step(bound, point, point.step_sizes[0])
    offset = _offset(bound, point)
    if {schedules.SCALE, schedules.FIRST} & set(schedules.prescribed(bound)):
        return at_step(bound, point, schedules.step_plan(bound, _known(point, TINY, offset))[schedules.FIRST])
    if offset is not None and schedules.SCALE in asked:
        most = inside(bound, _plain(_known(point, TINY, offset)), schedules.SCALE, FREE * offset) / offset
    else:
        most = largest(bound, _plain(_known(point, TINY, offset)), schedules.FIRST, FREE)
    if not {schedules.FIRST, schedules.SCALE} & set(asked) or most == FREE:
        most = 1.0  # no condition limits it: 1/L
    if not most:
        raise WorstCaseError(f"the conditions of {bound.name} allow no step size at this point")
    return at_step(bound, point, point.fixed_step_size or point.step_share * most)


def _offset(bound: Bound, point: GridPoint) -> float | None:
    """The offset of a step size that falls: what the bound says it is, or the point's, or the usual."""
    if not schedules.harmonic(bound):
        return None
    told: float = point.step_offset
    for offset in (told,) if told else OFFSETS:
        known = _known(point, TINY, offset)
        told = schedules.step_plan(bound, known)[schedules.OFFSET]
        if schedules.SCALE not in {q.name for q in bound.quantities} or inside(
            bound, _plain(known), schedules.SCALE, FREE * told
        ):
            break
    return told


def at_step(bound: Bound, point: GridPoint, step_size: float) -> dict[str, Any]:
    """The bound's quantities at a point and a step size, with the best contraction they allow."""
    offset = _offset(bound, point)
    known = _known(point, step_size, offset)
    asked = [q.name for q in bound.quantities]
    if "contraction" in asked:
        known["contraction"] = largest(bound, _plain(known), "contraction", 1.0)
        if not 0 < known["contraction"] < 1:
            raise WorstCaseError(
                f"the conditions of {bound.name} leave no contraction (lambda) at step size {step_size:.3g} and "
                f"relaxation {point.relaxation:g}: take smaller ones"
            )
    return {name: known[name] for name in asked} | {"step_size": step_size}


def _plain(known: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in known.items() if not isinstance(value, list)}


def fitted(bound: Bound, point: GridPoint) -> GridPoint:
    """The point with as many clients and local steps as the assumptions of the bound have it."""
    if point.cohort and (reason := undrawn(bound)):
        raise WorstCaseError(f"{bound.name} takes no cohort: {reason}")
    asked = demands(bound)
    return replace(point, **{name: one for name, one in asked.plan.items() if name != "cohort"})


def question(bound: Bound, point: GridPoint) -> Question:
    """The worst case over all federations that the bound covers, with this point's numbers."""
    if reason := obstacle(bound, WORST):
        raise WorstCaseError(f"{bound.name} has no exact worst case: {reason}")
    if point.step_sizes and not several(bound):
        raise WorstCaseError(
            f"{bound.name} has one step size, or says what it is: step_sizes are for bounds on squared_step_sizes "
            "alone; give step_share or fixed_step_size"
        )
    point, offset = fitted(bound, point), _offset(bound, point)
    known = {**_known(point, 0.0), **values(bound, point)}
    assumed = {c.assumption for c in bound.conditions if c.assumption is not None}
    given = {"smoothness": known["smoothness"]}
    if {STRONGLY_CONVEX, CONVEX} & assumed:
        given["strong_convexity"] = known["strong_convexity"] if STRONGLY_CONVEX in assumed else 0.0
    if GLOBALLY_STRONGLY_CONVEX in assumed:  # which implies it, and of a single client's loss is all there is
        given["strong_convexity" if point.clients == 1 else "pl_constant"] = known["strong_convexity"]
    if POLYAK_LOJASIEWICZ in assumed and "strong_convexity" not in given:
        given["pl_constant"] = known["pl_constant"]
    if DISSIMILARITY in assumed:
        given |= {name: known[name] for name in ("dissimilarity_offset", "dissimilarity_factor")}
    asked = {q.name for q in bound.quantities}
    if asked & {"initial_loss", "current_loss"}:
        asked.add("initial_gap")
    if "control_error" in asked:  # controls start at zero
        asked.add("optimum_dissimilarity")
    given |= {word: known[word] for word in WORDS if word in asked and word not in ("pl_constant", bound.target.name)}
    _check_convex(bound, given, "strong_convexity" in asked)
    members = 1 if demands(bound).identical else point.cohort or point.clients  # without noise all do the same
    plan = Setting(point.rounds, members, local_steps=point.local_steps, step_size=known["step_size"])
    setting = replace(plan, step_offset=offset)
    at = bound.statistic or Statistic("last", "rounds")
    at = replace(at, weights=schedules.weights(at, known))
    sizes = _each(point) if point.step_sizes else None
    played = method(bound.about, data=False, relaxation=point.relaxation)
    clients = point.clients if point.cohort else None
    return Question(played, setting, given, bound.target.name, at, step_sizes=sizes, clients=clients)


def several(bound: Bound) -> bool:
    """Whether every local step may have a step size of its own, because the bound has no single one."""
    asked = {q.name for q in bound.quantities}
    one = asked & {*schedules.KNOBS} or schedules.prescribed(bound) or schedules.harmonic(bound)
    return not one and all(c.assumption is not FIXED_STEP_SIZE for c in bound.conditions)


def undrawn(bound: Bound) -> str:
    """Why there is no worst case of the bound where some of the clients are drawn, in words; empty where there is."""
    if all(c.assumption is not SAMPLED_WITHOUT_REPLACEMENT for c in bound.conditions):
        return "it does not assume that participants are drawn uniformly without replacement"
    at = bound.statistic or Statistic("last", "rounds")
    word, per = looked_at(bound.target.name, at)
    if word not in DRAWN or per == ITERATION:
        return f"it is on {word}, {at}, and where clients are drawn {', '.join(DRAWN)} are read off, over rounds"
    return ""


def _check_convex(bound: Bound, given: Mapping[str, float], curved: bool) -> None:
    """Refuse a bound that contains a minimiser, or curvature, and assumes nothing by which there is one."""
    if "strong_convexity" in given:
        return
    words = [word for word in given if word in WORDS and WORDS[word].convex]
    words += ["strong_convexity"] * (curved and "pl_constant" not in given)
    words += [bound.target.name] * ((READ[bound.target.name].of or bound.target.name) == "distance_sq")
    if words:
        raise WorstCaseError(
            f"{bound.name} contains {words[0]}, which only convex losses have: one of its conditions must be "
            'Condition.assume(ASSUMPTIONS["strongly_convex"]) or Condition.assume(ASSUMPTIONS["convex"])'
        )


def moot(bound: Bound, point: GridPoint, names: Iterable[str]) -> list[str]:
    """Which of these quantities of a point change nothing there: neither the bound nor the worst case asks for them."""
    here = question(bound, point), values(bound, point)

    def idle(name: str) -> bool:
        if name == "step_sizes":
            return not several(bound)
        if name == "cohort":
            return bool(undrawn(bound))
        value = getattr(point, name)
        other: Any = value + 1 if isinstance(value, int) else 1.01 * value or TINY
        moved = replace(point, **{name: other})
        try:
            return (question(bound, moved), values(bound, moved)) == here
        except BoundsError:
            return False

    return [name for name in names if idle(name)]
