"""The words below a picture or a table, put together from what is so at a scale."""

from __future__ import annotations

from collections.abc import Iterable

DIGITS = "scikit-learn's digits in place of every data set"
"""At the smoke scale."""


def caption(*sentences: str | Iterable[str], joint: str = "; ") -> str:
    """Sentences in a row; where one comes in parts, ``joint`` stands between these. What is empty is left out."""
    said = (s if isinstance(s, str) else f"{joint.join(filter(None, s))}." for s in sentences)
    return " ".join(filter(None, said))


def plural(count: int, word: str) -> str:
    """A number of things."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
