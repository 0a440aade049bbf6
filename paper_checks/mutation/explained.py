"""Survivors that are no holes, by the beginning of their name, each with the reason."""

from __future__ import annotations

EXPLAINED: dict[str, str] = {}
