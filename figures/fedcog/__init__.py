"""FedCOG: Tables 1 to 11 and Figures 2 to 6, from one grid of runs that share their rounds of FedAvg."""

from ..artefact import Artefact, functions_of, no_runs
from ..drawing import ACCURACY, Axis, curve_drawing

lazy = functions_of(__name__)
ENTRIES = {
    "figure_2": Artefact(
        "local models after one round", lazy("figures.local_models"), lazy("figures.draw_local_models")
    ),
    "figure_3": Artefact(
        "heterogeneity and weights", lazy("figures.weights"),
        curve_drawing(Axis("", log=True), Axis(ACCURACY), points=True, named_axes=True),
    ),
    "figure_4": Artefact("who holds what", lazy("figures.holdings"), lazy("figures.draw_holdings")),
    "figure_5": Artefact("generated images", lazy("figures.images"), lazy("figures.draw_images")),
    "figure_6": Artefact(
        "accuracy over rounds", lazy("figures.over_rounds"), curve_drawing(Axis("round"), Axis(ACCURACY))
    ),
    "table_1": Artefact("test accuracy of all methods", lazy("tables.all_methods")),
    "table_2": Artefact("multi-label scores on FLAIR", lazy("tables.flair"), reads=no_runs),
    "table_3": Artefact("methods with FedCOG on top", lazy("tables.plugged")),
    "table_4": Artefact("cost and effect of one round", lazy("tables.cost_and_effect")),
    "table_5": Artefact("parts of the method", lazy("tables.parts")),
    "table_6": Artefact("number of local steps", lazy("tables.swept", "6")),
    "table_7": Artefact("participation", lazy("tables.swept", "7")),
    "table_8": Artefact("number of clients", lazy("tables.swept", "8")),
    "table_9": Artefact("personalised models", lazy("tables.personal")),
    "table_10": Artefact("number of generation steps", lazy("tables.generation_steps")),
    "table_11": Artefact("time of generation", lazy("tables.time_of_generation")),
}  # fmt: skip
