"""FedCOG, Sections 6.1 and A.2: published settings beside what theory and algorithm suppose."""

from __future__ import annotations

from fractions import Fraction

from ..checkers import Prints, undecided
from ..claim import Book, Claim, Defect, Finding, judged, Kind

LABELS_HELD = {"Fashion-MNIST": (10, 2), "CIFAR-10": (10, 2), "CIFAR-100": (100, 10)}
CLIENTS = 10


def labels_covered(book: Book) -> Finding:
    """Every label of a data set is held by as many clients as any other, if clients take their labels in turn."""
    holders = {name: Fraction(CLIENTS * held, classes) for name, (classes, held) in LABELS_HELD.items()}
    uneven = {name: str(number) for name, number in holders.items() if number < 1 or number.denominator != 1}
    said = ", ".join(f"{name}: {number} clients a label" for name, number in holders.items())
    return judged(not uneven, said, uneven)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "fedcog.settings.previous_model",
        "The clients that generate have a local model of the round before, on FLAIR too.",
        Kind.SETTING.at("eq. (1) and Section 6.1"),
        Prints({"of 10 participants": "10"}, {"of 10 participants": Fraction(10 * 10, 200)}),
        note="Drawn 10 of 200, half a client a round was there the round before. The "
        "released code takes the last model a client ever had, or its random start.",
        defect=Defect.SETTINGS,
        ours=True,
    ),
    Claim(
        "fedcog.settings.niid_2",
        "With 2 (10) labels for each of 10 clients every label of the 10 (100) is held, by equally many clients.",
        Kind.SETTING.at("Section 6.1 and A.2.1"),
        labels_covered,
        note="If labels are dealt in turn, as in the released code.",
    ),
    undecided(
        "fedcog.settings.seeds",
        "The deviations in Table 1 come from repeated runs.",
        Kind.SETTING.at("Table 1"),
        "the number of runs and what varies between them are not stated; Tables 2, 3 and 5 to 10 print none",
    ),
)
