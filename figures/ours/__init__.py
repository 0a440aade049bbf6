"""Figures that no paper has: every bound beside what exact and sampled runs give, and where it says anything."""

from ..artefact import Artefact, no_runs

QUADRATICS, DATA = "quadratics", "data"
BESIDE = "beside exact values and measurements"


def _theorems(paper: str, short: str, *sides: str) -> Artefact:
    """Return the figure of a paper's theorems on these kinds of problems."""
    where = f" on {sides[0]}" if len(sides) == 1 else ""
    return Artefact(f"the theorems of {short} {BESIDE}{where}", ("theorems.of_paper", paper, sides), "theorems.draw")


ENTRIES = {
    "theorems_fedals": Artefact(f"the theorems of FedALS {BESIDE}", "theorems.of_fedals", "theorems.draw"),
    "theorems_fedinit": _theorems("fedinit", "FedInit", QUADRATICS),
    "theorems_fedinit_data": _theorems("fedinit", "FedInit", DATA),
    "theorems_decaying_k": _theorems("decaying_k", "Decaying-K", QUADRATICS, DATA),
    "theorems_fedcog": _theorems("fedcog", "FedCOG", QUADRATICS, DATA),
    "local_steps": Artefact("local steps: printed, derived and best", "local_steps.data", "local_steps.draw"),
    "gap_slopes": Artefact(
        "generalization gap against the number of identical clients", "gap_slopes.data", "gap_slopes.draw"
    ),
    "relaxation": Artefact("divergence against the relaxation", "relaxation.data", "relaxation.draw"),
    "vacuity": Artefact("where each theorem is informative", "vacuity.data", "vacuity.draw", reads=no_runs),
    "tightness": Artefact("bound over value, every bound and every run", "ratios.over_runs", "ratios.draw_runs"),
    "worst_cases": Artefact(
        "bound over exact worst case", "ratios.over_worst_cases", "ratios.draw_worst_cases", reads=no_runs
    ),
    "rates": Artefact("certified rates of six methods and their floors", "rates.data", "rates.draw", reads=no_runs),
}
