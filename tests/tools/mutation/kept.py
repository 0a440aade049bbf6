"""What an attack has found so far, in a file: one that was stopped goes on, as long as the code is the same."""

from __future__ import annotations

import hashlib
import json
from contextlib import suppress
from pathlib import Path

from bounds.showing.files import write_whole

from .tally import Survivor, Tally

ROOT = Path(__file__).resolve().parents[3]
SEEN = ("bounds", "empirics", "paper_checks", "tests/tools/mutation")
"""The code that a verdict may depend on; reasons of survivors are looked up when they are told, and may change."""


class Kept:
    """Tallies by what was attacked (``formulas``, ``checks``) and name; nothing is written where there is no path."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._code = "" if path is None else code()
        self._lines: list[str] = []
        self._tallies: dict[tuple[str, str], Tally] = {}
        if path is None:
            return
        with suppress(OSError, ValueError, KeyError, TypeError):  # missing or torn: the rest is attacked again
            first, *others = path.read_text(encoding="utf-8").splitlines()
            for line in others if json.loads(first)["code"] == self._code else ():
                told = json.loads(line)
                survivors = tuple(Survivor(name) for name in told["survivors"])
                tally = Tally(told["name"], int(told["planted"]), survivors, tuple(told["undecided"]))
                self._take(told["attacked"], tally, line)

    def get(self, attacked: str, name: str) -> Tally | None:
        return self._tallies.get((attacked, name))

    def add(self, attacked: str, tally: Tally) -> None:
        told = {"attacked": attacked, "name": tally.name, "planted": tally.planted}
        left = {"survivors": [s.name for s in tally.survivors], "undecided": tally.undecided}
        self._take(attacked, tally, json.dumps({**told, **left}))
        if self.path is not None:
            write_whole(self.path, "\n".join([json.dumps({"code": self._code}), *self._lines]) + "\n")

    def _take(self, attacked: str, tally: Tally, line: str) -> None:
        self._tallies[attacked, tally.name] = tally
        self._lines.append(line)


def code() -> str:
    """One digest of the code that verdicts depend on."""
    total = hashlib.sha256()
    for room in SEEN:
        for file in sorted((ROOT / room).rglob("*.py")):
            if file.name != "explained.py":
                total.update(file.read_bytes())
    return total.hexdigest()[:20]
