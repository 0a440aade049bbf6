"""All families of instances, by name."""

from __future__ import annotations

from .atoms.family import Atoms
from .curves.family import Curves
from .instances import Family
from .runs.family import QuadraticRuns

FAMILIES: dict[str, Family] = {family.name: family for family in (QuadraticRuns(), Curves(), Atoms())}
