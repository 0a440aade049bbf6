"""Who holds which samples.

A ``Split`` hands out samples, as lists of sample numbers for ``Federation.of``: what the papers' experiments do. Some
(``Iid``, ``DirichletReplaced``) also give every client a *distribution* over a pool, from which it draws with
replacement: the pool is the population, for exact risks. ``PARTITIONS`` names them all; ``partition("dirichlet(0.1)")``
reads one.
"""

from __future__ import annotations

from collections.abc import Callable

from .classes import ClassesPerClient, Shards, Sorted
from .dirichlet import Dirichlet, DirichletReplaced
from .groups import ByGroup
from .pachinko import Pachinko
from .sizes import Iid, LogNormalSizes, PowerLawSizes
from .split import Split

PARTITIONS: dict[str, Callable[..., Split]] = {
    "by_group": ByGroup,
    "classes_per_client": ClassesPerClient,
    "dirichlet": Dirichlet,
    "dirichlet_replaced": DirichletReplaced,
    "iid": Iid,
    "log_normal_sizes": LogNormalSizes,
    "pachinko": Pachinko,
    "power_law_sizes": PowerLawSizes,
    "shards": Shards,
    "sorted": Sorted,
}


def partition(text: str) -> Split:
    """The split written as ``text``, such as ``dirichlet(0.1)``, or ``path/file.py:variable`` for one of your own.

    Raises:
        EmpiricsError: where the text is no call of one of ``PARTITIONS``, or an option is out of its range.

    >>> from empirics.data.catalogue import digits
    >>> [len(numbers) for numbers in partition("shards(per_client=3)")(digits(), clients=4, seed=2)]
    [450, 449, 449, 449]
    >>> partition("dirichlet_replaced(0.3)").shares(digits().labels, clients=4, seed=2).shape
    (4, 1797)
    """
    from ..spec_strings import parse  # brings torch, which partitions do without

    built: Split = parse(text, PARTITIONS, "partition", Split)
    return built


__all__ = [
    "PARTITIONS",
    "ByGroup",
    "ClassesPerClient",
    "Dirichlet",
    "DirichletReplaced",
    "Iid",
    "LogNormalSizes",
    "Pachinko",
    "PowerLawSizes",
    "Shards",
    "Sorted",
    "Split",
    "partition",
]
