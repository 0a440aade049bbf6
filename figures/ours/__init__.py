"""Figures that no paper has: every bound beside what exact and sampled runs give, and where it says anything."""

from ..artefact import Artefact, functions_of, no_runs

lazy = functions_of(__name__)
QUADRATICS, DATA = "quadratics", "data"
BESIDE = "beside exact values and measurements"


def _theorems(paper: str, short: str, *sides: str) -> Artefact:
    """Return the figure of a paper's theorems on these kinds of problems."""
    where = f" on {sides[0]}" if len(sides) == 1 else ""
    title, data = f"the theorems of {short} {BESIDE}{where}", lazy("theorems.of_paper", paper, sides)
    return Artefact(title, data, lazy("theorems.draw"))


ENTRIES = {
    "theorems_fedals": Artefact(f"the theorems of FedALS {BESIDE}", lazy("theorems.of_fedals"), lazy("theorems.draw")),
    "theorems_fedinit": _theorems("fedinit", "FedInit", QUADRATICS),
    "theorems_fedinit_data": _theorems("fedinit", "FedInit", DATA),
    "theorems_decaying_k": _theorems("decaying_k", "Decaying-K", QUADRATICS, DATA),
    "theorems_fedcog": _theorems("fedcog", "FedCOG", QUADRATICS, DATA),
    "local_steps": Artefact(
        "local steps: printed, derived and best", lazy("local_steps.data"), lazy("local_steps.draw")
    ),
    "gap_slopes": Artefact(
        "generalization gap against the number of identical clients", lazy("gap_slopes.data"), lazy("gap_slopes.draw")
    ),
    "relaxation": Artefact("divergence against the relaxation", lazy("relaxation.data"), lazy("relaxation.draw")),
    "vacuity": Artefact("where each theorem is informative", lazy("vacuity.data"), lazy("vacuity.draw"), reads=no_runs),
    "tightness": Artefact(
        "bound over value, every bound and every run", lazy("ratios.over_runs"), lazy("ratios.draw_runs")
    ),
    "worst_cases": Artefact(
        "bound over exact worst case", lazy("ratios.over_worst_cases"), lazy("ratios.draw_worst_cases"), reads=no_runs
    ),
    "rates": Artefact(
        "certified rates of six methods and their floors", lazy("rates.data"), lazy("rates.draw"), reads=no_runs
    ),
}
