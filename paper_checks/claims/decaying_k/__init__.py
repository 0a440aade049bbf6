"""Decaying-K (Mills, Hu, Min): its claims, by section; each module's docstring names its part."""
