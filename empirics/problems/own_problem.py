"""Data of one's own in a line: ``--csv FILE --target COLUMN`` in place of ``--problem`` and ``--partition``.

It is short for ``--problem "logistic(held_out(table(...)), regularisation=0.01)" --partition "by_group()"``, and the
line that it abbreviates is printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from typing import Any, NamedTuple, TYPE_CHECKING

import numpy as np

from bounds.showing.process import remark
from bounds.showing.usage import UsageError

from ..data.csv_tables import FRAME, from_frame, NUMBERS, table
from ..data.dataset import Dataset
from ..data.parts import held_out
from ..errors import EmpiricsError
from ..numbers import check_options

if TYPE_CHECKING:  # it brings torch, which --help does without
    from .tasks import Task

REGULARISATION = 0.01
"""The penalty of a linear model by default: with it the loss is strongly convex, so that theorems apply."""
MODELS = {"regression": "ridge", "binary": "logistic", "classification": "softmax"}
"""The model for a target of each kind."""
BY_GROUP = "by_group()"


class OwnProblem(NamedTuple):
    """A problem as text, or as a task where it comes from a frame; its partition ("": to be chosen); what to say."""

    problem: str | Task
    partition: str
    remarks: tuple[str, ...]


def own_problem(
    data: Any,
    target: str,
    group: str = "",
    leave_out: str | Sequence[str] = (),
    model: str = "",
    regularisation: float | None = None,
    kind: str = "",
) -> OwnProblem:
    """The problem of predicting a column of ``data``: the path of a CSV file, or a pandas DataFrame.

    A fifth of the rows is held out for tests. ``model`` is a linear model or a network, with options if need be
    (``femnist_dnn(hidden=9)``); without one it is that of the target's kind. ``regularisation`` is the L2 penalty of a
    linear model, 0.01 by default. ``kind`` says whether the target is ``"classes"`` or ``"numbers"``: with the model
    ``ridge`` numbers by default, otherwise as ``table`` decides.

    Raises:
        EmpiricsError: in one line, where the data cannot be read, or model and target do not go together.
    """
    from ..spec_strings import parse, spec_string
    from .tasks import LINEAR, TASKS

    check_options({} if regularisation is None else {"regularisation": regularisation})
    left = leave_out if isinstance(leave_out, str) else ",".join([*leave_out, ""] if leave_out else [])
    path = str(data) if isinstance(data, (str, PathLike)) else ""
    kind = kind or (NUMBERS if model.strip().partition("(")[0] == MODELS["regression"] else "")
    held = held_out((table if path else from_frame)(path or data, target, group, left, kind))
    word, _, inside = (model or MODELS[held.kind]).strip().partition("(")
    linear = word in {one.word for one in LINEAR}
    if not linear and regularisation is not None:
        raise UsageError(f"--regularisation is the penalty of a linear model; {word} has none: leave it out")
    penalty = {"regularisation": REGULARISATION if regularisation is None else regularisation} if linear else {}
    more = [inside.strip().removesuffix(")")] if inside.strip(") ") else []
    partition = BY_GROUP if group else ""
    if not path:
        made = parse(spec_string(word, FRAME, *more, **penalty), {**TASKS, FRAME: lambda: held}, "problem")
        return OwnProblem(made, partition, (f"the problem is {made}", *_held(held)))
    given = {"target": target, "group": group, "leave_out": left, "kind": kind}
    chosen = {name: value for name, value in given.items() if value}
    text = spec_string(word, spec_string("held_out", spec_string("table", repr(path), **chosen)), *more, **penalty)
    said = f'--csv means --problem "{text}"' + f' --partition "{partition}"' * bool(partition)
    return OwnProblem(text, partition, (said, *_held(held)))


def given_or_own(
    problem: Any, partition: Any, csv: Any = None, frame: Any = None, needed: bool = False, **own: Any
) -> tuple[Any, Any]:
    """The problem and the partition that are given, or those of data of one's own, which are remarked.

    ``csv`` is the path of a file, ``frame`` a pandas DataFrame; ``own`` are the other arguments of ``own_problem``, of
    which None and empty ones are left out. Without ``needed`` there may be no problem at all.
    """
    options = {name: value for name, value in own.items() if value is not None and value not in ("", (), [])}
    data = [one for one in (csv, frame) if one is not None]
    if not data and options:
        raise EmpiricsError(f"{next(iter(options))}= goes with csv=FILE or frame=DATAFRAME, data of your own")
    if len(data) + (problem is not None) > 1 or (needed and not data and problem is None):
        raise EmpiricsError("give one of problem=MODEL(DATA), such as softmax(digits), csv=FILE and frame=DATAFRAME")
    if not data:
        return problem, partition
    if "target" not in options:
        raise EmpiricsError("data of your own need --target COLUMN (target=COLUMN), the column to predict")
    if "group" in options and partition != "iid":
        raise EmpiricsError("group= makes a client of every group: leave partition= out, or group=")
    made = own_problem(data[0], **options)
    remark(made.remarks)
    return made.problem, made.partition or partition


def _held(data: Dataset) -> Iterable[str]:
    """How much is held out, of every client, and whom that leaves without a line to train on."""
    assert data.test is not None
    train, test = len(data), len(data.test)
    said = f"held out for tests: {test} of {train + test} lines"
    if data.groups is None:
        return [said]
    groups = [part.groups for part in (data, data.test) if part.groups is not None]
    kept, out = (np.bincount(numbers, minlength=len(data.group_names)) for numbers in groups)
    ends = ((counts.min(), counts.max()) for counts in (out, out + kept))
    span = [f"{low} to {high}" if low < high else f"{low}" for low, high in ends]
    lost = [name for name, lines in zip(data.group_names, kept, strict=True) if not lines]
    left = len(kept) - len(lost)
    said += f", {span[0]} of each {data.group_word} (which has {span[1]}); {left} client{'s' * (left > 1)}"
    if not lost:
        return [said]
    more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
    return [said, f"{data.group_word} {lost[0]!r}{more} has all its lines held out, and is left out"]
