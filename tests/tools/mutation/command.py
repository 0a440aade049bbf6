"""``python tests/tools/mutation``: the score, and every survivor with its reason."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from bounds.catalog import BOUNDS, get
from bounds.core import Bound
from bounds.papers import PAPERS
from bounds.showing.files import write_whole
from bounds.showing.terminal import print_lines
from empirics.progress import progress
from paper_checks.audit.running import CLAIMS

from .patience import LEAST, TIMES
from .runs import attack_bounds, attack_checks
from .tally import Survivor, Tally

FINE, HOLES = 0, 1
PURPOSE = "Plant one error at a time in formulas and checks, and see which ones some verdict notices."


def main(arguments: Sequence[str]) -> int:
    """Plant errors in the bounds of a paper (or in those named, or in all) and in the checks; 1 when a hole is left."""
    parser = _parser()
    args = parser.parse_args(list(arguments))
    names = [n for n in args.names or BOUNDS if args.paper in (None, get(n).source.paper)]
    if not names:
        parser.error(f"no bound of {args.paper} is among those named")
    if args.report is not None:
        args.report.mkdir(parents=True, exist_ok=True)
    claims = [c for c in CLAIMS.values() if any(BOUNDS[n].source.paper == c.paper for n in names)]
    with progress("planting errors") as bar:
        bar.start(len(names) + (0 if args.names else len(claims)))
        bar.doing("in formulas")
        bounds = attack_bounds(names, claims, args.workers, bar.step)
        bar.doing("in checks")
        checks = [] if args.names else attack_checks(claims, args.workers, bar.step)
    if args.json:
        print(json.dumps({"bounds": [_plain(t) for t in bounds], "checks": [_plain(t) for t in checks]}, indent=2))
    else:
        print_lines(lines(bounds, checks))
    if args.report is not None:
        write_whole(args.report / "MUTATION.md", markdown(bounds, checks))
    return HOLES if any(not s.reason for t in (*bounds, *checks) for s in t.survivors) else FINE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python tests/tools/mutation", description=PURPOSE)
    add = parser.add_argument
    add("names", nargs="*", metavar="BOUND", help="without one: every bound, and every check")
    add("--paper", choices=sorted(PAPERS), help="only the bounds and claims of one paper")
    add("--report", type=Path, metavar="DIR", help="write MUTATION.md there")
    add("--workers", type=int, default=2, metavar="N", help="processes (2)")
    add("--json", action="store_true", help="print JSON")
    return parser


def _plain(tally: Tally) -> dict[str, object]:
    survivors = [{"error": s.name, "reason": s.reason} for s in tally.survivors]
    counts = {"planted": tally.planted, "caught": tally.caught}
    return {"name": tally.name, **counts, "survivors": survivors, "undecided": list(tally.undecided)}


def sorts(bounds: Sequence[Tally], checks: Sequence[Tally]) -> dict[str, list[Tally]]:
    """The tallies by what was attacked: formulas that a paper prints, ours, and checks."""
    printed = [t for t in bounds if not _ours(BOUNDS[t.name])]
    found = {
        "printed formulas": printed,
        "derived and repaired formulas": [t for t in bounds if t not in printed],
        "checks": list(checks),
    }
    return {words: tallies for words, tallies in found.items() if tallies}


def _ours(bound: Bound) -> bool:
    return bound.name.endswith("_sharp") or any(word in bound.source.place for word in ("derived", "repaired"))


def lines(bounds: Sequence[Tally], checks: Sequence[Tally]) -> list[str]:
    """The scores, then every survivor, and what was not decided."""
    told = [f"{words}: {score(tallies)}" for words, tallies in sorts(bounds, checks).items()]
    left = [s for t in (*bounds, *checks) for s in t.survivors]
    told += [f"  survives: {s.name}: {s.reason or 'A HOLE'}" for s in left]
    return told + [f"  not decided in time: {error}" for t in (*bounds, *checks) for error in t.undecided]


def markdown(bounds: Sequence[Tally], checks: Sequence[Tally]) -> str:
    """The same as a page: scores by paper and sort, and the survivors under their reasons."""
    head = [
        "# Planted errors",
        "",
        "`python tests/tools/mutation` plants one error at a time and runs the claims that ask for the formula; it is",
        "caught when one of them gets another verdict than the audited one, and not decided where none does and one",
        f"took more than {LEAST:g} seconds and {TIMES:g} times what it takes without the error.",
        "",
    ]
    rows = ["| paper | attacked | things | planted | caught | share | not decided |", f"|{' --- |' * 7}"]
    for words, tallies in sorts(bounds, checks).items():
        papers = dict.fromkeys(t.name.partition(".")[0] for t in tallies)
        for paper in (*papers, "all"):
            part = [t for t in tallies if paper in ("all", t.name.partition(".")[0])]
            planted, caught = sum(t.planted for t in part), sum(t.caught for t in part)
            silent = sum(len(t.undecided) for t in part)
            rows.append(
                f"| {paper} | {words} | {len(part)} | {planted} | {caught} | {_share(caught, planted)} | {silent} |"
            )
    reasons: dict[str, list[str]] = {}
    for survivor in (s for t in (*bounds, *checks) for s in t.survivors):
        reasons.setdefault(survivor.reason or "not explained", []).append(survivor.name)
    if undecided := [error for t in (*bounds, *checks) for error in t.undecided]:
        reasons["not decided in time"] = undecided
    told = [line for why, names in reasons.items() for line in ("", f"## {why}", "", *map(_listed, names))]
    return "\n".join([*head, *rows, "", "# Survivors", *told]) + "\n"


def _share(caught: int, planted: int) -> str:
    """In percent, rounded down: 100 is all of them."""
    return f"{1000 * caught // planted / 10:.1f}%" if planted else "none"


def _listed(error: str) -> str:
    return "* " + error.replace("|", "\\|")


def score(tallies: Sequence[Tally]) -> str:
    """Caught of planted, in words."""
    planted, caught = sum(t.planted for t in tallies), sum(t.caught for t in tallies)
    left: list[Survivor] = [s for t in tallies for s in t.survivors]
    explained = sum(bool(s.reason) for s in left)
    share = _share(caught, planted)
    silent = sum(len(t.undecided) for t in tallies)
    late = f", {silent} not decided in time" if silent else ""
    told = f"{caught} of {planted} planted errors caught ({share}); {len(left)} survive, {explained} of them explained"
    return told + late
