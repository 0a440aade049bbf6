"""Exact worst cases: what a theorem could at best have said, by semidefinite programming (performance estimation)."""

from .program import WorstCaseError
from .worst import answer, Question, worst_case, WorstCase

__all__ = ["Question", "WorstCase", "WorstCaseError", "answer", "worst_case"]
