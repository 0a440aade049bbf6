"""Are the statements true? The claims of the papers checked, and bounds compared with measurements."""

from empirics.job_modules import register

register("paper_checks.validation.jobs", "paper_checks.worst_case.jobs")
