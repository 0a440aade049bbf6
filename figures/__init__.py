"""What it looks like: one file per figure or table, or per drawing that several share."""

VALIDATION_FIGURES: dict[str, str] = {"fedals.one_round": "figures.one_round"}
"""The module that draws a validation's result, by the validation's name: its ``save(result, folder)`` returns paths."""
