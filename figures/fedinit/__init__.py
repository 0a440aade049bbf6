"""FedInit's figures and tables: seven methods in eight setups, relaxation and local interval, settings, times."""

from ..artefact import Artefact, functions_of, no_runs
from ..drawing import ACCURACY, Axis, curve_drawing

lazy = functions_of(__name__)


def of_methods(data: str, quantity: str, words: str) -> Artefact:
    """Return one of Figures 2 to 5: a quantity of seven methods over rounds."""
    title = f"{words.removesuffix(' (%)')} of seven methods over rounds, {data}"
    draw = curve_drawing(Axis("round"), Axis(words))
    return Artefact(title, lazy("figures.methods", data, quantity), draw, "fedinit.table_1")


def of_betas(method: str) -> Artefact:
    """Return one of Figures 6 and 7: divergence and accuracy of a method over rounds for several beta."""
    title = f"divergence and accuracy of {method} over rounds for several beta"
    return Artefact(title, lazy("figures.several_betas", method), curve_drawing(Axis("round"), Axis("")))


ENTRIES = {
    "figure_1a": Artefact(
        "accuracy against the local interval K", lazy("figures.over_intervals"), lazy("figures.draw_intervals")
    ),
    "figure_1b": Artefact(
        "accuracy against the relaxation beta", lazy("figures.over_betas"),
        curve_drawing(Axis("relaxation beta"), Axis(ACCURACY), points=True), "fedinit.table_3",
    ),
    "figure_2": of_methods("CIFAR-10", "test_loss", "test loss"),
    "figure_3": of_methods("CIFAR-10", "test_accuracy", ACCURACY),
    "figure_4": of_methods("CIFAR-100", "test_loss", "test loss"),
    "figure_5": of_methods("CIFAR-100", "test_accuracy", ACCURACY),
    "figure_6": of_betas("FedAvg"),
    "figure_7": of_betas("SCAFFOLD"),
    "table_1": Artefact("test accuracy of seven methods", lazy("tables.methods")),
    "table_2": Artefact("what the relaxed start adds to each method", lazy("tables.starts")),
    "table_3": Artefact("accuracy and divergence for several beta", lazy("tables.betas")),
    "table_6": Artefact("shared hyperparameters", lazy("listing.hyperparameters"), reads=no_runs),
    "table_7": Artefact("coefficients of single methods", lazy("listing.coefficients"), reads=no_runs),
    "table_8": Artefact("costs of a round", lazy("listing.costs_of_a_round"), reads=no_runs),
    "table_9": Artefact("hardware", lazy("listing.hardware")),
    "table_10": Artefact("seconds per round", lazy("times.seconds_per_round")),
    "table_11": Artefact("rounds and seconds to a target accuracy", lazy("times.until_target")),
}  # fmt: skip
