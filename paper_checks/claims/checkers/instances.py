"""Checkers on instances of federations: a search for violations of a bound, and the replay of a stored violation."""

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
"""Folder of stored instances that violate a printed statement, written by the falsifier."""


@dataclass(frozen=True)
class Dominates:
    """States that ``bound`` is at least the exact value of its target on all admissible instances that a search visits.

    The search maximises exact / bound over families of instances that the bound covers; nothing is sampled. A violation
    is final. HOLDS comes with the smallest ratio found, the box and the regimes searched, the detection rate (share of
    planted violations that such a search finds), and the largest share of each term that an instance needs: a term that
    no instance needs was not tested. ``family`` restricts the search to one family.
    """

    bound: str | Bound
    evaluations: int = 200
    seed: int = 0
    family: str | None = None

    def __post_init__(self) -> None:
        if type(self.evaluations) is not int or self.evaluations < 1:
            raise ClaimError(f"Dominates: evaluations must be an integer >= 1; got {self.evaluations!r}")

    def __call__(self, book: Book) -> Finding:
        from ...falsifier import falsify

        bound = book[self.bound] if isinstance(self.bound, str) else self.bound
        search = falsify(bound, evaluations=self.evaluations, seed=self.seed, family=self.family)
        if search.witness is None:
            return self._survived(bound, search)
        found = search.witness
        evidence = f"violated: {_compared(found.measured, found.value)} on {found.family}"
        instance = {name: str(number) for name, number in found.instance.items()}
        given = " ".join(f"{name}={number}" for name, number in sorted(instance.items()))
        return Finding(Status.FAILS, Grade.EXACT, f"{evidence}: {given}", instance)

    def _survived(self, bound: Bound, search: Any) -> Finding:
        from ...falsifier.detection_rate import detection_rate
        from ...falsifier.weakened_assumptions import weakened

        ratio = 1 / search.ratio if search.ratio > 0 else float("inf")
        evidence = f"bound / exact value >= {at_least(ratio)} on {search.admissible} instances of "
        evidence += ", ".join(search.families) + "".join(f"; searched {each.text}" for each in search.visited)
        evidence += f"; {detection_rate(bound.name, self.evaluations)}"
        evidence += f"; {needed_words(search.shares)}" if search.shares else ""
        evidence += "".join(f"; {each.text}" for each in weakened(bound) if each.exact.violated)
        if search.undecided:
            evidence += f"; no machine decides: {'; '.join(search.undecided)}"
        if search.unconfirmed:
            evidence += f"; {search.unconfirmed} violations in floating point were not confirmed by exact arithmetic"
            return Finding(Status.OPEN, Grade.SEARCHED, evidence, as_audited=False)
        if not search.admissible:
            return Finding(Status.OPEN, Grade.SEARCHED, "no instance meets the conditions", as_audited=False)
        return Finding(Status.HOLDS, Grade.SEARCHED, evidence)


UNNEEDED = 1e-12
"""Shares up to this are rounding errors."""


def needed_words(shares: Mapping[str, float]) -> str:
    """Return evidence on each term: the largest share of it that an instance needs, and the terms that none needs.

    A constant is confirmed down to that share: with less of its term the bound would be violated at an instance that
    was visited. If no instance needs a term, its constant could be 0 as far as the instances show.
    """
    needed = [f"{term} {share:.2g}" for term, share in shares.items() if share > UNNEEDED]
    untested = [term for term, share in shares.items() if share <= UNNEEDED]
    parts = [f"largest share needed of each term: {', '.join(needed)}"] if needed else []
    parts += [f"not tested here, as no instance needs it: {', '.join(untested)}"] if untested else []
    return "; ".join(parts)


def _compared(measured: object, bound: object) -> str:
    """Return both sides as evidence, with enough digits to show that they differ."""
    exact, limit = (sp.sympify(str(number), rational=True) for number in (measured, bound))
    digits = next((d for d in (6, 9, 15) if f"{float(exact):.{d}g}" != f"{float(limit):.{d}g}"), 6)
    evidence = f"exact value {float(exact):.{digits}g} against bound {float(limit):.{digits}g}"
    difference = float(exact - limit)
    return f"{evidence} ({difference:+.3g})" if difference and float(exact) == float(limit) else evidence


@dataclass(frozen=True)
class Broken:
    """States ``bound`` and fails by a stored instance that meets its assumptions and violates it.

    The instance is replayed in exact or 50-digit arithmetic. HOLDS means that it does not violate the bound. ``ratio``
    is the audited exact value over the bound.
    """

    bound: str
    witness: str
    ratio: float | None = None

    def __call__(self, book: Book) -> Finding:
        from ...falsifier import defined, load_witness, replay

        witness, bound = load_witness(COUNTEREXAMPLES / self.witness), book[self.bound]
        for equation in witness.definitions:
            bound = defined(bound, book[equation])
        replayed = replay(witness, bound)
        evidence = _compared(replayed.measured, replayed.bound)
        if replayed.differs:
            return Finding(Status.OPEN, Grade.EXACT, f"witness {self.witness}: {replayed.differs[0]}", as_audited=False)
        if replayed.failed:
            conditions = "; ".join(replayed.failed)
            return Finding(Status.OPEN, Grade.EXACT, f"the witness breaks {conditions}", as_audited=False)
        if not replayed.violated:
            return Finding(Status.HOLDS, Grade.EXACT, f"the stored witness does not violate it: {evidence}")
        near = self.ratio is None or isclose(replayed.ratio, self.ratio, rel_tol=1e-6)
        instance = {name: str(number) for name, number in witness.instance.items()}
        evidence += f" ({replayed.arithmetic}); witness {self.witness}"
        return Finding(Status.FAILS, Grade.EXACT, evidence, instance, near)
