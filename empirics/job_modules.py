"""Where jobs are declared, by name: packages add their own with ``register``, and nothing is loaded for it."""

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
