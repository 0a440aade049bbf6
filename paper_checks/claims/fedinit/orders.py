"""The orders (10), (12), (16), (28), (30) and (31) compared with the explicit bounds, and the text's conclusions."""
