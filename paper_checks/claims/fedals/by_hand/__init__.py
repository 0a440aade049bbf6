"""Arithmetic made by hand, a second opinion on what the claims of this paper compute."""
