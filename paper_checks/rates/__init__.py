"""Rates: the smallest contraction per round that can be certified, for every number of rounds and of clients."""
