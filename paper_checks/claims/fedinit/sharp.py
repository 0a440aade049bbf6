"""Smaller bounds for full participation: each step of their proofs, and that they are smaller."""
