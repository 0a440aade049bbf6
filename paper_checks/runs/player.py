"""What the rational player is: an instance's run in exact numbers, read by word like the float engines' runs.

It is written by itself, in plain loops, as a second opinion on ``empirics.exact``: the two share the contract suite
(``tests/paper_checks/test_exact_engines.py``) and no arithmetic.
"""

from __future__ import annotations

from typing import Any, Protocol, TYPE_CHECKING, TypeVar

from empirics.exact import Readings

T = TypeVar("T", contravariant=True)


class Player(Protocol[T]):
    """Plays FedInit's rounds (``beta`` 0: FedAvg's) on the numbers of a ``table``, which say the kind of arithmetic.

    ``reading`` is ``intended``, ``proof`` or ``code``. Readings are arrays of the table's kind of number: fractions, or
    60 digits where fractions grow too long.
    """

    def __call__(self, table: T, beta: Any, reading: str, /) -> Readings: ...


if TYPE_CHECKING:  # who keeps the contract
    from ..falsifier.curves.plain import PlainCurve
    from ..falsifier.runs.plain import Table
    from ..falsifier.runs.twin import PlainRun

    KEEP: tuple[Player[Table], Player[Any]] = (PlainRun, PlainCurve)
