"""The command ``fedbounds check``: run the audit or part of it, and write its reports."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from os.path import realpath
from pathlib import Path

from bounds.catalog import BOUNDS
from bounds.errors import unknown
from bounds.papers import paper as known_paper, PAPERS
from bounds.showing.command_line import Report
from bounds.showing.files import write_whole
from bounds.showing.numbers import check_workers
from bounds.showing.usage import refuse_unused, writable_folder
from empirics.progress import progress

from ..claims.claim import Claim, ClaimError, registry
from .own import bounds_named, is_own, of_file, reviews
from .records import as_json, ordered, record
from .report import files, FOLDER, lines
from .running import audit, CLAIMS, claims_of, REVIEWS, Verdict
from .summary import COMMITTED, page

FEW = 12
"""Up to this many claims selected by name are shown in full, more as a table."""
CHECK_JSON = """\
--json prints a list of objects, one per claim: name, paper, kind, verdict, defect, ours, expected (whether it is the
audited verdict), grade, words, source, evidence, witness, note, repair, repair_bound, repair_evidence, damaged, bounds,
command. For a bound (FILE.py:NAME) the contract is checked, and --json prints a list of objects with bound, points (how
many were drawn), checks (a list of faults for each check; null: not checked, for example without a reference
implementation), rises and falls (quantities in which the bound did so at every point), broken (number of faults), tests
(by verb, why it cannot test whether the bound is true; empty: it can)."""


def check(
    *names: str,
    paper: str | None = None,
    summary: bool = False,
    erratum: bool = False,
    report: Path | str | None = None,
    output: Path | str | None = None,
    renew: bool = False,
    workers: int = 2,
) -> Report:
    """Check claims of the papers by machine; the exit status is 1 if a verdict differs from the audited one.

    Args:
        names: A claim (with those below it), else a bound (claims that use it), file.py (its claims), file.py:variable.
        paper: Check only the claims of one paper.
        summary: Print one page on a paper, or on a file.py of your own that declares claims.
        erratum: Print the corrections of a paper in LaTeX: what is printed, why it fails, and what replaces it.
        report: Write REPORT.md, a page per paper and report.json to this folder.
        output: Write the summary (.md, .txt) or the erratum (.tex) to this file instead of printing it.
        renew: Write the committed report of the whole audit again (in a checkout).
        workers: Number of processes (default 2); it does not change the verdicts.
    """
    check_workers(workers, 1)
    folder, file = (None if path is None else Path(path) for path in (report, output))
    if summary or erratum:
        refuse_unused("--summary and --erratum are about one paper", report=report, renew=renew)
        names = (*names, paper) if paper is not None else names
        if len(names) != 1:
            raise ClaimError(f"--summary and --erratum need one paper: {', '.join(PAPERS)}, or a file.py of your own")
        return page(names[0], erratum, file, workers)
    refuse_unused("-o is the file of a summary or an erratum", output=output)
    key = None if paper is None else known_paper(paper).key
    _refuse_to_overwrite(names, key, folder, renew)
    if named := bounds_named(names):
        why = "for a bound its contract is checked, at random points"
        refuse_unused(why, paper=paper, report=report, renew=renew)
        with progress("checking the contract"):
            from .contract import contract  # loads torch

            return contract(named)
    judged, interrupted = dict[str, Verdict](), ""
    claims = chosen(names, judged, key or "", workers)
    with suppress(KeyboardInterrupt):
        _judge(claims, judged, workers)
    verdicts = [judged[c.name] for c in claims if c.name in judged]
    if len(verdicts) < len(claims):
        unwritten = "; no report was written" if report or renew else ""
        interrupted = f"interrupted: {len(verdicts)} of {len(claims)} claims were checked{unwritten}"
    in_order = ordered(verdicts)
    in_full = bool(names) and len(claims) <= FEW and not interrupted
    status = int(not all(v.as_audited for v in verdicts))
    result = Report(lines(verdicts, in_full), [record(v) for v in in_order], status)
    result.interrupted = interrupted
    if renew and not interrupted:
        pages = files(in_order, REVIEWS)
        result.wrote += tuple(_write(COMMITTED.parent / name, text) for name, text in pages.items())
    if folder is not None and not interrupted:
        _remove_pages(folder)
        pages = {**files(in_order, reviews(names)), "report.json": as_json(in_order)}
        result.wrote += tuple(_write(folder / name, text) for name, text in pages.items())
    return result


def _refuse_to_overwrite(names: Sequence[str], paper: str | None, report: Path | None, renew: bool) -> None:
    """Raise, before anything runs, if a report would overwrite files that are not an earlier report."""
    if renew and (names or paper):
        raise ClaimError("--renew writes the report of the whole audit: leave out names and --paper")
    if renew and not (COMMITTED.parents[1] / "pyproject.toml").is_file():
        raise ClaimError("--renew works in a checkout only, and this is an installed package: use --report DIR")
    if report is not None:
        if realpath(report) == str(COMMITTED.parent):  # Path.resolve raises RuntimeError at a loop of links
            raise ClaimError(f"--report {report} holds the committed report: use --renew, or another folder")
        writable_folder("--report", report, {"REPORT.md": "# The audit", "report.json": '[\n  {\n    "name"'})


def _remove_pages(folder: Path) -> None:
    """Remove the papers' pages of an earlier report in this folder, which may be out of date."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        for record in json.loads((folder / "report.json").read_text(encoding="utf-8")):
            (folder / FOLDER / f"{Path(record['paper']).name}.md").unlink(missing_ok=True)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    return write_whole(path, text)


def chosen(names: Sequence[str], judged: dict[str, Verdict], paper: str = "", workers: int = 2) -> list[Claim]:
    """Return the claims selected on the command line: those that ``names`` select, or all, of one paper or of all.

    A name selects the claim of that name and those below it, else the claims whose checks use the bound of that name; a
    file, its own. Which checks use a bound shows only in a run, whose verdicts are added to ``judged`` by name.
    """
    if not names:
        return claims_of(paper)
    selected = registry({(c.name, c.command): c for name in names for c in _named(name, judged, workers)}.values())
    claims = [c for c in selected.values() if paper in ("", c.paper)]
    if not claims:
        of = f" of {paper}" if paper else ""
        raise ClaimError(f"no claim{of} is about {', '.join(names)}")
    return claims


def _named(name: str, judged: dict[str, Verdict], workers: int) -> list[Claim]:
    if is_own(name):
        return of_file(name)
    if at_or_below := [key for key in CLAIMS if key == name or key.startswith(f"{name}.")]:
        return [CLAIMS[key] for key in at_or_below]
    if name not in BOUNDS:
        raise unknown("claim or bound", name, {*CLAIMS, *BOUNDS}, lists="fedbounds list claims")
    claims = claims_of(BOUNDS[name].source.paper)
    _judge(claims, judged, workers)
    return [c for c in claims if name in judged[c.name].bounds]


def _judge(claims: Sequence[Claim], judged: dict[str, Verdict], workers: int) -> None:
    """Add the verdicts of the claims that have none to ``judged``, each as it is reached."""
    audit([c for c in claims if c.name not in judged], workers, lambda v: judged.update({v.claim.name: v}))
