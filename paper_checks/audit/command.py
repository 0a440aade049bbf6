"""The verb ``check``: run the audit or a part of it, and write its reports."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from os.path import realpath
from pathlib import Path

from bounds.catalog import BOUNDS
from bounds.errors import unknown
from bounds.papers import PAPERS
from bounds.showing.files import write_whole
from bounds.showing.numbers import MOST_WORKERS, whole_number
from bounds.showing.usage import bare_parser, Parser, refuse_idle, writable_folder
from empirics.experiments.command import path_word
from empirics.progress import Progress, progress

from ..claims.claim import Claim, ClaimError, registry
from .contract import bounds_named, CONTRACT_JSON, tell
from .own import commands, is_own, of_file, reviews
from .records import as_json, ordered
from .report import files, FOLDER
from .running import audit, CLAIMS, REVIEWS, Verdict
from .terminal import show

AS_AUDITED, DIFFERS = 0, 1
COMMITTED = Path(__file__).resolve().parents[1] / "REPORT.md"
"""The report of the whole audit that is kept with the code."""
FEW = 12
"""Named claims that are shown in full, not as a table."""
CHECK_JSON = """\
--json prints a list of objects, one per claim: name, paper, kind, verdict, defect, ours, expected (whether it is the
audited verdict), grade, words, source, evidence, witness, note, repair, repair_bound, repair_evidence, damaged, bounds,
command."""


def check(arguments: Sequence[str]) -> int:
    """Run claims, print their verdicts, write reports; 1 when a verdict differs from the audited one."""
    parser = _parser()
    try:
        args = parser.parse_args(list(arguments))
    except SystemExit:  # --help
        return AS_AUDITED
    if args.paper is not None and args.paper not in PAPERS:
        raise unknown("paper", args.paper, list(PAPERS))
    _refuse_to_overwrite(args)
    if named := bounds_named(args.names):
        idle = ("paper", "deep", "report", "renew", "workers")
        refuse_idle(parser, args, idle, "of a bound the contract is checked, at random points")
        with progress("checking the contract"):
            return tell(named, args.json)
    heard: list[Verdict] = []
    with progress("checking the claims") as bar:
        claims = chosen(args.names, args.paper or "", args.deep, args.workers)
        bar.start(len(claims))
        try:
            verdicts = audit(claims, args.workers, lambda verdict: _heard(bar, heard, verdict))
        except KeyboardInterrupt:
            _print(heard, args.json, {}, whole=False)
            unwritten = "; no report was written" if args.report or args.renew else ""
            words = f"interrupted: {len(heard)} of {len(claims)} claims were checked{unwritten}"
            raise KeyboardInterrupt(words) from None
    again = commands(args.names)
    if args.renew:
        for name, text in files(ordered(verdicts), REVIEWS).items():
            _write(COMMITTED.parent / name, text)
            print(f"wrote {COMMITTED.parent.name}/{name}", file=sys.stderr)
    _print(verdicts, args.json, again, whole=bool(args.names) and len(claims) <= FEW)
    if args.report is not None:
        found = ordered(verdicts)
        _remove_pages(args.report)
        for name, text in {**files(found, reviews(args.names), again), "report.json": as_json(found, again)}.items():
            written = _write(args.report / name, text)
            if not args.json:
                print(f"wrote {written}")
    return AS_AUDITED if all(v.expected for v in verdicts) else DIFFERS


def _refuse_to_overwrite(args: Namespace) -> None:
    """Refuse, before anything runs, a report that would replace something else."""
    if args.renew and (args.names or args.paper or args.deep):
        raise ClaimError("--renew writes the report of the whole audit: leave out names, --paper and --deep")
    if args.renew and not (COMMITTED.parents[1] / "pyproject.toml").is_file():
        raise ClaimError("--renew writes into a checkout, and this is an installed package: use --report DIR")
    if args.report is not None:
        if realpath(args.report) == str(COMMITTED.parent):  # Path.resolve raises RuntimeError at a loop of links
            raise ClaimError(
                f"--report {args.report} is where the committed report lies: use --renew, or another folder"
            )
        writable_folder("--report", args.report, {"REPORT.md": "# The audit", "report.json": '[\n  {\n    "name"'})


def _remove_pages(folder: Path) -> None:
    """Remove the papers' pages of the report that lay here before: what they say may not hold any more."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        for record in json.loads((folder / "report.json").read_text(encoding="utf-8")):
            (folder / FOLDER / f"{Path(record['paper']).name}.md").unlink(missing_ok=True)


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    return write_whole(path, text)


def _heard(bar: Progress, heard: list[Verdict], verdict: Verdict) -> None:
    heard.append(verdict)
    bar.doing(verdict.claim.name)
    bar.step()


def _print(verdicts: Sequence[Verdict], as_data: bool, again: dict[str, str], whole: bool) -> None:
    if as_data:
        print(as_json(ordered(verdicts), again), end="")
    else:
        show(verdicts, whole)


def chosen(names: Sequence[str], paper: str = "", deep: bool = False, workers: int = 2) -> list[Claim]:
    """The claims of these names (a claim, a prefix, a bound they ask for, one of a file), or of a paper, or all."""
    if not names:
        return [c for c in CLAIMS.values() if paper in ("", c.paper) and (deep or not c.deep)]
    found = registry(tuple({id(c): c for name in names for c in _named(name, workers)}.values()))
    claims = [c for c in found.values() if paper in ("", c.paper)]
    if not claims:
        of = f" of {paper}" if paper else ""
        raise ClaimError(f"no claim{of} is about {', '.join(names)}")
    return claims


def _named(name: str, workers: int) -> list[Claim]:
    if is_own(name):
        return of_file(name)
    if name in CLAIMS:
        return [CLAIMS[name]]
    under = [c for c in CLAIMS.values() if c.name.startswith(f"{name}.")]
    if under:
        return under
    if name not in BOUNDS:
        raise unknown("claim or bound", name, [*CLAIMS, *BOUNDS])
    paper = BOUNDS[name].source.paper  # all checks of its paper are run to see which ask for it
    verdicts = audit([c for c in CLAIMS.values() if c.paper == paper and not c.deep], workers)
    return [v.claim for v in verdicts if name in v.bounds]


def _parser() -> Parser:
    parser = bare_parser("check", below=[CHECK_JSON, CONTRACT_JSON])
    add = parser.add_argument
    add(
        "names",
        nargs="*",
        metavar="NAME",
        help="a claim, a prefix, a bound (its claims), file.py (its claims), file.py:variable (a claim or a bound)",
    )
    add("--paper", metavar="P", help="only the claims of one paper")
    add("--deep", action="store_true", help="deep searches too, which take minutes")
    add("--report", type=path_word, metavar="DIR", help="write REPORT.md, a page per paper and report.json there")
    add("--renew", action="store_true", help="write the committed report of the whole audit again (in a checkout)")
    add("--json", action="store_true", help="print JSON, described below")
    add(
        "--workers",
        type=whole_number(1, MOST_WORKERS),
        default=2,
        metavar="N",
        help="processes (2); the verdicts do not depend on it",
    )
    return parser
