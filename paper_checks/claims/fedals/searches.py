"""The falsifier on this paper's bounds: searches that broke none."""

from ..checkers import Dominates
from ..claim import Claim, Kind

CLAIMS = tuple(
    Claim(f"fedals.{name}.search", words, Kind.THEOREM.at(place), Dominates(f"fedals.{bound}", 100), note=note)
    for name, bound, place, words, note in (
        ("theorem_4_1", "one_round", "Theorem 4.1, eq. (6)",
         "No instance that meets the assumptions of Theorem 4.1 has a larger gap than its bound.",
         "The bound is met with equality by a single client."),
        ("theorem_c1", "one_round_inexact", "Theorem C.1, eq. (38)",
         "No instance that meets the assumptions of Theorem C.1 has a larger gap than its bound.",
         "It stays twice as large as any gap that is found: see fedals.theorem_c1.identical."),
        ("theorem_c1.joined", "one_round_inexact_joined", "Theorem C.1, repaired",
         "No instance breaks the repaired Theorem C.1.", "Ours."),
        ("eq_57", "rounds_inexact_printed", "proof of Theorem C.2, eq. (57)",
         "No instance of one round breaks (57).", ""),
        ("eq_57.repaired", "rounds_inexact", "proof of Theorem C.2, eq. (57), repaired",
         "No instance of one round breaks the smaller bound that proves (57).", "Ours."),
        ("eq_73.counted", "participation_case1_counted", "Appendix D, eq. (73), repaired",
         "No instance breaks (72) averaged with clients counted once each, as a bound on the out-of-sample gap.",
         "Ours."),
    )
)  # fmt: skip
