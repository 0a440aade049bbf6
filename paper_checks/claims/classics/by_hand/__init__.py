"""Runs in rational numbers, by plain loops: what the classic theorems are held against."""
