"""Every explicit statement against exact runs: no instance that a search visits violates it, in the readings meant."""

from __future__ import annotations

from dataclasses import replace

from bounds.core import About

from ..checkers import All, Computed, Dominates
from ..checkers.instances import Dominates as Search
from ..claim import Book, Claim, Finding, Kind


def _in_reading(name: str, reading: str, evaluations: int = 100) -> Computed:
    """The search of ``Dominates`` with the statement taken to be about another reading of Algorithm 1."""

    def run(book: Book) -> Finding:
        bound = replace(book[name], about=About("fedinit", reading))
        return Search(name, evaluations)(Book({name: bound}))

    return Computed(f"searches runs of FedInit in the reading '{reading}'", run)


def _claim(name: str, words: str, where: str, *, readings: tuple[str, ...] = (), note: str = "") -> Claim:
    """That a statement dominates the exact value in its own reading and in others."""
    check = Dominates(f"fedinit.{name}", evaluations=100)
    others = {f"reading {r}": _in_reading(f"fedinit.{name}", r) for r in readings}
    return Claim(
        f"fedinit.{name}.dominates",
        words,
        Kind.THEOREM.at(where),
        All({"own reading": check, **others}) if others else check,
        note=note,
    )


READINGS = ("code", "proof")
LOOSE = "What the proof loses on the way is far more than what its questionable steps take."

CLAIMS: tuple[Claim, ...] = (
    _claim("lemma_2", "Lemma 2 bounds the exact local drift.", "Lemma 2, eq. (24)"),
    _claim("lemma_3", "Lemma 3 bounds the exact step of the server model.", "Lemma 3, eq. (25)", note=LOOSE),
    _claim("lemma_4_recursion", "Lemma 4's recursion bounds the exact divergence.", "Lemma 4, proof", note=LOOSE),
    _claim("lemma_4", "Lemma 4 holds in every round.", "Lemma 4, eq. (26)", note=LOOSE),
    _claim("descent", "The descent inequality holds in every round.", "Appendix A.2.2, last display", note=LOOSE),
    _claim(
        "theorem_1",
        "Theorem 1 bounds the exact mean squared gradient, whichever way Algorithm 1 is read.",
        "Theorem 1, eq. (9)",
        readings=READINGS,
        note=LOOSE,
    ),
    _claim(
        "theorem_2",
        "Theorem 2 bounds the exact loss gap, whichever way Algorithm 1 is read.",
        "Theorem 2, eq. (11)",
        readings=READINGS,
        note="Tight as the step size vanishes, where exp(-lambda mu eta K T) D is all there is.",
    ),
    _claim("theorem_4_recursion", "Theorem 4's recursion bounds the exact divergence.", "Appendix A.2.5", note=LOOSE),
    _claim("theorem_4_before", "The mean divergence is covered by the exact gradients.", "Appendix A.2.5", note=LOOSE),
    _claim("theorem_4", "Theorem 4 bounds the exact mean divergence.", "Theorem 4, eq. (16)", readings=("intended",)),
    _claim("theorem_5", "Theorem 5 bounds the exact last divergence.", "Theorem 5, eq. (17)", readings=("intended",)),
    _claim(
        "theorem_2_potential",
        "Theorem 2 as repaired by a potential bounds the exact loss gap.",
        "Theorem 2, eq. (11), repaired",
    ),
    _claim(
        "theorem_5_geometric",
        "Theorem 5 as repaired by the geometric sum bounds the exact last divergence.",
        "Theorem 5, proof, repaired",
    ),
)
