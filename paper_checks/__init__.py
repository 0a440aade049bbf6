"""Is it so? Measurements held against bounds, and the claims of the papers checked."""

from empirics.store.jobs import register

register("paper_checks.validation.cells", "paper_checks.worst_cases.cells")
