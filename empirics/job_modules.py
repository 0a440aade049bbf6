"""The names of the modules that declare jobs; other packages add theirs with ``register``, without importing them."""

MODULES = [
    "empirics.experiments.jobs.train",
    "empirics.experiments.jobs.continued",
    "empirics.experiments.jobs.generation",
    "empirics.experiments.jobs.timed",
    "empirics.experiments.jobs.wall",
]


def register(*modules: str) -> None:
    """Add modules that declare jobs."""
    MODULES.extend(module for module in modules if module not in MODULES)
