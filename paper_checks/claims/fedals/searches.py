"""The falsifier on this paper's bounds: searches that broke none."""

from __future__ import annotations

from ..checkers import Dominates
from ..claim import Claim, Kind


def searched(name: str, bound: str, words: str, place: str, note: str = "") -> Claim:
    """No instance that a search visits violates the statement."""
    return Claim(f"fedals.{name}", words, Kind.THEOREM.at(place), Dominates(bound, evaluations=100), note=note)


CLAIMS: tuple[Claim, ...] = (
    searched(
        "theorem_4_1.search",
        "fedals.one_round",
        "No instance that meets the assumptions of Theorem 4.1 has a larger gap than its bound.",
        "Theorem 4.1, eq. (6)",
        "The bound is met with equality by a single client.",
    ),
    searched(
        "theorem_c1.search",
        "fedals.one_round_inexact",
        "No instance that meets the assumptions of Theorem C.1 has a larger gap than its bound.",
        "Theorem C.1, eq. (38)",
        "It stays twice as large as any gap that is found: see fedals.theorem_c1.identical.",
    ),
    searched(
        "theorem_c1.joined.search",
        "fedals.one_round_inexact_joined",
        "No instance breaks the repaired Theorem C.1.",
        "Theorem C.1, repaired",
        "Ours.",
    ),
    searched(
        "eq_57.search",
        "fedals.rounds_inexact_printed",
        "No instance of one round breaks (57).",
        "proof of Theorem C.2, eq. (57)",
    ),
    searched(
        "eq_57.repaired.search",
        "fedals.rounds_inexact",
        "No instance of one round breaks the smaller bound that proves (57).",
        "proof of Theorem C.2, eq. (57), repaired",
        "Ours.",
    ),
    searched(
        "eq_73.counted.search",
        "fedals.participation_case1_counted",
        "No instance breaks (72) averaged with clients counted once each, as a bound on the out-of-sample gap.",
        "Appendix D, eq. (73), repaired",
        "Ours.",
    ),
)
