"""The figures and tables of Decaying-K: eight schedules of local steps and step size, compared in the same time."""

from ..artefact import Entry, no_runs
from ..drawing import Axis

LOSS, ACCURACY = Axis("training loss", log=True), Axis("test accuracy (%)")
ENTRIES = {
    "figure_1": Entry(
        "smallest training loss against simulated time", ("figures.data", "train_loss"), ("figures.draw", LOSS)
    ),
    "figure_2": Entry(
        "largest test accuracy against simulated time", ("figures.data", "test_accuracy"), ("figures.draw", ACCURACY),
        "decaying_k.figure_1",
    ),
    "table_1": Entry("tasks and settings", "tables.settings", reads=no_runs),
    "table_2": Entry("seconds per SGD step", "tables.times"),
    "table_3": Entry("the eight schedules", "tables.schedules", reads=no_runs),
    "table_4": Entry("SGD steps relative to Kη-fixed", "tables.steps"),
}  # fmt: skip
