"""``BOUNDS``: all bounds of the papers by name. Two bounds of one name are an error at import."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from .core import Bound, declared
from .errors import BoundsError, DeclarationError, unknown
from .papers import known_paper

FILES = {
    "fedals": "one_round inexact participation rounds noise quadratic",
    "fedinit": "constants optimization divergence stability orders costs repaired sharp",
    "decaying_k": "runtime convergence repairs sharp optima derivatives practice schedules",
    "fedcog": "proof method",
    "classics": "field_guide li local_gd local_sgd one_machine stability fedprox scaffold others",
}
"""The modules that declare each paper's bounds, in the order of the list."""


class Catalogue(dict[str, Bound]):
    """Bounds by name, ignoring case; an unknown name is an error with similar names."""

    def __missing__(self, name: str) -> Bound:
        if name.lower() in self:
            return self[name.lower()]
        paper = known_paper(name)
        meant = f"this is a paper: fedbounds list --paper {paper.key} lists its bounds" if paper else ""
        raise unknown("bound", name, self, meant, "fedbounds list")


def _collected() -> Catalogue:
    catalogue = Catalogue()
    for paper, files in FILES.items():
        for bound in declared(Bound, *(import_module(f".{paper}.{file}", __package__) for file in files.split())):
            if bound.name in catalogue:
                raise DeclarationError(f"two bounds are named {bound.name!r}")
            catalogue[bound.name] = bound
    return catalogue


BOUNDS = _collected()


def get(name: str) -> Bound:
    """Return the bound of this name; raise ``UnknownNameError`` with similar names if there is none.

    >>> gap = get("fedals.one_round")
    >>> values = {"smoothness": 1.1, "strong_convexity": 0.1, "client_weight": [0.3, 0.7]}
    >>> {term: round(float(size), 3) for term, size in gap.parts(**values, local_gap=0.03, non_iidness=0.01).items()}
    {'local generalization': 0.122, 'non-iidness': 0.067}
    """
    return BOUNDS[name]


def with_own(own: Iterable[Bound]) -> dict[str, Bound]:
    """Return the catalogue together with the user's bounds; raise if two have the same name."""
    book = dict(BOUNDS)
    for bound in own:
        if book.setdefault(bound.name, bound) is not bound:
            raise BoundsError(f"your bound {bound.name} has the name of another bound: choose another name")
    return book
