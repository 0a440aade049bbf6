"""Worst cases with proofs: made from a solver's multipliers, checked by integers alone."""
