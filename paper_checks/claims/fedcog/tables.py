"""Tables 1 to 10: averages, best methods, gains, and results of one setting that differ between tables."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from statistics import harmonic_mean

from ...reported import Reported, table
from ..checkers import exact, Mean, mean, noise, Prints
from ..checkers.tables import Cell, half_unit


def cells(number: int) -> dict[str, Reported]:
    """Return the numbers of a table by 'row, column'. Only Tables 1 and 4 print deviations, without numbers of runs."""
    return {f"{row}, {column}": cell for (row, column), cell in table("fedcog", str(number)).items() if cell.value}


CELLS = {number: cells(number) for number in range(1, 12)}
ONE, TWO, THREE = CELLS[1], CELLS[2], CELLS[3]
PLUGGED = ("FedAvg", "FedAvgM", "FedProx", "SCAFFOLD", "MOON")
DATA, KINDS = ("Fashion-MNIST", "CIFAR-10", "CIFAR-100"), ("NIID-1", "NIID-2")
GAINS = {
    f"{data} {kind}": mean(ONE[f"FedCOG, {data} {kind}"]).less(mean(ONE[f"FedAvg, {data} {kind}"]))
    for data in DATA
    for kind in KINDS
}


def _averaged(kind: str) -> Mean:
    """Return the mean gain over the data sets, with its deviations."""
    gains = [GAINS[f"{data} {kind}"] for data in DATA]
    total = sum((gain.value for gain in gains), Fraction(0))
    return Mean(total / len(DATA), tuple(d / len(DATA) for gain in gains for d in gain.deviations))


SCORED = [key.removesuffix(", C-F1") for key in TWO if key.endswith("C-F1")]
F1_LIMIT = {f"{row}, F1": TWO[f"{row}, C-F1"].value for row in SCORED}
F1_LIMIT |= {
    f"{row}, limit": repr(harmonic_mean(float(TWO[f"{row}, {c}"].value) for c in ("C-P", "C-R"))) for row in SCORED
}
ADDED = {
    f"{row}, {m}": mean(THREE[f"{row}, {m} with FedCOG"]).less(mean(THREE[f"{row}, {m} without FedCOG"]))
    for row in ("CIFAR-10-1", "CIFAR-10-2")
    for m in PLUGGED
}

FULL = CELLS[5]["④ Gen. from GM&LM / Soft, NIID-1"].value
SAME_SETTING = {"FedCOG, Table 5": FULL} | {
    f"{method}, Table {n}": CELLS[n][f"{method}, {column}"].value
    for method in ("FedCOG", "FedAvg", "FedProx", "MOON")
    for n, column in ((6, "400"), (8, "10"))
}
"""Accuracies that other tables print for the default setting of CIFAR-10 NIID-1."""
DEFAULT = {key: ONE[f"{key.partition(',')[0]}, CIFAR-10 NIID-1"] for key in SAME_SETTING}
WITHIN = {key: noise(cell.std, cell.std) for key, cell in DEFAULT.items()}
"""Largest difference within noise of two means of the default setting, both with the deviation of Table 1."""
SCORES: dict[str, Cell] = {
    "noise": CELLS[5]["① Gaussian Noise / Soft, NIID-1"].value,
    "FedAvg, 70 rounds": ONE["FedAvg, CIFAR-10 NIID-1"],
    "FedAvg, 51 rounds": THREE["CIFAR-10-1, FedAvg without FedCOG"].value,
}

AVERAGED = {key.removesuffix(", Avg."): cell.value for key, cell in ONE.items() if key.endswith("Avg.")}


def _averages(printed: Mapping[str, str], wrong: tuple[str, ...] = ()) -> Prints:
    """Return the check that printed averages are those of the six settings, up to the rounding of these."""
    parts = {row: [ONE[f"{row}, {data} {kind}"].value for data in DATA for kind in KINDS] for row in printed}
    means = {row: sum(map(exact, numbers), Fraction(0)) / len(numbers) for row, numbers in parts.items()}
    slack = {row: sum(map(half_unit, numbers), Fraction(0)) / len(numbers) for row, numbers in parts.items()}
    return Prints(printed, means, slack, wrong)


averages = _averages(AVERAGED, wrong=("FedReg",))
average_mended = _averages({"FedReg": "49.56"})
same_scores = Prints(
    {metric: TWO[f"FedCOG, {metric}"].value for metric in ("C-F1", "O-F1")},
    {metric: THREE[f"FLAIR {metric}, FedAvg with FedCOG"].value for metric in ("C-F1", "O-F1")},
)
default_setting = Prints(
    {key: cell.value for key, cell in DEFAULT.items()},
    SAME_SETTING,
    WITHIN,
    wrong=("FedCOG, Table 6", "FedAvg, Table 6", *(k for k in SAME_SETTING if k.endswith("Table 8"))),
)
full_method = Prints(
    {"full method": CELLS[10]["Accuracy, 100"].value}, {"full method": FULL}, {"full method": WITHIN["FedCOG, Table 5"]}
)


NUMBERS: dict[str, Mapping[str, Cell]] = {
    **{f"table_{number}": CELLS[number] for number in range(1, 11)},
    "tables": GAINS | {f"mean of the three {kind}": _averaged(kind) for kind in KINDS} | F1_LIMIT | ADDED | SCORES,
}
