"""The family ``atoms``: few samples of two-point distributions, with exact sums over data sets and cohorts.

Client k's distribution has two points: with probability ``share_k`` the loss of a model w is
``1/2 curvature_k_0 (w - place_k_0)^2``, else the same with the numbers of point 1. A data set of ``samples`` points is
determined by how often it contains the first point, which has a binomial distribution.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from types import SimpleNamespace
from typing import Any

import numpy as np

from bounds.core import Bound

from ..falsify_options import FAMILIES
from ..runs.obstacles import obstacle
from ..runs.origins import ATOMS
from ..runs.readings import PlanFacts
from . import deciding
from .box import Box, Parameter
from .client_groups import by_group, cohort_weights, counts, kinds, of_groups
from .core import Evaluation, Instance, Point
from .exact import RATIONAL
from .family import Family
from .numbers import COUNT, misfit, Number, POSITIVE, SWITCH

Array = np.ndarray[Any, Any]
NumberType = Callable[[Any], Any]


def entry(table: Mapping[str, Any], word: str, client: int, tail: str = "") -> Any:
    """Return a number of a client's distribution, that of the first client if all are identical."""
    return table[f"{word}_{0 if table['alike'] else client}{tail}"]


def curvatures(table: Mapping[str, Any]) -> list[Any]:
    return [entry(table, "curvature", k, f"_{i}") for k in range(kinds(table)) for i in range(2)]


@dataclass(frozen=True)
class Loss:
    """Empirical losses, one per data set; ``share`` is the share of the first point in the data set."""

    share: Array
    curves: Array
    places: Array

    def mean(self, values: Array) -> Array:
        """Return the mean over the data sets' points of a value per point."""
        return np.asarray(self.share * values[0] + (1 - self.share) * values[1])

    @property
    def curvature(self) -> Array:
        return self.mean(self.curves)

    @property
    def minimiser(self) -> Array:
        return self.mean(self.curves * self.places) / self.curvature

    def at(self, w: Any) -> Any:
        """Return the loss of models, as a sum of squares without cancellation."""
        first, second = (self.curves[i] * (w - self.places[i]) ** 2 / 2 for i in range(2))
        return self.share * first + (1 - self.share) * second


@dataclass(frozen=True)
class Client:
    """A client's data sets: probabilities, training losses and trained models; and its population loss."""

    chances: Array
    training: Loss
    models: Array
    population: Loss
    suboptimality: Any

    @property
    def mean(self) -> Any:
        """The expected model."""
        return self.chances @ self.models

    @property
    def variance(self) -> Any:
        return self.chances @ (self.models - self.mean) ** 2


def client(table: Mapping[str, Any], k: int, number: NumberType = float) -> Client:
    """Return the data sets of a client and the models trained on them."""
    n, share = int(table["samples"]), number(entry(table, "share", k))
    curves = np.array([number(entry(table, "curvature", k, f"_{i}")) for i in range(2)])
    places = np.array([number(entry(table, "place", k, f"_{i}")) for i in range(2)])
    first = np.array([number(m) / n for m in range(n + 1)])
    chances = np.array([comb(n, m) * share**m * (1 - share) ** (n - m) for m in range(n + 1)])
    training, population = Loss(first, curves, places), Loss(np.array(share), curves, places)
    models = minimiser = training.minimiser
    if table["local_steps"]:
        left = (1 - number(table["step_size"]) * training.curvature) ** int(table["local_steps"])
        models = minimiser + left * (number(table["start"]) - minimiser)
    suboptimality = chances @ (training.curvature * (models - minimiser) ** 2 / 2)
    return Client(chances, training, models, population, suboptimality)


def weights(table: Mapping[str, Any], number: NumberType = float) -> Array:
    """Return the weight of a client of every group."""
    raw = np.array([number(table[f"weight_{k}"]) for k in range(kinds(table))])
    return np.asarray(raw / (raw @ np.array(counts(table))))


def quantities(table: Mapping[str, Any], number: NumberType = float) -> dict[str, Any]:
    """Return all quantities of the table by name; those that vary over clients have one value per group."""
    shares, zero = weights(table, number), number(0)
    sizes = np.array(counts(table))
    clients = [client(table, k, number) for k in range(kinds(table))]
    local_gap = np.array([c.chances @ (c.population.at(c.models) - c.training.at(c.models)) for c in clients])
    own_loss = np.array([c.chances @ c.training.at(c.models) for c in clients])
    gap, out_of_sample, train_loss = zero, zero, zero
    difference, participation = 0 * shares, 0 * shares
    for chance, drawn in cohort_weights(SAMPLINGS[int(table["sampling"])], int(table["cohort"]), shares):
        training, population = _averaged(clients, sizes, drawn)
        train_loss += chance * (sizes * drawn @ training)
        gap += chance * (sizes * shares @ population - sizes * drawn @ training)
        out_of_sample += chance * (sizes * drawn @ (population - training))
        takes_part = np.where(drawn > 0, zero + 1, zero)
        difference += chance * takes_part * (training - own_loss)
        participation += chance * takes_part
    curves = list(map(number, curvatures(table)))
    means = np.array([np.asarray(c.population.minimiser).item() for c in clients])
    distances = means - (sizes * shares) @ means
    if number is float:  # remove rounding errors of zero
        distances = np.where(abs(distances) > 1e-13 * abs(means).max(), distances, 0.0)
    noise = np.array([_noise(table, k, clients[k], number) for k in range(len(clients))])
    return {
        **{name: np.array(value) for name, value in of_groups(sizes.tolist(), list(sizes * shares)).items()},
        "generalization_gap": gap, "out_of_sample_gap": out_of_sample, "participation_gap": gap - out_of_sample,
        "train_loss": train_loss, "local_gap": local_gap, "non_iidness": difference / participation,
        "local_suboptimality": np.array([c.suboptimality for c in clients]), "smoothness": max(curves),
        "strong_convexity": min(curves), "cohort": int(table["cohort"]), "samples": int(table["samples"]),
        "client_distance_sq": distances**2, "client_gradient_variance": noise, "gradient_variance": noise.max(),
    }  # fmt: skip


def _averaged(clients: list[Client], sizes: Array, model: Array) -> tuple[Array, Array]:
    """Return the expected training and population risk, for every group, of the average model with these weights. As
    risks are quadratic, they depend on the other clients' models through the mean and variance of their sum."""
    means, variances = np.array([c.mean for c in clients]), np.array([c.variance for c in clients])
    training, population = [], []
    for k, c in enumerate(clients):
        others = sizes - (np.arange(len(clients)) == k)
        rest, variance = (others * model) @ means, (others * model**2) @ variances
        average = model[k] * c.models + rest
        training.append(c.chances @ (c.training.at(average) + c.training.curvature * variance / 2))
        population.append(c.chances @ (c.population.at(average) + c.population.curvature * variance / 2))
    return np.array(training), np.array(population)


def _noise(table: Mapping[str, Any], k: int, one: Client, number: NumberType) -> Any:
    """Return the variance of a sample's gradient, the same at every model if both points have the same curvature."""
    share = number(entry(table, "share", k))
    distance = number(entry(table, "place", k, "_0")) - number(entry(table, "place", k, "_1"))
    return share * (1 - share) * (np.asarray(one.population.curvature).item() * distance) ** 2


KINDS, SAMPLES = 3, 3
FEW, MAX_CLIENTS = 10, 100
"""Limits on the clients in several groups and in one group, under full participation."""
HETEROGENEITY = ("non_iidness", "client_distance_sq")
"""Quantities that distinguish clients; bounds without one are tried on identical clients only."""
SAMPLINGS = ("all", "with_replacement", "without_replacement")
NUMBERS = (
    Number("clients", **COUNT), Number("samples", **COUNT), Number("cohort", **COUNT),
    Number("sampling", 0, 2, whole=True), Number("alike", **SWITCH), Number("local_steps", 0, whole=True),
    Number("start"), Number("step_size", 0), Number("weight_{k}", **POSITIVE),
    Number("share_{k}", 0, 1, inside=True, needed=False), Number("place_{k}_{i}", needed=False),
    Number("curvature_{k}_{i}", **POSITIVE, needed=False),
    Number("kinds", **COUNT, needed=False), Number("count_{k}", **COUNT, needed=False),
)  # fmt: skip
"""Optional numbers are given for every client group, or only for the first if all clients are identical."""


class Atoms(Family):
    """One round of learning, with exact expectations over all data sets."""

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
        return misfit(instance, NUMBERS, 2) or _not_covered(bound, instance)

    def box(self, bound: Bound) -> Box:
        most = KINDS if _sampled(bound) else MAX_CLIENTS  # with sampling, every client is its own group
        special = tuple(x for x in (1, 2, 3, 10, MAX_CLIENTS) if x <= most)
        found = [
            Parameter("clients", 1, most, log=True, whole=True, special=special),
            Parameter("kinds", 1, KINDS, whole=True, special=(1, 2)),
            Parameter("samples", 1, SAMPLES, whole=True, special=(1,)),
        ]
        found.append(Parameter("alike", 1, 1) if _needs_identical(bound) else Parameter("alike", 0, 1, whole=True))
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
        derived = [Parameter("smoothness", 1e-9, 1e9)]
        if not _sampled(bound):
            derived.append(Parameter("cohort", 1, MAX_CLIENTS, whole=True))
        if _exact(bound):
            derived += [Parameter("local_steps", 0, 0), Parameter("step_size", 0, 0)]
        else:
            derived.append(Parameter("step_size", 1e-15, 1e15))
        return Box(tuple(found), tuple(derived))

    def instance(self, bound: Bound, point: Point) -> Instance:
        names = {q.name for q in bound.quantities}
        sampling = int(point.get("sampling", _sampling(bound))) if _sampled(bound) else 0
        clients = int(point["clients"] if sampling else point.get("cohort", point["clients"]))
        number = clients if sampling else min(int(point["kinds"]), clients) if clients <= FEW else 1
        cohort = min(int(point.get("cohort", clients)), clients) if sampling else clients
        alike = bool(point["alike"])
        if sampling and "non_iidness" in names and cohort > 1:
            # a client's non-iidness must not depend on the other participants
            alike, cohort = (True, cohort) if sampling == 2 else (alike, 1)
        table: Instance = {
            "clients": clients, "kinds": number, "samples": int(point["samples"]), "cohort": cohort,
            "sampling": sampling, "alike": int(alike), "local_steps": int(point.get("local_steps", 0)),
            "start": point.get("start", 0.0),
        }  # fmt: skip
        for k in range(number):
            table[f"count_{k}"] = clients // number + (k < clients % number)
            table[f"weight_{k}"] = 1.0 if sampling == 2 and cohort > 1 else point[f"weight_{k}"]
        table |= _distributions(point, 1 if alike else number, "strong_convexity" in names)
        if clients > KINDS and len(set(curvatures(table))) > 1:  # keeps the distributions of sums small
            table |= {n: 1.0 for n in table if n.startswith("curvature_")}
        curves = {n: v for n, v in table.items() if n.startswith("curvature_")}
        top = max(curves.values())
        if "smoothness" in point:
            scale = point["smoothness"] / top
            table, top = table | {n: v * scale for n, v in curves.items()}, point["smoothness"]
        return {**table, "step_size": point.get("step_size", point.get("step_share", 0.0) / top)}

    def evaluate(self, bound: Bound, instance: Instance) -> Evaluation:
        broken = deciding.broken_assumptions(bound, *self.assumed(bound, instance))
        if broken:
            return Evaluation(failed=broken, relation=bound.relation)
        known = quantities(instance)
        return deciding.compare(by_group(bound), known, known[bound.target.name])

    def exact_values(self, bound: Bound, instance: Mapping[str, Any], late: bool) -> tuple[dict[str, Any], Any, str]:
        known = quantities(instance, Fraction)
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


def _not_covered(bound: Bound, instance: Mapping[str, Any]) -> str:
    """Return why the bound does not cover such an instance apart from its conditions; empty if it does."""
    names, sampling, cohort = {q.name for q in bound.quantities}, instance["sampling"], instance["cohort"]
    allowed: tuple[int, ...] = (0,)
    if _sampled(bound):
        allowed = (_sampling(bound),) if _sampling(bound) else (1, 2)
    if sampling not in allowed:
        return f"sampling must be {' or '.join(map(str, allowed))}; got {sampling}"
    if sampling == 0 and cohort < instance["clients"]:
        return f"cohort must be all {instance['clients']} clients without sampling; got {cohort}"
    if _exact(bound) == (instance["local_steps"] > 0):
        rule = "0: its clients minimise their risk" if _exact(bound) else "> 0: its clients take steps"
        return f"local_steps must be {rule}; got {instance['local_steps']}"
    if sampling and "non_iidness" in names and cohort > 1 and not (sampling == 2 and instance["alike"]):
        return "a client's non-iidness must not depend on the other participants"
    if sampling and max(counts(instance)) > 1:
        return "with sampling, every client is its own group: counts must be 1"
    if sampling == 2 and cohort > 1 and len({v for n, v in instance.items() if n.startswith("weight_")}) > 1:
        return "clients are drawn uniformly: all must have the same weight"
    if _needs_identical(bound) and not instance["alike"]:
        return "the bound does not distinguish clients: set alike=1"
    if "strong_convexity" not in names and len(set(curvatures(instance))) > 1:
        return "the bound contains a single curvature: all must be equal"
    return ""


def _needs_identical(bound: Bound) -> bool:
    """Return whether the bound is tried on identical clients only."""
    names = {q.name for q in bound.quantities}
    return not names & {*HETEROGENEITY} and bound.target.name in ("generalization_gap", "out_of_sample_gap")


def _distributions(point: Point, number: int, curved: bool) -> Instance:
    """Return the distributions of the first ``number`` clients; all curvatures are 1 unless ``curved``."""
    table: Instance = {}
    for k in range(number):
        table[f"share_{k}"] = point[f"share_{k}"]
        for i in range(2):
            table[f"place_{k}_{i}"] = point[f"place_{k}_{i}"]
            table[f"curvature_{k}_{i}"] = point[f"curvature_{k}_{i}"] if curved else 1.0
    return table


def _method(bound: Bound) -> Any:
    """Return the local solver that the bound assumes, exact minimisation or gradient steps; None if it is neither."""
    for exact in (True, False):
        method = SimpleNamespace(exact_local_solver=exact, local_sgd=not exact)
        if not deciding.broken_assumptions(bound, None, method, None):
            return method
    return None


def _exact(bound: Bound) -> bool:
    method = _method(bound)
    return method is not None and bool(method.exact_local_solver)


def _sampling(bound: Bound) -> int:
    """Return the sampling (1 or 2) if the assumptions allow only one, else 0."""
    allowed = [
        code
        for code, sampling in enumerate(SAMPLINGS)
        if code and not deciding.broken_assumptions(bound, None, None, PlanFacts(3, 2, sampling))
    ]
    return allowed[0] if len(allowed) == 1 else 0


def _sampled(bound: Bound) -> bool:
    """Return whether the statement is about randomly drawn participants."""
    return _sampling(bound) > 0 or bound.target.name in ("participation_gap", "out_of_sample_gap")
