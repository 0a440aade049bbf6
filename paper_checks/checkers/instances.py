"""Checkers on instances: exact worst ratios over a family, and stored witnesses that are replayed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..claims import Book, Finding, Grade, Status

WITNESSES = Path(__file__).resolve().parents[1] / "witnesses"


@dataclass(frozen=True)
class Dominates:
    """``bound`` is at least the exact value of its target on every admissible instance that a search visits.

    The search maximises exact / bound over the families that serve the bound; nothing is sampled. A violation is final;
    a HOLDS says how near the search came and how many instances it tried. ``least`` is the audited smallest
    bound / exact ratio of this very search: a bound that has become looser or tighter than it shows a changed formula.
    """

    bound: str
    evaluations: int = 200
    seed: int = 0
    least: float | None = None

    def __call__(self, book: Book) -> Finding:
        from ..falsifier import falsify

        search = falsify(book[self.bound], evaluations=self.evaluations, seed=self.seed)
        if search.witness is not None:
            return Finding(Status.FAILS, Grade.EXACT, f"violated: {search.witness.summary}", search.witness.parameters)
        ratio = 1 / search.ratio
        said = f"bound / exact value >= {ratio:.4g} on {search.evaluations} instances of {search.family}"
        if search.undecided:
            said += f"; no machine decides: {'; '.join(search.undecided)}"
        near = self.least is None or abs(ratio / self.least - 1) < 0.01
        return Finding(Status.HOLDS, Grade.EXACT, said, as_audited=near)


@dataclass(frozen=True)
class Broken:
    """A stored instance meets every assumption of ``bound`` and violates it: replayed in exact or 50-digit arithmetic.

    HOLDS would mean that the witness does not violate the bound: the claim is then not refuted by it.
    """

    bound: str
    witness: str
    ratio: float | None = None

    def __call__(self, book: Book) -> Finding:
        from ..falsifier import load_witness, replay

        witness: Any = load_witness(WITNESSES / self.witness)
        seen = replay(witness, book[self.bound])
        said = f"exact value {float(seen.measured):.6g} against bound {float(seen.bound):.6g}"
        if not seen.violated:
            return Finding(Status.HOLDS, Grade.EXACT, f"the stored witness does not violate it: {said}")
        found = float(seen.measured / seen.bound) if seen.bound > 0 else float("inf")
        near = self.ratio is None or abs(found / self.ratio - 1) < 1e-6 or found == self.ratio
        evidence = f"{said} ({seen.digits}); witness {self.witness}"
        return Finding(Status.FAILS, Grade.EXACT, evidence, witness.parameters, near)
