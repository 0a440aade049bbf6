"""The falsifier on this paper's bounds: stored instances that break one, and searches that broke none."""

from __future__ import annotations

from bounds.papers import Source

from ..checkers import Broken, Dominates
from ..claims import Claim, Kind, Status
from .common import of


def broken(name: str, bound: str, words: str, source: Source, note: str) -> Claim:
    """A stored instance meets what the statement asks for and violates it."""
    return Claim(f"fedals.{name}", words, source, Kind.THEOREM, Broken(bound, f"{bound}.json"), Status.FAILS, note=note)


def searched(name: str, bound: str, words: str, source: Source, note: str = "") -> Claim:
    """No instance that a search visits violates the statement."""
    return Claim(
        f"fedals.{name}", words, source, Kind.THEOREM, Dominates(bound, evaluations=100), Status.HOLDS, note=note
    )


CLAIMS: tuple[Claim, ...] = (
    searched(
        "theorem_4_1.search",
        "fedals.one_round",
        "No instance that meets the assumptions of Theorem 4.1 has a larger gap than its bound.",
        of("Theorem 4.1, eq. (6)"),
        "The bound is met with equality by a single client.",
    ),
    searched(
        "theorem_c1.search",
        "fedals.one_round_inexact",
        "No instance that meets the assumptions of Theorem C.1 has a larger gap than its bound.",
        of("Theorem C.1, eq. (38)"),
        "It stays twice as large as any gap that is found: see fedals.theorem_c1.identical.",
    ),
    searched(
        "theorem_c1.joined.search",
        "fedals.one_round_inexact_joined",
        "No instance breaks the repaired Theorem C.1.",
        of("Theorem C.1, repaired"),
        "Ours.",
    ),
    searched(
        "eq_57.search",
        "fedals.rounds_inexact_printed",
        "No instance of one round breaks (57).",
        of("proof of Theorem C.2, eq. (57)"),
    ),
    searched(
        "eq_57.repaired.search",
        "fedals.rounds_inexact",
        "No instance of one round breaks the smaller bound that proves (57).",
        of("proof of Theorem C.2, eq. (57), repaired"),
        "Ours.",
    ),
    searched(
        "eq_73.counted.search",
        "fedals.participation_case1_counted",
        "No instance breaks (72) averaged with clients counted once each, as a bound on the out-of-sample gap.",
        of("Appendix D, eq. (73), repaired"),
        "Ours.",
    ),
    broken(
        "discussion.one_over_k_squared.witness",
        "fedals.one_round_iid_claimed",
        "The first term of (6) alone bounds the gap of identically distributed clients.",
        of("Section 4.1, Discussion"),
        "Two clients with one sample each, 1 or -1 with equal odds: the gap is twice the bound.",
    ),
    broken(
        "eq_73.witness",
        "fedals.participation_case1",
        "(73) bounds the gap (61) when participants are drawn with replacement.",
        of("Appendix D, eq. (73)"),
        "See also fedals.eq_73.bound, where the bound is zero, and fedals.eq_73.out_of_sample.",
    ),
    broken(
        "eq_74.witness",
        "fedals.participation_case2",
        "(74) bounds the gap (61) when participants are drawn without replacement.",
        of("Appendix D, eq. (74)"),
        "See also fedals.eq_74.bound, where the bound is zero.",
    ),
    broken(
        "eq_71.witness",
        "fedals.participation_gap",
        "The participation gap of an averaged model is zero in expectation.",
        of("Appendix D, eq. (71)"),
        "See also fedals.eq_71.",
    ),
)
