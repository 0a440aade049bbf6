"""The families of instances, by name."""

from __future__ import annotations

from .core import Family
from .runs.family import QuadraticRuns

FAMILIES: dict[str, Family] = {family.name: family for family in (QuadraticRuns(),)}
