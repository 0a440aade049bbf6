"""Grids: the runs of a sweep, as a TOML file or in Python.

name = "beta"
[fixed]
problem = "softmax(digits)"
rounds = 20
measure = ["test_accuracy"]
[vary]
algorithm = ["fedavg()", "fedinit(beta=0.1)"]
seed = [0, 1, 2]
[[also]]                     # a further block: its differences from the one above
fixed.partition = "dirichlet(0.1)"
"""

from __future__ import annotations

import itertools
import math
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from reprlib import repr as short
from typing import Any

from bounds.errors import unknown
from bounds.showing.files import content, MOST_SOURCE
from bounds.showing.loading import from_file
from bounds.showing.numbers import decimal

from ..errors import EmpiricsError
from . import Cell

TRAIN = "train"
MOST_CELLS = 200_000
"""More would take minutes before the first one starts."""
BLOCK = ("job", "fixed", "vary")
WORDS = ("name", *BLOCK, "also")


@dataclass(frozen=True)
class Grid:
    """Every combination of what varies, with what is fixed; ``also`` holds blocks that override parts of this one."""

    name: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    vary: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    job: str = TRAIN
    also: tuple[Mapping[str, Any], ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or not self.name.isprintable():
            raise EmpiricsError(f"a grid's name must be a line of text; got {short(self.name)}")
        self._check(self.job, self.fixed, self.vary)
        for other in self.also:
            if not isinstance(other, Mapping):
                raise EmpiricsError(f"grid {self.name!r}: also must be a list of tables; got {short(other)} in it")
            for word in other:
                if word not in BLOCK:
                    raise unknown(f"word in a block of grid {self.name!r}", word, BLOCK)
            self._check(other.get("job", self.job), other.get("fixed", {}), other.get("vary", {}))

    def _check(self, job: Any, fixed: Any, vary: Any) -> None:
        """Refuse a block of which no run can be made."""
        if not isinstance(job, str):
            raise EmpiricsError(f"grid {self.name!r}: job must be a name or path/file.py:name; got {short(job)}")
        for word, table in (("fixed", fixed), ("vary", vary)):
            if not isinstance(table, Mapping):
                raise EmpiricsError(f"grid {self.name!r}: {word} must be a table; got {short(table)}")
        for word, values in vary.items():
            if word in fixed:
                raise EmpiricsError(f"grid {self.name!r}: {word} is fixed and varied: leave it in one of the two")
            if isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or not values:
                raise EmpiricsError(
                    f"grid {self.name!r}: {word} must be a list of values to go through; got {short(values)}"
                )

    @property
    def size(self) -> int:
        """The number of runs, without building them; those that occur twice count twice."""
        return sum(math.prod(map(len, vary.values())) for _, _, vary in self._blocks())

    def cells(self, heard: Callable[[], object] = lambda: None) -> list[Cell]:
        """The runs in the order of the file, the last argument varying fastest, each once; ``heard`` hears of each."""
        if self.size > MOST_CELLS:
            raise EmpiricsError(
                f"grid {self.name!r} has {self.size:.3g} runs, more than the {MOST_CELLS:,} that one sweep takes: "
                "split it, or vary less"
            )
        found = {}
        for cell in (cell for block in self._blocks() for cell in _combined(*block)):
            found[cell.key] = cell
            heard()
        return list(found.values())

    def _blocks(self) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Sequence[Any]]]]:
        """Job, what is fixed and what varies, block by block."""
        yield self.job, self.fixed, self.vary
        for other in self.also:
            vary = {**self.vary, **other.get("vary", {})}
            fixed = {**self.fixed, **other.get("fixed", {})}
            vary = {k: v for k, v in vary.items() if k not in other.get("fixed", {})}
            yield other.get("job", self.job), fixed, vary


def _combined(job: str, fixed: Mapping[str, Any], vary: Mapping[str, Sequence[Any]]) -> Iterator[Cell]:
    for values in itertools.product(*vary.values()):
        yield Cell(job, {**fixed, **dict(zip(vary, values, strict=True))})


def read_grid(text: str) -> Grid:
    """The grid of a TOML file, or of ``path/file.py:variable``."""
    if ".py:" in text or text.endswith(".py"):
        return from_file(text, Grid)
    if not text:
        raise EmpiricsError("the name of a grid's file must not be empty")
    path = Path(text)
    data = content(path, MOST_SOURCE)
    try:
        found = tomllib.loads(data.decode("utf-8-sig"), parse_float=_float)
    except RecursionError:
        raise EmpiricsError(f"{path}: nested too deeply for a grid") from None
    except ValueError as error:  # no text, no TOML, numbers of thousands of digits
        raise EmpiricsError(f"{path}: not a TOML file: {error}") from None
    return _grid(path, found)


def _float(text: str) -> float:
    """A number of TOML as it is written: one that is too small for a float is refused, not read as 0."""
    plain = decimal(text.replace("_", ""))
    return float(text) if plain is None else plain  # inf and nan, which are refused where they stand


def _grid(path: Path, found: dict[str, Any]) -> Grid:
    for word in found:
        if word not in WORDS:
            raise EmpiricsError(f"{path}: {unknown('word', word, WORDS)}")
    if "fixed" not in found and "vary" not in found:
        raise EmpiricsError(f"{path}: a grid needs [fixed] or [vary] with the arguments of its runs")
    also = found.get("also", [])
    if not isinstance(also, list):
        raise EmpiricsError(f"{path}: also must be a list of tables; got {short(also)}")
    name, job = found.get("name", path.stem), found.get("job", TRAIN)
    return Grid(name, found.get("fixed", {}), found.get("vary", {}), job, tuple(also))
