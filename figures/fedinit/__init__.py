"""FedInit's figures and tables: seven methods in eight setups, relaxation and local interval, settings, times."""

from ..artefact import Artefact, no_runs
from ..drawing import Axis, curve_drawing

ACCURACY, ROUNDS = "test accuracy (%)", Axis("round")
METHODS, BETAS = "of seven methods over rounds", "over rounds for several beta"
ENTRIES = {
    "figure_1a": Artefact(
        "accuracy against the local interval K", "figures.over_intervals", "figures.draw_intervals"
    ),
    "figure_1b": Artefact(
        "accuracy against the relaxation beta", "figures.over_betas",
        curve_drawing(Axis("relaxation beta"), Axis(ACCURACY), points=True), "fedinit.table_3",
    ),
    **{
        f"figure_{number}": Artefact(
            f"{words.removesuffix(' (%)')} {METHODS}, {data}", ("figures.methods", data, quantity),
            curve_drawing(ROUNDS, Axis(words)), "fedinit.table_1",
        )
        for number, data, quantity, words in (
            (2, "CIFAR-10", "test_loss", "test loss"), (3, "CIFAR-10", "test_accuracy", ACCURACY),
            (4, "CIFAR-100", "test_loss", "test loss"), (5, "CIFAR-100", "test_accuracy", ACCURACY),
        )
    },
    "figure_6": Artefact(
        f"divergence and accuracy of FedAvg {BETAS}", ("figures.several_betas", "FedAvg"),
        curve_drawing(ROUNDS, Axis("")),
    ),
    "figure_7": Artefact(
        f"divergence and accuracy of SCAFFOLD {BETAS}", ("figures.several_betas", "SCAFFOLD"),
        curve_drawing(ROUNDS, Axis("")),
    ),
    "table_1": Artefact("test accuracy of seven methods", "tables.methods"),
    "table_2": Artefact("what the relaxed start adds to each method", "tables.starts"),
    "table_3": Artefact("accuracy and divergence for several beta", "tables.betas"),
    "table_6": Artefact("shared hyperparameters", "listing.hyperparameters", reads=no_runs),
    "table_7": Artefact("coefficients of single methods", "listing.coefficients", reads=no_runs),
    "table_8": Artefact("costs of a round", "listing.costs_of_a_round", reads=no_runs),
    "table_9": Artefact("hardware", "listing.hardware"),
    "table_10": Artefact("seconds per round", "times.seconds_per_round"),
    "table_11": Artefact("rounds and seconds to a target accuracy", "times.until_target"),
}  # fmt: skip
