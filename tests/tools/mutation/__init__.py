"""Mutation testing of the audit: plant errors in formulas and in checks, and see which ones some verdict notices."""

from .formulas import Mutant, mutants
from .runs import attack_bounds, attack_checks
from .tally import Survivor, Tally

__all__ = ["Mutant", "Survivor", "Tally", "attack_bounds", "attack_checks", "mutants"]
