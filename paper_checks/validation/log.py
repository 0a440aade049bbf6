"""``fedbounds validate NAME --measured runs.csv``: compare a bound with the user's own log.

A row of the CSV file is one round of one run. Columns are quantities: the target is required, further quantities of the
bound may vary from row to row, and the others are given as ``quantity=value`` or ``@file.json``. ``seed`` names the
independent runs, ``round`` the times of a run: counted from 0 they are the models before the first round and after
every round, counted from 1 the rounds. The log must have the rounds that the statistic is over and no later ones.
Ambiguous logs, such as rows of two plans or a row with the mean of all runs, raise an error of one line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bounds.core import Bound
from bounds.errors import BoundsError, unknown
from bounds.quantities import CLIENTS
from bounds.showing.reading import grid, read, Value
from bounds.vocabulary import clients
from empirics.data.csv_tables import from_csv, TextTable
from empirics.progress import Progress

from ..runs import schedules
from ..runs.origins import free_constants, ITERATION, ORIGINS, STATE
from ..runs.statistics import BY_ROUND, times_of, weighted_mean
from .comparison import Comparison, condition_status, TESTS
from .options import Options
from .verdicts import Data, decide_conditions, lines, trend

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
"""Columns that describe the plan or the time: all runs must agree in them at every round."""


def make_comparison(bound: Bound, plan: Options, bar: Progress) -> Comparison:
    """Compare the log with the bound at every round, or by the statistic over its rounds."""
    log = read_log(plan.measured, bound)
    filled, moving, fixed, uncertain = _values(bound, log, plan.words)
    fold, used, lacking = _used_rounds(bound, log, f"{plan.measured}", moving, fixed)
    if fold != "every":
        moving = {name: x[:, used[0]] for name, x in moving.items()}
    target = log.columns[bound.target.name][:, used]
    if fold == "mean":
        target = np.asarray(weighted_mean(target.T, schedules.weights(bound.statistic, fixed)))[:, None]
    constants = tuple(name for name in free_constants(filled) if name not in {**moving, **fixed})
    data = Data(filled, target, moving, fixed, uncertain, constants, fold, lacking=lacking)
    seeds, doubts = len(log.seeds), [f"{name} is uncertain" for name in uncertain]
    if seeds == 1:
        doubts.append(f"one seed: add further runs, numbered in a column {SEED}")
    if bound.relation == "<~":
        doubts.append("the bound hides a constant")
    places = ["all"] if fold in ("min", "mean") or not log.numbered else [log.rounds[i] for i in used]
    rows = lines(data, places, "; ".join(doubts))
    trends = []
    if any(line.outside or line.why for line in rows):
        trends = [trend([line.bound for line in rows], [float(line.measured.value) for line in rows])]
    rounds = f", {len(log.rounds)} rounds" if log.numbered else ""
    unused = f"; columns that {bound.name} does not use: {', '.join(log.unused)}" if log.unused else ""
    return Comparison(
        bound,
        tuple(rows),
        f" ({seeds} seeds; {TESTS} these runs only).",
        about=(f"{plan.measured}: {seeds} runs{rounds}{unused}",),
        conditions=decide_conditions(data, condition_status(bound, None, None, None)),
        findings=tuple(trends),
        card={"seeds": seeds, "log": str(plan.measured), "values": dict(fixed), "seed_names": list(log.seeds),
              "rounds": list(log.rounds)},
    )  # fmt: skip


@dataclass(frozen=True)
class Log:
    """A user's table: every column of numbers as ``(seeds, rounds)``, the names of seeds, and rounds in order.

    ``numbered``: whether there is a column of rounds; without one, a row is about a whole run. ``unused`` are the
    columns that the bound does not use.
    """

    columns: Mapping[str, Array]
    seeds: tuple[str, ...]
    rounds: tuple[str, ...]
    numbered: bool
    unused: tuple[str, ...] = ()


def read_log(path: Path, bound: Bound) -> Log:
    """Read the table of runs for a bound.

    Raises:
        BoundsError: if the file is not such a table; the message names the line and says what to do.
    """
    cells = from_csv(path)
    quantities = {q.name: q for q in (*bound.quantities, bound.target)}
    quantities |= {clients.name: clients} if bound.axis == CLIENTS else {}
    known = {SEED, ROUND, *quantities}
    for name in cells.columns:
        spelling = name.lower().replace(" ", "_").replace("-", "_")
        if spelling != name and spelling in known:
            raise BoundsError(f"{path}: column {name!r} would not be read; write {spelling}")
    if bound.target.name not in cells.columns:
        nearest = str(unknown("column", bound.target.name, cells.columns)).partition("; ")[2]
        raise BoundsError(f"{path}: no column {bound.target.name}, which the bound is on; {nearest}")
    numbers = {}
    for name in (name for name in cells.columns if name in quantities):
        numbers[name], domain = cells.numbers(name), quantities[name].card.domain
        for row in map(int, np.flatnonzero(~domain.contains(numbers[name]))):
            got = f"{numbers[name][row]:g}"
            raise BoundsError(f"{cells.who}, {cells.row(row)}: {name} must be {domain.words}; got {got}")
    unused = tuple(n for n in cells.columns if n not in known and not n.startswith("Unnamed: "))
    columns, seeds, rounds = _arranged(cells, numbers)
    plan = {name: np.array(cells.columns[name]) for name in unused if name.lower() in SHARED}
    counts = [name for name in numbers if name != bound.target.name and quantities[name].card.domain.whole]
    times = cells.plain(ROUND) if ROUND in cells.columns else np.zeros(len(cells.columns[bound.target.name]))
    for name, values in {**plan, **{name: numbers[name] for name in counts}}.items():
        if len({*zip(times, values, strict=True)}) > len({*times}):
            raise BoundsError(
                f"{path}: {name} differs between seeds at the same {ROUND}, and a log holds runs of one plan: write a "
                f"log for each plan, and the rounds as a column {ROUND}"
            )
    return Log(columns, seeds, rounds, ROUND in cells.columns, unused)


def _seeds(cells: TextTable) -> tuple[Array, tuple[str, ...]]:
    """The index of the run of every row, and the names of the runs: numbers, or one word with a number each."""
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


def _rounds(cells: TextTable) -> tuple[Array, tuple[str, ...]]:
    """The index of the round of every row, and the rounds in order."""
    times = cells.numbers(ROUND)
    for row in map(int, np.flatnonzero((times < 0) | (times != np.floor(times)))):
        got = cells.columns[ROUND][row]
        raise BoundsError(f"{cells.who}, {cells.row(row)}: {ROUND} must be an integer >= 0; got {got!r}")
    names, codes = np.unique(times, return_inverse=True)
    return codes, tuple(str(int(name)) for name in names)


def _arranged(
    cells: TextTable, numbers: Mapping[str, Array]
) -> tuple[dict[str, Array], tuple[str, ...], tuple[str, ...]]:
    """Columns as ``(seeds, rounds)``, seeds and rounds; a log of one run may omit seeds, one of one time rounds."""
    count = len(next(iter(numbers.values())))
    run, seeds = _seeds(cells) if SEED in cells.columns else (np.zeros(count, dtype=int), ("0",))
    time, rounds = _rounds(cells) if ROUND in cells.columns else (np.zeros(count, dtype=int), ("1",))
    order = np.lexsort((time, run))  # stable: of several rows of one place the first comes first
    places = (run * len(rounds) + time)[order]
    if len(repeated := order[1:][places[1:] == places[:-1]]):
        row = int(repeated.min())
        absent = " and ".join(name for name in (SEED, ROUND) if name not in cells.columns)
        advice = f": add a column {absent}, or aggregate the rows of a run" if absent else ""
        place = f"{SEED} {seeds[run[row]]}, {ROUND} {rounds[time[row]]}"
        raise BoundsError(f"{cells.who}, {cells.row(row)}: a second row of {place}{advice}")
    if len(places) < len(seeds) * len(rounds):
        missing = np.flatnonzero(places != np.arange(len(places)))
        seed, at = divmod(int(missing[0]) if len(missing) else len(places), len(rounds))
        raise BoundsError(
            f"{cells.who}: {SEED} {seeds[seed]} has no {ROUND} {rounds[at]}; every run needs the same rounds"
        )
    shape = order.reshape(len(seeds), len(rounds))
    return {name: values[shape] for name, values in numbers.items()}, seeds, rounds


class UsedRounds(NamedTuple):
    """How rounds are combined, the indices of those that are used, and which values a minimum lacks (empty: none)."""

    fold: str
    used: list[int]
    lacking: str = ""


def _used_rounds(
    bound: Bound, log: Log, path: str, moving: Mapping[str, Array], fixed: Mapping[str, Any]
) -> UsedRounds:
    """The rounds that the statistic is over; raises if the log has later ones or lacks ones that decide.

    A quantity of a whole run is compared at the end of the run. If the bound does not determine the length of a run, it
    is the length of the log.
    """
    kind, over = (bound.statistic.kind, bound.statistic.over) if bound.statistic else ("every", "")
    row = ORIGINS.get(bound.target.name)
    whole = row is not None and bool(row.of) and row.how not in BY_ROUND
    fold = kind if kind in ("min", "mean", "last") and not (row and row.of) else "every"
    for name, values in moving.items() if fold != "every" else ():
        if np.ptp(values, axis=1).any():
            raise BoundsError(f"{bound.name} is on the {bound.statistic}: {name} must be the same in all rows of a run")
    every = list(range(len(log.rounds)))
    numbers = [int(name) for name in log.rounds]
    given = {**bound.given, **fixed, **moving}
    of_length = {"rounds": [["rounds"]], "iterations": [["iterations"], ["rounds", "local_steps"]]}.get(over, [])
    factors = next((names for names in of_length if given.keys() >= {*names}), None)
    if factors is None:
        return UsedRounds(fold, every[-1:] if fold == "last" else every)
    lengths = np.asarray(math.prod(np.asarray(given[name], dtype=float) for name in factors))
    if log.numbered and fold == "every" and np.ptp(lengths) and np.all(lengths == numbers):
        return UsedRounds(fold, every)
    if np.ptp(lengths):
        also = ", or the row's own round" if fold == "every" else ""
        raise BoundsError(f"{path}: the number of {over} must be the same in all rows{also}; {bound.name} is over them")
    if not log.numbered:
        return UsedRounds(fold, every)
    length = int(lengths.flat[0])
    if beyond := [n for n in numbers if n > length]:
        listed = [*map(str, beyond)] if len(beyond) < 5 else [*map(str, beyond[:3]), "...", str(beyond[-1])]
        raise BoundsError(
            f"{path} has round{'s' * (len(beyond) > 1)} {', '.join(listed)} beyond the run of {length} {over} that "
            f"{bound.name} is over; leave them out, or give the number of {over} that was run"
        )
    if fold == "every" and not whole:
        return UsedRounds(fold, every)
    need = times_of("last" if whole else kind, length, STATE if over == "rounds" else ITERATION, numbers)
    used = [i for i in every if numbers[i] in need]
    absent = len(need) - len(used)
    if absent and fold != "min":
        first = next(n for n in need if n not in numbers)
        others = f" and {absent - 1} more are" if absent > 1 else " is"
        raise BoundsError(
            f"{path}: {bound.name} is on the {bound.statistic}, a run of {length} {over}: round {first}{others} not in "
            f"the log"
        )
    lacking = f"{absent} of {len(need)} {over} are not in the log" if absent else ""
    return UsedRounds("last" if whole else fold, used, lacking)


Ends = Mapping[str, tuple[Any, Any]]


def _values(bound: Bound, log: Log, typed: Sequence[str]) -> tuple[Bound, dict[str, Array], dict[str, Any], Ends]:
    """The bound (for equal clients if given), values by row, values for all rows, ends of uncertain values."""
    given = read(list(typed))
    used = {q.name: q for q in (*bound.quantities, *((clients,) if bound.axis == CLIENTS else ()))}
    rows = used.keys() & log.columns.keys()
    for name in rows & {k for k, v in given.items() if not v.optional}:
        raise BoundsError(f"{name} is given twice: as a column and as {name}=...")
    constants = {k: v for k, v in given.items() if k not in rows}
    for name, value in constants.items():
        listed = name in used and used[name].card.axis and value.kind == "list"
        if name in used and value.kind not in ("number", "uniform") and not listed:
            raise BoundsError(f"{name} must be one value for all rows of the log; what varies is a column")
    missing = {q.name for q in bound.quantities} - rows - set(constants) - {*free_constants(bound)}
    lists = any(value.kind == "list" for value in constants.values())
    if bound.axis == CLIENTS and (lists or {"client_weight", "clients"} & {*rows, *constants}):
        missing -= {"client_weight", "clients"}  # each follows from the other
    if missing:
        names = ", ".join(sorted(missing))
        raise BoundsError(f"{bound.name} needs {names}: a column of the log, or quantity=value, or @file.json")
    # The form of the bound depends only on which quantities have values: the first row stands for each column.
    first = {name: Value("number", np.asarray(log.columns[name].flat[0])) for name in rows}
    free = [name for name in free_constants(bound) if name not in constants]
    span = grid(bound, {**constants, **first}, free=free)
    fixed = {name: array.tolist() for name, array in span.values.items() if name not in rows}
    axes = {q.name for q in span.bound.quantities if q.card.axis}
    moving = {name: log.columns[name][..., None] if name in axes else log.columns[name] for name in rows}
    uncertain = {name: ends for name, ends in span.uncertain.items() if name in fixed}
    return span.bound, {k: v for k, v in moving.items() if k in span.values}, fixed, uncertain
