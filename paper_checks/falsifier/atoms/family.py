"""Clients that learn from a few samples of a two-point distribution: generalization gaps exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from bounds.core import Bound

from ...falsify_options import FAMILIES
from ...runs.obstacles import obstacle
from ...runs.origins import ATOMS
from ...runs.readings import PlanFacts
from .. import deciding
from ..box import Box, Parameter
from ..core import Evaluation, Instance, Point
from ..exact import RATIONAL
from ..instances import Family
from ..kinds import by_kind, counts, kinds
from ..numbers import COUNT, misfit, Number, POSITIVE, SWITCH
from .sums import curvatures, words

KINDS, SAMPLES = 3, 3
FEW, MOST = 10, 100
"""Clients of several kinds, and of one, where all take part: the sum of many equal ones has few values."""
TELL_APART = ("non_iidness", "client_distance_sq")
"""Quantities by which a bound can tell clients apart; without one, it is tried on identical clients alone."""
SAMPLINGS = ("all", "with_replacement", "without_replacement")
NUMBERS = (
    Number("clients", **COUNT), Number("samples", **COUNT), Number("cohort", **COUNT),
    Number("sampling", 0, 2, whole=True), Number("alike", **SWITCH), Number("local_steps", 0, whole=True),
    Number("start"), Number("step_size", 0), Number("weight_{k}", **POSITIVE),
    Number("share_{k}", 0, 1, inside=True, needed=False), Number("place_{k}_{i}", needed=False),
    Number("curvature_{k}_{i}", **POSITIVE, needed=False),
    Number("kinds", **COUNT, needed=False), Number("count_{k}", **COUNT, needed=False),
)  # fmt: skip
"""Those that need not be there are given for every kind of clients, or for the first alone where all are identical."""


class Atoms(Family):
    """One round of learning on every data set there is."""

    name = "atoms"
    words = FAMILIES[name]
    reach: tuple[str, ...] = ("clients", "cohort", "samples", "local_steps")

    def cell(self, bound: Bound, instance: Mapping[str, Any]) -> tuple[str, ...]:
        clients, steps = instance["clients"], instance["local_steps"]
        weights = {instance[f"weight_{k}"] for k in range(kinds(instance))}
        return (
            "one client" if clients == 1 else "few clients" if clients < 10 else "many clients",
            "identical clients" if instance["alike"] else "clients differ",
            "one sample" if instance["samples"] == 1 else "several samples",
            "equal weights" if len(weights) == 1 else "unequal weights",
            "exact minimisers" if not steps else "one step" if steps == 1 else "several steps",
            SAMPLINGS[int(instance["sampling"])].replace("_", " ").replace("all", "all take part"),
        )

    def refuses(self, bound: Bound) -> str:
        if reason := obstacle(bound, ATOMS):
            return reason
        return "" if _method(bound) else "its clients minimise their risk exactly or take full-batch steps"

    def misfit(self, bound: Bound, instance: Mapping[str, Any]) -> str:
        return misfit(instance, NUMBERS, 2) or _meant_otherwise(bound, instance)

    def box(self, bound: Bound) -> Box:
        people = {1, 2, 3, 10, MOST}
        most = KINDS if _sampled(bound) else MOST  # where some are drawn, each is described by itself
        found = [
            Parameter("clients", 1, most, log=True, whole=True, special=tuple(sorted(x for x in people if x <= most))),
            Parameter("kinds", 1, KINDS, whole=True, special=(1, 2)),
            Parameter("samples", 1, SAMPLES, whole=True, special=(1,)),
        ]
        found.append(Parameter("alike", 1, 1) if _never_apart(bound) else Parameter("alike", 0, 1, whole=True))
        if not _exact(bound):
            found += [
                Parameter("local_steps", 1, 8, log=True, whole=True, special=(1,)),
                Parameter("step_share", 1e-3, 1, log=True, special=(1,)),
                Parameter("start", -1, 1, special=(0, 1)),
            ]
        if _sampled(bound):
            found.append(Parameter("cohort", 1, KINDS, whole=True, special=(1,)))
            if _sampling(bound) == 0:
                found.append(Parameter("sampling", 1, 2, whole=True))
        for k in range(KINDS):
            found += [
                Parameter(f"share_{k}", 0.01, 0.99, special=(0.5,)),
                Parameter(f"weight_{k}", 0.01, 1, log=True, special=(1,)),
                *(Parameter(f"place_{k}_{i}", -1, 1, special=(0, 1, -1)) for i in range(2)),
                *(Parameter(f"curvature_{k}_{i}", 1e-2, 1, log=True, special=(1,)) for i in range(2)),
            ]
        held = [Parameter("smoothness", 1e-9, 1e9)]
        held += [] if _sampled(bound) else [Parameter("cohort", 1, MOST, whole=True)]
        held += (
            [Parameter(n, 0, 0) for n in ("local_steps", "step_size")]
            if _exact(bound)
            else [Parameter("step_size", 1e-15, 1e15)]
        )
        return Box(tuple(found), tuple(held))

    def instance(self, bound: Bound, point: Point) -> Instance:
        asked = {q.name for q in bound.quantities}
        sampling = int(point.get("sampling", _sampling(bound))) if _sampled(bound) else 0
        clients = int(point["clients"] if sampling else point.get("cohort", point["clients"]))
        number = clients if sampling else min(int(point["kinds"]), clients) if clients <= FEW else 1
        cohort = min(int(point.get("cohort", clients)), clients) if sampling else clients
        alike = bool(point["alike"])
        if sampling and "non_iidness" in asked and cohort > 1:
            # A client's non-iidness must not depend on who else takes part.
            alike, cohort = (True, cohort) if sampling == 2 else (alike, 1)
        table: Instance = {
            "clients": clients,
            "kinds": number,
            "samples": int(point["samples"]),
            "cohort": cohort,
            "sampling": sampling,
            "alike": int(alike),
            "local_steps": int(point.get("local_steps", 0)),
            "start": point.get("start", 0.0),
        }
        for k in range(number):
            table[f"count_{k}"] = clients // number + (k < clients % number)
            table[f"weight_{k}"] = 1.0 if sampling == 2 and cohort > 1 else point[f"weight_{k}"]
        table |= _distributions(point, 1 if alike else number, "strong_convexity" in asked)
        if clients > KINDS and len(set(curvatures(table))) > 1:  # the laws of sums must stay small
            table |= {n: 1.0 for n in table if n.startswith("curvature_")}
        curves = {n: v for n, v in table.items() if n.startswith("curvature_")}
        top = max(curves.values())
        if "smoothness" in point:
            scale = point["smoothness"] / top
            table, top = table | {n: v * scale for n, v in curves.items()}, point["smoothness"]
        return {**table, "step_size": point.get("step_size", point.get("step_share", 0.0) / top)}

    def evaluate(self, bound: Bound, instance: Instance) -> Evaluation:
        if any(not 0 < v < 1 for n, v in instance.items() if n.startswith("share_")):
            return Evaluation(failed=("both points of a distribution need a chance",), relation=bound.relation)
        if any(v <= 0 for n, v in instance.items() if n.startswith(("weight_", "curvature_"))):
            return Evaluation(failed=("weights and curvatures must be positive",), relation=bound.relation)
        broken = deciding.assumptions(bound, *self.assumed(bound, instance))[0]
        if broken:
            return Evaluation(failed=broken, relation=bound.relation)
        known = self.values(instance)
        return deciding.beside(by_kind(bound), known, known[bound.target.name])

    def values(self, instance: Mapping[str, Any], number: Callable[[Any], Any] = float) -> dict[str, Any]:
        """Every quantity by word."""
        return words(instance, number)

    def exact_values(self, bound: Bound, instance: Mapping[str, Any], late: bool) -> tuple[dict[str, Any], Any, str]:
        known = self.values(instance, Fraction)
        return known, known[bound.target.name], RATIONAL

    def assumed(self, bound: Bound, instance: Mapping[str, Any]) -> tuple[Any, Any, Any]:
        number, curves = instance["clients"], list(map(float, curvatures(instance)))
        problem = SimpleNamespace(
            sample_smoothness=max(curves), strong_convexity=min(curves), independent_samples=True,
            client_sizes=(instance["samples"],) * number, convex=True, nonnegative_loss=True, clients=number,
        )  # fmt: skip
        sampling, steps = SAMPLINGS[int(instance["sampling"])], max(1, instance["local_steps"])
        sampling = "without_replacement" if sampling == "all" else sampling
        size = float(instance["step_size"])
        return problem, _method(bound), PlanFacts(number, instance["cohort"], sampling, steps, size, fresh_samples=True)


def _meant_otherwise(bound: Bound, instance: Mapping[str, Any]) -> str:
    """Why the bound does not cover such clients, whatever its conditions say; empty if it does."""
    asked, sampling, cohort = {q.name for q in bound.quantities}, instance["sampling"], instance["cohort"]
    known = (_sampling(bound),) if _sampling(bound) else (1, 2)
    if sampling not in (known if _sampled(bound) else (0,)):
        return f"sampling must be {' or '.join(map(str, known if _sampled(bound) else (0,)))}; got {sampling}"
    if sampling == 0 and cohort < instance["clients"]:
        return f"cohort must be all {instance['clients']} clients where none are drawn; got {cohort}"
    if _exact(bound) == (instance["local_steps"] > 0):
        rule = "0: its clients minimise their risk" if _exact(bound) else "> 0: its clients take steps"
        return f"local_steps must be {rule}; got {instance['local_steps']}"
    if sampling and "non_iidness" in asked and cohort > 1 and not (sampling == 2 and instance["alike"]):
        return "a client's non-iidness must not depend on who else takes part"
    if sampling and max(counts(instance)) > 1:
        return "where clients are drawn, each is described by itself: counts must be 1"
    if sampling == 2 and cohort > 1 and len({v for n, v in instance.items() if n.startswith("weight_")}) > 1:
        return "where clients are drawn evenly, all weigh the same"
    if _never_apart(bound) and not instance["alike"]:
        return "the bound does not distinguish clients: set alike=1"
    if "strong_convexity" not in asked and len(set(curvatures(instance))) > 1:
        return "the bound knows one curvature: all must be the same"
    return ""


def _never_apart(bound: Bound) -> bool:
    """Whether the bound is tried on identical clients alone."""
    asked = {q.name for q in bound.quantities}
    return not asked & {*TELL_APART} and bound.target.name in ("generalization_gap", "out_of_sample_gap")


def _distributions(point: Point, number: int, curved: bool) -> Instance:
    """The first ``number`` clients' distributions; without different curvatures one constant is all of the loss."""
    table: Instance = {}
    for k in range(number):
        table[f"share_{k}"] = point[f"share_{k}"]
        for i in range(2):
            table[f"place_{k}_{i}"] = point[f"place_{k}_{i}"]
            table[f"curvature_{k}_{i}"] = point[f"curvature_{k}_{i}"] if curved else 1.0
    return table


def _method(bound: Bound) -> Any:
    """What the clients do, as the bound assumes it: minimise exactly, or take steps; None if neither will do."""
    ways = (
        SimpleNamespace(exact_local_solver=True, local_sgd=False),
        SimpleNamespace(exact_local_solver=False, local_sgd=True),
    )
    fine = [way for way in ways if not deciding.assumptions(bound, None, way, None)[0]]
    return fine[0] if fine else None


def _exact(bound: Bound) -> bool:
    method = _method(bound)
    return method is not None and bool(method.exact_local_solver)


def _sampling(bound: Bound) -> int:
    """The only way of drawing participants that the assumptions leave open, else 0."""
    fine = [
        code
        for code, sampling in enumerate(SAMPLINGS)
        if code and not deciding.assumptions(bound, None, None, PlanFacts(3, 2, sampling))[0]
    ]
    return fine[0] if len(fine) == 1 else 0


def _sampled(bound: Bound) -> bool:
    """Whether the statement is about random participants."""
    return _sampling(bound) > 0 or bound.target.name in ("participation_gap", "out_of_sample_gap")
