"""Partitions of a data set over clients.

A ``Split`` returns the sample indices of every client, as in the papers' experiments. Some (``Iid``,
``DirichletReplaced``) also give every client a *distribution* over a pool, from which it draws with replacement; the
pool is then the population, with exact risks. ``PARTITIONS`` lists them by name; ``partition("dirichlet(0.1)")`` makes
one from text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from bounds.domains import COUNT, Domain

from ..data.dataset import Dataset
from ..errors import EmpiricsError
from ..numbers import array_of_numbers, check_fields, check_options, must, Rule
from ..streams import stream

SKEW = Domain(">= 0 and < 50", low=0, high=50, open_high=True)
CONCENTRATION = Domain("> 0 and <= 1e+100", low=0, high=1e100, open_low=True)
"""Parameters of a Dirichlet law; shares become equal long before sums of the parameter overflow."""

Limits = Mapping[str, Rule]


@dataclass(frozen=True)
class Split:
    """A rule that assigns the samples of a data set to clients.

    Called with the data, the number of clients and a seed, it returns one array of sample indices per client. All
    randomness depends on the seed, so the same call gives the same split. ``str`` is the call that makes it.
    ``disjoint``: no sample is assigned twice. Some splits give every client a distribution too, see ``shares``;
    ``identical``: it is the same for all clients.
    """

    word: ClassVar[str] = ""
    disjoint: ClassVar[bool] = True
    identical: ClassVar[bool] = False
    limits: ClassVar[Limits] = {}
    """The domain of each option, or the texts allowed."""

    def __post_init__(self) -> None:
        check_fields(self, self.word or type(self).__name__, self.limits)

    def __call__(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        self.check(data, clients)
        with data.untouched():  # other runs share it
            parts = self.deal(data, clients, seed)
        count = len(parts) if isinstance(parts, list) else type(parts).__name__
        must(count == clients, f"the result of {self}", f"a list of {clients} arrays of sample numbers", count)
        if not _are_indices(parts, len(data)):
            parts = [self._checked(k, part, len(data)) for k, part in enumerate(parts)]
        return parts

    def _checked(self, client: int, samples_of: Any, samples: int) -> np.ndarray:
        """A client's sample indices as an array; raise if they are invalid."""
        what, rule = f"{self}: sample numbers of client {client}", f"whole numbers from 0 to {samples - 1}, one or more"
        part = array_of_numbers(what, samples_of, rule)
        must(part.size > 0 and part.ndim == 1, what, rule, part.shape)
        must(np.issubdtype(part.dtype, np.integer), what, rule, str(part.dtype))
        outside = part[(part < 0) | (part >= samples)]
        must(not len(outside), what, rule, *outside[:1])
        return part

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        """Return the sample indices of every client; there are at least as many samples as clients."""
        raise NotImplementedError

    def shares(self, labels: np.ndarray, clients: int, seed: int) -> np.ndarray:
        """Return every client's distribution over a pool with ``labels (points,)``, to draw from with replacement.

        Returns:
            Shares ``(clients, points)`` whose rows sum to one. Client k's row depends on (seed, k) alone, so adding
            clients changes none of the others.

        Raises:
            EmpiricsError: if the rule defines no distribution.
        """
        raise EmpiricsError(f"{self} defines no distribution to draw from: use iid or dirichlet_replaced(0.3)")

    def check(self, data: Dataset, clients: int) -> None:
        """Raise if there are more clients than samples."""
        check_options({"clients": clients})
        if clients > len(data):
            raise EmpiricsError(f"clients must be at most the number of samples, {len(data)} in {data}; got {clients}")

    def __str__(self) -> str:
        from ..spec_strings import spec_string  # brings torch, which partitions do without

        options = {f.name: getattr(self, f.name) for f in fields(self)}
        return spec_string(self.word or type(self).__name__.lower(), **options)


def _are_indices(parts: list[Any], samples: int) -> bool:
    """Whether all parts are valid index arrays; checked for all clients at once, as there may be a million."""
    for part in parts:
        if type(part) is not np.ndarray or part.ndim != 1 or part.dtype.kind != "i" or not part.size:
            return False
    indices = np.concatenate(parts)
    return bool(indices.min() >= 0 and indices.max() < samples)


def members(labels: np.ndarray, classes: int, rng: np.random.Generator) -> list[np.ndarray]:
    """The sample indices of every class 0 .. classes - 1, shuffled."""
    return [rng.permutation(np.flatnonzero(labels == c)) for c in range(classes)]


def cut(samples: np.ndarray, sizes: np.ndarray) -> list[np.ndarray]:
    """Consecutive pieces of these sizes; for a million pieces five times as fast as ``np.split``."""
    ends = np.cumsum(sizes).tolist()
    return [samples[begin:end] for begin, end in pairwise([0, *ends])]


def apportion(total: int, weights: np.ndarray, least: int = 0) -> np.ndarray:
    """Integers that sum to ``total``, about ``total * weights``, none below ``least`` (largest remainders)."""
    exact = least + (total - least * len(weights)) * weights / weights.sum()
    sizes = np.floor(exact).astype(np.int64)
    short = total - int(sizes.sum())
    sizes[np.argsort(sizes - exact, kind="stable")[:short]] += 1
    return sizes


# ---- at random: equal or skewed sizes ----


@dataclass(frozen=True)
class Iid(Split):
    """Shuffles the samples and cuts them evenly (sizes differ by at most one); the distribution is uniform."""

    word = "iid"
    identical: ClassVar[bool] = True

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        sizes = len(data) // clients + (np.arange(clients) < len(data) % clients)
        return cut(stream(seed, "iid split").permutation(len(data)), sizes)

    def shares(self, labels: np.ndarray, clients: int, seed: int) -> np.ndarray:
        return np.full((clients, len(labels)), 1.0 / len(labels))


@dataclass(frozen=True)
class LogNormalSizes(Split):
    """Random samples, with sizes of log-normal law: ``least`` plus a part proportional to ``exp(sigma z_k)``."""

    sigma: float = 1.0
    least: int = 1
    word = "log_normal_sizes"
    limits: ClassVar[Limits] = {"sigma": SKEW, "least": COUNT}

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        normal = np.array([stream(seed, "size", client=k).normal() for k in range(clients)])
        return _of_sizes(data, np.exp(self.sigma * normal), self.least, seed)


@dataclass(frozen=True)
class PowerLawSizes(Split):
    """Random samples, with sizes of ``least`` plus a part proportional to ``rank^-exponent``, ranks at random."""

    exponent: float = 1.0
    least: int = 1
    word = "power_law_sizes"
    limits: ClassVar[Limits] = {"exponent": SKEW, "least": COUNT}

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        ranks = 1.0 + stream(seed, "size ranks").permutation(clients)
        return _of_sizes(data, ranks**-self.exponent, self.least, seed)


def _of_sizes(data: Dataset, weights: np.ndarray, least: int, seed: int) -> list[np.ndarray]:
    """Shuffle the samples and cut them into parts of at least ``least``, with sizes by ``weights``."""
    count = len(weights) * least
    must(count <= len(data), f"{len(weights)} clients times least {least}", f"at most {len(data)} in {data}", count)
    return cut(stream(seed, "sizes split").permutation(len(data)), apportion(len(data), weights, least))


# ---- by class: sorted, a number of classes per client, shards ----


@dataclass(frozen=True)
class Sorted(Split):
    """Sorts by ``"label"`` or ``"group"`` (such as a genre) and cuts evenly in that order: FedALS's non-iid split."""

    by: str = "label"
    word = "sorted"
    limits: ClassVar[Limits] = {"by": ("label", "group")}

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        return np.array_split(_in_order(data, self.by, seed), clients)


@dataclass(frozen=True)
class ClassesPerClient(Split):
    """Gives every client samples of ``classes`` classes; a class is split evenly among the clients that have it.

    ``layout="blocks"`` is FedCOG's NIID-2: consecutive blocks of classes, and client i has block i modulo their number.
    ``layout="random"`` gives classes in random order such that each has equally many clients, up to one. With few
    clients some classes are not used.
    """

    classes: int = 2
    layout: str = "blocks"
    word = "classes_per_client"
    limits: ClassVar[Limits] = {"classes": COUNT, "layout": ("blocks", "random")}

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        must(self.classes <= data.classes, "classes per client", f"at most {data.classes} in {data}", self.classes)
        random = self.layout == "random"
        classes_of = self._random_classes(data, clients, seed) if random else self._blocks(data, clients)
        pools = members(data.labels, data.classes, stream(seed, "classes split"))
        parts: list[list[np.ndarray]] = [[] for _ in range(clients)]
        for c, pool in enumerate(pools):
            owners = np.flatnonzero((classes_of == c).any(axis=1))
            must(len(owners) <= len(pool), f"clients of class {c} of {data}", f"at most {len(pool)}", len(owners))
            pieces = np.array_split(pool, len(owners)) if len(owners) else []
            for k, piece in zip(owners, pieces, strict=True):
                parts[k].append(piece)
        return [np.concatenate(pieces) for pieces in parts]

    def _blocks(self, data: Dataset, clients: int) -> np.ndarray:
        rule = f"a divisor of {data.classes} in blocks (or use layout='random')"
        must(data.classes % self.classes == 0, "classes per client", rule, self.classes)
        blocks = np.arange(data.classes).reshape(-1, self.classes)
        return blocks[np.arange(clients) % len(blocks)]

    def _random_classes(self, data: Dataset, clients: int, seed: int) -> np.ndarray:
        """Different classes for every client ``(clients, classes)``, sorted."""
        rng = stream(seed, "classes held")
        counts = np.zeros(data.classes, dtype=np.int64)
        rows = []
        for _ in range(clients):
            order = rng.permutation(data.classes)
            rarest = order[np.argsort(counts[order], kind="stable")][: self.classes]
            rows.append(np.sort(rarest))
            counts[rarest] += 1
        return np.stack(rows)


@dataclass(frozen=True)
class Shards(Split):
    """Sorts by label and cuts into equal shards, of which every client gets ``per_client`` (McMahan et al. 2017)."""

    per_client: int = 2
    word = "shards"
    limits: ClassVar[Limits] = {"per_client": COUNT}

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        count = clients * self.per_client
        must(count <= len(data), "clients times shards per client", f"at most {len(data)} in {data}", count)
        shards = np.array_split(_in_order(data, "label", seed), count)
        dealt = stream(seed, "shards dealt").permutation(count).reshape(clients, self.per_client)
        return [np.concatenate([shards[s] for s in own]) for own in dealt]


def _in_order(data: Dataset, by: str, seed: int) -> np.ndarray:
    """Sample indices sorted by label or group, in random order within each."""
    keys = data.labels if by == "label" else data.groups
    if keys is None:
        raise EmpiricsError(f"{data} has no groups to sort by")
    shuffled = stream(seed, "sorted split").permutation(len(data))
    return shuffled[np.argsort(keys[shuffled], kind="stable")]


# ---- label skew by Dirichlet laws: over clients for every class, or over classes for every client ----

TRIES = 1000
HOPELESS = ((1, 100), (5, 15))
"""Pairs (n, m): give up if each of n draws left m or more clients too small; the chance that a further draw succeeds
is then about exp(-20) or less."""


@dataclass(frozen=True)
class Dirichlet(Split):
    """Splits every class by shares of the clients from a symmetric Dirichlet law.

    As in FedCOG's code (NIID-1), a client that has ``samples / clients`` samples gets nothing of further classes, and
    all is drawn again until the smallest client has ``least`` samples.
    """

    alpha: float
    least: int = 10
    word = "dirichlet"
    limits: ClassVar[Limits] = {"alpha": CONCENTRATION, "least": COUNT}

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        count = clients * self.least
        must(count <= len(data), "clients times least", f"at most {len(data)} in {data}", count)
        rng = stream(seed, "dirichlet split")
        small: list[int] = []
        while len(small) < TRIES and not any(len(small) >= n and min(small) >= most for n, most in HOPELESS):
            sizes, pieces = self._try(data.labels, data.classes, clients, rng)
            if sizes.min() >= self.least:
                return [rng.permutation(np.concatenate(own)) for own in zip(*pieces, strict=True)]
            small.append(int((sizes < self.least).sum()))
        raise EmpiricsError(
            f"no split of {data} over {clients} clients with at least {self.least} samples each in {len(small)} draws, "
            f"each with {min(small)} smaller clients or more, of Dirichlet({self.alpha:g}): raise alpha, or lower "
            "least or the number of clients"
        )

    def _try(
        self, labels: np.ndarray, classes: int, clients: int, rng: np.random.Generator
    ) -> tuple[np.ndarray, list[list[np.ndarray]]]:
        """One draw: every client's number of samples, and by class the clients' samples.

        The latter is empty if a client gets too few samples, or if all clients with a share of a class are full.
        """
        cap, sizes, cuts = len(labels) / clients, np.zeros(clients, dtype=np.int64), []
        pools = members(labels, classes, rng)
        for pool in pools:
            shares = rng.dirichlet(np.full(clients, self.alpha)) * (sizes < cap)
            if not shares.sum() > 0:
                return np.zeros(clients, dtype=np.int64), []
            # A cumulative sum may end just below one; clients with a share of zero must still get no sample.
            ends = np.floor(np.cumsum(shares / shares.sum()) * len(pool) + 1e-9).astype(np.int64)[:-1]
            sizes += np.diff(ends, prepend=0, append=len(pool))
            cuts.append(ends)
        if sizes.min() < self.least:
            return sizes, []
        return sizes, [np.split(pool, ends) for pool, ends in zip(pools, cuts, strict=True)]


@dataclass(frozen=True)
class DirichletReplaced(Split):
    """Draws every client's labels from a class prior of its own, which has a symmetric Dirichlet law (FedInit's split).

    With ``alpha`` below one most clients have few classes; as it grows they become similar. Every label takes the next
    sample of its class, and starts again when the class is used up. So sizes are equal (samples / clients, rounded
    down), clients may share samples, and some samples are left out. The distribution over a pool is the prior, uniform
    within a class. Client k's prior depends on (seed, k) alone.
    """

    alpha: float
    word = "dirichlet_replaced"
    limits: ClassVar[Limits] = {"alpha": CONCENTRATION}
    disjoint: ClassVar[bool] = False

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        pools = members(data.labels, data.classes, stream(seed, "class pools"))
        present = np.array([len(pool) > 0 for pool in pools])
        used = np.zeros(data.classes, dtype=np.int64)
        size = len(data) // clients
        parts = []
        for k in range(clients):
            rng = stream(seed, "replaced split", client=k)
            counts = rng.multinomial(size, self._prior(rng, present))
            samples = [pools[c][(used[c] + np.arange(counts[c])) % len(pools[c])] for c in np.flatnonzero(counts)]
            used += counts
            parts.append(rng.permutation(np.concatenate(samples)))
        return parts

    def shares(self, labels: np.ndarray, clients: int, seed: int) -> np.ndarray:
        counts = np.bincount(labels)
        priors = (self._prior(stream(seed, "class prior", client=k), counts > 0) for k in range(clients))
        return np.stack([(prior / np.maximum(counts, 1))[labels] for prior in priors])

    def _prior(self, rng: np.random.Generator, present: np.ndarray) -> np.ndarray:
        """A client's shares of the classes, zero for classes that are not ``present``."""
        prior = np.zeros(len(present))
        prior[present] = rng.dirichlet(np.full(present.sum(), self.alpha))
        return prior


# ---- natural groups: a client is a user, writer, speaker, school or hospital ----


@dataclass(frozen=True)
class ByGroup(Split):
    """One client per group with at least ``least`` samples; the seed draws them if there are more groups than clients.

    Clients are in the order of their group numbers.
    """

    least: int = 1
    word = "by_group"
    limits: ClassVar[Limits] = {"least": COUNT}

    def large_groups(self, data: Dataset) -> np.ndarray:
        """The numbers of all groups with at least ``least`` samples."""
        if data.groups is None:
            raise EmpiricsError(f"{data} has no groups: choose another partition")
        numbers, counts = np.unique(data.groups, return_counts=True)  # not bincount: patient numbers may be huge
        return numbers[counts >= self.least]

    def client_groups(self, data: Dataset, clients: int, seed: int) -> np.ndarray:
        """The group number of every client."""
        groups = self.large_groups(data)
        rule = f"at most the {len(groups)} {data.group_word}s of {data} with {self.least} or more samples"
        must(clients <= len(groups), "clients", rule, clients)
        return np.sort(stream(seed, "groups drawn").permutation(groups)[:clients])

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        groups = self.client_groups(data, clients, seed)
        assert data.groups is not None
        order = np.argsort(data.groups, kind="stable")
        first = np.searchsorted(data.groups[order], [groups, groups + 1])
        return [order[a:b] for a, b in zip(*first, strict=True)]


# ---- by classes and by classes of classes: the Pachinko allocation of CIFAR-100 ----

TINY = 1e-300
"""Added to shares, so that classes with a share of zero are drawn when all others are used up."""


@dataclass(frozen=True)
class Pachinko(Split):
    """Draws a coarse class, then a class in it, then an unused sample of that class (Reddi et al. 2021).

    Every client has shares of the coarse classes from a symmetric Dirichlet law with parameter ``alpha``, and shares of
    the classes in each of them with parameter ``beta``; a class that is used up is left out, and the other shares are
    scaled to sum to 1. Clients are filled in turn to equal sizes (samples / clients, rounded down). Coarse classes are
    the groups of the data set, so a class must lie in one group. For CIFAR-100 (Reddi et al., Decaying-K): 500 clients.
    """

    alpha: float = 0.1
    beta: float = 10.0
    word = "pachinko"
    limits: ClassVar[Limits] = {"alpha": CONCENTRATION, "beta": CONCENTRATION}

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        pools = [list(pool) for pool in members(data.labels, data.classes, stream(seed, "pachinko pools"))]
        inside, size = [np.array(own) for own in coarse(data)], len(data) // clients
        return [self._client(pools, inside, size, stream(seed, "pachinko split", client=k)) for k in range(clients)]

    def _client(
        self, pools: list[list[int]], inside: list[np.ndarray], size: int, rng: np.random.Generator
    ) -> np.ndarray:
        """One client's samples, which are removed from the pools."""
        outer = rng.dirichlet(np.full(len(inside), self.alpha)) + TINY
        inner = [rng.dirichlet(np.full(len(own), self.beta)) + TINY for own in inside]
        for c, own in enumerate(inside):
            inner[c] *= [bool(pools[label]) for label in own]
            outer[c] *= inner[c].any()
        samples = np.empty(size, dtype=np.int64)
        for i, (first, second) in enumerate(rng.random((size, 2))):
            c = _weighted_choice(outer, first)
            label = _weighted_choice(inner[c], second)
            pool = pools[inside[c][label]]
            samples[i] = pool.pop()
            if not pool:
                inner[c][label] = 0
                outer[c] *= inner[c].any()
        return samples


def coarse(data: Dataset) -> list[list[int]]:
    """The classes of every coarse class that has samples."""
    if data.groups is None:
        raise EmpiricsError(f"{data} has no coarse classes: choose another partition, such as dirichlet(0.1)")
    pairs = np.unique(np.stack([data.groups, data.labels]), axis=1)
    classes, counts = np.unique(pairs[1], return_counts=True)
    if (counts > 1).any():
        raise EmpiricsError(
            f"the {data.group_word}s of {data} are not coarse classes: class {classes[counts > 1][0]} lies in several"
        )
    return [pairs[1][pairs[0] == group].tolist() for group in np.unique(pairs[0])]


def _weighted_choice(weights: np.ndarray, uniform: float) -> int:
    """The index drawn by ``weights`` with a uniform number from [0, 1); weights of 0 are never drawn."""
    ends = np.cumsum(weights)
    return int(np.searchsorted(ends, uniform * ends[-1], side="right"))


# ---- partitions by name ----

PARTITIONS: dict[str, Callable[..., Split]] = {
    rule.word: rule
    for rule in (
        *(ByGroup, ClassesPerClient, Dirichlet, DirichletReplaced, Iid, LogNormalSizes, Pachinko, PowerLawSizes),
        *(Shards, Sorted),
    )
}


def partition(text: str) -> Split:
    """Return the split written as ``text``, such as ``dirichlet(0.1)``, or ``path/file.py:variable`` for your own.

    Raises:
        EmpiricsError: if the text is not a call of one of ``PARTITIONS``, or an option is out of its range.

    >>> from empirics.data.catalogue import digits
    >>> [len(numbers) for numbers in partition("shards(per_client=3)")(digits(), clients=4, seed=2)]
    [450, 449, 449, 449]
    >>> partition("dirichlet_replaced(0.3)").shares(digits().labels, clients=4, seed=2).shape
    (4, 1797)
    """
    from ..spec_strings import parse  # brings torch, which partitions do without

    built: Split = parse(text, PARTITIONS, "partition", Split)
    return built
