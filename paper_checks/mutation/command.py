"""``fedbounds check --mutate``: the score, and every survivor with its reason."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence

from bounds.catalog import BOUNDS
from empirics.progress import progress

from ..audit import CLAIMS
from .runs import attack_bounds, attack_checks, Survivor, Tally

FINE, HOLES = 0, 1


def mutate(args: argparse.Namespace) -> int:
    """Plant errors in the bounds of a paper (or in those named, or in all) and in the checks; 1 when a hole is left."""
    names = [n for n in BOUNDS if (not args.names or n in args.names) and args.paper in ("", BOUNDS[n].source.paper)]
    claims = [c for c in CLAIMS.values() if not c.deep and any(BOUNDS[n].source.paper == c.paper for n in names)]
    with progress() as bar:
        bar.start(len(names) + (0 if args.names else len(claims)))
        bar.doing("planting errors in formulas")
        bounds = attack_bounds(names, claims, args.workers, bar.step)
        bar.doing("planting errors in checks")
        checks = [] if args.names else attack_checks(claims, args.workers, bar.step)
    if args.json:
        print(json.dumps({"bounds": [_plain(t) for t in bounds], "checks": [_plain(t) for t in checks]}, indent=2))
    else:
        _tell(bounds, checks)
    return HOLES if any(not s.reason for t in (*bounds, *checks) for s in t.survivors) else FINE


def _plain(tally: Tally) -> dict[str, object]:
    survivors = [{"error": s.name, "reason": s.reason} for s in tally.survivors]
    return {"name": tally.name, "planted": tally.planted, "caught": tally.caught, "survivors": survivors}


def _tell(bounds: Sequence[Tally], checks: Sequence[Tally]) -> None:
    printed = [t for t in bounds if "derived" not in BOUNDS[t.name].source.place]
    derived = [t for t in bounds if t not in printed]
    for words, tallies in (("printed formulas", printed), ("derived formulas", derived), ("checks", checks)):
        if tallies:
            print(f"{words}: {score(tallies)}")
    for tally in (*bounds, *checks):
        for survivor in tally.survivors:
            print(f"  survives: {survivor.name}: {survivor.reason or 'A HOLE'}")


def score(tallies: Sequence[Tally]) -> str:
    """Caught of planted, in words."""
    planted, caught = sum(t.planted for t in tallies), sum(t.caught for t in tallies)
    left: list[Survivor] = [s for t in tallies for s in t.survivors]
    explained = sum(bool(s.reason) for s in left)
    share = f"{caught / planted:.1%}" if planted else "none"
    return f"{caught} of {planted} planted errors caught ({share}); {len(left)} survive, {explained} of them explained"
