"""Decaying-K (Mills, Hu, Min): its claims, by section."""

from __future__ import annotations

from ..claims import Claim
from . import optima, runtime

CLAIMS: tuple[Claim, ...] = (*runtime.CLAIMS, *optima.CLAIMS)
