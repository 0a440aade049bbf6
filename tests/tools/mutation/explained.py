"""Survivors that are no holes, by the beginning of their name, each with the reason."""

from __future__ import annotations

# FedCOG: at the edge of eta L <= 1/(2 tau), A = (tau - 1)/(2 tau), which the claim fedcog.eq_64 shows.
IMPLIED = "implied by the condition eta L <= 1/(2 tau) beside it, under which A < 1/2"

POWERS = "All.checks: power of {}: Same.left: At.put: {}: sign turned"
REAL = "powers of a negative number are real only where they lose the sign, and looked at there alone"

EXPLAINED: dict[str, str] = {
    "fedcog.theorem.sharp | All.checks: limit: EdgeIs.edge: exponent of 1/local_steps": "for more than one local step "
    "1/(tau L) is the larger of the two caps",
    f"fedinit.theorem_3.order | {POWERS.format('T', 'rounds')}": REAL,
    f"fedinit.theorem_3.order | {POWERS.format('K', 'local_steps')}": REAL,
    "fedcog.descent_with_drift | condition 'drift does not feed itself: A < 1'": IMPLIED,
    "fedcog.descent_one_round | condition 'drift does not feed itself: A < 1'": IMPLIED,
}

PATTERNS: dict[str, str] = {
    r"MeasuredIn\.mixed: turned": "only says how a formula fails that adds different units",
    r"MeasuredIn\.\w+: .*(doubled|sign turned)": "pure numbers carry no unit",
    r"OrderIs\.order: .*(doubled|sign turned|constant)": "constants do not change an order",
    r"MonotoneIn\.of: .*(doubled|squared)": "an increasing change of the argument keeps the direction",
    r"ArgminIs\.of: doubled": "a factor does not move a minimum",
    r"Informative\.(trivial|bound): ": "the verdict has room: a bound stays below, or above, another trivial value too",
    r"ImpliedBy\.(smaller|larger): ": "the inequality has room, or the error makes it weaker, or leaves it false",
    r"Prints\.(printed|computed): ": "two units of the last digit are within what rounding of the other number hides",
    r"Refuted\.check: ": "the inner statement stays false",
    r"Same\.\w+: At\.put: .*sign turned": "the quantity enters squared",
    r"At\.put: minibatch_time": "the sentence is that this quantity does not matter",
    r"OrderIs\.(of: At\.put|order): ": "an order in one quantity does not see the others, or only has to be reached",
    r"MonotoneIn\.(up: turned|of: At\.)": "there is no such dependence in either direction, or the error keeps it",
    r"MeasuredIn\.of: exponent of 1/local_steps": "counts carry no unit",
}
"""Errors in checks that leave the statement as it is or weaker, by what their name contains."""
