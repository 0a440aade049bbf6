"""Sections 6.1 and A.2: published settings compared with the premises of theory and algorithm."""

from __future__ import annotations

from fractions import Fraction

from ..claim import Book, Finding, finding


def labels_covered(book: Book) -> Finding:
    """Equally many clients have each label of a data set, if clients take labels in turn."""
    holders = {
        "Fashion-MNIST": Fraction(10 * 2, 10),
        "CIFAR-10": Fraction(10 * 2, 10),
        "CIFAR-100": Fraction(10 * 10, 100),
    }
    uneven = {name: str(number) for name, number in holders.items() if number < 1 or number.denominator != 1}
    evidence = ", ".join(f"{name}: {number} clients a label" for name, number in holders.items())
    return finding(not uneven, evidence, uneven)
