"""Claims of a user's file: what it declares, whether its names are names, and how each of its claims is run again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
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
    """Whether it names a file, or something in it."""
    return name.endswith(".py") or ".py:" in name


def of_file(name: str) -> list[Claim]:
    """Every claim that ``file.py``, which is run as Python, declares, or the one of ``file.py:variable``."""
    path, known = _path(name), bounds_of(name)
    claims = (from_file(name, Claim),) if ".py:" in name else declared(Claim, run_file(path))
    if not claims:
        own = [variable for variable, value in vars(run_file(path)).items() if isinstance(value, Bound)]
        hint = f"; of its bounds the contract is checked: {path}:{own[0]}" if own else ""
        raise ClaimError(f"{path} declares no claim (an object of paper_checks.claims.claim.Claim){hint}")
    for claim in registry(claims).values():
        if claim.paper in PAPERS:
            raise ClaimError(
                f"{path}: the claim {claim.name!r} would stand among the library's own of {claim.paper}: begin its "
                f"name with another word, such as my_{claim.paper}"
            )
        corrected = [claim.repair.bound] if claim.repair is not None and claim.repair.bound else []
        for bound in (*corrected, *claim.about):
            if bound not in known:
                raise ClaimError(f"{path}: the claim {claim.name!r} names an {unknown('bound', bound, known)}")
    return list(claims)


def bounds_of(name: str) -> dict[str, Bound]:
    """The bounds of the catalogue, and those that the file of this name declares."""
    return BOUNDS | {bound.name: bound for bound in declared(Bound, run_file(_path(name)))}


def reviews(names: Sequence[str]) -> dict[str, Review]:
    """What referees write of the papers: of the library's, and of those that files of these names are about."""
    own: dict[str, Review] = {}
    for path in (name for name in names if name.endswith(".py")):
        claims, found = of_file(path), declared(Review, run_file(Path(path)))
        if len(found) > 1:
            raise ClaimError(f"{path} declares {len(found)} reviews; a file is one paper: keep one")
        for review in found:
            for name in set(review.claims()) - {c.name for c in claims}:
                raise ClaimError(f"{path}: its review mentions {name!r}, which is not a claim of the file")
            own |= dict.fromkeys((c.paper for c in claims), review)
    return REVIEWS | own


def commands(names: Sequence[str]) -> dict[str, str]:
    """By claim of the files of these names, what ``check`` is given to run it once more, as a shell reads it."""
    found: dict[str, str] = {}
    for name in filter(is_own, names):
        path = _path(name)
        variables = {id(value): f"{path}:{variable}" for variable, value in vars(run_file(path)).items()}
        found |= {claim.name: shlex.quote(variables.get(id(claim), str(path))) for claim in of_file(name)}
    return found


def _path(name: str) -> Path:
    return Path(name.rpartition(":")[0] if ".py:" in name else name)
