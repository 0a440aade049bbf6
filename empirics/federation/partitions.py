"""Who holds which samples.

Two ways to say it. A ``Partition`` gives every client a *distribution* over a pool, from which it draws with
replacement (``Iid``, ``LabelSkew``): the pool is the population, for exact risks. A ``Split`` hands out the samples
themselves, as lists of sample numbers for ``Federation.of``: what the papers' experiments do. ``PARTITIONS`` names the
splits; ``partition("dirichlet(0.1)")`` reads one.
"""

from __future__ import annotations

from collections.abc import Callable

from .classes import ClassesPerClient, Shards, Sorted
from .dirichlet import Dirichlet, DirichletReplaced
from .groups import ByGroup
from .pachinko import Pachinko
from .shares import Iid, LabelSkew, Partition
from .sizes import IidSplit, LogNormalSizes, PowerLawSizes
from .split import Split

PARTITIONS: dict[str, Callable[..., Split]] = {
    "by_group": ByGroup,
    "classes_per_client": ClassesPerClient,
    "dirichlet": Dirichlet,
    "dirichlet_replaced": DirichletReplaced,
    "iid": IidSplit,
    "log_normal_sizes": LogNormalSizes,
    "pachinko": Pachinko,
    "power_law_sizes": PowerLawSizes,
    "shards": Shards,
    "sorted": Sorted,
}


def partition(text: str) -> Split:
    """The split written as ``text``, such as ``dirichlet(0.1)``, or ``path/file.py:variable`` for one of your own."""
    from ..calls import parse  # brings torch, which partitions do without

    built: Split = parse(text, PARTITIONS, "partition", Split)
    return built


__all__ = [
    "PARTITIONS",
    "ByGroup",
    "ClassesPerClient",
    "Dirichlet",
    "DirichletReplaced",
    "Iid",
    "IidSplit",
    "LabelSkew",
    "LogNormalSizes",
    "Pachinko",
    "Partition",
    "PowerLawSizes",
    "Shards",
    "Sorted",
    "Split",
    "partition",
]
