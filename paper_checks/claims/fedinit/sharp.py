"""Smaller bounds where all clients take part, each step of their proof, and that they are smaller."""
