"""FedALS's figures and tables: consensus by layer, test curves, methods, averaging periods, splits, settings."""

from ..artefact import Entry, no_runs
from ..drawing import Axis, curve_drawing

CURVES = "over rounds, non-iid and iid"
ENTRIES = {
    "figure_1": Entry(
        "consensus distance by layer over rounds", "figures.layers", "figures.draw_layers", reads="grid.figure_1_cells"
    ),
    "figure_2": Entry(
        f"test accuracy {CURVES}", ("figures.over_rounds", "SVHN"),
        curve_drawing(Axis("round"), Axis("test accuracy (%)"), shared=True),
    ),
    "figure_3": Entry(
        f"test loss {CURVES}", ("figures.over_rounds", "MultiNLI"),
        curve_drawing(Axis("round"), Axis("test loss"), shared=True),
    ),
    "table_1": Entry("four methods, iid and non-iid", "tables.methods"),
    "table_2": Entry("accuracy and communication for several alpha", "tables.periods"),
    "table_3": Entry("accuracy by the split into extractor and head", "tables.splits"),
    "table_4": Entry("settings of image classification", ("tables.settings", False), reads="tables.searches"),
    "table_5": Entry("settings of the language model", ("tables.settings", True), reads=no_runs),
}  # fmt: skip
