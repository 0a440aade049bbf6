"""Problems from users' tables: ``--csv FILE --target COLUMN`` in place of ``--problem`` and ``--partition``.

It stands for ``--problem "logistic(held_out(table(...)), regularisation=0.01)" --partition "by_group()"``, which is
printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from shlex import quote
from typing import Any, TYPE_CHECKING

import numpy as np

from bounds.showing.process import remark
from bounds.showing.usage import UsageError

from ..data.csv_tables import FRAME, from_csv, from_frame, from_pandas, NUMBERS, table
from ..data.dataset import Dataset, held_out
from ..errors import EmpiricsError
from ..numbers import check_options

if TYPE_CHECKING:  # it imports torch, which --help does not need
    from .tasks import Task

REGULARISATION = 0.01
"""Default penalty of a linear model, with which the loss is strongly convex, so that theorems apply."""
MODELS = {"regression": "ridge", "binary": "logistic", "classification": "softmax"}
"""Default model for each kind of target."""
BY_GROUP = "by_group()"
OWN_DATA = ("csv", "frame", "target", "group", "leave_out", "kind", "model", "regularisation")
"""The options of verbs that describe data of the user's own."""


def own_problem(
    data: Any,
    target: str,
    group: str = "",
    leave_out: str | Sequence[str] = (),
    model: str = "",
    regularisation: float | None = None,
    kind: str = "",
) -> tuple[str | Task, str, list[str]]:
    """Return the problem of predicting a column of ``data``, the path of a CSV file or a pandas DataFrame.

    The problem is a text, or a task for a data frame. With it come its partition ("": not determined) and remarks.
    A fifth of the rows is held out for tests. ``model`` is a linear model or a network, possibly with options, such as
    ``femnist_dnn(precision='float64')``; the default depends on the kind of the target. ``regularisation`` is the L2
    penalty of a linear model, 0.01 by default. ``kind`` of the target is ``"classes"`` or ``"numbers"``; the default is
    numbers for the model ``ridge``, otherwise that of ``table``.

    Raises:
        EmpiricsError: if the data cannot be read, or model and target do not fit.
    """
    from ..spec_strings import parse, spec_string
    from .tasks import LINEAR, TASKS

    check_options({} if regularisation is None else {"regularisation": regularisation})
    ignored = leave_out if isinstance(leave_out, str) else ",".join([*leave_out, ""] if leave_out else [])
    path = str(data) if isinstance(data, (str, PathLike)) else ""
    kind = kind or (NUMBERS if model.strip().partition("(")[0] == MODELS["regression"] else "")
    held = held_out((table if path else from_frame)(path or data, target, group, ignored, kind))
    name, _, inside = (model or MODELS[held.kind]).strip().partition("(")
    linear = name in {linear_task.name for linear_task in LINEAR}
    if not linear and regularisation is not None:
        raise UsageError(f"--regularisation is the penalty of a linear model; {name} has none: leave it out")
    penalty = {"regularisation": REGULARISATION if regularisation is None else regularisation} if linear else {}
    more = [inside.strip().removesuffix(")")] if inside.strip(") ") else []
    partition = BY_GROUP if group else ""
    if not path:
        task = parse(spec_string(name, FRAME, *more, **penalty), {**TASKS, FRAME: lambda: held}, "problem")
        return task, partition, [f"the problem is {task}", *_held_out_remarks(held)]
    options = {"target": target, "group": group, "leave_out": ignored, "kind": kind}
    options = {name: value for name, value in options.items() if value}
    text = spec_string(name, spec_string("held_out", spec_string("table", repr(path), **options)), *more, **penalty)
    note = f'--csv means --problem "{text}"' + f' --partition "{partition}"' * bool(partition)
    return text, partition, [note, *_held_out_remarks(held)]


def resolve_problem(
    problem: Any, partition: Any, csv: Any = None, frame: Any = None, needed: bool = False, **own: Any
) -> tuple[Any, Any]:
    """Return ``problem`` and ``partition``, or those of a user's table, with remarks printed.

    ``csv`` is the path of a file, ``frame`` a pandas DataFrame; ``own`` are the other arguments of ``own_problem``,
    where None and empty ones mean the default. Unless ``needed``, there may be no problem. The error for
    a missing target completes an ``example`` of the command.
    """
    example = own.pop("example", "{}")
    options = {name: value for name, value in own.items() if value is not None and value not in ("", (), [])}
    data = [source for source in (csv, frame) if source is not None]
    if not data and options:
        raise EmpiricsError(f"{next(iter(options))}= needs data of your own: csv=FILE or frame=DATAFRAME")
    if len(data) + (problem is not None) > 1 or (needed and not data and problem is None):
        raise EmpiricsError("give one of problem=MODEL(DATA), such as softmax(digits), csv=FILE and frame=DATAFRAME")
    if not data:
        return problem, partition
    if "target" not in options:
        cells = from_csv(Path(csv)) if csv is not None else from_pandas(FRAME, frame)
        texts = [name for name in cells.columns if np.isnan(cells.plain(name)).all()]
        columns = dict(zip(("target", "group"), [list(cells.columns)[-1], *texts[:1]], strict=False))
        in_python = ", ".join(f"{option}={name!r}" for option, name in columns.items())
        in_shell = " ".join(f"{option}={quote(str(name))}" for option, name in {"csv": csv, **columns}.items())
        words = f"give target=COLUMN, and group=COLUMN if its values are clients, of {', '.join(cells.columns)}"
        raise EmpiricsError(f"{words}: {in_python if csv is None else example.format(in_shell)}")
    if "group" in options and partition != "iid":
        raise EmpiricsError("group= makes a client of every group: leave partition= out, or group=")
    problem, own_partition, remarks = own_problem(data[0], **options)
    remark(remarks)
    return problem, own_partition or partition


def _held_out_remarks(data: Dataset) -> Iterable[str]:
    """Return lines on how much is held out, in total and per group, and which groups have no training data left."""
    assert data.test is not None
    train, test = len(data), len(data.test)
    line = f"held out for tests: {test} of {train + test} lines"
    if data.groups is None:
        return [line]
    groups = [part.groups for part in (data, data.test) if part.groups is not None]
    train_counts, test_counts = (np.bincount(numbers, minlength=len(data.group_names)) for numbers in groups)
    ends = ((counts.min(), counts.max()) for counts in (test_counts, test_counts + train_counts))
    span = [f"{low} to {high}" if low < high else f"{low}" for low, high in ends]
    empty = [name for name, lines in zip(data.group_names, train_counts, strict=True) if not lines]
    clients = len(train_counts) - len(empty)
    line += f", {span[0]} of each {data.group_word} (which has {span[1]}); {clients} client{'s' * (clients > 1)}"
    if not empty:
        return [line]
    more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
    return [line, f"{data.group_word} {empty[0]!r}{more} has all its lines held out, and is left out"]
