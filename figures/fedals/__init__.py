"""FedALS's figures and tables: consensus by layer, test curves, methods, averaging periods, splits, settings."""

from ..artefact import Artefact, no_runs
from ..drawing import Axis, curve_drawing

CURVES = "over rounds, non-iid and iid"
ENTRIES = {
    "figure_1": Artefact(
        "consensus distance by layer over rounds", "figures.layers", "figures.draw_layers", reads="grid.figure_1_cells"
    ),
    "figure_2": Artefact(
        f"test accuracy {CURVES}", ("figures.over_rounds", "SVHN"),
        curve_drawing(Axis("round"), Axis("test accuracy (%)"), shared=True),
    ),
    "figure_3": Artefact(
        f"test loss {CURVES}", ("figures.over_rounds", "MultiNLI"),
        curve_drawing(Axis("round"), Axis("test loss"), shared=True),
    ),
    "table_1": Artefact("four methods, iid and non-iid", "tables.methods"),
    "table_2": Artefact("accuracy and communication for several alpha", "tables.periods"),
    "table_3": Artefact("accuracy by the split into extractor and head", "tables.splits"),
    "table_4": Artefact("settings of image classification", ("tables.settings", False), reads="tables.searches"),
    "table_5": Artefact("settings of the language model", ("tables.settings", True), reads=no_runs),
}  # fmt: skip
