"""What every split of a data set over clients shares: how it is called, written and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from bounds.domains import Domain

from ..data.dataset import Dataset
from ..errors import EmpiricsError
from ..numbers import array_of_numbers, check_kind, check_options, checked, must

Limits = Mapping[str, Domain | tuple[str, ...]]


@dataclass(frozen=True)
class Split:
    """A rule that deals the samples of a data set to clients.

    Called with the data, the number of clients and a seed, it returns one array of sample numbers per client. All
    randomness is keyed by the seed, so the same call gives the same split. ``disjoint``: no sample is dealt twice.
    ``str`` is the call that makes it. Some give every client a distribution as well, see ``shares``; ``identical``
    says that it is one for all.
    """

    word: ClassVar[str] = ""
    disjoint: ClassVar[bool] = True
    identical: ClassVar[bool] = False
    limits: ClassVar[Limits] = {}
    """What the options may be: numbers of a domain, or one of some words."""

    def __post_init__(self) -> None:
        for option in fields(self):
            where = f"{option.name} of {self.word or type(self).__name__}"
            value, rule = getattr(self, option.name), self.limits.get(option.name)
            check_kind(where, str(option.type), value)
            if isinstance(rule, Domain):
                checked(where, value, rule)
            elif rule is not None:
                must(value in rule, where, " or ".join(map(repr, rule)), value)

    def __call__(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        self.check(data, clients)
        with data.untouched():  # it is shared by all that is trained here
            parts = self.deal(data, clients, seed)
        count = len(parts) if isinstance(parts, list) else type(parts).__name__
        must(count == clients, f"what {self} deals", f"a list of {clients} arrays of sample numbers", count)
        if not _plain(parts, len(data)):
            parts = [self._dealt(k, part, len(data)) for k, part in enumerate(parts)]
        return parts

    def _dealt(self, client: int, given: Any, samples: int) -> np.ndarray:
        """What a client was dealt, if that is what a client can hold."""
        what, rule = f"{self}: sample numbers of client {client}", f"whole numbers from 0 to {samples - 1}, one or more"
        part = array_of_numbers(what, given, rule)
        must(part.size > 0 and part.ndim == 1, what, rule, part.shape)
        must(np.issubdtype(part.dtype, np.integer), what, rule, str(part.dtype))
        outside = part[(part < 0) | (part >= samples)]
        must(not len(outside), what, rule, *outside[:1])
        return part

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        """The sample numbers of every client; the numbers of clients and samples are known to fit."""
        raise NotImplementedError

    def shares(self, labels: np.ndarray, clients: int, seed: int) -> np.ndarray:
        """Every client's distribution over a pool with these ``labels (points,)``, to draw from with replacement.

        Returns:
            Shares ``(clients, points)`` whose rows sum to one. Client k's row depends on (seed, k) alone, so adding
            clients changes none of the others.

        Raises:
            EmpiricsError: if the rule hands out samples and knows no distribution.
        """
        raise EmpiricsError(f"{self} gives clients no distribution to draw from: use iid or dirichlet_replaced(0.3)")

    def check(self, data: Dataset, clients: int) -> None:
        """Raise where there are more clients than samples."""
        check_options({"clients": clients})
        if clients > len(data):
            raise EmpiricsError(f"clients must be at most the number of samples, {len(data)} in {data}; got {clients}")

    def __str__(self) -> str:
        from ..spec_strings import spec_string  # brings torch, which partitions do without

        options = {f.name: getattr(self, f.name) for f in fields(self)}
        return spec_string(self.word or type(self).__name__.lower(), **options)


def _plain(parts: list[Any], samples: int) -> bool:
    """Whether these are arrays of sample numbers already; checked for all clients together, which may be a million."""
    for part in parts:
        if type(part) is not np.ndarray or part.ndim != 1 or part.dtype.kind != "i" or not part.size:
            return False
    whole = np.concatenate(parts)
    return bool(whole.min() >= 0 and whole.max() < samples)


def members(labels: np.ndarray, classes: int, rng: np.random.Generator) -> list[np.ndarray]:
    """The samples of every class 0 .. classes - 1, shuffled."""
    return [rng.permutation(np.flatnonzero(labels == c)) for c in range(classes)]


def cut(samples: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
    """Consecutive pieces of the given sizes, of which there may be a million: ``np.split`` takes five times as long."""
    ends = np.cumsum(sizes).tolist()
    return [samples[begin:end] for begin, end in pairwise([0, *ends])]


def apportioned(total: int, weights: np.ndarray, least: int = 0) -> np.ndarray:
    """Integers that sum to ``total``, near ``total * weights``, none below ``least`` (largest remainders)."""
    exact = least + (total - least * len(weights)) * weights / weights.sum()
    sizes = np.floor(exact).astype(np.int64)
    short = total - int(sizes.sum())
    sizes[np.argsort(sizes - exact, kind="stable")[:short]] += 1
    return sizes
