"""The falsifier on this paper's bounds: searches that broke none."""

from ..checkers import Dominates
from ..claim import Claim, Kind

CONVEX = "whose loss is convex in the parameters, with minimisers without a gradient and independent clients"
CLAIMS = tuple(
    Claim(
        f"fedals.{name}.search", f"No instance {CONVEX}, breaks {what}.", Kind.THEOREM.at(place),
        Dominates(f"fedals.{bound}"), note=note, ours=bound != "one_round",
    )
    for name, bound, place, what, note in (
        ("theorem_4_1", "one_round", "Theorem 4.1, eq. (6)", "Theorem 4.1",
         "The bound is met with equality by a single client. In other readings it breaks: "
         "fedals.theorem_4_1.conditions, fedals.theorem_4_1.boundary."),
        ("theorem_c1.joined", "one_round_inexact_joined", "Theorem C.1, eq. (38), repaired",
         "the repaired Theorem C.1, nor (38), which is larger", ""),
        ("theorem_4_1.sharp", "one_round_sharp", "Theorem 4.1, eq. (6), with the best constant",
         "Theorem 4.1 with the smaller constant", ""),
        ("theorem_c1.sharp", "one_round_inexact_sharp", "Theorem C.1, eq. (38), with smaller constants",
         "Theorem C.1 with the smaller constants", ""),
        ("eq_57.repaired", "rounds_inexact", "proof of Theorem C.2, eq. (57), repaired",
         "in one round the smaller bound that proves (57), nor (57) itself", ""),
        ("eq_73.counted", "participation_case1_counted", "Appendix D, eq. (73), repaired",
         "(72), averaged with clients counted once each, as a bound on the out-of-sample gap of a cohort of one",
         "Little is shown by it: the averaged model is then a client's own, the non-iidness zero, and L/mu times a "
         "local gap is compared with that gap. Larger cohorts do not meet the condition that non-iidness be the same "
         "whoever joins: fedals.eq_73.noise does without it."),
    )
)  # fmt: skip
