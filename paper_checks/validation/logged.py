"""A user's own table of runs: commas between fields, decimal points, one row per run and round.

A shifted field, a run that is named twice or a number in another notation would be judged like a measurement. So
nothing is guessed: what could be read in two ways is refused in one line that names the row (counted below the header).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bounds.core import Bound
from bounds.domains import Domain
from bounds.errors import BoundsError, shortened, unknown
from bounds.quantities import CLIENTS, Quantity
from bounds.showing.files import content
from bounds.showing.numbers import held
from bounds.vocabulary import clients
from empirics.data.cells import plain_numbers, text_columns

Array = np.ndarray[Any, Any]

SEED, ROUND = "seed", "round"
COUNT = re.compile(r"\d{1,18}(\.0*)?|\d(\.\d+)?[eE]\+?\d{1,2}", re.ASCII)
"""What numbers a run or a round: ``3``, also as ``03``, ``3.0`` and ``3e0``, which tables are saved with."""
NAME = re.compile(r"\w(?:[\w./ -]*\w)?")
"""What names a run in words: it begins with a letter; signs such as ``±``, ``%`` and brackets are no part of it."""
NO_NAMES = {"nan", "inf", "infinity", "na", "none", "null", "aggregate", "all", "baseline", "best", "ci",
            "combined", "count", "dev", "err", "error", "expected", "goal", "iqr", "lower", "mad",
            "max", "maximum", "media", "min", "minimum", "n", "overall", "pooled", "range", "ref",
            "reference", "rms", "rmse", "sd", "se", "sem", "sigma", "spread", "st", "sum", "target",
            "upper", "var", "worst"}  # fmt: skip
SUMS_UP = ("aggreg", "averag", "avg", "deviat", "dispers", "durchschnitt", "mean", "median", "mittel", "moyen",
           "percent", "promed", "quantil", "quartil", "std", "stdev", "streu", "summar", "total",
           "variance", "varianz")  # fmt: skip
"""Words that tables write where a run has no name, and in rows that sum up all runs: such a row is no further run.

Those of ``SUMS_UP`` are beginnings: such words come in many forms and languages.
"""
PLAN = {"algorithm", "method", "optimizer", "problem", "dataset", "data", "model", "partition", "split", "experiment",
        "client", "layer", "phase", "beta", "alpha", "algo", "config", "network", "sampling",
        "aggregation"}  # fmt: skip
"""Columns of what runs of one plan share, whether the bound has a quantity for it or not."""
KNOBS = {"lr", "learning_rate", "eta", "step_size", "local_steps", "local_epochs", "batch", "batch_size", "clients",
         "num_clients", "n_clients", "cohort", "participation", "rounds", "num_rounds", "samples", "relaxation", "mu",
         "momentum", "weight_decay", "regularisation", "regularization", "concentration", "dim"}  # fmt: skip
"""The same of numbers that a plan may change from round to round, for all its runs."""
MOMENTS = {"epoch", "epochs", "iteration", "iter", "step", "update", "communication_round", "comm_round", "t"}
"""Columns that say when a row was measured, which is the same for all rows of a round."""
NOTATION = "write 0.5, not 0,5, no thousands separators, and commas between fields"


@dataclass(frozen=True)
class Log:
    """A user's table: every column of numbers as ``(seeds, rounds)``, and the names of both, rounds in their order.

    ``numbered``: whether rounds are a column; without one a row is what its maker made of a whole run.
    """

    columns: Mapping[str, Array]
    seeds: tuple[str, ...]
    rounds: tuple[str, ...]
    numbered: bool
    unread: tuple[str, ...] = ()
    """Columns that no quantity of the bound is in."""


def read_log(path: Path, bound: Bound) -> Log:
    """The table; what is wrong with it is said in one line."""
    domains = {q.name: q.card.domain for q in (*logged(bound).values(), bound.target)}
    names, fields = _fields(path, bound)
    if not fields[0]:
        raise BoundsError(f"{path} has column names and no rows")
    columns = dict(zip(names, fields, strict=True))
    numbers = {name: _numbers(path, name, columns[name], domains[name]) for name in names if name in domains}
    unread = tuple(name for name in names if name and name not in {SEED, ROUND, *domains})
    for name in unread:
        if name.lower() in PLAN and len(set(columns[name])) > 1:
            raise BoundsError(f"{path}: {name} differs between rows, which are runs of one plan; write a log for each")
        if name.lower() in KNOBS and _moves(columns, name):
            raise BoundsError(f"{path}: {name} differs between seeds, the runs of one plan; write a log for each plan")
        if name.lower() in MOMENTS and _moves(columns, name):
            raise BoundsError(
                f"{path}: {name} differs between runs at one moment; write the rounds as a column {ROUND}, and only "
                "rows that belong together"
            )
    log = replace(_arranged(path, columns, numbers), unread=unread)
    for name, values in log.columns.items():
        if name != bound.target.name and domains[name].whole and np.ptp(values, axis=0).any():
            raise BoundsError(f"{path}: {name} differs between seeds, the runs of one plan; write a log for each plan")
    return log


def logged(bound: Bound) -> dict[str, Quantity]:
    """The quantities that may be columns beside the target: those of the bound, and how many clients there are."""
    counted = (clients,) if bound.axis == CLIENTS else ()
    return {q.name: q for q in (*bound.quantities, *counted)}


def _moves(columns: Mapping[str, Sequence[str]], name: str) -> bool:
    """Whether rows of one round, or of a log without rounds, differ in a column."""
    told = columns[name]
    rounds = columns.get(ROUND, ("",) * len(told))
    return len(set(zip(rounds, told, strict=True))) > len(set(rounds))


# ---- the file ----


def _fields(path: Path, bound: Bound) -> tuple[list[str], list[list[str]]]:
    """The names of the columns and the fields of every column; blank lines are none.

    Files without quotes, in which rows are as long as the header, are read by Arrow, ten times as fast.
    """
    data = content(path)
    try:
        lines = csv.reader(io.StringIO(data.decode("utf-8-sig"), newline=""), skipinitialspace=True, strict=True)
        filled = (row for row in lines if len(row) > 1 or (row and row[0].strip()))
        head = next(filled, [])
        names = [name.strip() for name in head]
        if not head:
            raise BoundsError(f"{path} is empty: the first line must name the columns, {bound.target.name} among them")
        _check_names(path, bound, names)
        with suppress(pa.ArrowException):
            columns = [column.to_pylist() for column in text_columns(data, head)] if b'"' not in data else []
            if columns and names[0] not in columns[0]:
                return names, columns
        rows = [[field.strip() for field in row] for row in filled]
    except (UnicodeDecodeError, csv.Error) as error:
        raise BoundsError(f"{path} is no CSV: {error}") from None
    for i, row in enumerate(rows, 1):
        _check_row(f"{path}, row {i}", names, row)
    return names, [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]


def _check_names(path: Path, bound: Bound, names: Sequence[str]) -> None:
    read = {SEED, ROUND, bound.target.name, *logged(bound)}
    for name in names:
        if name and names.count(name) > 1:
            raise BoundsError(f"{path}: column {name} comes twice")
        meant = name.lower().replace(" ", "_").replace("-", "_")
        if meant != name and meant in read:
            raise BoundsError(f"{path}: column {name!r} would not be read; write {meant}")
    if bound.target.name not in names:
        other = "; separate the columns by commas" if len(names) == 1 and re.search(r"[;\t|]", names[0]) else ""
        nearest = str(unknown("column", bound.target.name, names)).partition("; ")[2].replace("known: ", "columns: ")
        raise BoundsError(f"{path}: no column {bound.target.name}, which the bound is on; {nearest}{other}")


def _check_row(where: str, names: Sequence[str], row: Sequence[str]) -> None:
    if list(row) == list(names):
        raise BoundsError(f"{where} is the header again; keep one header, with runs told apart in a column {SEED}")
    if len(row) != len(names):
        raise BoundsError(f"{where} has {len(row)} fields where the header has {len(names)}; {NOTATION}")


# ---- numbers ----


def _numbers(path: Path, name: str, texts: Sequence[str], domain: Domain) -> Array:
    found = plain_numbers(pa.array(texts, pa.string()))
    sure = domain.contains(found) & (np.abs(found) < 2**53)  # beyond, floats merge whole numbers
    for row in map(int, np.flatnonzero(~sure)):
        text = texts[row]
        try:
            value = held(text)
        except ValueError as error:
            raise BoundsError(f"{path}, row {row + 1}: {name} {error}; got {shortened(text)!r}") from None
        if value is None:
            hint = f"; {NOTATION}" if re.search(r"\d[,;_ ]\d", text) else ""
            raise BoundsError(f"{path}, row {row + 1}: {name} must be a finite number; got {shortened(text)!r}{hint}")
        if not domain.contains(found[row : row + 1]).all():
            raise BoundsError(f"{path}, row {row + 1}: {name} must be {domain.words}; got {value:g}")
    return np.asarray(found)


def _counted(path: Path, name: str, texts: Sequence[str], named: bool = False) -> list[str]:
    """Whole numbers in one spelling, so that ``1``, ``01`` and ``1.0`` are the same; ``named``: or other words."""
    spelled: dict[str, str] = {}
    for text in dict.fromkeys(texts):
        whole = COUNT.fullmatch(text) and Decimal(text) == int(Decimal(text))
        if not whole and not (named and _is_name(text)):
            words = "a whole number >= 0" + (" or a name of a run" if named else "")
            raise BoundsError(f"{path}, row {texts.index(text) + 1}: {name} must be {words}; got {text!r}")
        spelled[text] = str(int(Decimal(text))) if whole else text
    return [spelled[text] for text in texts]


def _is_name(text: str) -> bool:
    """Whether this names a run rather than nothing, or what sums up all runs, as ``s.d.`` and ``mean (n=3)`` do."""
    apart = re.sub(r"(?<=[^\W\d_A-Z])(?=[A-Z])", " ", text.replace(".", ""))  # StdDev: Std Dev
    parts = [part.lower() for part in re.findall(r"[^\W\d_]+", apart)]
    sums = any({part, part.removesuffix("s")} & NO_NAMES or part.startswith(SUMS_UP) for part in parts)
    return text[:1].isalpha() and NAME.fullmatch(text) is not None and not sums


def _check_alike(path: Path, seeds: Sequence[str]) -> None:
    """Refuse a name unlike numbered ones: ``StdDev``, ``best`` or ``p95`` below ``s1`` and ``s2`` sums them up."""
    stems = {seed: re.sub(r"\d+", "", seed) for seed in dict.fromkeys(seeds)}
    usual = next((stem for seed, stem in stems.items() if stem != seed), None)
    for seed, stem in stems.items():
        if usual is not None and stem != usual:
            words = f"named as the others are, such as {usual}7, or the row left out if it sums them up"
            raise BoundsError(f"{path}, row {seeds.index(seed) + 1}: seed must be {words}; got {seed!r}")


# ---- runs and rounds ----


def _arranged(path: Path, columns: Mapping[str, Sequence[str]], numbers: Mapping[str, Array]) -> Log:
    """Rows by seed and round; a log of one run needs no column of seeds, one of one moment none of rounds."""
    count = len(next(iter(numbers.values())))
    seeds = _counted(path, SEED, columns[SEED], named=True) if SEED in columns else ["0"] * count
    _check_alike(path, seeds)
    rounds = _counted(path, ROUND, columns[ROUND]) if ROUND in columns else ["1"] * count
    one, other = tuple(dict.fromkeys(seeds)), tuple(sorted(set(rounds), key=int))
    numbered = [{name: number for number, name in enumerate(names)} for names in (one, other)]
    run, moment = (np.array([n[name] for name in told]) for n, told in zip(numbered, (seeds, rounds), strict=True))
    order = np.lexsort((moment, run))  # stable: of rows of one place the first comes first
    places = (run * len(other) + moment)[order]
    if len(again := order[1:][places[1:] == places[:-1]]):
        row = int(again.min())
        raise BoundsError(_twice(path, row + 1, (seeds[row], rounds[row]), columns))
    if len(places) < len(one) * len(other):
        lacking = np.flatnonzero(places != np.arange(len(places)))
        seed, round_ = divmod(int(lacking[0]) if len(lacking) else len(places), len(other))
        raise BoundsError(f"{path}: seed {one[seed]} has no round {other[round_]}; every run needs the same rounds")
    order = order.reshape(len(one), len(other))
    return Log({name: values[order] for name, values in numbers.items()}, one, other, ROUND in columns)


def _twice(path: Path, row: int, place: tuple[str, str], columns: Mapping[str, Sequence[str]]) -> str:
    """Two rows of one place: it comes twice, or the column that would tell them apart is missing."""
    lacking = [name for name in (SEED, ROUND) if name not in columns]
    if not lacking:
        return f"{path}, row {row}: seed {place[0]}, round {place[1]} comes twice"
    again = "there is another row" if SEED in lacking else f"seed {place[0]} comes again"
    again += f" of round {place[1]}" if ROUND not in lacking else ""
    what = {SEED: f"{SEED} (which run)", ROUND: f"{ROUND} (which moment of it)"}
    wanted = " or ".join(what[name] for name in lacking)
    return f"{path}, row {row}: {again}; add a column {wanted}, or aggregate the rows of a run into one"


__all__ = ["Log", "logged", "read_log"]
