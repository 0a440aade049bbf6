"""Results on disk: one cell of an experiment is one file pair, named by the hash of what was asked for."""

from .cells import Cell, Outcome
from .store import Kept, Store, StoreError

__all__ = ["Cell", "Kept", "Outcome", "Store", "StoreError"]
