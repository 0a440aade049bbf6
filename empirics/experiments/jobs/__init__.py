"""Jobs: training runs and related computations, each declared by ``@job`` with a name and a version."""

BLOCKS = 3
"""The number of blocks of rounds that are timed for every method, after a first round to warm up."""
