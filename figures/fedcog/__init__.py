"""FedCOG: Tables 1 to 11 and Figures 2 to 6, from one grid of runs that share their rounds of FedAvg."""

from ..artefact import Artefact, no_runs
from ..drawing import Axis, curve_drawing

ACCURACY = Axis("test accuracy (%)")
ENTRIES = {
    "figure_2": Artefact("local models after one round", "figures.local_models", "figures.draw_local_models"),
    "figure_3": Artefact(
        "heterogeneity and weights", "figures.weights",
        curve_drawing(Axis("", log=True), ACCURACY, points=True, named_axes=True),
    ),
    "figure_4": Artefact("who holds what", "figures.holdings", "figures.draw_holdings"),
    "figure_5": Artefact("generated images", "figures.images", "figures.draw_images"),
    "figure_6": Artefact(
        "accuracy over rounds", "figures.over_rounds", curve_drawing(Axis("round"), ACCURACY)
    ),
    "table_1": Artefact("test accuracy of all methods", "tables.all_methods"),
    "table_2": Artefact("multi-label scores on FLAIR", "tables.flair", reads=no_runs),
    "table_3": Artefact("methods with FedCOG on top", "tables.plugged"),
    "table_4": Artefact("cost and effect of one round", "tables.cost_and_effect"),
    "table_5": Artefact("parts of the method", "tables.parts"),
    "table_6": Artefact("number of local steps", ("tables.swept", "6")),
    "table_7": Artefact("participation", ("tables.swept", "7")),
    "table_8": Artefact("number of clients", ("tables.swept", "8")),
    "table_9": Artefact("personalised models", "tables.personal"),
    "table_10": Artefact("number of generation steps", "tables.generation_steps"),
    "table_11": Artefact("time of generation", "tables.time_of_generation"),
}  # fmt: skip
