"""Experiments: runs, the store of their results, and sweeps that fill it."""

from .cells import Cell, Outcome
from .store import Kept, Store, StoreError

__all__ = ["Cell", "Kept", "Outcome", "Store", "StoreError"]
