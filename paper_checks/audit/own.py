"""Read claims, bounds and reviews from a user's file, and check their names."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bounds.catalog import BOUNDS
from bounds.core import Bound, declared
from bounds.errors import unknown
from bounds.papers import PAPERS
from bounds.showing.loading import from_file, run_file

from ..claims.claim import Claim, ClaimError, registry
from ..claims.review import Review
from .running import REVIEWS


def is_own(name: str) -> bool:
    """Whether a name given to ``check`` is a user's file or a variable in it."""
    return name.endswith(".py") or ".py:" in name


def of_file(name: str) -> list[Claim]:
    """Return the claims that ``file.py`` declares, or the one in ``file.py:variable``. The file is run as Python."""
    path, bounds = _path(name), bounds_of(name)
    claims = (from_file(name, Claim),) if ".py:" in name else declared(Claim, run_file(path))
    if not claims:
        own = [variable for variable, value in vars(run_file(path)).items() if isinstance(value, Bound)]
        hint = f"; to check the contract of a bound, write {path}:{own[0]}" if own else ""
        raise ClaimError(f"{path} declares no claim (an object of paper_checks.claims.claim.Claim){hint}")
    for claim in registry(claims).values():
        if claim.paper in PAPERS:
            raise ClaimError(
                f"{path}: the name of the claim {claim.name!r} begins like the library's claims on {claim.paper}: "
                f"begin it with another word, such as my_{claim.paper}"
            )
        corrected = [claim.repair.bound] if claim.repair is not None and claim.repair.bound else []
        for bound in (*corrected, *claim.about):
            if bound not in bounds:
                raise ClaimError(f"{path}: the claim {claim.name!r} names an {unknown('bound', bound, bounds)}")
    quoted = {id(value): shlex.quote(f"{path}:{variable}") for variable, value in vars(run_file(path)).items()}
    return [replace(claim, command=quoted.get(id(claim), shlex.quote(str(path)))) for claim in claims]


def bounds_of(name: str) -> dict[str, Bound]:
    """Return the bounds of the catalogue and those that the user's file declares, by name."""
    return BOUNDS | {bound.name: bound for bound in declared(Bound, run_file(_path(name)))}


def bounds_named(names: Sequence[str]) -> dict[str, Bound]:
    """Return the bounds among names of the form ``file.py:variable``; raise if there are bounds and other names."""
    bounds = {}
    for name in (n for n in names if ".py:" in n):
        if isinstance(vars(run_file(_path(name))).get(name.rpartition(":")[2]), Bound):
            bounds[name] = from_file(name, Bound)
    if bounds and (others := [name for name in names if name not in bounds]):
        raise ClaimError(f"{next(iter(bounds))} is a bound, {others[0]} is not: check bounds and claims separately")
    return bounds


def reviews(names: Sequence[str]) -> dict[str, Review]:
    """Return the reviews by paper: the library's, and those that the user's files among ``names`` declare."""
    own: dict[str, Review] = {}
    for path in (name for name in names if name.endswith(".py")):
        claims, in_file = of_file(path), declared(Review, run_file(Path(path)))
        if len(in_file) > 1:
            raise ClaimError(f"{path} declares {len(in_file)} reviews; a file is about one paper: keep one")
        for review in in_file:
            for name in set(review.claims()) - {c.name for c in claims}:
                raise ClaimError(f"{path}: its review mentions {name!r}, which is not a claim of the file")
            own |= dict.fromkeys((c.paper for c in claims), review)
    return REVIEWS | own


def _path(name: str) -> Path:
    return Path(name.rpartition(":")[0] if ".py:" in name else name)
