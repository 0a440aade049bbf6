"""The figures and tables of Decaying-K: eight schedules of local steps and step size, compared in the same time."""

from ..artefact import Artefact, functions_of, no_runs
from ..drawing import ACCURACY, Axis

lazy = functions_of(__name__)
ENTRIES = {
    "figure_1": Artefact(
        "smallest training loss against simulated time", lazy("figures.data", "train_loss"),
        lazy("figures.draw", Axis("training loss", log=True)),
    ),
    "figure_2": Artefact(
        "largest test accuracy against simulated time", lazy("figures.data", "test_accuracy"),
        lazy("figures.draw", Axis(ACCURACY)), "decaying_k.figure_1",
    ),
    "table_1": Artefact("tasks and settings", lazy("tables.settings"), reads=no_runs),
    "table_2": Artefact("seconds per SGD step", lazy("tables.times")),
    "table_3": Artefact("the eight schedules", lazy("tables.schedules"), reads=no_runs),
    "table_4": Artefact("SGD steps relative to Kη-fixed", lazy("tables.steps")),
}  # fmt: skip
