"""FedALS's figures and tables: consensus by layer, test curves, methods, averaging periods, splits, settings."""

from ..artefact import Artefact, functions_of, no_runs
from ..drawing import ACCURACY, Axis, curve_drawing

lazy = functions_of(__name__)
CURVES = "over rounds, non-iid and iid"
ENTRIES = {
    "figure_1": Artefact(
        "consensus distance by layer over rounds", lazy("figures.layers"), lazy("figures.draw_layers"),
        reads=lazy("grid.figure_1_cells"),
    ),
    "figure_2": Artefact(
        f"test accuracy {CURVES}", lazy("figures.over_rounds", "SVHN"),
        curve_drawing(Axis("round"), Axis(ACCURACY), shared=True),
    ),
    "figure_3": Artefact(
        f"test loss {CURVES}", lazy("figures.over_rounds", "MultiNLI"),
        curve_drawing(Axis("round"), Axis("test loss"), shared=True),
    ),
    "table_1": Artefact("four methods, iid and non-iid", lazy("tables.methods")),
    "table_2": Artefact("accuracy and communication for several alpha", lazy("tables.periods")),
    "table_3": Artefact("accuracy by the split into extractor and head", lazy("tables.splits")),
    "table_4": Artefact(
        "settings of image classification", lazy("tables.settings", False), reads=lazy("tables.searches")
    ),
    "table_5": Artefact("settings of the language model", lazy("tables.settings", True), reads=no_runs),
}  # fmt: skip
