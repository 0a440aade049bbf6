"""``fedbounds figure --bundle``: one folder for authors with figures, tables, numbers, bounds and the audit."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from bounds.catalog import BOUNDS
from bounds.core import Bound
from bounds.papers import PAPERS
from bounds.showing import cards
from bounds.showing.command_line import Report
from bounds.showing.files import whole, write_whole
from bounds.showing.numbers import check_workers
from bounds.showing.usage import writable_folder
from empirics.errors import EmpiricsError
from empirics.experiments import Kept, Store
from empirics.experiments.machine import machine
from paper_checks.audit import report
from paper_checks.audit.records import ordered
from paper_checks.audit.running import audit, CLAIMS, REVIEWS

from .artefact import Artefact
from .catalogue import select
from .command import write_figures
from .making import cells, Planned, planned
from .report import TITLE

DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
HOLDS = {
    "figures/REPORT.md": "all figures and tables, beside what the papers report",
    "bounds.tex": "one macro per bound",
    "references.bib": "the papers",
    "numbers.parquet": "every number that is drawn or printed: figure or table, row, column, number or text",
    "runs.parquet": "every number of every run behind them, with the run's key",
    "audit.csv": "the verdict on every claim of the papers",
    "machine.json": "this machine and the versions here; those of the runs are in the cards",
}
"""Files that do not belong to a single figure, with their descriptions."""
CONTENTS = """\
# A bundle of fedbounds

Made by `fedbounds figure --bundle --scale {scale}`: {artefacts} figures and tables, {there} of the {wanted} runs that
they read.

| file | what it holds |
|---|---|
| `figures/` | figures (PDF, SVG, PNG), captions and tables (LaTeX, Markdown), their numbers (CSV) and cards (JSON) |
{rows}
| `audit/` | the same, a page per paper |

A bound in a paper of yours: `\\input{{bounds}}` in the preamble (amsmath), then `$\\{macro}$`.
"""


def bundle(scale: str, target: Path, store: Store, workers: int) -> Report:
    """Write the bundle from the runs in a store; the audit is the only thing that is run."""
    if not store.folder.is_dir():
        raise EmpiricsError(f"there is no store at {store.folder}; fedbounds figure all --scale {scale} fills one")
    check_workers(workers, 1)
    title, entry = CONTENTS.partition("\n")[0], next(iter(PAPERS.values())).bibtex  # files that others may have too
    own = {"README.md": title, "references.bib": entry, "bounds.tex": MACROS, "figures/REPORT.md": TITLE}
    writable_folder("-o", target, own)
    contents = _figures(planned(select(["all"]), scale), scale, store, target)
    write_whole(target / "bounds.tex", macros(BOUNDS))
    write_whole(target / "references.bib", "\n\n".join(p.bibtex for p in PAPERS.values()) + "\n")
    write_whole(target / "machine.json", json.dumps(machine(), indent=1, ensure_ascii=False) + "\n")
    _audit(target, workers)
    write_whole(target / "README.md", contents)
    files = sorted(str(path.relative_to(target)) for path in target.rglob("*.*"))
    return Report([f"wrote {target}: {len(files)} files"], {"folder": str(target), "files": files})


def _figures(wanted: Planned, scale: str, store: Store, target: Path) -> str:
    """Write figures, tables and all their numbers; return the text of the bundle's README."""
    write_figures(wanted, scale, store, target / "figures")
    runs = cells(wanted)
    there = store.of(runs)
    numbers = list(_number_rows(target / "figures", wanted))
    _parquet(target / "numbers.parquet", [{name: [row[name] for row in numbers] for name in numbers[0]}])
    _parquet(target / "runs.parquet", _runs(there))
    macro = macro_name(next(iter(BOUNDS)))
    rows = "\n".join(f"| `{name}` | {words} |" for name, words in HOLDS.items())
    return CONTENTS.format(
        scale=scale, artefacts=len(wanted), there=len(there), wanted=len(runs), macro=macro, rows=rows
    )


def _audit(target: Path, workers: int) -> None:
    """Check all claims, and write the reports and a CSV of the verdicts."""
    try:
        verdicts = ordered(audit(CLAIMS.values(), workers))
    except KeyboardInterrupt:
        words = f"interrupted: figures, tables, numbers and bounds are in {target}; the audit is not"
        raise KeyboardInterrupt(words) from None
    (target / "audit/reports").mkdir(parents=True, exist_ok=True)
    for name, text in report.files(verdicts, REVIEWS).items():
        write_whole(target / "audit" / name, text)
    with whole(target / "audit.csv") as beside, beside.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["claim", "paper", "verdict", "defect", "grade", "source", "words", "evidence"])
        for v in verdicts:
            about = (v.claim.name, v.claim.paper, v.status, v.defect, v.finding.grade, v.claim.source, v.claim.words)
            out.writerow([*about, v.finding.evidence])


# ---- LaTeX ----


def macro_name(name: str) -> str:
    """Return the TeX macro of a bound, which may only have letters: ``fedinitTheoremOne`` for ``fedinit.theorem_1``."""
    first, *rest = re.split(r"[._]", name)
    spelled = "".join(part[:1].upper() + part[1:] for part in rest)
    return first + re.sub(r"\d", lambda digit: DIGITS[int(digit.group())], spelled)


MACROS = "% Every bound as a macro, to be used in mathematics; needs amsmath."


def macros(bounds: Mapping[str, Bound]) -> str:
    """Return one ``\\newcommand`` per bound with its formula, for use in math mode."""
    lines = [MACROS]
    for name, bound in bounds.items():
        lines += [f"% {name}: {bound.source}", rf"\newcommand{{\{macro_name(name)}}}{{{cards.latex(bound)}}}"]
    return "\n".join(lines) + "\n"


# ---- numbers ----


def _number_rows(folder: Path, artefacts: Iterable[Artefact]) -> Iterator[dict[str, Any]]:
    """Yield every cell of the CSV files of these artefacts as figure, row, column, and number or text."""
    for artefact in artefacts:
        path = folder / f"{artefact.name}.csv"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for i, row in enumerate(csv.DictReader(StringIO(text, newline=""))):
            for column, cell in row.items():
                try:
                    value: dict[str, Any] = {"number": float(cell), "text": ""}
                except ValueError:
                    value = {"number": None, "text": cell}
                yield {"artefact": artefact.name, "row": i, "column": column, **value}


def _runs(results: Sequence[Kept]) -> list[Mapping[str, list[Any]]]:
    """Return the table of every run with its key; a column that is text in one run is text in all."""
    keyed = [(str(result.card["key"]), result.columns()) for result in results]
    tables = [{"key": [key] * max(map(len, columns.values()), default=0), **columns} for key, columns in keyed]
    texts = {name for table in tables for name, column in table.items() if any(isinstance(v, str) for v in column)}
    for table in tables:
        table |= {name: [None if v is None else str(v) for v in table[name]] for name in texts & set(table)}
    return list(tables)


def _parquet(path: Path, tables: Sequence[Mapping[str, list[Any]]]) -> None:
    """Write the concatenation of the tables; columns that a table lacks are empty."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if tables:
        together = pa.concat_tables(map(pa.table, tables), promote_options="permissive")
        with whole(path) as beside:
            pq.write_table(together, beside, compression="zstd")
