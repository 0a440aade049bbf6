"""Check whether the statements of the papers are true, by machine, and compare bounds with measurements.

``claims`` states what the papers claim and how each claim is checked; ``audit`` runs the checks and writes the reports;
``falsifier`` searches for counterexamples and ``worst_case`` solves for exact worst cases and proves them.
``validation`` compares a bound with training or exact moments, and ``comparing`` ranks all bounds on one quantity and
recommends plans. ``runs`` says how each quantity is obtained in a run, ``reported`` has the papers' printed numbers.
"""

from empirics.job_modules import register

register("paper_checks.validation.jobs", "paper_checks.worst_case.jobs")
