"""Checkers on instances: exact worst ratios over a family, and stored witnesses that are replayed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Any

import sympy as sp

from bounds.core import Bound

from ..claim import Book, ClaimError, Finding, Grade, Status
from .numbers import at_least

COUNTEREXAMPLES = Path(__file__).resolve().parents[2] / "counterexamples"
"""Instances that break a printed statement, as the falsifier wrote them."""


@dataclass(frozen=True)
class Dominates:
    """``bound`` is at least the exact value of its target on every admissible instance that a search visits.

    The search maximises exact / bound over the families that serve the bound; nothing is sampled. A violation is final;
    a HOLDS says how near the search came, which box and which regimes it visited, what planted violations such a
    search finds, and what share of each term an instance needs: a constant of which none needs any was not tested.
    ``family`` narrows the search to one.
    """

    bound: str | Bound
    evaluations: int = 200
    seed: int = 0
    family: str | None = None

    def __post_init__(self) -> None:
        if type(self.evaluations) is not int or self.evaluations < 1:
            raise ClaimError(f"Dominates: evaluations must be a whole number >= 1; got {self.evaluations!r}")

    def __call__(self, book: Book) -> Finding:
        from ...falsifier import falsify
        from ...falsifier.falsify import parameters

        bound = book[self.bound] if isinstance(self.bound, str) else self.bound
        search = falsify(bound, evaluations=self.evaluations, seed=self.seed, family=self.family)
        if search.witness is not None:
            found = search.witness
            said = f"violated: {_beside(found.measured, found.value)} on {found.family}"
            held = {name: str(number) for name, number in found.instance.items()}
            return Finding(Status.FAILS, Grade.EXACT, f"{said}: {parameters(found.instance)}", held)
        return self._survived(bound, search)

    def _survived(self, bound: Bound, search: Any) -> Finding:
        from ...falsifier.fringe import fringes
        from ...falsifier.power import power

        ratio = 1 / search.ratio if search.ratio > 0 else float("inf")
        said = f"bound / exact value >= {at_least(ratio)} on {search.admissible} instances of "
        said += ", ".join(search.families)
        said += (
            "".join(f"; searched {each.words}" for each in search.visited) + f"; {power(bound.name, self.evaluations)}"
        )
        said += f"; {needed_words(search.shares)}" if search.shares else ""
        said += "".join(f"; {each.words}" for each in fringes(bound) if each.violated)
        if search.undecided:
            said += f"; no machine decides: {'; '.join(search.undecided)}"
        if search.unconfirmed:
            said += f"; {search.unconfirmed} violations in floating point were not confirmed by exact arithmetic"
            return Finding(Status.OPEN, Grade.SEARCHED, said, as_audited=False)
        if not search.admissible:
            return Finding(Status.OPEN, Grade.SEARCHED, "no instance meets the conditions", as_audited=False)
        return Finding(Status.HOLDS, Grade.SEARCHED, said)


UNNEEDED = 1e-12
"""A share below this is rounding."""


def needed_words(shares: Mapping[str, float]) -> str:
    """By term the largest share that an instance needs of it, and the terms that none needs, for evidence.

    A constant is confirmed down to that share: with less of its term the bound would be violated at an instance that
    was visited. Where no instance needs a term, its constant could be 0 as far as the instances tell.
    """
    some = [f"{term} {share:.2g}" for term, share in shares.items() if share > UNNEEDED]
    none = [term for term, share in shares.items() if share <= UNNEEDED]
    said = [f"largest share needed of each term: {', '.join(some)}"] * bool(some)
    return "; ".join(said + [f"not tested here, as no instance needs it: {', '.join(none)}"] * bool(none))


def _beside(measured: object, bound: object) -> str:
    """Both sides for evidence, in as many digits as it takes to tell them apart."""
    one, other = (sp.sympify(str(number), rational=True) for number in (measured, bound))
    digits = next((d for d in (6, 9, 15) if f"{float(one):.{d}g}" != f"{float(other):.{d}g}"), 6)
    said = f"exact value {float(one):.{digits}g} against bound {float(other):.{digits}g}"
    apart = float(one - other)
    return f"{said} ({apart:+.3g})" if apart and float(one) == float(other) else said


@dataclass(frozen=True)
class Broken:
    """A stored instance meets every assumption of ``bound`` and violates it: replayed in exact or 50-digit arithmetic.

    HOLDS would mean that the witness does not violate the bound: the claim is then not refuted by it. ``ratio`` is the
    audited exact value over the bound.
    """

    bound: str
    witness: str
    ratio: float | None = None

    def __call__(self, book: Book) -> Finding:
        from ...falsifier import defined, load_witness, replay

        witness, bound = load_witness(COUNTEREXAMPLES / self.witness), book[self.bound]
        for equation in witness.definitions:
            bound = defined(bound, book[equation])
        seen = replay(witness, bound)
        said = _beside(seen.measured, seen.bound)
        if seen.differs:
            return Finding(Status.OPEN, Grade.EXACT, f"witness {self.witness}: {seen.differs[0]}", as_audited=False)
        if seen.failed:
            return Finding(Status.OPEN, Grade.EXACT, f"the witness breaks {'; '.join(seen.failed)}", as_audited=False)
        if not seen.violated:
            return Finding(Status.HOLDS, Grade.EXACT, f"the stored witness does not violate it: {said}")
        near = self.ratio is None or isclose(seen.ratio, self.ratio, rel_tol=1e-6)
        held = {name: str(number) for name, number in witness.instance.items()}
        return Finding(Status.FAILS, Grade.EXACT, f"{said} ({seen.arithmetic}); witness {self.witness}", held, near)
