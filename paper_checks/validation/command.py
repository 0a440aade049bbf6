"""The command line of a validation: parse, run, print, write the files, and the exit status."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bounds.errors import BoundsError
from bounds.showing.usage import Parser, writable_folder
from empirics.progress import progress

from .core import Result, Validation
from .report import card, show, write_table

HOLDS, VIOLATION, MISTAKE, INTERRUPTED = 0, 1, 2, 130

Draw = Callable[[Result, Path], list[Path]]


def main(validation: Validation, arguments: list[str], draw: Draw | None = None) -> int:
    """Run, print a table on stdout and write ``NAME.csv``, ``NAME.json`` and what ``draw`` draws."""
    began = time.perf_counter()
    try:
        options = _parse(validation, arguments)
        writable_folder("--out", options.out)
        with progress() as bar:
            result = validation.run(options, bar)
        seconds = time.perf_counter() - began
        show(validation, result, seconds)
        command = shlex.join(["fedbounds", "validate", validation.name, *arguments])
        paths = _write(validation.name, result, options.out, {"command": command, "seconds": round(seconds, 2)}, draw)
    except SystemExit:  # --help
        return HOLDS
    except KeyboardInterrupt:
        return _say("interrupted: the run is incomplete", INTERRUPTED)
    except (BoundsError, OSError) as error:
        return _say(f"fedbounds: {error}", MISTAKE)
    print("wrote " + ", ".join(str(path) for path in paths))
    return VIOLATION if result.violations else HOLDS


def _say(words: str, status: int) -> int:
    print(words, file=sys.stderr)
    return status


def _parse(validation: Validation, arguments: list[str]) -> argparse.Namespace:
    parser = Parser(prog=f"fedbounds validate {validation.name}", description=validation.words)
    validation.add_options(parser)
    parser.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="folder of the results (./out)")
    return parser.parse_args(arguments)


def _write(name: str, result: Result, folder: Path, run: dict[str, Any], draw: Draw | None) -> list[Path]:
    table, about = folder / f"{name}.csv", folder / f"{name}.json"
    write_table(result, table)
    about.write_text(json.dumps({**card(result), **run}, indent=2) + "\n")
    return [table, about, *(draw(result, folder) if draw else [])]
