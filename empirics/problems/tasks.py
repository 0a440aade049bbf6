"""What to train on, as text: a model of a data set, such as ``softmax(digits, regularisation=0.01)``.

A task has no clients yet: ``deal`` gives its samples to them by a partition, ``pool`` lets them draw from it.
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
from ..data.csv_tables import YOURS
from ..data.dataset import Dataset
from ..errors import EmpiricsError
from ..federation.federate import BEYOND_ONE, everything, federate, tensor
from ..federation.federation import Federation, short_batch_note
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
    """A model of a data set: ``name`` is its canonical text, ``make`` builds the model for the dealt samples.

    Real inputs come in ``dtype`` (None: as the data set holds them, which is what linear models then compute in).
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
        """The problem in which ``clients`` hold the samples that ``partition`` gives them under ``seed``."""
        dealt = federate(
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
        return FederatedProblem.of(self.make(dealt.train), dealt, client_weight=client_weight)

    def pool(self, partition: Split | str, clients: int, samples: int, seed: int = 0) -> Pool:
        """The data as the population, from which each of the ``clients`` draws ``samples`` samples with replacement.

        Args:
            partition: gives every client its distribution over the data: ``iid`` or ``dirichlet_replaced(0.3)``.
            clients: number of clients.
            samples: drawn by each client.
            seed: of the distributions; ``Pool.drawn`` takes that of the samples.

        Raises:
            EmpiricsError: if the model is not linear, or a number is not at least 1.

        >>> pool = task("ridge(iris, regularisation=0.3)").pool("dirichlet_replaced(0.7)", clients=3, samples=8)
        >>> pool.strong_convexity, pool.drawn(seed=5).client_sizes
        (0.3, (8, 8, 8))
        """
        split = read_partition(partition) if isinstance(partition, str) else partition
        return Pool(self, split, clients, samples, seed)

    def whole(self, dtype: torch.dtype) -> Federation:
        """All data in their order with a single client, real inputs in ``dtype``."""
        data = self.data.standardised() if self.standardise else self.data
        return everything(data, flat=self.linear, intercept=self.linear, dtype=dtype)


@dataclass(frozen=True)
class LinearTask:
    """Builds tasks of one linear model, with an intercept that is penalised like the rest.

    Features that leave [-1, 1] are standardised: the smoothness constant grows with the largest squared input.
    """

    word: str
    model: type[Linear]
    signs: bool = False

    def __call__(self, data: Any, regularisation: float = 1e-3) -> Task:
        data = _dataset(self.word, data)
        regularisation = checked(f"{self.word}: regularisation", regularisation, POSITIVE)
        data, squares = data.as_features(), self.model is LeastSquares
        if not squares and data.kind not in ("classification", "binary"):
            raise EmpiricsError(f"{self.word} needs one class a sample; {data} has targets for {data.kind}: try ridge")
        if self.signs:
            data = data.as_signs() if data.kind == "classification" else data
        elif data.kind == "binary":
            data = data.as_classes()
        one_hot = self.model is Softmax or (squares and data.kind == "classification")
        outputs = data.classes if one_hot else math.prod(data.targets.shape[1:])

        def make(federation: Federation) -> Linear:
            batch = federation.draw(0, 0, np.array([0]), np.array([1]), 1).at(1, 0)
            return self.model(batch[0].shape[-1], outputs, regularisation, dtype=batch[0].dtype)

        name = spec_string(self.word, data.name, regularisation=regularisation)
        return Task(name, data, make, linear=True, standardise=data.tabular and bool(np.abs(data.inputs).max() > 1))


@dataclass(frozen=True)
class NetworkTask:
    """Builds tasks of one network; options are the network's own.

    What is left open of the shape of inputs and of the number of classes is that of the data set.
    """

    word: str

    def __call__(self, data: Any, **options: Any) -> Task:
        data = _dataset(self.word, data)
        architecture: Any = NETWORKS[self.word]
        if "next_token" not in architecture.losses:  # those of texts look codes up
            data = data.as_features()
        data = data.as_classes() if data.kind == "binary" else data
        if data.kind == "regression":
            raise EmpiricsError(f"{self.word} needs classes; {data} has targets for regression: try ridge")
        built = network(self.word, **{**self._fitting(data), **options})
        has, each = data.targets.shape[1:], data.inputs.shape[1:]
        if isinstance(built.loss, NextToken) and has != each:
            raise EmpiricsError(f"{self.word} predicts the token after every position; {data} has one target a sample")
        if isinstance(built.loss, CrossEntropy) and has:
            raise EmpiricsError(f"{self.word} predicts one class per sample; {data} has targets of shape {has}")
        name = f"{self.word}({data.name}, {built.name.partition('(')[2]}"
        return Task(name, data, lambda federation: built, linear=False, dtype=built.dtype)

    def _fitting(self, data: Dataset) -> dict[str, int]:
        """The network's options that describe samples, as this data set has them."""
        one = tensor(data.inputs[:1])
        shape = tuple((one if data.prepare is None else data.prepare(one)).shape[1:])
        fits = {"classes": data.classes, "pixels": math.prod(shape)}
        if len(shape) == 1:
            fits |= {"words": shape[0], "length": shape[0]}
        elif len(shape) == 3 and shape[1] == shape[2]:
            fits |= {"channels": shape[0], "side": shape[1]}
        network_type: Any = NETWORKS[self.word]
        if "cross_entropy" not in network_type.losses:  # its classes are a vocabulary, which is the caller's
            del fits["classes"]
        return {option.name: fits[option.name] for option in fields(network_type) if option.name in fits}


def _dataset(word: str, data: Any) -> Dataset:
    if not isinstance(data, Dataset):
        raise EmpiricsError(f"{word} must be given a data set first, such as {word}(digits); got {quoted(data)}")
    return data


LINEAR = (
    LinearTask("softmax", Softmax),
    LinearTask("ridge", LeastSquares),
    LinearTask("logistic", Logistic, signs=True),
    LinearTask("svm", SquaredHinge, signs=True),
)
TASKS: dict[str, Callable[..., Task]] = {
    **{task.word: task for task in LINEAR},
    **{word: NetworkTask(word) for word in NETWORKS},
}


def task(text: str) -> Task:
    """The task written as ``text``: a model called with a data set; ``path/file.py:variable`` is your own.

    Raises:
        EmpiricsError: where the text is no such call, or model, data and options do not go together.

    >>> print(task("ridge(iris, regularisation=0.3)"))
    ridge(iris, regularisation=0.3)
    >>> problem = task("softmax(digits)").deal("dirichlet(0.5)", clients=6, seed=1)
    >>> problem.clients, problem.strong_convexity
    (6, 0.001)
    """
    found = parse(text, {**DATASETS, **TASKS}, "problem", Task, declared=True)
    if not isinstance(found, Task):
        raise EmpiricsError(f"problem must be a model of a data set, such as softmax(digits); got {text!r}")
    return found


MOST_NAMED = 8
"""Classes whose names are listed."""


def described(what: Any, problem: FederatedProblem, batch: int = 1) -> list[str]:
    """What was read and dealt, a line each: data of the user's own, clients that cannot fill a batch, batch norm."""
    data, sizes = what.data if isinstance(what, Task) else None, problem.client_sizes
    lines = short_batch_note(batch, sizes)
    if isinstance(problem.model, Network) and problem.model.trained < problem.model.dim:
        lines.append(f"batch norm: the server's model is evaluated with {STATISTICS[problem.model.statistics]}")
    if data is None or (data.source and data.licence != YOURS):
        return lines
    names = data.class_names
    listed = f" ({', '.join(map(repr, names[:MOST_NAMED]))}{', ...' * (len(names) > MOST_NAMED)})" if names else ""
    classes = f"{data.classes} classes{listed}" if data.classes else "numbers to predict"
    shape = f"{data.inputs.shape[1]} features" if data.inputs.ndim == 2 else f"inputs of shape {data.inputs.shape[1:]}"
    span = (
        f"{min(sizes)} to {max(sizes)} training samples" if min(sizes) < max(sizes) else f"{sizes[0]} training samples"
    )
    weighed = {"uniform": "weighted equally", "samples": "weighted by their samples"}
    weights = f", {weighed[problem.client_weight]}" if min(sizes) < max(sizes) else ""
    return [f"{shape}, {classes}; {problem.clients} clients with {span}{weights}", *lines]


def dealt(
    problem: str | Task | FederatedProblem,
    partition: Split | str = "iid",
    clients: int | None = None,
    seed: int = 0,
    client_weight: str = "uniform",
    augment: str | None = None,
) -> FederatedProblem:
    """The problem that is meant, dealt by ``Task.deal``; one that is dealt to its clients already stays as it is.

    Raises:
        EmpiricsError: where a partition, augmentation or other clients are requested for a problem that is dealt
        already.
    """
    if not isinstance(problem, FederatedProblem):
        what = task(problem) if isinstance(problem, str) else problem
        return what.deal(partition, clients, seed, client_weight=client_weight, augment=augment)
    asked = partition != "iid" or augment is not None or client_weight != problem.client_weight
    if clients not in (None, problem.clients) or asked:
        held = f"{problem.clients} clients, client_weight={problem.client_weight!r}"
        rule = "leave out partition=, clients= and augment=; use its weights"
        raise EmpiricsError(f"the problem is dealt already ({held}): {rule}")
    return problem
