"""FedCOG, Sections 6.1 and A.2: published settings beside what theory and algorithm suppose."""

from __future__ import annotations

from fractions import Fraction

from ..claim import Book, Finding, judged


def labels_covered(book: Book) -> Finding:
    """Every label of a data set is held by as many clients as any other, if clients take their labels in turn."""
    holders = {
        "Fashion-MNIST": Fraction(10 * 2, 10),
        "CIFAR-10": Fraction(10 * 2, 10),
        "CIFAR-100": Fraction(10 * 10, 100),
    }
    uneven = {name: str(number) for name, number in holders.items() if number < 1 or number.denominator != 1}
    said = ", ".join(f"{name}: {number} clients a label" for name, number in holders.items())
    return judged(not uneven, said, uneven)
