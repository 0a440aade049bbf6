"""Grids: the runs of a sweep, as a TOML file or in Python.

name = "beta"
[fixed]
problem = "softmax(digits)"
rounds = 20
measure = ["test_accuracy"]
[vary]
algorithm = ["fedavg()", "fedinit(beta=0.1)"]
seed = "0..2"                # or [0, 1, 2], or 3: their number
[[also]]                     # another block: its differences from the one above
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
from typing import Any, NoReturn

from bounds.errors import unknown
from bounds.showing.files import content, MOST_SOURCE
from bounds.showing.loading import from_file
from bounds.showing.numbers import decimal

from ..errors import EmpiricsError
from ..numbers import seed_list
from . import Cell

TRAIN = "train"
MOST_CELLS = 200_000
"""Maximum number of runs; preparing more would take minutes."""
BLOCK = ("job", "fixed", "vary")
WORDS = ("name", *BLOCK, "also")


Block = tuple[str, Mapping[str, Any], Mapping[str, Sequence[Any]]]
"""The job, the fixed arguments, and the values of the varying arguments."""


@dataclass(frozen=True)
class Grid:
    """All combinations of the values in ``vary``, with the ``fixed`` arguments; ``also`` has blocks of differences."""

    name: str
    fixed: Mapping[str, Any] = field(default_factory=dict)
    vary: Mapping[str, Any] = field(default_factory=dict)
    job: str = TRAIN
    also: Sequence[Mapping[str, Any]] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or not self.name.isprintable():
            raise EmpiricsError(f"a grid's name must be a line of text; got {short(self.name)}")
        if not isinstance(self.also, (list, tuple)):
            self._refuse("also", "a list of tables", self.also)
        for block in ({word: getattr(self, word) for word in BLOCK}, *self.also):
            if not isinstance(block, Mapping):
                self._refuse("also", "a list of tables", block)
            for word in block:
                if word not in BLOCK:
                    raise unknown(f"word in a block of grid {self.name!r}", word, BLOCK)
            if not isinstance(job := block.get("job", self.job), str):
                self._refuse("job", "a name or path/file.py:name", job)
            for word in ("fixed", "vary"):
                if not isinstance(block.get(word, {}), Mapping):
                    self._refuse(word, "a table", block[word])
            for word, values in _listed(block.get("vary", {})).items():
                if word in block.get("fixed", {}):
                    raise EmpiricsError(f"grid {self.name!r}: {word} is fixed and varied: leave it in one of the two")
                if isinstance(values, (str, bytes)) or not isinstance(values, Sequence) or not values:
                    self._refuse(word, "a list of values to go through", values)

    def _refuse(self, word: str, rule: str, got: Any) -> NoReturn:
        raise EmpiricsError(f"grid {self.name!r}: {word} must be {rule}; got {short(got)}")

    @property
    def size(self) -> int:
        """The number of runs, without building them; duplicates count twice."""
        return sum(math.prod(map(len, vary.values())) for _, _, vary in self._blocks())

    def cells(self, heard: Callable[[], object] = lambda: None) -> list[Cell]:
        """The distinct runs in the file's order, the last argument varying fastest; ``heard`` is called for each."""
        if self.size > MOST_CELLS:
            raise EmpiricsError(
                f"grid {self.name!r} has {self.size:.3g} runs, more than the {MOST_CELLS:,} of one sweep: "
                "split it, or vary less"
            )
        cells = {}
        for job, fixed, vary in self._blocks():
            for values in itertools.product(*vary.values()):
                cell = Cell(job, {**fixed, **dict(zip(vary, values, strict=True))})
                cells[cell.key] = cell
                heard()
        return list(cells.values())

    def _blocks(self) -> Iterator[Block]:
        yield self.job, self.fixed, _listed(self.vary)
        for other in self.also:
            fixed = other.get("fixed", {})
            vary = {k: v for k, v in {**self.vary, **other.get("vary", {})}.items() if k not in fixed}
            yield other.get("job", self.job), {**self.fixed, **fixed}, _listed(vary)


def _listed(vary: Mapping[str, Any]) -> Mapping[str, Sequence[Any]]:
    """The values of the varying arguments, with seeds one by one."""
    return {word: seed_list(x) if word == "seed" and isinstance(x, (str, int)) else x for word, x in vary.items()}


def read_grid(text: str) -> Grid:
    """Read the grid of a TOML file, or of ``path/file.py:variable``."""
    if ".py:" in text or text.endswith(".py"):
        return from_file(text, Grid)
    if not text:
        raise EmpiricsError("the name of a grid's file must not be empty")
    path = Path(text)
    data = content(path, MOST_SOURCE)
    try:
        table = tomllib.loads(data.decode("utf-8-sig"), parse_float=_float)
    except RecursionError:
        raise EmpiricsError(f"{path}: nested too deeply for a grid") from None
    except ValueError as error:  # not text, not TOML, or numbers of thousands of digits
        raise EmpiricsError(f"{path}: not a TOML file: {error}") from None
    for word in table:
        if word not in WORDS:
            raise EmpiricsError(f"{path}: {unknown('word', word, WORDS)}")
    if "fixed" not in table and "vary" not in table:
        raise EmpiricsError(f"{path}: a grid needs [fixed] or [vary] with the arguments of its runs")
    return Grid(**{"name": path.stem, **table})


def _float(text: str) -> float:
    """A number of TOML; raises if it is too small for a float, instead of returning 0."""
    number = decimal(text.replace("_", ""))
    return float(text) if number is None else number  # inf and nan are refused with the arguments
