"""Exceptions of training and measuring; every message is one line."""

from __future__ import annotations

from bounds.errors import BoundsError


class EmpiricsError(BoundsError):
    """An invalid setting, or a run that cannot deliver what was requested."""


class NotConvergedError(EmpiricsError):
    """A solver stopped before it reached the gradient norm that a theorem's assumption needs."""


class Diverged(Exception):
    """Training reached infinite or undefined values, in ``round``; ``largest`` is the largest finite model norm."""

    def __init__(self, round_: int, algorithm: str, largest: float) -> None:
        super().__init__(round_, algorithm, largest)
        self.round, self.algorithm, self.largest = round_, algorithm, largest

    def __str__(self) -> str:
        return f"{self.algorithm} diverged in round {self.round}: largest finite model norm {self.largest:.3g}"
