"""Tasks, a model of a data set, described by text such as ``softmax(digits, regularisation=0.01)``.

A task has no clients yet: ``deal`` distributes its samples by a partition, ``pool`` makes its data the population.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch

from bounds.domains import POSITIVE

from ..data.catalogue import DATASETS
from ..data.dataset import Dataset
from ..errors import EmpiricsError
from ..federation.federation import BEYOND_ONE, everything, federate, Federation, short_batch_note, tensor
from ..federation.partitions import partition as read_partition, Split
from ..models.linear import LeastSquares, Linear, Logistic, Softmax, SquaredHinge
from ..models.losses import CrossEntropy, NextToken
from ..models.model import Model
from ..models.network import Network, STATISTICS
from ..models.networks import network, NETWORKS
from ..numbers import checked, quoted
from ..spec_strings import parse, spec_string
from .pool import Pool
from .problem import FederatedProblem


@dataclass(frozen=True, eq=False)
class Task:
    """A model of a data set: ``name`` is its canonical text, ``make`` builds the model for a federation's samples.

    Real inputs are converted to ``dtype`` (None: unchanged, and linear models compute in the precision of the inputs).
    """

    name: str
    data: Dataset
    make: Callable[[Federation], Model]
    linear: bool
    standardise: bool = False
    dtype: torch.dtype | None = None

    def __str__(self) -> str:
        return self.name

    def deal(
        self,
        partition: Split | str,
        clients: int | None,
        seed: int,
        *,
        client_weight: str = "uniform",
        local_test: str = "none",
        augment: str | None = None,
    ) -> FederatedProblem:
        """Return the problem whose ``clients`` hold the samples that ``partition`` gives them with ``seed``."""
        federated = federate(
            self.data,
            partition,
            clients,
            seed,
            local_test=local_test,
            standardise=self.standardise and BEYOND_ONE,
            intercept=self.linear,
            flat=self.linear,
            augment=augment,
            dtype=self.dtype,
        )
        train, test, own_test, name = federated
        return FederatedProblem(self.make(train), train, test, own_test, client_weight=client_weight, name=name)

    def pool(self, partition: Split | str, clients: int, samples: int, seed: int = 0) -> Pool:
        """Return a pool: the data as population, from which each client draws ``samples`` samples with replacement.

        Args:
            partition: the clients' distributions over the data: ``iid`` or ``dirichlet_replaced(0.3)``.
            clients: number of clients.
            samples: number of samples of each client.
            seed: seed of the distributions; ``Pool.problem`` takes that of the samples.

        Raises:
            EmpiricsError: if the model is not linear, or a number is less than 1.

        >>> pool = task("ridge(iris, regularisation=0.3)").pool("dirichlet_replaced(0.7)", clients=3, samples=8)
        >>> pool.strong_convexity, pool.problem(seed=5).client_sizes
        (0.3, (8, 8, 8))
        """
        split = read_partition(partition) if isinstance(partition, str) else partition
        return Pool(self, split, clients, samples, seed)

    def whole(self, dtype: torch.dtype) -> Federation:
        """Return all data in their order as a federation of a single client, with real inputs in ``dtype``."""
        data = self.data.standardised() if self.standardise else self.data
        return everything(data, flat=self.linear, intercept=self.linear, dtype=dtype)


@dataclass(frozen=True)
class LinearTask:
    """Builds tasks of one linear model, with an intercept that is penalised like the other weights.

    Features outside [-1, 1] are standardised, since the smoothness constant grows with the largest squared input.
    """

    name: str
    model: type[Linear]
    signs: bool = False

    def __call__(self, data: Any, regularisation: float = 1e-3) -> Task:
        data = _dataset(self.name, data)
        regularisation = checked(f"{self.name}: regularisation", regularisation, POSITIVE)
        data, squares = data.as_features(), self.model is LeastSquares
        if not squares and data.kind not in ("classification", "binary"):
            raise EmpiricsError(f"{self.name} needs one class per sample; {data} has {data.kind} targets: try ridge")
        if self.signs:
            data = data.as_signs() if data.kind == "classification" else data
        elif data.kind == "binary":
            data = data.as_classes()
        one_hot = self.model is Softmax or (squares and data.kind == "classification")
        outputs = data.classes if one_hot else math.prod(data.targets.shape[1:])

        def make(federation: Federation) -> Linear:
            batch = federation.draw(0, 0, np.array([0]), np.array([1]), 1).at(1, 0)
            return self.model(batch[0].shape[-1], outputs, regularisation, dtype=batch[0].dtype)

        name = spec_string(self.name, data.name, regularisation=regularisation)
        return Task(name, data, make, linear=True, standardise=data.tabular and bool(np.abs(data.inputs).max() > 1))


@dataclass(frozen=True)
class NetworkTask:
    """Builds tasks of one network; options are those of the network.

    By default, the shape of inputs and the number of classes are those of the data set.
    """

    name: str

    def __call__(self, data: Any, **options: Any) -> Task:
        data = _dataset(self.name, data)
        architecture: Any = NETWORKS[self.name]
        if "next_token" not in architecture.losses:  # networks of texts need integer codes
            data = data.as_features()
        data = data.as_classes() if data.kind == "binary" else data
        if data.kind == "regression":
            raise EmpiricsError(f"{self.name} needs classes; {data} has regression targets: try ridge")
        built = network(self.name, **{**self._default_options(data), **options})
        shape = data.targets.shape[1:]
        if isinstance(built.loss, NextToken) and shape != data.inputs.shape[1:]:
            raise EmpiricsError(f"{self.name} predicts the token after every position; {data} has one target a sample")
        if isinstance(built.loss, CrossEntropy) and shape:
            raise EmpiricsError(f"{self.name} predicts one class per sample; {data} has targets of shape {shape}")
        name = f"{self.name}({data.name}, {built.name.partition('(')[2]}"
        return Task(name, data, lambda federation: built, linear=False, dtype=built.dtype)

    def _default_options(self, data: Dataset) -> dict[str, int]:
        """Return the network's options that describe samples, with the values of this data set."""
        sample = tensor(data.inputs[:1])
        shape = tuple((sample if data.prepare is None else data.prepare(sample)).shape[1:])
        values = {"classes": data.classes, "pixels": math.prod(shape)}
        if len(shape) == 1:
            values |= {"words": shape[0], "length": shape[0]}
        elif len(shape) == 3 and shape[1] == shape[2]:
            values |= {"channels": shape[0], "side": shape[1]}
        network_type: Any = NETWORKS[self.name]
        if "cross_entropy" not in network_type.losses:  # its classes are a vocabulary, which the user chooses
            del values["classes"]
        return {option.name: values[option.name] for option in fields(network_type) if option.name in values}


def _dataset(model: str, data: Any) -> Dataset:
    if not isinstance(data, Dataset):
        raise EmpiricsError(f"{model} needs a data set first, such as {model}(digits); got {quoted(data)}")
    return data


LINEAR = (
    LinearTask("softmax", Softmax),
    LinearTask("ridge", LeastSquares),
    LinearTask("logistic", Logistic, signs=True),
    LinearTask("svm", SquaredHinge, signs=True),
)
TASKS: dict[str, Callable[..., Task]] = {
    **{linear_task.name: linear_task for linear_task in LINEAR},
    **{name: NetworkTask(name) for name in NETWORKS},
}


def task(text: str) -> Task:
    """Return the task that ``text`` describes: a model called with a data set, or ``path/file.py:variable``.

    Raises:
        EmpiricsError: if the text is not such a call, or model, data and options do not fit.

    >>> print(task("ridge(iris, regularisation=0.3)"))
    ridge(iris, regularisation=0.3)
    >>> problem = task("softmax(digits)").deal("dirichlet(0.5)", clients=6, seed=1)
    >>> problem.clients, problem.strong_convexity
    (6, 0.001)
    """
    parsed = parse(text, {**DATASETS, **TASKS}, "problem", Task, declared=True)
    if not isinstance(parsed, Task):
        data = text if text in DATASETS else "digits"
        raise EmpiricsError(f"problem must be a model of a data set, such as softmax({data}); got {text!r}")
    return parsed


MOST_NAMED = 8
"""Largest number of classes whose names are listed."""


def describe_problem(what: Any, problem: FederatedProblem, batch: int = 1) -> list[str]:
    """Return lines that describe a user's data, clients with less than a batch, and batch norm in a problem."""
    data, sizes = what.data if isinstance(what, Task) else None, problem.client_sizes
    lines = short_batch_note(batch, sizes)
    if isinstance(problem.model, Network) and problem.model.trained < problem.model.dim:
        lines.append(f"batch norm: the server's model is evaluated with {STATISTICS[problem.model.statistics]}")
    if data is None or data.source:
        return lines
    names = data.class_names
    listed = f" ({', '.join(map(repr, names[:MOST_NAMED]))}{', ...' * (len(names) > MOST_NAMED)})" if names else ""
    classes = f"{data.classes} classes{listed}" if data.classes else "numbers to predict"
    shape = f"{data.inputs.shape[1]} features" if data.inputs.ndim == 2 else f"inputs of shape {data.inputs.shape[1:]}"
    span, weights = f"{sizes[0]}", ""
    if min(sizes) < max(sizes):
        span = f"{min(sizes)} to {max(sizes)}"
        weights = {"uniform": ", weighted equally", "samples": ", weighted by their samples"}[problem.client_weight]
    return [f"{shape}, {classes}; {problem.clients} clients with {span} training samples{weights}", *lines]


def deal(
    problem: str | Task | FederatedProblem,
    partition: Split | str = "iid",
    clients: int | None = None,
    seed: int = 0,
    client_weight: str = "uniform",
    augment: str | None = None,
) -> FederatedProblem:
    """Return the problem of a task, dealt by ``Task.deal``; a ``FederatedProblem`` is returned unchanged.

    Raises:
        EmpiricsError: if a partition, augmentation, or other clients are requested for a ``FederatedProblem``.
    """
    if not isinstance(problem, FederatedProblem):
        what = task(problem) if isinstance(problem, str) else problem
        return what.deal(partition, clients, seed, client_weight=client_weight, augment=augment)
    changed = partition != "iid" or augment is not None or client_weight != problem.client_weight
    if clients not in (None, problem.clients) or changed:
        federation = f"{problem.clients} clients, client_weight={problem.client_weight!r}"
        rule = "leave out partition=, clients= and augment=; use its weights"
        raise EmpiricsError(f"the problem is dealt already ({federation}): {rule}")
    return problem
