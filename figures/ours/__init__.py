"""Figures that no paper has: every bound beside what exact and sampled runs give, and where it says anything."""

from typing import Any

from ..artefact import Artefact, functions_of, no_runs

lazy = functions_of(__name__)
QUADRATICS, DATA = "quadratics", "data"
BESIDE = "beside exact values and measurements"


def _theorems(paper: str, short: str, *sides: str) -> Artefact:
    """Return the figure of a paper's theorems on these kinds of problems."""
    where = f" on {sides[0]}" if len(sides) == 1 else ""
    title, data = f"the theorems of {short} {BESIDE}{where}", lazy("theorems.of_paper", paper, sides)
    return Artefact(title, data, lazy("theorems.draw"))


def _module(title: str, name: str, **more: Any) -> Artefact:
    """Return the figure that a module computes by its ``data`` and draws by its ``draw``."""
    return Artefact(title, lazy(f"{name}.data"), lazy(f"{name}.draw"), **more)


ENTRIES = {
    "theorems_fedals": Artefact(f"the theorems of FedALS {BESIDE}", lazy("theorems.of_fedals"), lazy("theorems.draw")),
    "theorems_fedinit": _theorems("fedinit", "FedInit", QUADRATICS),
    "theorems_fedinit_data": _theorems("fedinit", "FedInit", DATA),
    "theorems_decaying_k": _theorems("decaying_k", "Decaying-K", QUADRATICS, DATA),
    "theorems_fedcog": _theorems("fedcog", "FedCOG", QUADRATICS, DATA),
    "local_steps": _module("local steps: printed, derived and best", "local_steps"),
    "gap_slopes": _module("generalization gap against the number of identical clients", "gap_slopes"),
    "relaxation": _module("divergence against the relaxation", "relaxation"),
    "vacuity": _module("where each theorem is informative", "vacuity", reads=no_runs),
    "tightness": Artefact(
        "bound over value, every bound and every run", lazy("ratios.over_runs"), lazy("ratios.draw_runs")
    ),
    "worst_cases": Artefact(
        "bound over exact worst case", lazy("ratios.over_worst_cases"), lazy("ratios.draw_worst_cases"), reads=no_runs
    ),
    "rates": _module("certified rates of six methods and their floors", "rates", reads=no_runs),
}
