"""A CSV file of the user's own runs: one row per run and round, columns named by quantity.

What could be read in two ways, such as rows of two plans or a row with the mean of all runs, is refused in one line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bounds.core import Bound
from bounds.errors import BoundsError, unknown
from bounds.quantities import CLIENTS, Quantity
from bounds.vocabulary import clients
from empirics.data.cells import Cells, from_csv

Array = np.ndarray[Any, Any]

SEED, ROUND = "seed", "round"
SHARED = {
    "algorithm", "algo", "method", "optimizer", "problem", "dataset", "data", "model", "network", "partition",
    "split", "experiment", "config", "sampling", "aggregation", "client", "layer", "phase", "alpha", "beta", "mu",
    "lr", "eta", "learning_rate", "step_size", "local_steps", "local_epochs", "batch", "batch_size", "clients",
    "num_clients", "n_clients", "cohort", "participation", "rounds", "num_rounds", "samples", "relaxation",
    "momentum", "dim", "weight_decay", "regularisation", "regularization", "concentration", "epoch", "epochs",
    "iteration", "iter", "step", "update", "communication_round", "comm_round", "t",
}  # fmt: skip
"""Columns of the plan and of the moment, in which all runs agree at every round."""


@dataclass(frozen=True)
class Log:
    """A user's table: every column of numbers as ``(seeds, rounds)``, and the names of both, rounds in their order.

    ``numbered``: whether rounds are a column; without one a row is what its maker made of a whole run. ``unread`` are
    the columns that no quantity of the bound is in.
    """

    columns: Mapping[str, Array]
    seeds: tuple[str, ...]
    rounds: tuple[str, ...]
    numbered: bool
    unread: tuple[str, ...] = ()


def read_log(path: Path, bound: Bound) -> Log:
    """The table of runs for a bound.

    Raises:
        BoundsError: where the file is not such a table: which line, and what to do.
    """
    cells = from_csv(path)
    quantities = {**logged(bound), bound.target.name: bound.target}
    _check_names(path, bound, cells, {SEED, ROUND, *quantities})
    numbers = {name: _numbers(cells, name, quantities[name]) for name in cells.columns if name in quantities}
    unread = tuple(n for n in cells.columns if n not in {SEED, ROUND, *quantities} and not n.startswith("Unnamed: "))
    columns, seeds, rounds = _arranged(cells, numbers)
    texts = {name: np.array(cells.columns[name].to_pylist()) for name in unread if name.lower() in SHARED}
    counts = [name for name in numbers if name != bound.target.name and quantities[name].card.domain.whole]
    moments = cells.plain(ROUND) if ROUND in cells.columns else np.zeros(len(cells.columns[bound.target.name]))
    for name, values in {**texts, **{name: numbers[name] for name in counts}}.items():
        if len({*zip(moments, values, strict=True)}) > len({*moments}):
            raise BoundsError(
                f"{path}: {name} differs between seeds at the same {ROUND}, and a log holds runs of one plan: write a "
                f"log for each plan, and the rounds as a column {ROUND}"
            )
    return Log(columns, seeds, rounds, ROUND in cells.columns, unread)


def logged(bound: Bound) -> dict[str, Quantity]:
    """The quantities that may be columns beside the target: those of the bound, and how many clients there are."""
    counted = (clients,) if bound.axis == CLIENTS else ()
    return {q.name: q for q in (*bound.quantities, *counted)}


def _check_names(path: Path, bound: Bound, cells: Cells, read: set[str]) -> None:
    for name in cells.columns:
        meant = name.lower().replace(" ", "_").replace("-", "_")
        if meant != name and meant in read:
            raise BoundsError(f"{path}: column {name!r} would not be read; write {meant}")
    if bound.target.name not in cells.columns:
        nearest = str(unknown("column", bound.target.name, cells.columns)).partition("; ")[2]
        raise BoundsError(f"{path}: no column {bound.target.name}, which the bound is on; {nearest}")


def _numbers(cells: Cells, name: str, quantity: Quantity) -> Array:
    found, domain = cells.numbers(name), quantity.card.domain
    for row in map(int, np.flatnonzero(~domain.contains(found))):
        raise BoundsError(f"{cells.who}, {cells.row(row)}: {name} must be {domain.words}; got {found[row]:g}")
    return found


def _seeds(cells: Cells) -> tuple[Array, tuple[str, ...]]:
    """The run of every row and the runs' names: numbers, or one word with a number each."""
    codes, names = cells.labels(SEED)
    stems = [re.sub(r"\d+", "", name) for name in names]
    for code, (name, stem) in enumerate(zip(names, stems, strict=True)):
        if name == stem or stem != stems[0]:
            where = cells.row(int(np.argmax(codes == code)))
            raise BoundsError(
                f"{cells.who}, {where}: {SEED} must be a number, or one word with a number, such as run-7, for all "
                f"runs; got {name!r}: leave out rows that sum up all runs"
            )
    return codes, tuple(names)


def _rounds(cells: Cells) -> tuple[Array, tuple[str, ...]]:
    moments = cells.numbers(ROUND)
    for row in map(int, np.flatnonzero((moments < 0) | (moments != np.floor(moments)))):
        raise BoundsError(f"{cells.who}, {cells.row(row)}: {ROUND} must be a whole number >= 0; "
                          f"got {cells.cell(ROUND, row)!r}")  # fmt: skip
    names, codes = np.unique(moments, return_inverse=True)
    return codes, tuple(str(int(name)) for name in names)


def _arranged(cells: Cells, numbers: Mapping[str, Array]) -> tuple[dict[str, Array], tuple[str, ...], tuple[str, ...]]:
    """Columns by seed and round; a log of one run needs no column of seeds, one of one moment none of rounds."""
    count = len(next(iter(numbers.values())))
    run, seeds = _seeds(cells) if SEED in cells.columns else (np.zeros(count, dtype=int), ("0",))
    moment, rounds = _rounds(cells) if ROUND in cells.columns else (np.zeros(count, dtype=int), ("1",))
    order = np.lexsort((moment, run))  # stable: of rows of one place the first comes first
    places = (run * len(rounds) + moment)[order]
    if len(again := order[1:][places[1:] == places[:-1]]):
        row = int(again.min())
        lacking = " and ".join(name for name in (SEED, ROUND) if name not in cells.columns)
        more = f": add a column {lacking}, or aggregate the rows of a run" if lacking else ""
        raise BoundsError(f"{cells.who}, {cells.row(row)}: a second row of {SEED} {seeds[run[row]]}, {ROUND} "
                          f"{rounds[moment[row]]}{more}")  # fmt: skip
    if len(places) < len(seeds) * len(rounds):
        missing = np.flatnonzero(places != np.arange(len(places)))
        seed, at = divmod(int(missing[0]) if len(missing) else len(places), len(rounds))
        raise BoundsError(
            f"{cells.who}: {SEED} {seeds[seed]} has no {ROUND} {rounds[at]}; every run needs the same rounds"
        )
    shape = order.reshape(len(seeds), len(rounds))
    return {name: values[shape] for name, values in numbers.items()}, seeds, rounds
