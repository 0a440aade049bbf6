"""Tables 10 and 11: seconds per round, rounds and seconds to a target accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ...reported import table
from ..checkers import exact, Prints
from ..checkers.tables import Cell
from .tables import METHODS

PLACES, TARGETS = ("10%-100", "5%-200"), ("CIFAR-10 (>70%)", "CIFAR-100 (>30%)")
TEN, ELEVEN = ({key: cell.value for key, cell in table("fedinit", name).items()} for name in ("Table 10", "Table 11"))


def _seconds(place: str) -> dict[str, str | Fraction]:
    """Return the seconds of a round by method, and 1.06 times FedAvg's."""
    seconds = {m: TEN[m, f"{place}/wall-clock"] for m in METHODS}
    return {**seconds, "1.06 FedAvg": exact(seconds["FedAvg"]) * Fraction(106, 100)}


def _reached(target: str, column: str) -> dict[str, str]:
    """Return the ``rounds`` or the ``time`` in seconds (``column``) to a target accuracy, by method."""
    return {m: ELEVEN[m, f"{target}/{column}"] for m in METHODS}


def _speeds(column: str, cut: bool = False) -> dict[str, Fraction]:
    """Return FedAvg's rounds or seconds over a method's; ``cut``: truncated to two decimals."""
    reached = {t: _reached(t, column) for t in TARGETS}
    ratios = {f"{m} {t}": exact(reached[t]["FedAvg"]) / exact(reached[t][m]) for m in METHODS[1:] for t in TARGETS}
    return {key: Fraction(int(ratio * 100), 100) if cut else ratio for key, ratio in ratios.items()}


product = Prints(
    {f"{m} {t}": seconds for t in TARGETS for m, seconds in _reached(t, "time").items()},
    {
        f"{m} {t}": int(exact(count) * exact(TEN[m, "10%-100/wall-clock"]))
        for t in TARGETS
        for m, count in _reached(t, "rounds").items()
    },
)
seconds_of_a_round = Prints(
    {f"{m} {place}": TEN[m, f"{place}/ratio"] for m in METHODS[1:] for place in PLACES},
    {
        f"{m} {place}": exact(TEN[m, f"{place}/wall-clock"]) / exact(TEN["FedAvg", f"{place}/wall-clock"])
        for m in METHODS[1:]
        for place in PLACES
    },
    slack=Fraction(1, 200),
)
rounds_to_the_target = Prints(
    {f"{m} {t}": ELEVEN[m, f"{t}/rounds speed ratio"] for m in METHODS[1:] for t in TARGETS},
    _speeds("rounds"),
    slack=Fraction(1, 200),
)
seconds_to_the_target = Prints(
    {f"{m} {t}": ELEVEN[m, f"{t}/time speed ratio"] for m in METHODS[1:] for t in TARGETS}, _speeds("time", cut=True)
)

NUMBERS: dict[str, Mapping[str, Cell]] = {
    "times": {f"{m}, {t}": seconds for t in TARGETS for m, seconds in _reached(t, "time").items()},
    **{place: _seconds(place) for place in PLACES},
    **{f"{t}, {column}": _reached(t, column) for t in TARGETS for column in ("rounds", "time")},
    **{t: _reached(t, "rounds") for t in TARGETS},
    **{column: _reached(TARGETS[0], column) for column in ("rounds", "time")},
}
