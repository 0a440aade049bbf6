"""The figures and tables of Decaying-K: eight schedules of local steps and step size, compared in the same time."""

from ..artefact import Artefact, no_runs
from ..drawing import Axis

LOSS, ACCURACY = Axis("training loss", log=True), Axis("test accuracy (%)")
ENTRIES = {
    "figure_1": Artefact(
        "smallest training loss against simulated time", ("figures.data", "train_loss"), ("figures.draw", LOSS)
    ),
    "figure_2": Artefact(
        "largest test accuracy against simulated time", ("figures.data", "test_accuracy"), ("figures.draw", ACCURACY),
        "decaying_k.figure_1",
    ),
    "table_1": Artefact("tasks and settings", "tables.settings", reads=no_runs),
    "table_2": Artefact("seconds per SGD step", "tables.times"),
    "table_3": Artefact("the eight schedules", "tables.schedules", reads=no_runs),
    "table_4": Artefact("SGD steps relative to Kη-fixed", "tables.steps"),
}  # fmt: skip
