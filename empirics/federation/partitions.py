"""Who holds which samples.

A ``Split`` hands out samples, as lists of sample numbers for ``Federation.of``: what the papers' experiments do. Some
(``Iid``, ``DirichletReplaced``) also give every client a *distribution* over a pool, from which it draws with
replacement: the pool is the population, for exact risks. ``PARTITIONS`` names them all; ``partition("dirichlet(0.1)")``
reads one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bounds.domains import COUNT, Domain

from ..data.dataset import Dataset
from ..errors import EmpiricsError
from ..numbers import must
from ..streams import stream
from .split import apportioned, cut, Limits, members, Split

SKEW = Domain(">= 0 and < 50", low=0, high=50, open_high=True)
CONCENTRATION = Domain("> 0 and <= 1e+100", low=0, high=1e100, open_low=True)
"""A Dirichlet law can be drawn from: shares are long equal where sums of its parameter overflow."""

# ---- whatever the samples are: equal sizes, or skewed ones ----


@dataclass(frozen=True)
class Iid(Split):
    """Shuffled and cut evenly, sizes differ by one at most; of a pool, everybody draws uniformly from the whole."""

    word = "iid"
    identical: ClassVar[bool] = True

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        sizes = len(data) // clients + (np.arange(clients) < len(data) % clients)
        return cut(stream(seed, "iid split").permutation(len(data)), sizes)

    def shares(self, labels: np.ndarray, clients: int, seed: int) -> np.ndarray:
        return np.full((clients, len(labels)), 1.0 / len(labels))


@dataclass(frozen=True)
class LogNormalSizes(Split):
    """Sizes proportional to ``exp(sigma z_k)`` with normal ``z_k`` of client k: beyond ``least``, a log-normal law."""

    sigma: float = 1.0
    least: int = 1
    word = "log_normal_sizes"
    limits: ClassVar[Limits] = {"sigma": SKEW, "least": COUNT}

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        normal = np.array([stream(seed, "size", client=k).normal() for k in range(clients)])
        return _of_sizes(data, np.exp(self.sigma * normal), self.least, seed)


@dataclass(frozen=True)
class PowerLawSizes(Split):
    """Sizes proportional to ``rank^-exponent`` beyond ``least``; which client has which rank is drawn."""

    exponent: float = 1.0
    least: int = 1
    word = "power_law_sizes"
    limits: ClassVar[Limits] = {"exponent": SKEW, "least": COUNT}

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        ranks = 1.0 + stream(seed, "size ranks").permutation(clients)
        return _of_sizes(data, ranks**-self.exponent, self.least, seed)


def _of_sizes(data: Dataset, weights: np.ndarray, least: int, seed: int) -> list[np.ndarray]:
    """Shuffled and cut into pieces of sizes by ``weights``, each at least ``least``."""
    count = len(weights) * least
    must(count <= len(data), f"{len(weights)} clients times least {least}", f"at most {len(data)} in {data}", count)
    return cut(stream(seed, "sizes split").permutation(len(data)), apportioned(len(data), weights, least))


# ---- by class: sorted, a number of classes per client, shards ----


@dataclass(frozen=True)
class Sorted(Split):
    """Sorted by ``"label"`` or ``"group"`` (a genre, say), then cut evenly in that order: FedALS's non-iid split."""

    by: str = "label"
    word = "sorted"
    limits: ClassVar[Limits] = {"by": ("label", "group")}

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        return np.array_split(_in_order(data, self.by, seed), clients)


@dataclass(frozen=True)
class ClassesPerClient(Split):
    """Every client holds ``classes`` of the classes; the samples of a class are split evenly among those who hold it.

    ``layout="blocks"`` is FedCOG's NIID-2: the classes fall into consecutive blocks and client i holds block i modulo
    their number. ``layout="random"`` deals classes round after round, each round in a drawn order, so that classes are
    held equally often, give or take one. With few clients some classes are not held, and their samples not used.
    """

    classes: int = 2
    layout: str = "blocks"
    word = "classes_per_client"
    limits: ClassVar[Limits] = {"classes": COUNT, "layout": ("blocks", "random")}

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        must(self.classes <= data.classes, "classes per client", f"at most {data.classes} in {data}", self.classes)
        held = self._drawn(data, clients, seed) if self.layout == "random" else self._blocks(data, clients)
        pools = members(data.labels, data.classes, stream(seed, "classes split"))
        parts: list[list[np.ndarray]] = [[] for _ in range(clients)]
        for c, pool in enumerate(pools):
            holders = np.flatnonzero((held == c).any(axis=1))
            must(len(holders) <= len(pool), f"clients of class {c} of {data}", f"at most {len(pool)}", len(holders))
            pieces = np.array_split(pool, len(holders)) if len(holders) else []
            for k, piece in zip(holders, pieces, strict=True):
                parts[k].append(piece)
        return [np.concatenate(pieces) for pieces in parts]

    def _blocks(self, data: Dataset, clients: int) -> np.ndarray:
        rule = f"a divisor of {data.classes} in blocks (or use layout='random')"
        must(data.classes % self.classes == 0, "classes per client", rule, self.classes)
        blocks = np.arange(data.classes).reshape(-1, self.classes)
        return blocks[np.arange(clients) % len(blocks)]

    def _drawn(self, data: Dataset, clients: int, seed: int) -> np.ndarray:
        """Classes of every client ``(clients, classes)``, none twice for one client."""
        rng = stream(seed, "classes held")
        held = np.zeros((clients, data.classes), dtype=bool)
        counts = np.zeros(data.classes, dtype=np.int64)
        for k in range(clients):
            order = rng.permutation(data.classes)
            chosen = order[np.argsort(counts[order], kind="stable")][: self.classes]
            held[k, chosen] = True
            counts[chosen] += 1
        return np.nonzero(held)[1].reshape(clients, self.classes)


@dataclass(frozen=True)
class Shards(Split):
    """Sorted by label, cut into equal shards, ``per_client`` of them dealt to each at random (McMahan et al. 2017)."""

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
    """Sample numbers sorted by label or group, in drawn order within each."""
    keys = data.labels if by == "label" else data.groups
    if keys is None:
        raise EmpiricsError(f"{data} has no groups to sort by")
    shuffled = stream(seed, "sorted split").permutation(len(data))
    return shuffled[np.argsort(keys[shuffled], kind="stable")]


# ---- label skew by Dirichlet laws: over clients for every class, or over classes for every client ----

TRIES = 1000
HOPELESS = ((1, 100), (5, 15))
"""Draws after which it is given up, where each left some clients too small: that none is too small then has a chance
of some exp(-20) a draw or less."""


@dataclass(frozen=True)
class Dirichlet(Split):
    """For every class, shares of the clients from a symmetric Dirichlet law; samples are dealt once.

    As FedCOG's code does (NIID-1): classes come in turn; who already holds ``samples / clients`` gets nothing more; and
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
        """One draw: how many samples every client gets, and by class the clients' pieces (none where a client gets too
        few, or where no client that may still take a class has a share in it)."""
        cap, sizes, cuts = len(labels) / clients, np.zeros(clients, dtype=np.int64), []
        pools = members(labels, classes, rng)
        for pool in pools:
            shares = rng.dirichlet(np.full(clients, self.alpha)) * (sizes < cap)
            if not shares.sum() > 0:
                return np.zeros(clients, dtype=np.int64), []
            # A cumulative sum that ends just below one must not leave a sample to those who get nothing.
            ends = np.floor(np.cumsum(shares / shares.sum()) * len(pool) + 1e-9).astype(np.int64)[:-1]
            sizes += np.diff(ends, prepend=0, append=len(pool))
            cuts.append(ends)
        if sizes.min() < self.least:
            return sizes, []
        return sizes, [np.split(pool, ends) for pool, ends in zip(pools, cuts, strict=True)]


@dataclass(frozen=True)
class DirichletReplaced(Split):
    """For every client, a class prior from a symmetric Dirichlet law, and as many labels drawn from it as others have.

    ``alpha`` below one makes most clients see few classes; as it grows they become similar. Of a pool, every client
    draws by such a prior, uniformly within a class. FedInit's split: a label takes the next sample of its class, and a
    class that is used up starts again. So sizes are equal (samples / clients, rounded down), clients may share samples,
    and some samples are left out. Client k's prior depends on (seed, k) alone.
    """

    alpha: float
    word = "dirichlet_replaced"
    limits: ClassVar[Limits] = {"alpha": CONCENTRATION}
    disjoint: ClassVar[bool] = False

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        pools = members(data.labels, data.classes, stream(seed, "class pools"))
        held = np.array([len(pool) > 0 for pool in pools])
        used = np.zeros(data.classes, dtype=np.int64)
        size = len(data) // clients
        parts = []
        for k in range(clients):
            rng = stream(seed, "replaced split", client=k)
            counts = rng.multinomial(size, self._prior(rng, held))
            taken = [pools[c][(used[c] + np.arange(counts[c])) % len(pools[c])] for c in np.flatnonzero(counts)]
            used += counts
            parts.append(rng.permutation(np.concatenate(taken)))
        return parts

    def shares(self, labels: np.ndarray, clients: int, seed: int) -> np.ndarray:
        counts = np.bincount(labels)
        priors = (self._prior(stream(seed, "class prior", client=k), counts > 0) for k in range(clients))
        return np.stack([(prior / np.maximum(counts, 1))[labels] for prior in priors])

    def _prior(self, rng: np.random.Generator, held: np.ndarray) -> np.ndarray:
        """A client's shares of the classes; those that no client holds get none."""
        prior = np.zeros(len(held))
        prior[held] = rng.dirichlet(np.full(held.sum(), self.alpha))
        return prior


# ---- as found in nature: a client is a user, writer, speaker, school or hospital ----


@dataclass(frozen=True)
class ByGroup(Split):
    """One client per group with at least ``least`` samples; of these, as many as asked for are drawn by the seed.

    Clients come in the order of their group numbers; ``chosen`` says which they are.
    """

    least: int = 1
    word = "by_group"
    limits: ClassVar[Limits] = {"least": COUNT}

    def everyone(self, data: Dataset) -> np.ndarray:
        """Numbers of all groups that are large enough."""
        if data.groups is None:
            raise EmpiricsError(f"{data} does not say whose its samples are: choose another partition")
        numbers, counts = np.unique(data.groups, return_counts=True)  # numbers may be as large as those of patients
        return numbers[counts >= self.least]

    def chosen(self, data: Dataset, clients: int, seed: int) -> np.ndarray:
        """The group number of every client."""
        able = self.everyone(data)
        rule = f"at most the {len(able)} {data.group_word}s of {data} with {self.least} or more samples"
        must(clients <= len(able), "clients", rule, clients)
        return np.sort(stream(seed, "groups drawn").permutation(able)[:clients])

    def deal(self, data: Dataset, clients: int, seed: int) -> list[np.ndarray]:
        groups = self.chosen(data, clients, seed)
        assert data.groups is not None
        order = np.argsort(data.groups, kind="stable")
        first = np.searchsorted(data.groups[order], [groups, groups + 1])
        return [order[a:b] for a, b in zip(*first, strict=True)]


# ---- by classes and by classes of classes: the Pachinko allocation of CIFAR-100 ----

TINY = 1e-300
"""Keeps a class that a client would never draw as its last resort when all others are used up."""


@dataclass(frozen=True)
class Pachinko(Split):
    """Reddi et al. (2021): a client draws a coarse class, then a class in it, then a sample of that not dealt yet.

    Every client has its own shares of the coarse classes from a symmetric Dirichlet law of parameter ``alpha`` and, in
    each of them, of its classes from one of ``beta``; a class that is used up is left out and the shares of the others
    grow to 1. Clients come in turn and hold equally many samples (samples / clients, rounded down). Coarse classes are
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
        """One client's samples, taken out of the pools."""
        outer = rng.dirichlet(np.full(len(inside), self.alpha)) + TINY
        inner = [rng.dirichlet(np.full(len(own), self.beta)) + TINY for own in inside]
        for c, own in enumerate(inside):
            inner[c] *= [bool(pools[label]) for label in own]
            outer[c] *= inner[c].any()
        taken = np.empty(size, dtype=np.int64)
        for i, (first, second) in enumerate(rng.random((size, 2))):
            c = _place(outer, first)
            place = _place(inner[c], second)
            pool = pools[inside[c][place]]
            taken[i] = pool.pop()
            if not pool:
                inner[c][place] = 0
                outer[c] *= inner[c].any()
        return taken


def coarse(data: Dataset) -> list[list[int]]:
    """The classes of every coarse class that has samples."""
    if data.groups is None:
        raise EmpiricsError(f"{data} has no coarse classes: choose another partition, such as dirichlet(0.1)")
    pairs = np.unique(np.stack([data.groups, data.labels]), axis=1)
    held, counts = np.unique(pairs[1], return_counts=True)
    if (counts > 1).any():
        said = f"class {held[counts > 1][0]} lies in several"
        raise EmpiricsError(f"the {data.group_word}s of {data} are not coarse classes: {said}")
    return [pairs[1][pairs[0] == group].tolist() for group in np.unique(pairs[0])]


def _place(weights: np.ndarray, uniform: float) -> int:
    """The place that a uniform number from [0, 1) falls into; places of weight 0 are never drawn."""
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
    """The split written as ``text``, such as ``dirichlet(0.1)``, or ``path/file.py:variable`` for one of your own.

    Raises:
        EmpiricsError: where the text is not a call of one of ``PARTITIONS``, or an option is out of its range.

    >>> from empirics.data.catalogue import digits
    >>> [len(numbers) for numbers in partition("shards(per_client=3)")(digits(), clients=4, seed=2)]
    [450, 449, 449, 449]
    >>> partition("dirichlet_replaced(0.3)").shares(digits().labels, clients=4, seed=2).shape
    (4, 1797)
    """
    from ..spec_strings import parse  # brings torch, which partitions do without

    built: Split = parse(text, PARTITIONS, "partition", Split)
    return built
