"""What a run can compute: training runs and their like, each declared by ``@job`` with a name and a version."""

BLOCKS = 3
"""Times that every timed method runs its rounds; the first round of each, which warms up, is not counted."""
