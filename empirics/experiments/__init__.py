"""Experiments: runs as jobs with arguments, a store of their results, and sweeps that fill it.

A ``Cell`` is one run: the name of a job (``jobs``, declared by ``registry.job``) and its arguments. Its key is a hash
of them, under which ``Store``, one SQLite file, keeps its ``Outcome``. ``running.run_missing`` computes those that are
missing, on this machine or a cluster; ``grids`` reads them from a TOML file, and ``results`` makes tables of results.
"""

from .cells import Cell, Outcome
from .store import Kept, Store, StoreError

__all__ = ["Cell", "Kept", "Outcome", "Store", "StoreError"]
