"""The orders (10), (12), (16), (28), (30), (31) against the explicit bounds, and what the text draws from them."""
