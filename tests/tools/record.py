"""Record what the project can do, as numbers, and compare a later version with the record.

    python tests/tools/record.py            write tests/record/
    python tests/tools/record.py --compare  recompute everything and say what moved; exit status 1 if anything did

Prose is not recorded: names, statuses and numbers are. ``tests/record/renamed.tsv`` has a line for whatever a version
renames or removes (a regular expression of a path in the record, a tab, its new form, or ``-`` for what is removed);
users read the same file to upgrade their scripts. What moves is either mended, or a correction that the changelog
explains, and then recorded again.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import math
import os
import re
import shlex
import shutil
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import as_completed, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
RECORD = ROOT / "tests" / "record"
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?(?![\w])")
DRAWS = 10
"""Random points of every bound, besides its own test point."""
WIDTH = 0.4
"""Decades by which a drawn number differs from the test point's, each way."""
OPTIMISED = ("local_steps", "step_size", "relaxation", "rounds", "cohort", "clients")
EVERY = 6
"""One bound in so many is minimised and solved."""
GIVEN = {
    "fedals": "fedals(alpha=2)",
    "layerwise": "layerwise(scaffold(), alpha=2)",
    "relaxed": "relaxed(scaffold(), beta=0.05)",
    "scheduled": "scheduled(fedavg(), schedule='k_rounds')",
    "with_consensus_data": "with_consensus_data(fedprox(mu=0.1), samples=12, steps=3)",
    "fedcog": "fedcog(samples=12, steps=3)",
}
"""Algorithms that need arguments, or do little in one round without them."""
TIMED = ("decaying_k.table_2", "fedcog.table_4", "fedcog.table_11", "fedinit.table_10", "fedinit.table_11")
"""Tables of measured times, which no two runs share."""
FREE = ("seconds", "minutes", "device", "processor", "commit", "version", "versions", "made", "took")
"""Keys that differ from run to run."""


# ---- what is recorded ----


def catalogue() -> dict[str, Any]:
    """Every bound: what it bounds, its terms, quantities and kinds of conditions."""
    from bounds import BOUNDS

    return {
        name: {
            "target": bound.target.name,
            "relation": str(bound.relation),
            "source": str(bound.source),
            "terms": sorted(bound.terms),
            "quantities": sorted(q.name for q in bound.quantities),
            "conditions": len(bound.conditions),
        }
        for name, bound in BOUNDS.items()
    }


def values() -> dict[str, Any]:
    """Every bound at its test point and at random points: all terms, and whether the conditions hold."""
    from bounds import BOUNDS
    from bounds.points import POINTS

    found = {}
    for name, bound in BOUNDS.items():
        for draw in range(DRAWS + 1):
            at = _drawn(name, POINTS[name], draw) if draw else POINTS[name]
            try:
                answer = {"holds": bool(np.all(bound.holds(**at))), "parts": bound.parts(outside=True, **at)}
            except Exception as error:  # a draw outside the domain of a quantity: which kind of refusal
                answer = {"refused": type(error).__name__}
            found[f"{name}/{draw}"] = _plain(answer)
    return found


def _drawn(name: str, point: Mapping[str, Any], draw: int) -> dict[str, Any]:
    """The test point with every number moved by up to ``WIDTH`` decades; weights, which sum to one, stay."""
    rng = np.random.default_rng([zlib.crc32(name.encode()), draw])

    def moved(value: Any) -> Any:
        if isinstance(value, list | tuple | np.ndarray):
            return [moved(v) for v in value]
        factor = 10 ** rng.uniform(-WIDTH, WIDTH)
        if isinstance(value, int | np.integer) and not isinstance(value, bool):
            return max(1, round(value * factor))
        return float(value) * factor

    return {word: value if "weight" in word else moved(value) for word, value in sorted(point.items())}


def optima() -> dict[str, Any]:
    """Minima and largest admissible values of a sample of bounds, over one quantity each."""
    from bounds import BOUNDS
    from bounds.points import POINTS

    found = {}
    for name in list(BOUNDS)[::EVERY]:
        bound, at = BOUNDS[name], dict(POINTS[name])
        over = next((q for q in OPTIMISED if q in at and np.ndim(at[q]) == 0), None)
        if over is None:
            continue
        rest = {k: v for k, v in at.items() if k != over}
        level = float(np.sum([np.sum(part) for part in bound.parts(outside=True, **at).values()]))
        for verb, ask in (
            ("minimize", lambda b=bound, o=over, r=rest: b.minimize(o, **r)),
            ("solve", lambda b=bound, o=over, r=rest, t=level: b.solve(o, target=1.37 * t, **r)),
        ):
            try:
                found[f"{name}/{verb} {over}"] = _numbers(str(ask()))
            except Exception as error:
                found[f"{name}/{verb} {over}"] = type(error).__name__
    return found


def audit() -> dict[str, Any]:
    """Every claim: verdict, grade, defect, and the numbers of its evidence."""
    status, told = _run("check --json --workers 1")
    claims = json.loads(told)
    keys = ("status", "verdict", "grade", "defect", "ours", "paper", "place")
    record: dict[str, Any] = {"status": status}
    for claim in claims["claims"] if isinstance(claims, dict) else claims:
        record[claim["name"]] = {
            **{key: claim[key] for key in keys if key in claim},
            "numbers": _numbers(json.dumps({k: v for k, v in claim.items() if k not in {*keys, *FREE}})),
        }
    return record


def counterexamples() -> dict[str, Any]:
    """Every committed counterexample, computed again exactly."""
    folder = ROOT / "paper_checks" / "counterexamples"
    found = {}
    for path in sorted(folder.glob("*.json")):
        status, told = _run(f"falsify --replay {path} --json")
        found[path.stem] = {"status": status, "told": _plain(json.loads(told)) if told.startswith("{") else ""}
    return found


def figures() -> dict[str, Any]:
    """The numbers of every figure and table at the smallest scale."""
    status, _ = _run("figure all --scale smoke -o out --store store --workers 0")
    found: dict[str, Any] = {"status": status}
    for path in sorted(path for path in Path("out").glob("*.csv") if path.stem not in TIMED):
        found[path.stem] = _numbers(path.read_text(encoding="utf-8"))
    return found


def training() -> dict[str, Any]:
    """One round of every algorithm on a small convex problem."""
    from empirics.algorithms import ALGORITHMS

    found = {}
    setting = (
        "--problem 'femnist_dnn(digits)' --partition 'dirichlet(0.3, least=8)' --clients 6 --cohort 4 "
        "--rounds 1 --batch 8 --local-steps 3 --step-size 0.05 --measure train_loss train_accuracy divergence"
    )
    for name in sorted(ALGORITHMS):
        made = GIVEN.get(name, f"{name}()")
        status, told = _run(f'train {setting} --algorithm "{made}" --json')
        found[made] = {"status": status, "numbers": _numbers(told)}
    return found


def commands() -> dict[str, Any]:
    """What a list of commands prints: numbers of three digits or more, in any order."""
    lines = (RECORD / "commands.txt").read_text(encoding="utf-8").splitlines()
    found = {}
    for line in filter(None, lines):
        if line.startswith("#"):
            continue
        shutil.rmtree("here", ignore_errors=True)
        shutil.copytree(ROOT / "examples", "here/examples")
        with contextlib.chdir("here"):
            parts = [_shell(part.strip()) for part in line.split("&&")]
        found[line] = {
            "status": max(status for status, _ in parts),
            "numbers": _numbers("\n".join(t for _, t in parts)),
        }
    return found


def _shell(part: str) -> tuple[int, str]:
    words = shlex.split(part)
    if words[0] == "cat":
        return 0, "\n".join(Path(name).read_text(encoding="utf-8") for name in words[1:])
    return _run(shlex.join(words[1:]))


SECTIONS: dict[str, tuple[Callable[[], dict[str, Any]], float]] = {
    "audit": (audit, 1e-4),
    "commands": (commands, 1e-3),
    "figures": (figures, 1e-2),
    "training": (training, 1e-5),
    "counterexamples": (counterexamples, 1e-9),
    "optima": (optima, 1e-6),
    "values": (values, 1e-9),
    "catalogue": (catalogue, 0.0),
}
"""What is recorded, longest first, and the relative difference that is none: for what is trained or searched in single
precision, whose last digits depend on the processor, a larger one."""


# ---- plain values ----


def _run(command: str) -> tuple[int, str]:
    """Exit status and what a command prints, in this process."""
    from fedbounds import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            status = main(shlex.split(command))
        except SystemExit as stop:
            status = int(stop.code or 0)
    return status, out.getvalue()


def _numbers(text: str) -> list[float]:
    """The numbers of a text that have three digits or more, in rising order."""
    digits = (
        shown
        for shown in NUMBER.findall(text.replace("±", " "))
        if len(re.sub(r"[eE].*|[-+.]", "", shown).strip("0")) >= 3
    )
    return sorted(float(shown) for shown in digits)


def _plain(value: Any) -> Any:
    """Numbers, truth values and single words; prose and what differs from run to run is left out."""
    if isinstance(value, Mapping):
        kept = {str(k): _plain(v) for k, v in value.items() if k not in FREE}
        return {k: v for k, v in kept.items() if v is not None}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(v) for v in value]
    if isinstance(value, str):
        return value if " " not in value else None
    if isinstance(value, bool | np.bool_):
        return bool(value)
    return float(value) if isinstance(value, int | float | np.number) else None


# ---- writing and comparing ----


def section(name: str) -> tuple[str, dict[str, Any], float]:
    """One section, computed in an empty folder."""
    began = time.monotonic()
    os.environ.update(NO_COLOR="1", COLUMNS="200", FEDBOUNDS_PROGRESS="none")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return name, SECTIONS[name][0](), time.monotonic() - began


def computed(names: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The sections, in two processes."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        for future in as_completed([pool.submit(section, name) for name in names]):
            name, found, seconds = future.result()
            print(f"{name}: {len(found)} entries in {seconds:.0f} s", flush=True)
            yield name, found


def flat(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf with its path; a list of numbers is one leaf."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from flat(inside, f"{path}/{key}")
    else:
        yield path, value


def alike(before: Any, now: Any, within: float) -> bool:
    """Equal, numbers to a relative difference; of two lists of numbers every one of the first has a partner."""
    if isinstance(before, list) and isinstance(now, list):
        if len(before) > len(now):
            return False
        return all(alike(b, n, within) for b, n in zip(before, _partners(before, now, within), strict=True))
    if isinstance(before, int | float) and isinstance(now, int | float):
        same = math.isnan(before) and math.isnan(now)
        return same or math.isclose(before, now, rel_tol=within, abs_tol=1e-300)
    return bool(before == now)


def _partners(before: list[Any], now: list[Any], within: float) -> list[Any]:
    """For every entry of the first list one of the second: its like where there is one, each used once."""
    left = list(now)
    found = []
    for one in before:
        place = next((i for i, other in enumerate(left) if alike(one, other, within)), 0)
        found.append(left.pop(place))
    return found


def renamed() -> list[tuple[str, str]]:
    """Old names as regular expressions, and the new ones."""
    path = RECORD / "renamed.tsv"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    pairs = (line.split("\t") for line in lines if "\t" in line and not line.startswith("#"))
    return [(old, new) for old, new, *_ in pairs]


def compare(name: str, before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What moved in a section, a line each."""
    within, rules, there = SECTIONS[name][1], renamed(), dict(flat(now))
    moved, removed = [], 0
    for path, value in flat(before):
        here = f"{name}{path}"
        for old, new in rules:
            here = "-" if new == "-" and re.search(old, here) else re.sub(old, new, here)
        if here == "-":
            removed += 1
            continue
        key = here.removeprefix(name)
        if key not in there:
            moved.append(f"{here}: gone")
        elif not alike(value, there[key], within):
            moved.append(f"{here}: {str(value)[:80]} -> {str(there[key])[:80]}")
    if removed:
        print(f"{name}: {removed} entries removed by renamed.tsv")
    return moved


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--compare", action="store_true", help="compare with the record instead of writing it")
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)} (all)")
    args = parser.parse_args()
    names = args.sections or list(SECTIONS)
    began, moved = time.monotonic(), 0
    for name, found in computed(names):
        path = RECORD / f"{name}.json"
        if not args.compare:
            path.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n", encoding="utf-8")
            continue
        lines = compare(name, json.loads(path.read_text(encoding="utf-8")), json.loads(json.dumps(found)))
        moved += len(lines)
        print("\n".join(lines[:20]) + ("\n..." if len(lines) > 20 else ""), flush=True)
    print(f"{moved} entries moved, {time.monotonic() - began:.0f} s" if args.compare else "recorded")
    return 1 if moved else 0


if __name__ == "__main__":
    sys.exit(main())
