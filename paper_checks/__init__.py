"""Is it so? Measurements held against bounds, and the claims of the papers checked."""

from empirics.experiments.registry import register

register("paper_checks.validation.jobs", "paper_checks.worst_case.jobs")
