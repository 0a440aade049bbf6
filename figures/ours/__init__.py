"""Figures that no paper has: every bound beside what exact and sampled runs give, and where it says anything."""
