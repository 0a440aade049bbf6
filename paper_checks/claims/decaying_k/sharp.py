"""Improved bounds, smaller than Lemma 1 and Theorem 1, and exact worst cases."""
