"""The verb ``bundle``: one folder with everything a paper about these bounds could need, from what a store holds."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.papers import PAPERS
from bounds.showing.files import whole, write_whole
from bounds.showing.numbers import MOST_WORKERS, whole_number
from bounds.showing.usage import bare_parser, Parser, writable_folder
from empirics.errors import EmpiricsError
from empirics.experiments import Kept, Store
from empirics.experiments.command import folder as store_folder, path_word
from empirics.experiments.machine import machine
from empirics.progress import progress
from paper_checks.audit import report
from paper_checks.audit.records import ordered
from paper_checks.audit.running import audit, CLAIMS, REVIEWS

from .artefact import Artefact
from .catalogue import chosen
from .command import drawn, known_scale
from .making import cells
from .report import TITLE

DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
HOLDS = {
    "figures/REPORT.md": "all figures and tables, beside what the papers report",
    "bounds.tex": "one macro per bound",
    "references.bib": "the papers",
    "numbers.parquet": "every number that is drawn or printed: artefact, row, column, number or text",
    "runs.parquet": "every number of every run behind them, with the run's key",
    "audit.csv": "the verdict on every claim of the papers",
    "machine.json": "this machine and the versions here; those of the runs are in the cards",
}
"""The files that belong to no single figure."""
CONTENTS = """\
# A bundle of fedbounds

Made by `fedbounds bundle --scale {scale}`: {artefacts} figures and tables, {there} of the {wanted} runs that they read.

| file | what it holds |
|---|---|
| `figures/` | figures (PDF, SVG, PNG), captions and tables (LaTeX, Markdown), their numbers (CSV) and cards (JSON) |
{rows}
| `audit/` | the same, a page per paper |

A bound in a paper of yours: `\\input{{bounds}}` in the preamble (amsmath), then `$\\{macro}$`.
"""


def bundle(arguments: Sequence[str]) -> int:
    """Write the folder; runs nothing but the audit."""
    try:
        args = _parser().parse_args(list(arguments))
    except SystemExit:  # --help
        return 0
    known_scale(args.scale)
    artefacts, target, store = chosen(["all"]), args.output, Store(store_folder(args.store))
    if not store.folder.is_dir():
        raise EmpiricsError(f"there is no store at {store.folder}; fedbounds figure all --scale {args.scale} fills one")
    writable_folder("-o", target, _own())
    told = _figures(artefacts, args.scale, store, target)
    write_whole(target / "bounds.tex", macros(BOUNDS))
    write_whole(target / "references.bib", "\n\n".join(p.bibtex for p in PAPERS.values()) + "\n")
    write_whole(target / "machine.json", json.dumps(machine(), indent=1, ensure_ascii=False) + "\n")
    _audit(target, args.workers)
    write_whole(target / "README.md", told)
    print(f"wrote {target}: {len(list(target.rglob('*.*')))} files")
    return 0


def _own() -> dict[str, str]:
    """How the files of the bundle begin that others may have too."""
    title, entry = CONTENTS.partition("\n")[0], next(iter(PAPERS.values())).bibtex
    return {"README.md": title, "references.bib": entry, "bounds.tex": MACROS, "figures/REPORT.md": TITLE}


def _figures(artefacts: Sequence[Artefact], scale: str, store: Store, target: Path) -> str:
    """Pictures, tables and all their numbers; returns the text of the bundle's README."""
    drawn(artefacts, scale, store, target / "figures")
    wanted = cells(artefacts, scale)
    there = store.of(wanted)
    _parquet(target / "numbers.parquet", list(_drawn(target / "figures", artefacts)), NUMBERS)
    _runs(target / "runs.parquet", there)
    macro = macro_name(next(iter(BOUNDS)))
    rows = "\n".join(f"| `{name}` | {words} |" for name, words in HOLDS.items())
    return CONTENTS.format(
        scale=scale, artefacts=len(artefacts), there=len(there), wanted=len(wanted), macro=macro, rows=rows
    )


def _audit(target: Path, workers: int) -> None:
    claims = [claim for claim in CLAIMS.values() if not claim.deep]
    with progress("checking the claims") as bar:
        bar.start(len(claims))
        try:
            found = ordered(audit(claims, workers, lambda verdict: bar.step()))
        except KeyboardInterrupt:
            words = f"interrupted: figures, tables, numbers and bounds are in {target}; the audit is not"
            raise KeyboardInterrupt(words) from None
    (target / "audit/reports").mkdir(parents=True, exist_ok=True)
    for name, text in report.files(found, REVIEWS).items():
        write_whole(target / "audit" / name, text)
    with whole(target / "audit.csv") as beside, beside.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["claim", "paper", "verdict", "defect", "grade", "source", "words", "evidence"])
        for v in found:
            about = (v.claim.name, v.claim.paper, v.word, v.defect, v.finding.grade, v.claim.source, v.claim.words)
            out.writerow([*about, v.finding.evidence])


# ---- LaTeX ----


def macro_name(name: str) -> str:
    """A bound's name as letters only, which is all that TeX takes: ``fedinit.theorem_1`` is ``fedinitTheoremOne``."""
    first, *rest = re.split(r"[._]", name)
    spelled = "".join(part[:1].upper() + part[1:] for part in rest)
    return first + re.sub(r"\d", lambda found: DIGITS[int(found.group())], spelled)


MACROS = "% Every bound as a macro, to be used in mathematics; needs amsmath."


def macros(bounds: Mapping[str, Bound]) -> str:
    """One ``\\newcommand`` per bound: its formula, to be used in mathematics."""
    lines = [MACROS]
    for name, bound in bounds.items():
        lines += [f"% {name}: {bound.source}", rf"\newcommand{{\{macro_name(name)}}}{{{bound.latex()}}}"]
    return "\n".join(lines) + "\n"


# ---- numbers ----

NUMBERS = ("artefact", "row", "column", "number", "text")


def _drawn(folder: Path, artefacts: Sequence[Artefact]) -> Iterator[tuple[str, int, str, float | None, str]]:
    for artefact in artefacts:
        if not (folder / f"{artefact.name}.csv").exists():  # a figure that has nothing to show
            continue
        with (folder / f"{artefact.name}.csv").open(newline="", encoding="utf-8") as file:
            for i, row in enumerate(csv.DictReader(file)):
                for column, cell in row.items():
                    number = _number(cell)
                    yield artefact.name, i, column, number, "" if number is not None else cell


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _parquet(path: Path, rows: Sequence[tuple[Any, ...]], names: Sequence[str]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    with whole(path) as beside:
        pq.write_table(pa.table(dict(zip(names, map(list, columns), strict=True))), beside, compression="zstd")


def _runs(path: Path, kept: Sequence[Kept]) -> None:
    """All tables one below the other; what a run lacks is empty, a column that is text in one run is text in all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    read = [(str(k.card["key"]), k.columns()) for k in kept]
    tables = [{"key": [key] * max(map(len, columns.values()), default=0), **columns} for key, columns in read]
    texts = {name for table in tables for name, column in table.items() if any(isinstance(v, str) for v in column)}
    for table in tables:
        table |= {name: [None if v is None else str(v) for v in table[name]] for name in texts & set(table)}
    if tables:
        with whole(path) as beside:
            whole_table = pa.concat_tables(map(pa.table, tables), promote_options="permissive")
            pq.write_table(whole_table, beside, compression="zstd")


def _parser() -> Parser:
    parser = bare_parser("bundle")
    add = parser.add_argument
    add("--scale", default="laptop", metavar="S", help="the scale of the figures (laptop)")
    add("-o", dest="output", type=path_word, default=Path("fedbounds-bundle"), metavar="DIR",
        help="the folder (./fedbounds-bundle)")  # fmt: skip
    add("--store", type=path_word, metavar="DIR", help="folder of the runs ($FEDBOUNDS_STORE, else ./fedbounds-store)")
    add("--workers", type=whole_number(1, MOST_WORKERS), default=2, metavar="N", help="processes of the audit (2)")
    return parser
